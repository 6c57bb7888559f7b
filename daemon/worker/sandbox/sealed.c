/* sealed.c - copies of modules in sealed memfds. Without the seal a module could change between hash and load. */
#include "worker/sandbox/sandbox.h"

#include <sys/mman.h>
#include <sys/sendfile.h>

static const int all_seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

static int make(const char *name, struct fw_err *err)
{
	int fd = memfd_create("flopwatch", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd < 0 ? err_sys(err, "memfd for %s", name) : fd;
}

static int seal(int fd, const char *name, struct fw_err *err)
{
	if (fcntl(fd, F_ADD_SEALS, all_seals) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		err_sys(err, "seal %s", name);
		close(fd);
		return -1;
	}
	return fd;
}

int sealed_copy(int fd, const char *name, char sha256[HASH_HEX], struct fw_err *err)
{
	int out = make(name, err);
	off_t offset = 0;
	ssize_t n;

	if (out < 0)
		return -1;
	while ((n = sendfile(out, fd, &offset, 1 << 20)) != 0) {
		if (n < 0 && errno != EINTR && errno != EAGAIN) {
			err_sys(err, "copy %s", name);
			close(out);
			return -1;
		}
	}
	out = seal(out, name, err);
	if (out < 0)
		return -1;
	/* hash after sealing, when no process can change it */
	if (hash_fd(out, sha256, err) != 0 || lseek(out, 0, SEEK_SET) < 0) {
		err_sys(err, "hash %s", name);
		close(out);
		return -1;
	}
	return out;
}

int sealed_open(const char *path, char sha256[HASH_HEX], struct fw_err *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), out;
	struct stat st;

	if (fd < 0)
		return err_sys(err, "module %s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(err, ERR_INVALID, "module %s: not a regular file", path);
	}
	out = sealed_copy(fd, path, sha256, err);
	close(fd);
	return out;
}

int sealed_once(const char *name, const void *data, size_t len, struct fw_err *err)
{
	int fd = make(name, err);

	if (fd < 0)
		return -1;
	if (fd_write(fd, data, len) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	err_sys(err, "write %s", name);
	close(fd);
	return -1;
}
