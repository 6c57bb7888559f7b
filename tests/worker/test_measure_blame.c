/*
 * measure.c, acceptance.c, runner_child.c with a runner made of shell: which side is blamed when a process dies, hangs, sends
 * invalid records, forges them, or slows the other side.
 */
/* Left to `make check`: takes seconds. */
#include "measure_run.h"

static void outcomes_of_checks_are_cached_and_crashes_are_not(void **state)
{
	struct scene *s = *state;

	runner(s, "if [ $i$role = 1target ]; then kill -SEGV $$; elif [ $i = 2 ]; then wrong; else pass; fi", "");
	check_all(s);
	assert_int_equal(runs_of(s, "check"), 3); /* the target's first process died in cell 1, a second one went on */
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "crash");
	assert_non_null(strstr(bench_failure(&s->bench, 1)->detail, "SIGSEGV"));
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_NOT_COMPARABLE);
	assert_int_equal(s->checks, 2 * CELLS);

	bench_fini(&s->bench);
	s->checks = 0;
	assert_int_equal(start_bench(s), 0);
	runner(s, "pass", "");
	/* the same runner by the cache's key: only the crash is tried again */
	snprintf(s->bench.runner_sha, sizeof s->bench.runner_sha, "%s", "");
	check_all(s);
	assert_int_equal(s->checks, 2 * CELLS);
	bench_fini(&s->bench);
	s->checks = 0;
	assert_int_equal(start_bench(s), 0);
	snprintf(s->bench.runner_sha, sizeof s->bench.runner_sha, "%s", "");
	int before = runs_of(s, "check");

	check_all(s);
	assert_int_equal(s->checks, 2 * CELLS);
	assert_int_equal(runs_of(s, "check"), before);
	assert_true(s->bench.cell[0].open);
}

static void a_hanging_check_ends(void **state)
{
	struct scene *s = *state;

	s->bench.limits.check_s = 1;
	runner(s, "if [ $i$role = 1target ]; then sleep 100; else pass; fi", "");
	check_all(s);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "timeout");
	assert_string_equal(bench_failure(&s->bench, 2)->failure, "timeout");
	assert_non_null(strstr(bench_failure(&s->bench, 2)->detail, "not reached"));
	assert_true(s->bench.cell[0].open);
	assert_int_equal(procs_count(), 0);
}

static void a_process_that_just_ends(void **state)
{
	struct scene *s = *state;

	runner(s, "if [ $i$role = 1target ]; then exit 0; else pass; fi", "");
	check_all(s);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "crash");
	assert_non_null(strstr(bench_failure(&s->bench, 1)->detail, "exit 0"));
	assert_true(s->bench.cell[2].open);
}

static void a_runner_that_does_nothing(void **state)
{
	struct scene *s = *state;

	assert_int_equal(tmp_folder_write(&s->folder, "flopwatch-runner", "#!/bin/sh\necho no libraries >&2\nexit 1\n", 0755), 0);
	assert_int_equal(acceptance_run(&s->bench, &s->err), -1);
	assert_int_equal(s->err.code, ERR_BUSY);
	assert_string_equal(s->err.text, "the runner: exit 1 before branch code ran; last output: \"no libraries\"");
	assert_int_equal(s->faults, 0); /* a failure of this machine does not blame the two sides */
}

/* Neither side killed it: the job is postponed. */
static void a_runner_that_is_killed(void **state)
{
	static const char *const signals[] = { "KILL", "TERM", "HUP" };
	struct scene *s = *state;
	char script[128];

	for (int i = 0; i < 3; i++) {
		snprintf(script, sizeof script, "if [ $i$role = 1target ]; then kill -%s $$; else pass; fi", signals[i]);
		runner(s, script, "");
		assert_int_equal(acceptance_run(&s->bench, &s->err), -1);
		assert_int_equal(s->err.code, ERR_BUSY);
		assert_non_null(
			strstr(s->err.text, "in step check; out of memory, or killed by another process on this machine"));
		assert_int_equal(s->faults, 0);
		err_clear(&s->err);
		bench_fini(&s->bench);
		assert_int_equal(start_bench(s), 0);
	}
}

/* Runs in which cell 1 executes `end` first: $module is the module that runs with the base, $n the lines that `end` has written
 * to "ended". */
