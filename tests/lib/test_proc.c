/* Child processes: what they get (and do not get), how they end, and that nothing remains of them. */
/* Left to `make check`: takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/lib.h"

static void run(const char *const *argv, struct buf *out, struct proc_exit *how)
{
	struct proc_spec spec = { .argv = argv };
	struct fw_err err = { 0 };

	if (proc_run(&spec, NULL, out, out, 20000, how, &err) != 0)
		fail_msg("%s", err.text);
}

#define RUN(out, how, ...) run((const char *const[]){ __VA_ARGS__, NULL }, out, how)

static void exit_and_output(void **state)
{
	struct proc_exit how;
	struct buf out;
	char text[64];

	(void)state;
	buf_init(&out, 1000);
	RUN(&out, &how, "sh", "-c", "echo out; echo err >&2; exit 7");
	assert_int_equal(how.status, 7);
	assert_int_equal(how.signal, 0);
	assert_false(how.timed_out);
	assert_string_equal(out.data, "out\nerr\n");
	proc_describe(&how, text);
	assert_string_equal(text, "exit 7");
	RUN(&out, &how, "sh", "-c", "kill -SEGV $$");
	assert_int_equal(how.signal, SIGSEGV);
	assert_int_equal(how.status, -1);
	proc_describe(&how, text);
	assert_string_equal(text, "killed by SIGSEGV");
	buf_fini(&out);
}

static void input_is_fed_and_arguments_are_no_shell(void **state)
{
	static const char *const argv[] = { "sh", "-c", "cat; printf %s \"$1\"", "x", "$(id) `id` ; 'q' \" *", NULL };
	struct proc_spec spec = { .argv = argv };
	struct fw_err err = { 0 };
	struct proc_exit how;
	struct buf in, out;
	int i;

	(void)state;
	buf_init(&in, 1 << 20);
	buf_init(&out, 2 << 20);
	for (i = 0; i < 100000; i++)
		buf_puts(&in, "0123456789");
	buf_putc(&in, '!');
	assert_int_equal(proc_run(&spec, &in, &out, NULL, 20000, &how, &err), 0);
	assert_int_equal(how.status, 0);
	assert_memory_equal(out.data, in.data, in.len);
	assert_string_equal(out.data + in.len, "$(id) `id` ; 'q' \" *");
	/* a child that does not read its input causes no error and no SIGPIPE */
	spec.argv = (const char *const[]){ "true", NULL };
	assert_int_equal(proc_run(&spec, &in, NULL, NULL, 20000, &how, &err), 0);
	assert_int_equal(how.status, 0);
	buf_fini(&in);
	buf_fini(&out);
}

static void output_beyond_the_maximum_is_dropped(void **state)
{
	struct proc_exit how;
	struct buf out;

	(void)state;
	buf_init(&out, 1000);
	RUN(&out, &how, "head", "-c", "5000000", "/dev/zero");
	assert_int_equal(how.status, 0);
	assert_int_equal(out.len, 1000);
	assert_true(out.failed);
	buf_fini(&out);
}

static void only_listed_descriptors(void **state)
{
	struct proc_exit how;
	struct buf out;
	int leaked = open("/dev/null", O_RDONLY); /* intentionally without O_CLOEXEC */

	(void)state;
	assert_true(leaked >= 3);
	buf_init(&out, 1000);
	RUN(&out, &how, "sh", "-c", "for f in 3 4 5 6 7 8 9 10 11 100 101 102; do [ -e /proc/$$/fd/$f ] && echo $f; done; true");
	/* dash may open a descriptor at 10 for a script; there is none here */
	assert_string_equal(out.data, "");
	close(leaked);
	buf_fini(&out);
}

static void descriptors_may_swap_positions(void **state)
{
	static const char *const argv[] = { "sh", "-c", "cat <&3; cat <&4; cat <&9", NULL };
	int a[2], b[2];
	struct proc_spec spec = { .argv = argv };
	struct proc_exit how;
	struct fw_err err = { 0 };
	struct buf out;
	char three[] = "/tmp/flopwatch-a-XXXXXX", four[] = "/tmp/flopwatch-b-XXXXXX";

	(void)state;
	a[0] = mkstemp(three);
	b[0] = mkstemp(four);
	assert_true(a[0] >= 0 && b[0] >= 0);
	assert_int_equal(write(a[0], "A", 1), 1);
	assert_int_equal(write(b[0], "B", 1), 1);
	close(a[0]);
	close(b[0]);
	a[0] = open(three, O_RDONLY);
	b[0] = open(four, O_RDONLY);
	a[1] = open(three, O_RDONLY);
	/* the number of each is the target of the other */
	spec.fd[0] = (struct proc_fd){ a[0], b[0] };
	spec.fd[1] = (struct proc_fd){ b[0], a[0] };
	spec.fd[2] = (struct proc_fd){ a[1], 9 };
	spec.n_fd = 3;
	buf_init(&out, 100);
	{
		char script[100];
		const char *const swap[] = { "sh", "-c", script, NULL };

		snprintf(script, sizeof script, "cat <&%d; cat <&%d; cat <&9", a[0], b[0]);
		spec.argv = swap;
		assert_int_equal(proc_run(&spec, NULL, &out, NULL, 20000, &how, &err), 0);
	}
	assert_string_equal(out.data, "BAA");
	close(a[0]);
	close(a[1]);
	close(b[0]);
	unlink(three);
	unlink(four);
	buf_fini(&out);
}

