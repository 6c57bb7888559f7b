/** store_alert.h - alerts: one per (repository, target commit), holding its cells. Loop only; inside the caller's transaction. */
#ifndef DB_STORE_ALERT_H
#define DB_STORE_ALERT_H

#include "db/db.h"

enum { STORE_ALERT_RECOVER_MAX = 64 };

struct store_alert {
	int64_t id, repo, comparison;
	char branch[1024], target_sha[65], state[16];
	const char *cells_json; /* array of {"cell","change_pct","borderline"} */
	double worst_pct;
};

/**
 * Open the alert of (repo, target). One that is there stays with the comparison that opened it; its cells are brought up to
 * date while it is open or acknowledged, a resolved one opens again, and what a person accepted or called invalid stays so.
 * Sets a->id and a->state, writes an alert_event for a change of state. `is_new`: it was not open before this call.
 */
int store_alert_open(struct db *db, struct store_alert *a, int64_t now_ms, bool *is_new, struct fw_err *err);

/**
 * Change state with who and why: open to acknowledged, accepted, resolved, invalid; acknowledged to the latter three.
 * Err: ERR_NOT_FOUND; ERR_INVALID another step, or no reason where one is due (accepted, invalid).
 */
int store_alert_change(
	struct db *db, int64_t id, const char *state, const char *who, const char *reason, int64_t now_ms, struct fw_err *err);

/**
 * Resolve the open and acknowledged alerts of the comparison's branch that it shows to be over: every cell of the alert was
 * measured here and is not slower any more. Where the comparison's base came before the alert's commit, not slower than it is
 * enough; where it holds the alert's commit, the significant changes since then must have made up for the loss.
 * Shape: ids[STORE_ALERT_RECOVER_MAX] of the resolved ones; more stay for the next time.
 */
int store_alert_recover(struct db *db, int64_t comparison, int64_t now_ms, int64_t *ids, int *n, struct fw_err *err);

#endif
