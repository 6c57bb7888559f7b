/** site.h - what every handler knows: the database, and the few things that the outside may ask of the daemon. */
#ifndef WEB_ANSWER_SITE_H
#define WEB_ANSWER_SITE_H

#include "model/imported_results.h"
#include "model/job_request.h"
#include "model/worker.h"
#include "model/alertstate.h"
#include "db/db.h"
#include "web/http/http.h"

struct control; /* the daemon, as far as the outside may ask of it; nobody in web looks inside */
struct page_cache;
struct captures;

enum { SITE_PEERS_MAX = 8 };
enum { SITE_CALIBRATIONS = 2, SITE_CALIBRATIONS_MAX = 50 }; /* A/A comparisons asked for at once */

/** What may be asked of it, each with `control` of the site. Err: as flopwatchd/control.h says. */
struct site_actions {
	int (*enqueue)(struct control *c, const struct job_request *request, int64_t *job, struct fw_err *err);
	/** `runs` comparisons of main with itself; the request's device_kind may also name one device. Shape: jobs[runs]. */
	int (*calibrate)(struct control *c, const struct job_request *request, int runs, int64_t *jobs, struct fw_err *err);
	/** Forget what is remembered of cells; as for calibrate, device_kind may also name one device. *n counts cells. */
	int (*forget)(struct control *c, const struct job_request *request, const char *who, int *n, struct fw_err *err);
	int (*cancel)(struct control *c, int64_t job, const char *who, struct fw_err *err);
	int (*retry)(struct control *c, int64_t job, int64_t *new_job, struct fw_err *err);
	int (*pause)(struct control *c, const char *uuid, bool paused, const char *who, struct fw_err *err);
	/** Look at a repository now; *look (may be NULL) numbers the look. */
	int (*trigger)(struct control *c, const char *repo, int64_t *look, struct fw_err *err);
	/** Whether that look has ended, and how the newest did: `held` names branches, one a line. Own: the texts are the daemon's. */
	int (*looked)(struct control *c, const char *repo, int64_t look, bool *ended, const char **held, const char **error,
		struct fw_err *err);
	int (*secret)(struct control *c, const char *repo, const char **secret, struct fw_err *err);
	int (*health)(struct control *c, struct fw_err *err);
	/** Search the commits from request->base (good) to request->target (bad). */
	int (*bisect)(struct control *c, const struct job_request *request, int64_t *id, struct fw_err *err);
	/** Store figures. `is_new` false: the same were stored before, as `comparison`. */
	int (*import)(
		struct control *c, const struct foreign_figures *figures, int64_t *comparison, bool *is_new, struct fw_err *err);
	/** Ask why: of request->alert, of request->comparison, or of base and target. */
	int (*profile)(struct control *c, const struct job_request *request, int64_t *id, struct fw_err *err);
	int (*cancel_bisect)(struct control *c, int64_t id, const char *who, struct fw_err *err);
	int (*judge)(struct control *c, int64_t comparison, bool *changed, struct fw_err *err);
	int (*redeliver)(struct control *c, int64_t notification, struct fw_err *err);
	/** A person's step with an alert; `state` acknowledged, accepted, resolved or invalid, `reason` "" none. */
	int (*alert)(
		struct control *c, int64_t id, enum alertstate state, const char *who, const char *reason, struct fw_err *err);
	/** Each worker of the configuration, in its order. */
	void (*workers)(const struct control *c, worker_status_fn *each, void *to);
	/** Each queued job (`job` 0: of all) that no worker has a device for. NULL: nobody knows. */
	int (*unschedulable)(const struct control *c, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *err);
	/**
	 * The target, missing: the upstream branch, beside base_provider, missing: each of the repository's peers; device_kind as above.
	 * Shape: jobs[SITE_PEERS_MAX], *n of them.
	 */
	int (*peer)(struct control *c, const struct job_request *request, int64_t *jobs, int *n, struct fw_err *err);
	/** Begin to copy the database beside everything else; site's owner calls http_notify at its end. Err: ERR_CONFLICT one is being made. */
	int (*backup)(struct control *c, struct fw_err *err);
	/** 1 it is being made, 0 it is whole and lies at `path`, -1 it failed. */
	int (*backup_take)(struct control *c, char *path, size_t size, struct fw_err *err);
	/** It was sent, or nobody waits for it any more. */
	void (*backup_over)(struct control *c);
};

struct site {
	struct db *db;
	const struct site_actions *act;
	struct control *control;
	bool needs_token;          /* every request shows an access token, or the session of a browser that did */
	struct page_cache *pages;  /* drawn comparisons; NULL: each is drawn anew */
	struct captures *captures; /* cells of suites; NULL: each suite is read anew */
	const char *public_url;    /* where people reach the pages; NULL or "": as the request came */
	const char *const *names;  /* further values of Host that are ours, NULL-ended; NULL: none */
};

#endif
