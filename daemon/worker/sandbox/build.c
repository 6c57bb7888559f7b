/*
 * build.c - a build in the sandbox. Branch code runs in a build, so time, output, processes and disk space have limits, and each
 * limit has a message.
 */
#include "worker/sandbox/internal.h"

#include <dirent.h>

/*
 * ---- artifacts ----
 * Selection of a program's artifacts. The build may have created links, so no path is resolved through one.
 */

enum { PATH_SIZE = 3 * BENCHMARK_TEXT_SIZE };

/* Write the path of an artifact or output, relative to the work folder. */
static void path_of(const struct build_context *c, const struct msg_side *s, const char *item, char out[PATH_SIZE])
{
	char name[BENCHMARK_TEXT_SIZE + 16];

	manifest_expand(item, device_kind_name(c->device), name, sizeof name);
	snprintf(out, PATH_SIZE, "%s/%s", s->build.dir, name);
}

/* Open the parent folder of `path`, and point `*last` to its last component. Follows no link. */
static int open_parent(int root, const char *path, const char **last)
{
	char parent[PATH_SIZE];
	const char *slash = strrchr(path, '/');

	snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
	*last = slash + 1;
	return beneath_open(root, parent, O_PATH | O_DIRECTORY);
}

/* Make a folder writable for the program, which may run as another user. */
static int open_up(const struct build_context *c, int fd, struct fw_err *err)
{
	if (fchmod(fd, 0755) < 0 || (c->sandbox->drops_root && fchown(fd, SANDBOX_NOBODY, SANDBOX_NOBODY) < 0))
		return err_sys(err, "make a folder of the benchmark");
	return 0;
}

/* Create the parent folders of `path`, without following a link. */
static int make_parents(const struct build_context *c, int root, const char *path, struct fw_err *err)
{
	int fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), result = fd < 0 ? err_sys(err, "open a folder") : 0;

	for (const char *slash; result == 0 && (slash = strchr(path, '/')); path = slash + 1) {
		char part[PATH_SIZE];
		int next = -1;

		snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
		if (strcmp(part, ".") == 0)
			continue;
		bool made = mkdirat(fd, part, 0755) == 0;

		if (made || errno == EEXIST)
			next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0 || (made && open_up(c, next, err) != 0))
			result = err_sys(err, "make folder %s of the benchmark", part);
		close(fd);
		fd = next;
	}
	fd_close(&fd);
	return result;
}

/* Move one artifact. Returns 1; 0 if it is unusable, see `detail`; -1 on an error of the worker. */
static int move_one(const struct build_context *c, int from, int to, const char *path, const char *shown, char *detail,
	size_t size, struct fw_err *err)
{
	const char *last, *what = NULL;
	int source = open_parent(from, path, &last), target = -1;
	struct stat st;

	if (source < 0 || fstatat(source, last, &st, AT_SYMLINK_NOFOLLOW) < 0)
		what = errno == ELOOP || errno == EXDEV      ? "is below a symbolic link"
		       : errno == ENOENT || errno == ENOTDIR ? "is missing"
							     : strerror(errno);
	else if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		what = S_ISLNK(st.st_mode) ? "is a symbolic link" : "is neither a file nor a folder";
	if (!what && make_parents(c, to, path, err) == 0) {
		target = open_parent(to, path, &last);
		if (target < 0)
			err_sys(err, "open the folder of artifact %.160s", shown);
		else if (renameat(source, last, target, last) < 0)
			what = strerror(errno);
	}
	fd_close(&source);
	if (what)
		snprintf(
			detail, size, "artifact %.110s %.60s after the build (see doc/troubleshooting.md#artifact)", shown, what);
	if (target < 0 && !what)
		return -1;
	fd_close(&target);
	return !what;
}

static int keep_all(
	const struct build_context *c, const struct msg_side *s, int from, int to, char *detail, size_t size, struct fw_err *err)
{
	char path[PATH_SIZE];
	int result = open_up(c, to, err) != 0 ? -1 : 1;

	for (int i = 0; i < s->benchmark.n_artifacts && result == 1; i++) {
		path_of(c, s, s->benchmark.artifact[i], path);
		result = move_one(c, from, to, path, s->benchmark.artifact[i], detail, size, err);
	}
	for (int i = 0; i < s->benchmark.n_outputs && result == 1; i++) {
		path_of(c, s, s->benchmark.output[i], path);
		(void)make_parents(c, to, path, NULL); /* a failure is reported later, when the output is missing */
	}
	snprintf(path, sizeof path, "%s/", s->build.dir);
	return result == 1 && make_parents(c, to, path, err) != 0 ? -1 : result;
}

/*
 * Reduce the folder `name` of the cache to the artifacts of `s`, at their paths, and the empty folders that its outputs need.
 * Returns 1; 0 if an artifact is missing or is neither file nor folder, see `detail`; -1 on an error of the worker. Shape:
 * detail[size].
 */
