/* plan_news.c - compares what two manifests name, and keeps one alert while no plan can be made. */
#include "flopwatchd/planning/plan_news.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "flopwatchd/alert/alert.h"
#include "flopwatchd/alert/alert_cells.h"

enum { ENDS_MAX = 16 };

/* Alerts of the branch that a commit may end: none of them was told by a job that came later. */
#define OPEN_BEFORE                                                                                                              \
	"a.repo = :repo AND a.branch = :branch AND a.state IN ('open', 'acknowledged') AND a.target_sha <> :target AND "         \
	"NOT EXISTS (SELECT 1 FROM job j WHERE j.repo = a.repo AND j.target_sha = a.target_sha AND j.id > :job) "

/** 1, 0, -1. */
static int is_news(const struct config *config, const struct store_job *job, struct fw_err *err)
{
	char upstream[1024];
	int at = config_repo_find(config, job->repo_name);
	bool is_change = !job->kind[0] || strcmp(job->kind, "change") == 0 || strcmp(job->kind, "selfcheck") == 0;
	if (at < 0 || !job->branch[0] || !is_change || job->quick || job->cells_glob[0])
		return 0;
	if (gitread_encode(config->repo[at].upstream, upstream, sizeof upstream, err) != 0)
		return -1;
	return strcmp(upstream, job->branch) == 0;
}

static struct store_alert alert_of(const struct store_job *job, const char *kind, const char *title)
{
	struct store_alert a = { .repo = job->repo, .kind = kind, .title = title, .cells_json = "[]", .worst_pct = NAN };
	snprintf(a.branch, sizeof a.branch, "%s", job->branch);
	snprintf(a.target_sha, sizeof a.target_sha, "%s", job->target_sha);
	return a;
}

static void bind(struct stmt *s, const struct store_job *job)
{
	stmt_int(s, ":repo", job->repo);
	stmt_text(s, ":branch", job->branch);
	stmt_text(s, ":target", job->target_sha);
	stmt_int(s, ":job", job->id);
}

/** End what `s` finds. */
static int end_all(struct db *db, const struct config *config, struct stmt *s, const struct store_job *job, const char *why,
	int64_t now_ms, struct fw_err *err)
{
	int64_t ids[ENDS_MAX];
	int n = 0, r;
	bind(s, job);
	while ((r = stmt_step(s, err)) == 1)
		if (n < ENDS_MAX)
			ids[n++] = row_int(s, 0);
	for (int i = 0; r == 0 && i < n; i++)
		r = alert_resolve(db, config, ids[i], 0, why, now_ms, err);
	return r;
}

/* ---- no plan --------------------------------------------------------------------------------------------------------- */

/** Whether an alert says already that the branch cannot be measured. 1, 0, -1. */
static int is_told(struct db *db, const struct store_job *job, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT 1 FROM alert WHERE repo = :repo AND branch = :branch AND target_sha <> :target AND kind = 'broken' AND "
		"comparison IS NULL AND state IN ('open', 'acknowledged', 'accepted') AND :job > 0 LIMIT 1",
		err);
	if (!s)
		return -1;
	bind(s, job);
	int r = stmt_step(s, err);
	stmt_reset(s);
	return r;
}

static int tell_no_plan(struct db *db, const struct config *config, const struct store_job *job, const char *why, int64_t now_ms,
	struct fw_err *err)
{
	char title[1100];
	bool is_new;
	int told = is_told(db, job, err);
	if (told)
		return told < 0 ? -1 : 0;
	snprintf(title, sizeof title, "cannot be measured: %s", why);
	struct store_alert a = alert_of(job, "broken", title);
	return alert_open(db, config, &a, now_ms, &is_new, err);
}

static int end_no_plan(
	struct db *db, const struct config *config, const struct store_job *job, int64_t now_ms, struct fw_err *err)
{
	char why[96];
	struct stmt *s = db_stmt(db,
		"SELECT a.id FROM alert a WHERE " OPEN_BEFORE "AND a.kind = 'broken' AND a.comparison IS NULL AND a.cells = '[]'",
		err);
	snprintf(why, sizeof why, "commit %.12s can be measured", job->target_sha);
	return s ? end_all(db, config, s, job, why, now_ms, err) : -1;
}

/* ---- suites ---------------------------------------------------------------------------------------------------------- */

static bool names(const struct resolve_suites *s, const char *name)
{
	for (int i = 0; i < s->n; i++)
		if (strcmp(s->name[i], name) == 0)
			return true;
	return false;
}

