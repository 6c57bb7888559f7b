/* checkout.c - the checkout around us, and the repository that is read from it. */
#include "cli/verb/checkout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output/value.h"

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

/* Which repository is meant: --repo, the one read from this checkout, or the only one. Shape: name[size]. */
int checkout_repo(struct client *c, const struct options *o, const char *worktree, char *name, size_t size, struct fw_err *err)
{
	if (o->repo) {
		snprintf(name, size, "%s", o->repo);
		return 0;
	}
	json_t *repos = NULL;
	if (client_get(c, "/api/v1/repos", &repos, err) != 0)
		return -1;
	const json_t *items = json_object_get(repos, "items");
	size_t i;
	json_t *repo;
	const json_t *found = json_array_size(items) == 1 ? json_array_get(items, 0) : NULL;
	json_array_foreach(items, i, repo) if (worktree && is_same_place(value_text(repo, "url"), worktree)) found = repo;
	int result = 0;
	if (found)
		snprintf(name, size, "%s", value_text(found, "name"));
	else
		result = err_set(
			err, ERR_INVALID, "%zu repositories are watched; say which one with --repo NAME", json_array_size(items));
	json_decref(repos);
	return result;
}