static int keep_artifacts(
	const struct build_context *c, const struct msg_side *s, const char *name, char *detail, size_t size, struct fw_err *err)
{
	char reduced[160];
	int from = openat(c->cache->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), to, result;

	snprintf(reduced, sizeof reduced, "%.128s-reduced", name);
	if (from < 0)
		return err_sys(err, "folder %s of the cache", name);
	to = workdir_fresh(c->cache->fd, reduced, err);
	result = to < 0 ? -1 : keep_all(c, s, from, to, detail, size, err);
	close(from);
	fd_close(&to);
	if (result == 1 &&
		(workdir_remove(c->cache->fd, name, err) != 0 || renameat(c->cache->fd, reduced, c->cache->fd, name) < 0))
		result = err_sys(err, "folder %s of the cache", name);
	if (result != 1)
		(void)workdir_remove(c->cache->fd, reduced, NULL);
	return result;
}

/*
 * Replace the hash of a program's folder by the identity of the side: the hash of that, the command line, and the outputs with
 * their format. Shape: hex[HASH_HEX], in and out.
 */
static void artifacts_name(const struct msg_side *s, char hex[HASH_HEX])
{
	struct hash_state h;

	hash_begin(&h);
	hash_text(&h, "flopwatch program 1");
	hash_text(&h, hex);
	hash_text(&h, s->build.dir);
	for (int i = 0; i < s->benchmark.n_command; i++)
		hash_text(&h, s->benchmark.command[i]);
	hash_text(&h, "");
	for (int i = 0; i < s->benchmark.n_outputs; i++)
		hash_text(&h, s->benchmark.output[i]);
	hash_text(&h, "");
	hash_text(&h, s->benchmark.reader);
	hash_text(&h, s->benchmark.unit);
	hash_end(&h, hex);
}

bool build_runs_equally(const struct msg_side *a, const struct msg_side *b)
{
	char hex[2][HASH_HEX] = { "", "" };

	artifacts_name(a, hex[0]);
	artifacts_name(b, hex[1]);
	return strcmp(hex[0], hex[1]) == 0;
}

/* ---- buildlog ---- */

void buildlog_init(struct buildlog *l, size_t max)
{
	*l = (struct buildlog){ .half = max / 2 ? max / 2 : 1 };
	buf_init(&l->head, l->half);
	l->tail = mem_alloc(l->half);
}

void buildlog_fini(struct buildlog *l)
{
	buf_fini(&l->head);
	free(l->tail);
	l->tail = NULL;
}

void buildlog_add(struct buildlog *l, const char *data, size_t len)
{
	size_t left = l->half - l->head.len;
	size_t first = len < left ? len : left;

	buf_append(&l->head, data, first);
	l->total += (int64_t)len;
	for (data += first, len -= first; len > 0; len--) {
		l->tail[l->at++ % l->half] = *data++;
		if (l->at == 2 * l->half) /* from `half` on the ring is full */
			l->at = l->half;
	}
}

void buildlog_text(const struct buildlog *l, struct buf *out)
{
	int64_t behind = l->total - (int64_t)l->head.len;
	size_t start = 0;

	buf_append(out, l->head.data, l->head.len);
	if (behind <= 0)
		return;
	if (behind > (int64_t)l->half) {
		buf_printf(out, "\n[... %lld bytes left out ...]\n", (long long)(behind - (int64_t)l->half));
		start = l->at % l->half;
		buf_append(out, l->tail + start, l->half - start);
	}
	buf_append(out, l->tail, behind > (int64_t)l->half ? start : (size_t)behind);
}

/* ---- build ---- */

static const char bare_suffix[] = ".bare";

enum {
	PRINT_MAX = 64 << 20, /* bytes of output */
	PROCESS_MANY = 100,   /* with more processes, their priority is lowered */
	STRIP_MS = 60000,
	TICK_MS = 10,
	DISK_INTERVAL_MS = 100,
	COUNT_INTERVAL_MS = 1000,
	LOG_LINE_MAX = 700 << 10 /* stored bytes of output */
};

static const int64_t names_max_bytes = 64 << 20; /* a crash in a larger module is reported without source lines */
static const int64_t module_max_bytes = 256LL << 20, file_max_bytes = 2LL << 30, memory_max_bytes = 32LL << 30;

struct run {
	const struct build_context *context;
	char folder[128]; /* name in the cache; mounted as /job */
	struct buildlog log;
	int64_t print_max;
	int process_max;
	int count_above; /* threads on the machine; when it has more, the build's processes are counted */
	int64_t next_count_ns, next_disk_ns;
	bool own_end;           /* a limit of the worker ended it: the error becomes the detail of the failed build */
	bool was_low;           /* the disk was full */
	struct disk_space full; /* free space at that time */
};

void build_tools(struct build_context *c, const struct msg_job *job, const char *usual)
{
	for (int i = 0; i < job->n_sides; i++) {
		const struct toolchain_override *w = &job->side[i].tools;
		char *text = c->toolchain[job->side[i].role];

		if (w->module[0]) {
			snprintf(c->earlier, sizeof c->earlier, "%.64s", w->module);
			snprintf(text, TOOLCHAIN_TEXT_SIZE, "%s", w->made_by);
		} else if (toolchain_override_is_none(w))
			snprintf(text, TOOLCHAIN_TEXT_SIZE, "%s", usual);
		else if (w->dir[0] && !sandbox_shows(c->sandbox, w->dir)) /* the build fails with the reason */
			snprintf(text, TOOLCHAIN_TEXT_SIZE, "none in %.*s", TOOLCHAIN_OVERRIDE_DIR_SIZE, w->dir);
		else
			toolchain_describe(
				c->sandbox, c->device, w->dir[0] ? w->dir : c->tools_dir, w->flags, text, TOOLCHAIN_TEXT_SIZE);
	}
}

