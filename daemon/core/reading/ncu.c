/* ncu.c - see ncu.h. Two exports are laid side by side by the names of their kernels. */
#include "core/reading/ncu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/reading/ncu_table.h"

enum { KEY_SIZE = 1024, WHERE_SIZE = 512 };

struct times {
	struct reading *out;
	const char *file;
};

/* "void forward<128>(args)" is "void forward<128>": the parentheses that end it are taken away. */
static void name_kernel(const char *kernel, char out[KEY_SIZE])
{
	size_t n = strlen(kernel), depth = 0, end = n;
	for (size_t i = n; i > 0 && kernel[n - 1] == ')'; i--) {
		depth += kernel[i - 1] == ')';
		depth -= kernel[i - 1] == '(';
		if (depth == 0) {
			end = i - 1;
			break;
		}
	}
	snprintf(out, KEY_SIZE, "%.*s", (int)(end < KEY_SIZE ? end : KEY_SIZE - 1), end ? kernel : "");
	if (!out[0])
		snprintf(out, KEY_SIZE, "%s", kernel[0] ? kernel : "kernel");
}

/* ncu writes "nsecond" and, newer, "ns". */
static double unit_ms(const char *unit)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = { { "nsecond", 1e-6 }, { "usecond", 1e-3 }, { "msecond", 1 }, { "second", 1e3 } };
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strcmp(units[i].name, unit) == 0)
			return units[i].ms;
	return reading_unit_ms(unit);
}

static int take(void *arg, const struct ncu_value *v, struct fw_err *err)
{
	struct times *t = arg;
	char key[KEY_SIZE], where[WHERE_SIZE];
	if (strcmp(v->metric, "gpu__time_duration.sum") != 0 && strcmp(v->metric, "Duration") != 0)
		return 0;
	double scale = unit_ms(v->unit);
	snprintf(where, sizeof where, "%.400s:%d: column %s", t->file, v->line, v->metric);
	if (scale <= 0)
		return err_set(err, ERR_INVALID, "%s: `%.20s` is no unit of time", where, v->unit);
	name_kernel(v->kernel, key);
	return reading_add(t->out, key, v->value * scale, NAN, where, err);
}

int read_ncu(
	struct reading *out, const char *text, size_t len, const char *file, const struct reading_how *how, struct fw_err *err)
{
	struct times t = { .out = out, .file = file };
	(void)how;
	if (ncu_table_each(text, len, file, take, &t, err) != 0)
		return -1;
	if (out->n_rows == 0 && out->n_left == 0)
		return err_set(err, ERR_INVALID,
			"%s: has no times of kernels; let ncu collect them with --metrics gpu__time_duration.sum", file);
	return 0;
}
