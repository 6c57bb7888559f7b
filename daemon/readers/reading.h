/**
 * reading.h - output of a foreign benchmark as rows: a cell's key and its times.
 *
 * Formats: "flopwatch" (JSON lines), "ffa" (CSV of MagiAttention: its profile, old and new columns, and flops.csv), "nvbench",
 * "google-benchmark", "hyperfine" (JSON), "triton" (CSV of perf_report), "torchao" (CSV of its benchmarks), "ncu" (its --csv).
 * An error names the line or the JSON path, the fault and the remedy; a truncated file is refused. Pure: opens no files.
 */
#ifndef READERS_READING_H
#define READERS_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"
#include "model/case.h"

enum { READING_BYTES_MAX = 16 << 20, READING_ROWS_MAX = 4096, READING_VALUES_MAX = 1 << 17 };
enum { READING_WHY_SIZE = 160, READING_TIMES_MAX = 10, READING_FACTS_MAX = 64, READING_NOTE_SIZE = 320, READING_NOTES_MAX = 64 };

/** Names of the statistics of repeated times. */
#define READING_MEDIAN "median"
#define READING_MEAN   "mean"

/** All formats, separated by ", ", for messages. */
#define READING_FORMATS "flopwatch, ffa, nvbench, google-benchmark, hyperfine, triton, torchao, ncu"

/** How to read a text. Own: all borrowed. */
struct reading_how {
	const char *format;
	const char *unit; /* unit of a triton file whose columns have none: "ms" "us" "ns" "s" "TFLOPS" "GB/s"; "" not given */
	const char *time; /* google-benchmark: "real" or "cpu"; "" real */
	bool name_device; /* nvbench: include the card in every name, also with one card */
	/* The rest may be NULL or 0. */
	const char *results; /* triton: the result columns, comma-separated; columns before them are sizes */
	const char *metrics; /* ncu: metrics to read besides times, names or patterns, comma-separated */
	const char *kernel;  /* ncu: only kernels that match this pattern */
	const char *ids;     /* ncu: only launches of these IDs, "3-5,9" */
	int launches;        /* ncu: only rows with exactly this number of launches */
	int warmup;          /* ncu: number of first launches of each row to leave out */
	const char *other;   /* text of the file to compare with: both name a case alike. Shape: other[other_len] */
	size_t other_len;
};

/** One of several statistics of one result: a median, a mean, the time of another clock. */
struct reading_time {
	const char *name; /* for messages: "mean of cold GPU times"; static */
	int rank;         /* 0 the best of its format; equal for one statistic in all versions of the format */
	double ms;
};

struct reading_row {
	char key[CASE_KEY_SIZE];        /* of the cell; visible characters only; unique in a reading */
	char name[CASE_KEY_SIZE];       /* name in the file; the key adds "#2" if the file has several results of the name */
	int twins;                      /* results of that name in the file, left out ones included */
	int n;                          /* values; 0 only if the benchmark reports a failure */
	double *ms;                     /* ms[n]; > 0. For a rate: ms per unit of work, with the unit at the end of the key */
	double median_ms;               /* NAN without values */
	double tflops;                  /* from the file, or from its sizes; NAN unknown */
	char failure[READING_WHY_SIZE]; /* the benchmark's error message; "" none */
	const char *statistic;          /* name of its statistic if it is not the best of the format; else "" */
	/* Statistics in the file; none: it has values, and their median and mean. */
	int n_times;
	struct reading_time time[READING_TIMES_MAX];
	/* internal */
	int entry;
};

/** A row in the file without a time: skipped, not measured, too short. */
struct reading_left {
	char key[CASE_KEY_SIZE], name[CASE_KEY_SIZE]; /* as in struct reading_row */
	int twins;
	char why[READING_WHY_SIZE];
	int line;      /* of the file; 0 unknown */
	bool unpaired; /* it has a time, but reading_pair found no row of the other file for it */
	/* internal */
	int entry;
};

/** A metric of a kernel other than time: bytes, registers, a hit rate. */
struct reading_figure {
	char key[CASE_KEY_SIZE]; /* of its row */
	char metric[160];
	char unit[48]; /* as in the file; "" none */
	int n;
	double *value; /* value[n], in `unit` */
	double median;
};

struct reading_fact {
	char name[48], value[160]; /* "GPU", "NVIDIA H200"; "library_build_type", "release" */
	bool doubtful;             /* worth a warning alone: a debug build */
};

struct reading {
	char format[24];
	int n_devices; /* number of cards, if the format has them; else 0 */
	int n_facts;
	struct reading_fact *fact; /* fact[n_facts]; names differ */
	int n_rows;
	struct reading_row *row; /* in the order of the file */
	int n_left;
	struct reading_left *left; /* left[n_left]; none of them is among the rows */
	int n_notes;
	char (*note)[READING_NOTE_SIZE]; /* other lost data: columns and launches. Shape: note[n_notes] */
	int n_figures;
	struct reading_figure *figure; /* figure[n_figures] */
	/* internal */
	int n_values, room, left_room, entry;
	int line; /* current line; 0 unknown */
};

bool reading_known(const char *name);
/** Return whether `time` selects among several times of a format. */
bool reading_has_times(const char *format);
/** Guess the format of a text, NULL none. `file` is its name: only the name identifies MagiAttention's flops.csv. */
const char *reading_guess(const char *text, size_t len, const char *file);

/** Read `text`. `file` is its name in messages. Err: ERR_INVALID, `out` then empty. Own: reading_fini frees. */
int reading_parse(
	const struct reading_how *how, const char *text, size_t len, const char *file, struct reading *out, struct fw_err *err);
void reading_fini(struct reading *r);

/** Find the row of a key, NULL none. */
const struct reading_row *reading_find(const struct reading *r, const char *key);
/** Return why a row has no time: its failure, or why it was left out. NULL: it has one, or does not exist. */
const char *reading_why(const struct reading *r, const char *key);
/** Find the row of a key that reading_pair left out, NULL none. */
const struct reading_left *reading_find_unpaired(const struct reading *r, const char *key);
/** Format the left out rows: "2 rows were left out: a (skipped), b (line 7: 0 is no time)". Shape: out[size]; "" none. */
void reading_report_left(const struct reading *r, char *out, size_t size);

/** Return the ms of one `unit` of time, 0 for other units. "ns" "us" "ms" "s" and their usual spellings. */
double reading_unit_ms(const char *unit);
/**
 * Convert a value in `unit`, which may be a rate: TFLOPS, GFLOPS, GB/s, TB/s and spellings of them. *ms becomes time per unit
 * of work for a rate, `suffix` the end of its key ("/per-GB"), "" for times; *tflops the rate in FLOPs, else NAN. -1 for an
 * unknown unit.
 */
int reading_convert(double value, const char *unit, double *ms, double *tflops, const char **suffix);

#endif
