/* Sentinel runs: the share of a job that checks the power draw of another, and the cells that are measured again as a result. */
#include "fixture_result.h"

#include "flopwatchd/job/job.h"

enum { CELLS = 6 };
enum cells { FORWARD_LONG, FORWARD_HALF, FORWARD_SHORT, BACKWARD_LONG, BACKWARD_HALF, BACKWARD_SHORT };

static int mine[] = { FORWARD_LONG, FORWARD_SHORT, BACKWARD_LONG }, yours[] = { FORWARD_HALF, BACKWARD_HALF, BACKWARD_SHORT };

static sentinel_set forward, backward;
static struct share share[2];

static void look(struct result *r, int cell)
{
	struct noise noise = { .state = 7, .white = 0.003, .run = 0.0005, .clock = 0.004, .outlier = 0.02 };
	fixture_timing(r, &noise, 1, 1, cell, SERIES_SUSTAINED, "", 0, 0);
}

/* Each share has checked the longest cell that it has of its class. */
static struct result *begin(void)
{
	static const double flops[] = { 100, 50, 1 };
	struct plan p;
	plan_init(&p);
	buf_init(&p.suite_text, 64);
	p.request.n_sides = 2;
	p.request.side[0].role = ROLE_BASE;
	p.request.side[1].role = ROLE_TARGET;
	p.request.n_cells = CELLS;
	p.request.cell = calloc(CELLS, sizeof *p.request.cell);
	assert_non_null(p.request.cell);
	for (int i = 0; i < CELLS; i++) {
		snprintf(p.request.cell[i].key, sizeof p.request.cell[i].key, "cell %d", i);
		snprintf(p.request.cell[i].family, sizeof p.request.cell[i].family, BENCHMARK_FAMILY);
		p.request.cell[i].direction = i < BACKWARD_LONG ? DIRECTION_FORWARD : DIRECTION_BACKWARD;
		p.request.cell[i].flops = flops[i % 3];
	}
	share[0] = (struct share){ .n = 3, .cell = mine };
	share[1] = (struct share){ .n = 3, .cell = yours };
	sentinels_assign(&p, share, 2);
	forward = sentinel_class(&p.request.cell[FORWARD_LONG]);
	backward = sentinel_class(&p.request.cell[BACKWARD_LONG]);
	struct result *r = result_new(&p);
	struct noise noise = { .state = 7, .white = 0.003, .run = 0.0005, .clock = 0.004, .outlier = 0.02 };
	assert_non_null(r);
	fixture_accepted(r);
	for (int run = 1; run <= 2; run++) {
		fixture_run(r, run, 1);
		for (int i = 0; i < CELLS; i++)
			fixture_timing(r, &noise, run, 1, i, SERIES_DEVICE, "", 0, 0);
	}
	look(r, FORWARD_LONG);
	look(r, BACKWARD_HALF);
	return r;
}

/* Cells that are measured again: a digit each. */
static void again(const struct result *r, const char *expected)
{
	int cell[CELLS];
	char found[CELLS + 1] = "";
	struct share out = { .cell = cell };
	sentinels_find_missed(r, share, 2, &out);
	for (int i = 0; i < out.n; i++)
		snprintf(found + i, sizeof found - (size_t)i, "%d", cell[i]);
	assert_string_equal(found, expected);
	assert_int_equal(out.requested, share[0].sustained_runs | share[1].sustained_runs);
}

static void each_partition_has_the_sentinel_of_one_direction(void **state)
{
	(void)state;
	struct result *r = begin();
	assert_int_equal(share[0].elsewhere, backward); /* a call half as long draws the same power */
	assert_int_equal(share[1].elsewhere, forward);
	assert_int_equal(share[0].elsewhere & sentinel_direction(DIRECTION_FORWARD), 0);
	result_free(r);
}

static void a_partition_of_short_calls_has_no_sentinel(void **state)
{
	(void)state;
	static int all_but_one[] = { FORWARD_LONG, FORWARD_HALF, FORWARD_SHORT, BACKWARD_LONG, BACKWARD_HALF },
		   short_one[] = { BACKWARD_SHORT };
	struct result *r = begin();
	share[0] = (struct share){ .n = 5, .cell = all_but_one };
	share[1] = (struct share){ .n = 1, .cell = short_one };
	sentinels_assign(&r->plan, share, 2);
	assert_int_equal(share[0].elsewhere, 0);
	assert_int_equal(share[1].elsewhere, forward | backward);
	result_free(r);
}

static void a_sentinel_result_holds_for_its_direction(void **state)
{
	(void)state;
	struct result *r = begin();
	again(r, "");
	share[0].sustained_runs = sentinel_direction(DIRECTION_FORWARD);
	again(r, "1");
	share[0].sustained_runs = 0;
	share[1].sustained_runs = sentinel_direction(DIRECTION_BACKWARD);
	again(r, "3");
	share[0].sustained_runs = sentinel_direction(DIRECTION_BACKWARD); /* its own runs have shown it, too */
	again(r, "");
	share[0].sustained_runs = 0;
	share[0].elsewhere = 0; /* its own sentinel run for the other class of that direction found nothing */
	look(r, BACKWARD_LONG);
	again(r, "");
	result_free(r);
}

