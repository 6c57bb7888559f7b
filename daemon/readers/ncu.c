/*
 * ncu.c - rows and launches of an ncu export, and the match of two exports by kernel names.
 *
 * All launches are collected first: only the end of the file shows how the launches of a kernel differ, and their number.
 */
#include "readers/internal.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>

enum { NAME_SIZE = 1024, KEY_SIZE = 2 * NAME_SIZE, WHERE_SIZE = 512, FIELDS = 5, FIELD_SIZE = 40, CELL_SIZE = 24 };

/* Traffic of DRAM, L2 and L1: of the section MemoryWorkloadAnalysis on page details, and sums on page raw. */
static const char traffic[] = "Memory Throughput,Mem Busy,Max Bandwidth,L1/TEX Hit Rate,L2 Hit Rate,Mem Pipes Busy,"
			      "dram__*.sum,lts__*.sum,l1tex__*.sum";

static const char *const field_names[FIELDS] = { "grid", "block", "device", "context", "process" };

struct figure {
	char *metric, *unit;
	double value;
};

struct launch {
	int line, id; /* id -1: not in the file */
	int kernel;   /* position among the kernels */
	char field[FIELDS][FIELD_SIZE];
	bool has_time;
	double ms;
	char bad[CELL_SIZE]; /* text instead of its time; "" none */
	int n_figures;
	struct figure *figure;
};

struct kernel {
	char *name;
	unsigned differs; /* bits of fields in which its launches differ */
	int first;        /* a launch of it */
};

struct launches {
	const char *file;
	const struct reading_options *how;
	int n, n_kernels;
	struct launch *list;
	struct kernel *kernel;
	int last;       /* ncu's number of the current launch */
	bool wants_all; /* not only fields */
};

/* "void forward<128>(args)" becomes "void forward<128>": cut the final parentheses. */
static void name_kernel(const char *kernel, char out[NAME_SIZE])
{
	size_t n = strlen(kernel), depth = 0, end = n;
	for (size_t i = n; i > 0 && kernel[n - 1] == ')'; i--) {
		depth += kernel[i - 1] == ')';
		depth -= kernel[i - 1] == '(';
		if (depth == 0) {
			end = i - 1;
			break;
		}
	}
	if (n == 0)
		snprintf(out, NAME_SIZE, "kernel");
	else
		table_name(kernel, end ? end : n, out, NAME_SIZE);
}

/* "(132, 1, 1)" becomes "132", "(16, 8, 1)" becomes "16x8". */
static void name_triple(const char *text, const int v[3], char out[FIELD_SIZE])
{
	if (v[0] == 0)
		snprintf(out, FIELD_SIZE, "%s", text);
	else if (v[1] == 1 && v[2] == 1)
		snprintf(out, FIELD_SIZE, "%d", v[0]);
	else if (v[2] == 1)
		snprintf(out, FIELD_SIZE, "%dx%d", v[0], v[1]);
	else
		snprintf(out, FIELD_SIZE, "%dx%dx%d", v[0], v[1], v[2]);
}

static int find_kernel(const struct launches *l, const char *name)
{
	for (int i = l->n_kernels - 1; i >= 0; i--)
		if (strcmp(l->kernel[i].name, name) == 0)
			return i;
	return -1;
}

/* Find or add the kernel of a name. -1: too many. */
static int kernel_of(struct launches *l, const char *demangled, struct fw_err *err)
{
	char name[NAME_SIZE];

	name_kernel(demangled, name);
	int at = find_kernel(l, name);

	if (at >= 0)
		return at;
	if (l->n_kernels == READING_ROWS_MAX)
		return err_set(err, ERR_INVALID, "%s: more than %d kernels; split the file", l->file, READING_ROWS_MAX);
	l->kernel = mem_grow_one(l->kernel, (size_t)l->n_kernels, sizeof *l->kernel);
	l->kernel[l->n_kernels] = (struct kernel){ .name = mem_copy_text(name), .first = l->n };
	return l->n_kernels++;
}

