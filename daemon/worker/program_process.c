/*
 * program_process.c - processes and their output. The program may have made links in the folder, so paths are never followed through links.
 */
#include "worker/internal.h"

struct running {
	struct clocks clocks; /* sampled while it runs, if requested */
	struct buf printed;   /* its standard output, if results are read from there */
	struct output_tail words;
	bool reads_stdout, too_much, has_clock;
	const struct build_context *build;
	const struct msg_side *side;
	char filled[256]; /* how the program filled the disk; "": it did not */
};

static void output_path(const struct build_context *c, const struct msg_side *s, int i, char out[3 * BENCHMARK_TEXT_SIZE])
{
	char name[BENCHMARK_TEXT_SIZE + 16];

	manifest_expand(s->benchmark.output[i], device_kind_name(c->device), name, sizeof name);
	snprintf(out, (size_t)3 * BENCHMARK_TEXT_SIZE, "%s/%s", s->build.dir, name);
}

static void forget_output(int folder, const char *path)
{
	char parent[3 * BENCHMARK_TEXT_SIZE];
	const char *name = strrchr(path, '/');

	snprintf(parent, sizeof parent, "%.*s", (int)(name - path), path);
	int fd = beneath_open(folder, parent, O_PATH | O_DIRECTORY);

	if (fd < 0)
		return;
	(void)unlinkat(fd, name + 1, 0);
	close(fd);
}

static int on_stdout(void *arg, const char *data, size_t len, struct fw_err *err)
{
	struct running *r = arg;

	if (!r->reads_stdout) {
		output_tail_add(&r->words, data, len);
		return 0;
	}
	buf_append(&r->printed, data, len);
	if (!r->printed.failed)
		return 0;
	r->too_much = true;
	return err_set(err, ERR_FULL, "printed more than %d MiB", READING_BYTES_MAX >> 20);
}

static int on_stderr(void *arg, const char *data, size_t len, struct fw_err *err)
{
	struct running *r = arg;

	(void)err;
	output_tail_add(&r->words, data, len);
	return 0;
}

static int on_tick(void *arg, struct fw_err *err)
{
	struct running *r = arg;

	if (program_fills_disk(r->build, r->side, r->filled))
		return err_set(err, ERR_FULL, "%s", r->filled);
	return r->has_clock ? clocks_take(&r->clocks, err) : 0;
}

static int blame(struct command_failure *t, const struct running *r, const char *failure, const char *what)
{
	return program_blame(t, &r->words, failure, what);
}

/* Run the process. Returns 1 if it ended well, 0 if not, -1 if the program is not at fault. */
static int run_process(struct bench *b, const struct build_context *c, const struct msg_side *s, struct running *r,
	struct command_clock *clock, struct command_failure *problem, struct fw_err *err)
{
	struct pump pump = { .peer = c->peer,
		.stream = { { .read = on_stdout, .arg = r, .child_fd = 1 }, { .read = on_stderr, .arg = r, .child_fd = 2 } },
		.n_streams = 2,
		.deadline_ms = (int64_t)(s->benchmark.timeout_s * 1000) };
	struct program *program = mem_alloc(sizeof *program);
	char what[256];
	struct proc_exit how = { 0 };
	struct fw_err e = { 0 };
	int result;

	result = program_prepare(program, b, c, s, PROGRAM_WHOLE, &e);
	if (result == 0 && clock)
		result = clocks_begin(&r->clocks, b, clock->process, &e);
	if (result == 0) {
		r->has_clock = clock != NULL;
		r->build = c;
		r->side = s;
		pump.tick = on_tick;
		pump.tick_arg = r;
		result = pump_run(&pump, &program->spec, &how, &e);
		if (clock)
			clock->mhz = clocks_end(&r->clocks);
	}
	free(program);
	if (result != 0 && r->filled[0])
		return blame(problem, r, "crash", r->filled);
	if (result != 0 && (r->too_much || (e.code == ERR_NOT_FOUND && !c->sandbox->active)))
		return blame(problem, r, "abi", e.text);
	if (result != 0)
		return err_set(err, e.code, "%s", e.text);
	how = sandbox_exit(c->sandbox, &how);
	if (how.timed_out) {
		snprintf(what, sizeof what, "did not end within %.6g s%s", s->benchmark.timeout_s, program_timeout_remedy);
		return blame(problem, r, "timeout", what);
	}
	return program_end(c, s, &how, &r->words, problem, err);
}

