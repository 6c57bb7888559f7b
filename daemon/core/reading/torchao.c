/* torchao.c - see torchao.h. */
#include "core/reading/torchao.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/reading/table.h"

enum { SERIES_MAX = 8, SERIES_SIZE = TABLE_NAME_SIZE + 1 };

/* What a file's columns are. Shape: series[n_series] stand at column at[n_series]; names begin with "/", "" is the only one of old files. */
struct torchao {
	int m, k, n, model; /* columns, -1 none */
	double unit_ms;
	double passes; /* multiplications of a call: 3 where it also goes backward */
	int n_series, at[SERIES_MAX];
	char series[SERIES_MAX][SERIES_SIZE];
};

/* "baseline_model_eager_inference_time_in_ms" -> "/baseline_model_eager". */
static bool series_of(const char *name, const char *end, char out[SERIES_SIZE])
{
	size_t n = strlen(name), m = strlen(end);

	if (n < m || strcmp(name + n - m, end) != 0)
		return false;
	size_t keep = n - m;

	if (keep > 0 && name[keep - 1] == '_')
		keep--;
	snprintf(out, SERIES_SIZE, "%s%.*s", keep ? "/" : "", (int)keep, name);
	if (strcmp(out, "/model") == 0)
		out[0] = '\0';
	return true;
}

/* Sizes are m in one script and M in another. */
static int size_column(const struct table_header *h, const char *name)
{
	for (int i = 0; i < h->n; i++)
		if (strcasecmp(h->name[i], name) == 0)
			return i;
	return -1;
}

static int find_columns(const struct csv *c, const struct table_header *h, struct torchao *t, struct fw_err *err)
{
	static const struct {
		const char *end;
		double unit_ms, passes;
	} kinds[] = { { "inference_time_in_ms", 1, 1 }, { "time_sec", 1e3, 3 }, { "time_s", 1e3, 1 } };

	*t = (struct torchao){ .m = size_column(h, "m"),
		.k = size_column(h, "k"),
		.n = size_column(h, "n"),
		.model = table_column(h, "model_type") };
	for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0] && t->n_series == 0; kind++) {
		t->unit_ms = kinds[kind].unit_ms;
		t->passes = kinds[kind].passes;
		for (int i = 0; i < h->n && t->n_series < SERIES_MAX; i++)
			if (series_of(h->name[i], kinds[kind].end, t->series[t->n_series]))
				t->at[t->n_series++] = i;
	}
	return t->n_series ? 0
			   : err_set(err, ERR_INVALID,
				     "%s:1: has no column that ends in inference_time_in_ms, time_sec or time_s", c->file);
}

/* A transformer block has these columns too, and they are not all of its work. */
static double flops_of(const struct csv *c, const struct torchao *t)
{
	const char *model = t->model >= 0 ? c->cell[t->model] : "linear";
	double m, k, n;

	if (t->m < 0 || t->k < 0 || t->n < 0 || !strstr(model, "linear") || !reading_number(c->cell[t->m], &m) ||
		!reading_number(c->cell[t->k], &k) || !reading_number(c->cell[t->n], &n))
		return NAN;
	return t->passes * 2 * m * k * n;
}

/* Everything that tells rows apart; switches only where they are on. */
static void name_row(const struct csv *c, const struct table_header *h, char key[TABLE_KEY_SIZE])
{
	static const char *const parts[] = { "name", "model_type", "quantization", "sparsity", "m", "k", "n", "shape",
		"high_precision_dtype", "ref_dtype", "dtype", "scaling_repr", "torch_compile_mode", "device" };
	static const char *const switches[] = { "compiled", "use_fast_accum", "fast_accum" };
	size_t used = 0;
	bool sizes = size_column(h, "m") >= 0;

	key[0] = '\0';
	for (size_t i = 0; i < sizeof parts / sizeof parts[0] && used < TABLE_KEY_SIZE; i++) {
		bool size = strlen(parts[i]) == 1;
		int at = size ? size_column(h, parts[i]) : table_column(h, parts[i]);

		if (at >= 0 && c->cell[at][0] && strcmp(c->cell[at], "None") != 0 && !(sizes && strcmp(parts[i], "shape") == 0))
			used += (size_t)snprintf(
				key + used, TABLE_KEY_SIZE - used, "%s%s%s", used ? "/" : "", size ? parts[i] : "", c->cell[at]);
	}
	for (size_t i = 0; i < sizeof switches / sizeof switches[0] && used < TABLE_KEY_SIZE; i++) {
		int at = table_column(h, switches[i]);

		if (at >= 0 && strcasecmp(c->cell[at], "true") == 0)
			used += (size_t)snprintf(key + used, TABLE_KEY_SIZE - used, "%s%s", used ? "/" : "", switches[i]);
	}
}

static int read_row(
	struct reading *out, const struct csv *c, const struct table_header *h, const struct torchao *t, struct fw_err *err)
{
	char key[TABLE_KEY_SIZE], full[TABLE_KEY_SIZE + SERIES_SIZE], where[TABLE_PLACE_SIZE];
	double flops = flops_of(c, t), time;

	name_row(c, h, key);
	for (int i = 0; i < t->n_series; i++) {
		if (table_number(c, h, t->at[i], &time, err))
			return -1;
		snprintf(full, sizeof full, "%s%s", key, t->series[i]);
		double ms = time * t->unit_ms;

		if (time == 0 ? reading_leave(out, full, err, "0: not measured")
			      : reading_add(out, full, ms, flops / ms * 1e-9, table_place(where, c, h->name[t->at[i]]), err))
			return -1;
	}
	return 0;
}

int read_torchao(
	struct reading *out, const char *text, size_t len, const char *file, const struct reading_how *how, struct fw_err *err)
{
	struct table_header h;
	struct torchao t;
	struct csv c;
	int got = 0, result;

	(void)how;
	csv_init(&c, text, len, file);
	result = table_header_read(&c, &h, err) || find_columns(&c, &h, &t, err) ? -1 : 0;
	while (result == 0 && (got = table_next(&c, &h, err)) == 1)
		result = read_row(out, &c, &h, &t, err);
	csv_fini(&c);
	return result || got < 0 ? -1 : 0;
}
