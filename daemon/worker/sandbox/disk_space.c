/* disk_space.c - free space on the disk of the cache. */
#include "worker/sandbox/sandbox.h"

#include <sys/statvfs.h>

/* maxima, for large disks */
static const int64_t reserve_max_bytes = 256LL << 20, share_max_bytes = 1LL << 30;
enum {
	RESERVE_DIVISOR = 16, /* of a small disk, this fraction is the reserve */
	SHARE_DIVISOR = 4,    /* and this one the share of a build, also of its files */
	RESERVE_FILES = 1000, /* fewer free files mean a full disk */
	BUILD_FILES = 5000,   /* free files that a build needs to start */
	SHARE_FILES = 200000, /* share of a build */
	FILES_DIVISOR = 20    /* maximum of both numbers of free files: this fraction of all files */
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

bool disk_space_read(int fd, struct disk_space *out)
{
	struct statvfs fs;

	if (fstatvfs(fd, &fs) != 0)
		return false;
	*out = (struct disk_space){ .size_bytes = (int64_t)fs.f_blocks * (int64_t)fs.f_frsize,
		.free_bytes = (int64_t)fs.f_bavail * (int64_t)fs.f_frsize,
		.files = (int64_t)fs.f_files,
		.free_files = (int64_t)fs.f_favail };
	return true;
}

static int64_t reserve_bytes(const struct disk_space *r)
{
	return least(reserve_max_bytes, r->size_bytes / RESERVE_DIVISOR);
}

static int64_t share_bytes(const struct disk_space *r)
{
	return least(share_max_bytes, r->size_bytes / SHARE_DIVISOR);
}

bool disk_usage_exceeds_share(const struct disk_space *r, struct disk_usage by)
{
	return by.is_partial || by.bytes >= share_bytes(r) ||
	       (r->files > 0 && by.files >= least(SHARE_FILES, r->files / SHARE_DIVISOR));
}

static bool lacks(const struct disk_space *r, int64_t bytes, int64_t files)
{
	return r->free_bytes < bytes || (r->files > 0 && r->free_files < least(files, r->files / FILES_DIVISOR));
}

bool disk_space_is_low(const struct disk_space *r)
{
	return lacks(r, reserve_bytes(r), RESERVE_FILES);
}

void disk_space_describe(const struct disk_space *r, const char *dir, char *text, int size)
{
	char files[40] = "";

	if (r->files > 0 && r->free_files < BUILD_FILES)
		snprintf(files, sizeof files, " and %lld files", (long long)r->free_files);
	snprintf(text, (size_t)size, "%lld MiB%s are free on the disk of %.300s", (long long)(r->free_bytes >> 20), files, dir);
}

int disk_space_check(int fd, const char *dir, struct fw_err *err)
{
	struct disk_space r;
	char text[400];
	int64_t wanted;

	if (!disk_space_read(fd, &r))
		return 0;
	wanted = reserve_bytes(&r) + share_bytes(&r);
	if (!lacks(&r, wanted, BUILD_FILES))
		return 0;
	disk_space_describe(&r, dir, text, sizeof text);
	return err_set(err, ERR_FULL, "only %s; jobs wait for %lld MiB and %lld files (see doc/troubleshooting.md#cache-full)",
		text, (long long)(wanted >> 20), (long long)least(BUILD_FILES, r.files / FILES_DIVISOR));
}
