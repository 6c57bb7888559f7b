/** internal.h - start, stop and the actions of the daemon. */
#ifndef FLOPWATCHD_INTERNAL_H
#define FLOPWATCHD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "lib/lib.h"
#include "model/model.h"

/*
 * ---- backup ----
 * A copy of the database on request; one at a time. A child process makes it from a snapshot while the daemon continues to write;
 * the file appears complete or not at all. It stays in state_dir until backup_discard. The next start removes files of a killed
 * daemon.
 */

struct backup;

/** `fn` is called from the loop when a copy has ended or failed. Own: backup_free. */
struct backup *backup_new(struct loop *l, const char *state_dir, loop_timer_fn *fn, void *arg);
/** Start a copy. Err: ERR_CONFLICT another copy is in progress, ERR_BUSY the daemon stops. */
int backup_begin(struct backup *b, struct fw_err *err);
/** 1 in progress, 0 complete at `path`, -1 failed. Err: ERR_FULL no space, ERR_TIMEOUT, ERR_BUSY the daemon stops, ERR_IO. */
int backup_take(struct backup *b, char *path, size_t size, struct fw_err *err);
/** Discard the copy in any state; another may start. */
void backup_discard(struct backup *b);
/** Stop copies, because the daemon stops: a copy in progress fails, and no other may start. Accepts NULL. */
void backup_stop(struct backup *b);
/** Remove the files. Call it after loop_free, which waits for the child. Accepts NULL. */
void backup_free(struct backup *b);

/** Main function of the child. Returns the exit status; a failure prints a line on stderr and its kind on stdout. */
int backup_run(const char *database, const char *path);

/*
 * ---- check ----
 * The integrity check of the database, which takes too long at start for a large one. Databases up to CHECK_HERE_BYTES are
 * checked before the start, so that the daemon never serves a damaged one. Larger ones are checked by a child, for CHECK_MS at
 * most, while the daemon works; the daemon exits if the child finds damage.
 */

enum { CHECK_MS = 10000, CHECK_HERE_BYTES = 16 << 20 };

struct check;

/** Check now if the database is small enough. *is_done: it was checked. Err: as db_check. */
int check_here(struct db *db, const char *path, bool *is_done, struct fw_err *err);
/** Called if the database is damaged. */
typedef void check_fn(void *arg, const struct fw_err *damage);
/** Start the check in a child. Own: check_stop. */
int check_start(struct loop *l, const char *path, check_fn *fn, void *arg, struct check **out, struct fw_err *err);
void check_stop(struct check *c);

/** Main function of the child. Returns exit status 0 or 1, with a line on stderr and its kind on stdout. */
int check_run(const char *path);

/*
 * ---- control ----
 * Operations on the running daemon for HTTP clients: each writes its rows and wakes the module that acts on them.
 * Every call runs its own transaction and is durable when it returns 0. The web module does not depend on the daemon:
 * http_frontend.c passes these functions to it. Ctx: loop only, none blocks.
 */

struct backup;
struct file_compare;
struct oidc;
struct queue;
struct site_code;
struct site_files;
struct site_login;
struct site_user;
struct watch;

struct control {
	struct db *db;
	struct queue *queue;
	struct watch *watch;
	struct config *config;
	struct backup *backup;
	struct file_compare *files;
	struct oidc *oidc; /* NULL: no provider is configured */
};

/** Queue a job. Err: ERR_NOT_FOUND repo or branch, ERR_CONFLICT ambiguous hash, ERR_INVALID, ERR_FULL queue_max. */
int control_enqueue(struct control *c, const struct job_request *request, int64_t *job, struct fw_err *err);
/** Start a bisect for the culprit between request->base (good) and request->target (bad). Err: as control_enqueue. */
int control_bisect(struct control *c, const struct job_request *request, int64_t *bisect, struct fw_err *err);
/**
 * Queue a profile: of the worst cells of request->alert or request->comparison (for the latter limited by cells_glob), or of
 * base and target. Sets *profile. Err: as control_enqueue; ERR_INVALID no times to explain.
 */
