/** internal.h - functions that the files of this folder share. */
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
 * ---- explanation ----
 * Results of a profile about one cell, read for display: causes, kernels with their counters, machine code.
 *
 * Most of them come from processes that ran a branch's code: they are displayed as text, and no decision depends on them.
 */

struct explanation_cause {
	enum cause_kind kind; /* CAUSE_KINDS: a name of another version */
	const char *name, *confidence, *kernel, *sentence;
	double explained_ms, of_ms;
};

/** Warps that were sampled at one instruction. */
struct explanation_stall {
	long offset, samples, of_reason; /* of_reason: samples with that reason */
	const char *reason, *text;       /* text: the instruction; "": unknown */
};

/** The machine code of one kernel; evidence.code[] has it at the same index. */
struct explanation_code {
	const char *hunks;
	struct explanation_stalls {
		long long samples; /* 0: that side was not sampled */
		size_t n;
		const struct explanation_stall *line; /* line[n], most samples first */
	} stalls[2];                                  /* base, target */
};

/** A ptxas diagnostic of one build that the other build does not have: fields as in db/diagnostic.c. */
struct explanation_diagnostic {
	const char *change, *code, *kernel, *what;
};

/** State of a profile. Texts are "" where there is none. */
struct explanation_head {
	int64_t profile, job, comparison;
	enum jobstate state;
	const char *base_provider, *target_provider;
	const char *answer; /* the cause in one sentence without a full stop: of the cell that was read, else of all */
};

struct explanation {
	struct explanation_head head;
	int n_cells;                                              /* of the whole profile */
	const char *key, *state, *why, *path, *tool, *stalls_why; /* state: done identical unsupported failed */
	int passes;
	double gpu_s, base_ms, target_ms; /* of the comparison; NAN: unknown */
	const char *with_config;          /* "": the target was not tried with the base's configuration */
	size_t n_causes;
	struct explanation_cause *cause;
	struct cause_evidence evidence; /* kernels, code, configurations: base_config, ... */
	struct explanation_code *code;
	size_t n_diagnostics;
	struct explanation_diagnostic *diagnostic;
	struct pairing pairing;
	/* internal */
	struct explanation_memory *memory;
};

/** Selects a profile: an alert's, or where that is 0 a comparison's. */
struct explanation_source {
	int64_t alert, comparison;
	const char *key; /* the cell; NULL: the `n`th of the profile */
	int n;           /* index by regression, the largest first */
};

/**
 * Read one cell. 1; 0 there is no profile, or it does not contain this cell (out->head then has the state of the profile;
 * head.profile 0: none); -1. Own: explanation_fini, always.
 */
int explanation_read(struct db *db, const struct explanation_source *of, struct explanation *out, struct fw_err *err);
/** Read only the state of an alert's profile and its answer. 1, 0 no profile was requested, -1. Own: as above. */
int explanation_read_line(struct db *db, int64_t alert, struct explanation *out, struct fw_err *err);
void explanation_fini(struct explanation *w);

/** State of a comparison's profile that a drawn page depends on. Shape: out[EXPLANATION_STAMP_SIZE]; "": none. */
enum { EXPLANATION_STAMP_SIZE = 64 };
int explanation_stamp(struct db *db, int64_t comparison, char *out, struct fw_err *err);

struct headline;

/* ---- alarm: Open alerts as bars: branch, slowdown, cells, cause, age, and the link to answer. ---- */

enum { ALARMS_DRAWN = 5 };

struct alarms {
	struct site *site;
	const char *repo, *branch; /* name and key of those to read; NULL: all */
	bool is_title;             /* no bars */
	const char *title;         /* the heading of the page: a bar does not repeat a finding that it begins with; NULL: none */
	/* set by alarms_read */
	int n;                       /* all of them */
	int64_t drawn[ALARMS_DRAWN]; /* the alerts that have a bar: that of the largest slowdown, then the newest; 0: none */
	struct buf finding;          /* the first of these as a sentence, in plain text */
	struct buf bars;             /* HTML */
};

