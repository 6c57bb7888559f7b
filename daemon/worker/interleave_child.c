/* interleave_child.c - process, socket and accounting of one interleaved program. */
#include "worker/internal.h"

#include <ctype.h>
#include <dirent.h>
#include <sys/socket.h>
#include <time.h>

enum {
	DRAIN_READS = 256,
	END_MS = 3000,
	CHECK_INTERVAL_MS = 100,
	LIST_INTERVAL_MS = 1000 /* of lists that read all processes of the machine, which takes milliseconds */,
	STARTED_MAX = 256 /* processes and threads after a list, with which all are read again */,
	STARTING = 64 /* that may have had a number, but no file in /proc, when a list was made */
};

/* Record a failure, unless there is one already. */
static void blame(struct interleave_child *c, const char *failure, const char *what)
{
	if (!c->problem.failure[0])
		program_blame(&c->problem, &c->words, failure, what);
}

static void answer(struct interleave_child *c, struct buf *text)
{
	c->since_ns = clock_mono_ns();
	/* the program waits, so the buffer has space; if the program has exited, the next poll reports it */
	if (c->lines_fd >= 0 && send(c->lines_fd, text->data, text->len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EAGAIN)
		blame(c, "protocol", "does not read the answer that it requested");
	buf_fini(text);
}

static void request_run(struct interleave_child *c)
{
	struct buf text;

	buf_init(&text, 64);
	interleave_write_fork(&text);
	interleave_request_run(&c->protocol);
	answer(c, &text);
}

/* Continue with the parent's process, which forks this run. */
static void take_parent(struct interleave_child *c)
{
	struct interleave_parent *p = c->parent;

	c->proc = p->proc;
	c->lines_fd = p->lines_fd;
	c->out_fd = p->out_fd;
	c->err_fd = p->err_fd;
	c->n_parent_pids = p->n_pids;
	memcpy(c->parent_pid, p->pid, sizeof c->parent_pid);
	*p = (struct interleave_parent){ .n_pids = 0 };
	request_run(c);
}

static void leave_parent(struct interleave_child *c)
{
	struct interleave_parent *p = c->parent;

	*p = (struct interleave_parent){ .proc = c->proc,
		.lines_fd = c->lines_fd,
		.out_fd = c->out_fd,
		.err_fd = c->err_fd,
		.is_busy = !c->has_ended,
		.n_pids = c->n_parent_pids };
	memcpy(p->pid, c->parent_pid, sizeof p->pid);
	c->proc = (struct proc){ .pid = 0, .pidfd = -1 };
	c->lines_fd = c->out_fd = c->err_fd = -1;
}

static int start_process(struct interleave_child *c, const struct bench *b, const struct build_context *build, const int *theirs,
	struct fw_err *err)
{
	struct program *program = mem_alloc(sizeof *program);
	struct fw_err e = { 0 };
	enum program_use use = !c->on_line ? PROGRAM_WHOLE : c->parent ? PROGRAM_FORKED : PROGRAM_INTERLEAVED;
	int result = program_prepare(program, b, build, c->side, use, err);

	if (result == 0) {
		program->spec.fd[0] = (struct proc_fd){ theirs[1], 1 };
		program->spec.fd[1] = (struct proc_fd){ theirs[2], 2 };
		program->spec.fd[2] = (struct proc_fd){ theirs[0], PROGRAM_INTERLEAVE_FD };
		program->spec.n_fd = c->on_line ? 3 : 2;
		result = proc_spawn(&program->spec, &c->proc, &e);
		if (result != 0 && e.code == ERR_NOT_FOUND && !build->sandbox->active) {
			blame(c, "abi", e.text);
			result = 0;
		} else if (result != 0) {
			err_set(err, e.code, "%s", e.text);
		}
	}
	free(program);
	return result;
}

int interleave_child_start(struct interleave_child *c, const struct bench *b, const struct build_context *build,
	const struct msg_side *s, struct fw_err *err)
{
	int talk[2] = { -1, -1 }, out[2] = { -1, -1 }, errors[2] = { -1, -1 }, result = -1;

	*c = (struct interleave_child){ .side = s,
		.is_list = c->is_list,
		.lines_fd = -1,
		.out_fd = -1,
		.err_fd = -1,
		.on_line = c->on_line,
		.arg = c->arg,
		.parent = c->parent,
		.printed = c->printed };
	c->proc.pidfd = -1;
	c->since_ns = clock_mono_ns();
	c->threads_max = sandbox_threads_of_side(build->sandbox);
	lines_init(&c->lines, INTERLEAVE_LINE_MAX);
	if (c->parent && c->parent->proc.pid > 0) {
		c->runs = true;
		take_parent(c);
		return 0;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talk) < 0 || pipe2(out, O_CLOEXEC) < 0 ||
		pipe2(errors, O_CLOEXEC) < 0)
		err_sys(err, "cannot write to the benchmark of the %s", role_name(s->role));
	else
		result = start_process(c, b, build, (int[]){ talk[1], out[1], errors[1] }, err);
	fd_close(&talk[1]);
	fd_close(&out[1]);
	fd_close(&errors[1]);
	c->lines_fd = talk[0];
	c->out_fd = out[0];
	c->err_fd = errors[0];
	if (result != 0) {
		interleave_child_end(c);
		return -1;
	}
	fcntl(c->lines_fd, F_SETFL, O_NONBLOCK);
	fcntl(c->out_fd, F_SETFL, O_NONBLOCK);
	fcntl(c->err_fd, F_SETFL, O_NONBLOCK);
	c->runs = c->proc.pid > 0;
	return 0;
}

