/* pull.c - pull and merge requests: which wait for approval, and approvals of commits. */
#include "web/api/internal.h"

enum { ROWS_MAX = 1000 };

static void pull_row(void *arg, const struct store_pull *row)
{
	jsonw_format(arg,
		"{ repo=%s number=%d head=%s state=%s approved_by?=%s approved_at=%lld{time} seen_at=%lld{time} problem?=%s }",
		row->repo, row->number, row->head,
		row->own        ? "own"
		: row->approved ? "approved"
				: "waiting",
		row->who, (long long)row->approved_at, (long long)row->seen_at, row->problem);
}

int api_pulls(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct jsonw j;
	const char *all;
	int64_t repo;
	if (answer_choice(r, "all", "yes", &all, err) != 0 || view_repo_id(site->db, http_segment(r, 0), &repo, err) != 0)
		return -1;
	answer_items_begin(response, &j);
	return answer_items_end(&j, store_pull_each(site->db, repo, all != NULL, ROWS_MAX, pull_row, &j, err));
}

int api_pull_approve(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	const char *repo = http_segment(r, 0), *commit = NULL;
	char detail[400];
	int64_t number = answer_number(http_segment(r, 1));
	bool is_allowed = true;
	const struct write_key known[] = { { "commit", .text = &commit }, { 0 } };
	json_t *root = write_take(r, response, known);
	if (!root)
		return -1;
	int result = number < 1 || number > INT32_MAX ? err_set(err, ERR_NOT_FOUND, "a request has a number, such as 7")
		     : !commit || !oid_is_whole(commit)
			     ? err_set(err, ERR_INVALID, "commit must be a full hash: an approval holds for one commit")
			     : site->act->approve(site->control, repo, (int)number, commit, http_who(r), &is_allowed, err);
	if (result == 0 && is_allowed)
		answer_with(
			response, "repo=%s number=%lld commit=%s approved_by=%s", repo, (long long)number, commit, http_who(r));
	json_decref(root);
	if (result != 0 || is_allowed)
		return result;
	snprintf(detail, sizeof detail, "%.64s may not approve requests of %.128s: pull_requests.approvers does not name it",
		http_who(r), repo);
	return answer_problem(r, response, 403, detail);
}