static void environment_is_clean(void **state)
{
	static const char *const env[] = { "ONLY=this", NULL };
	struct proc_spec spec = { .argv = (const char *const[]){ "/usr/bin/env", NULL }, .env = env };
	struct proc_exit how;
	struct fw_err err = { 0 };
	struct buf out;

	(void)state;
	setenv("FW_SECRET", "health_check", 1);
	buf_init(&out, 10000);
	RUN(&out, &how, "/usr/bin/env");
	assert_null(strstr(out.data, "health_check"));
	assert_non_null(strstr(out.data, "LANG=C.UTF-8\n"));
	assert_non_null(strstr(out.data, "PATH="));
	buf_clear(&out);
	assert_int_equal(proc_run(&spec, NULL, &out, NULL, 20000, &how, &err), 0);
	assert_string_equal(out.data, "ONLY=this\n");
	buf_fini(&out);
}

static void own_session_and_default_signals(void **state)
{
	struct proc_exit how;
	struct buf out;
	sigset_t set, before;

	(void)state;
	buf_init(&out, 10000);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	signal(SIGHUP, SIG_IGN);
	RUN(&out, &how, "grep", "-E", "^(SigBlk|SigIgn|NSsid):", "/proc/self/status");
	signal(SIGHUP, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_non_null(strstr(out.data, "SigBlk:\t0000000000000000\n"));
	assert_non_null(strstr(out.data, "SigIgn:\t0000000000000000\n"));
	buf_clear(&out);
	RUN(&out, &how, "sh", "-c", "set -- $(cat /proc/$$/stat); [ $1 = $5 ] && [ $1 = $6 ] && echo own");
	assert_string_equal(out.data, "own\n");
	buf_fini(&out);
}

static void limits_hold(void **state)
{
	struct proc_spec spec = { .argv = (const char *const[]){ "sh", "-c", "ulimit -f; ulimit -c; ulimit -t; ulimit -v", NULL },
		.file_size_bytes = 512 * 1024,
		.cpu_s = 9,
		.address_space_bytes = 1 << 30 };
	struct proc_exit how;
	struct fw_err err = { 0 };
	struct buf out;

	(void)state;
	buf_init(&out, 1000);
	assert_int_equal(proc_run(&spec, NULL, &out, NULL, 20000, &how, &err), 0);
	assert_string_equal(out.data, "1024\n0\n9\n1048576\n");
	buf_fini(&out);
}

/* In the child and its own children, which exec other programs; nothing else is refused. */
static void a_child_without_network_makes_no_socket(void **state)
{
	static const char script[] = "bash -c 'exec 3<>/dev/tcp/127.0.0.1/9' 2>&1 | grep -om1 'Operation not permitted';"
				     "grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status; cat /dev/null && echo reads";
	struct proc_spec spec = { .argv = (const char *const[]){ "sh", "-c", script, NULL }, .has_no_network = true };
	struct proc_exit how;
	struct fw_err err = { 0 };
	struct buf out;

	(void)state;
	buf_init(&out, 1000);
	assert_int_equal(proc_run(&spec, NULL, &out, &out, 20000, &how, &err), 0);
	assert_string_equal(out.data, "Operation not permitted\nNoNewPrivs:\t1\nSeccomp:\t2\nreads\n");
	buf_clear(&out);
	spec.has_no_network = false;
	assert_int_equal(proc_run(&spec, NULL, &out, &out, 20000, &how, &err), 0);
	assert_null(strstr(out.data, "not permitted")); /* the port is closed, so the connection is refused */
	buf_fini(&out);
}

/* Not SIGKILL, which could come from another process. */
static void used_up_time_has_a_signal_of_its_own(void **state)
{
	struct proc_spec spec = { .argv = (const char *const[]){ "sh", "-c", "while :; do :; done", NULL }, .cpu_s = 1 };
	struct proc_exit how;
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(proc_run(&spec, NULL, NULL, NULL, 0, &how, &err), 0);
	assert_int_equal(how.signal, SIGXCPU);
	assert_false(proc_is_outside(&how));
	how.signal = SIGKILL;
	assert_true(proc_is_outside(&how));
	how.timed_out = true; /* by this test */
	assert_false(proc_is_outside(&how));
}

/* It may be in a system call that is not ours. */
static void a_careful_child_is_terminated_not_killed(void **state)
{
	struct proc_spec spec = { .argv = (const char *const[]){ "sh", "-c", "trap 'exit 7' TERM; echo; read x; sleep 1000",
					  NULL },
		.is_careful = true };
	int in[2], out[2];
	struct proc p;
	struct proc_exit how;
	struct fw_err err = { 0 };
	char byte;

	(void)state;
	assert_int_equal(pipe(in) | pipe(out), 0);
	spec.fd[spec.n_fd++] = (struct proc_fd){ in[0], 0 };
	spec.fd[spec.n_fd++] = (struct proc_fd){ out[1], 1 };
	assert_int_equal(proc_spawn(&spec, &p, &err), 0);
	assert_int_equal(read(out[0], &byte, 1), 1);
	proc_stop(&p);
	while (!proc_reap(&p, &how))
		continue;
	assert_int_equal(how.status, 7);
	close(in[0]), close(in[1]), close(out[0]), close(out[1]);
}

/* A program that starts the careful child prints its id and is killed. */
static void a_careful_child_can_end_with_its_parent(void **state)
{
	struct proc_spec spec = {
		.argv = (const char *const[]){ "sleep", "1000", NULL }, .is_careful = true, .ends_with_parent = true
	};
	struct fw_err err = { 0 };
	int out[2];
	struct proc p;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(out), 0);
	pid_t parent = fork();
	assert_true(parent >= 0);
	if (parent == 0) {
		bool is_sent = proc_spawn(&spec, &p, &err) == 0 && write(out[1], &p.pid, sizeof p.pid) == sizeof p.pid;
		raise(is_sent ? SIGKILL : SIGABRT);
	}
	assert_int_equal(read(out[0], &child, sizeof child), sizeof child);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	int fd = pidfd_open(child, 0);
	struct pollfd end = { .fd = fd, .events = POLLIN };
	if (fd >= 0) {
		assert_int_equal(poll(&end, 1, 180000), 1);
		close(fd);
	}
	close(out[0]), close(out[1]);
}

