/* history.c - results of many commits, documented in readers.h. */
#include "readers/internal.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define RATE_SUFFIX "/per-op"

/* A file while it is read. */
struct source {
	struct history *h;
	const char *format, *text, *file;
	size_t len;
	struct fw_err *err;
};

/* ---- positions: jansson has none of values, so a mistake's position is searched in the text, which is valid JSON. ---- */

enum { PATH_STEPS_MAX = 12 };

/** Where a value is: names of members, and "#3" for the fourth item of a list. */
struct path {
	int n;
	char step[PATH_STEPS_MAX][OBJECT_NAME_SIZE];
};

static void path_push(struct path *p, const char *name)
{
	if (p->n < PATH_STEPS_MAX)
		snprintf(p->step[p->n], OBJECT_NAME_SIZE, "%s", name);
	p->n++;
}

static void path_push_item(struct path *p, size_t i)
{
	char step[24];
	snprintf(step, sizeof step, "#%zu", i);
	path_push(p, step);
}

static const char *skip_space(const char *at, const char *end)
{
	while (at < end && strchr(" \t\r\n,:", *at))
		at++;
	return at;
}

/* To the character after a string, which begins at `at`. */
static const char *skip_string(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\';
	return at < end ? at + 1 : end;
}

static const char *skip_value(const char *at, const char *end)
{
	int depth = 0;
	do {
		if (at >= end)
			return end;
		if (*at == '"') {
			at = skip_string(at, end);
			continue;
		}
		depth += *at == '{' || *at == '[';
		depth -= *at == '}' || *at == ']';
		at++;
	} while (depth > 0 || (at < end && at[-1] != '"' && at[-1] != '}' && at[-1] != ']' && !strchr(" \t\r\n,]}", *at)));
	return at;
}

/* The value of one step in the object or list at `at`; `at` itself if it is missing there, so that the object is named. */
static const char *find_step(const char *at, const char *end, const char *step)
{
	const char *begin = at;
	bool is_list = *at == '[';
	size_t wanted = is_list ? strtoul(step + 1, NULL, 10) : 0, n = strlen(step);
	if (*at != '{' && *at != '[')
		return begin;
	for (at = skip_space(at + 1, end); at < end && *at != '}' && *at != ']'; at = skip_space(skip_value(at, end), end)) {
		bool found = is_list && wanted-- == 0;
		if (!is_list) {
			const char *name = at + 1;
			at = skip_string(at, end);
			found = (size_t)(at - name) == n + 1 && memcmp(name, step, n) == 0;
			at = skip_space(at, end);
		}
		if (found)
			return at;
	}
	return begin;
}

