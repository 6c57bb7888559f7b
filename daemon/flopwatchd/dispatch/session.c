/*
 * session.c - drives one worker through the protocol. Writing is queued and flows as the worker takes it; trees come from
 * flopwatch-git through a temporary file, one at a time, so that no tree is ever held in memory.
 */
#include "flopwatchd/dispatch/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lines.h"
#include "base/log.h"
#include "flopwatchd/runtime/child.h"
#include "flopwatchd/dispatch/hello.h"
#include "flopwatchd/executor/executor.h"

enum {
	CHUNK = 64 << 10,
	NEEDS_MAX = 256,
	OFFLINE_AFTER_MS = 60000,
	WATCH_MS = 5000,
	GRACE_MS = 5000,
	CLEAR_MS = 20000, /* for a worker that stays to end its job */
	ERROR_LINES_MAX = 200,
	TREE_DEADLINE_MS = 120000,
	TREE_BYTES_MAX = 1 << 30,
};

enum phase { PHASE_BANNER, PHASE_READY, PHASE_HEALTH_CHECK, PHASE_JOB, PHASE_CLEARING, PHASE_ENDING };

struct session {
	struct loop *loop;
	const struct config *config;
	const struct config_worker *worker;
	const struct session_hooks *hooks;
	void *arg;
	enum phase phase;
	int fd; /* -1 while it is pending */
	struct executor *executor;
	struct loop_source *io, *watchdog, *grace;
	bool end_of_input; /* the worker has closed its side */
	bool is_process;   /* whose end has not been told yet */
	bool wants_out;
	bool is_told;     /* while clearing: that it is to end its job */
	int64_t heard_ns; /* when its last line came */
	int64_t job_ns;   /* when it got its job */
	struct lines in;
	size_t banner_bytes;
	char error_line[256]; /* last one it printed beside the protocol */
	int n_error_lines;

	struct buf out;
	char need[NEEDS_MAX][65];
	int n_needs, next_need;
	struct child *packing;
	int tree_fd;
	int64_t tree_left;
	char repo_path[4096];

	struct result *result;
	enum session_end how; /* once ending */
	char exited[72];      /* how the child ended, when not well */
	char why[1024];
};

void session_close(struct session *s)
{
	if (!s)
		return;
	loop_remove(s->loop, s->io);
	loop_remove(s->loop, s->watchdog);
	loop_remove(s->loop, s->grace);
	child_cancel(s->packing);
	executor_end(s->executor);
	if (s->tree_fd >= 0)
		close(s->tree_fd);
	lines_fini(&s->in);
	buf_fini(&s->out);
	result_free(s->result);
	free(s);
}

/* ---- ending ---------------------------------------------------------------------------------------- */

static void end_now(struct session *s)
{
	struct result *result = s->how == SESSION_DONE ? s->result : NULL;
	if (result)
		s->result = NULL;
	/* the end of the input and the end of the child come in either order, so both are put together here */
	if (s->how == SESSION_LOST && s->exited[0]) {
		size_t n = strlen(s->why);
		snprintf(s->why + n, sizeof s->why - n, "%s", s->exited);
	}
	const char *said = strncmp(s->error_line, "flopwatch-worker: ", 18) == 0 ? s->error_line + 18 : s->error_line;
	if (s->how == SESSION_LOST && *said && !strstr(s->why, said)) {
		size_t n = strlen(s->why);
		snprintf(s->why + n, sizeof s->why - n, "; last line: %s", said);
	}
	s->hooks->end(s->arg, s->how, result, s->why);
	session_close(s);
}

static bool write_line(struct session *s, const struct msg *m);
static void pump(struct session *s);

static void end_if_gone(struct session *s)
{
	if (s->phase == PHASE_ENDING && s->end_of_input && !s->is_process)
		end_now(s);
}

static void grace_is_over(void *arg)
{
	struct session *s = arg;
	s->grace = NULL;
	end_now(s);
}

