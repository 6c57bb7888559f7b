/* script.c - documented in internal.h. */
#include "cli/internal.h"

#include <ctype.h>

enum { HELPERS_MAX = 24 };

static const char *const package_positions[] = { ".", "src", "python", NULL };

/* ---- position in the checkout --------------------------------------------------------------------------------------------- */

/* A word of `text` at `at` ends or begins there. */
static bool is_edge(char c)
{
	return !isalpha((unsigned char)c);
}

static bool has_bench_word(const char *name, size_t len)
{
	static const char *const words[] = { "bench", "benches", "benchmark", "benchmarks", "benchmarking", "perf", "performance",
		NULL };

	for (const char *const *w = words; *w; w++) {
		size_t n = strlen(*w);

		for (size_t i = 0; i + n <= len; i++)
			if (strncasecmp(name + i, *w, n) == 0 && (i == 0 || is_edge(name[i - 1])) &&
				(i + n == len || is_edge(name[i + n])))
				return true;
	}
	return false;
}

static bool is_test_word(const char *name, size_t len)
{
	static const char *const words[] = { "test", "tests", "testing", "unittest", "unittests", NULL };

	for (const char *const *w = words; *w; w++)
		if (strlen(*w) == len && strncasecmp(name, *w, len) == 0)
			return true;
	return false;
}

enum script_position script_position(const char *path)
{
	enum script_position result = SCRIPT_ELSEWHERE;

	/* the innermost folder decides, then the name of the file */
	for (const char *part = path; *part; part += strcspn(part, "/"), part += *part == '/') {
		size_t len = strcspn(part, "/");

		if (part[len] == '/')
			result = has_bench_word(part, len) ? SCRIPT_BENCHMARKS : is_test_word(part, len) ? SCRIPT_TESTS : result;
		else if (strncmp(part, "test_", 5) == 0 || (len > 8 && strncmp(part + len - 8, "_test.py", 8) == 0))
			result = SCRIPT_TESTS;
		else if (has_bench_word(part, strcspn(part, ".")))
			result = SCRIPT_BENCHMARKS;
	}
	return result;
}

/* ---- modules of the checkout ---------------------------------------------------------------------------------------------- */

/* The file of module `name` below `dir`. False: there is none. Shape: path[size]. */
static bool find_module(const struct scan *l, const char *dir, const char *name, char *path, size_t size)
{
	static const char *const ends[] = { ".py", "/__init__.py", NULL };
	char inside[SCAN_PATH_SIZE], file[SCAN_PATH_SIZE + 32];

	snprintf(inside, sizeof inside, "%s", name);
	for (char *dot = inside; (dot = strchr(dot, '.'));)
		*dot = '/';
	for (const char *const *e = ends; *e; e++) {
		snprintf(file, sizeof file, "%s%s", inside, *e);
		scan_join(dir, file, path, size);
		if (scan_is_there(l, path))
			return true;
	}
	return false;
}

static bool find_local(const struct scan *l, const char *script, const char *name, char *path, size_t size)
{
	char dir[SCAN_PATH_SIZE];

	scan_dir(script, dir, sizeof dir);
	if (find_module(l, dir, name, path, size))
		return true;
	for (const char *const *p = package_positions; *p; p++)
		if (find_module(l, *p, name, path, size))
			return true;
	return false;
}

/* Whether `name`, the first part of a module, is a module or a folder of the checkout below `dir`. */
static bool is_package(const struct scan *l, const char *dir, const char *name)
{
	char path[2 * SCAN_PATH_SIZE];

	if (find_module(l, dir, name, path, sizeof path))
		return true;
	scan_join(dir, name, path, sizeof path);
	return strcmp(dir, ".") != 0 && scan_is_there(l, path); /* a package without __init__.py */
}

static bool has_item(const char *list, const char *word, char separator)
{
	size_t n = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, (char[]){ separator, '\0' }), at += *at == separator)
		if (strncmp(at, word, n) == 0 && (at[n] == '\0' || at[n] == separator))
			return true;
	return false;
}

/* Add `word` to a list separated by `separator`, unless it is there. */
static void add_once(char *list, size_t size, const char *word, char separator)
{
	size_t used = strlen(list);

	if (!has_item(list, word, separator) && used + strlen(word) + 2 <= size)
		snprintf(list + used, size - used, "%s%s", used ? (char[]){ separator, '\0' } : "", word);
}