/* Set "FILE:LINE:COLUMN: ..." with the position of a value. Returns -1. */
static int mistake(const struct source *s, const struct path *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int mistake(const struct source *s, const struct path *path, const char *format, ...)
{
	const char *end = s->text + s->len, *at = memchr(s->text, '{', s->len);
	char what[400];
	int line = 1;
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	at = at ? at : s->text;
	for (int i = 0; i < path->n && i < PATH_STEPS_MAX && at < end; i++)
		at = find_step(at, end, path->step[i]);
	const char *start = s->text;
	for (const char *c = s->text; c < at; c++)
		if (*c == '\n') {
			line++;
			start = c + 1;
		}
	return err_set(s->err, ERR_INVALID, "%.500s:%d:%d: %s", s->file, line, (int)(at - start) + 1, what);
}

/* ---- points ---- */

/* Letters, digits, . _ - of a name; others become _. */
static void name_suite(const char *text, char out[HISTORY_NAME_SIZE])
{
	snprintf(out, HISTORY_NAME_SIZE, "%.*s", HISTORY_NAME_SIZE - 1, text ? text : "");
	for (char *c = out; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			*c = '_';
}

static struct history_point *find_point(struct history *h, const char *suite, const char *commit)
{
	for (int i = h->n; i-- > 0;) /* mostly the newest one */
		if (strcmp(h->point[i].commit, commit) == 0 && strcmp(h->point[i].suite, suite) == 0)
			return &h->point[i];
	return NULL;
}

/* The point of a commit and suite, created if new. NULL: too many. */
static struct history_point *take_point(const struct source *s, const char *suite, const char *commit, int64_t at_ms)
{
	struct history *h = s->h;
	char name[HISTORY_NAME_SIZE];
	name_suite(suite, name);
	struct history_point *p = find_point(h, name, commit);
	if (p)
		return p;
	if (h->n == HISTORY_POINTS_MAX) {
		err_set(s->err, ERR_INVALID, "%.500s: more than %d commits; import parts of the history", s->file,
			HISTORY_POINTS_MAX);
		return NULL;
	}
	h->point = mem_grow_one(h->point, (size_t)h->n, sizeof *h->point);
	p = &h->point[h->n];
	*p = (struct history_point){ .at_ms = at_ms, .order = h->n++ };
	snprintf(p->commit, sizeof p->commit, "%s", commit);
	snprintf(p->suite, sizeof p->suite, "%s", name);
	snprintf(p->reading.format, sizeof p->reading.format, "%s", s->format);
	return p;
}

/* Convert a value of `unit`, which may end in "/iter" or be a rate of operations. False: neither a time nor a rate. */
static bool convert(double value, const char *unit, double *ms, double *tflops, const char **suffix)
{
	static const char *const rates[] = { "ops/sec", "ops/s", "iter/sec", "iter/s", "op/s" };
	static const char *const ends[] = { "/iter", "/op", "/call" };
	char plain[64];
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
		if (strcmp(unit, rates[i]) == 0) {
			*ms = 1e3 / value;
			*tflops = NAN;
			*suffix = RATE_SUFFIX;
			return true;
		}
	snprintf(plain, sizeof plain, "%s", unit);
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		size_t n = strlen(plain), k = strlen(ends[i]);
		if (n > k && strcmp(plain + n - k, ends[i]) == 0)
			plain[n - k] = '\0';
	}
	const char *open = strchr(plain, '('), *close = open ? strchr(open, ')') : NULL; /* "nanoseconds (ns)" */
	if (close) {
		char inner[64];
		snprintf(inner, sizeof inner, "%.*s", (int)(close - open - 1), open + 1);
		snprintf(plain, sizeof plain, "%s", inner);
	}
	return unit_convert(value, plain, ms, tflops, suffix) == 0;
}

/* Add a result. 1: it is a time; 0: its unit is none, which is noted; -1: the value is not a time, `err` is not set. */
static int add_result(
	const struct source *s, struct history_point *p, const char *cell, double value, const char *unit, const char *where)
{
	double ms, tflops;
	const char *suffix = "";
	char key[TABLE_KEY_SIZE];
	if (!convert(value, unit, &ms, &tflops, &suffix)) {
		reading_note(&s->h->notes, "results in %.40s are left out: it is not a unit of time", unit[0] ? unit : "no unit");
		return 0;
	}
	if (!reading_is_time(ms))
		return -1;
	snprintf(key, sizeof key, "%.1900s%s", cell, suffix);
	return reading_add(&p->reading, key, ms, tflops, where, s->err) == 0 ? 1 : -1;
}

/* ---- JSON ---- */

static bool is_hash(const json_t *value)
{
	return json_is_string(value) && oid_is_whole(json_string_value(value));
}

static int refuse_hash(const struct source *s, const struct path *path, const json_t *value)
{
	if (!json_is_string(value))
		return mistake(s, path, "needs the full hash of its commit, as git rev-parse prints it");
	return mistake(s, path, "`%.80s` is not the full hash of a commit", json_string_value(value));
}

/* ms UTC of a time as number (ms, or s before 1e11) or text; 0 unknown. */
static int64_t time_of(const json_t *value)
{
	struct fw_err ignored = { 0 };
	int64_t ms = 0;
	double number = json_number_value(value);
	if (json_is_number(value) && !(number > 0 && number < 1e15))
		return 0;
	if (json_is_number(value))
		return (int64_t)(number < 1e11 ? number * 1e3 : number);
	if (json_is_string(value) && clock_parse(json_string_value(value), &ms, &ignored) != 0)
		return 0;
	return ms;
}

/* Add the number at a path. */
static int add_json(const struct source *s, const struct path *path, struct history_point *p, const char *cell,
	const json_t *value, const char *unit)
{
	char where[OBJECT_TEXT_SIZE];
	if (!json_is_number(value))
		return mistake(s, path, "the value of %.200s must be a number", cell);
	snprintf(where, sizeof where, "%.500s", s->file);
	if (add_result(s, p, cell, json_number_value(value), unit, where) >= 0)
		return 0;
	return s->err->code ? -1 : mistake(s, path, "%g %.40s is not a time", json_number_value(value), unit);
}

static int read_entry(const struct source *s, struct path *path, const char *suite, const json_t *entry)
{
	const json_t *commit = json_object_get(entry, "commit"), *benches = json_object_get(entry, "benches"), *bench;
	const struct path entry_path = *path;
	size_t i;
	path_push(path, "commit");
	path_push(path, "id");
	if (!is_hash(json_object_get(commit, "id")))
		return refuse_hash(s, path, json_object_get(commit, "id"));
	struct history_point *p =
		take_point(s, suite, json_string_value(json_object_get(commit, "id")), time_of(json_object_get(entry, "date")));
	if (!p)
		return -1;
	*path = entry_path;
	if (!json_is_array(benches))
		return mistake(s, path, "needs `benches`, a list");
	json_array_foreach(benches, i, bench)
	{
		const char *name = json_string_value(json_object_get(bench, "name")),
			   *unit = json_string_value(json_object_get(bench, "unit"));
		*path = entry_path;
		path_push(path, "benches");
		path_push_item(path, i);
		if (!name || !unit)
			return mistake(s, path, "needs `name` and `unit`");
		path_push(path, "value");
		if (add_json(s, path, p, name, json_object_get(bench, "value"), unit) != 0)
			return -1;
	}
	return 0;
}

static int read_data_js(const struct source *s, const json_t *root)
{
	const char *suite;
	json_t *list, *entry, *entries = json_object_get(root, "entries");
	size_t i;
	if (!json_is_object(entries))
		return mistake(s, &(struct path){ 0 }, "needs `entries`, an object with a list for each suite");
	json_object_foreach(entries, suite, list)
	{
		json_array_foreach(list, i, entry)
		{
			struct path path = { 0 };
			path_push(&path, "entries");
			path_push(&path, suite);
			path_push_item(&path, i);
			if (read_entry(s, &path, suite, entry) != 0)
				return -1;
		}
	}
	return 0;
}

static int read_metrics(const struct source *s, struct path *path, const json_t *result)
{
	const char *cell = json_string_value(json_object_get(json_object_get(result, "benchmark"), "name")),
		   *unit = json_string_value(json_object_get(json_object_get(result, "measure"), "units")),
		   *testbed = json_string_value(json_object_get(json_object_get(result, "testbed"), "slug"));
	json_t *metric, *metrics = json_object_get(result, "metrics");
	const struct path result_path = *path;
	size_t i;
	if (!cell || !unit || !json_is_array(metrics))
		return mistake(s, path, "needs `benchmark`.name, `measure`.units and a list of `metrics`");
	json_array_foreach(metrics, i, metric)
	{
		const json_t *hash = json_object_get(json_object_get(metric, "version"), "hash");
		*path = result_path;
		path_push(path, "metrics");
		path_push_item(path, i);
		const struct path metric_path = *path;
		path_push(path, "version");
		path_push(path, "hash");
		if (!is_hash(hash))
			return refuse_hash(s, path, hash);
		struct history_point *p =
			take_point(s, testbed, json_string_value(hash), time_of(json_object_get(metric, "start_time")));
		if (!p)
			return -1;
		*path = metric_path;
		path_push(path, "metric");
		path_push(path, "value");
		if (add_json(s, path, p, cell, json_object_get(json_object_get(metric, "metric"), "value"), unit) != 0)
			return -1;
	}
	return 0;
}

static int read_bencher(const struct source *s, const json_t *root)
{
	json_t *result, *results = json_object_get(root, "results");
	size_t i;
	if (!json_is_array(results))
		return mistake(s, &(struct path){ 0 }, "needs `results`, a list");
	json_array_foreach(results, i, result)
	{
		struct path path = { 0 };
		path_push(&path, "results");
		path_push_item(&path, i);
		if (read_metrics(s, &path, result) != 0)
			return -1;
	}
	return 0;
}

/* The times of an LNT test: a number or a list. */
static int add_lnt(const struct source *s, struct path *path, struct history_point *p, const char *cell, const json_t *value)
{
	json_t *item;
	size_t i;
	if (!json_is_array(value))
		return add_json(s, path, p, cell, value, "s");
	const struct path list_path = *path;
	json_array_foreach(value, i, item)
	{
		*path = list_path;
		path_push_item(path, i);
		if (add_json(s, path, p, cell, item, "s") != 0)
			return -1;
	}
	return 0;
}

/* One test of LNT: version 1 has a name that ends in .exec or .compile, version 2 a member for each metric. */
static int read_lnt_test(const struct source *s, struct path *path, struct history_point *p, const json_t *test, bool is_v2)
{
	static const char *const metrics[] = { "execution_time", "compile_time" };
	const char *name = json_string_value(json_object_get(test, is_v2 ? "name" : "Name"));
	char cell[TABLE_KEY_SIZE];
	const struct path test_path = *path;
	if (!name)
		return mistake(s, path, "needs a name");
	size_t n = strlen(name);
	for (size_t i = 0; is_v2 && i < sizeof metrics / sizeof metrics[0]; i++) {
		const json_t *value = json_object_get(test, metrics[i]);
		*path = test_path;
		path_push(path, metrics[i]);
		snprintf(cell, sizeof cell, "%.1900s%s", name, i ? "/compile" : "");
		if (value && !json_is_null(value) && add_lnt(s, path, p, cell, value) != 0)
			return -1;
	}
	if (is_v2)
		return 0;
	bool is_time = (n > 5 && strcmp(name + n - 5, ".exec") == 0) || (n > 8 && strcmp(name + n - 8, ".compile") == 0);
	if (!is_time) {
		reading_note(
			&s->h->notes, "results of LNT without .exec or .compile at their end are left out, such as %.100s", name);
		return 0;
	}
	path_push(path, "Data");
	return add_lnt(s, path, p, name, json_object_get(test, "Data"));
}

static int read_lnt(const struct source *s, const json_t *root)
{
	static const char *const keys[] = { "llvm_project_revision", "git_sha", "run_order" };
	bool is_v2 = json_is_object(json_object_get(root, "run"));
	const json_t *run = json_object_get(root, is_v2 ? "run" : "Run"),
		     *machine = json_object_get(root, is_v2 ? "machine" : "Machine"),
		     *info = is_v2 ? run : json_object_get(run, "Info"),
		     *tests = json_object_get(root, is_v2 ? "tests" : "Tests"), *commit = NULL;
	struct path path = { 0 };
	size_t i;
	json_t *test;
	path_push(&path, is_v2 ? "run" : "Run");
	if (!is_v2)
		path_push(&path, "Info");
	for (i = 0; i < sizeof keys / sizeof keys[0] && !is_hash(commit); i++)
		commit = json_object_get(info, keys[i]) ? json_object_get(info, keys[i]) : commit;
	if (!is_hash(commit)) {
		path_push(&path, "run_order");
		return refuse_hash(s, &path, commit);
	}
	const json_t *begun = json_object_get(run, is_v2 ? "start_time" : "Start Time");
	const json_t *name = json_object_get(machine, is_v2 ? "name" : "Name");
	struct history_point *p = take_point(s, json_string_value(name), json_string_value(commit), time_of(begun));
	if (!p)
		return -1;
	path.n = 0;
	if (!json_is_array(tests))
		return mistake(s, &path, "needs %s, a list", is_v2 ? "`tests`" : "`Tests`");
	json_array_foreach(tests, i, test)
	{
		path.n = 0;
		path_push(&path, is_v2 ? "tests" : "Tests");
		path_push_item(&path, i);
		if (read_lnt_test(s, &path, p, test, is_v2) != 0)
			return -1;
	}
	return 0;
}

/* Note the results that the reading of a commit left out. The same sentence of many commits is noted once. */
static void note_reading(struct history *h, const struct reading *r)
{
	char left[READING_NOTE_SIZE];
	for (int i = 0; i < r->n_notes; i++)
		reading_note(&h->notes, "%s", r->note[i]);
	reading_report_skipped(r, left, sizeof left);
	if (left[0])
		reading_note(&h->notes, "%s", left);
}

static int read_asv_point(const struct source *s, const json_t *root)
{
	const struct reading_options how = { .format = "asv", .unit = "", .time = "", .may_be_empty = true };
	const json_t *hash = json_object_get(root, "commit_hash");
	struct path path = { 0 };
	struct reading reading;
	if (!hash && !json_object_get(root, "results") && json_object_get(root, "machine")) {
		reading_note(&s->h->notes, "%.200s is left out: it describes a machine", s->file);
		return 0;
	}
	path_push(&path, "commit_hash");
	if (!is_hash(hash))
		return refuse_hash(s, &path, hash);
	if (find_point(s->h, "", json_string_value(hash)))
		return mistake(s, &path, "there is another file of commit %.12s; give the files of one machine and environment",
			json_string_value(hash));
	if (reading_parse(&how, s->text, s->len, s->file, &reading, s->err) != 0)
		return -1;
	struct history_point *p = take_point(s, "", json_string_value(hash), time_of(json_object_get(root, "date")));
	if (!p) {
		reading_fini(&reading);
		return -1;
	}
	p->reading = reading;
	note_reading(s->h, &reading);
	if (reading.n_rows == 0)
		reading_note(&s->h->notes, "commit %.12s is left out: it has no time", p->commit);
	return 0;
}

typedef int json_fn(const struct source *s, const json_t *root);

/* data.js assigns the object to a variable: parse from its first brace, with lines and columns of the file. */
static int read_json(const struct source *s, json_fn *read)
{
	const char *begin = memchr(s->text, '{', s->len);
	size_t skip = begin ? (size_t)(begin - s->text) : 0, len = s->len;
	while (len > skip && strchr(" \t\r\n;", s->text[len - 1]))
		len--;
	char *copy = mem_alloc(len + 1);
	memcpy(copy, s->text, len);
	copy[len] = '\0';
	for (size_t i = 0; i < skip; i++)
		if (copy[i] != '\n')
			copy[i] = ' ';
	json_t *root =
		read == read_asv_point ? object_load_bare(copy, len, s->file, s->err) : object_load(copy, len, s->file, s->err);
	free(copy);
	int result = root ? read(s, root) : -1;
	json_decref(root);
	return result;
}

/* ---- CSV ---- */

/* Columns of the name of a cell, in its order; only `benchmark` is required. */
static const char *const name_columns[] = { "benchmark", "profile", "scenario", "backend" };
enum { NAME_COLUMNS = sizeof name_columns / sizeof name_columns[0] };

struct csv_columns {
	int commit, value, date, suite, unit, metric, name[NAME_COLUMNS];
};

/* Units of rustc-perf's metrics of time; NULL: another metric, such as instructions. */
static const char *unit_of_metric(const char *metric)
{
	static const char *const names[][2] = { { "wall-time", "s" }, { "wall_time", "s" }, { "cpu-clock", "ms" },
		{ "task-clock", "ms" }, { "cpu-clock:u", "ms" }, { "task-clock:u", "ms" } };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(metric, names[i][0]) == 0)
			return names[i][1];
	return NULL;
}

