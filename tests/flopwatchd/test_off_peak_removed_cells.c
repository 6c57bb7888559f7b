/* Removed cells of a sharded suite: cells that only off-peak jobs measure are reported like those of a push. */
#include "judge_run.h"

#include "flopwatchd/alert/alert.h"
#include "model/model.h"

/* Eight cells, of which a push measures two; other lengths, another suite. */
static const char lengths_all[] = "64, 128, 192, 256, 320, 384, 448, 512";
static const char lengths_less[] = "64, 128, 192, 256, 320, 384, 448";

static void write_suite(struct buf *out, const char *lengths, int push)
{
	buf_init(out, 4096);
	buf_printf(out,
		"suite: ffa\nfamily: attention\ncommon: {nhq: 4, nhk: 1, headdim: 128, dtype: bf16}\n"
		"dense: {seqlens: [%s], masks: [causal]}\ndirections: [forward]\n",
		lengths);
	if (push)
		buf_printf(out, "push: {cells: %d, always: ['*/s64/*']}\nnights: 3\n", push);
}

static void parse(struct suite *s, const char *lengths, int push)
{
	struct buf text;
	write_suite(&text, lengths, push);
	ok(suite_parse(text.data, text.len, "ffa", s, &err));
	buf_fini(&text);
}

/* A shard of that suite, before any cell was reported. `push` 0: the whole suite, which a push measures. */
static struct result *shard_of(struct fixture *f, const char *lengths, int push, int shard, unsigned base, unsigned target)
{
	struct suite s;
	parse(&s, lengths, push);
	struct suite_size size = suite_size(&s);
	char sha[65];
	suite_hash(&s, sha);
	ok(suite_take_shard(&s, shard, &err));
	struct result *r = fixture_result(f, "main", base, target, s.n_cells);
	struct stmt *update = db_stmt(f->db, "UPDATE job SET shard = :shard, some_cells = :shard > 0 WHERE id = :id", &err);
	stmt_int(update, ":shard", shard);
	stmt_int(update, ":id", r->plan.request.job);
	ok(stmt_run(update, &err));
	buf_fini(&r->plan.suite_text);
	write_suite(&r->plan.suite_text, lengths, push);
	snprintf(r->plan.suite_sha, sizeof r->plan.suite_sha, "%s", sha);
	r->plan.shard = shard;
	r->plan.size = size;
	memcpy(r->plan.request.cell, s.cell, (size_t)s.n_cells * sizeof *s.cell);
	suite_fini(&s);
	return r;
}

static struct judge_outcome measured(
	struct fixture *f, const char *lengths, int push, int shard, unsigned base, unsigned target, int64_t now_ms)
{
	double shift[8] = { 0 };
	struct result *r = shard_of(f, lengths, push, shard, base, target);
	fixture_measured(r, shift);
	return judged(f, r, now_ms);
}

enum { CELLS_OF_ALERT = 256 };

static const char *vanished(struct fixture *f)
{
	static char keys[CELLS_OF_ALERT];
	struct stmt *s = db_stmt(f->db,
		"SELECT coalesce(group_concat(w.value ->> 'cell', ' '), '') FROM alert a JOIN json_each(a.cells) w WHERE a.kind = "
		"'missing' AND a.state = 'open'",
		&err);
	assert_true(stmt_first_text(s, keys, sizeof keys, &err) >= 0);
	return keys;
}

/* The longest cell, which the push's shard must not contain: otherwise these tests would test nothing. */
static void check_draw(void)
{
	struct suite s;
	parse(&s, lengths_all, 2);
	ok(suite_take_shard(&s, 0, &err));
	for (int i = 0; i < s.n_cells; i++)
		assert_null(strstr(s.cell[i].key, "/s512/"));
	suite_fini(&s);
}

