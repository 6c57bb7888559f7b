/* verdict.c - verdict of a commit: the worst over its suites; by commit, by branch and commit, or by the requesting job. */

#include "web/api/internal.h"

static void write(
	struct http_response *response, const char *repo, const char *sha, const char *branch, const struct commit_verdict *v)
{
	struct jsonw j;
	answer_json(response, &j);
	commit_verdict_write(&j, repo, sha, branch, v);
}

static bool has_only_cancelled(const struct commit_verdict *v)
{
	for (int i = 0; i < v->n; i++)
		if (!commit_verdict_is_unmeasured(&v->suite[i]) || commit_verdict_is_open(&v->suite[i]))
			return false;
	return true;
}

/*
 * A request's head may have been submitted before its approval, and was cancelled. Afterwards its merge result counts; before that
 * is fetched there is no job of the head.
 */
static int use_request(
	struct db *db, struct store_commit_found *found, const char *branch, struct commit_verdict *v, struct fw_err *err)
{
	char sha[65];
	int is_head = has_only_cancelled(v) ? store_pull_measured(db, found->repo, found->sha, sha, err) : 0;
	if (is_head != 1 || strcmp(sha, found->sha) == 0)
		return is_head < 0 ? -1 : 0;
	commit_verdict_fini(v);
	if (!sha[0])
		return 0;
	snprintf(found->sha, sizeof found->sha, "%s", sha);
	return store_commit_verdict(db, found->repo, sha, branch, v, err);
}

int api_commit_verdict(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct store_commit_found found;
	struct commit_verdict v;
	char key[BRANCH_KEY_MAX];
	const char *branch = scope_branch(r, key), *prefix = http_segment(r, 0);
	commit_verdict_init(&v);
	const char *strict, *waits;
	if (answer_choice(r, "strict", "yes", &strict, err) != 0 || answer_choice(r, "waits", "yes", &waits, err) != 0)
		return -1;
	int result = store_commit_find(site->db, http_query(r, "repo"), prefix, &found, err);
	if (result == 0 && found.n == 0)
		result = err_set(err, ERR_NOT_FOUND, "no measured commit begins with %.64s", prefix);
	if (result == 0 && found.n > 1)
		result = err_set(err, ERR_CONFLICT,
			"several commits begin with %.64s; write more digits, or select the repository with repo=NAME", prefix);
	struct fw_err why = { 0 };
	if (result == 0 && waits && site->act->raise_commit(site->control, found.repo, found.sha, &why) != 0)
		log_warning("job.raise", "commit=%s err=%s", found.sha, log_quote(why.text)); /* the answer is valid without it */
	if (result == 0)
		result = store_commit_verdict(site->db, found.repo, found.sha, branch, &v, err);
	if (result == 0)
		result = use_request(site->db, &found, branch, &v, err);
	if (result == 0 && strict)
		commit_verdict_strict(&v);
	if (result == 0)
		write(response, found.repo_name, found.sha, branch ? branch : "", &v);
	commit_verdict_fini(&v);
	return result;
}

struct requested {
	struct http_response *response;
	const struct commit_verdict *v;
};

static void write_requested(void *arg, const struct view_job *row)
{
	struct requested *a = arg;
	write(a->response, row->repo, row->target, row->branch, a->v);
}

int api_job_verdict(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct commit_verdict v;
	struct requested requested = { response, &v };
	int64_t id = answer_path_id(r, "job", err);
	const char *strict;
	if (id < 0 || answer_choice(r, "strict", "yes", &strict, err) != 0)
		return -1;
	int result = store_commit_plan(site->db, id, &v, err);
	if (result == 0 && strict)
		commit_verdict_strict(&v);
	if (result == 0)
		result = view_job(site->db, id, write_requested, &requested, err);
	commit_verdict_fini(&v);
	return result;
}
