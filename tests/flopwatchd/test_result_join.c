/* One result from several shares: the device of each cell, consecutive numbers of runs, and failures by share. */
#include "fixture_result.h"

#include "flopwatchd/job/job.h"

enum { CELLS = 4 };

static void fill_plan(struct plan *p)
{
	plan_init(p);
	buf_init(&p->suite_text, 64);
	p->request.n_sides = 2;
	p->request.side[0].role = ROLE_BASE;
	p->request.side[1].role = ROLE_TARGET;
	p->request.n_cells = CELLS;
	p->request.rule.k = 7;
	p->request.cell = calloc(CELLS, sizeof *p->request.cell);
	assert_non_null(p->request.cell);
	for (int i = 0; i < CELLS; i++) {
		snprintf(p->request.cell[i].key, sizeof p->request.cell[i].key, "cell %d", i);
		snprintf(p->request.cell[i].family, sizeof p->request.cell[i].family, BENCHMARK_FAMILY);
		p->request.cell[i].flops = i == 2 ? 100 : 1;
	}
}

static void the_heaviest_cell_leaves_the_rest_to_the_other(void **state)
{
	(void)state;
	struct plan p;
	int partition_of[CELLS];
	fill_plan(&p);
	plan_partition(&p, 2, partition_of);
	assert_int_equal(partition_of[2], 0);
	assert_int_equal(partition_of[0] + partition_of[1] + partition_of[3], 3);
	for (int i = 0; i < CELLS; i++)
		p.request.cell[i].flops = 0; /* unknown costs: an equal number of cells each */
	plan_partition(&p, 2, partition_of);
	assert_int_equal(partition_of[0] + partition_of[1] + partition_of[2] + partition_of[3], 2);
	plan_fini(&p);
}

/* Assigning the largest to the least loaded device gives 3 2 2 to one; 3 3 and 2 2 2 is more even. */
static void the_larger_partition_gives_cells_away(void **state)
{
	(void)state;
	static const double flops[] = { 3, 3, 2, 2, 2 };
	struct plan p;
	int partition_of[5];
	double of_first = 0;
	fill_plan(&p);
	free(p.request.cell);
	p.request.n_cells = 5;
	p.request.cell = calloc(5, sizeof *p.request.cell);
	assert_non_null(p.request.cell);
	for (int i = 0; i < 5; i++) {
		snprintf(p.request.cell[i].family, sizeof p.request.cell[i].family, BENCHMARK_FAMILY);
		p.request.cell[i].flops = flops[i];
	}
	plan_partition(&p, 2, partition_of);
	for (int i = 0; i < 5; i++)
		of_first += partition_of[i] == 0 ? flops[i] : 0;
	assert_true(of_first > 5.9 && of_first < 6.1);
	plan_fini(&p);
}

/** A share that timed the first of its `n` cells in runs 1 and 2. */
static struct result *measured(const struct plan *whole, const int *cell, int n, int n_timed, const char *failure)
{
	struct noise noise = { .state = 7, .white = 0.003, .run = 0.0005, .clock = 0.004, .outlier = 0.02 };
	struct plan mine;
	plan_copy_cells(whole, cell, n, &mine);
	assert_int_equal(mine.request.rule.k, 7); /* the number of judged cells stays the same */
	struct result *r = result_new(&mine);
	assert_non_null(r);
	fixture_accepted(r);
	for (int run = 1; run <= 2; run++) {
		fixture_run(r, run, 1);
		for (int i = 0; i < n_timed; i++)
			fixture_timing(r, &noise, run, 1, i, SERIES_DEVICE, "", 0, 0);
	}
	if (failure[0])
		fixture_fault(r, ROLE_TARGET, -1, failure);
	r->done.gpu_s = 3;
	r->done.wall_s = n;
	return r;
}

static void partitions_join_to_one_result(void **state)
{
	(void)state;
	static const int first[] = { 0, 3 }, second[] = { 1, 2 };
	struct plan p;
	fill_plan(&p);
	struct result *a = measured(&p, first, 2, 2, ""), *b = measured(&p, second, 2, 2, "crash"), *whole = result_new(&p);
	ok(result_join(whole, a, first, 2, 0, &err));
	ok(result_join(whole, b, second, 2, 0, &err));
	result_free(a);
	result_free(b);
	assert_int_equal(whole->n_runs, 4);
	assert_int_equal(whole->n_cells, 8);
	for (int i = 0; i < whole->n_cells; i++) {
		bool is_first = whole->cell[i]->cell == 0 || whole->cell[i]->cell == 3;
		assert_int_equal(whole->cell[i]->run <= 2, is_first);
	}
	assert_int_equal(whole->n_checks, 2 * CELLS);
	assert_non_null(result_check(whole, ROLE_TARGET, 2));
	assert_null(result_fault(whole, ROLE_TARGET, 0)); /* a failure of another device */
	assert_non_null(result_fault(whole, ROLE_TARGET, 1));
	assert_non_null(result_fault(whole, ROLE_TARGET, 2));
	assert_string_equal(whole->build[1].module_sha256, "bbbb");
	assert_true(whole->done.gpu_s > 5.9 && whole->done.gpu_s < 6.1 && whole->done.wall_s < 2.1);
	result_free(whole);
}

