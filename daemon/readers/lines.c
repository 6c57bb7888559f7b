/* lines.c - JSON lines. Values pass lib/field.c, so each mistake has its JSON path. */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

/* The unit of a row's times; NULL: `why` has the fault. */
static const char *unit_of(const struct fields *f, char why[READING_WHY_SIZE])
{
	static const char *const units[] = { "ms", "us", "ns", "s" };
	const char *unit = NULL;

	snprintf(why, READING_WHY_SIZE, "it has none of ms, us, ns and s");
	for (int i = 0; i < 4; i++) {
		if (field_has(f, units[i]) && unit) {
			snprintf(why, READING_WHY_SIZE, "%s and %s are both given; give one of them", units[i], unit);
			return NULL;
		}
		unit = field_has(f, units[i]) ? units[i] : unit;
	}
	return unit;
}

static int cell_line(struct reading *out, struct fields *f, const char *file, struct fw_err *err)
{
	char key[OBJECT_NAME_SIZE], failure[READING_WHY_SIZE], where[OBJECT_TEXT_SIZE], why[READING_WHY_SIZE];
	const json_t *tflops = json_object_get(f->object, "tflops");

	field_text(f, "cell", key, sizeof key);
	field_text(f, "error", failure, sizeof failure);
	if (f->failed)
		return -1;
	if (failure[0])
		return reading_fail(out, key, failure, object_position(where, file, f, "error"), err);
	const char *unit = unit_of(f, why);

	if (!unit)
		return reading_skip(out, key, err, "%s", why);
	return object_add_times(
		out, f, file, unit, key, unit_to_ms(unit), json_is_number(tflops) ? json_number_value(tflops) : NAN, err);
}

/* A result of flopwatch's own benchmarks: counts, bytes and percentages are no times and are skipped. */
static int bench_line(struct reading *out, struct fields *f, const char *file, struct fw_err *err)
{
	char name[OBJECT_NAME_SIZE], peer[OBJECT_NAME_SIZE], cell[OBJECT_NAME_SIZE], unit[32];
	char key[OBJECT_TEXT_SIZE], where[OBJECT_TEXT_SIZE];
	const json_t *value = json_object_get(f->object, "value");
	double ms, tflops;
	const char *suffix;

	field_text(f, "bench", name, sizeof name);
	field_text(f, "peer", peer, sizeof peer);
	field_text(f, "cell", cell, sizeof cell);
	field_text(f, "unit", unit, sizeof unit);
	if (f->failed)
		return -1;
	if (unit_convert(json_number_value(value), unit, &ms, &tflops, &suffix))
		return 0;
	snprintf(key, sizeof key, "%s%s%s%s%s%s", name, peer[0] ? "/" : "", peer, cell[0] ? "/" : "", cell, suffix);
	if (!json_is_number(value))
		return reading_skip(out, key, err, "its value is not a number");
	return reading_is_time(ms) ? reading_add(out, key, ms, tflops, object_position(where, file, f, "value"), err)
				   : reading_skip(out, key, err, "%g %s is no measured value", json_number_value(value), unit);
}

static int read_line(struct reading *out, json_t *object, const char *where, void *arg, struct fw_err *err)
{
	(void)arg;
	struct fields f;

	field_begin(&f, object, err, "row");
	reading_entry(out, 0); /* lines of one cell are its repetitions */
	if (!f.failed)
		object_report_conditions(out, object);
	return f.failed                 ? -1
	       : field_has(&f, "bench") ? bench_line(out, &f, where, err)
	       : !field_has(&f, "cell") ? field_fail(&f, "cell", "is missing; a row is {\"cell\":\"name\",\"ms\":[...]}")
					: cell_line(out, &f, where, err);
}

int read_lines(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	(void)how;
	return object_each_line(out, text, len, file, read_line, NULL, err);
}
