/* repo.c - repositories and branches with their state. */
#include "web/api/internal.h"

/* ---- failures ------------------------------------------------------------------------------------------------------ */

enum { JOBS_READ_MAX = VIEW_LIMIT_MAX, RECENT = 5, PATTERN_MIN = 2 };

/* The newest ended jobs of a repository, up to the first one that did not fail. */
struct recent {
	char repo[128];
	int n;
	bool is_closed; /* a job did not fail */
	int64_t job[RECENT], comparison[RECENT];
	char why[RECENT][256];
};

struct failing_list {
	int n;
	struct recent *of; /* of[n] */
};

static bool is_failure(enum verdict v)
{
	return v == VERDICT_FAILED || v == VERDICT_REJECTED || v == VERDICT_NOT_COMPARABLE;
}

static struct recent *recent_of(struct failing_list *list, const char *repo)
{
	for (int i = 0; i < list->n; i++)
		if (strcmp(list->of[i].repo, repo) == 0)
			return &list->of[i];
	list->of = mem_grow_one(list->of, (size_t)list->n, sizeof *list->of);
	struct recent *r = &list->of[list->n++];
	*r = (struct recent){ .n = 0 };
	snprintf(r->repo, sizeof r->repo, "%s", repo);
	return r;
}

/* Add a job, if its end shows whether builds work: not without result or failure, nor for jobs of the daemon or of peers. */
static void take_job(void *arg, const struct view_job *row)
{
	if (jobkind_is_upkeep(row->kind) || jobkind_is_side_by_side(row->kind))
		return;
	struct recent *r = recent_of(arg, row->repo);
	if ((row->state != JOBSTATE_FAILED && (row->state != JOBSTATE_DONE || row->verdict == VERDICT_NONE)) || r->is_closed ||
		r->n == RECENT)
		return;
	if (row->comparison && !is_failure(row->verdict)) {
		r->is_closed = true;
		r->n = 0;
		return;
	}
	r->job[r->n] = row->id;
	r->comparison[r->n] = row->comparison;
	snprintf(r->why[r->n++], sizeof r->why[0], "%s", row->state_why);
}

struct failure {
	char class[32], reason[512];
	bool is_found;
};

static void take_cell(void *arg, const struct store_cell *row)
{
	struct failure *f = arg;
	if (f->is_found || !is_failure(row->verdict))
		return;
	f->is_found = true;
	snprintf(f->class, sizeof f->class, "%s", row->failure[0] ? row->failure : verdict_name(row->verdict));
	snprintf(f->reason, sizeof f->reason, "%s", row->reason);
}

static int read_failure(struct db *db, const struct recent *r, int i, struct failure *out, struct fw_err *err)
{
	*out = (struct failure){ .class = "no result" };
	snprintf(out->reason, sizeof out->reason, "%s", r->why[i]);
	return r->comparison[i] ? view_cells(db, r->comparison[i], take_cell, out, err) : 0;
}

/* Write {"jobs","class","job","reason"}, or null if the newest jobs did not all fail. */
static int write_failing(struct db *db, struct jsonw *j, const struct recent *r, struct fw_err *err)
{
	struct failure newest, other;
	bool is_one = true;
	jsonw_key(j, "failing");
	if (!r || r->n < PATTERN_MIN) {
		jsonw_null(j);
		return 0;
	}
	if (read_failure(db, r, 0, &newest, err) != 0)
		return -1;
	for (int i = 1; i < r->n; i++) {
		if (read_failure(db, r, i, &other, err) != 0)
			return -1;
		is_one = is_one && strcmp(newest.class, other.class) == 0;
	}
	jsonw_format(j, "{ jobs=%d class?=%s job=%lld reason=%s }", r->n, is_one ? newest.class : "", (long long)r->job[0],
		newest.reason);
	return 0;
}

/* ---- list ---------------------------------------------------------------------------------------------------------- */

struct repo_list {
	struct db *db;
	struct jsonw j;
	struct failing_list failing;
	struct fw_err *err;
	int result;
};

static void repo_row(void *arg, const struct view_repo *row)
{
	struct repo_list *list = arg;
	struct jsonw *j = &list->j;
	jsonw_object(j);
	jsonw_format(j, "name=%s url=%s upstream=%s state=%s error?=%s branches=%d open_alerts=%d fetched_at=%lld{time}",
		row->name, row->url, row->upstream, row->state, row->error, row->branches, row->open_alerts,
		(long long)row->fetched_at);
	if (list->result == 0)
		list->result = write_failing(list->db, j, recent_of(&list->failing, row->name), list->err);
	jsonw_object_end(j);
}

int api_repos(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct repo_list list = { .db = site->db, .err = err };
	(void)r;
	answer_items_begin(response, &list.j);
	int result = view_jobs(site->db, NULL, 0, JOBS_READ_MAX, take_job, &list.failing, err);
	if (result == 0)
		result = view_repos(site->db, repo_row, &list, err);
	free(list.failing.of);
	return answer_items_end(&list.j, result ? result : list.result);
}

int api_fetch_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct jsonw j;
	const char *repo = http_segment(r, 0);
	int64_t fetch = 0;
	if (site->act->trigger(site->control, repo, &fetch, err) != 0)
		return -1;
	answer_json(response, &j);
	response->status = 202;
	jsonw_format(&j, "{ repo=%s fetch=%lld }", repo, (long long)fetch);
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

int api_fetch(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct jsonw j;
	const char *repo = http_segment(r, 0);
	int64_t fetch = answer_number(http_segment(r, 1));
	const char *error = "", *held = "";
	bool ended = false;
	if (fetch < 0)
		return err_set(
			err, ERR_NOT_FOUND, "the address of a fetch needs its number, from POST /api/v1/repos/{repo}/fetches");
	if (!site->act->fetch_result)
		return err_set(err, ERR_NOT_FOUND, "this daemon watches no repository");
	if (site->act->fetch_result(site->control, repo, fetch, &ended, &held, &error, err) != 0)
		return -1;
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_format(&j, "repo=%s fetch=%lld ended=%i error?=%s", repo, (long long)fetch, ended, error);
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
	commit_verdict_write_suites(j, row->judged);
	commit_verdict_write_unfinished(j, row->tip);
	jsonw_key(j, "job");
	if (row->job)
		jsonw_format(j, "{ id=%lld state=%s }", (long long)row->job, jobstate_name(row->job_state));
	else
		jsonw_null(j);
	jsonw_object_end(j);
}

/* The ids are read first: the query of repositories must end before those of branches. */
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

/* Return the index in `ids` at which the cursor continues; -1: not a cursor of this list. */
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
