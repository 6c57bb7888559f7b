/**
 * mean.h - change of the mean call if slow calls became more or less frequent: a separate series next to the typical call.
 * Pure.
 *
 * The share of slow calls is a property of a kernel, so cells that run the same one share their counts, unless a cell's own
 * calls contradict them; the length of its slow calls is each cell's own. The change of the mean is that of the typical call
 * plus the slow calls' part: ln(1 + share x longer) of the target minus that of the base. It is decided like marginal pairs: a
 * change beyond the threshold, a gain or a loss, must show again in a second set of runs.
 */
#ifndef VERDICT_MEAN_H
#define VERDICT_MEAN_H

#include "stats/tail.h"
#include "verdict/verdict.h"

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
	char reason[160];     /* why a tail was not called; "" else */
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

#endif
