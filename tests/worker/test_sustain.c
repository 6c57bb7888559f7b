/* sustain.c: which cells run in sustained runs, by the results of the sentinels' sustained runs. Clocks and energies as measured
 * on GPUs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_cell.h"
#include "protocol/protocol.h"
#include "worker/internal.h"

enum { FORWARD_DENSE, FORWARD_SPARSE, BACKWARD_DENSE, BACKWARD_SPARSE, FORWARD_SHORT, CELLS, CALLS = 4, PAIRS = 16 };

struct scene {
	struct cell cell[CELLS];
	struct bench_cell state[CELLS];
	struct bench bench;
};

static struct scene s;

/* Nothing measured yet. */
static void begin(void)
{
	for (int i = 0; i < CELLS; i++) {
		for (int k = 0; k < s.state[i].n_sustained_runs; k++)
			free(s.state[i].sustained_run[k].values);
		for (int k = 0; k < s.state[i].n_runs; k++)
			free(s.state[i].run[k].values);
	}
	memset(&s, 0, sizeof s);
	for (int i = 0; i < CELLS; i++) {
		struct attention_case *a = attention_of(&s.cell[i]);
		bool sparse = i == FORWARD_SPARSE || i == BACKWARD_SPARSE;
		a->seqlen = i == FORWARD_SHORT ? 1024 : 8192;
		a->nhq = a->nhk = 8;
		a->headdim = 128;
		a->n_seqs = 1;
		a->length[0] = a->seqlen;
		a->mask = sparse ? FW_BLOCKS : FW_FULL;
		a->block = sparse ? 128 : 0;
		a->sparsity_ratio = sparse ? 0.5 : 0;
		s.cell[i].direction = i == BACKWARD_DENSE || i == BACKWARD_SPARSE ? DIRECTION_BACKWARD : DIRECTION_FORWARD;
		s.cell[i].threshold_pct = 1.5;
		snprintf(s.cell[i].family, sizeof s.cell[i].family, "attention");
		case_name(&s.cell[i]);
		s.state[i].open = true;
	}
	s.bench.n_cells = CELLS;
	s.bench.cells = s.cell;
	s.bench.cell = s.state;
	s.bench.device.kind = DEVICE_CUDA;
	rule_default(&s.bench.rule, CELLS);
}

/* A run of pairs, in which both sides are equal. */
static void add_pairs(int cell)
{
	float ms[PAIRS];
	struct msg_cell m = { .run = 1, .set = 1, .cell = cell, .series = SERIES_DEVICE, .n_sides = 2, .n = PAIRS };
	struct fw_err err = { 0 };
	device_check_unknown(&m.device_check);
	m.role[0] = ROLE_BASE;
	m.role[1] = ROLE_TARGET;
	for (int k = 0; k < PAIRS; k++)
		ms[k] = 2 + (float)(k % 3) / 1000;
	m.ms[0] = m.ms[1] = ms;
	assert_int_equal(bench_add(&s.bench, &m, &err), 1);
}

/* A sustained run of each side with these clocks and times, in its first and second half. Units: MHz, ms, J. */
static void add_timed(int cell, const float clock[2][2], const float time[2][2], double base_j, double target_j)
{
	float ms[2][CALLS], mhz[2][CALLS];
	struct msg_cell m = { .run = s.state[cell].n_sustained_runs + 1,
		.set = 1,
		.cell = cell,
		.series = SERIES_SUSTAINED,
		.n_sides = 2,
		.n = CALLS };
	struct fw_err err = { 0 };
	device_check_unknown(&m.device_check);
	m.role[0] = ROLE_BASE;
	m.role[1] = ROLE_TARGET;
	if (s.state[cell].n_runs == 0)
		add_pairs(cell);
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < CALLS; k++) {
			mhz[i][k] = clock[i][k / (CALLS / 2)];
			ms[i][k] = time[i][k / (CALLS / 2)];
		}
		m.ms[i] = ms[i];
		m.mhz[i] = mhz[i];
	}
	m.energy_j[0] = base_j;
	m.energy_j[1] = target_j;
	assert_int_equal(sustain_add(&s.bench, &m, &err), 1);
	s.state[cell].found.typical.want_set = 0; /* as if its pairs were stable */
}