static int find_columns(const struct csv *c, const struct table_header *h, struct csv_columns *t, struct fw_err *err)
{
	t->commit = table_require_column(c, h, "commit", err);
	t->value = t->commit < 0 ? -1 : table_require_column(c, h, "value", err);
	t->date = table_column(h, "date");
	t->suite = table_column(h, "suite");
	t->unit = table_column(h, "unit");
	t->metric = table_column(h, "metric");
	for (int i = 0; i < NAME_COLUMNS; i++)
		t->name[i] = table_column(h, name_columns[i]);
	if (t->value < 0 || (t->name[0] < 0 && table_require_column(c, h, "benchmark", err) < 0))
		return -1;
	if (t->unit < 0 && t->metric < 0)
		return err_set(err, ERR_INVALID, "%s:1:1: has neither a column `unit` nor `metric`, such as wall-time", c->file);
	return 0;
}

/* The column, from 1, at which a cell of the current row begins. The row is on one line, or the position is that of the line. */
static int column_of(const struct csv *c, int cell)
{
	const char *at = c->text, *end = c->text + c->len;
	bool is_quoted = false;
	for (int line = 1; line < c->line; line++) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		at = next ? next + 1 : end;
	}
	const char *begin = at;
	for (; at < end && cell > 0 && (*at != '\n' || is_quoted); at++) {
		is_quoted ^= *at == '"';
		cell -= *at == c->separator && !is_quoted;
	}
	return (int)(at - begin) + 1;
}

