/* hint.c - documented in internal.h. */
#include "cli/internal.h"

#include <math.h>

static void add(struct hints *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct hints *h, const char *format, ...)
{
	char text[HINT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	for (int i = 0; i < h->n; i++)
		if (strcmp(h->text[i], text) == 0)
			return;
	if (h->n < HINTS_MAX)
		memcpy(h->text[h->n++], text, sizeof text);
}

static bool lies_in(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strcmp(folder, ".") == 0 || (strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]));
}

static bool travels(const struct tree *t, const char *path)
{
	for (int i = 0; i < t->manifest.n_inputs; i++)
		if (lies_in(path, t->manifest.input[i]))
			return true;
	return false;
}

/* The submodules of the checkout, by comma; "" none. Shape: out[size]. */
static void list_submodules(const struct tree *t, char *out, size_t size)
{
	char file[sizeof t->root + 16], line[1024], path[512];
	size_t used = 0;
	FILE *f;

	snprintf(file, sizeof file, "%s/.gitmodules", t->root);
	out[0] = '\0';
	if (!(f = fopen(file, "re")))
		return;
	while (fgets(line, sizeof line, f) && used < size)
		if (sscanf(line, " path = %511[^\n]", path) == 1)
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", path);
	fclose(f);
}

/* A file that the checkout does not have may be one of a submodule that is not checked out. */
static void about_submodules(const struct tree *t, const char *name, struct hints *h)
{
	char paths[120];

	list_submodules(t, paths, sizeof paths);
	if (*paths)
		add(h,
			"%s may be in a submodule (%s), whose files no commit has and flopwatch does not fetch: commit them (git subtree), or "
			"install them on the machine and show their folder with --read-only",
			name, paths);
}

/* A file that was searched in the sandbox and not found. */
static void about_missing(const struct tree *t, const char *name, struct hints *h)
{
	char path[1024];

	if (strstr(name, "flopwatch.h") || strstr(name, "flopwatch_benchmark.h")) {
		add(h, "%s comes with flopwatch: compile with -I\"$FLOPWATCH_KIT\", which is set in builds", name);
		return;
	}
	if (!tree_find(t, name, path, sizeof path)) {
		if (strncmp(name, "../", 3) == 0)
			add(h, "%s was not copied: it is outside the repository; add it, and name it in `inputs`", name);
		else
			about_submodules(t, name, h);
		return;
	}
	if (!tree_holds(t, path))
		add(h, "%s was not copied: git ignores it, so no push has it; git add -f it, or let the build create it", path);
	else if (!travels(t, path))
		add(h, "%s was not copied: it is outside `inputs`; name its folder, or the file, there", path);
	else
		add(h, "%s was copied, but the build searches another path: it runs in %s of a separate folder", path,
			t->manifest.build.dir);
}

/* The text before `mark` in its line: the last word, without quotes. Shape: out[size]. */
static bool word_before(const char *text, const char *mark, char *out, size_t size)
{
	const char *end = strstr(text, mark), *begin;

	if (!end)
		return false;
	for (begin = end; begin > text && !strchr(" \n'\"`", begin[-1]); begin--) {
	}
	if (begin == end || (size_t)(end - begin) >= size)
		return false;
	snprintf(out, size, "%.*s", (int)(end - begin), begin);
	return true;
}

/* The text after `mark`, up to a quote, a colon or the end of the line. Shape: out[size]. */
static bool word_behind(const char *text, const char *mark, char *out, size_t size)
{
	const char *at = strstr(text, mark);
	size_t n = at ? strcspn(at + strlen(mark), "'\"`:,;\n") : 0;

	if (n == 0 || n >= size)
		return false;
	snprintf(out, size, "%.*s", (int)n, at + strlen(mark));
	return true;
}

