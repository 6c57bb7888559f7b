/* tables.c - documented in internal.h. */
#include "web/page/internal.h"

#include <math.h>

double tables_value(const struct kernel_pair *p, int side, const char *metric)
{
	double a = amount_value(p->at[side][0], metric), b = amount_value(p->at[side][1], metric);

	return isnan(a) ? b : isnan(b) ? a : (a + b) / 2;
}

void tables_name(struct buf *out, const char *name)
{
	char text[CAUSE_NAME_SIZE];

	sentence_kernel(name, text);
	emit_format(out, "<code>%s</code>", text);
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

static double ms_of(const struct kernel_pair *p, int side)
{
	const struct cause_kernel *a = p->at[side][0], *b = p->at[side][1];
	double x = a && a->ms >= 0 ? a->ms : NAN, y = b && b->ms >= 0 ? b->ms : NAN;

	return isnan(x) ? y : isnan(y) ? x : (x + y) / 2;
}

static void draw_number(struct buf *out, double v)
{
	if (isfinite(v))
		emit_rawf(out, "<td class=n>%.*f</td>", v >= 100 ? 1 : v >= 1 ? 3 : 4, v);
	else
		emit_raw(out, "<td class=n>\u2013</td>");
}

/* Write "168" or "168 -> 172"; values below `least` are unknown. */
static void draw_both(struct buf *out, const char *class, int base, int target, int least)
{
	emit_rawf(out, "<td class=\"%s\">", class);
	if (base < least && target < least)
		emit_raw(out, "\u2013");
	else if (base < least || base == target)
		emit_rawf(out, "%d", target);
	else if (target < least)
		emit_rawf(out, "%d", base);
	else
		emit_rawf(out, "%d\u00a0\u2192\u00a0<b>%d</b>", base, target);
	emit_raw(out, "</td>");
}

static void same_code(struct buf *out, const struct explanation *w, const struct kernel_pair *p)
{
	const struct cause_code *code = pair_code(&w->evidence, p);
	const struct cause_kernel *base = pair_kernel(p, 0), *target = pair_kernel(p, 1);

	emit_raw(out, "<td>");
	if (!base || !target)
		emit_raw(out, base ? "not in the target" : "not in the base");
	else if (code)
		emit_text(out, code->what);
	else if (base->code && *base->code && target->code && *target->code)
		emit_raw(out, strcmp(base->code, target->code) == 0 ? "same" : "differs");
	else
		emit_raw(out, "not known");
	emit_raw(out, "</td></tr>\n");
}

void tables_kernels(struct buf *out, const struct explanation *w)
{
	static const struct cause_kernel none = { .local_bytes = -1 };

	if (w->pairing.n == 0)
		return;
	emit_raw(out, "<h3>Kernels of a call</h3>");
	layout_table(out, "Kernel|>Base ms|>Target ms|>Change|~>Registers|~>Local bytes|~>CTAs/SM|Code");
	for (size_t i = 0; i < w->pairing.n && i < TABLES_KERNELS; i++) {
		const struct kernel_pair *p = &w->pairing.pair[i];
		const struct cause_kernel *base = pair_kernel(p, 0), *target = pair_kernel(p, 1);
		double base_ms = ms_of(p, 0), target_ms = ms_of(p, 1);

		base = base ? base : &none;
		target = target ? target : &none;
		emit_raw(out, "<tr><th scope=row class=wrap>");
		tables_name(out, pair_name(p));
		emit_format(out, " <span class=dim>%s</span></th>", target->phase ? target->phase : base->phase);
		draw_number(out, base_ms);
		draw_number(out, target_ms);
		emit_format(out, "<td class=n>%f{change}</td>", 100 * (base_ms / target_ms - 1));
		draw_both(out, "n w", base->registers, target->registers, 1);
		draw_both(out, "n w", base->local_bytes, target->local_bytes, 0);
		draw_both(out, "n w", base->ctas_per_sm, target->ctas_per_sm, 1);
		same_code(out, w, p);
	}
	layout_table_end(out);
	emit_raw(out,
		"<p><small>Times under a profiler, one kernel after the other: they show where a difference is, the verdict how "
		"large it is.");
	if (w->pairing.n > TABLES_KERNELS)
		emit_rawf(out, " The first %d of %zu.", TABLES_KERNELS, w->pairing.n);
	emit_raw(out, "</small></p>\n");
}

/* ---- use ----------------------------------------------------------------------------------------------------------- */

#define WARPS "sm__warps_active.avg.pct_of_peak_sustained_active"

static double quotient(const struct kernel_pair *p, int side, const char *part, const char *whole)
{
	double of = tables_value(p, side, whole);

	return of > 0 ? 100 * tables_value(p, side, part) / of : NAN;
}

static void use_cells(struct buf *out, const struct kernel_pair *p, int side)
{
	double conflicts = tables_value(p, side, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum");
	static const char *const classes[] = { "n", "n w", "n", "n x", "n w",
		"n x" }; /* classes of the columns, as in the head of the table */
	const double pct[] = { quotient(p, side, "lts__t_sectors_lookup_hit.sum", "lts__t_sectors.sum"),
		quotient(p, side, "l1tex__t_sectors_lookup_hit.sum", "l1tex__t_sectors.sum"),
		tables_value(p, side, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"),
		tables_value(p, side, "smsp__issue_active.avg.pct_of_peak_sustained_active"), tables_value(p, side, WARPS),
		quotient(p, side, "sm__cycles_active.avg", "gpc__cycles_elapsed.max") };
	char text[AMOUNT_SIZE];

	for (size_t i = 0; i < sizeof pct / sizeof pct[0]; i++)
		if (isfinite(pct[i]))
			emit_rawf(out, "<td class=\"%s\">%.1f</td>", classes[i], pct[i]);
		else
			emit_rawf(out, "<td class=\"%s\">\u2013</td>", classes[i]);
	emit_raw(out, "<td class=\"n w\">");
	amount_count(isfinite(conflicts) ? conflicts : 0, text);
	emit_format(out, "%s</td></tr>\n", isfinite(conflicts) ? text : "\u2013");
}

void tables_use(struct buf *out, const struct explanation *w)
{
	bool any = false;

	if (!w->evidence.is_counted)
		return;
	for (size_t i = 0, n = 0; i < w->pairing.n && n < TABLES_KERNELS; i++) {
		const struct kernel_pair *p = &w->pairing.pair[i];

		if (!traffic_is_counted(p, 0) && !traffic_is_counted(p, 1))
			continue;
		if (!any) {
			emit_raw(out, "<h3>Hit rates and use</h3>");
			layout_table(out,
				"Kernel|Side|>L2 hits %|~>L1 hits %|>Tensor %|^>Issue %|~>Warps %|^>SMs busy %|~>Bank conflicts");
		}
		any = true;
		n++;
		for (int side = 0; side < 2; side++) {
			if (!pair_kernel(p, side))
				continue;
			emit_raw(out, "<tr><th scope=row class=wrap>");
			tables_name(out, pair_kernel(p, side)->name ? pair_kernel(p, side)->name : "");
			emit_rawf(out, "</th><td>%s</td>", side ? "target" : "base");
			use_cells(out, p, side);
		}
	}
	if (any)
		layout_table_end(out);
}
