/* Costs besides time: events, and alerts of kind cost with their limits, answers and end. */
#include "judge_run.h"

static void fixture_work(struct result *r, enum role role, int cell, double flops, int64_t workspace, int nodes, int local_bytes)
{
	struct msg m = { .t = MSG_WORK, .u.work = { .cell = cell, .flops_issued = flops, .workspace_bytes = workspace } };
	m.u.work.role = role;
	fixture_add(r, &m);
	for (int i = 0; i < nodes; i++) {
		struct msg n = { .t = MSG_NODE, .u.node = { .cell = cell, .local_bytes = local_bytes } };
		n.u.node.role = role;
		snprintf(n.u.node.phase, sizeof n.u.node.phase, "run");
		snprintf(n.u.node.kernel, sizeof n.u.node.kernel, "attention_%d", i);
		fixture_add(r, &n);
	}
}

static void costs_that_no_clock_shows_are_events(void **state)
{
	struct fixture *f = *state;
	double shift[] = { 0, 0.04 };
	struct result *r = fixture_result(f, "main", 1, 2, 2);
	fixture_measured(r, shift);
	for (int i = 0; i < r->n_checks; i++) {
		bool worse = r->check[i].role == ROLE_TARGET && r->check[i].cell == 1;
		r->check[i].error_ratio = worse ? 0.5 : 0.31;
		snprintf(r->check[i].repeats, sizeof r->check[i].repeats, worse ? "differs" : "same");
	}
	fixture_work(r, ROLE_BASE, 0, 1e9, 1024, 1, 0);
	fixture_work(r, ROLE_TARGET, 0, 1e9, 1024, 1, 0);
	fixture_work(r, ROLE_BASE, 1, 1e9, 1024, 1, 0);
	fixture_work(r, ROLE_TARGET, 1, 1.1e9, 2048, 2, 64);
	struct judge_outcome out = judged(f, r, 5000);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'cost.up'"), 6);
	assert_int_equal(
		fixture_number(f,
			"SELECT count(*) FROM event WHERE kind = 'cost.up' AND json_array_length(payload, '$.cells') = 1 "
			"AND payload ->> '$.cells[0].cell' LIKE '%s2048%'"),
		6);
	assert_int_equal(
		fixture_number(f, "SELECT payload ->> '$.cells[0].target' FROM event WHERE payload ->> 'what' = 'local_bytes'"),
		128);
	/* the alert names the new kernel */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE grouped ->> '$[0].kernel' = 'attention_0' AND "
					   "grouped ->> '$[0].phase' = 'run' AND title LIKE 'attention forward (run) -_.% %'"),
		1);
	assert_true(out.alert_is_new);
}

/* ---- alerts ----------------------------------------------------------------------------------------------------------- */

/* A value of one cost on both sides of cell 0 of a comparison that is otherwise equal. */
struct plant {
	enum cost cost;
	double base, target;
};

static void set_work(struct result *r, const struct plant *plant)
{
	static const enum role roles[] = { ROLE_BASE, ROLE_TARGET };
	for (int s = 0; s < 2; s++) {
		double value = s ? plant->target : plant->base;
		struct msg m = { .t = MSG_WORK,
			.u.work = { .flops_issued = 1e9,
				.workspace_bytes = plant->cost == COST_MEMORY ? (int64_t)value : 1024,
				.first_ms = plant->cost == COST_FIRST ? value : 300,
				.taken_bytes = -1 } };
		m.u.work.role = roles[s];
		fixture_add(r, &m);
		for (int i = 0; i < (plant->cost == COST_LAUNCHES ? (int)value : 1); i++) {
			struct msg n = { .t = MSG_NODE, .u.node = { .cell = 0 } };
			n.u.node.role = roles[s];
			snprintf(n.u.node.phase, sizeof n.u.node.phase, "run");
			snprintf(n.u.node.kernel, sizeof n.u.node.kernel, "attention_%d", i);
			fixture_add(r, &n);
		}
	}
	for (int i = 0; i < r->n_checks && plant->cost == COST_ERROR; i++)
		r->check[i].error_ratio = r->check[i].role == ROLE_TARGET ? plant->target : plant->base;
}

