/** view_live.c - queries over alerts, jobs, devices and events; one statement a filter, so that each reads one index. */
#include "db/db.h"

/* ---- alerts ---------------------------------------------------------------------------------------------------------- */

#define ALERT_SELECT                                                                                                              \
	"SELECT a.id, a.comparison, coalesce(r.name, ''), a.branch, a.target_sha, coalesce(m.subject, ''), a.state, "             \
	"a.cells, a.worst_pct, a.opened_at, a.changed_at, a.kind, a.title, coalesce(d.uuid, ''), a.grouped, "                     \
	"a.culprits, (SELECT max(b.id) FROM bisect b WHERE b.alert = a.id), coalesce(m.author, ''), a.changed FROM alert a LEFT " \
	"JOIN repo r ON r.id = a.repo LEFT JOIN device d ON d.id = a.device LEFT JOIN git_commit m ON m.repo = a.repo "           \
	"AND m.sha = a.target_sha "

static int each_alert(struct stmt *s, view_alert_fn *each, void *arg, struct fw_err *err)
{
	int result, n = 0;
	struct view_alert row = { 0 };
	for (; (result = stmt_next(s, err, row.id, row.comparison, row.repo, row.branch, row.target, row.subject,
			COLUMN_NAMED(row.state, alertstate_from_name), row.cells_json, row.worst_pct, row.opened_at,
			row.changed_at, COLUMN_NAMED(row.kind, alertkind_from_name), row.title, row.device, row.groups_json,
			row.culprits_json, row.bisect, row.author, row.changed)) == 1;
		n++)
		each(arg, &row);
	return result < 0 ? -1 : n;
}

int view_alerts(struct db *db, const char *state, int64_t before, int limit, view_alert_fn *each, void *arg, struct fw_err *err)
{
	int64_t newest = store_page_before(before);
	int most = store_page_size(limit, VIEW_ROWS_MAX);
	struct stmt *s =
		store_page_given(state)
			? db_query(db, err,
				  ALERT_SELECT "WHERE a.state = :state AND a.id < :before ORDER BY a.id DESC LIMIT :limit",
				  "state=%s before=%ld limit=%d", state, newest, most)
			: db_query(db, err, ALERT_SELECT "WHERE a.id < :before ORDER BY a.id DESC LIMIT :limit",
				  "before=%ld limit=%d", newest, most);
	return each_alert(s, each, arg, err) < 0 ? -1 : 0;
}

int view_alert(struct db *db, int64_t id, view_alert_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, ALERT_SELECT "WHERE a.id = :id", "id=%ld", id);
	return store_page_require_row(each_alert(s, each, arg, err), "alert", id, err);
}

int view_alert_of(struct db *db, const char *repo, const char *target, view_alert_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		ALERT_SELECT "WHERE r.name = :repo AND a.target_sha = :target AND a.kind <> 'environment' ORDER BY a.kind "
			     "= 'cost', a.state IN ('open', 'acknowledged') DESC, a.id DESC LIMIT 1",
		"repo=%s target=%s", repo, target);
	return each_alert(s, each, arg, err) < 0 ? -1 : 0;
}

/* Open alerts `a` of :repo and :branch; "" is all. */
#define IS_OPEN(a)                                                                                                               \
	a ".state = 'open' AND (:repo = '' OR " a ".repo = (SELECT id FROM repo WHERE name = :repo)) AND (:branch = '' OR " a    \
	  ".branch = :branch) "

int view_alarms(struct db *db, const char *repo, const char *branch, int limit, view_alert_fn *each, void *arg, int *n,
	struct fw_err *err)
{
	const char *of = repo ? repo : "", *on = branch ? branch : "";
	struct stmt *s = db_query(db, err, "SELECT count(*) FROM alert a WHERE " IS_OPEN("a"), "repo=%s branch=%s", of, on);
	*n = 0;
	if (stmt_first(s, err, *n) < 0)
		return -1;
	s = db_query(db, err,
		"WITH known AS MATERIALIZED (SELECT o.id, o.worst_pct FROM alert o WHERE " IS_OPEN(
			"o") "), worst AS (SELECT id FROM known WHERE worst_pct IS NOT NULL ORDER BY worst_pct, id DESC LIMIT 1), newest AS "
			     "(SELECT id FROM known ORDER BY id DESC LIMIT :limit) " ALERT_SELECT
			     "WHERE a.id IN (SELECT id FROM worst UNION SELECT id FROM newest) ORDER BY a.id = (SELECT id FROM worst) DESC, a.id "
			     "DESC LIMIT :limit",
		"repo=%s branch=%s limit=%d", of, on, store_page_size(limit, VIEW_ROWS_MAX));
	return each_alert(s, each, arg, err) < 0 ? -1 : 0;
}

