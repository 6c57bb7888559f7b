/* regular.c - documented in lib.h. */
#include "lib/lib.h"

#include <fcntl.h>
#include <unistd.h>

const char *regular_wrong(const struct stat *st)
{
	switch (st->st_mode & S_IFMT) {
	case S_IFREG:
		return NULL;
	case S_IFIFO:
		return "a FIFO";
	case S_IFDIR:
		return "a folder";
	case S_IFSOCK:
		return "a socket";
	case S_IFLNK:
		return "a link";
	default:
		return "a device";
	}
}

static int refuse(const char *what, const char *path, const struct stat *st, struct fw_err *err)
{
	const char *wrong = regular_wrong(st);

	return err_set(err, ERR_INVALID, "%s%s is %s, not a file", what, path, wrong ? wrong : "gone");
}

int regular_open(const char *what, const char *path, struct fw_err *err)
{
	struct stat st;

	/* Check before opening, because opening a socket only fails and opening a device may have effects. */
	if (stat(path, &st) < 0)
		return err_sys(err, "cannot read %s%s", what, path);
	if (regular_wrong(&st))
		return refuse(what, path, &st, err);
	/* Check again after opening, because the file may have been replaced; O_NONBLOCK does not wait for a FIFO. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_sys(err, "cannot read %s%s", what, path);
	if (fstat(fd, &st) == 0 && !regular_wrong(&st))
		return fd;
	refuse(what, path, &st, err);
	close(fd);
	return -1;
}
