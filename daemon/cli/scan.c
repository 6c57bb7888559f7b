/* scan.c - documented in internal.h. */
#include "cli/internal.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum { DEPTH_MAX = 6, FILES_MAX = 8000 };

struct walk {
	struct scan *scan;
	int n_files;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *suffix_of(const char *path)
{
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');

	return dot && (!slash || dot > slash) ? dot : "";
}

void scan_dir(const char *path, char *dir, size_t size)
{
	const char *slash = strrchr(path, '/');

	if (slash)
		snprintf(dir, size, "%.*s", (int)(slash - path), path);
	else
		snprintf(dir, size, ".");
}

void scan_join(const char *dir, const char *name, char *out, size_t size)
{
	if (strcmp(dir, ".") == 0)
		snprintf(out, size, "%s", name);
	else
		snprintf(out, size, "%s/%s", dir, name);
}

bool scan_is_there(const struct scan *l, const char *path)
{
	char whole[sizeof l->root + 1024];

	return (size_t)snprintf(whole, sizeof whole, "%s/%s", l->root, path) < sizeof whole && access(whole, F_OK) == 0;
}

void scan_read(const struct scan *l, const char *path, struct buf *out)
{
	char whole[sizeof l->root + SCAN_PATH_SIZE];
	struct stat st;
	int fd = -1;

	buf_init(out, SCAN_TEXT_MAX);
	if ((size_t)snprintf(whole, sizeof whole, "%s/%s", l->root, path) < sizeof whole)
		fd = open(whole, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	bool is_read =
		fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < SCAN_TEXT_MAX && buf_read_fd(out, fd) == 0;

	if (fd >= 0)
		close(fd);
	if (!is_read || out->failed || strlen(out->data) != out->len)
		buf_clear(out);
}

static bool is_builder(const char *name)
{
	return strcmp(name, "Makefile") == 0 || strcmp(name, "makefile") == 0 || strcmp(name, "GNUmakefile") == 0 ||
	       strcmp(name, "CMakeLists.txt") == 0 || strcmp(name, "setup.py") == 0 || strcmp(name, "pyproject.toml") == 0;
}

/* CMake's comments would give targets that do not exist. */
static void remove_comments(struct buf *text)
{
	struct buf out;

	buf_init(&out, SCAN_TEXT_MAX);
	for (const char *at = text->data; *at;) {
		size_t n = strcspn(at, "\n"), code = strcspn(at, "#\n");

		buf_append(&out, at, code);
		buf_putc(&out, '\n');
		at += n + (at[n] == '\n');
	}
	buf_fini(text);
	*text = out;
}

static void take_builder(struct scan *l, const char *path, const char *name)
{
	if (l->n_builders == SCAN_BUILDERS_MAX) {
		l->is_cut = true;
		return;
	}
	struct scan_builder *b = &l->builder[l->n_builders++];

	scan_dir(path, b->dir, sizeof b->dir);
	snprintf(b->name, sizeof b->name, "%s", strcasecmp(name, "makefile") == 0 || *name == 'G' ? "Makefile" : name);
	scan_read(l, path, &b->text);
	if (strcmp(name, "CMakeLists.txt") == 0)
		remove_comments(&b->text);
}

static void leave(struct scan *l, const char *path, const char *why)
{
	struct scan_skipped *left = &l->left[l->n_left];

	if (l->n_left == SCAN_SKIPPED_MAX)
		return;
	l->n_left++;
	snprintf(left->path, sizeof left->path, "%s", path);
	snprintf(left->why, sizeof left->why, "%s", why);
}

/* The header `name` as the file `path` includes it: next to the file, or below a folder that contains it. */
static bool find_header(const struct scan *l, const char *path, const char *name, char out[SCAN_PATH_SIZE])
{
	char dir[SCAN_PATH_SIZE];

	for (scan_dir(path, dir, sizeof dir);;) {
		scan_join(dir, name, out, SCAN_PATH_SIZE);
		if (scan_is_there(l, out))
			return true;
		if (strcmp(dir, ".") == 0)
			return false;
		char *slash = strrchr(dir, '/');

		if (slash)
			*slash = '\0';
		else
			snprintf(dir, sizeof dir, ".");
	}
}

/* The end of a macro's definition: of its line, or of the last line that continues it. */
static const char *end_of_macro(const char *at)
{
	for (at += strcspn(at, "\n"); *at && (at[-1] == '\\' || (at[-1] == '\r' && at[-2] == '\\'));)
		at += 1 + strcspn(at + 1, "\n");
	return at;
}

/* Whether `text` uses a macro of a header that defines fw_entry. Shape: macro[size]. */
static bool uses_macro(const struct buf *header, const char *text, char *macro, size_t size)
{
	static const char define[] = "#define ";

	for (const char *at = strstr(header->data, define); at; at = strstr(at + 1, define)) {
		const char *name = at + strlen(define);
		size_t n = strcspn(name, "( \t\n");

		if (name[n] != '(' || n == 0 || n >= size ||
			!recognise_call(name, (size_t)(end_of_macro(name) - name), "fw_entry"))
			continue;
		snprintf(macro, size, "%.*s", (int)n, name);
		if (recognise_call(text, strlen(text), macro))
			return true;
	}
	return false;
}

/* A source whose fw_entry is defined by a macro of a header of the checkout is a module, too. */
static bool is_module_by_header(const struct scan *l, struct scan_program *p)
{
	static const char include[] = "#include \"";

	for (const char *at = strstr(p->text.data, include); at; at = strstr(at + 1, include)) {
		char name[128], header[SCAN_PATH_SIZE], macro[48];
		struct buf text;

		snprintf(name, sizeof name, "%.*s", (int)strcspn(at + strlen(include), "\"\n"), at + strlen(include));
		if (strstr(name, "..") || !find_header(l, p->path, name, header))
			continue;
		scan_read(l, header, &text);
		bool found = uses_macro(&text, p->text.data, macro, sizeof macro);

		buf_fini(&text);
		if (!found)
			continue;
		p->kind = SCAN_MODULE;
		snprintf(p->why, sizeof p->why, "exports fw_entry by %s of %.100s", macro, header);
		return true;
	}
	return false;
}

/* The name of the folder of `path`, or "" for a file of the root. Shape: name[size]. */
static void folder_name(const char *path, char *name, size_t size)
{
	char dir[SCAN_PATH_SIZE];

	scan_dir(path, dir, sizeof dir);
	const char *slash = strrchr(dir, '/');

	snprintf(name, size, "%.*s", (int)size - 1, strcmp(dir, ".") == 0 ? "" : slash ? slash + 1 : dir);
}

static void take_distributions(struct scan *l, const char *path, const char *statements)
{
	enum { NAMES_MAX = 8 };
	char name[NAMES_MAX][64];
	int n = python_distributions(statements, name, NAMES_MAX);

	for (int i = 0; i < n && l->n_distributions < SCAN_DISTRIBUTIONS_MAX; i++) {
		struct scan_distribution *d = &l->distribution[l->n_distributions++];

		snprintf(d->path, sizeof d->path, "%s", path);
		snprintf(d->name, sizeof d->name, "%s", name[i]);
		if (strcmp(name[i], "__name__") == 0 || strcmp(name[i], "__package__") == 0)
			folder_name(path, d->name, sizeof d->name);
	}
}

/* Whether a program in C, C++ or CUDA takes times: with CUDA's events, or with a clock in a file that is named like a benchmark. */
static bool times_itself(const char *path, const char *text)
{
	static const char *const clocks[] = { "std::chrono", "clock_gettime", "gettimeofday", NULL };
	bool is_named = strcasestr(path, "bench") || strcasestr(path, "perf");

	if (!recognise_call(text, strlen(text), "main"))
		return false;
	for (const char *const *c = clocks; is_named && *c; c++)
		if (strstr(text, *c))
			return true;
	return strstr(text, "cudaEventElapsedTime");
}

static void take_source(struct scan *l, const char *path)
{
	struct scan_program found = { .kind = SCAN_NONE };
	char why[sizeof l->left[0].why] = "";
	struct buf text;

	scan_read(l, path, &text);
	snprintf(found.path, sizeof found.path, "%s", path);
	buf_init(&found.text, SCAN_TEXT_MAX);
	bool is_python = strcmp(suffix_of(path), ".py") == 0, is_found;
	bool is_shell = strcmp(suffix_of(path), ".sh") == 0 || strcmp(suffix_of(path), ".bash") == 0;

	if (is_python)
		python_statements(text.data, &found.text);
	else if (is_shell)
		buf_puts(&found.text, text.data);
	else
		recognise_without_comments(text.data, &found.text);
	buf_fini(&text);
	if (is_python)
		take_distributions(l, path, found.text.data);
	is_found = recognise(&found) || (!is_python && !is_shell && is_module_by_header(l, &found));
	if (is_python && found.text.len)
		is_found = script_judge(l, &found, why, sizeof why);
	else if (!is_found && !is_shell && times_itself(path, found.text.data))
		snprintf(why, sizeof why, "%s",
			"measures its times itself and prints them in an unknown format: print JSON lines, or mark its calls with "
			"flopwatch.h (daemon/kit of the sources, share/flopwatch/kit if installed)");
	if (why[0])
		leave(l, path, why);
	if (is_found && l->n_programs < SCAN_PROGRAMS_MAX) {
		l->program[l->n_programs++] = found;
		return;
	}
	l->is_cut = l->is_cut || is_found;
	buf_fini(&found.text);
}

/* Files that name the packages of a Python environment. */
static bool is_environment(const char *path, const char *name)
{
	static const char *const names[] = { "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pixi.lock", "environment.yml",
		"environment.yaml", NULL };
	const char *suffix = suffix_of(name), *slash = strrchr(path, '/');

	for (const char *const *n = names; *n; n++)
		if (strcmp(name, *n) == 0)
			return true;
	if (strcmp(suffix, ".txt") != 0)
		return false;
	return strstr(name, "requirements") || (slash && slash - path >= 12 && strncmp(slash - 12, "requirements", 12) == 0);
}

/* Benchmarks whose results are read, but whose build or run needs more than the scan can propose. */
static const struct foreign_tool {
	const char *file, *sign, *why;
} foreign_tools[] = {
	{ "Cargo.toml", "criterion",
		"uses Criterion. A sandbox has no network: vendor the crates (cargo vendor), and write "
		"command: [cargo, bench, --offline, --, --output-format, bencher] with reader: criterion" },
	{ "pom.xml", "jmh-core",
		"uses JMH: build its jar in build.command, without a network, and write "
		"command: [java, -jar, target/benchmarks.jar, -rf, json, -rff, jmh.json] with reader: jmh" },
	{ "asv.conf.json", "",
		"is of asv, which checks out commits by itself, so no sandbox runs it; flopwatch compare reads its results, and "
		"flopwatch import --history its past" },
};

/* Returns whether the file is one of a foreign tool. */
static bool take_foreign(struct scan *l, const char *path, const char *name)
{
	for (size_t i = 0; i < sizeof foreign_tools / sizeof foreign_tools[0]; i++) {
		struct buf text;

		if (strcmp(name, foreign_tools[i].file) != 0)
			continue;
		scan_read(l, path, &text);
		if (strstr(text.data, foreign_tools[i].sign))
			leave(l, path, foreign_tools[i].why);
		buf_fini(&text);
		return true;
	}
	return false;
}

static void take_environment(struct scan *l, const char *path)
{
	if (l->n_environments < SCAN_ENVIRONMENTS_MAX)
		snprintf(l->environment[l->n_environments++], sizeof l->environment[0], "%s", path);
}

/* Add a suite of the repository, by its name. */
static void take_suite(struct scan *l, const char *path, const char *name)
{
	char dir[SCAN_PATH_SIZE];

	scan_dir(path, dir, sizeof dir);
	bool is_suite = strcmp(dir, "etc/suites") == 0 || strcmp(dir, ".flopwatch/suites") == 0;

	if (is_suite && l->n_suites < SCAN_SUITES_MAX)
		snprintf(l->suite[l->n_suites++], sizeof l->suite[0], "%.*s", (int)(strlen(name) - strlen(".yaml")), name);
}

static void take_result(struct scan *l, const char *path, const char *name)
{
	struct buf text;

	if (l->result[0])
		return;
	scan_read(l, path, &text);
	const char *format = text.len ? reading_guess(text.data, text.len, name) : NULL;

	if (format) {
		snprintf(l->result, sizeof l->result, "%s", path);
		snprintf(l->result_format, sizeof l->result_format, "%s", format);
	}
	buf_fini(&text);
}

static void take_file(struct scan *l, const char *path, const char *name)
{
	const char *suffix = suffix_of(name);

	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			return; /* a comment of the manifest cannot name it */
	if (is_builder(name))
		take_builder(l, path, name);
	else if (take_foreign(l, path, name))
		return;
	else if (is_environment(path, name))
		take_environment(l, path);
	else if (strcmp(suffix, ".yaml") == 0)
		take_suite(l, path, name);
	else if (strcmp(suffix, ".json") == 0 || strcmp(suffix, ".jsonl") == 0 || strcmp(suffix, ".csv") == 0)
		take_result(l, path, name);
	else if (recognise_suffix(suffix))
		take_source(l, path);
}

/* Folders of build output, dependencies and hidden files contain no benchmarks of the user. */
static bool is_passed_over(const char *name)
{
	static const char *const names[] = { "build", "_build", "out", "node_modules", "third_party", "3rdparty", "external",
		"extern", "vendor", "_deps", "__pycache__", "venv", "site-packages", "submodules", NULL };

	if (name[0] == '.')
		return strcmp(name, ".flopwatch") != 0;
	for (const char *const *n = names; *n; n++)
		if (strcmp(name, *n) == 0)
			return true;
	return strncmp(name, "cmake-build-", strlen("cmake-build-")) == 0;
}

/* Names in a folder, sorted, so that equal checkouts give equal manifests. Own: the caller frees each and the list. */
static int list_names(const char *path, char ***out, struct fw_err *err)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	int n = 0;

	*out = NULL;
	if (!dir)
		return err_sys(err, "%s", path);
	while ((d = readdir(dir)) && n < FILES_MAX) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		*out = mem_grow_one(*out, (size_t)n, sizeof **out);
		(*out)[n++] = mem_copy_text(d->d_name);
	}
	closedir(dir);
	if (n)
		qsort(*out, (size_t)n, sizeof **out, by_name);
	return n;
}

