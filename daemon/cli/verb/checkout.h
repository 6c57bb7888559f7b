/** checkout.h - which checkout and which repository a command means. */
#ifndef CLI_VERB_CHECKOUT_H
#define CLI_VERB_CHECKOUT_H

#include "cli/verbs.h"

/** The checkout around the current directory. Err: ERR_NOT_FOUND there is none. Shape: path[size]. */
int checkout_worktree(char *path, size_t size, struct fw_err *err);
/** The repository that the daemon reads from `worktree`, "" none. Shape: name[size]. */
int checkout_here(struct client *c, const char *worktree, char *name, size_t size, struct fw_err *err);
/**
 * The repository that is meant: --repo, the one read from `worktree` (NULL: none), or the only one. Shape: name[size].
 * Err: ERR_INVALID there are several.
 */
int checkout_repo(struct client *c, const struct options *o, const char *worktree, char *name, size_t size, struct fw_err *err);

#endif
