/**
 * reading.h - what a foreign benchmark wrote becomes rows: a cell's key and its times.
 *
 * Formats: "flopwatch" (JSON lines), "ffa" (its CSV, old and new columns), "nvbench", "google-benchmark", "hyperfine" (JSON),
 * "triton" (CSV of perf_report), "torchao" (CSV of its microbenchmarks). A mistake names the line or the JSON path, what is
 * wrong there and what to do. Pure: the text is the caller's, nothing is opened.
 */
#ifndef CORE_READING_H
#define CORE_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "core/case.h"

enum { READING_BYTES_MAX = 16 << 20, READING_ROWS_MAX = 4096, READING_VALUES_MAX = 1 << 17 };

/** All formats, separated by ", ", for messages. */
#define READING_FORMATS "flopwatch, ffa, nvbench, google-benchmark, hyperfine, triton, torchao"

struct reading_row {
	char key[CASE_KEY_SIZE]; /* of the cell; no hidden characters; unique in a reading */
	int n;                   /* values */
	double *ms;              /* ms[n]; > 0. Of a rate: ms per unit of work, and the key ends in what that is */
	double median_ms;
	double tflops; /* as the file says; NAN unknown */
};

struct reading {
	char format[24];
	int n_rows;
	struct reading_row *row; /* in the order of the file */
	int n_skipped;           /* rows that the benchmark itself skipped or could not measure */
	/* internal */
	int n_values, room;
};

/** Whether `name` is a format. */
bool reading_known(const char *name);
/** The format that a text looks like, NULL none. */
const char *reading_guess(const char *text, size_t len);

/**
 * Read `text`. `unit` says what the numbers of a triton file are where its columns do not ("ms", "us", "ns", "s", "TFLOPS",
 * "GB/s"); "" not given. `file` is its name in messages. Err: ERR_INVALID, `out` then empty. Own: reading_fini frees.
 */
int reading_parse(const char *format, const char *unit, const char *text, size_t len, const char *file, struct reading *out,
	struct fw_err *err);
void reading_fini(struct reading *r);

/** The row of a key, NULL none. */
const struct reading_row *reading_find(const struct reading *r, const char *key);

/* ---- for the readers of single formats ----------------------------------------------------------------------------------- */

/**
 * Add one value to the row of `key`, which is made when it is new. The key may be anything: characters that hide are replaced,
 * what is too long is cut and marked with a hash. `where` is "file:line" or "file: path" for messages.
 * Err: ERR_INVALID a time that is not above 0 and below 1e9 ms, or too many rows or values.
 */
int reading_add(struct reading *r, const char *key, double ms, double tflops, const char *where, struct fw_err *err);

/** ms for one `unit` of time, 0 when it is none. "ns" "us" "ms" "s" and their usual spellings. */
double reading_unit_ms(const char *unit);
/**
 * A value in `unit`, which may be a rate: TFLOPS, GFLOPS, GB/s, TB/s and spellings of them. *ms becomes time per unit of work for a rate, `suffix` what
 * the key then ends in ("/per-GB"), "" for times; *tflops the rate where it is one of FLOPs, NAN else. -1 for an unknown unit.
 */
int reading_convert(double value, const char *unit, double *ms, double *tflops, const char **suffix);

#endif
