/* plan_alerts.c - alerts for removed suites and failed plans. */
#include "flopwatchd/plan/plan.h"

#include <math.h>
#include <stdio.h>

#include "flopwatchd/alert/alert.h"

/** True for a push to the upstream branch. Returns 1, 0, -1. */
static int has_plan_alerts(const struct config *config, const struct store_job *job, struct fw_err *err)
{
	char upstream[1024];
	int at = config_repo_find(config, job->repo_name);
	bool is_change = job->kind == JOBKIND_COMPARE || job->kind == JOBKIND_SELFCHECK;
	if (at < 0 || !job->branch[0] || !is_change || job->quick || job->cells_glob[0] || job->shard)
		return 0;
	if (gitread_encode(config->repo[at].upstream, upstream, sizeof upstream, err) != 0)
		return -1;
	return strcmp(upstream, job->branch) == 0;
}

static struct store_alert make_alert(const struct store_job *job, enum alertkind kind, const char *title)
{
	struct store_alert a = { .repo = job->repo, .kind = kind, .title = title, .cells_json = "[]", .worst_pct = NAN };
	snprintf(a.branch, sizeof a.branch, "%s", job->branch);
	snprintf(a.target_sha, sizeof a.target_sha, "%s", job->target_sha);
	return a;
}

/** `rc`: result of the query for the ids. */
static int resolve_all(struct db *db, const struct config *config, int rc, const int64_t *ids, int n, const char *why,
	int64_t now_ms, struct fw_err *err)
{
	for (int i = 0; rc == 0 && i < n; i++)
		rc = alert_resolve(db, config, ids[i], 0, why, now_ms, err);
	return rc;
}

static int open_no_plan(struct db *db, const struct config *config, const struct store_job *job, const char *why, int64_t now_ms,
	struct fw_err *err)
{
	char title[1100];
	bool is_new;
	int reported = find_missing_is_reported(db, job, err);
	if (reported)
		return reported < 0 ? -1 : 0;
	snprintf(title, sizeof title, "cannot be measured: %s", why);
	struct store_alert a = make_alert(job, ALERTKIND_FAILING, title);
	return alert_open(db, config, &a, now_ms, &is_new, err);
}

static int resolve_no_plan(
	struct db *db, const struct config *config, const struct store_job *job, int64_t now_ms, struct fw_err *err)
{
	int64_t ids[FIND_MISSING_MAX];
	char why[96];
	int n, result = find_missing_no_plan_alerts(db, job, ids, &n, err);
	snprintf(why, sizeof why, "commit %.12s can be measured", job->target_sha);
	return resolve_all(db, config, result, ids, n, why, now_ms, err);
}

static bool has_name(const struct resolve_suites *s, const char *name)
{
	for (int i = 0; i < s->n; i++)
		if (strcmp(s->name[i], name) == 0)
			return true;
	return false;
}

struct collection {
	struct db *db;
	const struct store_job *job;
	const char *suite;
	struct alert_cells *out;
	struct fw_err *err;
	int rc;
};

static void add_unknown(void *arg, const char *key, int64_t comparison)
{
	struct collection *g = arg;
	const struct store_job *job = g->job;
	int known = g->rc ? 1
			  : store_alert_covers(
				    g->db, job->repo, job->branch, ALERTKIND_MISSING, g->suite, key, job->target_sha, g->err);
	if (known < 0)
		g->rc = -1;
	else if (!known)
		alert_cells_add_missing(g->out, g->suite, key, comparison);
}

/** Collect the measured cells of the suite, unless an alert of an older commit lists them. */
static int collect_cells(
	struct db *db, const struct store_job *job, const char *suite, struct alert_cells *out, struct fw_err *err)
{
	struct collection g = { db, job, suite, out, err, 0 };
	return missing_cells_of_suite(db, job, suite, add_unknown, &g, err) || g.rc ? -1 : 0;
}

static int open_lost(struct db *db, const struct config *config, const struct store_job *job, const char *suite, int64_t now_ms,
	struct fw_err *err)
{
	struct alert_cells gone;
	char title[256];
	bool is_new;
	alert_cells_init(&gone);
	int result = collect_cells(db, job, suite, &gone, err);
	if (result == 0 && gone.n) {
		snprintf(title, sizeof title,
			"suite %.64s was removed: .flopwatch.yaml no longer names it, so %d cell%s measured", suite, gone.n,
			gone.n == 1 ? " is not" : "s are not");
		struct store_alert a = make_alert(job, ALERTKIND_MISSING, title);
		result = alert_cells_end(&gone, &a.cells_json, &a.groups_json, err) ||
					 alert_open(db, config, &a, now_ms, &is_new, err)
				 ? -1
				 : 0;
	}
	alert_cells_fini(&gone);
	return result;
}

static int resolve_lost(struct db *db, const struct config *config, const struct store_job *job,
	const struct resolve_suites *after, int64_t now_ms, struct fw_err *err)
{
	int64_t ids[FIND_MISSING_MAX];
	char why[96];
	struct buf suites;
	struct jsonw j;
	buf_init(&suites, 1 << 12);
	jsonw_init(&j, &suites);
	jsonw_array(&j);
	for (int i = 0; i < after->n; i++)
		jsonw_string(&j, after->name[i]);
	jsonw_array_end(&j);
	int n, rc = find_missing_suite_alerts(db, job, suites.data, ids, &n, err);
	snprintf(why, sizeof why, "commit %.12s names the suite again", job->target_sha);
	rc = resolve_all(db, config, rc, ids, n, why, now_ms, err);
	buf_fini(&suites);
	return rc;
}

int plan_alerts(struct db *db, const struct config *config, const struct store_job *job, const struct resolve_answer *a,
	int64_t now_ms, struct fw_err *err)
{
	int alert_update = has_plan_alerts(config, job, err);
	bool is_failed = a->state == JOBSTATE_FAILED;
	if (alert_update < 1 || (a->state != JOBSTATE_N && !is_failed))
		return alert_update < 0 ? -1 : 0;
	for (int i = 0; i < a->before.n; i++) {
		const char *name = a->before.name[i];
		/* the first job of a commit covers all suites, any other only its own */
		if (has_name(&a->after, name) || (job->suite[0] && strcmp(job->suite, name) != 0))
			continue;
		if (open_lost(db, config, job, name, now_ms, err) != 0)
			return -1;
	}
	if (is_failed)
		return open_no_plan(db, config, job, a->why, now_ms, err);
	return resolve_no_plan(db, config, job, now_ms, err) || resolve_lost(db, config, job, &a->after, now_ms, err) ? -1 : 0;
}
