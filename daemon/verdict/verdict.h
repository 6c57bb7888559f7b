/** verdict.h - from estimates to verdicts, flags and sentences; pure. */
#ifndef VERDICT_VERDICT_H
#define VERDICT_VERDICT_H

#include <stdio.h>

#include "lib/lib.h"
#include "model/model.h"
#include "stats/stats.h"

/* ---- flag: Flags of a cell besides its verdict, as bits and as names. Pure. ---- */

enum {
	FLAG_BORDERLINE = 1,     /* decided at the last run, by sign; for programs by the 95 % interval */
	FLAG_TAIL = 2,           /* the typical call is unchanged, slow calls became more frequent */
	FLAG_SUSTAINED = 4,      /* decided by sustained runs, in which each side stabilises at the clock of its own power draw */
	FLAG_CALL = 8,           /* a call from an idle stream, host time included, became slower */
	FLAG_ENQUEUE = 16,       /* enqueue takes more host time */
	FLAG_CLOCK = 32,         /* a share of the change is the branch's effect on the clock */
	FLAG_UNDERPOWERED = 64,  /* equal builds are too noisy for the threshold: only a clear slowdown shows */
	FLAG_NOISY = 128,        /* undecided only because of noisy runs: may be decided at another time */
	FLAG_OVERWHELMING = 256, /* decided at once: chance explains it less than once in a million (stats/interim.c) */
	FLAG_END = 512
};

enum { FLAG_NAMES_SIZE = 96 };

/** Write the names of all flags, separated by single spaces. Shape: out[FLAG_NAMES_SIZE]. */
void flag_names(int flags, char out[FLAG_NAMES_SIZE]);
/** Parse the names; unknown ones are ignored. */
int flag_parse(const char *words);

/** Minimum pairs of whole calls for a warning: long calls have few, and their clock varies more than any host time. */
enum { FLAG_CALL_PAIRS_MIN = 4 };
/** Return FLAG_CALL if throughput with host time fell by over 1.5 %, the interval excludes 0, and pairs are enough. */
int flag_call(const struct estimate *call);
/** Noise of host time between runs of the same code, as a log ratio: caches and placement differ from process to process. */
#define FLAG_HOST_TAU0 0.05
#define FLAG_HOST_NU0  6 /* its weight, in runs */
/** The same between parents that fork the runs of a program: doc/figures.md, forked runs. */
#define FLAG_PARENT_TAU0 0.1
/**
 * Return FLAG_ENQUEUE if enqueue became longer by more than 2 us and by more than 10 %, of a program's call 5 us and 5 %, and
 * runs agree. Units: medians in us, NAN: unknown; `at_least` the log ratio minus its standard errors.
 */
int flag_enqueue(double base_us, double target_us, double at_least, bool is_program);
/** Return FLAG_CLOCK if the clock component of the change is more than 0.1 points and three of its standard errors. */
int flag_clock(const struct estimate *e);

/*
 * ---- verdict ----
 * Verdicts of a cell and a comparison, and the judgement of estimates.
 *
 * The worker calls it after every run to find open cells; the daemon calls it again on the stored runs, and that result counts.
 */

/**
 * In order of precedence: a comparison has the first one among its cells. Rows without a comparison come last, so they never
 * change the verdict of others; if there are only such rows, the comparison reports that, and confirms nothing.
 */
enum verdict {
	VERDICT_FAILED,   /* class: build abi unsupported crash wrong oob timeout interrupted */
	VERDICT_REJECTED, /* the times are invalid; class: escaped clock roofline forged slowed, or a device failure */
	VERDICT_REGRESSION,
	VERDICT_UNDECIDED,
	VERDICT_NOT_COMPARABLE, /* the base is broken, or the inputs or the results of both sides differ */
	VERDICT_ACCEPTED, /* of a commit or one of its suites: users accepted all regressions; never of a cell or comparison */
	VERDICT_IMPROVEMENT,
	VERDICT_UNCHANGED,
	VERDICT_IDENTICAL,   /* same module */
	VERDICT_REMOVED,     /* a row that only the base has */
	VERDICT_ADDED,       /* a row that only the target has, or supports */
	VERDICT_UNSUPPORTED, /* neither side supports it */
	VERDICT_NONE         /* no cells yet */
};

