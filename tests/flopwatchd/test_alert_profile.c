/* An alert requests its profile in its own transaction: the worst cell of each group and direction, three in total. */
#include "fixture_db.h"

#include <math.h>

#include "flopwatchd/alert/alert.h"
#include "flopwatchd/job/job.h"

static struct config *config;

static int setup(void **state)
{
	config = calloc(1, sizeof *config);
	if (!config || fixture_setup(state) != 0)
		return -1;
	config->profile = true;
	fixture_ground(*state);
	struct fixture *f = *state;
	ok(db_begin(f->db, &err));
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	db_rollback(f->db);
	config_free(config);
	return fixture_teardown(state);
}

static const char *text(struct fixture *f, const char *sql)
{
	static char found[1024];
	struct stmt *s = db_stmt(f->db, sql, &err);
	assert_non_null(s);
	snprintf(found, sizeof found, "none");
	assert_true(stmt_first_text(s, found, sizeof found, &err) >= 0);
	return found;
}

static const char *title = "causal"; /* of the cells; "": rows of a benchmark program */

static int64_t put(
	struct fixture *f, int64_t comparison, int n, const char *key, const char *group, const char *direction, double m)
{
	struct store_cell c = { .comparison = comparison,
		.n = n,
		.threshold_pct = 1.5,
		.m = m,
		.decided_m = m,
		.verdict = VERDICT_REGRESSION,
		.base_median_ms = 1,
		.target_median_ms = 1 + m,
		.series = SERIES_DEVICE };
	snprintf(c.key, sizeof c.key, "%s", key);
	snprintf(c.group, sizeof c.group, "%s", group);
	snprintf(c.title, sizeof c.title, "%s", title);
	snprintf(c.direction, sizeof c.direction, "%s", direction);
	ok(store_cell_insert(f->db, &c, &err));
	return c.id;
}

/* A comparison of commit 2 with commit 1, whose cells are called 1, 2, ... */
static int64_t compare(struct fixture *f)
{
	int64_t id = fixture_comparison(f, "main", 1, 2, VERDICT_REGRESSION, 10);
	put(f, id, 0, "1", "dense", "forward", 0.03);
	put(f, id, 1, "2", "dense", "forward", 0.05);
	put(f, id, 2, "3", "dense", "backward", 0.02);
	put(f, id, 3, "4", "block_sparse", "forward", 0.01);
	put(f, id, 4, "5", "block_sparse", "backward", 0.04);
	return id;
}

static void raise_it(struct fixture *f, int64_t comparison, enum alertkind kind, const char *cells)
{
	struct store_alert a = {
		.repo = f->repo, .branch = "main", .comparison = comparison, .kind = kind, .cells_json = cells, .worst_pct = -3
	};
	bool is_new;
	snprintf(a.target_sha, sizeof a.target_sha, "%s", fixture_sha(2));
	ok(alert_open(f->db, config, &a, 10, &is_new, &err));
}

#define WORDS "SELECT group_concat(word, ' ') FROM (SELECT word FROM job_cell ORDER BY job, n)"
#define ALL   "[{\"cell\":\"1\"},{\"cell\":\"2\"},{\"cell\":\"3\"},{\"cell\":\"4\"},{\"cell\":\"5\"}]"

static void the_worst_of_each_group_and_direction(void **state)
{
	struct fixture *f = *state;
	raise_it(f, compare(f), ALERTKIND_REGRESSION, ALL);
	assert_string_equal(text(f, WORDS), "2 5 3");
	assert_string_equal(
		text(f, "SELECT kind || ' ' || origin || ' ' || priority || ' ' || suite || ' ' || device_uuid || ' ' || base_how || "
			"' [' || branch || '] ' || (base_sha < target_sha) FROM job ORDER BY id DESC"),
		"profile alert 1 ffa sim-0 given [] 1");
	assert_string_equal(text(f, "SELECT comparison || ' ' || alert FROM profile"), "1 1");
	assert_string_equal(text(f, "SELECT count(*) FROM event WHERE kind = 'job.queued'"), "1");
}

