/** tree_question.h - the query for a commit's tree, and the check that its answer is complete. */
#ifndef FLOPWATCHD_PLAN_TREE_QUESTION_H
#define FLOPWATCHD_PLAN_TREE_QUESTION_H

#include <stdbool.h>

#include "model/manifest.h"
#include "flopwatchd/watch/gitread.h"

enum { TREE_QUESTION_ARGS_MAX = 110, TREE_QUESTION_SUITES_MAX = 8 };

struct tree_question {
	const char *arg[TREE_QUESTION_ARGS_MAX]; /* arguments of flopwatch-git, NULL-ended */
	char suite_path[TREE_QUESTION_SUITES_MAX][2][MANIFEST_TEXT_SIZE];
};

/**
 * Query the commit's manifest, the inputs that `m` names and the files of these suites. Own: borrows all texts, which must
 * outlive `q`. Shape: suite[n_suites <= TREE_QUESTION_SUITES_MAX].
 */
void tree_question(struct tree_question *q, const char *repo_path, const char *sha, const struct manifest *m, char suite[][64],
	int n_suites);
/** True if the answer `c` covers all inputs of `m` and all these suites, present or absent. */
bool tree_is_covered(const struct gitread_commit *c, const struct manifest *m, char suite[][64], int n_suites);

#endif
