/* workdir.c - removal of folders that a hostile build could write to, by descriptors only and with limited stack depth. */
#include "worker/sandbox/internal.h"

#include <dirent.h>
#include <ftw.h>

enum { DEPTH_MAX = 32 };

struct removal {
	int root;       /* the folder being removed; entries at too great a depth are moved into it */
	unsigned moved; /* number of moved entries, for their names */
};

static int open_folder(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == EACCES && fchmodat(parent, name, 0700, 0) == 0)
		fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

static int empty_folder(struct removal *r, int fd, int depth);

static int remove_entry(struct removal *r, int fd, const char *name, int depth)
{
	int child, result;

	if (unlinkat(fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM && errno != EACCES)
		return -1;
	if (unlinkat(fd, name, AT_REMOVEDIR) == 0)
		return 0;
	if (depth == DEPTH_MAX) {
		char aside[32];

		snprintf(aside, sizeof aside, "deep-%u", r->moved++);
		if (renameat(fd, name, r->root, aside) == 0)
			return 0;
		return errno == ENOTEMPTY || errno == EEXIST ? 0
							     : -1; /* the build used this name: the next pass uses another one */
	}
	child = open_folder(fd, name);
	if (child < 0)
		return -1;
	result = empty_folder(r, child, depth + 1);
	if (result == 0 && unlinkat(fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT && errno != ENOTEMPTY)
		result = -1;
	return result;
}

/* Remove all entries of a folder. Own: takes over `fd`. */
static int empty_folder(struct removal *r, int fd, int depth)
{
	struct dirent *entry;
	int result = 0;
	DIR *dir;

	if (fchmod(fd, 0700) < 0 && errno != EPERM) {
		close(fd);
		return -1;
	}
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -1;
	}
	while (result == 0 && (errno = 0, entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			result = remove_entry(r, fd, entry->d_name, depth);
	if (result == 0 && errno)
		result = -1;
	closedir(dir);
	return result;
}

int workdir_remove(int parent_fd, const char *name, struct fw_err *err)
{
	struct removal r = { 0 };
	int result = 0;

	if (unlinkat(parent_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	r.root = open_folder(parent_fd, name);
	if (r.root < 0)
		return err_sys(err, "remove folder %s", name);
	/* each pass removes entries; those that were moved up are removed by the next pass */
	while (unlinkat(parent_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT) {
		int fd = errno == ENOTEMPTY || errno == EEXIST ? openat(r.root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

		if (fd < 0 || empty_folder(&r, fd, 0) != 0) {
			result = err_sys(err, "remove folder %s", name);
			break;
		}
	}
	close(r.root);
	return result;
}

int workdir_fresh(int parent_fd, const char *name, struct fw_err *err)
{
	int fd;

	if (workdir_remove(parent_fd, name, err) != 0)
		return -1;
	if (mkdirat(parent_fd, name, 0700) < 0)
		return err_sys(err, "make folder %s", name);
	fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_sys(err, "open folder %s", name) : fd;
}

static unsigned new_owner; /* nftw passes no argument */

static int give_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st, (void)type, (void)where;
	return lchown(path, new_owner, new_owner);
}

int workdir_give(const char *path, unsigned uid, struct fw_err *err)
{
	new_owner = uid;
	if (nftw(path, give_entry, DEPTH_MAX, FTW_PHYS) != 0 || chmod(path, 0755) < 0)
		return err_sys(err, "give %s to user %u", path, uid);
	return 0;
}

static void add_below(int fd, int depth, struct room_usage *sum)
{
	struct dirent *entry;
	struct stat st;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		sum->bytes += (int64_t)st.st_blocks * 512 / (S_ISDIR(st.st_mode) || !st.st_nlink ? 1 : (int64_t)st.st_nlink);
		sum->files++;
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			add_below(openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), depth + 1, sum);
	}
	if (dir)
		closedir(dir);
}

struct room_usage workdir_usage(int parent_fd, const char *name)
{
	struct room_usage sum = { 0 };

	add_below(openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), 0, &sum);
	return sum;
}

static int visible(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

struct folder_hash {
	struct hash_state state;
	bool made_alone; /* exclude files unchanged since they were unpacked */
	int n_files;
};

static int hash_below(struct folder_hash *f, int fd, int depth, struct fw_err *err);

static int hash_entry(struct folder_hash *f, int fd, const char *name, int depth, struct fw_err *err)
{
	char target[4096], hex[HASH_HEX];
	struct stat st;
	int child, result;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "%s of the built folder", name);
	if (f->made_alone && S_ISREG(st.st_mode) && st.st_mtime == UNPACK_TIME_S)
		return 0;
	f->n_files += S_ISREG(st.st_mode);
	bool program = S_ISREG(st.st_mode) && (st.st_mode & S_IXUSR);
	char kind = program ? 'x' : S_ISDIR(st.st_mode) ? 'd' : S_ISLNK(st.st_mode) ? 'l' : S_ISREG(st.st_mode) ? 'f' : 'o';

	hash_update(&f->state, &kind, 1);
	hash_text(&f->state, name);
	if (kind == 'l') {
		ssize_t n = readlinkat(fd, name, target, sizeof target);

		hash_update(&f->state, target, n > 0 ? (size_t)n : 0);
		return 0;
	}
	if (kind == 'o')
		return 0;
	child = openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (kind == 'd' ? O_DIRECTORY : 0));
	if (child < 0)
		return err_sys(err, "%s of the built folder", name);
	result = kind == 'd' ? hash_below(f, child, depth + 1, err) : loadable_hash(child, hex, err);
	close(child);
	if (kind != 'd' && result == 0)
		hash_update(&f->state, hex, HASH_HEX);
	return result;
}

static int hash_below(struct folder_hash *f, int fd, int depth, struct fw_err *err)
{
	struct dirent **list;
	int n = depth < DEPTH_MAX ? scandirat(fd, ".", &list, visible, by_bytes) : 0, result = 0, i;

	if (depth >= DEPTH_MAX)
		return err_set(err, ERR_INVALID, "the built folder is deeper than %d", DEPTH_MAX);
	if (n < 0)
		return err_sys(err, "the built folder");
	for (i = 0; i < n; i++) {
		if (result == 0)
			result = hash_entry(f, fd, list[i]->d_name, depth, err);
		free(list[i]);
	}
	free(list);
	hash_update(&f->state, "", 1); /* marks the end of this folder */
	return result;
}

static int hash_folder(struct folder_hash *f, int fd, char sha256[65], struct fw_err *err)
{
	hash_begin(&f->state);
	int result = hash_below(f, fd, 0, err);

	hash_end(&f->state, sha256);
	return result;
}

int workdir_hash(int fd, char sha256[65], struct fw_err *err)
{
	struct folder_hash f = { .made_alone = false };

	return hash_folder(&f, fd, sha256, err);
}

int workdir_hash_made(int fd, char sha256[65], struct fw_err *err)
{
	struct folder_hash f = { .made_alone = true };
	int result = hash_folder(&f, fd, sha256, err);

	if (f.n_files == 0)
		sha256[0] = '\0';
	return result;
}