/* Decide how this ends; the worker gets a moment to leave in order, so that it can clean up behind itself. */
static void begin_end(struct session *s, enum session_end how, const char *why)
{
	struct fw_err err = { 0 };
	if (s->phase == PHASE_ENDING)
		return;
	bool is_told = how != SESSION_DONE && how != SESSION_LOST;
	s->n_needs = s->next_need = 0;
	if (s->phase == PHASE_JOB && is_told && !s->tree_left && !s->end_of_input) {
		write_line(s, &(struct msg){ .t = MSG_CANCEL });
		pump(s);
	}
	if (s->phase == PHASE_ENDING)
		return;
	s->phase = PHASE_ENDING;
	s->how = how;
	snprintf(s->why, sizeof s->why, "%s", why);
	child_cancel(s->packing);
	s->packing = NULL;
	loop_remove(s->loop, s->watchdog);
	s->watchdog = NULL;
	loop_remove(s->loop, s->grace); /* in which it was to end its job alone */
	s->grace = NULL;
	if (s->fd >= 0)
		shutdown(s->fd, SHUT_WR);
	/* what is pending has nobody who could leave in order; and one that talks nonsense has no claim to time, but clutter to clear away */
	if (loop_after(s->loop, s->fd >= 0 ? GRACE_MS : 0, grace_is_over, s, &s->grace, &err) != 0)
		log_error("session.timer", "err=%s", log_quote(err.text));
}

static void lose(struct session *s, const char *why)
{
	begin_end(s, SESSION_LOST, why);
}

bool session_is_ending(const struct session *s)
{
	return s->phase == PHASE_ENDING;
}

void session_cancel(struct session *s)
{
	begin_end(s, SESSION_CANCELLED, "cancelled");
}

/* ---- writing --------------------------------------------------------------------------------------- */

static void want_out(struct session *s, bool want)
{
	struct fw_err err = { 0 };
	if (want == s->wants_out || !s->io)
		return;
	s->wants_out = want;
	if (loop_change(s->loop, s->io, EPOLLIN | (want ? EPOLLOUT : 0u), &err) != 0)
		lose(s, err.text);
}

/* False: it is too long for one. */
static bool write_line(struct session *s, const struct msg *m)
{
	struct buf line;
	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, m);
	bool fits = !line.failed;
	if (fits)
		buf_append(&s->out, line.data, line.len);
	buf_fini(&line);
	return fits;
}

/* A worker ends at a line that its parser refuses, and takes other jobs along: such a job fails here, before it is sent. */
static int write_job(struct session *s, struct msg_job *job, struct fw_err *err)
{
	struct fw_err why = { 0 };
	struct msg read = { .t = MSG_JOB };
	size_t before = s->out.len;

	if (!write_line(s, &(struct msg){ .t = MSG_JOB, .u.job = job }))
		return err_set(err, ERR_INVALID, "the job does not fit into one message; ask for fewer cells");
	if (protocol_parse(s->out.data + before, s->out.len - before, &read, &why) == 0) {
		msg_fini(&read);
		return 0;
	}
	s->out.len = before;
	s->out.data[before] = '\0';
	return err_set(err, ERR_INVALID, "no worker could read this job: %s", why.text);
}

/* What fails between git and the worker is not the worker's fault. */
static void starve(struct session *s, const struct fw_err *why)
{
	bool is_final = why->code == ERR_NOT_FOUND || why->code == ERR_INVALID;
	begin_end(s,
		is_final                                                ? SESSION_REFUSED
		: why->code == ERR_INTERNAL || why->code == ERR_CRASHED ? SESSION_LOST
									: SESSION_STARVED,
		why->text);
}

static void tree_is_packed(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct session *s = arg;
	struct stat st;
	struct fw_err err = { 0 };
	(void)out;
	s->packing = NULL;
	if (failed) {
		starve(s, failed);
		return;
	}
	if (fstat(s->tree_fd, &st) != 0 || lseek(s->tree_fd, 0, SEEK_SET) < 0) {
		err_sys(&err, "cannot read back a packed tree");
		starve(s, &err);
		return;
	}
	struct msg m = { .t = MSG_TREE };
	memcpy(m.u.tree.oid, s->need[s->next_need++], sizeof m.u.tree.oid);
	m.u.tree.bytes = st.st_size;
	s->tree_left = st.st_size;
	write_line(s, &m);
	pump(s);
}

static void pack_next(struct session *s)
{
	struct fw_err err = { 0 };
	const char *args[] = { "tar", "--repo", s->repo_path, "--oid", s->need[s->next_need], NULL };
	if (s->tree_fd >= 0)
		close(s->tree_fd);
	s->tree_fd = open(s->config->state_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->tree_fd < 0) {
		err_set(&err, ERR_IO, "cannot make a temporary file in %s: %s", s->config->state_dir, strerror(errno));
		starve(s, &err);
		return;
	}
	struct child_spec spec = {
		.program = "flopwatch-git",
		.args = args,
		.out_fd = s->tree_fd,
		.out_max = TREE_BYTES_MAX,
		.deadline_ms = TREE_DEADLINE_MS,
	};
	if (child_start(s->loop, &spec, tree_is_packed, s, &s->packing, &err) != 0)
		starve(s, &err);
}

