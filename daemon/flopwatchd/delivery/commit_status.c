/* commit_status.c - see commit_status.h. */
#include "flopwatchd/delivery/commit_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flopwatchd/delivery/status_sum.h"
#include "flopwatchd/delivery/status_word.h"

enum { ENDED_MAX = 4096 }; /* as many as may wait, and more */

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

/* The word on one suite, where it has a name by now, and what all of them say together. */
static int owe(struct db *db, const struct config_repo *repo, int64_t repo_id, const struct status_word *word, int64_t now_ms,
	struct fw_err *err)
{
	if (word->suite[0] && status_word_owe(db, repo->name, word, now_ms, err) != 0)
		return -1;
	return status_sum_owe(db, repo_id, repo->name, word->sha, now_ms, err);
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
		bool says_why = why[0] && strcmp(words[i].state, "running") != 0;
		snprintf(text, sizeof text, "%s%s%s", words[i].text, says_why ? ": " : "", says_why ? why : "");
		snprintf(page, sizeof page, "/jobs/%lld", (long long)job->id);
		struct status_word word = { job->target_sha, suite, words[i].state, text, page };
		return owe(db, repo, job->repo, &word, now_ms, err);
	}
	return 0;
}

/* A job that ended beside the one that the transaction is about. */
struct ended {
	int64_t id, repo;
	char repo_name[128], sha[65], suite[64], state[16], why[512];
};

/** Up to ENDED_MAX. Returns how many, -1. */
static int read_ended(struct stmt *s, struct ended *out, struct fw_err *err)
{
	int n = 0, r;
	while ((r = stmt_step(s, err)) == 1 && n < ENDED_MAX) {
		struct ended *e = &out[n++];
		e->id = row_int(s, 0);
		e->repo = row_int(s, 1);
		row_copy(s, 2, e->repo_name, sizeof e->repo_name);
		row_copy(s, 3, e->sha, sizeof e->sha);
		row_copy(s, 4, e->suite, sizeof e->suite);
		row_copy(s, 5, e->state, sizeof e->state);
		row_copy(s, 6, e->why, sizeof e->why);
	}
	if (r == 1)
		stmt_reset(s);
	return r < 0 ? -1 : n;
}

int status_ended(struct db *db, const struct config *config, const struct config_repo *only, int64_t now_ms, struct fw_err *err)
{
	if (only && !only->status.kind[0])
		return 0;
	struct ended *ended = calloc(ENDED_MAX, sizeof *ended);
	struct stmt *s = db_stmt(db,
		"SELECT o.id, o.repo, r.name, o.target_sha, o.suite, o.state, o.state_why FROM job o JOIN repo r ON r.id = "
		"o.repo "
		"WHERE o.ended_at = :now AND +o.state IN ('superseded', 'failed', 'gone') AND :repo IN ('', r.name) AND o.branch "
		"<> '' "
		"AND "
		"o.id IN (SELECT id FROM job WHERE ended_at = :now AND " STORE_JOB_COUNTS ") ORDER BY o.id DESC",
		err);
	int n = -1, rc;
	if (s && ended) {
		stmt_int(s, ":now", now_ms);
		stmt_text(s, ":repo", only ? only->name : "");
		n = read_ended(s, ended, err);
	} else if (s) {
		err_set(err, ERR_FULL, "out of memory for statuses");
	}
	rc = n < 0 ? -1 : 0;
	for (int i = 0; i < n && rc == 0; i++) {
		const struct config_repo *repo = only ? only : repo_of(config, ended[i].repo_name);
		char text[640], page[40];
		bool newer = strncmp(ended[i].why, "superseded by job ", 18) == 0;
		snprintf(page, sizeof page, "/jobs/%lld", (long long)ended[i].id);
		snprintf(text, sizeof text, "not measured: %s", newer ? "a newer push took its place" : ended[i].why);
		struct status_word word = { ended[i].sha, ended[i].suite,
			strcmp(ended[i].state, "failed") == 0 ? "error" : "cancelled", text, page };
		if (repo)
			rc = owe(db, repo, ended[i].repo, &word, now_ms, err);
	}
	free(ended);
	return rc;
}

/* ---- verdicts -------------------------------------------------------------------------------------------------------- */

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
	struct status_word word = { c->target_sha, job->suite, status_word_of(c->verdict), text, page };
	return owe(db, repo, job->repo, &word, now_ms, err);
}
