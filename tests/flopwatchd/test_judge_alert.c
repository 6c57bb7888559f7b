/* Alerts of results, and their end: one alert a commit, over all suites, until the regression is compensated. */
/* Left to `make check`: takes seconds, only computes. */
#include "judge_run.h"

#include "flopwatchd/alert/alert.h"

static void a_regression_opens_one_alert_and_notifies_all(void **state)
{
	struct fixture *f = *state;
	struct judge_outcome out = compare(f, "main", 1, 2, 0.04, 5000);
	assert_true(out.alert > 0 && out.alert_is_new);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'open'"), 1);
	assert_int_equal(fixture_number(f, "SELECT json_array_length(cells) FROM alert"), 1);
	assert_int_equal(fixture_number(f, "SELECT worst_pct < -3 AND worst_pct > -5 FROM alert"), 1);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM outbox WHERE kind = 'webhook' AND target IN ('chat', 'mail')"), 2);
	assert_int_equal(fixture_number(f, "SELECT payload ->> 'event' = 'alert.opened' AND payload ->> 'comparison' = 1 AND "
					   "payload -> 'cells' ->> 0 LIKE '%attention/dense%' FROM outbox"),
		1);
	/* measured again with the same result: still one alert, and no second notification */
	out = compare(f, "main", 1, 2, 0.04, 6000);
	assert_false(out.alert_is_new);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox"), 2);
}

static void branch_recovers_against_the_same_base(void **state)
{
	struct fixture *f = *state;
	struct judge_outcome out = compare(f, "topic", 1, 2, 0.04, 5000);
	out = compare(f, "topic", 1, 3, 0.04, 6000); /* still slow: a separate alert, which replaces the older tip's */
	assert_int_equal(out.n_recovered, 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'open'"), 1);
	out = compare(f, "elsewhere", 1, 4, 0, 7000); /* another branch resolves nothing */
	assert_int_equal(out.n_recovered, 0);
	out = compare(f, "topic", 1, 5, 0, 8000);
	assert_int_equal(out.n_recovered, 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'resolved'"), 2);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'alert.resolved'"), 2);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE payload ->> 'event' = 'alert.resolved'"), 4);
}

static void main_recovers_only_when_the_loss_is_made_up(void **state)
{
	struct fixture *f = *state;
	compare(f, "main", 1, 2, 0.06, 5000);
	/* unchanged against a base that already has the regression proves nothing */
	assert_int_equal(compare(f, "main", 2, 3, 0, 6000).n_recovered, 0);
	/* half of the regression recovered is not enough */
	assert_int_equal(compare(f, "main", 3, 4, -0.03, 7000).n_recovered, 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'open'"), 1);
	assert_int_equal(compare(f, "main", 4, 5, -0.03, 8000).n_recovered, 1);
	/* and a force-push to before the regression needs no improvement */
	compare(f, "main", 5, 6, 0.04, 9000);
	assert_int_equal(compare(f, "main", 5, 7, 0, 10000).n_recovered, 1);
}

static struct judge_outcome compare_broken(struct fixture *f, const char *branch, unsigned base, unsigned target, int64_t now_ms)
{
	struct result *r = fixture_result(f, branch, base, target, 1);
	fixture_build(r, ROLE_BASE, "ok", "aaaa");
	fixture_build(r, ROLE_TARGET, "failed", "");
	return judged(f, r, now_ms);
}

static void main_has_one_alert_until_it_is_fixed(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(compare_broken(f, "topic", 1, 9, 4000).alert, 0); /* only its author is concerned */
	struct judge_outcome out = compare_broken(f, "main", 1, 2, 5000);
	assert_true(out.alert_is_new);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE kind = 'failing' AND state = 'open' AND "
					   "grouped ->> '$[0].failure' = 'build'"),
		1);
	assert_int_equal(compare_broken(f, "main", 1, 3, 6000).alert, 0);      /* still broken: blames no other commit */
	assert_int_equal(compare(f, "main", 1, 4, 0.04, 7000).n_recovered, 1); /* slower, but it builds */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE kind = 'failing' AND state = 'resolved'"), 1);
	assert_true(compare_broken(f, "main", 4, 5, 8000).alert_is_new);
}