static int refuse_cell(const struct source *s, const struct csv *c, int cell, const char *what)
{
	return err_set(s->err, ERR_INVALID, "%s:%d:%d: `%.80s` %s", c->file, c->line, column_of(c, cell), c->cell[cell], what);
}

static int read_csv_row(const struct source *s, const struct csv *c, const struct csv_columns *t)
{
	struct fw_err wrong = { 0 };
	double value;
	int64_t at_ms = 0;
	char cell[TABLE_KEY_SIZE], where[OBJECT_TEXT_SIZE];
	const char *unit = t->unit >= 0 ? c->cell[t->unit] : unit_of_metric(c->cell[t->metric]);
	if (!oid_is_whole(c->cell[t->commit]))
		return refuse_cell(s, c, t->commit, "is not the full hash of a commit");
	if (t->date >= 0 && clock_parse(c->cell[t->date], &at_ms, &wrong) != 0)
		return refuse_cell(s, c, t->date, "is not a date or time of RFC 3339");
	if (!reading_number(c->cell[t->value], &value))
		return refuse_cell(s, c, t->value, "is not a number");
	if (!unit) {
		reading_note(&s->h->notes, "rows of the metric %.40s are left out: it is not a time", c->cell[t->metric]);
		return 0;
	}
	size_t used = 0;
	for (int i = 0; i < NAME_COLUMNS; i++)
		if (t->name[i] >= 0 && c->cell[t->name[i]][0] && used < sizeof cell)
			used += (size_t)snprintf(
				cell + used, sizeof cell - used, "%s%.400s", used ? "/" : "", c->cell[t->name[i]]);
	if (used == 0)
		return refuse_cell(s, c, t->name[0], "is not a name of a benchmark");
	if (t->unit < 0 && strncmp(c->cell[t->metric], "wall", 4) != 0)
		snprintf(cell + used, sizeof cell - used, "/%.100s", c->cell[t->metric]);
	struct history_point *p = take_point(s, t->suite >= 0 ? c->cell[t->suite] : "", c->cell[t->commit], at_ms);
	if (!p)
		return -1;
	snprintf(where, sizeof where, "%.500s:%d", s->file, c->line);
	if (add_result(s, p, cell, value, unit, where) >= 0)
		return 0;
	return s->err->code ? -1 : refuse_cell(s, c, t->value, "is not a time");
}

