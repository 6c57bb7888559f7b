/**
 * control.h - what the outside may ask of the running daemon: each call writes its rows and wakes whoever acts on them.
 *
 * Every call opens and commits its own transaction, so that it is durable when it returns 0. The web room knows nothing of
 * the daemon: http_frontend.c hands it these functions as they are. Ctx: loop only, none blocks.
 */
#ifndef FLOPWATCHD_CONTROL_H
#define FLOPWATCHD_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/ask/figures.h"
#include "core/ask/job_request.h"
#include "core/ask/worker.h"
#include "core/state/alertstate.h"
#include "flopwatchd/runtime/config.h"
#include "db/sqlite/db.h"

struct backup;
struct queue;
struct watch;

struct control {
	struct db *db;
	struct queue *queue;
	struct watch *watch;
	struct config *config;
	struct backup *backup;
};

/** Queue a job. Err: ERR_NOT_FOUND unknown repo or branch, ERR_CONFLICT digits that begin several commits, ERR_INVALID what is wrong with the request, ERR_FULL queue_max. */
int control_enqueue(struct control *c, const struct job_request *request, int64_t *job, struct fw_err *err);
/** Search for the culprit between request->base (good) and request->target (bad). Err: as control_enqueue. */
int control_bisect(struct control *c, const struct job_request *request, int64_t *bisect, struct fw_err *err);
/**
 * Ask why: of the worst cells of request->alert or request->comparison, of those that cells_glob names in the latter, or of base and target.
 * *profile is its number. Err: as control_enqueue; ERR_INVALID nothing was timed that could be explained.
 */
int control_profile(struct control *c, const struct job_request *request, int64_t *profile, struct fw_err *err);
/** End a search and the job that it waits for. Err: ERR_NOT_FOUND, ERR_CONFLICT it has ended already. */
int control_bisect_cancel(struct control *c, int64_t bisect, const char *who, struct fw_err *err);
/**
 * Store figures that were measured elsewhere; the same again give the same comparison, `is_new` false. Err: ERR_NOT_FOUND unknown
 * repo, ERR_INVALID a commit that is no whole object name, a branch that is no name.
 */
int control_import(
	struct control *c, const struct foreign_figures *figures, int64_t *comparison, bool *is_new, struct fw_err *err);
/**
 * Queue `runs` comparisons of the upstream branch's tip with itself. Of `request` repo (may be missing where there is only one),
 * suite and device_kind count, which may name one device by its uuid. Shape: jobs[runs]. Err: as control_enqueue.
 */
int control_calibrate(struct control *c, const struct job_request *request, int runs, int64_t *jobs, struct fw_err *err);
/**
 * Forget how runs scattered, of cells_glob's cells of repo (may be missing where there is only one) on the device whose uuid device_kind
 * is (missing: all). *n counts the cells. Err: ERR_NOT_FOUND unknown repo or device, ERR_INVALID.
 */
int control_forget(struct control *c, const struct job_request *request, const char *who, int *n, struct fw_err *err);
/**
 * Queue request->target (missing: the upstream branch) beside its peers: request->base_provider, else those of the configuration, else
 * those that the manifest named when the upstream branch was compared last. Suite and device_kind as for control_calibrate.
 * Shape: jobs[PEERS_MAX], *n of them. Err: as control_enqueue, ERR_INVALID no peer is known.
 */
int control_peer(struct control *c, const struct job_request *request, int64_t *jobs, int *n, struct fw_err *err);
/** End a job that is open. Err: ERR_NOT_FOUND, ERR_CONFLICT it has ended already. */
int control_cancel(struct control *c, int64_t job, const char *who, struct fw_err *err);
/** Queue an ended job's question again as a new job. Err: ERR_NOT_FOUND, ERR_CONFLICT it is still open. */
int control_retry(struct control *c, int64_t job, int64_t *new_job, struct fw_err *err);
/**
 * Stop giving jobs to a device, or start again. One that is quarantined has to pass a health check first, which this asks for.
 * Err: ERR_NOT_FOUND, ERR_CONFLICT it is quarantined already.
 */
int control_pause(struct control *c, const char *uuid, bool paused, const char *who, struct fw_err *err);
/** A person's step with an alert: acknowledged, accepted, resolved, invalid; webhooks hear of it. Err: as store_alert_change. */
int control_alert(
	struct control *c, int64_t alert, enum alertstate state, const char *who, const char *reason, struct fw_err *err);
/** Send a notification again, under its id. Err: ERR_NOT_FOUND. */
int control_redeliver(struct control *c, int64_t notification, struct fw_err *err);
/** Judge a comparison again from its stored samples. `changed`: some verdict became another. Err: ERR_NOT_FOUND. */
int control_judge(struct control *c, int64_t comparison, bool *changed, struct fw_err *err);
/** Look at a repository now. *look (may be NULL) is the number of that look, which has not begun yet. Err: ERR_NOT_FOUND, ERR_BUSY. */
int control_trigger(struct control *c, const char *repo, int64_t *look, struct fw_err *err);
/**
 * Whether that look, or a later one, has ended, and how the newest did: *error says why the repository could not be read ("" it was),
 * *held names, one a line, the branches whose stored tip is older than git's. Own: both texts are the daemon's, until its loop goes on.
 * Err: ERR_NOT_FOUND also for a number that the daemon has not given since it started, ERR_BUSY.
 */
int control_looked(struct control *c, const char *repo, int64_t look, bool *ended, const char **held, const char **error,
	struct fw_err *err);
/** The webhook secret of a repository. Err: ERR_NOT_FOUND no such repo, or no secret: then there is no webhook. Own: the config's. */
int control_secret(struct control *c, const char *repo, const char **secret, struct fw_err *err);
/** 0 when the daemon can store results; -1 with the reason (disk full, ...) while it cannot. */
int control_health(struct control *c, struct fw_err *err);
/** Each worker of the configuration, in its order. */
void control_workers(const struct control *c, worker_status_fn *each, void *to);
/** Each queued job (`job` 0: of all) that no worker has a device for, with what it waits for and what to do. */
int control_unschedulable(const struct control *c, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *err);
/** Begin to copy the database beside everything else. Err: as backup_begin. */
int control_backup(struct control *c, struct fw_err *err);
/** 1 it is being made, 0 it is whole and lies at `path`, -1 it failed. Err: as backup_take. */
int control_backup_take(struct control *c, char *path, size_t size, struct fw_err *err);
/** The copy was sent, or nobody waits for it any more. */
void control_backup_over(struct control *c);

#endif
