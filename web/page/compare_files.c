/* compare_files.c - two posted files of results side by side. Names in them are foreign text, and there is no verdict. */
#include "web/page/internal.h"

#include <math.h>

enum { TITLE_BYTES = 600 };

static const char *const no_verdict =
	"Two files give no verdict: each is one run, and on a busy CPU or a GPU at its power limit it may differ from the next by "
	"more than 1.5\u00a0% without any change. For a verdict, compare the two commits: flopwatch then measures both interleaved.";

/* ---- form ---------------------------------------------------------------------------------------------------------- */

static void format_options(struct buf *out)
{
	static const char names[] = FORMAT_NAMES;
	char name[32];
	for (const char *at = names; *at; at += strspn(at, ", ")) {
		size_t len = strcspn(at, ",");
		snprintf(name, sizeof name, "%.*s", (int)len, at);
		layout_option(out, name, NULL, NULL);
		at += len;
	}
}

void compare_files_form(struct buf *out)
{
	static const char *const units[] = { "ms", "us", "ns", "s", "TFLOPS", "GB/s" };
	emit_raw(out,
		"<section class=card id=files><h2>Two files</h2><p>Results of another benchmark, before and after a change, in one "
		"format and of at most 16\u00a0MiB each. They are compared and not stored. This gives no verdict.</p>"
		"<form class=filter method=post action=/compare enctype=\"multipart/form-data\">"
		"<label class=grow>Base file <input type=file name=base required></label>"
		"<label class=grow>Target file <input type=file name=target required></label>"
		"<label>Format <select name=format><option value=\"\">detect</option>");
	format_options(out);
	emit_raw(out,
		"</select></label><label>Unit, if a triton file has none <select name=unit><option value=\"\">none</option>");
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		layout_option(out, units[i], NULL, NULL);
	emit_raw(out,
		"</select></label><label>Metrics of ncu files <input name=metric placeholder=\"dram__bytes_read.sum\" maxlength=500></label>"
		"<button>Compare files</button></form></section>\n");
}

/* ---- page ---------------------------------------------------------------------------------------------------------- */

struct row {
	const char *key, *base_failure, *target_failure;
	double base_ms, target_ms, base_tflops, target_tflops, change_pct; /* NAN: unknown */
};

struct pair {
	const json_t *json;
	const char *base, *target;
	struct row *row;
	int n, common, slower, faster;
	double threshold_pct;
	struct unit unit;
	bool has_rates;
};

/* Compare: the largest slowdown first, then the largest improvement, then rows without a change. */
static int compare_rows(const void *a, const void *b)
{
	double x = ((const struct row *)a)->change_pct, y = ((const struct row *)b)->change_pct;
	if (!isfinite(x) || !isfinite(y))
		return !isfinite(x) - !isfinite(y);
	return (x > y) - (x < y);
}

static void read_pair(const json_t *json, struct pair *p)
{
	const json_t *cells = json_object_get(json, "cells");
	double most = NAN;
	*p = (struct pair){ .json = json,
		.base = comparison_text(json, "base"),
		.target = comparison_text(json, "target"),
		.n = (int)json_array_size(cells),
		.common = (int)json_integer_value(json_object_get(json, "common")),
		.slower = (int)json_integer_value(json_object_get(json, "slower")),
		.faster = (int)json_integer_value(json_object_get(json, "faster")),
		.threshold_pct = comparison_number(json, "threshold_pct") };
	p->row = mem_alloc_zero((size_t)p->n + 1, sizeof *p->row);
	for (int i = 0; i < p->n; i++) {
		const json_t *cell = json_array_get(cells, (size_t)i);
		struct row *row = &p->row[i];
		*row = (struct row){ .key = comparison_text(cell, "cell"),
			.base_failure = comparison_text(cell, "base_failure"),
			.target_failure = comparison_text(cell, "target_failure"),
			.base_ms = comparison_number(cell, "base_ms"),
			.target_ms = comparison_number(cell, "target_ms"),
			.base_tflops = comparison_number(cell, "base_tflops"),
			.target_tflops = comparison_number(cell, "target_tflops"),
			.change_pct = comparison_number(cell, "change_pct") };
		most = unit_max(most, unit_max(row->base_tflops, row->target_tflops));
	}
	qsort(p->row, (size_t)p->n, sizeof *p->row, compare_rows);
	p->unit = unit_of_rates(most);
	p->has_rates = isfinite(most);
}