/** Read open alerts. Own: alarms_fini, also after an error. */
int alarms_read(struct alarms *a, struct fw_err *err);
/**
 * Append the title of a page about open alerts: the finding of the first one, "and 2 more open alerts". `failed`: number of
 * failed branches, which it names too if there are some.
 */
void alarms_title(struct buf *out, const struct alarms *a, int failed);
/** Draw them; nothing where there is none. */
void alarms_draw(struct buf *out, const struct alarms *a);
/** Return whether a bar of this alert is drawn. */
bool alarms_contain(const struct alarms *a, int64_t alert);
void alarms_fini(struct alarms *a);
/** In plain text: "ada/three-stages is 4.0 % slower in 6 of 20 cells", of other kinds of alerts their title. */
void alarm_finding(struct buf *out, const struct view_alert *row, const struct headline *headline);

/** Return the next step of the user after an alert of this kind, in addition to an answer: "push a fix". */
const char *alarm_step(enum alertkind kind);
/** The answers that an alert accepts, as its buttons name them. */
#define ALARM_ANSWERS "(accept, fixed, not real, on it)"

/** Return the effect of the newest push, to follow "the newest push ": "changed nothing". */
const char *slow_branch_newest(enum verdict newest);
/**
 * Append, in plain text, "main is 2.9 % slower in 8 of 20 cells since 2e2ac13ef8; the newest push changed nothing", and its cause
 * as HTML; `finding` or `cause` NULL: not needed. Sets *n to the slower cells. Err: the database's.
 */
int slow_branch_finding(struct db *db, const struct slow_branch *slow, const char *subject, enum verdict newest,
	struct buf *finding, struct buf *cause, int *n, struct fw_err *err);
/**
 * Write "since" and the commit that made the branch slower: the culprit if it is known, else the alert's. Err: the database's.
 */
int slow_branch_since(struct db *db, struct buf *out, const struct slow_branch *slow, struct fw_err *err);
/** The alert's worst cell and its comparison, for a chart. Shape: cell[256], "": none. Err: the database's. */
int slow_branch_worst(struct db *db, const struct slow_branch *slow, char cell[256], int64_t *comparison, struct fw_err *err);

struct alarm_id {
	int64_t id; /* 0: none */
	enum alertstate state;
};
/**
 * Write the cause of a comparison's regression as the profile of its alert names it, else the slower phase and kernel; nothing
 * where the alert names neither. `comparison`: 0: none. Sets the alert, that of view_around. Err: the database's.
 */
int alarm_cause(struct db *db, struct buf *out, int64_t comparison, struct alarm_id *alert, struct fw_err *err);

/** Copy the only culprit of an alert if it is a single commit: its hash and subject. False: several, a range, or none. */
bool culprits_single(const char *culprits_json, char sha[65], char subject[160]);

/**
 * For a row of a list: the cause of a regression with the link to answer its alert, for another verdict that needs one the next
 * step: the log or another measurement of `job`, or the open job that measures the same. Err: the database's.
 */
int alarm_line(struct db *db, struct buf *out, int64_t comparison, int64_t job, enum verdict verdict, struct fw_err *err);
/** The same for a commit without a comparison; nothing where it has no alert. Err: the database's. */
int alarm_line_of_commit(struct db *db, struct buf *out, const char *repo, const char *commit, struct fw_err *err);

/* ---- branch: Branches by urgency. ---- */

enum urgency {
	URGENCY_FAILED,
	URGENCY_REGRESSION,
	URGENCY_UNDECIDED,
	URGENCY_MEASURING, /* not judged yet, or measured again */
	URGENCY_IMPROVEMENT,
	URGENCY_UNCHANGED,
	URGENCY_N
};

/** Counts of a table of branches. */
struct branches {
	int n[URGENCY_N];
	int64_t last; /* id of the last branch by name; 0: none */
	bool more;    /* branches follow it */
};

/**
 * Draw the watched branches of a repository after branch `after` (an id; 0: from the first), the most urgent first; unchanged
 * ones below a summary where `is_folded`. A branch of `slow` is slower, whatever its newest push did. Err: the database's.
 */
