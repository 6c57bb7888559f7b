/**
 * alert.h - alerts as rows. Loop only; inside the caller's transaction.
 *
 * One per (repository, target commit, kind), holding its cells of all suites; of kind environment one per change that is told of, since a
 * commit stays while drivers and compilers come and go; about a device one at a time. What people have accepted or called invalid stays as
 * they saw it, so that a further loss of the commit has an alert of its own. The daemon's alert.h opens and ends them together with the
 * messages about it.
 */
#ifndef DB_STORE_ALERT_H
#define DB_STORE_ALERT_H

#include "base/buf.h"
#include "core/state/alertkind.h"
#include "core/state/alertstate.h"
#include "db/sqlite/db.h"

enum { STORE_ALERT_RECOVER_MAX = 64, STORE_ALERT_CELLS_MAX = 1000 };

struct store_alert {
	int64_t id, repo, device, comparison; /* 0: none */
	enum alertkind kind;
	enum alertstate state; /* set by opening */
	char branch[1024], target_sha[65];
	const char *changed;        /* of kind environment, what, as its environment_change has it; NULL: "" */
	const char *title;          /* NULL: "" */
	const char *cells_json;     /* array of {"cell","suite","change_pct","borderline",...}; without a suite: of any */
	const char *groups_json;    /* array of {"family","direction","phase","kernel","cells","worst_pct"}; NULL: [] */
	const char *culprits_json;  /* when they are known at once, as in the table; NULL: not known yet */
	double worst_pct;           /* NAN: none */
	int n_kept, n_alert_update; /* set by opening: cells that it held before and keeps; cells that it did not hold */
};

/**
 * Open the alert of (repo, target, kind, changed), or of the device. One that is open or acknowledged stays with the comparison that
 * opened it; it gets the cells of `a` and keeps those that a's comparison did not measure (other suites) or that the history
 * added. A resolved one opens again, with the cells of `a` alone. Cells that a person accepted or called invalid for this commit
 * are left out; where nothing else is left, that alert stands and nothing changes. Of more than STORE_ALERT_CELLS_MAX cells it keeps the
 * first, so that what is told of it stays small; their comparisons have all of them. Without a title the one that it has stays. Sets id, state, n_kept and n_alert_update of `a`, writes an
 * alert_event for a change of state and for cells that come to it. `is_new`: it was not open before this call.
 */
int store_alert_open(struct db *db, struct store_alert *a, int64_t now_ms, bool *is_new, struct fw_err *err);

/** The cells of an alert as JSON, appended to `out`. ERR_NOT_FOUND. */
int store_alert_cells(struct db *db, int64_t id, struct buf *out, struct fw_err *err);
/** What people read about an alert whose cells are of several comparisons. */
int store_alert_describe(
	struct db *db, int64_t id, const char *title, const char *groups_json, double worst_pct, struct fw_err *err);
/** What an open or acknowledged alert says of a cell, and of its other ones. */
struct store_alert_said {
	int64_t id;
	double change_pct; /* of the cell; NAN: the alert does not hold it */
	double others_pct; /* the worst of the others; NAN: there are none */
	bool is_full;      /* it holds no more cells */
	/* between which commits the cell lost; "": that is not known */
	char from[65], to[65];
	int commits, skipped;
	double range_pct; /* NAN also where other cells lost in the same range: it is the worst of theirs */
};
/** Of the alert of this commit and kind. 1, 0 there is none, -1. */
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
 * Who did it, as JSON, in place of what was known of the same cells; others stay, and one range is named once. Noted among the
 * alert's events with `reason`.
 */
int store_alert_culprits(
	struct db *db, int64_t id, const char *culprits_json, const char *reason, int64_t now_ms, struct fw_err *err);

/**
 * Open and acknowledged alerts of the comparison's branch that are over, by the latest word on each of their cells: that of
 * this comparison, or of the branch's last one of the cell's suite.
 * - regression: not slower any more. Where the comparison's base came before the alert's commit, not slower than it is enough;
 *   where it holds the alert's commit, the significant changes since then must have made up for the loss.
 *   One that a comparison did not call, because the history found it, is not judged by comparisons either, and one that the
 *   history has added cells to lasts as long as those.
 * - broken: no cell failed. vanished: every cell is there again.
 * Shape: ids[STORE_ALERT_RECOVER_MAX]; more wait for the next time.
 */
int store_alert_recovered(struct db *db, int64_t comparison, int64_t *ids, int *n, struct fw_err *err);

/**
 * Open and acknowledged regressions of older tips of this comparison's branch, measured against the same base, once every suite
 * that they tell of was compared for the newer tip: it tells all that they told. Shape as above.
 */
int store_alert_older_tips(struct db *db, int64_t comparison, int64_t *ids, int *n, struct fw_err *err);

/**
 * Whether a cell that fails (or is gone) on this branch is known to: an alert of `kind` holds it that is open, acknowledged or
 * accepted, about another commit than `target_sha`. 1, 0, -1.
 */
int store_alert_covers(struct db *db, int64_t repo, const char *branch, enum alertkind kind, const char *suite, const char *cell,
	const char *target_sha, struct fw_err *err);

/** Whether a person called it not real. 1, 0 (also where there is none), -1. */
int store_alert_is_invalid(struct db *db, int64_t id, struct fw_err *err);
/**
 * The commit of the newest alert about drift that is open or acknowledged, and for which nobody has answered of this cell: a
 * loss that came later is not answered with that. 1, 0, -1. Shape: sha[65].
 */
int store_alert_open_drift(struct db *db, int64_t repo, const char *cell, char *sha, struct fw_err *err);

#endif
