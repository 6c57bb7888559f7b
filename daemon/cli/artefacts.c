/*
 * artefacts.c - files of profilers for every cell of a suite and both sides, made on this machine.
 *
 * The worker builds both sides in its sandbox. Then each command runs in a new folder, which has its final name only at the end; the
 * scripts contain the same commands. A side is called by its provider if that distinguishes it.
 */
#include "cli/internal.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <unistd.h>

enum { BUILD_S = 900, COMMAND_MS = 600000, CELL_MS = 60000, OUTPUT_BYTES = 256 << 20, SCRIPT_BYTES = 64 << 20 };
enum {
	ENV_MAX = 4096,
	SUITE_BYTES = 1 << 20,
	WORDS_MAX = 48,
	DESCRIPTORS = 16,
	SIDES = 2,
	LOG_BYTES = 512 << 10,
	TRACE_BYTES = 2 << 20
};

struct side {
	const char *role, *provider, *config;
	char word[96], module[32]; /* in names of files; path in the folder */
	char sha256[65];
	struct tree tree;
};

struct command_line {
	const char *word[WORDS_MAX + 1];
	int n;
};

struct artefacts {
	const struct options *options;
	struct progress progress;
	struct side side[SIDES];
	int first; /* side; 1: both are the same, and the target is run alone */
	struct suite suite;
	struct buf suite_text;
	char (*name)[CASE_KEY_SIZE]; /* of suite.cell[i], in names of files */
	char final[4096 - 16];       /* without symbolic links, if it exists */
	char folder[4096];           /* the unfinished one, next to it */
	char kind[16], device[32];   /* "cuda", "cuda:0" */
	char runner[PATH_MAX], worker[PATH_MAX], ncu[PATH_MAX], nsys[PATH_MAX];
	bool has_ncu, has_nsys;
	struct buf calls, ncu_script, times; /* lines of scripts; times of all cells */
	json_t *files, *failures;
	int n_ran, n_failed; /* failed: a command that should have written a file */
};

/* ---- commands and scripts ----------------------------------------------------------------------------------------------- */

static void add(struct command_line *c, const char *word)
{
	if (c->n < WORDS_MAX)
		c->word[c->n++] = word;
	c->word[c->n] = NULL;
}

static void add_all(struct command_line *c, const char *const *words)
{
	for (; *words; words++)
		add(c, *words);
}

static void add_option(struct command_line *c, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	add(c, name);
	add(c, value);
}

static void add_capture(const struct artefacts *a, const struct side *s, const struct cell *cell, const char *calls,
	const char *warmup, struct command_line *c)
{
	add(c, a->runner);
	add_option(c, "--capture", cell->key);
	add_option(c, "--suite", "suite.yaml");
	add_option(c, "--module", s->module);
	add_option(c, "--device", a->device);
	add_option(c, "--calls", calls);
	add_option(c, "--warmup", warmup);
	add_option(c, "--provider", s->provider);
	add_option(c, "--config", s->config);
}

static bool is_plain(const char *text)
{
	return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,=+-")] == '\0';
}

static void put_word(struct buf *out, const char *text)
{
	if (is_plain(text)) {
		buf_puts(out, text);
		return;
	}
	buf_putc(out, '\'');
	for (; *text; text++)
		buf_puts(out, *text == '\'' ? "'\\''" : (char[]){ *text, 0 });
	buf_putc(out, '\'');
}

/* A line of a script; it goes on after a failure. `to`: file for its output, NULL the terminal. */
static void put_command(struct buf *script, const struct command_line *c, const char *to)
{
	for (int i = 0; i < c->n; i++) {
		buf_puts(script, i ? " " : "");
		put_word(script, c->word[i]);
	}
	if (to) {
		buf_puts(script, " >");
		put_word(script, to);
	}
	buf_puts(script, " || status=$?\n");
}

/* Find the reason of a failure: ncu's error line, else the last line that the command printed. */
static void find_reason(const struct buf *output, char *why, size_t size)
{
	const char *line = strstr(output->data, "==ERROR==");
	if (line)
		snprintf(why, size, "%.*s", (int)strcspn(line, "\r\n"), line);
	else
		programs_last_line(output, why, size);
	if (!*why)
		snprintf(why, size, "it printed nothing");
}

/*
 * Run a command in the folder. Returns 1 it succeeded, 0 not, with the reason, -1 it cannot be run. `errors` may be `out`.
 */
static int run(const struct artefacts *a, const struct command_line *c, struct buf *out, struct buf *errors, int64_t limit_ms,
	char *why, size_t size, struct fw_err *err)
{
	const char *env[ENV_MAX + 2];
	struct proc_exit how;
	char ended[64];
	int e = 0;
	for (char **at = environ; *at && e < ENV_MAX; at++)
		if (strncmp(*at, "LC_ALL=", 7) != 0)
			env[e++] = *at;
	env[e++] = "LC_ALL=C"; /* ncu formats numbers by the locale */
	env[e] = NULL;
	const struct proc_spec spec = { .argv = c->word, .env = env, .cwd = a->folder };
	if (proc_run(&spec, NULL, out, errors, limit_ms, &how, err) != 0)
		return -1;
	if (how.status == 0 && !out->failed)
		return 1;
	find_reason(errors->len ? errors : out, why, size);
	proc_describe(&how, ended);
	if (out->failed)
		snprintf(why, size, "it printed more than %d MB", OUTPUT_BYTES >> 20);
	else if (how.status < 0 || how.timed_out)
		snprintf(why, size, "%s", ended);
	return 0;
}

