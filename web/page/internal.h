/** internal.h - what the files of this folder share. */
#ifndef WEB_PAGE_INTERNAL_H
#define WEB_PAGE_INTERNAL_H

#include <stdlib.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"
#include "lib/lib.h"
#include "model/model.h"
#include "profile/profile.h"
#include "protocol/protocol.h"
#include "stats/stats.h"
#include "verdict/verdict.h"
#include "web/answer/answer.h"
#include "web/html/html.h"
#include "web/page/page.h"

/*
 * ---- why ----
 * What a profile found out about one cell, read for showing: causes, kernels with their counters, machine code.
 *
 * Most of it was said by processes that ran a branch's code: it is shown as text and decides nothing.
 */

struct why_cause {
	enum cause_kind kind; /* CAUSE_KINDS: a word of another version */
	const char *word, *confidence, *kernel, *sentence;
	double explained_ms, of_ms;
};

/** Warps that were seen at one instruction. */
struct why_stall {
	long offset, samples, of_reason; /* of_reason of the samples waited for: */
	const char *reason, *text;       /* text: the instruction; "" unknown */
};

/** The machine code of one kernel; evidence.code[] has it at the same place. */
struct why_code {
	const char *hunks;
	struct why_stalls {
		long long samples; /* 0: that side was not sampled */
		size_t n;
		const struct why_stall *line; /* line[n], most samples first */
	} stalls[2];                          /* base, target */
};

/** What ptxas says of one build and not of the other: words of db/diagnostic.c. */
struct why_diagnostic {
	const char *change, *code, *kernel, *what;
};

/** How a profile stands. Texts are "" where there is none. */
struct why_head {
	int64_t profile, job, comparison;
	enum jobstate state;
	const char *base_provider, *target_provider;
	const char *
		answer; /* why, as far as is known, as one sentence without a full stop: of the cell that was read, else of all */
};

struct why {
	struct why_head head;
	int n_cells;                                              /* of the whole profile */
	const char *key, *state, *why, *path, *tool, *stalls_why; /* state: done identical unsupported failed */
	int passes;
	double gpu_s, base_ms, target_ms; /* of the comparison; NAN unknown */
	const char *with_config;          /* "": the target was not tried with the base's configuration */
	size_t n_causes;
	struct why_cause *cause;
	struct cause_evidence evidence; /* kernels, code, configurations: base_config, ... */
	struct why_code *code;
	size_t n_diagnostics;
	struct why_diagnostic *diagnostic;
	struct pairing pairing;
	/* internal */
	struct why_kept *kept;
};

/** What is read of: an alert's profile, or where that is 0 a comparison's. */
struct why_of {
	int64_t alert, comparison;
	const char *key; /* the cell; NULL: the `n`th of the profile */
	int n;           /* the greatest loss first */
};

/** Read one cell. 1; 0 there is no profile, or not of this cell (out->head then says how the profile stands; head.profile 0: none); -1. Own: why_fini, always. */
int why_read(struct db *db, const struct why_of *of, struct why *out, struct fw_err *err);
/** How an alert's profile stands, and its answer alone. 1, 0 nobody asked for one, -1. Own: as above. */
int why_read_line(struct db *db, int64_t alert, struct why *out, struct fw_err *err);
void why_fini(struct why *w);

/** What a drawn page depends on of a comparison's profile. Shape: out[WHY_STAMP_SIZE]; "" none. */
enum { WHY_STAMP_SIZE = 64 };
int why_stamp(struct db *db, int64_t comparison, char *out, struct fw_err *err);

/*
 * ---- configurations ----
 * A profile as a table of configurations: of each cell what both sides ran, how fast they were, and what a call moved and
 * used, as the GPU counted it.
 */

/** "configurations" and "long_over_short": members of the object that is open. */
int configurations_json(struct db *db, int64_t profile, struct jsonw *j, struct fw_err *err);
/** The same as rows, a side a row. */
int configurations_csv(struct db *db, int64_t profile, struct buf *out, struct fw_err *err);
int configurations_markdown(struct db *db, int64_t profile, struct buf *out, struct fw_err *err);

/* ---- culprits: Whom an alert or a search names, as HTML. ---- */

/**
 * A paragraph for each culprit: the commit and how probable that is, or the range within which the measurements name none.
 * `culprits_json`: the array that flopwatchd/bisect/report.c writes.
 */
