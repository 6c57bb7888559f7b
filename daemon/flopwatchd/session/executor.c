/* executor.c - the lifecycle of a submission. */
#include "flopwatchd/session/internal.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

enum { KILL_AFTER_MS = 5000, STOP_MS = 5000 };

static struct slurm *get_slurm(const struct executor *e)
{
	return e->all->slurm[e->worker - e->all->config->worker];
}

static struct pods *get_pods(const struct executor *e)
{
	return e->all->pods[e->worker - e->all->config->worker];
}

/* A random number that is stored once in the state folder; the name of the host if it cannot be stored. */
static void read_instance(const char *state_dir, char out[64])
{
	char path[600];
	unsigned char random[16];
	struct buf text;
	snprintf(path, sizeof path, "%s/instance", state_dir);
	buf_init(&text, 64);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && buf_read_fd(&text, fd) == 0 && text.len == 0 &&
		getrandom(random, sizeof random, GRND_NONBLOCK) == sizeof random) {
		char hex[2 * sizeof random + 1];
		hash_to_hex(random, sizeof random, hex);
		buf_puts(&text, hex);
		if (write(fd, text.data, text.len) != (ssize_t)text.len)
			buf_clear(&text);
	}
	if (fd >= 0)
		close(fd);
	gethostname(out, 63);
	if (text.len == 2 * sizeof random)
		snprintf(out, 64, "%s", text.data);
	buf_fini(&text);
}

void executors_hash(const struct executors *x, const struct config_worker *w, char sum[HASH_HEX])
{
	struct hash_state h;
	char host[64] = "";
	read_instance(x->config->state_dir, host);
	hash_begin(&h);
	hash_update(&h, host, strlen(host) + 1);
	hash_update(&h, x->config->state_dir, strlen(x->config->state_dir) + 1);
	hash_update(&h, w->name, strlen(w->name) + 1);
	hash_end(&h, sum);
}

static void free_executor(struct executor *e)
{
	struct loop *l = e->all->loop;
	child_cancel(e->creating);
	child_cancel(e->asking);
	connect_close(&e->line);
	if (get_pods(e))
		pods_search(get_pods(e)); /* deletes its pod */
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
				e->hooks->line_received(e->arg, line);
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
	loop_remove(e->all->loop, e->timer);
	e->timer = NULL;
	read_errors(e); /* its last lines */
	if (e->lost[0])
		executor_report_line(e, e->lost);
	if (how->status != 0)
		proc_describe(how, text);
	snprintf(e->exited, sizeof e->exited, "%s", text);
	if (get_slurm(e) && text[0])
		slurm_search(get_slurm(e)); /* its allocation may still exist */
	struct fw_err unknown = { 0 };
	if (e->hooks && get_pods(e) && text[0] && pods_query_reason(get_pods(e), e, &unknown) == 0)
		return;
	executor_report_end(e);
}

void executor_report_line(struct executor *e, const char *text)
{
	char line[400];
	snprintf(line, sizeof line, "%s", text);
	if (e->hooks)
		e->hooks->line_received(e->arg, line);
}

