/* measure_next: which runs slow calls require, of which cells, and in which set. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/protocol.h"
#include "worker/internal.h"

enum { FORWARD, OTHER_FORWARD, BACKWARD, CELLS, PAIRS = 32 };

struct scene {
	struct cell cell[CELLS];
	struct bench_cell state[CELLS];
	struct bench bench;
	int run;
};

static struct scene s;

static void end(void)
{
	for (int i = 0; i < CELLS; i++)
		for (int k = 0; k < s.state[i].n_runs; k++)
			free(s.state[i].run[k].values);
}

static void begin(void)
{
	end();
	memset(&s, 0, sizeof s);
	for (int i = 0; i < CELLS; i++) {
		s.cell[i].direction = i == BACKWARD ? DIRECTION_BACKWARD : DIRECTION_FORWARD;
		s.cell[i].threshold_pct = 1.5;
		snprintf(s.cell[i].group, sizeof s.cell[i].group, "dense");
		s.state[i].open = true;
		s.state[i].found.typical.want_set = 1;
	}
	s.bench.n_cells = CELLS;
	s.bench.cells = s.cell;
	s.bench.cell = s.state;
	s.bench.selfcheck = true; /* equal modules are timed too */
	rule_default(&s.bench.rule, CELLS);
}

/* A run of these cells; `slow` calls of each forward target take a quarter longer. */
static void play(const int *list, int n, int set, int slow)
{
	s.run++;
	for (int i = 0; i < n; i++) {
		float base[PAIRS], target[PAIRS];
		struct msg_cell m = {
			.run = s.run, .set = set, .cell = list[i], .series = SERIES_DEVICE, .n_sides = 2, .n = PAIRS
		};
		struct fw_err err = { 0 };
		device_check_unknown(&m.device_check);
		m.role[0] = ROLE_BASE;
		m.role[1] = ROLE_TARGET;
		for (int k = 0; k < PAIRS; k++) {
			base[k] = 2 + (float)((k + s.run) % 5) / 1000;
			target[k] = 2 + (float)((k * 3 + s.run) % 5) / 1000;
			if (list[i] != BACKWARD && k < slow)
				target[k] *= 1.25f;
		}
		m.ms[0] = base;
		m.ms[1] = target;
		assert_int_equal(bench_add(&s.bench, &m, &err), 1);
		bench_judge(&s.bench, list[i]);
	}
}

/* Until no more runs are requested, at most `most` runs. The sets in their order. */
static const char *sets(int slow_first, int slow_second, int most)
{
	static char order[64];
	int list[CELLS], set, n, at = 0;
	while (at < most && (n = measure_next(&s.bench, list, &set)) > 0) {
		order[at++] = (char)('0' + set);
		play(list, n, set, set == 1 ? slow_first : slow_second);
	}
	order[at] = 0;
	return order;
}

static void a_loss_of_the_mean_gets_a_second_set(void **state)
{
	(void)state;
	begin();
	assert_string_equal(sets(3, 3, 30), "111122");
	assert_int_equal(bench_verdict(&s.bench, FORWARD), VERDICT_REGRESSION);
	assert_int_equal(bench_verdict(&s.bench, OTHER_FORWARD), VERDICT_REGRESSION);
	assert_int_equal(bench_verdict(&s.bench, BACKWARD), VERDICT_UNCHANGED);
	assert_true(s.state[BACKWARD].n_runs < s.state[FORWARD].n_runs); /* the other direction is not run */
	begin();
	const char *order = sets(3, 0, 30); /* which has no slow calls */
	assert_non_null(strchr(order, '2'));
	assert_int_equal(bench_verdict(&s.bench, FORWARD), VERDICT_UNCHANGED);
}

static void no_loss_requests_no_second_set(void **state)
{
	(void)state;
	begin();
	assert_null(strchr(sets(0, 0, 30), '2'));
	int quiet = s.run;
	begin();
	sets(1, 1, 30); /* 0.8 % of the mean */
	assert_true(s.run <= quiet + 6);
	assert_int_equal(bench_verdict(&s.bench, FORWARD), VERDICT_UNCHANGED);
}

/* Where the budget ends before a second set, or none was requested, slow calls are reported but do not decide the verdict. */
static void an_unconfirmed_loss_is_no_verdict(void **state)
{
	struct cell_verdict v;
	(void)state;
	begin();
	sets(3, 3, 4);
	bench_decide(&s.bench, FORWARD, &v);
	assert_true(v.mean.is_tail && v.mean.want_set == 2 && v.mean.reason[0]);
	assert_int_equal(bench_verdict(&s.bench, FORWARD), VERDICT_UNCHANGED);
	s.state[FORWARD].open = s.state[OTHER_FORWARD].open = false;
	assert_string_equal(sets(3, 3, 30), "");
	begin();
	s.bench.quick = true;
	assert_string_equal(sets(3, 3, 30), "1");
}

static int close_scene(void **state)
{
	(void)state;
	end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loss_of_the_mean_gets_a_second_set),
		cmocka_unit_test(no_loss_requests_no_second_set),
		cmocka_unit_test(an_unconfirmed_loss_is_no_verdict),
	};
	return cmocka_run_group_tests(tests, NULL, close_scene);
}
