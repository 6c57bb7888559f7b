/** alert.h - open, update and resolve alerts. */
#ifndef FLOPWATCHD_ALERT_ALERT_H
#define FLOPWATCHD_ALERT_ALERT_H

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/job/job.h"
#include "lib/lib.h"
#include "verdict/verdict.h"

/*
 * ---- alert ----
 * Alerts. Each change writes the row, an event for readers and one notification for each webhook in the caller's transaction, so
 * that no change is missing or sent twice. Ctx: loop only.
 */

/**
 * Open the alert `a` or extend it (store_alert_open defines its keys and the effect of user decisions). Set at least kind, repo
 * (or device), branch, target_sha, title and cells_json; sets a->id and a->state. `is_new`: it was not open before this call.
 * Sends "alert.opened", or "alert.extended" if an open alert got cells, and queues a profile of a slowdown (alert_profile.c).
 * `config` NULL: neither notifications nor a profile.
 */
int alert_open(
	struct db *db, const struct config *config, struct store_alert *a, int64_t now_ms, bool *is_new, struct fw_err *err);

/** End an open or acknowledged alert; sends "alert.resolved". `comparison` shows the end, 0 none. Err: ERR_CONFLICT. */
int alert_resolve(struct db *db, const struct config *config, int64_t id, int64_t comparison, const char *reason, int64_t now_ms,
	struct fw_err *err);

/**
 * Set the state that a user chose: acknowledged, accepted, resolved or invalid. Sends "alert.acknowledged" and so on with `who`
 * and `reason` ("" none). Err: as store_alert_change.
 */
int alert_change(struct db *db, const struct config *config, int64_t id, enum alertstate state, const char *who,
	const char *reason, int64_t now_ms, struct fw_err *err);

/** Store the culprits (JSON as in the table) and send "alert.named". `reason`: one line for the alert's history. */
int alert_name(struct db *db, const struct config *config, int64_t id, const char *culprits_json, const char *reason,
	int64_t now_ms, struct fw_err *err);

/** Call it when a profile of the alert ended: sends "alert.explained" if the profile found a cause. */
int alert_explain(struct db *db, const struct config *config, int64_t id, int64_t now_ms, struct fw_err *err);

/** Begin an event with its own kind, in the form that webhooks get. Own: alert_deliver or store_event_fini. */
struct jsonw *alert_message(struct store_event *e, const char *kind);
/** Store an event, and with a config one notification for each webhook. Err: ERR_FULL it does not fit. Own: finishes `e`. */
int alert_deliver(struct db *db, const struct config *config, struct store_event *e, int64_t now_ms, struct fw_err *err);

/*
 * ---- alert_cells ----
 * The cells of an alert, each with the phase that explains at least half of its slowdown and that phase's kernel. A group has
 * cells that most likely have one cause: same family, direction, phase, kernel, class of failure and decider (pairs, sustained
 * runs or slow calls). Cells without such a phase join the group that has a phase and is otherwise equal, if there is exactly
 * one. The joined group has no phase and no kernel; its cells retain theirs.
 */

enum { ALERT_GROUPS_MAX = 64, ALERT_KERNEL_SIZE = 128 };

struct alert_group {
	char family[64], direction[16]; /* of a benchmark: its name, and "" */
	char phase[16];                 /* explains at least half of the change, and changed most; "": none, or unknown */
	char kernel[ALERT_KERNEL_SIZE]; /* of that phase: the changed kernel, else its only one; "": unknown */
	char failure[16];               /* "": its time changed */
	bool is_gain;
	enum decider decider;    /* phases explain neither sustained runs nor slow calls */
	char slow[EXPLAIN_SIZE]; /* how many calls take how much longer, if those decided */
	int cells;
	double most_pct, least_pct; /* of the cells with the largest and the smallest change; NAN: none */
};

struct alert_cells {
	int n;
	double worst_pct;
	char detail[200]; /* error of the first failing cell */
	int n_groups;     /* the last one counts all further groups */
	struct alert_group group[ALERT_GROUPS_MAX];
	struct buf cells, groups;
	struct jsonw j;
};