static void key_of(const struct build_context *c, const struct msg_side *s, const char *family, char key[HASH_HEX])
{
	struct hash_state h;
	int i;

	hash_begin(&h);
	hash_text(&h, "flopwatch build 3");
	for (i = 0; i < s->n_inputs; i++) {
		hash_text(&h, s->input[i].path);
		hash_text(&h, s->input[i].oid);
	}
	hash_text(&h, "command");
	hash_text(&h, s->build.dir);
	for (i = 0; i < s->build.n_command; i++)
		hash_text(&h, s->build.command[i]);
	hash_text(&h, "outputs");
	for (i = 0; i < s->build.n_outputs; i++) {
		hash_text(&h, s->build.family[i]);
		hash_text(&h, s->build.output[i]);
	}
	hash_text(&h, family);
	hash_text(&h, device_kind_name(c->device));
	hash_text(&h, c->toolchain[s->role]);
	hash_text(&h, c->image);
	hash_text(&h, sandbox_isolation(c->sandbox));
	for (i = 0; i < c->sandbox->n_shown; i++)
		hash_text(&h, c->sandbox->shown[i]);
	if (s->untrusted) /* a branch never uses the cached build of a fork, even with equal inputs */
		hash_text(&h, "untrusted");
	hash_end(&h, key);
}

void build_key(const struct build_context *c, const struct msg_side *s, char key[HASH_HEX])
{
	key_of(c, s, c->family, key);
}

static void begin(const struct build_context *c, const struct msg_side *s, struct msg_build *out)
{
	memset(out, 0, sizeof *out);
	out->role = s->role;
	snprintf(out->family, sizeof out->family, "%s", c->family);
	snprintf(out->toolchain, sizeof out->toolchain, "%s", c->toolchain[s->role]);
	buf_init(&out->log, LOG_LINE_MAX + 256);
}

/* Return a sealed copy of a cached module; -1 if it is missing or its content does not match its name. Own: close. */
static int open_sealed(const struct build_context *c, const char *module)
{
	char sha[HASH_HEX];
	int fd = cache_open_module(c->cache, module), sealed = fd < 0 ? -1 : sealed_copy(fd, "module", sha, NULL);

	fd_close(&fd);
	if (sealed >= 0 && strcmp(sha, module) != 0) {
		close(sealed);
		sealed = -1;
	}
	return sealed;
}

int build_lookup(const struct build_context *c, const struct msg_side *s, struct msg_build *out, int *module_fd)
{
	char key[HASH_HEX];
	struct buf entry;

	*module_fd = -1;
	begin(c, s, out);
	if (s->benchmark.name[0]) { /* each job has a copy of the built folder, because runs may change it */
		snprintf(out->state, sizeof out->state, "start");
		return 0;
	}
	if (s->tools.module[0]) {
		*module_fd = open_sealed(c, s->tools.module);
		snprintf(out->state, sizeof out->state, "%s", *module_fd >= 0 ? "cached" : "start");
		if (*module_fd >= 0)
			snprintf(out->module_sha256, sizeof out->module_sha256, "%s", s->tools.module);
		return *module_fd >= 0;
	}
	build_key(c, s, key);
	buf_init(&entry, 1024);
	if (cache_get(c->cache->builds_fd, key, &entry) && entry.len >= HASH_HEX - 1) {
		bool is_to_be_rebuilt = strncmp(entry.data, c->earlier, HASH_HEX - 1) == 0;
		snprintf(out->module_sha256, sizeof out->module_sha256, "%.64s", entry.data);
		if (!is_to_be_rebuilt && strspn(out->module_sha256, "0123456789abcdef") == 64)
			*module_fd = open_sealed(c, out->module_sha256);
		if (!is_to_be_rebuilt && *module_fd < 0)
			cache_forget(c->cache->builds_fd, key);
	}
	buf_fini(&entry);
	snprintf(out->state, sizeof out->state, "%s", *module_fd >= 0 ? "cached" : "start");
	if (*module_fd < 0)
		out->module_sha256[0] = '\0';
	return *module_fd >= 0;
}

static int on_output(void *arg, const char *data, size_t len, struct fw_err *err)
{
	struct run *r = arg;

	buildlog_add(&r->log, data, len);
	if (r->log.total <= r->print_max)
		return 0;
	r->own_end = true;
	return err_set(err, ERR_FULL, "build printed more than %lld MiB and was ended", (long long)(r->print_max >> 20));
}

/* Return whether the disk is or was full: the file that filled it may be gone since its processes ended. */
static bool is_disk_full(struct run *r)
{
	if (!r->was_low)
		r->was_low = disk_space_read(r->context->cache->fd, &r->full) && disk_space_is_low(&r->full);
	return r->was_low;
}

