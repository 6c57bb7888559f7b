/*
 * tree.c - walks a tree twice: once to refuse it as a whole, once to write it. libgit2's checkout is not used: it needs a
 * folder, fails on bare repositories with submodules, and stamps the current time on every file.
 */
#include "git/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct walk {
	struct git_repo *repo;
	struct tar *out;     /* NULL while checking */
	struct buf *problem; /* where the first problem goes, while checking */
	const char *label;   /* what the tree is called in it */
	struct buf path;     /* of the current entry, relative to the walked tree */
	int depth, entries;
};

/* One level: its entries' names, to find two entries of one name. */
struct level {
	struct walk *walk;
	char **name;
	size_t n, cap;
};

static int problem(struct walk *w, const char *what)
{
	if (w->problem->len)
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
	if (git_repo_blob(w->repo, oid, 4096, &target, &why) != 0) {
		buf_fini(&target);
		buf_fini(&pointer);
		if (why.code == ERR_UNSUPPORTED)
			return problem(w, "is a link whose text is too long");
		return err_set(err, why.code, "%s", why.text);
	}
	if (strlen(target.data) != target.len)
		problem(w, "is a link with a NUL in it");
	else if (pointer_of_link(target.data, &pointer))
		problem(w, pointer.data);
	else if (tar_check_link(w->path.data, target.data, &why) != 0)
		problem(w, why.text);
	buf_fini(&target);
	buf_fini(&pointer);
	return 0;
}

/* A file that stands for content elsewhere would be measured as it is: a few lines of text. */
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
		problem(w, "is a submodule; commit the files themselves");
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
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		char **grown = realloc(l->name, cap * sizeof *grown);

		if (!grown)
			return err_set(err, ERR_FULL, "out of memory");
		l->name = grown;
		l->cap = cap;
	}
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

/* Two entries of one name: a link and a folder of that name would write through the link. */
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
