/* comments.c - comparison of the differing files of two built programs, and the interpreter that compares Python. */
#include "worker/internal.h"

extern const char _binary_daemon_worker_comments_py_start[], _binary_daemon_worker_comments_py_end[];

enum { FILE_BYTES_MAX = 1 << 20, DEADLINE_MS = 20000, ANSWER_MAX = 64, FILES_SHOWN = 3 };

static const int64_t memory_max_bytes = 2LL << 30;
static const char answer_same[] = "same\n";

enum source { SOURCE_OTHER, SOURCE_PYTHON, SOURCE_C };

static enum source source_of(const char *path)
{
	static const char *const c_suffixes[] = { ".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx", ".cu", ".cuh" };
	const char *slash = strrchr(path, '/'), *suffix = strrchr(slash ? slash : path, '.');

	if (suffix && strcmp(suffix, ".py") == 0)
		return SOURCE_PYTHON;
	for (size_t i = 0; suffix && i < sizeof c_suffixes / sizeof c_suffixes[0]; i++)
		if (strcmp(suffix, c_suffixes[i]) == 0)
			return SOURCE_C;
	return SOURCE_OTHER;
}

/* Read one file of a folder. Returns 1; 0 if it is too large; -1 on error. */
static int read_file(int folder, const char *path, struct buf *out, struct fw_err *err)
{
	int fd = beneath_open(folder, path, O_RDONLY | O_NONBLOCK);
	int result = fd < 0 || buf_read_fd(out, fd) != 0 ? err_sys(err, "%s of the built folder", path) : !out->failed;

	fd_close(&fd);
	return result;
}

/* Return 1 if a C file differs at most in comments and layout, 0 if not, -1 on error. Shape: folder[base, target]. */
static int is_same_c(const int folder[2], const char *path, struct fw_err *err)
{
	struct buf text[2], form[2];
	int result = 1;

	for (int side = 0; side < 2; side++) {
		buf_init(&text[side], FILE_BYTES_MAX);
		buf_init(&form[side], 2 * FILE_BYTES_MAX);
		if (result == 1)
			result = read_file(folder[side], path, &text[side], err);
		if (result == 1)
			result = c_form(text[side].data, text[side].len, &form[side]);
	}
	if (result == 1)
		result = form[0].len == form[1].len && memcmp(form[0].data, form[1].data, form[0].len) == 0;
	for (int side = 0; side < 2; side++) {
		buf_fini(&text[side]);
		buf_fini(&form[side]);
	}
	return result;
}

/* Copy a file of both sides to base/N and target/N of the folder `to`. Returns as read_file. */
static int copy_sides(const int folder[2], const char *path, int to, int n, struct fw_err *err)
{
	int result = 1;

	for (int side = 0; side < 2 && result == 1; side++) {
		char name[32];
		struct buf text;

		snprintf(name, sizeof name, "%s/%d", side ? "target" : "base", n);
		buf_init(&text, FILE_BYTES_MAX);
		result = read_file(folder[side], path, &text, err);
		int fd = result == 1 ? openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644) : -1;

		if (result == 1 && (fd < 0 || write(fd, text.data, text.len) != (ssize_t)text.len))
			result = err_sys(err, "copy %s of the built folder", path);
		fd_close(&fd);
		buf_fini(&text);
	}
	return result;
}

/*
 * Return the interpreter that a command names, else the system's. A branch's interpreter could print anything, so a
 * relative path is not used.
 */
static const char *interpreter_of(const struct msg_side *s)
{
	for (int i = 0; i < s->benchmark.n_command; i++) {
		const char *word = s->benchmark.command[i], *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;

		if (strcmp(name, "env") == 0 || strchr(word, '='))
			continue;
		return strncmp(name, "python", 6) == 0 && (!slash || word[0] == '/') ? word : "python3";
	}
	return "python3";
}

