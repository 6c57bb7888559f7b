/* treediff.c - comparison of two built folders, entry by entry. Branch code wrote both, so no link is followed. */
#include "worker/sandbox/internal.h"

#include <dirent.h>

enum { DEPTH_MAX = 32, CHUNK = 1 << 16 };

static int is_visible(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Read CHUNK bytes at an offset, fewer only at the end of the file. */
static ssize_t read_chunk(int fd, char *out, off_t at)
{
	size_t have = 0;

	while (have < CHUNK) {
		ssize_t n = pread(fd, out + have, CHUNK - have, at + (off_t)have);

		if (n < 0)
			return -1;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

/* Return 1 if both files have the same bytes, 0 if not, -1 if one cannot be read. */
static int has_same_bytes(int a, int b)
{
	char *chunk = mem_alloc((size_t)2 * CHUNK);
	ssize_t n = 1;
	int result = 1;

	for (off_t at = 0; result == 1 && n > 0; at += n) {
		n = read_chunk(a, chunk, at);
		ssize_t other = read_chunk(b, chunk + CHUNK, at);

		if (n < 0 || other < 0)
			result = -1;
		else if (n != other || memcmp(chunk, chunk + CHUNK, (size_t)n) != 0)
			result = 0;
	}
	free(chunk);
	return result;
}

/* Return 1 if both files have the same bytes or the same loadable_hash, 0 if not, -1 on error. */
static int is_same_file(int a, int b, struct fw_err *err)
{
	char hex[2][HASH_HEX];
	int same = has_same_bytes(a, b);

	if (same < 0)
		return err_sys(err, "read a built file");
	if (same)
		return 1;
	if (loadable_hash(a, hex[0], err) != 0 || loadable_hash(b, hex[1], err) != 0)
		return -1;
	return strcmp(hex[0], hex[1]) == 0;
}

static int open_entry(int folder, const char *name, bool is_folder)
{
	return openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (is_folder ? O_DIRECTORY : 0));
}

static int compare_folders(struct treediff *d, int base, int target, const char *path, int depth, struct fw_err *err);

static bool has_same_target(int base, int target, const char *name)
{
	char a[4096], b[4096];
	ssize_t n = readlinkat(base, name, a, sizeof a), other = readlinkat(target, name, b, sizeof b);

	return n >= 0 && n == other && memcmp(a, b, (size_t)n) == 0;
}

/* Compare a file or folder. Returns as treediff_find. */
static int compare_contents(struct treediff *d, int base, int target, const char *name, const char *path, bool is_folder,
	int depth, struct fw_err *err)
{
	int a = open_entry(base, name, is_folder), b = open_entry(target, name, is_folder), result;

	if (a < 0 || b < 0)
		result = err_sys(err, "%s of the built folder", name);
	else
		result = is_folder ? compare_folders(d, a, b, path, depth + 1, err) : is_same_file(a, b, err);
	fd_close(&a);
	fd_close(&b);
	if (is_folder || result != 0)
		return result;
	if (d->n == TREEDIFF_MAX || strlen(path) >= sizeof d->path[0])
		return 0;
	memcpy(d->path[d->n++], path, strlen(path) + 1);
	return 1;
}

static int compare_entry(
	struct treediff *d, int base, int target, const char *name, const char *folder, int depth, struct fw_err *err)
{
	char path[TREEDIFF_PATH_SIZE + 256];
	struct stat a, b;

	if (fstatat(base, name, &a, AT_SYMLINK_NOFOLLOW) < 0 || fstatat(target, name, &b, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "%s of the built folder", name);
	if ((a.st_mode & S_IFMT) != (b.st_mode & S_IFMT) ||
		(S_ISREG(a.st_mode) && (a.st_mode & S_IXUSR) != (b.st_mode & S_IXUSR)))
		return 0;
	if (S_ISLNK(a.st_mode))
		return has_same_target(base, target, name);
	if ((!S_ISREG(a.st_mode) && !S_ISDIR(a.st_mode)) || (workdir_is_build_log(name, &a) && workdir_is_build_log(name, &b)))
		return 1;
	if (snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name) >= (int)sizeof path)
		return 0;
	return compare_contents(d, base, target, name, path, S_ISDIR(a.st_mode), depth, err);
}

static void free_list(struct dirent **list, int n)
{
	for (int i = 0; i < n; i++)
		free(list[i]);
	if (n >= 0)
		free(list);
}

static int compare_folders(struct treediff *d, int base, int target, const char *path, int depth, struct fw_err *err)
{
	struct dirent **a, **b;
	int result = 1;

	if (depth == DEPTH_MAX)
		return 0;
	int n = scandirat(base, ".", &a, is_visible, by_bytes), n_target = scandirat(target, ".", &b, is_visible, by_bytes);

	if (n < 0 || n_target < 0)
		result = err_sys(err, "the built folder");
	else if (n != n_target)
		result = 0;
	for (int i = 0; i < n && result == 1; i++)
		result = strcmp(a[i]->d_name, b[i]->d_name) == 0 ? compare_entry(d, base, target, a[i]->d_name, path, depth, err)
								 : 0;
	free_list(a, n);
	free_list(b, n_target);
	return result;
}

int treediff_find(int base, int target, struct treediff *out, struct fw_err *err)
{
	out->n = 0;
	return compare_folders(out, base, target, "", 0, err);
}
