/* A database with a few comparisons, for the tests of queries. */
#ifndef TESTS_FIXTURE_VIEWS_H
#define TESTS_FIXTURE_VIEWS_H

#include "fixture_db.h"

#include "db/db.h"

static const char *const keys[] = { "attention/dense/causal/s8192/forward", "attention/dense/causal/s8192/backward" };

static inline void commit(struct fixture *f, unsigned n, const char *subject)
{
	struct store_commit c = { .author = "Ann", .committed_at = n };
	snprintf(c.sha, sizeof c.sha, "%s", fixture_sha(n));
	snprintf(c.tree, sizeof c.tree, "%s", fixture_sha(n + 1000000));
	snprintf(c.subject, sizeof c.subject, "%s", subject);
	ok(store_commit_put(f->db, f->repo, &c, &err));
}

/** `n` comparisons of main, commit i against i - 1, two cells each; every tenth a regression; every fifth of branch topic. */
static inline void fill(struct fixture *f, unsigned n)
{
	ok(db_begin(f->db, &err));
	for (unsigned i = 1; i <= n; i++) {
		bool slow = i % 10 == 0;
		enum verdict v = slow ? VERDICT_REGRESSION : VERDICT_UNCHANGED;
		commit(f, i, "a subject");
		int64_t id = fixture_comparison(f, i % 5 == 1 ? "topic" : "main", i - 1, i, v, 1000 + i);
		for (int c = 0; c < 2; c++)
			fixture_cell(f, id, c, keys[c], slow ? 0.03 : 0.0001 * i, v);
		ok(store_comparison_verdict(f->db, id, v, &err));
	}
	ok(db_commit(f->db, &err));
}

static inline int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	fixture_ground(*state);
	return 0;
}

#endif
