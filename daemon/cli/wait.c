/* wait: waits for all suites of a branch's tip or of a commit, or for a job; the exit status is the verdict. */
#include <stdlib.h>
#include <time.h>

#include "cli/internal.h"
#include "lib/lib.h"

enum {
	COMMIT_MIN = 7,
	UNSEEN_S = 5,
	NAMES_MAX = 1 << 15,
	FETCHES_MAX = 64,
	PAUSE_MS = 100,
	FETCH_PAUSE_S = 1,     /* pause after the first check; doubled after each one ... */
	FETCH_PAUSE_MAX_S = 30 /* ... up to here */
};

static const int64_t SECOND_NS = 1000000000;

/* A requested check of one repository for new pushes. */
struct fetch {
	char repo[256];
	long long number;
	bool is_held; /* the daemon stays at an older commit of the branch that is waited for */
};

/* Where to read the verdict on `what`. */
struct wanted {
	const char *what, *repo; /* repo NULL: any */
	struct checkout here;    /* the current checkout */
	struct buf path;         /* "" not found yet */
	bool is_branch, is_strict;
	char tip[65], of[256]; /* the branch's commit and repository */
	int64_t end_ns;        /* the user's --timeout */
	struct fetch fetch[FETCHES_MAX];
	int n_fetches;
	int64_t fetch_again_ns, again_s; /* when to request the next checks, and the pause after them */
};

static void set_path(struct wanted *w, const char *sha, const char *branch, const char *repo)
{
	buf_clear(&w->path);
	buf_puts(&w->path, "/api/v1/commits/");
	client_argument(&w->path, sha);
	buf_puts(&w->path, "/verdict");
	client_query(&w->path, "repo", repo);
	client_query(&w->path, "branch", branch);
	client_query(&w->path, "strict", w->is_strict ? "yes" : NULL);
	client_query(&w->path, "waits", "yes");
}

/* Clear the path unless something was requested for it. */
static int clear_unless_requested(struct client *c, struct wanted *w, struct fw_err *err)
{
	json_t *answer = NULL;
	int result = client_get(c, w->path.data, &answer, err);
	size_t n = json_array_size(json_object_get(answer, "suites"));
	json_decref(answer);
	if (n == 0)
		buf_clear(&w->path);
	if (result == 0 || err->code != ERR_NOT_FOUND)
		return result;
	err_clear(err);
	return 0;
}

static int request_for_digits(const struct wanted *w, struct fw_err *err)
{
	err_clear(err);
	return err_set(err, ERR_CONFLICT, "several commits begin with %s; write more digits", w->what);
}

/* Find by the tip of a branch. */
static int find_branch(struct client *c, struct wanted *w, struct fw_err *err)
{
	json_t *answer = NULL, *item, *found = NULL;
	size_t i;
	int n = 0;
	struct buf repos;
	buf_clear(&w->path);
	int requested = client_get_branches(c, w->repo, w->what, &answer, err);
	if (requested != 0 && (!w->repo || err->code != ERR_NOT_FOUND))
		return -1;
	err_clear(err);
	buf_init(&repos, NAMES_MAX);
	json_array_foreach(json_object_get(answer, "items"), i, item)
	{
		buf_printf(&repos, "%s%s", n ? ", " : "", value_text(item, "repo"));
		n++;
		found = item;
	}
	int result = 0;
	if (n > 1)
		result = checkout_request_which(w->what, repos.data, err);
	buf_fini(&repos);
	if (n == 1) {
		w->is_branch = true;
		snprintf(w->tip, sizeof w->tip, "%s", value_text(found, "commit"));
		snprintf(w->of, sizeof w->of, "%s", value_text(found, "repo"));
		set_path(w, w->tip, value_text(found, "name"), w->of);
		result = clear_unless_requested(c, w, err);
	}
	json_decref(answer);
	return result;
}