/** As in rows and JSON: "not_comparable". */
const char *verdict_name(enum verdict v);
/** Return the name, "" for VERDICT_NONE. */
const char *verdict_or_empty(enum verdict v);
/** Return its name in a comparison of this kind: compared with a peer a side is "slower" instead of a regression. */
const char *verdict_label(enum jobkind kind, enum verdict v);
/** Return VERDICT_NONE for an unknown name. */
enum verdict verdict_from_name(const char *name);
/**
 * Return the verdict on a target with this failure class: rejected if its times are invalid ("escaped" it worked after its call
 * had returned, "clock" the supervisor's clock disagrees, "roofline" faster than the device can be, "forged" it wrote records
 * itself, "slowed" the base is slower next to it than alone), failed for others.
 */
enum verdict verdict_of_class(const char *failure);
/**
 * Return the verdict for a failure that is neither side's: "unsure" (contradictory measurements) leaves it undecided,
 * "unpaired" (both sides have results of this name that cannot be matched) makes it not comparable, others are rejected.
 */
enum verdict verdict_of_outside(const char *failure);
/** Return the first in the order above. */
enum verdict verdict_worse(enum verdict a, enum verdict b);
/**
 * Return removed, added or unsupported from the failure classes of both sides ("" none) if "unsupported" is their only failure.
 * Else VERDICT_NONE, also if the target no longer supports a cell of its base, unless `rows`: rows of programs, or of two
 * providers of which one may do more than the other.
 */
enum verdict verdict_of_absence(const char *base, const char *target, bool rows);
/** Return whether it is removed, added, or unsupported: nothing was compared. */
bool verdict_is_absence(enum verdict v);

#define VERDICT_CLOSE "too close to call" /* begins the reason of a cell whose change is near the threshold */
/** Return whether this reason of an undecided cell is its distance from the threshold. */
bool verdict_is_close(const char *reason);
bool verdict_is_change(enum verdict v);

/** The series that a cell's verdict is based on. */
enum decider {
	DECIDER_PAIRS,          /* the typical call */
	DECIDER_SUSTAINED_RUNS, /* if only those show a change (series sustained) */
	DECIDER_MEAN            /* if slow calls became more, or less, frequent (mean.c) */
};

/** "" "sustained" "mean". */
const char *decider_name(enum decider d);
/** Return DECIDER_PAIRS for an unknown name. */
enum decider decider_from_name(const char *name);

struct judgement {
	enum verdict verdict;
	int flags;           /* FLAG_BORDERLINE, FLAG_CLOCK, FLAG_NOISY */
	struct estimate all; /* both sets together, for display */
	double beta;         /* 0; the caller may store beta of stats_runs */
	double mde_pct;
	int want_set;             /* set whose next run this cell still needs; 0 when decided */
	bool is_pooled;           /* its sets ended without a verdict: that run would confirm nothing */
	bool want_sustained_runs; /* the clock effect could make this a regression: only sustained runs can show that */
	bool want_precision; /* decided by set 1, but wider than the target half-width: worth a run of set 1 if budget is left */
	char reason[240];    /* why undecided, or why a visible gain is not called; "" else */
};

struct verdict_options {
	double threshold_pct;
	double tau0, nu0;        /* learned noise of its runs; 0: none */
	double underpowered_pct; /* as in verdict_underpowered, if the runs agree with the learned noise */
	bool sparse;             /* selects the target half-width */
	bool is_over;            /* no further run follows */
	bool is_base_alone;      /* the base is not interleaved, unlike the target, so whole processes are timed */
};

/** Remedies in the reason of a cell that all runs would not decide. */
#define VERDICT_INTERLEAVE "interleave the program"
#define VERDICT_BASE_WHOLE "the base is not interleaved yet"

/**
 * Judge a cell from the estimates of its runs and its sustained runs (cell_verdict.c: from their samples). `typical`: from
 * both, `sustained`: from the sustained runs only. Shape: pairs[n], sustained runs[n_sustained_runs], both in the order of
 * runs, with sets mixed or not.
 */
void verdict_of_cell(const struct rule *general, const struct verdict_options *options, const struct run_estimate *pairs, int n,
	const struct run_estimate *sustained_runs, int n_sustained_runs, struct judgement *typical, struct judgement *sustained);

