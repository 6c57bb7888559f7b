/* torchao.c - torchao CSV. */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

enum { SERIES_MAX = 32, SERIES_SIZE = TABLE_NAME_SIZE + 1 };

struct times {
	int at;                 /* column */
	char name[SERIES_SIZE]; /* begins with "/"; "" the only one of old files */
	double unit_ms;
	double passes; /* multiplications of a call: 3 for forward and backward; NAN unknown */
};

struct torchao {
	int m, k, n, model, failure; /* columns, -1 none */
	int n_series;
	struct times series[SERIES_MAX];
};

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* Return the text of a name before the suffix `end`; NULL: another suffix. */
static const char *before(const char *name, const char *end, char out[SERIES_SIZE])
{
	size_t n = strlen(name), m = strlen(end);

	if (n < m || strcmp(name + n - m, end) != 0)
		return NULL;
	snprintf(out, SERIES_SIZE, "%.*s", (int)(n - m), name);
	return out;
}

/* "baseline_model_eager_inference_time_in_ms" becomes "/baseline_model_eager". */
static void name_series(const char *name, char out[SERIES_SIZE])
{
	size_t n = strlen(name);

	n -= n > 0 && name[n - 1] == '_';
	snprintf(out, SERIES_SIZE, "%s%.*s", n > 0 ? "/" : "", (int)n, name);
	if (strcmp(out, "/model") == 0)
		out[0] = '\0';
}

/* Passes of a training table's column: forward, backward or both. */
static double passes_of(const char *name)
{
	return strstr(name, "forward") ? 1 : strstr(name, "backward") ? 2 : 3;
}

static bool series_of(const char *name, struct times *out)
{
	static const struct {
		const char *end;
		double unit_ms, passes;
	} kinds[] = { { "inference_time_in_ms", 1, 1 }, { "time_sec", 1e3, 3 }, { "time_s", 1e3, 1 }, { "time_ms", 1, 0 },
		{ "time_us", 1e-3, 0 } };
	char rest[SERIES_SIZE];

	if (column_compares(name))
		return false;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (before(name, kinds[i].end, rest)) {
			name_series(rest, out->name);
			out->unit_ms = kinds[i].unit_ms;
			out->passes = kinds[i].passes > 0 ? kinds[i].passes : passes_of(rest);
			return true;
		}
	out->unit_ms = 1e3;
	out->passes = NAN; /* several multiplications, and other work */
	if (!begins(name, "b_") || !before(name, "_s", rest))
		return false;
	name_series(rest, out->name);
	return true;
}

/* Modelled values, and names that are never times. */
static bool is_model(const char *name)
{
	return begins(name, "r_") || begins(name, "rb_");
}

/* Sizes are m in one script, M in another and fwd_M in a third. */
static int size_column(const struct table_header *h, const char *name)
{
	for (int i = 0; i < h->n; i++)
		if (strcasecmp(h->name[i], name) == 0 || (begins(h->name[i], "fwd_") && strcasecmp(h->name[i] + 4, name) == 0))
			return i;
	return -1;
}

/* Report columns that resemble times but are none; others (names, rates, memory) are ignored. */
static int find_columns(
	struct reading *out, const struct csv *c, const struct table_header *h, struct torchao *t, struct fw_err *err)
{
	*t = (struct torchao){ .m = size_column(h, "m"),
		.k = size_column(h, "k"),
		.n = size_column(h, "n"),
		.model = table_column(h, "model_type"),
		.failure = table_column(h, "failure") };
	for (int i = 0; i < h->n; i++) {
		struct times *s = &t->series[t->n_series];
		char series[SERIES_SIZE], unit[COLUMN_UNIT_SIZE];
		bool is_time = t->n_series < SERIES_MAX && !is_model(h->name[i]) && series_of(h->name[i], s);
		bool looks_like_time = before(h->name[i], "_s", series) ||
				       column_split(h->name[i], series, sizeof series, unit) == COLUMN_TIME_OR_RATE;
		const char *word = column_compares(h->name[i]);

		if (is_time)
			t->series[t->n_series++].at = i;
		else if (looks_like_time)
			reading_note(out, "column `%.80s` is left out: %s%s", h->name[i],
				is_model(h->name[i]) ? "it is a model's and not measured"
				: word               ? "by its name it is not a time: "
						     : "torchao does not measure such a time",
				!is_model(h->name[i]) && word ? word : "");
		for (int k = 0; is_time && k + 1 < t->n_series; k++)
			if (strcmp(t->series[k].name, s->name) == 0)
				return err_set(err, ERR_INVALID, "%s:1: columns %d and %d are both times of `%.60s`", c->file,
					t->series[k].at + 1, i + 1, s->name);
	}
	return t->n_series
		       ? 0
		       : err_set(err, ERR_INVALID,
				 "%s:1: has no column of measured times: none ends in inference_time_in_ms, time_sec, time_s or time_ms, or is "
				 "b_..._s of a roofline",
				 c->file);
}