static void start_errors_are_reported(void **state)
{
	struct proc_spec spec = { .argv = (const char *const[]){ "/nonexistent/program", NULL } };
	struct fw_err err = { 0 };
	struct proc p;

	(void)state;
	assert_int_equal(proc_spawn(&spec, &p, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "/nonexistent/program"));
	assert_int_equal(p.pid, 0);
	assert_int_equal(p.pidfd, -1);
	err_clear(&err);
	spec.argv = (const char *const[]){ "flopwatch-no-such-program", NULL };
	assert_int_equal(proc_spawn(&spec, &p, &err), -1);
	assert_non_null(strstr(err.text, "not found in PATH"));
	err_clear(&err);
	spec.argv = (const char *const[]){ "/etc/passwd", NULL };
	assert_int_equal(proc_spawn(&spec, &p, &err), -1);
	assert_non_null(strstr(err.text, "Permission denied"));
	err_clear(&err);
	spec.argv = (const char *const[]){ "true", NULL };
	spec.cwd = "/nonexistent";
	assert_int_equal(proc_spawn(&spec, &p, &err), -1);
	assert_non_null(strstr(err.text, "in /nonexistent"));
	proc_end(&p); /* none: accepted */
}

static bool alive(pid_t pid)
{
	char path[64], text[512] = "";
	int fd;
	ssize_t len;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	len = read(fd, text, sizeof text - 1);
	close(fd);
	return len > 0 && !strstr(text, ") Z ") && !strstr(text, ") X ");
}

/* A killed process is gone as soon as the kernel handles the signal, which may be after kill returns. */
static void assert_ends(pid_t pid)
{
	int i;

	for (i = 0; i < 1000 && alive(pid); i++)
		poll(NULL, 0, 10);
	assert_false(alive(pid));
}