/* The prefix matches commits of several repositories, or several of one: list the repositories. */
static int request_which_of(struct client *c, struct wanted *w, struct fw_err *err)
{
	struct buf names;
	json_t *repos = NULL, *repo;
	size_t i;
	int n = 0;
	err_clear(err);
	if (client_get(c, "/api/v1/repos", &repos, err) != 0)
		return -1;
	buf_init(&names, NAMES_MAX);
	int result = 0;
	json_array_foreach(json_object_get(repos, "items"), i, repo)
	{
		const char *name = value_text(repo, "name");
		set_path(w, w->what, NULL, name);
		result = clear_unless_requested(c, w, err);
		if (result != 0 && err->code != ERR_CONFLICT)
			break;
		if (result != 0 || w->path.len)
			buf_printf(&names, "%s%s", n++ ? ", " : "", name);
		err_clear(err);
	}
	if (err->code == ERR_NONE)
		result = n > 1 ? checkout_request_which(w->what, names.data, err) : request_for_digits(w, err);
	buf_clear(&w->path);
	buf_fini(&names);
	json_decref(repos);
	return result;
}

static int find_commit(struct client *c, struct wanted *w, struct fw_err *err)
{
	if (!oid_is_prefix(w->what, COMMIT_MIN))
		return 0;
	set_path(w, w->what, NULL, w->repo);
	int result = clear_unless_requested(c, w, err);
	if (result != 0 && err->code == ERR_CONFLICT && !w->repo) {
		return request_which_of(c, w, err);
	}
	return result != 0 && err->code == ERR_CONFLICT ? request_for_digits(w, err) : result;
}

static int find_job(struct client *c, struct wanted *w, struct fw_err *err)
{
	const char *number = verb_id(w->what, 'J');
	size_t len = strlen(number);
	if (!len || len >= 19 || strspn(number, "0123456789") != len)
		return 0;
	buf_clear(&w->path);
	buf_printf(&w->path, "/api/v1/jobs/%lld/verdict", strtoll(number, NULL, 10));
	client_query(&w->path, "strict", w->is_strict ? "yes" : NULL);
	return number != w->what || len < COMMIT_MIN
		       ? 0
		       : clear_unless_requested(c, w, err); /* else it may be a commit that the daemon has not seen yet */
}

static int find(struct client *c, struct wanted *w, struct fw_err *err)
{
	int (*const ways[])(struct client *, struct wanted *, struct fw_err *) = { find_branch, find_commit, find_job };
	w->is_branch = false;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !w->path.len && !w->is_branch; i++)
		if (ways[i](c, w, err) != 0)
			return -1;
	return 0;
}

/* ---- the newest push -------------------------------------------------------------------------------------------------- */

static void pause_a_moment(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = PAUSE_MS * 1000000L }, NULL);
}

static int begin_fetch(struct client *c, struct fetch *fetch, struct fw_err *err)
{
	json_t *answer = NULL;
	int result = client_post_step(c, "repos", fetch->repo, "fetches", "", &answer, err);
	fetch->number = value_integer(answer, "fetch");
	json_decref(answer);
	return result;
}

/* Get the result of a check. After a restart the daemon does not know earlier numbers: begin another check. */
static int get_fetch(struct client *c, struct fetch *fetch, json_t **answer, struct fw_err *err)
{
	char suffix[32];
	snprintf(suffix, sizeof suffix, "/fetches/%lld", fetch->number);
	int result = client_get_at(c, "/api/v1/repos/", fetch->repo, suffix, answer, err);
	if (result == 0 || err->code != ERR_NOT_FOUND)
		return result;
	err_clear(err);
	return begin_fetch(c, fetch, err); /* fails if the repository is not watched any more */
}

static bool is_in(const json_t *names, const char *name)
{
	json_t *item;
	size_t i;
	json_array_foreach(names, i, item)
	{
		if (strcmp(json_string_value(item) ? json_string_value(item) : "", name) == 0)
			return true;
	}
	return false;
}

/* Wait until the check has ended. Err: ERR_IO and others of the client; ERR_INVALID the repository could not be read. */
static int end_fetch(struct client *c, const struct wanted *w, struct fetch *fetch, struct fw_err *err)
{
	char key[BRANCH_KEY_MAX];
	int result = 0;
	bool ended = false;
	branch_key(w->what, key);
	fetch->is_held = false;
	while (result == 0 && !ended) {
		json_t *answer = NULL;
		const char *error = "";
		result = get_fetch(c, fetch, &answer, err);
		ended = json_is_true(json_object_get(answer, "ended"));
		error = value_text(answer, "error");
		fetch->is_held = is_in(json_object_get(answer, "held"), key);
		if (result == 0 && ended && *error)
			result = err_set(err, ERR_INVALID,
				"the newest push of %s is not known: the daemon cannot read the repository: %s", fetch->repo,
				error);
		else if (result == 0 && !ended && clock_mono_ns() > w->end_ns)
			result = err_set(err, ERR_TIMEOUT, "the daemon has not read repository %s in time", fetch->repo);
		json_decref(answer);
		if (result == 0 && !ended)
			pause_a_moment();
	}
	return result;
}

