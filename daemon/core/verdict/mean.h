/**
 * mean.h - the change of the mean call, where slow calls became more or less frequent: a series of its own beside the typical call. Pure.
 *
 * How often calls are slow is a property of a kernel, so cells that run the same one share what they counted, unless a cell's own calls
 * contradict it; how much longer its slow calls take is each cell's own. The change of the mean is that of the typical call and what slow
 * calls add: ln(1 + share x longer) of the target less that of the base. Decided as marginal pairs are: a change beyond the threshold, a gain as a loss,
 * has to show again in a second set of runs.
 */
#ifndef CORE_VERDICT_MEAN_H
#define CORE_VERDICT_MEAN_H

#include "core/stats/tail.h"
#include "core/verdict/verdict.h"

#define MEAN_CI 1.96 /* standard errors of a 95 % interval */

enum { MEAN_SETS = 2 };

/** Shape: by enum tail_which. */
struct mean {
	double share[2];  /* of calls that are slow */
	double longer[2]; /* than the typical call, as a share of it; 0 where none was slow */
	double m, se;     /* log ratio of the means, and its standard error */
	double margin;    /* what has to lie between m and a threshold before it is called */
};

struct mean_judgement {
	bool is_tail;         /* the target's calls are slow more often: more than chance */
	bool is_known;        /* `all` says something: slow calls became more, or less, frequent */
	enum verdict verdict; /* regression or improvement; unchanged: nothing that the mean alone would call */
	bool borderline;      /* by sign at the last run */
	int want_set;         /* set whose next run would tell more; 0: none */
	struct mean all;      /* of both sets */
	char reason[160];     /* why a tail was not called, in words; "" else */
};

/**
 * Judge a cell by its slow calls and those of its group (which holds the cell, too), of set 1 and set 2. `pairs`: what the typical call
 * says; where that is a regression slow calls are no news, and nothing is said or wanted; beside one of sustained runs nothing is decided. Shape: own[MEAN_SETS], group[MEAN_SETS].
 */
void mean_judge(const struct rule *r, double threshold_pct, const struct judgement *pairs, const struct tail *own,
	const struct tail *group, struct mean_judgement *out);

/** Whether the mean decides a cell whose pairs and sustained runs say `j`. */
bool mean_decides(const struct mean_judgement *mean, const struct judgement *j);

/** How much longer slow calls take than typical ones, on the side that has more of them. */
double mean_longer(const struct mean *mean);

#endif