static void a_rejected_main_opens_an_alert(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 3; i++) { /* a branch, main, and main with a device that failed */
		struct result *r = fixture_result(f, i ? "main" : "topic", 1, 2 + (unsigned)i, 1);
		fixture_accepted(r);
		fixture_fault(r, i == 2 ? ROLE_DEVICE : ROLE_TARGET, 0, i == 2 ? "device" : "forged");
		assert_int_equal(judged(f, r, 5000).verdict, VERDICT_REJECTED);
		assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), i > 0);
	}
	assert_int_equal(
		fixture_number(f,
			"SELECT kind = 'failing' AND title LIKE 'forged: attention forward, 1 cell: %killed by SIGSEGV' AND "
			"cells ->> '$[0].verdict' = 'rejected' FROM alert"),
		1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM bisect"), 0);
	assert_int_equal(compare(f, "main", 1, 6, 0, 6000).n_recovered, 1);
}

static void an_accepted_loss_is_the_new_level(void **state)
{
	struct fixture *f = *state;
	struct judge_outcome out = compare(f, "topic", 1, 2, 0.04, 5000);
	ok(store_alert_change(f->db, out.alert, ALERTSTATE_ACCEPTED, "anna", "numerics need it", 5500, &err));
	judge_range(f, 1, 3, 2);
	judge_range(f, 1, 4, 2);
	assert_int_equal(compare(f, "topic", 1, 3, 0.04, 6000).alert, 0);    /* the same regression, against the same base */
	assert_int_equal(compare(f, "topic", 1, 3, 0.05, 6500).alert, 0);    /* within the threshold of it */
	assert_true(compare(f, "topic", 1, 4, 0.08, 7000).alert_is_new);     /* another regression of that size */
	assert_true(compare(f, "elsewhere", 1, 5, 0.04, 8000).alert_is_new); /* it is not accepted on this branch */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'accepted'"), 1);
}

/* ---- two suites of one repository; both have a cell of the same key ---------------------------------------------------- */

static struct result *of_suite(struct result *r, const char *suite)
{
	snprintf(r->plan.suite_name, sizeof r->plan.suite_name, "%s", suite);
	snprintf(r->plan.suite_sha, sizeof r->plan.suite_sha, "5a17e%s", suite);
	return r;
}

static struct judge_outcome compare_suite(
	struct fixture *f, const char *suite, const char *branch, unsigned base, unsigned target, double shift, int64_t now_ms)
{
	struct result *r = of_suite(fixture_result(f, branch, base, target, 1), suite);
	fixture_measured(r, &shift);
	return judged(f, r, now_ms);
}

static void a_suite_without_a_loss_resolves_no_alert(void **state)
{
	struct fixture *f = *state;
	static const char *const suites[][2] = { { "ffa", "other" }, { "other", "ffa" } };
	for (unsigned order = 0, n = 1; order < 2; order++, n += 10) {
		struct judge_outcome out[2];
		for (unsigned i = 0; i < 2; i++) {
			bool lost = strcmp(suites[order][i], "ffa") == 0;
			out[i] = compare_suite(f, suites[order][i], "main", n, n + 1, lost ? 0.06 : 0, 5000);
			assert_int_equal(out[i].alert_is_new, lost);
		}
		for (unsigned i = 0; i < 2; i++) /* each against a base that has the regression */
			assert_int_equal(compare_suite(f, suites[order][i], "main", n + 1, n + 2, 0, 6000).n_recovered, 0);
		assert_int_equal(compare_suite(f, "other", "main", n + 2, n + 3, -0.06, 7000).n_recovered, 0);
		assert_int_equal(compare_suite(f, "ffa", "main", n + 2, n + 3, -0.06, 7000).n_recovered, 1);
	}
}