/* ---- files -------------------------------------------------------------------------------------------------------------- */

static int write_in(const struct artefacts *a, const char *name, const struct buf *text, struct fw_err *err)
{
	char path[sizeof a->folder + 512];
	if (text->failed)
		return err_set(err, ERR_FULL, "%s does not fit", name);
	if ((size_t)snprintf(path, sizeof path, "%s/%s", a->folder, name) >= sizeof path)
		return err_set(err, ERR_INVALID, "%.60s... is too long a name", name);
	return files_write(path, text, err);
}

static int make_folder(const struct artefacts *a, const char *name, struct fw_err *err)
{
	char path[sizeof a->folder + 64];
	snprintf(path, sizeof path, "%s/%s", a->folder, name);
	return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : err_sys(err, "%s", path);
}

static void remove_in(const struct artefacts *a, const char *name)
{
	char path[sizeof a->folder + 512];
	snprintf(path, sizeof path, "%s/%s", a->folder, name);
	(void)unlink(path); /* it may not exist */
}

static void list_file(const struct artefacts *a, const char *path, const struct cell *cell, const struct side *s)
{
	json_t *one = json_pack("{s:s}", "path", path);
	if (cell) {
		json_object_set_new(one, "cell", json_string(cell->key));
		json_object_set_new(one, "side", json_string(s->role));
	}
	json_array_append_new(a->files, one);
}

/* `tool`: the program that failed. `is_failure` false: nothing is wrong, the cell is not supported. */
static void note_failure(
	struct artefacts *a, const char *tool, const struct cell *cell, const struct side *s, const char *why, bool is_failure)
{
	json_t *one = json_pack("{s:s}", "tool", tool);
	progress_clear(&a->progress);
	if (cell) {
		json_object_set_new(one, "cell", json_string(cell->key));
		json_object_set_new(one, "side", json_string(s->role));
		plain_line(stderr, "%s: %s of %s: %s", tool, s->role, cell->key, why);
	} else {
		plain_line(stderr, "%s: %s", tool, why);
	}
	json_object_set_new(one, "why", json_string(why));
	json_array_append_new(a->failures, one);
	a->n_failed += is_failure;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *position)
{
	(void)st;
	(void)kind;
	(void)position;
	return remove(path);
}

static int copy_module(const struct artefacts *a, const struct outcome *o, int side, struct fw_err *err)
{
	char path[sizeof o->location.modules + 80];
	struct buf text;
	const struct side *s = &a->side[side];
	snprintf(path, sizeof path, "%s/%s.so", o->location.modules, o->module_sha256[side]);
	buf_init(&text, OUTPUT_BYTES);
	int result = files_read_text(path, &text, err);
	if (result == 0)
		result = write_in(a, s->module, &text, err);
	buf_fini(&text);
	return result;
}

/* ---- names -------------------------------------------------------------------------------------------------------------- */

enum naming { BY_SIZE, BY_TITLE, BY_KEY };

/* Name the cells by the shortest of: size, size with mask and direction, key. Returns false if two have the same name. */
static bool name_cells(struct artefacts *a, enum naming how)
{
	for (int i = 0; i < a->suite.n_cells; i++) {
		const struct cell *c = &a->suite.cell[i];
		char text[32 + CELL_TITLE_SIZE];
		if (how == BY_KEY)
			snprintf(text, sizeof text, "%s", c->key);
		else if (how == BY_TITLE)
			snprintf(text, sizeof text, "%lld_%s_%s", (long long)c->size, c->title, direction_name(c->direction));
		else
			snprintf(text, sizeof text, "%lld", (long long)c->size);
		if (artefacts_path_name(text, a->name[i], sizeof a->name[i]) != 0 || (how != BY_KEY && c->size <= 0))
			return false;
		for (int k = 0; k < i; k++)
			if (strcmp(a->name[k], a->name[i]) == 0)
				return false;
	}
	return true;
}

/* Files of memory have the whole key in their names. */
static bool has_same_words(const struct suite *suite)
{
	char one[CASE_KEY_SIZE], other[CASE_KEY_SIZE];
	for (int i = 0; i < suite->n_cells; i++)
		for (int k = 0; k < i; k++)
			if (artefacts_path_name(suite->cell[i].key, one, sizeof one) == 0 &&
				artefacts_path_name(suite->cell[k].key, other, sizeof other) == 0 && strcmp(one, other) == 0)
				return true;
	return false;
}

