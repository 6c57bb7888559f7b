/*
 * tree.c - archive of a tree, which is walked twice: first to check it, then to write it. libgit2's checkout is not used, because
 * it needs a folder, fails on bare repositories with submodules, and gives every file the current time.
 */
#include "git/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- pointer ---- */

static const char WHAT_TO_DO[] = "is not in the commit; commit the file itself, or leave it out of `inputs`";

static bool begins_with(const char *data, size_t len, const char *with)
{
	return len >= strlen(with) && memcmp(data, with, strlen(with)) == 0;
}

/* Parse the digits from `at` to `end`. Returns how many there are; 0: none, or too many for a size. */
static int digits(const char *at, const char *end)
{
	int n = 0;

	while (at + n < end && at[n] >= '0' && at[n] <= '9')
		n++;
	return n <= 18 ? n : 0;
}

static void describe(struct buf *out, const char *what, const char *size, int size_digits)
{
	if (size_digits > 0)
		buf_printf(out, "is a %s, and its content (%.*s bytes) %s", what, size_digits, size, WHAT_TO_DO);
	else
		buf_printf(out, "is a %s, and its content %s", what, WHAT_TO_DO);
}

/* Parse the size in a key of git-annex, BACKEND-s1234--NAME: its field -s precedes the double hyphen. */
static void describe_annex(struct buf *out, const char *what, const char *key, const char *end)
{
	const char *field = key;

	while (field < end && *field != '-')
		field++;
	for (; field + 1 < end && field[0] == '-' && field[1] != '-'; field += 1 + strcspn(field + 1, "-"))
		if (field[1] == 's') {
			describe(out, what, field + 2, digits(field + 2, end));
			return;
		}
	describe(out, what, NULL, 0);
}

static const char *last_slash(const char *begin, const char *end)
{
	while (end > begin && end[-1] != '/')
		end--;
	return end;
}

/*
 * Return whether a file's content is a pointer. If so, append its kind and the remedy, a text that follows the file's path, with
 * the size of the missing content if the pointer has it. Shape: data[len]. Formats: the git-LFS specification, version 1;
 * git-annex's key format.
 */
static bool pointer_of_file(const char *data, size_t len, struct buf *out)
{
	static const char annex[] = "/annex/objects/", size_line[] = "\nsize ";
	const char *end = data + len, *size;

	if (len > POINTER_MAX_BYTES || memchr(data, '\0', len))
		return false;
	if (begins_with(data, len, "version https://git-lfs.github.com/spec/") ||
		begins_with(data, len, "version https://hawser.github.com/spec/")) {
		if (!memmem(data, len, "\noid ", 5))
			return false;
		size = memmem(data, len, size_line, sizeof size_line - 1);
		describe(out, "git-LFS pointer", size ? size + sizeof size_line - 1 : NULL,
			size ? digits(size + sizeof size_line - 1, end) : 0);
		return true;
	}
	if (!begins_with(data, len, annex))
		return false;
	const char *line_end = memchr(data, '\n', len);
	line_end = line_end ? line_end : end;
	describe_annex(out, "git-annex pointer", last_slash(data, line_end), line_end);
	return true;
}

/* Do the same for the target of a symbolic link, as git-annex writes it for locked files. */
static bool pointer_of_link(const char *target, struct buf *out)
{
	const char *end = target + strlen(target);

	if (!strstr(target, ".git/annex/objects/"))
		return false;
	describe_annex(out, "git-annex link", last_slash(target, end), end);
	return true;
}

/* ---- tar: The ustar format of POSIX.1-1988, written field by field. ---- */

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
	if (fd_write(t->fd, data, len) != 0)
		return err_sys(err, "write the archive");
	t->written += (int64_t)len;
	return 0;
}

