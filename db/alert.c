/** alert.c - alerts and their changes of state, each with an alert_event. */
#include "db/db.h"

#include <math.h>
#include <stdio.h>

enum { CELLS_BYTES_MAX = 1 << 21 };

static int add_event(struct db *db, int64_t alert, int64_t now_ms, const char *who, enum alertstate state, const char *reason,
	struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO alert_event (alert, at, who, state, reason) VALUES (:alert, :at, :who, :state, :reason)",
		"alert=%ld at=%ld who=%s state=%s reason=%s", alert, now_ms, who, alertstate_name(state), reason);
}

static int set_state(struct db *db, int64_t id, enum alertstate state, int64_t now_ms, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE alert SET state = :state, changed_at = :now WHERE id = :id", "id=%ld state=%s now=%ld",
		id, alertstate_name(state), now_ms);
}

static int insert(struct db *db, struct store_alert *a, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"INSERT INTO alert (kind, repo, device, branch, target_sha, changed, comparison, title, cells, grouped, "
		"culprits, worst_pct, opened_at, changed_at) VALUES (:kind, nullif(:repo, 0), nullif(:device, 0), :branch, "
		":target, :changed, nullif(:comparison, 0), :title, :cells, :groups, :culprits, :worst, :now, :now)",
		"kind=%s repo=%ld device=%ld branch=%s target=%s changed=%s comparison=%ld title=%s cells=%s groups=%s "
		"culprits=%s worst=%f now=%ld",
		alertkind_name(a->kind), a->repo, a->device, a->branch, a->target_sha, a->changed ? a->changed : "",
		a->comparison, a->title ? a->title : "", a->cells_json, a->groups_json ? a->groups_json : "[]",
		a->culprits_json ? a->culprits_json : "[]", a->worst_pct, now_ms);
	if (stmt_insert(s, &a->id, err))
		return -1;
	a->state = ALERTSTATE_OPEN;
	return add_event(db, a->id, now_ms, "flopwatch", ALERTSTATE_OPEN, "", err);
}

/**
 * Set id and state from the alert of this commit that is not accepted or invalid, or from the open one of the device. 1, 0, -1.
 */
static int find(struct db *db, struct store_alert *a, struct fw_err *err)
{
	static const char of_repo[] =
		"SELECT id, state FROM alert WHERE repo = :owner AND target_sha = :target AND kind = :kind AND "
		"changed = :changed AND state NOT IN ('accepted', 'invalid')";
	static const char of_device[] =
		"SELECT id, state FROM alert WHERE device = :owner AND target_sha = :target AND kind = :kind AND "
		"changed = :changed AND state IN ('open', 'acknowledged') ORDER BY id DESC LIMIT 1";
	return db_first(db, err, (a->id, COLUMN_NAMED(a->state, alertstate_from_name)), a->repo ? of_repo : of_device,
		"owner=%ld target=%s changed=%s kind=%s", a->repo ? a->repo : a->device, a->target_sha,
		a->changed ? a->changed : "", alertkind_name(a->kind));
}

/* The alert's culprits merged with :culprits, which replace those of the same cells; equal ranges become one. */
#define CULPRITS_WITH_OURS                                                                                                       \
	"WITH ours AS (SELECT value AS v, value ->> 'from' AS f, value ->> 'to' AS t FROM json_each(:culprits)), "               \
	"named AS (SELECT c.value AS cell FROM json_each(:culprits) o, json_each(o.value, '$.cells') c), had AS "                \
	"(SELECT d.value AS v, d.value ->> 'from' AS f, d.value ->> 'to' AS t, (SELECT json_group_array(c.value) FROM "          \
	"json_each(d.value, '$.cells') c WHERE c.value NOT IN (SELECT cell FROM named)) AS rest FROM alert a, "                  \
	"json_each(a.culprits) d WHERE a.id = :id) SELECT json_group_array(json(v)) FROM (SELECT json_set(v, "                   \
	"'$.cells', json(rest)) AS v FROM had d WHERE rest <> '[]' AND NOT EXISTS (SELECT 1 FROM ours o WHERE o.f = "            \
	"d.f AND o.t = d.t) UNION ALL SELECT json_set(v, '$.cells', (SELECT json_group_array(value) FROM (SELECT "               \
	"c.value FROM had d, json_each(d.rest) c WHERE d.f = o.f AND d.t = o.t UNION ALL SELECT value FROM "                     \
	"json_each(o.v, '$.cells'))), '$.change_pct', (SELECT min(x) FROM (SELECT o.v ->> 'change_pct' AS x UNION ALL "          \
	"SELECT d.v ->> 'change_pct' FROM had d WHERE d.f = o.f AND d.t = o.t AND d.rest <> '[]'))) FROM ours o)"

