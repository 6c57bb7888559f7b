/* reading.c - the table of formats, and rows as all readers make them. */
#include "core/reading.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "core/reading_csv.h"
#include "core/reading_json.h"

#define MS_MAX 1e9

typedef int read_fn(struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err);

static const struct format {
	const char *name;
	read_fn *read;
} formats[] = {
	{ "flopwatch", read_flopwatch },
	{ "ffa", read_ffa },
	{ "nvbench", read_nvbench },
	{ "google-benchmark", read_google_benchmark },
	{ "hyperfine", read_hyperfine },
	{ "triton", read_triton },
	{ "torchao", read_torchao },
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

/* Whether `word` stands in the first bytes of a text. */
static bool begins_with_word(const char *text, size_t len, const char *word)
{
	enum { HEAD = 4096 };

	return memmem(text, len < HEAD ? len : HEAD, word, strlen(word)) != NULL;
}

const char *reading_guess(const char *text, size_t len)
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
		if (begins_with_word(text, len, "nvbench"))
			return "nvbench";
		if (begins_with_word(text, len, "\"results\""))
			return "hyperfine";
		return begins_with_word(text, len, "\"context\"") || begins_with_word(text, len, "\"benchmarks\"")
			       ? "google-benchmark"
			       : NULL;
	}
	if (memmem(text, head, "latency_ms", 10) && memmem(text, head, "direction", 9))
		return "ffa";
	if (memmem(text, head, "inference_time_in_ms", 20))
		return "torchao";
	return memchr(text, ',', head) ? "triton" : NULL;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int fill_medians(struct reading *r, struct fw_err *err)
{
	for (int i = 0; i < r->n_rows; i++) {
		struct reading_row *row = &r->row[i];
		size_t n = (size_t)row->n;
		double *sorted = malloc(n * sizeof *sorted);

		if (!sorted)
			return err_set(err, ERR_INTERNAL, "out of memory");
		memcpy(sorted, row->ms, n * sizeof *sorted);
		qsort(sorted, n, sizeof *sorted, by_value);
		row->median_ms = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
		free(sorted);
	}
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

int reading_parse(const char *format, const char *unit, const char *text, size_t len, const char *file, struct reading *out,
	struct fw_err *err)
{
	const struct format *f = find_format(format);

	memset(out, 0, sizeof *out);
	if (!f)
		return err_set(
			err, ERR_INVALID, "%s: `%.40s` is no format that is read; use one of " READING_FORMATS, file, format);
	snprintf(out->format, sizeof out->format, "%s", f->name);
	int rc = check_text(text, len, file, err);

	if (rc == 0)
		rc = f->read(out, text, len, file, unit, err);
	if (rc == 0 && out->n_rows == 0)
		rc = err_set(err, ERR_INVALID, "%s: holds no measured row%s", file,
			out->n_skipped ? "; all were skipped by the benchmark itself" : "");
	if (rc == 0)
		rc = fill_medians(out, err);
	if (rc != 0)
		reading_fini(out);
	return rc;
}

void reading_fini(struct reading *r)
{
	for (int i = 0; i < r->n_rows; i++)
		free(r->row[i].ms);
	free(r->row);
	memset(r, 0, sizeof *r);
}

const struct reading_row *reading_find(const struct reading *r, const char *key)
{
	for (int i = 0; i < r->n_rows; i++)
		if (strcmp(r->row[i].key, key) == 0)
			return &r->row[i];
	return NULL;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

/* A key that shows all it is: hidden characters escaped, spaces as _, cut to fit with a mark of the whole. */
static void clean_key(const char *key, char out[CASE_KEY_SIZE])
{
	enum { MARK = 9 }; /* "~" and eight digits */
	char hex[HASH_HEX];
	struct buf shown;

	buf_init(&shown, 1 << 20);
	utf8_show(&shown, key, strlen(key), "");
	for (size_t i = 0; i < shown.len; i++)
		if (shown.data[i] == ' ')
			shown.data[i] = '_';
	if (!shown.failed && shown.len < CASE_KEY_SIZE) {
		memcpy(out, shown.data, shown.len + 1);
	} else {
		size_t keep = CASE_KEY_SIZE - 1 - MARK;

		while (keep > 0 && ((unsigned char)shown.data[keep] & 0xc0) == 0x80) /* not inside a character */
			keep--;
		hash_hex(key, strlen(key), hex);
		snprintf(out, CASE_KEY_SIZE, "%.*s~%.8s", (int)keep, shown.data, hex);
	}
	buf_fini(&shown);
}

static struct reading_row *row_for(struct reading *r, const char *key)
{
	char clean[CASE_KEY_SIZE];

	clean_key(key, clean);
	for (int i = 0; i < r->n_rows; i++)
		if (strcmp(r->row[i].key, clean) == 0)
			return &r->row[i];
	if (r->n_rows == r->room) {
		int room = r->room ? 2 * r->room : 64;
		struct reading_row *more = realloc(r->row, (size_t)room * sizeof *more);

		if (!more)
			return NULL;
		r->row = more;
		r->room = room;
	}
	struct reading_row *row = &r->row[r->n_rows++];

	*row = (struct reading_row){ .tflops = NAN };
	memcpy(row->key, clean, sizeof clean);
	return row;
}

int reading_add(struct reading *r, const char *key, double ms, double tflops, const char *where, struct fw_err *err)
{
	if (!key[0])
		return err_set(err, ERR_INVALID, "%s: has no name", where);
	if (!(ms >= 1e-9 && ms <= MS_MAX))
		return err_set(err, ERR_INVALID, "%s: %g ms is no time; a measured time lies between 1e-9 and 1e9 ms", where, ms);
	if (r->n_rows >= READING_ROWS_MAX || r->n_values >= READING_VALUES_MAX)
		return err_set(err, ERR_INVALID, "%s: more than %d rows or %d values; split the file", where, READING_ROWS_MAX,
			READING_VALUES_MAX);
	struct reading_row *row = row_for(r, key);

	if (!row)
		return err_set(err, ERR_INTERNAL, "out of memory");
	/* grown at powers of two */
	if ((row->n & (row->n - 1)) == 0) {
		double *more = realloc(row->ms, (size_t)(row->n ? 2 * row->n : 1) * sizeof *more);

		if (!more) {
			if (row->n == 0)
				r->n_rows--;
			return err_set(err, ERR_INTERNAL, "out of memory");
		}
		row->ms = more;
	}
	row->ms[row->n++] = ms;
	if (isfinite(tflops) && tflops > 0)
		row->tflops = tflops;
	r->n_values++;
	return 0;
}

/* ---- units --------------------------------------------------------------------------------------------------------------- */

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
