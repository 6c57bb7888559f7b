/** sparsity.h - work that a mask leaves out, counted by the runner, and claimed by a module. Pure; unknown counts are NAN. */
#ifndef VERDICT_SPARSITY_H
#define VERDICT_SPARSITY_H

#include "verdict/explain.h"

struct sparsity_mask {
	double blocks, kept; /* over all key heads */
	double flops_useful; /* of a call */
};

/** Claimed by a module (struct fw_work). */
struct sparsity_claim {
	double tiles_total, tiles_skipped, tiles_partial; /* of its configuration */
	double blocks_kept, flops_issued;
};

/**
 * Format "fully masked blocks 720/800 (90 %), tiles skipped 51200/56320, partial 3 %"; without tiles if none are claimed.
 * Shape: out[EXPLAIN_SIZE].
 */
void sparsity_words(const struct sparsity_mask *mask, const struct sparsity_claim *claim, char out[EXPLAIN_SIZE]);

/**
 * Write the first contradiction in a claim: "says it keeps 90 blocks, the mask keeps 80". "" none. The module defines its
 * tiles, so tiles are compared with each other, and its issued multiplications with those of the mask. Shape:
 * out[EXPLAIN_SIZE].
 */
void sparsity_contradiction(const struct sparsity_mask *mask, const struct sparsity_claim *claim, char out[EXPLAIN_SIZE]);

#endif