/* Next piece of the tree into the output. Err: -1 the session is ending. */
static int refill(struct session *s)
{
	char piece[CHUNK];
	size_t want = s->tree_left < CHUNK ? (size_t)s->tree_left : CHUNK;
	ssize_t n = read(s->tree_fd, piece, want);
	if (n <= 0) {
		starve(s, &(struct fw_err){ .code = ERR_IO, .text = "cannot read back a packed tree" });
		return -1;
	}
	buf_append(&s->out, piece, (size_t)n);
	s->tree_left -= n;
	return 0;
}

static void pump(struct session *s)
{
	while (s->phase == PHASE_JOB || s->phase == PHASE_HEALTH_CHECK || s->phase == PHASE_CLEARING) {
		if (s->out.len) {
			ssize_t n = send(s->fd, s->out.data, s->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
			if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
				want_out(s, true);
				return;
			}
			if (n < 0) {
				/* it has gone: what it said before still waits to be read, and says more than this error */
				buf_clear(&s->out);
				s->tree_left = 0;
				s->next_need = s->n_needs;
				break;
			}
			buf_consume(&s->out, (size_t)n);
		} else if (s->tree_left) {
			if (refill(s) != 0)
				return;
		} else if (s->phase == PHASE_CLEARING && !s->is_told) { /* what was half written had to be read first */
			write_line(s, &(struct msg){ .t = MSG_CANCEL, .u.cancel = { .stays = true } });
			s->is_told = true;
		} else {
			if (s->next_need < s->n_needs && !s->packing)
				pack_next(s);
			break;
		}
	}
	want_out(s, false);
}

static void clearing_takes_too_long(void *arg)
{
	struct session *s = arg;
	s->grace = NULL;
	begin_end(s, SESSION_CANCELLED, "it did not end its job in time");
}

bool session_stay(struct session *s)
{
	struct fw_err err = { 0 };
	if (s->phase != PHASE_JOB || s->end_of_input)
		return false;
	s->phase = PHASE_CLEARING;
	s->is_told = false;
	child_cancel(s->packing);
	s->packing = NULL;
	s->n_needs = s->next_need = s->n_error_lines = 0;
	s->error_line[0] = 0;
	result_free(s->result);
	s->result = NULL;
	if (loop_after(s->loop, CLEAR_MS, clearing_takes_too_long, s, &s->grace, &err) != 0)
		begin_end(s, SESSION_CANCELLED, err.text);
	else
		pump(s);
	return true;
}

/* ---- words of the worker --------------------------------------------------------------------------- */

static bool may_have(const struct session *s, const char *oid)
{
	const struct msg_job *ask = &s->result->plan.ask;
	for (int i = 0; i < ask->n_subjects; i++)
		for (int k = 0; k < ask->subject[i].n_inputs; k++)
			if (!strcmp(ask->subject[i].input[k].oid, oid))
				return true;
	return false;
}

static void take_need(struct session *s, const struct msg_need *need)
{
	char why[160];
	for (int i = 0; i < need->n; i++) {
		if (!may_have(s, need->oid[i])) {
			snprintf(why, sizeof why, "the worker asks for tree %s, which the job does not name", need->oid[i]);
			lose(s, why);
			return;
		}
		if (s->n_needs == NEEDS_MAX) {
			lose(s, "the worker asks for trees without end");
			return;
		}
		memcpy(s->need[s->n_needs++], need->oid[i], sizeof s->need[0]);
	}
	pump(s);
}

static void take_hello(struct session *s, const struct msg_hello *h)
{
	char why[HELLO_WHY_SIZE];
	if (!hello_is_fine(s->config, s->worker, h, why)) {
		lose(s, why);
		return;
	}
	s->phase = PHASE_READY;
	loop_remove(s->loop, s->grace);
	s->grace = NULL;
	s->hooks->hello(s->arg, h);
}