/*
 * Let the build's processes be counted in a second, in which others may end, or when the machine has so many more threads that these
 * could be half of what the build may still start, or too many for its priority.
 */
static void plan_count(struct run *r, int threads, int n)
{
	int more = (r->process_max - n) / 2;

	r->next_count_ns = clock_mono_ns() + COUNT_INTERVAL_MS * 1000000LL;
	r->count_above = threads + (n < PROCESS_MANY && PROCESS_MANY - n < more ? PROCESS_MANY - n : more);
}

/*
 * A fork bomb can fill the process table and exit within a tenth of a second, but a count reads a file of each process on the
 * machine. So every 10 ms only the number of threads on the machine is read.
 */
static int on_tick(void *arg, struct fw_err *err)
{
	struct run *r = arg;
	int64_t now = clock_mono_ns();
	int threads = procs_threads();

	if (now >= r->next_count_ns || threads > r->count_above) {
		int n = procs_count_or_yield(PROCESS_MANY);
		if (n > r->process_max) {
			r->own_end = true;
			return err_set(err, ERR_FULL,
				"build ran more than %d processes at once and was ended (see doc/troubleshooting.md#build-processes)",
				r->process_max);
		}
		plan_count(r, threads, n);
	}
	if (now < r->next_disk_ns)
		return 0;
	r->next_disk_ns = now + DISK_INTERVAL_MS * 1000000LL;
	if (is_disk_full(r)) {
		r->own_end = true;
		return err_set(err, ERR_FULL, "the disk of the cache is full");
	}
	return 0;
}

static void command_text(const struct build_context *c, const struct msg_side *s, char *out, size_t size)
{
	char argument[MANIFEST_TEXT_SIZE + 16];
	size_t used = 0;
	int i, n;

	out[0] = '\0';
	for (i = 0; i < s->build.n_command && used < size; i++) {
		manifest_expand(s->build.command[i], device_kind_name(c->device), argument, sizeof argument);
		n = snprintf(out + used, size - used, "%s%s", i ? " " : "", argument);
		used += n > 0 ? (size_t)n : 0;
	}
}

/* Append the first error in the log, if there is one, to the reason: the exit status does not explain the failure. */
static void quote_log(const struct run *r, struct msg_build *out)
{
	char line[sizeof out->detail];
	size_t len, used = strlen(out->detail);
	struct buf text;

	buf_init(&text, r->log.half * 2 + 256);
	buildlog_text(&r->log, &text);
	const char *found = output_tail_find_cause(text.data ? text.data : "", text.len, true, &len);

	if (output_tail_is_error(found, len) && used + 3 < sizeof out->detail &&
		output_tail_print(found, len, line, sizeof line - used - 2) > 0)
		snprintf(out->detail + used, sizeof out->detail - used, ": %.*s", (int)(sizeof out->detail - used - 3), line);
	buf_fini(&text);
}

enum { NAME_SHOWN = 120 };

/* Copy a command. A long one is cut at a space, and ends with dots. */
static void shorten(const char *name, char shown[NAME_SHOWN + 1])
{
	size_t n = strlen(name);
	if (n <= NAME_SHOWN) {
		memcpy(shown, name, n + 1);
		return;
	}
	for (n = NAME_SHOWN - 4; n > NAME_SHOWN / 2 && name[n] != ' '; n--) {
	}
	if (name[n] != ' ') /* one long word */
		n = NAME_SHOWN - 4;
	snprintf(shown, NAME_SHOWN + 1, "%.*s ...", (int)n, name);
}

/*
 * Run one program in the build's sandbox. Returns 1 if it succeeded; 0 if it failed, with exit, signal and detail in `out`; -1 if
 * the build is not at fault.
 */
static int run_in_sandbox(struct run *r, const struct msg_side *s, const char *const *command, const char *name, double timeout_s,
	struct msg_build *out, struct fw_err *err)
{
	const struct build_context *c = r->context;
	struct pump pump = { .peer = c->peer,
		.stream = { { .read = on_output, .arg = r, .child_fd = 1 } },
		.n_streams = 1,
		.merge_stderr = true,
		.deadline_ms = (int64_t)(timeout_s * 1000),
		.nice = 5,
		.tick = on_tick,
		.tick_ms = TICK_MS,
		.tick_arg = r };
	struct sandbox_argv *v = mem_alloc(sizeof *v);
	char job[PATH_MAX + 136], cwd[PATH_MAX + MANIFEST_TEXT_SIZE + 144], ended[64], shown[NAME_SHOWN + 1];
	struct sandbox_environment environment;
	struct compilers compilers;
	struct proc_exit how;
	struct fw_err e = { 0 };
	int result;

