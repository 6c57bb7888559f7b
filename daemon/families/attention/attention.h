/**
 * attention.h - a case of the family of attention: its sizes and its mask. kernels/fw_attention.h is what modules see of it.
 */
#ifndef FAMILIES_ATTENTION_ATTENTION_H
#define FAMILIES_ATTENTION_ATTENTION_H

#include "model/case.h"
#include "families/attention/pattern.h"
#include "kernels/fw_attention.h"

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

/* The parts of struct family. */
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