int branches_table(struct site *site, struct buf *out, int64_t repo, const struct slow_branches *slow, bool is_folded,
	int64_t after, struct branches *found, struct fw_err *err);
/** Append their number by urgency, in plain text: "1 failed, 1 slower, 2 unchanged". */
void branches_summary(struct buf *out, const struct branches *found);
/** Links to the other pages of a long table. */
void branches_paging(struct buf *out, const char *repo, const struct branches *found, int64_t after);

/*
 * ---- configurations ----
 * A profile as a table of configurations: for each cell the configurations that both sides ran, their speed, and the traffic and
 * resource usage of a call, as the GPU counted them.
 */

/** Write "configurations" and "long_over_short" as members of the open object. */
int configurations_json(struct db *db, int64_t profile, struct jsonw *j, struct fw_err *err);
/** The same as rows, one row per side. */
int configurations_csv(struct db *db, int64_t profile, struct buf *out, struct fw_err *err);
int configurations_markdown(struct db *db, int64_t profile, struct buf *out, struct fw_err *err);

/* ---- cell_chart: A cell of a branch over time, next to the same cell of the upstream branch. ---- */

struct cell_chart {
	const char *repo, *branch, *cell; /* name; key; key */
	int64_t comparison;               /* of the branch: its threshold is drawn around its base; 0: none */
	const char *cost;                 /* the name of a cost to draw instead of the speed, NULL: none */
	double base, limit_pct;           /* its value on the base, and the limit above it, which is drawn */
};
/** Draw. Err: the database's. */
int cell_chart_draw(struct db *db, struct buf *out, const struct cell_chart *of, struct fw_err *err);

/* ---- culprits: The culprits of an alert or a bisect, as HTML. ---- */

/**
 * A paragraph for each culprit: the commit and its probability, or the range of commits where the measurements do not identify
 * one. `culprits_json`: the array that flopwatchd/bisect/report.c writes.
 */
void culprits_show(struct buf *out, const char *culprits_json);
/** Write the commit of one of them with its subject, or the range: "one of 3 commits after X up to Y subject". */
void culprit_name(struct buf *out, const json_t *culprit);
/** Write "named with probability 0.9980", or that the measurements do not confirm it. False: nothing was written. */
bool culprit_sure(struct buf *out, const json_t *culprit);

/* ---- detail: The content below an opened row of a comparison: everything that is known of one cell. ---- */

/** Draw. Shape: `arg` the struct site. Err: the database's. */
int comparison_detail(void *arg, struct buf *out, const struct comparison *c, struct comparison_cell *cell, struct fw_err *err);

/*
 * ---- explanation_draw ----
 * Why cells of a comparison became slower or faster, if they were profiled: for an opened cell, and for an alert.
 */

/**
 * Draw the profile of one cell; a line where the profile is not finished or failed, nothing where none was requested for this
 * cell. Err: the database's.
 */
int explanation_draw_cell(
	struct db *db, struct buf *out, const struct comparison *c, const struct comparison_cell *cell, struct fw_err *err);

/**
 * Draw the cells of an alert's profile with the largest slowdowns, folded; nothing while the profile is not finished.
 * `comparison`: the alert's, 0: none. Err: the database's.
 */
int explanation_draw_alert(struct db *db, struct buf *out, int64_t alert, int64_t comparison, struct fw_err *err);

/**
 * Draw only the first cause of an alert, as a line; without a profile, why none of a benchmark program's regression `c` is known
 * (NULL: it is another one).
 */
int explanation_draw_line(struct db *db, struct buf *out, int64_t alert, const struct comparison *c, struct fw_err *err);
/** The same with the number of the alert's comparison, 0: none. */
int explanation_draw_line_of(struct db *db, struct buf *out, int64_t alert, int64_t comparison, struct fw_err *err);

/*
 * ---- headline ----
 * A comparison in one line of a list: the cell that determined its verdict, the number of similar cells, and failures.
 */

