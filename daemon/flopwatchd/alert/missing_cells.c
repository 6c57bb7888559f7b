#include "flopwatchd/alert/alert.h"

#include <stdlib.h>

enum { SUITE_BYTES_MAX = 1 << 20 };

struct missing_query {
	struct db *db;
	int64_t repo, before; /* only earlier comparisons count */
	const char *branch, *suite;
	int n; /* keys of the cells that still exist, sorted: key[n] */
	const char **key;
	find_missing_fn *each;
	void *arg;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has_key(const struct missing_query *a, const char *key)
{
	return a->n && bsearch(&key, a->key, (size_t)a->n, sizeof *a->key, by_text);
}

/** Parse a stored suite. Returns 1, 0 it is no longer valid, -1. Own: suite_fini, also after a failure. */
static int read_suite(struct db *db, int64_t suite, const char *name, struct suite *out, struct fw_err *err)
{
	struct buf text;
	struct fw_err mistakes = { 0 };
	*out = (struct suite){ .n_cells = 0 };
	buf_init(&text, SUITE_BYTES_MAX);
	int result = find_missing_suite_text(db, suite, &text, err);
	if (result == 0)
		result = suite_parse(text.data ? text.data : "", text.len, name, out, &mistakes) == 0;
	buf_fini(&text);
	return result;
}

static void copy_keys(struct missing_query *a, const struct suite *after)
{
	a->key = mem_alloc_zero((size_t)after->n_cells + 1, sizeof *a->key);
	for (int i = 0; i < after->n_cells; i++)
		a->key[a->n++] = after->cell[i].key;
	qsort(a->key, (size_t)a->n, sizeof *a->key, by_text);
}

static int report_measured(const struct missing_query *a, const struct suite *before, struct fw_err *err)
{
	int result = 0;
	for (int i = 0; i < before->n_cells && result == 0; i++) {
		struct find_missing_result found;
		const char *key = before->cell[i].key;
		if (has_key(a, key))
			continue;
		result = find_missing_result(a->db, a->repo, a->branch, a->suite, key, a->before, &found, err);
		if (result == 0 && found.comparison)
			a->each(a->arg, key, found.comparison);
	}
	return result;
}

static void forward_cell(void *arg, const char *key, int64_t comparison)
{
	const struct missing_query *a = arg;
	if (!has_key(a, key))
		a->each(a->arg, key, comparison);
}

static int compare_suites(
	struct missing_query *a, const struct store_comparison *c, const struct find_missing_previous *last, struct fw_err *err)
{
	struct suite before = { 0 }, after;
	int result = read_suite(a->db, c->suite, a->suite, &after, err);
	if (result == 1) {
		copy_keys(a, &after);
		int known = last->shards > 1 ? read_suite(a->db, last->suite, a->suite, &before, err) : 0;
		result = known < 0    ? -1
			 : known == 1 ? report_measured(a, &before, err)
				      : find_missing_unmeasured(a->db, c, forward_cell, a, err);
	}
	free(a->key);
	suite_fini(&after);
	suite_fini(&before);
	return result;
}

int missing_cells(
	struct db *db, const struct store_comparison *c, const char *suite, find_missing_fn *each, void *arg, struct fw_err *err)
{
	struct missing_query a = {
		.db = db, .repo = c->repo, .before = c->id, .branch = c->branch, .suite = suite, .each = each, .arg = arg
	};
	struct find_missing_previous last;
	if (find_missing_previous(db, c, &last, err) != 0)
		return -1;
	if (last.shards < 2 && last.shards_now < 2)
		return find_missing_unmeasured(db, c, each, arg, err);
	return last.suite == c->suite ? 0 : compare_suites(&a, c, &last, err);
}

int missing_cells_of_suite(
	struct db *db, const struct store_job *job, const char *suite, find_missing_fn *each, void *arg, struct fw_err *err)
{
	struct missing_query a = {
		.db = db, .repo = job->repo, .before = INT64_MAX, .branch = job->branch, .suite = suite, .each = each, .arg = arg
	};
	struct find_missing_previous last;
	struct suite before = { 0 };
	if (find_missing_previous_of_suite(db, job, suite, &last, err) != 0)
		return -1;
	int known = last.shards > 1 ? read_suite(db, last.suite, suite, &before, err) : 0;
	int result = known < 0    ? -1
		     : known == 1 ? report_measured(&a, &before, err)
				  : find_missing_of_suite(db, job, suite, each, arg, err);
	suite_fini(&before);
	return result;
}
