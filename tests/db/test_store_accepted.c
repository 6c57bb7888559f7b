/* Regressions that an accepted alert covers: by comparison, suite and amount. */
#include "failing_statements.h"

#include "fixture_transaction.h"

#include "db/db.h"

enum { BASE = 0xb0, CULPRIT = 0xb1, TARGET = 0xc0, LATER = 0xc1, ELSEWHERE = 0xd0 };

/** Commits that target has and base has not; 0 ends them. */
static void know(struct fixture *f, unsigned base, unsigned target, unsigned a, unsigned b)
{
	char shas[2][65];
	snprintf(shas[0], sizeof shas[0], "%s", fixture_sha(a));
	snprintf(shas[1], sizeof shas[1], "%s", fixture_sha(b));
	ok(store_range_put(f->db, f->repo, fixture_sha(base), fixture_sha(target), (const char(*)[65])shas, b ? 2 : 1, &err));
}

/** A comparison in which x is slower by `m`. */
static int64_t lose(struct fixture *f, const char *branch, unsigned base, unsigned target, double m)
{
	int64_t id = fixture_comparison(f, branch, base, target, VERDICT_REGRESSION, 10);
	fixture_cell(f, id, 0, "x", m, VERDICT_REGRESSION);
	return id;
}

/** Opens an alert of `comparison`, and accepts it. */
static int64_t accept(struct fixture *f, int64_t comparison, unsigned target, const char *cells, const char *culprits)
{
	struct store_alert a = { .repo = f->repo,
		.kind = ALERTKIND_REGRESSION,
		.branch = "topic",
		.comparison = comparison,
		.cells_json = cells,
		.culprits_json = culprits,
		.worst_pct = -4 };
	bool is_new;
	snprintf(a.target_sha, sizeof a.target_sha, "%s", fixture_sha(target));
	ok(store_alert_open(f->db, &a, 10, &is_new, &err));
	assert_true(is_new);
	ok(store_alert_change(f->db, a.id, ALERTSTATE_ACCEPTED, "anna", "wanted", 20, &err));
	return a.id;
}

static const char loss_of_x[] = "[{\"cell\":\"x\",\"suite\":\"ffa\",\"change_pct\":-4}]";

static void check(struct fixture *f, int64_t comparison, bool is_covered)
{
	struct store_accepted a;
	assert_int_equal(store_accepted_cell(f->db, comparison, "x", &err), is_covered);
	ok(store_accepted_of(f->db, comparison, &a, &err));
	assert_int_equal(a.covered, is_covered);
	assert_int_equal(a.verdict, is_covered ? VERDICT_ACCEPTED : VERDICT_REGRESSION);
	struct view_around around; /* its page says the same, whichever alert its commit has */
	ok(view_around(f->db, comparison, &around, &err));
	assert_int_equal(around.is_accepted, is_covered);
}

static void only_what_a_change_lost(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *sql;
		bool is_covered;
	} by_hand[] = {
		{ "UPDATE comparison SET kind = 'environment' WHERE branch = ''", false },
		{ "UPDATE comparison SET kind = 'peer' WHERE branch = ''", false },
		{ "UPDATE comparison SET kind = 'config' WHERE branch = ''", false },
		{ "UPDATE comparison SET kind = 'compare' WHERE branch = ''", true },
		{ "UPDATE job SET base_provider = 'cudnn', target_provider = 'cudnn' WHERE branch = ''", false },
	};
	know(f, BASE, TARGET, TARGET, 0);
	int64_t own = lose(f, "topic", BASE, TARGET, 0.04), hand = lose(f, "", BASE, TARGET, 0.04);
	check(f, own, false);
	accept(f, own, TARGET, loss_of_x, NULL);
	check(f, own, true);
	for (size_t i = 0; i < sizeof by_hand / sizeof by_hand[0]; i++) {
		struct stmt *s = db_stmt(f->db, by_hand[i].sql, &err);
		assert_non_null(s);
		ok(stmt_run(s, &err));
		check(f, hand, by_hand[i].is_covered);
	}
}

static void the_range_holds_the_commit(void **state)
{
	struct fixture *f = *state;
	int64_t own = lose(f, "topic", BASE, TARGET, 0.04);
	accept(f, own, TARGET, loss_of_x, NULL);
	check(f, own, true); /* its range is unknown */
	int64_t hand = lose(f, "", ELSEWHERE, TARGET, 0.04), later = lose(f, "topic", BASE, LATER, 0.04);
	check(f, hand, false);
	check(f, later, false);
	know(f, ELSEWHERE, TARGET, TARGET, 0);
	know(f, BASE, LATER, LATER, TARGET);
	check(f, hand, true);
	check(f, later, true);
	check(f, lose(f, "topic", BASE, LATER, 0.2), false);
	know(f, BASE, ELSEWHERE, ELSEWHERE, 0); /* forced onto the branch */
	check(f, lose(f, "topic", BASE, ELSEWHERE, 0.04), false);
}