/* A newline would end a comment of the manifest. */
static bool has_control(const char *name)
{
	for (; *name; name++)
		if (iscntrl((unsigned char)*name))
			return true;
	return false;
}

static int walk(struct walk *w, const char *dir, int depth, struct fw_err *err)
{
	struct scan *l = w->scan;
	char whole[sizeof l->root + SCAN_PATH_SIZE + 256], **name;
	struct stat st;

	snprintf(whole, sizeof whole, "%s/%s", l->root, dir);
	int n = list_names(whole, &name, err);

	if (n < 0)
		return depth ? 0 : -1; /* an unreadable folder is skipped */
	for (int folders = 0; folders < 2; folders++)
		for (int i = 0; i < n; i++) {
			char path[SCAN_PATH_SIZE + 256];

			scan_join(dir, name[i], path, sizeof path);
			snprintf(whole, sizeof whole, "%s/%s", l->root, path);
			if (strlen(path) >= SCAN_PATH_SIZE || has_control(name[i]) || lstat(whole, &st) != 0)
				continue;
			if (folders && S_ISDIR(st.st_mode) && depth < DEPTH_MAX && !is_passed_over(name[i]))
				(void)walk(w, path, depth + 1, NULL);
			else if (!folders && S_ISREG(st.st_mode) && w->n_files++ < FILES_MAX)
				take_file(l, path, name[i]);
		}
	l->is_cut = l->is_cut || w->n_files > FILES_MAX;
	for (int i = 0; i < n; i++)
		free(name[i]);
	free(name);
	return 0;
}

int scan_at(struct scan *l, const char *root, struct fw_err *err)
{
	struct walk w = { .scan = l };

	memset(l, 0, sizeof *l);
	if ((size_t)snprintf(l->root, sizeof l->root, "%s", root) >= sizeof l->root)
		return err_set(err, ERR_INVALID, "%.100s...: the path is too long", root);
	return walk(&w, ".", 0, err);
}

void scan_free(struct scan *l)
{
	for (int i = 0; i < l->n_programs; i++)
		buf_fini(&l->program[i].text);
	for (int i = 0; i < l->n_builders; i++)
		buf_fini(&l->builder[i].text);
	l->n_programs = l->n_builders = 0;
	script_forget(l);
}

const struct scan_builder *scan_builder(const struct scan *l, const char *dir, const char *name)
{
	for (int i = 0; i < l->n_builders; i++)
		if (strcmp(l->builder[i].dir, dir) == 0 && strcmp(l->builder[i].name, name) == 0)
			return &l->builder[i];
	return NULL;
}
