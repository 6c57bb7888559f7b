#include "web/page/internal.h"

#include <math.h>

/* ---- phases ---- */

enum { PHASES_MAX = 32 };

static void draw_phases(struct buf *out, const json_t *list, const char *cause)
{
	struct stack_part part[PHASES_MAX];
	const json_t *phase;
	size_t i;
	int n = 0;
	json_array_foreach(list, i, phase)
	{
		if (n == PHASES_MAX)
			return; /* a chart with only some of the phases would show a wrong total */
		part[n].name = comparison_text(phase, "phase");
		part[n].base_ms = comparison_number(phase, "base_ms");
		part[n].target_ms = comparison_number(phase, "target_ms");
		part[n].moved = cause && strcmp(cause, part[n].name) == 0;
		n++;
	}
	stack_draw(out, part, n);
}

/* Draw the phases of an opened cell, or a line that no phase was timed separately. */
static void phases_draw(struct buf *out, struct comparison_cell *cell)
{
	const json_t *phase, *list = json_object_get(cell->json, "phases");
	const char *cause = comparison_cause(cell);
	size_t i;
	emit_raw(out, "<div><h3>Phases</h3>");
	if (json_array_size(list) == 0) {
		emit_raw(out, "<p><small>No phase was timed separately.</small></p></div>");
		return;
	}
	draw_phases(out, list, cause);
	layout_table(out, "Phase|>Base ms|>Target ms|>Change|~>95 % interval");
	json_array_foreach(list, i, phase)
	{
		const char *name = comparison_text(phase, "phase");
		double low = comparison_number(phase, "ci_low_pct"), high = comparison_number(phase, "ci_high_pct");
		emit_format(out,
			"<tr><th scope=row>%s%-s</th><td class=n>%.4g{known}</td><td class=n>%.4g{known}</td><td class=n>"
			"%f{change}</td><td class=\"n w\">",
			name,
			cause && strcmp(cause, name) == 0 ? " <span class=\"v bad\"><i aria-hidden=true>\u25c0</i>moved</span>"
							  : "",
			comparison_number(phase, "base_ms"), comparison_number(phase, "target_ms"),
			comparison_number(phase, "change_pct"));
		if (isfinite(low))
			emit_format(out, "%.2f{signed} \u2026 %.2f{signed}", low, high);
		else
			emit_raw(out, "\u2013");
		emit_raw(out, "</td></tr>\n");
	}
	layout_table_end(out);
	if (!cause)
		emit_raw(out,
			"<p><small>No phase is named as the cause: none has an interval that excludes 0 and covers half of the "
			"change.</small></p>");
	emit_raw(out, "</div>");
}

/* ---- searched ---- */

static void draw_row(struct buf *out, const json_t *tried, const char *chosen)
{
	const char *config = comparison_text(tried, "config");
	double ms = comparison_number(tried, "ms");
	emit_format(out, "<tr><th scope=row><code>%s</code>%-s</th><td class=n>%f{ms}</td></tr>\n", config,
		strcmp(config, chosen) == 0 ? " <b>chosen</b>" : "", ms);
}

static void side(struct buf *out, const char *name, const json_t *tried, const char *chosen)
{
	const json_t *list = json_object_get(tried, "list"), *one;
	double of = comparison_number(tried, "of");
	size_t i;
	if (json_array_size(list) == 0)
		return;
	emit_rawf(out, "<details><summary>%s tried %.0f configuration%s", name, of, of == 1 ? "" : "s");
	if ((double)json_array_size(list) < of)
		emit_rawf(out, ", %zu of them listed", json_array_size(list));
	emit_raw(out, "</summary>");
	layout_table(out, "Configuration|>A call, as reported");
	json_array_foreach(list, i, one) draw_row(out, one, chosen);
	layout_table_end(out);
	emit_raw(out, "</details>\n");
}

/* Draw the tried configurations of an opened cell, if a side reports them. */
static void draw_searched(struct buf *out, const struct comparison_cell *cell)
{
	const json_t *tried = json_object_get(cell->json, "tried");
	side(out, "Base", json_object_get(tried, "base"), cell->base_config);
	side(out, "Target", json_object_get(tried, "target"), cell->target_config);
}

/* ---- reported kernels ---- */