static int update(struct db *db, const struct store_alert *a, const char *cells, struct fw_err *err)
{
	return db_exec(db, err,
		"UPDATE alert SET title = coalesce(nullif(:title, ''), title), cells = :cells, grouped = :groups, worst_pct = "
		":worst, culprits = iif(state = 'resolved', :culprits, (" CULPRITS_WITH_OURS ")) WHERE id = :id",
		"id=%ld title=%s cells=%s groups=%s culprits=%s worst=%f", a->id, a->title ? a->title : "", cells,
		a->groups_json ? a->groups_json : "[]", a->culprits_json ? a->culprits_json : "[]", a->worst_pct);
}

/* ---- opening --------------------------------------------------------------------------------------------------------- */

struct gathered {
	int due;               /* cells of `a` that are not accepted or invalid */
	int64_t answered;      /* latest accepted or invalid alert of the commit; 0: none */
	enum alertstate state; /* of `answered` */
};

/**
 * `due`: cells of `a` that are not accepted or invalid. `all`: the cells that the alert retains, then `due`. The alert does not
 * retain cells that a's comparison measured without a regression, unless an open change point has them.
 */
static int gather(struct db *db, struct store_alert *a, struct gathered *g, struct buf *due, struct buf *all, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"WITH ours AS (SELECT value AS v, value ->> 'cell' AS key, value ->> 'suite' AS suite FROM json_each(:cells)), "
		"held AS (SELECT a.id, a.state, w.value AS v, w.value ->> 'cell' AS key, w.value ->> 'suite' AS suite FROM alert "
		"a, json_each(a.cells) w WHERE a.repo = :repo AND a.target_sha = :target AND a.kind = :kind AND a.changed = "
		":changed AND a.state <> 'resolved'), due AS (SELECT * FROM ours o WHERE NOT EXISTS (SELECT 1 FROM held e WHERE "
		"e.key = o.key AND coalesce(e.suite = o.suite, 1) AND e.state IN ('accepted', 'invalid'))), suite_of AS (SELECT "
		"t.name FROM comparison c JOIN suite t ON t.id = c.suite WHERE c.id = :comparison), open_cells AS (SELECT v FROM held "
		"e WHERE e.state IN ('open', 'acknowledged') AND NOT EXISTS (SELECT 1 FROM due o WHERE o.key = e.key AND "
		"coalesce(e.suite = o.suite, 1)) AND NOT (coalesce(e.suite = (SELECT name FROM suite_of), 1) AND EXISTS (SELECT 1 "
		"FROM cell c WHERE c.comparison = :comparison AND c.key = e.key) AND NOT EXISTS (SELECT 1 FROM change_point p "
		"WHERE p.alert = e.id AND p.key = e.key AND p.ended_at IS NULL))), answered AS (SELECT id, state FROM alert "
		"WHERE repo = :repo AND target_sha = :target AND kind = :kind AND changed = :changed AND state IN ('accepted', "
		"'invalid') ORDER BY id DESC LIMIT 1) SELECT (SELECT count(*) FROM due), (SELECT count(*) FROM open_cells), (SELECT "
		"count(*) FROM due o WHERE NOT EXISTS (SELECT 1 FROM held e WHERE e.key = o.key AND coalesce(e.suite = o.suite, "
		"1))), (SELECT id FROM answered), (SELECT state FROM answered), (SELECT json_group_array(json(v)) FROM due), "
		"(SELECT json_group_array(json(v)) FROM (SELECT v FROM open_cells UNION ALL SELECT v FROM due LIMIT :most))",
		"repo=%ld target=%s kind=%s changed=%s cells=%s comparison=%ld most=%d", a->repo, a->target_sha,
		alertkind_name(a->kind), a->changed ? a->changed : "", a->cells_json, a->comparison, STORE_ALERT_CELLS_MAX);
	const char *due_cells, *all_cells;
	int result = stmt_next(s, err, g->due, a->n_old_cells, a->n_new_cells, g->answered,
		COLUMN_NAMED(g->state, alertstate_from_name), due_cells, all_cells);
	if (result == 1) {
		buf_puts(due, due_cells);
		buf_puts(all, all_cells);
		stmt_reset(s);
	}
	return result < 0 ? -1 : due->failed || all->failed ? err_set(err, ERR_FULL, "the alert's cells do not fit") : 0;
}

