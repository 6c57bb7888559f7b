/* filelock.c - documented in lib.h. */
#include "lib/lib.h"

#include <errno.h>
#include <sys/file.h>
#include <unistd.h>

bool filelock_is_at(int fd, const char *path)
{
	struct stat mine, there;
	return fstat(fd, &mine) == 0 && lstat(path, &there) == 0 && mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

int filelock_claim(int fd, const char *path, struct fw_err *err)
{
	bool is_held = flock(fd, LOCK_EX | LOCK_NB) != 0 &&
		       errno == EWOULDBLOCK; /* no other error means that another process has the lock */
	if (is_held || !filelock_is_at(fd, path))
		return 0;
	return ftruncate(fd, 0) == 0 ? 1 : err_sys(err, "cannot write %s", path);
}
