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
		"INSERT INTO alert (kind, repo, device, branch, target_sha, comparison, title, cells, grouped, culprits, "
		"worst_pct, "
		"opened_at, "
		"changed_at) VALUES (:kind, nullif(:repo, 0), nullif(:device, 0), :branch, :target, nullif(:comparison, 0), "
		":title, "
		":cells, :groups, :culprits, :worst, :now, :now)",
		err);
	if (!s)
		return -1;
	stmt_text(s, ":kind", a->kind);
	stmt_int(s, ":repo", a->repo);
	stmt_int(s, ":device", a->device);
	stmt_text(s, ":branch", a->branch);
	stmt_text(s, ":target", a->target_sha);
	stmt_int(s, ":comparison", a->comparison);
	stmt_text(s, ":title", a->title ? a->title : "");
	stmt_text(s, ":cells", a->cells_json);
	stmt_text(s, ":groups", a->groups_json ? a->groups_json : "[]");
	stmt_text(s, ":culprits", a->culprits_json ? a->culprits_json : "[]");
	stmt_double(s, ":worst", a->worst_pct);
	stmt_int(s, ":now", now_ms);
	if (stmt_insert(s, &a->id, err))
		return -1;
	memcpy(a->state, "open", 5);
	return add_event(db, a->id, now_ms, "flopwatch", "open", "", err);
}

/** 1 and id and state of the alert of this commit or device, 0, -1. One about a device that has ended is not opened again. */
static int find(struct db *db, struct store_alert *a, struct fw_err *err)
{
	struct stmt *s =
		a->repo ? db_stmt(db, "SELECT id, state FROM alert WHERE repo = :owner AND target_sha = :target AND kind = :kind",
				  err)
			: db_stmt(db,
				  "SELECT id, state FROM alert WHERE device = :owner AND target_sha = :target AND kind = :kind "
				  "AND "
				  "state IN ('open', 'acknowledged') ORDER BY id DESC LIMIT 1",
				  err);
	if (!s)
		return -1;
	stmt_int(s, ":owner", a->repo ? a->repo : a->device);
	stmt_text(s, ":target", a->target_sha);
	stmt_text(s, ":kind", a->kind);
	int r = stmt_step(s, err);
	if (r == 1) {
		a->id = row_int(s, 0);
		row_copy(s, 1, a->state, sizeof(a->state));
		stmt_reset(s);
	}
	return r;
}

static int update(struct db *db, const struct store_alert *a, struct fw_err *err)
{
	struct stmt *s = db_stmt(
		db, "UPDATE alert SET title = :title, cells = :cells, grouped = :groups, worst_pct = :worst WHERE id = :id", err);
	if (!s)
		return -1;
	stmt_int(s, ":id", a->id);
	stmt_text(s, ":title", a->title ? a->title : "");
	stmt_text(s, ":cells", a->cells_json);
	stmt_text(s, ":groups", a->groups_json ? a->groups_json : "[]");
	stmt_double(s, ":worst", a->worst_pct);
	return stmt_run(s, err);
}

int store_alert_open(struct db *db, struct store_alert *a, int64_t now_ms, bool *is_new, struct fw_err *err)
{
	if (!a->kind)
		a->kind = "regression";
	int found = find(db, a, err);
	*is_new = found == 0;
	if (found < 0)
		return -1;
	if (found == 0)
		return insert(db, a, now_ms, err);
	if (strcmp(a->state, "accepted") == 0 || strcmp(a->state, "invalid") == 0)
		return 0;
	if (update(db, a, err))
		return -1;
	if (strcmp(a->state, "resolved") != 0)
		return 0;
	*is_new = true;
	memcpy(a->state, "open", 5);
	return set_state(db, a->id, "open", now_ms, err) ||
			       add_event(db, a->id, now_ms, "flopwatch", "open", "measured again, and it is still so", err)
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
		return err_set(err, ERR_CONFLICT, "alert %lld is %s and cannot become %s", (long long)id, from, state);
	bool reason_due = strcmp(state, "accepted") == 0 || strcmp(state, "invalid") == 0;
	if (reason_due && (!reason || !reason[0]))
		return err_set(err, ERR_INVALID, "alert %lld: give a reason to call it %s", (long long)id, state);
	return set_state(db, id, state, now_ms, err) || add_event(db, id, now_ms, who, state, reason ? reason : "", err) ? -1 : 0;
}

int store_alert_culprits(
	struct db *db, int64_t id, const char *culprits_json, const char *reason, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, "UPDATE alert SET culprits = :culprits WHERE id = :id RETURNING state", err);
	char state[16] = "";
	if (!s)
		return -1;
	stmt_int(s, ":id", id);
	stmt_text(s, ":culprits", culprits_json);
	int r;
	while ((r = stmt_step(s, err)) == 1)
		row_copy(s, 0, state, sizeof(state));
	if (r < 0)
		return -1;
	if (!state[0])
		return err_set(err, ERR_NOT_FOUND, "there is no alert %lld", (long long)id);
	return add_event(db, id, now_ms, "flopwatch", state, reason, err);
}

/* ---- what a comparison says about other alerts ------------------------------------------------------------------------ */

#define OPEN_ALERTS_OF_BRANCH                                                                                                    \
	"FROM comparison x JOIN alert a ON a.repo = x.repo AND a.branch = x.branch "                                             \
	"WHERE x.id = :comparison AND x.branch <> '' AND a.state IN ('open', 'acknowledged') AND a.comparison <> x.id "

