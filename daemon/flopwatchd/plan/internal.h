/** internal.h - declarations that the files of this folder share. */
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

/* ---- ancestor: Base of an upstream commit: its newest complete ancestor (db/base.c). Reads only the database. ---- */

struct ancestor_request {
	int64_t repo;
	const char *branch; /* the upstream branch, percent-encoded */
	const char *target;
	const char *suite; /* suite of the measurement; "": any */
	const char
		/*
		 * target of the branch's latest comparison, "" none; if `ancestry` does not contain it, the branch was force-pushed
		 */
		*last_judged;
};

struct ancestor {
	char sha[65];
	const char *how; /* first-parent, last-judged, self */
	int undecided;   /* cells of it that its own comparison left undecided */
	int slower;      /* of these, cells that are probably slower */
};

/*
 * ---- environment_retry ----
 * Failed measurements of an environment change are queued again, and those of an absent device are transferred to other devices.
 * A job that a user cancelled stays cancelled. Loop only; inside the caller's transaction.
 */

enum { ENVIRONMENT_TRIES = 3 }; /* of either job, by all devices of a class */

/** Cancel the queued jobs of a device's changes; the next device that sees the same change gets them. */
int environment_cancel_jobs(struct db *db, const char *uuid, const char *why, int64_t now_ms, struct fw_err *err);

/*
 * ---- environment_update ----
 * Environment changes: another compiler, library, driver, VBIOS, power limit or device in a worker's hello is measured before its
 * effect can be attributed to a commit. An upstream commit is rebuilt and compared with its cached old module; the reference
 * commit is timed again, to begin the new baseline period and to compare with the old one. Loop only; inside the caller's
 * transaction.
 */

/**
 * Queue the measurements for device `d`, stored as seen at `now_ms`, if its environment differs from its last measurement for a
 * history. A change that another device of its class saw is not measured again. A device that `is_new` replaces a device of its
 * kind that the worker no longer has. *n counts the jobs.
 */
int environment_update(struct db *db, const struct config *config, const char *worker, const struct msg_device *d, bool is_new,
	int64_t now_ms, int *n, struct fw_err *err);

/* ---- suites_requested: The suites of a job, before and after its manifests are known. Pure. ---- */

enum suites_side { SUITES_OF_TARGET, SUITES_OF_BASE, SUITES_OF_REFERENCE };

/* ---- tree_question: The query for a commit's tree, and the check that its response is complete. ---- */

/* the command and the manifest, then an option and its value for each input and for each of a suite's two files */
enum { TREE_QUESTION_ARGS_MAX = 8 + 2 * MANIFEST_LIST_MAX + 4 * MANIFEST_SUITES_MAX };

struct tree_question {
	const char *arg[TREE_QUESTION_ARGS_MAX]; /* arguments of flopwatch-git, NULL-ended */
	char suite_path[MANIFEST_SUITES_MAX][2][MANIFEST_TEXT_SIZE];
};

#endif
