/** attention.h - shapes, masks and reference results of dense and block-sparse attention. */
#ifndef FAMILIES_ATTENTION_ATTENTION_H
#define FAMILIES_ATTENTION_ATTENTION_H

#include <stdint.h>

#include "kernels/fw_attention.h"
#include "model/model.h"

/*
 * ---- pattern ----
 * Where the kept blocks of a sparse mask lie. How many a row keeps is the same for every pattern, so that patterns
 * differ in what can be skipped and read again, never in useful work.
 */

enum {
	PATTERN_BLOCKS_MAX = 16384, /* key blocks of a row */
	PATTERN_STREAM = 64         /* kv head h draws its mask from stream 64 + h; slots of tensors lie below */
};

/**
 * Of every row of query blocks:
 *   UNIFORM        any key blocks, drawn without replacement (pattern_drawn_bits)
 *   BANDED         neighbouring key blocks at the diagonal: a window that slides, stopped at both ends
 *   STRIDED        key blocks at equal distances, which move along with the diagonal and go around
 *   RANDOM_TOKENS  any key tokens, drawn one by one: a mask block is as wide as one token
 *   BIGBIRD        the first and the last key block, a window of three at the diagonal, the rest drawn
 */
enum pattern { PATTERN_UNIFORM, PATTERN_BANDED, PATTERN_STRIDED, PATTERN_RANDOM_TOKENS, PATTERN_BIGBIRD, PATTERNS };

enum { PATTERN_BIGBIRD_PLACED = 5 }; /* blocks of a row that are not drawn */

/** "uniform" "banded" "strided" "random_tokens" "bigbird", then NULL. */
extern const char *const pattern_names[PATTERNS + 1];

/**
 * Block mask: in every (kv head, query block) row exactly `keep` of `k_blocks` key blocks, the first `keep` places of a
 * Fisher-Yates shuffle: step j swaps place j with place j + mix(row + j * K) % (k_blocks - j), where
 * row = mix(stream(seed, 64 + kv head) + query block * K).
 * Shape: bits[nhk][q_blocks][(k_blocks + 31) / 32], the layout of FW_BLOCK_BITS; k_blocks <= PATTERN_BLOCKS_MAX.
 */
void pattern_drawn_bits(uint64_t seed, int nhk, int q_blocks, int k_blocks, int keep, uint32_t *bits);

/**
 * Block mask in which each (kv head, query block) row keeps exactly `keep` of `k_blocks` key blocks. With
 * draw = stream(seed, 64 + kv head) of inputs.c and diagonal = query block * k_blocks / q_blocks:
 *   BANDED         blocks first .. first + keep - 1, first = diagonal - draw % (min(keep, k_blocks - keep) + 1), at least 0 and at
 *                  most k_blocks - keep
 *   STRIDED        blocks (diagonal + draw % k_blocks + j * k_blocks / keep) % k_blocks for j of 0 .. keep - 1
 *   BIGBIRD        of 0, k_blocks - 1, diagonal, diagonal - 1, diagonal + 1 the first `keep` that there are, each once, then what
 *                  pattern_drawn_bits draws in its order, but for those that are kept already
 *   others         pattern_drawn_bits
 * Shape: bits[nhk][q_blocks][(k_blocks + 31) / 32]; 1 <= keep <= k_blocks <= PATTERN_BLOCKS_MAX.
 */
void pattern_bits(enum pattern pattern, uint64_t seed, int nhk, int q_blocks, int k_blocks, int keep, uint32_t *bits);

/* ---- attention: A case of the family of attention: its sizes and its mask. kernels/fw_attention.h is what modules see of it. ---- */

enum { ATTENTION_SEQS_MAX = 256 };

struct attention_case {
	int32_t mask;                       /* enum fw_mask */
	int32_t seqlen;                     /* tokens in all; total_q = total_k */
	int32_t nhq, nhk;                   /* heads */
	int32_t headdim;                    /* elements */
	int32_t dtype;                      /* enum fw_dtype; FW_BF16 */
	int32_t n_seqs;                     /* 1 unless varlen */
	int32_t length[ATTENTION_SEQS_MAX]; /* tokens of each sequence; their sum is seqlen */
	int32_t block;         /* tokens a mask block, of queries and, but for random tokens, of keys; 0 unless FW_BLOCKS */
	enum pattern pattern;  /* where kept blocks lie; PATTERN_UNIFORM unless FW_BLOCKS */
	double sparsity_ratio; /* density kept, 0 < ratio <= 1; 0 unless FW_BLOCKS */
	uint64_t mask_twist;   /* 0; the second mask of these sizes is drawn with another seed by this */
};

/** The shape of a cell of this family. */
static inline struct attention_case *attention_of(struct cell *c)
{
	return (struct attention_case *)(void *)c->shape.bytes;
}
static inline const struct attention_case *attention_in(const struct cell *c)
{
	return (const struct attention_case *)(const void *)c->shape.bytes;
}

/** Query-key pairs that one query head attends to; exact (causal of S tokens: S(S+1)/2). */
double attention_area(const struct attention_case *a);

/** Tokens of a key block: those of a query block, of random tokens 1. 0 unless FW_BLOCKS. */
int attention_key_block(const struct attention_case *a);

/** Key blocks that a row of query blocks could keep. 0 unless FW_BLOCKS. */
int attention_key_blocks(const struct attention_case *a);

/** Kept key blocks in each row of query blocks: floor(ratio * key blocks), at least 1. 0 unless FW_BLOCKS. */
int attention_kept_blocks(const struct attention_case *a);

/**
 * The mask under `seed`, by its pattern.
 * Shape: bits[nhk][seqlen / block][(key blocks + 31) / 32], the layout of FW_BLOCK_BITS.
 */
void attention_block_bits(const struct attention_case *a, uint64_t seed, uint32_t *bits);

/** "full" "causal" "varlen_full" "varlen_causal"; "block_sparse" (uniform), or its pattern. */
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
