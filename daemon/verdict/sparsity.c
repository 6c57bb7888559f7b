/* sparsity.c - text of masks, and consistency of claims. */
#include "verdict/verdict.h"

#include <math.h>
#include <stdio.h>

#define ROUNDING 1e-9 /* relative, of sums of doubles */

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

double sparsity_density(const struct sparsity_mask *mask)
{
	return mask->pairs > 0 ? mask->pairs_kept / mask->pairs : NAN;
}

void sparsity_counts(const struct mask_counts *counts, struct sparsity_mask *mask)
{
	mask->pairs = (double)counts->pairs;
	mask->pairs_kept = (double)counts->pairs_kept;
	mask->rows = (double)counts->rows;
	mask->rows_empty = (double)counts->rows_empty;
	mask->tiles = (double)counts->tiles;
	mask->tiles_masked = (double)counts->tiles_masked;
	mask->common_tiles = (double)counts->common_tiles;
	mask->common_masked = (double)counts->common_masked;
}

static void count_words(const struct sparsity_mask *mask, struct buf *out)
{
	double masked = mask->blocks - mask->kept;
	bool has_tokens = mask->pairs >= mask->blocks && mask->blocks >= mask->pairs; /* its blocks are pairs */

	if (!(mask->pairs > 0)) {
		buf_printf(out, "fully masked blocks %.0f/%.0f (%.3g %%)", masked, mask->blocks, percent(masked, mask->blocks));
		return;
	}
	if (has_tokens)
		buf_printf(out, "kept %.0f/%.0f (%.3g %%), rows without a key %.0f/%.0f", mask->pairs_kept, mask->pairs,
			percent(mask->pairs_kept, mask->pairs), mask->rows_empty, mask->rows);
	else
		buf_printf(out, "density %.3g", sparsity_density(mask));
	buf_printf(out, ", tiles of %dx%d fully masked %.0f/%.0f (%.3g %%)", MASK_TILE, MASK_TILE, mask->tiles_masked,
		mask->tiles, percent(mask->tiles_masked, mask->tiles));
	if (has_tokens && mask->common_tiles > 0)
		buf_printf(out, ", in all heads and sequences %.0f/%.0f (%.3g %%)", mask->common_masked, mask->common_tiles,
			percent(mask->common_masked, mask->common_tiles));
}

/* A kernel that skips nothing although tiles are masked, or above the density at which skipping costs more than it saves. */
static const char *skipping_words(const struct sparsity_mask *mask, const struct sparsity_claim *claim)
{
	if (claim->tiles_skipped > 0)
		return "; skipping on";
	if (sparsity_density(mask) > SPARSITY_SKIPPED_BELOW)
		return "; skipping off above 0.85";
	return mask->tiles_masked > 0 ? "; skipping off" : "; no tile to skip";
}

void sparsity_text(const struct sparsity_mask *mask, const struct sparsity_claim *claim, char out[SPARSITY_SIZE])
{
	struct buf text;

	buf_init(&text, SPARSITY_SIZE);
	count_words(mask, &text);
	if (claim->tiles_total > 0)
		buf_printf(&text, ", tiles skipped %.0f/%.0f, partial %.3g %%%s", claim->tiles_skipped, claim->tiles_total,
			percent(claim->tiles_partial, claim->tiles_total), mask->pairs > 0 ? skipping_words(mask, claim) : "");
	snprintf(out, SPARSITY_SIZE, "%s", text.data ? text.data : "");
	buf_fini(&text);
}

bool sparsity_expected_range(const struct sparsity_mask *mask, double *low, double *high)
{
	static const struct {
		double density, low, high;
	} promised[] = { { 0.1, 2, 4 }, { 0.3, 1.5, 3 }, { 0.5, 1.2, 2 }, { 0.7, 1.1, 1.5 }, { 0.9, 1, 1 } };
	enum { N = sizeof promised / sizeof promised[0] };
	double density = sparsity_density(mask);
	int at = 0;

	if (!isfinite(density))
		return false;
	while (at + 1 < N && density * 2 >= promised[at].density + promised[at + 1].density)
		at++;
	*low = promised[at].low;
	*high = promised[at].high;
	return true;
}

void sparsity_expected(const struct sparsity_mask *mask, double over, char out[SPARSITY_SIZE])
{
	double low, high;

	out[0] = '\0';
	if (!isfinite(over) || !sparsity_expected_range(mask, &low, &high))
		return;
	const char *verdict = over < 0.99 * low ? "below" : over > 1.01 * high ? "above" : "met";

	if (high > low)
		snprintf(out, SPARSITY_SIZE, "expected %g to %g: %s", low, high, verdict);
	else
		snprintf(out, SPARSITY_SIZE, "expected %g: %s", low, verdict);
}

void sparsity_contradiction(const struct sparsity_mask *mask, const struct sparsity_claim *claim, char out[EXPLAIN_SIZE])
{
	out[0] = '\0';
	/* comparisons with NAN are false: a missing value contradicts nothing */
	if (claim->blocks_kept < mask->kept || claim->blocks_kept > mask->kept)
		snprintf(out, EXPLAIN_SIZE, "claims %.0f active blocks, the mask has %.0f", claim->blocks_kept, mask->kept);
	else if (claim->tiles_skipped + claim->tiles_partial > claim->tiles_total)
		snprintf(out, EXPLAIN_SIZE, "claims %.0f skipped and %.0f masked tiles, of %.0f in all", claim->tiles_skipped,
			claim->tiles_partial, claim->tiles_total);
	else if (claim->tiles_total > 0 && claim->tiles_skipped >= claim->tiles_total && mask->kept > 0)
		snprintf(out, EXPLAIN_SIZE, "claims to skip all of %.0f tiles, the mask has %.0f active blocks",
			claim->tiles_total, mask->kept);
	else if (claim->flops_issued < mask->flops_useful * (1 - ROUNDING))
		snprintf(out, EXPLAIN_SIZE, "claims %.4g multiplications and additions, the mask needs %.4g", claim->flops_issued,
			mask->flops_useful);
}
