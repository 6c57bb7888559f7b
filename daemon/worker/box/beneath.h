/**
 * beneath.h - opens what lies below a folder that somebody else wrote to, and never what a link there leads to.
 *
 * It asks for one part of a path after the other, each by openat with O_NOFOLLOW. openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS would
 * promise the same by one call, but systemd's RestrictSUIDSGID, under which our workers run, answers ENOSYS to every openat2, as it cannot read
 * the mode in its arguments.
 */
#ifndef WORKER_BOX_BENEATH_H
#define WORKER_BOX_BENEATH_H

/**
 * Open `path` (relative; "." and empty parts count for nothing, no part at all is `root` itself) below the folder `root`. No part of it is met
 * through a symbolic link, and the last one is none. `flags`: of openat, without O_CREAT; O_CLOEXEC and O_NOFOLLOW come with it.
 * Returns a descriptor, or -1 with errno: ELOOP where a part is a link, EXDEV for ".." and an absolute path, else openat's.
 */
int beneath_open(int root, const char *path, int flags);

#endif