int view_slow_branches(struct db *db, view_slow_branch_fn *each, void *arg, struct fw_err *err)
{
	struct view_slow_branch row = { 0 };
	struct stmt *s = db_stmt(db, /* the other columns are those of the row with the least worst_pct */
		"SELECT a.id, a.state, min(a.worst_pct), r.name, a.branch, a.target_sha FROM alert a CROSS JOIN repo r ON r.id = "
		"a.repo WHERE a.state IN ('open', 'acknowledged') AND a.kind IN ('regression', 'drift') AND a.branch <> '' AND a.worst_pct "
		"IS NOT NULL GROUP BY r.name, a.branch ORDER BY r.name, a.branch",
		err);
	return stmt_each(s, err, each(arg, &row), row.alert, COLUMN_NAMED(row.state, alertstate_from_name), row.worst_pct,
		row.repo, row.branch, row.target);
}

int view_alerts_open(struct db *db, int *n, struct fw_err *err)
{
	*n = 0;
	return stmt_first(db_stmt(db, "SELECT n FROM counted WHERE what = 'alerts' AND label = 'open'", err), err, *n) < 0 ? -1
															   : 0;
}

int view_alert_events(struct db *db, int64_t alert, view_alert_event_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(
		db, err, "SELECT at, who, state, reason FROM alert_event WHERE alert = :alert ORDER BY id", "alert=%ld", alert);
	struct view_alert_event row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.at, row.who, COLUMN_NAMED(row.state, alertstate_from_name), row.reason);
}

/* ---- jobs ------------------------------------------------------------------------------------------------------------ */

#define JOB_SELECT                                                                                                               \
	"SELECT j.id, c.id, r.name, j.branch, j.target_sha, coalesce(m.subject, ''), j.base_sha, j.base_how, j.kind, "           \
	"j.suite, j.device_kind, " STORE_JOB_CELLS ", j.origin, j.state, j.state_why, j.progress, coalesce(d.uuid, "             \
	"''), coalesce(c.verdict, ''), j.quick, j.priority, j.attempt, j.queued_at, j.started_at, j.ended_at, "                  \
	"j.base_provider, j.target_provider, CASE WHEN j.base_name = '' AND j.base_how = 'merge-base' THEN r.upstream "          \
	"ELSE j.base_name END, j.target_name, j.again_at, j.again_of, j.base_config, j.target_config, "                          \
	"j.base_toolchain, j.target_toolchain, j.base_flags, j.target_flags FROM job j JOIN repo r ON r.id = j.repo "            \
	"LEFT JOIN git_commit m ON m.repo = j.repo AND m.sha = j.target_sha LEFT JOIN device d ON d.id = j.device "              \
	"LEFT JOIN comparison c ON c.job = j.id "

static int each_job(struct stmt *s, view_job_fn *each, void *arg, struct fw_err *err)
{
	int result, n = 0;
	struct view_job row = { 0 };
	for (; (result = stmt_next(s, err, row.id, row.comparison, row.repo, row.branch, row.target, row.subject, row.base,
			row.base_how, COLUMN_NAMED(row.kind, jobkind_from_name), row.suite, row.device_kind, row.cells_glob,
			row.origin, COLUMN_NAMED(row.state, jobstate_from_name), row.state_why, row.progress, row.device,
			COLUMN_NAMED(row.verdict, verdict_from_name), row.quick, row.priority, row.attempt, row.queued_at,
			row.started_at, row.ended_at, row.base_provider, row.target_provider, row.base_name, row.target_name,
			row.again_at, row.again_of, row.base_config, row.target_config, row.base_toolchain, row.target_toolchain,
			row.base_flags, row.target_flags)) == 1;
		n++)
		each(arg, &row);
	return result < 0 ? -1 : n;
}