static int name_all(struct artefacts *a, struct fw_err *err)
{
	a->name = mem_alloc_zero((size_t)a->suite.n_cells + 1, sizeof *a->name);
	if (has_same_words(&a->suite) || (!name_cells(a, BY_SIZE) && !name_cells(a, BY_TITLE) && !name_cells(a, BY_KEY)))
		return err_set(err, ERR_INVALID, "two cells of %s have the same name; choose fewer with --cells", a->suite.name);
	return 0;
}

static void name_sides(struct artefacts *a)
{
	const char *base = a->side[0].provider, *target = a->side[1].provider;
	for (int i = 0; i < SIDES; i++) {
		struct side *s = &a->side[i];
		bool is_known = *s->provider && strcmp(base, target) != 0;
		snprintf(s->module, sizeof s->module, "modules/%s.so", s->role);
		(void)artefacts_path_name(is_known ? s->provider : s->role, s->word, sizeof s->word);
	}
	if (strcmp(a->side[0].word, a->side[1].word) == 0) /* a+b and a_b */
		for (int i = 0; i < SIDES; i++)
			snprintf(a->side[i].word, sizeof a->side[i].word, "%s", a->side[i].role);
}

/* ---- one cell on one side ----------------------------------------------------------------------------------------------- */

/* Write and list a file of a cell. `path`: NULL if the cell's key is too long for one. */
static int write_listed(struct artefacts *a, const char *path, const struct buf *text, const struct cell *cell,
	const struct side *s, struct fw_err *err)
{
	if (!path)
		return err_set(err, ERR_INVALID, "the key %.60s... is too long", cell->key);
	if (write_in(a, path, text, err) != 0)
		return -1;
	list_file(a, path, cell, s);
	return 0;
}

static int write_memory(struct artefacts *a, const char *line, size_t len, const json_t *memory, const struct cell *cell,
	const struct side *s, struct fw_err *err)
{
	static const char *const suffixes[] = { "json", "svg" };
	char path[2 * CASE_KEY_SIZE];
	int result = 0;
	for (int i = 0; i < 2 && result == 0; i++) {
		struct buf text;
		buf_init(&text, SUITE_BYTES);
		if (i == 0)
			buf_append(&text, line, len);
		else
			artefacts_picture(memory, s->role, &text);
		bool fits = artefacts_memory_path("", s->role, cell->key, suffixes[i], path, sizeof path);
		result = write_listed(a, fits ? path : NULL, &text, cell, s, err);
		buf_fini(&text);
	}
	return result;
}

static int write_trace(
	struct artefacts *a, const char *line, size_t len, const struct cell *cell, const struct side *s, struct fw_err *err)
{
	char path[2 * CASE_KEY_SIZE];
	struct buf text;
	buf_init(&text, TRACE_BYTES);
	buf_append(&text, line, len);
	bool fits = artefacts_trace_path("", s->role, cell->key, path, sizeof path);
	int result = write_listed(a, fits ? path : NULL, &text, cell, s, err);
	buf_fini(&text);
	return result;
}

/* A line of flopwatch-runner that begins with `start`. A module may print more before and after it. */
static const char *find_line(const struct buf *out, const char *start, size_t *len)
{
	const char *line = strstr(out->data, start);
	*len = line ? strcspn(line, "\n") : 0;
	*len += line && line[*len] == '\n';
	return line;
}

static json_t *read_line(const char *line, size_t len)
{
	return line ? json_loadb(line, len, 0, NULL) : NULL;
}

/* A message of flopwatch-runner without the names that the line has anyway. */
static const char *without_cell(const char *why, const struct cell *cell)
{
	static const char program[] = "flopwatch-runner: ";
	size_t len = strlen(cell->key);
	if (strncmp(why, program, sizeof program - 1) == 0)
		why += sizeof program - 1;
	return strncmp(why, cell->key, len) == 0 && strncmp(why + len, ": ", 2) == 0 ? why + len + 2 : why;
}

/* Write what a run without a profiler printed. Returns 1; 0 it printed no times and memory; -1. `why`: how the run failed, "" it did not. */
static int write_calls(struct artefacts *a, const struct buf *out, const char *why, const struct cell *cell, const struct side *s,
	struct fw_err *err)
{
	size_t len, trace_len;
	const char *line = find_line(out, "{\"cell\":", &len), *trace_line = find_line(out, "{\"traceEvents\":", &trace_len);
	json_t *memory = read_line(line, len), *trace = read_line(trace_line, trace_len);
	int result = memory != NULL;
	if (!memory) {
		note_failure(a, "flopwatch-runner", cell, s,
			*why ? without_cell(why, cell) : "it printed no memory that can be read",
			!strstr(why, ": unsupported: "));
	} else {
		buf_printf(&a->times, "%s: ", s->role);
		buf_append(&a->times, out->data, (size_t)(line - out->data));
		result = write_memory(a, line, len, memory, cell, s, err) == 0 ? 1 : -1;
		if (!trace)
			note_failure(
				a, "flopwatch-runner", cell, s, *why ? without_cell(why, cell) : "it printed no timeline", true);
		else if (result == 1 && write_trace(a, trace_line, trace_len, cell, s, err) != 0)
			result = -1;
	}
	json_decref(memory);
	json_decref(trace);
	return result;
}

