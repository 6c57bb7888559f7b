/* trend_place.c - every question is a job that knows its change point, every answer an update of that row. */
#include "trend_place.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alert.h"
#include "base/jsonw.h"
#include "core/stats.h"
#include "trend_name.h"

enum { PRIORITY_VERIFY = -2, PRIORITY_BACKFILL = -10, PAIRS = 3, MESSAGE_MAX = 1 << 16 };

/* ---- questions ------------------------------------------------------------------------------------------------------- */

/** The device of an epoch, as jobs name it. Shape: uuid[64]. */
static int device_of(struct db *db, int64_t environment, char *uuid, struct fw_err *err)
{
	struct stmt *s =
		db_stmt(db, "SELECT d.uuid FROM environment e JOIN device d ON d.id = e.device WHERE e.id = :environment", err);
	if (!s)
		return -1;
	stmt_int(s, ":environment", environment);
	int r = stmt_step(s, err);
	if (r == 1)
		row_copy(s, 0, uuid, 64);
	stmt_reset(s);
	return r < 0 ? -1 : 0;
}

int trend_enqueue(const struct trend *t, const struct store_epoch *e, struct store_job *job, const char *why, struct fw_err *err)
{
	job->repo = e->repo;
	snprintf(job->suite, sizeof(job->suite), "%s", e->suite);
	snprintf(job->base_how, sizeof(job->base_how), "given");
	return device_of(t->db, e->environment, job->device_uuid, err) || store_job_insert(t->db, job, t->now_ms, err) ||
			       store_job_log(t->db, job->id, t->now_ms, why, err)
		       ? -1
		       : 0;
}

/** Half the step is the threshold: on one side of it the commits are equal, on the other they differ as the series says. */
static int ask(const struct trend *t, const struct store_change *c, const struct store_epoch *e, const char *kind, int priority,
	const char *base, const char *target, const char *why, struct fw_err *err)
{
	struct store_job job = {
		.priority = priority, .change_point = c->id, .threshold_pct = -stats_change_pct(fabs(c->step) / 2)
	};
	snprintf(job.kind, sizeof(job.kind), "%s", kind);
	snprintf(job.origin, sizeof(job.origin), "%s", strcmp(kind, "verify") == 0 ? "trend" : "backfill");
	snprintf(job.base_sha, sizeof(job.base_sha), "%s", base);
	snprintf(job.target_sha, sizeof(job.target_sha), "%s", target);
	snprintf(job.cells_glob, sizeof(job.cells_glob), "%s", c->key);
	return trend_enqueue(t, e, &job, why, err);
}

/** The pair to compare in attempt `tried`: around the step, before it, after it. False: the series has none such. */
static bool choose_pair(const struct store_series *s, const struct store_change *c, int tried, int *first)
{
	static const int offset[PAIRS] = { -1, -2, 0 };
	for (int i = 0; i < s->n; i++)
		if (strcmp(s->point[i].sha, c->commit_sha) == 0) {
			*first = i + offset[tried];
			return *first >= 0 && *first + 1 < s->n;
		}
	return false;
}

static int drop(const struct trend *t, struct store_change *c, struct fw_err *err)
{
	snprintf(c->state, sizeof(c->state), "dropped");
	c->decided_at = t->now_ms;
	return store_series_count(t->db, c->epoch, c->key, &c->points, err) || store_change_update(t->db, c, err) ? -1 : 0;
}

int trend_verify(const struct trend *t, struct store_change *c, const struct store_epoch *e, struct fw_err *err)
{
	struct store_series s;
	char why[160];
	int first = 0;
	if (store_series(t->db, e, c->key, 0, &s, err))
		return -1;
	while (c->tried < PAIRS && !choose_pair(&s, c, c->tried, &first))
		c->tried++;
	if (c->tried == PAIRS)
		return drop(t, c, err);
	snprintf(why, sizeof(why), "queued: the history shows a step of %+.2f %% near %.12s", stats_change_pct(c->step),
		c->commit_sha);
	return store_change_update(t->db, c, err) ||
			       ask(t, c, e, "verify", PRIORITY_VERIFY, s.point[first].sha, s.point[first + 1].sha, why, err)
		       ? -1
		       : 0;
}

/* ---- placing --------------------------------------------------------------------------------------------------------- */

static int confirm(const struct trend *t, struct store_change *c, struct fw_err *err)
{
	snprintf(c->state, sizeof(c->state), "confirmed");
	c->decided_at = t->now_ms;
	return store_change_update(t->db, c, err) || trend_tell(t, c, err) ? -1 : 0;
}