	const char *tools_dir = s->tools.dir[0] ? s->tools.dir : c->tools_dir;
	bool has_tools = tools_dir[0] || s->tools.flags[0];
	if (has_tools && compilers_prepare(c->cache, c->device, tools_dir, s->tools.flags, &compilers, err) != 0) {
		free(v);
		return -1;
	}
	sandbox_environment(c->sandbox, has_tools ? compilers.more.variable : NULL, &environment);
	snprintf(job, sizeof job, "%s/%s", c->cache->dir, r->folder);
	snprintf(cwd, sizeof cwd, "%s/%s", job, s->build.dir);
	sandbox_build_with(c->sandbox, v, job, s->build.dir, has_tools ? &compilers.more : NULL);
	for (; *command; command++)
		sandbox_arg(v, *command);
	result = sandbox_end(v, &e);
	if (result == 0) {
		struct proc_spec spec = { .argv = v->arg,
			.env = environment.list,
			.cwd = c->sandbox->active ? NULL : cwd,
			.file_size_bytes = file_max_bytes,
			.address_space_bytes = memory_max_bytes,
			.cpu_s = (int)timeout_s + 1 };

		result = pump_run(&pump, &spec, &how, &e);
	}
	free(v);
	if (result != 0 && e.code == ERR_NOT_FOUND && !c->sandbox->active)
		r->own_end = true; /* the command is missing: the build is at fault */
	if (result != 0 && (r->own_end || e.code == ERR_INVALID)) {
		snprintf(out->detail, sizeof out->detail, "%.*s", (int)sizeof out->detail - 1, e.text);
		out->exit = -1;
		return 0;
	}
	if (result != 0)
		return err_set(err, e.code, "%s", e.text);
	how = sandbox_exit(c->sandbox, &how);
	out->exit = how.status;
	out->signal = how.timed_out ? 0 : how.signal;
	if (how.status == 0)
		return 1;
	proc_describe(&how, ended);
	shorten(name, shown);
	if (proc_is_outside(&how))
		return err_set(err, ERR_BUSY, "%s of the %s: %s; out of memory, or killed by another process on this machine",
			shown, role_name(s->role), ended);
	if (how.timed_out) {
		snprintf(out->detail, sizeof out->detail,
			"%s: ran past %.6g s and was ended (see doc/troubleshooting.md#build-timeout)", shown, timeout_s);
	} else {
		snprintf(out->detail, sizeof out->detail, "%s: %s%s", shown, ended,
			how.signal == 25    ? " (a file grew beyond 2 GiB)"
			: how.signal == 24  ? " (CPU time used up)"
			: how.status == 127 ? " (a program was not found)"
					    : "");
		quote_log(r, out);
	}
	return 0;
}

/* Open a regular file in the work folder without following a link. */
static int open_output(int job_fd, const char *path, struct msg_build *out, const char *shown)
{
	int fd = beneath_open(job_fd, path, O_RDONLY | O_NONBLOCK);
	const char *what = NULL;
	struct stat st;

	if (fd < 0)
		what = errno == ENOENT || errno == ENOTDIR ? "is missing"
		       : errno == ELOOP || errno == EXDEV  ? "is a symbolic link or is below one"
							   : strerror(errno);
	else if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		what = "is not a regular file";
	else if (st.st_size == 0)
		what = "is empty";
	else if (st.st_size > module_max_bytes)
		what = "is larger than 256 MiB";
	if (!what)
		return fd;
	fd_close(&fd);
	snprintf(out->detail, sizeof out->detail, "output %.180s %s", shown, what);
	return -1;
}

static int output_index(const struct build *b, const char *family)
{
	int i;

	for (i = 0; i < b->n_outputs; i++)
		if (strcmp(b->family[i], family) == 0)
			return i;
	return -1;
}

void build_output(const struct build_context *c, const struct msg_side *s, char *out, size_t size)
{
	int which = output_index(&s->build, c->family);

	if (which < 0)
		*out = '\0';
	else
		manifest_expand(s->build.output[which], device_kind_name(c->device), out, size);
}

/* Strip an output and store it as the module of its family. Returns 1; 0 if the build is at fault; -1 if it is not. */
static int cache_output(struct run *r, const struct msg_side *s, int job_fd, int which, struct msg_build *out, struct fw_err *err)
{
	const struct build_context *c = r->context;
	char path[2 * MANIFEST_TEXT_SIZE + 24], shown[MANIFEST_TEXT_SIZE + 16], key[HASH_HEX];
	char bare[sizeof shown + sizeof bare_suffix], bare_path[sizeof path + sizeof bare_suffix];
	const char *strip[] = { "strip", "-s", "-R", ".note.gnu.build-id", "-R", ".comment", "-o", bare, "--", shown, NULL };
	int fd, result;

	manifest_expand(s->build.output[which], device_kind_name(c->device), shown, sizeof shown);
	snprintf(path, sizeof path, "%s/%s", s->build.dir, shown);
	snprintf(bare, sizeof bare, "%s%s", shown, bare_suffix);
	snprintf(bare_path, sizeof bare_path, "%s%s", path, bare_suffix);
	fd = open_output(job_fd, path, out, shown);
	if (fd < 0)
		return 0;
	/*
	 * symbols, build id and notes differ between builds of equal sources; strip parses hostile bytes, so it runs in the
	 * sandbox
	 */
	result = run_in_sandbox(r, s, strip, "strip of the output", STRIP_MS / 1000.0, out, err);
	if (result == 0 && out->exit > 0)
		snprintf(out->detail, sizeof out->detail, "output %.160s is not a shared object: strip rejects it, exit %d",
			shown, out->exit);
	int bare_fd = result > 0 ? open_output(job_fd, bare_path, out, bare) : -1;
	if (bare_fd < 0) {
		close(fd);
		return result < 0 ? -1 : 0;
	}
	result = cache_put_module(c->cache, bare_fd, module_max_bytes, out->module_sha256, err);
	if (result == 0)
		cache_put_names(c->cache, out->module_sha256, fd, names_max_bytes);
	close(bare_fd);
	close(fd);
	key_of(c, s, s->build.family[which], key);
	return result != 0 || cache_put(c->cache->builds_fd, key, out->module_sha256, HASH_HEX - 1, err) != 0 ? -1 : 1;
}

