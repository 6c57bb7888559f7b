/* Lists of a process and its descendants, updated with those that were started since. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "worker/sandbox/sandbox.h"

enum { MAX = 8, THREADS = 3 };

static void *wait_for_ever(void *arg)
{
	(void)arg;
	while (pause() < 0)
		continue;
	return NULL;
}

/* A process that obeys single letters: f forks, t starts threads, and it answers with the number of its new process, or 0. */
static void obey(int orders, int answers)
{
	char order;
	while (read(orders, &order, 1) == 1) {
		pthread_t thread;
		pid_t child = order == 'f' ? fork() : 0;
		if (order == 'f' && child == 0)
			wait_for_ever(NULL);
		for (int i = 0; order == 't' && i < THREADS; i++)
			if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
				_exit(1);
		if (write(answers, &child, sizeof child) != sizeof child)
			_exit(1);
	}
	_exit(0);
}

static pid_t order(int orders, int answers, char what)
{
	pid_t child = -1;
	assert_int_equal(write(orders, &what, 1), 1);
	assert_int_equal(read(answers, &child, sizeof child), sizeof child);
	return child;
}

static bool has(const pid_t *pid, int n, pid_t wanted)
{
	for (int i = 0; i < n; i++)
		if (pid[i] == wanted)
			return true;
	return false;
}

static void an_update_equals_a_new_list(void **state)
{
	(void)state;
	int orders[2], answers[2], orders_of_child[2], answers_of_child[2];
	pid_t list[MAX];
	long threads;
	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(answers), 0);
	assert_int_equal(pipe(orders_of_child), 0);
	assert_int_equal(pipe(answers_of_child), 0);
	pid_t root = fork();
	if (root == 0) { /* it has a child that obeys, too */
		if (fork() == 0)
			obey(orders_of_child[0], answers_of_child[1]);
		obey(orders[0], answers[1]);
	}
	order(orders_of_child[1], answers_of_child[0], 'n');
	long newest = procs_newest();
	int n = procs_list(root, list, MAX, &threads);
	assert_int_equal(n, 2);
	assert_int_equal(threads, 2);

	pid_t stranger = fork(); /* a process of another parent */
	if (stranger == 0)
		wait_for_ever(NULL);
	pid_t of_root = order(orders[1], answers[0], 'f'), of_child = order(orders_of_child[1], answers_of_child[0], 'f');
	order(orders_of_child[1], answers_of_child[0], 't'); /* their numbers lie between those of processes */
	n = procs_list_started(newest, procs_newest(), list, n, MAX, &threads);
	assert_int_equal(n, 4);
	assert_int_equal(threads, 4 + THREADS);
	assert_true(has(list, n, root) && has(list, n, of_root) && has(list, n, of_child));

	/* the same numbers again add none; one that has ended leaves */
	kill(of_root, SIGKILL);
	for (int i = 0; i < 1000 && n != 3; i++) {
		n = procs_list_started(newest, procs_newest(), list, n, MAX, &threads);
		usleep(10000);
	}
	assert_int_equal(n, 3);
	assert_false(has(list, n, of_root));
	assert_int_equal(threads, 3 + THREADS);

	/* a list without space for all */
	pid_t few[2] = { root };
	n = procs_list_started(newest - 64, procs_newest(), few, 1, 2, &threads);
	assert_int_equal(n, 2);

	kill(stranger, SIGKILL);
	kill(of_child, SIGKILL);
	close(orders[1]);
	close(orders_of_child[1]);
	n = procs_list(root, list, MAX, &threads);
	for (int i = 0; i < n; i++)
		kill(list[i], SIGKILL);
	waitpid(root, NULL, 0);
	waitpid(stranger, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(an_update_equals_a_new_list) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
