/* clocks.c - one runner that samples the clock, and the mean of its samples. */
#include "worker/internal.h"

enum { BEGIN_MS = 60000, PAUSE_MS = 5 };

static void stop(struct clocks *c)
{
	struct proc_exit how;

	fd_close(&c->fd);
	if (!proc_reap(&c->runner, &how)) /* the runner may have ended with the processes of a benchmark program */
		proc_end(&c->runner);
}

static void take_line(struct clocks *c, const char *line, size_t len)
{
	struct fw_err why = { 0 };
	struct msg m;

	if (protocol_parse(line, len, &m, &why) != 0) {
		log_warning("clocks", "err=%s", log_quote(why.text));
		return;
	}
	if (m.t == MSG_STATE) {
		c->has_begun = true;
		if (m.u.state.device_check.sm_mhz > 0) {
			c->sum_mhz += m.u.state.device_check.sm_mhz;
			c->n++;
		}
	}
	msg_fini(&m);
}

int clocks_take(void *arg, struct fw_err *err)
{
	struct clocks *c = arg;
	char chunk[4096], *line;
	ssize_t n = 1;
	size_t len;

	(void)err;
	while (c->fd >= 0 && n > 0) {
		n = read(c->fd, chunk, sizeof chunk);
		if (n > 0 && lines_feed(&c->lines, chunk, (size_t)n, NULL) != 0)
			n = 0;
		while (n > 0 && lines_next(&c->lines, &line, &len))
			take_line(c, line, len);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			stop(c);
	}
	return 0;
}

int clocks_begin(struct clocks *c, struct bench *b, int process, struct fw_err *err)
{
	const struct runner_task task = { .mode = TASK_CLOCKS, .run = b->runs, .pass = process, .seed = b->seed };
	int64_t deadline = clock_mono_ns() + BEGIN_MS * 1000000LL;
	struct fw_err why = { 0 };

	*c = (struct clocks){ .runner = { .pidfd = -1 }, .fd = -1 };
	lines_init(&c->lines, PROTOCOL_LINE_MAX);
	if (!health_check_can_report(b))
		return 0;
	if (runner_child_start_concurrent(b, &task, &c->runner, &c->fd, &why) != 0)
		log_warning("clocks", "err=%s", log_quote(why.text));
	while (c->fd >= 0 && !c->has_begun) {
		(void)clocks_take(c, NULL);
		if (clock_mono_ns() > deadline)
			stop(c);
		if (!c->has_begun && pump_sleep(b->peer, PAUSE_MS, err) != 0) {
			clocks_end(c);
			return -1;
		}
	}
	return 0;
}

double clocks_end(struct clocks *c)
{
	(void)clocks_take(c, NULL);
	stop(c);
	lines_fini(&c->lines);
	return c->n > 0 ? c->sum_mhz / c->n : 0;
}
