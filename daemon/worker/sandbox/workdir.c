/* workdir.c - removal, usage, hash and copy of folders that a hostile build has written, with limited depth of recursion. */
#include "worker/sandbox/internal.h"

#include <dirent.h>
#include <ftw.h>

enum { DEPTH_MAX = 32 };

struct removal {
	int root;       /* the folder that is removed; folders below DEPTH_MAX are moved into it */
	unsigned moved; /* number of moved folders, for their names */
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
		char moved_name[32];

		snprintf(moved_name, sizeof moved_name, "deep-%u", r->moved++);
		if (renameat(fd, name, r->root, moved_name) == 0)
			return 0;
		return errno == ENOTEMPTY || errno == EEXIST ? 0
							     : -1; /* the build uses this name: the next pass tries another one */
	}
	child = open_folder(fd, name);
	if (child < 0)
		return -1;
	result = empty_folder(r, child, depth + 1);
	if (result == 0 && unlinkat(fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT && errno != ENOTEMPTY)
		result = -1;
	return result;
}

/* Remove all entries of a folder. Own: closes `fd`. */
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
	/* a pass moves deep folders up, and the next one removes them */
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
		return err_sys(err, "change the owner of %s to user %u", path, uid);
	return 0;
}

static void add_below(int fd, int depth, struct disk_usage *sum)
{
	struct dirent *entry;
	struct stat st;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0)
		close(fd);
	sum->is_partial = sum->is_partial || !dir;
	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		sum->bytes += (int64_t)st.st_blocks * 512 / (S_ISDIR(st.st_mode) || !st.st_nlink ? 1 : (int64_t)st.st_nlink);
		sum->files++;
		sum->has_links = sum->has_links || (!S_ISDIR(st.st_mode) && st.st_nlink > 1);
		if (S_ISDIR(st.st_mode) && depth == DEPTH_MAX)
			sum->is_partial = true;
		else if (S_ISDIR(st.st_mode))
			add_below(openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), depth + 1, sum);
	}
	if (dir)
		closedir(dir);
}

struct disk_usage workdir_usage(int parent_fd, const char *name)
{
	struct disk_usage sum = { 0 };
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 || errno == EACCES)
		add_below(fd, 0, &sum);
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

bool workdir_is_unpacked(const struct stat *st)
{
	return st->st_mtime == UNPACK_TIME_S;
}

bool workdir_is_build_log(const char *name, const struct stat *st)
{
	static const char *const names[] = { "CMakeOutput.log", "CMakeError.log", "CMakeConfigureLog.yaml", ".ninja_log",
		".ninja_deps" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i]) == 0)
			return S_ISREG(st->st_mode) && !workdir_is_unpacked(st);
	return false;
}

static int hash_below(struct folder_hash *f, int fd, int depth, struct fw_err *err);

static int hash_entry(struct folder_hash *f, int fd, const char *name, int depth, struct fw_err *err)
{
	char target[4096], hex[HASH_HEX];
	struct stat st;
	int child, result;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "%s of the built folder", name);
	if (f->made_alone && ((S_ISREG(st.st_mode) && workdir_is_unpacked(&st)) || workdir_is_build_log(name, &st)))
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

enum { COPY_DEPTH_MAX = 64 };

static int copy_folder(int from, int to, int depth, int64_t *left);

/* Copy the contents of one file. `*left`: bytes that may be copied. Own: closes both. */
static int copy_file(int from, int to, int64_t *left)
{
	int result = from < 0 || to < 0 ? -1 : 0;
	ssize_t n = 1;

	while (result == 0 && n > 0 && *left >= 0) {
		n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0);
		if (n < 0)
			result = -1;
		else
			*left -= n;
	}
	fd_close(&from);
	fd_close(&to);
	return result;
}

/* Copy one entry with its mode and times, since programs such as make compare times. */
static int copy_entry(int from, int to, const char *name, int depth, int64_t *left)
{
	struct stat st;
	char target[PATH_MAX];

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	struct timespec times[2] = { st.st_atim, st.st_mtim };

	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlinkat(from, name, target, sizeof target - 1);

		if (n < 0)
			return -1;
		target[n] = '\0';
		return symlinkat(target, to, name);
	}
	if (S_ISREG(st.st_mode)) {
		if (copy_file(openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC),
			    openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), left) != 0)
			return -1;
	} else if (S_ISDIR(st.st_mode)) {
		if (depth == COPY_DEPTH_MAX || mkdirat(to, name, 0700) < 0)
			return -1;
		if (copy_folder(openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			    openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), depth + 1, left) != 0)
			return -1;
	} else {
		return 0; /* a socket or pipe of the build is useless without its processes */
	}
	return fchmodat(to, name, st.st_mode & 0777, 0) < 0 || utimensat(to, name, times, 0) < 0 ? -1 : 0;
}

/* Copy the contents of one folder. Own: closes both. */
static int copy_folder(int from, int to, int depth, int64_t *left)
{
	DIR *dir = from < 0 ? NULL : fdopendir(from);
	int result = !dir || to < 0 ? -1 : 0;
	struct dirent *entry;

	if (!dir)
		fd_close(&from);
	while (result == 0 && *left >= 0 && (errno = 0, entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			result = copy_entry(dirfd(dir), to, entry->d_name, depth, left);
	if (dir)
		closedir(dir);
	fd_close(&to);
	return result;
}

int workdir_copy(int from_parent, const char *from, int to_parent, const char *to, int64_t max_bytes)
{
	int64_t left = max_bytes;
	int target = workdir_fresh(to_parent, to, NULL);
	int result = copy_folder(openat(from_parent, from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), target, 0, &left);

	if (result == 0 && left >= 0)
		return 0;
	(void)workdir_remove(to_parent, to, NULL);
	return -1;
}
