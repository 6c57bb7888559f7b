/** internal.h - declarations that the files of this folder share. */
#ifndef READERS_INTERNAL_H
#define READERS_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/lib.h"
#include "readers/readers.h"

enum { TABLE_KEY_SIZE = 2048 }; /* of a name, before reading_clean_key cuts it */

/* ---- column: Meaning of a column's name: its series, its unit, or that it contains no times. ---- */

enum { COLUMN_UNIT_SIZE = 32 };

enum column_unit {
	COLUMN_NO_UNIT,
	COLUMN_TIME_OR_RATE, /* known to unit_convert */
	COLUMN_OTHER_UNIT,   /* another unit in brackets: "M (tokens)", "speedup (x)" */
};

/**
 * Split "triton (us)", "triton[us]", "triton, us", "triton_us", "triton time in us" into series and unit. Shape: series[size],
 * unit[COLUMN_UNIT_SIZE]. Without a unit the series is the name.
 */
enum column_unit column_split(const char *name, char *series, size_t size, char unit[COLUMN_UNIT_SIZE]);
/** Return whether column_split gives COLUMN_TIME_OR_RATE and the unit is in brackets. */
bool column_has_brackets(const char *name);
/** Return the term that marks a comparison of times: ratio, speedup, stddev. NULL none. Own: static. */
const char *column_compares(const char *name);
/**
 * Return such a term, or one of counts and shares: calls, instances, percentage. Terms of `unit` (of all columns; "" none) do not
 * count.
 */
const char *column_counts(const char *name, const char *unit);
/** Return whether a name is a size: M, seqlen, head_dim. */
bool column_is_size(const char *name);
/** Return whether a name is an implementation: triton, torch, cublas. */
bool column_is_subject(const char *name);
/** Return whether a name has a term of profilers and similar tools, whose tables are no triton reports. */
bool column_is_statistic(const char *name);

/* ---- asv: Results of airspeed velocity; called by reading_parse. ---- */

/**
 * Read a result file of version 2: the samples of each benchmark of time and combination of parameters if they were recorded,
 * else its median. The file has no units, so the kind of a benchmark is known by its name, as asv does; others are left out with
 * a note. null is a failure; NaN, a skipped benchmark, is left out.
 */
reading_fn read_asv;

/* ---- catch2: Benchmarks of Catch2; called by reading_parse. ---- */

/**
 * Read the text of the console reporter, with or without analysis: the mean of each benchmark, named by its test case, sections
 * and itself. "Benchmark failed" is a failure; a benchmark without its mean is left out. XML is refused.
 */
reading_fn read_catch2;

/* ---- criterion: Results of Criterion.rs; called by reading_parse. ---- */

/**
 * Read estimates.json (the median and the mean) or sample.json (all samples) of one benchmark, named by its folders below
 * criterion/; the JSON lines of cargo-criterion (all samples, else median and mean), named by `id`; or the text of bencher and of
 * Rust's own benchmarks, "test NAME ... bench: 1,234 ns/iter".
 */
reading_fn read_criterion;

/* ---- cutlass: CSV of cutlass_profiler; called by reading_parse. ---- */

/**
 * Read its --output, or its standard output: a row for each result, named by provider, operation, tags and arguments of the
 * problem. Only the dispositions passed and, with a note, not_verified have times; failed and incorrect are failures, others are
 * left out.
 */
reading_fn read_cutlass;

/* ---- ffa: CSV files of MagiAttention; called by reading_parse. ---- */

/**
 * Read its profile_*.csv: dense (seqlen, mask_type) and block-sparse, with `block_size` (old) or `q_block_size` and
 * `k_block_size` (new); latency_ms is the time, phases are not read. Or its flops.csv: a column of sizes, then TFLOP/s of one
 * implementation a column. Rows of -1 (out of memory) and -2 (not supported) are left out.
 */
reading_fn read_ffa;

/* ---- google: JSON of Google Benchmark; called by reading_parse. ---- */

/**
 * Read --benchmark_format=json: real_time, or cpu_time if `time` requests it, of each repetition; if a benchmark has only
 * aggregates, its median, else its mean. Repetitions are one row if the file marks them: by family_index and repetition_index,
 * in old files by following aggregates. Other items of one name are separate rows. An item with error_occurred failed, with its
 * message; a skipped one, or a result with an item without a time (0, NaN, infinite, missing), is left out. The context becomes
 * conditions (reading_report).
 */
