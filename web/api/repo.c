/* repo.c - repositories and branches with their state. */
#include "web/api/internal.h"

static void repo_row(void *arg, const struct view_repo *row)
{
	jsonw_format(arg, "{ name=%s url=%s upstream=%s state=%s error?=%s branches=%d open_alerts=%d fetched_at=%lld{time} }",
		row->name, row->url, row->upstream, row->state, row->error, row->branches, row->open_alerts,
		(long long)row->fetched_at);
}

int api_repos(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)r;
	struct jsonw j;
	answer_items_begin(response, &j);
	return answer_items_end(&j, view_repos(site->db, repo_row, &j, err));
}

int api_look_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct jsonw j;
	const char *repo = http_segment(r, 0);
	int64_t look = 0;
	if (site->act->trigger(site->control, repo, &look, err) != 0)
		return -1;
	answer_json(response, &j);
	response->status = 202;
	jsonw_format(&j, "{ repo=%s look=%lld }", repo, (long long)look);
	return 0;
}

/* Write the lines of a text as a list. */
static void write_lines(struct jsonw *j, const char *text)
{
	jsonw_array(j);
	for (size_t len; (len = strcspn(text, "\n")) > 0; text += len + (text[len] == '\n')) {
		char line[BRANCH_KEY_MAX];
		snprintf(line, sizeof line, "%.*s", (int)len, text);
		jsonw_string(j, line);
	}
	jsonw_array_end(j);
}

int api_look(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct jsonw j;
	const char *repo = http_segment(r, 0);
	int64_t look = answer_number(http_segment(r, 1));
	const char *error = "", *held = "";
	bool ended = false;
	if (look < 0)
		return err_set(
			err, ERR_NOT_FOUND, "the address of a fetch needs its number, from POST /api/v1/repos/{repo}/looks");
	if (!site->act->looked)
		return err_set(err, ERR_NOT_FOUND, "this daemon watches no repository");
	if (site->act->looked(site->control, repo, look, &ended, &held, &error, err) != 0)
		return -1;
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_format(&j, "repo=%s look=%lld ended=%i error?=%s", repo, (long long)look, ended, error);
	jsonw_key(&j, "held");
	write_lines(&j, held);
	jsonw_object_end(&j);
	return 0;
}

static void branch_row(void *arg, const struct view_branch *row)
{
	struct answer_list *list = arg;
	struct jsonw *j = &list->j;
	if (!answer_list_take(list, row->id, 0, NULL))
		return;
	jsonw_object(j);
	jsonw_format(j,
		"repo=%s name=%s display=%s commit=%s subject?=%s author?=%s watched=%i verdict?=%s suite?=%s comparison?=%lld compared?=%s worst_pct=%g best_pct=%g finished_at=%lld{time}",
		row->repo, row->name, row->display, row->commit, row->subject, row->author, row->watched,
		verdict_or_empty(row->verdict), row->suite, (long long)row->comparison, row->compared, row->worst_pct,
		row->best_pct, (long long)row->finished_at);
	commit_verdict_write_suites(j, row->stands);
	commit_verdict_write_unfinished(j, row->tip);
	jsonw_key(j, "job");
	if (row->job)
		jsonw_format(j, "{ id=%lld state=%s }", (long long)row->job, jobstate_name(row->job_state));
	else
		jsonw_null(j);
	jsonw_object_end(j);
}

/* Read the ids first: branches are not queried while the query of repositories is open. */
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

/* Index in `ids` at which the cursor continues; -1: not a cursor of this list. */
static int first_of(struct db *db, const struct ids *ids, int64_t after, struct fw_err *err)
{
	int64_t repo;
	if (!after)
		return 0;
	if (view_branch_repo(db, after, &repo, err) == 0)
		for (int i = 0; i < ids->n; i++)
			if (ids->id[i] == repo)
				return i;
	if (err->code && err->code != ERR_NOT_FOUND)
		return -1;
	err_clear(err);
	return err_set(err, ERR_INVALID, "cursor must be a next_cursor of this list");
}

static int write_branches(
	struct db *db, struct http_request *r, const struct ids *ids, int64_t after, struct answer_list *list, struct fw_err *err)
{
	char key[BRANCH_KEY_MAX];
	struct view_branch_filter filter = { .name = scope_branch(r, key),
		.display = http_query(r, "branch"),
		.watched = http_query(r, "watched") != NULL,
		.strict = http_query(r, "strict") != NULL,
		.after = after };
	int at = first_of(db, ids, after, err), result = at < 0 ? -1 : 0;
	for (; result == 0 && at < ids->n && !list->more; at++) {
		filter.repo = ids->id[at];
		filter.limit = list->limit - list->n + 1;
		result = view_branches(db, &filter, branch_row, list, err);
		filter.after = 0;
	}
	return result;
}

int api_branches(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct answer_list list;
	struct ids ids = { .n = 0 };
	int64_t after;
	const char *watched, *strict;
	if (answer_choice(r, "watched", "yes", &watched, err) != 0 || answer_choice(r, "strict", "yes", &strict, err) != 0 ||
		answer_list_begin(site->db, r, response, &list, &after, err) != 0)
		return -1;
	int result;
	if (list.repo && *list.repo) {
		result = view_repo_id(site->db, list.repo, &ids.id[0], err);
		ids.n = 1;
	} else {
		result = view_repos(site->db, remember_repo, &ids, err);
	}
	if (result == 0)
		result = write_branches(site->db, r, &ids, after, &list, err);
	return answer_list_end(r, response, &list, result);
}
