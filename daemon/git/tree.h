/** tree.h - a git tree as something that may travel to a worker: checked first, then written as one archive. */
#ifndef GIT_TREE_H
#define GIT_TREE_H

#include "lib/buf.h"
#include "git/git.h"

enum { TREE_DEPTH_MAX = 64, TREE_ENTRIES_MAX = 200000, TREE_BYTES_MAX = 1 << 30 };

/**
 * Look for what must not travel: submodules, pointers of git-LFS and git-annex, links that leave the tree, names that no file can have (.., .git), paths too
 * long. `problem` stays empty when there is nothing. `path` is how the tree is called in the text.
 * Err: -1 only when the tree cannot be read.
 */
int tree_check(struct git_repo *r, const char *oid, const char *path, struct buf *problem, struct fw_err *err);
/** The same of one file: whether it is such a pointer. */
int tree_check_file(struct git_repo *r, const char *oid, const char *path, struct buf *problem, struct fw_err *err);
/** Write a tree, or one file under the name `blob`, as ustar. Nothing is written when tree_check finds something. */
int tree_write(struct git_repo *r, const char *oid, int fd, struct fw_err *err);

#endif
