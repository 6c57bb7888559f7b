/* State that a module leaves in its process is found, reported once, and removed; earlier state is preserved. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner/internal.h"
#include "tests/modules/filters.h"

static char reported[1024];

static void report(void *arg, const char *what, enum hoststate_end end)
{
	size_t used = strlen(reported);
	(void)arg;
	snprintf(reported + used, sizeof reported - used, "%s%s%s", used ? ", " : "", what,
		end == HOSTSTATE_RESTORED   ? ""
		: end == HOSTSTATE_HARMLESS ? " (stays, harmless)"
					    : " (stays)");
}

static const char *find(struct hoststate *s)
{
	reported[0] = '\0';
	hoststate_set_back(s, report, NULL);
	return reported;
}

static void nothing(int signal)
{
	(void)signal;
}

static void limits_are_set_back(void **state)
{
	struct hoststate s;
	struct rlimit now;
	(void)state;
	hoststate_take(&s);
	assert_int_equal(getrlimit(RLIMIT_CORE, &now), 0);
	now.rlim_cur = now.rlim_cur == 0 ? 4096 : 0;
	if (now.rlim_cur > now.rlim_max)
		now.rlim_cur = now.rlim_max;
	assert_int_equal(prctl(PR_SET_TIMERSLACK, 40000000, 0, 0, 0), 0);
	assert_int_equal(setrlimit(RLIMIT_CORE, &now), 0);
	bool changed = now.rlim_cur != s.limit[RLIMIT_CORE].rlim_cur; /* false if a hard limit of 0 leaves no choice */
	assert_string_equal(find(&s), changed ? "a limit of the process, how exactly the measuring thread's sleeps end"
					      : "how exactly the measuring thread's sleeps end");
	assert_string_equal(find(&s), "");
	assert_int_equal(getrlimit(RLIMIT_CORE, &now), 0);
	assert_int_equal(now.rlim_cur, s.limit[RLIMIT_CORE].rlim_cur);
	assert_int_equal(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), s.timer_slack);
}

/* A user cannot raise a hard limit again: only one that can slow calls is a fault, and one that cannot is reported once. */
static void hard_limits_that_slow_stay(void **state)
{
	static const struct {
		int limit;
		const char *text;
	} limits[] = { { RLIMIT_CORE, "a limit of the process (stays, harmless)" },
		{ RLIMIT_MSGQUEUE, "a limit of the process (stays, harmless)" },
		{ RLIMIT_NOFILE, "a limit of the process (stays)" }, { RLIMIT_MEMLOCK, "a limit of the process (stays)" } };
	(void)state;
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			struct hoststate s;
			struct rlimit was;
			if (geteuid() == 0 && setuid(65534) != 0)
				_exit(77);
			if (getrlimit(limits[i].limit, &was) != 0 || was.rlim_max < 2)
				_exit(77);
			hoststate_take(&s);
			was.rlim_max = was.rlim_max == RLIM_INFINITY ? 1 << 20 : was.rlim_max - 1;
			was.rlim_cur = was.rlim_cur < was.rlim_max ? was.rlim_cur : was.rlim_max;
			if (setrlimit(limits[i].limit, &was) != 0)
				_exit(77);
			if (strcmp(find(&s), limits[i].text) != 0)
				_exit(1);
			bool is_once = strstr(limits[i].text, "harmless") != NULL;
			_exit(strcmp(find(&s), is_once ? "" : limits[i].text) != 0);
		}
		int status = 0;
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) != 77)
			assert_int_equal(WEXITSTATUS(status), 0);
	}
}

static void handlers_and_masks_are_set_back(void **state)
{
	struct hoststate s;
	sigset_t one;
	(void)state;
	signal(SIGUSR2, nothing); /* ours, from before */
	hoststate_take(&s);
	assert_string_equal(find(&s), "");
	signal(SIGUSR1, nothing);
	signal(SIGRTMIN + 5, SIG_IGN);
	signal(SIGUSR2, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, SIGURG);
	pthread_sigmask(SIG_BLOCK, &one, NULL);
	find(&s);
	assert_non_null(strstr(reported, "the handler of signal 10"));
	assert_non_null(strstr(reported, "the handler of signal 12"));
	assert_non_null(strstr(reported, "the handler of signal 39"));
	assert_non_null(strstr(reported, "whether signal 23 is blocked"));
	assert_string_equal(find(&s), "");
	raise(SIGUSR2); /* its handler is there again */
	signal(SIGUSR2, SIG_DFL);
}