static int extend(struct db *db, const struct store_alert *a, int64_t now_ms, struct fw_err *err)
{
	char why[64];
	snprintf(why, sizeof why, "%d more cell%s, by C%lld", a->n_new_cells, a->n_new_cells == 1 ? "" : "s",
		(long long)a->comparison);
	return add_event(db, a->id, now_ms, "flopwatch", a->state, a->comparison ? why : "more cells, by the history", err);
}

static int open_again(struct db *db, struct store_alert *a, int64_t now_ms, struct fw_err *err)
{
	a->state = ALERTSTATE_OPEN;
	if (set_state(db, a->id, ALERTSTATE_OPEN, now_ms, err))
		return -1;
	return add_event(db, a->id, now_ms, "flopwatch", ALERTSTATE_OPEN, "measured again with the same result", err);
}

static int open_with(
	struct db *db, struct store_alert *a, const char *due, const char *all, int64_t now_ms, bool *is_new, struct fw_err *err)
{
	int found = find(db, a, err);
	if (found < 0)
		return -1;
	bool over = found && a->state == ALERTSTATE_RESOLVED;
	const char *ours = a->cells_json;
	*is_new = !found || over;
	a->cells_json = due;
	int result = !found ? insert(db, a, now_ms, err) : update(db, a, over ? due : all, err);
	a->cells_json = ours;
	if (result == 0 && over)
		result = open_again(db, a, now_ms, err);
	else if (result == 0 && found && a->n_new_cells)
		result = extend(db, a, now_ms, err);
	return result;
}

int store_alert_open(struct db *db, struct store_alert *a, int64_t now_ms, bool *is_new, struct fw_err *err)
{
	struct gathered g = { .due = 0 };
	struct buf due, all;
	*is_new = false;
	buf_init(&due, CELLS_BYTES_MAX);
	buf_init(&all, CELLS_BYTES_MAX);
	int result = gather(db, a, &g, &due, &all, err);
	if (result == 0 && !g.due && g.answered) {
		a->id = g.answered;
		a->state = g.state;
	} else if (result == 0) {
		result = open_with(db, a, due.data, all.data, now_ms, is_new, err);
	}
	buf_fini(&due);
	buf_fini(&all);
	return result;
}

int store_alert_cells(struct db *db, int64_t id, struct buf *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT cells FROM alert WHERE id = :id", "id=%ld", id);
	return stmt_require(stmt_first_bytes(s, out, err), err, "there is no A%lld", (long long)id);
}

int store_alert_describe(
	struct db *db, int64_t id, const char *title, const char *groups_json, double worst_pct, struct fw_err *err)
{
	return db_exec(db, err,
		"UPDATE alert SET title = coalesce(nullif(:title, ''), title), grouped = :groups, worst_pct = :worst WHERE id = "
		":id",
		"id=%ld title=%s groups=%s worst=%f", id, title, groups_json, worst_pct);
}

