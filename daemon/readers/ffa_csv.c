/* ffa_csv.c - writer of profile rows. */
#include "readers/readers.h"

#include <math.h>

#include "lib/lib.h"

enum { FORWARD_PHASES = 6, DIGITS = 7, DECIMALS_MIN = 4, DECIMALS_MAX = 15 };

/* Column, and flopwatch's name of the phase; forward first. */
static const struct {
	const char *column, *phase;
} phases[FFA_CSV_PHASES] = {
	{ "fwd_range_merge_ms", "range_merge" },
	{ "fwd_sparse_load_preprocess_ms", "sparse_load_preprocess" },
	{ "fwd_prepare_ms", "prepare" },
	{ "fwd_run_ms", "run" },
	{ "fwd_fill_ms", "fill" },
	{ "fwd_cast_ms", "cast" },
	{ "bwd_range_merge_ms", "range_merge" },
	{ "bwd_prepare_ms", "prepare" },
	{ "bwd_preprocess_ms", "preprocess" },
	{ "bwd_run_ms", "run" },
	{ "bwd_cast_ms", "cast" },
};

int ffa_csv_phase(const char *name, size_t len, bool backward)
{
	for (int i = backward ? FORWARD_PHASES : 0; i < (backward ? FFA_CSV_PHASES : FORWARD_PHASES); i++)
		if (strlen(phases[i].phase) == len && memcmp(phases[i].phase, name, len) == 0)
			return i;
	return -1;
}

static void figure(struct buf *out, double v)
{
	int decimals = DECIMALS_MIN;
	if (!(v > 0)) {
		buf_puts(out, ",-1.0000");
		return;
	}
	while (decimals < DECIMALS_MAX && v * pow(10, decimals) < pow(10, DIGITS - 1))
		decimals++;
	buf_printf(out, ",%.*f", decimals, v);
}

void ffa_csv_head(struct buf *out, bool sparse)
{
	buf_puts(out,
		sparse ? "seqlen,sparsity_ratio,q_block_size,k_block_size,swap_ab,pack_gqa,sparse_load,kblockm,kblockn,direction"
		       : "seqlen,mask_type,direction");
	buf_puts(out, ",latency_ms,tflops_per_sec");
	for (int i = 0; i < FFA_CSV_PHASES; i++)
		buf_printf(out, ",%s", phases[i].column);
	buf_putc(out, '\n');
}

void ffa_csv_put(struct buf *out, bool sparse, const struct ffa_csv_row *row)
{
	const char *direction = row->backward ? "bwd" : "fwd";
	if (sparse)
		buf_printf(out, "%d,%g,%d,%d,False,False,False,%d,%d,%s", row->tokens, row->ratio, row->block, row->block,
			row->tile_q > 0 ? row->tile_q : -1, row->tile_k > 0 ? row->tile_k : -1, direction);
	else {
		buf_printf(out, "%d,", row->tokens);
		csv_field(out, row->mask);
		buf_printf(out, ",%s", direction);
	}
	figure(out, row->latency_ms);
	figure(out, row->tflops);
	for (int i = 0; i < FFA_CSV_PHASES; i++)
		if ((i >= FORWARD_PHASES) == row->backward)
			figure(out, row->phase_ms[i]);
		else
			buf_putc(out, ',');
	buf_putc(out, '\n');
}

const struct ffa_csv_file ffa_csv_files[FFA_CSV_FILES] = {
	{ "profile_dense_base", false, true, false },
	{ "profile_dense_target", false, false, true },
	{ "profile_block_sparse_base", true, true, false },
	{ "profile_block_sparse_target", true, false, true },
	{ "compare_dense", false, true, true },
	{ "compare_block_sparse", true, true, true },
};

bool ffa_csv_takes(bool sparse, const char *key)
{
	const char *kind =
		sparse ? "attention/block_sparse/s" : "attention/dense/"; /* patterns that are not uniform precede the size */
	const char *direction = strrchr(key, '/');
	/* a row is forward or backward, and does not name a configuration: those of `configs:` have a "=" */
	return strncmp(key, kind, strlen(kind)) == 0 && strcmp(direction, "/total") != 0 && !strchr(key, '=');
}

void ffa_csv_name(int file, const char *base, const char *target, char out[FFA_CSV_NAME_SIZE])
{
	const struct ffa_csv_file *f = &ffa_csv_files[file];
	const char *kind = f->sparse ? "block_sparse" : "dense";
	if (f->base && f->target)
		snprintf(out, FFA_CSV_NAME_SIZE, "compare_%s_%s_%s", base, target, kind);
	else
		snprintf(out, FFA_CSV_NAME_SIZE, "profile_%s_%s", kind, f->base ? base : target);
}