static int read_ids(struct stmt *s, int64_t comparison, int64_t *ids, int *n, struct fw_err *err)
{
	*n = 0;
	if (!s)
		return -1;
	stmt_int(s, ":comparison", comparison);
	stmt_int(s, ":limit", STORE_ALERT_RECOVER_MAX);
	int r;
	while ((r = stmt_step(s, err)) == 1)
		ids[(*n)++] = row_int(s, 0);
	return r;
}

/**
 * A base that was judged on this branch at or after the alert holds the loss, so there the last word on every commit since
 * then is summed up (significant changes only: noise must not add up to a recovery).
 */
static const char sql_recovered[] =
	"SELECT a.id " OPEN_ALERTS_OF_BRANCH "AND CASE a.kind "
	"WHEN 'regression' THEN EXISTS (SELECT 1 FROM comparison o WHERE o.id = a.comparison AND o.kind = 'change' AND "
	"o.target_sha = a.target_sha AND o.n_regressions > 0) AND NOT EXISTS ("
	"SELECT 1 FROM change_point p WHERE p.alert = a.id AND p.ended_at IS NULL) AND NOT EXISTS ("
	"SELECT 1 FROM json_each(a.cells) w LEFT JOIN cell c ON c.comparison = x.id AND c.key = w.value ->> 'cell' "
	"WHERE c.id IS NULL OR c.verdict NOT IN ('improvement', 'unchanged', 'identical') OR ("
	"(x.base_sha = a.target_sha OR EXISTS (SELECT 1 FROM comparison b WHERE b.repo = x.repo AND b.target_sha = x.base_sha "
	"AND b.branch = x.branch AND b.id >= a.comparison)) AND "
	"coalesce((SELECT sum(h.m) FROM cell h WHERE h.key = c.key AND h.repo = x.repo AND h.branch = x.branch AND "
	"h.comparison BETWEEN a.comparison AND x.id AND h.verdict IN ('regression', 'improvement') AND "
	"h.comparison = (SELECT max(l.id) FROM comparison l WHERE l.repo = x.repo AND l.target_sha = h.target_sha AND "
	"l.branch = x.branch)), 0) > -ln(1 - c.threshold_pct / 100))) "
	"WHEN 'broken' THEN NOT EXISTS ("
	"SELECT 1 FROM json_each(a.cells) w LEFT JOIN cell c ON c.comparison = x.id AND c.key = w.value ->> 'cell' "
	"WHERE c.id IS NULL OR c.verdict NOT IN ('improvement', 'unchanged', 'identical', 'regression', 'undecided')) "
	"WHEN 'vanished' THEN NOT EXISTS ("
	"SELECT 1 FROM json_each(a.cells) w LEFT JOIN cell c ON c.comparison = x.id AND c.key = w.value ->> 'cell' "
	"WHERE c.id IS NULL) "
	"ELSE 0 END ORDER BY a.id LIMIT :limit";

int store_alert_recovered(struct db *db, int64_t comparison, int64_t *ids, int *n, struct fw_err *err)
{
	return read_ids(db_stmt(db, sql_recovered, err), comparison, ids, n, err);
}

int store_alert_older_tips(struct db *db, int64_t comparison, int64_t *ids, int *n, struct fw_err *err)
{
	return read_ids(
		db_stmt(db,
			"SELECT a.id " OPEN_ALERTS_OF_BRANCH
			"AND a.kind = 'regression' AND a.target_sha <> x.target_sha AND EXISTS (SELECT 1 FROM comparison o "
			"WHERE o.id = a.comparison AND o.base_sha = x.base_sha AND o.id < x.id) ORDER BY a.id LIMIT :limit",
			err),
		comparison, ids, n, err);
}

int store_alert_accepted(
	struct db *db, int64_t repo, const char *branch, const char *base_sha, const char *cell, double *m, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT -ln(1 + (w.value ->> 'change_pct') / 100.0) FROM alert a JOIN comparison x ON x.id = a.comparison "
		"JOIN json_each(a.cells) w WHERE a.repo = :repo AND a.branch = :branch AND a.kind = 'regression' AND "
		"a.state = 'accepted' AND x.base_sha = :base AND w.value ->> 'cell' = :cell ORDER BY a.id DESC LIMIT 1",
		err);
	*m = 0;
	if (!s)
		return -1;
	stmt_int(s, ":repo", repo);
	stmt_text(s, ":branch", branch);
	stmt_text(s, ":base", base_sha);
	stmt_text(s, ":cell", cell);
	int r = stmt_step(s, err);
	if (r == 1 && !row_is_null(s, 0))
		*m = row_double(s, 0);
	stmt_reset(s);
	return r < 0 ? -1 : 0;
}

int store_alert_covers(struct db *db, int64_t repo, const char *branch, const char *kind, const char *cell,
	const char *target_sha, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT 1 FROM alert a JOIN json_each(a.cells) w WHERE a.repo = :repo AND a.branch = :branch AND a.kind = :kind "
		"AND "
		"a.state IN ('open', 'acknowledged', 'accepted') AND a.target_sha <> :target AND w.value ->> 'cell' = :cell "
		"LIMIT 1",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":repo", repo);
	stmt_text(s, ":branch", branch);
	stmt_text(s, ":kind", kind);
	stmt_text(s, ":target", target_sha);
	stmt_text(s, ":cell", cell);
	return stmt_any(s, err);
}