static void about_log(const struct tree *t, const struct outcome *o, const char *text, struct hints *h)
{
	char word[256];

	if (word_before(text, ": No such file or directory", word, sizeof word) ||
		word_behind(text, "No rule to make target '", word, sizeof word) ||
		word_behind(text, "cannot open source file \"", word, sizeof word) ||
		word_behind(text, "can't open file '", word, sizeof word))
		about_missing(t, word, h);
	if (word_behind(text, "No module named '", word, sizeof word)) {
		char file[270];

		snprintf(file, sizeof file, "%.*s.py", (int)strcspn(word, "."), word);
		about_missing(t, file, h);
		add(h,
			"Python finds no %s in the sandbox, which shows only /usr: for a virtual environment write FOLDER/bin/python3 in `command` "
			"and try --read-only FOLDER, then name it as sandbox: {read_only: [FOLDER]} in flopwatchd.yml",
			word);
	}
	if (word_behind(text, "No package metadata was found for ", word, sizeof word))
		add(h,
			"%s is not installed in the sandbox, where programs run from the sources: let build.command write NAME-0.dist-info/METADATA "
			"with its name into a folder of PYTHONPATH, as flopwatch init does",
			word);
	if (word_before(text, ": not found", word, sizeof word) || word_before(text, ": command not found", word, sizeof word))
		add(h, "%s is not in the sandbox, which has /usr and the kit: install it there, or add its folder with --read-only",
			word);
	if (strstr(text, "Could not resolve host") || strstr(text, "Temporary failure in name resolution") ||
		strstr(text, "Network is unreachable"))
		add(h, "builds have no network: put their dependencies into the repository or on the machine");
	if (o->device.kind != DEVICE_CUDA && (strstr(text, "no CUDA-capable device") || strstr(text, "CUDA driver") ||
						     strstr(text, "NVIDIA driver") || strstr(text, "libcuda")))
		add(h, "there is no GPU on this machine: try it on the worker, or write gpu: false for programs that need none");
	if (strstr(text, "nvcc") && (strstr(text, "not found") || strstr(text, "127")))
		add(h, "nvcc is neither in PATH nor in /usr/local/cuda/bin: install the CUDA toolkit, or show its folder with --read-only");
}

/* The program itself is missing. */
static void about_program(const struct tree *t, const struct outcome *o, const struct benchmark *run, struct hints *h)
{
	const char *program = run->command[0];
	bool is_ours = strncmp(program, "./", 2) == 0, is_script = false;
	char path[BENCHMARK_TEXT_SIZE];

	if (!is_ours) {
		is_script = run->n_command > 1 && strchr(run->command[1], '.') && run->command[1][0] != '-';
		program = run->command[1];
	}
	bool is_missed = false; /* the first from the kernel and setpriv, the second from shells */

	for (int i = 0; i < o->n_faults; i++)
		is_missed = is_missed || strstr(o->fault[i].detail, "No such file") || strstr(o->fault[i].detail, "127");
	if (!is_missed || (!is_ours && !is_script))
		return;
	snprintf(path, sizeof path, "%s", program + (is_ours ? 2 : 0));
	if (strcmp(o->build_state, "failed") == 0 || tree_holds(t, path))
		return;
	if (t->manifest.build.n_command == 0)
		add(h, "%s is not in the tree, and nothing builds it: add it to git, or build it in build.command", path);
	else
		add(h, "%s is not in the tree, so the build has to make it: in %s, by the name that benchmarks.%s.command runs",
			path, t->manifest.build.dir, run->name);
}

static const char *find_key(const struct outcome *o, const char *key, size_t len, const char *end)
{
	for (int i = 0; i < o->n_cells; i++)
		if (strncmp(o->cell[i].key, key, len) == 0 && strcmp(o->cell[i].key + len, end) == 0)
			return o->cell[i].key;
	return NULL;
}

/* The kit and the readers number results of one name in the order in which they come: "sum" and "sum#2", or "sum#1" and "sum#2". */
static void about_twins(const struct outcome *o, struct hints *h)
{
	const char *first = NULL, *second = NULL;
	int n = 0;

	for (int i = 0; i < o->n_cells; i++) {
		const char *key = o->cell[i].key, *mark = strrchr(key, '#');
		size_t len = mark ? (size_t)(mark - key) : 0;
		const char *twin = len && strcmp(mark, "#2") == 0 ? find_key(o, key, len, "") : NULL;

		if (len && strcmp(mark, "#2") == 0 && !twin)
			twin = find_key(o, key, len, "#1");
		if (!twin)
			continue;
		n++;
		first = first ? first : twin;
		second = second ? second : key;
	}
	if (n)
		add(h,
			"%d name%s several cells%s%.150s and %.150s: their numbers follow the order in which they run, so a change of that "
			"order compares the wrong ones; give each its own name",
			n, n == 1 ? " has" : "s have", n == 1 ? ": " : ", such as ", first, second);
}

/* Whether a program was timed as whole processes: it has no note about interleaving, nor about why it was not interleaved. */
static bool was_whole(const struct outcome *o, const struct benchmark *run)
{
	for (int i = 0; i < o->n_notes; i++)
		if (strncmp(o->note[i], report_turns, strlen(report_turns)) == 0 || strstr(o->note[i], "cannot be interleaved"))
			return false;
	return o->n_left == 0 && strcmp(run->time, "cpu") != 0;
}

