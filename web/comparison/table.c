#include "web/comparison/table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "family/family.h"
#include "web/comparison/row.h"
#include "web/html/emit.h"
#include "web/html/layout.h"

void comparison_group(struct buf *out, const char *group)
{
	const struct family_group *known = family_group(group);
	char title[48];
	snprintf(title, sizeof title, "%s", known ? known->title : *group ? group : "Cells");
	title[0] = (char)(known ? toupper((unsigned char)title[0]) : title[0]);
	emit_text(out, title);
}

/* ---- which rows, in which order --------------------------------------------------------------------------------------- */

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
	if (strcmp(view->show, "changed") == 0 ? comparison_is_quiet(cell->verdict)
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
	struct comparison_cell *row[COMPARISON_CELLS_MAX];
	int n;
};

static bool is_of_table(const struct comparison_cell *a, const struct comparison_cell *b)
{
	return strcmp(a->group, b->group) == 0 && strcmp(a->direction, b->direction) == 0;
}

/* As asked for; else what is worst stands first where something happened, and the suite has its order where nothing did. */
static bool stands_before(const struct comparison_cell *a, const struct comparison_cell *b, const char *sort)
{
	if (*sort || comparison_is_quiet(a->verdict))
		return is_before(a, b, sort);
	return a->verdict != b->verdict ? a->verdict < b->verdict
					: is_before(a, b, a->verdict == VERDICT_IMPROVEMENT ? "-change" : "change");
}

/* Rows of one table, by insertion: there are few, and the order of equals stays. `like` NULL: those that something happened to. */
static void gather(
	const struct comparison *c, const struct comparison_cell *like, const struct comparison_view *view, struct rows *out)
{
	out->n = 0;
	for (int i = 0; i < c->n_cells; i++) {
		struct comparison_cell *cell = &c->cell[i];
		if (comparison_is_quiet(cell->verdict) != (like != NULL) || (like && !is_of_table(cell, like)) ||
			!is_shown(cell, view))
			continue;
		int at = out->n++;
		for (; at > 0 && stands_before(cell, out->row[at - 1], view->sort); at--)
			out->row[at] = out->row[at - 1];
		out->row[at] = cell;
	}
}

static bool is_first_of_table(const struct comparison *c, int i)
{
	for (int k = 0; k < i; k++)
		if (is_of_table(&c->cell[k], &c->cell[i]))
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

/* ---- the tables ------------------------------------------------------------------------------------------------------- */

struct tables {
	struct buf *out;
	const struct comparison *c;
	const struct comparison_view *view;
	struct row_shape shape;
	struct rows rows;
	comparison_open_fn *draw_open;
	void *arg;
	int shown;
};

static int table(struct tables *t, bool directed, struct fw_err *err)
{
	int result = 0;
	row_head(t->out, t->c, &t->shape, t->view->sort);
	for (int i = 0; result == 0 && i < t->rows.n; i++) {
		struct comparison_cell *cell = t->rows.row[i];
		bool open = is_open(t->c, cell, t->view->open);
		row_draw(t->out, t->c, &t->shape, cell, open, directed);
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

static int moved(struct tables *t, struct fw_err *err)
{
	gather(t->c, NULL, t->view, &t->rows);
	if (t->rows.n == 0)
		return 0;
	emit_rawf(t->out, "<section><h2>%s <small>%d of %d cells</small></h2>",
		t->c->verdict == VERDICT_REGRESSION    ? "What moved, the greatest loss first"
		: t->c->verdict == VERDICT_IMPROVEMENT ? "What moved, the greatest gain first"
						       : "What to look at",
		t->rows.n, t->c->n_cells);
	int result = table(t, true, err);
	emit_raw(t->out, "</section>\n");
	return result;
}

/* What a folded table holds, and all cells of its group and direction together: those that moved count there, too. */
static void summary(struct tables *t, const struct comparison_cell *like)
{
	double change[COMPARISON_CELLS_MAX], low = INFINITY, high = -INFINITY;
	int n = 0, n_elsewhere = 0;
	emit_raw(t->out, "<summary><b>");
	comparison_group(t->out, like->group);
	emit_raw(t->out, " ");
	emit_text(t->out, like->direction);
	emit_rawf(t->out, "</b>: %d cell%s", t->rows.n, t->rows.n == 1 ? "" : "s");
	for (int i = 0; i < t->rows.n; i++) {
		double pct = t->rows.row[i]->change_pct;
		low = isfinite(pct) ? fmin(low, pct) : low;
		high = isfinite(pct) ? fmax(high, pct) : high;
	}
	if (isfinite(low)) {
		emit_raw(t->out, ", ");
		layout_signed(t->out, low, 2);
		emit_raw(t->out, " \u2026 ");
		layout_signed(t->out, high, 2);
		emit_raw(t->out, "\u00a0%");
	}
	for (int i = 0; i < t->c->n_cells; i++) {
		const struct comparison_cell *cell = &t->c->cell[i];
		if (!is_of_table(cell, like))
			continue;
		n_elsewhere += !comparison_is_quiet(cell->verdict);
		if (isfinite(cell->change_pct))
			change[n++] = cell->change_pct;
	}
	if (n > 1) {
		emit_rawf(t->out, n_elsewhere ? "; geometric mean of all %d " : "; geometric mean ", n);
		layout_signed(t->out, derive_geomean_pct(change, n), 2);
		emit_raw(t->out, "\u00a0%");
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
	return t->rows.n == t->c->n_cells; /* there is nothing else to read */
}

static int quiet(struct tables *t, struct fw_err *err)
{
	int result = 0, n = 0, all = 0;
	for (int i = 0; i < t->c->n_cells; i++)
		all += comparison_is_quiet(t->c->cell[i].verdict) && is_shown(&t->c->cell[i], t->view);
	for (int i = 0; result == 0 && i < t->c->n_cells; i++) {
		if (!is_first_of_table(t->c, i))
			continue;
		gather(t->c, &t->c->cell[i], t->view, &t->rows);
		if (t->rows.n == 0)
			continue;
		if (n++ == 0)
			emit_rawf(t->out, "<section><h2>What stayed <small>%d of %d cells</small></h2>", all, t->c->n_cells);
		emit_rawf(t->out, "<details class=fold id=fold-%d%s>", i, is_unfolded(t) ? " open" : "");
		summary(t, &t->c->cell[i]);
		result = table(t, false, err);
		emit_raw(t->out, "</details>\n");
	}
	if (n)
		emit_raw(t->out, "</section>\n");
	return result;
}

int comparison_tables(struct buf *out, const struct comparison *c, const struct comparison_view *view,
	comparison_open_fn *draw_open, void *arg, struct fw_err *err)
{
	struct tables *t = malloc(sizeof *t);
	if (!t)
		return err_set(err, ERR_INTERNAL, "out of memory");
	*t = (struct tables){ .out = out, .c = c, .view = view, .shape = row_shape(c), .draw_open = draw_open, .arg = arg };
	int result = moved(t, err);
	if (result == 0)
		result = quiet(t, err);
	if (result == 0 && c->n_cells)
		emit_rawf(out,
			"<div id=no-match class=empty%s><p class=lead>No cell fits.</p><p><a href=\"/comparisons/%lld\">Show all "
			"%d</a></p></div>\n",
			t->shown ? " hidden" : "", (long long)c->id, c->n_cells);
	free(t);
	return result;
}