static void an_alert_holds_the_cells_of_all_suites(void **state)
{
	struct fixture *f = *state;
	struct judge_outcome first = compare_suite(f, "ffa", "main", 1, 2, 0.04, 5000);
	struct judge_outcome second = compare_suite(f, "other", "main", 1, 2, 0.06, 5100);
	assert_int_equal(second.alert, first.alert);
	assert_false(second.alert_is_new);
	assert_int_equal(fixture_number(f, "SELECT json_array_length(cells) FROM alert"), 2);
	assert_int_equal(fixture_number(f, "SELECT grouped ->> '$[0].cells' FROM alert"), 2);
	assert_int_equal(fixture_number(f, "SELECT title LIKE '%up to -5._ % in 2 cells' AND worst_pct < -5 FROM alert"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert_event WHERE reason = '1 more cell, by C2'"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE payload ->> 'event' = 'alert.extended' AND "
					   "json_array_length(payload, '$.cells') = 2"),
		2);
	compare_suite(f, "other", "main", 1, 2, 0.06, 5200); /* measured again: nothing new */
	assert_int_equal(fixture_number(f, "SELECT json_array_length(cells) FROM alert"), 2);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM outbox WHERE payload ->> 'event' = 'alert.extended'"), 2);
	/* one suite has recovered, the other has not */
	assert_int_equal(compare_suite(f, "ffa", "main", 2, 3, 0, 6000).n_recovered, 0);
	assert_int_equal(compare_suite(f, "other", "main", 2, 3, -0.06, 6000).n_recovered, 0);
	assert_int_equal(compare_suite(f, "ffa", "main", 3, 4, -0.04, 7000).n_recovered, 1);
}

/* A cell that only one shard of its suite has. */
static struct judge_outcome compare_shard(
	struct fixture *f, int shard, unsigned base, unsigned target, double shift, int64_t now_ms)
{
	struct result *r = fixture_result(f, "main", base, target, 1);
	struct stmt *s = db_stmt(f->db, "UPDATE job SET shard = :shard, some_cells = :shard > 0 WHERE id = :id", &err);
	stmt_int(s, ":shard", shard);
	stmt_int(s, ":id", r->plan.request.job);
	ok(stmt_run(s, &err));
	r->plan.shard = shard;
	r->plan.size = (struct suite_size){ .cells = 3, .shards = 3, .nights = 7 };
	attention_of(&r->plan.request.cell[0])->seqlen = attention_of(&r->plan.request.cell[0])->length[0] = 1024 * (shard + 1);
	case_name(&r->plan.request.cell[0]);
	fixture_measured(r, &shift);
	return judged(f, r, now_ms);
}