static void draw_causes(struct buf *out, const json_t *causes)
{
	const json_t *cause;
	size_t i;
	if (json_array_size(causes) == 0)
		return;
	emit_raw(out, "<section class=whys><h3>Why</h3><ul>");
	json_array_foreach(causes, i, cause)
		emit_format(out, "<li>%s</li>", json_string_value(cause) ? json_string_value(cause) : "");
	emit_raw(out, "</ul><p><small>As the program reports.</small></p></section>\n");
}

static void draw_number(struct buf *out, const json_t *kernel, const char *key)
{
	emit_format(out, "<td class=n>%.0f{known}</td>", comparison_number(kernel, key));
}

static void draw_reported(struct buf *out, const char *name, const json_t *side)
{
	static const char *const keys[] = { "num_warps", "num_stages", "shared_bytes", "registers", "spills", "launches" };
	const json_t *kernel, *list = json_object_get(side, "list");
	double of = comparison_number(side, "of");
	char hash[13];
	size_t i;
	if (json_array_size(list) == 0)
		return;
	emit_rawf(out, "<details><summary>%s launched %.0f kernel%s", name, of, of == 1 ? "" : "s");
	if ((double)json_array_size(list) < of)
		emit_rawf(out, ", %zu of them listed", json_array_size(list));
	emit_raw(out, ", as the program reports</summary>");
	layout_table(
		out, "Kernel|Chosen by the autotuner|>Warps|>Stages|>Shared bytes|>Registers|>Spills|>Launches|~Hash of its PTX");
	json_array_foreach(list, i, kernel)
	{
		emit_format(out, "<tr><th scope=row>%s</th><td><code>%s</code></td>", comparison_text(kernel, "kernel"),
			comparison_text(kernel, "config"));
		for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
			draw_number(out, kernel, keys[k]);
		snprintf(hash, sizeof hash, "%s", comparison_text(kernel, "code_sha256"));
		emit_format(out, "<td class=w><code>%s</code></td></tr>\n", hash);
	}
	layout_table_end(out);
	emit_raw(out, "</details>\n");
}

/* Draw the kernels that a program reports for an opened cell. */
static void draw_reported_kernels(struct buf *out, const struct comparison_cell *cell)
{
	const json_t *kernels = json_object_get(cell->json, "kernels");
	draw_reported(out, "Base", json_object_get(kernels, "base"));
	draw_reported(out, "Target", json_object_get(kernels, "target"));
}

/* ---- detail ---- */

enum { NODES_MAX_BYTES = 4 << 20, NODES_SHOWN = 12 };

/* ---- rows of "base, target, change" -------------------------------------------------------------------------------- */

/* A table of these rows. A line below it lists measurements that neither side has. */
struct pairs {
	struct buf *out, missing;
};

static void draw_value(struct buf *out, double v, const char *format)
{
	emit_raw(out, "<td class=n>");
	bool is_small = fabs(v) < 1; /* one decimal or none would hide the change */
	if (isfinite(v))
		emit_rawf(out,
			strcmp(format, "%.0f") == 0 && !is_small   ? "%.0f"
			: strcmp(format, "%.1f") == 0 && !is_small ? "%.1f"
								   : "%.4g",
			v);
	else
		emit_raw(out, "\u2013");
	emit_raw(out, "</td>");
}

static void pair_row(
	struct pairs *t, const char *name, const char *unit, double base, double target, double change_pct, const char *format)
{
	if (!isfinite(base) && !isfinite(target)) {
		buf_printf(&t->missing, "%s%s", t->missing.len ? ", " : "", name);
		return;
	}
	emit_format(t->out, "<tr><th scope=row>%s <span class=dim>%s</span></th>", name, unit);
	draw_value(t->out, base, format);
	draw_value(t->out, target, format);
	emit_format(t->out, "<td class=n>%f{change}</td></tr>\n", change_pct);
}

/* Write rates in a suitable unit. Units: TFLOP/s. */
static void rate_row(struct pairs *t, const char *name, double base, double target, double change_pct)
{
	struct unit unit = unit_of_rates(unit_max(base, target));
	pair_row(t, name, unit.name, base * unit.factor, target * unit.factor, change_pct, "%.1f");
}

static void pairs_begin(struct pairs *t, struct buf *out)
{
	t->out = out;
	buf_init(&t->missing, 4096);
	layout_table(out, "|>Base|>Target|>Change");
}