/* Write "after.csv is slower in 3 and faster in 1 of 20 cells; 2 cells without a time in both". */
static void write_finding(const struct pair *p, char *out, size_t size)
{
	int unpaired = p->common ? p->n - p->common : 0;
	if (p->common == 0 && json_array_size(json_object_get(p->json, "figures")))
		snprintf(out, size, "%.200s and %.200s have metrics, no times in common", p->base, p->target);
	else if (p->common == 0)
		snprintf(out, size, "%.200s and %.200s: no cell has a time in both files", p->base, p->target);
	else if (p->slower && p->faster)
		snprintf(out, size, "%.200s is slower in %d and faster in %d of %d cells", p->target, p->slower, p->faster,
			p->common);
	else if (p->slower || p->faster)
		snprintf(out, size, "%.200s is %s in %d of %d cells", p->target, p->slower ? "slower" : "faster",
			p->slower + p->faster, p->common);
	else
		snprintf(out, size, "%.200s and %.200s differ by at most %.3g %% in %d cell%s", p->base, p->target,
			p->threshold_pct, p->common, p->common == 1 ? "" : "s");
	size_t len = strlen(out);
	if (unpaired > 0)
		snprintf(out + len, size - len, "; %d cell%s without a time in both", unpaired, unpaired == 1 ? "" : "s");
}

static void draw_row(struct buf *out, const struct pair *p, const struct row *row)
{
	emit_format(out, "<tr><td><code>%s</code>", row->key);
	if (*row->base_failure)
		emit_format(out, "<br>base failed: %s", row->base_failure);
	if (*row->target_failure)
		emit_format(out, "<br>target failed: %s", row->target_failure);
	emit_format(out, "</td><td class=n>%f{change}</td><td class=n>%f{ms}</td><td class=n>%f{ms}</td>", row->change_pct,
		row->base_ms, row->target_ms);
	if (p->has_rates) {
		emit_raw(out, "<td class=\"n w\">");
		layout_rate(out, p->unit, row->base_tflops);
		emit_raw(out, "</td><td class=\"n w\">");
		layout_rate(out, p->unit, row->target_tflops);
		emit_raw(out, "</td>");
	}
	emit_raw(out, "</tr>\n");
}

/* Draw rows [from, to) as a table below a heading; without rows nothing. */
static void draw_rows(struct buf *out, const struct pair *p, int from, int to, const char *heading)
{
	char columns[128];
	if (from == to)
		return;
	emit_rawf(out, "<h2>%s</h2>\n", heading);
	snprintf(columns, sizeof columns, "Cell|>Change|>Base ms|>Target ms%s%s%s%s", p->has_rates ? "|~>Base " : "",
		p->has_rates ? p->unit.name : "", p->has_rates ? "|~>Target " : "", p->has_rates ? p->unit.name : "");
	layout_table(out, columns);
	for (int i = from; i < to; i++)
		draw_row(out, p, &p->row[i]);
	layout_table_end(out);
}

static void draw_cells(struct buf *out, const struct pair *p)
{
	char within[64];
	int timed = 0, slower = 0, faster = 0;
	for (int i = 0; i < p->n; i++) {
		timed += isfinite(p->row[i].change_pct);
		slower += p->row[i].change_pct < -p->threshold_pct;
		faster += p->row[i].change_pct > p->threshold_pct;
	}
	snprintf(within, sizeof within, "Cells within %.3g\u00a0%%", p->threshold_pct);
	draw_rows(out, p, 0, slower, "Slower cells, worst first");
	draw_rows(out, p, timed - faster, timed, "Faster cells");
	draw_rows(out, p, slower, timed - faster, within);
	draw_rows(out, p, timed, p->n, "Cells without a time in both files");
}