static void take_word(struct session *s, struct msg *m)
{
	struct fw_err err = { 0 };
	if (m->t == MSG_PING)
		return;
	if (s->phase == PHASE_CLEARING) { /* what it said of its last job is of no use any more */
		if (m->t == MSG_HELLO)
			take_hello(s, &m->u.hello);
		return;
	}
	if (s->phase == PHASE_HEALTH_CHECK && m->t == MSG_STATE) {
		s->hooks->word(s->arg, m);
		begin_end(s, SESSION_CANCELLED, "");
		return;
	}
	if (s->phase != PHASE_JOB || m->t == MSG_HEALTH_CHECK || m->t == MSG_HELLO || m->t == MSG_JOB || m->t == MSG_TREE ||
		m->t == MSG_CANCEL || m->t == MSG_RUN) {
		lose(s, "the worker sent a message out of place");
		return;
	}
	if (m->t == MSG_NEED) {
		take_need(s, &m->u.need);
		return;
	}
	s->hooks->word(s->arg, m);
	bool is_done = m->t == MSG_DONE, is_cancelled = is_done && m->u.done.cancelled;
	if (s->phase != PHASE_JOB) /* the hook has cancelled it */
		return;
	if (result_add(s->result, m, &err) != 0) {
		lose(s, err.text);
	} else if (is_cancelled) {
		lose(s, "the worker gave up without being asked to");
	} else if (is_done) {
		result_end(s->result);
		s->result->ended_at = clock_utc_ms(); /* which may have been set since: its duration is the monotonic clock's */
		s->result->started_at = s->result->ended_at - (clock_mono_ns() - s->job_ns) / 1000000;
		begin_end(s, SESSION_DONE, "");
	}
}

static void take_line(struct session *s, const char *line, size_t len)
{
	struct msg m;
	struct fw_err err = { 0 };
	if (s->phase == PHASE_BANNER) {
		/* ssh and shells may say something first; hello is the first line that parses as one, or why there is none */
		bool is_message = len && line[0] == '{' && protocol_parse(line, len, &m, &err) == 0;
		if (is_message && m.t == MSG_HELLO)
			take_hello(s, &m.u.hello);
		else if (is_message && m.t == MSG_FAULT)
			lose(s, m.u.fault.detail);
		if (is_message)
			msg_fini(&m);
		s->banner_bytes += len + 1;
		if (s->phase == PHASE_BANNER && s->banner_bytes > PROTOCOL_BANNER_MAX)
			lose(s, "the worker did not send hello");
		return;
	}
	if (protocol_parse(line, len, &m, &err) != 0) {
		char why[1100];
		snprintf(why, sizeof why, "the worker sent no valid message: %s", err.text);
		lose(s, why);
		return;
	}
	take_word(s, &m);
	msg_fini(&m);
}

static void take_bytes(struct session *s, const char *bytes, size_t n)
{
	struct fw_err err = { 0 };
	char *line;
	size_t len;
	s->heard_ns = clock_mono_ns();
	if (s->phase == PHASE_ENDING)
		return;
	if (lines_feed(&s->in, bytes, n, &err) != 0) {
		lose(s, err.text);
		return;
	}
	while (s->phase != PHASE_ENDING && lines_next(&s->in, &line, &len))
		take_line(s, line, len);
	if (s->phase == PHASE_BANNER && s->banner_bytes + s->in.pending.len - s->in.start > PROTOCOL_BANNER_MAX)
		lose(s, "the worker did not send hello");
}

/* ---- descriptors, child, clock --------------------------------------------------------------------- */

static void input_ended(struct session *s)
{
	loop_remove(s->loop, s->io);
	s->io = NULL;
	s->end_of_input = true;
	lose(s, s->phase == PHASE_BANNER         ? "the worker ended before its hello"
		: s->phase == PHASE_HEALTH_CHECK ? "the worker ended before the health check's answer"
						 : "the worker ended in the middle of the job");
	end_if_gone(s);
}