void interleave_child_end(struct interleave_child *c)
{
	if (c->proc.pid > 0 && c->parent && c->protocol.is_forked && !c->problem.failure[0])
		leave_parent(c);
	else
		proc_end(&c->proc);
	c->runs = false;
	fd_close(&c->lines_fd);
	fd_close(&c->out_fd);
	fd_close(&c->err_fd);
	lines_fini(&c->lines);
}

void interleave_child_poll(const struct interleave_child *c, struct pollfd *fd)
{
	fd[0] = (struct pollfd){ .fd = c->runs ? c->lines_fd : -1, .events = POLLIN };
	fd[1] = (struct pollfd){ .fd = c->runs ? c->out_fd : -1, .events = POLLIN };
	fd[2] = (struct pollfd){ .fd = c->runs ? c->err_fd : -1, .events = POLLIN };
	fd[3] = (struct pollfd){ .fd = c->runs ? c->proc.pidfd : -1, .events = POLLIN };
}

static void hello(struct interleave_child *c)
{
	struct buf text;

	buf_init(&text, 64);
	interleave_write_welcome(&text, c->is_list);
	answer(c, &text);
}

static void take_output(struct interleave_child *c, int *fd, struct buf *printed)
{
	char chunk[16384];
	ssize_t n = read(*fd, chunk, sizeof chunk);

	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			fd_close(fd);
	} else if (!printed) {
		output_tail_add(&c->words, chunk, (size_t)n);
	} else {
		buf_append(printed, chunk, (size_t)n);
		buf_require_memory(printed); /* which is not the program's fault */
		if (printed->failed) {
			snprintf(chunk, sizeof chunk, "printed more than %d MiB", READING_BYTES_MAX >> 20);
			blame(c, "abi", chunk);
		}
	}
}

