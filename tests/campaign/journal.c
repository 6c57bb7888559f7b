/*
 * journal.c - a library to preload (LD_PRELOAD) that records each change of the files of a folder, in order, so that power.py can
 * build what a power cut leaves.
 *
 * JOURNAL="FILE FOLDER": FILE gets the records, FOLDER ends with a slash. A record is a line, `KIND OFFSET LENGTH SIZE PATH`, and
 * SIZE bytes: the data of a write, or the new path of a rename. Writes are recorded before they happen and all others afterwards, so
 * that the end of FILE is never ahead of the disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[4096];
static size_t folder_len;
static int out = -1;

__attribute__((constructor)) static void begin(void)
{
	char file[4096];
	const char *text = getenv("JOURNAL");

	if (!text)
		return;
	if (sscanf(text, "%4095s %4095s", file, folder) != 2) {
		fprintf(stderr, "journal: JOURNAL is not FILE FOLDER\n");
		abort();
	}
	folder_len = strlen(folder);
	out = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (out < 0)
		abort();
}

/* One writev, so that records of threads and processes are not mixed. -shm has no content that survives. */
static void record(const char *kind, const char *path, long long offset, size_t length, const void *data, size_t size)
{
	char line[4300];
	int saved = errno;

	if (out < 0 || strncmp(path, folder, folder_len) != 0 || strstr(path, "-shm"))
		return;
	int n = snprintf(line, sizeof line, "%s %lld %zu %zu %s\n", kind, offset, length, size, path + folder_len);
	struct iovec part[] = { { line, (size_t)n }, { (void *)data, size } };
	if (syscall(SYS_writev, out, part, 2) != n + (ssize_t)size)
		abort();
	errno = saved;
}

static const char *path_of(int fd, char path[4096])
{
	char link[64];
	int saved = errno;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, 4095);
	errno = saved;
	path[n < 0 ? 0 : n] = '\0';
	return path;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t n)
{
	char path[4096];
	struct stat st;

	if (out >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		off_t at = fcntl(fd, F_GETFL) & O_APPEND ? st.st_size : lseek(fd, 0, SEEK_CUR);
		record("write", path_of(fd, path), at, n, data, n);
	}
	return REAL(write)(fd, data, n);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
	char path[4096];

	record("write", path_of(fd, path), at, n, data, n);
	return REAL(pwrite64)(fd, data, n, at);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
	return pwrite64(fd, data, n, at);
}

int ftruncate64(int fd, off64_t size)
{
	char path[4096];
	int result = REAL(ftruncate64)(fd, size);

	if (result == 0)
		record("truncate", path_of(fd, path), size, 0, NULL, 0);
	return result;
}

int ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}

int fsync(int fd)
{
	char path[4096];
	int result = REAL(fsync)(fd);

	if (result == 0)
		record("sync", path_of(fd, path), 0, 0, NULL, 0);
	return result;
}

int fdatasync(int fd)
{
	char path[4096];
	int result = REAL(fdatasync)(fd);

	if (result == 0)
		record("sync", path_of(fd, path), 0, 0, NULL, 0);
	return result;
}

int rename(const char *from, const char *to)
{
	int result = REAL(rename)(from, to);

	if (result == 0 && strncmp(to, folder, folder_len) == 0)
		record("rename", from, 0, 0, to + folder_len, strlen(to + folder_len));
	return result;
}

int unlink(const char *path)
{
	int result = REAL(unlink)(path);

	if (result == 0)
		record("unlink", path, 0, 0, NULL, 0);
	return result;
}

int mkdir(const char *path, mode_t mode)
{
	int result = REAL(mkdir)(path, mode);

	if (result == 0)
		record("mkdir", path, 0, 0, NULL, 0);
	return result;
}

static int opened(int fd, const char *path, int flags)
{
	if (fd >= 0 && (flags & O_CREAT))
		record("create", path, 0, 0, NULL, 0);
	if (fd >= 0 && (flags & O_TRUNC))
		record("truncate", path, 0, 0, NULL, 0);
	return fd;
}

#define MODE(flags)                                                                                                              \
	mode_t mode = 0;                                                                                                         \
	if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {                                                             \
		va_list more;                                                                                                    \
		va_start(more, flags);                                                                                           \
		mode = va_arg(more, mode_t);                                                                                     \
		va_end(more);                                                                                                    \
	}

int open(const char *path, int flags, ...)
{
	MODE(flags)
	return opened(REAL(open)(path, flags, mode), path, flags);
}

int open64(const char *path, int flags, ...)
{
	MODE(flags)
	return opened(REAL(open64)(path, flags, mode), path, flags);
}
