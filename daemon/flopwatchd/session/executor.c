/* executor.c - the lifecycle of a submission. */
#include "flopwatchd/session/internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { KILL_AFTER_MS = 5000, STOP_MS = 5000 };

static struct slurm *get_slurm(const struct executor *e)
{
	return e->all->slurm[e->worker - e->all->config->worker];
}

static void free_executor(struct executor *e)
{
	struct loop *l = e->all->loop;
	loop_remove(l, e->waits);
	loop_remove(l, e->errors);
	loop_remove(l, e->timer);
	if (e->fd >= 0)
		close(e->fd);
	if (e->errors_fd >= 0)
		close(e->errors_fd);
	for (struct executor **at = &e->all->first; *at; at = &(*at)->next)
		if (*at == e) {
			*at = e->next;
			break;
		}
	free(e);
}

static void read_errors(struct executor *e)
{
	char text[4096];
	ssize_t n;
	while (e->errors && ((n = read(e->errors_fd, text, sizeof text - 1)) > 0 || errno != EAGAIN)) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			loop_remove(e->all->loop, e->errors);
			e->errors = NULL;
			return;
		}
		text[n] = 0;
		char *rest = text, *line;
		while ((line = strsep(&rest, "\n")))
			if (*line && e->hooks)
				e->hooks->said(e->arg, line);
	}
}

static void on_errors(void *arg, uint32_t events)
{
	(void)events;
	read_errors(arg);
}

static void on_process_exit(void *arg, const struct proc_exit *how)
{
	struct executor *e = arg;
	char text[64] = "";
	e->child = NULL;
	read_errors(e); /* its last lines */
	if (how->status != 0)
		proc_describe(how, text);
	if (e->name[0] && text[0])
		slurm_search(get_slurm(e)); /* its allocation may still exist */
	if (e->hooks)
		e->hooks->ended(e->arg, text);
	else
		free_executor(e);
}

static void begin_running(struct executor *e)
{
	loop_remove(e->all->loop, e->waits);
	e->waits = NULL;
	e->runs = true;
	if (e->hooks)
		e->hooks->running(e->arg, e->fd);
}

/* Called for the first byte, or the end, of the worker's output. */
static void on_first_output(void *arg, uint32_t events)
{
	(void)events;
	begin_running(arg);
}

int executor_submit(struct executors *x, const struct config_worker *w, const char *node, const struct executor_hooks *hooks,
	void *arg, struct executor **out, struct fw_err *err)
{
	struct connection line;
	struct executor *e = mem_alloc_zero(1, sizeof *e);
	*e = (struct executor){ .all = x, .worker = w, .fd = -1, .errors_fd = -1 };
	if (config_worker_is_slurm(w))
		slurm_name(get_slurm(e), ++x->n_submitted, e->name);
	const struct connect_as as = { .name = e->name, .node = node };
	if (connect_worker(x->config, w, &as, &line, err) != 0) {
		free(e);
		return -1;
	}
	e->fd = line.fd;
	e->errors_fd = line.errors_fd;
	e->process = line.child;
	e->next = x->first;
	x->first = e;
	if (line.child.pid > 0 && loop_child(x->loop, line.child, 0, on_process_exit, e, &e->child, err) != 0) {
		free_executor(e);
		return -1;
	}
	if ((e->errors_fd >= 0 && loop_watch(x->loop, e->errors_fd, EPOLLIN, on_errors, e, &e->errors, err) != 0) ||
		(e->name[0] && loop_watch(x->loop, e->fd, EPOLLIN, on_first_output, e, &e->waits, err) != 0)) {
		executor_end(e);
		return -1;
	}
	e->hooks = hooks;
	e->arg = arg;
	*out = e;
	if (e->name[0])
		slurm_look(get_slurm(e));
	else
		begin_running(e);
	return 0;
}

bool executor_is_process(const struct executor *e)
{
	return e->child != NULL;
}

static void kill_child(void *arg)
{
	struct executor *e = arg;
	e->timer = NULL;
	log_warning("worker.kill", "worker=%s err=\"did not exit after SIGTERM\"", e->worker->name);
	proc_signal(&e->process, SIGKILL);
}

void executor_end(struct executor *e)
{
	if (!e)
		return;
	e->hooks = NULL;
	if (!e->child) {
		free_executor(e);
		return;
	}
	loop_remove(e->all->loop, e->waits);
	e->waits = NULL;
	close(e->fd);
	e->fd = -1;
	proc_signal(&e->process, SIGTERM);
	loop_after(e->all->loop, KILL_AFTER_MS, kill_child, e, &e->timer);
}

struct executors *executors_new(struct loop *l, const struct config *c)
{
	struct executors *x = mem_alloc_zero(1, sizeof *x);
	x->loop = l;
	x->config = c;
	for (int i = 0; i < c->n_workers; i++)
		if (config_worker_is_slurm(&c->worker[i]))
			slurm_new(x, &c->worker[i], &x->slurm[i]);
	return x;
}

/* The loop no longer runs: wait here for all children together. */
static void end_all(struct executors *x)
{
	int64_t until_ns = clock_mono_ns() + STOP_MS * INT64_C(1000000);
	for (struct executor *e = x->first; e; e = e->next)
		if (e->child)
			proc_signal(&e->process, SIGTERM);
	for (struct executor *e = x->first; e; e = e->next) {
		int64_t left_ms = (until_ns - clock_mono_ns()) / 1000000;
		struct pollfd end = { .fd = e->process.pidfd, .events = POLLIN };
		if (e->child && poll(&end, 1, left_ms > 0 ? (int)left_ms : 0) == 0)
			proc_signal(&e->process, SIGKILL);
	}
}

void executors_free(struct executors *x)
{
	if (!x)
		return;
	end_all(x);
	for (struct executor *e = x->first, *next; e; e = next) {
		next = e->next;
		loop_remove(x->loop, e->child);
		free_executor(e);
	}
	for (int i = 0; i < x->config->n_workers; i++)
		slurm_free(x->slurm[i]);
	free(x);
}