/* Run the calls alone: times, memory, and their timeline. Returns 1; 0 the side does not run this cell; -1. */
static int call_alone(struct artefacts *a, const struct cell *cell, const struct side *s, struct fw_err *err)
{
	struct command_line c = { .n = 0 };
	struct buf out, errors;
	char why[400] = "";
	add_capture(a, s, cell, "30", "20", &c);
	add(&c, "--memory");
	add(&c, "--trace");
	buf_init(&out, OUTPUT_BYTES);
	buf_init(&errors, LOG_BYTES);
	int result = run(a, &c, &out, &errors, COMMAND_MS, why, sizeof why, err);
	if (result >= 0)
		result = write_calls(a, &out, why, cell, s, err);
	buf_fini(&errors);
	buf_fini(&out);
	return result;
}

static void ncu_commands(const struct artefacts *a, const struct cell *cell, const struct side *s, const char *stem,
	const char *report, struct command_line *c)
{
	static const char *const options[] = { "--set", "full", "--profile-from-start", "off", "--clock-control", "none",
		"--cache-control", "none", "--force-overwrite", "-o", NULL };
	add(&c[0], a->ncu);
	add_all(&c[0], options);
	add(&c[0], stem); /* ncu appends .ncu-rep */
	add_capture(a, s, cell, "1", "20", &c[0]);
	add(&c[1], a->ncu);
	add_option(&c[1], "--import", report);
	add_option(&c[1], "--page", "raw");
}

static bool is_written(const struct artefacts *a, const char *name)
{
	char path[sizeof a->folder + 512];
	snprintf(path, sizeof path, "%s/%s", a->folder, name);
	return access(path, F_OK) == 0;
}

/* Run ncu, then write its raw page. Returns 0, also if ncu failed, which is noted. */
static int count(struct artefacts *a, const struct command_line c[2], const char *report, const char *text_name,
	const struct cell *cell, const struct side *s, struct fw_err *err)
{
	char why[400] = "";
	struct buf text, errors;
	buf_init(&text, OUTPUT_BYTES);
	buf_init(&errors, LOG_BYTES);
	int result = run(a, &c[0], &text, &text, COMMAND_MS, why, sizeof why, err);
	if (result == 1 && !is_written(a, report)) {
		result = 0;
		find_reason(&text, why, sizeof why);
	}
	buf_clear(&text);
	if (result == 1)
		result = run(a, &c[1], &text, &errors, COMMAND_MS, why, sizeof why, err);
	if (result == 1)
		result = write_in(a, text_name, &text, err) == 0 ? 1 : -1;
	if (result == 1) {
		list_file(a, report, cell, s);
		list_file(a, text_name, cell, s);
	} else if (result == 0) {
		remove_in(a, report);
		note_failure(a, "ncu", cell, s, why, true);
		a->has_ncu = !strstr(why, "ERR_NVGPUCTRPERM"); /* the same would happen to every cell */
	}
	buf_fini(&errors);
	buf_fini(&text);
	return result < 0 ? -1 : 0;
}

static int profile_cell(struct artefacts *a, int i, const struct side *s, struct fw_err *err)
{
	const struct cell *cell = &a->suite.cell[i];
	struct command_line both[2] = { 0 }, calls = { .n = 0 };
	char stem[2 * CASE_KEY_SIZE], report[2 * CASE_KEY_SIZE + 16], text[2 * CASE_KEY_SIZE];
	progress_step(&a->progress, "%d of %d: calling %s: %s", i + 1, a->suite.n_cells, s->role, cell->key);
	int result = call_alone(a, cell, s, err);
	if (result != 1)
		return result;
	a->n_ran++;
	snprintf(stem, sizeof stem, "ncu_results/ncu_%s_%s", s->word, a->name[i]);
	snprintf(report, sizeof report, "%s.ncu-rep", stem);
	snprintf(text, sizeof text, "ncu_results/report_%s_%s.txt", s->word, a->name[i]);
	ncu_commands(a, cell, s, stem, report, both);
	put_command(&a->ncu_script, &both[0], NULL);
	put_command(&a->ncu_script, &both[1], text);
	add_capture(a, s, cell, "10", "20", &calls);
	put_command(&a->calls, &calls, NULL);
	if (!a->has_ncu)
		return 0;
	progress_step(&a->progress, "%d of %d: counting %s: %s", i + 1, a->suite.n_cells, s->role, cell->key);
	return count(a, both, report, text, cell, s, err);
}

/* Returns 0, 1 interrupted, -1. */
static int profile_cells(struct artefacts *a, struct fw_err *err)
{
	if (make_folder(a, "memory_profiler", err) != 0 || make_folder(a, "traces", err) != 0 ||
		make_folder(a, "ncu_results", err) != 0)
		return -1;
	for (int i = 0; i < a->suite.n_cells; i++)
		for (int k = a->first; k < SIDES; k++) {
			if (profile_cell(a, i, &a->side[k], err) < 0)
				return -1;
			if (interrupt_came())
				return 1;
		}
	return 0;
}

/* ---- all cells ---------------------------------------------------------------------------------------------------------- */

