/* checkout.c - the checkout around us, and the repository that is read from it. */
#include "cli/verb/checkout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/oid.h"
#include "cli/output/value.h"

enum { COMMIT_MIN = 7, NAMES_MAX = 1 << 15, PATH_MAX_BYTES = 1 << 16 };

/* The checkout around the current directory. */
int checkout_worktree(char *path, size_t size, struct fw_err *err)
{
	if (!getcwd(path, size))
		return err_sys(err, "the current directory");
	for (;;) {
		char git[4200];
		snprintf(git, sizeof git, "%s/.git", path);
		if (access(git, F_OK) == 0)
			return 0;
		char *slash = strrchr(path, '/');
		if (!slash || slash == path)
			return err_set(err, ERR_NOT_FOUND,
				"this is not inside a git checkout; go there, or name a branch or commit instead of \".\"");
		*slash = '\0';
	}
}

/* Whether the daemon reads `url` from this checkout. */
static bool is_same_place(const char *url, const char *worktree)
{
	char a[4096], git[4200];
	char *real = realpath(strncmp(url, "file://", 7) == 0 ? url + 7 : url, NULL);
	if (!real)
		return false;
	snprintf(a, sizeof a, "%s", real);
	free(real);
	snprintf(git, sizeof git, "%s/.git", worktree);
	return strcmp(a, worktree) == 0 || strcmp(a, git) == 0;
}

/* The repository that the daemon reads from this checkout, "" none. Shape: name[size]. */
int checkout_here(struct client *c, const char *worktree, char *name, size_t size, struct fw_err *err)
{
	json_t *repos = NULL, *repo;
	size_t i;
	name[0] = '\0';
	if (client_get(c, "/api/v1/repos", &repos, err) != 0)
		return -1;
	json_array_foreach(json_object_get(repos, "items"), i, repo) if (is_same_place(value_text(repo, "url"), worktree))
		snprintf(name, size, "%s", value_text(repo, "name"));
	json_decref(repos);
	return 0;
}

/* Repositories that may be meant. */
struct candidates {
	struct buf names; /* separated by commas */
	char one[256];
	int n;
};

static void add(struct candidates *of, const char *name)
{
	if (of->n && strcmp(of->one, name) == 0)
		return; /* lists are by repository, so what comes again comes at once */
	buf_printf(&of->names, "%s%s", of->n++ ? ", " : "", name);
	snprintf(of->one, sizeof of->one, "%s", name);
}

static void forget(struct candidates *of)
{
	buf_clear(&of->names);
	of->n = 0;
}

/* The rows of an answer that was got as `result`, and is released. Not found is none. */
static int add_rows(int result, json_t *answer, const char *list, const char *key, struct candidates *of, struct fw_err *err)
{
	json_t *item;
	size_t i;
	json_array_foreach(json_object_get(answer, list), i, item)
	{
		if (strcmp(value_text(item, "state"), "gone") != 0)
			add(of, value_text(item, key));
	}
	json_decref(answer);
	if (result == 0 || err->code != ERR_NOT_FOUND)
		return result;
	err_clear(err);
	return 0;
}

static int add_all(struct client *c, struct candidates *of, struct fw_err *err)
{
	json_t *answer = NULL;
	int result = client_get(c, "/api/v1/repos", &answer, err);
	return add_rows(result, answer, "items", "name", of, err);
}

/* Those with a branch or a commit of that name. */
static int add_holders(struct client *c, const char *what, struct candidates *of, struct fw_err *err)
{
	struct buf path;
	json_t *answer = NULL;
	buf_init(&path, PATH_MAX_BYTES);
	buf_puts(&path, "/api/v1/branches");
	client_query(&path, "branch", what);
	int result = client_get_all(c, path.data, &answer, err);
	result = add_rows(result, answer, "items", "repo", of, err);
	if (result == 0 && of->n == 0 && oid_is_prefix(what, COMMIT_MIN)) {
		buf_clear(&path);
		buf_puts(&path, "/api/v1/commits/");
		client_argument(&path, what);
		answer = NULL;
		result = client_get(c, path.data, &answer, err);
		result = add_rows(result, answer, "commits", "repo", of, err);
	}
	buf_fini(&path);
	return result;
}

int checkout_ask_which(const char *what, const char *repos, struct fw_err *err)
{
	return err_set(err, ERR_CONFLICT, "%s is in several repositories: %s; say which one with --repo NAME", what, repos);
}

static int choose(struct client *c, const char *what, struct candidates *of, struct fw_err *err)
{
	char worktree[4096], here[256] = "";
	if (checkout_worktree(worktree, sizeof worktree, NULL) == 0 && checkout_here(c, worktree, here, sizeof here, err) != 0)
		return -1;
	if (here[0])
		add(of, here);
	else if (add_all(c, of, err) != 0)
		return -1;
	if (of->n == 1)
		return 0;
	forget(of);
	if (what && add_holders(c, what, of, err) != 0)
		return -1;
	if (of->n > 1)
		return checkout_ask_which(what, of->names.data, err);
	if (of->n == 1)
		return 0;
	if (add_all(c, of, err) != 0)
		return -1;
	if (of->n == 0)
		return err_set(err, ERR_NOT_FOUND, "no repository is watched; add one under repos: in flopwatchd.yml");
	return err_set(
		err, ERR_CONFLICT, "%d repositories are watched: %s; say which one with --repo NAME", of->n, of->names.data);
}

int checkout_repo(struct client *c, const struct options *o, const char *what, char *name, size_t size)
{
	struct fw_err err = { 0 };
	struct candidates of = { 0 };
	buf_init(&of.names, NAMES_MAX);
	if (o->repo)
		add(&of, o->repo);
	else
		(void)choose(c, what, &of, &err);
	snprintf(name, size, "%s", of.one);
	buf_fini(&of.names);
	if (err.code == ERR_NONE)
		return EXIT_OK;
	int status = verb_fail(&err);
	return err.code == ERR_CONFLICT ? EXIT_USAGE : status; /* it could be answered, were it asked in full */
}