/** Commits between the two levels that were never measured: the middle one next; none left: this is the place. */
static int place(const struct trend *t, struct store_change *c, const struct store_epoch *e, struct fw_err *err)
{
	int64_t before, commit;
	char middle[65], why[160];
	if (store_line_place(t->db, c->repo, c->before_sha, &before, err) ||
		store_line_place(t->db, c->repo, c->commit_sha, &commit, err))
		return -1;
	int found = before && commit ? store_line_unmeasured(t->db, c->repo, before, commit, middle, err) : 0;
	if (found < 1)
		return found < 0 ? -1 : confirm(t, c, err);
	snprintf(c->state, sizeof(c->state), "placing");
	snprintf(why, sizeof(why), "queued: a step lies between %.12s and %.12s, and this commit was skipped", c->before_sha,
		c->commit_sha);
	return store_change_update(t->db, c, err) || ask(t, c, e, "backfill", PRIORITY_BACKFILL, c->before_sha, middle, why, err)
		       ? -1
		       : 0;
}

/* ---- answers --------------------------------------------------------------------------------------------------------- */

/** The cell of the comparison that was asked about. 1, 0, -1. */
static int find_cell(struct db *db, int64_t comparison, const char *key, struct store_cell *out, struct fw_err *err)
{
	int r;
	out->n = -1;
	while ((r = store_cell_next(db, comparison, out->n, out, err)) == 1)
		if (strcmp(out->key, key) == 0)
			return 1;
	return r;
}

static bool shows_step(const struct store_change *c, const struct store_cell *cell)
{
	return cell->verdict == (c->step > 0 ? VERDICT_REGRESSION : VERDICT_IMPROVEMENT);
}

static int take_verify(const struct trend *t, struct store_change *c, const struct store_epoch *e,
	const struct store_comparison *by, const struct store_cell *cell, struct fw_err *err)
{
	if (!shows_step(c, cell)) {
		c->tried++;
		return trend_verify(t, c, e, err);
	}
	snprintf(c->before_sha, sizeof(c->before_sha), "%s", by->base_sha);
	snprintf(c->commit_sha, sizeof(c->commit_sha), "%s", by->target_sha);
	c->step = cell->m;
	c->comparison = by->id;
	return place(t, c, e, err);
}

static int take_backfill(const struct trend *t, struct store_change *c, const struct store_epoch *e,
	const struct store_comparison *by, const struct store_cell *cell, struct fw_err *err)
{
	if (shows_step(c, cell)) {
		snprintf(c->commit_sha, sizeof(c->commit_sha), "%s", by->target_sha);
		c->comparison = by->id;
	} else if (cell->verdict == VERDICT_UNCHANGED || cell->verdict == VERDICT_IDENTICAL) {
		snprintf(c->before_sha, sizeof(c->before_sha), "%s", by->target_sha);
	}
	return place(t, c, e, err);
}

int trend_answer(const struct trend *t, const struct store_job *job, const struct store_comparison *c, struct fw_err *err)
{
	struct store_change change;
	struct store_epoch epoch;
	struct store_cell cell;
	if (store_change_get(t->db, job->change_point, &change, err) || store_epoch_get(t->db, change.epoch, &epoch, err))
		return -1;
	int found = find_cell(t->db, c->id, change.key, &cell, err);
	if (found < 1)
		return found < 0 ? -1 : trend_go_on(t, &change, err);
	if (strcmp(change.state, "candidate") == 0)
		return take_verify(t, &change, &epoch, c, &cell, err);
	return strcmp(change.state, "placing") == 0 ? take_backfill(t, &change, &epoch, c, &cell, err) : 0;
}

int trend_go_on(const struct trend *t, struct store_change *c, struct fw_err *err)
{
	struct store_epoch epoch;
	if (store_epoch_get(t->db, c->epoch, &epoch, err))
		return -1;
	if (strcmp(c->state, "candidate") == 0) {
		c->tried++;
		return trend_verify(t, c, &epoch, err);
	}
	/* the commit in the middle cannot be measured, so the range stays as it is */
	return strcmp(c->state, "placing") == 0 ? confirm(t, c, err) : 0;
}

/* ---- telling --------------------------------------------------------------------------------------------------------- */

static int tell_event(const struct trend *t, const struct store_change *c, struct fw_err *err)
{
	struct buf text;
	struct jsonw j;
	buf_init(&text, MESSAGE_MAX);
	jsonw_init(&j, &text);
	jsonw_object(&j);
	jsonw_kv_string(&j, "event", "change_point.confirmed");
	jsonw_kv_int(&j, "change_point", c->id);
	jsonw_kv_string(&j, "kind", c->kind);
	jsonw_kv_string(&j, "cell", c->key);
	jsonw_kv_string(&j, "before", c->before_sha);
	jsonw_kv_string(&j, "commit", c->commit_sha);
	jsonw_kv_figure(&j, "change_pct", stats_change_pct(c->step));
	jsonw_object_end(&j);
	int rc = alert_deliver(t->db, NULL, "change_point.confirmed", &text, t->now_ms, err);
	buf_fini(&text);
	return rc;
}