/* Host time of every pair, and the energy of two sustained runs. */
static void set_runs(struct result *r, const struct plant *plant, double shift)
{
	struct noise noise = { .state = 9, .white = 0.001, .run = 0.0002, .clock = 0.001, .outlier = 0 };
	for (int run = 1; run <= 2; run++)
		fixture_timing(r, &noise, run, 1, 0, SERIES_SUSTAINED, "", shift, 0);
	for (int i = 0; i < r->n_cells; i++) {
		struct msg_cell *c = r->cell[i];
		for (int s = 0; s < 2 && c->series == SERIES_DEVICE; s++) {
			c->host_us[s] = malloc((size_t)c->n * sizeof(float));
			assert_non_null(c->host_us[s]);
			for (int k = 0; k < c->n; k++)
				c->host_us[s][k] = (float)(plant->cost != COST_HOST ? 5 : s ? plant->target : plant->base);
		}
		for (int s = 0; s < 2 && c->series == SERIES_SUSTAINED; s++)
			c->energy_j[s] = plant->cost != COST_ENERGY ? 1.5 : s ? plant->target : plant->base;
	}
}

static struct result *planted(struct fixture *f, const char *branch, unsigned base, unsigned target, const struct plant *plant)
{
	double shift = 0;
	struct result *r = fixture_result(f, branch, base, target, 1);
	fixture_measured(r, &shift);
	set_work(r, plant);
	set_runs(r, plant, shift);
	return r;
}

static void judge_plant(
	struct fixture *f, const char *branch, unsigned base, unsigned target, const struct plant *plant, int64_t now_ms)
{
	assert_int_equal(judged(f, planted(f, branch, base, target, plant), now_ms).verdict, VERDICT_UNCHANGED);
}

static int64_t alerts_in(struct fixture *f, const char *state, const char *cost)
{
	char sql[160];
	snprintf(sql, sizeof sql, "SELECT count(*) FROM alert WHERE kind = 'cost' AND state = '%s' AND changed LIKE '%s'", state,
		cost);
	return fixture_number(f, sql);
}

/* Each plant is found in its own cost and in no other one, and time is unchanged. */
static void each_cost_has_its_own_alert(void **state)
{
	static const struct plant plants[] = { { COST_MEMORY, 1000000, 1050000 }, { COST_ERROR, 0.3, 0.5 },
		{ COST_FIRST, 400, 2400 }, { COST_ENERGY, 1.5, 1.6 }, { COST_HOST, 5, 30 }, { COST_LAUNCHES, 1, 2 } };
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++) {
		char sql[200];
		judge_plant(f, "topic", 1, 10 + (unsigned)i, &plants[i], 5000 + (int64_t)i);
		assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE kind = 'cost'"), (int64_t)i + 1);
		assert_int_equal(alerts_in(f, "open", cost_kinds[plants[i].cost].name), 1);
		snprintf(sql, sizeof sql,
			"SELECT count(*) FROM alert WHERE changed = '%s' AND cells ->> '$[0].base' = %.17g AND cells ->> "
			"'$[0].target' = %.17g AND title LIKE '%% in 1 cell, at most %%'",
			cost_kinds[plants[i].cost].name, plants[i].base, plants[i].target);
		assert_int_equal(fixture_number(f, sql), 1);
		/* the alert of the last plant is over: its cell has the value of the base again */
		assert_int_equal(alerts_in(f, "open", "%"), 1);
	}
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE kind <> 'cost'"), 0);
}

static void growth_within_its_limit_is_none(void **state)
{
	static const struct plant plants[] = { { COST_MEMORY, 1000000, 1009000 }, { COST_ERROR, 0.3, 0.32 },
		{ COST_FIRST, 400, 1300 }, { COST_FIRST, 30000, 34000 }, { COST_ENERGY, 1.5, 1.53 }, { COST_HOST, 5, 6.5 },
		{ COST_HOST, 50, 54 }, { COST_MEMORY, 1000000, 10 } };
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++)
		judge_plant(f, "topic", 1, 10 + (unsigned)i, &plants[i], 5000 + (int64_t)i);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'cost.up'"), 0);
}