void culprits_show(struct buf *out, const char *culprits_json);

/* ---- detail: What stands under an opened row of a comparison: everything that is known of one cell. ---- */

/** Draw. Shape: `arg` the struct site. Err: the database's. */
int comparison_detail(void *arg, struct buf *out, const struct comparison *c, struct comparison_cell *cell, struct fw_err *err);

/* ---- explained: Why cells of a comparison became slower or faster, where a profile looked: on the opened cell, and on an alert. ---- */

/** The screen of one cell; a line where the profile is under way or failed, nothing where nobody asked for one of this cell. Err: the database. */
int explained_cell(
	struct db *db, struct buf *out, const struct comparison *c, const struct comparison_cell *cell, struct fw_err *err);

/** Every cell that an alert's profile looked at, the first unfolded; a line while it is under way. `comparison`: the alert's, 0 none. */
int explained_alert(struct db *db, struct buf *out, int64_t alert, int64_t comparison, struct fw_err *err);

/** The first cause of an alert alone, as a line. */
int explained_line(struct db *db, struct buf *out, int64_t alert, struct fw_err *err);

/*
 * ---- headline ----
 * A comparison in one line of a list: the cell that its verdict is about, how many are like it, and what failed.
 */

struct headline {
	int64_t comparison; /* 0: there is nothing to tell */
	char key[256], title[48], direction[16], failure[32], reason[512];
	int64_t size;
	int n, alike, cells;
	double threshold_pct, change_pct, low_pct, high_pct;
};

/** Read it; `comparison` 0 gives one that says nothing. `cell`: the key of the one that it is about; NULL: as the verdict. Err: the database. */
int reported_read(struct db *db, int64_t comparison, const char *cell, struct headline *out, struct fw_err *err);
/** "6 of 20: keep 0.2, block 64 backward", of a failure what failed and why, of an undecided cell why it is not decided; a line of its own below the verdict. */
void reported_why(struct buf *out, const struct headline *t, enum verdict verdict);
/** The change with its interval below, of an undecided one that it is not decided; `pct` where the cell has none. */
void headline_change(struct buf *out, const struct headline *t, enum verdict verdict, double pct);

/*
 * ---- kernels ----
 * The kernels of a profiled cell as people read them: one row a kernel, base beside target, each the mean of its processes.
 */

enum { KERNELS_MAX = 256, KERNELS_BASE = 0, KERNELS_TARGET = 1 };

struct kernel_side {
	int times; /* processes that ran it; 0: this side does not */
	int timed; /* of them with a time */
	double ms; /* mean; NAN unknown */
	int registers, local_bytes, shared_bytes, ctas_per_sm;
	char code_sha[65];
};

struct kernel_row {
	int n[2]; /* place in launch order of each side's call */
	char phase[16], name[256];
	struct kernel_side side[2];
};

struct kernels {
	int n;
	struct kernel_row *row; /* row[n]; in the order of the base's launches, then what only the target runs */
};

/** Read them. A kernel of one side is that of the other which has the same name and phase, in the order of their launches. Own: kernels_free. */
int kernels_read(struct db *db, int64_t cell, struct kernels *out, struct fw_err *err);
void kernels_free(struct kernels *k);
/** Whether both sides run the same machine code: 1, 0, -1 that is not known. */
int kernels_same_code(const struct kernel_row *row);

/*
 * ---- screen ----
 * Why a cell became slower or faster, drawn: the sentence, causes, kernels, traffic, use, waits, a roofline, machine code, raw
 * values. Needs no script.
 */

enum { SCREEN_PEERS_MAX = 3 };

/** What stands around a profile. Numbers NAN or 0: not known. */
struct screen_facts {
	double base_tflops, target_tflops; /* useful ones of the call */
	double peak_tflops, dram_gb_s;     /* of the device */
	struct cause_device device;
	int n_peers;
	struct {
		const char *provider;
		const struct why *why; /* a profile in which the peer is the base */
	} peer[SCREEN_PEERS_MAX];
};

/** All of it, below a heading of the caller's. */
void screen_draw(struct buf *out, const struct why *w, const struct screen_facts *facts);
/** The first cause as a line: "Why: ...", or how the profile stands; nothing where none was asked for. */
void screen_line(struct buf *out, const struct why *w);

/*
 * ---- row ----
 * One table of cells on a comparison's page: its head, and a row a cell. Which rows, and in which order, is the caller's.
 */