static void on_io(void *arg, uint32_t events)
{
	struct session *s = arg;
	char bytes[CHUNK];
	if (events & EPOLLOUT)
		pump(s);
	if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		return;
	ssize_t n = recv(s->fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (n > 0)
		take_bytes(s, bytes, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		input_ended(s);
}

/* What a worker prints beside the protocol; the last line explains a sudden end best. Our own worker writes its log with priorities: what
 * is below a warning there is a detail here. */
static void take_error_line(void *arg, char *line)
{
	struct session *s = arg;
	enum log_level level = LOG_INFO;
	if (line[0] == '<' && line[1] >= '0' && line[1] <= '7' && line[2] == '>') {
		level = line[1] > '4' ? LOG_DEBUG : LOG_WARNING;
		line += 3;
	}
	if (level != LOG_DEBUG)
		snprintf(s->error_line, sizeof s->error_line, "%s", line);
	if (level == LOG_DEBUG || s->n_error_lines++ < ERROR_LINES_MAX)
		log_event(level, "worker.stderr", "worker=%s line=%s", s->worker->name, log_quote(line));
}

static void on_pending(void *arg, const struct executor_wait *wait)
{
	struct session *s = arg;
	if (s->phase == PHASE_BANNER && s->hooks->pending)
		s->hooks->pending(s->arg, wait);
}

/* From here on it is the worker that is waited for, and silence counts. */
static void on_running(void *arg, int fd)
{
	struct session *s = arg;
	struct fw_err err = { 0 };
	s->fd = fd;
	s->heard_ns = clock_mono_ns();
	if (loop_watch(s->loop, fd, EPOLLIN, on_io, s, &s->io, &err) != 0)
		lose(s, err.text);
}

static void on_ended(void *arg, const char *how)
{
	struct session *s = arg;
	s->is_process = false;
	if (*how)
		snprintf(s->exited, sizeof s->exited, " (%s)", how);
	end_if_gone(s);
	/* what it wrote before still waits on the socket; its end is reported when that is read */
}

/* A limit that is shorter than our patience is looked at as often. */
static int64_t watch_ms(const struct session *s)
{
	return s->phase == PHASE_BANNER && s->config->hello_ms < WATCH_MS ? s->config->hello_ms : WATCH_MS;
}

static void on_watchdog(void *arg)
{
	struct session *s = arg;
	struct fw_err err = { 0 };
	char why[128];
	s->watchdog = NULL;
	int64_t offline_ms = (clock_mono_ns() - s->heard_ns) / 1000000;
	int64_t limit_ms = s->phase == PHASE_BANNER ? s->config->hello_ms : OFFLINE_AFTER_MS;
	if (s->fd >= 0 && s->phase != PHASE_READY && offline_ms > limit_ms) {
		snprintf(why, sizeof why, "the worker was silent for %d s (see doc/troubleshooting.md#silent-worker)",
			(int)(limit_ms / 1000));
		lose(s, why);
	} else if (loop_after(s->loop, watch_ms(s), on_watchdog, s, &s->watchdog, &err) != 0) {
		lose(s, err.text);
	}
}

/* ---- opening --------------------------------------------------------------------------------------- */

static const struct executor_hooks executor_hooks = { on_pending, on_running, take_error_line, on_ended };

int session_open(struct executors *x, struct loop *l, const struct config *c, const struct config_worker *w, const char *node,
	const struct session_hooks *hooks, void *arg, struct session **out, struct fw_err *err)
{
	struct session *s = calloc(1, sizeof *s);
	if (!s)
		return err_set(err, ERR_INTERNAL, "out of memory for a worker");
	*s = (struct session){ .loop = l, .config = c, .worker = w, .hooks = hooks, .arg = arg, .fd = -1, .tree_fd = -1 };
	lines_init(&s->in, PROTOCOL_LINE_MAX);
	buf_init(&s->out, 4u << 20);
	if (executor_submit(x, w, node, &executor_hooks, s, &s->executor, err) != 0 ||
		loop_after(l, watch_ms(s), on_watchdog, s, &s->watchdog, err) != 0) {
		session_close(s);
		return -1;
	}
	s->is_process = executor_is_process(s->executor);
	*out = s;
	return 0;
}

int session_send(struct session *s, struct plan *plan, const char *repo_path, const struct msg_device *device, struct fw_err *err)
{
	if (s->phase != PHASE_READY)
		return err_set(err, ERR_INTERNAL, "worker %s is not ready for a job", s->worker->name);
	if (strlen(repo_path) >= sizeof s->repo_path)
		return err_set(err, ERR_FULL, "the path of the repository is too long");
	if (write_job(s, &plan->ask, err) != 0)
		return -1;
	s->result = result_new(plan);
	if (!s->result)
		return err_set(err, ERR_INTERNAL, "out of memory for a result");
	s->job_ns = clock_mono_ns();
	s->result->device = *device;
	memcpy(s->repo_path, repo_path, strlen(repo_path) + 1);
	s->phase = PHASE_JOB;
	s->heard_ns = clock_mono_ns();
	pump(s);
	return 0;
}

int session_health_check(struct session *s, const char *uuid, struct fw_err *err)
{
	struct msg m = { .t = MSG_HEALTH_CHECK };
	if (s->phase != PHASE_READY)
		return err_set(err, ERR_INTERNAL, "worker %s is not ready for a health check", s->worker->name);
	snprintf(m.u.health_check.device, sizeof m.u.health_check.device, "%s", uuid);
	write_line(s, &m);
	s->phase = PHASE_HEALTH_CHECK;
	s->heard_ns = clock_mono_ns();
	pump(s);
	return 0;
}
