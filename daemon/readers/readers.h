/** readers.h - readers of foreign benchmark formats. */
#ifndef READERS_READERS_H
#define READERS_READERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/lib.h"
#include "model/model.h"

/* ---- ffa_compare: Two profiles of MagiAttention's profile_ffa side by side, in the format of its compare_*.csv. Pure. ---- */

struct ffa_file {
	const char *text, *name;
	size_t len;
};

/**
 * Write each common row, with every result of base and target and its change in percent: a longer time is positive, a lower
 * throughput negative; `unknown` ("", "identical") if a side has none. Rows are matched by their inputs, and by kernel settings
 * if only those distinguish two rows of a file. `rows` receives the number. Err: ERR_INVALID with file and line.
 */
int ffa_compare(const struct ffa_file *base, const struct ffa_file *target, const char *unknown, struct buf *out, int *rows,
	struct fw_err *err);

/*
 * ---- ffa_csv ----
 * Writer of the CSV files of MagiAttention's profile_ffa: profile_dense and profile_block_sparse, one side each.
 *
 * Columns and their order are MagiAttention's. Missing results are -1, phases of the other direction are empty. Numbers have four
 * decimals as there, and more for short times, so that they have the verdict's precision. Pure.
 */

enum { FFA_CSV_PHASES = 11 };

/** A row of a profile. Units: ms, TFLOP/s; not above 0: missing. */
struct ffa_csv_row {
	int tokens;
	bool backward;
	const char *mask;   /* dense */
	double ratio;       /* block-sparse, as all that follow */
	int block;          /* tokens */
	int tile_q, tile_k; /* of the kernel; 0: unknown */
	double latency_ms, tflops;
	double phase_ms[FFA_CSV_PHASES]; /* indexed by ffa_csv_phase */
};

/** Return the number of a phase, "run", in that direction; -1: no such column. `len`: bytes of the name. */
int ffa_csv_phase(const char *name, size_t len, bool backward);

void ffa_csv_head(struct buf *out, bool sparse);
void ffa_csv_put(struct buf *out, bool sparse, const struct ffa_csv_row *row);

enum { FFA_CSV_FILES = 6, FFA_CSV_NAME_SIZE = 320 };

/** A file of a comparison. `role`: its name without names of sides. */
struct ffa_csv_file {
	const char *role;
	bool sparse, base, target; /* both sides: the comparison of both profiles */
};
extern const struct ffa_csv_file ffa_csv_files[FFA_CSV_FILES];
/** Whether files of this kind have rows for the cell `key`. */
bool ffa_csv_takes(bool sparse, const char *key);
/** Write the name, without ".csv", of ffa_csv_files[file] for these names of the sides. */
void ffa_csv_name(int file, const char *base, const char *target, char out[FFA_CSV_NAME_SIZE]);

/*
 * ---- marks ----
 * Numbers with locale-dependent decimal and thousands marks: 1,234.5 is 1.234,5 or 1'234.5 or 1 234,5 elsewhere.
 *
 * One cell may be ambiguous: 12,345 is two numbers. A file has one locale, so its other cells may decide. Nothing is guessed.
 */

/** Marks shown by a file's numbers so far. Zeroed: none. */
struct marks {
	char decimal;               /* '.' or ','; 0 unknown */
	bool has_grouping;          /* thousands have a sign that is never a decimal mark: a space, an apostrophe */
	int line_point, line_comma; /* line in which each was the decimal mark; 0 none */
};

enum marks_kind {
	MARKS_NO_NUMBER,
	MARKS_NUMBER,
	MARKS_UNDECIDED, /* a number, but the file does not show which */
};

/** Learn from a number in `line`. `unit` is its unit: a percentage of a thousand is impossible. Other text is ignored. */
void marks_learn(struct marks *m, const char *cell, const char *unit, int line);
/** Return whether the file shows both marks as decimal mark. */
bool marks_contradict(const struct marks *m);
enum marks_kind marks_read(const struct marks *m, const char *cell, double *value);

/*
 * ---- ncu_source ----
 * Warp stalls as printed by `ncu --csv --page source --section SourceCounters`: for each launch its kernel's
 * name, a header, and a row for each instruction.
 */

struct ncu_stall {
	int launch;      /* position in the file, from 0 */
	uint32_t offset; /* bytes from the kernel's first instruction */
	int samples;
	const char *reason; /* main reason, by a counter's name; "other": a reason without its own column */
	int of_reason;
};

