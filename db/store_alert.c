/** store_alert.c - alerts and the steps between their states, each step an event with who, when and why. */
#include "db/store_alert.h"

#include <string.h>

static int add_event(
	struct db *db, int64_t alert, int64_t now_ms, const char *who, const char *state, const char *reason, struct fw_err *err)
{
	struct stmt *s = db_stmt(
		db, "INSERT INTO alert_event (alert, at, who, state, reason) VALUES (:alert, :at, :who, :state, :reason)", err);
	if (!s)
		return -1;
	stmt_int(s, ":alert", alert);
	stmt_int(s, ":at", now_ms);
	stmt_text(s, ":who", who);
	stmt_text(s, ":state", state);
	stmt_text(s, ":reason", reason);
	return stmt_run(s, err);
}

static int set_state(struct db *db, int64_t id, const char *state, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, "UPDATE alert SET state = :state, changed_at = :now WHERE id = :id", err);
	if (!s)
		return -1;
	stmt_int(s, ":id", id);
	stmt_text(s, ":state", state);
	stmt_int(s, ":now", now_ms);
	return stmt_run(s, err);
}

static int insert(struct db *db, struct store_alert *a, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"INSERT INTO alert (repo, branch, target_sha, comparison, cells, worst_pct, opened_at, changed_at) "
		"VALUES (:repo, :branch, :target, :comparison, :cells, :worst, :now, :now)",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":repo", a->repo);
	stmt_text(s, ":branch", a->branch);
	stmt_text(s, ":target", a->target_sha);
	stmt_int(s, ":comparison", a->comparison);
	stmt_text(s, ":cells", a->cells_json);
	stmt_double(s, ":worst", a->worst_pct);
	stmt_int(s, ":now", now_ms);
	if (stmt_run(s, err))
		return -1;
	a->id = db_last_id(db);
	memcpy(a->state, "open", 5);
	return add_event(db, a->id, now_ms, "flopwatch", "open", "", err);
}

/** 1 and id and state of the alert of this commit, 0, -1. */
static int find(struct db *db, struct store_alert *a, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, "SELECT id, state FROM alert WHERE repo = :repo AND target_sha = :target", err);
	if (!s)
		return -1;
	stmt_int(s, ":repo", a->repo);
	stmt_text(s, ":target", a->target_sha);
	int r = stmt_step(s, err);
	if (r == 1) {
		a->id = row_int(s, 0);
		row_copy(s, 1, a->state, sizeof(a->state));
		stmt_reset(s);
	}
	return r;
}

int store_alert_open(struct db *db, struct store_alert *a, int64_t now_ms, bool *is_new, struct fw_err *err)
{
	int found = find(db, a, err);
	*is_new = found == 0;
	if (found < 0)
		return -1;
	if (found == 0)
		return insert(db, a, now_ms, err);
	if (strcmp(a->state, "accepted") == 0 || strcmp(a->state, "invalid") == 0)
		return 0;
	struct stmt *s = db_stmt(db, "UPDATE alert SET cells = :cells, worst_pct = :worst WHERE id = :id", err);
	if (!s)
		return -1;
	stmt_int(s, ":id", a->id);
	stmt_text(s, ":cells", a->cells_json);
	stmt_double(s, ":worst", a->worst_pct);
	if (stmt_run(s, err))
		return -1;
	if (strcmp(a->state, "resolved") != 0)
		return 0;
	*is_new = true;
	memcpy(a->state, "open", 5);
	return set_state(db, a->id, "open", now_ms, err) ||
			       add_event(db, a->id, now_ms, "flopwatch", "open", "measured again and still slower", err)
		       ? -1
		       : 0;
}

static bool allowed(const char *from, const char *to)
{
	if (strcmp(from, "open") != 0 && strcmp(from, "acknowledged") != 0)
		return false;
	return strcmp(to, "accepted") == 0 || strcmp(to, "resolved") == 0 || strcmp(to, "invalid") == 0 ||
	       (strcmp(from, "open") == 0 && strcmp(to, "acknowledged") == 0);
}

