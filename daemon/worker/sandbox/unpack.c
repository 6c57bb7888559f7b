/*
 * unpack.c - a small ustar reader. The archive comes from a repository, so it may be hostile. The reader accepts only the entries
 * that a git tree needs, and rejects features that caused vulnerabilities in other readers: hard links, devices, pax paths, "..",
 * paths through links.
 */
#include "worker/sandbox/internal.h"

enum { BLOCK = 512, CHUNK = 64 << 10, PATH_SIZE = 1024, DEPTH_MAX = 64 };

/* The same time for all files, so that no source is newer than another for make, and __TIMESTAMP__ does not differ. */
static const struct timespec fixed_time = { .tv_sec = UNPACK_TIME_S };

static const struct unpack_limits default_limits = { .file_bytes = 512LL << 20, .total_bytes = 1LL << 30, .entries = 100000 };

struct tar_reader {
	int fd, root_fd;
	const char *path;
	const struct unpack_limits *limits;
	int64_t total_bytes;
	int entries;
	char *chunk; /* chunk[CHUNK] */
};

struct entry {
	char name[PATH_SIZE];   /* below the root, cleaned */
	char target[PATH_SIZE]; /* of a link */
	char kind;              /* 'f' 'd' 'l' */
	bool executable;
	int64_t bytes;
};

static int read_all(struct tar_reader *r, void *to, size_t n, struct fw_err *err)
{
	size_t have = 0;

	while (have < n) {
		ssize_t got = read(r->fd, (char *)to + have, n - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(err, "read the archive");
		if (got == 0)
			return err_set(err, ERR_INVALID, "archive ends early");
		have += (size_t)got;
	}
	return 0;
}

/* Parse octal digits up to a space or NUL; -1 for other text, including base-256 and signed numbers. */
static int64_t octal(const unsigned char *field, size_t size)
{
	int64_t v = 0;
	size_t i = 0;

	while (i < size && field[i] == ' ')
		i++;
	if (i == size || field[i] < '0' || field[i] > '7')
		return -1;
	for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
		v = v * 8 + (field[i] - '0');
	return i == size || field[i] == ' ' || field[i] == '\0' ? v : -1;
}

static bool checksum_ok(const unsigned char *h)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : h[i];
	return octal(h + 148, 8) == sum;
}

/*
 * Append the components of `name` to the path `out`, without "." and empty ones. Err: "..", or a path that is too deep or long.
 * Shape: out[size].
 */
static int clean_path(const char *name, char *out, size_t size, struct fw_err *err)
{
	size_t len = strlen(out);
	int depth = 0;
	const char *p;

	for (p = out; *p; p++)
		depth += *p == '/';
	while (*name) {
		size_t n = strcspn(name, "/");

		if (n == 2 && name[0] == '.' && name[1] == '.')
			return err_set(err, ERR_INVALID, "its path leads out of the tree");
		if (n > 0 && !(n == 1 && name[0] == '.')) {
			if (++depth > DEPTH_MAX)
				return err_set(err, ERR_INVALID, "more than %d folders deep", DEPTH_MAX);
			if (n > 255 || len + n + 2 > size)
				return err_set(err, ERR_INVALID, "its path is too long");
			if (len)
				out[len++] = '/';
			memcpy(out + len, name, n);
			len += n;
			out[len] = '\0';
		}
		name += n;
		name += *name == '/';
	}
	return 0;
}

/*
 * Check that the target of a link is inside the root: ".." only at its beginning, and not above the root. The link is in a real
 * folder (no entry is created below a link), and the rest of its target descends through folders or other links that were
 * checked.
 */
static int check_link(const struct entry *e, struct fw_err *err)
{
	const char *t = e->target;
	int depth = 0, climbs = 0;
	bool down = false;
	const char *p;

	for (p = e->name; *p; p++)
		depth += *p == '/';
	if (!*t || *t == '/')
		return err_set(err, ERR_INVALID, "a link to %s", *t ? "an absolute path" : "nothing");
	while (*t) {
		size_t n = strcspn(t, "/");

		if (n == 2 && t[0] == '.' && t[1] == '.') {
			if (down || ++climbs > depth)
				return err_set(err, ERR_INVALID, "a link that leads out of the tree (to %s)", e->target);
		} else if (n > 0 && !(n == 1 && t[0] == '.')) {
			down = true;
		}
		t += n;
		t += *t == '/';
	}
	return 0;
}

