/* Results that are verified: a base that is slower with its target than alone, a target that is implausibly fast. */
/* Left to `make check`: takes seconds. */
#include "measure_run.h"

#include "worker/internal.h"

/* Alone the target takes `alone` ms and the base 1; together 0.5 and 1, in every run. */
static void beside_and_alone(struct scene *s, const char *alone)
{
	char check[200], run[200];

	snprintf(check, sizeof check, "if [ $role = base ]; then alone=1; else alone=%s; fi; pass", alone);
	snprintf(run, sizeof run,
		"if [ $i != 1 ]; then timings 1.0; elif [ \"$both\" ]; then timings 0.5; elif [ $role = base ]; then single 1; "
		"else single %s; fi",
		alone);
	runner(s, check, run);
	check_all(s);
	s->bench.cell[0].open = s->bench.cell[2].open = false;
	measure_all(s);
}

static void a_target_that_slows_the_base_is_rejected(void **state)
{
	struct scene *s = *state;

	beside_and_alone(s, "0.9");
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REJECTED);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "slowed");
	assert_int_equal(bench_failure(&s->bench, 1)->role, ROLE_TARGET);
	assert_non_null(strstr(
		bench_failure(&s->bench, 1)->detail, "2 times the base's speed next to it, 1.11 times when each is alone"));
	assert_int_equal(runs_of(s, "alone"), 12);
	assert_int_equal(s->bench.cell[1].n_runs, s->runs); /* the others are not reported */
}

/* When the target is run with the base once more, it makes the base fail, or ends the process. */
static void a_target_that_fails_the_base_in_another_run_is_rejected(void **state)
{
	static const char *const ends[] = { "fault base wrong", "fault base crash", "at base time; kill -SEGV $$",
		"at base time; exit 0" };
	struct scene *s = *state;
	char run[400];

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		bench_fini(&s->bench);
		assert_int_equal(start_bench(s), 0);
		snprintf(run, sizeof run,
			"if [ \"$both\" ] && [ $run = 0 ] && [ \"$(cat /proc/self/fd/11)\" = t ]; then %s; elif [ \"$both\" ]; then timings 0.5; "
			"elif [ $role = base ]; then single 1; else single 0.9; fi",
			ends[i]);
		runner(s, "if [ $role = base ]; then alone=1; else alone=0.9; fi; pass", run);
		check_all(s);
		s->bench.cell[0].open = s->bench.cell[2].open = false;
		measure_all(s);
		assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REJECTED);
		assert_int_equal(bench_failure(&s->bench, 1)->role, ROLE_DEVICE);
	}
}

static void a_target_as_fast_alone_is_accepted(void **state)
{
	struct scene *s = *state;

	beside_and_alone(s, "0.5");
	assert_null(bench_failure(&s->bench, 1));
	assert_int_equal(runs_of(s, "alone"), 0);
}

static void a_check_that_errs_costs_two_runs(void **state)
{
	struct scene *s = *state;

	runner(s, "if [ $role = base ]; then alone=1; else alone=5; fi; pass",
		"if [ \"$both\" ]; then timings 0.5; elif [ $role = base ]; then single 1; else single 0.5; fi");
	check_all(s);
	s->bench.cell[0].open = s->bench.cell[2].open = false;
	measure_all(s);
	assert_null(bench_failure(&s->bench, 1));
	assert_int_equal(runs_of(s, "alone"), 2);
}

/* Two threads are faster than one on an idle machine, where they were started; now it is busy, and they are not, with the base or
 * alone. */
static void a_machine_that_becomes_busy_blames_no_side(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ -z \"$both\" ]; then single 1; elif [ $run = 0 ]; then timings 0.99; else timings 0.5; fi");
	check_all(s);
	s->bench.cell[0].open = s->bench.cell[2].open = false;
	for (int side = 0; side < 2; side++)
		s->bench.cell[1].alone[side] = (struct bench_alone){ .ms = 1 };
	measure_all(s);
	assert_null(bench_failure(&s->bench, 1));
	assert_int_equal(runs_of(s, "alone"), 2);
	assert_int_equal(s->bench.cell[1].n_runs, s->runs);
}

/* Up to `run` the target's calls take 0.5 ms, then 1, and 0.03 s by the worker's clock, like the base's. */
static void fast_until(struct scene *s, int run)
{
	char text[100];

	snprintf(text, sizeof text, "if [ $run -le %d ]; then timings 0.5; else timings 1.0; fi", run);
	runner_audited(s, "pass", text, "0.03", "0.03");
	s->bench.device.kind = DEVICE_CPU;
	check_all(s);
	s->bench.cell[0].open = s->bench.cell[2].open = false;
	measure_all(s);
}

static void a_gain_that_no_other_clock_confirms_is_forged(void **state)
{
	struct scene *s = *state;

	fast_until(s, 1000);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "clock");
	assert_int_equal(bench_failure(&s->bench, 1)->role, ROLE_TARGET);
	assert_non_null(strstr(bench_failure(&s->bench, 1)->detail, "the runner reported 2 times the base's speed"));
	assert_int_equal(runs_of(s, "audit"), AUDIT_TRIES);
	assert_true(s->runs >= s->bench.rule.runs_ok_min + AUDIT_TRIES - 1); /* one before each try but the first */
}