static int write_script(
	const struct artefacts *a, const char *name, const char *about, const struct buf *lines, struct fw_err *err)
{
	char path[sizeof a->folder + 64];
	struct buf text;
	buf_init(&text, SCRIPT_BYTES);
	buf_printf(&text, "#!/bin/sh\n# %s\ncd \"$(dirname \"$0\")\" || exit 1\nexport LC_ALL=C\nstatus=0\n", about);
	buf_append(&text, lines->data ? lines->data : "", lines->len);
	buf_puts(&text, "exit $status\n");
	int result = write_in(a, name, &text, err);
	buf_fini(&text);
	snprintf(path, sizeof path, "%s/%s", a->folder, name);
	if (result == 0 && chmod(path, 0755) != 0)
		result = err_sys(err, "%s", path);
	if (result == 0)
		list_file(a, name, NULL, NULL);
	return result;
}

static void nsys_commands(const struct artefacts *a, struct command_line c[2])
{
	static const char *const profile[] = { "profile", "-o", "nvtx_profile", "--trace=cuda,nvtx", "--force-overwrite=true",
		"sh", "run_cells.sh", NULL };
	static const char *const stats[] = { "stats", "--force-export=true", "nvtx_profile.nsys-rep", NULL };
	add(&c[0], a->nsys);
	add_all(&c[0], profile);
	add(&c[1], a->nsys);
	add_all(&c[1], stats);
}

static int compare_script(const struct artefacts *a, struct fw_err *err)
{
	static const char *const verbs[] = { "compare", "profile" };
	const struct side *base = &a->side[a->first], *target = &a->side[1];
	struct buf lines;
	buf_init(&lines, SCRIPT_BYTES);
	for (int i = 0; i < 2; i++) {
		struct command_line c = { .n = 0 };
		add(&c, a->worker);
		add(&c, verbs[i]);
		add_option(&c, "--suite", "suite.yaml");
		add_option(&c, "--base", base->module);
		add_option(&c, "--target", target->module);
		add_option(&c, "--device", a->device);
		add_option(&c, "--cells", a->options->cells);
		add_option(&c, "--base-provider", base->provider);
		add_option(&c, "--target-provider", target->provider);
		add_option(&c, "--base-config", base->config);
		add_option(&c, "--target-config", target->config);
		put_command(&lines, &c, NULL);
	}
	int result = write_script(a, "compare_analysis.sh",
		"Times both sides against each other, with a verdict, then explains the difference.", &lines, err);
	buf_fini(&lines);
	return result;
}

static int write_scripts(const struct artefacts *a, const struct command_line nsys[2], struct fw_err *err)
{
	struct buf lines, counting;
	buf_init(&lines, SCRIPT_BYTES);
	buf_init(&counting, SCRIPT_BYTES);
	buf_puts(&counting, "mkdir -p ncu_results\n");
	buf_append(&counting, a->ncu_script.data ? a->ncu_script.data : "", a->ncu_script.len);
	put_command(&lines, &nsys[0], NULL);
	put_command(&lines, &nsys[1], "nvtx_stats.txt");
	int result =
		write_script(a, "run_cells.sh", "Runs ten calls of each cell on each side, after a warm-up.", &a->calls, err);
	if (result == 0)
		result = write_script(
			a, "nvtx_analysis.sh", "Writes the timeline of all cells by nsys, and its statistics.", &lines, err);
	if (result == 0)
		result = write_script(a, "ncu_analysis.sh",
			"Writes the counters of each cell on each side by ncu, and their raw page.", &counting, err);
	buf_fini(&counting);
	buf_fini(&lines);
	return result == 0 ? compare_script(a, err) : -1;
}

/* One timeline of all cells. Returns 0, also if nsys failed, which is noted. */
static int trace(struct artefacts *a, const struct command_line c[2], struct fw_err *err)
{
	static const char report[] = "nvtx_profile.nsys-rep", stats[] = "nvtx_stats.txt";
	const int64_t limit_ms = COMMAND_MS + (int64_t)CELL_MS * a->n_ran;
	char why[400] = "";
	struct buf text, errors;
	buf_init(&text, OUTPUT_BYTES);
	buf_init(&errors, LOG_BYTES);
	progress_step(&a->progress, "tracing all cells");
	int result = run(a, &c[0], &text, &text, limit_ms, why, sizeof why, err);
	if (result == 1 && !is_written(a, report)) {
		result = 0;
		find_reason(&text, why, sizeof why);
	}
	if (result == 1)
		list_file(a, report, NULL, NULL);
	else
		remove_in(a, report);
	buf_clear(&text);
	if (result == 1)
		result = run(a, &c[1], &text, &errors, limit_ms, why, sizeof why, err);
	if (result == 1) {
		result = write_in(a, stats, &text, err) == 0 ? 1 : -1;
		list_file(a, stats, NULL, NULL);
	}
	if (result == 0)
		note_failure(a, "nsys", NULL, NULL, why, true);
	buf_fini(&errors);
	buf_fini(&text);
	return result < 0 ? -1 : 0;
}