static int read_rustc_perf(const struct source *s)
{
	struct table_header h;
	struct csv_columns t;
	struct csv c;
	int result, more = 0;
	csv_init(&c, s->text, s->len, s->file);
	result = table_header_read(&c, &h, s->err) != 0 ? -1 : find_columns(&c, &h, &t, s->err);
	while (result == 0 && (more = csv_next(&c, s->err)) == 1) {
		if (c.n == 1 && c.cell[0][0] == '\0')
			continue;
		result = c.n != h.n
				 ? err_set(s->err, ERR_INVALID, "%s:%d:1: has %d cells, the header %d", c.file, c.line, c.n, h.n)
				 : table_check_end(&c, &h, s->err);
		if (result == 0)
			result = read_csv_row(s, &c, &t);
	}
	csv_fini(&c);
	return result != 0 || more < 0 ? -1 : 0;
}

/* ---- history ---- */

static bool has(const char *text, size_t len, const char *word)
{
	return memmem(text, len, word, strlen(word)) != NULL;
}

const char *history_guess(const char *text, size_t len)
{
	if (has(text, len, "BENCHMARK_DATA") || (has(text, len, "\"entries\"") && has(text, len, "\"benches\"")))
		return "github-action-benchmark";
	if (has(text, len, "\"result_columns\"") && has(text, len, "\"commit_hash\""))
		return "asv";
	if (has(text, len, "\"testbed\"") && has(text, len, "\"metrics\""))
		return "bencher";
	if ((has(text, len, "\"Tests\"") && has(text, len, "\"Run\"")) ||
		(has(text, len, "\"tests\"") && has(text, len, "\"run\"")))
		return "lnt";
	if (has(text, len, "\"machine\"") && has(text, len, "\"num_cpu\""))
		return "asv"; /* its machine.json */
	const char *end = memchr(text, '\n', len);
	size_t line = end ? (size_t)(end - text) : len;
	return text[0] != '{' && has(text, line, "commit") && has(text, line, "benchmark") ? "rustc-perf" : NULL;
}