struct headline {
	int64_t comparison; /* 0: there is nothing to report */
	char key[256], title[CELL_TITLE_SIZE], direction[16], failure[32], reason[512];
	int64_t size;
	int n, alike, cells, close, removed, added;
	bool is_quick; /* set by the caller: one run a cell, so a slowdown is not confirmed */
	double threshold_pct, change_pct, low_pct, high_pct;
	double least_pct; /* the smallest change of the cells with the verdict; NAN: unknown */
};

/**
 * Read it; an empty one where `comparison` is 0. `cell`: the key of its cell; NULL: chosen by the verdict. Err: the database's.
 */
int reported_read(struct db *db, int64_t comparison, const char *cell, struct headline *out, struct fw_err *err);
/** "6 of 20: keep 0.2, block 64 backward", of which the cell is a link; nothing where the verdict has no cells. */
void headline_cells(struct buf *out, const struct headline *t);
/** The reason of a failure, or why the cell is undecided. False: nothing was written. */
bool headline_cause(struct buf *out, const struct headline *t, enum verdict verdict);
/**
 * Append the verdict as a sentence of finding_text, in plain text: "ada/three-stages is 4.0 % slower in 6 of 20 cells". It is the
 * title of pages. `subject`: display name.
 */
void headline_sentence(struct buf *out, const char *subject, const struct headline *t, enum verdict verdict);
/**
 * "6 of 20: keep 0.2, block 64 backward"; for a failure the reason, for an undecided cell why it is undecided. A separate line
 * below the verdict.
 */
void reported_why(struct buf *out, const struct headline *t, enum verdict verdict);
/** The change with its interval below, with an arrow where the verdict decides it; `pct` where the cell has no change. */
void headline_change(struct buf *out, const struct headline *t, enum verdict verdict, double pct);

/*
 * ---- outcome ----
 * The result of a comparison at the top of another page: its worst cell, why, and what to do.
 */

struct outcome {
	int64_t comparison, job, finished_at;
	enum jobkind kind;
	enum verdict verdict, effective; /* of the measurement, and with what users accepted of it */
	char base_how[16];               /* how the base was found: a merge-base is that of a branch, a given one of no push */
	char repo[128], branch[BRANCH_KEY_MAX], target[65], subject[256];
	struct headline headline;
	struct alarm_id alert; /* of the target */
	struct view_repeat repeat;
	bool is_whole;    /* set by the caller: the verdict of its commit, which is final, of all suites and cells */
	const char *cell; /* set by the caller: key of the cell that the page is of, whose change is then drawn first; or NULL */
	double cell_change_pct;
	struct buf cause; /* HTML; empty: not known */
};

/** Read it. Own: outcome_fini, also after an error. Err: ERR_NOT_FOUND. */
int outcome_read(struct db *db, int64_t comparison, struct outcome *o, struct fw_err *err);
void outcome_fini(struct outcome *o);
/** Append the commit as a subject, in plain text: "a851f9a236 of ada/three-stages". */
void outcome_subject(struct buf *out, const struct outcome *o);
/** Append the finding in plain text: "SUBJECT is 4.0 % slower in 6 of 20 cells". */
void outcome_sentence(struct buf *out, const char *subject, const struct outcome *o);
/** Draw a box with everything that the sentence does not have. */
void outcome_draw(struct buf *out, const struct outcome *o);

/** Facts on which the next step of the user depends. */
struct step {
	enum jobkind kind;
	enum verdict verdict;
	const char *base_how;
	int64_t job;
	struct alarm_id alert;
	struct view_repeat repeat;
	bool is_quick, is_whole; /* as in struct outcome */
	const char *reason;      /* of the first undecided cell; NULL or "": unknown */
};
/** Write what to do, without a full stop: "push a fix, or answer A3". */
void step_draw(struct buf *out, const struct step *s);
/**
 * Write the state of the job that repeats a measurement: "queued as J38", "measured again as J38 (checking)". `r->job` is not 0.
 */
void step_draw_repeat(struct buf *out, const struct view_repeat *r);
/** Draw a box where a job failed without a comparison: why (may be ""), and what to do. */
void step_draw_failure(struct buf *out, enum jobkind kind, int64_t job, const char *why);

