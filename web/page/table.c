#include "web/page/internal.h"

#include <ctype.h>
#include <math.h>

/* ---- row ---- */

static struct row_shape row_shape(const struct comparison *c)
{
	enum { COLUMNS_TIMED = 5, COLUMNS_OTHER = 3 };
	struct row_shape s = { .columns = COLUMNS_OTHER, .has_flops = comparison_has_flops(c) };
	for (int i = 0; i < c->n_cells; i++) {
		const struct comparison_cell *cell = &c->cell[i];
		s.has_times |= isfinite(cell->base_ms) || isfinite(cell->target_ms) || isfinite(cell->change_pct);
		s.has_peak |= isfinite(comparison_peak_pct(c, cell->target_tflops, cell->target_mhz));
		s.by_bytes |= !s.has_flops && isfinite(cell->target_gb_s);
		s.has_since |= isfinite(cell->since_previous_pct);
	}
	s.unit = s.by_bytes ? (struct unit){ "GB/s", 1 } : comparison_unit(c);
	s.has_flops |= s.by_bytes;
	s.n_peers = comparison_peers(c, s.peer);
	s.columns += s.has_times ? COLUMNS_TIMED : 0;
	s.columns += s.has_flops + s.has_peak + s.has_since + s.n_peers;
	return s;
}

/* ---- head ---------------------------------------------------------------------------------------------------------- */

/* Columns with class "x" are also in the opened row, or in the table to download; narrow screens hide them first. */
static void draw_row_head(struct buf *out, const struct row_shape *shape, const char *sort, bool with_notes)
{
	enum { CHANGE = 2, FLOPS = 6, PEAK, PEERS_BEFORE, DETECTS };
	static const struct {
		const char *label, *by, *class, *note;
	} columns[] = {
		{ "Case", "case", "", "" },
		{ "Verdict", "verdict", "", "" },
		{ "Change", "change", "n",
			"of speed, the trimmed mean of paired ratios: the quotient of the two medians may differ a "
			"little; negative is "
			"slower" },
		{ "95 % interval", "", "n ci", "range of the change" },
		{ "Base ms", "base", "n ms", "" },
		{ "Target ms", "target", "n ms", "" },
		{ "TFLOP/s", "", "n w", "useful FLOPs of the target" },
		{ "% peak", "", "n x", "of the tensor cores' peak at the held clock" },
		{ "Since last", "", "n x", "against the push before this one, without a verdict" },
		{ "Detects", "", "n x", "smallest slowdown that these runs can detect" },
		{ "Runs", "", "n x", "sets of fresh processes that timed both sides" },
	};
	bool falling = *sort == '-';
	emit_raw(out, "<div class=scroll tabindex=0><table class=cells data-sorts data-filters><thead><tr>");
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
		for (int k = 0; i == PEERS_BEFORE && k < shape->n_peers; k++) {
			emit_format(out, "<th scope=col class=\"n x\"%-s",
				with_notes ? " title=\"throughput of the target in percent of this peer\u2019s\">% " : ">% ");
			emit_format(out, "%s</th>", shape->peer[k]);
		}
		if ((i == FLOPS && !shape->has_flops) || (i == PEAK && !shape->has_peak) ||
			(i == PEERS_BEFORE && !shape->has_since) ||
			(((i >= CHANGE && i < FLOPS) || i == DETECTS) && !shape->has_times))
			continue;
		bool bytes = i == FLOPS && shape->by_bytes;
		const char *by = columns[i].by, *label = i == FLOPS ? shape->unit.name : columns[i].label,
			   *note = bytes ? "bytes that the target must move" : columns[i].note;
		bool is_sorted = *by && strcmp(by, sort + falling) == 0;
		emit_raw(out, "<th scope=col");
		if (*columns[i].class)
			emit_rawf(out, " class=\"%s\"", columns[i].class);
		if (*by)
			emit_rawf(out, " data-sort=%s", by);
		if (is_sorted)
			emit_raw(out, falling ? " aria-sort=descending" : " aria-sort=ascending");
		if (*note && with_notes)
			emit_rawf(out, " title=\"%s\"", note);
		emit_raw(out, ">");
		if (*by)
			emit_rawf(out, "<a href=\"?sort=%s%s\">%s</a></th>", is_sorted && !falling ? "-" : "", by, label);
		else
			emit_rawf(out, "%s</th>", label);
	}
	emit_raw(out, "</tr></thead><tbody class=rows>\n");
}

