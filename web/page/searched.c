/* searched.c - see searched.c. */
#include "web/page/internal.h"

#include "web/html/html.h"

static void row(struct buf *out, const json_t *tried, const char *chosen)
{
	const char *config = comparison_text(tried, "config");
	double ms = comparison_number(tried, "ms");
	emit_raw(out, "<tr><th scope=row><code>");
	emit_text(out, config);
	emit_rawf(out, "</code>%s</th><td class=n>", strcmp(config, chosen) == 0 ? " <b>chosen</b>" : "");
	if (isfinite(ms))
		layout_ms(out, ms);
	else
		emit_raw(out, "\u2013");
	emit_raw(out, "</td></tr>\n");
}

static void side(struct buf *out, const char *name, const json_t *tried, const char *chosen)
{
	static const char *const columns[] = { "Configuration", ">A call, as reported" };
	const json_t *list = json_object_get(tried, "list"), *one;
	double of = comparison_number(tried, "of");
	size_t i;
	if (json_array_size(list) == 0)
		return;
	emit_rawf(out, "<details><summary>%s tried %.0f configuration%s", name, of, of == 1 ? "" : "s");
	if ((double)json_array_size(list) < of)
		emit_rawf(out, "; %zu of them", json_array_size(list));
	emit_raw(out, "</summary>");
	layout_table(out, 2, columns);
	json_array_foreach(list, i, one) row(out, one, chosen);
	layout_table_end(out);
	emit_raw(out, "</details>\n");
}

void searched_draw(struct buf *out, const struct comparison_cell *cell)
{
	const json_t *tried = json_object_get(cell->json, "tried");
	side(out, "Base", json_object_get(tried, "base"), cell->base_config);
	side(out, "Target", json_object_get(tried, "target"), cell->target_config);
}