/* Note the package or module `name` in `dir` as one that the script imports. */
static void add_package(struct scan_program *p, const char *dir, const char *name)
{
	char path[2 * SCAN_PATH_SIZE];

	scan_join(dir, name, path, sizeof path);
	if (!strchr(path, ' '))
		add_once(p->packages, sizeof p->packages, path, ' ');
}

/* Add a module that the script imports: of the checkout, with the folder that Python must search, or of the machine. */
static void add_module(const struct scan *l, const char *module, struct scan_program *p)
{
	char dir[SCAN_PATH_SIZE], name[64];
	bool is_ours = false;

	scan_dir(p->path, dir, sizeof dir);
	snprintf(name, sizeof name, "%.*s", (int)strcspn(module, "."), module);
	if (has_item(p->modules, name, ' '))
		return;                 /* most are imported by many files */
	if (is_package(l, dir, name)) { /* Python searches the script's own folder */
		add_package(p, dir, name);
		return;
	}
	for (const char *const *at = package_positions; *at && !is_ours; at++) {
		is_ours = is_package(l, *at, name);
		if (is_ours)
			add_package(p, *at, name);
		if (is_ours && strcmp(*at, dir) != 0)
			add_once(p->search, sizeof p->search, *at, ':');
	}
	if (!is_ours && strcmp(name, "flopwatch") != 0)
		add_once(p->modules, sizeof p->modules, name, ' ');
}

static void add_modules(const struct scan *l, const struct python_script *s, struct scan_program *p)
{
	for (int i = 0; i < s->n_imports; i++)
		add_module(l, s->import[i], p);
}

/* ---- judge ---------------------------------------------------------------------------------------------------------------- */

/* A file that scripts import. */
struct script_helper {
	char path[2 * SCAN_PATH_SIZE];
	struct buf code;
	struct python_script facts;
};

/* The file, read once; NULL: there are too many. */
static const struct script_helper *read_helper(struct scan *l, const char *path)
{
	struct buf text;

	for (int i = 0; i < l->n_helpers; i++)
		if (strcmp(l->helper[i]->path, path) == 0)
			return l->helper[i];
	if (l->n_helpers == SCAN_HELPERS_MAX)
		return NULL;
	struct script_helper *h = l->helper[l->n_helpers++] = mem_alloc(sizeof *h);

	snprintf(h->path, sizeof h->path, "%s", path);
	scan_read(l, path, &text);
	buf_init(&h->code, SCAN_TEXT_MAX);
	python_statements(text.data, &h->code);
	python_read(h->code.data, &h->facts);
	buf_fini(&text);
	return h;
}

void script_forget(struct scan *l)
{
	for (int i = 0; i < l->n_helpers; i++) {
		buf_fini(&l->helper[i]->code);
		free(l->helper[i]);
	}
	l->n_helpers = 0;
}

/* Read the files of the checkout that the script imports: their timers, their modules, and whether they use a GPU. */
static void read_helpers(struct scan *l, const struct python_script *s, struct scan_program *p)
{
	bool is_benchmark = script_position(p->path) == SCRIPT_BENCHMARKS;
	const struct script_helper *helper[HELPERS_MAX];
	char file[2 * SCAN_PATH_SIZE];
	int n = 0;

	for (int i = 0; i < s->n_imports && n < HELPERS_MAX; i++)
		if (find_local(l, p->path, s->import[i], file, sizeof file) && strcmp(file, p->path) != 0 &&
			(helper[n] = read_helper(l, file)))
			n++;
	for (int i = 0; i < n && p->kind == SCAN_NONE && is_benchmark; i++) {
		if (!python_calls_timer_of(p->text.data, helper[i]->code.data))
			continue;
		p->kind = SCAN_TIMED_PYTHON;
		p->is_indirect = true;
		add_module(l, python_timer(helper[i]->code.data), p); /* which the helper may import in a function */
		snprintf(p->why, sizeof p->why, "times with %s in %.100s", python_timer(helper[i]->code.data), helper[i]->path);
	}
	for (int i = 0; i < n && p->kind != SCAN_NONE; i++) {
		add_modules(l, &helper[i]->facts, p);
		p->uses_gpu = p->uses_gpu || recognise_gpu(helper[i]->code.data);
	}
}

static bool imports_any(const struct python_script *s, const char *const *names)
{
	for (int i = 0; i < s->n_imports; i++)
		for (const char *const *n = names; *n; n++)
			if (strncmp(s->import[i], *n, strlen(*n)) == 0)
				return true;
	return false;
}