/* ---- row ----------------------------------------------------------------------------------------------------------- */

static void draw_number(struct buf *out, double v, const char *class)
{
	if (isfinite(v))
		emit_rawf(out, "<td class=\"%s\" data-v=\"%.9g\">", class, v);
	else
		emit_rawf(out, "<td class=\"%s\">", class);
}

/* Draw the flags of a cell. */
static void draw_flags(struct buf *out, const struct comparison_cell *cell)
{
	static const struct {
		const char *name, *entry, *meaning;
	} known[] = {
		{ "borderline", "borderline", "decided at the last run, by its sign or its interval" },
		{ "overwhelming", "overwhelming",
			"chance produces such a change less than once in a million, so no second set of runs had to confirm it" },
		{ "tail", "tail", "slow calls became more frequent" },
		{ "sustained", "sustained", "in sustained runs, at the clock of its power draw" },
		{ "call", "call", "slower from an idle stream" },
		{ "enqueue", "enqueue", "the host takes longer to enqueue it" },
		{ "underpowered", "underpowered",
			"runs of equal builds vary too much here to detect a slowdown of the size of the threshold" },
		{ "noisy", "noisy", "its runs varied too much this time" },
		{ "clock", "clock-component", "the clock causes a share of the change" },
	};
	for (const char *flag = cell->flags; *flag; flag += strspn(flag, " ")) {
		size_t len = strcspn(flag, " ");
		for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
			if (strlen(known[k].name) == len && memcmp(flag, known[k].name, len) == 0)
				emit_rawf(out, "<a class=why href=/glossary#%s>%s</a>", known[k].entry, known[k].meaning);
		flag += len;
	}
}

static void draw_verdict(struct buf *out, enum jobkind kind, const struct comparison_cell *cell)
{
	emit_format(out, "<td>%s{verdict}%s{? *}", verdict_label(kind, cell->verdict), cell->failure);
	draw_flags(out, cell);
	char lacks[EXPLAIN_SIZE] = "";
	if (cell->verdict == VERDICT_UNDECIDED && !*cell->reason)
		explain_undecided(cell->ci_low_pct, cell->ci_high_pct, cell->threshold_pct, lacks);
	if (*cell->reason || *lacks)
		emit_format(out, "<span class=why>%s</span>", *cell->reason ? cell->reason : lacks);
	char host[EXPLAIN_SIZE] = "";
	if (comparison_is_program(cell))
		explain_host_bound(cell->enqueue_us, cell->target_ms, host);
	if (*host)
		emit_format(out, "<span class=why>%s</span>", host);
	emit_raw(out, "</td>");
}

static void draw_times(struct buf *out, const struct comparison_cell *cell)
{
	draw_number(out, cell->change_pct, "n");
	emit_format(out, "%f{decided %d}</td><td class=\"n ci\">", cell->change_pct, verdict_is_change(cell->verdict));
	if (isfinite(cell->ci_low_pct))
		emit_format(out, "%.2f{signed}\u00a0\u2026\u00a0%.2f{signed}", cell->ci_low_pct, cell->ci_high_pct);
	else
		emit_raw(out, "\u2013");
	emit_raw(out, "</td>");
	draw_number(out, cell->base_ms, "n ms");
	emit_format(out, "%f{ms}</td>", cell->base_ms);
	draw_number(out, cell->target_ms, "n ms");
	emit_format(out, "%f{ms}</td>", cell->target_ms);
}