/* Append an output file. Returns 1, or 0 with `problem` filled. Err: this machine lacks memory or descriptors, or its disk failed. */
static int read_output(int folder, const char *path, const char *shown, struct buf *text, struct running *r,
	struct command_failure *t, struct fw_err *err)
{
	int fd = beneath_open(folder, path, O_RDONLY | O_NONBLOCK), number = fd < 0 ? errno : 0;
	const char *what = NULL;
	char line[512];
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)))
		what = "is not a regular file";
	else if (fd >= 0 && buf_read_fd(text, fd) != 0)
		number = errno;
	fd_close(&fd);
	if (text->is_out_of_memory)
		return err_memory(err, "cannot read the output %.200s", shown);
	errno = number;
	if (err_is_shortage(number) || number == EIO)
		return err_sys(err, "cannot read the output %.200s", shown);
	if (number)
		what = number == ENOENT                     ? "was not written"
		       : number == ELOOP || number == EXDEV ? "lies behind a link"
							    : strerror(number);
	else if (!what && text->failed)
		what = "is larger than 16 MiB";
	if (!what)
		return 1;
	snprintf(line, sizeof line, "succeeded, but its output %.200s %s", shown, what);
	return blame(t, r, "abi", line);
}

/* As above, for a text in the format of the benchmark. */
static int read_text(const struct msg_side *s, const struct buf *text, const char *name, struct running *r, struct reading *out,
	struct command_failure *t, struct fw_err *err)
{
	struct fw_err e = { 0 };
	struct reading one;
	char line[512];

	struct reading_options how = { .format = s->benchmark.reader, .unit = s->benchmark.unit, .time = s->benchmark.time };

	if (reading_parse(&how, text->data, text->len, name, &one, &e) == 0 && reading_join(out, &one, name, &e) == 0)
		return 1;
	if (e.is_shortage || e.code == ERR_INTERNAL) /* without memory; the output may be right */
		return err_set(err, e.code, "%s", e.text);
	snprintf(line, sizeof line,
		"succeeded, but its output is no valid %s: %.380s (see doc/troubleshooting.md#program-output)",
		s->benchmark.reader, e.text);
	return blame(t, r, "abi", line);
}

static int read_all(const struct build_context *c, const struct msg_side *s, int folder, struct running *r, struct reading *out,
	struct command_failure *problem, struct fw_err *err)
{
	char path[3 * BENCHMARK_TEXT_SIZE];
	struct buf text;
	int status = 1;

	if (r->reads_stdout)
		return read_text(s, &r->printed, "standard output", r, out, problem, err);
	buf_init(&text, READING_BYTES_MAX + 1);
	for (int i = 0; i < s->benchmark.n_outputs && status == 1; i++) {
		output_path(c, s, i, path);
		buf_clear(&text);
		status = read_output(folder, path, s->benchmark.output[i], &text, r, problem, err);
		if (status == 1)
			status = read_text(s, &text, s->benchmark.output[i], r, out, problem, err);
	}
	buf_fini(&text);
	return status;
}