/* A transformer block has these columns too, and does other work as well. */
static double flops_of(const struct csv *c, const struct torchao *t)
{
	const char *model = t->model >= 0 ? c->cell[t->model] : "linear";
	double m, k, n;

	if (t->m < 0 || t->k < 0 || t->n < 0 || !strstr(model, "linear") || !reading_number(c->cell[t->m], &m) ||
		!reading_number(c->cell[t->k], &k) || !reading_number(c->cell[t->n], &n))
		return NAN;
	return 2 * m * k * n;
}

/* Write all distinguishing columns; switches only if on. */
static void name_row(const struct csv *c, const struct table_header *h, char key[TABLE_KEY_SIZE])
{
	static const char *const parts[] = { "name", "model_type", "quantization", "sparsity", "m", "k", "n", "shape",
		"high_precision_dtype", "ref_dtype", "dtype", "recipe", "recipe_name", "float8_recipe_name", "mx_recipe_name",
		"scaling_granularity", "scaling_repr", "torch_compile_mode", "device" };
	static const char *const switches[] = { "compiled", "use_fast_accum", "fast_accum" };
	size_t used = 0;
	bool sizes = size_column(h, "m") >= 0;
	char cell[TABLE_NAME_SIZE];

	key[0] = '\0';
	for (size_t i = 0; i < sizeof parts / sizeof parts[0] && used < TABLE_KEY_SIZE; i++) {
		bool size = strlen(parts[i]) == 1;
		int at = size ? size_column(h, parts[i]) : table_column(h, parts[i]);

		if (at < 0 || !c->cell[at][0] || strcmp(c->cell[at], "None") == 0 || (sizes && strcmp(parts[i], "shape") == 0))
			continue;
		reading_spell(c->cell[at], cell, sizeof cell);
		used += (size_t)snprintf(
			key + used, TABLE_KEY_SIZE - used, "%s%s%s", used ? "/" : "", size ? parts[i] : "", cell);
	}
	for (size_t i = 0; i < sizeof switches / sizeof switches[0] && used < TABLE_KEY_SIZE; i++) {
		int at = table_column(h, switches[i]);

		if (at >= 0 && strcasecmp(c->cell[at], "true") == 0)
			used += (size_t)snprintf(key + used, TABLE_KEY_SIZE - used, "%s%s", used ? "/" : "", switches[i]);
	}
}

static int read_row(
	struct reading *out, const struct csv *c, const struct table_header *h, const void *columns, struct fw_err *err)
{
	const struct torchao *t = columns;
	char key[TABLE_KEY_SIZE], full[TABLE_KEY_SIZE + SERIES_SIZE], where[TABLE_POSITION_SIZE], why[READING_WHY_SIZE];
	const char *failure = t->failure >= 0 ? c->cell[t->failure] : "";
	double flops = flops_of(c, t), time;

	name_row(c, h, key);
	for (int i = 0; i < t->n_series; i++) {
		const struct times *s = &t->series[i];
		const char *unfit = table_unfit(c->cell[s->at], &time, why);
		double ms = unfit ? NAN : time * s->unit_ms;
		int result;

		table_position(where, c, h->name[s->at]);
		snprintf(full, sizeof full, "%s%s", key, key[0] ? s->name : s->name[0] ? s->name + 1 : "row");
		if (!unfit && !reading_is_time(ms)) {
			snprintf(why, sizeof why, "%g ms is not a time", ms);
			unfit = why;
		}
		if (unfit && failure[0])
			result = reading_fail(out, full, failure, where, err);
		else if (unfit)
			result = reading_skip(out, full, err, "%s",
				reading_number(c->cell[s->at], &time) && time == 0 ? "0: not measured" : unfit);
		else
			result = reading_add(out, full, ms, s->passes * flops / ms * 1e-9, where, err);
		if (result != 0)
			return -1;
	}
	return 0;
}

int read_torchao(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	struct table_header h;
	struct torchao t;
	struct csv c;

	(void)how;
	csv_init(&c, text, len, file);
	int result = table_header_read(&c, &h, err) || find_columns(out, &c, &h, &t, err)
			     ? -1
			     : table_each(out, &c, &h, read_row, &t, err);
	csv_fini(&c);
	return result;
}