int view_jobs(struct db *db, const char *state, int64_t before, int limit, view_job_fn *each, void *arg, struct fw_err *err)
{
	bool open = store_page_given(state) && strcmp(state, "open") == 0;
	struct stmt *s;
	if (open)
		s = db_stmt(db,
			JOB_SELECT "WHERE j.state IN ('queued', 'assigned', 'building', 'checking', 'measuring') AND j.id < "
				   ":before ORDER BY j.id DESC LIMIT :limit",
			err);
	else if (store_page_given(state))
		s = db_stmt(db, JOB_SELECT "WHERE j.state = :state AND j.id < :before ORDER BY j.id DESC LIMIT :limit", err);
	else
		s = db_stmt(db, JOB_SELECT "WHERE j.id < :before ORDER BY j.id DESC LIMIT :limit", err);
	if (store_page_given(state) && !open)
		s = stmt_bind(s, err, "state=%s", state);
	s = stmt_bind(s, err, "before=%ld limit=%d", store_page_before(before), store_page_size(limit, VIEW_ROWS_MAX));
	return each_job(s, each, arg, err) < 0 ? -1 : 0;
}

int view_running(struct db *db, int limit, view_job_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		JOB_SELECT "WHERE j.state IN ('assigned', 'building', 'checking', 'measuring') ORDER BY j.id DESC LIMIT :limit",
		"limit=%d", store_page_size(limit, VIEW_ROWS_MAX));
	return each_job(s, each, arg, err) < 0 ? -1 : 0;
}

int view_jobs_ended(struct db *db, int64_t since, int limit, view_job_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, JOB_SELECT "WHERE j.ended_at >= :since ORDER BY j.ended_at DESC LIMIT :limit",
		"since=%ld limit=%d", since, store_page_size(limit, VIEW_ROWS_MAX));
	return each_job(s, each, arg, err) < 0 ? -1 : 0;
}

int view_waiting(struct db *db, int limit, view_job_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		JOB_SELECT
		"JOIN (SELECT w.id AS id, row_number() OVER (ORDER BY w.priority DESC, min(2 * w.aged - 1 + w.odd, 2 "
		"* w.fresh - w.odd), w.served, w.id) AS position FROM (SELECT j.id, j.priority, mine.jobs_started % 2 AS odd, (SELECT "
		"max(started_at) FROM job AS served WHERE served.repo = j.repo) AS served, row_number() OVER (PARTITION BY "
		"j.repo, j.priority ORDER BY max(j.queued_at, coalesce(" STORE_JOB_BRANCH_SERVED ", 0)), j.id) AS aged, "
		"row_number() OVER (PARTITION BY j.repo, j.priority ORDER BY coalesce(" STORE_JOB_BRANCH_SERVED
		", 0) >= j.queued_at, j.id DESC) AS fresh FROM job AS j JOIN repo AS mine ON mine.id = j.repo WHERE j.state = "
		"'queued') w ORDER BY position LIMIT :limit) t ON t.id = j.id ORDER BY t.position",
		"limit=%d", store_page_size(limit, VIEW_ROWS_MAX));
	return each_job(s, each, arg, err) < 0 ? -1 : 0;
}

int view_jobs_of(struct db *db, int64_t repo, const char *target, int limit, view_job_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s =
		db_query(db, err, JOB_SELECT "WHERE j.repo = :repo AND j.target_sha = :target ORDER BY j.id DESC LIMIT :limit",
			"repo=%ld target=%s limit=%d", repo, target, store_page_size(limit, VIEW_ROWS_MAX));
	return each_job(s, each, arg, err) < 0 ? -1 : 0;
}

int view_job(struct db *db, int64_t id, view_job_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, JOB_SELECT "WHERE j.id = :id", "id=%ld", id);
	return store_page_require_row(each_job(s, each, arg, err), "job", id, err);
}

