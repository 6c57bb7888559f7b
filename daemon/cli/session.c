/* session.c - documented in internal.h. There is only one connection, so all calls block. */
#include "cli/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHUNK = 64 << 10, TICK_MS = 1000 };

struct session {
	const struct session_request *request;
	struct outcome *out;
	struct proc worker;
	struct lines in;
	int fd, errors_fd;
};

static int send_all(struct session *s, const char *data, size_t len, struct fw_err *err)
{
	while (len > 0) {
		ssize_t n = send(s->fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "the worker accepts no more input");
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int print(struct session *s, const struct msg *m, struct fw_err *err)
{
	struct buf line;

	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, m);
	int result = line.failed ? err_set(err, ERR_INVALID, "the job does not fit into a line; choose fewer cells with --cells")
				 : send_all(s, line.data, line.len, err);

	buf_fini(&line);
	return result;
}

static int send_tree(struct session *s, const char *oid, struct fw_err *err)
{
	int fd = tree_pack(s->request->tree, oid, err), result = fd < 0 ? -1 : 0;
	struct msg m = { .t = MSG_TREE };
	char piece[CHUNK];
	struct stat st;
	ssize_t n;

	if (result == 0 && fstat(fd, &st) != 0)
		result = err_sys(err, "a packed tree");
	if (result == 0) {
		snprintf(m.u.tree.oid, sizeof m.u.tree.oid, "%s", oid);
		m.u.tree.bytes = st.st_size;
		result = print(s, &m, err);
	}
	while (result == 0 && (n = read(fd, piece, sizeof piece)) != 0)
		result = n < 0 ? err_sys(err, "a packed tree") : send_all(s, piece, (size_t)n, err);
	if (fd >= 0)
		close(fd);
	return result;
}

const struct msg_device *session_device(const struct msg_hello *h, const char *wanted)
{
	for (int i = 0; i < h->n_devices; i++) {
		const struct msg_device *d = &h->device[i];

		if (wanted ? strcmp(device_kind_name(d->kind), wanted) == 0 || strcmp(d->uuid, wanted) == 0
			   : d->kind != DEVICE_SIM)
			return d;
	}
	return NULL;
}

static int take_hello(struct session *s, const struct msg_hello *h, struct fw_err *err)
{
	const struct msg_device *d = session_device(h, s->request->device);
	struct msg m = { .t = MSG_JOB, .u.job = s->request->job };

	if (!d)
		return err_set(err, ERR_NOT_FOUND, "there is no device %s here; flopwatch-worker probe names those that are",
			s->request->device ? s->request->device : "at all");
	s->out->device = *d;
	s->out->location = h->location;
	s->out->is_sandboxed = strcmp(h->isolation, "bwrap") == 0;
	snprintf(s->request->job->device, sizeof s->request->job->device, "%s", d->uuid);
	return print(s, &m, err);
}

static void show(const struct session *s, const struct msg *m)
{
	struct progress *p = s->request->progress;
	const char *label = s->request->label;
	const struct msg_at *at = &m->u.at;

	if (m->t == MSG_HELLO)
		progress_step(p, "%s: preparing", label);
	else if (m->t == MSG_BUILD && strcmp(m->u.build.state, "start") == 0)
		progress_step(p, "%s: building", label);
	else if (m->t == MSG_BUILD)
		progress_step(p, "%s: built; starting", label);
	else if (m->t == MSG_AT && at->cell >= 0 && at->cell < s->out->n_cells)
		progress_step(p, "%s: %s %d of %d: %s", label, s->out->runs ? "running" : "checking", at->cell + 1,
			s->out->n_cells, s->out->cell[at->cell].key);
	else if (m->t == MSG_AT || m->t == MSG_RUN)
		progress_step(p, "%s: running", label);
}

/* Last line that the worker printed outside of the protocol. */
static void last_line(const struct session *s, char *out, size_t size)
{
	char text[2048];
	off_t end = lseek(s->errors_fd, 0, SEEK_END), from = end > (off_t)sizeof text - 1 ? end - (off_t)sizeof text + 1 : 0;
	ssize_t n = pread(s->errors_fd, text, sizeof text - 1, from);

	text[n > 0 ? n : 0] = '\0';
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	const char *line = strrchr(text, '\n');

	snprintf(out, size, "%.*s", (int)size - 1, line ? line + 1 : text);
}

/* Handle one message. 1: it was the last. */
static int take(struct session *s, const struct msg *m, struct fw_err *err)
{
	if (m->t == MSG_PING)
		return 0;
	show(s, m);
	if (m->t == MSG_HELLO)
		return take_hello(s, &m->u.hello, err);
	if (s->out->device.kind == DEVICE_ANY)
		return err_set(err, ERR_PROTOCOL, "%s", m->t == MSG_FAULT ? m->u.fault.detail : "the worker did not send hello");
	for (int i = 0; m->t == MSG_NEED && i < m->u.need.n; i++)
		if (send_tree(s, m->u.need.oid[i], err) != 0)
			return -1;
	outcome_receive(s->out, m);
	if (m->t == MSG_DONE && m->u.done.cancelled) {
		char why[400];

		last_line(s, why, sizeof why);
		return err_set(err, ERR_IO, "the worker ended the job early%s%s", *why ? ": " : "", why);
	}
	return m->t == MSG_DONE;
}

/* Wait for input while the time of the step is shown. */
static void wait_for_input(const struct session *s)
{
	struct pollfd input = { .fd = s->fd, .events = POLLIN };

	while (s->request->progress->style != PROGRESS_NONE && poll(&input, 1, TICK_MS) == 0)
		progress_tick(s->request->progress);
}

static int converse(struct session *s, struct fw_err *err)
{
	char bytes[CHUNK], *line, why[400];
	int status = 0;
	size_t len;

	while (status == 0) {
		wait_for_input(s);
		ssize_t n = read(s->fd, bytes, sizeof bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			last_line(s, why, sizeof why);
			return err_set(err, ERR_IO, "the worker %s%s%s",
				s->out->device.kind != DEVICE_ANY ? "ended in the middle" : "does not start", *why ? ": " : "",
				why);
		}
		if (lines_feed(&s->in, bytes, (size_t)n, err) != 0)
			return -1;
		while (status == 0 && lines_next(&s->in, &line, &len)) {
			struct msg m;

			if (protocol_parse(line, len, &m, err) != 0)
				return err_context(err, "the worker sent no valid message");
			status = take(s, &m, err);
			msg_fini(&m);
		}
	}
	return status < 0 ? -1 : 0;
}

int session_run(const struct session_request *request, struct outcome *out, struct fw_err *err)
{
	struct session s = {
		.request = request, .out = out, .fd = -1, .errors_fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
	};
	char program[PATH_MAX], device[80];
	const char *argv[12] = { program, "serve" };
	int pair[2] = { -1, -1 }, n = 2, result = -1;

	progress_begin(request->progress, "%s: starting a worker", request->label);
	lines_init(&s.in, PROTOCOL_LINE_MAX);
	if (request->device) {
		snprintf(device, sizeof device, "%s", request->device);
		argv[n++] = "--device";
		argv[n++] = device;
	}
	if (request->builds_only)
		argv[n++] = "--build-only";
	if (request->read_only) {
		argv[n++] = "--read-only";
		argv[n++] = request->read_only;
	}
	if (s.errors_fd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
		err_sys(err, "a line to the worker");
	} else if (proc_sibling("flopwatch-worker", program, sizeof program, err) == 0) {
		struct proc_spec spec = { .argv = argv,
			.env = (const char *const *)environ,
			.fd = { { pair[1], 0 }, { pair[1], 1 }, { s.errors_fd, 2 } },
			.n_fd = 3 };

		result = proc_spawn(&spec, &s.worker, err);
	}
	if (pair[1] >= 0)
		close(pair[1]);
	s.fd = pair[0];
	if (result == 0) {
		result = converse(&s, err);
		shutdown(s.fd, SHUT_RDWR); /* the worker cleans up and exits */
		struct proc_exit how;

		for (int waited = 0; waited < 500 && !proc_reap(&s.worker, &how); waited++)
			usleep(10000);
		proc_end(&s.worker);
	}
	progress_clear(request->progress);
	if (s.fd >= 0)
		close(s.fd);
	if (s.errors_fd >= 0)
		close(s.errors_fd);
	lines_fini(&s.in);
	return result;
}