static void a_signal_on_its_way_is_dropped_with_its_handler(void **state)
{
	struct hoststate s;
	sigset_t one;
	(void)state;
	hoststate_take(&s);
	signal(SIGUSR1, nothing);
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &one, NULL);
	raise(SIGUSR1); /* pending, and deadly without a handler */
	find(&s);
	assert_non_null(strstr(reported, "the handler of signal 10"));
	assert_string_equal(find(&s), "");
}

static void timers_are_stopped(void **state)
{
	struct hoststate s;
	struct itimerval soon = { .it_value = { 100, 0 } };
	struct sigevent event = { .sigev_notify = SIGEV_NONE };
	struct itimerspec left;
	timer_t ours, theirs;
	(void)state;
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &ours), 0);
	hoststate_take(&s);
	if (s.n_timers == 0) { /* this kernel does not report it */
		timer_delete(ours);
		skip();
	}
	assert_int_equal(setitimer(ITIMER_VIRTUAL, &soon, NULL), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &theirs), 0);
	assert_string_equal(find(&s), "an interval timer, a timer");
	assert_string_equal(find(&s), "");
	assert_int_equal(getitimer(ITIMER_VIRTUAL, &soon), 0);
	assert_int_equal(soon.it_value.tv_sec, 0);
	assert_int_equal(timer_gettime(ours, &left), 0);
	assert_int_equal(timer_delete(ours), 0);
}

static void the_thread_keeps_its_cores(void **state)
{
	struct hoststate s;
	cpu_set_t one, now;
	(void)state;
	hoststate_take(&s);
	if (CPU_COUNT(&s.cores) < 2)
		skip();
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	assert_string_equal(find(&s), "the cores of the measuring thread");
	assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
	assert_true(CPU_EQUAL(&now, &s.cores));
}