/** Columns that not every comparison has; the same in all tables of a page. */
struct row_shape {
	bool has_flops, has_peak, has_since;
	bool by_bytes;    /* the column of FLOPs is one of bytes */
	struct unit unit; /* of it */
	int n_peers;
	const char *peer[COMPARISON_PEERS_MAX];
	int columns;
};

/*
 * ---- sparse ----
 * What masks leave out and what that is worth, as the stored body says it: of an opened cell, and of all cells in sum. Nothing is
 * written where the body says nothing.
 */

/** Of an opened cell: what the runner counted of the mask, what each side says it skipped, and what in that cannot be. */
void comparison_sparsity(struct buf *out, const struct comparison_cell *cell);

/** How many times as fast sparse cells are as the dense one of their length, beside 1/density. */
void comparison_beside_dense(struct buf *out, const struct comparison *c);

/** Of each mask with several lengths the throughput of the longest over that of the shortest. */
void comparison_lengths(struct buf *out, const struct comparison *c);

/*
 * ---- spread ----
 * The picture of a comparison's page: every cell by its change, each with its interval, beside the others of its direction and
 * all on one axis. Lists of links, drawn with markup alone, so that it reads without scripts, by ear, and at any width.
 */

/** Draw; nothing where no cell has a change. Each row leads to the cell, opened. */
void comparison_spread(struct buf *out, struct comparison *c);

/** The axis that holds every cell's judged interval. Shape: `threshold_pct` the largest of the cells', NAN none. */
struct axis comparison_axis(struct comparison *c, double *threshold_pct);

/* ---- suites: Where a commit stands with each of its suites, in the words of pages. ---- */

/** The verdict, linked to the comparison or job that decides it; a dash where there is none. */
void suites_verdict(struct buf *out, const struct commit_verdict *v);
/** Which of several suites decides, linked to the commit: "gemm, 1 of 2 suites". Nothing where there is one alone. */
void suites_which(struct buf *out, const struct commit_verdict *v, const char *sha);
/** "waits for gemm, second"; nothing where all have ended. */
void suites_unfinished(struct buf *out, const struct commit_verdict *v);
/** A table, a row a suite. Err: the database. */
int suites_table(struct db *db, struct buf *out, const struct commit_verdict *v, struct fw_err *err);

/* ---- table: The tables of a comparison's page: what moved, then what stayed by group and direction, then totals, means and fits. ---- */

/** What the reader wants to see; every text "" when not asked for. It all stands in the page's address. */
struct comparison_view {
	const char *show; /* a verdict, "changed" or "" */
	const char *find; /* words that a row has to hold */
	const char *sort; /* "change", "verdict", "base", "target", "case"; with '-' before it falling */
	const char *open; /* numbers of opened rows, with dots between; "" the worst regression; "none" */
};

/** What stands under an opened row. */
typedef int comparison_open_fn(
	void *arg, struct buf *out, const struct comparison *c, struct comparison_cell *cell, struct fw_err *err);

/** Cells that something happened to in one table, the worst first; the others folded by group and direction. Err: what `draw_open` said. */
int comparison_tables(struct buf *out, const struct comparison *c, const struct comparison_view *view,
	comparison_open_fn *draw_open, void *arg, struct fw_err *err);

/** "Block-sparse", "Dense", or the group as it is called. */
void comparison_group(struct buf *out, const char *group);

/* ---- tables: Kernels of both sides: their times and resources, and how busy they keep the device. ---- */

enum { TABLES_KERNELS = 16 }; /* that a table shows */

/** Time, what each takes of a multiprocessor, and whether its code is the same. */
void tables_kernels(struct buf *out, const struct why *w);
/** Hit rates, bank conflicts, busy pipes. */
void tables_use(struct buf *out, const struct why *w);

/** The mean of a side's processes; NAN unknown. `side` 0 base, 1 target. */
double tables_value(const struct kernel_pair *p, int side, const char *metric);
/** A kernel's name for people, as text. */
void tables_name(struct buf *out, const char *name);

/* ---- traffic: What each kernel moves: implementation by kernel by level of memory. ---- */

/** The table, with peers below both sides; nothing where nothing was counted. */
void traffic_draw(struct buf *out, const struct why *w, const struct screen_facts *facts);
/** Whether any of these was counted of a side's kernel. */
bool traffic_is_counted(const struct kernel_pair *p, int side);

#endif