/* Collect the repositories of rows, at `key`. Those that are no longer configured are skipped. Shape: fetches[FETCHES_MAX]. */
static int add_names(int result, json_t *answer, const char *key, struct fetch *fetches, int *n, struct fw_err *err)
{
	json_t *row;
	size_t i;
	json_array_foreach(json_object_get(answer, "items"), i, row)
	{
		if (*n < FETCHES_MAX && strcmp(value_text(row, "state"), "gone") != 0)
			snprintf(fetches[(*n)++].repo, sizeof fetches[0].repo, "%s", value_text(row, key));
	}
	json_decref(answer);
	if (result != 0 && err->code == ERR_NOT_FOUND) {
		err_clear(err);
		return 0;
	}
	return result;
}

/* Repositories that may contain the branch: the selected one, else those that have a branch of that name, else all. */
static int list_repos(struct client *c, const struct wanted *w, struct fetch *fetches, int *n, struct fw_err *err)
{
	json_t *answer = NULL;
	*n = 0;
	if (w->repo) {
		snprintf(fetches[(*n)++].repo, sizeof fetches[0].repo, "%.255s", w->repo);
		return 0;
	}
	int result = client_get_branches(c, NULL, w->what, &answer, err);
	result = add_names(result, answer, "repo", fetches, n, err);
	if (result != 0 || *n)
		return result;
	answer = NULL;
	result = client_get(c, "/api/v1/repos", &answer, err);
	return add_names(result, answer, "name", fetches, n, err);
}

/*
 * Request that the daemon reads the repositories: immediately the first time, then with a growing pause, since each check may be
 * a fetch.
 */
static int begin_fetches(struct client *c, struct wanted *w, struct fw_err *err)
{
	if (list_repos(c, w, w->fetch, &w->n_fetches, err) != 0)
		return -1;
	for (int i = 0; i < w->n_fetches; i++)
		if (begin_fetch(c, &w->fetch[i], err) != 0)
			return -1;
	w->again_s = w->again_s ? 2 * w->again_s : FETCH_PAUSE_S;
	if (w->again_s > FETCH_PAUSE_MAX_S)
		w->again_s = FETCH_PAUSE_MAX_S;
	return 0;
}

/*
 * Wait until the daemon has read the repositories. Its state may be older than the push that precedes this command. An unreadable
 * repository is an error only if it is the selected one.
 */
static int fetch_all(struct client *c, struct wanted *w, struct fw_err *err)
{
	bool is_due = clock_mono_ns() >= w->fetch_again_ns;
	if (is_due && begin_fetches(c, w, err) != 0)
		return -1;
	for (int i = 0; i < w->n_fetches; i++) {
		if (end_fetch(c, w, &w->fetch[i], err) != 0) {
			if (w->n_fetches == 1 || err->code != ERR_INVALID)
				return -1;
			err_clear(err);
		}
	}
	if (is_due)
		w->fetch_again_ns = clock_mono_ns() + w->again_s * SECOND_NS;
	return 0;
}

/*
 * The repository in which the daemon stays at an older commit of the branch: that of the branch, or any while no branch of that
 * name is known. NULL: none.
 */
static const char *held_in(const struct wanted *w)
{
	for (int i = 0; i < w->n_fetches; i++)
		if (w->fetch[i].is_held && (!w->is_branch || strcmp(w->fetch[i].repo, w->of) == 0))
			return w->fetch[i].repo;
	return NULL;
}

