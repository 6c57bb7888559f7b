/* peer.c, pump.c, procs.c: a child is watched while messages of the daemon are received, and no process survives the end of
 * either. */
/* Left to `make check`: takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/lib.h"
#include "worker/sandbox/sandbox.h"

struct scene {
	struct peer peer;
	int daemon; /* the other end */
	struct fw_err err;
	struct buf out;
};

static int setup(void **state)
{
	static struct scene s;
	int pair[2];

	memset(&s, 0, sizeof s);
	*state = &s;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	s.daemon = pair[1];
	peer_init(&s.peer, pair[0], pair[0]);
	buf_init(&s.out, 1 << 20);
	procs_adopt();
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	close(s->peer.in);
	if (s->daemon >= 0)
		close(s->daemon);
	peer_fini(&s->peer);
	buf_fini(&s->out);
	return 0;
}

static void report(struct scene *s, const char *text)
{
	assert_int_equal(write(s->daemon, text, strlen(text)), (ssize_t)strlen(text));
}

static void lines_and_payload(void **state)
{
	struct scene *s = *state;
	char text[16] = "";
	struct msg m;
	int file[2];

	report(s, "{\"t\":\"ping\"}\n{\"t\":\"tree\",\"oid\":\"0123456789012345678901234567890123456789\",\"bytes\":7}\npay");
	report(s, "load{\"t\":\"cancel\"}\n");
	assert_int_equal(peer_receive(&s->peer, 1000, &m, &s->err), 0);
	assert_int_equal(m.t, MSG_TREE);
	assert_int_equal(pipe(file), 0);
	assert_int_equal(peer_payload(&s->peer, m.u.tree.bytes, 1000, file[1], &s->err), 0);
	msg_fini(&m);
	assert_int_equal(read(file[0], text, sizeof text), 7);
	assert_string_equal(text, "payload");
	close(file[0]);
	close(file[1]);
	assert_int_equal(peer_receive(&s->peer, 1000, &m, &s->err), -1);
	assert_int_equal(s->err.code, ERR_CANCELLED);
}

static void silence_times_out(void **state)
{
	struct scene *s = *state;
	struct msg m;

	assert_int_equal(peer_receive(&s->peer, 20, &m, &s->err), -1);
	assert_int_equal(s->err.code, ERR_TIMEOUT);
	assert_false(s->peer.cancelled);
}

static void malformed_lines_end_the_session(void **state)
{
	struct scene *s = *state;
	struct msg m;

	report(s, "{\"t\":\"sing\"}\n");
	assert_int_equal(peer_receive(&s->peer, 1000, &m, &s->err), -1);
	assert_int_equal(s->err.code, ERR_PROTOCOL);
	assert_true(s->peer.cancelled);
}

static void a_line_without_end_is_refused(void **state)
{
	struct scene *s = *state;
	static char much[100000];
	struct msg m;

	memset(much, 'x', sizeof much - 1);
	for (int i = 0; i < 11; i++) {
		report(s, much);
		if (peer_receive(&s->peer, i < 10 ? 1 : 1000, &m, &s->err) != 0 && s->err.code == ERR_PROTOCOL)
			break;
		err_clear(&s->err);
	}
	assert_true(s->peer.cancelled);
}

static void pings_when_due(void **state)
{
	struct scene *s = *state;
	struct pollfd fd = { .fd = -1 };
	char text[64] = "";

	s->peer.next_ping_ns = clock_mono_ns() - 1;
	assert_int_equal(peer_attend(&s->peer, &fd, &s->err), 0);
	assert_true(read(s->daemon, text, sizeof text - 1) > 0);
	assert_string_equal(text, "{\"t\":\"ping\"}\n");
	assert_true(s->peer.next_ping_ns > clock_mono_ns() + 9000000000ll);
}

static void a_lost_daemon_cancels_the_job(void **state)
{
	static const struct msg m = { .t = MSG_PING };
	struct scene *s = *state;

	peer_signals();
	close(s->daemon);
	s->daemon = -1;
	assert_int_equal(peer_send(&s->peer, &m, &s->err), -1);
	assert_int_equal(s->err.code, ERR_CANCELLED);
}

/* The reason of a write that fails is the daemon's end only if it is. */
static void a_write_that_fails_names_the_reason(void **state)
{
	static const struct msg m = { .t = MSG_PING };
	struct scene *s = *state;
	struct peer closed, unwritable;
	int unread[2], file = open("/dev/null", O_RDONLY | O_CLOEXEC);

	peer_signals();
	assert_int_equal(pipe(unread), 0);
	close(unread[0]);
	peer_init(&closed, -1, unread[1]);
	assert_int_equal(peer_send(&closed, &m, &s->err), -1);
	assert_string_equal(s->err.text, "the daemon closed the connection");
	assert_int_equal(s->err.code, ERR_CANCELLED);
	err_clear(&s->err);
	peer_init(&unwritable, -1, file);
	assert_int_equal(peer_send(&unwritable, &m, &s->err), -1);
	assert_string_equal(s->err.text, "write to the daemon: Bad file descriptor");
	assert_true(unwritable.cancelled);
	peer_fini(&closed);
	peer_fini(&unwritable);
	close(unread[1]);
	close(file);
}

