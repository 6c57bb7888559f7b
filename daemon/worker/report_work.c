/* report_work.c - tables of memory and masks. */
#include "worker/internal.h"

#include <math.h>

static const char *const names[] = { "base", "target" };

static double known(double v)
{
	return v >= 0 ? v : NAN;
}

static double claimed_gb_s(const struct bench *b, int cell, int side)
{
	double bytes = known(b->cell[cell].work[side].bytes_moved), ms = bench_median_ms(b, cell, side == BENCH_TARGET);
	return ms > 0 ? bytes / ms * 1e-6 : NAN;
}

static double allocated_mb(const struct msg_work *w)
{
	return w->tensor_bytes > 0 ? (double)(w->tensor_bytes + w->workspace_bytes + w->persist_bytes) * 1e-6 : NAN;
}

static double taken_mb(const struct msg_work *w)
{
	return w->provider[0] ? known((double)w->taken_bytes) * 1e-6 : NAN;
}

static void mask_of(
	const struct bench *b, int cell, const struct msg_work *w, struct sparsity_mask *mask, struct sparsity_claim *claim)
{
	*mask = (struct sparsity_mask){
		.blocks = (double)w->mask_blocks, .kept = (double)w->mask_kept, .flops_useful = case_flops(&b->cells[cell])
	};
	sparsity_counts(&w->mask, mask);
	*claim = (struct sparsity_claim){ .tiles_total = known((double)w->tiles_total),
		.tiles_skipped = known((double)w->tiles_skipped),
		.tiles_partial = known((double)w->tiles_partial),
		.blocks_kept = known((double)w->blocks_kept),
		.flops_issued = known(w->flops_issued) };
}

/* Compute the speedup of a cell over its dense baseline, and the ideal speedup for its work; false: no baseline. */
static bool over_baseline(const struct bench *b, int cell, double over[2], double *ideal)
{
	for (int i = 0; i < b->n_cells && b->cells[cell].baseline[0]; i++) {
		if (strcmp(b->cells[i].key, b->cells[cell].baseline) != 0)
			continue;
		for (int side = 0; side < 2; side++) {
			double dense = bench_median_ms(b, i, side), ms = bench_median_ms(b, cell, side);
			over[side] = dense > 0 && ms > 0 ? dense / ms : NAN;
		}
		*ideal = case_flops(&b->cells[i]) / case_flops(&b->cells[cell]);
		return true;
	}
	return false;
}

static void number(struct buf *out, double v)
{
	if (isfinite(v))
		buf_printf(out, " %12.4g", v);
	else
		buf_printf(out, " %12s", "-");
}

static void memory(const struct bench *b, int width, struct buf *out)
{
	bool any = false;

	for (int i = 0; i < b->n_cells; i++) {
		const struct msg_work *w = b->cell[i].work;

		if (!w[0].provider[0] && !w[1].provider[0])
			continue;
		if (!any)
			buf_printf(out, "%-*s %12s %12s %12s %12s %12s %12s\n", width, "memory: GB/s claimed, MB measured",
				"base GB/s", "target", "allocated MB", "target", "taken beside", "target");
		any = true;
		buf_printf(out, "%-*s", width, b->cells[i].key);
		for (int side = 0; side < 2; side++)
			number(out, claimed_gb_s(b, i, side));
		for (int side = 0; side < 2; side++)
			number(out, allocated_mb(&w[side]));
		for (int side = 0; side < 2; side++)
			number(out, taken_mb(&w[side]));
		buf_putc(out, '\n');
	}
	if (any)
		buf_putc(out, '\n');
}

static void masks(const struct bench *b, int width, struct buf *out)
{
	bool any = false;

	for (int i = 0; i < b->n_cells; i++)
		for (int side = 0; side < 2; side++) {
			const struct msg_work *w = &b->cell[i].work[side];
			char words[SPARSITY_SIZE], wrong[EXPLAIN_SIZE], expected[SPARSITY_SIZE] = "";
			struct sparsity_mask mask;
			struct sparsity_claim claim;
			double over[2], ideal;

			if (w->mask_blocks <= 0)
				continue;
			mask_of(b, i, w, &mask, &claim);
			sparsity_text(&mask, &claim, words);
			sparsity_contradiction(&mask, &claim, wrong);
			if (!any)
				buf_puts(out, "share skipped by masks, counted; tiles as each side reports\n");
			any = true;
			buf_printf(out, "%-*s %-6s %s", width, b->cells[i].key, names[side], words);
			if (over_baseline(b, i, over, &ideal) && isfinite(over[side])) {
				sparsity_expected(&mask, over[side], expected);
				buf_printf(out, "; %.2f times as fast as dense, 1/density %.2f%s%s", over[side], ideal,
					expected[0] ? ", " : "", expected);
			}
			buf_printf(out, "%s%s\n", wrong[0] ? "; WARNING: it " : "", wrong);
		}
	if (any)
		buf_putc(out, '\n');
}

void report_work_text(const struct bench *b, struct buf *out)
{
	int width = 34;

	for (int i = 0; i < b->n_cells; i++)
		if ((int)strlen(b->cells[i].key) > width)
			width = (int)strlen(b->cells[i].key);
	memory(b, width, out);
	masks(b, width, out);
}

static void write_counts(const struct mask_counts *m, struct jsonw *j)
{
	if (m->pairs <= 0) {
		jsonw_kv_null(j, "mask");
		return;
	}
	jsonw_kv_object(j, "mask");
	jsonw_kv_double(j, "density", (double)m->pairs_kept / (double)m->pairs);
	jsonw_kv_int(j, "pairs", m->pairs);
	jsonw_kv_int(j, "pairs_kept", m->pairs_kept);
	jsonw_kv_int(j, "rows", m->rows);
	jsonw_kv_int(j, "rows_empty", m->rows_empty);
	jsonw_kv_int(j, "tiles", m->tiles);
	jsonw_kv_int(j, "tiles_masked", m->tiles_masked);
	jsonw_kv_int(j, "common_tiles", m->common_tiles);
	jsonw_kv_int(j, "common_masked", m->common_masked);
	jsonw_object_end(j);
}

void report_work_json(const struct bench *b, int cell, struct jsonw *j)
{
	double over[2] = { NAN, NAN }, ideal = NAN;

	(void)over_baseline(b, cell, over, &ideal);
	jsonw_kv_object(j, "work");
	for (int side = 0; side < 2; side++) {
		const struct msg_work *w = &b->cell[cell].work[side];
		char words[SPARSITY_SIZE] = "", wrong[EXPLAIN_SIZE] = "", expected[SPARSITY_SIZE] = "";
		struct sparsity_mask mask;
		struct sparsity_claim claim;

		jsonw_key(j, names[side]);
		if (!w->provider[0]) {
			jsonw_null(j);
			continue;
		}
		mask_of(b, cell, w, &mask, &claim);
		if (w->mask_blocks > 0) {
			sparsity_text(&mask, &claim, words);
			sparsity_contradiction(&mask, &claim, wrong);
			sparsity_expected(&mask, over[side], expected);
		}
		jsonw_format(j,
			"{ provider=%s configuration=%s claimed_gb_s=%f allocated_mb=%f taken_mb=%f sparsity?=%s "
			"contradiction?=%s expected?=%s",
			w->provider, w->config, claimed_gb_s(b, cell, side), allocated_mb(w), taken_mb(w), words, wrong,
			expected);
		write_counts(&w->mask, j);
		jsonw_object_end(j);
	}
	jsonw_object_end(j);
	jsonw_format(j, "over_baseline={ base=%f target=%f ideal=%f }", over[0], over[1], ideal);
}
