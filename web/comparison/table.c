#include "core/suite/peers.h"
#include "web/comparison/table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "family/family.h"
#include "web/comparison/peer.h"
#include "web/html/emit.h"
#include "web/html/layout.h"
#include "web/html/mark.h"

void comparison_group(struct buf *out, const char *group)
{
	const struct family_group *known = family_group(group);
	char title[48];
	snprintf(title, sizeof title, "%s", known ? known->title : *group ? group : "Cells");
	title[0] = (char)(known ? toupper((unsigned char)title[0]) : title[0]);
	emit_text(out, title);
}

/* ---- which rows, in which order --------------------------------------------------------------------------------------- */

static bool is_quiet(enum verdict verdict)
{
	return verdict == VERDICT_UNCHANGED || verdict == VERDICT_IDENTICAL || verdict == VERDICT_UNSUPPORTED;
}

/* Every word stands somewhere in what the row shows. */
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
	if (strcmp(view->show, "changed") == 0 ? is_quiet(cell->verdict)
					       : *view->show && strcmp(view->show, verdict_name(cell->verdict)) != 0)
		return false;
	return !*view->find || holds_words(cell, view->find);
}

static double sort_value(const struct comparison_cell *cell, const char *by)
{
	return strcmp(by, "change") == 0   ? cell->change_pct
	       : strcmp(by, "base") == 0   ? cell->base_ms
	       : strcmp(by, "target") == 0 ? cell->target_ms
					   : cell->n;
}

/* Unknown values stand last either way. */
static bool is_before(const struct comparison_cell *a, const struct comparison_cell *b, const char *sort)
{
	bool falling = *sort == '-';
	const char *by = sort + falling;
	if (strcmp(by, "verdict") == 0) {
		int order = strcmp(verdict_name(a->verdict), verdict_name(b->verdict));
		return order ? (order < 0) != falling : a->n < b->n;
	}
	double x = sort_value(a, by), y = sort_value(b, by);
	if (isnan(x) || isnan(y))
		return isnan(y) && !isnan(x);
	return x == y ? a->n < b->n : (x < y) != falling;
}

struct rows {
	const struct comparison_cell *row[COMPARISON_CELLS_MAX];
	int n;
};

/* Rows of one table, by insertion: there are few, and the order of equals stays. */
static void gather(
	const struct comparison *c, const struct comparison_cell *like, const struct comparison_view *view, struct rows *out)
{
	out->n = 0;
	for (int i = 0; i < c->n_cells; i++) {
		const struct comparison_cell *cell = &c->cell[i];
		if (strcmp(cell->group, like->group) != 0 || strcmp(cell->direction, like->direction) != 0 ||
			!is_shown(cell, view))
			continue;
		int at = out->n++;
		for (; at > 0 && is_before(cell, out->row[at - 1], view->sort); at--)
			out->row[at] = out->row[at - 1];
		out->row[at] = cell;
	}
}

