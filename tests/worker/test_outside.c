/* test_outside.c - what the worker sees of a process that changes its own view. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/modules/filters.h"
#include "worker/internal.h"
#include "worker/sandbox/sandbox.h"

/* A child that does `act` on request, answers with a byte, and continues for as long as the test does. */
struct child {
	pid_t pid;
	int talk[2];
};

static void start(struct child *c, char (*act)(void))
{
	int to[2], from[2];
	char byte;

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (c->pid == 0) {
		alarm(120);
		if (read(to[0], &byte, 1) != 1)
			_exit(1);
		byte = act();
		if (write(from[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	c->talk[0] = from[0];
	c->talk[1] = to[1];
}

static char report(struct child *c)
{
	char byte = 'g';

	assert_int_equal(write(c->talk[1], &byte, 1), 1);
	assert_int_equal(read(c->talk[0], &byte, 1), 1);
	return byte;
}

static void end(struct child *c)
{
	(void)c;
	assert_int_equal(procs_end_all(), 0);
}

static char nothing(void)
{
	return 'n';
}

static char filters(void)
{
	return filters_refuse(SYS_waitid, ECHILD) == 0 ? 'f' : 's';
}

static char forks(void)
{
	if (fork() == 0)
		for (;;)
			pause();
	return 'k';
}

static char ends_a_child(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	return waitpid(child, NULL, 0) == child ? 'e' : 's';
}

static const char *seen(char (*act)(void), char *did)
{
	struct outside o = { .n = 0 };
	char why[OUTSIDE_WHY_SIZE];
	struct child c;

	start(&c, act);
	assert_null(outside_compare(&o, c.pid, why)); /* nothing to compare with */
	outside_begin(&o, c.pid);
	assert_int_equal(o.n, 1);
	assert_null(outside_compare(&o, c.pid, why));
	*did = report(&c);
	const char *class = outside_compare(&o, c.pid, why);

	outside_end(&o);
	end(&c);
	return class;
}

static void new_processes_and_filters_are_seen(void **state)
{
	char did;

	(void)state;
	procs_adopt();
	assert_null(seen(nothing, &did));
	assert_null(seen(ends_a_child, &did));
	assert_string_equal(seen(forks, &did), "escaped");
	const char *class = seen(filters, &did);

	if (did != 'f')
		skip();
	assert_string_equal(class, "slowed");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(new_processes_and_filters_are_seen) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