/* While a job runs, the daemon sends pings and the end of the job, and nothing else. */
static void lines_during_a_job(void **state)
{
	struct scene *s = *state;
	struct pollfd fd = { .fd = s->peer.in, .events = POLLIN, .revents = POLLIN };

	s->peer.next_ping_ns = clock_mono_ns() + 60000000000LL;
	report(s, "\n\n{\"t\":\"ping\"}\n\n");
	assert_int_equal(peer_attend(&s->peer, &fd, &s->err), 0);
	assert_false(s->peer.cancelled);
	report(s, "\n{\"t\":\"cancel\"}\n");
	assert_int_equal(peer_attend(&s->peer, &fd, &s->err), -1);
	assert_string_equal(s->err.text, "cancelled by the daemon");
	assert_int_equal(s->err.code, ERR_CANCELLED);
	assert_true(s->peer.cancelled && !s->peer.stays);
	fd.revents = 0; /* it stays so, with the first reason */
	err_clear(&s->err);
	assert_int_equal(peer_attend(&s->peer, &fd, &s->err), -1);
	assert_string_equal(s->err.text, "cancelled by the daemon");
	assert_false(peer_take_preemption(&s->peer));
}

static void other_lines_during_a_job_end_it(void **state)
{
	struct scene *s = *state;
	struct pollfd fd = { .fd = s->peer.in, .events = POLLIN, .revents = POLLIN };

	report(s, "{\"t\":\"tree\",\"oid\":\"0123456789012345678901234567890123456789\",\"bytes\":7}\n");
	assert_int_equal(peer_attend(&s->peer, &fd, &s->err), -1);
	assert_string_equal(s->err.text, "the daemon sent an unexpected line");
	assert_int_equal(s->err.code, ERR_PROTOCOL);
}

/* A cancelled job whose worker stays can be followed by another one. */
static void a_worker_that_stays(void **state)
{
	struct scene *s = *state;
	struct pollfd fd = { .fd = s->peer.in, .events = POLLIN, .revents = POLLIN };

	report(s, "{\"t\":\"cancel\",\"stay\":true}\n");
	assert_int_equal(peer_attend(&s->peer, &fd, &s->err), -1);
	assert_true(s->peer.cancelled && s->peer.stays);
	assert_true(peer_take_preemption(&s->peer));
	assert_false(s->peer.cancelled || s->peer.stays);
	assert_false(peer_take_preemption(&s->peer));
	report(s, "{\"t\":\"ping\"}\n");
	err_clear(&s->err);
	assert_int_equal(peer_attend(&s->peer, &fd, &s->err), 0);
}

static void a_pause_ends_with_the_job(void **state)
{
	struct scene *s = *state;
	int64_t began_ns = clock_mono_ns();

	assert_int_equal(pump_sleep(&s->peer, 30, &s->err), 0);
	assert_true(clock_mono_ns() - began_ns >= 30000000);
	report(s, "{\"t\":\"cancel\"}\n");
	assert_int_equal(pump_sleep(&s->peer, 60000, &s->err), -1);
	assert_int_equal(s->err.code, ERR_CANCELLED);
}

/* A handled signal stays known in this process, so this test comes last. */
static void a_signal_to_all_processes_cancels(void **state)
{
	struct scene *s = *state;

	peer_signals();
	assert_int_equal(peer_await_signal(&s->peer, &s->err), 0);
	assert_false(s->peer.cancelled);
	assert_int_equal(raise(SIGTERM), 0);
	assert_int_equal(peer_await_signal(&s->peer, &s->err), -1);
	assert_int_equal(s->err.code, ERR_CANCELLED);
	assert_true(s->peer.cancelled);
}

/* ---- children ---- */

static int take(void *arg, const char *data, size_t len, struct fw_err *err)
{
	struct scene *s = arg;

	buf_append(&s->out, data, len);
	return strstr(s->out.data, "enough") ? err_set(err, ERR_FULL, "enough is enough") : 0;
}

