/**
 * resolve.h - the plan of a job (a commit, optionally a base and a suite), made by queries to flopwatch-git in child processes.
 * Without a given base: a branch gets its merge-base with the upstream branch. The upstream branch gets its newest first-parent
 * ancestor whose own comparison left nothing open (ancestor.h), else its first parent; after a force-push the merge-base with
 * its last judged tip. Its first commit, and one whose base cannot be built or read, is measured against itself (kind
 * selfcheck). A branch without an upstream, without a common commit, or contained in it is refused: compared with itself it
 * would pass. Reads the database and writes nothing.
 */
#ifndef FLOPWATCHD_PLAN_RESOLVE_H
#define FLOPWATCHD_PLAN_RESOLVE_H

#include <stdbool.h>

#include "flopwatchd/config/config.h"
#include "db/job.h"
#include "flopwatchd/watch/gitread.h"
#include "lib/loop.h"
#include "flopwatchd/job/plan.h"

struct resolve;

struct resolve_suites {
	int n;
	char name[8][64];
};

enum { RESOLVE_RANGE_MAX = 256 };

struct resolve_answer {
	enum jobstate state; /* JOBSTATE_N: the plan is good; else the job's final state: cancelled, failed, target_missing */
	bool again;          /* the failure may pass (no memory, a deadline, a killed child): retry */
	bool crashed;        /* flopwatch-git crashed: a second crash is no coincidence */
	char why[1024];
	char note[512];                   /* one line for the job's log, "" none */
	struct plan plan;                 /* the callback may take its contents and leave it plan_init'ed */
	struct store_commit target, base; /* sha "": unknown */
	int n_line;                       /* of an upstream commit: it and its first parents, newest first */
	char line[GITREAD_PARENTS_MAX + 1][65];
	int n_range; /* commits of the target that the base lacks, newest first; 0: not queried, or known before */
	char range[RESOLVE_RANGE_MAX][65];
	struct peers peers; /* of the base */
	int n_suites;       /* suites of the commit; [0] is the plan's */
	char suite[8][64];
	struct resolve_suites before, after; /* named by the manifests of base and target; none if the configuration names them */
};

typedef void resolve_fn(void *arg, struct resolve_answer *answer);

/** Start. The loop calls `fn` once, later; the resolve is freed when it returns. Own: borrows l, db, c. */
int resolve_start(struct loop *l, struct db *db, const struct config *c, const struct store_job *job, resolve_fn *fn, void *arg,
	struct resolve **out, struct fw_err *err);
/** Stop without a callback; accepts NULL. */
void resolve_cancel(struct resolve *r);

#endif