static void a_gain_that_disappeared_is_neither_gain_nor_forgery(void **state)
{
	struct scene *s = *state;

	fast_until(s, 3);
	assert_null(bench_failure(&s->bench, 1));
	assert_in_range(runs_of(s, "audit"), 1, AUDIT_TRIES - 1);
	assert_true(s->runs > 3); /* measured on */
	assert_int_not_equal(bench_verdict(&s->bench, 1), VERDICT_IMPROVEMENT);
}

static void a_changed_machine_is_reported_instead_of_the_target(void **state)
{
	struct scene *s = *state;

	s->bench.rule.runs_ok_min = 12;
	fast_until(s, 12);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "unsure");
	assert_int_equal(bench_failure(&s->bench, 1)->role, ROLE_DEVICE);
	assert_non_null(strstr(bench_failure(&s->bench, 1)->detail, "the last run agrees with that clock"));
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_UNDECIDED);
}

/* The target is faster by 28 % in each run, and the runs are so noisy that four of them do not show it at once. */
static const char noisy_gain[] = "if [ $((run % 2)) = 1 ]; then timings 0.7205; else timings 0.7498; fi";

/* The worker's clock saw no gain: that is the target's fault, unless the machine is so busy that this clock proves nothing. */
static void assert_not_confirmed(struct scene *s)
{
	const struct bench_failure *why = bench_failure(&s->bench, 1);

	assert_true(runs_of(s, "audit") > 0);
	assert_non_null(why);
	if (strcmp(why->failure, "clock") != 0) {
		assert_string_equal(why->failure, "unsure");
		assert_non_null(strstr(why->detail, "the machine is too busy"));
		return;
	}
	assert_int_equal(why->role, ROLE_TARGET);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REJECTED);
}

static int spend_the_budget(void *arg, const struct msg *m, struct fw_err *err)
{
	struct scene *s = arg;

	if (m->t == MSG_CELL && m->u.cell->run == 5)
		s->bench.limits.budget_s = 0;
	return count(arg, m, err);
}

/* No interim analysis is after five runs. With them the gain is certain, so the final judgement reports it, and it is a gain too. */
static void a_gain_that_only_the_end_shows_is_verified(void **state)
{
	struct scene *s = *state;

	runner_audited(s, "pass", noisy_gain, "0.03", "0.03");
	s->bench.device.kind = DEVICE_CPU;
	check_all(s);
	s->bench.cell[0].open = s->bench.cell[2].open = false;
	s->bench.emit = spend_the_budget;
	measure_all(s);
	assert_not_confirmed(s);
}

/* The readings of three runs end the measurement of a cell, which must not end its verification. */
static void disturbed_runs_do_not_prevent_an_audit(void **state)
{
	struct scene *s = *state;
	char run[300];

	snprintf(run, sizeof run, "if [ $run -ge 6 ] && [ $run -le 8 ]; then timings 0.72 8; el%s", noisy_gain);
	runner_audited(s, "pass", run, "0.03", "0.03");
	s->bench.device.kind = DEVICE_CPU;
	check_all(s);
	s->bench.cell[0].open = s->bench.cell[2].open = false;
	measure_all(s);
	assert_int_equal(s->bench.cell[1].voided, 3);
	assert_not_confirmed(s);
}

static void disturbed_runs_do_not_prevent_a_check_of_the_base_alone(void **state)
{
	struct scene *s = *state;

	runner(s, "if [ $role = base ]; then alone=1; else alone=0.9; fi; pass",
		"if [ \"$both\" ]; then if [ $mode = time ] && [ $set = 1 ] && [ $run -ge 2 ] && [ $run -le 4 ]; then timings 0.5 8; else timings 0.5; fi; "
		"elif [ $role = base ]; then single 1; else single 0.9; fi");
	check_all(s);
	s->bench.cell[0].open = s->bench.cell[2].open = false;
	measure_all(s);
	assert_int_equal(s->bench.cell[1].voided, 3);
	assert_int_equal(s->bench.cell[1].n_runs, 1);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REJECTED);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "slowed");
}

/* The device fails in the run for verification. */
static int lose_it(void *arg, const struct msg *m, struct fw_err *err)
{
	struct scene *s = arg;

	if (m->t == MSG_RUN && runs_of(s, "audit") == 1)
		s->bench.lost = true;
	return count(arg, m, err);
}

static void a_lost_device_blames_no_side(void **state)
{
	struct scene *s = *state;

	s->bench.emit = lose_it;
	fast_until(s, 1000);
	assert_int_equal(runs_of(s, "audit"), 1);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "device");
	assert_non_null(strstr(bench_failure(&s->bench, 1)->detail, "the device failed before the audits were complete"));
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_target_that_slows_the_base_is_rejected),
		T(a_target_that_fails_the_base_in_another_run_is_rejected),
		T(a_target_as_fast_alone_is_accepted),
		T(a_check_that_errs_costs_two_runs),
		T(a_machine_that_becomes_busy_blames_no_side),
		T(a_gain_that_no_other_clock_confirms_is_forged),
		T(a_gain_that_disappeared_is_neither_gain_nor_forgery),
		T(a_changed_machine_is_reported_instead_of_the_target),
		T(a_gain_that_only_the_end_shows_is_verified),
		T(disturbed_runs_do_not_prevent_an_audit),
		T(disturbed_runs_do_not_prevent_a_check_of_the_base_alone),
		T(a_lost_device_blames_no_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