int store_alert_change(
	struct db *db, int64_t id, const char *state, const char *who, const char *reason, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, "SELECT state FROM alert WHERE id = :id", err);
	if (!s)
		return -1;
	stmt_int(s, ":id", id);
	int r = stmt_step(s, err);
	if (r == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no alert %lld", (long long)id);
	if (r < 0)
		return -1;
	char from[16];
	row_copy(s, 0, from, sizeof(from));
	stmt_reset(s);
	if (!allowed(from, state))
		return err_set(err, ERR_INVALID, "alert %lld is %s and cannot become %s", (long long)id, from, state);
	bool reason_due = strcmp(state, "accepted") == 0 || strcmp(state, "invalid") == 0;
	if (reason_due && (!reason || !reason[0]))
		return err_set(err, ERR_INVALID, "alert %lld: give a reason to call it %s", (long long)id, state);
	return set_state(db, id, state, now_ms, err) || add_event(db, id, now_ms, who, state, reason ? reason : "", err) ? -1 : 0;
}

/**
 * Alerts that comparison x shows to be over. A base that was judged on this branch at or after the alert holds the loss, so
 * there the last word on every commit since then is summed up (significant changes only: noise must not add up to a recovery).
 */
static const char sql_recovered[] =
	"SELECT a.id FROM comparison x JOIN alert a ON a.repo = x.repo AND a.branch = x.branch "
	"WHERE x.id = :comparison AND x.branch <> '' AND a.state IN ('open', 'acknowledged') AND a.comparison <> x.id AND NOT "
	"EXISTS ("
	"SELECT 1 FROM json_each(a.cells) w LEFT JOIN cell c ON c.comparison = x.id AND c.key = w.value ->> 'cell' "
	"WHERE c.id IS NULL OR c.verdict NOT IN ('improvement', 'unchanged', 'identical') OR ("
	"(x.base_sha = a.target_sha OR EXISTS (SELECT 1 FROM comparison b WHERE b.repo = x.repo AND b.target_sha = x.base_sha "
	"AND "
	"b.branch = x.branch AND b.id >= a.comparison)) AND "
	"coalesce((SELECT sum(h.m) FROM cell h WHERE h.key = c.key AND h.repo = x.repo AND h.branch = x.branch AND "
	"h.comparison BETWEEN a.comparison AND x.id AND h.verdict IN ('regression', 'improvement') AND "
	"h.comparison = (SELECT max(l.id) FROM comparison l WHERE l.repo = x.repo AND l.target_sha = h.target_sha AND "
	"l.branch = x.branch)), 0) > -ln(1 - c.threshold_pct / 100))) ORDER BY a.id LIMIT :limit";

int store_alert_recover(struct db *db, int64_t comparison, int64_t now_ms, int64_t *ids, int *n, struct fw_err *err)
{
	*n = 0;
	struct stmt *s = db_stmt(db, sql_recovered, err);
	if (!s)
		return -1;
	stmt_int(s, ":comparison", comparison);
	stmt_int(s, ":limit", STORE_ALERT_RECOVER_MAX);
	int r;
	while ((r = stmt_step(s, err)) == 1)
		ids[(*n)++] = row_int(s, 0);
	if (r < 0)
		return -1;
	s = db_stmt(db,
		"INSERT INTO alert_event (alert, at, who, state, reason) "
		"VALUES (:alert, :at, 'flopwatch', 'resolved', 'recovered in comparison ' || :comparison)",
		err);
	for (int i = 0; i < *n; i++) {
		if (!s || set_state(db, ids[i], "resolved", now_ms, err))
			return -1;
		stmt_int(s, ":alert", ids[i]);
		stmt_int(s, ":at", now_ms);
		stmt_int(s, ":comparison", comparison);
		if (stmt_run(s, err))
			return -1;
	}
	return 0;
}