/* Open the folder of a side, and remove earlier outputs. Own: close. Err: -1. */
static int open_side(const struct build_context *c, const struct msg_side *s, struct fw_err *err)
{
	char side[128], path[3 * BENCHMARK_TEXT_SIZE];
	int folder;

	build_program_folder(c, s, side);
	folder = openat(c->cache->fd, side, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return err_sys(err, "folder of the %s", role_name(s->role));
	for (int i = 0; i < s->benchmark.n_outputs; i++) {
		output_path(c, s, i, path);
		forget_output(folder, path);
	}
	return folder;
}

static void begin_running(struct running *r, const struct msg_side *s)
{
	memset(r, 0, sizeof *r);
	buf_init(&r->printed, READING_BYTES_MAX + 1);
	r->reads_stdout = s->benchmark.n_outputs == 0;
}

int command_run_side(struct bench *b, const struct build_context *c, const struct msg_side *s, struct command_clock *clock,
	struct reading *out, struct command_failure *problem, struct fw_err *err)
{
	int64_t started = clock_mono_ns();
	struct running *r;
	int folder, result;

	memset(out, 0, sizeof *out);
	memset(problem, 0, sizeof *problem);
	folder = open_side(c, s, err);
	if (folder < 0)
		return -1;
	r = mem_alloc(sizeof *r);
	begin_running(r, s);
	result = run_process(b, c, s, r, clock, problem, err);
	bench_add_held_time(b, DEVICE_STEP_PROGRAM, (double)(clock_mono_ns() - started) * 1e-9);
	if (result == 1)
		result = read_all(c, s, folder, r, out, problem, err);
	if (result != 1)
		reading_fini(out);
	close(folder);
	buf_fini(&r->printed);
	free(r);
	return result;
}

/* ---- check: The first process of each side. ---- */

enum { CHECK_WAIT_MS = 100 };

struct check {
	struct command *command;
	struct command_check *out;
	int n, side[COMMAND_SIDES_MAX];    /* running sides */
	bool continues[COMMAND_SIDES_MAX]; /* by side: its list, without the cell in whose turn it ended */
	int folder[COMMAND_SIDES_MAX];
	int64_t began_ns, started_ns; /* start; time from which all sides use the device or have ended, 0: not yet */
	struct interleave_child child[COMMAND_SIDES_MAX];
	struct running running[COMMAND_SIDES_MAX];
};

/* Return whether a side's calls may decide: not if the deciding time is only in its file. */
static bool is_interleaved(const struct msg_side *s)
{
	return strcmp(s->benchmark.time, "cpu") != 0;
}

static int start_side(struct check *k, int i, struct fw_err *err)
{
	struct command *m = k->command;
	struct interleave_child *child = &k->child[i];
	int side = k->side[i];

	begin_running(&k->running[i], m->side[side]);
	if (!k->continues[side])
		interleave_list_fini(&m->list[side]);
	*child = (struct interleave_child){ .is_list = true,
		.on_line = is_interleaved(m->side[side]) ? interleave_list_take : NULL,
		.arg = &m->list[side],
		.parent = m->forks && is_interleaved(m->side[side]) ? &m->parent[side] : NULL,
		.printed = k->running[i].reads_stdout ? &k->running[i].printed : NULL,
		.lines_fd = -1,
		.out_fd = -1,
		.err_fd = -1 };
	child->proc.pidfd = -1;
	k->folder[i] = open_side(m->build, m->side[side], err);
	if (k->folder[i] < 0 || command_report(m, side, "check", err) < 0)
		return -1;
	return interleave_child_start(child, m->bench, m->build, m->side[side], err);
}

static bool has_started(const struct interleave_child *c)
{
	return !c->runs || c->protocol.state > INTERLEAVE_BUSY;
}

/* Wait for the next event. Returns 1; 0 when all processes have ended; -1 on error. */
static int attend_check(struct check *k, struct fw_err *err)
{
	struct pollfd fd[1 + COMMAND_SIDES_MAX * INTERLEAVE_CHILD_FDS];
	struct peer *peer = k->command->build->peer;
	int wait_ms = CHECK_WAIT_MS, running = 0, starting = 0;

	peer_poll(peer, &fd[0], &wait_ms);
	for (int i = 0; i < k->n; i++)
		interleave_child_poll(&k->child[i], &fd[1 + i * INTERLEAVE_CHILD_FDS]);
	if (poll(fd, (nfds_t)1 + (nfds_t)k->n * INTERLEAVE_CHILD_FDS, wait_ms) < 0)
		memset(fd, 0, sizeof fd);
	if (peer_attend(peer, &fd[0], err) != 0)
		return -1;
	for (int i = 0; i < k->n; i++) {
		struct interleave_child *c = &k->child[i];
		double limit_s = c->side->benchmark.timeout_s;

		if (interleave_child_attend(c, &fd[1 + i * INTERLEAVE_CHILD_FDS], k->command->bench, k->command->build, err) != 0)
			return -1;
		if (c->runs && (double)(clock_mono_ns() - k->began_ns) * 1e-9 > limit_s)
			interleave_child_late(c, "end", limit_s);
		interleave_child_watch(c, k->command->build);
		for (int other = 0; other < k->n && c->problem.failure[0]; other++)
			interleave_child_count(&k->child[other]); /* another side's threads may be the cause */
		if (c->runs && c->problem.failure[0])
			interleave_child_end(c);
		running += c->runs;
		starting += !has_started(c);
	}
	if (starting == 0 && !k->started_ns)
		k->started_ns = clock_mono_ns();
	return running > 0;
}

/* Evaluate a process that has ended. Err: -1. */
static int take_side(struct check *k, int i, struct fw_err *err)
{
	struct command *m = k->command;
	struct running *r = &k->running[i];
	int side = k->side[i], *ran = &k->out->ran[side];

	k->out->problem[side] = k->child[i].problem;
	memcpy(k->out->why_fresh[side], k->child[i].why_fresh, sizeof k->out->why_fresh[side]);
	*ran = !k->child[i].problem.failure[0] || m->list[side].is_cut;
	r->words = k->child[i].words;
	if (*ran && m->list[side].can_interleave)
		*ran = interleave_list_reading(&m->list[side], &k->out->reading[side], err) != 0 ? -1 : 1;
	else if (*ran)
		*ran = read_all(m->build, m->side[side], k->folder[i], r, &k->out->reading[side], &k->out->problem[side], err);
	if (*ran != 1)
		reading_fini(&k->out->reading[side]);
	return *ran < 0 ? -1 : 0;
}

/* Return whether a side may have failed only because another one ran at the same time. */
static bool may_be_crowded(const struct check *k, int i)
{
	const struct interleave_child *c = &k->child[i];
	bool is_next_to_crowd = false;

	for (int other = 0; other < k->n; other++)
		is_next_to_crowd = is_next_to_crowd || (other != i && k->child[other].has_crowded);
	return strcmp(c->problem.failure, "timeout") == 0 || output_tail_is_out_of_memory(&c->words) ||
	       (c->problem.failure[0] && is_next_to_crowd && !c->has_crowded);
}

/* Return whether a side ended in the turn of a cell, and can list the cells after it. */
static bool can_continue(struct check *k, int i)
{
	int side = k->side[i];
	struct interleave_list *list = &k->command->list[side];

	k->continues[side] = interleave_list_end(list, &k->child[i].protocol, &k->child[i].problem) && !list->is_cut;
	return k->continues[side];
}

/* Run the listed sides. `again` receives those that failed and may succeed alone; returns their number, or -1. */
static int run_check(struct check *k, int *again, struct fw_err *err)
{
	struct command *m = k->command;
	int result = 1, n_again = 0;

	k->began_ns = clock_mono_ns();
	k->started_ns = 0;
	for (int i = 0; i < k->n; i++)
		k->folder[i] = k->child[i].lines_fd = k->child[i].out_fd = k->child[i].err_fd = -1;
	for (int i = 0; i < k->n && result == 1; i++)
		result = start_side(k, i, err) != 0 ? -1 : 1;
	while (result == 1)
		result = attend_check(k, err);
	for (int i = 0; i < k->n; i++)
		interleave_child_end(&k->child[i]);
	interleave_parents_prune(m->parent, COMMAND_SIDES_MAX);

	int64_t ended_ns = clock_mono_ns(), started_ns = k->started_ns ? k->started_ns : ended_ns;
	bool can_interleave = false;

	for (int i = 0; i < k->n; i++)
		can_interleave = can_interleave || m->list[k->side[i]].can_interleave;
	bench_add_held_time(
		m->bench, can_interleave ? DEVICE_STEP_START : DEVICE_STEP_PROGRAM, (double)(started_ns - k->began_ns) * 1e-9);
	bench_add_held_time(m->bench, DEVICE_STEP_PROGRAM, (double)(ended_ns - started_ns) * 1e-9);
	for (int i = 0; i < k->n; i++) {
		if (result == 0 && ((k->n > 1 && may_be_crowded(k, i)) || can_continue(k, i)))
			again[n_again++] = k->side[i];
		else if (result == 0)
			result = take_side(k, i, err);
		fd_close(&k->folder[i]);
		buf_fini(&k->running[i].printed);
	}
	return result < 0 ? -1 : n_again;
}

int command_check(struct command *m, struct command_check *out, struct fw_err *err)
{
	struct check *k = mem_alloc_zero(1, sizeof *k);
	int again[COMMAND_SIDES_MAX], n, same[COMMAND_SIDES_MAX];

	memset(out, 0, sizeof *out);
	k->command = m;
	k->out = out;
	for (int side = 0; side < m->n_sides; side++)
		k->side[k->n++] = side;
	n = run_check(k, again, err);
	for (int i = 0; i < n; i++) {
		int more = 1;

		k->n = 1;
		k->side[0] = again[i];
		while (more > 0)
			more = run_check(k, same, err);
		n = more < 0 ? -1 : n;
	}
	free(k);
	return n < 0 ? -1 : 0;
}