int history_add(struct history *h, const char *format, const char *text, size_t len, const char *file, struct fw_err *err)
{
	static const struct {
		const char *format;
		json_fn *read;
	} readers[] = { { "asv", read_asv_point }, { "bencher", read_bencher }, { "github-action-benchmark", read_data_js },
		{ "lnt", read_lnt } };
	const struct source s = { .h = h, .format = format, .text = text, .len = len, .file = file, .err = err };
	if (len == 0 || memchr(text, 0, len))
		return err_set(err, ERR_INVALID, "%.500s: is %s", file, len ? "no text" : "empty");
	for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
		if (strcmp(format, readers[i].format) == 0)
			return read_json(&s, readers[i].read);
	if (strcmp(format, "rustc-perf") == 0)
		return read_rustc_perf(&s);
	return err_set(
		err, ERR_INVALID, "%.500s: `%.40s` is not a format of a history; use one of " HISTORY_FORMATS, file, format);
}

static int compare_points(const void *a, const void *b)
{
	const struct history_point *x = a, *y = b;
	int suites = strcmp(x->suite, y->suite);
	if (suites)
		return suites;
	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? -1 : 1;
	return x->order - y->order;
}

int history_finish(struct history *h, struct fw_err *err)
{
	int n = 0;
	for (int i = 0; i < h->n; i++) {
		if (h->point[i].reading.n_rows == 0) {
			reading_fini(&h->point[i].reading);
			continue;
		}
		h->point[n++] = h->point[i];
	}
	h->n = n;
	for (int i = 0; i < h->n; i++)
		if (strcmp(h->point[i].reading.format, "asv") != 0 && reading_finish(&h->point[i].reading, err) != 0)
			return -1;
	if (h->n > 0)
		qsort(h->point, (size_t)h->n, sizeof *h->point, compare_points);
	return 0;
}

void history_fini(struct history *h)
{
	for (int i = 0; i < h->n; i++)
		reading_fini(&h->point[i].reading);
	free(h->point);
	reading_fini(&h->notes);
	*h = (struct history){ 0 };
}
