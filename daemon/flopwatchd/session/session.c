/*
 * session.c - the protocol with one worker. Output is queued and written as the worker reads it. Trees come from flopwatch-git
 * through a temporary file, one at a time, so that no tree is ever stored in memory.
 */
#include "flopwatchd/session/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- hello ---- */

/* Find a configured folder that branch code could not read there; NULL none. */
static const char *find_missing_folder(const struct config *c, const struct msg_hello *h)
{
	for (int i = 0; i < c->n_read_only; i++) {
		bool shown = false;
		for (int k = 0; k < h->n_read_only; k++)
			shown = shown || readonly_lies_in(c->read_only[i], h->read_only[k]);
		if (!shown)
			return c->read_only[i];
	}
	return NULL;
}

/* Check protocol, readable folders and `builds`. Returns false with the remedy in `why`. Shape: why[HELLO_WHY_SIZE]. */
static bool hello_is_fine(const struct config *c, const struct config_worker *w, const struct msg_hello *h, char *why)
{
	if (h->protocol != PROTOCOL_VERSION) {
		snprintf(why, HELLO_WHY_SIZE,
			"the worker (version %s) speaks protocol %d, this daemon %d; install the same version", h->version,
			h->protocol, PROTOCOL_VERSION);
		return false;
	}
	if (h->builds_only != w->builds) {
		snprintf(why, HELLO_WHY_SIZE,
			w->builds
				? "the worker offers to measure but is configured to build only; let its command pass on --build-only"
				: "the worker only builds; remove --build-only from its command");
		return false;
	}
	const char *closed = find_missing_folder(c, h);
	if (closed)
		snprintf(why, HELLO_WHY_SIZE,
			"the worker does not show %s, which sandbox.read_only requires: start it with --read-only %s, see "
			"flopwatch-worker(8)",
			closed, closed);
	return !closed;
}

/* ---- session ---- */

enum {
	CHUNK = 64 << 10,
	NEEDS_MAX = 256,
	OFFLINE_AFTER_MS = 60000,
	WATCH_MS = 5000,
	GRACE_MS = 5000,
	CLEAR_MS = 20000, /* time limit for a worker to end its job and stay */
	ERROR_LINES_MAX = 200,
	TREE_DEADLINE_MS = 120000,
	TREE_BYTES_MAX = 1 << 30,
};

enum session_step { STEP_BANNER, STEP_READY, STEP_HEALTH_CHECK, STEP_JOB, STEP_CLEARING, STEP_ENDING };

struct session {
	struct loop *loop;
	const struct config *config;
	const struct config_worker *worker;
	const struct session_hooks *hooks;
	void *arg;
	enum session_step phase;
	int fd; /* -1 while pending */
	struct executor *executor;
	struct loop_source *io, *watchdog, *grace;
	bool end_of_input; /* the worker closed its side */
	bool is_process;   /* a process whose end was not reported yet */
	bool wants_out;
	bool is_cancel_sent; /* while clearing: the cancel was sent */
	int64_t received_ns; /* time of its last line */
	int64_t job_ns;      /* time when it got its job */
	struct lines in;
	size_t banner_bytes;
	char error_line[256]; /* last line of its standard error */
	int n_error_lines;

	struct buf out;
	char need[NEEDS_MAX][65];
	int n_needs, next_need;
	struct child *packing;
	int tree_fd;
	int64_t tree_left;
	char repo_path[4096];

