/* beneath.c - openat, one component after the other, without links. */
#include "worker/sandbox/sandbox.h"

/*
 * Open one component. With O_NOFOLLOW, openat fails with ENOTDIR instead of ELOOP for a link if O_DIRECTORY is set, and opens the
 * link itself if O_PATH is set.
 */
static int open_part(int folder, const char *name, int flags)
{
	int fd = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC), error = errno;
	struct stat st;

	if (fd < 0 && error == ENOTDIR && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		error = ELOOP;
	if (fd >= 0 && (flags & O_PATH) && (fstat(fd, &st) < 0 || S_ISLNK(st.st_mode))) {
		close(fd);
		fd = -1;
		error = ELOOP;
	}
	errno = error;
	return fd;
}

int beneath_open(int root, const char *path, int flags)
{
	int folder = root, fd = -1, error = 0;
	char name[NAME_MAX + 1];

	if (*path == '/') {
		errno = EXDEV;
		return -1;
	}
	while (fd < 0 && error == 0) {
		size_t n = strcspn(path, "/");
		bool is_last = path[n + strspn(path + n, "/")] == '\0';
		int next;

		if (n > NAME_MAX)
			error = ENAMETOOLONG;
		else if (n == 2 && path[0] == '.' && path[1] == '.')
			error = EXDEV;
		if (error)
			break;
		memcpy(name, n ? path : ".", n ? n : 1);
		name[n ? n : 1] = '\0';
		/* a trailing slash requests a folder */
		next = open_part(folder, name, !is_last ? O_PATH | O_DIRECTORY : path[n] == '/' ? flags | O_DIRECTORY : flags);
		if (next < 0)
			error = errno;
		else if (is_last)
			fd = next;
		if (folder != root)
			close(folder);
		folder = next >= 0 && !is_last ? next : root;
		path += n;
		path += *path == '/';
	}
	if (folder != root)
		close(folder);
	if (fd < 0)
		errno = error;
	return fd;
}