/*
 * ---- kernels ----
 * Kernels of a profiled cell for display: one row per kernel, base next to target, each with the mean of its processes.
 */

enum { KERNELS_MAX = 256, KERNELS_BASE = 0, KERNELS_TARGET = 1 };

struct kernel_side {
	int times; /* processes that ran it; 0: this side does not run it */
	int timed; /* processes with a time */
	double ms; /* mean; NAN: unknown */
	int registers, local_bytes, shared_bytes, ctas_per_sm;
	char code_sha[65];
};

struct kernel_row {
	int n[2]; /* position in launch order of each side's call */
	char phase[16], name[256];
	struct kernel_side side[2];
};

struct kernels {
	int n;
	struct kernel_row *row; /* row[n]; in the order of the base's launches, then kernels that only the target runs */
};

/**
 * Read them. A kernel of one side corresponds to the kernel of the other side with the same name and phase, in launch order. Own:
 * kernels_free.
 */
int kernels_read(struct db *db, int64_t cell, struct kernels *out, struct fw_err *err);
void kernels_free(struct kernels *k);
/** Return whether both sides run the same machine code: 1, 0, -1 unknown. */
int kernels_same_code(const struct kernel_row *row);

/*
 * ---- screen ----
 * Why a cell became slower or faster: the sentence, causes, kernels, traffic, resource usage, stalls, a roofline, machine code,
 * raw values. Needs no script.
 */

enum { SCREEN_PEERS_MAX = 3 };

/** Facts about the profiled cell. Numbers NAN or 0: unknown. */
struct screen_facts {
	double base_tflops, target_tflops; /* useful FLOPs of the call */
	double peak_tflops, dram_gb_s;     /* of the device */
	struct cause_device device;
	int n_peers;
	struct {
		const char *provider;
		const struct explanation *explanation; /* a profile in which the peer is the base */
	} peer[SCREEN_PEERS_MAX];
};

/** Draw all sections, below a heading of the caller's. */
void screen_draw(struct buf *out, const struct explanation *w, const struct screen_facts *facts);
/** The first cause as a line: "Why: ...", or the state of the profile; nothing where no profile was requested. */
void screen_line(struct buf *out, const struct explanation *w);

/* ---- finding: The finding of a comparison with another implementation, as plain text. ---- */

struct change_counts {
	int cells, slower, faster;  /* cells: all of them */
	double worst_pct, best_pct; /* NAN: unknown */
};
/** Append "2 of 20 cells up to 2.8 % slower, 6 up to 11.1 % faster". False: none is either, and nothing was written. */
bool finding_counts(struct buf *out, const struct change_counts *m);

/* ---- heat: The cells of a branch over its last comparisons, one square each. ---- */

struct heat_size {
	int columns, cells; /* maximum of both; 0 cells: all */
	bool is_small;      /* the head has only the commits */
};
/** Counts of the drawn maps. */
struct heat_found {
	int maps;     /* one for each suite with cells */
	int pushes;   /* of the map with the most */
	int64_t step; /* the newest comparison with a slower or faster cell; 0: none */
	int since;    /* pushes after it */
};
/** Draw a map for each suite. Err: the database's. */
int heat_draw(struct site *site, struct buf *out, const char *repo, const char *branch, const struct heat_size *size,
	struct heat_found *found, struct fw_err *err);

/*
 * ---- row ----
 * One table of cells on a comparison's page: its head, and one row per cell. The caller chooses the rows and their order.
 */

/** Optional columns; the same in all tables of a page. */
struct row_shape {
	bool has_times; /* of any cell; false where nothing ran */
	bool has_flops, has_peak, has_since;
	bool by_bytes;    /* the column of FLOPs shows bytes */
	struct unit unit; /* of that column */
	int n_peers;
	const char *peer[COMPARISON_PEERS_MAX];
	int columns;
};

/*
 * ---- sparse ----
 * Fraction of the work that masks skip and the resulting speedup, from the stored body: for an opened cell, and summed over all
 * cells. Nothing is written where the body has no values.
 */

/**
 * For an opened cell: the mask's counts by the runner, the skipped work that each side reports, and reports that are impossible
 * for that cell.
 */