	struct result *result;
	enum session_end how; /* valid once ending */
	char exited[72];      /* exit of the child, "" for success */
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

static void finish_session(struct session *s)
{
	struct result *result = s->how == SESSION_DONE ? s->result : NULL;
	if (result)
		s->result = NULL;
	/* Input and child end in either order, so both results are joined here. */
	if (s->how == SESSION_LOST && s->exited[0]) {
		size_t n = strlen(s->why);
		snprintf(s->why + n, sizeof s->why - n, "%s", s->exited);
	}
	const char *last_line = strncmp(s->error_line, "flopwatch-worker: ", 18) == 0 ? s->error_line + 18 : s->error_line;
	if (s->how == SESSION_LOST && *last_line && !strstr(s->why, last_line)) {
		size_t n = strlen(s->why);
		snprintf(s->why + n, sizeof s->why - n, "; last line: %s", last_line);
	}
	s->hooks->end(s->arg, s->how, result, s->why);
	session_close(s);
}

static int write_line(struct session *s, const struct msg *m, struct fw_err *err);
static void write_output(struct session *s);

static void finish_if_exited(struct session *s)
{
	if (s->phase == STEP_ENDING && s->end_of_input && !s->is_process)
		finish_session(s);
}

static void on_grace_timeout(void *arg)
{
	struct session *s = arg;
	s->grace = NULL;
	finish_session(s);
}

/* Set the result of the session. The worker gets a moment to exit, so that it can clean up. */
static void begin_ending(struct session *s, enum session_end how, const char *why)
{
	if (s->phase == STEP_ENDING)
		return;
	bool is_early = how != SESSION_DONE && how != SESSION_LOST;
	s->n_needs = s->next_need = 0;
	if (s->phase == STEP_JOB && is_early && !s->tree_left && !s->end_of_input) {
		(void)write_line(s, &(struct msg){ .t = MSG_CANCEL }, NULL); /* its connection ends soon */
		write_output(s);
	}
	if (s->phase == STEP_ENDING)
		return;
	s->phase = STEP_ENDING;
	s->how = how;
	snprintf(s->why, sizeof s->why, "%s", why);
	child_cancel(s->packing);
	s->packing = NULL;
	loop_remove(s->loop, s->watchdog);
	s->watchdog = NULL;
	loop_remove(s->loop, s->grace); /* the limit for ending only its job */
	s->grace = NULL;
	if (s->fd >= 0)
		shutdown(s->fd, SHUT_WR);
	/* A pending submission has no process to wait for. A worker that sent an invalid message still has files to clean up. */
	loop_after(s->loop, s->fd >= 0 ? GRACE_MS : 0, on_grace_timeout, s, &s->grace);
}

static void fail_session(struct session *s, const char *why)
{
	begin_ending(s, SESSION_LOST, why);
}

bool session_is_ending(const struct session *s)
{
	return s->phase == STEP_ENDING;
}

bool session_is_done(const struct session *s)
{
	return s->phase == STEP_ENDING && s->how == SESSION_DONE;
}

void session_cancel(struct session *s)
{
	begin_ending(s, SESSION_CANCELLED, "cancelled");
}

static void watch_output(struct session *s, bool want)
{
	struct fw_err err = { 0 };
	if (want == s->wants_out || !s->io)
		return;
	s->wants_out = want;
	if (loop_change(s->loop, s->io, EPOLLIN | (want ? EPOLLOUT : 0u), &err) != 0)
		fail_session(s, err.text);
}

/* Append a message to the output. Err: ERR_INVALID it is too long, ERR_FULL no memory; the output is then as before. */
static int write_line(struct session *s, const struct msg *m, struct fw_err *err)
{
	struct buf line;
	int result = 0;
	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, m);
	if (line.failed && !line.is_out_of_memory)
		result = err_set(err, ERR_INVALID, "the job does not fit into one message; ask for fewer cells");
	else if (!line.failed)
		buf_append(&s->out, line.data, line.len);
	if (line.is_out_of_memory || s->out.failed)
		result = err_memory(err, "cannot write to worker %s", s->worker->name);
	s->out.failed = s->out.is_out_of_memory = false;
	buf_fini(&line);
	return result;
}

/* A worker exits at a line that its parser rejects, and so fails its other jobs too: reject such a job before it is sent. */
static int write_job(struct session *s, struct msg_job *job, struct fw_err *err)
{
	struct fw_err why = { 0 };
	struct msg read = { .t = MSG_JOB };
	size_t before = s->out.len;

	if (write_line(s, &(struct msg){ .t = MSG_JOB, .u.job = job }, err) != 0)
		return -1;
	if (protocol_parse(s->out.data + before, s->out.len - before, &read, &why) == 0) {
		msg_fini(&read);
		return 0;
	}
	s->out.len = before;
	s->out.data[before] = '\0';
	return err_set(err, why.code == ERR_INTERNAL ? ERR_INTERNAL : ERR_INVALID /* else: without memory */,
		"no worker could read this job: %s", why.text);
}

/* A failure between git and the worker is not the worker's fault. */
static void end_for_tree(struct session *s, const struct fw_err *why)
{
	bool is_final = why->code == ERR_NOT_FOUND || why->code == ERR_INVALID;
	begin_ending(s,
		is_final                                                ? SESSION_REFUSED
		: why->code == ERR_INTERNAL || why->code == ERR_CRASHED ? SESSION_LOST
									: SESSION_STARVED,
		why->text);
}