static bool is_first_of_table(const struct comparison *c, int i)
{
	for (int k = 0; k < i; k++)
		if (strcmp(c->cell[k].group, c->cell[i].group) == 0 && strcmp(c->cell[k].direction, c->cell[i].direction) == 0)
			return false;
	return true;
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

/* ---- one table -------------------------------------------------------------------------------------------------------- */

/* Columns that not every comparison has. */
struct shape {
	bool has_flops, has_peak, has_since;
	int n_peers;
	const char *peer[COMPARISON_PEERS_MAX];
	int columns;
	double scale_pct; /* of the drawn intervals, shared by all tables of the page */
};

static struct shape shape_of(const struct comparison *c)
{
	struct shape s = { .columns = 8, .has_flops = comparison_has_flops(c) };
	double most = 0, threshold = 0;
	for (int i = 0; i < c->n_cells; i++) {
		const struct comparison_cell *cell = &c->cell[i];
		s.has_peak |= isfinite(comparison_peak_pct(c, cell->target_tflops, cell->target_mhz));
		s.has_since |= isfinite(cell->since_previous_pct);
		if (isfinite(cell->ci_low_pct))
			most = fmax(most, fmax(fabs(cell->ci_low_pct), fabs(cell->ci_high_pct)));
		if (isfinite(cell->threshold_pct))
			threshold = fmax(threshold, cell->threshold_pct);
	}
	s.n_peers = comparison_peers(c, s.peer);
	s.columns += s.has_flops + s.has_peak + s.has_since + s.n_peers;
	/* the threshold stays visible: a change of half the speed must not squeeze the others into one point */
	s.scale_pct = fmin(fmax(most * 1.05, threshold * 1.6), fmax(threshold, 0.5) * 2.2);
	return s;
}

static void head(struct buf *out, const struct comparison *c, const struct shape *s, const char *sort)
{
	static const struct {
		const char *label, *by, *class, *note;
	} columns[] = {
		{ "Case", "case", "", "" },
		{ "Verdict", "verdict", "", "" },
		{ "Change", "change", "n",
			"of speed, the middle of paired ratios: the quotient of the two medians may read a little "
			"otherwise; negative is "
			"slower" },
		{ "95 % interval", "", "w", "dashed: the threshold; the axis is the same in all tables of this page" },
		{ "Sees from", "", "n w", "the smallest loss that these launches would have called" },
		{ "Base ms", "base", "n w", "" },
		{ "Target ms", "target", "n w", "" },
		{ "TFLOP/s", "", "n w", "useful FLOPs of the target" },
		{ "% peak", "", "n w", "of the tensor cores' peak at the clock that was held" },
		{ "Since last", "", "n w", "against the push before this one, without a verdict" },
		{ "Launches", "", "n w", "fresh processes that timed both sides" },
	};
	bool falling = *sort == '-';
	emit_raw(out, "<div class=scroll tabindex=0><table data-sorts data-filters><thead><tr>");
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
		for (int k = 0; i == 9 && k < s->n_peers; k++) {
			emit_raw(out, "<th scope=col class=\"n w\" title=\"throughput of the target in percent of this "
				      "peer\u2019s\">% ");
			emit_text(out, s->peer[k]);
			emit_raw(out, "</th>");
		}
		if ((i == 7 && !s->has_flops) || (i == 8 && !s->has_peak) || (i == 9 && !s->has_since))
			continue;
		const char *by = columns[i].by;
		bool is_sorted = *by && strcmp(by, sort + falling) == 0;
		emit_rawf(out, "<th scope=col class=\"%s\"", columns[i].class);
		if (*by)
			emit_rawf(out, " data-sort=%s", by);
		if (is_sorted)
			emit_raw(out, falling ? " aria-sort=descending" : " aria-sort=ascending");
		if (*columns[i].note)
			emit_rawf(out, " title=\"%s\"", columns[i].note);
		emit_raw(out, ">");
		if (*by)
			emit_rawf(out, "<a href=\"/comparisons/%lld?sort=%s%s\">%s</a></th>", (long long)c->id,
				is_sorted && !falling ? "-" : "", by, columns[i].label);
		else
			emit_rawf(out, "%s</th>", columns[i].label);
	}
	emit_raw(out, "</tr></thead><tbody>\n");
}

static void number(struct buf *out, double v, const char *class)
{
	if (isfinite(v))
		emit_rawf(out, "<td class=\"%s\" data-v=\"%.9g\">", class, v);
	else
		emit_rawf(out, "<td class=\"%s\">", class);
}

/* What a person has to know beside the verdict, each word with what it means. */
static void flags(struct buf *out, const struct comparison_cell *cell)
{
	static const struct {
		const char *word, *label, *meaning;
	} known[] = {
		{ "borderline", "borderline", "decided by its sign at the last launch" },
		{ "tail", "more slow calls", "the typical call did not move, slow calls became more frequent: open the row" },
		{ "sustained", "in bursts",
			"decided back to back, where each side settles at the clock that its own power draw allows" },
		{ "call", "slower from the host", "a call from an idle stream, host time included, became slower" },
		{ "enqueue", "enqueue costs more", "the host works longer to start it" },
		{ "blind", "blind",
			"launches of equal builds scatter too much here to see the threshold: a loss has to be clear" },
		{ "noisy", "noisy",
			"its launches scattered too much this time; what is asked for by a push is asked again once by itself" },
		{ "clock", "moves the clock", "a part of the change is what it does to the clock: open the row" },
	};
	for (const char *word = cell->flags; *word; word += strspn(word, " ")) {
		size_t len = strcspn(word, " ");
		for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
			if (strlen(known[k].word) == len && memcmp(word, known[k].word, len) == 0)
				emit_rawf(out, " <small title=\"%s\">%s</small>", known[k].meaning, known[k].label);
		word += len;
	}
}

static void verdict(struct buf *out, enum jobkind kind, const struct comparison_cell *cell)
{
	emit_raw(out, "<td>");
	layout_verdict(out, verdict_word(kind, cell->verdict));
	if (*cell->failure) {
		emit_raw(out, " ");
		emit_text(out, cell->failure);
	}
	flags(out, cell);
	if (comparison_is_reconfigured(cell)) {
		emit_raw(out, "<span class=why>configuration: ");
		emit_text(out, cell->base_config);
		emit_raw(out, " \u2192 ");
		emit_text(out, cell->target_config);
		emit_raw(out, "</span>");
	}
	if (*cell->reason) {
		emit_raw(out, "<span class=why>");
		emit_text(out, cell->reason);
		emit_raw(out, "</span>");
	}
	emit_raw(out, "</td>");
}