/* Why the script cannot be timed, if no timer that can be read was found. */
static const char *no_timer(const struct scan_program *p, const struct python_script *s)
{
	static const char *const plots[] = { "matplotlib", "seaborn", "plotly", "bokeh", "altair", NULL };
	static const char *const clocks[] = { "perf_counter", "time.time(", "monotonic", "cuda.Event(", "timeit", NULL };

	for (const char *const *c = clocks; *c; c++)
		if (strstr(p->text.data, *c))
			return "measures its times itself and prints them in an unknown format: print JSON lines, or import "
			       "flopwatch (flopwatch.py: daemon/kit of the sources, share/flopwatch/kit if installed)";
	return imports_any(s, plots) ? "draws results and times nothing" : "calls no known timer";
}

/* Arguments with choices get the first one; any other that is required is a reason to leave the script out. */
static bool fill_arguments(const struct python_script *s, struct scan_program *p, char *why, size_t size)
{
	char names[200] = "";
	int n = 0;

	for (int i = 0; i < s->n_needs; i++) {
		const struct python_need *need = &s->need[i];

		if (need->first[0] && p->arguments.n + 2 <= COMMAND_WORDS_MAX / 2) {
			size_t used = strlen(p->choices);

			if (need->name[0] == '-')
				command_add(&p->arguments, need->name);
			command_add(&p->arguments, need->first);
			snprintf(p->choices + used, sizeof p->choices - used, "%s%s is one of %s", used ? "; " : "", need->name,
				need->choices);
			continue;
		}
		size_t used = strlen(names);

		snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", need->name);
		n++;
	}
	if (n)
		snprintf(why, size, "needs argument%s %s, which ha%s no default", n > 1 ? "s" : "", names, n > 1 ? "ve" : "s");
	return n == 0;
}

/* A conftest.py of its folder, or of one above, replaces the fixture of pytest-benchmark. */
static bool has_other_fixture(const struct scan *l, const char *path)
{
	char dir[SCAN_PATH_SIZE], file[SCAN_PATH_SIZE + 32];
	bool is_found = false, is_root = false;

	for (snprintf(file, sizeof file, "%s", path); !is_found && !is_root; snprintf(file, sizeof file, "%s", dir)) {
		struct buf text;

		scan_dir(file, dir, sizeof dir);
		is_root = strcmp(dir, ".") == 0;
		scan_join(dir, "conftest.py", file, sizeof file);
		scan_read(l, file, &text);
		is_found = strstr(text.data, "def benchmark(") != NULL;
		buf_fini(&text);
	}
	return is_found;
}

bool script_judge(struct scan *l, struct scan_program *p, char *why, size_t size)
{
	enum script_position position = script_position(p->path);
	struct python_script *s = mem_alloc(sizeof *s);
	bool result = false;

	why[0] = '\0';
	python_read(p->text.data, s);
	if (p->kind == SCAN_NONE && s->has_fixture && !has_other_fixture(l, p->path)) {
		p->kind = SCAN_PYTEST;
		snprintf(p->why, sizeof p->why, "has tests with the fixture of pytest-benchmark");
		add_once(p->modules, sizeof p->modules, "pytest", ' ');
		add_once(p->modules, sizeof p->modules, "pytest_benchmark", ' ');
	}
	add_modules(l, s, p);
	if (p->kind != SCAN_NONE || position == SCRIPT_BENCHMARKS)
		read_helpers(l, s, p);
	bool is_known = p->kind != SCAN_NONE;

	if (p->kind == SCAN_PYTEST)
		result = true;
	else if (!is_known && position != SCRIPT_BENCHMARKS)
		result = false; /* not a benchmark, and not similar to one */
	else if (position == SCRIPT_TESTS)
		snprintf(why, size, "is a test");
	else if (p->kind != SCAN_KIT_PYTHON && !s->has_guard && !s->has_work)
		snprintf(why, size, "%s", is_known ? "defines functions and runs none of them" : ""); /* a module */
	else if (!fill_arguments(s, p, why, size))
		result = false;
	else if (!is_known)
		snprintf(why, size, "%s", no_timer(p, s));
	else if (s->is_relative)
		snprintf(why, size, "imports relative to its package, so it does not run as a script");
	else
		result = true;
	free(s);
	return result;
}
