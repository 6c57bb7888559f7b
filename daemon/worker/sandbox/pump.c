/* pump.c - event loop of the worker for one child: one poll() over a few descriptors. */
#include "worker/sandbox/sandbox.h"

#include <sys/resource.h>
#include <sys/socket.h>

enum { TICK_MS = 100, DRAIN_READS = 64 };

/* Read once. Err: -1 if the reader failed; then close the stream, because the reader would misread later data. */
static int read_stream(struct pump_stream *s, struct fw_err *err)
{
	char chunk[65536];
	ssize_t n = read(s->fd, chunk, sizeof chunk);
	int status = n > 0 ? s->read(s->arg, chunk, (size_t)n, err) : 0;

	if (status < 0 || n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		fd_close(&s->fd);
	return status;
}

/* After the child's end, read only a limited amount of data: a process that escaped could write for ever. */
static int drain(struct pump *p, struct fw_err *err)
{
	int status = 0, i, n;

	for (i = 0; i < p->n_streams; i++) {
		for (n = 0; n < DRAIN_READS && p->stream[i].fd >= 0 && status == 0; n++) {
			struct pollfd fd = { .fd = p->stream[i].fd, .events = POLLIN };

			if (poll(&fd, 1, 0) <= 0)
				break;
			status = read_stream(&p->stream[i], err);
		}
		fd_close(&p->stream[i].fd);
	}
	return status;
}

static int start(struct pump *p, const struct proc_spec *given, struct proc *child, struct fw_err *err)
{
	struct proc_spec spec = *given;
	int theirs[3] = { -1, -1, -1 };
	int result = 0, i;

	for (i = 0; i < p->n_streams; i++)
		p->stream[i].fd = -1;
	for (i = 0; i < p->n_streams && result == 0; i++) {
		int ends[2];

		if (p->stream[i].socket ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) : pipe2(ends, O_CLOEXEC)) {
			result = err_sys(err, p->stream[i].socket ? "socketpair" : "pipe");
			break;
		}
		p->stream[i].fd = ends[0];
		theirs[i] = ends[1];
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		spec.fd[spec.n_fd++] = (struct proc_fd){ ends[1], p->stream[i].child_fd };
		if (p->merge_stderr && p->stream[i].child_fd == 1)
			spec.fd[spec.n_fd++] = (struct proc_fd){ ends[1], 2 };
	}
	if (result == 0)
		result = proc_spawn(&spec, child, err);
	if (result == 0)
		p->pid = child->pid;
	/* a build that uses every core must not starve the worker; a failure is harmless */
	if (result == 0 && p->nice)
		setpriority(PRIO_PROCESS, (id_t)child->pid, p->nice);
	for (i = 0; i < p->n_streams; i++)
		fd_close(&theirs[i]);
	for (i = 0; i < p->n_streams && result != 0; i++)
		fd_close(&p->stream[i].fd);
	return result;
}

/* Wait for the child. Returns 1 if it has ended, 0 at its deadline, -1 if the caller must end it. */
static int attend(struct pump *p, struct proc *child, struct proc_exit *how, struct fw_err *err)
{
	int64_t deadline = clock_mono_ns() + p->deadline_ms * 1000000, next_tick = 0;
	int tick_ms = p->tick_ms ? p->tick_ms : TICK_MS;

	for (;;) {
		struct pollfd fd[5];
		int64_t now = clock_mono_ns();
		int wait_ms = tick_ms, i;

		if (now >= deadline)
			return 0;
		if (p->tick && now >= next_tick) {
			if (p->tick(p->tick_arg, err) < 0)
				return -1;
			next_tick = now + tick_ms * 1000000LL;
		}
		if ((deadline - now) / 1000000 < wait_ms)
			wait_ms = (int)((deadline - now) / 1000000) + 1;
		peer_poll(p->peer, &fd[0], &wait_ms);
		fd[1] = (struct pollfd){ .fd = child->pidfd, .events = POLLIN };
		for (i = 0; i < p->n_streams; i++)
			fd[2 + i] = (struct pollfd){ .fd = p->stream[i].fd, .events = POLLIN };
		if (poll(fd, (nfds_t)p->n_streams + 2, wait_ms) < 0)
			memset(fd, 0, sizeof fd);
		if (peer_attend(p->peer, &fd[0], err) != 0)
			return -1;
		for (i = 0; i < p->n_streams; i++)
			if (fd[2 + i].revents && read_stream(&p->stream[i], err) < 0)
				return -1;
		if (fd[1].revents && proc_reap(child, how))
			return 1;
	}
}

int pump_run(struct pump *p, const struct proc_spec *spec, struct proc_exit *how, struct fw_err *err)
{
	struct proc child;
	int end;

	*how = (struct proc_exit){ .status = -1 };
	if (start(p, spec, &child, err) != 0)
		return -1;
	end = attend(p, &child, how, err);
	if (end <= 0)
		proc_end(&child);
	procs_end_all();
	if (end == 0)
		*how = (struct proc_exit){ .status = -1, .signal = 9, .timed_out = true };
	if (drain(p, end < 0 ? NULL : err) < 0)
		end = -1;
	return end < 0 ? -1 : 0;
}

int pump_sleep(struct peer *peer, int ms, struct fw_err *err)
{
	int64_t until = clock_mono_ns() + ms * 1000000LL;
	int64_t now;

	while ((now = clock_mono_ns()) < until) {
		struct pollfd fd;
		int wait_ms = (int)((until - now) / 1000000) + 1;

		peer_poll(peer, &fd, &wait_ms);
		if (poll(&fd, 1, wait_ms) < 0)
			fd.revents = 0;
		if (peer_attend(peer, &fd, err) != 0)
			return -1;
	}
	return 0;
}
