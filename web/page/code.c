/* code.c - see code.c. */
#include "web/page/internal.h"

#include "profile/profile.h"
#include "web/html/html.h"

enum { STALLS_SHOWN = 8 };

static bool is_same(const struct cause_code *c)
{
	return strcmp(c->what, "same") == 0;
}

static void takes(struct buf *out, const char *name, int base, int target)
{
	if (base >= 0 && target >= 0 && base != target)
		emit_rawf(out, ", %s %d \u2192 %d", name, base, target);
}

/* The instructions of one side at which its warps were seen most. */
static void stalls_of(struct buf *out, const struct why_stalls *s, const char *side)
{
	for (size_t i = 0; i < s->n && i < STALLS_SHOWN && s->samples > 0; i++) {
		const struct why_stall *l = &s->line[i];

		emit_rawf(out, "<tr><td>%s</td><th scope=row><code>%04lx</code></th><td class=wrap><code>", side, l->offset);
		emit_text(out, *l->text ? l->text : "\u2013");
		emit_rawf(out, "</code></td><td class=n>%.1f</td><td>", 100.0 * (double)l->samples / (double)s->samples);
		emit_text(out, l->reason);
		if (l->samples > 0)
			emit_rawf(out, " <span class=dim>%.0f %%</span>", 100.0 * (double)l->of_reason / (double)l->samples);
		emit_raw(out, "</td></tr>\n");
	}
}

static void stalls(struct buf *out, const struct why_code *w)
{
	static const char *const columns[] = { "Side", "Offset", "Instruction", ">% of samples", "Most wait for" };

	if (!w->stalls[0].samples && !w->stalls[1].samples)
		return;
	layout_table(out, 5, columns);
	stalls_of(out, &w->stalls[0], "base");
	stalls_of(out, &w->stalls[1], "target");
	layout_table_end(out);
}

static void kernel(struct buf *out, const struct cause_code *c, const struct why_code *w)
{
	emit_raw(out, "<details class=card><summary>");
	tables_name(out, *c->target ? c->target : c->base);
	emit_raw(out, ": ");
	emit_text(out, c->what);
	if (strcmp(c->what, "added") != 0 && strcmp(c->what, "removed") != 0) {
		takes(out, "registers", c->base_takes.registers, c->target_takes.registers);
		takes(out, "local bytes", c->base_takes.local_bytes, c->target_takes.local_bytes);
		takes(out, "CTAs/SM", c->base_takes.ctas_per_sm, c->target_takes.ctas_per_sm);
	}
	emit_raw(out, "</summary>");
	if (c->n_opcodes) {
		emit_raw(out, "<ul>");
		for (size_t i = 0; i < c->n_opcodes; i++) {
			emit_raw(out, "<li><code>");
			emit_text(out, c->opcode[i].opcode);
			emit_rawf(out, "</code> %ld \u2192 %ld</li>", c->opcode[i].base, c->opcode[i].target);
		}
		emit_raw(out, "</ul>");
	}
	stalls(out, w);
	if (*w->hunks) {
		emit_raw(out, "<pre class=log tabindex=0>");
		emit_text(out, w->hunks);
		emit_raw(out, "</pre>");
	} else if (!is_same(c)) {
		emit_raw(out, "<p><small>There are no lines to show.</small></p>");
	}
	emit_raw(out, "</details>\n");
}

void code_draw(struct buf *out, const struct why *w)
{
	size_t same = 0;

	if (w->evidence.n_codes == 0)
		return;
	emit_raw(out, "<h3>Machine code</h3>");
	for (size_t i = 0; i < w->evidence.n_codes; i++) {
		const struct cause_code *c = &w->evidence.code[i];

		same += is_same(c);
		if (!is_same(c) || w->code[i].stalls[0].n || w->code[i].stalls[1].n)
			kernel(out, c, &w->code[i]);
	}
	if (*w->stalls_why) {
		emit_raw(out, "<p><small>Where in the code warps wait is not known: ");
		emit_text(out, w->stalls_why);
		emit_raw(out, ".</small></p>\n");
	}
	if (same == w->evidence.n_codes)
		emit_raw(out, "<p>The same on both sides.</p>\n");
	else if (same > 0)
		emit_rawf(out, "<p><small>The code of %zu kernel%s the same on both sides.</small></p>\n", same,
			same == 1 ? " is" : "s are");
}

/* ---- what the assembler said -------------------------------------------------------------------------------------------- */

static bool is_launched(const struct why *w, const char *kernel)
{
	for (size_t i = 0; i < w->evidence.n_kernels; i++)
		if (w->evidence.kernel[i].name && diagnostic_names(w->evidence.kernel[i].name, kernel))
			return true;
	return !*kernel;
}

static void diagnostic(struct buf *out, const struct why_diagnostic *c)
{
	emit_raw(out, "<li>");
	emit_text(out, c->change);
	emit_raw(out, *c->code ? ": (" : ": ");
	emit_text(out, c->code);
	emit_raw(out, *c->code ? ") " : "");
	emit_text(out, c->what);
	if (*c->kernel) {
		emit_raw(out, " in <code>");
		emit_text(out, c->kernel);
		emit_raw(out, "</code>");
	}
	emit_raw(out, "</li>\n");
}

void code_diagnostics(struct buf *out, const struct why *w)
{
	size_t others = 0;

	if (w->n_diagnostics == 0)
		return;
	emit_raw(out, "<h3>What ptxas says</h3><ul class=ptxas>");
	for (size_t i = 0; i < w->n_diagnostics; i++)
		if (is_launched(w, w->diagnostic[i].kernel))
			diagnostic(out, &w->diagnostic[i]);
		else
			others++;
	if (others > 0)
		emit_rawf(out, "<li class=dim>%zu more about kernels that this cell does not run</li>", others);
	emit_raw(out, "</ul>\n");
}

/* ---- values ------------------------------------------------------------------------------------------------------------- */

static void value(struct buf *out, const struct cause_kernel *k, const char *metric)
{
	double v = amount_value(k, metric);

	if (isfinite(v))
		emit_rawf(out, " %.7g", v);
	else
		emit_raw(out, " -");
}

static void values(struct buf *out, const struct kernel_pair *p)
{
	const struct cause_kernel *any = pair_kernel(p, 1) && pair_kernel(p, 1)->n_values ? pair_kernel(p, 1) : pair_kernel(p, 0);

	if (!any || any->n_values == 0)
		return;
	emit_raw(out, "<h3>");
	tables_name(out, pair_name(p));
	emit_raw(out, "</h3><pre class=log tabindex=0>");
	for (size_t i = 0; i < any->n_values; i++) {
		emit_text(out, any->value[i].metric);
		for (int side = 0; side < 2; side++)
			for (int repeat = 0; repeat < CAUSE_REPEATS; repeat++)
				value(out, p->at[side][repeat], any->value[i].metric);
		emit_raw(out, "\n");
	}
	emit_raw(out, "</pre>");
}

void code_raw(struct buf *out, const struct why *w)
{
	if (!w->evidence.is_counted)
		return;
	emit_raw(out,
		"<details><summary>All values as they were read</summary><p><small>The base\u2019s two processes, then the target\u2019s; "
		"what two processes of one side differ in is noise.</small></p>");
	for (size_t i = 0; i < w->pairing.n; i++)
		values(out, &w->pairing.pair[i]);
	emit_raw(out, "</details>\n");
}