static int begin_launch(struct launches *l, const struct ncu_value *v, struct fw_err *err)
{
	char *end;
	long id = strtol(v->id, &end, 10);

	if (l->n == READING_VALUES_MAX)
		return err_set(
			err, ERR_INVALID, "%s:%d: more than %d launches; split the file", l->file, v->line, READING_VALUES_MAX);
	l->list = mem_grow_one(l->list, (size_t)l->n, sizeof *l->list);
	int kernel = kernel_of(l, v->kernel, err);

	if (kernel < 0)
		return -1;
	struct launch *one = &l->list[l->n];

	*one = (struct launch){
		.line = v->line, .id = end > v->id && !*end && id >= 0 && id < 1 << 30 ? (int)id : -1, .kernel = kernel
	};
	name_triple(v->grid_text, v->grid, one->field[0]);
	name_triple(v->block_text, v->block, one->field[1]);
	snprintf(one->field[2], FIELD_SIZE, "%s", v->device);
	snprintf(one->field[3], FIELD_SIZE, "%s", v->context);
	snprintf(one->field[4], FIELD_SIZE, "%s", v->process);
	for (int i = 0; i < FIELDS; i++)
		if (strcmp(one->field[i], l->list[l->kernel[kernel].first].field[i]) != 0)
			l->kernel[kernel].differs |= 1u << i;
	l->n++;
	l->last = v->launch;
	return 0;
}

static bool fits(const char *patterns, const char *name)
{
	char one[256];

	for (const char *at = patterns; *at;) {
		size_t n = strcspn(at, ",");

		snprintf(one, sizeof one, "%.*s", (int)n, at);
		if (n > 0 && n < sizeof one && fnmatch(one, name, 0) == 0)
			return true;
		at += n + (at[n] == ',');
	}
	return false;
}

static int undecided(const struct launches *l, const struct ncu_value *v, struct fw_err *err)
{
	return err_set(err, ERR_INVALID,
		"%s:%d: %s: `%.20s` is two numbers, one with a mark of decimals and one with a mark of thousands, and no cell of the file shows "
		"which it is; let ncu write the file again with LC_NUMERIC=C set",
		l->file, v->line, v->metric, v->cell);
}

static int take_time(struct launches *l, struct launch *one, const struct ncu_value *v, struct fw_err *err)
{
	double unit = unit_to_ms(v->unit);

	if (one->has_time)
		return 0; /* two sections may contain it */
	if (v->kind == MARKS_UNDECIDED)
		return undecided(l, v, err);
	if (v->kind == MARKS_NUMBER && unit <= 0)
		return err_set(err, ERR_INVALID, "%s:%d: column %s: `%.20s` is not a unit of time", l->file, v->line, v->metric,
			v->unit);
	one->ms = v->kind == MARKS_NUMBER ? v->value * unit : 0;
	one->has_time = v->kind == MARKS_NUMBER && reading_is_time(one->ms);
	if (!one->has_time)
		reading_show(v->cell[0] ? v->cell : "nothing", one->bad, sizeof one->bad);
	return 0;
}

static int take_figure(struct launches *l, struct launch *one, const struct ncu_value *v, struct fw_err *err)
{
	if (v->kind == MARKS_UNDECIDED && l->how->metrics)
		return undecided(l, v, err);
	if (v->kind != MARKS_NUMBER)
		return 0; /* counted by launches that have it */
	for (int i = 0; i < one->n_figures; i++)
		if (strcmp(one->figure[i].metric, v->metric) == 0 && strcmp(one->figure[i].unit, v->unit) == 0)
			return 0;
	one->figure = mem_grow_one(one->figure, (size_t)one->n_figures, sizeof *one->figure);
	one->figure[one->n_figures++] = (struct figure){ mem_copy_text(v->metric), mem_copy_text(v->unit), v->value };
	return 0;
}

static int collect(void *arg, const struct ncu_value *v, struct fw_err *err)
{
	struct launches *l = arg;

	if ((l->n == 0 || v->launch != l->last) && begin_launch(l, v, err) != 0)
		return -1;
	struct launch *one = &l->list[l->n - 1];
	bool is_time = strcmp(v->metric, "gpu__time_duration.sum") == 0 || strcmp(v->metric, "Duration") == 0;

	if (!l->wants_all)
		return 0;
	if (is_time)
		return take_time(l, one, v, err);
	const char *wanted = l->how->metrics ? l->how->metrics : l->how->traffic ? traffic : "";
	return fits(wanted, v->metric) ? take_figure(l, one, v, err) : 0;
}