reading_fn read_google;

/* ---- hipblaslt: Output of hipblaslt-bench; called by reading_parse. ---- */

/**
 * Read a row for each line of results, also among other output, named by its arguments without those of usual values (alpha=1,
 * no activation). Several solutions of one problem are several rows; the repeated best one is solution=winner.
 */
reading_fn read_hipblaslt;

/* ---- hyperfine: JSON of hyperfine; called by reading_parse. ---- */

/**
 * Read --export-json: all times of a command; if they were removed, its median and mean. The name is the command with all
 * parameters. Each result is a row, also with equal names. A result that ended with a failure, has a time not distinguished
 * from the shell's (0 s), or has no times, is left out.
 */
reading_fn read_hyperfine;

/* ---- jmh: JSON of JMH; called by reading_parse. ---- */

/**
 * Read the file of -rf json: the score of each iteration and fork, else (mode sample) the median and the mean. The name has the
 * parameters, the mode, and threads if there are several. Rates (thrpt) become the time of an operation, "/per-op".
 */
reading_fn read_jmh;

/* ---- liger: CSV of Liger-Kernel's benchmarks; called by reading_parse. ---- */

/**
 * Read the medians of all metrics of time: a row for each kernel, provider, mode, size and configuration, and GPU if the file has
 * several. Other metrics (memory) are left out with a note.
 */
reading_fn read_liger;

/* ---- lines: Flopwatch's own format, JSON lines; called by reading_parse. ---- */

/**
 * Read one row a line: {"cell":"name","ms":[1.02,1.03]} with `ms`, `us`, `ns` or `s` as number or list, and optional `tflops`,
 * or `error` with a message; or the lines of `make gpu-bench`: {"bench","peer","cell","value","unit"}, of which those in a unit
 * of time or a rate are rows. Two lines of one name are two rows; a list holds repetitions. A line without a time is left out.
 * Texts like `device`, `host`, `compiler` and `build` become conditions (reading_report).
 */
reading_fn read_lines;

/* ---- llama: Output of llama-bench; called by reading_parse. ---- */

/**
 * Read JSON, JSON lines, CSV or Markdown: tokens per second of each repetition, else their mean, as the time of a token,
 * "/per-token". The name has the model, the test ("pp512", "tg128@d4096") and the settings that vary in this file or the other
 * one; the other settings become conditions (reading_report), because they differ between versions.
 */
reading_fn read_llama;

/* ---- ncu: Times and other metrics of kernels in an export of `ncu --csv`; called by reading_parse. ---- */

/**
 * Read a row for each kernel by its name without parameters; each launch is a time. If launches of one kernel differ in grid,
 * block, device, context or program, here or in the other file, the row's name includes that: "gemm/grid=16". `how` selects
 * metrics and launches.
 */
reading_fn read_ncu;

/* ---- nsys: Sums of kernels of nsys stats; called by reading_parse. ---- */

/**
 * Read the CSV of the report cuda_gpu_kern_sum, or cuda_gpu_kern_gb_sum with grid and block, alone or among other reports: a row
 * for each kernel, with the median of its instances, else their mean. Lines before the table are skipped.
 */
reading_fn read_nsys;

/* ---- nvbench: JSON of nvbench; called by reading_parse. ---- */

/**
 * Read the median of cold GPU times of each state, else its best statistic; all statistics stay available (reading_choose_statistic). Names
 * include the card only if the file has several, or `name_device` requests it; it becomes a condition in any case. Skipped states
 * and those without a time are left out. Reads files of version 1, and unversioned ones of 2021, whose states and summaries have
 * other names; any other version is refused by name.
 */
reading_fn read_nvbench;

/* ---- object: Functions shared by JSON readers: loading, positions for messages, lists of times. ---- */

enum { OBJECT_NAME_SIZE = 512, OBJECT_TEXT_SIZE = 4 * OBJECT_NAME_SIZE, OBJECT_PARAMETERS_MAX = 64 };

