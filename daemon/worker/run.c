/*
 * run.c - one process and its output. The program may have made links in the folder, so paths are never followed through links.
 */
#include "worker/internal.h"

struct running {
	struct clocks clocks; /* while it runs, if requested */
	struct buf printed;   /* standard output, if that is the output */
	struct lastwords words;
	bool reads_stdout, too_much;
};

static void output_path(const struct build_context *c, const struct msg_subject *s, int i, char out[3 * BENCHMARK_TEXT_SIZE])
{
	char name[BENCHMARK_TEXT_SIZE + 16];

	manifest_expand(s->run.output[i], device_kind_name(c->device), name, sizeof name);
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
		lastwords_keep(&r->words, data, len);
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
	lastwords_keep(&r->words, data, len);
	return 0;
}

static int blame(struct command_failure *t, const struct running *r, const char *failure, const char *what)
{
	return program_blame(t, &r->words, failure, what);
}

/* Run the process. Returns 1 if it ended well, 0 if not, -1 if the program is not at fault. */
static int run_process(struct bench *b, const struct build_context *c, const struct msg_subject *s, struct running *r,
	struct interleave_list *list, struct command_clock *clock, struct command_failure *problem, struct fw_err *err)
{
	struct pump pump = { .peer = c->peer,
		.stream = { { .read = on_stdout, .arg = r, .child_fd = 1 }, { .read = on_stderr, .arg = r, .child_fd = 2 } },
		.n_streams = 2,
		.deadline_ms = (int64_t)(s->run.timeout_s * 1000) };
	struct program *program = mem_alloc(sizeof *program);
	char what[256];
	struct proc_exit how = { 0 };
	struct fw_err e = { 0 };
	int result;

	if (list) {
		interleave_list_begin(list, &pump.stream[2].fd);
		pump.stream[2] = (struct pump_stream){
			.read = interleave_list_read, .arg = list, .child_fd = PROGRAM_INTERLEAVE_FD, .socket = true
		};
		pump.n_streams = 3;
	}
	result = program_prepare(program, b, c, s, list != NULL, &e);
	if (result == 0 && clock)
		result = clocks_begin(&r->clocks, b, clock->process, &e);
	if (result == 0) {
		pump.tick = clock ? clocks_take : NULL;
		pump.tick_arg = &r->clocks;
		result = pump_run(&pump, &program->spec, &how, &e);
		if (clock)
			clock->mhz = clocks_end(&r->clocks);
	}
	keyring_clear(c->sandbox);
	free(program);
	if (result != 0 && list && list->broken)
		return blame(problem, r, "protocol", e.text);
	if (result != 0 && (r->too_much || (e.code == ERR_NOT_FOUND && !c->sandbox->active)))
		return blame(problem, r, "abi", e.text);
	if (result != 0)
		return err_set(err, e.code, "%s", e.text);
	how = sandbox_exit(c->sandbox, &how);
	if (how.timed_out) {
		snprintf(what, sizeof what, "did not end within %.6g s", s->run.timeout_s);
		return blame(problem, r, "timeout", what);
	}
	return program_end(c, s, &how, &r->words, problem, err);
}

/* Append an output file. Returns 1, or 0 with `problem` filled. */
static int read_output(
	int folder, const char *path, const char *shown, struct buf *text, struct running *r, struct command_failure *t)
{
	int fd = beneath_open(folder, path, O_RDONLY | O_NONBLOCK);
	const char *what = NULL;
	char line[512];
	struct stat st;

	if (fd < 0)
		what = errno == ENOENT                    ? "was not written"
		       : errno == ELOOP || errno == EXDEV ? "lies behind a link"
							  : strerror(errno);
	else if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		what = "is not a regular file";
	else if (buf_read_fd(text, fd) != 0)
		what = strerror(errno);
	else if (text->failed)
		what = "is larger than 16 MiB";
	fd_close(&fd);
	if (!what)
		return 1;
	snprintf(line, sizeof line, "ended well, but its output %.200s %s", shown, what);
	return blame(t, r, "abi", line);
}

static int read_text(const struct msg_subject *s, const struct buf *text, const char *name, struct running *r,
	struct reading *out, struct command_failure *t)
{
	struct fw_err e = { 0 };
	struct reading one;
	char line[512];

	struct reading_how how = { .format = s->run.reader, .unit = s->run.unit, .time = s->run.time };

	if (reading_parse(&how, text->data, text->len, name, &one, &e) == 0 && reading_join(out, &one, name, &e) == 0)
		return 1;
	snprintf(line, sizeof line,
		"ended well, but as %s its output is wrong: %.380s (see doc/troubleshooting.md#program-output)", s->run.reader,
		e.text);
	return blame(t, r, "abi", line);
}

static int read_all(const struct build_context *c, const struct msg_subject *s, int folder, struct running *r,
	struct reading *out, struct command_failure *problem)
{
	char path[3 * BENCHMARK_TEXT_SIZE];
	struct buf text;
	int status = 1;

	if (r->reads_stdout)
		return read_text(s, &r->printed, "standard output", r, out, problem);
	buf_init(&text, READING_BYTES_MAX + 1);
	for (int i = 0; i < s->run.n_outputs && status == 1; i++) {
		output_path(c, s, i, path);
		buf_clear(&text);
		status = read_output(folder, path, s->run.output[i], &text, r, problem);
		if (status == 1)
			status = read_text(s, &text, s->run.output[i], r, out, problem);
	}
	buf_fini(&text);
	return status;
}

int command_run(struct bench *b, const struct build_context *c, const struct msg_subject *s, struct interleave_list *list,
	struct command_clock *clock, struct reading *out, struct command_failure *problem, struct fw_err *err)
{
	char side[128], path[3 * BENCHMARK_TEXT_SIZE];
	int64_t started = clock_mono_ns();
	struct running *r = mem_alloc_zero(1, sizeof *r);
	int folder, result;

	memset(out, 0, sizeof *out);
	memset(problem, 0, sizeof *problem);
	build_side(c, s, side);
	folder = openat(c->cache->fd, side, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0) {
		free(r);
		return err_sys(err, "folder of the %s", role_name(s->role));
	}
	buf_init(&r->printed, READING_BYTES_MAX + 1);
	r->reads_stdout = s->run.n_outputs == 0;
	for (int i = 0; i < s->run.n_outputs; i++) {
		output_path(c, s, i, path);
		forget_output(folder, path);
	}
	result = run_process(b, c, s, r, list, clock, problem, err);
	bench_hold(b, DEVICE_STEP_PROGRAM, (double)(clock_mono_ns() - started) * 1e-9);
	if (result == 1 && list && list->speaks)
		result = interleave_list_reading(list, out, err) != 0 ? -1 : 1;
	else if (result == 1)
		result = read_all(c, s, folder, r, out, problem);
	if (result != 1)
		reading_fini(out);
	close(folder);
	buf_fini(&r->printed);
	free(r);
	return result;
}