/* The first sentinel run, A B: a call of each side. */
static void add_brief(int cell, float base_mhz, float target_mhz)
{
	float ms[2] = { 3000 / base_mhz, 3000 / target_mhz }, mhz[2] = { base_mhz, target_mhz };
	struct msg_cell m = { .run = 1, .set = 1, .cell = cell, .series = SERIES_SUSTAINED, .n_sides = 2, .n = 1, .order = "BA" };
	struct fw_err err = { 0 };
	device_check_unknown(&m.device_check);
	m.role[0] = ROLE_BASE;
	m.role[1] = ROLE_TARGET;
	for (int i = 0; i < 2; i++) {
		m.ms[i] = &ms[i];
		m.mhz[i] = &mhz[i];
	}
	add_pairs(cell);
	assert_int_equal(sustain_add(&s.bench, &m, &err), 1);
	s.state[cell].found.typical.want_set = 0;
}

/* Times that follow the clocks, as they do where nothing but the clock changes. */
static void add(int cell, const float base[2], const float target[2], double base_j, double target_j)
{
	const float clock[2][2] = { { base[0], base[1] }, { target[0], target[1] } };
	const float time[2][2] = { { 3000 / base[0], 3000 / base[1] }, { 3000 / target[0], 3000 / target[1] } };
	add_timed(cell, clock, time, base_j, target_j);
}

static void sentinels_are_the_longest(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < CELLS; i++)
		assert_int_equal(sustain_order(&s.bench, i, 1) != SUSTAINED_NONE, i != FORWARD_SHORT);
	s.bench.set_begun[1] = true;
	for (int i = 0; i < CELLS; i++)
		assert_false(sustain_order(&s.bench, i, 1));
}

/* Of a comparison over several devices each class has sentinel runs on one; the daemon passes on their result. */
static void a_class_with_a_sentinel_elsewhere_has_none_here(void **state)
{
	int list[CELLS], set;
	(void)state;
	begin();
	s.bench.sentinels_elsewhere = sentinel_direction(DIRECTION_BACKWARD);
	for (int i = 0; i < CELLS; i++)
		assert_int_equal(sustain_order(&s.bench, i, 1) != SUSTAINED_NONE, i == FORWARD_DENSE || i == FORWARD_SPARSE);
	add_brief(FORWARD_DENSE, 1665, 1665);
	s.bench.set_begun[1] = true;
	assert_int_equal(sustain_next(&s.bench, list, &set), 0);
	s.bench.sustained_runs = sentinel_direction(DIRECTION_BACKWARD);
	assert_int_equal(sustain_next(&s.bench, list, &set), 2);
	assert_true(list[0] == BACKWARD_SPARSE || list[0] == BACKWARD_DENSE);
	assert_true(list[1] == BACKWARD_SPARSE || list[1] == BACKWARD_DENSE);
	begin();
}

/* One kernel twice, on two H100: of 80 sustained runs those whose sides differed most, with the second largest difference within
 * one side. */
static void a_drifting_clock_blames_no_side(void **state)
{
	static const float base[][2] = { { 1546, 1552 }, { 1540, 1568 }, { 1561, 1560 }, { 1561, 1561 }, { 1544, 1548 },
		{ 1567, 1562 }, { 1550, 1563 }, { 1565, 1559 } },
			   target[][2] = { { 1557, 1561 }, { 1538, 1543 }, { 1549, 1555 }, { 1551, 1555 }, { 1555, 1552 },
				   { 1558, 1556 }, { 1573, 1557 }, { 1553, 1558 } };
	(void)state;
	for (int i = 0; i < (int)(sizeof base / sizeof base[0]); i++) {
		begin();
		add(BACKWARD_DENSE, base[i], target[i], 0, 0);
		assert_int_equal(s.state[BACKWARD_DENSE].side_balance, 0);
		s.bench.set_begun[1] = true;
		assert_false(sustain_order(&s.bench, BACKWARD_DENSE, 1));
	}
	begin();
}