static void a_missing_cell_of_off_peak_shards_is_reported(void **state)
{
	struct fixture *f = *state;
	check_draw();
	measured(f, lengths_all, 2, 0, 1, 2, 5000);
	measured(f, lengths_all, 2, 1, 1, 2, 5001);
	struct judge_outcome out = measured(f, lengths_less, 2, 0, 2, 3, 6000);
	assert_true(out.alert_is_new);
	assert_non_null(strstr(vanished(f), "/s512/"));
	assert_null(strchr(vanished(f), ' '));
	assert_int_equal(
		fixture_number(f, "SELECT title = '1 cell is removed from suite ffa, whose installed file changed' FROM alert"),
		1);
	/* neither the next off-peak job nor the next push reports it again, or ends it */
	assert_int_equal(measured(f, lengths_less, 2, 1, 2, 3, 6001).n_recovered, 0);
	out = measured(f, lengths_less, 2, 0, 3, 4, 7000);
	assert_int_equal(out.alert, 0);
	assert_int_equal(out.n_recovered, 0);
	assert_non_null(strstr(vanished(f), "/s512/"));
	/* it ends when an off-peak job has measured the cell again */
	assert_int_equal(measured(f, lengths_all, 2, 0, 4, 5, 8000).n_recovered, 0);
	assert_int_equal(measured(f, lengths_all, 2, 1, 4, 5, 8001).n_recovered, 1);
	assert_string_equal(vanished(f), "");
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 1);
}

static void unmeasured_cells_are_not_missing(void **state)
{
	struct fixture *f = *state;
	measured(f, lengths_all, 2, 0, 1, 2, 5000);
	measured(f, lengths_less, 2, 0, 2, 3, 6000);
	assert_string_equal(vanished(f), "");
}

static void cells_that_move_to_another_shard_are_not_missing(void **state)
{
	struct fixture *f = *state;
	measured(f, lengths_less, 3, 0, 1, 2, 5000);
	measured(f, lengths_less, 3, 1, 1, 2, 5001);
	measured(f, lengths_all, 2, 0, 2, 3, 6000);
	measured(f, lengths_all, 2, 1, 2, 3, 6001);
	assert_string_equal(vanished(f), "");
}

static void a_suite_that_shrinks_and_grows_again(void **state)
{
	struct fixture *f = *state;
	measured(f, lengths_all, 2, 0, 1, 2, 5000);
	measured(f, lengths_all, 2, 1, 1, 2, 5001);
	measured(f, lengths_less, 0, 0, 2, 3, 6000);
	assert_non_null(strstr(vanished(f), "/s512/"));
	assert_int_equal(measured(f, lengths_all, 0, 0, 3, 4, 7000).n_recovered, 1);
	measured(f, lengths_less, 2, 0, 4, 5, 8000);
	assert_non_null(strstr(vanished(f), "/s512/"));
	assert_null(strchr(vanished(f), ' '));
}

static void count_cell(void *arg, const char *key, int64_t comparison)
{
	int *n = arg;
	assert_true(key[0] && comparison > 0);
	++*n;
}

static void a_removed_suite_reports_all_its_cells(void **state)
{
	struct fixture *f = *state;
	struct store_job job;
	int n = 0;
	measured(f, lengths_all, 2, 0, 1, 2, 5000);
	measured(f, lengths_all, 2, 1, 1, 2, 5001);
	ok(store_job_get(f->db, fixture_job(f, "main", 2, 3, 6000), &job, &err));
	ok(missing_cells_of_suite(f->db, &job, "ffa", count_cell, &n, &err));
	assert_int_equal(n, 8);
}