/*
 * Store the modules of the other families, too, so that all suites of a commit share one build. Ignore invalid outputs until
 * used.
 */
static void cache_other_outputs(struct run *r, const struct msg_side *s, int job_fd, int taken)
{
	for (int i = 0; i < s->build.n_outputs; i++) {
		struct msg_build other = { .role = s->role };
		struct fw_err e = { 0 };

		if (i != taken && cache_output(r, s, job_fd, i, &other, &e) < 0)
			log_warning("build.cache", "family=%s err=%s", s->build.family[i], log_quote(e.text));
	}
}

/* Store the modules, and return that of the job's family sealed. Returns as cache_output. */
static int take_output(
	struct run *r, const struct msg_side *s, int job_fd, struct msg_build *out, int *module_fd, struct fw_err *err)
{
	const struct build_context *c = r->context;
	int which = output_index(&s->build, c->family), result;

	if (which < 0) {
		snprintf(out->detail, sizeof out->detail, "the manifest names no module of family %.15s%s%.15s%s", c->family,
			s->build.n_outputs ? "; its outputs are of `" : "", s->build.n_outputs ? s->build.family[0] : "",
			s->build.n_outputs ? "`" : "");
		return 0;
	}
	result = cache_output(r, s, job_fd, which, out, err);
	if (result != 1)
		return result;
	*module_fd = open_sealed(c, out->module_sha256);
	if (*module_fd < 0)
		return err_set(err, ERR_INTERNAL, "module %s in the cache cannot be read, or was changed", out->module_sha256);
	cache_other_outputs(r, s, job_fd, which);
	return 1;
}

/*
 * Hash the folder of a benchmark program, reduced to its artifacts if it has any. The hash covers all files that the program can
 * see. Returns as cache_output.
 */
static int take_program(struct run *r, const struct msg_side *s, struct msg_build *out, struct fw_err *err)
{
	int result = s->benchmark.n_artifacts == 0
			     ? 1
			     : keep_artifacts(r->context, s, r->folder, out->detail, sizeof out->detail, err);
	struct fw_err e = { 0 };
	int fd;

	if (result != 1)
		return result;
	fd = openat(r->context->cache->fd, r->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "folder of the %s", role_name(s->role));
	result = workdir_hash(fd, out->module_sha256, &e);
	close(fd);
	if (result < 0 && e.code == ERR_INVALID) {
		snprintf(out->detail, sizeof out->detail, "%.*s", (int)sizeof out->detail - 1, e.text);
		return 0;
	}
	if (result < 0)
		return err_set(err, e.code, "%s", e.text);
	artifacts_name(s, out->module_sha256);
	return 1;
}

static int unpack_inputs(
	const struct msg_side *s, int job_fd, build_tree_fn *tree, void *arg, struct msg_build *out, struct fw_err *err)
{
	struct fw_err e = { 0 };
	int i, fd, result;

	for (i = 0; i < s->n_inputs; i++) {
		fd = tree(arg, s->input[i].oid, err);
		if (fd < 0)
			return -1;
		result = unpack_tar(fd, job_fd, s->input[i].path, NULL, &e);
		close(fd);
		if (result == 0)
			continue;
		if (e.code != ERR_INVALID)
			return err_set(err, e.code, "input %s: %s", s->input[i].path, e.text);
		snprintf(out->detail, sizeof out->detail, "input %.100s: %.140s", s->input[i].path, e.text);
		return 0;
	}
	return 1;
}

/*
 * ---- built programs ----
 * Cached builds of benchmark programs: copies of their folders from before any run, so that equal sources are built once.
 */

enum { PROGRAMS_MAX = 16 /* stored folders */, KIT_DEPTH_MAX = 4 };

static const int64_t program_max_bytes = 1LL << 30;

