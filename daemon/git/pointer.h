/** pointer.h - files of a commit that only name their content: pointers of git-LFS, and pointers and links of git-annex. */
#ifndef GIT_POINTER_H
#define GIT_POINTER_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/buf.h"

enum { POINTER_MAX_BYTES = 1024 /* git-LFS takes no larger file for a pointer */ };

/**
 * Whether a file's bytes are such a pointer. Appends what it is and what to do, a sentence that follows the file's path, with the size of
 * the missing content where the pointer states it. Shape: data[len]. Source: the git-LFS specification, version 1; git-annex's key format.
 */
bool pointer_of_file(const char *data, size_t len, struct buf *out);

/** The same of a symbolic link's target, as git-annex makes them for locked files. */
bool pointer_of_link(const char *target, struct buf *out);

#endif
