/* wait: for all suites of a branch's tip or of a commit, or for a job; the exit status is the verdict. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/verb/conclude.h"
#include "cli/verb/follow.h"
#include "cli/verb/checkout.h"
#include "cli/output/value.h"
#include "cli/verbs.h"
#include "base/oid.h"

enum { COMMIT_MIN = 7, UNSEEN_NS = 1000000000, UNSEEN_S = 5, NAMES_MAX = 1 << 15 };

/* Where the verdict on `what` is asked for. */
struct wanted {
	const char *what, *repo; /* repo NULL: any */
	char here[256];          /* the repository that is read from the checkout around us; "" none */
	struct buf path;         /* "" not found yet */
};

static void set_path(struct wanted *w, const char *sha, const char *branch, const char *repo)
{
	buf_clear(&w->path);
	buf_puts(&w->path, "/api/v1/commits/");
	client_argument(&w->path, sha);
	buf_puts(&w->path, "/verdict");
	client_query(&w->path, "repo", repo);
	client_query(&w->path, "branch", branch);
}

/* Whether anything was asked for at the path that is set; else it is cleared. */
static int keep_if_asked(struct client *c, struct wanted *w, struct fw_err *err)
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

static int ask_for_digits(const struct wanted *w, struct fw_err *err)
{
	err_clear(err);
	return err_set(err, ERR_CONFLICT, "several commits begin with %s; write more digits", w->what);
}

/* By the tip of a branch. */
static int find_branch(struct client *c, struct wanted *w, struct fw_err *err)
{
	json_t *answer = NULL, *item, *found = NULL;
	size_t i;
	int n = 0;
	struct buf repos;
	buf_clear(&w->path);
	buf_puts(&w->path, "/api/v1/branches");
	client_query(&w->path, "branch", w->what);
	client_query(&w->path, "repo", w->repo);
	int asked = client_get_all(c, w->path.data, &answer, err);
	buf_clear(&w->path);
	if (asked != 0 && (!w->repo || err->code != ERR_NOT_FOUND))
		return -1;
	err_clear(err);
	buf_init(&repos, NAMES_MAX);
	json_array_foreach(json_object_get(answer, "items"), i, item)
	{
		buf_printf(&repos, "%s%s", n ? ", " : "", value_text(item, "repo"));
		bool here = strcmp(value_text(item, "repo"), w->here) == 0;
		n = here ? 1 : n + 1;
		found = item;
		if (here)
			break;
	}
	int result = 0;
	if (n > 1)
		result = checkout_ask_which(w->what, repos.data, err);
	buf_fini(&repos);
	if (n == 1) {
		set_path(w, value_text(found, "commit"), value_text(found, "name"), value_text(found, "repo"));
		result = keep_if_asked(c, w, err);
	}
	json_decref(answer);
	return result;
}

/* The digits begin commits of several repositories, or several of one: name the repositories. */
static int ask_which_of(struct client *c, struct wanted *w, struct fw_err *err)
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
		result = keep_if_asked(c, w, err);
		if (result != 0 && err->code != ERR_CONFLICT)
			break;
		if (result != 0 || w->path.len)
			buf_printf(&names, "%s%s", n++ ? ", " : "", name);
		err_clear(err);
	}
	if (err->code == ERR_NONE)
		result = n > 1 ? checkout_ask_which(w->what, names.data, err) : ask_for_digits(w, err);
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
	int result = keep_if_asked(c, w, err);
	if (result != 0 && err->code == ERR_CONFLICT && !w->repo && w->here[0]) {
		err_clear(err);
		set_path(w, w->what, NULL, w->here);
		result = keep_if_asked(c, w, err);
	} else if (result != 0 && err->code == ERR_CONFLICT && !w->repo) {
		return ask_which_of(c, w, err);
	}
	return result != 0 && err->code == ERR_CONFLICT ? ask_for_digits(w, err) : result;
}

static int find_job(struct client *c, struct wanted *w, struct fw_err *err)
{
	size_t len = strlen(w->what);
	if (!len || len >= 19 || strspn(w->what, "0123456789") != len)
		return 0;
	buf_clear(&w->path);
	buf_printf(&w->path, "/api/v1/jobs/%lld/verdict", strtoll(w->what, NULL, 10));
	return len < COMMIT_MIN ? 0 : keep_if_asked(c, w, err); /* else it may be a commit that is not seen yet */
}

static int find(struct client *c, struct wanted *w, struct fw_err *err)
{
	int (*const ways[])(struct client *, struct wanted *, struct fw_err *) = { find_branch, find_commit, find_job };
	for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !w->path.len; i++)
		if (ways[i](c, w, err) != 0)
			return -1;
	return 0;
}

int verb_wait(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct wanted w = { .what = o->arg[0], .repo = o->repo };
	json_t *verdict = NULL;
	int status = -1;
	char worktree[4096];
	/* a push that was just made is noticed in a moment, on a remote repository with its next poll */
	int64_t end_ns = follow_deadline(o),
		unseen_ns = o->timeout_s > UNSEEN_S ? end_ns : clock_mono_ns() + UNSEEN_S * (int64_t)UNSEEN_NS;
	buf_init(&w.path, 1 << 16);
	if (!o->repo && (checkout_worktree(worktree, sizeof worktree, &err) != 0 ||
				checkout_here(c, worktree, w.here, sizeof w.here, &err) != 0))
		err_clear(&err); /* we are elsewhere */
	int result = find(c, &w, &err);
	while (result == 0 && !w.path.len && clock_mono_ns() < unseen_ns) {
		nanosleep(&(struct timespec){ .tv_nsec = 100 * 1000 * 1000 }, NULL);
		result = find(c, &w, &err);
	}
	if (result != 0 && err.code == ERR_CONFLICT) {
		buf_fini(&w.path);
		(void)verb_fail(&err);
		return EXIT_USAGE; /* it could be answered, were it asked in full */
	}
	if (result == 0 && !w.path.len)
		result = err_set(&err, ERR_NOT_FOUND,
			"no job for %s: it is no job number, watched branch or commit (see doc/troubleshooting.md#no-job)",
			w.what);
	if (result == 0 && follow_verdict(c, o, w.path.data, end_ns, &verdict, &err) == 0)
		status = conclude(c, o, verdict, &err);
	json_decref(verdict);
	buf_fini(&w.path);
	return status < 0 ? verb_fail(&err) : status;
}