static void two_runs_have_to_agree(void **state)
{
	static const float as_before[2] = { 1665, 1668 }, lower[2] = { 1590, 1586 };
	int list[CELLS], set;
	(void)state;
	begin();
	add(FORWARD_DENSE, as_before, lower, 0, 0);
	s.bench.set_begun[1] = true;
	assert_int_equal(s.state[FORWARD_DENSE].side_balance, 1);
	assert_true(sustain_order(&s.bench, FORWARD_DENSE, 1));
	assert_false(sustain_order(&s.bench, FORWARD_SHORT, 1));
	assert_int_equal(sustain_next(&s.bench, list, &set), 1);
	assert_int_equal(list[0], FORWARD_DENSE);
	add(FORWARD_DENSE, as_before, lower, 0, 0);
	assert_int_equal(s.bench.sustained_runs, sentinel_direction(DIRECTION_FORWARD));
	assert_true(sustain_order(&s.bench, FORWARD_SHORT, 1));
	assert_false(sustain_order(&s.bench, BACKWARD_DENSE, 1));
	begin();
	add(FORWARD_DENSE, as_before, lower, 0, 0);
	add(FORWARD_DENSE, lower, as_before, 0, 0);
	s.bench.set_begun[1] = true;
	assert_int_equal(s.bench.sustained_runs, 0);
	assert_false(sustain_order(&s.bench, FORWARD_DENSE, 1));
	begin();
}

/* Another process used the device: there is no evidence that the branch has an effect, nor that it has none. */
static void an_interrupted_first_run_is_repeated(void **state)
{
	struct msg_cell m = { .run = 1, .set = 1, .cell = FORWARD_DENSE, .series = SERIES_SUSTAINED };
	struct fw_err err = { 0 };
	int list[CELLS], set;
	(void)state;
	begin();
	s.bench.set_begun[1] = true;
	device_check_unknown(&m.device_check);
	m.device_check.foreign = 1;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(sustain_order(&s.bench, FORWARD_DENSE, 1) != SUSTAINED_NONE, i > 0);
		assert_int_equal(sustain_next(&s.bench, list, &set), i > 0);
		assert_int_equal(sustain_add(&s.bench, &m, &err), 0);
	}
	assert_false(sustain_order(&s.bench, FORWARD_DENSE, 1)); /* but not for ever */
	begin();
	assert_int_equal(sustain_add(&s.bench, &m, &err), 0);
	add_brief(FORWARD_DENSE, 1665, 1665);
	s.bench.set_begun[1] = true;
	assert_false(sustain_order(&s.bench, FORWARD_DENSE, 1));
	begin();
}

static void sides_begin_in_turn(void **state)
{
	enum sustained_order first;
	(void)state;
	begin();
	first = sustain_order(&s.bench, FORWARD_DENSE, 1);
	assert_true(first == SUSTAINED_BASE_FIRST || first == SUSTAINED_TARGET_FIRST);
	s.bench.seed++;
	assert_int_not_equal(sustain_order(&s.bench, FORWARD_DENSE, 1), first);
	s.bench.seed--;
	add_brief(FORWARD_DENSE, 1665, 1635);
	assert_int_equal(s.state[FORWARD_DENSE].side_balance, 1);
	s.bench.set_begun[1] = true;
	assert_int_not_equal(sustain_order(&s.bench, FORWARD_DENSE, 1), SUSTAINED_NONE);
	assert_int_not_equal(sustain_order(&s.bench, FORWARD_DENSE, 1), first);
	begin();
	add_brief(FORWARD_DENSE, 1665, 1648);
	assert_int_equal(s.state[FORWARD_DENSE].side_balance, 0);
	begin();
}

/* The kernel that a side launches, or one whose code is unknown. */
static void launch(int cell, enum bench_origin side, const char *code)
{
	struct msg_node node = { .kernel = "forward", .grid = { 132, 1, 1 } };
	snprintf(node.code_sha256, sizeof node.code_sha256, "%s", code);
	launches_add(s.state[cell].launches[side], &node);
}