/* A library whose programs the kit can interleave was timed as whole processes. */
static void about_whole_processes(const struct outcome *o, const struct benchmark *run, struct hints *h)
{
	static const struct {
		const char *reader, *remedy;
	} ways[] = { { "google-benchmark", "BENCHMARK_MAIN() in its source instead of benchmark_main, or FLOPWATCH_MAIN() of "
					   "flopwatch_benchmark.h" },
		{ "nvbench", "flopwatch_nvbench.h, included before NVBENCH_MAIN" },
		{ "pytest-benchmark", "-p flopwatch in its command" } };

	for (size_t i = 0; i < sizeof ways / sizeof ways[0] && was_whole(o, run); i++)
		if (strcmp(ways[i].reader, run->reader) == 0)
			add(h,
				"%s is timed as whole processes, one after the other; with %s its calls alternate with those of the base, "
				"which usually needs fewer runs (doc/interleave.md)",
				run->name, ways[i].remedy);
}

void hint_all(const struct tree *t, const struct outcome *o, const struct benchmark *run, struct hints *out)
{
	int timed, unsupported, failed;

	out->n = 0;
	outcome_count(o, &timed, &unsupported, &failed);
	if (strcmp(o->build_state, "failed") == 0) {
		about_log(t, o, o->log.data, out);
		about_log(t, o, o->build_detail, out);
	}
	for (int i = 0; i < o->n_faults; i++)
		about_log(t, o, o->fault[i].detail, out);
	for (int i = 0; i < o->n_cells && out->n < HINTS_MAX; i++)
		about_log(t, o, o->cell[i].detail, out);
	if (run && timed == 0)
		about_program(t, o, run, out);
	about_twins(o, out);
	if (run && timed > 0)
		about_whole_processes(o, run, out);
	if (!run && timed == 0 && unsupported > 0 && o->device.kind != DEVICE_CUDA)
		add(out, "no provider of the module does these cells on %s; one for GPUs needs one, which is not here",
			o->device.name);
	if (!o->is_sandboxed && o->device.kind != DEVICE_ANY)
		add(out, "this machine has no sandbox (see flopwatch doctor): a worker with one gives a build fewer files");
}

/* ---- too many rows ------------------------------------------------------------------------------------------------------- */

/* The argument by which programs of a format run one row; "" not known. Shape: word[size]. */
static void select_row(const char *reader, const char *key, char *word, size_t size)
{
	static const struct {
		const char *reader, *before, *after;
	} ways[] = { { "google-benchmark", "--benchmark_filter=^", "$" }, { "nvbench", "--benchmark=", "" },
		{ "pytest-benchmark", "-k=", "" }, { "criterion", "", "" }, { "catch2", "", "" } };

	word[0] = '\0';
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		if (strcmp(ways[i].reader, reader) == 0)
			snprintf(word, size, "%s%s%s", ways[i].before, key, ways[i].after);
}

/* "[./bench, --benchmark_filter=^sum/4096$]" */
static void put_command(const struct benchmark *run, const char *word, struct buf *out)
{
	struct command *c = mem_alloc_zero(1, sizeof *c);

	for (int i = 0; i < run->n_command; i++)
		command_add(c, run->command[i]);
	command_add(c, word);
	command_put_yaml(c, out);
	free(c);
}

void hint_budget(const struct outcome *o, const struct benchmark *run, const char *suite, double least_s, double budget_s,
	struct hints *out)
{
	char word[COMMAND_WORD_SIZE] = "";
	const char *key = o->n_cells ? o->cell[o->n_cells / 2].key : "";
	int fit = (int)(o->n_cells * budget_s / least_s);
	struct buf command;

	if (!(least_s > budget_s) || o->n_cells < 2)
		return;
	least_s = ceil(least_s);
	buf_init(&command, HINT_SIZE);
	if (run)
		select_row(run->reader, key, word, sizeof word);
	if (*word)
		put_command(run, word, &command);
	if (!run)
		add(out,
			"%d cells need about %.0f s, more than budget_s: %.0f: raise it, or measure fewer on a push: write push: {cells: %d} "
			"in %.64s, or list only cells such as %.120s",
			o->n_cells, least_s, budget_s, fit > 1 ? fit : 1, suite, key);
	else if (*word && !command.failed)
		add(out,
			"%d rows need about %.0f s, more than budget_s: %.0f: raise it, or select rows in benchmarks.%s, such as command: %s",
			o->n_cells, least_s, budget_s, run->name, command.data);
	else
		add(out,
			"%d rows need about %.0f s, more than budget_s: %.0f: raise it in benchmarks.%s, or add an argument to its command "
			"with which the program runs fewer rows, such as only %.120s",
			o->n_cells, least_s, budget_s, run->name, key);
	buf_fini(&command);
}