static void measure_ending(struct scene *s, const char *end)
{
	char script[1000];

	bench_fini(&s->bench);
	s->faults = 0;
	assert_int_equal(start_bench(s), 0);
	(void)tmp_folder_write(&s->folder, "ended", "", 0644);
	snprintf(script, sizeof script,
		"module=$(cat /proc/self/fd/11); n=$(wc -l <%s/ended); if [ $i = 1 ]; then %s; fi; timings 1.0", s->folder.path,
		end);
	runner(s, "pass", script);
	check_all(s);
	measure_all(s);
}

/* Each run with the target ends in the base's call; with a copy of itself the base is timed. */
static void a_target_that_ends_the_process_in_the_bases_call_is_rejected(void **state)
{
	static const char *const ends[] = { "kill -SEGV $$", "kill -TERM $$", "kill -KILL $$", "exit 0", "exit 7",
		"echo nonsense >&3; sleep 100", "say '{\"t\":\"ping\"}'; sleep 100" };
	struct scene *s = *state;
	char end[200];

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		snprintf(end, sizeof end, "[ $module = t ] && { at base time; %s; }", ends[i]);
		measure_ending(s, end);
		if (bench_verdict(&s->bench, 1) != VERDICT_REJECTED)
			fail_msg(
				"%s: %s", ends[i], bench_failure(&s->bench, 1) ? bench_failure(&s->bench, 1)->detail : "nothing");
		assert_int_equal(bench_failure(&s->bench, 1)->role, ROLE_DEVICE);
		assert_non_null(strstr(bench_failure(&s->bench, 1)->detail, "the base next to a copy of itself is timed"));
		assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
		assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_UNCHANGED);
	}
}

/* Whatever the runner reports about the base in a run, a check has passed. */
static void a_fault_of_the_base_next_to_the_target_blames_the_target(void **state)
{
	static const char *const classes[] = { "crash", "abi", "unsupported", "device", "timeout" };
	struct scene *s = *state;
	char end[200];

	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		snprintf(end, sizeof end, "fault base %s; continue", classes[i]);
		measure_ending(s, end);
		assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REJECTED);
	}
}

static void a_base_that_ends_the_process_next_to_itself_is_not_comparable(void **state)
{
	struct scene *s = *state;

	measure_ending(s, "at base time; kill -SEGV $$");
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_NOT_COMPARABLE);
	assert_int_equal(bench_failure(&s->bench, 1)->role, ROLE_BASE);
	assert_non_null(strstr(bench_failure(&s->bench, 1)->detail, "SIGSEGV"));
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
}

/* One crash of the base in a run with the target is no proof: it may crash now and then. */
static void a_base_that_crashes_once_blames_no_side(void **state)
{
	static const char *const ends[] = { "kill -SEGV $$", "kill -KILL $$", "kill -TERM $$", "exit 0" };
	struct scene *s = *state;
	char end[300];

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		snprintf(end, sizeof end, "[ $n = 0 ] && { echo once >>%s/ended; at base time; %s; }", s->folder.path, ends[i]);
		measure_ending(s, end);
		assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_UNCHANGED);
		assert_int_equal(s->faults, 0);
		snprintf(end, sizeof end, "[ $n = 0 ] && { echo once >>%s/ended; %s; }", s->folder.path,
			i == 0 || i == 3 ? "kill -KILL $$" : ends[i]); /* in the target's call */
		measure_ending(s, end);
		assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_UNCHANGED);
	}
}

static void a_target_that_is_killed_in_its_own_calls_has_failed(void **state)
{
	struct scene *s = *state;

	measure_ending(s, "[ $module = t ] && kill -TERM $$");
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_FAILED);
	assert_int_equal(bench_failure(&s->bench, 1)->role, ROLE_TARGET);
	assert_non_null(strstr(bench_failure(&s->bench, 1)->detail, "SIGTERM"));
}

/* The runner requests an inspection by the worker before there is a module, and when a call is done. */
#define LOOK(role)                                                                                                               \
	"say \"{\\\"t\\\":\\\"at\\\",\\\"run\\\":$run,\\\"cell\\\":$i,\\\"role\\\":" role                                        \
	",\\\"step\\\":\\\"inspect\\\"}\"; read -r -n1 -u3 -t 60"
#define BEFORE LOOK("\\\"\\\"")
#define AFTER  LOOK("\\\"target\\\"")