/** The alert's cells with this one: those it has already (none: []), and this one unless it is among them. */
static int gather_cells(
	const struct trend *t, const struct store_change *c, const char *kind, struct buf *out, struct fw_err *err)
{
	struct stmt *s = db_stmt(t->db,
		"WITH had AS (SELECT coalesce((SELECT cells FROM alert WHERE repo = :repo AND target_sha = :target AND kind = "
		":kind AND state IN ('open', 'acknowledged')), '[]') AS cells) "
		"SELECT iif(EXISTS (SELECT 1 FROM json_each(cells) WHERE value ->> 'cell' = :key), cells, json_insert(cells, "
		"'$[#]', json_object('cell', :key, 'change_pct', :change, 'borderline', json('false')))) FROM had",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":repo", c->repo);
	stmt_text(s, ":target", c->commit_sha);
	stmt_text(s, ":kind", kind);
	stmt_text(s, ":key", c->key);
	stmt_double(s, ":change", stats_change_pct(c->step));
	int r = stmt_step(s, err);
	if (r == 1)
		buf_puts(out, row_text(s, 0));
	stmt_reset(s);
	return r < 0 ? -1 : out->failed ? err_set(err, ERR_FULL, "the alert's cells do not fit") : 0;
}

/** Upstream branch of a repository as jobs name it, and the worst change that its alert of this commit holds. */
static int read_around(const struct trend *t, const struct store_change *c, const char *kind, char branch[1024], double *worst,
	struct fw_err *err)
{
	struct stmt *s = db_stmt(t->db,
		"SELECT coalesce((SELECT b.name FROM branch_tip b WHERE b.repo = r.id AND b.display = r.upstream), r.upstream), "
		"(SELECT worst_pct FROM alert a WHERE a.repo = r.id AND a.target_sha = :target AND a.kind = :kind) "
		"FROM repo r WHERE r.id = :repo",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":repo", c->repo);
	stmt_text(s, ":target", c->commit_sha);
	stmt_text(s, ":kind", kind);
	int r = stmt_step(s, err);
	branch[0] = 0;
	*worst = NAN;
	if (r == 1) {
		row_copy(s, 0, branch, 1024);
		*worst = row_double(s, 1);
	}
	stmt_reset(s);
	return r < 0 ? -1 : 0;
}

static int raise_alert(const struct trend *t, const struct store_change *c, struct fw_err *err)
{
	bool is_creep = strcmp(c->kind, "creep") == 0, is_new;
	const char *kind = is_creep ? "creep" : "regression";
	struct store_alert a = { .repo = c->repo, .comparison = c->comparison, .kind = kind };
	double pct = stats_change_pct(c->step);
	char title[256];
	struct store_change told = *c; /* creep of several cells is one alert, at the commit where the first was seen */
	struct buf cells, culprits;
	if (is_creep && trend_name_open_creep(t, c->repo, told.commit_sha, err) < 0)
		return -1;
	buf_init(&cells, MESSAGE_MAX);
	buf_init(&culprits, MESSAGE_MAX);
	int rc = gather_cells(t, &told, kind, &cells, err) || read_around(t, &told, kind, a.branch, &a.worst_pct, err) ||
				 trend_name(t, c, &culprits, err)
			 ? -1
			 : 0;
	if (is_creep)
		snprintf(title, sizeof(title), "%.2f %% lost since the anchor %.12s, although no commit lost that much", -pct,
			c->before_sha);
	else
		snprintf(title, sizeof(title), "%.2f %% lost at %.12s, seen in the history", -pct, c->commit_sha);
	a.title = title;
	a.cells_json = cells.data;
	a.culprits_json = culprits.data;
	a.worst_pct = isfinite(a.worst_pct) ? fmin(a.worst_pct, pct) : pct;
	snprintf(a.target_sha, sizeof(a.target_sha), "%s", told.commit_sha);
	if (rc == 0)
		rc = alert_open(t->db, t->config, &a, t->now_ms, &is_new, err);
	buf_fini(&cells);
	buf_fini(&culprits);
	return rc;
}

int trend_tell(const struct trend *t, const struct store_change *c, struct fw_err *err)
{
	if (tell_event(t, c, err))
		return -1;
	return c->step > 0 ? raise_alert(t, c, err) : 0;
}
