/* Alerts: allowed steps, their authors, and conditions that reopen an alert. (Recovery is in test_judge.) */
#include "failing_statements.h"

#include "fixture_transaction.h"

#include <math.h>

#include "db/db.h"

static struct store_alert open_one(struct fixture *f, unsigned target, const char *cells, bool *is_new)
{
	struct store_alert a = { .repo = f->repo,
		.branch = "main",
		.comparison = fixture_comparison(f, "main", target - 1, target, VERDICT_REGRESSION, 1),
		.cells_json = cells,
		.worst_pct = -3 };
	snprintf(a.target_sha, sizeof a.target_sha, "%s", fixture_sha(target));
	ok(store_alert_open(f->db, &a, 10, is_new, &err));
	return a;
}

static void check_step(struct fixture *f, int64_t id, enum alertstate to, const char *reason, enum err_code want)
{
	if (want == ERR_NONE)
		ok(store_alert_change(f->db, id, to, "anna", reason, 20, &err));
	else
		refused(want, store_alert_change(f->db, id, to, "anna", reason, 20, &err));
}

static void steps_go_one_way(void **state)
{
	struct fixture *f = *state;
	bool is_new;
	int64_t id = open_one(f, 2, "[]", &is_new).id;
	check_step(f, id, ALERTSTATE_OPEN, "", ERR_CONFLICT);
	check_step(f, id, ALERTSTATE_N, "", ERR_CONFLICT);
	check_step(f, id, ALERTSTATE_ACKNOWLEDGED, "", ERR_NONE);
	check_step(f, id, ALERTSTATE_ACKNOWLEDGED, "", ERR_CONFLICT);
	check_step(f, id, ALERTSTATE_ACCEPTED, "", ERR_INVALID); /* a reason is missing */
	check_step(f, id, ALERTSTATE_ACCEPTED, "numerics need it", ERR_NONE);
	check_step(f, id, ALERTSTATE_RESOLVED, "", ERR_CONFLICT);
	assert_non_null(strstr(err.text, "is accepted and cannot become resolved"));
	check_step(f, 4711, ALERTSTATE_RESOLVED, "", ERR_NOT_FOUND);
	check_step(f, open_one(f, 3, "[]", &is_new).id, ALERTSTATE_INVALID, NULL, ERR_INVALID);
	check_step(f, open_one(f, 4, "[]", &is_new).id, ALERTSTATE_RESOLVED, NULL, ERR_NONE);
}

struct events {
	int n;
	char text[512];
};

static void see_event(void *arg, const struct view_alert_event *row)
{
	struct events *e = arg;
	size_t used = strlen(e->text);
	snprintf(e->text + used, sizeof e->text - used, "%s%s %s %s", e->n ? "; " : "", row->who, alertstate_name(row->state),
		row->reason);
	e->n++;
}

static void every_step_is_reported(void **state)
{
	struct fixture *f = *state;
	struct events e = { 0 };
	bool is_new;
	int64_t id = open_one(f, 2, "[]", &is_new).id;
	check_step(f, id, ALERTSTATE_ACKNOWLEDGED, "", ERR_NONE);
	check_step(f, id, ALERTSTATE_INVALID, "clock was broken", ERR_NONE);
	ok(view_alert_events(f->db, id, see_event, &e, &err));
	assert_string_equal(e.text, "flopwatch open ; anna acknowledged ; anna invalid clock was broken");
}

