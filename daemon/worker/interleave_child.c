/* interleave_child.c - process, socket and accounting of one interleaved program. */
#include "worker/internal.h"

#include <ctype.h>
#include <dirent.h>
#include <sys/socket.h>
#include <time.h>

/* Record a failure, unless there is one already. */
static void blame(struct interleave_child *c, const char *failure, const char *what)
{
	if (!c->problem.failure[0])
		program_blame(&c->problem, &c->words, failure, what);
}

int interleave_child_start(struct interleave_child *c, const struct bench *b, const struct build_context *build,
	const struct msg_subject *s, struct fw_err *err)
{
	struct program *program = mem_alloc(sizeof *program);
	int talk[2] = { -1, -1 }, words[2] = { -1, -1 }, result = -1;
	struct fw_err e = { 0 };

	*c = (struct interleave_child){ .subject = s, .lines_fd = -1, .words_fd = -1, .on_line = c->on_line, .arg = c->arg };
	c->proc.pidfd = -1;
	lines_init(&c->lines, INTERLEAVE_LINE_MAX);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talk) < 0 || pipe2(words, O_CLOEXEC) < 0) {
		err_sys(err, "cannot write to the benchmark of the %s", role_name(s->role));
	} else if (program_prepare(program, b, build, s, true, err) == 0) {
		program->spec.fd[0] = (struct proc_fd){ words[1], 1 };
		program->spec.fd[1] = (struct proc_fd){ words[1], 2 };
		program->spec.fd[2] = (struct proc_fd){ talk[1], PROGRAM_INTERLEAVE_FD };
		program->spec.n_fd = 3;
		result = proc_spawn(&program->spec, &c->proc, &e);
		if (result != 0)
			err_set(err, e.code, "%s", e.text);
	}
	free(program);
	fd_close(&talk[1]);
	fd_close(&words[1]);
	c->lines_fd = talk[0];
	c->words_fd = words[0];
	if (result != 0) {
		interleave_child_end(c);
		return -1;
	}
	fcntl(c->lines_fd, F_SETFL, O_NONBLOCK);
	fcntl(c->words_fd, F_SETFL, O_NONBLOCK);
	c->runs = true;
	c->since_ns = clock_mono_ns();
	return 0;
}

void interleave_child_end(struct interleave_child *c)
{
	if (c->runs)
		proc_end(&c->proc);
	c->runs = false;
	fd_close(&c->lines_fd);
	fd_close(&c->words_fd);
	lines_fini(&c->lines);
}

void interleave_child_poll(const struct interleave_child *c, struct pollfd *fd)
{
	fd[0] = (struct pollfd){ .fd = c->runs ? c->lines_fd : -1, .events = POLLIN };
	fd[1] = (struct pollfd){ .fd = c->runs ? c->words_fd : -1, .events = POLLIN };
	fd[2] = (struct pollfd){ .fd = c->runs ? c->proc.pidfd : -1, .events = POLLIN };
}

static void answer(struct interleave_child *c, struct buf *text)
{
	c->since_ns = clock_mono_ns();
	/* the program waits, so the buffer has space; if the program has exited, the next poll reports it */
	if (c->lines_fd >= 0 && send(c->lines_fd, text->data, text->len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EAGAIN)
		blame(c, "protocol", "does not read the answer that it requested");
	buf_fini(text);
}

static void hello(struct interleave_child *c)
{
	struct buf text;

	buf_init(&text, 64);
	interleave_write_welcome(&text, false);
	answer(c, &text);
}

static void take_output(struct interleave_child *c)
{
	char chunk[16384];
	ssize_t n = read(c->words_fd, chunk, sizeof chunk);

	if (n > 0)
		lastwords_keep(&c->words, chunk, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		fd_close(&c->words_fd);
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
	while (status == 0 && lines_next(&c->lines, &text, &len)) {
		status = interleave_parse(text, len, &line, &err) != 0 || interleave_receive(&c->side, &line, &err) != 0 ? -1 : 0;
		if (status == 0 && line.word == INTERLEAVE_HELLO)
			hello(c);
		else if (status == 0)
			status = c->on_line(c->arg, c, &line, &err);
	}
	if (status < 0)
		blame(c, "protocol", err.text);
}

/* After the program's end, read only the data that is already in its pipes. */
static void drain(struct interleave_child *c)
{
	for (int i = 0; i < 64 && c->words_fd >= 0; i++)
		take_output(c);
	for (int i = 0; i < 64 && c->lines_fd >= 0 && !c->problem.failure[0]; i++)
		take_lines(c);
}

static int note_end(
	struct interleave_child *c, const struct proc_exit *given, const struct build_context *build, struct fw_err *err)
{
	struct proc_exit how = sandbox_exit(build->sandbox, given);
	struct command_failure end;
	int result;

	c->runs = false;
	drain(c);
	result = program_end(build, c->subject, &how, &c->words, &end, err);
	if (result == 0 && !c->problem.failure[0])
		c->problem = end;
	else if (result == 1 && c->side.state != INTERLEAVE_GONE)
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
	if (fd[1].revents && c->words_fd >= 0)
		take_output(c);
	if (fd[0].revents && c->lines_fd >= 0 && !c->problem.failure[0])
		take_lines(c);
	if (fd[2].revents && proc_reap(&c->proc, &how))
		return note_end(c, &how, build, err);
	return 0;
}

void interleave_child_go(struct interleave_child *c, const struct interleave_go *go)
{
	struct buf text;

	buf_init(&text, 64);
	interleave_write_go(&text, go);
	interleave_granted(&c->side, go->calls);
	answer(c, &text);
}

void interleave_child_next(struct interleave_child *c)
{
	struct buf text;

	buf_init(&text, 64);
	interleave_write_next(&text);
	interleave_sent_on(&c->side);
	answer(c, &text);
}

void interleave_child_late(struct interleave_child *c, const char *what, double limit_s)
{
	char text[200];

	drain(c);
	snprintf(text, sizeof text, "did not %.100s within %.6g s", what, limit_s);
	blame(c, "timeout", text);
}

void interleave_child_count(struct interleave_child *c)
{
	c->n_pids = c->runs ? procs_below(c->proc.pid, c->pid, INTERLEAVE_CHILD_PIDS) : 0;
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

	for (int i = 0; i < c->n_pids; i++)
		(void)threads_of(c->pid[i], pin, &set);
}

double interleave_child_cpu_s(const struct interleave_child *c)
{
	double s = 0;

	for (int i = 0; i < c->n_pids; i++) {
		struct timespec used;
		clockid_t clock;

		if (clock_getcpuclockid(c->pid[i], &clock) == 0 && clock_gettime(clock, &used) == 0)
			s += (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
	}
	return s;
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
