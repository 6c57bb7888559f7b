/**
 * verdict.h - the words for a cell and a comparison, and the step from estimates to them.
 *
 * The worker calls it after every run to know what is still open; the daemon calls it again on the stored runs, and
 * that second answer is the one that counts.
 */
#ifndef CORE_VERDICT_VERDICT_H
#define CORE_VERDICT_VERDICT_H

#include "core/state/jobkind.h"
#include "core/verdict/flag.h"
#include "core/stats/stats.h"

/**
 * In the order in which a comparison takes its own verdict: the first that any cell has. Rows that nothing could be compared in stand
 * last, so that they never change what the others say; where all are such, the comparison says that, and clears nobody.
 */
enum verdict {
	VERDICT_FAILED, /* class: build abi unsupported crash wrong oob timeout interrupted */
	VERDICT_REJECTED, /* the measurement is not believed; class: escaped clock roofline forged slowed, or a trouble of the device */
	VERDICT_REGRESSION,
	VERDICT_UNDECIDED,
	VERDICT_NOT_COMPARABLE, /* the base is broken, or the inputs or the results of both sides differ */
	VERDICT_ACCEPTED, /* of a commit or one of its suites: all that was lost, a person has accepted; no cell or comparison has it */
	VERDICT_IMPROVEMENT,
	VERDICT_UNCHANGED,
	VERDICT_IDENTICAL,   /* same module */
	VERDICT_REMOVED,     /* a row that only the base has */
	VERDICT_ADDED,       /* a row that only the target has, or does */
	VERDICT_UNSUPPORTED, /* neither side does it */
	VERDICT_NONE         /* no cells yet */
};

/** As in rows and JSON: "not_comparable". */
const char *verdict_name(enum verdict v);
/** The same, "" for VERDICT_NONE. */
const char *verdict_or_empty(enum verdict v);
/** How it is called in a comparison of this kind: beside a peer nobody regresses, one is slower. */
const char *verdict_word(enum jobkind kind, enum verdict v);
/** VERDICT_NONE for an unknown word. */
enum verdict verdict_from_name(const char *name);
/**
 * The verdict on a target whose trouble has this class: rejected where its times are not believed ("escaped" it worked on after
 * its call had returned, "clock" the supervisor's clock disagrees, "roofline" faster than the device can be, "forged" it wrote
 * records itself, "slowed" the base is slower beside it than alone), failed for every other.
 */
enum verdict verdict_of_class(const char *failure);
/**
 * The same of a trouble that is neither side's: "unsure" (what was measured contradicts itself, and so accuses nobody) leaves it
 * undecided, "unpaired" (both sides have results of this name, and which belongs to which is not known) makes it not comparable, every
 * other is rejected.
 */
enum verdict verdict_of_outside(const char *failure);
/** First in the order above. */
enum verdict verdict_worse(enum verdict a, enum verdict b);
/**
 * What the classes of both sides' troubles ("" none) say where "unsupported" is all that is wrong: removed, added or unsupported. Else
 * VERDICT_NONE, also where the target lost what its base does, unless the base's may go: `rows` are those of programs of their own, and
 * of two providers of which one may do more than the other.
 */
enum verdict verdict_of_absence(const char *base, const char *target, bool rows);
/** Removed, added, unsupported: nothing was compared. */
bool verdict_is_absence(enum verdict v);
/** Whether it says that the speed changed: regression or improvement. */
bool verdict_is_change(enum verdict v);

/** The series that a cell's verdict stands for. */
enum decider {
	DECIDER_PAIRS,          /* the typical call */
	DECIDER_SUSTAINED_RUNS, /* where only those show a change (series sustained) */
	DECIDER_MEAN            /* where slow calls became more, or less, frequent (mean.h) */
};

/** "" "sustained" "mean". */
const char *decider_name(enum decider d);
/** DECIDER_PAIRS for an unknown word. */
enum decider decider_from_name(const char *name);

struct judgement {
	enum verdict verdict;
	int flags;           /* FLAG_BORDERLINE, FLAG_CLOCK, FLAG_NOISY */
	struct estimate all; /* both sets together: what is shown */
	double beta;         /* 0; for the caller to keep what stats_runs said */
	double mde_pct;
	int want_set;             /* set whose next run this cell still needs; 0 when decided */
	bool want_sustained_runs; /* what clocks did could make a loss of this: only what each side settles at can tell */
	bool want_precision; /* decided by set 1, but wider than the wanted half-width: worth a run of set 1 if budget is left */
	char reason[160];    /* why undecided, or why a gain that the runs show is not called, in words; "" else */
};

/** What a cell is judged by beside its runs. */
struct verdict_options {
	double threshold_pct;
	double tau0, nu0;        /* noise that was learned of its runs; 0: none */
	double underpowered_pct; /* as verdict_underpowered takes it, where the runs do not contradict what was learned */
	bool sparse;             /* picks the wanted half-width */
	bool is_over;            /* no further run will come */
};

/**
 * The verdict of a cell from the estimates of its runs and its sustained runs (cell_verdict.h: from their samples). `typical` is what both say,
 * `sustained` what the sustained runs say alone. Shape: pairs[n], sustained runs[n_sustained_runs], both in the order of runs, sets mixed or not.
 */
void verdict_of_cell(const struct rule *general, const struct verdict_options *options, const struct run_estimate *pairs, int n,
	const struct run_estimate *sustained_runs, int n_sustained_runs, struct judgement *typical, struct judgement *sustained);

/**
 * Judge a cell from one series of runs, while further ones may come. Overwhelming evidence of all runs together decides at once
 * (stats/interim.h), a loss and a gain alike.
 *
 * Modules, else: where the rule confirms, a first set that says regression or improvement asks for a second, which is decided alone; both
 * agree, or a loss is undecided and a gain unchanged. While runs are still wanted the verdict is undecided with the reason in words,
 * which is what stays when the budget ends; where only a gain is open, it is unchanged, with the reason.
 *
 * Programs, else: all runs are one set. At the last run, or when no further one will come, what the 95 % interval shows, flagged
 * borderline, and undecided where it holds the threshold.
 *
 * A rule without looks judges as rules before version 5 did: programs as modules, a gain by one set.
 * beta and the other flags are not set here: they need samples.
 * Shape: e[n], in the order of runs, sets mixed or not. `sparse` picks the wanted half-width.
 */
void verdict_judge(
	const struct rule *r, double threshold_pct, bool sparse, const struct run_estimate *e, int n, struct judgement *out);

/**
 * The rule by which sustained runs are judged: the ratio as the wall clock has it, since another clock is what they are run for. Runs of
 * them noise by a percent and more, so they call losses that are large: two a set are enough where those agree, and after four what
 * is not clear is left to the pairs.
 */
struct rule verdict_rule_of_sustained_runs(const struct rule *general);

/**
 * What sustained runs say beside the pairs: a sustained regression makes any cell one, flagged as such unless the pairs show it too, and a
 * sustained gain makes an improvement, flagged likewise, of a cell whose pairs show no change.
 * `sustained` was judged by verdict_judge from the runs' sustained runs; without any it says nothing.
 */
void verdict_sustained(struct judgement *j, const struct judgement *sustained);

/**
 * Of a cell whose equal builds scattered so much that only losses above `underpowered_pct` would show (0: it sees) and whose runs do not contradict
 * that: it is flagged, and a smaller loss by sign alone, or by a quick look, is undecided. Comes after verdict_sustained.
 */
void verdict_underpowered(const struct rule *r, double underpowered_pct, const struct judgement *sustained, struct judgement *j);

#endif