int control_profile(struct control *c, const struct job_request *request, int64_t *profile, struct fw_err *err);
/** Cancel a bisect and its queued job. Err: ERR_NOT_FOUND, ERR_CONFLICT it has already ended. */
int control_bisect_cancel(struct control *c, int64_t bisect, const char *who, struct fw_err *err);
/**
 * Store results measured elsewhere; equal ones give the same comparison, `is_new` false. Err: ERR_NOT_FOUND unknown repo,
 * ERR_INVALID an abbreviated commit or an invalid branch name.
 */
int control_import(
	struct control *c, const struct foreign_results *results, int64_t *comparison, bool *is_new, struct fw_err *err);
/**
 * Queue `runs` comparisons of the upstream branch's tip with itself. `request` has repo (optional if there is only one), suite
 * and device_kind, which may be a device's UUID. Shape: jobs[runs]. Err: as control_enqueue.
 */
int control_calibrate(struct control *c, const struct job_request *request, int runs, int64_t *jobs, struct fw_err *err);
/**
 * Delete the stored noise of the cells that match cells_glob, of repo (optional if there is only one), on the device with UUID
 * device_kind (missing: all). *n counts the cells. Err: ERR_NOT_FOUND unknown repo or device, ERR_INVALID.
 */
int control_forget(struct control *c, const struct job_request *request, const char *who, int *n, struct fw_err *err);
/**
 * Queue request->target (missing: the upstream branch) against its peers: request->base_provider, else those of the
 * configuration, else those of the manifest at the last upstream comparison. Suite and device_kind as for control_calibrate.
 * Shape: jobs[PEERS_MAX], *n of them. Err: as control_enqueue, ERR_INVALID no peer is known.
 */
int control_peer(struct control *c, const struct job_request *request, int64_t *jobs, int *n, struct fw_err *err);
/** Cancel an open job. Err: ERR_NOT_FOUND, ERR_CONFLICT it has already ended. */
int control_cancel(struct control *c, int64_t job, const char *who, struct fw_err *err);
int control_raise_commit(struct control *c, int64_t repo, const char *target_sha, struct fw_err *err);
/** Queue an ended job again as a new one. Err: ERR_NOT_FOUND, ERR_CONFLICT it is still open. */
int control_retry(struct control *c, int64_t job, int64_t *new_job, struct fw_err *err);
/** Pause or resume a device. A quarantined one gets a health check first. Err: ERR_NOT_FOUND, ERR_CONFLICT quarantined. */
int control_pause(struct control *c, const char *uuid, bool paused, const char *who, struct fw_err *err);
/** Set an alert's state for a user and notify webhooks. Err: as store_alert_change. */
int control_alert(
	struct control *c, int64_t alert, enum alertstate state, const char *who, const char *reason, struct fw_err *err);
/** Send a notification again, with the same id. Err: ERR_NOT_FOUND. */
int control_redeliver(struct control *c, int64_t notification, struct fw_err *err);
/** Send a test message to a receiver under `webhooks`; replaces one that waits. *notification: its id. Err: ERR_NOT_FOUND. */
int control_test_receiver(struct control *c, const char *name, int64_t *notification, struct fw_err *err);
/** Judge a comparison again from its stored samples. `changed`: a verdict changed. Err: ERR_NOT_FOUND. */
int control_judge(struct control *c, int64_t comparison, bool *changed, struct fw_err *err);
/**
 * Approve one commit of a request for the token `who`, and check the repository. *is_allowed false: pull_requests.approvers does
 * not name `who`, and nothing is stored. Err: ERR_NOT_FOUND, ERR_CONFLICT requests of this repository are not watched.
 */
int control_approve(struct control *c, const char *repo, int number, const char *commit, const char *who, bool *is_allowed,
	struct fw_err *err);
/** Check a repository now. *fetch (may be NULL): number of that future fetch. Err: ERR_NOT_FOUND, ERR_BUSY. */
int control_trigger(struct control *c, const char *repo, int64_t *fetch, struct fw_err *err);
/**
 * Report whether that fetch, or a later one, has ended, and the result of the newest: *error why the repository could not be
 * read ("" none), *held the branches, one a line, whose stored tip is older than git's. Own: both texts are the daemon's, until
 * its loop continues. Err: ERR_NOT_FOUND, also for a number from before the daemon's start; ERR_BUSY.
 */
