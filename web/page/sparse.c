/* sparse.c - documented in internal.h. */
#include "web/page/internal.h"

#include <math.h>

void comparison_sparsity(struct buf *out, const struct comparison_cell *cell)
{
	static const char *const sides[] = { "base", "target" }, *const names[] = { "Base", "Target" };
	static const char *const expectations[] = { "base_expected", "target_expected" };
	const json_t *counted = json_object_get(cell->json, "sparsity");
	if (!json_is_object(counted))
		return;
	for (int i = 0; i < 2; i++) {
		const json_t *side = json_object_get(counted, sides[i]);
		const char *contradiction = comparison_text(side, "contradiction");
		emit_format(out, "<p><small>%-s: %s.</small>", names[i], comparison_text(side, "text"));
		const char *expected = comparison_text(json_object_get(cell->json, "over_baseline"), expectations[i]);
		if (*expected)
			emit_format(out, " <small>Times as fast as dense: %-s.</small>", expected);
		if (*contradiction)
			emit_format(out, " <b>%-s %s.</b>", names[i], contradiction);
		emit_raw(out, "</p>");
	}
	if (isfinite(cell->ideal_over_baseline))
		emit_rawf(out,
			"<p><small>Its work would make it %.3g times as fast as the case that it is compared with.</small></p>",
			cell->ideal_over_baseline);
}

void comparison_lengths(struct buf *out, const struct comparison *c)
{
	json_t *list = jsonr_tree(c->long_over_short.text, c->long_over_short.len), *line;
	size_t i;
	if (json_array_size(list) > 0) {
		emit_raw(out, "<div><h3>TFLOP/s of the longest over the shortest</h3>");
		layout_table(out, "Case|>Size|>Base|>Target");
		json_array_foreach(list, i, line)
		{
			emit_format(out,
				"<tr><th scope=row>%s, %s</th><td class=n>%.0f / %.0f</td><td class=n>%.2f{known}</td><td class=n>"
				"%.2f{known}</td></tr>\n",
				comparison_text(line, "title"), comparison_text(line, "direction"),
				comparison_number(line, "longest"), comparison_number(line, "shortest"),
				comparison_number(line, "base"), comparison_number(line, "target"));
		}
		layout_table_end(out);
		emit_raw(out, "</div>");
	}
	json_decref(list);
}

void comparison_against_dense(struct buf *out, const struct comparison *c)
{
	bool begun = false;
	for (int i = 0; i < c->n_cells; i++) {
		const struct comparison_cell *cell = &c->cell[i];
		if (!isfinite(cell->ideal_over_baseline))
			continue;
		if (!begun) {
			emit_raw(out, "<div><h3>Cells, times as fast as the one that they are compared with</h3>");
			layout_table(out, "Case|>Base|>Target|>By its work");
		}
		begun = true;
		emit_format(out,
			"<tr><th scope=row>%s{case %s %lld}, %s</th><td class=n>%.2f{known}</td><td class=n>%.2f{known}</td>"
			"<td class=n>%.2f{known}</td></tr>\n",
			cell->key, cell->title, (long long)cell->size, cell->direction, cell->base_over_baseline,
			cell->target_over_baseline, cell->ideal_over_baseline);
	}
	if (begun) {
		layout_table_end(out);
		emit_raw(out, "</div>");
	}
}
