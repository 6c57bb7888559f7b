/**
 * verdict.h - verdicts of a cell and a comparison, and the judgement of estimates.
 *
 * The worker calls it after every run to find open cells; the daemon calls it again on the stored runs, and that result counts.
 */
#ifndef VERDICT_VERDICT_H
#define VERDICT_VERDICT_H

#include "model/jobkind.h"
#include "verdict/flag.h"
#include "stats/stats.h"

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
	VERDICT_ACCEPTED, /* of a commit or one of its suites: a user has accepted all regressions; never of a cell or comparison */
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
/** Return its word in a comparison of this kind: compared with a peer a side is slower, no regression. */
const char *verdict_word(enum jobkind kind, enum verdict v);
/** VERDICT_NONE for an unknown word. */
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
 * Else VERDICT_NONE, also if the target lost a cell that its base has, unless `rows`: rows of programs, or of two providers of
 * which one may do more than the other.
 */
enum verdict verdict_of_absence(const char *base, const char *target, bool rows);
/** Return whether it is removed, added, or unsupported: nothing was compared. */
bool verdict_is_absence(enum verdict v);
bool verdict_is_change(enum verdict v);

/** The series that a cell's verdict is based on. */
enum decider {
	DECIDER_PAIRS,          /* the typical call */
	DECIDER_SUSTAINED_RUNS, /* if only those show a change (series sustained) */
	DECIDER_MEAN            /* if slow calls became more, or less, frequent (mean.h) */
};

/** "" "sustained" "mean". */
const char *decider_name(enum decider d);
/** DECIDER_PAIRS for an unknown word. */
enum decider decider_from_name(const char *name);

struct judgement {
	enum verdict verdict;
	int flags;           /* FLAG_BORDERLINE, FLAG_CLOCK, FLAG_NOISY */
	struct estimate all; /* both sets together, for display */
	double beta;         /* 0; the caller may store beta of stats_runs */
	double mde_pct;
	int want_set;             /* set whose next run this cell still needs; 0 when decided */
	bool want_sustained_runs; /* the clock effect could turn this into a loss: only sustained runs can show that */
	bool want_precision; /* decided by set 1, but wider than the target half-width: worth a run of set 1 if budget is left */
	char reason[160];    /* why undecided, or why a visible gain is not called; "" else */
};

struct verdict_options {
	double threshold_pct;
	double tau0, nu0;        /* learned noise of its runs; 0: none */
	double underpowered_pct; /* as in verdict_underpowered, if the runs agree with the learned noise */
	bool sparse;             /* selects the target half-width */
	bool is_over;            /* no further run follows */
};

/**
 * Judge a cell from the estimates of its runs and its sustained runs (cell_verdict.h: from their samples). `typical`: from
 * both, `sustained`: from the sustained runs only. Shape: pairs[n], sustained runs[n_sustained_runs], both in the order of
 * runs, with sets mixed or not.
 */
void verdict_of_cell(const struct rule *general, const struct verdict_options *options, const struct run_estimate *pairs, int n,
	const struct run_estimate *sustained_runs, int n_sustained_runs, struct judgement *typical, struct judgement *sustained);

/**
 * Judge a cell from one series of runs, while further ones may follow. Overwhelming evidence of all runs decides at once
 * (stats/interim.h), a loss and a gain alike.
 *
 * Modules, else: if the rule confirms, a first set with a regression or improvement requires a second, which is decided alone;
 * both must agree, or a loss is undecided and a gain unchanged. While runs are required the verdict is undecided with the
 * reason, which remains when the budget ends; if only a gain is open, it is unchanged, with the reason.
 *
 * Programs, else: all runs are one set. At the last run, or without further ones, the 95 % interval decides, with flag
 * borderline, and leaves undecided if it contains the threshold.
 *
 * A rule without looks judges as rules before version 5 did: programs like modules, a gain by one set. Does not set beta and
 * the other flags, which need samples. Shape: e[n], in the order of runs, with sets mixed or not. `sparse` selects the target
 * half-width.
 */
void verdict_judge(
	const struct rule *r, double threshold_pct, bool sparse, const struct run_estimate *e, int n, struct judgement *out);

/**
 * Return the rule for sustained runs: the ratio of wall times, since they exist for their different clocks. Sustained runs are
 * noisy by a percent and more, and only detect large losses: two a set are enough if they agree, and after four an unclear
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
 * Apply a cell's learned noise: if its equal builds only let losses above `underpowered_pct` show (0: no limit) and its runs do
 * not contradict that, it is flagged, and a smaller loss by sign only, or in a quick job, is undecided. Call after
 * verdict_sustained.
 */
void verdict_underpowered(const struct rule *r, double underpowered_pct, const struct judgement *sustained, struct judgement *j);

#endif