int control_fetch_result(struct control *c, const char *repo, int64_t fetch, bool *ended, const char **held, const char **error,
	struct fw_err *err);
/** Return the webhook secret of a repository. Err: ERR_NOT_FOUND no such repo, or no webhook. Own: the config's. */
int control_secret(struct control *c, const char *repo, const char **secret, struct fw_err *err);
/**
 * Queue the approval that an event of the forge states, if it states one; its signature is valid. Inside the caller's transaction.
 * Err: ERR_NOT_FOUND.
 */
int control_forge_event(struct control *c, const char *repo, const char *body, size_t len, struct fw_err *err);
/** Return 0 if the daemon can store results; -1 with the reason (disk full, ...). */
int control_health(struct control *c, struct fw_err *err);
/** Start a copy of the database. Err: as backup_begin. */
int control_backup(struct control *c, struct fw_err *err);
/** 1 in progress, 0 complete at `path`, -1 failed. Err: as backup_take. */
int control_backup_take(struct control *c, char *path, size_t size, struct fw_err *err);
/** Discard the copy: it was sent, or its client has disconnected. */
void control_backup_discard(struct control *c);
/** Compare two files for an HTTP request. Err: as file_compare_begin. */
int control_compare_files(struct control *c, const struct site_files *files, const void *request, struct fw_err *err);
/** As file_compare_take. */
int control_compared_files(struct control *c, const void *request, const struct buf **json, struct fw_err *err);
/** The request has ended. */
void control_compare_files_finish(struct control *c, const void *request);

/** Log-ins by the provider; as the functions of oidc. Err: ERR_NOT_FOUND none is configured. */
int control_login_begin(struct control *c, const void *request, const char *client, struct fw_err *err);
int control_login_address(struct control *c, const void *request, const char *next, struct site_login *out, struct fw_err *err);
int control_login_code(struct control *c, const void *request, const struct site_code *code, struct fw_err *err);
int control_login_user(struct control *c, const void *request, struct site_user *out, struct fw_err *err);
int control_log_out(struct control *c, int64_t token, const char *sealed, struct buf *location, struct fw_err *err);
bool control_is_logged_out(struct control *c, const char *state);
void control_login_finish(struct control *c, const void *request);

/* ---- control_inside: Functions shared by control.c and control_profile.c. ---- */

/* control.c */

/** Fill `job` from a request. Err: as control_enqueue. */
int control_read_request(struct control *c, const struct job_request *r, struct store_job *job, struct fw_err *err);
/** Read a device kind, or one device by its UUID. */
int control_read_device(struct control *c, const char *text, struct store_job *job, struct fw_err *err);
/** Check that the queue has capacity for `more` jobs; else ERR_FULL. Inside the transaction that queues them. */
int control_check_queue(struct control *c, int more, struct fw_err *err);

/* control_profile.c */

/** Queue the ended profile job `row` again. */
int control_profile_again(struct control *c, struct store_job *row, int64_t *new_job, struct fw_err *err);

/* ---- http_frontend: The web server on the daemon's loop, with control.c as its actions. ---- */

struct http_frontend;

/** Bind the port (0: any, written to state_dir/port). Own: borrows all; `control` may be filled later. Err: ERR_BUSY. */
int http_frontend_start(struct loop *l, const struct config *c, struct db *db, struct control *control,
	struct http_frontend **out, struct fw_err *err);
int http_frontend_port(const struct http_frontend *f);
/** Report that events were written, so that open streams send them. */
void http_frontend_wake(struct http_frontend *f);
/** End all event streams, because a user lost a role: clients that still have access connect again. */
void http_frontend_end_streams(struct http_frontend *f);
void http_frontend_stop(struct http_frontend *f);
/** Read the files of `tls` again, for further connections. Err: -1 they cannot be used, and the present certificate stays. */
int http_frontend_renew(struct http_frontend *f, const struct config *c, struct fw_err *err);
/** End of the certificate's period. Units: ms UTC; 0: no TLS. */
int64_t http_frontend_expires_at(const struct http_frontend *f);

/* ---- certificate: The certificate of HTTPS is read again after a change of its files, at a reload, and while it is rejected. ---- */

struct certificate_watch;