/**
 * Judge a cell from one series of runs, while further ones may follow. Overwhelming evidence of all runs decides at once
 * (stats/interim.c), a slowdown and a gain alike.
 *
 * Modules, else: if the rule confirms, a first set with a regression or improvement requires a second, which is decided alone;
 * both must agree, or a slowdown is undecided and a gain unchanged. While runs are required the verdict is undecided with the
 * reason, which remains when the budget ends; if only a gain is open, it is unchanged, with the reason.
 *
 * Programs, else: all runs are one set. At the last run, or without further ones, the 95 % interval decides, with flag
 * borderline, and leaves undecided if it contains the threshold.
 *
 * A rule without interim analyses judges as rules before version 5 did: programs like modules, a gain by one set. Does not set
 * beta and the other flags, which need samples. Shape: e[n], in the order of runs, with sets mixed or not. `sparse` selects the
 * target half-width.
 */
void verdict_judge(
	const struct rule *r, double threshold_pct, bool sparse, const struct run_estimate *e, int n, struct judgement *out);

/**
 * Return the rule for sustained runs: the ratio of wall times, since they exist for their different clocks. Sustained runs are
 * noisy by a percent and more, and only detect large slowdowns: two a set are enough if they agree, and after four an unclear
 * result is left to the pairs.
 */
struct rule verdict_rule_of_sustained_runs(const struct rule *general);

/**
 * Combine sustained runs with the pairs: a sustained regression makes any cell one, flagged unless the pairs show it too, and a
 * sustained gain makes an improvement, also flagged, of a cell whose pairs show no change. `sustained`: from verdict_judge;
 * without runs it changes nothing.
 */
void verdict_sustained(struct judgement *j, const struct judgement *sustained);

/**
 * Apply a cell's learned noise: if its equal builds only let slowdowns above `underpowered_pct` show (0: no limit) and its runs
 * do not contradict that, it is flagged, and a smaller slowdown by sign only, or in a quick job, is undecided. Call after
 * verdict_sustained.
 */
void verdict_underpowered(const struct rule *r, double underpowered_pct, const struct judgement *sustained, struct judgement *j);

/*
 * ---- mean ----
 * Change of the mean call if slow calls became more or less frequent: a separate series next to the typical call. Pure.
 *
 * The share of slow calls is a property of a kernel, so cells that run the same one share their counts, unless a cell's own calls
 * contradict them; the length of its slow calls is each cell's own. The change of the mean is that of the typical call plus the
 * contribution of slow calls: ln(1 + share x longer) of the target minus that of the base. It is decided like marginal pairs: a
 * change beyond the threshold, a gain or a slowdown, must show again in a second set of runs.
 */

#define MEAN_CI 1.96 /* standard errors of a 95 % interval */

enum { MEAN_SETS = 2 };

/** Shape: by enum tail_which. */
struct mean {
	double share[2];  /* of slow calls */
	double longer[2]; /* excess over the typical call, as a share of it; 0 without slow calls */
	double m, se;     /* log ratio of the means, and its standard error */
	double margin;    /* required distance of m from a threshold */
};

struct mean_judgement {
	bool is_tail;         /* the target's calls are slow more often, beyond chance */
	bool is_known;        /* `all` is set: slow calls became more, or less, frequent */
	enum verdict verdict; /* regression or improvement; unchanged: the mean alone calls nothing */
	bool borderline;      /* by sign at the last run */
	int want_set;         /* set whose next run would add information; 0: none */
	struct mean all;      /* of both sets */
	char reason[240];     /* why a tail was not called; "" else */
};

/**
 * Judge a cell by its slow calls and those of its group (which includes the cell), of set 1 and set 2. `pairs`: judgement of
 * the typical call; if that is a regression, slow calls add nothing, and nothing is reported or requested; with a sustained
 * regression nothing is decided. Shape: own[MEAN_SETS], group[MEAN_SETS].
 */
void mean_judge(const struct rule *r, double threshold_pct, const struct judgement *pairs, const struct tail *own,
	const struct tail *group, struct mean_judgement *out);

/** Return whether the mean decides a cell with judgement `j` of pairs and sustained runs. */
bool mean_decides(const struct mean_judgement *mean, const struct judgement *j);