static void on_tree_packed(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct session *s = arg;
	struct stat st;
	struct fw_err err = { 0 };
	(void)out;
	s->packing = NULL;
	if (failed) {
		end_for_tree(s, failed);
		return;
	}
	if (fstat(s->tree_fd, &st) != 0 || lseek(s->tree_fd, 0, SEEK_SET) < 0) {
		err_sys(&err, "cannot read back a packed tree");
		end_for_tree(s, &err);
		return;
	}
	struct msg m = { .t = MSG_TREE };
	memcpy(m.u.tree.oid, s->need[s->next_need++], sizeof m.u.tree.oid);
	m.u.tree.bytes = st.st_size;
	if (write_line(s, &m, &err) != 0) {
		end_for_tree(s, &err);
		return;
	}
	s->tree_left = st.st_size;
	write_output(s);
}

static void pack_next(struct session *s)
{
	struct fw_err err = { 0 };
	const char *args[] = { "tar", "--repo", s->repo_path, "--oid", s->need[s->next_need], NULL };
	if (s->tree_fd >= 0)
		close(s->tree_fd);
	s->tree_fd = open(s->config->state_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->tree_fd < 0) {
		err_set(&err, ERR_IO, "cannot create a temporary file in %s: %s", s->config->state_dir, strerror(errno));
		end_for_tree(s, &err);
		return;
	}
	struct child_spec spec = {
		.program = "flopwatch-git",
		.args = args,
		.out_fd = s->tree_fd,
		.out_max = TREE_BYTES_MAX,
		.deadline_ms = TREE_DEADLINE_MS,
	};
	if (child_start(s->loop, &spec, on_tree_packed, s, &s->packing, &err) != 0)
		end_for_tree(s, &err);
}

/* Append the next piece of the tree to the output. Err: -1 the session is ending. */
static int read_tree(struct session *s)
{
	char piece[CHUNK];
	size_t want = s->tree_left < CHUNK ? (size_t)s->tree_left : CHUNK;
	ssize_t n = read(s->tree_fd, piece, want);
	if (n <= 0) {
		end_for_tree(s, &(struct fw_err){ .code = ERR_IO, .text = "cannot read back a packed tree" });
		return -1;
	}
	buf_append(&s->out, piece, (size_t)n);
	if (s->out.failed) {
		struct fw_err err = { 0 };
		err_memory(&err, "cannot write to worker %s", s->worker->name);
		end_for_tree(s, &err);
		return -1;
	}
	s->tree_left -= n;
	return 0;
}

static void write_output(struct session *s)
{
	while (s->phase == STEP_JOB || s->phase == STEP_HEALTH_CHECK || s->phase == STEP_CLEARING) {
		if (s->out.len) {
			ssize_t n = send(s->fd, s->out.data, s->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
			if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
				watch_output(s, true);
				return;
			}
			if (n < 0) {
				/* The worker has disconnected: its unread last messages explain more than this error. */
				buf_clear(&s->out);
				s->tree_left = 0;
				s->next_need = s->n_needs;
				break;
			}
			buf_consume(&s->out, (size_t)n);
		} else if (s->tree_left) {
			if (read_tree(s) != 0)
				return;
		} else if (s->phase == STEP_CLEARING &&
			   !s->is_cancel_sent) { /* a partly written message must be completed first */
			struct fw_err err = { 0 };
			if (write_line(s, &(struct msg){ .t = MSG_CANCEL, .u.cancel = { .stays = true } }, &err) != 0) {
				fail_session(s, err.text);
				return;
			}
			s->is_cancel_sent = true;
		} else {
			if (s->next_need < s->n_needs && !s->packing)
				pack_next(s);
			break;
		}
	}
	watch_output(s, false);
}

static void on_clear_timeout(void *arg)
{
	struct session *s = arg;
	s->grace = NULL;
	begin_ending(s, SESSION_CANCELLED, "the worker did not end its job in time");
}

bool session_stay(struct session *s)
{
	if (s->phase != STEP_JOB || s->end_of_input)
		return false;
	s->phase = STEP_CLEARING;
	s->is_cancel_sent = false;
	child_cancel(s->packing);
	s->packing = NULL;
	s->n_needs = s->next_need = s->n_error_lines = 0;
	s->error_line[0] = 0;
	result_free(s->result);
	s->result = NULL;
	loop_after(s->loop, CLEAR_MS, on_clear_timeout, s, &s->grace);
	write_output(s);
	return true;
}

static bool is_job_tree(const struct session *s, const char *oid)
{
	const struct msg_job *request = &s->result->plan.request;
	for (int i = 0; i < request->n_sides; i++)
		for (int k = 0; k < request->side[i].n_inputs; k++)
			if (!strcmp(request->side[i].input[k].oid, oid))
				return true;
	return false;
}