static void equal_kernels_need_no_sentinel(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < CELLS; i++)
		for (int side = BENCH_BASE; side <= BENCH_TARGET; side++)
			launch(i, (enum bench_origin)side, i == BACKWARD_SPARSE && side == BENCH_TARGET ? "b" : "a");
	for (int i = 0; i < CELLS; i++)
		assert_int_equal(sustain_order(&s.bench, i, 1) != SUSTAINED_NONE, i == BACKWARD_SPARSE);
	/* the longest that differs is a sentinel, though not the longest */
	launch(FORWARD_SHORT, BENCH_TARGET, "a");
	for (int i = 0; i < CELLS; i++)
		assert_int_equal(sustain_order(&s.bench, i, 1) != SUSTAINED_NONE, i == BACKWARD_SPARSE || i == FORWARD_SHORT);
	begin();
	for (int side = BENCH_BASE; side <= BENCH_TARGET; side++) {
		launch(FORWARD_DENSE, (enum bench_origin)side, "a");
		snprintf(s.state[FORWARD_DENSE].work[side].config, 8, "tile=%d", side);
		launch(BACKWARD_DENSE, (enum bench_origin)side, ""); /* unknown code */
		launch(BACKWARD_DENSE, (enum bench_origin)side, "a");
	}
	assert_int_not_equal(sustain_order(&s.bench, FORWARD_DENSE, 1), SUSTAINED_NONE);
	assert_int_not_equal(sustain_order(&s.bench, BACKWARD_DENSE, 1), SUSTAINED_NONE);
	begin();
}

static void energy_counts_where_it_is_known(void **state)
{
	static const float same[2] = { 1700, 1700 };
	(void)state;
	begin();
	add(BACKWARD_SPARSE, same, same, 50, 51);
	assert_int_equal(s.state[BACKWARD_SPARSE].side_balance, 0);
	begin();
	for (int i = 0; i < 2; i++)
		add(BACKWARD_SPARSE, same, same, 50, 52);
	assert_int_equal(s.bench.sustained_runs, sentinel_direction(DIRECTION_BACKWARD));
	begin();
}

/* K and V evicted first from L2, as measured on an H200 at its power limit: clocks 8 and 7 % lower, and sustained runs of one
 * side up to 5 % apart. */
static void a_large_loss_is_found_despite_drift(void **state)
{
	static const float base[2][2] = { { 1376, 1405 }, { 1366, 1415 } }, target[2][2] = { { 1300, 1270 }, { 1331, 1268 } };
	(void)state;
	begin();
	for (int i = 0; i < 2; i++)
		add(FORWARD_SPARSE, base[i], target[i], 0, 0);
	assert_int_equal(s.bench.sustained_runs, sentinel_direction(DIRECTION_FORWARD));
	begin();
}

/* Clocks that were read next to the calls drift and show nothing, but sustained runs show a regression that pairs do not. */
static void sustained_times_count_in_addition_to_pairs(void **state)
{
	static const float wandering[2][2] = { { 1575, 1650 }, { 1640, 1590 } },
			   slower[2][2] = { { 3.37F, 3.38F }, { 3.65F, 3.66F } },
			   opposite[2][2] = { { 3.55F, 3.56F }, { 3.37F, 3.37F } },
			   little[2][2] = { { 3.37F, 3.38F }, { 3.41F, 3.42F } };
	(void)state;
	begin();
	add_timed(BACKWARD_DENSE, wandering, slower, 0, 0);
	assert_int_equal(s.state[BACKWARD_DENSE].side_balance, 1);
	s.bench.set_begun[1] = true;
	assert_true(sustain_order(&s.bench, BACKWARD_DENSE, 1));
	begin();
	add_timed(BACKWARD_DENSE, wandering, slower, 0, 0);
	add_timed(BACKWARD_DENSE, wandering, opposite, 0, 0); /* the other order shows drift of the device */
	assert_int_equal(s.state[BACKWARD_DENSE].side_balance, 0);
	assert_int_equal(s.bench.sustained_runs, 0);
	begin();
	add_timed(BACKWARD_DENSE, wandering, little, 0, 0);
	assert_int_equal(s.state[BACKWARD_DENSE].side_balance, 0); /* below the threshold of the cell */
	begin();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentinels_are_the_longest),
		cmocka_unit_test(a_class_with_a_sentinel_elsewhere_has_none_here),
		cmocka_unit_test(a_drifting_clock_blames_no_side),
		cmocka_unit_test(two_runs_have_to_agree),
		cmocka_unit_test(an_interrupted_first_run_is_repeated),
		cmocka_unit_test(sides_begin_in_turn),
		cmocka_unit_test(equal_kernels_need_no_sentinel),
		cmocka_unit_test(a_large_loss_is_found_despite_drift),
		cmocka_unit_test(energy_counts_where_it_is_known),
		cmocka_unit_test(sustained_times_count_in_addition_to_pairs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