static void a_repeated_alert_counts_its_new_cells(void **state)
{
	struct fixture *f = *state;
	bool is_new;
	struct store_alert a = open_one(f, 2, "[{\"cell\":\"x\"}]", &is_new);
	assert_true(is_new);
	assert_int_equal(a.state, ALERTSTATE_OPEN);
	struct store_alert again = open_one(f, 2, "[{\"cell\":\"x\"},{\"cell\":\"y\"}]", &is_new);
	assert_false(is_new);
	assert_int_equal(again.id, a.id);
	assert_int_equal(again.n_old_cells, 0);
	assert_int_equal(again.n_new_cells, 1);
	assert_int_equal(fixture_number(f, "SELECT json_array_length(cells) FROM alert"), 2);
	assert_int_equal(fixture_number(f, "SELECT comparison FROM alert"), a.comparison); /* the comparison that opened it */
	check_step(f, a.id, ALERTSTATE_RESOLVED, "", ERR_NONE);
	open_one(f, 2, "[{\"cell\":\"y\"}]", &is_new); /* not recovered after all */
	assert_true(is_new);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'open' AND json_array_length(cells) = 1"), 1);
	check_step(f, a.id, ALERTSTATE_ACCEPTED, "needed", ERR_NONE);
	again = open_one(f, 2, "[{\"cell\":\"y\"}]", &is_new);
	assert_false(is_new);
	assert_int_equal(again.state, ALERTSTATE_ACCEPTED);
	assert_int_equal(again.id, a.id);
	again = open_one(f, 2, "[{\"cell\":\"y\"},{\"cell\":\"z\"}]", &is_new);
	assert_true(is_new);
	assert_int_equal(fixture_number(f, "SELECT json_array_length(cells) FROM alert WHERE state = 'accepted'"), 1);
	assert_int_equal(fixture_number(f, "SELECT cells ->> '$[0].cell' = 'z' FROM alert WHERE state = 'open'"), 1);
}

/* A commit with a regression in every cell of a large suite, reported by one shard after the other. */
static void no_more_cells_than_a_message_holds(void **state)
{
	struct fixture *f = *state;
	for (int part = 0; part < 4; part++) {
		struct buf cells;
		bool is_new;
		buf_init(&cells, 1 << 20);
		for (int i = 0; i < 400; i++)
			buf_printf(&cells, "%s{\"cell\":\"part%d/%d\"}", i ? "," : "[", part, i);
		buf_puts(&cells, "]");
		assert_int_equal(open_one(f, 2, cells.data, &is_new).n_new_cells, 400);
		buf_fini(&cells);
	}
	assert_int_equal(fixture_number(f, "SELECT json_array_length(cells) FROM alert"), STORE_ALERT_CELLS_MAX);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM alert, json_each(cells) WHERE value ->> 'cell' LIKE 'part1/%'"), 400);
}

static void culprits_of_several_searches(void **state)
{
	struct fixture *f = *state;
	bool is_new;
	int64_t id = open_one(f, 2, "[]", &is_new).id;
	static const char *const found[] = {
		"[{\"from\":\"a\",\"to\":\"c\",\"change_pct\":-2,\"cells\":[\"x\",\"y\"]}]",
		"[{\"from\":\"a\",\"to\":\"c\",\"change_pct\":-3,\"cells\":[\"z\"]}]",
		"[{\"from\":\"b\",\"to\":\"c\",\"change_pct\":-2,\"cells\":[\"x\"]}]",
	};
	for (int i = 0; i < 3; i++)
		ok(store_alert_culprits(f->db, id, found[i], "found", 20, &err));
	assert_int_equal(fixture_number(f, "SELECT json_array_length(culprits) FROM alert"), 2);
	assert_int_equal(
		fixture_number(f, "SELECT culprits -> '$[0].cells' = '[\"y\",\"z\"]' AND culprits ->> '$[0].change_pct' = -3 "
				  "FROM alert"),
		1);
	assert_int_equal(fixture_number(f, "SELECT culprits ->> '$[1].from' = 'b' FROM alert"), 1);
	/* the same cell in the same range, by a better estimate */
	ok(store_alert_culprits(
		f->db, id, "[{\"from\":\"b\",\"to\":\"c\",\"change_pct\":-1.5,\"cells\":[\"x\"]}]", "found", 20, &err));
	assert_int_equal(fixture_number(f, "SELECT culprits ->> '$[1].change_pct' = -1.5 FROM alert"), 1);
}