static void pairs_end(struct pairs *t, bool with_missing)
{
	layout_table_end(t->out);
	if (with_missing && t->missing.len)
		emit_format(t->out, "<p><small>Not measured: %s.</small></p>", t->missing.data);
	buf_fini(&t->missing);
}

/* Note that requested bytes may come from caches, if the rate is above the memory's bandwidth. */
static void draw_claimed_note(struct buf *out, const struct comparison *c, double most_gb_s)
{
	if (!(most_gb_s > c->environment.peak_gb_s))
		return;
	emit_rawf(out,
		"<tr><td class=\"dim wrap\" colspan=4>claimed traffic is above the device\u2019s memory bandwidth of %.0f GB/s, so either caches serve a share of it, or the module counts too much</td></tr>\n",
		c->environment.peak_gb_s);
}

static double of_side(const struct comparison_cell *cell, const char *object, const char *key)
{
	return comparison_number(json_object_get(cell->json, object), key);
}

static double rate(double count, double ms, double unit)
{
	return ms > 0 ? count / ms * 1e3 / unit : NAN;
}

static enum series series_of(const struct comparison_cell *cell)
{
	return series_from_name(comparison_text(cell->json, "series"));
}

static const char *time_of_series(enum series series)
{
	return series == SERIES_CALL ? "whole call" : series == SERIES_PROCESS ? "time" : "device time";
}

/* Write the values that a module reports in addition to its times. */
static void draw_module_rows(struct pairs *t, const struct comparison *c, const struct comparison_cell *cell)
{
	double issued_base = of_side(cell, "flops_issued", "base"), issued_target = of_side(cell, "flops_issued", "target");
	double moved_base = of_side(cell, "moved", "base_bytes"), moved_target = of_side(cell, "moved", "target_bytes");
	rate_row(t, "issued", rate(issued_base, cell->base_ms, 1e12), rate(issued_target, cell->target_ms, 1e12), NAN);
	double claimed_base = rate(moved_base, cell->base_ms, 1e9), claimed_target = rate(moved_target, cell->target_ms, 1e9);
	pair_row(t, "claimed traffic", "GB/s", claimed_base, claimed_target, NAN, "%.0f");
	draw_claimed_note(t->out, c, unit_max(claimed_base, claimed_target));
	pair_row(t, "of peak at that clock", "%", comparison_peak_pct(c, cell->base_tflops, cell->base_mhz),
		comparison_peak_pct(c, cell->target_tflops, cell->target_mhz), NAN, "%.1f");
	comparison_peer_rows(t->out, cell);
	pair_row(t, "sustained", "ms", of_side(cell, "sustained", "base_ms"), of_side(cell, "sustained", "target_ms"),
		of_side(cell, "sustained", "change_pct"), "");
	pair_row(t, "energy of a call in sustained runs", "J", of_side(cell, "sustained", "base_j"),
		of_side(cell, "sustained", "target_j"), NAN, "");
	pair_row(t, "slow calls", "%", of_side(cell, "slow_calls", "base_pct"), of_side(cell, "slow_calls", "target_pct"), NAN,
		"%.1f");
	pair_row(t, "whole call, host clock", "\u00b5s", of_side(cell, "call", "base_us"), of_side(cell, "call", "target_us"),
		of_side(cell, "call", "change_pct"), "%.1f");
	pair_row(t, "enqueue, host", "\u00b5s", of_side(cell, "enqueue", "base_us"), of_side(cell, "enqueue", "target_us"), NAN,
		"%.1f");
	pair_row(t, "numerical error", "of plain bf16", of_side(cell, "error_ratio", "base"),
		of_side(cell, "error_ratio", "target"), NAN, "");
	pair_row(t, "workspace", "MB", of_side(cell, "workspace", "base_bytes") / 1e6,
		of_side(cell, "workspace", "target_bytes") / 1e6, NAN, "");
	pair_row(t, "tensors and workspace, as allocated", "MB", of_side(cell, "peak", "base_bytes") / 1e6,
		of_side(cell, "peak", "target_bytes") / 1e6, NAN, "%.1f");
	pair_row(t, "additional memory, measured", "MB", of_side(cell, "taken", "base_bytes") / 1e6,
		of_side(cell, "taken", "target_bytes") / 1e6, NAN, "%.1f");
	if (isfinite(cell->base_over_baseline) || isfinite(cell->target_over_baseline))
		pair_row(t, "against its dense case", "times as fast", cell->base_over_baseline, cell->target_over_baseline, NAN,
			"");
}