/* Runs that one process forks share its host time: a fourth more may be that process, more than twice as much is not. */
static void forked_runs_have_the_host_of_their_parent(void **state)
{
	struct fixture *f = *state;
	struct plant plant = { COST_HOST, 40, 50 };
	for (int are_forked = 1; are_forked >= 0; are_forked--) {
		struct result *r = planted(f, "topic", 1, 2 + (unsigned)are_forked, &plant);
		for (int s = 0; s < 2; s++)
			r->plan.request.side[s].benchmark.fork = are_forked;
		judged(f, r, 5000 + are_forked);
		assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'cost.up'"), !are_forked);
	}
	plant.target = 90;
	struct result *r = planted(f, "topic", 1, 4, &plant);
	for (int s = 0; s < 2; s++)
		r->plan.request.side[s].benchmark.fork = true;
	judged(f, r, 6000);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'cost.up'"), 2);
}

static void a_suite_sets_the_limit_or_turns_it_off(void **state)
{
	struct fixture *f = *state;
	struct plant plant = { COST_MEMORY, 1000000, 1050000 };
	struct result *r = planted(f, "topic", 1, 2, &plant);
	r->plan.costs.pct[COST_MEMORY] = 6;
	judged(f, r, 5000);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'cost.up'"), 0);
	r = planted(f, "topic", 1, 3, &plant);
	r->plan.costs.pct[COST_MEMORY] = COST_OFF;
	judged(f, r, 6000);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind = 'cost.up'"), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 0);
	judge_plant(f, "topic", 1, 4, &plant, 7000);
	assert_int_equal(alerts_in(f, "open", "memory"), 1);
	r = planted(f, "topic", 1, 5, &plant); /* turned off later: its alert ends */
	r->plan.costs.pct[COST_MEMORY] = COST_OFF;
	judged(f, r, 8000);
	assert_int_equal(alerts_in(f, "resolved", "memory"), 1);
}

/* Growth stays in a base that is held back, and is not that of each later commit of main. */
static void main_blames_one_commit(void **state)
{
	struct fixture *f = *state;
	judge_plant(f, "main", 1, 2, &(struct plant){ COST_MEMORY, 1000000, 1050000 }, 5000);
	judge_plant(f, "main", 1, 3, &(struct plant){ COST_MEMORY, 1000000, 1050000 }, 6000);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 1);
	judge_plant(f, "main", 1, 4, &(struct plant){ COST_MEMORY, 1000000, 1100000 }, 7000); /* more on top of it */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 2);
}

static void judge_in_suite(struct fixture *f, const char *suite, unsigned target, const struct plant *plant, int64_t now_ms)
{
	struct result *r = planted(f, "topic", 1, target, plant);
	snprintf(r->plan.suite_name, sizeof r->plan.suite_name, "%s", suite);
	snprintf(r->plan.suite_sha, sizeof r->plan.suite_sha, "5a17e%s", suite);
	judged(f, r, now_ms);
}

/* An alert has the cells of all suites of a commit; each suite ends its own. */
static void each_suite_ends_its_cells(void **state)
{
	struct fixture *f = *state;
	const struct plant more = { COST_MEMORY, 1000000, 1050000 }, equal = { COST_MEMORY, 1000000, 1000000 };
	judge_in_suite(f, "ffa", 2, &more, 5000);
	judge_in_suite(f, "long", 2, &more, 6000);
	assert_int_equal(
		fixture_number(
			f, "SELECT count(*) FROM alert WHERE json_array_length(cells) = 2 AND title LIKE '% in 2 cells, %'"),
		1);
	judge_in_suite(f, "ffa", 3, &equal, 7000);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'open' AND json_array_length(cells) = 1 AND cells "
				  "->> '$[0].suite' = 'long' AND title LIKE '% in 1 cell, %'"),
		1);
	judge_in_suite(f, "long", 3, &equal, 8000);
	assert_int_equal(alerts_in(f, "resolved", "memory"), 1);
}

/* A commit that is no longer the tip, measured again, ends no alert. */
static void an_older_commit_ends_nothing(void **state)
{
	struct fixture *f = *state;
	ok(store_tip_put(f->db, f->repo, "main", "main", fixture_sha(3), true, 4000, &err));
	judge_plant(f, "main", 2, 3, &(struct plant){ COST_MEMORY, 1000000, 1050000 }, 5000);
	judge_plant(f, "main", 1, 2, &(struct plant){ COST_MEMORY, 1000000, 1000000 }, 6000);
	assert_int_equal(alerts_in(f, "open", "memory"), 1);
}

