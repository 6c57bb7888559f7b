/*
 * peer.c - the only reader of the daemon's lines, so that every wait of the worker handles cancellation, end of input and ping.
 */
#include "worker/sandbox/sandbox.h"

#include <signal.h>

enum {
	PING_S = 10,
	STALL_MS = 30000,     /* the daemon must read within this time */
	TICK_MS = 500,        /* longest poll */
	SAME_SIGNAL_MS = 100, /* within which all processes of an allocation receive their signals */
};

static volatile sig_atomic_t stopping; /* the received signal; 0: none */

static void on_stop(int signal)
{
	stopping = signal;
}

void peer_signals(void)
{
	struct sigaction stop = { .sa_handler = on_stop }, ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

/*
 * Make a pipe or socket non-blocking. A terminal or file may be shared, and would become non-blocking for other processes, too.
 */
static void unblock(int fd)
{
	struct stat st;
	int flags;

	if (fd >= 0 && fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))) {
		flags = fcntl(fd, F_GETFL);
		if (flags >= 0)
			fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	}
}

void peer_init(struct peer *p, int in, int out)
{
	memset(p, 0, sizeof *p);
	p->in = in;
	p->out = out;
	lines_init(&p->lines, PROTOCOL_LINE_MAX);
	buf_init(&p->sending, PROTOCOL_LINE_MAX + 2);
	unblock(in);
	unblock(out);
	p->next_ping_ns = clock_mono_ns() + PING_S * 1000000000LL;
}

void peer_fini(struct peer *p)
{
	lines_fini(&p->lines);
	buf_fini(&p->sending);
}

bool peer_take_preemption(struct peer *p)
{
	bool goes_on = p->stays && !stopping;

	if (goes_on)
		p->cancelled = p->stays = false;
	return goes_on;
}

static int cancel(struct peer *p, enum err_code code, const char *what, struct fw_err *err)
{
	if (!p->cancelled)
		err_set(&p->why, code, "%s", what);
	p->cancelled = true;
	return err_set(err, p->why.code, "%s", p->why.text);
}

/* Cancel after a failed write, with the cause in errno. */
static int cancel_unsent(struct peer *p, struct fw_err *err)
{
	bool is_closed = errno == EPIPE || errno == ECONNRESET;
	char what[100];

	snprintf(what, sizeof what, is_closed ? "the daemon closed the connection" : "write to the daemon: %m");
	return cancel(p, ERR_CANCELLED, what, err);
}

static int cancel_job(struct peer *p, const struct msg_cancel *m, struct fw_err *err)
{
	p->stays = m->stays && !p->cancelled;
	return cancel(p, ERR_CANCELLED, "cancelled by the daemon", err);
}

static int check_signal(struct peer *p, struct fw_err *err)
{
	if (p->cancelled)
		return err_set(err, p->why.code, "%s", p->why.text);
	return stopping ? cancel(p, ERR_CANCELLED, "stopped by a signal", err) : 0;
}

int peer_await_signal(struct peer *p, struct fw_err *err)
{
	if (!p->cancelled && !stopping)
		(void)poll(NULL, 0, SAME_SIGNAL_MS); /* a signal interrupts it */
	return check_signal(p, err);
}

int peer_send(struct peer *p, const struct msg *m, struct fw_err *err)
{
	int64_t deadline = clock_mono_ns() + STALL_MS * 1000000LL;
	size_t done = 0;

	if (p->out < 0)
		return 0;
	buf_clear(&p->sending);
	protocol_write(&p->sending, m);
	if (p->sending.failed)
		return err_set(err, ERR_INTERNAL, "a message is too long for a line of the protocol");
	while (done < p->sending.len) {
		struct pollfd fd = { .fd = p->out, .events = POLLOUT };
		ssize_t n;

		if (poll(&fd, 1, TICK_MS) > 0) {
			n = write(p->out, p->sending.data + done, p->sending.len - done);
			if (n < 0 && errno != EINTR && errno != EAGAIN)
				return cancel_unsent(p, err);
			done += n > 0 ? (size_t)n : 0;
		}
		if (stopping)
			return check_signal(p, err);
		if (clock_mono_ns() > deadline)
			return cancel(p, ERR_CANCELLED, "the daemon has not read for 30 s", err);
	}
	p->next_ping_ns = clock_mono_ns() + PING_S * 1000000000LL;
	return 0;
}