/* Return the largest value among the kernels of a side; NAN: unknown. */
static double most_of(const json_t *sides, const char *side, const char *key)
{
	const json_t *node;
	double most = NAN;
	size_t i;
	json_array_foreach(json_object_get(json_object_get(sides, side), "nodes"), i, node) most =
		fmax(most, comparison_number(node, key)); /* ignores a NAN */
	return most;
}

/* `sides`: the kernels that each side reported; NULL: none. */
static void draw_times(struct buf *out, const struct comparison_cell *cell, const json_t *sides)
{
	bool flops = isfinite(cell->base_tflops) || isfinite(cell->target_tflops), program = comparison_is_program(cell);
	struct pairs t;
	emit_raw(out, flops || !program ? "<div><h3>Throughput</h3>" : "<div><h3>Time</h3>");
	pairs_begin(&t, out);
	double change = isfinite(cell->change_pct) ? cell->change_pct : derive_change_pct(cell->base_ms, cell->target_ms);
	pair_row(&t, time_of_series(series_of(cell)), "ms", cell->base_ms, cell->target_ms, change, "");
	rate_row(&t, "useful", cell->base_tflops, cell->target_tflops, change);
	if (!program) {
		pair_row(&t, "registers", "of a thread", most_of(sides, "base", "registers"),
			most_of(sides, "target", "registers"), NAN, "%.0f");
		pair_row(&t, "spills and local arrays", "bytes a thread", most_of(sides, "base", "local_bytes"),
			most_of(sides, "target", "local_bytes"), NAN, "%.0f");
		pair_row(&t, "SM clock", "MHz", cell->base_mhz, cell->target_mhz, NAN, "%.0f");
	}
	pairs_end(&t, !program);
	comparison_sparsity(out, cell);
	if (comparison_is_paired_separate(cell))
		emit_format(out,
			"<p><small>The change is the trimmed mean of paired ratios, each call with the next call of the other "
			"side; the quotient of the two medians is %.2f{signed}\u00a0%%.</small></p>",
			derive_change_pct(cell->base_ms, cell->target_ms));
	emit_raw(out, "</div>");
}

/* Note that a long cell has too few whole calls for the flag. */
static int write_few_calls(struct db *db, struct buf *out, int64_t id, struct fw_err *err)
{
	int64_t pairs;
	if (view_call_pairs(db, id, &pairs, err) != 0)
		return -1;
	if (pairs > 0 && pairs < FLAG_CALL_PAIRS_MIN)
		emit_rawf(out,
			"<p><small>Whole calls: %lld pair%s, too few for a warning, which needs %d; calls of this cell are "
			"long.</small></p>",
			(long long)pairs, pairs == 1 ? "" : "s", FLAG_CALL_PAIRS_MIN);
	return 0;
}

/* ---- runs ---------------------------------------------------------------------------------------------------------- */

struct runs {
	struct mark_run run[STATS_RUNS_MAX];
	char more[STATS_RUNS_MAX][64]; /* details that only the list shows */
	int n;
};

static void take_run(void *arg, const struct view_run *row)
{
	struct runs *l = arg;
	if (l->n == STATS_RUNS_MAX)
		return;
	struct mark_run *m = &l->run[l->n];
	char *more = l->more[l->n++];
	m->change_pct = row->change_pct;
	m->low_pct = row->low_pct;
	m->high_pct = row->high_pct;
	m->set = row->set;
	snprintf(m->label, sizeof m->label, "run %d: %+.2f %% (%+.2f \u2026 %+.2f)", row->run, row->change_pct, row->low_pct,
		row->high_pct);
	int len = snprintf(more, sizeof l->more[0], ", %d pairs %.8s", row->pairs, row->order);
	if (isfinite(row->base_mhz) && len > 0 && (size_t)len < sizeof l->more[0])
		snprintf(more + len, sizeof l->more[0] - (size_t)len, ", %.0f and %.0f MHz", row->base_mhz, row->target_mhz);
}