static void measured_or_failed_cells_are_not_repeated(void **state)
{
	(void)state;
	struct result *r = begin();
	share[0].sustained_runs = sentinel_direction(DIRECTION_BACKWARD);
	again(r, "5"); /* the other share's sentinel had sustained runs */
	fixture_fault(r, ROLE_TARGET, BACKWARD_SHORT, "crash");
	again(r, "");
	result_free(r);
}

static void a_missed_sentinel_run_is_repeated(void **state)
{
	(void)state;
	struct result *r = begin();
	for (int i = 0; i < r->n_cells; i++)
		if (r->cell[i]->cell == FORWARD_LONG && r->cell[i]->series == SERIES_SUSTAINED)
			r->cell[i]->device_check.foreign = 1; /* this run does not count */
	again(r, "1");
	fixture_fault(r, ROLE_TARGET, FORWARD_HALF, "crash");
	again(r, "");
	result_free(r);
}

/* A call of one side: one kernel with this code, "" unknown. */
static void launch(struct result *r, int cell, enum role role, const char *config, const char *code)
{
	struct msg work = { .t = MSG_WORK, .u.work = { .cell = cell } };
	struct msg node = { .t = MSG_NODE, .u.node = { .cell = cell, .grid = { 132, 1, 1 } } };

	work.u.work.role = node.u.node.role = role;
	snprintf(work.u.work.config, sizeof work.u.work.config, "%s", config);
	snprintf(node.u.node.kernel, sizeof node.u.node.kernel, "forward");
	snprintf(node.u.node.code_sha256, sizeof node.u.node.code_sha256, "%s", code);
	fixture_add(r, &work); /* replaces earlier kernels */
	fixture_add(r, &node);
}

/* A share whose cells all launch equal kernels has no sentinel run; cells of another share that differ need one. */
static void equal_kernels_are_not_repeated(void **state)
{
	static const struct {
		const char *config, *code, *again;
	} target[] = { { "", "a", "" }, { "", "b", "1" }, { "", "", "1" }, { "tile=3", "a", "1" } };
	struct result *r = begin();

	(void)state;
	for (int i = 0; i < r->n_cells; i++)
		if (r->cell[i]->cell == FORWARD_LONG && r->cell[i]->series == SERIES_SUSTAINED)
			r->cell[i]->device_check.foreign = 1;
	for (size_t i = 0; i < sizeof target / sizeof target[0]; i++) {
		launch(r, FORWARD_HALF, ROLE_BASE, "", "a");
		launch(r, FORWARD_HALF, ROLE_TARGET, target[i].config, target[i].code);
		again(r, target[i].again);
	}
	result_free(r);
}

static void repeated_sentinels_keep_their_position(void **state)
{
	(void)state;
	static int one[] = { BACKWARD_SHORT };
	struct result *r = begin();
	struct share three[3];
	int cell[CELLS];
	struct share out = { .cell = cell };
	share[0].sustained_runs = sentinel_direction(DIRECTION_BACKWARD);
	again(r, "5");
	memcpy(three, share, sizeof share);
	three[2] = (struct share){ .n = 1,
		.cell = one,
		.elsewhere = sentinel_direction(DIRECTION_BACKWARD),
		.sustained_runs = sentinel_direction(DIRECTION_BACKWARD) };
	sentinels_find_missed(r, three, 3, &out);
	assert_int_equal(out.n, 0);
	three[2].sustained_runs = 0; /* one more has to follow, whichever share it was in before */
	sentinels_find_missed(r, three, 3, &out);
	assert_int_equal(out.n, 1);
	assert_int_equal(cell[0], BACKWARD_SHORT);
	result_free(r);
}

static void cells_without_flops_have_sentinels(void **state)
{
	(void)state;
	struct result *r = begin();
	for (int i = 0; i < CELLS; i++)
		r->plan.request.cell[i].flops = 0;
	share[0].elsewhere = share[1].elsewhere = 0;
	sentinels_assign(&r->plan, share, 2);
	assert_int_equal(share[0].elsewhere, backward);
	assert_int_equal(share[1].elsewhere, forward);
	result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_partition_has_the_sentinel_of_one_direction),
		cmocka_unit_test(a_partition_of_short_calls_has_no_sentinel),
		cmocka_unit_test(a_sentinel_result_holds_for_its_direction),
		cmocka_unit_test(measured_or_failed_cells_are_not_repeated),
		cmocka_unit_test(a_missed_sentinel_run_is_repeated),
		cmocka_unit_test(equal_kernels_are_not_repeated),
		cmocka_unit_test(repeated_sentinels_keep_their_position),
		cmocka_unit_test(cells_without_flops_have_sentinels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