/** Parse the whole text as one object. Own: json_decref. Err: NULL, with the line. */
json_t *object_load(const char *text, size_t len, const char *file, struct fw_err *err);
/** The same for programs that write NaN and Infinity as bare words: each becomes a string, see object_is_bare. */
json_t *object_load_bare(const char *text, size_t len, const char *file, struct fw_err *err);
/** Return whether a value replaces a bare NaN or Infinity. */
bool object_is_bare(const json_t *value);
/** Take the object of one line. `where` is "file:line". Returns 0, -1. */
typedef int object_line_fn(struct reading *out, json_t *object, const char *where, void *arg, struct fw_err *err);
/** Give the object of each line to `take`; empty lines are skipped. Err: a line is no JSON, and those of `take`. */
int object_each_line(
	struct reading *out, const char *text, size_t len, const char *file, object_line_fn *take, void *arg, struct fw_err *err);
/** Add the file to a mistake found by lib/field.c; leave others. Returns -1. */
int object_mistake(struct fw_err *err, const char *file);
/** Format "file: benchmarks[0].real_time", for messages. Shape: out[OBJECT_TEXT_SIZE]. */
const char *object_position(char out[OBJECT_TEXT_SIZE], const char *file, const struct fields *f, const char *key);
/**
 * Add the number, or the numbers of the list, at `name` to the row of `key`. If one is not a time, the row is left out, with that
 * reason. Units: unit_to_ms is ms of one. Err: too many values.
 */
int object_add_times(struct reading *out, struct fields *f, const char *file, const char *name, const char *key,
	double unit_to_ms, double tflops, struct fw_err *err);
/** The same for a value or list that is no member of an object; `name` and `where` are for messages. */
int object_add_values(struct reading *out, json_t *values, const char *name, const char *key, double unit_to_ms, double tflops,
	const char *where, struct fw_err *err);
/** Add the numbers `median` and `mean` of an object as the row of `key`; without both it is left out. Units: as above. */
int object_add_statistics(
	struct reading *out, const struct fields *f, const char *file, const char *key, double unit_to_ms, struct fw_err *err);
/** Add all conditions (reading_report) among the texts, numbers and booleans of an object. */
void object_report_conditions(struct reading *out, json_t *object);
/** Write a value in one spelling: 4, "4" and 4.0 are one, true is true. */
void object_put_value(struct buf *key, const json_t *value);
/** Sort the names of an object, or of its first ones. Returns their number. Own: borrowed. */
size_t object_sort_names(json_t *object, const char *name[OBJECT_PARAMETERS_MAX]);
/** Append "/name=value" for each member, in the order of their names, as table_put does. `object` may be NULL. */
void object_put_parameters(char key[TABLE_KEY_SIZE], json_t *object);

/* ---- pytest: JSON of pytest-benchmark; called by reading_parse. ---- */

/**
 * Read --benchmark-json: the times of all rounds if the file has them (--benchmark-save-data), else the median and the mean of
 * each benchmark, named by its fullname. The machine becomes conditions (reading_report).
 */
reading_fn read_pytest;

/* ---- rocprof: Statistics of rocprof; called by reading_parse. ---- */

/** Read the CSV of --stats of all versions: the mean of the calls of each kernel (or function of an API, in its statistics). */
reading_fn read_rocprof;

/* ---- table: Functions shared by CSV readers: header names, whole rows, numbers in columns. ---- */

enum { TABLE_COLUMNS_MAX = 64, TABLE_NAME_SIZE = 160, TABLE_POSITION_SIZE = 1024 };

/** The header's names, stored while rows are read. Columns may have any order. */
struct table_header {
	int n;
	char name[TABLE_COLUMNS_MAX][TABLE_NAME_SIZE];
};

/** Read the first row. Err: there is none. */
int table_header_read(struct csv *c, struct table_header *h, struct fw_err *err);
/** Return the position of a column; -1 none. table_require_column sets `err` as well. */
int table_column(const struct table_header *h, const char *name);
int table_require_column(const struct csv *c, const struct table_header *h, const char *name, struct fw_err *err);
/**
 * Read the next row. A row with another number of cells than the header is left out, with a note in `out`, if not NULL. Returns
 * 1, 0, -1: the last row has no end of line, so its last number may be cut.
 */
int table_next(struct csv *c, const struct table_header *h, struct reading *out, struct fw_err *err);
/** Take the current row. Returns 0, -1. */
typedef int table_row_fn(
	struct reading *out, const struct csv *c, const struct table_header *h, const void *arg, struct fw_err *err);
/**
 * Give each further row to `take`. Its values are further ones: two rows of one name stay two (reading_entry). Columns like
 * `gpu` or `host` become conditions (reading_report). Err: those of table_next and `take`.
 */
int table_each(struct reading *out, struct csv *c, const struct table_header *h, table_row_fn *take, const void *arg,
	struct fw_err *err);