/* Handle the lines about the start and the end of a run. Returns 1 if it was one, 0 if not, -1 on a violation. */
static int take_start(struct interleave_child *c, const struct interleave_line *line, struct fw_err *err)
{
	switch (line->type) {
	case INTERLEAVE_HELLO:
		hello(c);
		return 0;
	case INTERLEAVE_PARENT:
		if (!c->parent)
			return err_set(err, ERR_PROTOCOL, "offers to fork its runs, which the worker did not request");
		c->n_parent_pids = procs_below(c->proc.pid, c->parent_pid, INTERLEAVE_PARENT_PIDS);
		request_run(c);
		return 1;
	case INTERLEAVE_FRESH:
		snprintf(c->why_fresh, sizeof c->why_fresh, "%s", line->text);
		return 1;
	case INTERLEAVE_ENDED:
		c->has_ended = true;
		c->how = (struct proc_exit){ .status = line->status, .signal = line->signal };
		return 1;
	default:
		return 0;
	}
}

static void take_lines(struct interleave_child *c)
{
	struct fw_err err = { 0 };
	struct interleave_line line;
	char chunk[16384], *text;
	ssize_t n = read(c->lines_fd, chunk, sizeof chunk);
	size_t len;
	int status;

	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			fd_close(&c->lines_fd);
		return;
	}
	status = lines_feed(&c->lines, chunk, (size_t)n, &err);
	while (status == 0 && !c->has_ended && lines_next(&c->lines, &text, &len)) {
		status = interleave_parse(text, len, &line, &err) != 0 || interleave_receive(&c->protocol, &line, &err) != 0
				 ? -1
				 : take_start(c, &line, &err);
		if (status == 0)
			status = c->on_line(c->arg, c, &line, &err);
		status = status < 0 ? -1 : 0;
	}
	if (status < 0)
		blame(c, "protocol", err.text);
}

/* After the program's end, read only the data that is already in its pipes. */
static void drain(struct interleave_child *c)
{
	for (int i = 0; i < DRAIN_READS && c->out_fd >= 0 && !c->problem.failure[0]; i++)
		take_output(c, &c->out_fd, c->printed);
	for (int i = 0; i < DRAIN_READS && c->err_fd >= 0; i++)
		take_output(c, &c->err_fd, NULL);
	for (int i = 0; i < DRAIN_READS && c->lines_fd >= 0 && !c->has_ended && !c->problem.failure[0]; i++)
		take_lines(c);
}

static int note_end(struct interleave_child *c, struct proc_exit how, const struct build_context *build, struct fw_err *err)
{
	struct command_failure end;
	int result;

	c->runs = false;
	drain(c);
	result = program_end(build, c->side, &how, &c->words, &end, err);
	if (result == 0 && !c->problem.failure[0])
		c->problem = end;
	else if (result == 1 && c->protocol.state != INTERLEAVE_GONE && !c->is_list)
		blame(c, "crash", "ended without a `bye`");
	return result < 0 ? -1 : 0;
}

int interleave_child_attend(struct interleave_child *c, const struct pollfd *fd, const struct bench *b,
	const struct build_context *build, struct fw_err *err)
{
	struct proc_exit how;

	(void)b;
	if (!c->runs)
		return 0;
	if (fd[1].revents && c->out_fd >= 0 && !c->problem.failure[0])
		take_output(c, &c->out_fd, c->printed);
	if (fd[2].revents && c->err_fd >= 0)
		take_output(c, &c->err_fd, NULL);
	if (fd[0].revents && c->lines_fd >= 0 && !c->problem.failure[0])
		take_lines(c);
	if (c->has_ended)
		return note_end(c, c->how, build, err);
	if (fd[3].revents && proc_reap(&c->proc, &how))
		return note_end(c, sandbox_exit(build->sandbox, &how), build, err);
	return 0;
}

void interleave_child_go(struct interleave_child *c, const struct interleave_go *go)
{
	struct buf text;

	buf_init(&text, 64);
	interleave_write_go(&text, go);
	interleave_grant_turn(&c->protocol, go->calls);
	answer(c, &text);
}

void interleave_child_next(struct interleave_child *c)
{
	struct buf text;

	buf_init(&text, 64);
	interleave_write_next(&text);
	interleave_end_cell(&c->protocol);
	answer(c, &text);
}

