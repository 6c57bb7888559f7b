/**
 * resolve.h - turns a job row (a commit, perhaps a base and a suite) into a plan, by asking flopwatch-git in children.
 *
 * Base by the rules, when none was given: a branch takes its merge-base with the upstream branch; the upstream branch takes
 * its newest first-parent ancestor whose own comparison left nothing open (ancestor.h), else its first parent; after a force-push
 * the merge-base with its last judged tip; its first commit, and one whose base cannot be built or read, is measured against itself (kind selfcheck). A
 * branch without an upstream, without a commit in common with it, or wholly part of it is refused: beside itself it would pass. It reads the
 * database and writes nothing.
 */
#ifndef FLOPWATCHD_PLANNING_RESOLVE_H
#define FLOPWATCHD_PLANNING_RESOLVE_H

#include <stdbool.h>

#include "flopwatchd/runtime/config.h"
#include "db/store/job.h"
#include "flopwatchd/job/gitread.h"
#include "flopwatchd/runtime/loop.h"
#include "flopwatchd/job/plan.h"

struct resolve;

struct resolve_suites {
	int n;
	char name[8][64];
};

enum { RESOLVE_RANGE_MAX = 256 };

struct resolve_answer {
	enum jobstate state; /* JOBSTATE_N: the plan is good; else the job's final one: cancelled, failed, gone */
	bool again;   /* it failed for a reason that may pass (no memory, a deadline, a child that was killed): try later */
	bool crashed; /* and that reason is a crash of ours, which chance does not bring twice */
	char why[1024];
	char note[512];                   /* one line for the job's log, "" none */
	struct plan plan;                 /* the callback may take its contents and leave it plan_init'ed */
	struct store_commit target, base; /* sha "" while not known */
	int n_line;                       /* of a commit on the upstream branch: it and its first parents, newest first */
	char line[GITREAD_PARENTS_MAX + 1][65];
	int n_range; /* commits of the target that the base does not hold, newest first; 0: not asked, or known from before */
	char range[RESOLVE_RANGE_MAX][65];
	struct peers peers; /* that the base names */
	int n_suites;       /* all that the commit is to be measured with; [0] is the plan's */
	char suite[8][64];
	struct resolve_suites before, after; /* that the manifests of base and target name; none where the configuration does */
};

typedef void resolve_fn(void *arg, struct resolve_answer *answer);

/** Start. The callback comes once, later, from the loop; the resolve is gone when it returns. Own: borrows l, db, c. */
int resolve_start(struct loop *l, struct db *db, const struct config *c, const struct store_job *job, resolve_fn *fn, void *arg,
	struct resolve **out, struct fw_err *err);
/** Forget it; accepts NULL. */
void resolve_cancel(struct resolve *r);

#endif
