/** checkout.h - which checkout and which repository a command means. */
#ifndef CLI_VERB_CHECKOUT_H
#define CLI_VERB_CHECKOUT_H

#include "cli/verbs.h"

/** The checkout around the current directory. Err: ERR_NOT_FOUND there is none. Shape: path[size]. */
int checkout_worktree(char *path, size_t size, struct fw_err *err);
/** The repository that the daemon reads from `worktree`, "" none. Shape: name[size]. */
int checkout_here(struct client *c, const char *worktree, char *name, size_t size, struct fw_err *err);
/**
 * The repository that is meant: --repo, the one read from the checkout around us, the only one, or the only one with a branch or
 * commit `what` (NULL: none was named). Shape: name[size]. EXIT_OK, else a line was printed: EXIT_USAGE several are.
 */
int checkout_repo(struct client *c, const struct options *o, const char *what, char *name, size_t size);
/** Always ERR_CONFLICT: which of `repos`, names separated by commas, is meant with `what`? */
int checkout_ask_which(const char *what, const char *repos, struct fw_err *err);

#endif
