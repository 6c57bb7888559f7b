/** checkout.h - which checkout and which repository a command means. */
#ifndef CLI_CHECKOUT_H
#define CLI_CHECKOUT_H

#include "cli/verbs.h"

/** The checkout around the current directory. Err: ERR_NOT_FOUND there is none. Shape: path[size]. */
int checkout_worktree(char *path, size_t size, struct fw_err *err);

/** The checkout around the current directory, and which watched repository is its own. */
struct checkout {
	char worktree[4096]; /* "" we are in none */
	char repo[256];      /* as the daemon calls it; "" we are in no checkout */
	char remote[256];    /* of the checkout, through which it is that repository; "" the daemon reads the checkout itself */
};

/**
 * Find the watched repository that the daemon reads from this checkout, or whose address one of its remotes has, however it is written. Outside
 * of a checkout all of `out` is "". Where remotes lead to several, it is the one that git pushes the current branch to, else the one that it
 * pulls it from, else that of origin. Err: ERR_NOT_FOUND the daemon does not watch the repository of this checkout, with the names of both;
 * ERR_CONFLICT none of these rules names one of several.
 */
int checkout_find(struct client *c, struct checkout *out, struct fw_err *err);
/** Whether it watches any, as 0; with --repo, which names the repository, always 0. Err: ERR_NOT_FOUND as above. */
int checkout_check(struct client *c, const struct options *o, struct fw_err *err);
/** Whether the checkout knows a commit of that branch of the watched repository that comes after `tip`, as after a push. */
bool checkout_has_newer(const struct checkout *here, const char *branch, const char *tip, char newer[65]);
/**
 * The repository that is meant: --repo, that of the checkout around us, the only one, or the only one with a branch or
 * commit `what` (NULL: none was named). Shape: name[size]. EXIT_OK, else a line was printed: EXIT_USAGE several are, EXIT_NOT_FOUND the
 * daemon does not watch the repository of the checkout around us.
 */
int checkout_repo(struct client *c, const struct options *o, const char *what, char *name, size_t size);
/** Always ERR_CONFLICT: which of `repos`, names separated by commas, is meant with `what`? */
int checkout_request_which(const char *what, const char *repos, struct fw_err *err);

#endif