/* A device that was in use at the end: as on a single device, this voids only cells without times from it. */
static void a_device_fault_voids_only_cells_without_times(void **state)
{
	(void)state;
	static const int first[] = { 0, 3 }, second[] = { 1, 2 }, again[] = { 3 };
	struct plan p;
	fill_plan(&p);
	struct result *a = measured(&p, first, 2, 2, ""), *b = measured(&p, second, 2, 1, ""), *whole = result_new(&p);
	fixture_fault(b, ROLE_DEVICE, -1, "device");
	ok(result_join(whole, a, first, 2, 0, &err));
	ok(result_join(whole, b, second, 2, 0, &err));
	assert_null(result_fault(whole, ROLE_DEVICE, 0));
	assert_null(result_fault(whole, ROLE_DEVICE, 1));
	assert_non_null(result_fault(whole, ROLE_DEVICE, 2));
	result_free(a);
	result_free(b);

	struct plan mine;
	plan_copy_cells(&whole->plan, again, 1, &mine);
	struct result *c = result_new(&mine); /* that was to confirm one and timed nothing */
	assert_non_null(c);
	fixture_accepted(c);
	fixture_fault(c, ROLE_DEVICE, -1, "device");
	fixture_fault(c, ROLE_TARGET, -1, "crash");
	ok(result_join(whole, c, again, 1, 2, &err));
	result_free(c);
	assert_null(result_fault(whole, ROLE_DEVICE, 3));
	assert_non_null(result_fault(whole, ROLE_TARGET, 3)); /* a failure of a side counts for that side */
	result_free(whole);
}

static void durations_of_successive_partitions_add_up(void **state)
{
	(void)state;
	static const int all[] = { 0, 1, 2, 3 }, again[] = { 3 };
	struct plan p;
	fill_plan(&p);
	struct result *a = measured(&p, all, CELLS, CELLS, ""), *b = measured(&p, again, 1, 1, ""), *whole = result_new(&p);
	a->started_at = 10000;
	a->ended_at = 14000;
	b->started_at = 14500;
	b->ended_at = 15500;
	ok(result_join(whole, a, all, CELLS, 0, &err));
	ok(result_join(whole, b, again, 1, 2, &err));
	result_free(a);
	result_free(b);
	assert_true(whole->done.wall_s > 5.4 && whole->done.wall_s < 5.6);
	result_free(whole);
}

static void a_repeated_cell_replaces_its_first_result(void **state)
{
	(void)state;
	static const int first[] = { 0, 3 }, second[] = { 1, 2 }, again[] = { 0, 3, 2 };
	struct plan p;
	fill_plan(&p);
	struct result *a = measured(&p, first, 2, 2, ""), *b = measured(&p, second, 2, 2, ""), *whole = result_new(&p);
	ok(result_join(whole, a, first, 2, 0, &err));
	ok(result_join(whole, b, second, 2, 0, &err));
	result_free(a);
	result_free(b);
	result_forget(whole, again, 3);
	assert_int_equal(whole->n_cells, 2);
	for (int i = 0; i < whole->n_cells; i++)
		assert_int_equal(whole->cell[i]->cell, 1);
	assert_int_equal(whole->n_runs, 2); /* those of cells 0 and 3 alone are gone */
	for (int i = 0; i < whole->n_runs; i++)
		assert_int_equal(whole->run[i]->run, whole->cell[i]->run);
	struct result *c = measured(&whole->plan, again, 3, 3, "");
	ok(result_join(whole, c, again, 3, 0, &err));
	result_free(c);
	assert_int_equal(whole->n_cells, 8);
	assert_int_equal(whole->n_runs, 4);
	result_free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_heaviest_cell_leaves_the_rest_to_the_other),
		cmocka_unit_test(the_larger_partition_gives_cells_away),
		cmocka_unit_test(partitions_join_to_one_result),
		cmocka_unit_test(a_device_fault_voids_only_cells_without_times),
		cmocka_unit_test(a_repeated_cell_replaces_its_first_result),
		cmocka_unit_test(durations_of_successive_partitions_add_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
