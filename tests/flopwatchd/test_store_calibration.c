/* Stored noise of cells: how long, from which comparisons, how it expires, and that pages show what the next comparison uses. */
#include "fixture_transaction.h"

#include <math.h>

#include "db/db.h"
#include "flopwatchd/history/history.h"
#include "protocol/protocol.h"

#define DAY_MS (24 * 3600 * INT64_C(1000))
#define NOW    (1000 * DAY_MS)

static const char *const keys[] = { "attention/dense/causal/s8192/forward", "attention/dense/causal/s8192/backward" };

/** A comparison of a module with itself, both cells, whose rule is the default. Its id. */
static int64_t compared(struct fixture *f, int64_t at)
{
	struct rule rule;
	struct buf text;
	int64_t id = fixture_comparison(f, "main", 1, 1, VERDICT_UNCHANGED, at);
	struct stmt *s = db_stmt(f->db, "UPDATE comparison SET rule = :rule, kind = 'calibrate' WHERE id = :id", &err);
	rule_default(&rule, 2);
	buf_init(&text, 1 << 16);
	protocol_write_rule(&text, &rule);
	stmt_text(s, ":rule", text.data);
	stmt_int(s, ":id", id);
	ok(stmt_run(s, &err));
	buf_fini(&text);
	for (int i = 0; i < 2; i++)
		fixture_cell(f, id, i, keys[i], 0, VERDICT_UNCHANGED);
	return id;
}

/** Six runs of `key`, `spread` above and below their mean. */
static void shown(struct fixture *f, int64_t comparison, const char *key, double spread, int64_t at)
{
	struct store_noise s = { .comparison = comparison,
		.repo = f->repo,
		.environment = f->environment,
		.key = key,
		.shown = { .runs = 6, .freedom = 5, .squares = 6 * spread * spread, .variance = 6e-9 },
		.is_itself = true,
		.at = at };
	ok(store_noise_add(f->db, &s, &err));
}

static struct calibration known(struct fixture *f, const char *key, int64_t now_ms)
{
	struct calibration c;
	ok(store_noise_get(f->db, f->repo, f->environment, key, now_ms, &c, &err));
	return c;
}

static void learned_noise_expires(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(known(f, keys[0], NOW).runs, 0);
	int64_t id = compared(f, NOW);
	shown(f, id, keys[0], 0.25, NOW);
	assert_int_equal(known(f, keys[0], NOW).runs, 6);
	assert_int_equal(known(f, keys[1], NOW).runs, 0);
	assert_int_equal(known(f, keys[0], NOW + 29 * DAY_MS).runs, 6);
	assert_int_equal(known(f, keys[0], NOW + 31 * DAY_MS).runs, 0);
	/* after two quiet ones it no longer counts */
	shown(f, id, keys[0], 0.002, NOW + DAY_MS);
	shown(f, id, keys[0], 0.002, NOW + 2 * DAY_MS);
	struct calibration c = known(f, keys[0], NOW + 2 * DAY_MS);
	assert_int_equal(c.runs, 12);
	assert_true(calibration_noise(&c) < 0.003);
	/* and expired rows are deleted */
	for (int i = 0; i < 2 * CALIBRATION_PARTS_MAX; i++)
		shown(f, id, keys[0], 0.002, NOW + 3 * DAY_MS);
	shown(f, id, keys[1], 0.002, NOW + 3 * DAY_MS);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM noise WHERE key LIKE '%forward'"), CALIBRATION_PARTS_MAX);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM noise"), CALIBRATION_PARTS_MAX + 1);
}

static int forgotten(struct fixture *f, int64_t repo, const char *device, const char *globs)
{
	int n = -1;
	ok(store_noise_forget(f->db, repo, device, globs, &n, &err));
	return n;
}

static void learned_noise_can_be_reset(void **state)
{
	struct fixture *f = *state;
	struct fixture other = *f;
	ok(store_repo_put(f->db, "far", "/srv/far.git", true, "main", &other.repo, &err));
	int64_t id = compared(f, NOW);
	for (int i = 0; i < 2; i++) {
		shown(f, id, keys[i], 0.02, NOW);
		shown(&other, id, keys[i], 0.02, NOW);
	}
	assert_int_equal(forgotten(f, f->repo, "", "*/sideways"), 0);
	assert_int_equal(forgotten(f, f->repo, "GPU-elsewhere", ""), 0);
	assert_int_equal(forgotten(f, f->repo, "", "*/none */backward"), 1);
	assert_int_equal(known(f, keys[0], NOW).runs, 6);
	assert_int_equal(known(f, keys[1], NOW).runs, 0);
	char uuid[64];
	struct stmt *s = db_stmt(f->db, "SELECT uuid FROM device WHERE id = :id", &err);
	stmt_int(s, ":id", f->device);
	assert_int_equal(stmt_first_text(s, uuid, sizeof uuid, &err), 1);
	assert_int_equal(forgotten(f, f->repo, uuid, ""), 1);
	assert_int_equal(known(f, keys[0], NOW).runs, 0);
	assert_int_equal(known(&other, keys[1], NOW).runs, 6); /* another repository has its own */
	assert_int_equal(forgotten(f, other.repo, "", ""), 2);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM noise"), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM comparison"), 1);
}