static void deadline_ends_the_whole_group(void **state)
{
	struct proc_spec spec = { .argv = (const char *const[]){ "sh", "-c", "sleep 1000 & echo $!; trap '' TERM; wait", NULL } };
	struct proc_exit how;
	struct fw_err err = { 0 };
	struct buf out;
	char text[64];

	(void)state;
	buf_init(&out, 1000);
	assert_int_equal(proc_run(&spec, NULL, &out, NULL, 300, &how, &err), 0);
	assert_true(how.timed_out);
	assert_int_equal(how.signal, SIGKILL);
	proc_describe(&how, text);
	assert_string_equal(text, "ran past its deadline");
	assert_true(atoi(out.data) > 1);
	assert_ends(atoi(out.data));
	buf_fini(&out);
}

static void leftovers_of_an_ended_child_go_with_it(void **state)
{
	struct proc_exit how;
	struct buf out;

	(void)state;
	buf_init(&out, 1000);
	/* the remaining process holds the pipe open: proc_run must not wait for it */
	RUN(&out, &how, "sh", "-c", "sleep 1000 & echo $!");
	assert_int_equal(how.status, 0);
	assert_true(atoi(out.data) > 1);
	assert_ends(atoi(out.data));
	buf_fini(&out);
}

static void reap_does_not_block_and_end_kills(void **state)
{
	struct proc_spec spec = { .argv = (const char *const[]){ "sleep", "1000", NULL } };
	struct proc_exit how;
	struct fw_err err = { 0 };
	struct proc p;
	struct pollfd fd;
	pid_t pid;

	(void)state;
	assert_int_equal(proc_spawn(&spec, &p, &err), 0);
	pid = p.pid;
	assert_int_equal(proc_reap(&p, &how), 0);
	assert_true(alive(pid));
	proc_signal(&p, SIGTERM);
	fd = (struct pollfd){ .fd = p.pidfd, .events = POLLIN };
	assert_int_equal(poll(&fd, 1, 20000), 1);
	assert_int_equal(proc_reap(&p, &how), 1);
	assert_int_equal(how.signal, SIGTERM);
	assert_int_equal(p.pid, 0);
	assert_int_equal(proc_reap(&p, &how), 0);
	assert_int_equal(proc_spawn(&spec, &p, &err), 0);
	pid = p.pid;
	proc_end(&p);
	assert_false(alive(pid));
	proc_end(&p);
}

static void death_of_the_parent_is_passed_on(void **state)
{
	int ends[2];
	pid_t middle, child = 0;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	middle = fork();
	if (middle == 0) {
		struct proc_spec spec = { .argv = (const char *const[]){ "sleep", "1000", NULL } };
		struct proc p;

		if (proc_spawn(&spec, &p, NULL) != 0 || write(ends[1], &p.pid, sizeof p.pid) != sizeof p.pid)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ends[0], &child, sizeof child), sizeof child);
	assert_true(alive(child));
	kill(middle, SIGKILL);
	assert_ends(child);
	close(ends[0]);
	close(ends[1]);
}

static void programs_are_found_in_their_own_folder_then_in_path(void **state)
{
	char path[4096], self[4096];
	struct fw_err err = { 0 };
	ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);

	(void)state;
	assert_true(len > 0);
	self[len] = '\0';
	assert_int_equal(proc_sibling(strrchr(self, '/') + 1, path, sizeof path, &err), 0);
	assert_string_equal(path, self);
	assert_int_equal(proc_sibling("sh", path, sizeof path, &err), 0);
	assert_int_equal(access(path, X_OK), 0);
	assert_int_equal(proc_sibling("flopwatch-no-such-program", path, sizeof path, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(exit_and_output),
		cmocka_unit_test(input_is_fed_and_arguments_are_no_shell), cmocka_unit_test(output_beyond_the_maximum_is_dropped),
		cmocka_unit_test(only_listed_descriptors), cmocka_unit_test(descriptors_may_swap_positions),
		cmocka_unit_test(environment_is_clean), cmocka_unit_test(own_session_and_default_signals),
		cmocka_unit_test(limits_hold), cmocka_unit_test(a_child_without_network_makes_no_socket),
		cmocka_unit_test(used_up_time_has_a_signal_of_its_own),
		cmocka_unit_test(a_careful_child_is_terminated_not_killed),
		cmocka_unit_test(a_careful_child_can_end_with_its_parent), cmocka_unit_test(start_errors_are_reported),
		cmocka_unit_test(deadline_ends_the_whole_group), cmocka_unit_test(leftovers_of_an_ended_child_go_with_it),
		cmocka_unit_test(reap_does_not_block_and_end_kills), cmocka_unit_test(death_of_the_parent_is_passed_on),
		cmocka_unit_test(programs_are_found_in_their_own_folder_then_in_path) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