static void processes_that_the_runner_does_not_find_are_found(void **state)
{
	struct scene *s = *state;

	measure_ending(s, "[ $module = t ] && { " BEFORE "; at target time; sleep 100 & " AFTER "; }");
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REJECTED);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "escaped");
	assert_int_equal(bench_failure(&s->bench, 1)->role, ROLE_TARGET);
	assert_non_null(strstr(
		bench_failure(&s->bench, 1)->detail, "a process that the runner did not find exists next to it after a call"));
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
	assert_int_equal(procs_count(), 0);
}

static void earlier_and_ended_processes_blame_no_side(void **state)
{
	struct scene *s = *state;

	measure_ending(s, "sleep 100 & " BEFORE "; at target time; sleep 0; " AFTER);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_UNCHANGED);
	assert_int_equal(s->faults, 0);
	assert_int_equal(procs_count(), 0);
}

static long oom_kills;

static void more_each_time(struct oomkills *out)
{
	*out = (struct oomkills){ .machine = oom_kills++, .group = -1 };
}

static void none_shown(struct oomkills *out)
{
	*out = (struct oomkills){ .machine = -1, .group = -1 };
}

/* The out-of-memory killer belongs to the machine, and so does a kill where the system does not count its own. */
static void memory_exhaustion_is_a_machine_failure(void **state)
{
	static void (*const counters[])(struct oomkills *) = { more_each_time, none_shown };
	struct scene *s = *state;

	for (int i = 0; i < 2; i++) {
		bench_fini(&s->bench);
		assert_int_equal(start_bench(s), 0);
		runner(s, "pass", "if [ $i = 1 ]; then at base time; kill -KILL $$; else timings 1.0; fi");
		check_all(s);
		s->bench.oom_kills = counters[i];
		assert_int_equal(measure_run(&s->bench, &s->err), -1);
		assert_int_equal(s->err.code, ERR_BUSY);
		assert_non_null(strstr(s->err.text, "out of memory, or killed by another process on this machine"));
		assert_int_equal(s->faults, 0);
		err_clear(&s->err);
	}
}

/* A copy that is killed as well: a process of this machine ends runners. */
static void a_base_killed_next_to_itself_blames_the_machine(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ $i = 1 ]; then at base time; kill -KILL $$; else timings 1.0; fi");
	check_all(s);
	assert_int_equal(measure_run(&s->bench, &s->err), -1);
	assert_int_equal(s->err.code, ERR_BUSY);
	assert_int_equal(s->faults, 0);
}

static void malformed_records_blame_the_side(void **state)
{
	struct scene *s = *state;

	runner(s, "if [ $i$role = 1target ]; then say '{\"t\":\"check\"'; sleep 100; else pass; fi", "");
	check_all(s);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "protocol");
	assert_true(s->bench.cell[2].open);
	bench_fini(&s->bench);
	assert_int_equal(start_bench(s), 0);
	snprintf(s->bench.runner_sha, sizeof s->bench.runner_sha, "other");
	runner(s, "if [ $i$role = 1target ]; then role=base; pass; else pass; fi", "");
	check_all(s);
	assert_non_null(strstr(bench_failure(&s->bench, 1)->detail, "another task"));
}

static void lines_without_the_seal_are_forged(void **state)
{
	struct scene *s = *state;

	/* the key alone is useless without the number */
	runner(s, "if [ $i$role = 1target ]; then number=5; fi; pass",
		"if [ $i = 2 ]; then echo '{\"t\":\"ping\"}' >&3; sleep 100; else timings 1.0; fi");
	check_all(s);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "forged");
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REJECTED);
	measure_all(s);
	assert_string_equal(bench_failure(&s->bench, 2)->failure, "forged");
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_REJECTED);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
}

static void a_seal_is_good_for_one_line(void **state)
{
	struct scene *s = *state;

	runner(s, "pass",
		"if [ $i = 1 ]; then say() { echo \"$mac $number $1\" >&3; }; timings 1.0; sleep 100; else timings 1.0; fi");
	check_all(s);
	measure_all(s);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "forged");
	assert_int_equal(s->bench.cell[1].n_runs, 0);
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_UNCHANGED);
}

static void timings_of_unknown_inputs_are_forged(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ $i = 1 ]; then inputs=${inputs//0/a}; fi; timings 1.0");
	check_all(s);
	assert_int_equal(strlen(s->bench.cell[0].check_inputs[BENCH_BASE]), 64);
	measure_all(s);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "forged");
	assert_non_null(strstr(bench_failure(&s->bench, 1)->detail, "other inputs than the checked ones"));
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REJECTED);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_UNCHANGED);
}