/** Return the excess length of slow calls on the side with more of them. */
double mean_longer(const struct mean *mean);

/*
 * ---- cell_verdict ----
 * Measurements and failures of a cell to its verdict, shared by worker and daemon. Pure.
 *
 * The steps: failures that prevent a verdict (cell_obstacle), missing measurements (cell_unmeasured), the verdict of its runs
 * (cell_judge), and the deciding series: its typical call, its sustained runs, or the mean of its group's calls (cell_decide).
 */

/** Facts besides timings. Failure classes are "" without a failure. */
struct cell_failure {
	const char *base, *target;
	const char *outside; /* of the worker or the device */
	bool is_itself;      /* both sides are one commit: a common failure is the target's as well */
	bool may_be_absent;  /* one side may do more than the other: rows of programs, or two providers */
	bool target_does;    /* the target supports the cell: its check passed, or its program has the row */
	bool other_inputs;   /* the sides computed from different inputs */
};

/** The failure that decides; CELL_ABSENT: a side does not support the cell, which counts against neither side. */
enum cell_cause { CELL_CLEAR, CELL_ABSENT, CELL_TARGET, CELL_BASE, CELL_INPUTS, CELL_OUTSIDE };

/**
 * Return the verdict of a cell that timings cannot judge; VERDICT_NONE, and CELL_CLEAR, for others. A failure of both sides is
 * the base's.
 */
enum verdict cell_obstacle(const struct cell_failure *t, enum cell_cause *cause);

/** Return the verdict of a cell without counted runs: rejected if device readings discarded some, else undecided. */
enum verdict cell_unmeasured(int voided);

/** Counted runs of one series, in order. */
struct cell_runs {
	int n;
	struct run_pairs pairs[STATS_RUNS_MAX]; /* base_ms or target_ms NULL if only the estimate is stored */
	struct run_estimate estimate[STATS_RUNS_MAX];
	double beta; /* of those estimates */
};

/** Estimate all runs from their samples. Returns false without changes if samples of one are missing. */
bool cell_estimate(const struct rule *rule, struct cell_runs *l);

struct cell_finding {
	struct judgement typical;    /* pairs and sustained runs together */
	struct judgement sustained;  /* sustained runs only; all.runs 0: none */
	struct tail tail[MEAN_SETS]; /* slow calls of the series that decides, by set */
};

/**
 * Judge the deciding series with the sustained runs. Returns whether the former has its samples; if not, estimates, beta and
 * `out->tail` are used unchanged.
 */
bool cell_judge(const struct rule *general, const struct verdict_options *options, struct cell_runs *pairs,
	struct cell_runs *sustained_runs, struct cell_finding *out);

struct cell_verdict {
	enum verdict verdict;
	enum decider decider;
	int flags;
	double m, se;               /* the change of the verdict, log ratio */
	struct mean_judgement mean; /* zero without a group */
	char reason[240];           /* why undecided, or why a visible change is not called; "" else */
};

/**
 * Decide the cell. `group`: slow calls of all cells that run the same kernel, including this one; NULL: the mean is not judged.
 * Shape: group[MEAN_SETS].
 */
void cell_decide(const struct rule *rule, double threshold_pct, const struct cell_finding *f, const struct tail *group,
	struct cell_verdict *out);

/*
 * ---- commit_verdict ----
 * Verdict of a commit: the worst over all suites and benchmarks that measure it, in any order of their ends.
 * Pure.
 */

enum commit_end {
	COMMIT_OPEN,      /* queued or running */
	COMMIT_JUDGED,    /* has a comparison */
	COMMIT_FAILED,    /* could not be planned or measured */
	COMMIT_UNMEASURED /* its result is no longer wanted: cancelled, superseded, target_missing */
};

struct commit_job {
	int64_t id;
	int64_t plan;        /* first job of the requesting plan; 0: a user requested this suite */
	char suite[64];      /* or benchmark; "" not planned yet, or planning failed */
	char device_kind[8]; /* requested kind; "" any */
	enum jobstate state;
	char why[512];
	enum commit_end end;
	/* its comparison; 0 none */
	int64_t comparison, finished_at;
	enum verdict verdict;  /* VERDICT_ACCEPTED if a user has accepted all regressions */
	enum verdict measured; /* verdict of the measurement, without acceptances */
	bool is_alone;         /* it has no base: the commit was compared with itself */
	int cells, regressions;
	int accepted;           /* cells of these regressions */
	int64_t accepted_alert; /* accepted alert; 0 none */
	char accepted_by[128], accepted_why[256];
	double worst_pct; /* largest slowdown of the regressions; without one the lowest change of a timed cell; NAN none */
	char worst_key[256];
	double best_pct; /* improvement: the highest change; else NAN */
	char best_key[256];
};