void comparison_sparsity(struct buf *out, const struct comparison_cell *cell);

/** The speedup of sparse cells over the dense cell of the same length, next to 1/density. */
void comparison_against_dense(struct buf *out, const struct comparison *c);

/** For each mask with several lengths, the throughput of the longest over that of the shortest. */
void comparison_lengths(struct buf *out, const struct comparison *c);

/*
 * ---- spread ----
 * The chart of a comparison's page: every cell by its change, each with its interval, next to the others of its direction and all
 * on one axis. It consists of lists of links, drawn with markup alone, so that it works without scripts, with screen readers, and
 * at any width.
 */

/** Draw; nothing where no cell has a change. Each row links to the opened cell. */
void comparison_spread(struct buf *out, struct comparison *c);

/**
 * The axis that contains every cell's judged interval. Sets `threshold_pct` to the largest of the cells' thresholds, NAN: none.
 */
struct axis comparison_axis(struct comparison *c, double *threshold_pct);

/* ---- suites: State of a commit for each of its suites, as pages show it. ---- */

/** The verdict, linked to the comparison or job that decides it; a dash where there is none. */
void suites_verdict(struct buf *out, const struct commit_verdict *v);
/** The one of several suites that decides, linked to the commit: "gemm, 1 of 2 suites". Nothing where there is only one. */
void suites_which(struct buf *out, const struct commit_verdict *v, const char *sha);
/** "waits for gemm, second"; nothing where all have ended. */
void suites_unfinished(struct buf *out, const struct commit_verdict *v);
/** A table, one row per suite. Err: the database's. */
int suites_table(struct db *db, struct buf *out, const struct commit_verdict *v, struct fw_err *err);

/*
 * ---- table ----
 * The tables of a comparison's page: changed cells, then the others by group and direction, then totals, means and fits.
 */

/** Options of the reader; a text is "" when not requested. All are in the page's address. */
struct comparison_view {
	const char *show; /* a verdict, "changed" or "" */
	const char *find; /* words that a row must contain */
	const char *sort; /* "change", "verdict", "base", "target", "case"; with '-' before it descending */
	const char *open; /* numbers of opened rows, separated by dots; "" the worst regression; "none" */
};

/** Draws the content below an opened row. */
typedef int comparison_open_fn(
	void *arg, struct buf *out, const struct comparison *c, struct comparison_cell *cell, struct fw_err *err);

/**
 * Cells with a verdict other than unchanged in one table, the worst first; the others folded by group and direction. Err: that of
 * `draw_open`.
 */
int comparison_tables(struct buf *out, const struct comparison *c, const struct comparison_view *view,
	comparison_open_fn *draw_open, void *arg, struct fw_err *err);

/** "Block-sparse", "Dense", or else the name of the group. */
void comparison_group(struct buf *out, const char *group);

/* ---- tables: Kernels of both sides: their times, resources and utilisation of the device. ---- */

enum { TABLES_KERNELS = 16 }; /* maximum that a table shows */

/** Times, resources of each kernel on a multiprocessor, and whether its code is the same. */
void tables_kernels(struct buf *out, const struct explanation *w);
/** Hit rates, bank conflicts, busy pipes. */
void tables_use(struct buf *out, const struct explanation *w);

/** The mean of a side's processes; NAN: unknown. `side` 0 base, 1 target. */
double tables_value(const struct kernel_pair *p, int side, const char *metric);
/** The display name of a kernel, as text. */
void tables_name(struct buf *out, const char *name);

/* ---- traffic: Memory traffic of each kernel: by implementation, kernel and level of memory. ---- */

/** Draw the table, with peers below both sides; nothing where nothing was counted. */
void traffic_draw(struct buf *out, const struct explanation *w, const struct screen_facts *facts);
/** Return whether any traffic of a side's kernel was counted. */
bool traffic_is_counted(const struct kernel_pair *p, int side);

/* ---- compare_files: Two posted files of results side by side, which is no verdict. ---- */

/** The form that posts them; it has the id "files". */
void compare_files_form(struct buf *out);

#endif