/* ---- build -------------------------------------------------------------------------------------------------------------- */

static void fill_side(struct artefacts *a, int i, struct msg_side *s)
{
	const struct side *side = &a->side[i];
	s->role = i ? ROLE_TARGET : ROLE_BASE;
	snprintf(s->commit, sizeof s->commit, "%s", side->tree.commit);
	s->build = side->tree.manifest.build;
	s->n_inputs = side->tree.manifest.n_inputs;
	for (int k = 0; k < s->n_inputs; k++) {
		snprintf(s->input[k].path, sizeof s->input[k].path, "%s", side->tree.manifest.input[k]);
		snprintf(s->input[k].oid, sizeof s->input[k].oid, "%s", side->tree.oid[k]);
	}
}

/* With the first error of the compiler. */
static int fail_build(const struct side *s, const struct outcome *o, struct fw_err *err)
{
	const char *detail = o->n_faults ? o->fault[0].detail : o->build_detail, *error = strstr(o->log.data, "error:");
	char line[300] = "";
	while (error && error > o->log.data && error[-1] != '\n')
		error--;
	if (error)
		snprintf(line, sizeof line, "%.*s", (int)strcspn(error, "\n"), error);
	else
		programs_last_line(&o->log, line, sizeof line);
	return err_set(err, ERR_INVALID, "the %s is not built: %s%s%s", s->role, detail, *line ? ": " : "", line);
}

static int build_with(struct artefacts *a, struct msg_job *job, struct outcome *o, struct fw_err *err)
{
	const struct session_request request = { .tree = &a->side[1].tree,
		.device = a->kind,
		.read_only = a->options->read_only,
		.job = job,
		.label = a->suite.name,
		.builds_only = true,
		.progress = &a->progress };
	if (session_run(&request, o, err) != 0)
		return -1;
	for (int i = 0; i < SIDES; i++) {
		struct side *s = &a->side[i];
		if (!o->module_sha256[i][0])
			return fail_build(s, o, err);
		memcpy(s->sha256, o->module_sha256[i], sizeof s->sha256);
	}
	if (make_folder(a, "modules", err) != 0 || copy_module(a, o, 0, err) != 0)
		return -1;
	return copy_module(a, o, 1, err);
}

/* Build both sides and copy their modules into the folder. */
static int build(struct artefacts *a, struct fw_err *err)
{
	struct msg_job *job = mem_alloc_zero(1, sizeof *job);
	struct outcome *o = mem_alloc_zero(1, sizeof *o);
	job->job = job->attempt = 1;
	job->kind = JOBKIND_COMPARE;
	job->quick = true;
	job->seed = 1;
	snprintf(job->nonce, sizeof job->nonce, "artefacts");
	rule_default(&job->rule, a->suite.n_cells);
	for (int i = 0; i < SIDES; i++)
		fill_side(a, i, &job->side[i]);
	job->n_sides = SIDES;
	job->cell = a->suite.cell;
	job->n_cells = a->suite.n_cells;
	job->limits = (struct msg_limits){ .build_s = BUILD_S,
		.check_s = BUILD_S,
		.run_s = BUILD_S,
		.budget_s = a->suite.budget_s,
		.wait_s = BUILD_S,
		.log_bytes = LOG_BYTES };
	outcome_init(o);
	outcome_cells(o, a->suite.cell, a->suite.n_cells);
	int result = build_with(a, job, o, err);
	outcome_fini(o);
	free(o);
	free(job);
	return result;
}

/* ---- start and end ------------------------------------------------------------------------------------------------------ */

static int find_device(struct artefacts *a, struct fw_err *err)
{
	const char *const device = a->options->device;
	const char *const argv[] = { a->worker, "probe", device ? "--device" : NULL, device, NULL };
	struct proc_exit how;
	struct buf out;
	struct msg m = { 0 };
	buf_init(&out, PROTOCOL_LINE_MAX);
	int result = proc_run(&(struct proc_spec){ .argv = argv, .env = (const char *const *)environ }, NULL, &out, NULL,
		COMMAND_MS, &how, err);
	if (result == 0 && how.status != 0)
		result =
			err_set(err, ERR_NOT_FOUND, "flopwatch-worker probe finds no device %s here", device ? device : "at all");
	if (result == 0)
		result = protocol_parse(out.data, strcspn(out.data, "\n"), &m, err);
	if (result == 0) {
		const struct msg_device *d = m.t == MSG_HELLO ? session_device(&m.u.hello, device) : NULL;
		if (!d) {
			result = err_set(err, ERR_NOT_FOUND,
				"there is no device %s here; flopwatch-worker probe names those that are",
				device ? device : "at all");
		} else {
			snprintf(a->kind, sizeof a->kind, "%s", device_kind_name(d->kind));
			snprintf(a->device, sizeof a->device, "%s:%d", a->kind, d->index);
		}
		msg_fini(&m);
	}
	buf_fini(&out);
	return result;
}

