/* tar.c - the ustar format of POSIX.1-1988, written field by field; see tar.c. */
#include "git/internal.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { BLOCK = 512, NAME_MAX_BYTES = 100, PREFIX_MAX_BYTES = 155, LINK_MAX_BYTES = 100 };

struct ustar {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6], version[2],
		user[32], group[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct ustar) == BLOCK, "a ustar header is one block");

void tar_init(struct tar *t, int fd)
{
	*t = (struct tar){ .fd = fd };
}

static int put(struct tar *t, const void *data, size_t len, struct fw_err *err)
{
	const char *at = data;

	while (len) {
		ssize_t done = write(t->fd, at, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_sys(err, "write the archive");
		at += done;
		len -= (size_t)done;
		t->written += done;
	}
	return 0;
}

/* Where the slash between prefix and name stands; 0 when the name alone is enough, -1 when it cannot be split. */
static int split(const char *path, size_t len)
{
	size_t i;

	if (len <= NAME_MAX_BYTES)
		return 0;
	for (i = len - NAME_MAX_BYTES - 1; i < len && i <= PREFIX_MAX_BYTES; i++)
		if (path[i] == '/' && i > 0 && i + 1 < len)
			return (int)i;
	return -1;
}

int tar_check_path(const char *path, bool is_directory, struct fw_err *err)
{
	size_t len = strlen(path) + is_directory;

	if (len > PREFIX_MAX_BYTES + 1 + NAME_MAX_BYTES || split(path, len) < 0)
		return err_set(err, ERR_INVALID, "%.200s%s: the path is too long to travel (%zu bytes)", path,
			len > 200 ? "..." : "", len);
	return 0;
}

int tar_check_link(const char *path, const char *target, struct fw_err *err)
{
	const char *at = target;
	size_t depth = 0, up = 0;

	for (; *path; path++)
		depth += *path == '/';
	if (!*target || *target == '/')
		return err_set(err, ERR_INVALID, "is a link to an absolute path");
	if (strlen(target) > LINK_MAX_BYTES)
		return err_set(err, ERR_INVALID, "is a link whose text is longer than %d bytes", LINK_MAX_BYTES);
	while (strncmp(at, "../", 3) == 0 || strcmp(at, "..") == 0) {
		up++;
		at += at[2] ? 3 : 2;
	}
	/* ".." behind a name is followed from where that name leads, which may be another link: not decidable here. */
	if (up > depth || strstr(at, "/../") || strncmp(at, "../", 3) == 0 ||
		(strlen(at) >= 3 && strcmp(at + strlen(at) - 3, "/..") == 0))
		return err_set(err, ERR_INVALID, "is a link that leaves the folder");
	return 0;
}

static int header(struct tar *t, const char *path, char type, unsigned mode, size_t size, const char *link, struct fw_err *err)
{
	struct ustar h = { .magic = "ustar", .version = { '0', '0' }, .type = type };
	char full[PREFIX_MAX_BYTES + NAME_MAX_BYTES + 2];
	unsigned sum = 0;
	const unsigned char *byte = (const unsigned char *)&h;
	size_t i;
	int at;

	if (tar_check_path(path, type == '5', err) != 0)
		return -1;
	if (size >= (size_t)1 << 33)
		return err_set(err, ERR_INVALID, "%s: larger than 8 GiB", path);
	snprintf(full, sizeof full, "%s%s", path, type == '5' ? "/" : "");
	at = split(full, strlen(full));
	if (at > 0) {
		memcpy(h.prefix, full, (size_t)at);
		memcpy(h.name, full + at + 1, strlen(full + at + 1));
	} else {
		memcpy(h.name, full, strlen(full));
	}
	snprintf(h.mode, sizeof h.mode, "%07o", mode & 07777);
	snprintf(h.uid, sizeof h.uid, "%07o", 0);
	snprintf(h.gid, sizeof h.gid, "%07o", 0);
	snprintf(h.size, sizeof h.size, "%011llo", (unsigned long long)size & 077777777777ull);
	snprintf(h.mtime, sizeof h.mtime, "%011o", 0);
	memcpy(h.link, link, strlen(link));
	memset(h.checksum, ' ', sizeof h.checksum);
	for (i = 0; i < sizeof h; i++)
		sum += byte[i];
	snprintf(h.checksum, sizeof h.checksum, "%06o", sum & 0777777);
	return put(t, &h, sizeof h, err);
}

int tar_directory(struct tar *t, const char *path, struct fw_err *err)
{
	return header(t, path, '5', 0755, 0, "", err);
}

int tar_file(struct tar *t, const char *path, const void *data, size_t len, bool executable, struct fw_err *err)
{
	static const char zeros[BLOCK];

	if (header(t, path, '0', executable ? 0755 : 0644, len, "", err) != 0 || put(t, data, len, err) != 0)
		return -1;
	return put(t, zeros, (BLOCK - len % BLOCK) % BLOCK, err);
}

int tar_link(struct tar *t, const char *path, const char *target, struct fw_err *err)
{
	if (tar_check_link(path, target, err) != 0)
		return err_context(err, "%s", path);
	return header(t, path, '2', 0777, 0, target, err);
}

int tar_end(struct tar *t, struct fw_err *err)
{
	static const char zeros[2 * BLOCK];

	return put(t, zeros, sizeof zeros, err);
}