/* Return the position of the slash between prefix and name; 0: the name alone is enough; -1: the path cannot be split. */
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
		return err_set(err, ERR_INVALID, "%.200s%s: the path is too long for an archive (%zu bytes)", path,
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
		return err_set(err, ERR_INVALID, "is a link whose target is longer than %d bytes", LINK_MAX_BYTES);
	while (strncmp(at, "../", 3) == 0 || strcmp(at, "..") == 0) {
		up++;
		at += at[2] ? 3 : 2;
	}
	/* ".." after a name is relative to the target of that name, which may be another link, so it is rejected */
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
	snprintf(h.size, sizeof h.size, "%011llo", (unsigned long long)size & 077777777777ULL);
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

/* ---- tree ---- */

struct walk {
	struct git_repo *repo;
	struct tar *out;     /* NULL during the check */
	struct buf *problem; /* buffer for the first problem, during the check */
	const char *label;   /* name of the tree in the problem's text */
	struct buf path;     /* of the current entry, relative to the walked tree */
	int depth, entries;
};

/* One folder: the names of its entries, to detect duplicates. */
struct level {
	struct walk *walk;
	char **name;
	size_t n;
};

static int problem(struct walk *w, const char *what)
{
	if (!w->problem || w->problem->len)
		return 0;
	name_display(w->problem, w->label, strlen(w->label), 200);
	if (*w->label && w->path.len)
		buf_putc(w->problem, '/');
	name_display(w->problem, w->path.data, w->path.len, 300);
	buf_printf(w->problem, " %s", what);
	return 0;
}

static int check_name(struct walk *w, const char *name)
{
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strchr(name, '/') || strcasecmp(name, ".git") == 0)
		return problem(w, "has a name that no file may have");
	return 0;
}

static int check_link(struct walk *w, const char *oid, struct fw_err *err)
{
	struct fw_err why = { 0 };
	struct buf target, pointer;

	buf_init(&target, 4096);
	buf_init(&pointer, 1024);
	int result = git_repo_blob(w->repo, oid, 4096, &target, &why);
	if (result != 0 && why.code == ERR_UNSUPPORTED)
		result = problem(w, "is a link whose text is too long");
	else if (result != 0)
		err_set(err, why.code, "%s", why.text);
	else if (strlen(target.data) != target.len)
		problem(w, "is a link with a NUL in it");
	else if (pointer_of_link(target.data, &pointer))
		problem(w, pointer.data);
	else if (tar_check_link(w->path.data, target.data, &why) != 0)
		problem(w, why.text);
	buf_fini(&target);
	buf_fini(&pointer);
	return result;
}

/* Find a pointer: without its content, the few lines of the pointer would be measured. */
static int check_file(struct walk *w, const char *oid, struct fw_err *err)
{
	struct buf data, pointer;
	int found;

	buf_init(&data, POINTER_MAX_BYTES);
	buf_init(&pointer, 1024);
	found = git_repo_small_blob(w->repo, oid, POINTER_MAX_BYTES, &data, err);
	if (found == 1 && pointer_of_file(data.data, data.len, &pointer))
		problem(w, pointer.data);
	buf_fini(&data);
	buf_fini(&pointer);
	return found < 0 ? -1 : 0;
}

static int check_item(struct walk *w, const struct git_item *item, struct fw_err *err)
{
	struct fw_err why = { 0 };

	if (++w->entries > TREE_ENTRIES_MAX)
		return problem(w, "is one file too many");
	check_name(w, item->name);
	if (tar_check_path(w->path.data, item->kind == GIT_KIND_TREE, &why) != 0)
		problem(w, "has a path that is too long to travel");
	if (item->kind == GIT_KIND_SUBMODULE)
		problem(w,
			"is a submodule, whose files no commit has and flopwatch does not fetch; leave it out of `inputs`, or commit the files themselves");
	if (item->kind == GIT_KIND_LINK)
		return check_link(w, item->oid, err);
	return item->kind == GIT_KIND_BLOB || item->kind == GIT_KIND_EXECUTABLE ? check_file(w, item->oid, err) : 0;
}

static int write_file(struct walk *w, const struct git_item *item, struct fw_err *err)
{
	struct buf data;
	int result;

	if (w->out->written > TREE_BYTES_MAX)
		return err_set(err, ERR_UNSUPPORTED, "the tree is larger than %d MiB; list fewer inputs", TREE_BYTES_MAX >> 20);
	buf_init(&data, GIT_BLOB_MAX);
	result = git_repo_blob(w->repo, item->oid, GIT_BLOB_MAX, &data, err);
	if (result == 0 && item->kind == GIT_KIND_LINK)
		result = tar_link(w->out, w->path.data, data.data, err);
	else if (result == 0)
		result = tar_file(w->out, w->path.data, data.data, data.len, item->kind == GIT_KIND_EXECUTABLE, err);
	buf_fini(&data);
	return result;
}

static int walk_tree(struct walk *w, const char *oid, struct fw_err *err);