static int open_sides(struct artefacts *a, struct fw_err *err)
{
	const struct options *o = a->options;
	const char *const providers[] = { o->base_provider, o->target_provider }, *const configs[] = { o->base_config,
		o->target_config };
	static const char *const roles[] = { "base", "target" };
	int result = 0;
	for (int i = 0; i < SIDES && result == 0; i++) {
		struct side *s = &a->side[i];
		s->role = roles[i];
		s->provider = providers[i] ? providers[i] : "";
		s->config = configs[i] ? configs[i] : "";
		result = o->n_arg ? tree_open_commit(&s->tree, ".", o->arg[i], err) : tree_open(&s->tree, ".", err);
	}
	if (result == 0)
		name_sides(a);
	return result;
}

/* The target's suite. */
static int read_suite(struct artefacts *a, struct fw_err *err)
{
	char file[1024];
	if (tree_suite(&a->side[1].tree, a->options->suite, &a->suite_text, file, err) != 0 ||
		suite_parse(a->suite_text.data, a->suite_text.len, file, &a->suite, err) != 0)
		return -1;
	return suite_choose(&a->suite, a->options->cells, 0, err) != 0 ? -1 : name_all(a, err);
}

/* errno is set if not. */
static bool is_empty_or_absent(const char *folder)
{
	DIR *dir = opendir(folder);
	bool is_empty = true;
	if (!dir)
		return errno == ENOENT;
	for (struct dirent *d; is_empty && (d = readdir(dir));)
		is_empty = strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0;
	closedir(dir);
	errno = ENOTEMPTY;
	return is_empty;
}

/* An empty folder that is there: the place of a symbolic link's target, which a rename can replace. */
static int follow_link(char *final, size_t size, struct fw_err *err)
{
	char whole[PATH_MAX], parent[PATH_MAX + 4];
	struct stat own, above;
	if (!realpath(final, whole))
		return err_sys(err, "%s", final);
	snprintf(parent, sizeof parent, "%s/..", whole);
	if (stat(whole, &own) != 0 || stat(parent, &above) != 0)
		return err_sys(err, "%s", whole);
	if (own.st_dev != above.st_dev)
		return err_set(err, ERR_INVALID, "%s is a mount point, which cannot be replaced; name a folder in it", final);
	return (size_t)snprintf(final, size, "%s", whole) < size
		       ? 0
		       : err_set(err, ERR_INVALID, "%.60s... is too long a name", whole);
}

static int start_folder(struct artefacts *a, struct fw_err *err)
{
	char *const final = a->final;
	size_t len = strlen(a->options->artefacts);
	while (len > 1 && a->options->artefacts[len - 1] == '/')
		len--;
	if ((size_t)snprintf(final, sizeof a->final, "%.*s", (int)len, a->options->artefacts) >= sizeof a->final)
		return err_set(err, ERR_INVALID, "%.60s... is too long a name", a->options->artefacts);
	if (!is_empty_or_absent(final))
		return errno == ENOTEMPTY || errno == ENOTDIR
			       ? err_set(err, ERR_INVALID, "%s exists and is not an empty folder; name a new one", final)
			       : err_sys(err, "%s", final);
	if (access(final, F_OK) == 0 && follow_link(final, sizeof a->final, err) != 0)
		return -1;
	snprintf(a->folder, sizeof a->folder, "%s.part-XXXXXX", final);
	if (!mkdtemp(a->folder)) {
		err_set(err, ERR_IO, "cannot make a folder next to %s: %s", final, strerror(errno));
		a->folder[0] = '\0';
		return -1;
	}
	mode_t mask = umask(0);
	umask(mask);
	return chmod(a->folder, 0777 & ~mask) == 0 ? 0 : err_sys(err, "%s", a->folder);
}

static void find_tools(struct artefacts *a)
{
	a->has_ncu = programs_find("ncu", a->ncu, sizeof a->ncu);
	a->has_nsys = programs_find("nsys", a->nsys, sizeof a->nsys);
	progress_clear(&a->progress);
	if (!a->has_ncu) {
		snprintf(a->ncu, sizeof a->ncu, "ncu");
		note_failure(a, "ncu", NULL, NULL,
			"it is not installed here, so nothing is counted; ncu_analysis.sh has its commands", false);
	}
	if (!a->has_nsys) {
		snprintf(a->nsys, sizeof a->nsys, "nsys");
		note_failure(a, "nsys", NULL, NULL,
			"it is not installed here, so nothing is traced; nvtx_analysis.sh has its commands", false);
	}
}

static json_t *describe(const struct artefacts *a)
{
	json_t *all = json_pack("{s:s,s:s,s:i}", "suite", a->suite.name, "device", a->device, "cells", a->suite.n_cells);
	for (int i = a->first; i < SIDES; i++) {
		const struct side *s = &a->side[i];
		json_object_set_new(all, s->role,
			json_pack("{s:s,s:s,s:s,s:s}", "commit", s->tree.commit, "provider", s->provider, "config", s->config,
				"module_sha256", s->sha256));
	}
	json_object_set(all, "files", a->files);
	json_object_set(all, "missing", a->failures);
	return all;
}