static int on_answer(void *arg, const char *data, size_t len, struct fw_err *err)
{
	struct buf *answer = arg;

	buf_append(answer, data, len);
	return answer->failed ? err_set(err, ERR_INVALID, "printed more than \"same\"") : 0;
}

static int ignore_output(void *arg, const char *data, size_t len, struct fw_err *err)
{
	(void)arg, (void)data, (void)len, (void)err;
	return 0;
}

/* Run the interpreter on the copies in folder `name` of the cache. Returns 1 if they are equal, 0 if not, -1 on error. */
static int run_python(const struct build_context *c, const struct msg_side *s, const char *name, int n, struct fw_err *err)
{
	const char *from = _binary_daemon_worker_comments_py_start;
	char *script = strndup(from, (size_t)(_binary_daemon_worker_comments_py_end - from));
	struct sandbox_argv *v = mem_alloc(sizeof *v);
	struct sandbox_environment environment;
	char job[PATH_MAX + 160], count[16];
	struct proc_exit how = { 0 };
	struct buf answer;

	buf_init(&answer, ANSWER_MAX);
	struct pump pump = { .peer = c->peer,
		.stream = { { .read = on_answer, .arg = &answer, .child_fd = 1 }, { .read = ignore_output, .child_fd = 2 } },
		.n_streams = 2,
		.deadline_ms = DEADLINE_MS };

	snprintf(job, sizeof job, "%s/%s", c->cache->dir, name);
	snprintf(count, sizeof count, "%d", n);
	sandbox_environment(c->sandbox, NULL, &environment);
	sandbox_build(c->sandbox, v, job, ".");
	const char *const words[] = { interpreter_of(s), "-I", "-S", "-B", "-c", script ? script : "", count, NULL };

	for (const char *const *word = words; *word; word++)
		sandbox_arg(v, *word);
	struct proc_spec spec = { .argv = v->arg,
		.env = environment.list,
		.cwd = c->sandbox->active ? NULL : job,
		.file_size_bytes = FILE_BYTES_MAX,
		.address_space_bytes = memory_max_bytes,
		.cpu_s = DEADLINE_MS / 1000 };
	int result = sandbox_end(v, err) != 0 || pump_run(&pump, &spec, &how, err) != 0 ? -1 : 0;

	if (result == 0)
		result = how.status == 0 && !how.timed_out && strcmp(answer.data, answer_same) == 0;
	buf_fini(&answer);
	free(v);
	free(script);
	return result;
}

/* Compare the Python files of `d`. Returns as run_python. */
static int compare_python(const struct build_context *c, const struct msg_side *s, const int folder[2], const struct treediff *d,
	struct fw_err *err)
{
	char name[128], path[PATH_MAX + 160];
	int to, n = 0, result = 1;

	snprintf(name, sizeof name, "%s-python", c->sides);
	to = workdir_fresh(c->cache->fd, name, err);
	if (to < 0)
		return -1;
	if (mkdirat(to, "base", 0755) < 0 || mkdirat(to, "target", 0755) < 0)
		result = err_sys(err, "make folder %s", name);
	for (int i = 0; i < d->n && result == 1; i++)
		if (source_of(d->path[i]) == SOURCE_PYTHON)
			result = copy_sides(folder, d->path[i], to, n++, err);
	close(to);
	snprintf(path, sizeof path, "%s/%s", c->cache->dir, name);
	if (result == 1 && n > 0 && c->sandbox->drops_root && workdir_give(path, SANDBOX_NOBODY, err) != 0)
		result = -1;
	if (result == 1 && n > 0)
		result = run_python(c, s, name, n, err);
	if (workdir_remove(c->cache->fd, name, result < 0 ? NULL : err) != 0)
		result = -1;
	return result;
}

/*
 * Return whether C files may differ: the builds wrote files, which the caller compares. Without a build the program
 * compiles such a file itself or reads it, in ways that the worker does not know.
 */
static bool has_made_files(const int folder[2])
{
	char made[HASH_HEX];

	for (int side = 0; side < 2; side++)
		if (workdir_hash_made(folder[side], made, NULL) != 0 || !made[0])
			return false;
	return true;
}