void interleave_child_late(struct interleave_child *c, const char *what, double limit_s)
{
	char text[256];

	drain(c);
	snprintf(text, sizeof text, "did not %.100s within %.6g s%s", what, limit_s,
		strcmp(what, "end") == 0 ? program_timeout_remedy : "");
	blame(c, "timeout", text);
}

void interleave_child_watch(struct interleave_child *c, const struct build_context *build)
{
	int64_t now = clock_mono_ns();
	char text[256];

	if (!c->runs || c->problem.failure[0] || now < c->next_check_ns)
		return;
	c->next_check_ns = now + CHECK_INTERVAL_MS * 1000000LL;
	if (program_fills_disk(build, c->side, text))
		blame(c, "crash", text);
	else
		interleave_child_count(c);
}

void interleave_child_count(struct interleave_child *c)
{
	long newest = procs_newest(); /* read before listing, which may miss a process that starts meanwhile */

	if (c->runs && c->n_pids > 0 && newest >= 0 && newest == c->newest)
		return;
	long threads = 0, after = c->newest - STARTING;
	char text[128];
	int64_t now = clock_mono_ns();

	if (!c->runs)
		c->n_pids = 0;
	else if (c->n_pids == 0 || c->n_pids == INTERLEAVE_CHILD_PIDS || now >= c->next_list_ns || after < 0 ||
		 newest < c->newest || newest > c->newest + STARTED_MAX) {
		c->n_pids = procs_list(c->proc.pid, c->pid, INTERLEAVE_CHILD_PIDS, &threads);
		c->next_list_ns = now + LIST_INTERVAL_MS * 1000000LL;
	} else {
		c->n_pids = procs_list_started(after, newest, c->pid, c->n_pids, INTERLEAVE_CHILD_PIDS, &threads);
	}
	c->newest = newest;
	if (c->threads_max == 0 || threads <= c->threads_max || c->problem.failure[0])
		return;
	c->has_crowded = true;
	snprintf(text, sizeof text, "ran %ld processes and threads, more than half of what both sides may have (%ld)", threads,
		c->threads_max);
	blame(c, "crash", text);
}

/* Count the threads of a process; call `each` for every thread unless it is NULL. */
static int threads_of(pid_t pid, void (*each)(pid_t thread, void *arg), void *arg)
{
	char path[64];
	struct dirent *entry;
	int n = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0])) {
			n++;
			if (each)
				each((pid_t)strtol(entry->d_name, NULL, 10), arg);
		}
	if (dir)
		closedir(dir);
	return n;
}

bool interleave_child_is_single(const struct interleave_child *c)
{
	for (int i = 0; i < c->n_pids; i++)
		if (threads_of(c->pid[i], NULL, NULL) > 1)
			return false;
	return true;
}

static void pin(pid_t thread, void *cores)
{
	(void)sched_setaffinity(thread, sizeof(cpu_set_t), (const cpu_set_t *)cores);
}

void interleave_child_pin(const struct interleave_child *c, const cpu_set_t *cores)
{
	cpu_set_t set = *cores;

	/* later runs inherit the cores of their parent */
	for (int i = 0; i < c->n_pids; i++)
		if (!procs_contain(c->parent_pid, c->n_parent_pids, c->pid[i]))
			(void)threads_of(c->pid[i], pin, &set);
}

