/* tritonbench.c - CSV and JSON of tritonbench: metrics of providers at each x. */
#include "readers/internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

static const struct metric {
	const char *name, *unit;
} metrics[] = { { "latency", "ms" }, { "walltime", "ms" }, { "cuda_time", "ms" }, { "tflops", "TFLOPS" }, { "gbps", "GB/s" } };

enum { LATENCY, TFLOPS = 3, GBPS, METRICS };

/* Return the number of a metric; METRICS: it is neither a time nor a rate. */
static int find_metric(const char *name)
{
	int i = 0;

	while (i < METRICS && strcmp(metrics[i].name, name) != 0)
		i++;
	return i;
}

bool tritonbench_is_header(const char *line, size_t len)
{
	const char *end = line + len, *at = memchr(line, ';', len);
	char cell[TABLE_NAME_SIZE];

	while (at) {
		at++;
		const char *next = memchr(at, ';', (size_t)(end - at)), *dash;
		size_t n = (size_t)((next ? next : end) - at);

		snprintf(cell, sizeof cell, "%.*s", (int)(n < sizeof cell ? n : sizeof cell - 1), at);
		cell[strcspn(cell, "\r\"")] = '\0';
		dash = strrchr(cell, '-');
		if (dash && find_metric(dash + 1) < METRICS)
			return true;
		at = next;
	}
	return false;
}

/* Rates follow from the latency if there is one: TFLOP/s then belong to it, GB/s are left out, and so are they next to TFLOP/s. */
static bool is_needed(int metric, bool has_latency, bool has_tflops)
{
	return metric < TFLOPS || (!has_latency && (metric == TFLOPS || !has_tflops));
}

/* Add a value. A text that is no number is the message of a failure. */
static int add_value(
	struct reading *out, const char *name, int metric, const char *text, double tflops, const char *where, struct fw_err *err)
{
	double value, ms, of_unit;
	const char *suffix;
	char key[TABLE_KEY_SIZE + 32], number[64];

	snprintf(number, sizeof number, "%s", text);
	number[strcspn(number, "(")] = '\0'; /* "0.0095 (+-7.05%)": a latency with its variation */
	for (size_t n = strlen(number); n > 0 && number[n - 1] == ' ';)
		number[--n] = '\0';
	bool is_number = reading_number(number, &value) && value > 0;

	(void)unit_convert(is_number ? value : 1, metrics[metric].unit, &ms, &of_unit, &suffix);
	snprintf(key, sizeof key, "%s%s%s%s", name, metric > LATENCY && metric < TFLOPS ? "/" : "",
		metric > LATENCY && metric < TFLOPS ? metrics[metric].name : "", suffix);
	if (!text[strspn(text, " ")])
		return reading_skip(out, key, err, "it has no value");
	if (is_number && reading_is_time(ms))
		return reading_add(out, key, ms, isnan(tflops) ? of_unit : tflops, where, err);
	if (isalpha((unsigned char)text[0]) && strcasecmp(text, "nan") != 0 && strcasecmp(text, "inf") != 0)
		return reading_fail(out, key, text, where, err);
	return reading_skip(out, key, err, "`%.60s` is neither a time nor a rate", text);
}

/* ---- CSV ---- */

/* Split "aten-latency" into provider and metric. */
static int split_column(const char *column, char provider[TABLE_NAME_SIZE])
{
	const char *dash = strrchr(column, '-');

	snprintf(provider, TABLE_NAME_SIZE, "%.*s", dash ? (int)(dash - column) : 0, column);
	return dash && dash > column ? find_metric(dash + 1) : METRICS;
}

static int column_of(const struct table_header *h, const char *provider, int metric)
{
	char name[2 * TABLE_NAME_SIZE];

	snprintf(name, sizeof name, "%s-%s", provider, metrics[metric].name);
	return table_column(h, name);
}

static int read_row(
	struct reading *out, const struct csv *c, const struct table_header *h, const void *unused, struct fw_err *err)
{
	char provider[TABLE_NAME_SIZE], key[TABLE_KEY_SIZE], where[TABLE_POSITION_SIZE];

	(void)unused;
	if (strcmp(c->cell[0], "average") == 0 || strcmp(c->cell[0], "hashes") == 0)
		return 0;
	for (int i = 1; i < h->n; i++) {
		int metric = split_column(h->name[i], provider);
		int latency = metric < METRICS ? column_of(h, provider, LATENCY) : -1;
		int rate = metric < METRICS ? column_of(h, provider, TFLOPS) : -1;
		double tflops = NAN;

		if (metric == METRICS || !is_needed(metric, latency >= 0, rate >= 0))
			continue;
		if (metric != LATENCY || rate < 0 || !reading_number(c->cell[rate], &tflops))
			tflops = NAN;
		snprintf(key, sizeof key, "%s", provider);
		table_put(key, h->name[0], c->cell[0]);
		if (add_value(out, key, metric, c->cell[i], tflops, table_position(where, c, h->name[i]), err) != 0)
			return -1;
	}
	return 0;
}