/* Return 1 if a file was unpacked on both sides, and no build wrote it, 0 if not, -1 on error. */
static int is_unpacked(const int folder[2], const char *path, struct fw_err *err)
{
	int result = 1;

	for (int side = 0; side < 2 && result == 1; side++) {
		int fd = beneath_open(folder[side], path, O_PATH);
		struct stat st;

		result = fd < 0 || fstat(fd, &st) < 0 ? err_sys(err, "%s of the built folder", path) : workdir_is_unpacked(&st);
		fd_close(&fd);
	}
	return result;
}

static void describe(const struct treediff *d, int n_c, char *text, size_t size)
{
	struct buf out;

	buf_init(&out, size - 1);
	buf_printf(&out, "%s files differ only in comments or layout: ",
		n_c == 0      ? "Python"
		: n_c == d->n ? "C and C++"
			      : "Python and C");
	for (int i = 0; i < d->n && i < FILES_SHOWN; i++)
		buf_printf(&out, "%s%.*s", i ? ", " : "", 90, d->path[i]);
	if (d->n > FILES_SHOWN)
		buf_printf(&out, " and %d more", d->n - FILES_SHOWN);
	snprintf(text, size, "%s", out.data);
	buf_fini(&out);
}

/* Name the first file that differs because the build wrote it, while the C sources differ only in comments. */
static void describe_made(const char *path, char *text, size_t size)
{
	snprintf(text, size,
		"not identical: the sources differ only in comments or layout, but the builds wrote different files, first %.120s; "
		"if the program does not run from it, name the files that it runs from as artifacts in .flopwatch.yaml",
		path);
}

/* Compare the folders of both sides. Returns as comments_compare. */
static int compare(const struct build_context *c, const struct msg_side *s, const int folder[2], struct treediff *d, char *text,
	size_t size, struct fw_err *err)
{
	const char *made = NULL;
	int n_c = 0, n_made = 0, result = treediff_find(folder[0], folder[1], d, err);

	if (result == 1 && d->n == 0)
		return 0; /* only logs of the build differ, and no source explains it */
	for (int i = 0; i < d->n && result == 1; i++) {
		enum source source = source_of(d->path[i]);
		int unpacked = source == SOURCE_PYTHON ? 1 : is_unpacked(folder, d->path[i], err);

		if (unpacked != 1) {
			result = unpacked < 0 ? -1 : 1;
			n_made++;
			made = made ? made : d->path[i];
			continue;
		}
		n_c += source == SOURCE_C;
		if (source == SOURCE_C)
			result = n_c > 1 || has_made_files(folder) ? is_same_c(folder, d->path[i], err) : 0;
		else if (source == SOURCE_OTHER)
			result = 0;
	}
	if (result == 1 && made && n_c > 0 && n_c + n_made == d->n)
		describe_made(made, text, size);
	if (result == 1 && made)
		return 0;
	if (result == 1 && n_c < d->n)
		result = compare_python(c, s, folder, d, err);
	if (result == 1)
		describe(d, n_c, text, size);
	return result;
}

int comments_compare(const struct build_context *c, const struct msg_side *base, const struct msg_side *target, char *text,
	size_t size, struct fw_err *err)
{
	const struct msg_side *side[2] = { base, target };
	struct treediff *d = mem_alloc(sizeof *d);
	int folder[2] = { -1, -1 }, result = build_runs_equally(base, target);

	text[0] = '\0';
	for (int i = 0; i < 2 && result == 1; i++) {
		char name[128];

		build_program_folder(c, side[i], name);
		folder[i] = openat(c->cache->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (folder[i] < 0)
			result = err_sys(err, "folder of the %s", role_name(side[i]->role));
	}
	if (result == 1)
		result = compare(c, target, folder, d, text, size, err);
	fd_close(&folder[0]);
	fd_close(&folder[1]);
	free(d);
	return result;
}
