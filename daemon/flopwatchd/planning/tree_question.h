/** tree_question.h - what flopwatch-git is asked about a commit, and whether its answer is enough. */
#ifndef FLOPWATCHD_PLANNING_TREE_QUESTION_H
#define FLOPWATCHD_PLANNING_TREE_QUESTION_H

#include <stdbool.h>

#include "core/suite/manifest.h"
#include "flopwatchd/job/gitread.h"

enum { TREE_QUESTION_ARGS_MAX = 110, TREE_QUESTION_SUITES_MAX = 8 };

struct tree_question {
	const char *arg[TREE_QUESTION_ARGS_MAX]; /* of flopwatch-git, NULL-ended */
	char suite_path[TREE_QUESTION_SUITES_MAX][2][MANIFEST_TEXT_SIZE];
};

/**
 * Ask for the commit's manifest, for the inputs that `m` names and for the files of these suites. Own: borrows all texts, which have to live as long
 * as `q`. Shape: suite[n_suites <= TREE_QUESTION_SUITES_MAX].
 */
void tree_question(struct tree_question *q, const char *repo_path, const char *sha, const struct manifest *m, char suite[][64],
	int n_suites);
/** Whether the answer `c` says of all inputs of `m` and of all these suites what they are, or that they are not there. */
bool tree_is_covered(const struct gitread_commit *c, const struct manifest *m, char suite[][64], int n_suites);

#endif
