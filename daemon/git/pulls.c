/* pulls.c - refs of pull and merge requests; documented in internal.h. */
#include "git/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>

enum { NUMBER_DIGITS = 9, MEMORY_PRIORITY = 999 /* of objects in memory, above that of the repository's files */ };

/* Parse the number before `end`. Returns 0 if it is not a number above 0 without leading zeros. */
static int read_number(const char *text, char end, const char **rest)
{
	size_t n = strspn(text, "0123456789");

	*rest = text + n;
	return n == 0 || n > NUMBER_DIGITS || text[0] == '0' || text[n] != end ? 0 : atoi(text);
}

int pulls_begin(struct pulls *p, const char *what, const char *const *wanted, int n_wanted, struct fw_err *err)
{
	const char *colon = strchr(what, ':');
	const char *rest;

	*p = (struct pulls){ .is_merge = colon && strcmp(colon, ":merge") == 0, .n_wanted = n_wanted };
	snprintf(p->space, sizeof p->space, "%.*s", colon ? (int)(colon - what) : 0, what);
	if ((strcmp(p->space, "pull") != 0 && strcmp(p->space, "merge-requests") != 0) ||
		(!p->is_merge && strcmp(colon, ":head") != 0))
		return err_set(err, ERR_INVALID,
			"--pulls %.80s: not pull:head, pull:merge, merge-requests:head or "
			"merge-requests:merge",
			what);
	for (int i = 0; i < n_wanted; i++) {
		p->wanted[i].number = read_number(wanted[i], '=', &rest);
		snprintf(p->wanted[i].head, GIT_HEX, "%s", rest[0] ? rest + 1 : "");
		if (!p->wanted[i].number || rest[0] != '=' || !oid_is_whole(p->wanted[i].head) ||
			strcmp(rest + 1, p->wanted[i].head) != 0)
			return err_set(err, ERR_INVALID, "--pull %.80s: not NUMBER=HASH", wanted[i]);
	}
	return 0;
}

void pulls_fini(struct pulls *p)
{
	free(p->pull);
	p->pull = NULL;
	p->n = 0;
}

void pulls_clear(struct pulls *p)
{
	p->n = 0;
}

void pulls_add(struct pulls *p, const char *ref, const char *sha)
{
	size_t len = strlen(p->space);
	const char *rest = ref;
	bool is_ours = strncmp(ref, "refs/", 5) == 0 && strncmp(ref + 5, p->space, len) == 0 && ref[5 + len] == '/';
	int number = is_ours ? read_number(ref + 5 + len + 1, '/', &rest) : 0;
	bool is_head = number && strcmp(rest, "/head") == 0;

	if (!is_head && !(number && strcmp(rest, "/merge") == 0))
		return;
	/* the last one may be the same request: servers and git_repo_pulls list refs by name */
	if (!p->n || p->pull[p->n - 1].number != number) {
		p->pull = mem_grow_one(p->pull, (size_t)p->n, sizeof *p->pull);
		p->pull[p->n++] = (struct pull){ .number = number };
	}
	snprintf(is_head ? p->pull[p->n - 1].head : p->pull[p->n - 1].merge, GIT_HEX, "%s", sha);
}

static int newest_first(const void *a, const void *b)
{
	const struct pull *x = a, *y = b;

	return (x->number < y->number) - (x->number > y->number);
}

/* Return whether the request is wanted at its current head. */
static bool is_wanted(const struct pulls *p, const struct pull *one)
{
	for (int i = 0; i < p->n_wanted; i++)
		if (p->wanted[i].number == one->number && strcmp(p->wanted[i].head, one->head) == 0)
			return true;
	return false;
}

void pulls_sort(struct pulls *p)
{
	int n = 0;

	if (p->n)
		qsort(p->pull, (size_t)p->n, sizeof *p->pull, newest_first);
	for (int i = 0; i < p->n; i++)
		if (i < PULLS_MAX || is_wanted(p, &p->pull[i]))
			p->pull[n++] = p->pull[i];
	p->n_omitted = p->n - n;
	p->n = n;
}

bool pulls_spec(const struct pulls *p, int i, char *spec, size_t size)
{
	const struct pull *one = &p->pull[i];

	if (!is_wanted(p, one) || (p->is_merge && !one->merge[0]))
		return false;
	snprintf(spec, size, "+refs/%s/%d/%s:refs/flopwatch/%s/%d", p->space, one->number, p->is_merge ? "merge" : "head",
		p->space, one->number);
	return true;
}