static int on_item(void *arg, const struct git_item *item, struct fw_err *err)
{
	struct level *l = arg;
	struct walk *w = l->walk;
	size_t before = w->path.len;
	int status;

	if (w->problem && w->problem->len)
		return 0;
	l->name = mem_grow_one(l->name, l->n, sizeof *l->name);
	l->name[l->n] = strdup(item->name);
	if (!l->name[l->n])
		return err_set(err, ERR_FULL, "out of memory");
	l->n++;
	if (w->path.len)
		buf_putc(&w->path, '/');
	buf_puts(&w->path, item->name);
	if (w->path.failed)
		return err_set(err, ERR_INVALID, "a path is longer than %zu bytes", w->path.max);
	if (!w->out)
		status = check_item(w, item, err);
	else if (item->kind == GIT_KIND_TREE)
		status = tar_directory(w->out, w->path.data, err);
	else
		status = write_file(w, item, err);
	if (status == 0 && item->kind == GIT_KIND_TREE && !(w->problem && w->problem->len))
		status = walk_tree(w, item->oid, err);
	w->path.len = before;
	w->path.data[before] = '\0';
	return status;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Reject two entries with one name: if they are a link and a folder, files would be written through the link. */
static void check_twins(struct level *l)
{
	size_t i;

	if (!l->n)
		return;
	qsort(l->name, l->n, sizeof *l->name, by_name);
	for (i = 1; i < l->n; i++)
		if (strcmp(l->name[i - 1], l->name[i]) == 0)
			problem(l->walk, "holds two entries of one name");
}

static int walk_tree(struct walk *w, const char *oid, struct fw_err *err)
{
	struct level l = { .walk = w };
	size_t i;
	int status;

	if (w->depth >= TREE_DEPTH_MAX) {
		if (w->problem)
			return problem(w, "is nested too deeply");
		return err_set(err, ERR_INVALID, "nested too deeply");
	}
	w->depth++;
	status = git_repo_tree(w->repo, oid, on_item, &l, err);
	w->depth--;
	if (status == 0 && w->problem)
		check_twins(&l);
	for (i = 0; i < l.n; i++)
		free(l.name[i]);
	free(l.name);
	return status;
}

static int run(struct walk *w, const char *oid, struct fw_err *err)
{
	int status;

	buf_init(&w->path, 65536);
	status = walk_tree(w, oid, err);
	buf_fini(&w->path);
	return status;
}

int tree_check(struct git_repo *r, const char *oid, const char *path, struct buf *problem_out, struct fw_err *err)
{
	struct walk w = { .repo = r, .problem = problem_out, .label = path };

	return run(&w, oid, err);
}

int tree_check_file(struct git_repo *r, const char *oid, const char *path, struct buf *problem_out, struct fw_err *err)
{
	struct walk w = { .repo = r, .problem = problem_out, .label = path };
	int result;

	buf_init(&w.path, 1);
	result = check_file(&w, oid, err);
	buf_fini(&w.path);
	return result;
}

static int write_tree(struct git_repo *r, const char *oid, struct tar *out, struct fw_err *err)
{
	struct walk w = { .repo = r, .out = out, .label = "" };
	struct buf why;
	int status;

	buf_init(&why, 2048);
	status = tree_check(r, oid, "", &why, err);
	if (status == 0 && why.len)
		status = err_set(err, ERR_INVALID, "%s", why.data);
	buf_fini(&why);
	return status < 0 ? -1 : run(&w, oid, err);
}

static int write_blob(struct git_repo *r, const char *oid, struct tar *out, struct fw_err *err)
{
	struct buf data;
	int result;

	buf_init(&data, GIT_BLOB_MAX);
	result = git_repo_blob(r, oid, GIT_BLOB_MAX, &data, err);
	if (result == 0)
		result = tar_file(out, "blob", data.data, data.len, false, err);
	buf_fini(&data);
	return result;
}

int tree_write(struct git_repo *r, const char *oid, int fd, struct fw_err *err)
{
	enum git_kind kind;
	struct tar out;

	if (git_repo_kind(r, oid, &kind, err) != 0)
		return -1;
	tar_init(&out, fd);
	if ((kind == GIT_KIND_TREE ? write_tree(r, oid, &out, err) : write_blob(r, oid, &out, err)) < 0)
		return -1;
	return tar_end(&out, err);
}