int view_log(struct db *db, int64_t job, int64_t after, int limit, view_log_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s =
		db_query(db, err, "SELECT id, at, line FROM job_log WHERE job = :job AND id > :after ORDER BY id LIMIT :limit",
			"job=%ld after=%ld limit=%d", job, after, store_page_size(limit, VIEW_HISTORY_MAX));
	int64_t id, at;
	const char *line;
	return stmt_each(s, err, each(arg, id, at, line), id, at, line);
}

/* ---- devices, events, counts ----------------------------------------------------------------------------------------- */

int view_devices(struct db *db, view_device_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT d.id, d.seen_at, d.uuid, d.kind, d.name, d.state, d.state_why, d.driver, d.toolkit, d.info, d.cudnn, "
		"(SELECT j.id FROM job j WHERE j.state IN ('assigned', 'building', 'checking', 'measuring') AND j.device = d.id "
		"LIMIT 1), d.class, c.model, d.outlier FROM device d JOIN device_class c ON c.id = d.class ORDER BY d.kind, "
		"d.name, d.uuid",
		err);
	struct view_device row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.id, row.seen_at, row.uuid, row.kind, row.name,
		COLUMN_NAMED(row.state, devicestate_from_name), row.state_why, row.driver, row.toolkit, row.info_json, row.cudnn,
		row.job, row.class, row.model, row.outlier);
}

int view_events(struct db *db, int64_t after, int limit, view_event_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT id, at, kind, payload FROM event WHERE id > :after ORDER BY id LIMIT :limit",
		"after=%ld limit=%d", after, store_page_size(limit, VIEW_ROWS_MAX));
	int64_t id, at;
	const char *kind, *payload_json;
	return stmt_each(s, err, each(arg, id, at, kind, payload_json), id, at, kind, payload_json);
}

int view_event_ends(struct db *db, int64_t *first, int64_t *last, struct fw_err *err)
{
	struct stmt *s =
		db_stmt(db, "SELECT coalesce((SELECT min(id) FROM event), 0), coalesce((SELECT max(id) FROM event), 0)", err);
	return stmt_first(s, err, *first, *last) == 1 ? 0 : -1;
}

/** Rows of (label, count) under one name. */
static int count_rows(struct stmt *s, const char *what, view_count_fn *each, void *arg, struct fw_err *err)
{
	int result;
	while ((result = stmt_step(s, err)) == 1)
		each(arg, what, row_text(s, 0), row_int(s, 1));
	return result;
}

/* The states are listed, so that a state without rows has count 0. */
#define COUNTED(what, words)                                                                                                     \
	"WITH w(word) AS (VALUES " words ") SELECT word, coalesce((SELECT n FROM counted WHERE what = '" what                    \
	"' AND label = word), 0) FROM w"

int view_counts(struct db *db, view_count_fn *each, void *arg, struct fw_err *err)
{
	if (count_rows(
		    db_stmt(db,
			    COUNTED("jobs",
				    "('queued'), ('assigned'), ('building'), ('checking'), ('measuring'), ('done'), ('failed'), "
				    "('cancelled'), ('superseded'), ('target_missing')"),
			    err),
		    "jobs", each, arg, err) ||
		count_rows(db_stmt(db,
				   COUNTED("comparisons",
					   "('failed'), ('rejected'), ('regression'), ('undecided'), ('not_comparable'), "
					   "('improvement'), ('unchanged'), ('identical'), ('removed'), ('added'), "
					   "('unsupported')"),
				   err),
			"comparisons", each, arg, err) ||
		count_rows(db_stmt(db, COUNTED("alerts", "('open'), ('acknowledged'), ('accepted'), ('resolved'), ('invalid')"),
				   err),
			"alerts", each, arg, err) ||
		count_rows(db_stmt(db, COUNTED("notifications", "('waiting'), ('sent'), ('failed'), ('superseded')"), err),
			"notifications", each, arg, err))
		return -1;
	if (count_rows(db_stmt(db, "SELECT state, count(*) FROM repo GROUP BY state", err), "repos", each, arg, err))
		return -1;
	return count_rows(db_stmt(db, "SELECT state, count(*) FROM device GROUP BY state", err), "devices", each, arg, err);
}
