/**
 * beneath.h - openat below an untrusted folder, without following links.
 *
 * It opens one component after the other with O_NOFOLLOW. openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS would do the
 * same in one call, but systemd's RestrictSUIDSGID, which applies to our workers, answers every openat2 with ENOSYS because it
 * cannot read the mode in its arguments.
 */
#ifndef WORKER_SANDBOX_BENEATH_H
#define WORKER_SANDBOX_BENEATH_H

/**
 * Open `path` below the folder `root`. `path` is relative; "." and empty components are ignored, and no component means `root`
 * itself. No component may be a symbolic link, including the last. `flags`: of openat, without O_CREAT; O_CLOEXEC and
 * O_NOFOLLOW are added. Returns a descriptor, or -1 with errno: ELOOP for a link, EXDEV for ".." and an absolute path, else
 * openat's.
 */
int beneath_open(int root, const char *path, int flags);

#endif