static void a_loss_in_all_shards_ends_when_every_shard_recovers(void **state)
{
	struct fixture *f = *state;
	struct judge_outcome first = compare_shard(f, 0, 1, 2, 0.06, 5000);
	for (int shard = 1; shard <= 2; shard++)
		assert_int_equal(compare_shard(f, shard, 1, 2, 0.06, 5000 + shard).alert, first.alert);
	assert_int_equal(fixture_number(f, "SELECT json_array_length(cells) FROM alert"), 3);
	assert_int_equal(compare_shard(f, 0, 2, 3, -0.06, 6000).n_recovered, 0);
	assert_int_equal(compare_shard(f, 2, 2, 3, -0.06, 6001).n_recovered, 0);
	assert_int_equal(compare_shard(f, 0, 3, 4, 0, 7000).n_recovered, 0);
	assert_int_equal(compare_shard(f, 1, 2, 4, -0.06, 7001).n_recovered, 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE kind = 'missing'"), 0);
}

static void a_failure_in_two_suites_is_fixed_in_both(void **state)
{
	struct fixture *f = *state;
	static const char *const suites[] = { "ffa", "other" };
	for (int i = 0; i < 2; i++) {
		struct result *r = of_suite(fixture_result(f, "main", 1, 2, 1), suites[i]);
		fixture_build(r, ROLE_BASE, "ok", "aaaa");
		fixture_build(r, ROLE_TARGET, "failed", "");
		assert_int_equal(judged(f, r, 5000).alert_is_new, i == 0);
	}
	assert_int_equal(fixture_number(f, "SELECT json_array_length(cells) FROM alert WHERE kind = 'failing'"), 2);
	assert_int_equal(compare_suite(f, "ffa", "main", 1, 3, 0, 6000).n_recovered, 0);
	assert_int_equal(compare_suite(f, "other", "main", 1, 3, 0, 6000).n_recovered, 1);
}

static void accepting_an_alert_accepts_no_other_suite(void **state)
{
	struct fixture *f = *state;
	struct judge_outcome out = compare_suite(f, "ffa", "topic", 1, 2, 0.04, 5000), more;
	ok(store_alert_change(f->db, out.alert, ALERTSTATE_ACCEPTED, "anna", "numerics need it", 5500, &err));
	assert_int_equal(compare_suite(f, "ffa", "topic", 1, 2, 0.04, 6000).alert, 0);
	more = compare_suite(f, "other", "topic", 1, 2, 0.06, 6000); /* of the same commit */
	assert_true(more.alert_is_new && more.alert != out.alert);
	assert_int_equal(fixture_number(f, "SELECT cells ->> '$[0].suite' = 'other' FROM alert WHERE state = 'open' AND "
					   "json_array_length(cells) = 1"),
		1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'accepted'"), 1);
	ok(store_alert_change(f->db, more.alert, ALERTSTATE_RESOLVED, "anna", "", 6500, &err));
	assert_true(compare_suite(f, "other", "topic", 1, 2, 0.06, 7000).alert_is_new);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 2);
}

static void a_newer_tip_resolves_alerts_when_every_suite_ended(void **state)
{
	struct fixture *f = *state;
	compare_suite(f, "ffa", "topic", 1, 2, 0.04, 5000);
	compare_suite(f, "other", "topic", 1, 2, 0.04, 5000);
	compare_suite(f, "ffa", "topic", 1, 3, 0.04, 6000);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'open'"), 2);
	compare_suite(f, "other", "topic", 1, 3, 0, 6000);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'open' AND json_array_length(cells) = 1"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert_event WHERE reason LIKE 'the newer tip has A%'"), 1);
}

static void put_child(struct fixture *f, unsigned child, unsigned parent)
{
	struct store_commit c = { .subject = "slower" };
	snprintf(c.sha, sizeof c.sha, "%s", fixture_sha(child));
	snprintf(c.first_parent, sizeof c.first_parent, "%s", fixture_sha(parent));
	ok(store_commit_put(f->db, f->repo, &c, &err));
}

/* Commit 2 is the child of 1; the branch continues with 3 and 4 on it. */
static void a_newer_tip_inherits_the_culprit(void **state)
{
	struct fixture *f = *state;
	put_child(f, 2, 1);
	compare(f, "topic", 1, 2, 0.04, 5000);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM bisect"), 0);
	assert_int_equal(fixture_number(f, "SELECT json_array_length(culprits) FROM alert WHERE id = 1"), 1);

	judge_range(f, 1, 3, 2);
	judge_range(f, 1, 3, 3);
	assert_true(compare(f, "topic", 1, 3, 0.042, 6000).alert_is_new);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM bisect"), 0);
	assert_int_equal(
		fixture_number(
			f, "SELECT count(*) FROM alert a JOIN alert b ON b.culprits = a.culprits WHERE a.id = 1 AND b.id = 2"),
		1);

	judge_range(f, 1, 4, 3); /* slower again by more than the threshold: not explained by commit 2 */
	judge_range(f, 1, 4, 4);
	assert_true(compare(f, "topic", 1, 4, 0.07, 7000).alert_is_new);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM bisect"), 1);
	assert_int_equal(fixture_number(f, "SELECT json_array_length(culprits) FROM alert WHERE id = 3"), 0);
}

static void a_rewritten_branch_inherits_no_culprit(void **state)
{
	struct fixture *f = *state;
	put_child(f, 2, 1);
	compare(f, "topic", 1, 2, 0.04, 5000);
	judge_range(f, 1, 3, 3); /* 3 does not contain 2 */
	assert_true(compare(f, "topic", 1, 3, 0.04, 6000).alert_is_new);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM bisect"), 1);
	assert_int_equal(fixture_number(f, "SELECT json_array_length(culprits) FROM alert WHERE id = 2"), 0);
}

