/* missing.c - documented in internal.h. */
#include "cli/internal.h"

#include <limits.h>
#include <unistd.h>

enum { MODULES_MAX = 256, ANSWER_MAX = 16 << 10, DEADLINE_MS = 20000 };

/* Prints the names of absent modules. -I ignores the user's own packages, which the sandbox does not show either. */
static const char program_text[] = "import importlib.util, sys\n"
				   "for name in sys.argv[1:]:\n"
				   "    if importlib.util.find_spec(name) is None:\n"
				   "        print(name)\n";

struct modules {
	int n;
	char name[MODULES_MAX][64];
};

/* The program that the sandbox runs as `name`. Shape: path[PATH_MAX]. */
static bool find_program(const char *name, char *path)
{
	for (const char *at = BUILD_PATH; *at; at += strcspn(at, ":"), at += *at == ':') {
		snprintf(path, PATH_MAX, "%.*s/%s", (int)strcspn(at, ":"), at, name);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

static void add(struct proposal *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct proposal *p, const char *format, ...)
{
	char text[sizeof p->missing[0]];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	for (int i = 0; i < p->n_missing; i++)
		if (strcmp(p->missing[i], text) == 0)
			return;
	if (p->n_missing < PROPOSE_NOTES_MAX)
		memcpy(p->missing[p->n_missing++], text, sizeof text);
}

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; *list; list += strcspn(list, " "), list += *list == ' ')
		if (strcspn(list, " ") == n && strncmp(list, word, n) == 0)
			return true;
	return false;
}

static void list_modules(const struct scan *l, struct modules *out)
{
	out->n = 0;
	for (int i = 0; i < l->n_programs; i++)
		for (const char *at = l->program[i].modules; *at; at += strcspn(at, " "), at += *at == ' ') {
			size_t n = strcspn(at, " ");
			bool is_there = n >= sizeof out->name[0];

			for (int k = 0; k < out->n && !is_there; k++)
				is_there = strlen(out->name[k]) == n && strncmp(out->name[k], at, n) == 0;
			if (!is_there && out->n < MODULES_MAX)
				snprintf(out->name[out->n++], sizeof out->name[0], "%.*s", (int)n, at);
		}
}

/* The benchmarks that import `module`: "a, b and 3 more". Shape: out[size]. */
static void list_users(const struct proposal *p, const char *module, char *out, size_t size)
{
	enum { SHOWN = 3 };
	int n = 0;

	out[0] = '\0';
	for (int i = 0; i < p->n_benchmarks; i++) {
		size_t used = strlen(out);

		if (has_word(p->benchmark[i].modules, module) && n++ < SHOWN)
			snprintf(out + used, size - used, "%s%s", used ? ", " : "", p->benchmark[i].name);
	}
	if (n > SHOWN)
		snprintf(out + strlen(out), size - strlen(out), " and %d more", n - SHOWN);
}

/* Check all of `modules` with the Python of the sandbox. */
static void query_python(struct scan *l, const struct modules *modules)
{
	const char *argv[MODULES_MAX + 5] = { l->python, "-I", "-c", program_text };
	struct proc_exit how;
	struct buf out;
	int n = 4;

	for (int i = 0; i < modules->n; i++)
		argv[n++] = modules->name[i];
	buf_init(&out, ANSWER_MAX);
	bool is_done = proc_run(&(struct proc_spec){ .argv = argv }, NULL, &out, NULL, DEADLINE_MS, &how, NULL) == 0 &&
		       how.status == 0 && !out.failed;

	l->has_no_answer = !is_done;
	for (const char *at = out.data; is_done && *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (l->n_absent < SCAN_ABSENT_MAX)
			snprintf(l->absent[l->n_absent++], sizeof l->absent[0], "%.*s", (int)strcspn(at, "\n"), at);
	buf_fini(&out);
}

static void name_absent(const struct scan *l, struct scan_program *program)
{
	for (int i = 0; i < l->n_absent && program->n_absent < (int)(sizeof program->absent / sizeof program->absent[0]); i++)
		if (has_word(program->modules, l->absent[i]))
			program->absent[program->n_absent++] = l->absent[i];
}

static void add_modules(const struct scan *l, struct proposal *p)
{
	char users[300];
	bool has_modules = false;

	for (int i = 0; i < p->n_benchmarks; i++)
		has_modules = has_modules || p->benchmark[i].modules[0];
	if (has_modules && !l->python[0])
		add(p, "missing here: python3, which the sandbox searches in %s", BUILD_PATH);
	else if (has_modules && l->has_no_answer)
		add(p, "the modules that it imports were not checked: %.200s did not answer", l->python);
	for (int i = 0; i < l->n_absent; i++) {
		list_users(p, l->absent[i], users, sizeof users);
		p->lacks_modules = p->lacks_modules || users[0];
		if (users[0])
			add(p, "missing here: module %s, which %.100s cannot import; needed by %.200s", l->absent[i], l->python,
				users);
	}
}

static void find_tool(struct proposal *p, const char *name)
{
	char path[PATH_MAX];

	if (name[0] && !strchr(name, '/') && !find_program(name, path))
		add(p, "missing here: program %.100s, which the sandbox searches in %s", name, BUILD_PATH);
}

void missing_search(struct scan *l)
{
	struct modules *modules = mem_alloc(sizeof *modules);
	char python[PATH_MAX];

	list_modules(l, modules);
	if (modules->n && find_program("python3", python)) {
		snprintf(l->python, sizeof l->python, "%.255s", python);
		query_python(l, modules);
	}
	for (int i = 0; i < l->n_programs; i++)
		name_absent(l, &l->program[i]);
	free(modules);
}

void missing_find(const struct scan *l, struct proposal *p)
{
	for (int i = 0; i < p->n_steps; i++)
		find_tool(p, p->step[i].command.word[0]);
	for (int i = 0; i < p->n_benchmarks; i++)
		if (p->benchmark[i].needs_nvcc)
			find_tool(p, "nvcc");
		else if (strcmp(p->benchmark[i].reader, "hyperfine") == 0)
			find_tool(p, "hyperfine");
	add_modules(l, p);
}
