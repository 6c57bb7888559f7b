#include "web/page/internal.h"

#include "verdict/verdict.h"
#include "web/html/html.h"

struct row_shape row_shape(const struct comparison *c)
{
	struct row_shape s = { .columns = 8, .has_flops = comparison_has_flops(c) };
	for (int i = 0; i < c->n_cells; i++) {
		const struct comparison_cell *cell = &c->cell[i];
		s.has_peak |= isfinite(comparison_peak_pct(c, cell->target_tflops, cell->target_mhz));
		s.by_bytes |= !s.has_flops && isfinite(cell->target_gb_s);
		s.has_since |= isfinite(cell->since_previous_pct);
	}
	s.unit = s.by_bytes ? (struct unit){ "GB/s", 1 } : comparison_unit(c);
	s.has_flops |= s.by_bytes;
	s.n_peers = comparison_peers(c, s.peer);
	s.columns += s.has_flops + s.has_peak + s.has_since + s.n_peers;
	return s;
}

/* ---- head ------------------------------------------------------------------------------------------------------------- */

/* What is "x" stands in the opened row too, or in the table to download, and gives way first. */
void row_head(struct buf *out, const struct row_shape *shape, const char *sort, bool with_notes)
{
	enum { FLOPS = 6, PEAK, PEERS_BEFORE };
	static const struct {
		const char *label, *by, *class, *note;
	} columns[] = {
		{ "Case", "case", "", "" },
		{ "Verdict", "verdict", "", "" },
		{ "Change", "change", "n",
			"of speed, the middle of paired ratios: the quotient of the two medians may read a little "
			"otherwise; negative is "
			"slower" },
		{ "95 % interval", "", "n ci", "range of the change" },
		{ "Base ms", "base", "n ms", "" },
		{ "Target ms", "target", "n ms", "" },
		{ "TFLOP/s", "", "n w", "useful FLOPs of the target" },
		{ "% peak", "", "n x", "of the tensor cores' peak at the clock that was held" },
		{ "Since last", "", "n x", "against the push before this one, without a verdict" },
		{ "Loss it calls", "", "n x", "smallest loss that these runs can detect" },
		{ "Runs", "", "n x", "sets of fresh processes that timed both sides" },
	};
	bool falling = *sort == '-';
	emit_raw(out, "<div class=scroll tabindex=0><table class=cells data-sorts data-filters><thead><tr>");
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
		for (int k = 0; i == PEERS_BEFORE && k < shape->n_peers; k++) {
			emit_raw(out, "<th scope=col class=\"n x\"");
			emit_raw(out,
				with_notes ? " title=\"throughput of the target in percent of this peer\u2019s\">% " : ">% ");
			emit_text(out, shape->peer[k]);
			emit_raw(out, "</th>");
		}
		if ((i == FLOPS && !shape->has_flops) || (i == PEAK && !shape->has_peak) ||
			(i == PEERS_BEFORE && !shape->has_since))
			continue;
		bool bytes = i == FLOPS && shape->by_bytes;
		const char *by = columns[i].by, *label = i == FLOPS ? shape->unit.name : columns[i].label,
			   *note = bytes ? "bytes that the target has to move" : columns[i].note;
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
	emit_raw(out, "</tr></thead><tbody>\n");
}

/* ---- one row ---------------------------------------------------------------------------------------------------------- */

static void number(struct buf *out, double v, const char *class)
{
	if (isfinite(v))
		emit_rawf(out, "<td class=\"%s\" data-v=\"%.9g\">", class, v);
	else
		emit_rawf(out, "<td class=\"%s\">", class);
}

