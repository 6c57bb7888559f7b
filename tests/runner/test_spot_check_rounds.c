/* Which calls of a pass are checked: also some that differ from all others only in their inputs. */
/* Left to `make check`: loads test modules, takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "attention_cell.h"
#include "runner/internal.h"
#include "runner_run.h"

static struct spot_check spot_check;
static bool is_paused;
static int rounds, n_sides, n_readings;

/* Device cpu, which reports of a call whether all buffers were checked right before it. */
static int check_odd_redzones(struct device *d, void **which, struct fw_err *err)
{
	is_paused = spot_check.watching; /* no longer true when they are checked after the call */
	return device_cpu.check_redzones(d, which, err);
}

static int odd_stamp(struct device *d, int slot, int end, struct fw_err *err)
{
	if (is_paused)
		unsetenv("CHEAT_UNPAUSED");
	else
		setenv("CHEAT_UNPAUSED", "1", 1);
	is_paused = is_paused && end == 0;
	return device_cpu.stamp(d, slot, end, err);
}

static void count_reading(struct device *d, struct msg_device_check *out)
{
	n_readings++;
	device_cpu.device_check(d, out);
}

typedef int pass_fn(struct timing *t, struct failure *f);

static int pass_device(struct timing *t, struct failure *f)
{
	return timing_device(t, rounds, f);
}

static int pass_call(struct timing *t, struct failure *f)
{
	return timing_call(t, rounds, TIMING_DECIDES, f);
}

/* good.c and `target`, or only the first, in one pass of long calls. Returns its result, with the side to blame. */
static int run_pass(const char *target, pass_fn *pass, enum role *culprit, struct failure *f)
{
	const char *const modules[] = { "good", target };
	const int32_t one[] = { 32 };
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_FORWARD, 1, one) };
	int index[1];
	struct msg_task task = small_task(TASK_TIME, "cpu", modules, 2, cell, index, 1);
	struct device_ops ops = device_cpu;
	struct records records;
	static struct runner runner;
	static struct problem p;
	struct timing t = { .runner = &runner, .problem = &p, .n = n_sides, .spot_check = &spot_check, .pair_ms = 1000 };
	struct fw_err err = { 0 };

	unsetenv("CHEAT_UNPAUSED");
	assert_int_equal(records_init(&records, -1, 1, &err), 0);
	assert_int_equal(runner_open(&runner, &task, &records, &err), 0);
	ops.check_redzones = check_odd_redzones;
	ops.stamp = odd_stamp;
	ops.device_check = count_reading;
	n_readings = 0;
	runner.ops = &ops;
	assert_int_equal(problem_open(&p, &ops, runner.dev, cell, &err), 0);
	for (int k = 0; k < 2; k++) {
		t.side[k] = &runner.side[k];
		assert_int_equal(side_plan(t.side[k], &p, DIRECTION_FORWARD, f), 0);
		assert_int_equal(side_bind(t.side[k], f), 0);
	}
	assert_int_equal(spot_check_open(&spot_check, &runner, &p, SPOT_CHECK_ANY, 1, f), 0);
	spot_check_make_later(&spot_check, 2);
	int result = pass(&t, f);
	*culprit = t.culprit ? t.culprit->role : ROLE_NONE;
	spot_check_close(&spot_check);
	for (int k = 0; k < 2; k++)
		side_unplan(t.side[k]);
	problem_close(&p);
	runner.ops = &device_cpu;
	runner_close(&runner);
	records_fini(&records);
	return result;
}

static void paused_cheats_are_caught_in_every_pass(void **state)
{
	pass_fn *const passes[] = { pass_device, pass_call };
	(void)state;
	n_sides = 2;
	for (int i = 0; i < 4; i++) {
		rounds = i < 2 ? 8 : 2; /* two for long calls */
		for (int again = 0; again < 5; again++) {
			struct failure f = { 0 };
			enum role culprit;
			assert_int_equal(run_pass("good", passes[i % 2], &culprit, &f), 0);
			assert_int_equal(run_pass("cheat_paused", passes[i % 2], &culprit, &f), -1);
			assert_string_equal(f.name, "wrong");
			assert_int_equal(culprit, ROLE_TARGET);
		}
	}
}

/* Also of two calls of one side, the least that a pass has. */
static void the_device_is_read_before_and_after_every_pass(void **state)
{
	struct failure f = { 0 };
	enum role culprit;
	(void)state;
	for (n_sides = 1; n_sides <= 2; n_sides++)
		for (rounds = 2; rounds <= 8; rounds *= 2) {
			assert_int_equal(run_pass("good", pass_device, &culprit, &f), 0);
			assert_int_equal(n_readings, 2);
		}
}

/* Watched calls have equal inputs, so a module could answer the second of two from memory. */
static void two_calls_have_different_inputs(void **state)
{
	static struct runner runner = { .random = 7, .n_sides = 2 };
	static struct spot_check w = { .runner = &runner, .active = true };
	struct timing t = { .runner = &runner, .n = 2, .spot_check = &w, .side = { &runner.side[0], &runner.side[1] } };
	struct timing_watch watch;
	(void)state;
	for (int any = 0; any < 2; any++) {
		for (int i = 0; i < 2; i++)
			for (int k = 0; k < 2; k++)
				w.later[i][k] = (struct spot_check_later){ .has_space = true, .is_any = k == any };
		timing_choose_watched(&t, 2, &watch);
		for (int who = 0; who < 2; who++) {
			assert_false(timing_is_watched(&t, &watch, who, 0));
			assert_true(timing_is_watched(&t, &watch, who, 1));
			assert_int_equal(watch.later[who][any], 0);
			assert_int_equal(watch.later[who][1 - any], -1);
		}
	}
	memset(w.later, 0, sizeof w.later); /* without memory for copies both are watched */
	for (int again = 0; again < 8; again++) {
		timing_choose_watched(&t, 2, &watch);
		for (int who = 0; who < 2; who++)
			assert_true(timing_is_watched(&t, &watch, who, 0) && timing_is_watched(&t, &watch, who, 1));
	}
}

static void later_rounds_check_other_calls(void **state)
{
	static struct runner runner = { .random = 7 };
	struct spot_check w = { .runner = &runner, .active = true };
	struct timing t = { .runner = &runner, .n = 2, .spot_check = &w, .side = { &runner.side[0], &runner.side[1] } };
	struct timing_watch watch;
	(void)state;
	for (rounds = 1; rounds <= 32; rounds++) {
		timing_choose_watched(&t, rounds, &watch);
		assert_int_equal(watch.last, rounds - 1);
		for (int who = 0; who < 2; who++) {
			int paused = 0;
			for (int round = 0; round < rounds; round++)
				paused += timing_is_watched(&t, &watch, who, round);
			assert_in_range(paused, 1, 3);
			for (int half = 0; half < 2; half++) {
				int later = watch.later[who][half];
				assert_true(later < rounds && (later < 0 || !timing_is_watched(&t, &watch, who, later)));
				assert_true(rounds < 12 || later >= half * (rounds / 2));
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paused_cheats_are_caught_in_every_pass),
		cmocka_unit_test(the_device_is_read_before_and_after_every_pass),
		cmocka_unit_test(two_calls_have_different_inputs),
		cmocka_unit_test(later_rounds_check_other_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