/** Return why a cell is not a time or rate; NULL: it is one, *value. Shape: why[READING_WHY_SIZE]. */
const char *table_unfit(const char *cell, double *value, char why[READING_WHY_SIZE]);
const char *table_position(char out[TABLE_POSITION_SIZE], const struct csv *c, const char *name);
/** Go to the beginning of the next line that contains `mark`; false: there is none. */
bool table_seek(struct csv *c, const char *mark);
/** Refuse a row whose last cell may be cut because the text ends without an end of line. 0, -1. */
int table_check_end(const struct csv *c, const struct table_header *h, struct fw_err *err);
/**
 * Copy a name of `len` bytes. A longer one is cut and ends with a hash of the whole, since names of kernels may differ only at their
 * end. Shape: out[size].
 */
void table_name(const char *name, size_t len, char *out, size_t size);
/** Append "/name=value" to a key; nothing for an empty value. Spellings of one number become equal. Shape: key[TABLE_KEY_SIZE]. */
void table_put(char key[TABLE_KEY_SIZE], const char *name, const char *value);
/**
 * Add the time or rate of a cell, in a unit known to unit_convert, to the row of `key`, to which the suffix of a rate is added; a
 * cell without one is left out. `tflops` NAN: those of the unit. Err: as reading_add.
 */
int table_add(struct reading *out, const struct csv *c, const struct table_header *h, int column, const char *unit,
	const char *key, double tflops, struct fw_err *err);

/* ---- text: Lines of a text, for formats that are neither JSON nor CSV. ---- */

struct text_line {
	const char *at; /* without spaces and the end of line at its end; not terminated. Shape: at[n] */
	size_t n;
	int number; /* in the text, from 1 */
	/* internal */
	const char *next, *end;
};

/** Return the state before the first line. Own: borrows the text. */
struct text_line text_begin(const char *text, size_t len);
/** Go to the next line; false: there is none. */
bool text_next(struct text_line *line);
/** Return whether a line ends at the end of the text, without an end of line, so that its last word may be cut. */
bool text_is_open(const struct text_line *line);
bool text_begins(const struct text_line *line, const char *with);
/** Copy a part of a line without spaces around it, cut to fit. Shape: out[size]. */
void text_trim(const char *from, const char *to, char *out, size_t size);

/* ---- torch_compare: Tables of torch.utils.benchmark.Compare; called by reading_parse. ---- */

/**
 * Read each table that it prints, also among other lines and with colours: the median of each row and column, named by label,
 * row, column, environment and number of threads. A table without its last line, which has the unit, is cut and refused.
 */
reading_fn read_torch_compare;

/* ---- torchao: CSV files of torchao's benchmarks; called by reading_parse. ---- */

/**
 * Read every column of measured times as a series. Microbenchmarks: ..._inference_time_in_ms. float8 training: ref_time_sec and
 * pt_fp8_time_sec, or {,reference_}{forward,backward,total}_time_ms. Matmul: ref_time_s, fp8_time_s. Roofline: b_..._s; its
 * r_... are modelled and left out, as are ratios of any name. 0, -1, inf, nan and empty cells are missing times. FLOPs follow
 * from m, k and n if the model is one linear layer: 2 m k n forward, 4 backward, 6 both.
 */
reading_fn read_torchao;

/* ---- triton: CSV of triton.testing; called by reading_parse. ---- */

/**
 * Read the output of perf_report: columns of x values, then one column a line. The newer "Triton (TFLOPS)" contains its unit,
 * and a contradicting `unit` is refused. For older files `unit` is required, and results begin at the column that a name or a
 * fraction shows, or in which this file and the other one differ in the same row; an ambiguous column of whole numbers requires
 * `results`. Other columns, and cells without a time, are left out with notes.
 */
reading_fn read_triton;

/* ---- tritonbench: CSV and JSON of tritonbench; called by reading_parse. ---- */

/**
 * Read --output (cells separated by semicolons) or --output-json: latency with its TFLOP/s, walltime and cuda_time of each
 * provider and x; without a latency TFLOP/s or GB/s. A text in place of a number is a failure. Averages are not read, other
 * metrics are left out with a note.
 */
reading_fn read_tritonbench;
/** Return whether a line is the header of such a CSV. Shape: line[len]. */
bool tritonbench_is_header(const char *line, size_t len);

#endif