static int read_header(struct tar_reader *r, const unsigned char *h, struct entry *e, struct fw_err *err)
{
	char name[PATH_SIZE];
	int64_t mode = octal(h + 100, 8);
	char type = (char)h[156];

	memset(e, 0, sizeof *e);
	if (!checksum_ok(h))
		return err_set(err, ERR_INVALID, "archive header %d is damaged", r->entries + 1);
	/* ustar splits a long name at a slash into prefix and name */
	if (memcmp(h + 257, "ustar", 5) == 0 && h[345])
		snprintf(name, sizeof name, "%.155s/%.100s", (const char *)h + 345, (const char *)h);
	else
		snprintf(name, sizeof name, "%.100s", (const char *)h);
	e->bytes = octal(h + 124, 12);
	e->executable = mode >= 0 && (mode & 0111);
	e->kind = type == '0' || type == '\0' ? 'f' : type == '5' ? 'd' : type == '2' ? 'l' : '?';
	snprintf(e->target, sizeof e->target, "%.100s", (const char *)h + 157);
	if (name[0] == '/') {
		err_set(err, ERR_INVALID, "its path is absolute");
	} else if (e->kind == '?') {
		err_set(err, ERR_INVALID, "type '%c' is neither file, folder nor symbolic link",
			type > ' ' && type < 127 ? type : '?');
	} else if (e->bytes < 0 || (e->kind != 'f' && e->bytes != 0)) {
		err_set(err, ERR_INVALID, "its size is invalid");
	} else if (e->bytes > r->limits->file_bytes) {
		err_set(err, ERR_INVALID, "larger than %lld MiB", (long long)(r->limits->file_bytes >> 20));
	} else if ((r->total_bytes += e->bytes) > r->limits->total_bytes) {
		err_set(err, ERR_INVALID, "all files together are larger than %lld MiB",
			(long long)(r->limits->total_bytes >> 20));
	} else if (++r->entries > r->limits->entries) {
		err_set(err, ERR_INVALID, "more than %d entries", r->limits->entries);
	} else if (clean_path(r->path, e->name, sizeof e->name, err) == 0 &&
		   clean_path(name, e->name, sizeof e->name, err) == 0 && (e->kind != 'l' || check_link(e, err) == 0)) {
		return 0;
	}
	return err_context(err, "archive entry \"%.200s\"", name);
}

/* Create all folders of `path`, which is changed and restored. Returns a descriptor of the last one. Own: close. */
static int make_folders(int root_fd, char *path, struct fw_err *err)
{
	char *slash = path;
	int fd;

	for (;;) {
		slash = strchr(slash, '/');
		if (slash)
			*slash = '\0';
		if (*path && mkdirat(root_fd, path, 0755) < 0 && errno != EEXIST)
			return err_sys(err, "make folder");
		fd = beneath_open(root_fd, path, O_PATH | O_DIRECTORY);
		if (fd < 0)
			return errno == ELOOP || errno == ENOTDIR
				       ? err_set(err, ERR_INVALID, "its parent \"%.200s\" is not a folder", path)
				       : err_sys(err, "open its parent \"%.200s\"", path);
		if (!slash)
			return fd;
		*slash++ = '/';
		close(fd);
	}
}

/* Create and open the parent folder of `path`, and point `*base` to its last component. Own: close. */
static int parent_of(int root_fd, char *path, const char **base, struct fw_err *err)
{
	char *slash = strrchr(path, '/');
	char none[1] = "";
	int fd;

	*base = slash ? slash + 1 : path;
	if (slash)
		*slash = '\0';
	fd = make_folders(root_fd, slash ? path : none, err);
	if (slash)
		*slash = '/';
	return fd;
}

