/**
 * reading.h - what a foreign benchmark wrote becomes rows: a cell's key and its times.
 *
 * Formats: "flopwatch" (JSON lines), "ffa" (CSV of MagiAttention: its profile, old and new columns, and flops.csv), "nvbench",
 * "google-benchmark", "hyperfine" (JSON), "triton" (CSV of perf_report), "torchao" (CSV of its benchmarks), "ncu" (its --csv). A mistake names the
 * line or the JSON path, what is wrong there and what to do; what cannot be a whole file is refused whole. Pure: the text is
 * the caller's, nothing is opened.
 */
#ifndef CORE_READING_READING_H
#define CORE_READING_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "core/case/case.h"

enum { READING_BYTES_MAX = 16 << 20, READING_ROWS_MAX = 4096, READING_VALUES_MAX = 1 << 17 };
enum { READING_WHY_SIZE = 160, READING_TIMES_MAX = 10, READING_FACTS_MAX = 64, READING_NOTE_SIZE = 320, READING_NOTES_MAX = 64 };

/** What formats call the statistics of times that are repetitions of each other. */
#define READING_MEDIAN "median"
#define READING_MEAN   "mean"

/** All formats, separated by ", ", for messages. */
#define READING_FORMATS "flopwatch, ffa, nvbench, google-benchmark, hyperfine, triton, torchao, ncu"

/** How a text is to be read. Own: all borrowed. */
struct reading_how {
	const char *format;
	const char *
		unit; /* what the numbers of a triton file are where its columns do not say: "ms" "us" "ns" "s" "TFLOPS" "GB/s"; "" not given */
	const char *time; /* of google-benchmark: "real" or "cpu"; "" real */
	bool name_device; /* of nvbench: the card is a part of every name, also where the file has one card */
	/* The rest may be NULL or 0. */
	const char *results; /* of triton: the columns that are results, by comma; the columns before them are sizes */
	const char *metrics; /* of ncu: figures to read beside the times, names or patterns by comma */
	const char *kernel;  /* of ncu: only kernels whose name fits this pattern */
	const char *ids;     /* of ncu: only launches of these IDs, "3-5,9" */
	int launches;        /* of ncu: only rows of exactly so many launches */
	int warmup;          /* of ncu: so many launches of each row are left out, the first ones */
	const char *other;   /* text of the file that this one is laid beside: both name a case alike. Shape: other[other_len] */
	size_t other_len;
};

/** One of several statistics that a benchmark states of one result: a median, a mean, the time of another clock. */
struct reading_time {
	const char *name; /* for people: "mean of cold GPU times"; static */
	int rank;         /* 0 the best of its format; a statistic has the same rank in every version of the format */
	double ms;
};

struct reading_row {
	char key[CASE_KEY_SIZE];  /* of the cell; no hidden characters; unique in a reading */
	char name[CASE_KEY_SIZE]; /* as the file says; the key is that, and "#2" where the file has several results of the name */
	int twins;                /* results of that name in the file, also those that are left out */
	int n;                    /* values; 0 only where the benchmark says that it failed */
	double *ms;               /* ms[n]; > 0. Of a rate: ms per unit of work, and the key ends in what that is */
	double median_ms;         /* NAN without values */
	double tflops;            /* as the file says, or as its sizes make it; NAN unknown */
	char failure[READING_WHY_SIZE]; /* what the benchmark itself says went wrong; "" nothing */
	const char *statistic; /* which of several statistics its time is, where it is not the best of the format; "" it is */
	/* The statistics that the file states; none: it states values, whose median and mean they are. */
	int n_times;
	struct reading_time time[READING_TIMES_MAX];
	/* internal */
	int entry;
};

/** A row that is in the file and has no time: skipped, not measured, too short. */
struct reading_left {
	char key[CASE_KEY_SIZE], name[CASE_KEY_SIZE]; /* as in struct reading_row */
	int twins;
	char why[READING_WHY_SIZE];
	int line;      /* of the file; 0 not known */
	bool unpaired; /* it has a time, and reading_pair found no row of the other file to compare it with */
	/* internal */
	int entry;
};

/** A figure of a kernel that is no time: bytes, registers, a rate of hits. */
struct reading_figure {
	char key[CASE_KEY_SIZE]; /* of the row that it belongs to */
	char metric[160];
	char unit[48]; /* as the file writes it; "" none */
	int n;
	double *value; /* value[n], in `unit` */
	double median;
};

/** What a file says of how it was measured. */
struct reading_fact {
	char name[48], value[160]; /* "GPU", "NVIDIA H200"; "library_build_type", "release" */
	bool doubtful;             /* worth a warning by itself: a debug build */
};

struct reading {
	char format[24];
	int n_devices; /* cards that its rows ran on, where the format tells them apart; 0 else */
	int n_facts;
	struct reading_fact *fact; /* fact[n_facts]; names differ */
	int n_rows;
	struct reading_row *row; /* in the order of the file */
	int n_left;
	struct reading_left *left; /* left[n_left]; none of them is among the rows */
	int n_notes;
	char (*note)
		[READING_NOTE_SIZE]; /* what else is not in the rows: columns and launches that were left out. Shape: note[n_notes] */
	int n_figures;
	struct reading_figure *figure; /* figure[n_figures] */
	/* internal */
	int n_values, room, left_room, entry;
	int line; /* that is being read; 0 not known */
};

/** Whether `name` is a format. */
bool reading_known(const char *name);
/** Whether a format gives more than one time of which `time` chooses. */
bool reading_has_times(const char *format);
/** The format that a text looks like, NULL none. `file` is its name: that of MagiAttention's flops.csv is all that tells it from others. */
const char *reading_guess(const char *text, size_t len, const char *file);

/** Read `text`. `file` is its name in messages. Err: ERR_INVALID, `out` then empty. Own: reading_fini frees. */
int reading_parse(
	const struct reading_how *how, const char *text, size_t len, const char *file, struct reading *out, struct fw_err *err);
void reading_fini(struct reading *r);

/** The row of a key, NULL none. */
const struct reading_row *reading_find(const struct reading *r, const char *key);
/** Why a row has no time, as far as the file says: its failure, or why it was left out. NULL: it has one, or is not there. */
const char *reading_why(const struct reading *r, const char *key);
/** The row of a key that reading_pair left out, NULL none. */
const struct reading_left *reading_find_unpaired(const struct reading *r, const char *key);
/** Rows left out, in one sentence: "2 rows were left out: a (skipped), b (line 7: 0 is no time)". Shape: out[size]; "" none. */
void reading_tell_left(const struct reading *r, char *out, size_t size);

/** ms for one `unit` of time, 0 when it is none. "ns" "us" "ms" "s" and their usual spellings. */
double reading_unit_ms(const char *unit);
/**
 * A value in `unit`, which may be a rate: TFLOPS, GFLOPS, GB/s, TB/s and spellings of them. *ms becomes time per unit of work for a rate, `suffix` what
 * the key then ends in ("/per-GB"), "" for times; *tflops the rate where it is one of FLOPs, NAN else. -1 for an unknown unit.
 */
int reading_convert(double value, const char *unit, double *ms, double *tflops, const char **suffix);

#endif