/** The cells that the branch's last comparison with this suite had, unless an older commit's alert tells of them. */
static int gather(struct db *db, const struct store_job *job, const char *suite, struct alert_cells *out, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT k.key, k.comparison FROM cell k WHERE k.comparison = (SELECT p.id FROM comparison p JOIN suite t ON "
		"t.id = p.suite JOIN job j ON j.id = p.job WHERE p.repo = :repo AND p.branch = :branch AND t.name = :suite AND "
		"p.kind IN ('change', 'selfcheck') AND j.quick = 0 AND NOT j.some_cells AND p.target_sha <> :target AND "
		"p.job <> :job ORDER BY p.id DESC LIMIT 1) ORDER BY k.n",
		err);
	if (!s)
		return -1;
	bind(s, job);
	stmt_text(s, ":suite", suite);
	int r;
	while ((r = stmt_step(s, err)) == 1) {
		int known =
			store_alert_covers(db, job->repo, job->branch, "vanished", suite, row_text(s, 0), job->target_sha, err);
		if (known < 0)
			break;
		if (!known)
			alert_cells_add_lost(out, suite, row_text(s, 0), row_int(s, 1));
	}
	stmt_reset(s);
	return r ? -1 : 0;
}

static int tell_lost(struct db *db, const struct config *config, const struct store_job *job, const char *suite, int64_t now_ms,
	struct fw_err *err)
{
	struct alert_cells gone;
	char title[256];
	bool is_new;
	alert_cells_init(&gone);
	int rc = gather(db, job, suite, &gone, err);
	if (rc == 0 && gone.n) {
		snprintf(title, sizeof title,
			"suite %.64s is gone: .flopwatch.yaml does not name it any more, so %d cell%s measured", suite, gone.n,
			gone.n == 1 ? " is not" : "s are not");
		struct store_alert a = alert_of(job, "vanished", title);
		rc = alert_cells_end(&gone, &a.cells_json, &a.groups_json, err) ||
				     alert_open(db, config, &a, now_ms, &is_new, err)
			     ? -1
			     : 0;
	}
	alert_cells_fini(&gone);
	return rc;
}

/** Alerts about whole suites, all of which the commit names. */
static int end_lost(struct db *db, const struct config *config, const struct store_job *job, const struct resolve_suites *after,
	int64_t now_ms, struct fw_err *err)
{
	char why[96];
	struct buf suites;
	struct jsonw j;
	buf_init(&suites, 1 << 12);
	jsonw_init(&j, &suites);
	jsonw_array(&j);
	for (int i = 0; i < after->n; i++)
		jsonw_string(&j, after->name[i]);
	jsonw_array_end(&j);
	struct stmt *s = db_stmt(db,
		"SELECT a.id FROM alert a WHERE " OPEN_BEFORE
		"AND a.kind = 'vanished' AND a.cells <> '[]' AND NOT EXISTS (SELECT 1 "
		"FROM json_each(a.cells) w WHERE w.value ->> 'comparison' IS NULL OR w.value ->> 'suite' NOT IN (SELECT value "
		"FROM "
		"json_each(:suites)))",
		err);
	if (s)
		stmt_text(s, ":suites", suites.data);
	snprintf(why, sizeof why, "commit %.12s names what was gone", job->target_sha);
	int rc = s ? end_all(db, config, s, job, why, now_ms, err) : -1;
	buf_fini(&suites);
	return rc;
}

int plan_news(struct db *db, const struct config *config, const struct store_job *job, const struct resolve_answer *a,
	int64_t now_ms, struct fw_err *err)
{
	int news = is_news(config, job, err);
	bool is_failed = strcmp(a->state, "failed") == 0;
	if (news < 1 || (a->state[0] && !is_failed))
		return news < 0 ? -1 : 0;
	for (int i = 0; i < a->before.n; i++) {
		const char *name = a->before.name[i];
		/* the first job of a commit tells of all, another one of its own */
		if (names(&a->after, name) || (job->suite[0] && strcmp(job->suite, name) != 0))
			continue;
		if (tell_lost(db, config, job, name, now_ms, err) != 0)
			return -1;
	}
	if (is_failed)
		return tell_no_plan(db, config, job, a->why, now_ms, err);
	return end_no_plan(db, config, job, now_ms, err) || end_lost(db, config, job, &a->after, now_ms, err) ? -1 : 0;
}