/** Take one sampled instruction. Err: -1 stops. */
typedef int ncu_stall_fn(void *arg, const struct ncu_stall *s, struct fw_err *err);

/**
 * Visit all of them, in the order of the file; other lines are skipped. Sets `launches`. Err: ERR_INVALID there is no table of
 * samples.
 */
int ncu_source_each(
	const char *text, size_t len, const char *file, ncu_stall_fn *take, void *arg, int *launches, struct fw_err *err);

/*
 * ---- reading ----
 * Output of a foreign benchmark as rows: a cell's key and its times.
 *
 * FORMAT_NAMES are the formats; internal.h describes what is read of each.
 * An error names the line or the JSON path, the fault and the remedy; a truncated file is refused. Pure: opens no files.
 */

enum { READING_BYTES_MAX = 16 << 20, READING_ROWS_MAX = 4096, READING_VALUES_MAX = 1 << 17 };
enum { READING_WHY_SIZE = 160, READING_TIMES_MAX = 10, READING_FACTS_MAX = 64, READING_NOTE_SIZE = 320, READING_NOTES_MAX = 64 };

/** Names of the statistics of repeated times. */
#define READING_MEDIAN "median"
#define READING_MEAN   "mean"

/** How to read a text. Own: all borrowed. */
struct reading_options {
	const char *format;
	const char *unit; /* unit of a triton file whose columns have none: "ms" "us" "ns" "s" "TFLOPS" "GB/s"; "" not given */
	const char *time; /* google-benchmark: "real" or "cpu"; "" real */
	bool name_device; /* nvbench: include the card in every name, also with one card */
	/* The rest may be NULL or 0. */
	const char *results; /* triton: the result columns, comma-separated; columns before them are sizes */
	const char *metrics; /* ncu: metrics to read in addition to times, names or patterns, comma-separated */
	bool traffic;        /* ncu: without `metrics`, read those of memory traffic */
	const char *kernel;  /* ncu: only kernels that match this pattern */
	const char *ids;     /* ncu: only launches of these IDs, "3-5,9" */
	int launches;        /* ncu: only rows with exactly this number of launches */
	int warmup;          /* ncu: number of first launches of each row to leave out */
	const char *other;   /* text of the file to compare with: both name a case alike. Shape: other[other_len] */
	size_t other_len;
	bool may_be_empty; /* a text without a measured row is no mistake */
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
struct reading_skipped {
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
	struct reading_skipped *left; /* left[n_left]; none of them is among the rows */
	int n_notes;
	char (*note)[READING_NOTE_SIZE]; /* other missing data: columns and launches. Shape: note[n_notes] */
	int n_figures;
	struct reading_figure *figure; /* figure[n_figures] */
	/* internal */
	int n_values, entry;
	int line; /* current line; 0 unknown */
};

/** Guess the format of a text, NULL none. `file` is its name: only the name identifies MagiAttention's flops.csv. */
const char *reading_guess(const char *text, size_t len, const char *file);

/** Read `text`. `file` is its name in messages. Err: ERR_INVALID, `out` then empty. Own: reading_fini frees. */
int reading_parse(const struct reading_options *how, const char *text, size_t len, const char *file, struct reading *out,
	struct fw_err *err);
void reading_fini(struct reading *r);

/** Find the row of a key, NULL none. */
const struct reading_row *reading_find(const struct reading *r, const char *key);
/** Return why a row has no time: its failure, or why it was left out. NULL: it has one, or does not exist. */
const char *reading_why(const struct reading *r, const char *key);
/** Find the row of a key that reading_pair left out, NULL none. */
const struct reading_skipped *reading_find_unpaired(const struct reading *r, const char *key);
/** Format the left out rows: "2 rows were left out: a (skipped), b (line 7: 0 is not a time)". Shape: out[size]; "" none. */
void reading_report_skipped(const struct reading *r, char *out, size_t size);

/* ---- row: For the readers of single formats: creation of rows, and parsing of numbers. ---- */

typedef int reading_fn(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err);

/**
 * Assign all further rows to result number `entry` of the file. Two results of one name become two rows, "a#1" and "a#2" in the
 * order of their numbers; values of one result are its repetitions. A reader that never calls this treats all values of a name
 * as repetitions. Shape: entry >= 0.
 */
void reading_entry(struct reading *r, int entry);
/** Return whether a time in ms is plausible: between 1e-9 and 1e9. */
bool reading_is_time(double ms);
/**
 * Add one value to the row of `key`, creating it if new. The key may be any text: invisible characters are replaced, long keys
 * are cut and marked with a hash. `where` is "file:line" or "file: path" for messages. Err: ERR_INVALID a time that is not
 * above 0 and below 1e9 ms, or too many rows or values.
 */
int reading_add(struct reading *r, const char *key, double ms, double tflops, const char *where, struct fw_err *err);
/**
 * Add a row with statistics instead of values: the one of the lowest rank is its time, the others stay available for
 * reading_choose_statistic. Shape: time[n], n >= 1. Err: as reading_add; ERR_INVALID the row has a time already.
 */
int reading_state(
	struct reading *r, const char *key, const struct reading_time *time, int n, const char *where, struct fw_err *err);
/**
 * Store a condition of the measurement; a second, different value of a name is appended to the first. Invisible characters are
 * replaced, long text is cut, and entries beyond READING_FACTS_MAX are dropped.
 */
void reading_report(struct reading *r, const char *name, const char *value);
/** Return whether a name is a condition of measurements: a card, a host, a compiler, a kind of build. */
bool reading_is_condition(const char *name);
/** Mark a row as failed by the benchmark: it has no times, independently of other values in the file. Err: as reading_add. */
int reading_fail(struct reading *r, const char *key, const char *failure, const char *where, struct fw_err *err);
/** Omit a row, independently of other values in the file, with a reason. Err: too many rows. */
int reading_skip(struct reading *r, const char *key, struct fw_err *err, const char *why, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * Move all rows of `more`, which is then empty, to the end of `all`. Err: ERR_INVALID a row of that key exists; too many rows.
 */
int reading_join(struct reading *all, struct reading *more, const char *file, struct fw_err *err);
/** Make a visible key: invisible characters escaped, spaces as _, cut to fit with a hash of the whole. */
void reading_clean_key(const char *key, char out[CASE_KEY_SIZE]);
/** Make a visible text on one line, cut to fit. Shape: out[size]. */
void reading_show(const char *text, char *out, size_t size);
/** Parse a decimal number with optional trailing spaces only: no hexadecimal, no infinity. */
bool reading_number(const char *text, double *value);
/** Normalise a text in a key: spellings of one number (0.1, 0.100000, 1e-1; 4096, 4096.0) become equal. Shape: out[size]. */
void reading_spell(const char *text, char *out, size_t size);
/** Complete a reading to which all rows were added: drop left out ones that have a time elsewhere, compute medians. Err: as below. */
int reading_finish(struct reading *r, struct fw_err *err);
/** Number the results of one name, once all rows exist. Err: out of memory. */
int reading_number_twins(struct reading *r, struct fw_err *err);
const struct reading_skipped *reading_find_skipped(const struct reading *r, const char *key);

/*
 * ---- history ----
 * Files with the results of many commits: of one benchmark program, or the archive of a service. Pure.
 *
 * asv                      a result file of one commit and machine; give all of results/MACHINE; its machine.json is left out
 * bencher                  the answer of Bencher's API to a query of metrics (`bencher perf --format json`)
 * github-action-benchmark  data.js, or the JSON in it
 * lnt                      a test report of LLVM LNT, version 1 or 2, of one run whose revision is a commit; give all files
 * rustc-perf               CSV with a row for each result: commit, benchmark, value, and if needed date, suite, profile, scenario,
 *                          backend, and metric or unit
 */

#define HISTORY_FORMATS "asv, bencher, github-action-benchmark, lnt, rustc-perf"

enum { HISTORY_POINTS_MAX = 20000, HISTORY_NAME_SIZE = 64 };

/** The results of one commit in one suite. */
struct history_point {
	char commit[65];               /* full hash */
	char suite[HISTORY_NAME_SIZE]; /* letters, digits, . _ -; "" the file has no suites */
	int64_t at_ms;                 /* time of the measurement, ms UTC; 0 unknown */
	struct reading reading;        /* in it `format`, and after history_finish the medians */
	/* internal */
	int order;
};

struct history {
	int n;
	struct history_point *point; /* point[n]; after history_finish by suite, then oldest first */
	struct reading notes;        /* only its notes: what was left out */
};

/** Guess the format of a text, NULL none. */
const char *history_guess(const char *text, size_t len);
/**
 * Add the results of a file. Results of one cell and commit are repetitions. Results that are no times are left out with a note.
 * Err: ERR_INVALID unknown format, no result, or "FILE:LINE:COLUMN: ..." of the first mistake: no JSON, no full hash of a commit, a
 * value that is no time. `h` then has to be freed. Own: history_fini frees; *h is zero before the first file.
 */
int history_add(struct history *h, const char *format, const char *text, size_t len, const char *file, struct fw_err *err);
/** Sort the points of all files by time, those without one first, in the order of the files; compute medians. Err: as reading_finish. */
int history_finish(struct history *h, struct fw_err *err);
void history_fini(struct history *h);

/*
 * ---- ncu_table ----
 * Output of `ncu --csv`, by column names: they differ between versions. Pages "raw", a row for each launch, and
 * "details", a row for each metric of a launch.
 */

struct ncu_value {
	int line;                                    /* of the file, from 1 */
	int launch;                                  /* position in the file, from 0 */
	const char *kernel;                          /* demangled by ncu; borrowed for the call, like all members */
	const char *id, *process, *context, *device; /* as in the file; "" missing */
	const char *grid_text, *block_text;          /* "(132, 1, 1)" */
	int grid[3], block[3];
	const char *metric, *unit; /* "gpu__time_duration.sum", or "Duration" on page details; "ns", "nsecond", "" */
	const char *cell;          /* the value's text */
	enum marks_kind kind;
	double value; /* of MARKS_NUMBER */
};

/** Take one value, also one that is no number. Err: -1 stops. */
typedef int ncu_value_fn(void *arg, const struct ncu_value *v, struct fw_err *err);

/**
 * Visit all values of metrics, launch by launch. Other lines (ncu's own, the program's) are skipped anywhere; rows may end early
 * in some versions. `decimal` is the decimal mark, 0: inferred from the file (ncu_table.c). `out` receives notes on skipped rows,
 * may be NULL. Err: ERR_INVALID there is no table, its last row is cut, or its numbers have both marks; `file` names the text
 * there.
 */
int ncu_table_each(const char *text, size_t len, const char *file, char decimal, struct reading *out, ncu_value_fn *take,
	void *arg, struct fw_err *err);

/*
 * ---- note ----
 * For the readers of single formats: notes on skipped data, and metrics other than times.
 *
 * A row without a time is no note: see reading_skip.
 */

/** Add one sentence about the file, once. Beyond READING_NOTES_MAX the last one counts them. */
void reading_note(struct reading *r, const char *sentence, ...) __attribute__((format(printf, 2, 3)));
/**
 * Add a value to the metric of a key. A second value in another unit of the same quantity (Kbyte, Mbyte) is converted; one of
 * another quantity is another metric. Err: more than READING_ROWS_MAX metrics, or READING_VALUES_MAX values.
 */
int reading_add_figure(struct reading *r, const char *key, const char *metric, const char *unit, double value, const char *where,
	struct fw_err *err);
/** Return the factor from unit `from` to unit `to`; 0: different quantities. */
double reading_unit_factor(const char *from, const char *to);
/** Find the metric of another file with the same quantity and row; NULL none. */
const struct reading_figure *reading_find_figure(const struct reading *r, const struct reading_figure *like);

/* ---- pair: Preparation of two readings for a comparison. Compares nothing. Pure. ---- */

/**
 * Give all rows of one cell the best statistic that each of them has. A row of values has their median and their mean. Shape:
 * row[n]. Returns whether there is such a statistic; without one nothing changes.
 */
bool reading_choose_statistic(struct reading_row *const *row, int n);

/**
 * Make two readings comparable; `warnings` receives each obstacle, a sentence a line: conditions that differ (another card, a
 * debug build), statistics that are not the best of the format. If the files have different numbers of results of one name, or
 * no statistic in common, rows of both sides are left out (reading_find_unpaired): *unpaired is the number of those names. Own:
 * the readings stay the caller's. Err: out of memory.
 */
int reading_pair(struct reading *base, const char *base_file, struct reading *target, const char *target_file,
	struct buf *warnings, int *unpaired, struct fw_err *err);

#endif