/* Return the processor time of a process in s; below 0: it has ended. */
static double cpu_s_of(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
		return -1;
	return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

void interleave_child_snapshot(struct interleave_child *c)
{
	interleave_child_count(c);
	for (int i = 0; i < c->n_pids; i++)
		c->cpu_s[i] = cpu_s_of(c->pid[i]);
}

double interleave_child_background_s(struct interleave_child *c, double idle_s)
{
	pid_t was[INTERLEAVE_CHILD_PIDS];
	int n_was = c->n_pids;
	double s = 0;

	memcpy(was, c->pid, sizeof was);
	for (int i = 0; i < n_was; i++) {
		double now_s = cpu_s_of(was[i]);

		if (c->cpu_s[i] >= 0)
			s += now_s < 0 ? idle_s : now_s - c->cpu_s[i];
	}
	interleave_child_count(c);
	for (int i = 0; i < c->n_pids; i++)
		if (!procs_contain(was, n_was, c->pid[i]))
			s += idle_s;
	return c->n_pids < INTERLEAVE_CHILD_PIDS ? s : s + idle_s; /* there may be more */
}

static void add_queued(pid_t thread, void *sum_s)
{
	unsigned long long ran_ns, queued_ns;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/schedstat", (int)thread);
	FILE *f = fopen(path, "re");

	if (!f)
		return;
	if (fscanf(f, "%llu %llu", &ran_ns, &queued_ns) == 2)
		*(double *)sum_s += (double)queued_ns * 1e-9;
	fclose(f);
}

double interleave_child_queued_s(const struct interleave_child *c)
{
	double s = 0;

	for (int i = 0; i < c->n_pids; i++)
		(void)threads_of(c->pid[i], add_queued, &s);
	return s;
}

/* Read the lines of a parent's child, which has ended, until the parent reports that end. */
static bool await_end(const struct interleave_parent *p)
{
	int64_t deadline = clock_mono_ns() + END_MS * 1000000LL;
	struct lines lines;
	bool is_over = false, is_broken = false;

	lines_init(&lines, INTERLEAVE_LINE_MAX);
	while (!is_over && !is_broken && clock_mono_ns() < deadline) {
		struct pollfd fd = { .fd = p->lines_fd, .events = POLLIN };
		struct fw_err ignored = { 0 };
		char chunk[4096], *text;
		size_t len;
		ssize_t n = poll(&fd, 1, END_MS) > 0 ? read(p->lines_fd, chunk, sizeof chunk) : 0;

		is_broken = n <= 0 || lines_feed(&lines, chunk, (size_t)n, &ignored) != 0;
		while (!is_broken && !is_over && lines_next(&lines, &text, &len))
			is_over = len > 6 && memcmp(text, "ended ", 6) == 0;
	}
	lines_fini(&lines);
	return is_over;
}

/* Return whether the processes of a waiting parent are exactly those that it had when it was ready. */
static bool is_whole(const struct interleave_parent *p)
{
	pid_t now[INTERLEAVE_PARENT_PIDS + 1];
	int n = procs_below(p->proc.pid, now, INTERLEAVE_PARENT_PIDS + 1);

	for (int i = 0; i < n; i++)
		if (!procs_contain(p->pid, p->n_pids, now[i]))
			return false;
	return n == p->n_pids;
}

static void end_parent(struct interleave_parent *p)
{
	if (p->proc.pid <= 0)
		return;
	proc_end(&p->proc);
	fd_close(&p->lines_fd);
	fd_close(&p->out_fd);
	fd_close(&p->err_fd);
	*p = (struct interleave_parent){ .n_pids = 0 };
}

void interleave_parents_prune(struct interleave_parent *parent, int n)
{
	pid_t spared[PROCS_SPARED_MAX] = { 0 };
	int n_spared = 0;

	for (int i = 0; i < n; i++)
		for (int k = 0; parent[i].proc.pid > 0 && k < parent[i].n_pids && n_spared < PROCS_SPARED_MAX; k++)
			spared[n_spared++] = parent[i].pid[k];
	procs_spare(spared, n_spared);
	int left = procs_end_all();

	for (int i = 0; i < n; i++) {
		if (parent[i].proc.pid <= 0)
			continue;
		if (left > 0 || (parent[i].is_busy && !await_end(&parent[i])) || !is_whole(&parent[i]))
			end_parent(&parent[i]);
		else
			parent[i].is_busy = false;
	}
}

void interleave_parents_end(struct interleave_parent *parent, int n)
{
	for (int i = 0; i < n; i++)
		end_parent(&parent[i]);
	procs_spare(NULL, 0);
	(void)procs_end_all();
}
