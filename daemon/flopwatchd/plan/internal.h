/** internal.h - what the files of this folder share. */
#ifndef FLOPWATCHD_PLAN_INTERNAL_H
#define FLOPWATCHD_PLAN_INTERNAL_H

#include <stdbool.h>

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/job/job.h"
#include "flopwatchd/plan/plan.h"
#include "flopwatchd/watch/watch.h"
#include "model/model.h"
#include "protocol/protocol.h"

/* ---- ancestor: Base of an upstream commit: its newest ancestor whose own loss is known. Reads only the database. ---- */

struct ancestor_request {
	int64_t repo;
	const char *branch; /* the upstream branch, percent-encoded */
	const char *target;
	const char *suite; /* suite of the measurement; "": any */
	const char
		/* target of the branch's latest comparison, "" none; if `line` does not hold it, the branch was force-pushed */
		*last_judged;
};

struct ancestor {
	char sha[65];
	const char *how; /* first-parent, last-judged, self */
};

/**
 * Choose the newest first parent that is settled (db/base.c); after a force-push none newer than the merge-base with the
 * last judged tip, which itself is enough if it or that tip is settled. Commits that could not be measured are skipped, however
 * many: their loss must stay between the base and the next measurable commit. Without a settled first parent: the base of the
 * newest compared one; without a comparison by this suite: the result for another suite; else the first parent, else the commit
 * itself.
 */
int ancestor_choose(struct db *db, const struct ancestor_request *request, const struct gitread_base *line, struct ancestor *out,
	struct fw_err *err);

/*
 * ---- environment_again ----
 * Failed measurements of an environment change are queued again, and those of an absent device are left
 * to other devices. A job that a user cancelled stays cancelled. Loop only; inside the caller's transaction.
 */

enum { ENVIRONMENT_TRIES = 3 }; /* of either job, by all devices of a class */

/** Queue the change's failed jobs again, unless they failed ENVIRONMENT_TRIES times. *n counts the queued jobs. */
int environment_again(struct db *db, const struct store_environment_change *change, int64_t now_ms, int *n, struct fw_err *err);
/** Cancel the queued jobs of a change that was undone before it was fully measured; a recurrence queues them again. */
int environment_over(
	struct db *db, const struct store_environment_change *change, const char *why, int64_t now_ms, struct fw_err *err);
/** Cancel the queued jobs of a device's changes; the next device that sees the same change gets them. */
int environment_leave(struct db *db, const char *uuid, const char *why, int64_t now_ms, struct fw_err *err);

/*
 * ---- environment_seen ----
 * Environment changes: another compiler, library, driver, VBIOS, power limit or device in a worker's hello
 * is measured before any commit is blamed for its effect. An upstream commit is rebuilt and compared with its cached old
 * module; the reference commit is timed again, to begin the new baseline period and to compare with the old one. Loop only;
 * inside the caller's transaction.
 */

/**
 * Queue the measurements for device `d`, stored as seen at `now_ms`, if its environment differs from its last measurement for a
 * history. A change that another device of its class saw is not measured again. A device that `is_new` replaces a device of its
 * kind that the worker no longer has. *n counts the jobs.
 */
int environment_seen(struct db *db, const struct config *config, const char *worker, const struct msg_device *d, bool is_new,
	int64_t now_ms, int *n, struct fw_err *err);

/* ---- measurement_options: Measurement options of a plan: the job's requests override the rule and thresholds of its suite. ---- */

/** Apply a job's options to a plan with kind, subjects and cells. A profile keeps EVIDENCE_CELLS_MAX cells. */
void set_measurement_options(struct plan *p, const struct store_job *job, bool is_benchmark);

/* ---- suites_requested: The suites of a job, before and after its manifests are known. Pure. ---- */

enum { SUITES_REQUESTED_MAX = 8 };
enum suites_side { SUITES_OF_TARGET, SUITES_OF_BASE, SUITES_OF_REFERENCE };

/** True if the branch's own suites are checked: its base's suites judge it, but those it names must exist before they apply. */
bool suites_of_target(const struct store_job *job, const struct config_repo *repo);

/**
 * List suites whose files are needed of a side: for the base the job's, else the configured ones, else those of its manifest
 * `m`. Returns their number. Shape: out[SUITES_REQUESTED_MAX].
 */
int suites_requested(const struct store_job *job, const struct config_repo *repo, enum suites_side side, const struct manifest *m,
	char out[SUITES_REQUESTED_MAX][64]);

/** The probable suite of the commit: the base decides, and the target mostly agrees. "" unknown. */
const char *suites_likely(const struct store_job *job, const struct config_repo *repo, const struct manifest *target);

/* ---- tree_question: The query for a commit's tree, and the check that its answer is complete. ---- */

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
