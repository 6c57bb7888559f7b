/* area.c - number of query-key pairs of a mask. */
#include <math.h>

#include "families/attention/attention.h"

int attention_key_block(const struct attention_case *a)
{
	if (a->mask != FW_BLOCKS)
		return 0;
	return a->pattern == PATTERN_RANDOM_TOKENS ? 1 : a->block;
}

int attention_key_blocks(const struct attention_case *a)
{
	int block = attention_key_block(a);

	return block > 0 ? a->seqlen / block : 0;
}

int attention_kept_blocks(const struct attention_case *a)
{
	int blocks = attention_key_blocks(a);

	if (blocks == 0)
		return 0;
	/* 0.29 * 100 is 28.999999999999996, but must give 29 blocks */
	int kept = (int)floor(a->sparsity_ratio * blocks + 1e-9);

	if (kept > blocks)
		kept = blocks;
	return kept < 1 ? 1 : kept;
}

void attention_block_bits(const struct attention_case *a, uint64_t seed, uint32_t *bits)
{
	pattern_bits(a->pattern, seed, a->nhk, a->seqlen / a->block, attention_key_blocks(a), attention_kept_blocks(a), bits);
}

/* The sum of first, first + 1, ..., last, each at most `window` unless 0. */
static double sum_seen(double first, double last, double window)
{
	double whole = window > 0 && window < last ? window : last; /* the last term below the limit */

	if (whole < first)
		return window * (last - first + 1);
	return (first + whole) * (whole - first + 1) / 2 + (last - whole) * window;
}

double attention_area(const struct attention_case *a)
{
	double area = 0;

	if (a->mask == FW_BLOCKS)
		return (double)a->seqlen * attention_kept_blocks(a) * attention_key_block(a);
	if (a->mask == FW_TOKENS)
		return (double)a->pairs_kept / a->nhq;
	for (int i = 0; i < a->n_seqs; i++) {
		double s = a->length[i];

		area += a->mask == FW_FULL ? s * s : sum_seen(s - attention_queries(a, i) + 1, s, a->window);
	}
	return area;
}
