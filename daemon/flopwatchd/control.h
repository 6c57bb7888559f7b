/**
 * control.h - operations on the running daemon for HTTP clients: each writes its rows and wakes the module that acts on them.
 * Every call runs its own transaction and is durable when it returns 0. The web module does not depend on the daemon:
 * http_frontend.c passes these functions to it. Ctx: loop only, none blocks.
 */
#ifndef FLOPWATCHD_CONTROL_H
#define FLOPWATCHD_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "model/imported_results.h"
#include "model/job_request.h"
#include "model/worker.h"
#include "model/alertstate.h"
#include "flopwatchd/config/config.h"
#include "db/db.h"

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

/** Queue a job. Err: ERR_NOT_FOUND repo or branch, ERR_CONFLICT ambiguous hash, ERR_INVALID, ERR_FULL queue_max. */
int control_enqueue(struct control *c, const struct job_request *request, int64_t *job, struct fw_err *err);
/** Start a search for the culprit between request->base (good) and request->target (bad). Err: as control_enqueue. */
int control_bisect(struct control *c, const struct job_request *request, int64_t *bisect, struct fw_err *err);
/**
 * Queue a profile: of the worst cells of request->alert or request->comparison (for the latter limited by cells_glob), or of
 * base and target. Sets *profile. Err: as control_enqueue; ERR_INVALID no times to explain.
 */
int control_profile(struct control *c, const struct job_request *request, int64_t *profile, struct fw_err *err);
/** Cancel a search and its queued job. Err: ERR_NOT_FOUND, ERR_CONFLICT it has ended already. */
int control_bisect_cancel(struct control *c, int64_t bisect, const char *who, struct fw_err *err);
/**
 * Store results measured elsewhere; equal ones give the same comparison, `is_new` false. Err: ERR_NOT_FOUND unknown repo,
 * ERR_INVALID an abbreviated commit or an invalid branch name.
 */
int control_import(
	struct control *c, const struct foreign_figures *figures, int64_t *comparison, bool *is_new, struct fw_err *err);
/**
 * Queue `runs` comparisons of the upstream branch's tip with itself. `request` has repo (optional if there is only one), suite
 * and device_kind, which may be a device's UUID. Shape: jobs[runs]. Err: as control_enqueue.
 */
int control_calibrate(struct control *c, const struct job_request *request, int runs, int64_t *jobs, struct fw_err *err);
/**
 * Drop the stored noise of the cells that match cells_glob, of repo (optional if there is only one), on the device with UUID
 * device_kind (missing: all). *n counts the cells. Err: ERR_NOT_FOUND unknown repo or device, ERR_INVALID.
 */
int control_forget(struct control *c, const struct job_request *request, const char *who, int *n, struct fw_err *err);
/**
 * Queue request->target (missing: the upstream branch) against its peers: request->base_provider, else those of the
 * configuration, else those of the manifest at the last upstream comparison. Suite and device_kind as for control_calibrate.
 * Shape: jobs[PEERS_MAX], *n of them. Err: as control_enqueue, ERR_INVALID no peer is known.
 */
int control_peer(struct control *c, const struct job_request *request, int64_t *jobs, int *n, struct fw_err *err);
/** Cancel an open job. Err: ERR_NOT_FOUND, ERR_CONFLICT it has ended already. */
int control_cancel(struct control *c, int64_t job, const char *who, struct fw_err *err);
/** Queue an ended job again as a new one. Err: ERR_NOT_FOUND, ERR_CONFLICT it is still open. */
int control_retry(struct control *c, int64_t job, int64_t *new_job, struct fw_err *err);
/** Pause or resume a device. A quarantined one gets a health check first. Err: ERR_NOT_FOUND, ERR_CONFLICT quarantined. */
int control_pause(struct control *c, const char *uuid, bool paused, const char *who, struct fw_err *err);
/** Set an alert's state for a user and notify webhooks. Err: as store_alert_change. */
int control_alert(
	struct control *c, int64_t alert, enum alertstate state, const char *who, const char *reason, struct fw_err *err);
/** Send a notification again, with the same id. Err: ERR_NOT_FOUND. */
int control_redeliver(struct control *c, int64_t notification, struct fw_err *err);
/** Judge a comparison again from its stored samples. `changed`: a verdict changed. Err: ERR_NOT_FOUND. */
int control_judge(struct control *c, int64_t comparison, bool *changed, struct fw_err *err);
/** Check a repository now. *look (may be NULL): the number of that future check. Err: ERR_NOT_FOUND, ERR_BUSY. */
int control_trigger(struct control *c, const char *repo, int64_t *look, struct fw_err *err);
/**
 * Report whether that check, or a later one, has ended, and the result of the newest: *error why the repository could not be
 * read ("" none), *held the branches, one a line, whose stored tip is older than git's. Own: both texts are the daemon's, until
 * its loop continues. Err: ERR_NOT_FOUND, also for a number from before the daemon's start; ERR_BUSY.
 */
int control_looked(struct control *c, const char *repo, int64_t look, bool *ended, const char **held, const char **error,
	struct fw_err *err);
/** The webhook secret of a repository. Err: ERR_NOT_FOUND no such repo, or no webhook. Own: the config's. */
int control_secret(struct control *c, const char *repo, const char **secret, struct fw_err *err);
/** 0 if the daemon can store results; -1 with the reason (disk full, ...). */
int control_health(struct control *c, struct fw_err *err);
/** Report each configured worker, in order. */
void control_workers(const struct control *c, worker_status_fn *each, void *to);
/** Report each queued job (`job` 0: any) that no worker has a device for, with the device and a remedy. */
int control_unschedulable(const struct control *c, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *err);
/** Start a copy of the database. Err: as backup_begin. */
int control_backup(struct control *c, struct fw_err *err);
/** 1 in progress, 0 complete at `path`, -1 failed. Err: as backup_take. */
int control_backup_take(struct control *c, char *path, size_t size, struct fw_err *err);
/** Discard the copy: it was sent, or its client is gone. */
void control_backup_over(struct control *c);

#endif