struct seen {
	int n, underpowered;
	struct view_calibration row[4];
	char cell[4][64];
};

static void see(void *arg, const struct view_calibration *row)
{
	struct seen *s = arg;
	assert_true(s->n < 4);
	s->underpowered += row->underpowered;
	s->row[s->n] = *row;
	snprintf(s->cell[s->n++], 64, "%s %s", row->repo, row->cell);
}

/* The values of a list are of one moment, and the next comparison is judged by them. */
static void figures_agree(void **state)
{
	struct fixture *f = *state;
	struct seen s = { 0 };
	struct plan plan;
	int64_t id = compared(f, NOW);
	shown(f, id, keys[0], 0.02, NOW); /* backward: only this */
	shown(f, id, keys[1], 0.0005, NOW);
	shown(f, compared(f, NOW + DAY_MS), keys[1], 0.0005, NOW + DAY_MS);
	ok(view_calibrations(f->db, "kernels", NULL, NOW + DAY_MS, see, &s, &err));
	assert_int_equal(s.n, 2);
	assert_string_equal(s.cell[0], "kernels attention/dense/causal/s8192/backward");
	assert_true(s.row[0].comparisons == 2 && s.row[0].runs == 12 && s.row[0].updated_at == NOW + DAY_MS);
	assert_true(s.row[1].comparisons == 1 && s.row[1].runs == 6 && s.row[1].underpowered && !s.row[0].underpowered);

	plan_init(&plan);
	plan.request.kind = JOBKIND_COMPARE;
	plan.request.n_cells = 2;
	plan.request.cell = calloc(2, sizeof *plan.request.cell);
	assert_non_null(plan.request.cell);
	rule_default(&plan.request.rule, 2);
	struct stmt *q = db_stmt(f->db, "SELECT suite_sha FROM environment WHERE id = :id", &err);
	stmt_int(q, ":id", f->environment);
	assert_int_equal(stmt_first_text(q, plan.suite_sha, sizeof plan.suite_sha, &err), 1);
	for (int i = 0; i < 2; i++) {
		snprintf(plan.request.cell[i].key, sizeof plan.request.cell[i].key, "%s", keys[1 - i]);
		plan.request.cell[i].threshold_pct = 1.5;
	}
	ok(calibrate_plan(f->db, &plan, f->repo, f->device, NOW + DAY_MS, &err));
	for (int i = 0; i < 2; i++) {
		const struct cell *c = &plan.request.cell[i];
		assert_true(fabs(100 * c->tau0 - s.row[i].tau0_pct) < 1e-9 && c->nu0 > 0);
		assert_true(fabs(c->underpowered_pct - (s.row[i].underpowered ? s.row[i].mde_pct : 0)) < 1e-9);
		/* a full set of runs with that noise: threshold and k standard errors */
		double full = stats_theta(1.5) + plan.request.rule.k * c->tau0 / sqrt(plan.request.rule.runs_max);
		assert_true(fabs(s.row[i].mde_pct + stats_change_pct(full)) < 1e-9);
	}
	/* another repository has none */
	ok(calibrate_plan(f->db, &plan, f->repo + 1, f->device, NOW + DAY_MS, &err));
	assert_true(plan.request.cell[0].tau0 == 0 && plan.request.cell[1].underpowered_pct == 0);
	plan_fini(&plan);

	struct view_calibrated counted;
	ok(view_calibrated(f->db, NULL, NOW + DAY_MS, &counted, &err));
	assert_true(counted.cells == 2 && counted.underpowered == 1);
	s = (struct seen){ 0 };
	ok(view_calibrations(f->db, "nobody", NULL, NOW, see, &s, &err));
	assert_int_equal(s.n, 0);
	ok(view_calibrations(f->db, NULL, NULL, NOW + 40 * DAY_MS, see, &s, &err));
	assert_int_equal(s.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(learned_noise_expires, setup, teardown),
		cmocka_unit_test_setup_teardown(learned_noise_can_be_reset, setup, teardown),
		cmocka_unit_test_setup_teardown(figures_agree, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