/* A child of the test changes what only a privileged process may change back. */
static void what_cannot_be_set_back_is_reported(void **state)
{
	int status;
	pid_t child = fork();
	(void)state;
	if (child == 0) {
		struct hoststate s;
		const struct rlimit none = { 0, 0 };
		hoststate_take(&s);
		setrlimit(RLIMIT_NICE, &none);
		if ((geteuid() == 0 && setuid(65534) != 0) || setpriority(PRIO_PROCESS, 0, 10) != 0)
			_exit(2);
		_exit(strcmp(find(&s), "the measuring thread's nice value (stays)") != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* As in a runner: there are no children of another process. */
static int as_a_runner(int (*test)(void))
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		alarm(60);
		hoststate_adopt();
		_exit(test());
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int ends_what_is_left(void)
{
	pid_t child, between;
	int status;
	if (hoststate_end_children() != 0)
		return 1;
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	if (hoststate_end_children() != child || hoststate_end_children() != 0)
		return 2;
	if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
		return 3; /* the other process must still wait for it */
	between = fork();
	if (between == 0) {
		if (fork() == 0)
			for (;;)
				pause();
		_exit(0);
	}
	if (waitpid(between, NULL, 0) != between)
		return 4;
	if (hoststate_end_children() <= 0) /* its parent has exited, and it is ours */
		return 5;
	return hoststate_end_children() != 0 ? 6 : 0;
}

static int spares_what_has_ended(void)
{
	siginfo_t about;
	pid_t child = fork();
	if (child == 0)
		_exit(7);
	if (waitid(P_PID, (id_t)child, &about, WEXITED | WNOWAIT) != 0)
		return 1;
	if (hoststate_end_children() != 0)
		return 2;
	return waitid(P_PID, (id_t)child, &about, WEXITED) == 0 && about.si_status == 7 ? 0 : 3;
}

/* A signal that another thread was chosen to receive, and could not yet: the measuring thread does not see it as pending. */
static void *set_back_while_it_waits(void *arg)
{
	struct hoststate s;
	(void)arg;
	hoststate_take(&s);
	for (int i = 0; i < 200; i++) {
		signal(SIGUSR1, nothing);
		kill(getpid(), SIGUSR1); /* for the first thread, which hardly ever runs */
		find(&s);
	}
	return NULL;
}

static int outlives_what_another_thread_takes(void)
{
	const struct sched_param none = { 0 };
	pthread_attr_t usual;
	pthread_t measuring;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof one, &one) != 0 || sched_setscheduler(0, SCHED_IDLE, &none) != 0)
		return 1;
	if (pthread_attr_init(&usual) != 0 || pthread_attr_setinheritsched(&usual, PTHREAD_EXPLICIT_SCHED) != 0)
		return 2;
	if (pthread_create(&measuring, &usual, set_back_while_it_waits, NULL) != 0)
		return 3;
	return pthread_join(measuring, NULL) == 0 ? 0 : 4;
}

static void a_pending_signal_of_another_thread_is_dropped(void **state)
{
	(void)state;
	assert_int_equal(as_a_runner(outlives_what_another_thread_takes), 0);
}

static void *pause_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static bool has_become(pid_t pid, char wanted)
{
	char path[32], text[512], state = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = '\0';
	const char *behind = strrchr(text, ')');
	return behind && sscanf(behind + 1, " %c", &state) == 1 && state == wanted;
}

static int finds_threads_without_their_first(void)
{
	siginfo_t about;
	pthread_t thread;
	pid_t child = fork();
	if (child == 0) {
		if (pthread_create(&thread, NULL, pause_for_ever, NULL) != 0)
			_exit(1);
		syscall(SYS_exit, 0); /* of the first thread only */
	}
	for (int i = 0; i < 500 && !has_become(child, 'Z'); i++)
		usleep(10000);
	if (hoststate_end_children() != child)
		return 1;
	return waitid(P_PID, (id_t)child, &about, WEXITED) == 0 && hoststate_end_children() == 0 ? 0 : 2;
}

/* ... in a process without an alarm, which would be found, too. */
static void take_quietly(struct hoststate *s)
{
	alarm(0);
	hoststate_take(s);
}

static int tells_of_filters(void)
{
	struct hoststate s;
	take_quietly(&s);
	if (strcmp(find(&s), "") != 0)
		return 1;
	if (filters_refuse(SYS_waitid, ECHILD) != 0)
		return 77; /* may not be made here */
	if (!strstr(find(&s), "which system calls it may make (seccomp) (stays)"))
		return 2;
	hoststate_take(&s);
	if (strcmp(find(&s), "") != 0) /* earlier state is preserved */
		return 3;
	if (filters_refuse(SYS_waitid, ECHILD) != 0)
		return 77;
	return strcmp(find(&s), "which system calls it may make (seccomp) (stays)") == 0 ? 0 : 4;
}

/* The process that counts filters may not open its file. */
static int tells_of_what_hides_itself(void)
{
	struct hoststate s;
	take_quietly(&s);
	if (filters_refuse(SYS_openat, ENOENT) != 0)
		return 77;
	return strstr(find(&s), "which system calls it may make (seccomp) (stays)") ? 0 : 1;
}

static int tells_of_privileges(void)
{
	struct hoststate s;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0)
		return 77;
	take_quietly(&s);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 1;
	return strcmp(find(&s), "whether it may gain privileges (no_new_privs) (stays)") == 0 ? 0 : 2;
}

static int takes_orphans_in_again(void)
{
	struct hoststate s;
	take_quietly(&s);
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	if (strcmp(find(&s), "the reaper of orphaned processes") != 0)
		return 1;
	return strcmp(find(&s), "") == 0 ? 0 : 2;
}

static void filters_are_reported(void **state)
{
	int (*const test[])(void) = { tells_of_filters, tells_of_what_hides_itself, tells_of_privileges };
	(void)state;
	for (size_t i = 0; i < sizeof test / sizeof *test; i++) {
		int result = as_a_runner(test[i]);
		if (result == 77)
			skip();
		assert_int_equal(result, 0);
	}
}

static void children_are_found(void **state)
{
	(void)state;
	assert_int_equal(as_a_runner(ends_what_is_left), 0);
	assert_int_equal(as_a_runner(spares_what_has_ended), 0);
	assert_int_equal(as_a_runner(finds_threads_without_their_first), 0);
	assert_int_equal(as_a_runner(takes_orphans_in_again), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handlers_and_masks_are_set_back),
		cmocka_unit_test(limits_are_set_back),
		cmocka_unit_test(hard_limits_that_slow_stay),
		cmocka_unit_test(a_signal_on_its_way_is_dropped_with_its_handler),
		cmocka_unit_test(a_pending_signal_of_another_thread_is_dropped),
		cmocka_unit_test(timers_are_stopped),
		cmocka_unit_test(the_thread_keeps_its_cores),
		cmocka_unit_test(what_cannot_be_set_back_is_reported),
		cmocka_unit_test(children_are_found),
		cmocka_unit_test(filters_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
