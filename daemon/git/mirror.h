/** mirror.h - a bare copy of a remote repository's branches that is either whole or not there. */
#ifndef GIT_MIRROR_H
#define GIT_MIRROR_H

#include "lib/err.h"
#include "git/access.h"

#define MIRROR_MARKER "flopwatch-mirror" /* a file; its presence says that the folder is ours to delete */

/**
 * Make or update the mirror in folder `dir`. A new one grows beside it and takes its place by a rename; what an interrupted run
 * left behind is cleared away, and a mirror that cannot be read any more is made again.
 * Err: ERR_INVALID for a url or a folder that is not ours, ERR_BUSY while another run is at it.
 */
int mirror_update(const char *url, const char *dir, const struct git_access *access, struct fw_err *err);

#endif