/* Draw one cell. `open`: a row with its details follows; `directed`: its name includes its direction. */
static void draw_row(struct buf *out, const struct comparison *c, const struct row_shape *shape,
	const struct comparison_cell *cell, bool open, bool directed)
{
	double peak_pct = comparison_peak_pct(c, cell->target_tflops, cell->target_mhz);
	emit_format(out,
		"<tr id=c%d data-key=\"%s\"><th scope=row data-v=%d><a data-open aria-expanded=%-s href=\"?open=%d#c%d\">"
		"%s{case %s %lld}",
		cell->n, cell->key, cell->n, open ? "true" : "false", cell->n, cell->n, cell->key, cell->title,
		(long long)cell->size);
	if (directed)
		emit_format(out, " %s", cell->direction);
	emit_raw(out, "</a></th>");
	draw_verdict(out, c->kind, cell);
	if (shape->has_times)
		draw_times(out, cell);
	if (shape->has_flops) {
		emit_raw(out, "<td class=\"n w\">");
		layout_rate(out, shape->unit, shape->by_bytes ? cell->target_gb_s : cell->target_tflops);
		if (shape->by_bytes)
			comparison_above_peak(out, c, cell->target_gb_s);
		emit_raw(out, "</td>");
	}
	if (shape->has_peak)
		emit_format(out, "<td class=\"n x\">%.1f{known}</td>", peak_pct);
	for (int k = 0; k < shape->n_peers; k++)
		comparison_peer_column(out, cell, shape->peer[k]);
	if (shape->has_since)
		emit_format(out, "<td class=\"n x\">%f{change}</td>", cell->since_previous_pct);
	if (shape->has_times) {
		draw_number(out, cell->mde_pct, "n x");
		emit_rawf(out, isfinite(cell->mde_pct) ? "%.2f\u00a0%%</td>" : "\u2013</td>", cell->mde_pct);
	}
	emit_rawf(out, "<td class=\"n x\">%d</td></tr>\n", cell->runs);
}

/* ---- table ---- */

void comparison_group(struct buf *out, const char *group)
{
	const struct family_group *known = family_group(group);
	const char *title = known ? known->title : *group ? group : "Cells";
	const char first[] = { (char)(known ? toupper((unsigned char)title[0]) : title[0]), '\0' };
	emit_text(out, first);
	emit_text(out, title + 1);
}

/* ---- selection and order of rows ----------------------------------------------------------------------------------- */

/* Return whether every word of the filter occurs in the texts of the row. */
static bool holds_words(const struct comparison_cell *cell, const char *words)
{
	char text[512];
	snprintf(text, sizeof text, "%s %s %s %s %s", cell->key, verdict_name(cell->verdict), cell->title, cell->direction,
		cell->reason);
	for (const char *word = words + strspn(words, " "); *word; word += strspn(word, " ")) {
		size_t len = strcspn(word, " ");
		bool found = false;
		for (const char *at = text; *at && !found; at++)
			found = strncasecmp(at, word, len) == 0;
		if (!found)
			return false;
		word += len;
	}
	return true;
}

static bool is_shown(const struct comparison_cell *cell, const struct comparison_view *view)
{
	if (*view->show && (strcmp(view->show, "changed") == 0 ? comparison_is_quiet(cell->verdict)
							       : strcmp(view->show, verdict_name(cell->verdict)) != 0))
		return false;
	return !*view->find || holds_words(cell, view->find);
}

struct order {
	enum { BY_POSITION, BY_VERDICT, BY_CHANGE, BY_BASE, BY_TARGET } by;
	bool falling;
};

static struct order order_of(const char *sort)
{
	static const char *const names[] = {
		[BY_VERDICT] = "verdict", [BY_CHANGE] = "change", [BY_BASE] = "base", [BY_TARGET] = "target"
	};
	struct order order = { .by = BY_POSITION, .falling = *sort == '-' };
	for (unsigned by = BY_VERDICT; by <= BY_TARGET; by++)
		if (strcmp(sort + order.falling, names[by]) == 0)
			order.by = by;
	return order;
}

static double sort_value(const struct comparison_cell *cell, const struct order *order)
{
	return order->by == BY_CHANGE   ? cell->change_pct
	       : order->by == BY_BASE   ? cell->base_ms
	       : order->by == BY_TARGET ? cell->target_ms
					: cell->n;
}

/* Compare by the requested column; unknown values come last in either order. */
static bool is_before(const struct comparison_cell *a, const struct comparison_cell *b, const struct order *order)
{
	if (order->by == BY_VERDICT) {
		int alphabet = strcmp(verdict_name(a->verdict), verdict_name(b->verdict));
		return alphabet ? (alphabet < 0) != order->falling : a->n < b->n;
	}
	double x = sort_value(a, order), y = sort_value(b, order);
	if (isnan(x) || isnan(y))
		return isnan(y) && !isnan(x);
	return x == y ? a->n < b->n : (x < y) != order->falling;
}

struct table_rows {
	struct comparison_cell *row[COMPARISON_CELLS_MAX];
	int n;
};

