/* Repositories and their branches, each with where it stands. */
#include <string.h>

#include "db/view/branch.h"
#include "db/view/comparison.h"
#include "web/answer/answer.h"
#include "web/api/api.h"
#include "web/answer/site.h"
#include "core/verdict/commit_verdict_json.h"

static void repo_row(void *arg, const struct view_repo *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_string(j, "name", row->name);
	jsonw_kv_string(j, "url", row->url);
	jsonw_kv_string(j, "upstream", row->upstream);
	jsonw_kv_string(j, "state", row->state);
	answer_text(j, "error", row->error);
	jsonw_kv_int(j, "branches", row->branches);
	jsonw_kv_int(j, "open_alerts", row->open_alerts);
	answer_time(j, "fetched_at", row->fetched_at);
	jsonw_object_end(j);
}

void api_repos(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct jsonw j;
	answer_items_begin(response, &j);
	if (view_repos(site->db, repo_row, &j, &err) != 0)
		answer_error(r, response, &err);
	else
		answer_items_end(&j);
}

static void branch_row(void *arg, const struct view_branch *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_string(j, "repo", row->repo);
	jsonw_kv_string(j, "name", row->name);
	jsonw_kv_string(j, "display", row->display);
	jsonw_kv_string(j, "commit", row->commit);
	answer_text(j, "subject", row->subject);
	jsonw_kv_bool(j, "watched", row->watched);
	answer_text(j, "verdict", row->verdict);
	answer_text(j, "suite", row->suite);
	answer_id(j, "comparison", row->comparison);
	answer_text(j, "compared", row->compared);
	jsonw_kv_figure(j, "worst_pct", row->worst_pct);
	jsonw_kv_figure(j, "best_pct", row->best_pct);
	answer_time(j, "finished_at", row->finished_at);
	commit_verdict_write_suites(j, row->stands);
	commit_verdict_write_unfinished(j, row->tip);
	jsonw_key(j, "job");
	if (row->job) {
		jsonw_object(j);
		jsonw_kv_int(j, "id", row->job);
		jsonw_kv_string(j, "state", row->job_state);
		jsonw_object_end(j);
	} else {
		jsonw_null(j);
	}
	jsonw_object_end(j);
}

/* Ids first: a list of branches is not read while the list of repositories is open. */
struct ids {
	int64_t id[256];
	int n;
};

static void remember_repo(void *arg, const struct view_repo *row)
{
	struct ids *ids = arg;
	if (ids->n < 256 && strcmp(row->state, "gone") != 0)
		ids->id[ids->n++] = row->id;
}

void api_branches(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct jsonw j;
	struct ids ids = { .n = 0 };
	const char *repo = http_query(r, "repo");
	int result;
	if (repo) {
		result = view_repo_id(site->db, repo, &ids.id[0], &err);
		ids.n = 1;
	} else {
		result = view_repos(site->db, remember_repo, &ids, &err);
	}
	answer_items_begin(response, &j);
	for (int i = 0; result == 0 && i < ids.n; i++)
		result = view_branches(site->db, ids.id[i], branch_row, &j, &err);
	if (result != 0)
		answer_error(r, response, &err);
	else
		answer_items_end(&j);
}