static void on_need(struct session *s, const struct msg_need *need)
{
	char why[160];
	for (int i = 0; i < need->n; i++) {
		if (!is_job_tree(s, need->oid[i])) {
			snprintf(why, sizeof why, "the worker requested tree %s, which the job does not name", need->oid[i]);
			fail_session(s, why);
			return;
		}
		if (s->n_needs == NEEDS_MAX) {
			fail_session(s, "the worker requested too many trees");
			return;
		}
		memcpy(s->need[s->n_needs++], need->oid[i], sizeof s->need[0]);
	}
	write_output(s);
}

static void on_hello(struct session *s, const struct msg_hello *h)
{
	char why[HELLO_WHY_SIZE];
	if (!hello_is_fine(s->config, s->worker, h, why)) {
		fail_session(s, why);
		return;
	}
	s->phase = STEP_READY;
	loop_remove(s->loop, s->grace);
	s->grace = NULL;
	s->hooks->hello(s->arg, h);
}

static void on_message(struct session *s, struct msg *m)
{
	struct fw_err err = { 0 };
	if (m->t == MSG_PING)
		return;
	if (s->phase == STEP_CLEARING) { /* messages about its last job are obsolete */
		if (m->t == MSG_HELLO)
			on_hello(s, &m->u.hello);
		return;
	}
	if (s->phase == STEP_HEALTH_CHECK && m->t == MSG_STATE) {
		s->hooks->message(s->arg, m);
		begin_ending(s, SESSION_CANCELLED, "");
		return;
	}
	if (s->phase != STEP_JOB || m->t == MSG_HEALTH_CHECK || m->t == MSG_HELLO || m->t == MSG_JOB || m->t == MSG_TREE ||
		m->t == MSG_CANCEL || m->t == MSG_TASK) {
		fail_session(s, "the worker sent an unexpected message");
		return;
	}
	if (m->t == MSG_NEED) {
		on_need(s, &m->u.need);
		return;
	}
	s->hooks->message(s->arg, m);
	bool is_done = m->t == MSG_DONE, is_cancelled = is_done && m->u.done.cancelled;
	if (s->phase != STEP_JOB) /* the hook has cancelled it */
		return;
	if (result_add(s->result, m, &err) != 0) {
		fail_session(s, err.text);
	} else if (is_cancelled) {
		fail_session(s, "the worker cancelled the job without a request");
	} else if (is_done) {
		result_end(s->result);
		s->result->ended_at = clock_utc_ms(); /* the wall clock may have been set since; the duration is monotonic */
		s->result->started_at = s->result->ended_at - (clock_mono_ns() - s->job_ns) / 1000000;
		begin_ending(s, SESSION_DONE, "");
	}
}

static void read_line(struct session *s, const char *line, size_t len)
{
	struct msg m;
	struct fw_err err = { 0 };
	if (s->phase == STEP_BANNER) {
		/* ssh and shells may print lines first: skip them up to the hello, or up to the fault sent instead of a hello. */
		bool is_message = len && line[0] == '{' && protocol_parse(line, len, &m, &err) == 0;
		if (is_message && m.t == MSG_HELLO)
			on_hello(s, &m.u.hello);
		else if (is_message && m.t == MSG_FAULT)
			fail_session(s, m.u.fault.detail);
		if (is_message)
			msg_fini(&m);
		s->banner_bytes += len + 1;
		if (s->phase == STEP_BANNER && s->banner_bytes > PROTOCOL_BANNER_MAX)
			fail_session(s, "the worker did not send hello");
		return;
	}
	if (protocol_parse(line, len, &m, &err) != 0) {
		char why[1100];
		snprintf(why, sizeof why, "the worker sent no valid message: %s", err.text);
		fail_session(s, why);
		return;
	}
	on_message(s, &m);
	msg_fini(&m);
}

static void read_bytes(struct session *s, const char *bytes, size_t n)
{
	struct fw_err err = { 0 };
	char *line;
	size_t len;
	s->received_ns = clock_mono_ns();
	if (s->phase == STEP_ENDING)
		return;
	if (lines_feed(&s->in, bytes, n, &err) != 0) {
		fail_session(s, err.text);
		return;
	}
	while (s->phase != STEP_ENDING && lines_next(&s->in, &line, &len))
		read_line(s, line, len);
	if (s->phase == STEP_BANNER && s->banner_bytes + s->in.pending.len - s->in.start > PROTOCOL_BANNER_MAX)
		fail_session(s, "the worker did not send hello");
}

static void on_end_of_input(struct session *s)
{
	loop_remove(s->loop, s->io);
	s->io = NULL;
	s->end_of_input = true;
	fail_session(s, s->phase == STEP_BANNER         ? "the worker ended before its hello"
			: s->phase == STEP_HEALTH_CHECK ? "the worker ended before the health check's answer"
							: "the worker ended in the middle of the job");
	finish_if_exited(s);
}