struct tables {
	struct buf *out;
	const struct comparison *c;
	const struct comparison_view *view;
	struct row_shape shape;
	struct order order;
	int first[COMPARISON_CELLS_MAX]; /* by cell: the first cell of the same table */
	bool has_head;                   /* only the first table explains its columns */
	size_t head_at, head_len;        /* in `out`: the head above the rows, which is the same for all further tables */
	struct table_rows rows;
	comparison_open_fn *draw_open;
	void *arg;
	int shown;
};

/* Compare in the requested order; without one, changed cells by verdict and change, others in suite order. */
static bool comes_before(const struct tables *t, const struct comparison_cell *a, const struct comparison_cell *b)
{
	if (*t->view->sort || comparison_is_quiet(a->verdict))
		return is_before(a, b, &t->order);
	return a->verdict != b->verdict ? a->verdict < b->verdict
					: is_before(a, b, &(struct order){ BY_CHANGE, a->verdict == VERDICT_IMPROVEMENT });
}

/*
 * Collect the rows of one table, by a stable insertion sort, since there are few. `first` -1: those with a verdict other than
 * unchanged.
 */
static void gather(struct tables *t, int first)
{
	struct table_rows *out = &t->rows;
	out->n = 0;
	for (int i = 0; i < t->c->n_cells; i++) {
		struct comparison_cell *cell = &t->c->cell[i];
		if (comparison_is_quiet(cell->verdict) != (first >= 0) || (first >= 0 && t->first[i] != first) ||
			!is_shown(cell, t->view))
			continue;
		int at = out->n++;
		for (; at > 0 && comes_before(t, cell, out->row[at - 1]); at--)
			out->row[at] = out->row[at - 1];
		out->row[at] = cell;
	}
}

/* Assign cells to tables: cells with the same group and direction share one. */
static void find_tables(struct tables *t)
{
	for (int i = 0; i < t->c->n_cells; i++) {
		const struct comparison_cell *cell = &t->c->cell[i];
		int k = 0;
		while (k < i && (t->first[k] != k || strcmp(t->c->cell[k].direction, cell->direction) != 0 ||
					strcmp(t->c->cell[k].group, cell->group) != 0))
			k++;
		t->first[i] = k;
	}
}

static int worst_regression(const struct comparison *c)
{
	int worst = -1;
	for (int i = 0; i < c->n_cells; i++)
		if (c->cell[i].verdict == VERDICT_REGRESSION && (worst < 0 || c->cell[i].change_pct < c->cell[worst].change_pct))
			worst = i;
	return worst;
}

static bool is_open(const struct comparison *c, const struct comparison_cell *cell, const char *open)
{
	if (!*open)
		return cell->n == worst_regression(c);
	for (const char *at = open; isdigit((unsigned char)*at); at++) {
		char *end;
		if (strtol(at, &end, 10) == cell->n)
			return true;
		if (*(at = end) != '.')
			break;
	}
	return false;
}

/* ---- tables -------------------------------------------------------------------------------------------------------- */

static void draw_head(struct tables *t)
{
	struct buf *out = t->out;
	size_t at = out->len;
	if (t->head_len && buf_reserve(out, t->head_len)) {
		buf_append(out, out->data + t->head_at, t->head_len);
		return;
	}
	draw_row_head(out, &t->shape, t->view->sort, !t->has_head);
	if (t->has_head) {
		t->head_at = at;
		t->head_len = out->len - at;
	}
	t->has_head = true;
}

static int draw_table(struct tables *t, bool directed, struct fw_err *err)
{
	int result = 0;
	draw_head(t);
	for (int i = 0; result == 0 && i < t->rows.n; i++) {
		struct comparison_cell *cell = t->rows.row[i];
		bool open = is_open(t->c, cell, t->view->open);
		draw_row(t->out, t->c, &t->shape, cell, open, directed);
		if (open) {
			emit_rawf(t->out, "<tr data-of=c%d><td class=open colspan=%d>", cell->n, t->shape.columns);
			result = t->draw_open(t->arg, t->out, t->c, cell, err);
			emit_raw(t->out, "</td></tr>\n");
		}
	}
	emit_raw(t->out, "</tbody></table></div>");
	t->shown += t->rows.n;
	return result;
}

