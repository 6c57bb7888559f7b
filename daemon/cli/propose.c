/* propose.c - documented in internal.h. */
#include "cli/internal.h"

#include <ctype.h>

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

/* Add a step unless it exists. False: the build would exceed the manifest's limit. */
static bool add_step(struct proposal *p, const struct builder_step *s)
{
	struct buf line;

	for (int i = 0; i < p->n_steps; i++)
		if (command_is_same(&p->step[i], &s->command))
			return true;
	if (p->n_steps == PROPOSE_STEPS_MAX)
		return false;
	p->step[p->n_steps] = s->command;
	snprintf(p->step_why[p->n_steps++], sizeof p->step_why[0], "%s", s->why);
	buf_init(&line, 64 << 10);
	write_shell(p, &line);
	bool fits = line.len <= WRITE_WORD_MAX || p->n_steps == 1;

	buf_fini(&line);
	p->n_steps -= !fits;
	return fits;
}

static bool build(struct proposal *p, const struct scan *l, const struct scan_program *program, char file[COMMAND_WORD_SIZE])
{
	struct builder_step step[BUILDER_STEPS_MAX];
	int n = builder_find(l, program, step, file);

	for (int i = 0; i < n; i++)
		if (!add_step(p, &step[i]))
			n = 0;
	if (n == 0)
		note(p, "%s %s, but the scan found no build for it, or the build conflicts with the others; write it in build.command",
			program->path, program->why);
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
	if (!build(p, l, program, file))
		return;
	name_of(p, program->path, name);
	memcpy(b->name, name, sizeof name);
	snprintf(start, sizeof start, "./%s", file);
	command_add(&b->command, start);
	snprintf(b->why, sizeof b->why, "%.200s %.100s", program->path, program->why);
	if (!reads_files(program) && strcmp(p->step[p->n_steps - 1].word[0], "cmake") != 0) /* which may also build libraries */
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

/* The first package of the checkout that the script imports but Python would not find: its folder, "" none. */
static void package_folder(const struct scan *l, const struct scan_program *program, char *out, size_t size)
{
	char dir[SCAN_PATH_SIZE];

	out[0] = '\0';
	scan_dir(program->path, dir, sizeof dir);
	for (const char *line = program->text.data; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *word = strncmp(line, "import ", 7) == 0 ? line + 7 : strncmp(line, "from ", 5) == 0 ? line + 5 : NULL;
		static const char *const positions[] = { ".", "src", "python" };
		char name[64], path[SCAN_PATH_SIZE + 96];

		if (!word)
			continue;
		snprintf(name, sizeof name, "%.*s",
			(int)strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), word);
		for (size_t i = 0; name[0] && i < sizeof positions / sizeof positions[0]; i++) {
			if (strcmp(positions[i], dir) == 0)
				continue;
			snprintf(path, sizeof path, "%s/%s/__init__.py", positions[i], name);
			bool is_there = scan_is_there(l, path);

			snprintf(path, sizeof path, "%s/%s.py", positions[i], name);
			if (is_there || scan_is_there(l, path)) {
				snprintf(out, size, "%s", positions[i]);
				return;
			}
		}
	}
}

static void add_python(struct proposal *p, const struct scan *l, const struct scan_program *program)
{
	struct propose_benchmark *b = &p->benchmark[p->n_benchmarks];
	bool is_wrapped = program->kind == SCAN_TIMED_PYTHON;
	char folder[16], line[COMMAND_WORD_SIZE];

	*b = (struct propose_benchmark){ .reader = "flopwatch", .uses_gpu = program->uses_gpu };
	if (strpbrk(program->path, " '\"$`\\")) {
		note(p, "%s %s, but a shell would stumble over its name", program->path, program->why);
		return;
	}
	name_of(p, program->path, b->name);
	snprintf(b->why, sizeof b->why, "%.200s %.100s", program->path, program->why);
	package_folder(l, program, folder, sizeof folder);
	if (folder[0]) { /* the sandbox sets PYTHONPATH to the kit's folder */
		command_add(&b->command, "sh");
		command_add(&b->command, "-c");
		snprintf(line, sizeof line, "PYTHONPATH=%s:$PYTHONPATH exec python3 %s%.200s", folder,
			is_wrapped ? "-m flopwatch " : "", program->path);
		command_add(&b->command, line);
	} else {
		command_add(&b->command, "python3");
		if (is_wrapped) {
			command_add(&b->command, "-m");
			command_add(&b->command, "flopwatch");
		}
		command_add(&b->command, program->path);
	}
	struct builder_step step;

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

static void add_program(struct proposal *p, const struct scan *l, const struct scan_program *program)
{
	if (program->kind == SCAN_MODULE)
		return;
	if (p->module[0] || p->n_benchmarks == PROPOSE_BENCHMARKS_MAX) {
		note(p, "%s %s; %s", program->path, program->why,
			p->module[0] ? "a manifest of modules can name it under `benchmarks`"
				     : "a manifest names four benchmarks at most, so it was left out");
		return;
	}
	if (program->kind == SCAN_HYPERFINE)
		add_shell(p, program);
	else if (program->kind == SCAN_KIT_PYTHON || program->kind == SCAN_TIMED_PYTHON || program->kind == SCAN_LINES_PYTHON)
		add_python(p, l, program);
	else
		add_compiled(p, l, program);
}

bool propose(const struct scan *l, struct proposal *out)
{
	memset(out, 0, sizeof *out);
	for (int i = 0; i < l->n_programs && !out->module[0]; i++)
		if (l->program[i].kind == SCAN_MODULE)
			add_module(out, l, &l->program[i]);
	for (int i = 0; i < l->n_programs; i++)
		add_program(out, l, &l->program[i]);
	if (!out->module[0] && out->n_benchmarks == 0)
		add_recipes(out, l);
	bool found = out->module[0] || out->n_benchmarks;

	if (l->result[0] && !found)
		note(out,
			"%s is an output of %s, but the scan did not find its program: name it under benchmarks, with reader: %s",
			l->result, l->result_format, l->result_format);
	if (l->is_cut)
		note(out, "the checkout is large, and not all of it was looked at");
	return found;
}