void alert_cells_init(struct alert_cells *a);
void alert_cells_fini(struct alert_cells *a);
/** Add cell `i` of `r`, judged as `c`. `c->failure` is the target's failure, whether the base failed or not. */
void alert_cells_add(struct alert_cells *a, const struct result *r, int i, const struct store_cell *c);
/**
 * Add a missing cell, of which only suite and key are known; `comparison` is the last with that cell, 0: not known. Beyond
 * STORE_ALERT_CELLS_MAX cells are only counted.
 */
void alert_cells_add_missing(struct alert_cells *a, const char *suite, const char *key, int64_t comparison);
/** Add a cell that an unpaired measurement reports as slower. */
void alert_cells_add_unpaired(struct alert_cells *a, const char *suite, const char *key, int64_t comparison, double change_pct);
/** Count an alert's stored cells for groups, title and worst slowdown; alert_cells_end then gives no cells. */
void alert_cells_count(struct alert_cells *a, const char *cells_json);
/** Finish both texts. Err: ERR_FULL they do not fit. Own: valid until alert_cells_fini. */
int alert_cells_end(struct alert_cells *a, const char **cells_json, const char **groups_json, struct fw_err *err);
/** Write one line for users, once all cells are added: "attention forward (run) -3.1 % in 4 cells, and 2 more groups". */
void alert_cells_title(struct alert_cells *a, char *out, size_t size);

/* ---- alert_profile: The profile of an alert's worst cells, queued in the transaction that opens the alert. ---- */

/**
 * Call it after a comparison opened or extended the alert `a`: queues a profile of its worst cells, at most EVIDENCE_CELLS_MAX an
 * alert. Does nothing if the configuration disables profiles, if no cell is slower, if no cell ran, or if the cells
 * are rows of a benchmark program.
 */
int alert_profile(struct db *db, const struct config *config, const struct store_alert *a, int64_t now_ms, struct fw_err *err);

/** Choose the worst `most` cells of `cells_json` (as in an alert) by the comparison's times; none if it timed none of them. */
int alert_profile_choose(
	struct db *db, int64_t comparison, const char *cells_json, int most, struct profile_cells *out, struct fw_err *err);

/*
 * ---- device_alert ----
 * Alerts about devices. Kind device_offline: a device sent nothing for limits.offline_after while jobs wait
 * that it could run; the alert ends with its next hello. Kind quarantined: a device is quarantined that long, or jobs wait that
 * no other device can run; the alert ends when the device is back or no job waits.
 */

struct device_alert_watch;

/** Check at intervals. Own: borrows all arguments. */
struct device_alert_watch *device_alert_start(struct loop *l, const struct config *c, struct txn *txn);
/** Accepts NULL. */
void device_alert_stop(struct device_alert_watch *s);

/**
 * Open and resolve the alerts that are due at `now_ms`, inside the caller's transaction. A paused device and one with a job are
 * never offline, nor is any device before the daemon has worked for offline_after; `awake_ms`: since when it has worked without a
 * gap. *changed counts the opened and resolved alerts.
 */
int device_alert_check(
	struct db *db, const struct config *config, int64_t awake_ms, int64_t now_ms, int *changed, struct fw_err *err);

/*
 * ---- missing_cells ----
 * Cells of a suite that a branch measured before and no longer measures, including cells that only off-peak jobs measure. A
 * comparison of a sharded suite has only some cells, so there the suite files are compared. Inside the caller's transaction; loop
 * only.
 */

/**
 * List cells that are in the suite of the branch's last whole comparison before `c`, were measured there by a push or off-peak,
 * and are missing from `c`'s suite (from `c` itself if the suite is not sharded). In the order of the suite.
 */
int missing_cells(
	struct db *db, const struct store_comparison *c, const char *suite, find_missing_fn *each, void *arg, struct fw_err *err);
/**
 * List all cells of a suite that the branch no longer names, as the branch had it before the commit of `job`, each with its
 * last comparison.
 */
int missing_cells_of_suite(
	struct db *db, const struct store_job *job, const char *suite, find_missing_fn *each, void *arg, struct fw_err *err);

#endif
