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

/*
 * ---- tokens ----
 * Token masks: a bit for each (query head, query, key) of a sequence. All sequences of a case have the same length.
 */

/**
 * Source of a token mask:
 *   RANDOM  every pair is kept with the probability `density`, drawn for each query head, query and key
 *   CORNER  the first `corner_rows` queries see the first `corner_keys` keys of their sequence; the other queries see none
 *   FILE    the pairs that a file keeps
 */
enum token_source { TOKENS_NONE, TOKENS_RANDOM, TOKENS_CORNER, TOKENS_FILE };

/** Elements of a file of a mask: bits (the lowest of a byte first), bytes, or floats, each 0 or 1. */
enum token_elements { TOKENS_BITS, TOKENS_U8, TOKENS_F16, TOKENS_F32, TOKENS_ELEMENTS };

/** "bits" "u8" "f16" "f32", then NULL. */
extern const char *const token_elements_names[TOKENS_ELEMENTS + 1];

enum { TOKENS_PATH_SIZE = 224, TOKENS_HASH_SIZE = 17 };
#define TOKENS_PAIRS_MAX (INT64_C(1) << 30) /* of all sequences and query heads */

/* ---- attention: A case of the attention family: its sizes and its mask. Modules see kernels/fw_attention.h. ---- */

enum {
	ATTENTION_SEQS_MAX = 256,
	ATTENTION_DECODE_QUERIES = 16 /* most queries of a sequence in decoding; more are a prefill */
};

struct attention_case {
	int32_t mask;                       /* enum fw_mask */
	int32_t seqlen;                     /* total number of keys; also of queries, unless `queries` is set */
	int32_t nhq, nhk;                   /* heads */
	int32_t headdim;                    /* elements */
	int32_t dtype;                      /* enum fw_dtype; FW_BF16, FW_F16 */
	int32_t n_seqs;                     /* 1 unless varlen */
	int32_t length[ATTENTION_SEQS_MAX]; /* keys of each sequence; their sum is seqlen */
	int32_t queries;                    /* of each sequence: its last tokens; 0: every token. FW_CAUSAL or FW_CACHE */
	int32_t window;                     /* the last keys that a query sees, its own included; 0: all. FW_CACHE */
	int32_t page;             /* tokens of a page of K and V, in an order drawn by the seed; 0: no pages. FW_CACHE */
	int32_t block;            /* tokens of a query block; also of a key block, except for random tokens; 0 unless FW_BLOCKS */
	enum pattern pattern;     /* positions of kept blocks; PATTERN_UNIFORM unless FW_BLOCKS */
	double sparsity_ratio;    /* kept fraction of the blocks, 0 < ratio <= 1; 0 unless FW_BLOCKS */
	uint64_t mask_twist;      /* changes the seed of mask or pages: 0, or another value for the second of the same sizes */
	enum token_source source; /* TOKENS_NONE unless FW_TOKENS, as the rest */
	enum token_elements elements;
	double density;                   /* of RANDOM: 0 <= density <= 1 */
	int32_t corner_rows, corner_keys; /* of CORNER */
	int64_t pairs_kept;               /* kept pairs of all sequences and query heads */
	char path[TOKENS_PATH_SIZE];      /* of FILE: absolute */
	char hash[TOKENS_HASH_SIZE];      /* of FILE: first digits of the SHA-256 of its bytes */
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

/** Return whether it is a case of serving, forward alone: queries of the last tokens, a window or pages. */
static inline bool attention_is_serving(const struct attention_case *a)
{
	return a->queries || a->window || a->page;
}

/** Return the queries of sequence `i`. */
static inline int32_t attention_queries(const struct attention_case *a, int i)
{
	return a->queries ? a->queries : a->length[i];
}

/** Return the keys of the longest sequence. */
static inline int32_t attention_longest(const struct attention_case *a)
{
	int32_t longest = 0;

	for (int i = 0; i < a->n_seqs; i++)
		longest = a->length[i] > longest ? a->length[i] : longest;
	return longest;
}

/** Return the queries of all sequences. */
static inline int32_t attention_total_q(const struct attention_case *a)
{
	return a->queries ? a->queries * a->n_seqs : a->seqlen;
}

/** Return the pages of K and V. 0 without pages. */
int32_t attention_pages(const struct attention_case *a);

/** Return the entries of a sequence in the table of pages. 0 without pages. */
int32_t attention_page_entries(const struct attention_case *a);

/** Return the rows of K and V: the keys, or those of all pages. */
static inline int64_t attention_key_rows(const struct attention_case *a)
{
	return a->page ? (int64_t)attention_pages(a) * a->page : a->seqlen;
}

/**
 * Write the table of pages: entries in the order of the table are the positions of a Fisher-Yates shuffle of all pages. Step j
 * swaps position j with position j + mix(row + j * K) % (pages - j), where row = mix(stream(seed ^ mask_twist, 64)).
 * Shape: table[n_seqs][attention_page_entries], the layout of FW_PAGES.
 */
void attention_page_table(const struct attention_case *a, uint64_t seed, int32_t *table);

/** Return the exact number of query-key pairs of one query head (causal, S tokens: S(S+1)/2); of a token mask their mean. */
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

/** Return the tokens of a sequence; all sequences of a token mask have the same number. */
static inline int32_t attention_tokens(const struct attention_case *a)
{
	return a->length[0];
}

/** Return the 32-bit words of a query's row of a token mask. */
static inline int64_t attention_token_words(const struct attention_case *a)
{
	return (attention_tokens(a) + 31) / 32;
}

/** Return the number of pairs of all sequences and query heads. */
static inline int64_t attention_pairs(const struct attention_case *a)
{
	return (int64_t)a->nhq * a->seqlen * attention_tokens(a);
}

/**
 * Write a token mask. With draw = mix(stream(seed, 64 + query head) + query * K), where queries are numbered over all sequences:
 *   RANDOM  keeps key j if mix(draw + j * K) >> 11 is below density * 2^53
 *   others  as their source, moved by mask_twist tokens along queries and keys, around the ends of the sequence
 * Shape: bits[nhq][seqlen][attention_token_words], the layout of FW_TOKEN_BITS. Err: the file cannot be read, has another size
 * or hash, or an element that is neither 0 nor 1; its offset is named.
 */
int attention_token_bits(const struct attention_case *a, uint64_t seed, uint32_t *bits, struct fw_err *err);

/**
 * Complete a token mask of a suite: read its file for the hash, and count its pairs. Err: as above, or memory.
 */
int attention_complete_tokens(struct attention_case *a, uint64_t seed, struct fw_err *err);

/** Count a mask in tokens, for struct family. */
void attention_count_mask(const void *shape, const void *const *laid, struct mask_counts *out);

/**
 * Return "full" "causal" "varlen_full" "varlen_causal" "block_sparse" (uniform), or the name of another pattern; of token
 * masks "token_random" "token_corner" "token_file"; "serving".
 */
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
int attention_lay(const void *shape, uint64_t seed, int slot, void *out, struct fw_err *err);
const char *attention_file(const void *shape);
bool attention_has_second(const void *shape);
void attention_second(void *shape, int attempt);
int64_t attention_kept(const void *shape, const void *const *laid, int64_t *of);
void attention_abi(const void *shape, enum direction d, void *out);

#endif