static int draw_changed(struct tables *t, struct fw_err *err)
{
	gather(t, -1);
	if (t->rows.n == 0)
		return 0;
	emit_rawf(t->out, "<section><h2>%s <small>%d of %d cells</small></h2>",
		comparison_is_side_by_side(t->c)       ? "Cells, slower ones first"
		: t->c->verdict == VERDICT_REGRESSION  ? "Slower cells, worst first"
		: t->c->verdict == VERDICT_IMPROVEMENT ? "Faster cells, best first"
						       : "Findings",
		t->rows.n, t->c->n_cells);
	int result = draw_table(t, true, err);
	emit_raw(t->out, "</section>\n");
	return result;
}

/* Summarise a folded table, and all cells of its group and direction, also changed ones. */
static void draw_summary(struct tables *t, const struct comparison_cell *like)
{
	double change[COMPARISON_CELLS_MAX], low = INFINITY, high = -INFINITY;
	int n = 0, n_elsewhere = 0;
	emit_raw(t->out, "<summary><b>");
	comparison_group(t->out, like->group);
	emit_format(t->out, " %s</b>: %d cell%-s", like->direction, t->rows.n, t->rows.n == 1 ? "" : "s");
	for (int i = 0; i < t->rows.n; i++) {
		double pct = t->rows.row[i]->change_pct;
		low = isfinite(pct) ? fmin(low, pct) : low;
		high = isfinite(pct) ? fmax(high, pct) : high;
	}
	if (isfinite(low))
		emit_format(t->out, ", %.2f{signed} \u2026 %.2f{signed}\u00a0%%", low, high);
	for (int i = 0; i < t->c->n_cells; i++) {
		const struct comparison_cell *cell = &t->c->cell[i];
		if (t->first[i] != like->n)
			continue;
		n_elsewhere += !comparison_is_quiet(cell->verdict);
		if (isfinite(cell->change_pct))
			change[n++] = cell->change_pct;
	}
	if (n > 1) {
		emit_rawf(t->out, n_elsewhere ? "; geometric mean of all %d " : "; geometric mean ", n);
		emit_format(t->out, "%.2f{signed}\u00a0%%", derive_geomean_pct(change, n));
	}
	emit_raw(t->out, "</summary>");
}

static bool is_unfolded(const struct tables *t)
{
	if (*t->view->show || *t->view->find || *t->view->sort)
		return true;
	for (int i = 0; i < t->rows.n; i++)
		if (is_open(t->c, t->rows.row[i], t->view->open))
			return true;
	return t->rows.n == t->c->n_cells; /* the page has no other rows */
}

static int draw_quiet(struct tables *t, struct fw_err *err)
{
	int result = 0, n = 0, all = 0;
	for (int i = 0; i < t->c->n_cells; i++)
		all += comparison_is_quiet(t->c->cell[i].verdict) && is_shown(&t->c->cell[i], t->view);
	for (int i = 0; result == 0 && i < t->c->n_cells; i++) {
		if (t->first[i] != i)
			continue;
		gather(t, i);
		if (t->rows.n == 0)
			continue;
		if (n++ == 0)
			emit_rawf(t->out, "<section><h2>Unchanged cells <small>%d of %d cells</small></h2>", all, t->c->n_cells);
		emit_rawf(t->out, "<details class=fold id=fold-%d%s>", i, is_unfolded(t) ? " open" : "");
		draw_summary(t, &t->c->cell[i]);
		result = draw_table(t, false, err);
		emit_raw(t->out, "</details>\n");
	}
	if (n)
		emit_raw(t->out, "</section>\n");
	return result;
}

int comparison_tables(struct buf *out, const struct comparison *c, const struct comparison_view *view,
	comparison_open_fn *draw_open, void *arg, struct fw_err *err)
{
	struct tables *t = mem_alloc(sizeof *t);
	*t = (struct tables){ .out = out, .c = c, .view = view, .draw_open = draw_open, .arg = arg };
	t->shape = row_shape(c);
	t->order = order_of(view->sort);
	find_tables(t);
	int result = draw_changed(t, err) || draw_quiet(t, err) ? -1 : 0;
	if (result == 0 && c->n_cells)
		emit_rawf(out,
			"<div id=no-match class=empty%s><p class=lead>No cell matches.</p><p><a href=\"/comparisons/%lld\">Show "
			"all %d</a></p></div>\n",
			t->shown ? " hidden" : "", (long long)c->id, c->n_cells);
	free(t);
	return result;
}
