/*
 * Rows of a program on main, after pushes in every order: real changes, comments, builds and runs that fail, commits that were
 * never measured, and rows that are removed and come back. A row is reported as gone once if a measured commit misses it, and at
 * no other time.
 */
/* Left to `make check`: takes seconds, only computes. */
#include "judge_run.h"

#include "db/db.h"

/* The kinds of pushes, a letter each. */
static const char pushes[] = {
	'r', /* a real change */
	'c', /* a comment: same builds and runs as its parent */
	'b', /* a change whose build fails */
	'f', /* a change whose run ends after its first row */
	't', /* a change that removes row b, or brings it back */
	's', /* a change without a comparison: superseded, or its suite is not run */
	'y', /* the same for a change that removes row b or brings it back */
};
enum { N_PUSHES = sizeof pushes, LENGTH = 4 };

struct source {
	unsigned sha, version;
	bool builds, ends, has_b;
};

struct branch {
	struct source commit[LENGTH + 2]; /* [0]: the base of the first one */
	int n;
	bool fails;     /* the last commit that was measured */
	bool saw_b;     /* the last commit whose rows were seen had row b */
	bool b_is_gone; /* reported as gone, and not back */
	int n_reported;
	int64_t now_ms;
};

static unsigned n_shas;

static struct source next(const struct source *parent, char push)
{
	struct source s = *parent;
	s.sha = ++n_shas;
	if (push == 'c')
		return s;
	s.version = s.sha;
	s.builds = push != 'b';
	s.ends = push != 'f';
	s.has_b = (push == 't' || push == 'y') ? !s.has_b : s.has_b;
	return s;
}

/* Chosen as by the daemon: the newest ancestor with a decided verdict. */
static const struct source *base_of(struct fixture *f, const struct branch *b)
{
	for (int i = b->n - 2; i > 0; i--) {
		struct store_base base;
		ok(store_base_get(f->db, f->repo, "main", fixture_sha(b->commit[i].sha), "rows", &base, &err));
		if (base.state == STORE_BASE_COMPLETE)
			return &b->commit[i];
	}
	return &b->commit[0];
}

static void find_rows(struct result *r, bool has_b)
{
	struct msg m = { .t = MSG_FOUND, .u.found = calloc(1, sizeof *m.u.found) };
	assert_non_null(m.u.found);
	m.u.found->n = has_b ? 2 : 1;
	snprintf(m.u.found->cell[0].key, sizeof m.u.found->cell[0].key, "a");
	snprintf(m.u.found->cell[1].key, sizeof m.u.found->cell[1].key, "b");
	fixture_add(r, &m);
}

static void time_rows(struct result *r, const struct source *base, const struct source *target)
{
	struct noise noise = { .state = 7, .white = 0.0003, .run = 0.0001 };
	bool both_b = base->has_b && target->has_b;
	if (!both_b && (base->has_b || target->has_b))
		fixture_fault(r, base->has_b ? ROLE_TARGET : ROLE_BASE, 1, "unsupported");
	for (int run = 1; run <= 4; run++) {
		fixture_run(r, run, 1);
		fixture_timing(r, &noise, run, 1, 0, SERIES_PROCESS, "", 0, 0);
		if (both_b)
			fixture_timing(r, &noise, run, 1, 1, SERIES_PROCESS, "", 0, 0);
	}
}

/* A worker's result for these two commits, processed as by the daemon. */
static void measure(struct fixture *f, const struct source *base, const struct source *target, int64_t now_ms)
{
	struct result *r = fixture_result(f, "main", base->sha, target->sha, 0);
	struct judge_outcome out;
	for (int s = 0; s < 2; s++)
		snprintf(r->plan.request.side[s].benchmark.name, sizeof r->plan.request.side[s].benchmark.name, "rows");
	snprintf(r->plan.suite_name, sizeof r->plan.suite_name, "rows");
	snprintf(r->plan.suite_sha, sizeof r->plan.suite_sha, "2085");
	snprintf(r->plan.suite_origin, sizeof r->plan.suite_origin, "repository");
	if (base->version == target->version) {
		ok(result_unrun(r, &err));
	} else {
		fixture_build(r, ROLE_BASE, "ok", "");
		fixture_build(r, ROLE_TARGET, target->builds ? "ok" : "failed", "");
		if (target->builds && !target->ends) {
			find_rows(r, false); /* the base's program fails sometimes, too */
			fixture_fault(r, ROLE_TARGET, -1, "crash");
		} else if (target->builds) {
			find_rows(r, base->has_b || target->has_b);
			time_rows(r, base, target);
		}
	}
	result_end(r);
	ok(judge_finish(f->db, config, r, now_ms, &out, &err));
	result_free(r);
}