/** State of the commit with one suite on one requested kind of device. */
struct commit_suite {
	struct commit_job job;    /* the newest; an open one before any finished one */
	struct commit_job result; /* the job whose verdict counts: the newest judged one, else a failed one; id 0 none yet */
	int64_t first;            /* its first job: the order of the plan */
};

struct commit_verdict {
	int n, cap;
	struct commit_suite *suite; /* suite[n], in the order of the plan; own */
	/* set by commit_verdict_end */
	enum verdict verdict; /* VERDICT_NONE: open suites could still make it worse */
	bool is_final;        /* something was requested, and all of it has ended */
	int n_open, n_unmeasured;
	int regressions; /* cells of all suites */
	int decides;     /* position of the suite with this verdict; -1 none */
	int worst;       /* position of the suite with the largest slowdown, without regressions the lowest change; -1 none */
	int best;        /* improvement: position of the suite with the largest gain; -1 none */
	int64_t planned; /* newest plan with known suites; 0 none */
};

void commit_verdict_init(struct commit_verdict *v);
void commit_verdict_fini(struct commit_verdict *v);
/** Add a job; in any order, each once. */
void commit_verdict_add(struct commit_verdict *v, const struct commit_job *job);
/**
 * Compute the verdict after the last job. A suite has the verdict of its newest comparison; a suite without one is `failed` if
 * its job failed, and makes the commit `undecided` if it was not measured. A suite that has no base and is undecided, because
 * its noise is too large for the runs, does not count while another suite was compared with a base. While suites are open, only a
 * verdict that they cannot improve is set: failed, rejected, regression. A failed plan counts until a later one succeeds.
 */
void commit_verdict_end(struct commit_verdict *v);
/** After commit_verdict_end: compute the verdict without acceptances. */
void commit_verdict_strict(struct commit_verdict *v);
/** Return the newest acceptance that the verdict depends on; NULL none. */
const struct commit_job *commit_verdict_acceptance(const struct commit_verdict *v);
/** Return the verdict of one suite, VERDICT_NONE if it has none. */
enum verdict commit_verdict_of(const struct commit_suite *s);
/** Return whether it is queued or running without a verdict, or measured again. */
bool commit_verdict_is_open(const struct commit_suite *s);
/** Return whether it has ended without a result. */
bool commit_verdict_is_unmeasured(const struct commit_suite *s);

/* ---- commit_verdict_json: A commit's verdict and its suites as JSON. Pure. ---- */

/** Write "suites": an object each, in the order of the plan. */
void commit_verdict_write_suites(struct jsonw *j, const struct commit_verdict *v);
void commit_verdict_write_unfinished(struct jsonw *j, const struct commit_verdict *v);
/** Write a commit's verdict as an object. `branch` (its key) "": of the commit on any branch. */
void commit_verdict_write(struct jsonw *j, const char *repo, const char *sha, const char *branch, const struct commit_verdict *v);

/* ---- cost: Results of a comparison other than time, as a sentence. ---- */

enum { COST_VALUES_SIZE = 160 };

/**
 * Format two values of a cost, each in the unit in which it is 1 to 999: "4.864 kB instead of 512 bytes"; an equal unit is
 * written once, and 0 has that of the other. `what` is the name in API and database; without a known name, and for counts,
 * there is no unit. Units: of the API. Shape: out[size].
 */
void cost_values(const char *what, double first, const char *between, double second, char *out, size_t size);

/**
 * Format "a call launches more kernels in 2 cells, at most 3 instead of 2". `what` as above, printed itself if unknown; `base`
 * and `target` are of the cell with the largest growth. Shape: out[size].
 */
void cost_text(const char *what, size_t n_cells, double base, double target, char *out, size_t size);

/* ---- explain: Explanation of a change's size, shared by page, command line and API. Pure. ---- */