static void forget(struct launches *l)
{
	for (int i = 0; i < l->n; i++) {
		for (int k = 0; k < l->list[i].n_figures; k++) {
			free(l->list[i].figure[k].metric);
			free(l->list[i].figure[k].unit);
		}
		free(l->list[i].figure);
	}
	for (int i = 0; i < l->n_kernels; i++)
		free(l->kernel[i].name);
	free(l->list);
	free(l->kernel);
}

/*
 * Take over the differing fields of the other file, so that both name a launch alike. The name of a kernel with one shape in each
 * file does not change.
 */
static void take_other(struct launches *l, struct reading *out)
{
	struct launches other = { .file = "the other file", .how = l->how };
	struct fw_err ignored = { 0 }; /* reading that file reports its faults */

	if (!l->how->other)
		return;
	if (ncu_table_each(l->how->other, l->how->other_len, other.file, '.', NULL, collect, &other, &ignored) == 0)
		for (int i = 0; i < l->n_kernels; i++) {
			int at = find_kernel(&other, l->kernel[i].name);

			if (at < 0)
				continue;
			unsigned differs = l->kernel[i].differs | other.kernel[at].differs;

			l->kernel[i].differs = differs;
			for (int f = 0; f < 2 && differs == 0; f++) {
				const char *here = l->list[l->kernel[i].first].field[f],
					   *there = other.list[other.kernel[at].first].field[f];

				if (strcmp(here, there) != 0)
					reading_note(out, "%.120s has a %s of %s here and of %s in the other file",
						l->kernel[i].name, field_names[f], here, there);
			}
		}
	forget(&other);
}

static void name_launch(const struct launches *l, const struct launch *one, char key[KEY_SIZE])
{
	size_t used = (size_t)snprintf(key, KEY_SIZE, "%s", l->kernel[one->kernel].name);

	for (int f = 0; f < FIELDS && used < KEY_SIZE; f++)
		if (l->kernel[one->kernel].differs >> f & 1)
			used += (size_t)snprintf(key + used, KEY_SIZE - used, "/%s=%s", field_names[f], one->field[f]);
}

static bool in_list(const char *list, int id)
{
	for (const char *at = list; *at;) {
		char *end;
		long from = strtol(at, &end, 10), to = from;

		if (end == at)
			return false;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (id >= from && id <= to)
			return true;
		at = end + (*end == ',');
		if (*end && *end != ',')
			return false;
	}
	return false;
}

struct group {
	char key[KEY_SIZE];
	int launches, seen, timed, bad;
};

struct groups {
	int n;
	struct group *list;
};

static struct group *group_of(struct groups *g, const char *key, struct fw_err *err)
{
	for (int i = g->n - 1; i >= 0; i--)
		if (strcmp(g->list[i].key, key) == 0)
			return &g->list[i];
	if (g->n == READING_ROWS_MAX) {
		err_set(err, ERR_INVALID,
			"more than %d kernels and shapes of launches; split the file, or choose some by --kernel",
			READING_ROWS_MAX);
		return NULL;
	}
	g->list = mem_grow_one(g->list, (size_t)g->n, sizeof *g->list);
	g->list[g->n] = (struct group){ 0 };
	snprintf(g->list[g->n].key, KEY_SIZE, "%s", key);
	return &g->list[g->n++];
}

static bool is_chosen(const struct launches *l, const struct launch *one)
{
	const struct reading_options *how = l->how;

	return (!how->kernel || fnmatch(how->kernel, l->kernel[one->kernel].name, 0) == 0) &&
	       (!how->ids || in_list(how->ids, one->id));
}

static int add_launch(
	struct reading *out, const struct launches *l, const struct launch *one, struct group *g, struct fw_err *err)
{
	char where[WHERE_SIZE];
	int result = 0;

