#include "web/page/internal.h"

#include <math.h>

enum { FILTER_SIZE = 640, BEFORE_SIZE = 2048, LOCATION_MAX = 1 << 16, LINE_MAX_BYTES = 64 << 10 };

/* Inputs of the commands. */
struct reproduce {
	const struct comparison *c;
	const struct comparison_cell *cell;
	struct buf json;                            /* the cell */
	json_t *location;                           /* of the device's worker */
	const char *runner, *modules, *host, *user; /* of `location` */
	bool is_system;
	reproduce_line_fn *each;
	void *arg;
};

/* Quote a text as one word for the shell. */
static void quote(struct buf *out, const char *text)
{
	buf_putc(out, '\'');
	for (const char *s = text; *s; s++)
		buf_puts(out, *s == '\'' ? "'\\''" : (char[]){ *s, 0 });
	buf_putc(out, '\'');
}

static void add_option(struct buf *out, const char *name, const char *value)
{
	if (!*value)
		return;
	buf_printf(out, " %s ", name);
	quote(out, value);
}

static void pass_command(const struct reproduce *k, const char *what, struct buf *line)
{
	if (!line->failed && line->len)
		k->each(k->arg, what, line->data);
	buf_clear(line);
}

/* ---- inputs -------------------------------------------------------------------------------------------------------- */

/* Read the paths of the device's worker. 1; 0: the worker never reported them; -1. */
static int read_location(struct db *db, struct reproduce *k, struct fw_err *err)
{
	struct buf text;
	struct fw_err why = { 0 };
	buf_init(&text, LOCATION_MAX);
	int result = *k->c->environment.device ? view_location(db, k->c->environment.device, &text, &why) : 1;
	if (result < 0 && why.code != ERR_NOT_FOUND)
		return buf_fini(&text), err_set(err, why.code, "%s", why.text);
	k->location = result == 0 ? jsonr_tree(text.data, text.len) : NULL;
	buf_fini(&text);
	k->runner = comparison_text(k->location, "runner");
	k->modules = comparison_text(k->location, "modules");
	k->host = comparison_text(k->location, "host");
	k->user = comparison_text(k->location, "user");
	k->is_system = json_is_true(json_object_get(k->location, "is_system"));
	return *k->runner && *k->modules;
}

/* ---- commands ------------------------------------------------------------------------------------------------------ */

/* Write the command that measures only this cell of both sides again. */
static void measure_again(const struct reproduce *k, const char *public_url, struct buf *line)
{
	const struct comparison *c = k->c;
	if (c->kind == JOBKIND_ENVIRONMENT) /* the daemon may have deleted the build of a side */
		return;
	buf_printf(line, "flopwatch compare %.12s %.12s", c->base.commit, c->target.commit);
	add_option(line, "--repo", c->repo);
	add_option(line, "--suite", c->suite);
	add_option(line, "--base-provider", c->base.provider);
	add_option(line, "--target-provider", c->target.provider);
	add_option(line, "--base-config", c->base.pinned);
	add_option(line, "--target-config", c->target.pinned);
	add_option(line, "--server", public_url ? public_url : "");
	if (!comparison_is_program(k->cell)) {
		buf_puts(line, " \\\n ");
		add_option(line, "--cells", k->cell->key);
	}
	pass_command(
		k, comparison_is_program(k->cell) ? "measure all rows of the program again" : "measure this cell again", line);
}

/* Write commands that build and run each side's program as a push does, in a checkout; its manifest has the command. */
static void run_program(const struct reproduce *k, const char *public_url, struct buf *line)
{
	const struct comparison *c = k->c;
	const struct comparison_side *sides[] = { &c->base, &c->target };
	measure_again(k, public_url, line);
	if (c->kind == JOBKIND_ENVIRONMENT)
		return;
	for (int i = strcmp(c->base.commit, c->target.commit) == 0 ? 1 : 0; i < 2; i++) {
		buf_printf(line, "git switch --detach %.12s && flopwatch try --suite ", sides[i]->commit);
		quote(line, c->suite);
		pass_command(
			k, i ? "build and run the target in a checkout of the repository" : "build and run the base there", line);
	}
}

static bool has_module(const struct comparison_side *side)
{
	return *side->module_sha256 && side->module_sha256[strspn(side->module_sha256, "0123456789abcdef")] == '\0';
}

/* Write the command that runs the calls of one side. `before`: the profiler and its options; "": none. */
static void run_side(const struct reproduce *k, const struct comparison_side *side, const char *provider, const char *before,
	const char *counts, struct buf *line)
{
	char path[1200];
	if (line->len)
		buf_putc(line, '\n');
	/* root opens the modules of another account; it keeps the PATH on which profilers are found */
	if (k->is_system)
		buf_puts(line, *before ? "sudo env \"PATH=$PATH\" " : "sudo ");
	if (*before)
		buf_printf(line, "%s \\\n  ", before);
	quote(line, k->runner);
	add_option(line, "--device", k->c->environment.device);
	add_option(line, "--provider", *provider ? provider : side->provider);
	add_option(line, "--config", side->pinned);
	buf_puts(line, " \\\n ");
	snprintf(path, sizeof path, "%s/%s.so", k->modules, side->module_sha256);
	add_option(line, "--module", path);
	buf_printf(line, " %s \\\n ", counts);
	add_option(line, "--capture", k->json.data);
}

/*
 * Write the NVTX ranges of the cell's calls, as ncu and nsys name them (runner/range.c): ncu ends a name at a /. Shape:
 * filter[FILTER_SIZE].
 */
