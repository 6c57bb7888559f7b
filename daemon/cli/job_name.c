/* job_name.c - documented in internal.h. */
#include "cli/internal.h"

enum { NAMES_MAX = 1 << 14, OPEN_MAX = 500 };

static bool is_of_branch(const json_t *job, const char *branch)
{
	char key[BRANCH_KEY_MAX];
	branch_key(branch, key);
	return strcmp(value_text(job, "branch"), key) == 0 || strcmp(value_branch(job), branch) == 0;
}

/* Find the newest job of a branch; 0: it has none. Err: ERR_NOT_FOUND there is no such branch. */
static int find_newest(struct client *c, const char *repo, const char *branch, long long *id, struct fw_err *err)
{
	json_t *answer = NULL;
	int result = client_get_branches(c, repo, branch, &answer, err);
	const json_t *row = json_array_get(json_object_get(answer, "items"), 0);
	*id = value_integer(json_object_get(row, "job"), "id");
	if (result == 0 && !row)
		result = err_set(err, ERR_NOT_FOUND,
			"%s is neither the number of a job nor a branch of repository %s; flopwatch jobs lists the jobs", branch,
			repo);
	json_decref(answer);
	return result;
}

/* The only open job of a branch; *n counts them, `names` lists them with their suites. */
static int find_open(
	struct client *c, const char *repo, const char *branch, long long *id, int *n, struct buf *names, struct fw_err *err)
{
	const struct member query[] = { { "state", .text = "open" }, { "repo", .text = repo }, { "limit", .number = OPEN_MAX },
		{ 0 } };
	json_t *answer = NULL, *job;
	size_t i;
	*n = 0;
	if (client_get_query(c, "/api/v1/jobs", query, &answer, err) != 0)
		return -1;
	json_array_foreach(json_object_get(answer, "items"), i, job)
	{
		const char *suite = value_text(job, "suite");
		if (!is_of_branch(job, branch))
			continue;
		*id = value_integer(job, "id");
		buf_printf(names, "%sJ%lld%s%s%s", (*n)++ ? ", " : "", *id, *suite ? " (" : "", suite, *suite ? ")" : "");
	}
	json_decref(answer);
	return 0;
}

static int find_of_branch(
	struct client *c, const char *repo, const char *branch, enum job_wanted wanted, long long *id, struct fw_err *err)
{
	struct buf names;
	int n;
	if (find_newest(c, repo, branch, id, err) != 0)
		return -1;
	if (!*id)
		return err_set(err, ERR_NOT_FOUND, "branch %s has no job (see doc/troubleshooting.md#no-job)", branch);
	if (wanted == JOB_NEWEST)
		return 0;
	long long newest = *id;
	buf_init(&names, NAMES_MAX);
	int result = find_open(c, repo, branch, id, &n, &names, err);
	if (result == 0 && n == 0)
		result = err_set(err, ERR_NOT_FOUND, "branch %s has no open job; its newest, J%lld, has ended", branch, newest);
	else if (result == 0 && n > 1)
		result = err_set(err, ERR_CONFLICT, "branch %s has %d open jobs: %s; name one of them", branch, n, names.data);
	buf_fini(&names);
	return result;
}

int job_find(struct client *c, const struct options *o, enum job_wanted wanted, char id[JOB_ID_SIZE], bool *is_branch)
{
	const char *what = o->arg[0], *number = verb_id(what, 'J');
	struct fw_err err = { 0 };
	char repo[256];
	long long found;
	*is_branch = strspn(number, "0123456789") != strlen(number);
	if (!*is_branch) {
		snprintf(id, JOB_ID_SIZE, "%s", number);
		return EXIT_OK;
	}
	int status = checkout_repo(c, o, what, repo, sizeof repo);
	if (status != EXIT_OK)
		return status;
	if (find_of_branch(c, repo, what, wanted, &found, &err) != 0)
		return verb_fail_of_name(&err);
	snprintf(id, JOB_ID_SIZE, "%lld", found);
	return EXIT_OK;
}