/* Another day's energy is not a fall of it. */
static void main_ends_energy_only_when_it_falls(void **state)
{
	struct fixture *f = *state;
	judge_plant(f, "main", 1, 2, &(struct plant){ COST_ENERGY, 1.5, 1.6 }, 5000);
	judge_plant(f, "main", 2, 3, &(struct plant){ COST_ENERGY, 1.5, 1.5 }, 6000);
	assert_int_equal(alerts_in(f, "open", "energy"), 1);
	judge_plant(f, "main", 3, 4, &(struct plant){ COST_ENERGY, 1.6, 1.5 }, 7000);
	assert_int_equal(alerts_in(f, "resolved", "energy"), 1);
}

static void a_newer_tip_replaces_the_alert_of_the_older_one(void **state)
{
	struct fixture *f = *state;
	struct plant plant = { COST_MEMORY, 1000000, 1050000 };
	judge_plant(f, "topic", 1, 2, &plant, 5000);
	judge_plant(f, "topic", 1, 2, &plant, 5500); /* measured again */
	assert_int_equal(alerts_in(f, "open", "memory"), 1);
	judge_plant(f, "other", 1, 3, &plant, 6000); /* another branch ends nothing */
	assert_int_equal(alerts_in(f, "open", "memory"), 2);
	judge_plant(f, "topic", 1, 4, &plant, 7000);
	assert_int_equal(alerts_in(f, "open", "memory"), 2);
	assert_int_equal(alerts_in(f, "resolved", "memory"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert_event WHERE reason = 'the newer tip has A3'"), 1);
}

static void main_recovers_only_below_the_first_base(void **state)
{
	struct fixture *f = *state;
	judge_plant(f, "main", 1, 2, &(struct plant){ COST_MEMORY, 1000000, 1050000 }, 5000);
	judge_plant(f, "main", 2, 3, &(struct plant){ COST_MEMORY, 1050000, 1050000 }, 6000);
	judge_plant(f, "main", 3, 4, &(struct plant){ COST_MEMORY, 1050000, 1030000 }, 7000);
	assert_int_equal(alerts_in(f, "open", "memory"), 1);
	judge_plant(f, "main", 4, 5, &(struct plant){ COST_MEMORY, 1030000, 1005000 }, 8000);
	assert_int_equal(alerts_in(f, "resolved", "memory"), 1);
}

static void accepted_growth_is_reported_once(void **state)
{
	struct fixture *f = *state;
	judge_plant(f, "topic", 1, 2, &(struct plant){ COST_MEMORY, 1000000, 1050000 }, 5000);
	ok(db_script(f->db, "UPDATE alert SET state = 'accepted'", &err));
	judge_plant(f, "topic", 1, 3, &(struct plant){ COST_MEMORY, 1000000, 1050000 }, 6000);
	judge_plant(f, "main", 1, 4, &(struct plant){ COST_MEMORY, 1000000, 1052000 }, 7000); /* merged */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 1);
	judge_plant(f, "main", 4, 5, &(struct plant){ COST_MEMORY, 1052000, 1100000 }, 8000);
	assert_int_equal(alerts_in(f, "open", "memory"), 1);
}

static void a_slower_cell_uses_more_energy_without_an_alert_of_it(void **state)
{
	struct fixture *f = *state;
	struct plant plant = { COST_ENERGY, 1.5, 1.6 };
	double shift = 0.05;
	struct result *r = fixture_result(f, "topic", 1, 2, 1);
	fixture_measured(r, &shift);
	set_runs(r, &plant, shift);
	assert_int_equal(judged(f, r, 5000).verdict, VERDICT_REGRESSION);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE kind = 'cost'"), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert WHERE kind = 'regression'"), 1);
}

#define COST_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COST_TEST(costs_that_no_clock_shows_are_events),
		COST_TEST(each_cost_has_its_own_alert),
		COST_TEST(growth_within_its_limit_is_none),
		COST_TEST(forked_runs_have_the_host_of_their_parent),
		COST_TEST(a_suite_sets_the_limit_or_turns_it_off),
		COST_TEST(main_blames_one_commit),
		COST_TEST(each_suite_ends_its_cells),
		COST_TEST(an_older_commit_ends_nothing),
		COST_TEST(main_ends_energy_only_when_it_falls),
		COST_TEST(a_newer_tip_replaces_the_alert_of_the_older_one),
		COST_TEST(main_recovers_only_below_the_first_base),
		COST_TEST(accepted_growth_is_reported_once),
		COST_TEST(a_slower_cell_uses_more_energy_without_an_alert_of_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