int store_alert_reported(struct db *db, const struct store_alert *a, const char *suite, const char *cell,
	struct store_alert_reported *out, struct fw_err *err)
{
	*out = (struct store_alert_reported){ .change_pct = NAN, .others_pct = NAN, .range_pct = NAN };
	return db_first(db, err,
		(out->id, out->change_pct, out->others_pct, out->is_full, out->from, out->to, out->commits, out->skipped,
			out->range_pct),
		"WITH one AS (SELECT * FROM alert WHERE repo = :repo AND target_sha = :target AND kind = :kind AND state IN "
		"('open', 'acknowledged')), held AS (SELECT w.value ->> 'change_pct' AS pct, w.value ->> 'cell' = :cell AND "
		"coalesce(w.value ->> 'suite' = :suite, 1) AS ours FROM one, json_each(one.cells) w) SELECT one.id, (SELECT pct "
		"FROM held WHERE ours), (SELECT min(pct) FROM held WHERE NOT ours), json_array_length(one.cells) >= :most, "
		"d.value ->> 'from', d.value ->> 'to', d.value ->> 'commits', d.value ->> 'skipped', "
		"iif(json_array_length(d.value, '$.cells') = 1, d.value ->> 'change_pct', NULL) FROM one LEFT JOIN "
		"json_each(one.culprits) d ON EXISTS (SELECT 1 FROM json_each(d.value, '$.cells') c WHERE c.value = :cell)",
		"repo=%ld target=%s kind=%s suite=%s cell=%s most=%d", a->repo, a->target_sha, alertkind_name(a->kind), suite,
		cell, STORE_ALERT_CELLS_MAX);
}

int store_alert_live(struct db *db, int64_t repo, const char *target_sha, enum alertkind kind, int64_t *id, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT id FROM alert WHERE repo = :repo AND target_sha = :target AND kind = :kind AND state IN ('open', "
		"'acknowledged')",
		"repo=%ld target=%s kind=%s", repo, target_sha, alertkind_name(kind));
	*id = 0;
	return stmt_first(s, err, *id) < 0 ? -1 : 0;
}

/* ---- changes by users and bisects ------------------------------------------------------------------------------------- */

static bool allowed(enum alertstate from, enum alertstate to)
{
	return alertstate_is_live(from) && to > from && to < ALERTSTATE_N;
}

int store_alert_change(
	struct db *db, int64_t id, enum alertstate state, const char *who, const char *reason, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT state FROM alert WHERE id = :id", "id=%ld", id);
	enum alertstate from;
	if (stmt_require(stmt_first(s, err, COLUMN_NAMED(from, alertstate_from_name)), err, "there is no A%lld", (long long)id))
		return -1;
	if (!allowed(from, state))
		return err_set(err, ERR_CONFLICT, "A%lld is %s and cannot become %s", (long long)id, alertstate_name(from),
			alertstate_name(state));
	bool reason_due = state == ALERTSTATE_ACCEPTED || state == ALERTSTATE_INVALID;
	if (reason_due && (!reason || !reason[0]))
		return err_set(err, ERR_INVALID, "A%lld: give a reason to call it %s", (long long)id, alertstate_name(state));
	return set_state(db, id, state, now_ms, err) || add_event(db, id, now_ms, who, state, reason ? reason : "", err) ? -1 : 0;
}

int store_alert_culprits(
	struct db *db, int64_t id, const char *culprits_json, const char *reason, int64_t now_ms, struct fw_err *err)
{
	enum alertstate state = ALERTSTATE_N;
	struct stmt *s = db_query(db, err, "UPDATE alert SET culprits = (" CULPRITS_WITH_OURS ") WHERE id = :id RETURNING state",
		"id=%ld culprits=%s", id, culprits_json);
	int result;
	while ((result = stmt_next(s, err, COLUMN_NAMED(state, alertstate_from_name))) == 1)
		;
	if (result < 0)
		return -1;
	if (state == ALERTSTATE_N)
		return err_set(err, ERR_NOT_FOUND, "there is no A%lld", (long long)id);
	return add_event(db, id, now_ms, "flopwatch", state, reason, err);
}

/* ---- other alerts of a comparison's branch ---------------------------------------------------------------------------- */

#define OPEN_ALERTS_OF_BRANCH                                                                                                    \
	"FROM comparison x JOIN alert a ON a.repo = x.repo AND a.branch = x.branch WHERE x.id = :comparison AND "                \
	"x.branch <> '' AND a.state IN ('open', 'acknowledged') AND coalesce(a.comparison, 0) <> x.id "

/* Name of the suite of comparison `c`. */
#define SUITE_OF(c) "(SELECT t.name FROM comparison o JOIN suite t ON t.id = o.suite WHERE o.id = " c ") "