enum { EXPLAIN_SIZE = 160 };

/**
 * Write code component and clock component of a change in wall time: "the code -7.10 %, a clock 0.80 % higher gives some back".
 * Units: percent of throughput; the code component at equal clocks, and the points that the clock adds. Shape: out[EXPLAIN_SIZE].
 */
void explain_components(double code_pct, double clock_pct, char out[EXPLAIN_SIZE]);

/**
 * Write why a change is undecided, by its interval: inside the threshold, beyond it or across it. "" if the interval is
 * unknown. Units: percent of throughput; the threshold is a slowdown, above 0. Shape: out[EXPLAIN_SIZE].
 */
void explain_undecided(double low_pct, double high_pct, double threshold_pct, char out[EXPLAIN_SIZE]);

/** One side in sustained runs. Units: ms a call, MHz, J a call; 0 or NAN: unknown. */
struct sustained_level {
	double ms, mhz, joules;
};

/**
 * Write the stable clock of each side at its own power draw: "the clock stabilises at 1420 MHz instead of 1620, at equal power
 * (690 W)". "" if clocks are unknown or differ by less than 0.5 %.
 */
void explain_sustained_runs(const struct sustained_level *base, const struct sustained_level *target, char out[EXPLAIN_SIZE]);

/** Write "host time of a call: 311 us to 361 us (+16 %)". "" if a time is unknown. Shape: out[EXPLAIN_SIZE]. */
void explain_host_time(double base_us, double target_us, char out[EXPLAIN_SIZE]);

/**
 * Write "host-bound: host 361 us, device 42 us" if the host takes longer to queue a call than the device takes for it; else "".
 * Unknown times are NAN. Shape: out[EXPLAIN_SIZE].
 */
void explain_host_bound(double host_us, double device_ms, char out[EXPLAIN_SIZE]);

/**
 * Write the noise of an underpowered cell: "runs of equal builds vary by 6.20 % here, as 20 of them showed, so a slowdown below
 * 9.3 % has to be clear". Units: percent; `seen` degrees of freedom, 0 or NAN unknown, as is a noise of NAN.
 */
void explain_underpowered(double noise_pct, double seen, double below_pct, char out[EXPLAIN_SIZE]);

/**
 * Write the share of slow calls and their excess: "1 call in 10 takes 25 % longer", with the other side's share unless far
 * smaller; for a gain "1 call in 10 took 25 % longer". "" without slow calls. Shape: share[2] of base and target. Units:
 * shares; `longer` than the typical call, on the side with more of them.
 */
void explain_slow_calls(const double share[2], double longer, char out[EXPLAIN_SIZE]);

/**
 * Return a sentence about a push of the manifest alone: which of its settings apply; "" if another file differs too. `first`: the
 * first of `n` changed files. Own: a constant.
 */
const char *explain_manifest(int n, const char *first);

/* ---- finding: The first sentence about a comparison, a commit or a branch. Pure. ---- */

enum { FINDING_SIZE = 512 };

/** Counts of cells, over all suites; 0 also if unknown. Texts are borrowed. */
struct finding {
	const char *subject; /* display name of the branch, or a commit */
	enum verdict verdict;
	int cells, regressions, improvements, undecided, unchanged;
	int accepted; /* with verdict undecided: cells that are slower, which users accepted */
	int close;    /* undecided cells whose reason is a distance (verdict_is_close) */
	int removed, added;
	int failed;                 /* cells that failed, or have rejected or no comparable times */
	double worst_pct, best_pct; /* change of throughput; NAN unknown */
	double least_pct;           /* the smallest change of the cells that changed; NAN or 0 unknown */
	const char *why;            /* class of the failure, such as "build"; "" unknown or several */
	bool is_quick;              /* one run a cell: a slowdown is not confirmed */
	const char *new_suite;      /* a benchmark without a base, because the commit adds it; NULL or "": it has one */
};

/**
 * Write the sentence, without a full stop: "ada/three-stages is 4.0 % slower in 6 of 20 cells". The percentage is that of the
 * worst cell, after "up to" unless all cells changed by as much, as printed. Undecided: "ada/rows is undecided in 3 of 8 cells;
 * 4 are unchanged; 1 is slower (accepted)". Of a new benchmark: "ada/rows adds benchmark rows, which failed in 1 of 3 cells:
 * crash"; of a failed build without a number of cells. Shape: out[FINDING_SIZE].
 */