/* A cell of 0.85 ms is 0.016 ms slower in "run", while a phase of 0.004 ms certainly takes twice as long, a quarter of that. */
static void a_phase_is_named_only_where_it_explains_half(void **state)
{
	struct fixture *f = *state;
	static const struct {
		double merge; /* additional time of the short phase, as a fraction of the cell's time */
		int runs;     /* in which phases were timed */
		const char *title;
	} cases[] = {
		{ 0.25 * 0.04, 2, "attention forward -3.9 % in 1 cell" },
		{ 0.60 * 0.04, 2, "attention forward (range_merge) -3.9 % in 1 cell" },
		{ 0.60 * 0.04, 1, "attention forward -3.9 % in 1 cell" }, /* no phase has an interval */
	};
	for (unsigned k = 0; k < 3; k++) {
		double shift = 0.04;
		struct result *r = fixture_result(f, "main", 10 * k + 1, 10 * k + 2, 1);
		fixture_measured(r, &shift);
		struct noise noise = { .state = 9, .white = 0.0003 };
		for (int i = 0; i < r->n_cells; i++) {
			struct msg_cell *m = r->cell[i];
			if (m->series != SERIES_PHASE)
				continue;
			if (m->run > 1 && cases[k].runs == 1) {
				snprintf(m->phase, sizeof m->phase, "%s", strcmp(m->phase, "run") == 0 ? "rest" : "other");
				for (int v = 0; v < m->n; v++)
					m->ms[1][v] = m->ms[0][v];
				continue;
			}
			bool is_merge = strcmp(m->phase, "prepare") == 0;
			if (is_merge)
				snprintf(m->phase, sizeof m->phase, "range_merge");
			for (int v = 0; v < m->n; v++) { /* the remaining time is in "run", which varies and shows no cause */
				float cell_ms = m->ms[0][v],
				      own = cell_ms * (float)(cases[k].merge * (1 + noise_normal(&noise) * 1e-3));
				m->ms[1][v] = is_merge ? 2 * own : cell_ms * (v & 1 ? 1.02f : 0.98f);
				m->ms[0][v] = is_merge ? own : cell_ms;
			}
		}
		struct judge_outcome out = judged(f, r, 5000 + k);
		struct stmt *s = db_stmt(f->db, "SELECT title FROM alert WHERE id = :id", &err);
		stmt_int(s, ":id", out.alert);
		assert_int_equal(stmt_step(s, &err), 1);
		assert_string_equal(row_text(s, 0), cases[k].title);
		stmt_reset(s);
		ok(store_alert_change(f->db, out.alert, ALERTSTATE_RESOLVED, "anna", "", 5500, &err));
	}
}

#define CELL(phase, kernel, pct)                                                                                                 \
	"{\"family\":\"linear\",\"direction\":\"once\",\"phase\":" phase ",\"kernel\":" kernel ",\"change_pct\":" #pct "}"
#define QUANTISE "\"quantise_weight\""
#define PACK     "\"pack_weight\""
#define SCALE    "\"scale_rows\""