/* Suite of cell `w` of alert `a`; of cells without one the suite of the alert's comparison. */
#define SUITE_OF_CELL "coalesce(w.value ->> 'suite', " SUITE_OF("a.comparison") ") "

/* Comparison `p` of job `j` counts for its branch: it has every cell of its suite or shard. */
#define COUNTS_FOR_BRANCH                                                                                                        \
	"p.repo = a.repo AND p.branch = a.branch AND p.id <= x.id AND (p.kind = 'compare' OR (p.kind = 'selfcheck' AND "         \
	"a.kind = 'failing')) AND t.name = v.suite AND j.quick = 0 "

/**
 * The cells `c` of alert `a` (key and suite in `v`) in the branch's latest whole comparison `y` of their suite, or of a sharded
 * suite in the latest that measured them. An identical benchmark program has one cell for all rows.
 */
#define LATEST_CELLS                                                                                                             \
	"FROM (SELECT w.value ->> 'cell' AS key, w.value ->> 'comparison' AS reported, " SUITE_OF_CELL                           \
	"AS suite FROM json_each(a.cells) w) v LEFT JOIN comparison y ON y.id = iif(EXISTS (SELECT 1 FROM comparison "           \
	"o JOIN suite t ON t.id = o.suite WHERE o.id = coalesce(v.reported, a.comparison) AND t.shards > 1), (SELECT "           \
	"k.comparison FROM cell k JOIN comparison p ON p.id = k.comparison JOIN suite t ON t.id = p.suite JOIN job j "           \
	"ON j.id = p.job WHERE k.key = v.key AND k.repo = a.repo AND k.branch = a.branch AND " COUNTS_FOR_BRANCH                 \
	"AND (NOT j.some_cells OR j.shard > 0) ORDER BY k.comparison DESC LIMIT 1), (SELECT p.id FROM comparison p "             \
	"JOIN suite t ON t.id = p.suite JOIN job j ON j.id = p.job WHERE " COUNTS_FOR_BRANCH "AND NOT j.some_cells "             \
	"ORDER BY p.id DESC LIMIT 1)) LEFT JOIN cell c ON c.comparison = y.id AND (c.key = v.key OR (y.rows_unknown "            \
	"AND y.identical_by <> '')) "

/**
 * A base that was judged on this branch at or after the alert contains the regression. In that case the latest significant
 * changes of all commits since then are summed; noise must not sum to a recovery. Suites are judged separately.
 */