/** Call before the first read of the files, so that no change is missed. NULL: no TLS. Own: certificate_watch_stop; borrows all. */
struct certificate_watch *certificate_watch_new(struct loop *l, const struct config *c);
/** Accepts NULL. Own: borrows `f`. */
void certificate_watch_start(struct certificate_watch *w, struct http_frontend *f);
/** Read the files now. Accepts NULL. */
void certificate_watch_read(struct certificate_watch *w);
/** Accepts NULL. */
void certificate_watch_stop(struct certificate_watch *w);

/*
 * ---- file_compare ----
 * Comparisons of two files that clients post. `flopwatch compare` reads them: a child without network, with limits of memory and
 * time, since a file may be made to exploit its reader. The files are only in memory; nothing is stored.
 */

enum { FILE_COMPARE_MAX = 2 /* at the same time */ };

struct file_compare;

/** `fn` is called from the loop whenever a comparison has ended or failed. Own: file_compare_free. */
struct file_compare *file_compare_new(struct loop *l, loop_timer_fn *fn, void *arg);
/**
 * Start a comparison for `request`, any address that identifies it until file_compare_finish. Own: `files` may change after the
 * call. Err: ERR_BUSY FILE_COMPARE_MAX are running, or one of the same token.
 */
int file_compare_begin(struct file_compare *f, const struct site_files *files, const void *request, struct fw_err *err);
/**
 * 1 in progress; 0 done, *json is the output of `flopwatch compare --json`; -1 failed. Own: *json until file_compare_finish.
 * Err: ERR_INVALID a file cannot be read; ERR_CRASHED, ERR_TIMEOUT, ERR_BUSY the child ended early.
 */
int file_compare_take(struct file_compare *f, const void *request, const struct buf **json, struct fw_err *err);
/** Stop or discard the comparison of a request, if it has one. */
void file_compare_finish(struct file_compare *f, const void *request);
/** Stop all of them. Call it before loop_free. Accepts NULL. */
void file_compare_free(struct file_compare *f);

/*
 * ---- oidc ----
 * The log-in by an OpenID Connect provider: authorization code with PKCE. The daemon opens no connection to the provider: each
 * step is a run of flopwatch-send. While users are logged in, their groups are requested again every 5 minutes by their refresh
 * tokens, so a role that the provider takes away ends here within 10 minutes; while the provider does not answer, it stays.
 */

struct oidc;

struct oidc_hooks {
	void (*answered)(void *arg);    /* a step has ended */
	void (*end_streams)(void *arg); /* a user's role has changed */
	void *arg;
};

/**
 * End the log-ins of another issuer, and start; *out is NULL where no provider is configured. Own: borrows all until oidc_stop.
 * Err: the database.
 */
int oidc_start(struct loop *l, const struct config *c, struct db *db, const struct oidc_hooks *hooks, struct oidc **out,
	struct fw_err *err);
/** Accepts NULL. Call it before loop_free. */
void oidc_stop(struct oidc *o);
/** Start the checks of users that are due. Accepts NULL. */
void oidc_wake(struct oidc *o);
/** Start no more checks of users who are logged in. Accepts NULL. */
void oidc_stop_checks(struct oidc *o);
/**
 * After oidc_stop_checks: call `done` when the checks in progress have ended, at once if there are none: the provider may
 * already have replaced a refresh token that is still in the row. Accepts NULL.
 */
void oidc_drain(struct oidc *o, void (*done)(void *arg), void *arg);
/** Begin a log-in for `request`, any pointer that identifies it until oidc_finish. Err: ERR_BUSY too many wait, or one of `client`. */
int oidc_begin(struct oidc *o, const void *request, const char *client, struct fw_err *err);
/** 1 in progress; 0 done, *out is where to send the browser; -1. Err: ERR_IO the provider does not answer as it should. */
int oidc_address(struct oidc *o, const void *request, const char *next, struct site_login *out, struct fw_err *err);
/** The browser returned. Err: ERR_INVALID not the browser that began, or not for the first time; ERR_CONFLICT the provider refused; ERR_BUSY. */
int oidc_exchange(struct oidc *o, const void *request, const struct site_code *code, struct fw_err *err);
/**
 * 1 in progress; 0 done, *out is the user, whose account is stored now: insert the session at once. -1. Err: ERR_IO, ERR_CONFLICT
 * no role; out->is_named: the provider has named a user.
 */