static int run(struct scene *s, const char *script, int64_t deadline_ms, struct proc_exit *how)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	struct pump pump = { .peer = &s->peer,
		.stream = { { .read = take, .arg = s, .child_fd = 1 }, { .read = take, .arg = s, .child_fd = 7 } },
		.n_streams = 2,
		.merge_stderr = true,
		.deadline_ms = deadline_ms };

	buf_clear(&s->out);
	err_clear(&s->err);
	return pump_run(&pump, &(struct proc_spec){ .argv = argv }, how, &s->err);
}

static void every_stream_is_read_to_its_end(void **state)
{
	struct scene *s = *state;
	struct proc_exit how;

	assert_int_equal(run(s, "echo one; echo two >&2; echo three >&7; exit 4", 10000, &how), 0);
	assert_int_equal(how.status, 4);
	assert_non_null(strstr(s->out.data, "one\ntwo\n"));
	assert_non_null(strstr(s->out.data, "three\n"));
	assert_int_equal(run(s, "head -c 900000 /dev/zero | tr '\\0' x", 10000, &how), 0);
	assert_int_equal(s->out.len, 900000);
}

static void the_deadline_ends_everything(void **state)
{
	struct scene *s = *state;
	struct proc_exit how;

	assert_int_equal(run(s, "setsid sleep 100 & (setsid sh -c 'sleep 100 & sleep 100' &) ; sleep 100", 300, &how), 0);
	assert_true(how.timed_out);
	assert_int_equal(procs_count(), 0);
}

static void a_child_that_leaves_others_behind(void **state)
{
	struct scene *s = *state;
	struct proc_exit how;

	assert_int_equal(run(s, "setsid sleep 100 & echo done", 10000, &how), 0);
	assert_int_equal(how.status, 0);
	assert_string_equal(s->out.data, "done\n");
	assert_int_equal(procs_count(), 0);
}

static void *live_on(void *arg)
{
	sleep(100);
	return arg;
}

/* The state of a process is that of its first thread. */
static void a_process_whose_first_thread_has_ended(void **state)
{
	pthread_t thread;
	char path[64], text[512] = "";
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		if (pthread_create(&thread, NULL, live_on, NULL) == 0)
			pthread_exit(NULL);
		_exit(1);
	}
	snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
	while (!strstr(text, ") Z ")) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		assert_true(fd >= 0);
		assert_true(read(fd, text, sizeof text - 1) > 0);
		close(fd);
	}
	assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
	assert_int_equal(procs_end_all(), 0);
	assert_int_equal(kill(child, 0), -1);
	assert_int_equal(procs_count(), 0);
}

static void a_reader_that_ends_early(void **state)
{
	struct scene *s = *state;
	struct proc_exit how;

	assert_int_equal(run(s, "echo enough; sleep 100", 10000, &how), -1);
	assert_string_equal(s->err.text, "enough is enough");
	assert_int_equal(procs_count(), 0);
}

static void cancel_ends_the_child(void **state)
{
	struct scene *s = *state;
	struct proc_exit how;

	report(s, "{\"t\":\"cancel\"}\n");
	assert_int_equal(run(s, "sleep 100", 60000, &how), -1);
	assert_int_equal(s->err.code, ERR_CANCELLED);
	assert_int_equal(procs_count(), 0);
	assert_int_equal(pump_sleep(&s->peer, 60000, &s->err), -1);
}

static void end_of_input_ends_the_child(void **state)
{
	struct scene *s = *state;
	struct proc_exit how;

	close(s->daemon);
	s->daemon = -1;
	assert_int_equal(run(s, "sleep 100", 60000, &how), -1);
	assert_int_equal(s->err.code, ERR_CANCELLED);
}

static void a_start_error_is_reported(void **state)
{
	struct scene *s = *state;
	struct pump pump = { .peer = &s->peer, .deadline_ms = 1000 };
	const char *argv[] = { "/nonexistent/program", NULL };
	struct proc_exit how;

	assert_int_equal(pump_run(&pump, &(struct proc_spec){ .argv = argv }, &how, &s->err), -1);
	assert_non_null(strstr(s->err.text, "/nonexistent/program"));
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(lines_and_payload),
		T(silence_times_out),
		T(malformed_lines_end_the_session),
		T(a_line_without_end_is_refused),
		T(pings_when_due),
		T(a_write_that_fails_names_the_reason),
		T(lines_during_a_job),
		T(other_lines_during_a_job_end_it),
		T(a_worker_that_stays),
		T(a_pause_ends_with_the_job),
		T(a_lost_daemon_cancels_the_job),
		T(every_stream_is_read_to_its_end),
		T(the_deadline_ends_everything),
		T(a_child_that_leaves_others_behind),
		T(a_process_whose_first_thread_has_ended),
		T(a_reader_that_ends_early),
		T(cancel_ends_the_child),
		T(end_of_input_ends_the_child),
		T(a_start_error_is_reported),
		T(a_signal_to_all_processes_cancels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