void finding_text(const struct finding *f, char out[FINDING_SIZE]);

/*
 * ---- peer_ratio ----
 * Speed in percent of a peer's: measured side by side, through a base that both were measured with, or at
 * different times.
 */

/** Speed in percent of another's, with the ends of a 95 % interval; NAN unknown. */
struct peer_ratio {
	double pct, ci_low_pct, ci_high_pct;
};

/** A measured pair: m the log ratio of times (of the target to the base), and the interval of the change in throughput. */
struct peer_ratio_pair {
	double m, ci_low_pct, ci_high_pct; /* NAN: none */
};

/** Compute it for a target timed with the peer: `pair` has the peer as its base. */
struct peer_ratio peer_ratio_paired(const struct peer_ratio_pair *pair);

/**
 * Compute it for a target timed with `base`, which was timed with the peer: the log ratios add up. They come from different
 * runs, so the half-widths add up in squares.
 */
struct peer_ratio peer_ratio_chained(const struct peer_ratio_pair *base, const struct peer_ratio_pair *target);

/** Compute it from two separate times, without an interval. Units: ms, both at the same clock if known. */
struct peer_ratio peer_ratio_scaled(double peer_ms, double target_ms);

/**
 * Return the time at another clock, as far as the clock explains a cell's times (`beta`). NAN: a clock is unknown. Units: ms,
 * MHz.
 */
double peer_ratio_at_clock(double ms, double beta, double mhz, double held_mhz);

/* ---- sparsity: Work that a mask omits, counted by the runner and claimed by a module. Pure; unknown counts are NAN. ---- */

enum { SPARSITY_SIZE = 320 };

/** Density above which kernels of this kind skip no tiles. */
#define SPARSITY_SKIPPED_BELOW 0.85

/** As counted by the runner. The members of struct mask_counts are 0 or NAN if it did not report them. */
struct sparsity_mask {
	double blocks, kept; /* over all key heads, or of a token mask pairs over all query heads */
	double flops_useful; /* of a call */
	double pairs, pairs_kept, rows, rows_empty, tiles, tiles_masked, common_tiles, common_masked;
};

/** Claimed by a module (struct fw_work). */
struct sparsity_claim {
	double tiles_total, tiles_skipped, tiles_partial; /* of its configuration */
	double blocks_kept, flops_issued;
};

/** Return the share of kept pairs, NAN unknown. */
double sparsity_density(const struct sparsity_mask *mask);

/** Copy the counts of a mask. */
void sparsity_counts(const struct mask_counts *counts, struct sparsity_mask *mask);

/**
 * Format "density 0.299, tiles of 64x64 fully masked 0/128 (0 %), tiles skipped 51200/56320, partial 3 %; skipping on"; of a
 * token mask "kept 256/16384 (1.56 %), rows without a key 112/128, tiles ..."; without the claimed tiles if none are claimed,
 * and "fully masked blocks 720/800 (90 %)" if the runner counted blocks alone. Shape: out[SPARSITY_SIZE].
 */
void sparsity_text(const struct sparsity_mask *mask, const struct sparsity_claim *claim, char out[SPARSITY_SIZE]);

/**
 * Speedups over dense that systems of this kind promise for a density, by the nearest one that they name. False: the density is
 * unknown. Shape: *low <= *high.
 */
bool sparsity_expected_range(const struct sparsity_mask *mask, double *low, double *high);

/**
 * Format "expected 1.5 to 3: below", "met" or "above", where `over` is the speedup over dense; 1 % of a bound is within it. ""
 * if the density or the speedup is unknown. Shape: out[SPARSITY_SIZE].
 */
void sparsity_expected(const struct sparsity_mask *mask, double over, char out[SPARSITY_SIZE]);

/**
 * Write the first contradiction in a claim: "claims 90 active blocks, the mask has 80". "" none. The module defines its
 * tiles, so tiles are compared with each other, and its issued multiplications with those of the mask. Shape:
 * out[EXPLAIN_SIZE].
 */
void sparsity_contradiction(const struct sparsity_mask *mask, const struct sparsity_claim *claim, char out[EXPLAIN_SIZE]);

#endif