void executor_report_end(struct executor *e)
{
	if (e->hooks)
		e->hooks->ended(e->arg, e->exited);
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

/* A worker reported it. For srun a comma or a bracket means several nodes, and a path a file with their names. */
static bool is_node_name(const char *node)
{
	for (const char *c = node; *c; c++)
		if (!isalnum((unsigned char)*c) && (c == node || !strchr("._-", *c)))
			return false;
	return true;
}

int executor_submit(struct executors *x, const struct config_worker *w, const char *node, const struct executor_hooks *hooks,
	void *arg, struct executor **out, struct fw_err *err)
{
	struct connection to;
	if (!is_node_name(node))
		return err_set(err, ERR_INVALID, "worker %s: its device was last seen on %s, which is not the name of a node",
			w->name, node);
	struct executor *e = mem_alloc_zero(1, sizeof *e);
	*e = (struct executor){ .all = x, .worker = w, .fd = -1, .errors_fd = -1, .line = { -1, -1 } };
	if (get_slurm(e))
		slurm_name(get_slurm(e), ++x->n_submitted, e->name);
	if (get_pods(e))
		pods_name(get_pods(e), ++x->n_submitted, e->name);
	const struct connect_as as = { .name = e->name, .node = node };
	if ((get_pods(e) ? connect_open(w, &to, &e->line, err) : connect_worker(x->config, w, &as, &to, err)) != 0) {
		free(e);
		return -1;
	}
	e->fd = to.fd;
	e->errors_fd = to.errors_fd;
	e->process = to.child;
	e->next = x->first;
	x->first = e;
	if ((to.child.pid > 0 && loop_child(x->loop, to.child, 0, on_process_exit, e, &e->child, err) != 0) ||
		(get_pods(e) && pods_create(get_pods(e), e, node, err) != 0)) {
		free_executor(e);
		return -1;
	}
	if ((e->errors_fd >= 0 && loop_watch(x->loop, e->errors_fd, EPOLLIN, on_errors, e, &e->errors, err) != 0) ||
		(get_slurm(e) && loop_watch(x->loop, e->fd, EPOLLIN, on_first_output, e, &e->waits, err) != 0)) {
		executor_end(e);
		return -1;
	}
	e->hooks = hooks;
	e->arg = arg;
	*out = e;
	if (get_slurm(e))
		slurm_poll(get_slurm(e));
	else if (!get_pods(e))
		begin_running(e);
	return 0;
}

void executor_start(struct executor *e)
{
	struct fw_err err = { 0 };
	const struct connect_as as = { .name = e->name, .node = "" };
	int result = connect_start(e->all->config, e->worker, &as, &e->line, &e->process, &err);
	if (result == 0)
		result = loop_child(e->all->loop, e->process, 0, on_process_exit, e, &e->child, &err);
	if (result != 0) {
		executor_end_lost(e, err.text);
		return;
	}
	connect_close(&e->line);
	begin_running(e);
}

bool executor_is_process(const struct executor *e)
{
	return e->child != NULL || get_pods(e); /* a process will run in the pod */
}

static void kill_child(void *arg)
{
	struct executor *e = arg;
	e->timer = NULL;
	log_warning("worker.kill", "worker=%s err=\"did not exit after SIGTERM\"", e->worker->name);
	proc_signal(&e->process, SIGKILL);
}

void executor_end_lost(struct executor *e, const char *why)
{
	if (e->timer) /* it is ending */
		return;
	if (!e->child) { /* no process was started in its pod */
		executor_report_line(e, why);
		connect_close(&e->line);
		executor_report_end(e);
		begin_running(e);
		return;
	}
	snprintf(e->lost, sizeof e->lost, "%s", why);
	proc_signal(&e->process, SIGTERM);
	loop_after(e->all->loop, KILL_AFTER_MS, kill_child, e, &e->timer);
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
	if (e->timer)
		return;
	proc_signal(&e->process, SIGTERM);
	loop_after(e->all->loop, KILL_AFTER_MS, kill_child, e, &e->timer);
}

bool executor_waits(const struct executor *e, const struct config_worker *w)
{
	return e->worker == w && e->hooks && !e->runs;
}

bool executors_have_waiting(const struct executors *x, const struct config_worker *w)
{
	for (const struct executor *e = x->first; e; e = e->next)
		if (executor_waits(e, w))
			return true;
	return false;
}

struct executor *executors_find(const struct executors *x, const char *name)
{
	for (struct executor *e = x->first; e; e = e->next)
		if (!strcmp(e->name, name))
			return e;
	return NULL;
}

void executors_report(const struct executors *x, const struct config_worker *w, const char *reason)
{
	const struct executor_wait wait = { .id = "", .reason = reason };
	for (const struct executor *e = x->first; e; e = e->next)
		if (executor_waits(e, w))
			e->hooks->pending(e->arg, &wait);
}

int64_t executors_pause_ms(int64_t first_ms, int n_failed, int64_t most_ms)
{
	for (; n_failed > 1 && first_ms < most_ms; n_failed--)
		first_ms *= 2;
	return first_ms < most_ms ? first_ms : most_ms;
}

struct executors *executors_new(struct loop *l, const struct config *c)
{
	struct executors *x = mem_alloc_zero(1, sizeof *x);
	x->loop = l;
	x->config = c;
	for (int i = 0; i < c->n_workers; i++)
		if (config_worker_is_slurm(&c->worker[i]))
			slurm_new(x, &c->worker[i], &x->slurm[i]);
		else if (config_worker_is_kubernetes(&c->worker[i]))
			pods_new(x, &c->worker[i], &x->pods[i]);
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
	for (int i = 0; i < x->config->n_workers; i++) {
		slurm_free(x->slurm[i]);
		if (x->pods[i] && x->n_submitted)
			pods_delete_all(x->pods[i]);
		pods_free(x->pods[i]);
	}
	free(x);
}
