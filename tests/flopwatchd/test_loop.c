/* The loop: order of timers, removal from inside callbacks, descriptors, signals, children and their deadlines. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/lib.h"

struct fixture {
	struct loop *loop;
	struct loop_source *a, *b;
	char seen[64];
	int pipe[2];
	int count;
	struct proc_exit how;
};

static int start(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct fw_err err = { 0 };
	if (!f || loop_new(&f->loop, &err) != 0 || pipe(f->pipe) != 0)
		return -1;
	*state = f;
	return 0;
}

static int stop(void **state)
{
	struct fixture *f = *state;
	loop_free(f->loop);
	close(f->pipe[0]);
	close(f->pipe[1]);
	free(f);
	return 0;
}

static void note(struct fixture *f, char c)
{
	size_t n = strlen(f->seen);
	assert_true(n + 1 < sizeof f->seen);
	f->seen[n] = c;
}

static void note_a(void *arg)
{
	note(arg, 'a');
}

static void note_b(void *arg)
{
	note(arg, 'b');
}

static void note_c(void *arg)
{
	note(arg, 'c');
}

static void end(void *arg)
{
	struct fixture *f = arg;
	loop_stop(f->loop);
}

static void run(struct fixture *f)
{
	struct fw_err err = { 0 };
	assert_int_equal(loop_run(f->loop, &err), 0);
}

static struct loop_source *after(struct fixture *f, int64_t ms, loop_timer_fn *fn)
{
	struct loop_source *s = NULL;
	loop_after(f->loop, ms, fn, f, &s);
	return s;
}

static void test_timers_run_by_deadline(void **state)
{
	struct fixture *f = *state;
	after(f, 30, end);
	after(f, 20, note_c);
	after(f, 0, note_a);
	after(f, 10, note_b);
	run(f);
	assert_string_equal(f->seen, "abc");
}

static void test_equal_deadlines_run_in_order_of_making(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 20; i++)
		after(f, 0, i % 2 ? note_b : note_a);
	loop_after(f->loop, 0, end, f, NULL);
	run(f);
	assert_string_equal(f->seen, "abababababababababab");
}

static void remove_other(void *arg)
{
	struct fixture *f = arg;
	loop_remove(f->loop, f->b);
	note(f, 'x');
}

static void remove_self(void *arg)
{
	struct fixture *f = arg;
	loop_remove(f->loop, f->a);
	note(f, 's');
}

static void test_a_timer_may_remove_another_and_itself(void **state)
{
	struct fixture *f = *state;
	after(f, 0, remove_other);
	f->b = after(f, 1, note_b);
	f->a = after(f, 2, remove_self);
	after(f, 5, end);
	run(f);
	assert_string_equal(f->seen, "xs");
	loop_remove(f->loop, NULL);
}

static void test_many_timers_with_removals_keep_their_order(void **state)
{
	struct fixture *f = *state;
	struct loop_source *dropped[100];
	after(f, 15, note_c);
	for (int i = 0; i < 100; i++) {
		dropped[i] = after(f, (i * 37) % 20, note_b);
		if (i == 50)
			after(f, 5, note_a);
	}
	after(f, 25, end);
	for (int i = 0; i < 100; i++)
		loop_remove(f->loop, dropped[(i * 7) % 100]);
	run(f);
	assert_string_equal(f->seen, "ac");
}

static void read_one(void *arg, uint32_t events)
{
	struct fixture *f = arg;
	char c = 0;
	assert_true(events & EPOLLIN);
	assert_int_equal(read(f->pipe[0], &c, 1), 1);
	note(f, c);
	if (c == 'z') {
		loop_remove(f->loop, f->a);
		loop_stop(f->loop);
	}
}

static void test_descriptors_wake_until_removed(void **state)
{
	struct fixture *f = *state;
	struct fw_err err = { 0 };
	assert_int_equal(loop_watch(f->loop, f->pipe[0], EPOLLIN, read_one, f, &f->a, &err), 0);
	assert_int_equal(write(f->pipe[1], "xyz!", 4), 4);
	run(f);
	assert_string_equal(f->seen, "xyz");
	after(f, 5, end);
	run(f);
	assert_string_equal(f->seen, "xyz");
}

static void resume(void *arg)
{
	struct fixture *f = arg;
	struct fw_err err = { 0 };
	note(f, 'r');
	assert_int_equal(loop_change(f->loop, f->a, EPOLLIN, &err), 0);
}

static void test_no_events_pauses_a_descriptor(void **state)
{
	struct fixture *f = *state;
	struct fw_err err = { 0 };
	assert_int_equal(loop_watch(f->loop, f->pipe[0], 0, read_one, f, &f->a, &err), 0);
	assert_int_equal(write(f->pipe[1], "z", 1), 1);
	after(f, 5, resume);
	run(f);
	assert_string_equal(f->seen, "rz");
}

static void test_watching_a_closed_descriptor_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct fw_err err = { 0 };
	assert_int_equal(loop_watch(f->loop, 987, EPOLLIN, read_one, f, &f->a, &err), -1);
	assert_string_equal(err.text, "cannot watch descriptor 987: Bad file descriptor");
}

static void test_signals_arrive_as_callbacks(void **state)
{
	struct fixture *f = *state;
	struct fw_err err = { 0 };
	assert_int_equal(loop_signal(f->loop, SIGUSR1, note_a, f, &err), 0);
	assert_int_equal(loop_signal(f->loop, SIGUSR2, end, f, &err), 0);
	assert_int_equal(kill(getpid(), SIGUSR1), 0);
	assert_int_equal(kill(getpid(), SIGUSR2), 0);
	run(f);
	assert_string_equal(f->seen, "a");
	assert_int_equal(loop_signal(f->loop, 1000, note_a, f, &err), -1);
}

static void child_ended(void *arg, const struct proc_exit *how)
{
	struct fixture *f = arg;
	f->how = *how;
	f->count++;
	f->a = NULL;
	loop_stop(f->loop);
}

static struct proc spawn(const char *const *argv)
{
	struct fw_err err = { 0 };
	struct proc_spec spec = { .argv = argv };
	struct proc p = { 0 };
	assert_int_equal(proc_spawn(&spec, &p, &err), 0);
	return p;
}

static void test_a_child_that_ends_is_reported(void **state)
{
	struct fixture *f = *state;
	struct fw_err err = { 0 };
	const char *argv[] = { "sh", "-c", "exit 7", NULL };
	assert_int_equal(loop_child(f->loop, spawn(argv), 0, child_ended, f, &f->a, &err), 0);
	run(f);
	assert_int_equal(f->how.status, 7);
	assert_int_equal(f->how.signal, 0);
	assert_false(f->how.timed_out);
	assert_int_equal(f->count, 1);
}

static void test_a_child_past_its_deadline_is_killed(void **state)
{
	struct fixture *f = *state;
	struct fw_err err = { 0 };
	const char *argv[] = { "sh", "-c", "trap '' TERM; sleep 1000 & wait", NULL };
	assert_int_equal(loop_child(f->loop, spawn(argv), 20, child_ended, f, &f->a, &err), 0);
	run(f);
	assert_true(f->how.timed_out);
	assert_int_equal(f->how.signal, SIGKILL);
}

static void test_a_removed_child_is_killed_and_reaped_silently(void **state)
{
	struct fixture *f = *state;
	struct fw_err err = { 0 };
	const char *argv[] = { "sleep", "1000", NULL };
	struct proc p = spawn(argv);
	assert_int_equal(loop_child(f->loop, p, 0, child_ended, f, &f->a, &err), 0);
	loop_remove(f->loop, f->a);
	const char *quick[] = { "true", NULL };
	assert_int_equal(loop_child(f->loop, spawn(quick), 0, child_ended, f, &f->b, &err), 0);
	run(f);
	loop_free(f->loop); /* waits for what is left */
	f->loop = NULL;
	assert_int_equal(f->count, 1);
	assert_int_equal(f->how.status, 0);
	assert_int_equal(waitpid(p.pid, NULL, WNOHANG), -1); /* no zombie */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_timers_run_by_deadline),
		CASE(test_equal_deadlines_run_in_order_of_making),
		CASE(test_a_timer_may_remove_another_and_itself),
		CASE(test_many_timers_with_removals_keep_their_order),
		CASE(test_descriptors_wake_until_removed),
		CASE(test_no_events_pauses_a_descriptor),
		CASE(test_watching_a_closed_descriptor_is_an_error),
		CASE(test_signals_arrive_as_callbacks),
		CASE(test_a_child_that_ends_is_reported),
		CASE(test_a_child_past_its_deadline_is_killed),
		CASE(test_a_removed_child_is_killed_and_reaped_silently),
	};
	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