/* Let the repository write new objects to memory, because it may belong to a user. */
static int write_to_memory(struct git_repo *r)
{
	git_odb *odb = NULL;
	git_odb_backend *memory = NULL;
	int rc = git_repository_odb(&odb, r->lib);

	if (rc == 0)
		rc = git_mempack_new(&memory);
	if (rc == 0 && (rc = git_odb_add_backend(odb, memory, MEMORY_PRIORITY)) < 0)
		memory->free(memory);
	git_odb_free(odb);
	return rc;
}

/* Merge two commits without a work tree. `tree` receives the result; "": there are conflicts. Shape: tree[GIT_HEX]. */
static int merge_commits(struct git_repo *r, const char *base, const char *head, char *tree, struct fw_err *err)
{
	git_commit *one = NULL, *two = NULL;
	git_index *index = NULL;
	git_oid oid;
	int rc = 0, result = -1;

	tree[0] = '\0';
	if (git_lib_commit(r, base, &one, err) == 0 && git_lib_commit(r, head, &two, err) == 0) {
		rc = write_to_memory(r);
		if (rc == 0)
			rc = git_merge_commits(&index, r->lib, one, two, NULL);
		if (rc == 0 && !git_index_has_conflicts(index) && (rc = git_index_write_tree_to(&oid, index, r->lib)) == 0)
			git_lib_format_oid(tree, &oid);
		result = rc < 0 ? git_lib_fail(err, rc, "merge %.12s into %.12s", head, base) : 0;
	}
	git_index_free(index);
	git_commit_free(one);
	git_commit_free(two);
	return result;
}

/*
 * Check that a merge result with the right parents is exactly their merge: some servers allow users to push to its ref, so that
 * it could have any content.
 */
static void check_merge(struct git_repo *r, const struct git_commit_info *merge, char *problem, size_t size)
{
	char tree[GIT_HEX];
	struct fw_err err = { 0 };
	bool is_on_branch;

	if (git_repo_on_branch(r, merge->parent[0], &is_on_branch, &err) != 0 ||
		(is_on_branch && merge_commits(r, merge->parent[0], merge->parent[1], tree, &err) != 0))
		snprintf(problem, size, "%.500s", err.text);
	else if (!is_on_branch)
		snprintf(problem, size, "the merge result %.12s is not based on a branch", merge->sha);
	else if (strcmp(tree, merge->tree) != 0)
		snprintf(problem, size,
			"the files of the merge result %.12s differ from a merge of %.12s and %.12s; use measure: head",
			merge->sha, merge->parent[0], merge->parent[1]);
}

/*
 * Find the commit to measure. The forge makes the merge result some time after a push, so its second parent must be the requested
 * head.
 */
static int find_commit(struct git_repo *r, const struct pulls *p, const struct pull *one, char *sha, char *problem, size_t size)
{
	struct git_commit_info info;
	struct fw_err err = { 0 };

	snprintf(sha, GIT_HEX, "%s", p->is_merge ? one->merge : one->head);
	problem[0] = '\0';
	if (!*sha) {
		snprintf(problem, size, "the forge has no merge result; it may have conflicts");
	} else if (git_repo_commit(r, sha, &info, &err) != 0) {
		snprintf(problem, size, "%.500s", err.text);
	} else {
		if (p->is_merge && (info.n_parents != 2 || strcmp(info.parent[1], one->head) != 0))
			snprintf(problem, size, "the forge has no merge result of %.12s yet; it may have conflicts", one->head);
		else if (p->is_merge)
			check_merge(r, &info, problem, size);
		git_commit_info_fini(&info);
	}
	if (*problem)
		sha[0] = '\0';
	return *problem ? -1 : 0;
}

void pulls_print(struct git_repo *r, const struct pulls *p, struct buf *out)
{
	for (int i = 0; i < p->n; i++) {
		const struct pull *one = &p->pull[i];
		char sha[GIT_HEX] = "", problem[512] = "";
		struct jsonw j;

		if (!one->head[0])
			continue;
		if (is_wanted(p, one))
			(void)find_commit(r, p, one, sha, problem, sizeof problem);
		jsonw_init(&j, out);
		jsonw_format(&j, "{ pull=%d head=%s commit~=%s problem~=%s }", one->number, one->head, sha, problem);
		buf_putc(out, '\n');
	}
	if (p->n_omitted)
		buf_printf(out, "{\"pulls_omitted\":%d}\n", p->n_omitted);
}