void peer_poll(const struct peer *p, struct pollfd *fd, int *wait_ms)
{
	*fd = (struct pollfd){ .fd = p->in, .events = POLLIN };
	/* a signal that arrives between check and poll does not interrupt it */
	if (*wait_ms < 0 || *wait_ms > TICK_MS)
		*wait_ms = TICK_MS;
}

/* Read once. Returns 1 with data, 0 without, -1 if the session ended. */
static int fill(struct peer *p, struct fw_err *err)
{
	struct fw_err wrong = { 0 };
	char chunk[65536];
	ssize_t n = read(p->in, chunk, sizeof chunk);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0)
		return cancel(p, ERR_CANCELLED, "the daemon ended the session", err);
	if (lines_feed(&p->lines, chunk, (size_t)n, &wrong) != 0)
		return cancel(p, ERR_PROTOCOL, wrong.text, err);
	return 1;
}

static int ping(struct peer *p, struct fw_err *err)
{
	static const struct msg m = { .t = MSG_PING };

	return p->out >= 0 && clock_mono_ns() >= p->next_ping_ns ? peer_send(p, &m, err) : 0;
}

int peer_attend(struct peer *p, const struct pollfd *fd, struct fw_err *err)
{
	struct fw_err wrong = { 0 };
	enum msg_type type;
	struct msg m;
	char *line;
	size_t len;

	if (check_signal(p, err) != 0)
		return -1;
	if (fd->revents && fill(p, err) < 0)
		return -1;
	while (p->in >= 0 && lines_next(&p->lines, &line, &len)) {
		if (len == 0)
			continue;
		if (protocol_parse(line, len, &m, &wrong) != 0)
			return cancel(p, ERR_PROTOCOL, wrong.text, err);
		type = m.t;
		if (type == MSG_CANCEL)
			return cancel_job(p, &m.u.cancel, err);
		msg_fini(&m);
		if (type != MSG_PING)
			return cancel(p, ERR_PROTOCOL, "the daemon sent an unexpected line", err);
	}
	return ping(p, err);
}

static int wait_more(struct peer *p, int64_t deadline_ns, struct fw_err *err)
{
	int got = 0;

	while (got == 0) {
		struct pollfd fd;
		int wait_ms = -1;

		if (check_signal(p, err) != 0 || ping(p, err) != 0)
			return -1;
		if (clock_mono_ns() >= deadline_ns)
			return err_set(err, ERR_TIMEOUT, "the daemon did not answer in time");
		peer_poll(p, &fd, &wait_ms);
		if (poll(&fd, 1, wait_ms) > 0)
			got = fill(p, err);
	}
	return got < 0 ? -1 : 0;
}

int peer_receive(struct peer *p, int64_t timeout_ms, struct msg *out, struct fw_err *err)
{
	int64_t deadline = clock_mono_ns() + timeout_ms * 1000000;
	struct fw_err wrong = { 0 };
	char *line;
	size_t len;

	for (;;) {
		if (!lines_next(&p->lines, &line, &len)) {
			if (wait_more(p, deadline, err) != 0)
				return -1;
			continue;
		}
		if (len == 0)
			continue;
		if (protocol_parse(line, len, out, &wrong) != 0)
			return cancel(p, ERR_PROTOCOL, wrong.text, err);
		if (out->t == MSG_PING)
			continue;
		if (out->t != MSG_CANCEL)
			return 0;
		return cancel_job(p, &out->u.cancel, err);
	}
}

int peer_payload(struct peer *p, int64_t bytes, int64_t timeout_ms, int fd, struct fw_err *err)
{
	int64_t deadline = clock_mono_ns() + timeout_ms * 1000000;
	const char *data;

	lines_expect(&p->lines, (size_t)bytes);
	while (bytes > 0) {
		size_t n = lines_payload(&p->lines, &data);

		if (n == 0) {
			if (wait_more(p, deadline, err) != 0)
				return -1;
			continue;
		}
		if (fd_write(fd, data, n) != 0)
			return err_sys(err, "store a tree");
		bytes -= (int64_t)n;
	}
	return 0;
}