static void the_culprit_alone_counts(void **state)
{
	struct fixture *f = *state;
	char culprits[256];
	snprintf(culprits, sizeof culprits, "[{\"from\":\"%s\",\"to\":\"%s\",\"commits\":1,\"cells\":[\"x\"]}]",
		fixture_sha(BASE), fixture_sha(CULPRIT));
	know(f, BASE, TARGET, TARGET, CULPRIT);
	know(f, CULPRIT, TARGET, TARGET, 0);
	know(f, ELSEWHERE, LATER, LATER, CULPRIT);
	int64_t own = lose(f, "topic", BASE, TARGET, 0.04);
	accept(f, own, TARGET, loss_of_x, culprits);
	check(f, own, true);
	check(f, lose(f, "", CULPRIT, TARGET, 0.04), false); /* both sides have it: another regression */
	check(f, lose(f, "main", ELSEWHERE, LATER, 0.04), true);
	check(f, lose(f, "", ELSEWHERE, CULPRIT, 0.04), false);
}

static void the_amount_is_of_the_suite(void **state)
{
	struct fixture *f = *state;
	int64_t own = lose(f, "topic", BASE, TARGET, 0.2);
	know(f, BASE, LATER, LATER, TARGET);
	accept(f, own, TARGET,
		"[{\"cell\":\"x\",\"suite\":\"other\",\"change_pct\":-40},{\"cell\":\"x\",\"suite\":\"ffa\",\"change_pct\":-4}]",
		NULL);
	check(f, lose(f, "topic", BASE, LATER, 0.04), true);
	check(f, lose(f, "topic", BASE, LATER, 0.2), false);
}

static void run_sql(struct fixture *f, const char *sql)
{
	struct stmt *s = db_stmt(f->db, sql, &err);
	assert_non_null(s);
	ok(stmt_run(s, &err));
}

/** Gives the last comparison these builds. */
static void build_sides(struct fixture *f, int base, int target)
{
	char sql[160];
	snprintf(sql, sizeof sql,
		"UPDATE comparison SET base_build = %d, target_build = %d WHERE id = (SELECT max(id) FROM comparison)", base,
		target);
	run_sql(f, sql);
}

/* Users accepted the loss between two sides, so another measurement of them is no further loss. */
static void the_same_sides_are_accepted_whatever_is_measured(void **state)
{
	struct fixture *f = *state;
	run_sql(f,
		"INSERT INTO build (id, inputs_hash, toolchain, device_kind, module_sha, state, built_at) VALUES "
		"(1, 'a', 'gcc', 'cpu', 'm', 'ok', 1), (2, 'b', 'gcc', 'cpu', 'n', 'ok', 1), "
		"(3, 'c', 'gcc', 'cpu', 'n', 'ok', 1), (4, 'd', 'gcc', 'cpu', '', 'failed', 1), (6, 'b', 'clang', 'cpu', 'n', 'ok', 1)");
	int64_t own = lose(f, "topic", BASE, TARGET, 0.04);
	build_sides(f, 1, 2);
	accept(f, own, TARGET, loss_of_x, NULL);
	int64_t again = lose(f, "topic", BASE, TARGET, 0.3);
	build_sides(f, 1, 2);
	check(f, again, true);
	check(f, lose(f, "main", BASE, LATER, 0.3), false); /* builds are unknown */
	static const struct {
		int base, target;
		bool is_covered;
	} merged[] = { { 1, 2, true }, { 1, 3, true }, { 2, 2, false }, { 1, 4, false }, { 4, 2, false }, { 1, 6, false } };
	for (size_t i = 0; i < sizeof merged / sizeof merged[0]; i++) {
		int64_t merge = lose(f, "main", ELSEWHERE, LATER, 0.3);
		build_sides(f, merged[i].base, merged[i].target);
		check(f, merge, merged[i].is_covered);
	}
	run_sql(f,
		"INSERT INTO device_class (hash, kind, model, power_limit_w, driver, toolkit) VALUES ('other', 'sim', 'other', 0, "
		"'', '')");
	run_sql(f,
		"INSERT INTO environment (class, hash, driver, toolkit, suite_sha, timing, isolation, first_at) VALUES ((SELECT "
		"max(id) FROM device_class), 'other', '', '', '5a17e', 'pairs', 'none', 1)");
	run_sql(f, "UPDATE comparison SET environment = (SELECT max(id) FROM environment)");
	check(f, again, true);
	run_sql(f,
		"UPDATE comparison SET environment = (SELECT min(id) FROM environment) WHERE id = (SELECT comparison FROM alert)");
	check(f, again, false); /* another class of devices may lose more */
}

