/* status.c - see status.h. */
#include "status.h"

#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "db/store_outbox.h"

enum { PAYLOAD_MAX = 64 << 10, SUPERSEDED_MAX = 64 };

/* One word: about which commit, in which context, and where people read on. */
struct say {
	const char *sha, *suite, *state, *description;
	const char *page; /* "/jobs/7" */
};

bool status_is_told(const struct store_job *job)
{
	return (!strcmp(job->kind, "change") || !strcmp(job->kind, "selfcheck")) && !job->quick && !job->cells_glob[0] &&
	       job->branch[0];
}

static const struct config_repo *repo_of(const struct config *config, const char *name)
{
	int at = config ? config_repo_find(config, name) : -1;
	return at >= 0 && config->repo[at].status.kind[0] ? &config->repo[at] : NULL;
}

static int owe(struct db *db, const char *repo, const struct say *say, int64_t now_ms, struct fw_err *err)
{
	char context[80], subject[160];
	struct buf text;
	struct jsonw j;
	snprintf(context, sizeof context, "flopwatch%s%.64s", say->suite[0] ? "/" : "", say->suite);
	snprintf(subject, sizeof subject, "%.64s %s", say->sha, context);
	buf_init(&text, PAYLOAD_MAX);
	jsonw_init(&j, &text);
	jsonw_object(&j);
	jsonw_kv_string(&j, "sha", say->sha);
	jsonw_kv_string(&j, "state", say->state);
	jsonw_kv_string(&j, "context", context);
	jsonw_kv_string(&j, "description", say->description);
	jsonw_kv_string(&j, "page", say->page);
	jsonw_object_end(&j);
	int rc = text.failed ? err_set(err, ERR_FULL, "the status of commit %.12s does not fit", say->sha)
			     : store_outbox_replace(db, "status", repo, subject, text.data, now_ms, err);
	buf_fini(&text);
	return rc;
}

int status_job(struct db *db, const struct config *config, const struct store_job *job, const char *suite, const char *state,
	const char *why, int64_t now_ms, struct fw_err *err)
{
	static const struct {
		const char *job, *state, *text;
	} words[] = {
		{ "queued", "pending", "waits to be measured" },
		{ "building", "running", "is being measured" },
		{ "checking", "running", "is being measured" },
		{ "measuring", "running", "is being measured" },
		{ "failed", "error", "not measured" },
		{ "cancelled", "cancelled", "cancelled" },
		{ "superseded", "cancelled", "not measured" },
	};
	const struct config_repo *repo = repo_of(config, job->repo_name);
	char text[640], page[40];
	if (!suite)
		suite = job->suite;
	if (!repo || !status_is_told(job))
		return 0;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strcmp(words[i].job, state) != 0)
			continue;
		bool unseen = !suite[0] && strcmp(state, "failed") != 0; /* nothing was said of it yet: leave it so */
		bool says_why = why[0] && strcmp(words[i].state, "running") != 0;
		snprintf(text, sizeof text, "%s%s%s", words[i].text, says_why ? ": " : "", says_why ? why : "");
		snprintf(page, sizeof page, "/jobs/%lld", (long long)job->id);
		return unseen ? 0
			      : owe(db, repo->name, &(struct say){ job->target_sha, suite, words[i].state, text, page }, now_ms,
					err);
	}
	return 0;
}

int status_superseded(struct db *db, const struct config_repo *repo, int64_t newer, int64_t now_ms, struct fw_err *err)
{
	struct {
		int64_t id;
		char sha[65], suite[64];
	} old[SUPERSEDED_MAX];
	int n = 0, r;
	if (!repo->status.kind[0])
		return 0;
	struct stmt *s = db_stmt(db,
		"SELECT o.id, o.target_sha, o.suite FROM job o JOIN job n ON n.id = :newer WHERE o.repo = n.repo AND o.branch = "
		"n.branch AND o.state = 'superseded' AND o.state_why = 'superseded by job ' || :newer AND o.suite <> '' AND "
		"o.kind IN ('change', 'selfcheck') AND NOT o.quick AND o.cells_glob = '' ORDER BY o.id DESC",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":newer", newer);
	while ((r = stmt_step(s, err)) == 1 && n < SUPERSEDED_MAX) {
		old[n].id = row_int(s, 0);
		row_copy(s, 1, old[n].sha, sizeof old[n].sha);
		row_copy(s, 2, old[n].suite, sizeof old[n].suite);
		n++;
	}
	if (r == 1)
		stmt_reset(s);
	for (int i = 0; i < n && r >= 0; i++) {
		char page[40];
		snprintf(page, sizeof page, "/jobs/%lld", (long long)old[i].id);
		struct say say = { old[i].sha, old[i].suite, "cancelled", "not measured: a newer push took its place", page };
		r = owe(db, repo->name, &say, now_ms, err);
	}
	return r < 0 ? -1 : 0;
}

/* ---- verdicts -------------------------------------------------------------------------------------------------------- */

static const char *state_of(enum verdict v)
{
	switch (v) {
	case VERDICT_REGRESSION:
	case VERDICT_FAILED:
		return "failure";
	case VERDICT_REJECTED:
		return "error";
	case VERDICT_UNDECIDED:
	case VERDICT_NOT_COMPARABLE:
	case VERDICT_REMOVED: /* and nothing else: see core/verdict.h */
	case VERDICT_ADDED:
	case VERDICT_UNSUPPORTED:
		return "neutral";
	default:
		return "success";
	}
}

/* "regression: 4 of 20 cells, worst -2.26 % in attention/.../forward"; of an improvement the best. */
static int describe(struct db *db, const struct store_comparison *c, char *text, size_t size, struct fw_err *err)
{
	const char *verdict = verdict_name(c->verdict);
	struct stmt *s = db_stmt(db,
		"SELECT (SELECT count(*) FROM cell WHERE comparison = :id), count(*) OVER (), decided_pct, key, reason FROM cell "
		"WHERE comparison = :id AND verdict = :verdict ORDER BY iif(verdict = 'improvement', -decided_pct, decided_pct), "
		"n "
		"LIMIT 1",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":id", c->id);
	stmt_text(s, ":verdict", verdict);
	int r = stmt_step(s, err);
	snprintf(text, size, "%s", verdict);
	if (r != 1)
		return r;
	long long all = row_int(s, 0), n = row_int(s, 1);
	int len = snprintf(text, size, "%s: %lld of %lld cells", verdict, n, all);
	if (c->verdict == VERDICT_IDENTICAL)
		snprintf(text, size, "identical: nothing that is measured changed");
	else if (c->verdict == VERDICT_REGRESSION || c->verdict == VERDICT_IMPROVEMENT)
		snprintf(text + len, size - (size_t)len, ", %s %+.2f %% in %s",
			c->verdict == VERDICT_REGRESSION ? "worst" : "best", row_double(s, 2), row_text(s, 3));
	else if (row_text(s, 4)[0])
		snprintf(text + len, size - (size_t)len, ": %s", row_text(s, 4));
	stmt_reset(s);
	return 0;
}

int status_verdict(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err)
{
	const struct config_repo *repo = repo_of(config, job->repo_name);
	char text[900] = "", page[40];
	if (!repo || !status_is_told(job))
		return 0;
	if (describe(db, c, text, sizeof text, err))
		return -1;
	snprintf(page, sizeof page, "/comparisons/%lld", (long long)c->id);
	struct say say = { c->target_sha, job->suite, state_of(c->verdict), text, page };
	return owe(db, repo->name, &say, now_ms, err);
}
