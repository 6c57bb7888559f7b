/* reading.c - the table of formats, and what holds for the rows of all of them. */
#include "core/reading/reading.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "core/reading/ffa.h"
#include "core/reading/google.h"
#include "core/reading/hyperfine.h"
#include "core/reading/lines.h"
#include "core/reading/ncu.h"
#include "core/reading/nvbench.h"
#include "core/reading/torchao.h"
#include "core/reading/triton.h"

static const struct format {
	const char *name;
	reading_fn *read;
} formats[] = {
	{ "flopwatch", read_lines },
	{ "ffa", read_ffa },
	{ "nvbench", read_nvbench },
	{ "google-benchmark", read_google },
	{ "hyperfine", read_hyperfine },
	{ "triton", read_triton },
	{ "torchao", read_torchao },
	{ "ncu", read_ncu },
};
enum { N_FORMATS = sizeof formats / sizeof formats[0] };

static const struct format *find_format(const char *name)
{
	for (int i = 0; i < N_FORMATS; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

bool reading_known(const char *name)
{
	return find_format(name) != NULL;
}

bool reading_has_times(const char *format)
{
	return strcmp(format, "google-benchmark") == 0;
}

/* Whether `word` stands in the first bytes of a text. */
static bool begins_with_word(const char *text, size_t len, const char *word)
{
	enum { HEAD = 4096 };

	return memmem(text, len < HEAD ? len : HEAD, word, strlen(word)) != NULL;
}

/* "outs/attn-fwd/flops.csv" and "flops_report.csv", as MagiAttention names rates over sizes. */
static bool is_flops_file(const char *file)
{
	const char *slash = strrchr(file, '/');

	return strncmp(slash ? slash + 1 : file, "flops", 5) == 0;
}

const char *reading_guess(const char *text, size_t len, const char *file)
{
	size_t i = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	while (i < len && strchr(" \t\r\n", text[i]))
		i++;
	text += i;
	len -= i;
	const char *end = memchr(text, '\n', len);
	size_t head = end ? (size_t)(end - text) : len; /* first line */

	if (len == 0)
		return NULL;
	if (text[0] == '{') {
		/* a whole object on the first line, with our keys: JSON lines */
		if (memmem(text, head, "\"cell\"", 6) || memmem(text, head, "\"bench\"", 7))
			return "flopwatch";
		if (begins_with_word(text, len, "nvbench") || begins_with_word(text, len, "\"sm_version\""))
			return "nvbench";
		if (begins_with_word(text, len, "\"results\""))
			return "hyperfine";
		return begins_with_word(text, len, "\"context\"") || begins_with_word(text, len, "\"benchmarks\"")
			       ? "google-benchmark"
			       : NULL;
	}
	if (begins_with_word(text, len, "\"ID\",\"Process ID\"") || begins_with_word(text, len, "==PROF=="))
		return "ncu";
	if (memmem(text, head, "latency_ms", 10) && memmem(text, head, "direction", 9))
		return "ffa";
	if (memmem(text, head, "inference_time_in_ms", 20) || memmem(text, head, ",ref_time_s", 11))
		return "torchao";
	if (!memchr(text, ',', head))
		return NULL;
	return is_flops_file(file) && !memmem(text, head, " (", 2) ? "ffa" : "triton";
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A result that is left out may have had other times before. */
static bool was_left(const struct reading *r, const struct reading_row *row)
{
	for (int i = 0; i < r->n_left; i++)
		if (r->left[i].entry == row->entry && strcmp(r->left[i].name, row->name) == 0)
			return true;
	return false;
}

static void drop_left(struct reading *r)
{
	int kept = 0;

	for (int i = 0; i < r->n_rows; i++)
		if (was_left(r, &r->row[i]))
			free(r->row[i].ms);
		else
			r->row[kept++] = r->row[i];
	r->n_rows = kept;
}

/* A row that failed has none, whatever its other repetitions took. */
static int fill_median(struct reading_row *row, struct fw_err *err)
{
	if (row->failure[0]) {
		free(row->ms);
		row->ms = NULL;
		row->n = 0;
		row->median_ms = NAN;
		return 0;
	}
	size_t n = (size_t)row->n;
	double *sorted = malloc(n * sizeof *sorted);

	if (!sorted)
		return err_set(err, ERR_INTERNAL, "out of memory");
	memcpy(sorted, row->ms, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_value);
	row->median_ms = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
	free(sorted);
	return 0;
}

static int check_text(const char *text, size_t len, const char *file, struct fw_err *err)
{
	int line = 1;

	if (len > READING_BYTES_MAX)
		return err_set(err, ERR_INVALID, "%s: is larger than %d MiB", file, READING_BYTES_MAX >> 20);
	for (size_t i = 0; i < len;) {
		uint32_t code;
		size_t n = utf8_next(text + i, len - i, &code);

		if (code == UTF8_INVALID || code == 0)
			return err_set(err, ERR_INVALID, "%s:%d: is no UTF-8 text; is this the benchmark's output?", file, line);
		line += code == '\n';
		i += n;
	}
	return 0;
}

int reading_parse(
	const struct reading_how *how, const char *text, size_t len, const char *file, struct reading *out, struct fw_err *err)
{
	const struct format *f = find_format(how->format);
	char left[256];

	memset(out, 0, sizeof *out);
	if (!f)
		return err_set(err, ERR_INVALID, "%s: `%.40s` is no format that is read; use one of " READING_FORMATS, file,
			how->format);
	snprintf(out->format, sizeof out->format, "%s", f->name);
	int rc = check_text(text, len, file, err);

	if (rc == 0)
		rc = f->read(out, text, len, file, how, err);
	drop_left(out);
	if (rc == 0)
		rc = reading_number_twins(out, err);
	if (rc == 0 && out->n_rows == 0) {
		reading_tell_left(out, left, sizeof left);
		rc = err_set(err, ERR_INVALID, "%s: holds no measured row%s%s", file, left[0] ? "; " : "", left);
	}
	for (int i = 0; i < out->n_rows && rc == 0; i++)
		rc = fill_median(&out->row[i], err);
	if (rc != 0)
		reading_fini(out);
	return rc;
}

void reading_fini(struct reading *r)
{
	for (int i = 0; i < r->n_rows; i++)
		free(r->row[i].ms);
	free(r->row);
	free(r->left);
	free(r->fact);
	memset(r, 0, sizeof *r);
}

const struct reading_row *reading_find(const struct reading *r, const char *key)
{
	for (int i = 0; i < r->n_rows; i++)
		if (strcmp(r->row[i].key, key) == 0)
			return &r->row[i];
	return NULL;
}

const char *reading_why(const struct reading *r, const char *key)
{
	const struct reading_row *row = reading_find(r, key);
	const struct reading_left *left = row ? NULL : reading_find_left(r, key);

	return left ? left->why : row && row->failure[0] ? row->failure : NULL;
}

void reading_tell_left(const struct reading *r, char *out, size_t size)
{
	enum { REST = 24 }; /* room for "and 1234 more" */
	size_t used = 0;

	out[0] = '\0';
	if (r->n_left == 0)
		return;
	used += (size_t)snprintf(out, size, "%d %s left out: ", r->n_left, r->n_left == 1 ? "row was" : "rows were");
	for (int i = 0; i < r->n_left; i++) {
		char one[CASE_KEY_SIZE + READING_WHY_SIZE + 8];
		int n = snprintf(one, sizeof one, "%s%s (%s)", i ? ", " : "", r->left[i].key, r->left[i].why);

		if (used + (size_t)n + REST >= size) {
			snprintf(out + used, size - used, "%s%d more", i ? " and " : "", r->n_left - i);
			return;
		}
		memcpy(out + used, one, (size_t)n + 1);
		used += (size_t)n;
	}
}

/* ---- units ----------------------------------------------------------------------------------------------------------------- */

double reading_unit_ms(const char *unit)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = { { "ns", 1e-6 }, { "us", 1e-3 }, { "µs", 1e-3 }, { "ms", 1 }, { "s", 1e3 }, { "sec", 1e3 },
		{ "seconds", 1e3 }, { "milliseconds", 1 }, { "microseconds", 1e-3 }, { "nanoseconds", 1e-6 } };

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strcasecmp(unit, units[i].name) == 0)
			return units[i].ms;
	return 0;
}

int reading_convert(double value, const char *unit, double *ms, double *tflops, const char **suffix)
{
	static const struct {
		const char *name, *suffix;
		double tflops; /* of one; 0: no FLOPs */
	} rates[] = { { "tflops", "/per-TFLOP", 1 }, { "tflop/s", "/per-TFLOP", 1 }, { "tflops/s", "/per-TFLOP", 1 },
		{ "gflops", "/per-GFLOP", 1e-3 }, { "gflop/s", "/per-GFLOP", 1e-3 }, { "gb/s", "/per-GB", 0 },
		{ "gbps", "/per-GB", 0 }, { "gib/s", "/per-GiB", 0 }, { "tb/s", "/per-TB", 0 } };

	*tflops = NAN;
	*suffix = "";
	*ms = value * reading_unit_ms(unit);
	if (reading_unit_ms(unit) > 0)
		return 0;
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
		if (strcasecmp(unit, rates[i].name) == 0) {
			*ms = 1e3 / value; /* a second does `value` units of work */
			*tflops = rates[i].tflops > 0 ? value * rates[i].tflops : NAN;
			*suffix = rates[i].suffix;
			return 0;
		}
	return -1;
}
