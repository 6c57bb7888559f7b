/**
 * alert.h - alerts as rows. Loop only; inside the caller's transaction.
 *
 * One per (repository, target commit, kind), with the cells of all suites. Kind environment: one per reported change, since drivers and
 * compilers change while the commit stays. Devices: one open alert at a time. Accepted and invalid alerts are never changed, so a further
 * regression of the commit opens a separate alert. The daemon's alert.h opens and ends alerts together with their notifications.
 */
#ifndef DB_ALERT_H
#define DB_ALERT_H

#include "lib/buf.h"
#include "model/alertkind.h"
#include "model/alertstate.h"
#include "db/db.h"

enum { STORE_ALERT_RECOVER_MAX = 64, STORE_ALERT_CELLS_MAX = 1000 };

struct store_alert {
	int64_t id, repo, device, comparison; /* 0: none */
	enum alertkind kind;
	enum alertstate state; /* set by opening */
	char branch[1024], target_sha[65];
	const char *changed;        /* of kind environment: environment_change.changed; NULL: "" */
	const char *title;          /* NULL: "" */
	const char *cells_json;     /* array of {"cell","suite","change_pct","borderline",...}; without "suite": of any suite */
	const char *groups_json;    /* array of {"family","direction","phase","kernel","cells","worst_pct"}; NULL: [] */
	const char *culprits_json;  /* as in the table, where known when the alert opens; NULL: unknown */
	double worst_pct;           /* NAN: none */
	int n_kept, n_alert_update; /* set by opening: cells that stay from before; cells that are new */
};

/**
 * Open the alert of (repo, target, kind, changed), or of the device. An open or acknowledged one keeps its comparison; it gets
 * the cells of `a` and keeps the cells that a's comparison did not measure (other suites) or that the history added. A resolved
 * one opens again, with the cells of `a` alone. Cells that a user accepted or called invalid for this commit are left out; where
 * no other cell remains, `a` gets id and state of that alert and nothing is written. Only the first STORE_ALERT_CELLS_MAX cells
 * are stored, which bounds the size of notifications; the comparisons have all of them. Without a title the stored one stays.
 * Sets id, state, n_kept and n_alert_update of `a`, writes an alert_event for a change of state and for new cells. `is_new`: the
 * alert was not open before this call.
 */
int store_alert_open(struct db *db, struct store_alert *a, int64_t now_ms, bool *is_new, struct fw_err *err);

/** The cells of an alert as JSON, appended to `out`. ERR_NOT_FOUND. */
int store_alert_cells(struct db *db, int64_t id, struct buf *out, struct fw_err *err);
/** Update title, groups and worst change of an alert with cells of several comparisons. An empty title leaves the stored one. */
int store_alert_describe(
	struct db *db, int64_t id, const char *title, const char *groups_json, double worst_pct, struct fw_err *err);
/** A cell of an open or acknowledged alert, and the alert's other cells. */
struct store_alert_said {
	int64_t id;
	double change_pct; /* of the cell; NAN: the alert does not contain it */
	double others_pct; /* the worst change of the other cells; NAN: none */
	bool is_full;      /* it has STORE_ALERT_CELLS_MAX cells */
	/* culprit range of the cell; "": unknown */
	char from[65], to[65];
	int commits, skipped;
	double range_pct; /* change over the range; NAN: unknown, or the range is shared with other cells */
};
/** Read it for the alert of a's commit and kind. 1, 0 there is none, -1. */
int store_alert_said(struct db *db, const struct store_alert *a, const char *suite, const char *cell,
	struct store_alert_said *out, struct fw_err *err);
/** The open or acknowledged alert of this commit and kind; 0: none. */
int store_alert_live(struct db *db, int64_t repo, const char *target_sha, enum alertkind kind, int64_t *id, struct fw_err *err);

/**
 * Change state with who and why: open to acknowledged, accepted, resolved, invalid; acknowledged to the latter three.
 * Err: ERR_NOT_FOUND; ERR_CONFLICT another step, ERR_INVALID no reason where one is due (accepted, invalid).
 */
int store_alert_change(struct db *db, int64_t id, enum alertstate state, const char *who, const char *reason, int64_t now_ms,
	struct fw_err *err);

/**
 * Set the culprits, as JSON, of the cells that they name; the culprits of other cells stay, and equal ranges are merged. Writes an
 * alert_event with `reason`.
 */
int store_alert_culprits(
	struct db *db, int64_t id, const char *culprits_json, const char *reason, int64_t now_ms, struct fw_err *err);

/**
 * Open and acknowledged alerts of the comparison's branch that are over, by the latest verdict of each of their cells: in this
 * comparison, or in the branch's last one of the cell's suite.
 * - regression: not slower any more. Where the comparison's base is older than the alert's commit, a cell that is not slower than
 *   the base is enough; where the base contains the alert's commit, the significant changes since then must compensate the
 *   regression. Alerts that the history opened, and cells that it added, do not end here.
 * - failing: no cell failed. missing: every cell is measured again.
 *
 * Shape: ids[STORE_ALERT_RECOVER_MAX]; the next call returns further ones.
 */
int store_alert_recovered(struct db *db, int64_t comparison, int64_t *ids, int *n, struct fw_err *err);

/**
 * Open and acknowledged regressions of older tips of this comparison's branch, measured against the same base, once every suite of their
 * cells was compared for the newer tip, whose alert then replaces them. Shape as above.
 */
int store_alert_older_tips(struct db *db, int64_t comparison, int64_t *ids, int *n, struct fw_err *err);

/**
 * Whether an open, acknowledged or accepted alert of `kind` about another commit than `target_sha` already contains this failing
 * (or missing) cell of the branch. 1, 0, -1.
 */
int store_alert_covers(struct db *db, int64_t repo, const char *branch, enum alertkind kind, const char *suite, const char *cell,
	const char *target_sha, struct fw_err *err);

/** Whether a user called the alert invalid. 1, 0 (also where there is no such alert), -1. */
int store_alert_is_invalid(struct db *db, int64_t id, struct fw_err *err);
/**
 * The commit of the newest open or acknowledged drift alert with this cell. Alerts that a user closed do not count: a later slowdown is not
 * part of them. 1, 0, -1. Shape: sha[65].
 */
int store_alert_open_drift(struct db *db, int64_t repo, const char *cell, char *sha, struct fw_err *err);

#endif