static const char sql_recovered[] =
	"SELECT a.id " OPEN_ALERTS_OF_BRANCH "AND CASE a.kind "
	"WHEN 'regression' THEN EXISTS (SELECT 1 FROM comparison o WHERE o.id = a.comparison AND o.kind = 'compare' AND "
	"o.target_sha = a.target_sha AND o.n_regressions > 0) AND NOT EXISTS ("
	"SELECT 1 FROM change_point p WHERE p.alert = a.id AND p.ended_at IS NULL) AND NOT EXISTS ("
	"SELECT 1 " LATEST_CELLS "WHERE c.id IS NULL OR c.verdict NOT IN ('improvement', 'unchanged', 'identical') OR ("
	"(y.base_sha = a.target_sha OR EXISTS (SELECT 1 FROM comparison b JOIN suite t ON t.id = b.suite WHERE b.repo = x.repo "
	"AND b.target_sha = y.base_sha AND b.branch = x.branch AND b.id >= a.comparison AND t.name = v.suite)) AND "
	"coalesce((SELECT sum(h.decided_m) FROM cell h WHERE h.key = v.key AND h.repo = x.repo AND h.branch = x.branch AND "
	"h.comparison BETWEEN a.comparison AND y.id AND (h.verdict IN ('regression', 'improvement') OR h.decided_by <> '') AND "
	"h.comparison = (SELECT max(l.id) FROM comparison l JOIN suite t ON t.id = l.suite JOIN cell k ON k.comparison = l.id "
	"AND k.key = h.key WHERE l.repo = x.repo AND l.target_sha = h.target_sha AND l.branch = x.branch AND "
	"t.name = v.suite) AND NOT EXISTS (SELECT 1 FROM comparison q JOIN comparison n ON n.repo = q.repo AND n.branch = "
	"q.branch AND n.base_sha = q.base_sha AND n.kind = 'compare' AND n.id > q.id AND n.id <= y.id JOIN suite z ON "
	"z.id = n.suite AND z.name = v.suite JOIN cell d ON d.comparison = n.id AND d.key = h.key AND d.verdict IN "
	"('regression', 'improvement', 'unchanged', 'identical') WHERE q.id = h.comparison)), 0) > -ln(1 - c.threshold_pct / "
	"100))) "
	"WHEN 'failing' THEN a.cells <> '[]' AND NOT EXISTS (SELECT 1 " LATEST_CELLS
	"WHERE y.id < coalesce(v.reported, a.comparison) OR iif(c.id IS NULL, y.id IS NULL OR y.rows_unknown OR NOT (SELECT "
	"o.rows_unknown FROM comparison o WHERE o.id = coalesce(v.reported, a.comparison)), "
	"c.verdict NOT IN ('improvement', 'unchanged', 'identical', 'regression', 'undecided', 'added', 'removed') OR "
	/* the same files as a commit that fails, such as the one that added the benchmark */
	"(c.verdict = 'identical' AND EXISTS (SELECT 1 FROM comparison b JOIN suite t ON t.id = b.suite JOIN cell k ON "
	"k.comparison = b.id AND k.key = v.key WHERE b.repo = x.repo AND b.branch = x.branch AND b.target_sha = y.base_sha AND "
	"t.name = v.suite AND k.verdict IN ('failed', 'rejected'))))) "
	"WHEN 'missing' THEN NOT EXISTS (SELECT 1 " LATEST_CELLS
	"WHERE c.id IS NULL OR c.verdict = 'removed' OR y.rows_unknown OR y.id <= coalesce(v.reported, a.comparison) OR "
	"(v.reported AND y.target_sha = a.target_sha)) "
	"ELSE 0 END ORDER BY a.id LIMIT :limit";

int store_alert_recovered(struct db *db, int64_t comparison, int64_t *ids, int *n, struct fw_err *err)
{
	*n = db_ids(db, ids, STORE_ALERT_RECOVER_MAX, err, sql_recovered, "comparison=%ld limit=%d", comparison,
		STORE_ALERT_RECOVER_MAX);
	return *n < 0 ? -1 : 0;
}

int store_alert_older_tips(struct db *db, int64_t comparison, int64_t *ids, int *n, struct fw_err *err)
{
	*n = db_ids(db, ids, STORE_ALERT_RECOVER_MAX, err,
		"SELECT a.id " OPEN_ALERTS_OF_BRANCH "AND a.kind = 'regression' AND a.target_sha <> x.target_sha AND EXISTS "
		"(SELECT 1 FROM comparison o WHERE o.id = a.comparison AND o.base_sha = x.base_sha AND o.id < x.id) AND NOT "
		"EXISTS (SELECT 1 FROM json_each(a.cells) w WHERE NOT EXISTS (SELECT 1 FROM comparison n WHERE n.repo = x.repo "
		"AND n.target_sha = x.target_sha AND n.branch = x.branch AND n.kind = 'compare' AND " SUITE_OF(
			"n.id") "= " SUITE_OF_CELL ")) ORDER BY a.id LIMIT :limit",
		"comparison=%ld limit=%d", comparison, STORE_ALERT_RECOVER_MAX);
	return *n < 0 ? -1 : 0;
}