static struct store_alert_reported reported_of(struct fixture *f, const char *suite, const char *cell, int want)
{
	struct store_alert a = { .repo = f->repo, .kind = ALERTKIND_REGRESSION };
	struct store_alert_reported said;
	snprintf(a.target_sha, sizeof a.target_sha, "%s", fixture_sha(2));
	assert_int_equal(store_alert_reported(f->db, &a, suite, cell, &said, &err), want);
	return said;
}

static void a_reported_change_is_read(void **state)
{
	struct fixture *f = *state;
	bool is_new;
	reported_of(f, "ffa", "x", 0);
	int64_t id = open_one(f, 2,
		"[{\"cell\":\"x\",\"suite\":\"ffa\",\"change_pct\":-2.5},{\"cell\":\"y\",\"change_pct\":-3},"
		"{\"cell\":\"x\",\"suite\":\"other\",\"change_pct\":-4}]",
		&is_new)
			     .id;
	ok(store_alert_culprits(f->db, id,
		"[{\"from\":\"a\",\"to\":\"c\",\"change_pct\":-2,\"cells\":[\"z\",\"y\"]},"
		"{\"from\":\"b\",\"to\":\"c\",\"commits\":3,\"skipped\":1,\"change_pct\":-2,\"cells\":[\"x\"]}]",
		"found", 20, &err));
	struct store_alert_reported x = reported_of(f, "ffa", "x", 1), y = reported_of(f, "ffa", "y", 1),
				    w = reported_of(f, "ffa", "w", 1);
	assert_true(x.id == id && x.change_pct == -2.5 && x.others_pct == -4 && !x.is_full);
	assert_string_equal(x.from, "b");
	assert_string_equal(x.to, "c");
	assert_true(x.commits == 3 && x.skipped == 1 && x.range_pct == -2);
	assert_true(y.change_pct == -3 && isnan(y.range_pct)); /* z regressed in that range as well */
	assert_string_equal(y.from, "a");
	assert_true(isnan(w.change_pct));
	assert_string_equal(w.to, "");
	ok(store_alert_change(f->db, id, ALERTSTATE_RESOLVED, "me", "it is over", 30, &err));
	reported_of(f, "ffa", "x", 0);
}

/* Drift of a cell that users have acknowledged at a commit is not added there again, where it would be acknowledged at once. */
static void drift_that_recurs(void **state)
{
	struct fixture *f = *state;
	char sha[65] = "";
	bool is_new;
	assert_int_equal(store_alert_open_drift(f->db, f->repo, "x", sha, &err), 0);
	for (int i = 0; i < 2; i++) {
		struct store_alert a = { .repo = f->repo,
			.kind = ALERTKIND_DRIFT,
			.cells_json = i ? "[{\"cell\":\"y\"}]" : "[{\"cell\":\"x\"}]",
			.worst_pct = -2 };
		snprintf(a.target_sha, sizeof a.target_sha, "%s", fixture_sha(2));
		ok(store_alert_open(f->db, &a, 1, &is_new, &err));
		assert_int_equal(store_alert_open_drift(f->db, f->repo, i ? "y" : "x", sha, &err), 1);
		if (i == 0)
			ok(store_alert_change(f->db, a.id, ALERTSTATE_ACCEPTED, "me", "so it is", 2, &err));
	}
	assert_int_equal(store_alert_open_drift(f->db, f->repo, "z", sha, &err), 1);
	assert_int_equal(store_alert_open_drift(f->db, f->repo, "x", sha, &err), 0);
}

