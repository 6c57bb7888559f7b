/* propose.c - documented in internal.h. */
#include "cli/internal.h"

#include <ctype.h>

/* Up to FEW benchmarks are all proposed; of more, SHOWN: each takes device time of every push. */
enum { FEW = 12, SHOWN = 8 };

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
	struct scan_skipped *left = &p->left[p->n_left];
	va_list args;

	if (p->n_left == PROPOSE_SKIPPED_MAX)
		return;
	p->n_left++;
	snprintf(left->path, sizeof left->path, "%s", path);
	va_start(args, format);
	vsnprintf(left->why, sizeof left->why, format, args);
	va_end(args);
}

static const char *name_at(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A unique name for the benchmark in `path`: only letters, digits, _ and -. */
static void name_of(const struct proposal *p, const char *path, char name[64])
{
	const char *from = name_at(path);
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
	for (int i = 0; i < p->n_reasons; i++)
		if (strcmp(p->why[i], why) == 0)
			return;
	if (why[0] && p->n_reasons < PROPOSE_REASONS_MAX)
		snprintf(p->why[p->n_reasons++], sizeof p->why[0], "%s", why);
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

		bool is_same = command_is_same(&p->step[i].command, &s->command) && strcmp(p->step[i].output, s->output) == 0;

		if (is_all || is_same || (has_same_begin(&p->step[i], s) && add_targets(p, &p->step[i], s))) {
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
	} else if (program->kind == SCAN_CATCH2) {
		b->reader = "catch2";
		if (strstr(program->text.data, "[!benchmark]")) /* Catch2 runs such test cases only if their tag is named */
			command_add(&b->command, "[!benchmark]");
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

/* Whether a shell reads the folders, which ":" separates, as they are. */
static bool is_plain_list(const char *folders)
{
	char one[SCAN_PATH_SIZE];
	for (const char *at = folders; *at; at += strcspn(at, ":"), at += *at == ':') {
		snprintf(one, sizeof one, "%.*s", (int)strcspn(at, ":"), at);
		if (!command_is_plain(one))
			return false;
	}
	return true;
}

static bool has_long_word(const struct command *c)
{
	for (int i = 0; i < c->n; i++)
		if (strlen(c->word[i]) > WRITE_WORD_MAX)
			return true;
	return false;
}

/* Add the steps that write the metadata of the checkout's own package, and the folder of that to `search`. */
static void add_metadata(struct proposal *p, const struct scan *l, const struct scan_program *program, char *search, size_t size)
{
	char dir[SCAN_PATH_SIZE], list[SCAN_PATH_SIZE + 2], all[2 * SCAN_PATH_SIZE];
	int n_steps = p->n_steps, n_reasons = p->n_reasons;
	bool is_written = true;
	struct metadata m;

	if (!metadata_find(l, program, &m))
		return;
	for (int i = 0; i < METADATA_STEPS; i++)
		is_written = is_written && add_step(p, &m.step[i]);
	if (!is_written) {
		p->n_steps = n_steps;
		p->n_reasons = n_reasons;
		note(p, "%s; a manifest cannot describe that: write a script, and name it in build.command",
			m.step[METADATA_STEPS - 1].why);
	}
	scan_dir(program->path, dir, sizeof dir);
	snprintf(list, sizeof list, ":%s:", m.dir);
	snprintf(all, sizeof all, ":%s:", search);
	if (strcmp(dir, m.dir) != 0 && !strstr(all, list)) { /* Python searches the script's own folder */
		struct buf folders;

		buf_init(&folders, size - 1);
		buf_printf(&folders, "%s%s%s", search, search[0] ? ":" : "", m.dir);
		snprintf(search, size, "%s", folders.data);
		buf_fini(&folders);
	}
}

static void add_python(struct proposal *p, const struct scan *l, const struct scan_program *program, const char *absent)
{
	struct propose_benchmark *b = &p->benchmark[p->n_benchmarks];
	struct builder_step step;
	char option[128], name[sizeof b->name], search[SCAN_PATH_SIZE];

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
	snprintf(b->absent, sizeof b->absent, "%s", absent);
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
	}
	if (builder_python(l, &step))
		(void)add_step(p, &step);
	snprintf(search, sizeof search, "%s", program->search);
	add_metadata(p, l, program, search, sizeof search);
	if (!is_plain_list(search)) {
		leave(p, program->path, "%.100s, but a shell would misread the folder of its packages", program->why);
		return;
	}
	/* python3 -m pytest searches the current folder */
	if (search[0] && !(program->kind == SCAN_PYTEST && strcmp(search, ".") == 0))
		add_search(&b->command, search);
	if (has_long_word(&b->command)) {
		leave(p, program->path, "%.100s, but its command is longer than a manifest permits", program->why);
		return;
	}
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

/* A benchmark of a kernel that most people know: its result is easy to judge. */
static bool is_well_known(const char *name)
{
	static const char *const words[] = { "gemm", "matmul", "attention", "softmax", "norm", "rope", "cross_entropy", "gelu",
		"geglu", "swiglu", "reduce", "scan", "sort", "copy", "transpose", NULL };

	for (const char *const *w = words; *w; w++)
		if (strcasestr(name, *w))
			return true;
	return false;
}

/* It runs on one generation of GPUs only: "mla_sm90.py". */
static bool is_special(const char *name)
{
	for (const char *at = name; (at = strcasestr(at, "sm")); at++)
		if ((at == name || !isalpha((unsigned char)at[-1])) && isdigit((unsigned char)at[2]) &&
			isdigit((unsigned char)at[3]))
			return true;
	return strcasestr(name, "hopper") || strcasestr(name, "blackwell");
}

/* Higher numbers are more certain to run and to give cells. */
static int certainty(const struct scan_program *program, bool is_indirect_usual)
{
	static const int of_kind[] = { [SCAN_KIT_C] = 100,
		[SCAN_KIT_GOOGLE] = 100,
		[SCAN_KIT_PYTHON] = 100,
		[SCAN_GOOGLE] = 90,
		[SCAN_NVBENCH] = 90,
		[SCAN_CATCH2] = 85,
		[SCAN_HYPERFINE] = 90,
		[SCAN_PYTEST] = 80,
		[SCAN_TIMED_PYTHON] = 80,
		[SCAN_LINES_PYTHON] = 60 };
	static const char *const others[] = { "example", "tutorial", "docs/", "doc/", "tools/", "scripts/", NULL };
	bool is_in_benchmarks = script_position(program->path) == SCRIPT_BENCHMARKS;
	int result = of_kind[program->kind] + (is_in_benchmarks ? 5 : 0) - (program->is_indirect && !is_indirect_usual ? 20 : 0) -
		     (program->arguments.n ? 10 : 0);

	for (const char *const *o = others; *o && !is_in_benchmarks; o++)
		if (strstr(program->path, *o))
			return result - 30;
	return result;
}

struct candidate {
	const struct scan_program *program;
	int certainty;
	int n_absent; /* modules that few scripts need and this machine does not have */
	char absent[200];
	int length; /* of the name, if some of the candidates have to be chosen */
};

/* Whether a lack of the module distinguishes scripts: it is no framework, and not imported by most of them. */
static bool is_distinctive(const struct candidate *list, int n, const char *module)
{
	static const char *const usual[] = { "torch", "triton", "numpy", "cupy", "jax", "pytest", "pytest_benchmark", NULL };
	int n_scripts = 0, n_users = 0;

	for (const char *const *u = usual; *u; u++)
		if (strcmp(module, *u) == 0)
			return false;
	for (int i = 0; i < n; i++) {
		n_scripts += is_python(list[i].program->kind);
		for (int k = 0; k < list[i].program->n_absent; k++)
			n_users += strcmp(list[i].program->absent[k], module) == 0;
	}
	return 2 * n_users <= n_scripts;
}

static void name_absent(struct candidate *c, const struct candidate *list, int n)
{
	for (int i = 0; i < c->program->n_absent; i++) {
		size_t used = strlen(c->absent);

		if (!is_distinctive(list, n, c->program->absent[i]))
			continue;
		c->n_absent++;
		snprintf(c->absent + used, sizeof c->absent - used, "%s%s", used ? ", " : "", c->program->absent[i]);
	}
}

/* Order: runnable on this machine first, then certain, then by length of the name: short names are those of simple kernels. */
static int by_order(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->n_absent != y->n_absent)
		return x->n_absent - y->n_absent;
	if (x->certainty != y->certainty)
		return y->certainty - x->certainty;
	return x->length != y->length ? x->length - y->length : strcmp(x->program->path, y->program->path);
}

/* Write the candidates in their order. Returns their number. Shape: out[SCAN_PROGRAMS_MAX]. */
static int list_candidates(const struct scan *l, bool is_choice, struct candidate *out)
{
	int n = 0, n_indirect = 0;

	for (int i = 0; i < l->n_programs; i++)
		if (l->program[i].kind != SCAN_MODULE)
			out[n++].program = &l->program[i];
	for (int i = 0; i < n; i++)
		n_indirect += out[i].program->is_indirect;
	for (int i = 0; i < n; i++) {
		const char *name = name_at(out[i].program->path);

		out[i].certainty = certainty(out[i].program, 2 * n_indirect > n);
		name_absent(&out[i], out, n);
		if (!is_choice)
			continue;
		out[i].certainty += (is_well_known(name) ? 2 : 0) - (is_special(name) ? 10 : 0);
		out[i].length = (int)strlen(name);
	}
	if (n)
		qsort(out, (size_t)n, sizeof out[0], by_order);
	return n;
}

/* Add a program to those that the file only lists, unless it is another source of one that the file names or lists. */
static void add_more(struct proposal *p, const struct scan *l, const struct scan_program *program)
{
	struct propose_more *more = &p->more[p->n_more];
	struct builder_step step[BUILDER_STEPS_MAX];
	char start[COMMAND_WORD_SIZE + 2];

	*more = (struct propose_more){ .file = "" };
	snprintf(more->path, sizeof more->path, "%s", program->path);
	if (!is_python(program->kind) && program->kind != SCAN_HYPERFINE && builder_find(l, program, step, more->file) == 0) {
		leave(p, program->path, "%.90s, but the scan found no build for it; write it in build.command", program->why);
		return;
	}
	snprintf(start, sizeof start, "./%s", more->file);
	for (int i = 0; i < p->n_benchmarks && more->file[0]; i++)
		if (strcmp(p->benchmark[i].command.word[0], start) == 0)
			return;
	for (int i = 0; i < p->n_more && more->file[0]; i++)
		if (strcmp(p->more[i].file, more->file) == 0)
			return;
	p->n_more++;
}

static void add_program(struct proposal *p, const struct scan *l, const struct candidate *c, int limit)
{
	const struct scan_program *program = c->program;

	if (p->module[0])
		leave(p, program->path, "%.120s; a manifest of modules can name it under `benchmarks`", program->why);
	else if (p->n_benchmarks == PROPOSE_BENCHMARKS_MAX)
		leave(p, program->path, "%.120s; a manifest names at most %d benchmarks", program->why, PROPOSE_BENCHMARKS_MAX);
	else if (p->n_benchmarks == limit && c->n_absent)
		leave(p, program->path, "imports %s, which this machine does not have", c->absent);
	else if (p->n_benchmarks == limit)
		add_more(p, l, program);
	else if (program->kind == SCAN_HYPERFINE)
		add_shell(p, program);
	else if (is_python(program->kind))
		add_python(p, l, program, c->absent);
	else
		add_compiled(p, l, program);
}

static void add_programs(struct proposal *p, const struct scan *l, bool is_choice)
{
	struct candidate *order = mem_alloc_zero(SCAN_PROGRAMS_MAX, sizeof *order);
	int n = list_candidates(l, is_choice, order);
	bool has_python = false, has_tests = false;

	for (int i = 0; i < n; i++) {
		add_program(p, l, &order[i], is_choice ? SHOWN : PROPOSE_BENCHMARKS_MAX);
		has_python = has_python || is_python(order[i].program->kind);
		has_tests = has_tests || order[i].program->kind == SCAN_PYTEST;
	}
	free(order);
	if (has_python && !p->module[0])
		environment_describe(l, has_tests, p->environment, sizeof p->environment);
}

bool propose(const struct scan *l, bool want_all, struct proposal *out)
{
	memset(out, 0, sizeof *out);
	for (int i = 0; i < l->n_programs && !out->module[0]; i++)
		if (l->program[i].kind == SCAN_MODULE)
			add_module(out, l, &l->program[i]);
	add_programs(out, l, false);
	if (!want_all && out->n_benchmarks > FEW) {
		memset(out, 0, sizeof *out); /* a choice builds less, too */
		add_programs(out, l, true);
	}
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
