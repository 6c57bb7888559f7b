/** site.h - what every handler knows: the database, and the few things that the outside may ask of the daemon. */
#ifndef WEB_ANSWER_SITE_H
#define WEB_ANSWER_SITE_H

#include "core/ask/figures.h"
#include "core/ask/worker.h"
#include "db/sqlite/db.h"
#include "web/http/http.h"

/** A wish for a comparison; texts "" or NULL where nothing was said. */
struct site_request {
	const char *repo, *base, *target, *suite, *device_kind, *cells_glob;
	const char *base_provider, *target_provider;
	bool quick;
};

struct page_cache;

enum { SITE_PEERS_MAX = 8 };
enum { SITE_CALIBRATIONS = 2, SITE_CALIBRATIONS_MAX = 50 }; /* A/A comparisons asked for at once */

/** What main connects to the daemon's control room. Err: as control.h says. */
struct site_actions {
	void *arg;
	int (*enqueue)(void *arg, const struct site_request *request, int64_t *job, struct fw_err *err);
	/** `runs` comparisons of main with itself; the request's device_kind may also name one device. Shape: jobs[runs]. */
	int (*calibrate)(void *arg, const struct site_request *request, int runs, int64_t *jobs, struct fw_err *err);
	/** Forget what is remembered of cells; as for calibrate, device_kind may also name one device. *n counts cells. */
	int (*forget)(void *arg, const struct site_request *request, const char *who, int *n, struct fw_err *err);
	int (*cancel)(void *arg, int64_t job, const char *who, struct fw_err *err);
	int (*retry)(void *arg, int64_t job, int64_t *new_job, struct fw_err *err);
	int (*pause)(void *arg, const char *uuid, bool paused, const char *who, struct fw_err *err);
	int (*poke)(void *arg, const char *repo, struct fw_err *err);
	int (*secret)(void *arg, const char *repo, const char **secret, struct fw_err *err);
	int (*health)(void *arg, struct fw_err *err);
	/** Search the commits from request->base (good) to request->target (bad). */
	int (*bisect)(void *arg, const struct site_request *request, int64_t *id, struct fw_err *err);
	/** Store figures. `is_new` false: the same were stored before, as `comparison`. */
	int (*import)(void *arg, const struct foreign_figures *figures, int64_t *comparison, bool *is_new, struct fw_err *err);
	int (*cancel_bisect)(void *arg, int64_t id, const char *who, struct fw_err *err);
	int (*judge)(void *arg, int64_t comparison, bool *changed, struct fw_err *err);
	int (*redeliver)(void *arg, int64_t delivery, struct fw_err *err);
	/** A person's step with an alert; `state` acknowledged, accepted, resolved or invalid, `reason` "" none. */
	int (*alert)(void *arg, int64_t id, const char *state, const char *who, const char *reason, struct fw_err *err);
	/** Each worker of the configuration, in its order. */
	void (*workers)(void *arg, worker_status_fn *each, void *to);
	/**
	 * The target, missing: the upstream branch, beside base_provider, missing: each of the repository's peers; device_kind as above.
	 * Shape: jobs[SITE_PEERS_MAX], *n of them.
	 */
	int (*peer)(void *arg, const struct site_request *request, int64_t *jobs, int *n, struct fw_err *err);
	/** Begin to copy the database beside everything else; site's owner calls http_notify at its end. Err: ERR_CONFLICT one is being made. */
	int (*backup)(void *arg, struct fw_err *err);
	/** 1 it is being made, 0 it is whole and lies at `path`, -1 it failed. */
	int (*backup_take)(void *arg, char *path, size_t size, struct fw_err *err);
	/** It was sent, or nobody waits for it any more. */
	void (*backup_over)(void *arg);
};

struct site {
	struct db *db;
	struct site_actions act;
	bool needs_token;         /* every request shows an access token, or the session of a browser that did */
	struct page_cache *pages; /* drawn comparisons; NULL: each is drawn anew */
	const char *public_url;   /* where people reach the pages; NULL or "": as the request came */
	const char *const *names; /* further values of Host that are ours, NULL-ended; NULL: none */
};

#endif