/* Find a branch by its current tip; a commit or a job by the known ones, or once it is known. */
static int find_newest(struct client *c, struct wanted *w, struct fw_err *err)
{
	char newer[65];
	if (find(c, w, err) != 0)
		return -1;
	if (!w->is_branch && w->path.len)
		return 0; /* a commit or a job does not change */
	buf_clear(&w->path);
	if (fetch_all(c, w, err) != 0 || find(c, w, err) != 0)
		return -1;
	bool is_older = w->is_branch && checkout_has_newer(&w->here, w->what, w->tip, newer);
	if (is_older) {
		buf_clear(&w->path);
		return err_set(err, ERR_BUSY, "the daemon reads %s of %s at %.10s, and this checkout has the newer %.10s",
			w->what, w->of, w->tip, newer);
	}
	const char *held = w->is_branch || !w->path.len ? held_in(w) : NULL;
	if (held) {
		buf_clear(&w->path);
		return err_set(err, ERR_BUSY,
			"the daemon has not taken the newest push of %s to repository %s: its queue is full, or git cannot read "
			"the branch; see flopwatch doctor",
			w->what, held);
	}
	return 0;
}

/* Wait until it is found, for the time that a push may need to be noticed. */
static int find_in_time(struct client *c, struct wanted *w, int64_t unseen_ns, struct fw_err *err)
{
	for (;;) {
		int result = find_newest(c, w, err);
		if (result != 0 && err->code == ERR_TIMEOUT &&
			!w->is_branch) { /* no object of that name is known, waiting does not help */
			err_clear(err);
			return 0;
		}
		bool may_come = result != 0 ? err->code == ERR_BUSY : !w->path.len;
		if (!may_come || clock_mono_ns() >= unseen_ns)
			return result;
		err_clear(err);
		pause_a_moment();
	}
}

static int report_not_found(const struct wanted *w, struct fw_err *err)
{
	if (w->is_branch)
		return err_set(err, ERR_NOT_FOUND,
			"no job for branch %s of %s at %.10s: it is not watched, or its tip is not to be measured (see "
			"doc/troubleshooting.md#no-job)",
			w->what, w->of, w->tip);
	if (checkout_is_unpushed(&w->here, w->what))
		return err_set(
			err, ERR_NOT_FOUND, "branch %s is not pushed: git push -u %s %s", w->what, w->here.remote, w->what);
	return err_set(err, ERR_NOT_FOUND,
		"no job for %s: it is not a job number, watched branch or commit; a new branch has to be pushed (see "
		"doc/troubleshooting.md#no-job)",
		w->what);
}

/* Whether a name is unambiguous in all repositories: a full commit hash. */
static bool is_unambiguous(const char *what)
{
	return oid_is_whole(what);
}

/* Job numbers are unique in the daemon: without a selected repository, digits may be a job number. */
static int find_job_anywhere(struct client *c, struct wanted *w, struct fw_err *err)
{
	struct fw_err no_job = { 0 };
	if ((err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT) || find_job(c, w, &no_job) != 0 || !w->path.len)
		return -1;
	if (clear_unless_requested(c, w, &no_job) != 0 || !w->path.len)
		return -1;
	err_clear(err);
	return 0;
}

int wait_find(struct client *c, const struct options *o, const char *what, int64_t end_ns, bool is_patient, struct buf *path,
	struct fw_err *err)
{
	struct wanted w = { .what = what, .repo = o->repo, .is_strict = o->strict, .end_ns = end_ns };
	int64_t now_ns = clock_mono_ns();
	int result = 0;
	/* a local push is noticed immediately, one to a remote repository with its next poll */
	int64_t unseen_ns = !is_patient ? now_ns : o->timeout_s > UNSEEN_S ? end_ns : now_ns + UNSEEN_S * SECOND_NS;
	buf_init(&w.path, 1 << 16);
	if (!o->repo && !is_unambiguous(w.what))
		result = checkout_find(c, &w.here, err);
	if (w.here.repo[0])
		w.repo = w.here.repo;
	if (result != 0)
		result = find_job_anywhere(c, &w, err);
	if (result == 0 && !w.path.len)
		result = find_in_time(c, &w, unseen_ns, err);
	if (result == 0 && !w.path.len && is_patient)
		result = report_not_found(&w, err);
	*path = w.path;
	return result;
}

int verb_wait(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct buf path;
	json_t *verdict = NULL;
	int status = -1;
	int64_t end_ns = follow_deadline(o);
	if (wait_find(c, o, o->arg[0], end_ns, true, &path, &err) != 0)
		status = verb_fail_of_name(&err);
	else if (follow_verdict(c, o, path.data, end_ns, &verdict, &err) == 0)
		status = conclude(c, o, verdict, &err);
	json_decref(verdict);
	buf_fini(&path);
	return status < 0 ? verb_fail(&err) : status;
}