static int write_index(const struct artefacts *a, struct fw_err *err)
{
	json_t *all = describe(a);
	char *text = json_dumps(all, JSON_INDENT(2));
	struct buf line;
	buf_init(&line, SCRIPT_BYTES);
	buf_puts(&line, text ? text : "");
	buf_putc(&line, '\n');
	int result =
		text ? write_in(a, "artefacts.json", &line, err) : err_set(err, ERR_INTERNAL, "the list of files has no text");
	buf_fini(&line);
	free(text);
	json_decref(all);
	return result;
}

static int finish_folder(struct artefacts *a, struct fw_err *err)
{
	char path[sizeof a->folder + 32];
	snprintf(path, sizeof path, "%s/ncu_results", a->folder);
	(void)rmdir(path); /* only if it is empty */
	snprintf(path, sizeof path, "%s/memory_profiler", a->folder);
	(void)rmdir(path);
	snprintf(path, sizeof path, "%s/traces", a->folder);
	(void)rmdir(path);
	list_file(a, "times.txt", NULL, NULL);
	if (write_in(a, "suite.yaml", &a->suite_text, err) != 0 || write_in(a, "times.txt", &a->times, err) != 0 ||
		write_index(a, err) != 0)
		return -1;
	int result = rename(a->folder, a->final) == 0
			     ? 0
			     : err_sys(err, "the files are in %s, which cannot become %s", a->folder, a->final);
	a->folder[0] = '\0'; /* end() deletes nothing */
	return result;
}

static void print_end(const struct artefacts *a)
{
	if (a->options->json) {
		json_t *all = describe(a);
		verb_print_json(all);
		json_decref(all);
		return;
	}
	plain_line(stdout, "%s: %zu files of %d cells of %s on %s; artefacts.json lists them", a->options->artefacts,
		json_array_size(a->files), a->suite.n_cells, a->suite.name, a->device);
}

/* Returns 0, 1 interrupted, -1. */
static int make_all(struct artefacts *a, struct fw_err *err)
{
	struct command_line nsys[2] = { 0 };
	int built = build(a, err);
	if (interrupt_came())
		return 1;
	if (built != 0 || write_in(a, "suite.yaml", &a->suite_text, err) != 0)
		return -1;
	a->first = strcmp(a->side[0].sha256, a->side[1].sha256) == 0 && strcmp(a->side[0].provider, a->side[1].provider) == 0 &&
		   strcmp(a->side[0].config, a->side[1].config) == 0;
	find_tools(a);
	if (a->first)
		plain_line(stderr, "both sides are the same, so only the target is run");
	int result = profile_cells(a, err);
	if (result == 0) {
		nsys_commands(a, nsys);
		result = write_scripts(a, nsys, err);
	}
	if (result == 0 && a->has_nsys && a->n_ran)
		result = trace(a, nsys, err);
	if (result == 0 && interrupt_came())
		result = 1;
	return result == 0 ? finish_folder(a, err) : result;
}

static int fail(const struct fw_err *err)
{
	(void)verb_fail_here(err);
	return err->code == ERR_INVALID ? EXIT_USAGE : err->code == ERR_NOT_FOUND ? EXIT_NOT_FOUND : EXIT_ERROR;
}

static void start(struct artefacts *a)
{
	buf_init(&a->suite_text, SUITE_BYTES);
	buf_init(&a->calls, SCRIPT_BYTES);
	buf_init(&a->ncu_script, SCRIPT_BYTES);
	buf_init(&a->times, SCRIPT_BYTES);
	a->files = json_array();
	a->failures = json_array();
	progress_start(&a->progress, a->options, stderr);
	progress_step(&a->progress, "reading the files of the checkout");
	interrupt_arm();
}

static void end(struct artefacts *a)
{
	progress_clear(&a->progress);
	if (a->folder[0])
		(void)nftw(a->folder, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
	suite_fini(&a->suite);
	buf_fini(&a->suite_text);
	buf_fini(&a->calls);
	buf_fini(&a->ncu_script);
	buf_fini(&a->times);
	json_decref(a->files);
	json_decref(a->failures);
	tree_free(&a->side[0].tree);
	tree_free(&a->side[1].tree);
	free(a->name);
}

int artefacts_profile(const struct options *o)
{
	struct artefacts *a = mem_alloc_zero(1, sizeof *a);
	struct fw_err err = { 0 };
	a->options = o;
	start(a);
	int result = open_sides(a, &err) == 0 && read_suite(a, &err) == 0 &&
				     proc_sibling("flopwatch-worker", a->worker, sizeof a->worker, &err) == 0 &&
				     proc_sibling("flopwatch-runner", a->runner, sizeof a->runner, &err) == 0 &&
				     find_device(a, &err) == 0 && start_folder(a, &err) == 0
			     ? make_all(a, &err)
			     : -1;
	progress_clear(&a->progress);
	int status = result > 0 ? EXIT_INTERRUPTED : a->n_failed ? EXIT_ERROR : a->n_ran ? EXIT_OK : EXIT_UNDECIDED;
	if (result == 0)
		print_end(a);
	else if (result < 0)
		status = fail(&err);
	end(a);
	free(a);
	return status;
}
