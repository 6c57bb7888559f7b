/**
 * live.h - views of changing rows: alerts, jobs with their logs, devices, events, counts.
 *
 * The rules of comparison.h hold: texts of a row are valid inside the callback only, a callback must not start the same view
 * again, lists come newest first from below `before` (0: from the newest), absent numbers are NAN, absent ids and times 0.
 */
#ifndef DB_LIVE_H
#define DB_LIVE_H

#include "model/alertkind.h"
#include "model/alertstate.h"
#include "model/devicestate.h"
#include "model/jobkind.h"
#include "model/jobstate.h"
#include "verdict/verdict.h"
#include "db/page.h"

/* ---- alerts ----------------------------------------------------------------------------------------------------------- */

struct view_alert {
	int64_t id, comparison, bisect; /* bisect: the latest one for its culprits, 0 none */
	enum alertkind kind;
	enum alertstate state;
	const char *title, *device;         /* device: uuid, of alerts about a device */
	const char *repo, *branch, *target; /* "" where it is about a device */
	const char *subject, *author, *cells_json, *groups_json, *culprits_json;
	double worst_pct;
	int64_t opened_at, changed_at;
};
typedef void view_alert_fn(void *arg, const struct view_alert *row);
/** `state` NULL or "": all. */
int view_alerts(struct db *db, const char *state, int64_t before, int limit, view_alert_fn *each, void *arg, struct fw_err *err);
/** ERR_NOT_FOUND. */
int view_alert(struct db *db, int64_t id, view_alert_fn *each, void *arg, struct fw_err *err);
/** The alert of a commit, if there is one. */
int view_alert_of(struct db *db, const char *repo, const char *target, view_alert_fn *each, void *arg, struct fw_err *err);

struct view_alert_event {
	int64_t at;
	enum alertstate state;
	const char *who, *reason;
};
typedef void view_alert_event_fn(void *arg, const struct view_alert_event *row);
/** Oldest first. */
int view_alert_events(struct db *db, int64_t alert, view_alert_event_fn *each, void *arg, struct fw_err *err);

/* ---- jobs, devices, events -------------------------------------------------------------------------------------------- */

struct view_job {
	int64_t id, comparison;
	enum jobkind kind;
	enum jobstate state;
	enum verdict verdict; /* of its comparison */
	const char *repo, *branch, *target, *subject, *base, *base_how, *suite, *device_kind, *cells_glob, *origin;
	const char *state_why, *progress, *device;   /* device: uuid */
	const char *base_provider, *target_provider; /* requested provider; "": the module's default */
	const char *base_config, *target_config;     /* requested configuration; "": the provider chooses */
	const char *base_toolchain, *target_toolchain, *base_flags,
		*target_flags; /* of the build; "": the worker's own compilers, no flags */
	/** Names of the sides as requested, of a merge-base the name of its branch; "" not named. */
	const char *base_name, *target_name;
	bool quick;
	int priority, attempt;
	int64_t queued_at, started_at, ended_at;
	int64_t again_at; /* time of its automatic retry; 0 none */
	int64_t again_of; /* job that this one retries; 0 none */
};
typedef void view_job_fn(void *arg, const struct view_job *row);
/** `state`: one state, "open" for every state before the end, NULL or "" for all. */
int view_jobs(struct db *db, const char *state, int64_t before, int limit, view_job_fn *each, void *arg, struct fw_err *err);
/** Jobs that a worker has. */
int view_running(struct db *db, int limit, view_job_fn *each, void *arg, struct fw_err *err);
/** Jobs that ended since `since`, the newest end first. */
int view_jobs_ended(struct db *db, int64_t since, int limit, view_job_fn *each, void *arg, struct fw_err *err);
/**
 * Queued jobs in the order of service if no other arrives: by priority; repositories take turns, and of each alternately the oldest and the
 * newest branch. Which devices fit is ignored.
 */
int view_waiting(struct db *db, int limit, view_job_fn *each, void *arg, struct fw_err *err);
/** Jobs of a commit (whole sha), newest first. */
int view_jobs_of(struct db *db, int64_t repo, const char *target, int limit, view_job_fn *each, void *arg, struct fw_err *err);
/** ERR_NOT_FOUND. */
int view_job(struct db *db, int64_t id, view_job_fn *each, void *arg, struct fw_err *err);

typedef void view_log_fn(void *arg, int64_t id, int64_t at, const char *line);
/** Lines of a job's log with ids above `after`, oldest first. */
int view_log(struct db *db, int64_t job, int64_t after, int limit, view_log_fn *each, void *arg, struct fw_err *err);

struct view_device {
	int64_t id, seen_at;
	enum devicestate state;
	const char *uuid, *kind, *name, *state_why, *driver, *toolkit, *cudnn, *info_json;
	int64_t class;                  /* shares queue, calibration and history */
	const char *model, *stands_out; /* of the class; how the device deviates from it, "" it does not */
	int64_t job;                    /* running on it, 0 none */
};
typedef void view_device_fn(void *arg, const struct view_device *row);
int view_devices(struct db *db, view_device_fn *each, void *arg, struct fw_err *err);

typedef void view_event_fn(void *arg, int64_t id, int64_t at, const char *kind, const char *payload_json);
/** Events with ids above `after`, oldest first. */
int view_events(struct db *db, int64_t after, int limit, view_event_fn *each, void *arg, struct fw_err *err);
/** Ids of the oldest and the newest stored event, 0 none. */
int view_event_ends(struct db *db, int64_t *first, int64_t *last, struct fw_err *err);

/* ---- counts for /metrics ---------------------------------------------------------------------------------------------- */

typedef void view_count_fn(void *arg, const char *what, const char *label, int64_t n);
/** `what` is "comparisons", by verdict, or "jobs", "alerts", "notifications", "repos", "devices", by state. */
int view_counts(struct db *db, view_count_fn *each, void *arg, struct fw_err *err);

#endif
