#include "web/page/internal.h"

#include "web/html/html.h"

static void ms(struct buf *out, double v)
{
	emit_rawf(out, isfinite(v) ? "<td class=n>%.4g</td>" : "<td class=n>\u2013</td>", v);
}

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
			return; /* bars of some of them would lie about the whole */
		part[n].name = comparison_text(phase, "phase");
		part[n].base_ms = comparison_number(phase, "base_ms");
		part[n].target_ms = comparison_number(phase, "target_ms");
		part[n].moved = cause && strcmp(cause, part[n].name) == 0;
		n++;
	}
	stack_draw(out, part, n);
}

void phases_draw(struct buf *out, struct comparison_cell *cell)
{
	static const char *const columns[] = { "Phase", ">Base ms", ">Target ms", ">Change", "~>95 % interval" };
	const json_t *phase, *list = json_object_get(cell->json, "phases");
	const char *cause = comparison_cause(cell);
	size_t i;
	emit_raw(out, "<div><h3>Phases</h3>");
	if (json_array_size(list) == 0) {
		emit_raw(out, "<p><small>No phase was timed separately.</small></p></div>");
		return;
	}
	draw_phases(out, list, cause);
	layout_table(out, 5, columns);
	json_array_foreach(list, i, phase)
	{
		const char *name = comparison_text(phase, "phase");
		double low = comparison_number(phase, "ci_low_pct"), high = comparison_number(phase, "ci_high_pct");
		emit_raw(out, "<tr><th scope=row>");
		emit_text(out, name);
		if (cause && strcmp(cause, name) == 0)
			emit_raw(out, " <span class=\"v bad\"><i aria-hidden=true>\u25c0</i>moved</span>");
		emit_raw(out, "</th>");
		ms(out, comparison_number(phase, "base_ms"));
		ms(out, comparison_number(phase, "target_ms"));
		emit_raw(out, "<td class=n>");
		layout_change(out, comparison_number(phase, "change_pct"));
		emit_raw(out, "</td><td class=\"n w\">");
		if (isfinite(low)) {
			layout_signed(out, low, 2);
			emit_raw(out, " \u2026 ");
			layout_signed(out, high, 2);
		} else {
			emit_raw(out, "\u2013");
		}
		emit_raw(out, "</td></tr>\n");
	}
	layout_table_end(out);
	if (!cause)
		emit_raw(out,
			"<p><small>No phase is named as the cause: none has an interval that leaves out 0 and covers half of the "
			"change.</small></p>");
	emit_raw(out, "</div>");
}