static int write_file(struct tar_reader *r, const struct entry *e, int parent, const char *base, struct fw_err *err)
{
	int64_t left = e->bytes;
	int fd = openat(parent, base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, e->executable ? 0755 : 0644);

	if (fd < 0)
		return errno == EEXIST ? err_set(err, ERR_INVALID, "appears twice") : err_sys(err, "write");
	while (left > 0) {
		int64_t padded = (left + BLOCK - 1) / BLOCK * BLOCK;
		size_t step = padded < CHUNK ? (size_t)padded : CHUNK;
		size_t use = left < (int64_t)step ? (size_t)left : step;

		if (read_all(r, r->chunk, step, err) != 0 || (fd_write(fd, r->chunk, use) != 0 && err_sys(err, "write") != 0)) {
			close(fd);
			return -1;
		}
		left -= (int64_t)use;
	}
	futimens(fd, (const struct timespec[2]){ fixed_time, fixed_time });
	return close(fd) < 0 ? err_sys(err, "write") : 0;
}

static int make_entry(struct tar_reader *r, struct entry *e, struct fw_err *err)
{
	const char *base;
	int parent, result = 0;

	if (e->kind == 'd') {
		parent = make_folders(r->root_fd, e->name, err);
		if (parent < 0)
			return -1;
		close(parent);
		return 0;
	}
	parent = parent_of(r->root_fd, e->name, &base, err);
	if (parent < 0)
		return -1;
	if (!*base)
		result = err_set(err, ERR_INVALID, "has no name");
	else if (e->kind == 'f')
		result = write_file(r, e, parent, base, err);
	else if (symlinkat(e->target, parent, base) < 0)
		result = errno == EEXIST ? err_set(err, ERR_INVALID, "appears twice") : err_sys(err, "make link");
	else
		utimensat(parent, base, (const struct timespec[2]){ fixed_time, fixed_time }, AT_SYMLINK_NOFOLLOW);
	close(parent);
	return result;
}

/* Finish an archive of one file named "blob": move `path`/blob to `path`. */
static int lift_blob(struct tar_reader *r, struct fw_err *err)
{
	char path[PATH_SIZE] = "", from[PATH_SIZE + 16], temporary[PATH_SIZE + 16];

	if (clean_path(r->path, path, sizeof path, err) != 0 || !*path)
		return 0;
	snprintf(from, sizeof from, "%s/blob", path);
	snprintf(temporary, sizeof temporary, "%s.flopwatch-blob", path);
	if (renameat(r->root_fd, from, r->root_fd, temporary) < 0 || unlinkat(r->root_fd, path, AT_REMOVEDIR) < 0 ||
		renameat(r->root_fd, temporary, r->root_fd, path) < 0)
		return err_sys(err, "move file %s into place", r->path);
	return 0;
}

int unpack_tar(int tar_fd, int root_fd, const char *path, const struct unpack_limits *limits, struct fw_err *err)
{
	struct tar_reader r = { .fd = tar_fd, .root_fd = root_fd, .path = path, .limits = limits ? limits : &default_limits };
	static const unsigned char zero[BLOCK];
	unsigned char header[BLOCK];
	char folder[PATH_SIZE] = "";
	bool only_blob = false;
	struct entry e;
	int result = -1, fd;

	if (path[0] == '/')
		return err_set(err, ERR_INVALID, "input \"%.200s\" is an absolute path", path);
	r.chunk = mem_alloc(CHUNK);
	if (clean_path(path, folder, sizeof folder, err) != 0) {
		err_context(err, "input \"%.200s\"", path);
		goto out;
	}
	fd = make_folders(root_fd, folder, err);
	if (fd < 0)
		goto out;
	close(fd);
	for (;;) {
		if (read_all(&r, header, sizeof header, err) != 0)
			goto out;
		if (memcmp(header, zero, sizeof header) == 0)
			break;
		if (read_header(&r, header, &e, err) != 0)
			goto out;
		if (make_entry(&r, &e, err) != 0) {
			err_context(err, "archive entry \"%.200s\"", e.name);
			goto out;
		}
		only_blob = r.entries == 1 && e.kind == 'f' && strncmp((const char *)header, "blob", 5) == 0;
	}
	result = only_blob ? lift_blob(&r, err) : 0;
out:
	free(r.chunk);
	return result;
}
