/* secret.c - documented in lib.h. */
#include "lib/lib.h"

#include <errno.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SHORTEST_BYTES = 8, LINE_BYTES = 4096 };

/* ---- access control lists, as the kernel stores them in version 2 ---- */

enum { ACL_BYTES = 4096, ACL_ENTRY_BYTES = 8, ACL_USER_TAG = 0x02, ACL_GROUP_OBJ_TAG = 0x04, ACL_GROUP_TAG = 0x08 };

static unsigned little_endian(const unsigned char *at, int n)
{
	unsigned value = 0;

	while (n-- > 0)
		value = value << 8 | at[n];
	return value;
}

/*
 * True if the list grants access only to the owner and this user. For root, which may read all files, a list that names the
 * daemon's user is private as well.
 */
static bool list_is_private(const unsigned char *list, ssize_t len)
{
	for (ssize_t at = 4; at + ACL_ENTRY_BYTES <= len; at += ACL_ENTRY_BYTES) {
		unsigned tag = little_endian(list + at, 2), may = little_endian(list + at + 2, 2);
		unsigned id = little_endian(list + at + 4, 4);

		if (may && (tag == ACL_GROUP_OBJ_TAG || tag == ACL_GROUP_TAG ||
				   (tag == ACL_USER_TAG && geteuid() != 0 && id != geteuid())))
			return false;
	}
	return true;
}

static bool is_private(int fd, const struct stat *st)
{
	unsigned char list[ACL_BYTES];
	ssize_t len;

	if (!(st->st_mode & 0077))
		return true;
	if (st->st_mode & 0007)
		return false;
	len = fgetxattr(fd, "system.posix_acl_access", list, sizeof list);
	return len > 4 && little_endian(list, 4) == 2 && list_is_private(list, len);
}

/* ---- outside ---- */

int secret_open(const char *path, struct fw_err *err)
{
	struct stat st;
	int fd = regular_open("", path, err);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && is_private(fd, &st))
		return fd;
	close(fd);
	return err_set(err, ERR_INVALID,
		"%s may be read or written by others than its owner (mode %04o); chown it to the user of this program and chmod 600 it",
		path, st.st_mode & 07777);
}

int secret_read(const char *path, char *text, size_t size, struct fw_err *err)
{
	char line[LINE_BYTES] = "";
	ssize_t n = 0;
	int fd = secret_open(path, err), result = 0;

	text[0] = '\0';
	if (fd < 0)
		return -1;
	for (size_t len = 0; len < sizeof line - 1 && (n = read(fd, line + len, sizeof line - 1 - len)) != 0;) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		len += (size_t)n;
		line[len] = '\0';
	}
	if (n < 0) {
		result = err_sys(err, "cannot read %s", path);
	} else {
		size_t len = strcspn(line, "\r\n");

		if (len < SHORTEST_BYTES || len >= size)
			result = err_set(err, ERR_INVALID, "the secret in %s has %zu bytes; %d to %zu are fine", path, len,
				SHORTEST_BYTES, size - 1);
		else
			memcpy(text, line, len), text[len] = '\0';
	}
	close(fd);
	explicit_bzero(line, sizeof line);
	return result;
}