static void on_io(void *arg, uint32_t events)
{
	struct session *s = arg;
	char bytes[CHUNK];
	if (events & EPOLLOUT)
		write_output(s);
	if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		return;
	ssize_t n = recv(s->fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (n > 0)
		read_bytes(s, bytes, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		on_end_of_input(s);
}

/* The last line explains a sudden end best. flopwatch-worker's lines have priorities: those below a warning are details. */
static void on_error_line(void *arg, char *line)
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
	if (s->phase == STEP_BANNER && s->hooks->pending)
		s->hooks->pending(s->arg, wait);
}

/* The worker must answer from here on: start the watchdog. */
static void on_running(void *arg, int fd)
{
	struct session *s = arg;
	struct fw_err err = { 0 };
	s->fd = fd;
	s->received_ns = clock_mono_ns();
	if (loop_watch(s->loop, fd, EPOLLIN, on_io, s, &s->io, &err) != 0)
		fail_session(s, err.text);
}

static void on_ended(void *arg, const char *how)
{
	struct session *s = arg;
	s->is_process = false;
	if (*how)
		snprintf(s->exited, sizeof s->exited, " (%s)", how);
	finish_if_exited(s);
	/* its last messages are still unread on the socket; the session ends after them */
}

/* Check a limit shorter than WATCH_MS at its own interval. */
static int64_t watch_ms(const struct session *s)
{
	return s->phase == STEP_BANNER && s->config->hello_ms < WATCH_MS ? s->config->hello_ms : WATCH_MS;
}

static void on_watchdog(void *arg)
{
	struct session *s = arg;
	char why[128];
	s->watchdog = NULL;
	int64_t offline_ms = (clock_mono_ns() - s->received_ns) / 1000000;
	int64_t limit_ms = s->phase == STEP_BANNER ? s->config->hello_ms : OFFLINE_AFTER_MS;
	if (s->fd >= 0 && s->phase != STEP_READY && offline_ms > limit_ms) {
		snprintf(why, sizeof why, "the worker sent nothing for %d s (see doc/troubleshooting.md#silent-worker)",
			(int)(limit_ms / 1000));
		fail_session(s, why);
	} else {
		loop_after(s->loop, watch_ms(s), on_watchdog, s, &s->watchdog);
	}
}

static const struct executor_hooks executor_hooks = { on_pending, on_running, on_error_line, on_ended };

int session_open(struct executors *x, struct loop *l, const struct config *c, const struct config_worker *w, const char *node,
	const struct session_hooks *hooks, void *arg, struct session **out, struct fw_err *err)
{
	struct session *s = mem_alloc_zero(1, sizeof *s);
	*s = (struct session){ .loop = l, .config = c, .worker = w, .hooks = hooks, .arg = arg, .fd = -1, .tree_fd = -1 };
	lines_init(&s->in, PROTOCOL_LINE_MAX);
	buf_init(&s->out, 4u << 20);
	if (executor_submit(x, w, node, &executor_hooks, s, &s->executor, err) != 0) {
		session_close(s);
		return -1;
	}
	loop_after(l, watch_ms(s), on_watchdog, s, &s->watchdog);
	s->is_process = executor_is_process(s->executor);
	*out = s;
	return 0;
}

int session_send(struct session *s, struct plan *plan, const char *repo_path, const struct msg_device *device, struct fw_err *err)
{
	if (s->phase != STEP_READY)
		return err_set(err, ERR_INTERNAL, "worker %s is not ready for a job", s->worker->name);
	if (strlen(repo_path) >= sizeof s->repo_path)
		return err_set(err, ERR_FULL, "the path of the repository is too long");
	if (write_job(s, &plan->request, err) != 0)
		return -1;
	s->result = result_new(plan);
	s->job_ns = clock_mono_ns();
	s->result->device = *device;
	memcpy(s->repo_path, repo_path, strlen(repo_path) + 1);
	s->phase = STEP_JOB;
	s->received_ns = clock_mono_ns();
	write_output(s);
	return 0;
}

int session_health_check(struct session *s, const char *uuid, struct fw_err *err)
{
	struct msg m = { .t = MSG_HEALTH_CHECK };
	if (s->phase != STEP_READY)
		return err_set(err, ERR_INTERNAL, "worker %s is not ready for a health check", s->worker->name);
	snprintf(m.u.health_check.device, sizeof m.u.health_check.device, "%s", uuid);
	if (write_line(s, &m, err) != 0)
		return -1;
	s->phase = STEP_HEALTH_CHECK;
	s->received_ns = clock_mono_ns();
	write_output(s);
	return 0;
}
