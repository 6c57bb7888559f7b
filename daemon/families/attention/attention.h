/** attention.h - shapes, masks and reference results of dense and block-sparse attention. */
#ifndef FAMILIES_ATTENTION_ATTENTION_H
#define FAMILIES_ATTENTION_ATTENTION_H

#include <stdint.h>

#include "kernels/fw_attention.h"
#include "model/model.h"

/*
 * ---- pattern ----
 * Positions of the kept blocks of a sparse mask. Every pattern keeps the same number of blocks in a row, so patterns
 * differ in the reads that a kernel can skip or reuse, never in useful work.
 */

enum {
	PATTERN_BLOCKS_MAX = 16384, /* key blocks of a row */
	PATTERN_STREAM = 64         /* kv head h draws its mask from stream 64 + h; tensors use the streams below 64 */
};

/**
 * Kept key blocks of each row of query blocks:
 *   UNIFORM        random key blocks, drawn without replacement (pattern_drawn_bits)
 *   BANDED         contiguous key blocks at the diagonal: a sliding window, clamped at both ends
 *   STRIDED        key blocks at equal distances, which shift with the diagonal and wrap around
 *   RANDOM_TOKENS  random key tokens, drawn individually: a mask block is one token wide
 *   BIGBIRD        the first and the last key block, a window of three at the diagonal, the rest random
 */
enum pattern { PATTERN_UNIFORM, PATTERN_BANDED, PATTERN_STRIDED, PATTERN_RANDOM_TOKENS, PATTERN_BIGBIRD, PATTERNS };

enum { PATTERN_BIGBIRD_PLACED = 5 }; /* blocks of a row at fixed positions */

/** "uniform" "banded" "strided" "random_tokens" "bigbird", then NULL. */
extern const char *const pattern_names[PATTERNS + 1];

/**
 * Draw a block mask that keeps exactly `keep` of `k_blocks` key blocks in each (kv head, query block) row: the first `keep`
 * positions of a Fisher-Yates shuffle. Step j swaps position j with position j + mix(row + j * K) % (k_blocks - j), where
 * row = mix(stream(seed, 64 + kv head) + query block * K).
 * Shape: bits[nhk][q_blocks][(k_blocks + 31) / 32], the layout of FW_BLOCK_BITS; k_blocks <= PATTERN_BLOCKS_MAX.
 */
void pattern_drawn_bits(uint64_t seed, int nhk, int q_blocks, int k_blocks, int keep, uint32_t *bits);

/**
 * Write the block mask of a pattern, which keeps exactly `keep` of `k_blocks` key blocks in each (kv head, query block) row.
 * With draw = stream(seed, 64 + kv head) of inputs.c and diagonal = query block * k_blocks / q_blocks:
 *   BANDED         blocks first .. first + keep - 1, first = diagonal - draw % (min(keep, k_blocks - keep) + 1), clamped to
 *                  0 .. k_blocks - keep
 *   STRIDED        blocks (diagonal + draw % k_blocks + j * k_blocks / keep) % k_blocks for j of 0 .. keep - 1
 *   BIGBIRD        the first `keep` distinct valid blocks of 0, k_blocks - 1, diagonal, diagonal - 1, diagonal + 1, then
 *                  the blocks that pattern_drawn_bits draws, in its order, without those already kept
 *   others         pattern_drawn_bits
 * Shape: bits[nhk][q_blocks][(k_blocks + 31) / 32]; 1 <= keep <= k_blocks <= PATTERN_BLOCKS_MAX.
 */
void pattern_bits(enum pattern pattern, uint64_t seed, int nhk, int q_blocks, int k_blocks, int keep, uint32_t *bits);

/* ---- attention: A case of the attention family: its sizes and its mask. Modules see kernels/fw_attention.h. ---- */

enum { ATTENTION_SEQS_MAX = 256 };

struct attention_case {
	int32_t mask;                       /* enum fw_mask */
	int32_t seqlen;                     /* total number of tokens; total_q = total_k */
	int32_t nhq, nhk;                   /* heads */
	int32_t headdim;                    /* elements */
	int32_t dtype;                      /* enum fw_dtype; FW_BF16 */
	int32_t n_seqs;                     /* 1 unless varlen */
	int32_t length[ATTENTION_SEQS_MAX]; /* tokens of each sequence; their sum is seqlen */
	int32_t block;         /* tokens of a query block; also of a key block, except for random tokens; 0 unless FW_BLOCKS */
	enum pattern pattern;  /* positions of kept blocks; PATTERN_UNIFORM unless FW_BLOCKS */
	double sparsity_ratio; /* kept fraction of the blocks, 0 < ratio <= 1; 0 unless FW_BLOCKS */
	uint64_t mask_twist;   /* changes the seed of the mask: 0, or another value for the second mask of the same sizes */
};

/** Return the shape of a cell of this family. */
static inline struct attention_case *attention_of(struct cell *c)
{
	return (struct attention_case *)(void *)c->shape.bytes;
}
static inline const struct attention_case *attention_in(const struct cell *c)
{
	return (const struct attention_case *)(const void *)c->shape.bytes;
}

/** Return the exact number of query-key pairs of one query head (causal, S tokens: S(S+1)/2). */
double attention_area(const struct attention_case *a);

/** Return the tokens of a key block: as many as of a query block; 1 for random tokens. 0 unless FW_BLOCKS. */
int attention_key_block(const struct attention_case *a);

/** Return the number of key blocks. 0 unless FW_BLOCKS. */
int attention_key_blocks(const struct attention_case *a);

/** Return the kept key blocks in each row of query blocks: floor(ratio * key blocks), at least 1. 0 unless FW_BLOCKS. */
int attention_kept_blocks(const struct attention_case *a);

/**
 * Write the mask for `seed` by the case's pattern.
 * Shape: bits[nhk][seqlen / block][(key blocks + 31) / 32], the layout of FW_BLOCK_BITS.
 */
void attention_block_bits(const struct attention_case *a, uint64_t seed, uint32_t *bits);

/** Return "full" "causal" "varlen_full" "varlen_causal" "block_sparse" (uniform), or the name of another pattern. */
const char *attention_mask_name(const struct attention_case *a);

/* The functions of struct family. */
int attention_check(const void *shape, enum direction d, struct fw_err *err);
bool attention_read(struct reader *r, struct yaml_node *root);
void attention_write(const void *shape, struct jsonw *j);
void attention_parse(struct fields *f, void *shape);
void attention_digest(const void *shape, uint64_t seed, struct buf *out);
enum slot_use attention_use(const void *shape, enum direction d, int slot);
enum slot_change attention_change(const void *shape, enum direction d, int slot);
size_t attention_lay_out(const void *shape, int slot, struct fw_tensor *t);
void attention_lay(const void *shape, uint64_t seed, int slot, void *out);
bool attention_has_second(const void *shape);
void attention_second(void *shape, int attempt);
int64_t attention_kept(const void *shape, const void *const *laid, int64_t *of);
void attention_abi(const void *shape, enum direction d, void *out);

#endif
