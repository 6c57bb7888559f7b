/**
 * layout.h - whether what git keeps in files are files: libgit2 opens a FIFO as readily and then waits for a writer that never comes.
 *
 * A push cannot make one; a user who may write to the folder of the repository can. What is put there after the check ends at the deadline.
 */
#ifndef GIT_LAYOUT_H
#define GIT_LAYOUT_H

#include <stdbool.h>

#include "lib/err.h"

/**
 * Check the files of the repository at `path`, with `search` also of one above it, and those that they name: HEAD, config, packed-refs and their
 * like, objects, packs and alternates; with `refs` also every ref. Err: ERR_DAMAGED, which names the first that is no file, before anything
 * was opened. A repository that is not there is none of its errors.
 */
int layout_check(const char *path, bool search, bool refs, struct fw_err *err);

/** The same of the files below a work tree that say what git ignores, and how it reads others. Err: as layout_check. */
int layout_check_tree(const char *dir, struct fw_err *err);

#endif