static void row(struct buf *out, const struct comparison *c, const struct shape *s, const struct comparison_cell *cell, bool open)
{
	double peak_pct = comparison_peak_pct(c, cell->target_tflops, cell->target_mhz);
	emit_rawf(out, "<tr id=c%d data-key=\"", cell->n);
	emit_attribute(out, cell->key);
	emit_rawf(out, "\"><th scope=row data-v=%d><a data-open aria-expanded=%s href=\"/comparisons/%lld?open=%d#c%d\">",
		cell->n, open ? "true" : "false", (long long)c->id, cell->n, cell->n);
	layout_case(out, cell->key, cell->title, cell->size);
	emit_raw(out, "</a></th>");
	verdict(out, c->kind, cell);
	number(out, cell->change_pct, "n");
	layout_change(out, cell->change_pct);
	emit_raw(out, "</td><td class=\"n w\">");
	mark_interval(out, layout_tone(verdict_word(c->kind, cell->verdict)), cell->change_pct, cell->ci_low_pct,
		cell->ci_high_pct, cell->threshold_pct, s->scale_pct);
	if (isfinite(cell->ci_low_pct)) {
		emit_raw(out, "\u2002");
		layout_signed(out, cell->ci_low_pct, 2);
		emit_raw(out, " \u2026 ");
		layout_signed(out, cell->ci_high_pct, 2);
	} else {
		emit_raw(out, "\u2013");
	}
	emit_raw(out, "</td>");
	number(out, cell->mde_pct, "n w");
	emit_rawf(out, isfinite(cell->mde_pct) ? "%.2f\u00a0%%" : "\u2013", cell->mde_pct);
	emit_raw(out, "</td>");
	number(out, cell->base_ms, "n w");
	layout_ms(out, cell->base_ms);
	emit_raw(out, "</td>");
	number(out, cell->target_ms, "n w");
	layout_ms(out, cell->target_ms);
	emit_raw(out, "</td>");
	if (s->has_flops) {
		emit_raw(out, "<td class=\"n w\">");
		layout_tflops(out, cell->target_tflops);
		emit_raw(out, "</td>");
	}
	if (s->has_peak) {
		emit_rawf(out, isfinite(peak_pct) ? "<td class=\"n w\">%.1f</td>" : "<td class=\"n w\">\u2013</td>", peak_pct);
	}
	for (int k = 0; k < s->n_peers; k++)
		comparison_peer_column(out, cell, s->peer[k]);
	if (s->has_since) {
		emit_raw(out, "<td class=\"n w\">");
		layout_change(out, cell->since_previous_pct);
		emit_raw(out, "</td>");
	}
	emit_rawf(out, "<td class=\"n w\">%d</td></tr>\n", cell->launches);
}

static void geomean_row(struct buf *out, const struct rows *rows, const struct shape *s)
{
	double change[COMPARISON_CELLS_MAX];
	int n = 0;
	for (int i = 0; i < rows->n; i++)
		if (isfinite(rows->row[i]->change_pct))
			change[n++] = rows->row[i]->change_pct;
	if (n < 2)
		return;
	emit_rawf(out, "<tfoot><tr><th scope=row>Geometric mean of %d</th><td>no verdict</td><td class=n>", n);
	layout_change(out, derive_geomean_pct(change, n));
	emit_rawf(out, "</td><td class=w colspan=%d></td></tr></tfoot>", s->columns - 3);
}

int comparison_tables(struct buf *out, const struct comparison *c, const struct comparison_view *view,
	int (*draw_open)(
		void *arg, struct buf *out, const struct comparison *c, struct comparison_cell *cell, struct fw_err *err),
	void *arg, struct fw_err *err)
{
	struct shape shape = shape_of(c);
	struct rows *rows = malloc(sizeof *rows);
	int result = rows ? 0 : err_set(err, ERR_INTERNAL, "out of memory"), shown = 0;
	for (int i = 0; result == 0 && i < c->n_cells; i++) {
		if (!is_first_of_table(c, i))
			continue;
		gather(c, &c->cell[i], view, rows);
		if (rows->n == 0)
			continue;
		shown += rows->n;
		emit_raw(out, "<section><h2>");
		comparison_group(out, c->cell[i].group);
		emit_raw(out, " ");
		emit_text(out, c->cell[i].direction);
		emit_raw(out, "</h2>");
		head(out, c, &shape, view->sort);
		for (int k = 0; result == 0 && k < rows->n; k++) {
			bool open = is_open(c, rows->row[k], view->open);
			row(out, c, &shape, rows->row[k], open);
			if (open) {
				emit_rawf(out, "<tr data-of=c%d><td class=open colspan=%d>", rows->row[k]->n, shape.columns);
				result = draw_open(arg, out, c, &c->cell[rows->row[k]->n], err);
				emit_raw(out, "</td></tr>\n");
			}
		}
		emit_raw(out, "</tbody>");
		geomean_row(out, rows, &shape);
		emit_raw(out, "</table></div></section>\n");
	}
	if (result == 0 && c->n_cells)
		emit_rawf(out,
			"<div id=no-match class=empty%s><p class=lead>No cell fits.</p><p><a href=\"/comparisons/%lld\">Show all "
			"%d</a></p></div>\n",
			shown ? " hidden" : "", (long long)c->id, c->n_cells);
	free(rows);
	return result;
}