static void cells_without_a_phase_join_the_only_phase(void **state)
{
	(void)state;
	static const struct {
		const char *cells, *title, *groups;
	} cases[] = {
		{ "[" CELL(QUANTISE, "null", -9.1) "," CELL("null", "null", -9.2) "," CELL(QUANTISE, "null", -9) "]",
			"linear once up to -9.2 % in 3 cells",
			"[{\"family\":\"linear\",\"direction\":\"once\",\"phase\":null,\"kernel\":null,\"cells\":3,\"worst_pct\":-9.2}]" },
		{ "[" CELL("null", "null", -9.1) "," CELL(QUANTISE, SCALE, -9.2) "]", "linear once up to -9.2 % in 2 cells",
			"[{\"family\":\"linear\",\"direction\":\"once\",\"phase\":null,\"kernel\":null,\"cells\":2,\"worst_pct\":-9.2}]" },
		{ "[" CELL(QUANTISE, SCALE, -9.1) "," CELL(QUANTISE, SCALE, -9.2) "]",
			"linear once (quantise_weight) up to -9.2 % in 2 cells", NULL },
		{ "[" CELL(QUANTISE, SCALE, -9.21) "," CELL(QUANTISE, SCALE, -9.2) "]",
			"linear once (quantise_weight) -9.2 % in 2 cells", NULL },
		/* two causes are two groups, and it is unknown to which of them the third cell belongs */
		{ "[" CELL(QUANTISE, "null", -9.1) "," CELL("null", "null", -9) "," CELL(PACK, "null", -9.2) "]",
			"linear once (pack_weight) -9.2 % in 1 cell, and 2 more groups", NULL },
		/* a kernel without any phase is a separate cause */
		{ "[" CELL(QUANTISE, "null", -9.2) "," CELL("null", SCALE, -9.1) "]",
			"linear once (quantise_weight) -9.2 % in 1 cell, and 1 more group", NULL },
	};
	for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct alert_cells a;
		const char *cells, *groups;
		char title[200];
		alert_cells_init(&a);
		alert_cells_count(&a, cases[k].cells);
		alert_cells_title(&a, title, sizeof title);
		assert_string_equal(title, cases[k].title);
		ok(alert_cells_end(&a, &cells, &groups, &err));
		if (cases[k].groups)
			assert_string_equal(groups, cases[k].groups);
		alert_cells_fini(&a);
	}
}

static void missing_rows_are_reported(void **state)
{
	struct fixture *f = *state;
	double shift[] = { 0, 0 };
	struct result *r = fixture_result(f, "main", 1, 2, 2);
	fixture_measured(r, shift);
	judged(f, r, 5000);
	struct judge_outcome out = compare(f, "main", 2, 3, 0, 6000);
	assert_true(out.alert_is_new);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM alert WHERE kind = 'missing' AND json_array_length(cells) = 1"), 1);
	assert_int_equal(compare(f, "main", 3, 4, 0, 7000).alert, 0);
	r = fixture_result(f, "main", 4, 5, 2);
	fixture_measured(r, shift);
	assert_int_equal(judged(f, r, 8000).n_recovered, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_regression_opens_one_alert_and_notifies_all, setup, teardown),
		cmocka_unit_test_setup_teardown(branch_recovers_against_the_same_base, setup, teardown),
		cmocka_unit_test_setup_teardown(main_recovers_only_when_the_loss_is_made_up, setup, teardown),
		cmocka_unit_test_setup_teardown(main_has_one_alert_until_it_is_fixed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_rejected_main_opens_an_alert, setup, teardown),
		cmocka_unit_test_setup_teardown(an_accepted_loss_is_the_new_level, setup, teardown),
		cmocka_unit_test_setup_teardown(a_suite_without_a_loss_resolves_no_alert, setup, teardown),
		cmocka_unit_test_setup_teardown(an_alert_holds_the_cells_of_all_suites, setup, teardown),
		cmocka_unit_test_setup_teardown(a_loss_in_all_shards_ends_when_every_shard_recovers, setup, teardown),
		cmocka_unit_test_setup_teardown(a_failure_in_two_suites_is_fixed_in_both, setup, teardown),
		cmocka_unit_test_setup_teardown(accepting_an_alert_accepts_no_other_suite, setup, teardown),
		cmocka_unit_test_setup_teardown(a_newer_tip_resolves_alerts_when_every_suite_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(a_newer_tip_inherits_the_culprit, setup, teardown),
		cmocka_unit_test_setup_teardown(a_rewritten_branch_inherits_no_culprit, setup, teardown),
		cmocka_unit_test_setup_teardown(a_phase_is_named_only_where_it_explains_half, setup, teardown),
		cmocka_unit_test(cells_without_a_phase_join_the_only_phase),
		cmocka_unit_test_setup_teardown(missing_rows_are_reported, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
