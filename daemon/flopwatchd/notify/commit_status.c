#include "flopwatchd/notify/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "db/db.h"

enum { ENDED_MAX = 4096 }; /* above the limit of queued jobs */

bool status_is_reported(const struct store_job *job)
{
	return (job->kind == JOBKIND_COMPARE || job->kind == JOBKIND_SELFCHECK) && !job->quick && !job->cells_glob[0] &&
	       !job->part && job->branch[0];
}

static const struct config_repo *find_repo(const struct config *config, const char *name)
{
	int at = config ? config_repo_find(config, name) : -1;
	return at >= 0 && config->repo[at].status.kind[0] ? &config->repo[at] : NULL;
}

static int queue_statuses(struct db *db, const struct config_repo *repo, int64_t repo_id, const struct status_update *word,
	int64_t now_ms, struct fw_err *err)
{
	if (word->suite[0] && status_update_enqueue(db, repo->name, word, now_ms, err) != 0)
		return -1;
	return status_summary_enqueue(db, repo_id, repo->name, word->sha, now_ms, err);
}

int status_job(struct db *db, const struct config *config, const struct store_job *job, const char *suite, enum jobstate state,
	const char *why, int64_t now_ms, struct fw_err *err)
{
	static const struct {
		const char *state, *text; /* NULL: no status */
	} words[JOBSTATE_N] = {
		[JOBSTATE_QUEUED] = { "pending", "waits to be measured" },
		[JOBSTATE_BUILDING] = { "running", "is being measured" },
		[JOBSTATE_CHECKING] = { "running", "is being measured" },
		[JOBSTATE_MEASURING] = { "running", "is being measured" },
		[JOBSTATE_FAILED] = { "error", "not measured" },
		[JOBSTATE_CANCELLED] = { "cancelled", "cancelled" },
		[JOBSTATE_SUPERSEDED] = { "cancelled", "not measured" },
	};
	const struct config_repo *repo = find_repo(config, job->repo_name);
	char text[640], page[40];
	if (!suite)
		suite = job->suite;
	if (!repo || !status_is_reported(job) || state >= JOBSTATE_N || !words[state].state)
		return 0;
	bool has_reason = why[0] && (state == JOBSTATE_QUEUED || jobstate_is_final(state));
	snprintf(text, sizeof text, "%s%s%s", words[state].text, has_reason ? ": " : "", has_reason ? why : "");
	snprintf(page, sizeof page, "/jobs/%lld", (long long)job->id);
	struct status_update word = { job->target_sha, suite, words[state].state, text, page };
	return queue_statuses(db, repo, job->repo, &word, now_ms, err);
}

int status_ended(struct db *db, const struct config *config, const struct config_repo *only, int64_t now_ms, struct fw_err *err)
{
	if (only && !only->status.kind[0])
		return 0;
	struct find_notification_job *ended = calloc(ENDED_MAX, sizeof *ended);
	int n = 0, result = ended ? find_notification_ended(db, now_ms, only ? only->name : "", ended, ENDED_MAX, &n, err)
				  : err_set(err, ERR_FULL, "out of memory for statuses");
	for (int i = 0; i < n && result == 0; i++) {
		const struct config_repo *repo = only ? only : find_repo(config, ended[i].repo_name);
		char text[640], page[40];
		bool newer = strncmp(ended[i].why, "superseded by job ", 18) == 0;
		snprintf(page, sizeof page, "/jobs/%lld", (long long)ended[i].id);
		snprintf(text, sizeof text, "not measured: %s", newer ? "superseded by a newer push" : ended[i].why);
		struct status_update word = { ended[i].sha, ended[i].suite,
			ended[i].state == JOBSTATE_FAILED ? "error" : "cancelled", text, page };
		if (repo)
			result = queue_statuses(db, repo, ended[i].repo, &word, now_ms, err);
	}
	free(ended);
	return result;
}

/* Describe a verdict: "regression: 4 of 20 cells, worst -2.26 % in attention/.../forward"; of an improvement the best. */
static int describe_verdict(struct db *db, const struct store_comparison *c, const struct store_accepted *accepted, char *text,
	size_t size, struct fw_err *err)
{
	char verdict[200];
	struct find_notification_cells cells;
	if (accepted->covered && !accepted->lost)
		snprintf(verdict, sizeof verdict, "regression (accepted by %.100s)%s%s", accepted->who,
			accepted->verdict == VERDICT_ACCEPTED ? "" : ", else ",
			accepted->verdict == VERDICT_ACCEPTED ? "" : verdict_name(accepted->verdict));
	else
		snprintf(verdict, sizeof verdict, "%s", verdict_name(c->verdict));
	int found = find_notification_cells(db, c->id, c->verdict, &cells, err);
	snprintf(text, size, "%s", verdict);
	if (found != 1)
		return found;
	int len = snprintf(text, size, "%s: %lld of %lld cells", verdict, (long long)cells.n, (long long)cells.all);
	if (c->verdict == VERDICT_IDENTICAL)
		snprintf(text, size, "identical: nothing that is measured changed");
	else if (c->verdict == VERDICT_REGRESSION || c->verdict == VERDICT_IMPROVEMENT)
		snprintf(text + len, size - (size_t)len, ", %s %+.2f %% in %s",
			c->verdict == VERDICT_REGRESSION ? "worst" : "best", cells.decided_pct, cells.key);
	else if (cells.reason[0])
		snprintf(text + len, size - (size_t)len, ": %s", cells.reason);
	return 0;
}

int status_verdict(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err)
{
	const struct config_repo *repo = find_repo(config, job->repo_name);
	char text[900] = "", page[40];
	if (!repo || !status_is_reported(job))
		return 0;
	struct store_accepted accepted = { .verdict = c->verdict };
	if ((c->verdict == VERDICT_REGRESSION && store_accepted_of(db, c->id, &accepted, err)) ||
		describe_verdict(db, c, &accepted, text, sizeof text, err))
		return -1;
	snprintf(page, sizeof page, "/comparisons/%lld", (long long)c->id);
	struct status_update word = { c->target_sha, job->suite, status_update_of(accepted.verdict), text, page };
	return queue_statuses(db, repo, job->repo, &word, now_ms, err);
}