/* "open or not, and how many were ever opened" */
static void alerts_are(struct fixture *f, const struct branch *b, const char *word, int at)
{
	struct stmt *s = db_stmt(f->db,
		"SELECT count(*), total(state = 'open'), coalesce(group_concat(title, '; '), ''), total(json_array_length(cells) <> 1 OR cells ->> "
		"'$[0].cell' <> 'b') FROM alert WHERE repo = :repo AND kind = 'missing'",
		&err);
	assert_non_null(s);
	stmt_int(s, ":repo", f->repo);
	assert_int_equal(stmt_step(s, &err), 1);
	if (row_int(s, 0) != b->n_reported || row_int(s, 1) != b->b_is_gone || row_int(s, 3) != 0)
		fail_msg("pushes %.*s: %lld alerts, %lld open (%s) instead of %d, %d open", at + 1, word,
			(long long)row_int(s, 0), (long long)row_int(s, 1), row_text(s, 2), b->n_reported, b->b_is_gone);
	stmt_reset(s);
}

/* A failure is reported, and ends with the next commit that runs. */
static void failures_are(struct fixture *f, bool open, const char *word, int at)
{
	struct stmt *s = db_stmt(f->db,
		"SELECT coalesce(group_concat(cells), '') FROM alert WHERE repo = :repo AND kind = 'failing' AND state = 'open'",
		&err);
	assert_non_null(s);
	stmt_int(s, ":repo", f->repo);
	assert_int_equal(stmt_step(s, &err), 1);
	if ((row_text(s, 0)[0] != 0) != open)
		fail_msg("pushes %.*s: broken: %s", at + 1, word, row_text(s, 0));
	stmt_reset(s);
}

static void push(struct fixture *f, struct branch *b, char what)
{
	b->commit[b->n] = next(&b->commit[b->n - 1], what);
	const struct source *target = &b->commit[b->n++], *base;
	if (what == 's' || what == 'y')
		return;
	base = base_of(f, b);
	measure(f, base, target, b->now_ms++);
	b->fails = !target->builds || !target->ends;
	if (base->version == target->version || !target->builds || !target->ends)
		return;
	if (b->saw_b && !target->has_b) {
		b->b_is_gone = true;
		b->n_reported++;
	} else if (target->has_b) {
		b->b_is_gone = false;
	}
	b->saw_b = target->has_b;
}

/* Every push after the first `n` of `word`, and all that follow it; the rows are those of `word` again at the end, so that words
 * with the same beginning measure it once. */
static void every_push_after(struct fixture *f, const struct branch *before, char word[LENGTH + 1], int n)
{
	for (int i = 0; n < LENGTH && i < N_PUSHES; i++) {
		struct branch b = *before;
		word[n] = pushes[i];
		ok(stmt_run(db_stmt(f->db, "SAVEPOINT push", &err), &err));
		push(f, &b, word[n]);
		alerts_are(f, &b, word, n);
		failures_are(f, b.fails, word, n);
		every_push_after(f, &b, word, n + 1);
		ok(stmt_run(db_stmt(f->db, "ROLLBACK TO push", &err), &err));
		ok(stmt_run(db_stmt(f->db, "RELEASE push", &err), &err));
	}
}

static void removed_rows_are_reported_once_in_every_push_order(void **state)
{
	struct fixture *f = *state;
	char word[LENGTH + 1] = { 0 };
	struct branch b = { .n = 1, .now_ms = 5000 };
	b.commit[0] = (struct source){ .sha = ++n_shas, .version = n_shas, .builds = true, .ends = true, .has_b = true };
	push(f, &b, 'r'); /* its rows are a and b */
	every_push_after(f, &b, word, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(removed_rows_are_reported_once_in_every_push_order, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
