/* sparsity.c - text of masks, and consistency of claims. */
#include "verdict/verdict.h"

#define ROUNDING 1e-9 /* relative, of sums of doubles */

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

void sparsity_words(const struct sparsity_mask *mask, const struct sparsity_claim *claim, char out[EXPLAIN_SIZE])
{
	double masked = mask->blocks - mask->kept;
	int used = snprintf(out, EXPLAIN_SIZE, "fully masked blocks %.0f/%.0f (%.3g %%)", masked, mask->blocks,
		percent(masked, mask->blocks));

	if (!(claim->tiles_total > 0) || used < 0 || used >= EXPLAIN_SIZE)
		return;
	snprintf(out + used, (size_t)(EXPLAIN_SIZE - used), ", tiles skipped %.0f/%.0f, partial %.3g %%", claim->tiles_skipped,
		claim->tiles_total, percent(claim->tiles_partial, claim->tiles_total));
}

void sparsity_contradiction(const struct sparsity_mask *mask, const struct sparsity_claim *claim, char out[EXPLAIN_SIZE])
{
	out[0] = '\0';
	/* comparisons with NAN are false: a missing value contradicts nothing */
	if (claim->blocks_kept < mask->kept || claim->blocks_kept > mask->kept)
		snprintf(out, EXPLAIN_SIZE, "says it keeps %.0f blocks, the mask keeps %.0f", claim->blocks_kept, mask->kept);
	else if (claim->tiles_skipped + claim->tiles_partial > claim->tiles_total)
		snprintf(out, EXPLAIN_SIZE, "says it skips %.0f tiles and masks %.0f, of %.0f in all", claim->tiles_skipped,
			claim->tiles_partial, claim->tiles_total);
	else if (claim->tiles_total > 0 && claim->tiles_skipped >= claim->tiles_total && mask->kept > 0)
		snprintf(out, EXPLAIN_SIZE, "says it skips all of %.0f tiles, the mask keeps %.0f blocks", claim->tiles_total,
			mask->kept);
	else if (claim->flops_issued < mask->flops_useful * (1 - ROUNDING))
		snprintf(out, EXPLAIN_SIZE, "says it issues %.4g multiplications and additions, the mask asks for %.4g",
			claim->flops_issued, mask->flops_useful);
}