/* What a person has to know beside the verdict. */
static void flags(struct buf *out, const struct comparison_cell *cell)
{
	static const struct {
		const char *word, *entry, *says;
	} known[] = {
		{ "borderline", "borderline", "decided at the last run, by its sign or its interval" },
		{ "overwhelming", "overwhelming", "decided at once: chance shows as much less than once in a million" },
		{ "tail", "tail", "slow calls became more frequent" },
		{ "sustained", "sustained", "in sustained runs, at the clock of its power draw" },
		{ "call", "call", "slower from the host" },
		{ "enqueue", "enqueue", "the host works longer to start it" },
		{ "underpowered", "underpowered", "runs of equal builds vary too much here to show a loss of the threshold" },
		{ "noisy", "noisy", "its runs varied too much this time" },
		{ "clock", "clock-part", "the clock causes a part of the change" },
	};
	for (const char *word = cell->flags; *word; word += strspn(word, " ")) {
		size_t len = strcspn(word, " ");
		for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
			if (strlen(known[k].word) == len && memcmp(word, known[k].word, len) == 0)
				emit_rawf(out, "<a class=why href=/glossary#%s>%s</a>", known[k].entry, known[k].says);
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
	char lacks[EXPLAIN_SIZE] = "";
	if (cell->verdict == VERDICT_UNDECIDED && !*cell->reason)
		explain_undecided(cell->ci_low_pct, cell->ci_high_pct, cell->threshold_pct, lacks);
	if (*cell->reason || *lacks) {
		emit_raw(out, "<span class=why>");
		emit_text(out, *cell->reason ? cell->reason : lacks);
		emit_raw(out, "</span>");
	}
	emit_raw(out, "</td>");
}

void row_draw(struct buf *out, const struct comparison *c, const struct row_shape *shape, const struct comparison_cell *cell,
	bool open, bool directed)
{
	double peak_pct = comparison_peak_pct(c, cell->target_tflops, cell->target_mhz);
	emit_rawf(out, "<tr id=c%d data-key=\"", cell->n);
	emit_attribute(out, cell->key);
	emit_rawf(out, "\"><th scope=row data-v=%d><a data-open aria-expanded=%s href=\"?open=%d#c%d\">", cell->n,
		open ? "true" : "false", cell->n, cell->n);
	layout_case(out, cell->key, cell->title, cell->size);
	if (directed) {
		buf_putc(out, ' ');
		emit_text(out, cell->direction);
	}
	emit_raw(out, "</a></th>");
	verdict(out, c->kind, cell);
	number(out, cell->change_pct, "n");
	layout_decided(out, cell->change_pct, verdict_is_change(cell->verdict));
	emit_raw(out, "</td><td class=\"n ci\">");
	if (isfinite(cell->ci_low_pct)) {
		layout_signed(out, cell->ci_low_pct, 2);
		emit_raw(out, "\u00a0\u2026\u00a0");
		layout_signed(out, cell->ci_high_pct, 2);
	} else {
		emit_raw(out, "\u2013");
	}
	emit_raw(out, "</td>");
	number(out, cell->base_ms, "n ms");
	layout_ms(out, cell->base_ms);
	emit_raw(out, "</td>");
	number(out, cell->target_ms, "n ms");
	layout_ms(out, cell->target_ms);
	emit_raw(out, "</td>");
	if (shape->has_flops) {
		emit_raw(out, "<td class=\"n w\">");
		layout_rate(out, shape->unit, shape->by_bytes ? cell->target_gb_s : cell->target_tflops);
		if (shape->by_bytes)
			comparison_above_peak(out, c, cell->target_gb_s);
		emit_raw(out, "</td>");
	}
	if (shape->has_peak) {
		emit_rawf(out, isfinite(peak_pct) ? "<td class=\"n x\">%.1f</td>" : "<td class=\"n x\">\u2013</td>", peak_pct);
	}
	for (int k = 0; k < shape->n_peers; k++)
		comparison_peer_column(out, cell, shape->peer[k]);
	if (shape->has_since) {
		emit_raw(out, "<td class=\"n x\">");
		layout_change(out, cell->since_previous_pct);
		emit_raw(out, "</td>");
	}
	number(out, cell->mde_pct, "n x");
	emit_rawf(out, isfinite(cell->mde_pct) ? "%.2f\u00a0%%" : "\u2013", cell->mde_pct);
	emit_rawf(out, "</td><td class=\"n x\">%d</td></tr>\n", cell->runs);
}