static void ncu_filter(const char *key, char filter[FILTER_SIZE])
{
	size_t n = (size_t)snprintf(filter, FILTER_SIZE, "flopwatch@");
	for (; *key && n + 4 < FILTER_SIZE; key++) {
		if (*key == '/')
			filter[n++] = '\\';
		filter[n++] = *key;
	}
	snprintf(filter + n, FILTER_SIZE - n, "/");
}

/* Write commands for both sides. `program`: a profiler, whose `report_option` names its report; "": none. */
static void run_both(const struct reproduce *k, const char *what, const char *program, const char *report_option,
	const char *counts, struct buf *line)
{
	const struct comparison_side *sides[] = { &k->c->base, &k->c->target };
	const char *const names[] = { "base", "target" }, *const providers[] = { k->cell->base_provider,
		k->cell->target_provider };
	bool alike = strcmp(sides[0]->module_sha256, sides[1]->module_sha256) == 0 && strcmp(providers[0], providers[1]) == 0 &&
		     strcmp(sides[0]->pinned, sides[1]->pinned) == 0;
	for (int i = alike ? 1 : 0; i < 2; i++) {
		char before[BEFORE_SIZE] = "";
		if (!has_module(sides[i]))
			continue;
		if (*program)
			snprintf(before, sizeof before, "%s %s flopwatch-%lld-c%d-%s", program, report_option,
				(long long)k->c->id, k->cell->n, names[i]);
		run_side(k, sides[i], providers[i], before, counts, line);
	}
	pass_command(k, what, line);
}

static void report_where(const struct reproduce *k, char where[REPRODUCE_WHERE_SIZE])
{
	const char *as = k->is_system ? "root" : *k->user ? k->user : "";
	snprintf(where, REPRODUCE_WHERE_SIZE, "on %.63s%s%.33s", *k->host ? k->host : "the worker's machine", *as ? ", as " : "",
		as);
}

/* Write commands for profilers, with clocks and caches as in timing. */
static void profile_both(const struct reproduce *k, struct buf *line)
{
	char filter[FILTER_SIZE], range[FILTER_SIZE];
	struct buf program;
	buf_init(&program, BEFORE_SIZE);
	ncu_filter(k->cell->key, filter);
	snprintf(range, sizeof range, "%.600s@flopwatch", k->cell->key);
	buf_puts(&program, "ncu --set full --clock-control none --cache-control none --nvtx");
	add_option(&program, "--nvtx-include", filter);
	buf_puts(&program, " -f");
	run_both(k, "the counters of its kernels", program.data, "-o", "--calls 1 --warmup 20", line);
	buf_clear(&program);
	buf_puts(&program, "nsys profile -c nvtx");
	add_option(&program, "-p", range);
	buf_puts(&program, " --capture-range-end=stop -t cuda,nvtx --force-overwrite true");
	run_both(k, "its timeline", program.data, "-o", "--calls 1 --warmup 20", line);
	buf_fini(&program);
}

int reproduce_lines(struct site *site, const struct comparison *c, const struct comparison_cell *cell,
	char where[REPRODUCE_WHERE_SIZE], reproduce_line_fn *each, void *arg, struct fw_err *err)
{
	struct reproduce k = { .c = c, .cell = cell, .each = each, .arg = arg };
	struct buf line;
	where[0] = '\0';
	if (c->kind == JOBKIND_IMPORT)
		return 0;
	buf_init(&line, LINE_MAX_BYTES);
	if (comparison_is_program(cell)) {
		run_program(&k, site->public_url, &line);
		buf_fini(&line);
		return 0;
	}
	buf_init(&k.json, LINE_MAX_BYTES);
	int result = read_location(site->db, &k, err);
	if (result == 1) /* the suite is read only for this */
		result = captures_cell(site->captures, site->db, c, cell->key, &k.json, err);
	if (result == 1)
		report_where(&k, where);
	if (result >= 0)
		measure_again(&k, site->public_url, &line);
	if (result == 1) {
		run_both(&k, "run its calls alone", "", "", "--calls 30 --warmup 20", &line);
		if (strcmp(c->environment.kind, "cuda") == 0)
			profile_both(&k, &line);
	}
	json_decref(k.location);
	buf_fini(&k.json);
	buf_fini(&line);
	return result < 0 ? -1 : 0;
}

void reproduce_calibrate(const struct comparison *c, const struct comparison_cell *cell, struct buf *line)
{
	buf_puts(line, cell ? "flopwatch calibrate forget" : "flopwatch calibrate");
	add_option(line, "--repo", c->repo);
	if (!cell)
		add_option(line, "--suite", c->suite);
	add_option(line, "--device", c->environment.device);
	if (cell)
		add_option(line, "--cells", cell->key);
}

const struct comparison_cell *reproduce_worst(const struct comparison *c)
{
	const struct comparison_cell *worst = NULL, *odd = NULL;
	for (int i = 0; i < c->n_cells; i++) {
		const struct comparison_cell *cell = &c->cell[i];
		if (cell->verdict == VERDICT_REGRESSION &&
			(!worst || (isfinite(cell->change_pct) && !(cell->change_pct >= worst->change_pct))))
			worst = cell;
		if (!odd && cell->verdict != VERDICT_UNCHANGED)
			odd = cell;
	}
	return worst ? worst : odd ? odd : c->n_cells ? &c->cell[0] : NULL;
}