static int open_programs(const struct cache *c)
{
	(void)mkdirat(c->fd, "programs", 0700);
	return openat(c->fd, "programs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int is_of_kit(const struct dirent *d)
{
	return d->d_name[0] != '.' && strcmp(d->d_name, "__pycache__") != 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Add the names and contents of all files below a folder of the kit. */
static void hash_kit(struct hash_state *h, const char *folder, int depth)
{
	struct dirent **list = NULL;
	int n = depth < KIT_DEPTH_MAX ? scandir(folder, &list, is_of_kit, by_bytes) : -1;

	for (int i = 0; i < n; i++) {
		char path[PATH_MAX + 300], hex[HASH_HEX];

		snprintf(path, sizeof path, "%.*s/%.255s", PATH_MAX, folder, list[i]->d_name);
		hash_text(h, list[i]->d_name);
		if (hash_file(path, hex, NULL) == 0)
			hash_text(h, hex);
		else
			hash_kit(h, path, depth + 1);
		free(list[i]);
	}
	hash_text(h, ""); /* marks the end of this folder */
	if (n >= 0)
		free(list);
}

/*
 * Compute the key of a built folder. A program contains the headers of the kit, which measure it: with those of another version in
 * base and target, the versions would be compared. Files of a build without sandbox may contain the path of the folder, so that is
 * part of the key, too.
 */
static void program_key(const struct run *r, const struct msg_side *s, char key[HASH_HEX])
{
	struct hash_state h;

	key_of(r->context, s, "program", key);
	hash_begin(&h);
	hash_text(&h, key);
	for (int i = 0; i < s->benchmark.n_artifacts; i++)
		hash_text(&h, s->benchmark.artifact[i]);
	hash_text(&h, "");
	for (int i = 0; i < s->benchmark.n_outputs; i++)
		hash_text(&h, s->benchmark.output[i]);
	hash_text(&h, "");
	hash_text(&h, r->context->sandbox->before);
	if (r->context->sandbox->kit[0])
		hash_kit(&h, r->context->sandbox->kit, 0);
	hash_text(&h, r->context->sandbox->active ? "" : r->folder);
	hash_end(&h, key);
}

/* Store a copy of the built folder. After a failure the next job builds again. */
static void store_program(const struct run *r, const struct msg_side *s)
{
	char key[HASH_HEX], fresh[48];
	struct disk_space now;
	int programs;

	if (!disk_space_read(r->context->cache->fd, &now) || now.free_bytes < 2 * program_max_bytes)
		return;
	programs = open_programs(r->context->cache);
	if (programs < 0)
		return;
	program_key(r, s, key);
	snprintf(fresh, sizeof fresh, "new-%d-%d", (int)getpid(), r->context->slot);
	if (workdir_copy(r->context->cache->fd, r->folder, programs, fresh, program_max_bytes) == 0 &&
		(utimensat(programs, fresh, NULL, 0) < 0 || renameat(programs, fresh, programs, key) < 0))
		(void)workdir_remove(programs, fresh, NULL);
	cache_trim_folder(programs, PROGRAMS_MAX);
	close(programs);
}

/* Copy an earlier build of the same sources into the folder. Returns false if there is none. */
static bool restore_program(const struct run *r, const struct msg_side *s)
{
	char key[HASH_HEX];
	int programs = open_programs(r->context->cache);
	struct stat st;

	if (programs < 0)
		return false;
	program_key(r, s, key);
	bool is_there = !r->context->earlier[0] && fstatat(programs, key, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			workdir_copy(programs, key, r->context->cache->fd, r->folder, program_max_bytes) == 0;

	if (is_there)
		(void)utimensat(programs, key, NULL, 0); /* mark it as used */
	close(programs);
	return is_there;
}

/* Run the build. Returns 1 if it made a module, 0 if it failed, -1 if the build is not at fault. */
static int make(struct run *r, const struct msg_side *s, int job_fd, build_tree_fn *tree, void *arg, struct msg_build *out,
	int *module_fd, struct fw_err *err)
{
	const struct build_context *c = r->context;
	char argument[MANIFEST_LIST_MAX][MANIFEST_TEXT_SIZE + 16];
	const char *command[MANIFEST_LIST_MAX + 1] = { NULL };
	char name[200], job[PATH_MAX + 136];
	struct stat st;
	double timeout_s = s->build.timeout_s > 0 && s->build.timeout_s < c->timeout_s ? s->build.timeout_s : c->timeout_s;
	struct fw_err unusable = { 0 };
	int i, result;

	if (s->tools.dir[0] && compilers_check(c->sandbox, s->tools.dir, &unusable) != 0) {
		snprintf(out->detail, sizeof out->detail, "%.*s", (int)sizeof out->detail - 1, unusable.text);
		return 0;
	}
	result = unpack_inputs(s, job_fd, tree, arg, out, err);

	if (result <= 0)
		return result;
	if (fstatat(job_fd, s->build.dir, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode)) {
		snprintf(out->detail, sizeof out->detail, "folder %.180s of the build is not among its inputs", s->build.dir);
		return 0;
	}
	snprintf(job, sizeof job, "%s/%s", c->cache->dir, r->folder);
	if (c->sandbox->drops_root && workdir_give(job, SANDBOX_NOBODY, err) != 0)
		return -1;
	for (i = 0; i < s->build.n_command; i++) {
		manifest_expand(s->build.command[i], device_kind_name(c->device), argument[i], sizeof argument[i]);
		command[i] = argument[i];
	}
	command_text(c, s, name, sizeof name);
	result = s->build.n_command == 0 ? 1 : run_in_sandbox(r, s, command, name, timeout_s, out, err);
	if (result == 1 && s->benchmark.name[0]) {
		result = take_program(r, s, out, err);
		if (result == 1 && s->build.n_command > 0)
			store_program(r, s);
		return result;
	}
	return result <= 0 ? result : take_output(r, s, job_fd, out, module_fd, err);
}

/* Use the folder, a copy of an earlier build. Returns as cache_output. */
static int take_copy(struct run *r, const struct msg_side *s, struct msg_build *out, struct fw_err *err)
{
	char path[PATH_MAX + 136];

	snprintf(path, sizeof path, "%s/%s", r->context->cache->dir, r->folder);
	if (r->context->sandbox->drops_root && workdir_give(path, SANDBOX_NOBODY, err) != 0)
		return -1;
	return take_program(r, s, out, err);
}

void build_folder(const struct build_context *c, const char *what, char name[128])
{
	if (c->slot > 0)
		snprintf(name, 128, "%.100s-%d", what, c->slot);
	else
		snprintf(name, 128, "%.100s", what);
}

void build_program_folder(const struct build_context *c, const struct msg_side *s, char name[128])
{
	snprintf(name, 128, "%s-%s", c->sides, role_name(s->role));
}

/*
 * Find out whether a build that failed on a full disk has filled it. Its files are already removed. Returns 0 if it has, with the
 * reason in `out`; -1 if another process has.
 */
static int blame_for_space(const struct build_context *c, const struct disk_space *full, struct disk_usage took,
	struct msg_build *out, struct fw_err *err)
{
	struct disk_space after;
	char text[400];

	/* the space that its end has freed includes that of unlinked files and of those that were not counted */
	took.is_partial = false;
	if (disk_space_read(c->cache->fd, &after) && after.free_bytes - full->free_bytes > took.bytes)
		took.bytes = after.free_bytes - full->free_bytes;
	disk_space_describe(full, c->cache->dir, text, sizeof text);
	if (!disk_usage_exceeds_share(full, took))
		return err_set(err, ERR_FULL, "only %s; the build used %lld MiB of it", text, (long long)(took.bytes >> 20));
	snprintf(out->detail, sizeof out->detail,
		"build used %lld MiB and %lld files of the disk of the cache, until it was full (see "
		"doc/troubleshooting.md#build-disk)",
		(long long)(took.bytes >> 20), (long long)took.files);
	return 0;
}

int build_make(const struct build_context *c, const struct msg_side *s, build_tree_fn *tree, void *arg, struct msg_build *out,
	int *module_fd, struct fw_err *err)
{
	struct run r = { .context = c,
		.print_max = c->print_max ? c->print_max : PRINT_MAX,
		.process_max = c->process_max ? c->process_max : procs_build_max() };
	size_t keep = c->log_bytes > 0 && c->log_bytes < LOG_LINE_MAX ? (size_t)c->log_bytes : LOG_LINE_MAX;
	int64_t started = clock_mono_ns();
	int job_fd, result;

	*module_fd = -1;
	begin(c, s, out);
	/* an earlier module: its toolchain may no longer exist, and another one would build a different module */
	if (s->tools.module[0]) {
		snprintf(out->state, sizeof out->state, "failed");
		snprintf(out->detail, sizeof out->detail,
			"module %.12s, built by %.100s, is no longer in the cache of this worker and is not built again",
			s->tools.module, s->tools.made_by);
		return 0;
	}
	if (disk_space_check(c->cache->fd, c->cache->dir, err) != 0)
		return -1;
	buildlog_init(&r.log, keep);
	plan_count(&r, procs_threads(), 0);
	build_folder(c, "job", r.folder);
	if (s->benchmark.name[0])
		build_program_folder(c, s, r.folder);
	bool is_copy = s->benchmark.name[0] && s->build.n_command > 0 && restore_program(&r, s);
	if (is_copy) {
		result = take_copy(&r, s, out, err);
	} else {
		job_fd = workdir_fresh(c->cache->fd, r.folder, err);
		result = job_fd < 0 ? -1 : make(&r, s, job_fd, tree, arg, out, module_fd, err);
		fd_close(&job_fd);
	}
	bool stays = s->benchmark.name[0] && result == 1, was_low = result == 0 && is_disk_full(&r);
	struct disk_usage took = was_low ? workdir_usage(c->cache->fd, r.folder) : (struct disk_usage){ 0 };
	if (!stays && workdir_remove(c->cache->fd, r.folder, result < 0 ? NULL : err) != 0)
		result = -1;
	if (was_low && result == 0)
		result = blame_for_space(c, &r.full, took, out, err);
	buildlog_text(&r.log, &out->log);
	buildlog_fini(&r.log);
	out->duration_ms = (clock_mono_ns() - started) / 1000000;
	snprintf(out->state, sizeof out->state, "%s", result != 1 ? "failed" : is_copy ? "cached" : "ok");
	if (result != 1) {
		out->module_sha256[0] = '\0';
		if (*module_fd >= 0)
			close(*module_fd);
		*module_fd = -1;
	}
	return result < 0 ? -1 : 0;
}
