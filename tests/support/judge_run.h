/* Shared by the tests of the judge. */
#ifndef TESTS_JUDGE_RUN_H
#define TESTS_JUDGE_RUN_H

#include "fixture_result.h"

#include <math.h>

#include "db/db.h"
#include "flopwatchd/config/config.h"

static struct config *config;

static inline int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	fixture_ground(*state);
	config = calloc(1, sizeof *config);
	if (!config)
		return -1;
	config->n_webhooks = 2;
	snprintf(config->webhook[0].name, sizeof config->webhook[0].name, "chat");
	snprintf(config->webhook[1].name, sizeof config->webhook[1].name, "mail");
	struct fixture *f = *state;
	ok(db_begin(f->db, &err));
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	db_rollback(f->db);
	free(config);
	return fixture_teardown(state);
}

static inline struct judge_outcome judged(struct fixture *f, struct result *r, int64_t now_ms)
{
	struct judge_outcome out;
	ok(judge_finish(f->db, config, r, now_ms, &out, &err));
	result_free(r);
	return out;
}

/** Cell `n` of a comparison as stored. */
static inline struct store_cell cell_of(struct fixture *f, int64_t comparison, int n)
{
	struct store_cell c;
	assert_int_equal(store_cell_next(f->db, comparison, n - 1, &c, &err), 1);
	assert_int_equal(c.n, n);
	return c;
}

static inline struct judge_outcome compare(
	struct fixture *f, const char *branch, unsigned base, unsigned target, double shift, int64_t now_ms)
{
	struct result *r = fixture_result(f, branch, base, target, 1);
	fixture_measured(r, &shift);
	return judged(f, r, now_ms);
}

/** Commit `sha` is one of those of target that base does not contain. */
static inline void judge_range(struct fixture *f, unsigned base, unsigned target, unsigned sha)
{
	char shas[1][65];
	snprintf(shas[0], sizeof shas[0], "%s", fixture_sha(sha));
	ok(store_range_put(f->db, f->repo, fixture_sha(base), fixture_sha(target), (const char(*)[65])shas, 1, &err));
}

#endif