static void an_alert_of_thousands_of_cells_lists_some_and_counts_all(void **state)
{
	struct alert_cells gone;
	const char *cells, *groups;
	char key[64];
	(void)state;
	alert_cells_init(&gone);
	for (int i = 0; i < SUITE_CELLS_MAX; i++) {
		snprintf(key, sizeof key, "attention/dense/bf16/q4k1d128/causal/s%d/forward", i);
		alert_cells_add_missing(&gone, "ffa", key, 0);
	}
	assert_int_equal(gone.n, SUITE_CELLS_MAX);
	ok(alert_cells_end(&gone, &cells, &groups, &err));
	assert_non_null(strstr(cells, "/s999/"));
	assert_null(strstr(cells, "/s1000/"));
	alert_cells_fini(&gone);
}

/* The branch's kernel supports these cells, but not that length; nor does the base's. */
static struct judge_outcome measured_without(struct fixture *f, const char *lengths, int shard, unsigned base, unsigned target,
	const char *length, const char *failure, int64_t now_ms)
{
	double shift[8] = { 0 };
	struct result *r = shard_of(f, lengths, 2, shard, base, target);
	fixture_measured(r, shift);
	for (int i = 0; i < r->plan.request.n_cells; i++)
		if (strstr(r->plan.request.cell[i].key, length)) {
			fixture_check(r, ROLE_BASE, i, failure, "feed");
			fixture_check(r, ROLE_TARGET, i, failure, "feed");
		}
	return judged(f, r, now_ms);
}

static void failures_from_before_a_new_division_are_reported(void **state)
{
	static const char *const failures[] = { "unsupported", "wrong" };
	struct fixture *f = *state;
	for (unsigned i = 0, n = 1; i < 2; i++, n += 10) {
		int64_t now = 5000 + 10000 * (int64_t)i;
		measured(f, lengths_all, 2, 0, n, n + 1, now);
		measured(f, lengths_all, 2, 1, n, n + 1, now + 1);
		/* in another suite its base is the commit before it, which had removed the cell already */
		measured(f, lengths_less, 2, 0, n + 2, n + 3, now + 1000);
		struct judge_outcome out = measured_without(f, lengths_less, 1, n + 2, n + 3, "/s448/", failures[i], now + 1001);
		assert_true(out.alert_is_new);
		assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE kind = 'failing' AND state = 'open' AND "
						   "json_array_length(cells) = 1 AND cells ->> '$[0].cell' LIKE '%/s448/%'"),
			1);
		struct stmt *s = db_stmt(
			f->db, "SELECT count(*) FROM alert WHERE title LIKE :failure || ': attention forward, 1 cell: %'", &err);
		int64_t titled;
		stmt_text(s, ":failure", failures[i]);
		assert_true(stmt_first_int(s, &titled, &err) >= 0);
		assert_int_equal(titled, 1);
		/* the next off-peak job neither reports it again nor ends it */
		out = measured_without(f, lengths_less, 1, n + 3, n + 4, "/s448/", failures[i], now + 2000);
		assert_int_equal(out.alert, 0);
		assert_int_equal(out.n_recovered, 0);
		assert_int_equal(measured(f, lengths_less, 2, 1, n + 4, n + 5, now + 3000).n_recovered, 1);
	}
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM bisect"), 0);
}

static void cells_that_the_branch_never_computed_open_no_alert(void **state)
{
	struct fixture *f = *state;
	measured(f, lengths_all, 2, 0, 1, 2, 5000);
	assert_int_equal(measured_without(f, lengths_all, 1, 1, 2, "/s448/", "unsupported", 5001).alert, 0);
	assert_int_equal(measured_without(f, lengths_less, 1, 2, 3, "/s448/", "unsupported", 6000).alert, 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE kind = 'failing'"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_missing_cell_of_off_peak_shards_is_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(unmeasured_cells_are_not_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(cells_that_move_to_another_shard_are_not_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_suite_that_shrinks_and_grows_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_removed_suite_reports_all_its_cells, setup, teardown),
		cmocka_unit_test(an_alert_of_thousands_of_cells_lists_some_and_counts_all),
		cmocka_unit_test_setup_teardown(failures_from_before_a_new_division_are_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(cells_that_the_branch_never_computed_open_no_alert, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