static void draw_metrics(struct buf *out, const json_t *figures)
{
	size_t i;
	json_t *one;
	if (json_array_size(figures) == 0)
		return;
	emit_raw(out, "<h2>Metrics, neither slower nor faster</h2>\n");
	layout_table(out, "Cell|Metric|>Base|>Target|Unit|>Change");
	json_array_foreach(figures, i, one) emit_format(out,
		"<tr><td><code>%s</code></td><td>%s</td><td class=n>%.6f{known}</td><td class=n>%.6f{known}</td>"
		"<td>%s</td><td class=n>%f{change}</td></tr>\n",
		comparison_text(one, "cell"), comparison_text(one, "metric"), comparison_number(one, "base"),
		comparison_number(one, "target"), comparison_text(one, "unit"), comparison_number(one, "change_pct"));
	layout_table_end(out);
}

/* Draw each file's rows without a time, and other notes. */
static void draw_notes(struct buf *out, const struct pair *p)
{
	const json_t *left = json_object_get(p->json, "left_out"), *notes = json_object_get(p->json, "notes");
	size_t i;
	json_t *one;
	if (json_array_size(left) + json_array_size(notes) == 0)
		return;
	emit_raw(out, "<h2>Notes</h2>\n<ul>");
	json_array_foreach(left, i, one) emit_format(out, "<li>%s: <code>%s</code> was left out: %s</li>\n",
		comparison_text(one, "side"), comparison_text(one, "cell"), comparison_text(one, "reason"));
	json_array_foreach(notes, i, one)
		emit_format(out, "<li>%s: %s</li>\n", comparison_text(one, "side"), comparison_text(one, "note"));
	emit_raw(out, "</ul>\n");
}

static void draw(struct http_response *response, const json_t *json)
{
	struct buf *out = &response->body;
	const json_t *warnings = json_object_get(json, "warnings");
	char title[TITLE_BYTES];
	size_t i;
	json_t *one;
	struct pair p;
	read_pair(json, &p);
	write_finding(&p, title, sizeof title);
	layout_begin(response, title, "comparisons", NULL);
	emit_format(out, "<p class=\"banner warn\">%-s</p>\n", no_verdict);
	json_array_foreach(warnings, i, one)
		emit_format(out, "<p class=\"banner warn\">%s</p>\n", json_string_value(one) ? json_string_value(one) : "");
	emit_format(out,
		"<dl class=facts><dt>Base</dt><dd>%s</dd><dt>Target</dt><dd>%s</dd><dt>Format</dt><dd>%s</dd></dl>\n"
		"<p>A change is that of speed: \u22125\u00a0%% is slower. <a href=\"/compare#files\">Compare other files</a></p>\n",
		p.base, p.target, comparison_text(json, "format"));
	draw_cells(out, &p);
	draw_metrics(out, json_object_get(json, "figures"));
	draw_notes(out, &p);
	free(p.row);
}

static int compared(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct buf text;
	json_error_t where;
	buf_init(&text, SITE_COMPARISON_MAX);
	int result = files_take(site, r, response, compared, &text, err);
	json_t *json = result == 0 ? json_loadb(text.data, text.len, 0, &where) : NULL;
	buf_fini(&text);
	if (result != 0)
		return result < 0 ? -1 : 0;
	if (!json_is_object(json)) {
		json_decref(json);
		return err_set(err, ERR_INTERNAL, "the comparison of the files is not a JSON object: %.200s", where.text);
	}
	draw(response, json);
	json_decref(json);
	return layout_end(response, NULL, 0);
}

int page_compare_files(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	return page_count_alerts(site, response, err) != 0 ? -1 : files_begin(site, r, response, compared, err);
}