/* An accepted failure covers the cell until it works again: its next failure is a new one. */
static void accepted_failure_that_was_repaired(void **state)
{
	struct fixture *f = *state;
	bool is_new;
	struct store_alert a = {
		.repo = f->repo, .kind = ALERTKIND_FAILING, .cells_json = "[{\"cell\":\"x\"},{\"cell\":\"y\"}]", .worst_pct = NAN
	};
	a.comparison = fixture_comparison(f, "main", 1, 2, VERDICT_FAILED, 1);
	fixture_cell(f, a.comparison, 0, "x", 0, VERDICT_FAILED);
	snprintf(a.branch, sizeof a.branch, "main");
	snprintf(a.target_sha, sizeof a.target_sha, "%s", fixture_sha(2));
	ok(store_alert_open(f->db, &a, 1, &is_new, &err));
	char suite[64];
	struct stmt *s = db_stmt(f->db, "SELECT name FROM suite WHERE id = :id", &err);
	stmt_int(s, ":id", f->suite);
	assert_int_equal(stmt_first_text(s, suite, sizeof suite, &err), 1);
	int64_t still = fixture_comparison(f, "main", 2, 3, VERDICT_FAILED, 2);
	fixture_cell(f, still, 0, "x", 0, VERDICT_FAILED);
	ok(store_alert_change(f->db, a.id, ALERTSTATE_ACCEPTED, "me", "known", 3, &err));
	assert_int_equal(store_alert_covers(f->db, f->repo, "main", ALERTKIND_FAILING, suite, "x", fixture_sha(3), &err), 1);
	int64_t elsewhere = fixture_comparison(f, "topic", 3, 4, VERDICT_UNCHANGED, 4);
	fixture_cell(f, elsewhere, 0, "x", 0, VERDICT_UNCHANGED);
	assert_int_equal(store_alert_covers(f->db, f->repo, "main", ALERTKIND_FAILING, suite, "x", fixture_sha(5), &err), 1);
	int64_t repaired = fixture_comparison(f, "main", 3, 4, VERDICT_ADDED, 5);
	fixture_cell(f, repaired, 0, "x", 0, VERDICT_ADDED);
	assert_int_equal(store_alert_covers(f->db, f->repo, "main", ALERTKIND_FAILING, suite, "x", fixture_sha(5), &err), 0);
	assert_int_equal(store_alert_covers(f->db, f->repo, "main", ALERTKIND_FAILING, suite, "y", fixture_sha(5), &err), 1);
}

struct list {
	int n;
	int64_t last;
	char subject[64];
};

static void see_alert(void *arg, const struct view_alert *row)
{
	struct list *l = arg;
	l->n++;
	l->last = row->id;
	snprintf(l->subject, sizeof l->subject, "%s %s %s", row->repo, row->branch, alertstate_name(row->state));
}

static void lists_by_state(void **state)
{
	struct fixture *f = *state;
	struct list l = { 0 };
	bool is_new;
	for (unsigned i = 2; i < 8; i++)
		open_one(f, i, "[]", &is_new);
	check_step(f, 3, ALERTSTATE_RESOLVED, "", ERR_NONE);
	ok(view_alerts(f->db, "open", 0, 10, see_alert, &l, &err));
	assert_int_equal(l.n, 5);
	assert_int_equal(l.last, 1);
	l.n = 0;
	ok(view_alerts(f->db, NULL, 0, 4, see_alert, &l, &err));
	assert_int_equal(l.n, 4);
	ok(view_alerts(f->db, "", l.last, 4, see_alert, &l, &err));
	assert_int_equal(l.n, 6);
	ok(view_alert(f->db, 3, see_alert, &l, &err));
	assert_string_equal(l.subject, "kernels main resolved");
	refused(ERR_NOT_FOUND, view_alert(f->db, 99, see_alert, &l, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(steps_go_one_way, setup, teardown),
		cmocka_unit_test_setup_teardown(every_step_is_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(a_repeated_alert_counts_its_new_cells, setup, teardown),
		cmocka_unit_test_setup_teardown(no_more_cells_than_a_message_holds, setup, teardown),
		cmocka_unit_test_setup_teardown(culprits_of_several_searches, setup, teardown),
		cmocka_unit_test_setup_teardown(a_reported_change_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(drift_that_recurs, setup, teardown),
		cmocka_unit_test_setup_teardown(accepted_failure_that_was_repaired, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_by_state, setup, teardown),
	};
	return run_twice(tests);
}