static int runs(struct db *db, struct buf *out, const struct comparison_cell *cell, int64_t id, struct fw_err *err)
{
	struct runs l = { .n = 0 };
	char label[160];
	if (view_runs(db, id, take_run, &l, err) != 0)
		return -1;
	emit_rawf(out, "<div><h3>Runs</h3>");
	if (l.n == 0) {
		emit_raw(out, "<p><small>No run timed this cell.</small></p></div>");
		return 0;
	}
	snprintf(label, sizeof label, "change of %s in each of %d runs, with the threshold at -%.3g percent",
		isfinite(cell->target_tflops) ? "throughput" : "speed", l.n, cell->threshold_pct);
	mark_runs(out, l.run, l.n, cell->threshold_pct, label);
	emit_raw(out, "<details><summary>as a list</summary><ol>");
	for (int i = 0; i < l.n; i++)
		emit_format(out, "<li>%s%s%-s", l.run[i].label, l.more[i], l.run[i].set == 2 ? ", confirming</li>" : "</li>");
	emit_raw(out, "</ol></details></div>");
	return 0;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

static void draw_triple(struct buf *out, const json_t *v)
{
	emit_raw(out, "<td class=\"n w\">");
	for (size_t i = 0; i < 3; i++)
		emit_rawf(out, "%s%lld", i ? "\u00d7" : "", (long long)json_integer_value(json_array_get(v, i)));
	emit_raw(out, "</td>");
}

static long whole(const json_t *o, const char *key)
{
	return (long)json_integer_value(json_object_get(o, key));
}

static int threads_of(const json_t *node)
{
	const json_t *block = json_object_get(node, "block");
	json_int_t n = 1;
	for (size_t i = 0; i < 3; i++)
		n *= json_integer_value(json_array_get(block, i));
	return n > 0 && n <= 1024 ? (int)n : 0;
}

static bool same_kernel(const json_t *a, const json_t *b)
{
	return strcmp(comparison_text(a, "kernel"), comparison_text(b, "kernel")) == 0 &&
	       strcmp(comparison_text(a, "phase"), comparison_text(b, "phase")) == 0;
}

/* Find the other side's node for node `at`: same kernel and phase, and the same number of equal nodes before it. */
static const json_t *matching_node(const json_t *others, const json_t *nodes, size_t at)
{
	const json_t *node = json_array_get(nodes, at), *other;
	size_t nth = 0, i;
	for (i = 0; i < at; i++)
		nth += same_kernel(json_array_get(nodes, i), node);
	json_array_foreach(others, i, other) if (same_kernel(other, node) && nth-- == 0) return other;
	return NULL;
}

/* Write "168", or "168 \u2192 172" if the sides differ. */
static void draw_both(struct buf *out, const char *class, long base, long target, bool has_base)
{
	emit_rawf(out, "<td class=\"%s\">", class);
	if (has_base && base != target)
		emit_rawf(out, "%ld\u00a0\u2192\u00a0<b>%ld</b></td>", base, target);
	else
		emit_rawf(out, "%ld</td>", target);
}

/* Write whether the compiled code is the same; the tooltip has its hashes. */
static void draw_code_cell(struct buf *out, const json_t *node, const json_t *base, bool same_module)
{
	const char *code = comparison_text(node, "code_sha256"), *base_code = base ? comparison_text(base, "code_sha256") : "";
	if (!base) {
		emit_raw(out, "<td>\u2013</td>");
	} else if (*code && *base_code) {
		bool same = strcmp(code, base_code) == 0;
		emit_rawf(
			out, "<td title=\"code %.12s, in the base %.12s\">%s</td>", code, base_code, same ? "yes" : "<b>no</b>");
	} else if (same_module) {
		emit_raw(out, "<td title=\"both sides are the same module\">yes</td>");
	} else {
		emit_raw(out,
			"<td><span title=\"its code is not in the module's file or cannot be unpacked: a library's kernel, or one that is compiled at run time\">not known</span></td>");
	}
}

static void kernel_name(struct buf *out, const json_t *node, const char *note)
{
	emit_format(out, "<tr><th scope=row class=wrap><code>%s</code> <span class=dim>%s</span>%-s</th>",
		comparison_text(node, "kernel"), comparison_text(node, "phase"), note);
}

/* Write a row for a kernel that only the base runs. */
static void write_removed_kernel(struct buf *out, const json_t *node)
{
	kernel_name(out, node, " <small>not in the target</small>");
	draw_triple(out, json_object_get(node, "grid"));
	draw_triple(out, json_object_get(node, "block"));
	draw_both(out, "n", 0, whole(node, "registers"), false);
	draw_both(out, "n w", 0, whole(node, "local_bytes"), false);
	draw_both(out, "n w", 0, whole(node, "shared_bytes"), false);
	emit_raw(out, "<td class=\"n w\">\u2013</td><td>\u2013</td></tr>\n");
}

static void draw_kernel_row(struct buf *out, const struct comparison *c, const json_t *node, const json_t *base, bool same_module)
{
	int now = derive_blocks_per_sm(c->chip, threads_of(node), (int)whole(node, "registers"), whole(node, "shared_bytes"));
	int was =
		base ? derive_blocks_per_sm(c->chip, threads_of(base), (int)whole(base, "registers"), whole(base, "shared_bytes"))
		     : 0;
	kernel_name(out, node, base ? "" : " <small>not in the base</small>");
	draw_triple(out, json_object_get(node, "grid"));
	draw_triple(out, json_object_get(node, "block"));
	draw_both(out, "n", whole(base, "registers"), whole(node, "registers"), base);
	draw_both(out, "n w", whole(base, "local_bytes"), whole(node, "local_bytes"), base);
	draw_both(out, "n w", whole(base, "shared_bytes"), whole(node, "shared_bytes"), base);
	if (now)
		draw_both(out, "n w", was, now, base && was);
	else
		emit_raw(out, "<td class=\"n w\">\u2013</td>");
	draw_code_cell(out, node, base, same_module);
	emit_raw(out, "</tr>\n");
}

static void draw_config_line(struct buf *out, const char *side, const json_t *nodes)
{
	emit_format(out, "<dt>%s</dt><dd>%s <code>%s</code></dd>", side,
		*comparison_text(nodes, "provider") ? comparison_text(nodes, "provider") : "\u2013",
		comparison_text(nodes, "config"));
}

static void draw_kernels(struct buf *out, const struct comparison *c, const struct comparison_cell *cell, const json_t *sides)
{
	const json_t *base = json_object_get(sides, "base"), *target = json_object_get(sides, "target");
	const json_t *node, *nodes = json_object_get(target, "nodes"), *base_nodes = json_object_get(base, "nodes");
	const char *module = c->target.module_sha256;
	bool same_module = *module && strcmp(module, c->base.module_sha256) == 0;
	size_t i;
	emit_raw(out, "<dl class=facts>");
	draw_config_line(out, "Base runs", base);
	draw_config_line(out, "Target runs", target);
	emit_raw(out, "</dl>");
	draw_searched(out, cell);
	if (json_array_size(nodes) == 0) {
		emit_rawf(out,
			"<p><small>The kernels are unknown: only a CUDA graph shows them. Compared as whole modules, %s.</small></p>",
			same_module ? "both sides are the same" : "the sides differ");
		return;
	}
	layout_table(out, "Kernel|~>Grid|~>Block|>Registers|~>Local bytes|~>Shared bytes|~>CTAs/SM|Same code?");
	json_array_foreach(nodes, i, node) if (i < NODES_SHOWN)
		draw_kernel_row(out, c, node, matching_node(base_nodes, nodes, i), same_module);
	json_array_foreach(base_nodes, i, node) if (i < NODES_SHOWN && !matching_node(nodes, base_nodes, i))
		write_removed_kernel(out, node);
	layout_table_end(out);
	if (json_array_size(nodes) > NODES_SHOWN)
		emit_rawf(out, "<p><small>The first %d of %zu.</small></p>", NODES_SHOWN, json_array_size(nodes));
}

/* Read the kernels that the sides reported; NULL: none. Own: json_decref. Err: the database's. */
static int read_kernels(struct db *db, int64_t id, json_t **sides, struct fw_err *err)
{
	struct buf text;
	struct fw_err why = { 0 };
	buf_init(&text, NODES_MAX_BYTES);
	int found = view_artifact(db, "cell", id, "nodes", &text, &why);
	*sides = found == 0 ? jsonr_tree(text.data, text.len) : NULL;
	buf_fini(&text);
	return found != 0 && why.code != ERR_NOT_FOUND ? err_set(err, why.code, "%s", why.text) : 0;
}

static void kernels(struct buf *out, const struct comparison *c, const struct comparison_cell *cell, const json_t *sides)
{
	emit_raw(out, "<details><summary>Kernels and configurations</summary>");
	if (sides)
		draw_kernels(out, c, cell, sides);
	else
		emit_raw(out, "<p><small>Neither side reported its kernels.</small></p>");
	emit_raw(out, "</details>");
}

/* ---- next steps ---------------------------------------------------------------------------------------------------- */

/* Write how many runs would decide the cell: until k standard errors clear the nearer edge of the threshold. */
static void draw_missing_evidence(struct buf *out, const struct comparison *c, const struct comparison_cell *cell)
{
	double k = c->rule_k, theta = stats_theta(cell->threshold_pct), m = -log1p(cell->change_pct / 100);
	double total = c->runs, held_s = c->gpu_s;
	double half = (log1p(cell->ci_high_pct / 100) - log1p(cell->ci_low_pct / 100)) / 2;
	if (cell->verdict != VERDICT_UNDECIDED)
		return;
	emit_raw(out, "<p><b>To decide it:</b> ");
	int most = 200, needed = 0;
	if (isfinite(half) && isfinite(k) && cell->runs)
		needed = derive_runs(m, half / stats_t95(5 + cell->runs), m < -theta / 2 ? -theta : theta, k, cell->runs, most);
	if (needed && total > 0)
		emit_rawf(out,
			"about %d runs in total, %d more, with about %.0f s of device time, if the estimate does not change.",
			needed, needed - cell->runs, (needed - cell->runs) * held_s / total);
	else if (isfinite(half))
		emit_raw(
			out, "more runs alone will hardly suffice: the estimate is on the threshold, or the runs vary too much.");
	else
		emit_raw(out, "the cell was not measured; measure it again with a larger budget.");
	emit_raw(out, "</p>");
}

struct commands {
	struct buf *out;
	const char *where;
	int cell; /* index in the suite */
	bool begun;
};

static void command(void *arg, const char *what, const char *line)
{
	struct commands *l = arg;
	if (!l->begun)
		emit_rawf(l->out, "<details><summary>Reproduce</summary><div id=reproduce-%d>", l->cell);
	if (!l->begun && *l->where)
		emit_format(l->out,
			"<p><small>Commands with kernels run %s. The worker caches its builds there until newer ones need the space; the commands run outside the sandbox.</small></p>",
			l->where);
	l->begun = true;
	emit_format(l->out, "<p>%s</p>", what);
	layout_command(l->out, line);
}

static int commands(
	struct site *site, struct buf *out, const struct comparison *c, const struct comparison_cell *cell, struct fw_err *err)
{
	char where[REPRODUCE_WHERE_SIZE];
	struct commands l = { .out = out, .where = where, .cell = cell->n };
	int result = reproduce_lines(site, c, cell, where, command, &l, err);
	if (l.begun)
		emit_raw(out, "</div></details>");
	return result;
}

static void draw_sentence(struct buf *out, const char *before, const char *text)
{
	if (!*text)
		return;
	emit_format(out, "<p>%s%s.</p>", before, text);
}

/* Write the calibration of an underpowered cell, and the commands that repeat it. */
static void draw_underpowered_note(struct buf *out, const struct comparison *c, const struct comparison_cell *cell)
{
	const char *why = comparison_text(json_object_get(cell->json, "underpowered"), "why");
	struct buf line;
	if (!*why)
		return;
	emit_format(out,
		"<p><b>A slowdown of the size of the threshold cannot be detected here:</b> %s; measured on %s. Measure the noise again while the machine is idle, or delete the calibration:</p>",
		why, c->environment.name);
	buf_init(&line, 4096);
	reproduce_calibrate(c, NULL, &line);
	layout_command(out, line.data);
	buf_clear(&line);
	reproduce_calibrate(c, cell, &line);
	layout_command(out, line.data);
	buf_fini(&line);
}

static void interval(struct buf *out, const json_t *change)
{
	emit_format(out, " with a 95 %% interval of %.2f{signed} \u2026 %.2f{signed}.</p>",
		comparison_number(change, "ci_low_pct"), comparison_number(change, "ci_high_pct"));
}

static void draw_evidence(struct buf *out, const struct comparison *c, const struct comparison_cell *cell)
{
	if (!isfinite(cell->change_pct))
		return;
	emit_format(out, "<p>%f{decided %d}", cell->change_pct, verdict_is_change(cell->verdict));
	emit_format(out, " with a 95 %% interval of %.2f{signed} \u2026 %.2f{signed}", cell->ci_low_pct, cell->ci_high_pct);
	emit_rawf(out, ", threshold %.3g %%; a slowdown of %.2f %% or more would have been detected. %d runs, %d pairs.</p>",
		cell->threshold_pct, cell->mde_pct, cell->runs, cell->samples);
	draw_sentence(out, "Of that ", comparison_text(cell->json, "components"));
	draw_underpowered_note(out, c, cell);
	if (strstr(cell->flags, "enqueue")) {
		char host[EXPLAIN_SIZE];
		explain_host_time(of_side(cell, "enqueue", "base_us"), of_side(cell, "enqueue", "target_us"), host);
		draw_sentence(out, "Longer from the host: ", host);
	}
	const json_t *mean = json_object_get(cell->json, "mean");
	if (json_is_object(mean)) {
		emit_format(out, "<p>Slow calls: %s. With them the change of the mean call is %f{change}",
			comparison_text(mean, "text"), comparison_number(mean, "change_pct"));
		interval(out, mean);
	}
	const json_t *sustained_runs = json_object_get(cell->json, "sustained");
	if (!json_is_object(sustained_runs))
		return;
	emit_format(out, "<p>In sustained runs, each side at the clock that its power draw permits: %f{change}",
		comparison_number(sustained_runs, "change_pct"));
	interval(out, sustained_runs);
	draw_sentence(out, "", comparison_text(sustained_runs, "why"));
}

/* Draw the speed of the cell up to this comparison. */
static int draw_past(
	struct db *db, struct buf *out, const struct comparison *c, const struct comparison_cell *cell, struct fw_err *err)
{
	struct sparkline spark;
	if (comparison_is_side_by_side(c))
		return 0;
	return sparkline_begin(db, c->repo, c->branch, c->id, &spark, err) != 0 ? -1
										: sparkline_draw(out, db, &spark, cell->key, err);
}

/* Draw all other measurements of the cell, folded. */
static int draw_measurements(
	struct db *db, struct buf *out, const struct comparison *c, struct comparison_cell *cell, int64_t id, struct fw_err *err)
{
	struct ratios_about about = { cell->change_pct, cell->ci_low_pct, cell->ci_high_pct, cell->threshold_pct };
	struct pairs t;
	emit_raw(out, "<details><summary>Runs, calls and all measurements</summary><div class=\"cards wide\"><div>");
	if (!comparison_is_program(cell)) {
		pairs_begin(&t, out);
		draw_module_rows(&t, c, cell);
		pairs_end(&t, true);
	}
	int result = write_few_calls(db, out, id, err);
	emit_raw(out, "</div><div>");
	if (!comparison_is_program(cell))
		phases_draw(out, cell);
	if (result == 0)
		result = runs(db, out, cell, id, err);
	if (result == 0)
		result = calls_draw(out, db, id, series_of(cell), &about, err);
	emit_raw(out, "</div></div></details>");
	return result;
}

int comparison_detail(void *arg, struct buf *out, const struct comparison *c, struct comparison_cell *cell, struct fw_err *err)
{
	struct site *site = arg;
	struct db *db = site->db;
	json_t *sides = NULL;
	int64_t id;
	if (view_cell_id(db, c->id, cell->key, &id, err) != 0)
		return -1;
	comparison_open(cell);
	emit_raw(out, "<div class=row><b>");
	layout_cell_link(out, c->repo, c->branch, cell->key);
	emit_format(out, "</b> <a class=button href=\"/history?cell=%s&amp;repo=%s&amp;branch=%s\">History</a> ", cell->key,
		c->repo, c->branch);
	if (draw_past(db, out, c, cell, err) != 0)
		return -1;
	emit_raw(out, "</div>");
	draw_causes(out, json_object_get(json_object_get(cell->json, "kernels"), "causes"));
	if (explanation_draw_cell(db, out, c, cell, err) != 0 || read_kernels(db, id, &sides, err) != 0)
		return -1;
	draw_missing_evidence(out, c, cell);
	draw_evidence(out, c, cell);
	draw_times(out, cell, sides);
	int result = draw_measurements(db, out, c, cell, id, err);
	if (result == 0 && !comparison_is_program(cell))
		kernels(out, c, cell, sides);
	draw_reported_kernels(out, cell);
	json_decref(sides);
	return result == 0 ? commands(site, out, c, cell, err) : -1;
}
