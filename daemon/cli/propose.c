/* propose.c - documented in internal.h. */
#include "cli/internal.h"

#include <ctype.h>
#include <stdlib.h>

static void note(struct proposal *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(struct proposal *p, const char *format, ...)
{
	va_list args;

	if (p->n_notes == PROPOSE_NOTES_MAX)
		return;
	va_start(args, format);
	vsnprintf(p->note[p->n_notes++], sizeof p->note[0], format, args);
	va_end(args);
}

static void leave(struct proposal *p, const char *path, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void leave(struct proposal *p, const char *path, const char *format, ...)
{
	struct scan_left *left = &p->left[p->n_left];
	va_list args;

	if (p->n_left == PROPOSE_LEFT_MAX)
		return;
	p->n_left++;
	snprintf(left->path, sizeof left->path, "%s", path);
	va_start(args, format);
	vsnprintf(left->why, sizeof left->why, format, args);
	va_end(args);
}

/* A unique name for the benchmark in `path`: only letters, digits, _ and -. */
static void name_of(const struct proposal *p, const char *path, char name[64])
{
	const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path;
	char stem[56];
	int n = 0, again = 1;

	for (; from[n] && from[n] != '.' && n < (int)sizeof stem - 1; n++)
		stem[n] = isalnum((unsigned char)from[n]) ? (char)tolower((unsigned char)from[n]) : from[n] == '-' ? '-' : '_';
	stem[n] = '\0';
	snprintf(name, 64, "%s", n ? stem : "bench");
	for (int i = 0; i < p->n_benchmarks; i++)
		if (strcmp(p->benchmark[i].name, name) == 0) {
			snprintf(name, 64, "%s-%d", stem, ++again);
			i = -1;
		}
}

/* ---- programs that are built ---------------------------------------------------------------------------------------------- */

static void add_why(struct proposal *p, const char *why)
{
	for (int i = 0; i < p->n_whys; i++)
		if (strcmp(p->why[i], why) == 0)
			return;
	if (why[0] && p->n_whys < PROPOSE_WHYS_MAX)
		snprintf(p->why[p->n_whys++], sizeof p->why[0], "%s", why);
}

static bool fits(const struct proposal *p)
{
	struct buf line;

	buf_init(&line, 64 << 10);
	write_shell(p, &line);
	bool result = line.len <= WRITE_WORD_MAX || p->n_steps == 1;

	buf_fini(&line);
	return result;
}

/* The same words before the targets. */
static bool has_same_begin(const struct builder_step *a, const struct builder_step *b)
{
	if (a->n_before_targets == 0 || a->n_before_targets != b->n_before_targets)
		return false;
	for (int i = 0; i < a->n_before_targets; i++)
		if (strcmp(a->command.word[i], b->command.word[i]) != 0)
			return false;
	return true;
}

/* Add the targets of `s` to an equal step. False: there is none, or the step would be too long. */
static bool add_targets(struct proposal *p, struct builder_step *into, const struct builder_step *s)
{
	struct builder_step before = *into;

	for (int i = s->n_before_targets; i < s->command.n; i++) {
		bool is_there = into->command.n == into->n_before_targets; /* all targets */

		for (int k = into->n_before_targets; k < into->command.n; k++)
			is_there = is_there || strcmp(into->command.word[k], s->command.word[i]) == 0;
		if (!is_there && into->command.n < COMMAND_WORDS_MAX)
			command_add(&into->command, s->command.word[i]);
		else if (!is_there)
			into->command.n = 0;
	}
	if (into->command.n && fits(p))
		return true;
	*into = before;
	if (strcmp(s->command.word[0], "cmake") != 0)
		return false;
	/* without --target CMake builds all */
	into->command.n = into->n_before_targets = s->n_before_targets - 1;
	return true;
}

/* Add a step unless it exists. False: the build would exceed the manifest's limit. */
static bool add_step(struct proposal *p, const struct builder_step *s)
{
	for (int i = 0; i < p->n_steps; i++) {
		bool is_all = p->step[i].n_before_targets == s->n_before_targets - 1 &&
			      p->step[i].command.n == p->step[i].n_before_targets && strcmp(s->command.word[0], "cmake") == 0;

		if (is_all || command_is_same(&p->step[i].command, &s->command) ||
			(has_same_begin(&p->step[i], s) && add_targets(p, &p->step[i], s))) {
			add_why(p, s->why);
			return true;
		}
	}
	if (p->n_steps == PROPOSE_STEPS_MAX)
		return false;
	p->step[p->n_steps++] = *s;
	bool result = fits(p);

	p->n_steps -= !result;
	if (result)
		add_why(p, s->why);
	return result;
}

static bool build(struct proposal *p, const struct scan *l, const struct scan_program *program, char file[COMMAND_WORD_SIZE])
{
	struct builder_step step[BUILDER_STEPS_MAX];
	int n = builder_find(l, program, step, file);

	for (int i = 0; i < n; i++)
		if (!add_step(p, &step[i]))
			n = 0;
	if (n == 0)
		leave(p, program->path,
			"%.90s, but the scan found no build for it, or the build conflicts with the others; write it in "
			"build.command",
			program->why);
	return n > 0;
}

/* A file that the program opens when it runs is not part of the build output. */
static bool reads_files(const struct scan_program *program)
{
	static const char *const words[] = { "fopen", "open(", "ifstream", "dlopen", "freopen", "getenv", "LoadModule", NULL };

	for (const char *const *w = words; *w; w++)
		if (strstr(program->text.data, *w))
			return true;
	return false;
}

static void add_compiled(struct proposal *p, const struct scan *l, const struct scan_program *program)
{
	struct propose_benchmark *b = &p->benchmark[p->n_benchmarks];
	char file[COMMAND_WORD_SIZE], start[COMMAND_WORD_SIZE + 2], name[sizeof b->name], option[128];

	*b = (struct propose_benchmark){ .reader = "flopwatch", .uses_gpu = program->uses_gpu };
	b->needs_nvcc = strstr(program->path, ".cu") != NULL;
	if (!build(p, l, program, file))
		return;
	snprintf(start, sizeof start, "./%s", file);
	for (int i = 0; i < p->n_benchmarks; i++)
		if (strcmp(p->benchmark[i].command.word[0], start) == 0)
			return; /* another source of the same program */
	bool is_cmake = strcmp(p->step[p->n_steps - 1].command.word[0], "cmake") == 0;

	name_of(p, is_cmake ? file : program->path, name); /* a target of CMake may have many sources */
	memcpy(b->name, name, sizeof name);
	command_add(&b->command, start);
	snprintf(b->why, sizeof b->why, "%.200s %.100s", program->path, program->why);
	if (!reads_files(program) && !is_cmake) /* which may also build libraries */
		snprintf(b->artifact, sizeof b->artifact, "%s", file);
	if (program->kind == SCAN_GOOGLE || program->kind == SCAN_KIT_GOOGLE) {
		b->reader = "google-benchmark";
		snprintf(b->output, sizeof b->output, "%s.json", name);
		snprintf(option, sizeof option, "--benchmark_out=%s.json", name);
		command_add(&b->command, option);
		command_add(&b->command, "--benchmark_out_format=json");
	} else if (program->kind == SCAN_NVBENCH) {
		b->reader = "nvbench";
		snprintf(b->output, sizeof b->output, "%s.json", name);
		command_add(&b->command, "--json");
		command_add(&b->command, b->output);
	}
	p->n_benchmarks++;
}

/* ---- scripts -------------------------------------------------------------------------------------------------------------- */

/* The command with the folders of the script's packages in PYTHONPATH, which the sandbox sets to the kit's folder. */
static void add_search(struct command *c, const char *folders)
{
	struct command plain = *c;
	struct buf line;

	buf_init(&line, (size_t)16 * COMMAND_WORD_SIZE);
	buf_printf(&line, "PYTHONPATH=%s:$PYTHONPATH exec ", folders);
	command_put_shell(&plain, &line);
	c->n = 0;
	command_add(c, "sh");
	command_add(c, "-c");
	command_add(c, line.data);
	buf_fini(&line);
}

static bool has_long_word(const struct command *c)
{
	for (int i = 0; i < c->n; i++)
		if (strlen(c->word[i]) > WRITE_WORD_MAX)
			return true;
	return false;
}

static void add_python(struct proposal *p, const struct scan *l, const struct scan_program *program)
{
	struct propose_benchmark *b = &p->benchmark[p->n_benchmarks];
	struct builder_step step;
	char option[128], name[sizeof b->name];

	*b = (struct propose_benchmark){ .reader = "flopwatch", .uses_gpu = program->uses_gpu };
	if (strpbrk(program->path, " '\"$`\\") || strchr(program->choices, '\'')) {
		leave(p, program->path, "%.100s, but a shell would misread its name or an argument", program->why);
		return;
	}
	name_of(p, program->path, name);
	memcpy(b->name, name, sizeof name);
	snprintf(b->why, sizeof b->why, "%.150s %.160s", program->path, program->why);
	snprintf(b->choices, sizeof b->choices, "%s", program->choices);
	snprintf(b->modules, sizeof b->modules, "%s", program->modules);
	command_add(&b->command, "python3");
	if (program->kind == SCAN_TIMED_PYTHON || program->kind == SCAN_PYTEST)
		command_add(&b->command, "-m");
	if (program->kind == SCAN_TIMED_PYTHON)
		command_add(&b->command, "flopwatch");
	if (program->kind == SCAN_PYTEST) {
		command_add(&b->command, "pytest");
		command_add(&b->command, "-p"); /* the kit's plugin */
		command_add(&b->command, "flopwatch");
	}
	command_add(&b->command, program->path);
	for (int i = 0; i < program->arguments.n; i++)
		command_add(&b->command, program->arguments.word[i]);
	if (program->kind == SCAN_PYTEST) {
		b->reader = "pytest-benchmark";
		snprintf(b->output, sizeof b->output, "%s.json", name);
		snprintf(option, sizeof option, "--benchmark-json=%s.json", name);
		command_add(&b->command, "--benchmark-only");
		command_add(&b->command, option);
		snprintf(b->modules, sizeof b->modules, "%s%spytest pytest_benchmark", program->modules,
			program->modules[0] ? " " : "");
	}
	/* python3 -m pytest searches the current folder */
	if (program->search[0] && !(program->kind == SCAN_PYTEST && strcmp(program->search, ".") == 0))
		add_search(&b->command, program->search);
	if (has_long_word(&b->command)) {
		leave(p, program->path, "%.100s, but its command is longer than a manifest permits", program->why);
		return;
	}
	if (builder_python(l, &step))
		(void)add_step(p, &step);
	p->n_benchmarks++;
}

static void add_shell(struct proposal *p, const struct scan_program *program)
{
	struct propose_benchmark *b = &p->benchmark[p->n_benchmarks];
	bool is_bash = strstr(program->text.data, "bash") != NULL;

	*b = (struct propose_benchmark){ .reader = "hyperfine", .uses_gpu = program->uses_gpu };
	name_of(p, program->path, b->name);
	command_add(&b->command, is_bash ? "bash" : "sh");
	command_add(&b->command, program->path);
	snprintf(b->output, sizeof b->output, "%s", program->output);
	snprintf(b->why, sizeof b->why, "%.150s %.80s %.60s", program->path, program->why, program->output);
	p->n_benchmarks++;
}

/* A Makefile rule that runs a benchmark and writes a file: `make bench`. */
static void add_recipes(struct proposal *p, const struct scan *l)
{
	static const struct {
		const char *option, *reader;
	} ways[] = { { "--export-json", "hyperfine" }, { "--benchmark_out", "google-benchmark" } };

	for (int i = 0; i < l->n_builders; i++) {
		if (strcmp(l->builder[i].name, "Makefile") != 0 || strcmp(l->builder[i].dir, ".") != 0)
			continue;
		struct makefile *m = makefile_read(l->builder[i].text.data);
		char target[128];
		const char *recipe;

		for (size_t k = 0; k < sizeof ways / sizeof ways[0] && p->n_benchmarks < PROPOSE_BENCHMARKS_MAX; k++) {
			struct propose_benchmark *b = &p->benchmark[p->n_benchmarks];

			*b = (struct propose_benchmark){ .reader = ways[k].reader };
			if (!makefile_recipe(m, ways[k].option, target, sizeof target, &recipe) ||
				!recognise_option(recipe, ways[k].option, b->output, sizeof b->output))
				continue;
			name_of(p, target, b->name);
			command_add(&b->command, "make");
			command_add(&b->command, target);
			snprintf(b->why, sizeof b->why, "the rule %.100s of Makefile runs a benchmark with %s", target,
				ways[k].option);
			p->n_benchmarks++;
		}
		makefile_free(m);
	}
}

/* ---- modules -------------------------------------------------------------------------------------------------------------- */

static void choose_suites(struct proposal *p, const struct scan *l, bool uses_gpu)
{
	if (l->n_suites) {
		memcpy(p->suite, l->suite, sizeof p->suite);
		p->n_suites = l->n_suites;
		snprintf(p->suite_why, sizeof p->suite_why, "the repository's own, in etc/suites or .flopwatch/suites");
		return;
	}
	snprintf(p->suite[0], sizeof p->suite[0], "%s", uses_gpu ? "ffa" : "demo");
	snprintf(p->suite_why, sizeof p->suite_why, "%s",
		uses_gpu ? "installed with flopwatch; write etc/suites/NAME.yaml for cells of your own"
			 : "installed with flopwatch, small enough for a CPU; write etc/suites/NAME.yaml for cells of your own");
	p->n_suites = 1;
}

static void add_module(struct proposal *p, const struct scan *l, const struct scan_program *program)
{
	char file[COMMAND_WORD_SIZE];
	bool uses_gpu = false;

	if (!build(p, l, program, file))
		return;
	snprintf(p->module, sizeof p->module, "%s", file);
	snprintf(p->module_why, sizeof p->module_why, "%.200s %.100s", program->path, program->why);
	for (int i = 0; i < l->n_programs; i++)
		uses_gpu = uses_gpu || (l->program[i].kind == SCAN_MODULE && strstr(l->program[i].text.data, "FW_CUDA"));
	choose_suites(p, l, uses_gpu);
}

/* ---- the proposal -------------------------------------------------------------------------------------------------------- */

static bool is_python(enum probe_kind kind)
{
	return kind == SCAN_KIT_PYTHON || kind == SCAN_TIMED_PYTHON || kind == SCAN_LINES_PYTHON || kind == SCAN_PYTEST;
}

static void add_program(struct proposal *p, const struct scan *l, const struct scan_program *program)
{
	if (program->kind == SCAN_MODULE)
		return;
	if (p->module[0])
		leave(p, program->path, "%.120s; a manifest of modules can name it under `benchmarks`", program->why);
	else if (p->n_benchmarks == PROPOSE_BENCHMARKS_MAX)
		leave(p, program->path, "%.120s; a manifest names at most %d benchmarks", program->why, PROPOSE_BENCHMARKS_MAX);
	else if (program->kind == SCAN_HYPERFINE)
		add_shell(p, program);
	else if (is_python(program->kind))
		add_python(p, l, program);
	else
		add_compiled(p, l, program);
}

/* Higher numbers are more certain to run and to give cells. */
static int certainty(const struct scan_program *program)
{
	static const int of_kind[] = { [SCAN_KIT_C] = 100,
		[SCAN_KIT_GOOGLE] = 100,
		[SCAN_KIT_PYTHON] = 100,
		[SCAN_GOOGLE] = 90,
		[SCAN_NVBENCH] = 90,
		[SCAN_HYPERFINE] = 90,
		[SCAN_PYTEST] = 80,
		[SCAN_TIMED_PYTHON] = 80,
		[SCAN_LINES_PYTHON] = 60 };
	static const char *const others[] = { "example", "tutorial", "docs/", "doc/", "tools/", "scripts/", NULL };
	bool is_in_benchmarks = script_position(program->path) == SCRIPT_BENCHMARKS;
	int result = of_kind[program->kind] + (is_in_benchmarks ? 5 : 0) - (program->is_indirect ? 20 : 0) -
		     (program->arguments.n ? 10 : 0);

	for (const char *const *o = others; *o && !is_in_benchmarks; o++)
		if (strstr(program->path, *o))
			return result - 30;
	return result;
}

static int by_certainty(const void *a, const void *b)
{
	const struct scan_program *x = *(const struct scan_program *const *)a, *y = *(const struct scan_program *const *)b;
	int difference = certainty(y) - certainty(x);

	return difference ? difference : strcmp(x->path, y->path);
}

static void add_programs(struct proposal *p, const struct scan *l)
{
	const struct scan_program *order[SCAN_PROGRAMS_MAX];
	bool has_python = false, has_tests = false;

	for (int i = 0; i < l->n_programs; i++)
		order[i] = &l->program[i];
	qsort(order, (size_t)l->n_programs, sizeof order[0], by_certainty);
	for (int i = 0; i < l->n_programs; i++) {
		add_program(p, l, order[i]);
		has_python = has_python || is_python(order[i]->kind);
		has_tests = has_tests || order[i]->kind == SCAN_PYTEST;
	}
	if (has_python && !p->module[0])
		environment_describe(l, has_tests, p->environment, sizeof p->environment);
}

bool propose(const struct scan *l, struct proposal *out)
{
	memset(out, 0, sizeof *out);
	for (int i = 0; i < l->n_programs && !out->module[0]; i++)
		if (l->program[i].kind == SCAN_MODULE)
			add_module(out, l, &l->program[i]);
	add_programs(out, l);
	for (int i = 0; i < l->n_left; i++)
		leave(out, l->left[i].path, "%s", l->left[i].why);
	if (!out->module[0] && out->n_benchmarks == 0)
		add_recipes(out, l);
	bool found = out->module[0] || out->n_benchmarks;

	if (l->result[0] && !found)
		note(out,
			"%s is an output of %s, but the scan did not find its program: name it under benchmarks, with reader: %s",
			l->result, l->result_format, l->result_format);
	if (l->is_cut)
		note(out, "the checkout is large, and the scan did not read all of it");
	return found;
}