/* Each cell of an alert belongs to the comparison of its suite. */
static void the_sides_are_those_of_the_cell(void **state)
{
	struct fixture *f = *state;
	char cells[128];
	int64_t first = lose(f, "topic", BASE, TARGET, 0.04), second = lose(f, "topic", ELSEWHERE, TARGET, 0.04);
	snprintf(cells, sizeof cells, "[{\"cell\":\"x\",\"suite\":\"ffa\",\"change_pct\":-4,\"comparison\":%lld}]",
		(long long)second);
	accept(f, first, TARGET, cells, NULL);
	check(f, lose(f, "", ELSEWHERE, TARGET, 0.3), true);
	check(f, lose(f, "", BASE, TARGET, 0.3), false);
}

/* The same sides take precedence over a newer alert whose commit is contained, too. */
static void the_alert_of_the_same_sides_counts_first(void **state)
{
	struct fixture *f = *state;
	know(f, BASE, TARGET, TARGET, CULPRIT);
	accept(f, lose(f, "topic", BASE, TARGET, 0.04), TARGET, loss_of_x, NULL);
	accept(f, lose(f, "other", BASE, CULPRIT, 0.04), CULPRIT, loss_of_x, NULL);
	check(f, lose(f, "main", BASE, TARGET, 0.3), true);
}

static void only_alerts_about_accepted_cells_are_resolved(void **state)
{
	struct fixture *f = *state;
	int64_t ids[4];
	struct store_alert open = { .repo = f->repo, .kind = ALERTKIND_REGRESSION, .branch = "main", .cells_json = loss_of_x };
	bool is_new;
	know(f, ELSEWHERE, LATER, LATER, TARGET);
	open.comparison = lose(f, "main", ELSEWHERE, LATER, 0.04);
	snprintf(open.target_sha, sizeof open.target_sha, "%s", fixture_sha(LATER));
	ok(store_alert_open(f->db, &open, 10, &is_new, &err));
	int64_t its = accept(f, lose(f, "topic", BASE, TARGET, 0.04), TARGET, loss_of_x, NULL);
	int64_t another = accept(f, lose(f, "topic", BASE, CULPRIT, 0.04), CULPRIT, loss_of_x, NULL);
	assert_int_equal(store_accepted_alerts(f->db, another, ids, 4, &err), 0);
	assert_int_equal(store_accepted_alerts(f->db, its, ids, 4, &err), 1);
	assert_int_equal(ids[0], open.id);
}

static void an_alert_about_a_larger_loss_of_the_same_sides_is_resolved(void **state)
{
	struct fixture *f = *state;
	int64_t ids[4];
	struct store_alert open = { .repo = f->repo, .kind = ALERTKIND_REGRESSION, .branch = "main", .cells_json = loss_of_x };
	bool is_new;
	open.comparison = lose(f, "main", BASE, TARGET, 0.3);
	snprintf(open.target_sha, sizeof open.target_sha, "%s", fixture_sha(LATER));
	ok(store_alert_open(f->db, &open, 10, &is_new, &err));
	int64_t its = accept(f, lose(f, "topic", BASE, TARGET, 0.04), TARGET, loss_of_x, NULL);
	int64_t another = accept(f, lose(f, "topic", BASE, CULPRIT, 0.04), CULPRIT, loss_of_x, NULL);
	assert_int_equal(store_accepted_alerts(f->db, another, ids, 4, &err), 0);
	assert_int_equal(store_accepted_alerts(f->db, its, ids, 4, &err), 1);
	assert_int_equal(ids[0], open.id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_what_a_change_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(the_range_holds_the_commit, setup, teardown),
		cmocka_unit_test_setup_teardown(the_culprit_alone_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(the_amount_is_of_the_suite, setup, teardown),
		cmocka_unit_test_setup_teardown(the_same_sides_are_accepted_whatever_is_measured, setup, teardown),
		cmocka_unit_test_setup_teardown(the_sides_are_those_of_the_cell, setup, teardown),
		cmocka_unit_test_setup_teardown(the_alert_of_the_same_sides_counts_first, setup, teardown),
		cmocka_unit_test_setup_teardown(only_alerts_about_accepted_cells_are_resolved, setup, teardown),
		cmocka_unit_test_setup_teardown(an_alert_about_a_larger_loss_of_the_same_sides_is_resolved, setup, teardown),
	};
	return run_twice(tests);
}