static int read_table(struct reading *out, const char *text, size_t len, const char *file, struct fw_err *err)
{
	char provider[TABLE_NAME_SIZE];
	struct table_header h;
	struct csv c;
	int found = 0, result;

	csv_init(&c, text, len, file);
	c.separator = ';';
	result = table_header_read(&c, &h, err);
	for (int i = 1; result == 0 && i < h.n; i++) {
		if (split_column(h.name[i], provider) < METRICS)
			found++;
		else
			reading_note(out, "column `%.80s` is left out: its metric is neither a time nor a rate", h.name[i]);
	}
	if (result == 0)
		result = found > 0 ? table_each(out, &c, &h, read_row, NULL, err)
				   : err_set(err, ERR_INVALID, "%s:1: has no metric of time or rate, as in `x_val;aten-latency`",
					     file);
	csv_fini(&c);
	return result;
}

/* ---- JSON ---- */

/* The parts of "tritonbench_gemm_fwd[x_(256, 256)-aten]_latency". Lengths in bytes; false: it has another form. */
struct name {
	const char *benchmark, *x, *provider, *metric;
	int n_benchmark, n_x, n_provider;
};

static bool split_name(const char *text, struct name *out)
{
	static const char prefix[] = "tritonbench_";
	const char *open = strstr(text, "[x_"), *close = open ? strstr(open, "]_") : NULL, *dash;

	for (const char *next = close; next && (next = strstr(next + 1, "]_"));)
		close = next;
	for (dash = close; dash && dash > open && *dash != '-'; dash--)
		;
	if (strncmp(text, prefix, strlen(prefix)) != 0 || !close || dash == open)
		return false;
	*out = (struct name){ .benchmark = text + strlen(prefix), .x = open + 3, .provider = dash + 1, .metric = close + 2 };
	out->n_benchmark = (int)(open - out->benchmark);
	out->n_x = (int)(dash - out->x);
	out->n_provider = (int)(close - out->provider);
	return out->n_x >= 0;
}

/* The value of another metric of the same name. */
static json_t *sibling(json_t *values, const char *text, const struct name *n, int metric)
{
	char key[TABLE_KEY_SIZE];

	snprintf(key, sizeof key, "%.*s%s", (int)(n->metric - text), text, metrics[metric].name);
	return json_object_get(values, key);
}

static int read_value(struct reading *out, json_t *values, const char *text, json_t *value, const char *file, struct fw_err *err)
{
	char key[TABLE_KEY_SIZE], x[TABLE_KEY_SIZE], number[32], where[OBJECT_TEXT_SIZE];
	const char *shown = json_string_value(value);
	double tflops = NAN;
	struct name n;

	if (!split_name(text, &n) || strncmp(n.x, "average-", 8) == 0 || strncmp(n.x, "hashes-", 7) == 0)
		return 0;
	int metric = find_metric(n.metric);

	if (metric == METRICS || !is_needed(metric, sibling(values, text, &n, LATENCY), sibling(values, text, &n, TFLOPS)))
		return 0;
	if (metric == LATENCY && json_is_number(sibling(values, text, &n, TFLOPS)))
		tflops = json_number_value(sibling(values, text, &n, TFLOPS));
	snprintf(key, sizeof key, "%.*s/%.*s", n.n_benchmark, n.benchmark, n.n_provider, n.provider);
	snprintf(x, sizeof x, "%.*s", n.n_x, n.x);
	table_put(key, "x", x);
	snprintf(where, sizeof where, "%.500s: %.500s", file, text);
	if (!shown && json_is_number(value)) {
		snprintf(number, sizeof number, "%.17g", json_number_value(value));
		shown = number;
	}
	return add_value(out, key, metric, object_is_bare(value) ? "nan" : shown ? shown : "", tflops, where, err);
}

static int read_object(struct reading *out, const char *text, size_t len, const char *file, struct fw_err *err)
{
	json_t *root = object_load_bare(text, len, file, err), *values = json_object_get(root, "metrics"), *value;
	const char *name;
	int result = root ? 0 : -1;

	values = json_is_object(values) ? values : root; /* runs of several operators put the metrics next to the environment */
	object_report_conditions(out, json_object_get(root, "environ"));
	json_object_foreach(values, name, value)
	{
		if (result == 0)
			result = read_value(out, values, name, value, file, err);
	}
	json_decref(root);
	return result;
}

int read_tritonbench(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	size_t i = 0;

	(void)how;
	while (i < len && text[i] && strchr(" \t\r\n", text[i]))
		i++;
	return i < len && text[i] == '{' ? read_object(out, text, len, file, err) : read_table(out, text, len, file, err);
}
