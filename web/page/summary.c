/* summary.c - what a person works out from the cells by hand otherwise; none of it is judged. */
#include <stdlib.h>

#include "web/html/html.h"
#include "web/page/internal.h"

/* The other direction of the same case; NULL: there is none. */
static const struct comparison_cell *backward_of(const struct comparison *c, const struct comparison_cell *forward)
{
	size_t stem = strlen(forward->key) - strlen("forward");
	for (int i = 0; i < c->n_cells; i++)
		if (strcmp(c->cell[i].direction, "backward") == 0 && strncmp(c->cell[i].key, forward->key, stem) == 0 &&
			strcmp(c->cell[i].key + stem, "backward") == 0)
			return &c->cell[i];
	return NULL;
}

static bool is_forward(const struct comparison_cell *cell)
{
	size_t len = strlen(cell->key);
	return strcmp(cell->direction, "forward") == 0 && len > 7 && strcmp(cell->key + len - 7, "forward") == 0;
}

static void figures(struct buf *out, double base_ms, double target_ms)
{
	emit_raw(out, "<td class=\"n w\">");
	layout_ms(out, base_ms);
	emit_raw(out, "</td><td class=n>");
	layout_ms(out, target_ms);
	emit_raw(out, "</td><td class=n>");
	layout_change(out, derive_change_pct(base_ms, target_ms));
	emit_raw(out, "</td></tr>\n");
}

static void totals(struct buf *out, const struct comparison *c)
{
	static const char *const columns[] = { "Forward and backward of", "~>Base ms", ">Target ms", ">Change" };
	bool begun = false;
	double base_sum = 0, target_sum = 0;
	for (int i = 0; i < c->n_cells; i++) {
		const struct comparison_cell *forward = &c->cell[i],
					     *backward = is_forward(forward) ? backward_of(c, forward) : NULL;
		if (!backward || !isfinite(forward->base_ms + forward->target_ms + backward->base_ms + backward->target_ms))
			continue;
		if (!begun) {
			emit_raw(out, "<div>");
			layout_table(out, 4, columns);
		}
		begun = true;
		double base_ms = forward->base_ms + backward->base_ms, target_ms = forward->target_ms + backward->target_ms;
		emit_raw(out, "<tr><th scope=row>");
		layout_case(out, forward->key, forward->title, forward->size);
		emit_raw(out, "</th>");
		figures(out, base_ms, target_ms);
		base_sum += base_ms;
		target_sum += target_ms;
	}
	if (!begun)
		return;
	emit_raw(out, "</tbody><tfoot><tr><th scope=row>All of them</th>");
	figures(out, base_sum, target_sum);
	emit_raw(out, "</tfoot></table></div></div>\n");
}

/* ---- t = a + b x pieces ------------------------------------------------------------------------------------------------ */

/* Pieces of a cell's work: as the module counted them, else as its family does. */
static double pieces_of(const struct comparison_cell *cell)
{
	return isfinite(cell->blocks_kept) && cell->blocks_kept > 0 ? cell->blocks_kept : cell->pieces;
}

static void fit_line(struct buf *out, const double *x, const double *ms, int n)
{
	double a, b;
	if (derive_line(x, ms, n, &a, &b) != 0) {
		emit_raw(out, "<td class=n>\u2013</td><td class=n>\u2013</td>");
		return;
	}
	emit_rawf(out, "<td class=n>");
	layout_signed(out, a, 3);
	emit_rawf(out, "</td><td class=n>%.4g</td>", b * 1e6);
}

/* Cells that differ only in how many pieces they have lie on one line: what a call costs at all, and what a piece costs. */
static void fits(struct buf *out, const struct comparison *c)
{
	size_t room = (size_t)c->n_cells + 1;
	double *x = calloc(3 * room, sizeof *x), *base = x + room, *target = base + room;
	bool begun = false;
	if (!x) {
		emit_raw(out, "<p>The lines of sparse cells could not be worked out: out of memory.</p>");
		return;
	}
	for (int i = 0; i < c->n_cells; i++) {
		const struct comparison_cell *like = &c->cell[i];
		int n = 0;
		bool is_first = *like->line != '\0';
		for (int k = 0; k < c->n_cells && is_first; k++) {
			const struct comparison_cell *cell = &c->cell[k];
			if (strcmp(cell->line, like->line) != 0 || cell->size != like->size ||
				strcmp(cell->group, like->group) != 0 || strcmp(cell->direction, like->direction) != 0)
				continue;
			is_first = k >= i;
			if (isfinite(cell->base_ms + cell->target_ms)) {
				x[n] = pieces_of(cell);
				base[n] = cell->base_ms;
				target[n++] = cell->target_ms;
			}
		}
		if (!is_first || n < 2)
			continue;
		if (!begun)
			emit_raw(out,
				"<div><div class=scroll tabindex=0><table><caption>Sparse cells as a line, t = a + b \u00d7 kept "
				"blocks: the fixed cost of a call, and the cost of a block</caption><thead><tr><th scope=col>Line</th><th "
				"scope=col "
				"class=n>Base a, ms</th><th scope=col class=n>b, ns</th><th scope=col class=n>Target a, "
				"ms</th><th "
				"scope=col class=n>b, ns</th></tr></thead><tbody>\n");
		begun = true;
		emit_raw(out, "<tr><th scope=row>");
		emit_text(out, like->line);
		emit_raw(out, ", ");
		emit_text(out, like->direction);
		emit_rawf(out, "<span class=dim>, %d cells</span></th>", n);
		fit_line(out, x, base, n);
		fit_line(out, x, target, n);
		emit_raw(out, "</tr>\n");
	}
	free(x);
	if (begun)
		emit_raw(out, "</tbody></table></div></div>\n");
}

void comparison_summary(struct buf *out, const struct comparison *c)
{
	struct buf part;
	buf_init(&part, 1 << 20);
	totals(&part, c);
	fits(&part, c);
	comparison_beside_dense(&part, c);
	comparison_lengths(&part, c);
	if (part.len) {
		emit_raw(out, "<section><h2>In sum <small>without a verdict</small></h2><div class=\"cards wide\">");
		buf_append(out, part.data, part.len);
		emit_raw(out, "</div></section>\n");
	}
	buf_fini(&part);
}