	snprintf(where, sizeof where, "%.400s:%d", l->file, one->line);
	out->line = one->line;
	if (one->has_time)
		result = reading_add(out, g->key, one->ms, NAN, where, err);
	else if (one->bad[0])
		reading_note(out, "line %d: the time of a launch of %.120s is left out: `%s` is not a time", one->line, g->key,
			one->bad);
	g->timed += one->has_time;
	g->bad += one->bad[0] != '\0';
	for (int i = 0; i < one->n_figures && result == 0; i++)
		result = reading_add_figure(
			out, g->key, one->figure[i].metric, one->figure[i].unit, one->figure[i].value, where, err);
	return result;
}

/* Report the launches that the options left out. */
static void report_choice(struct reading *out, const struct launches *l, const struct groups *g, int passed_over)
{
	const struct reading_options *how = l->how;
	char list[200] = "";
	size_t used = 0;
	int n = 0;

	if (passed_over > 0)
		reading_note(out, "%d launch%s left out by --kernel or --ids", passed_over, passed_over == 1 ? " is" : "es are");
	for (int i = 0; i < g->n && how->launches > 0; i++)
		if (g->list[i].launches != how->launches) {
			n++;
			if (used < sizeof list)
				used += (size_t)snprintf(list + used, sizeof list - used, "%s%.60s %d", n > 1 ? ", " : "",
					g->list[i].key, g->list[i].launches);
		}
	if (n > 0)
		reading_note(out, "%d kernel%s with other counts than %d %s left out: %s", n, n == 1 ? "" : "s", how->launches,
			n == 1 ? "is" : "are", list);
	if (how->warmup == 1)
		reading_note(out, "the first launch of each row is left out");
	else if (how->warmup > 1)
		reading_note(out, "the first %d launches of each row are left out", how->warmup);
}

static int fill(struct reading *out, const struct launches *l, struct groups *g, struct fw_err *err)
{
	const struct reading_options *how = l->how;
	char key[KEY_SIZE];
	int passed_over = 0, result = 0;

	for (int i = 0; i < l->n; i++) {
		struct group *of;

		if (!is_chosen(l, &l->list[i])) {
			passed_over++;
			continue;
		}
		name_launch(l, &l->list[i], key);
		of = group_of(g, key, err);
		if (!of)
			return -1;
		of->launches++;
	}
	for (int i = 0; i < l->n && result == 0; i++) {
		if (!is_chosen(l, &l->list[i]))
			continue;
		name_launch(l, &l->list[i], key);
		struct group *of = group_of(g, key, err);

		if (!of)
			return -1;
		if ((how->launches > 0 && of->launches != how->launches) || of->seen++ < how->warmup)
			continue;
		result = add_launch(out, l, &l->list[i], of, err);
	}
	for (int i = 0; i < g->n && result == 0; i++) {
		bool counted = how->launches <= 0 || g->list[i].launches == how->launches;

		out->line = 0;
		if (counted && g->list[i].launches <= how->warmup)
			result = reading_skip(out, g->list[i].key, err, "it has %d launch%s, all of them warm-up",
				g->list[i].launches, g->list[i].launches == 1 ? "" : "es");
		else if (counted && g->list[i].timed == 0 && (g->list[i].bad > 0 || out->n_rows > 0))
			result = reading_skip(out, g->list[i].key, err, "none of its launches has a time");
	}
	if (result == 0)
		report_choice(out, l, g, passed_over);
	return result;
}

int read_ncu(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	struct launches l = { .file = file, .how = how, .wants_all = true };
	struct groups g = { 0 };
	int result = ncu_table_each(text, len, file, 0, out, collect, &l, err);

	if (result == 0) {
		take_other(&l, out);
		result = fill(out, &l, &g, err);
	}
	if (result == 0 && how->metrics && out->n_figures == 0)
		result = err_set(err, ERR_INVALID,
			"%s: has no metric that fits `%.100s`; ncu --page raw names them in the header", file, how->metrics);
	else if (result == 0 && out->n_rows == 0 && out->n_figures == 0 && out->n_left == 0 && g.n == l.n_kernels && g.n > 0 &&
		 !how->launches)
		result = err_set(err, ERR_INVALID,
			"%s: has no times of kernels; let ncu collect them with --metrics gpu__time_duration.sum, or name what is to be read with "
			"--metric",
			file);
	free(g.list);
	forget(&l);
	return result;
}