int store_alert_inherited_culprits(struct db *db, int64_t comparison, const char *cells_json, struct buf *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"WITH ours AS (SELECT value ->> 'cell' AS cell, value ->> 'change_pct' AS pct FROM json_each(:cells)) SELECT (SELECT "
		"json_group_array(json(v)) FROM (SELECT json_set(d.value, '$.cells', json((SELECT json_group_array(c.value) FROM "
		"json_each(d.value, '$.cells') c WHERE c.value IN (SELECT cell FROM ours)))) AS v FROM json_each(a.culprits) d) WHERE "
		"json_array_length(v, '$.cells') > 0) FROM comparison x JOIN alert a ON a.repo = x.repo AND a.branch = x.branch AND "
		"a.kind = 'regression' AND a.state IN ('open', 'acknowledged') JOIN comparison o ON o.id = a.comparison AND o.base_sha "
		"= x.base_sha AND o.suite = x.suite AND o.id < x.id WHERE x.id = :comparison AND x.branch <> '' AND a.target_sha <> "
		"x.target_sha AND EXISTS (SELECT 1 FROM commit_range g WHERE g.repo = x.repo AND g.base_sha = x.base_sha AND "
		"g.target_sha = x.target_sha AND g.sha = a.target_sha) AND NOT EXISTS (SELECT 1 FROM ours w WHERE NOT EXISTS (SELECT 1 "
		"FROM json_each(a.culprits) d, json_each(d.value, '$.cells') c JOIN cell k ON k.comparison = o.id AND k.key = c.value "
		"WHERE c.value = w.cell AND d.value ->> 'commits' = 1 AND k.verdict = 'regression' AND w.pct >= k.decided_pct - "
		"k.threshold_pct)) ORDER BY a.id DESC LIMIT 1",
		"comparison=%ld cells=%s", comparison, cells_json);
	return stmt_first_bytes(s, out, err);
}

int store_alert_covers(struct db *db, int64_t repo, const char *branch, enum alertkind kind, const char *suite, const char *cell,
	const char *target_sha, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 FROM alert a JOIN json_each(a.cells) w WHERE a.repo = :repo AND a.branch = :branch AND a.kind = :kind "
		"AND a.state IN ('open', 'acknowledged', 'accepted') AND a.target_sha <> :target AND w.value ->> 'cell' = :cell "
		"AND " SUITE_OF_CELL "= :suite AND (a.state <> 'accepted' OR NOT EXISTS (SELECT 1 FROM cell k JOIN comparison p "
		"ON p.id = k.comparison JOIN suite t ON t.id = p.suite WHERE k.key = :cell AND k.repo = :repo AND k.branch = "
		":branch AND k.comparison > coalesce(w.value ->> 'comparison', a.comparison) AND p.kind = 'compare' AND t.name = "
		":suite AND k.verdict IN ('improvement', 'unchanged', 'identical', 'regression', 'undecided', 'added'))) LIMIT 1",
		"repo=%ld branch=%s kind=%s target=%s suite=%s cell=%s", repo, branch, alertkind_name(kind), target_sha, suite,
		cell);
}

int store_cost_alerts(struct db *db, int64_t repo, store_cost_alert_fn *each, void *arg, struct fw_err *err)
{
	struct store_cost_alert row;
	struct stmt *s = db_query(db, err,
		"SELECT id, coalesce(comparison, 0), state, branch, target_sha, changed, cells FROM alert WHERE repo = :repo AND kind = "
		"'cost' AND state IN ('open', 'acknowledged', 'accepted') ORDER BY id",
		"repo=%ld", repo);
	return stmt_each(s, err, each(arg, &row), row.id, row.comparison, COLUMN_NAMED(row.state, alertstate_from_name),
		row.branch, row.target_sha, row.changed, row.cells_json);
}

int store_cost_alert_cells(struct db *db, int64_t id, const char *cells_json, const char *title, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE alert SET cells = :cells, title = :title WHERE id = :id", "cells=%s title=%s id=%ld",
		cells_json, title, id);
}

int store_alert_is_invalid(struct db *db, int64_t id, struct fw_err *err)
{
	return db_any(db, err, "SELECT 1 FROM alert WHERE id = :id AND state = 'invalid'", "id=%ld", id);
}

int store_alert_open_drift(struct db *db, int64_t repo, const char *cell, char *sha, struct fw_err *err)
{
	return db_first_text(db, sha, 65, err,
		"SELECT a.target_sha FROM alert a WHERE a.repo = :repo AND a.kind = 'drift' AND a.state IN ('open', "
		"'acknowledged') AND NOT EXISTS (SELECT 1 FROM alert b, json_each(b.cells) w WHERE b.repo = a.repo AND "
		"b.target_sha = a.target_sha AND b.kind = 'drift' AND b.state IN ('accepted', 'invalid') AND w.value ->> 'cell' "
		"= :cell) ORDER BY a.id DESC LIMIT 1",
		"cell=%s repo=%ld", cell, repo);
}