int oidc_user(struct oidc *o, const void *request, struct site_user *out, struct fw_err *err);
/**
 * Append the address at which a browser logs out of the provider: `sealed` is site_user.log_out of the session's log-in, `token` its
 * account's. Err: ERR_INVALID of another configuration.
 */
int oidc_log_out(struct oidc *o, int64_t token, const char *sealed, struct buf *location, struct fw_err *err);
/** Whether the provider sent the browser back from a log-out that this daemon began. */
bool oidc_is_logged_out(const struct oidc *o, const char *state);
/** The request has ended; call it after the session was inserted. Accepts NULL. */
void oidc_finish(struct oidc *o, const void *request);

/*
 * ---- idle ----
 * Work that the daemon queues while no job waits: peer comparisons, off-peak measurements, calibrations, change points
 * whose jobs had no result; and due retries.
 */

struct idle;

/** Start; `wake(arg)` is called after jobs were queued. Own: borrows all of them until idle_stop. */
struct idle *idle_start(struct loop *l, const struct config *c, struct txn *txn, void (*wake)(void *arg), void *arg);
void idle_stop(struct idle *i);

/** One step, for tests: number of queued jobs, -1. */
int idle_step(const struct config *c, struct txn *txn, int64_t now_ms, struct fw_err *err);

/*
 * ---- import ----
 * Results measured elsewhere, stored as a comparison of kind "import". They are medians without noise, so each cell is
 * `undecided` with that reason; the comparison opens no alert, is no base and enters no history. Ctx: loop only.
 */

/** Store `results` for repository `repo` in a transaction. Equal ones give the existing comparison, and `is_new` false. */
int import_store(struct txn *txn, int64_t repo, const struct foreign_results *results, int64_t *comparison, bool *is_new,
	struct fw_err *err);

/*
 * ---- janitor ----
 * Limits the growth of the database: once an hour, in small steps with pauses. Single times move to the archive after
 * `keep_samples` (db/archived.c), whose months are deleted after `keep_archive`; each run's estimate stays, so that a verdict can
 * be computed again. Notifications are deleted after JANITOR_SENT_DAYS (see store_outbox_prune), events after JANITOR_EVENT_DAYS,
 * and received webhook ids (which prevent replays) after JANITOR_NOTIFICATION_DAYS and beyond the newest JANITOR_NOTIFICATIONS.
 * All other rows stay. The file shrinks if much of it is free.
 */

enum { JANITOR_SENT_DAYS = 90, JANITOR_EVENT_DAYS = 7, JANITOR_NOTIFICATION_DAYS = 180, JANITOR_NOTIFICATIONS = 20000 };

struct janitor;

/** Start. The first round follows after seconds, because some daemons never run for an hour. Own: janitor_stop. */
struct janitor *janitor_start(struct loop *loop, const struct config *config, struct db *db);
/** Run soon, because the configuration has changed. */
void janitor_wake(struct janitor *j);
void janitor_stop(struct janitor *j);

/** Run one step in its own transactions. Units: now_ms as clock_utc_ms. Returns 1 if there may be more work, 0 done, -1. */
int janitor_step(struct db *db, const struct config *config, int64_t now_ms, struct fw_err *err);

/*
 * ---- probe ----
 * Checks of the objects that a configuration names: folders, suites, programs, repositories with their branches, workers with
 * their devices. The checks run as the calling user, may run next to a daemon, and change nothing: they create no folder, fetch
 * nothing and send no job.
 */

/** Run all checks in order; probe_print writes the results. May take minutes if servers do not answer. */
void check_config_names(const struct config *c);

/* ---- probe_print: Results of checks: one line of JSON on standard output for each, written at once. ---- */

enum look_health { PROBE_OK, PROBE_WARN, PROBE_FAIL };

/* ---- server: The daemon: starts its modules, reloads the configuration, stops. ---- */

/** Run until SIGTERM or SIGINT. Returns the exit status: 0, 1 error, 2 configuration, 3 database. */
int server_run(const char *config_path);

#endif