static void only_new_cells_are_profiled(void **state)
{
	struct fixture *f = *state;
	raise_it(f, compare(f), ALERTKIND_REGRESSION, "[{\"cell\":\"1\"},{\"cell\":\"4\"}]");
	assert_string_equal(text(f, WORDS), "1 4");
}

static void an_alert_profiles_at_most_three_cells(void **state)
{
	struct fixture *f = *state;
	int64_t id = compare(f);
	raise_it(f, id, ALERTKIND_REGRESSION, "[{\"cell\":\"1\",\"suite\":\"ffa\"},{\"cell\":\"3\",\"suite\":\"ffa\"}]");
	raise_it(f, id, ALERTKIND_REGRESSION,
		"[{\"cell\":\"1\",\"suite\":\"ffa\"},{\"cell\":\"3\",\"suite\":\"ffa\"}]"); /* nothing new */
	assert_string_equal(text(f, "SELECT count(*) FROM profile"), "1");
	raise_it(f, id, ALERTKIND_REGRESSION, ALL);
	assert_string_equal(text(f, WORDS), "1 3 2");
	raise_it(f, id, ALERTKIND_REGRESSION, "[{\"cell\":\"5\",\"suite\":\"other\"}]");
	assert_string_equal(text(f, "SELECT count(*) FROM profile"), "2");
}

static void profiles_of_alerts_can_be_disabled(void **state)
{
	struct fixture *f = *state;
	config->profile = false;
	raise_it(f, compare(f), ALERTKIND_REGRESSION, ALL);
	assert_string_equal(text(f, "SELECT count(*) FROM alert"), "1");
	assert_string_equal(text(f, "SELECT count(*) FROM profile"), "0");
}

static void cells_without_a_slowdown_are_not_profiled(void **state)
{
	struct fixture *f = *state;
	int64_t id = compare(f);
	raise_it(f, id, ALERTKIND_FAILING, ALL);
	raise_it(f, id, ALERTKIND_MISSING, ALL);
	raise_it(f, 0, ALERTKIND_DRIFT, ALL);
	assert_string_equal(text(f, "SELECT count(*) FROM profile"), "0");
	raise_it(f, id, ALERTKIND_REGRESSION, "[{\"cell\":\"none of these\"}]");
	assert_string_equal(text(f, "SELECT count(*) FROM profile"), "0");
}

static void a_program_has_no_profile(void **state)
{
	struct fixture *f = *state;
	title = "";
	int64_t id = compare(f);
	title = "causal";
	raise_it(f, id, ALERTKIND_REGRESSION, ALL);
	assert_string_equal(text(f, "SELECT count(*) FROM alert"), "1");
	assert_string_equal(text(f, "SELECT count(*) FROM profile"), "0");
}

static void cells_are_chosen_by_their_loss(void **state)
{
	struct profile_cells c = { .n = 0 };
	char words[16];
	(void)state;
	profile_cells_add(&c, "a", "g", "forward", NAN);
	profile_cells_add(&c, "b", "g", "forward", -1);
	profile_cells_add(&c, "c", "g", "backward", 3);
	profile_cells_add(&c, "d", "h", "forward", 3);
	profile_cells_add(&c, "e", "h", "forward", 2);
	for (int i = 0; i < 2 * PROFILE_CELLS_GROUPS_MAX; i++) {
		char group[16];
		snprintf(group, sizeof group, "g%d", i);
		profile_cells_add(&c, "many", group, "forward", 0);
	}
	assert_int_equal(c.n, PROFILE_CELLS_GROUPS_MAX);
	profile_cells_choose(&c, 2);
	profile_cells_text(&c, words, sizeof words);
	assert_string_equal(words, "c d");
	profile_cells_text(&c, words, 3);
	assert_string_equal(words, "c");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_worst_of_each_group_and_direction),
		CASE(only_new_cells_are_profiled),
		CASE(an_alert_profiles_at_most_three_cells),
		CASE(profiles_of_alerts_can_be_disabled),
		CASE(cells_without_a_slowdown_are_not_profiled),
		CASE(a_program_has_no_profile),
		cmocka_unit_test(cells_are_chosen_by_their_loss),
	};
	return cmocka_run_group_tests_name("alerts ask why", tests, NULL, NULL);
}
