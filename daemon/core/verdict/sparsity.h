/**
 * sparsity.h - what a mask leaves out, as the runner counted it, beside what a module says it skipped. Pure; counts are NAN where they are
 * not known.
 */
#ifndef CORE_VERDICT_SPARSITY_H
#define CORE_VERDICT_SPARSITY_H

#include "core/verdict/explain.h"

/** Counted from the mask. */
struct sparsity_mask {
	double blocks, kept; /* over all key heads */
	double flops_useful; /* of a call */
};

/** Said by a module (struct fw_work). */
struct sparsity_claim {
	double tiles_total, tiles_skipped, tiles_partial; /* of its configuration */
	double blocks_kept, flops_issued;
};

/** "fully masked blocks 720/800 (90 %), tiles skipped 51200/56320, partial 3 %"; without tiles where none were told. Shape: out[EXPLAIN_SIZE]. */
void sparsity_words(const struct sparsity_mask *mask, const struct sparsity_claim *claim, char out[EXPLAIN_SIZE]);

/**
 * The first thing in a claim that cannot be: "says it keeps 90 blocks, the mask keeps 80". "" none. What a tile is is the module's to choose,
 * so tiles are held against each other, and the multiplications that it issues against those that the mask asks for.
 */
void sparsity_contradiction(const struct sparsity_mask *mask, const struct sparsity_claim *claim, char out[EXPLAIN_SIZE]);

#endif