static void timings_without_inputs_are_refused(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ $i = 1 ]; then inputs=; fi; timings 1.0");
	check_all(s);
	measure_all(s);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "protocol");
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_FAILED);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
}

static void a_run_that_dies_is_blamed_by_solo_checks(void **state)
{
	struct scene *s = *state;

	char script[300];

	snprintf(script, sizeof script, "if [ $i$role = 1base ] && [ -e %s/armed ]; then kill -BUS $$; else pass; fi",
		s->folder.path);
	runner(s, script, "if [ $i = 1 ]; then kill -SEGV $$; else timings 1.0; fi");
	check_all(s);
	assert_int_equal(tmp_folder_write(&s->folder, "armed", "", 0644), 0);
	measure_all(s);
	/* the last `at` named the target; alone the base crashed */
	assert_int_equal(bench_failure(&s->bench, 1)->role, ROLE_BASE);
	assert_non_null(strstr(bench_failure(&s->bench, 1)->detail, "SIGBUS"));
	assert_int_equal(s->faults, 1);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_UNCHANGED);
}

static void an_unrepeated_death_blames_the_last_side(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ $i = 1 ]; then kill -SEGV $$; else timings 1.0; fi");
	check_all(s);
	measure_all(s);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_FAILED);
	assert_non_null(strstr(bench_failure(&s->bench, 1)->detail, "alone both sides pass"));
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_UNCHANGED);
}

static void a_hanging_run_ends(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ $i = 0 ]; then setsid sleep 100; else timings 1.0; fi");
	check_all(s);
	s->bench.limits.run_s = 1;
	measure_all(s);
	assert_string_equal(bench_failure(&s->bench, 0)->failure, "timeout");
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_UNCHANGED);
	assert_int_equal(procs_count(), 0);
}

static void a_fault_of_both_sides_is_checked_separately(void **state)
{
	struct scene *s = *state;
	char script[300];

	snprintf(script, sizeof script, "if [ $i$role = 2target ] && [ -e %s/armed ]; then fault target oob; else pass; fi",
		s->folder.path);
	runner(s, script, "if [ $i = 2 ]; then fault device oob; else timings 1.0; fi");
	check_all(s);
	assert_int_equal(tmp_folder_write(&s->folder, "armed", "", 0644), 0);
	measure_all(s);
	assert_int_equal(bench_failure(&s->bench, 2)->role, ROLE_TARGET);
	assert_string_equal(bench_failure(&s->bench, 2)->failure, "oob");
	assert_int_equal(s->faults, 1);
}

static void a_base_that_fails_next_to_the_target_is_not_blamed(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ $i = 1 ]; then fault base wrong; else timings 1.0; fi");
	check_all(s);
	measure_all(s);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REJECTED);
	assert_int_equal(bench_failure(&s->bench, 1)->role, ROLE_DEVICE);
	assert_non_null(strstr(bench_failure(&s->bench, 1)->detail, "base: as written; alone both sides pass"));
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(outcomes_of_checks_are_cached_and_crashes_are_not),
		T(a_hanging_check_ends),
		T(a_process_that_just_ends),
		T(a_runner_that_does_nothing),
		T(a_runner_that_is_killed),
		T(a_target_that_ends_the_process_in_the_bases_call_is_rejected),
		T(a_fault_of_the_base_next_to_the_target_blames_the_target),
		T(a_base_that_ends_the_process_next_to_itself_is_not_comparable),
		T(a_base_that_crashes_once_blames_no_side),
		T(a_target_that_is_killed_in_its_own_calls_has_failed),
		T(memory_exhaustion_is_a_machine_failure),
		T(a_base_killed_next_to_itself_blames_the_machine),
		T(processes_that_the_runner_does_not_find_are_found),
		T(earlier_and_ended_processes_blame_no_side),
		T(malformed_records_blame_the_side),
		T(lines_without_the_seal_are_forged),
		T(a_seal_is_good_for_one_line),
		T(timings_of_unknown_inputs_are_forged),
		T(timings_without_inputs_are_refused),
		T(a_run_that_dies_is_blamed_by_solo_checks),
		T(an_unrepeated_death_blames_the_last_side),
		T(a_hanging_run_ends),
		T(a_fault_of_both_sides_is_checked_separately),
		T(a_base_that_fails_next_to_the_target_is_not_blamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
