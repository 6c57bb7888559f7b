/* lines.c - see lines.h. Every value comes through core/text/field.c, so that each mistake has its JSON path. */
#include "core/reading/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/reading/object.h"

static int cell_line(struct reading *out, struct fields *f, const char *file, struct fw_err *err)
{
	static const char *const units[] = { "ms", "us", "ns", "s" };
	char key[OBJECT_NAME_SIZE], failure[READING_WHY_SIZE], where[OBJECT_TEXT_SIZE];
	const char *unit = NULL;
	double tflops = field_double_or(f, "tflops", 0, 1e9, NAN);

	field_text(f, "cell", key, sizeof key);
	field_text(f, "error", failure, sizeof failure);
	if (failure[0])
		return reading_fail(out, key, failure, object_place(where, file, f, "error"), err);
	for (int i = 0; i < 4; i++)
		if (field_has(f, units[i])) {
			if (unit)
				return field_fail(f, units[i], "stands beside %s; give one of them", unit);
			unit = units[i];
		}
	if (!unit)
		return field_fail(f, "ms", "is missing; a row has ms, us, ns or s");
	return f->failed ? -1 : object_add_times(out, f, file, unit, key, reading_unit_ms(unit), tflops, err);
}

/* A figure of our own benchmarks: counts, bytes and percentages are no times and are passed over. */
static int bench_line(struct reading *out, struct fields *f, const char *file, struct fw_err *err)
{
	char name[OBJECT_NAME_SIZE], peer[OBJECT_NAME_SIZE], cell[OBJECT_NAME_SIZE], unit[32];
	char key[OBJECT_TEXT_SIZE], where[OBJECT_TEXT_SIZE];
	double ms, tflops, value = field_double(f, "value", -INFINITY, INFINITY);
	const char *suffix;

	field_text(f, "bench", name, sizeof name);
	field_text(f, "peer", peer, sizeof peer);
	field_text(f, "cell", cell, sizeof cell);
	field_text(f, "unit", unit, sizeof unit);
	if (f->failed)
		return -1;
	if (reading_convert(value, unit, &ms, &tflops, &suffix))
		return 0;
	snprintf(key, sizeof key, "%s%s%s%s%s%s", name, peer[0] ? "/" : "", peer, cell[0] ? "/" : "", cell, suffix);
	return reading_add(out, key, ms, tflops, object_place(where, file, f, "value"), err);
}

static int read_line(struct reading *out, const char *line, size_t len, int number, const char *file, struct fw_err *err)
{
	json_error_t why;
	json_t *object = json_loadb(line, len, JSON_REJECT_DUPLICATES, &why);
	struct fields f;
	char name[OBJECT_TEXT_SIZE];

	snprintf(name, sizeof name, "%.500s:%d", file, number);
	if (!object)
		return err_set(err, ERR_INVALID, "%s: is no JSON object: %.200s", name, why.text);
	field_begin(&f, object, err, "row");
	int result = f.failed                 ? -1
		     : field_has(&f, "bench") ? bench_line(out, &f, name, err)
		     : !field_has(&f, "cell") ? field_fail(&f, "cell", "is missing; a row is {\"cell\":\"name\",\"ms\":[...]}")
					      : cell_line(out, &f, name, err);

	json_decref(object);
	return result != 0 ? object_mistake(err, name) : 0;
}

static bool is_blank(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
			return false;
	return true;
}

int read_lines(
	struct reading *out, const char *text, size_t len, const char *file, const struct reading_how *how, struct fw_err *err)
{
	const char *end = text + len;

	(void)how;
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	for (int number = 1; text < end; number++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = stop ? (size_t)(stop - text) : (size_t)(end - text);

		if (!is_blank(text, n) && read_line(out, text, n, number, file, err))
			return -1;
		text += n + (stop != NULL);
	}
	return 0;
}
