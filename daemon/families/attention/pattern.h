/**
 * pattern.h - where the kept blocks of a sparse mask lie. How many a row keeps is the same for every pattern, so that patterns
 * differ in what can be skipped and read again, never in useful work.
 */
#ifndef FAMILIES_ATTENTION_PATTERN_H
#define FAMILIES_ATTENTION_PATTERN_H

#include <stdint.h>

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
 * draw = stream(seed, 64 + kv head) of inputs.h and diagonal = query block * k_blocks / q_blocks:
 *   BANDED         blocks first .. first + keep - 1, first = diagonal - draw % (min(keep, k_blocks - keep) + 1), at least 0 and at
 *                  most k_blocks - keep
 *   STRIDED        blocks (diagonal + draw % k_blocks + j * k_blocks / keep) % k_blocks for j of 0 .. keep - 1
 *   BIGBIRD        of 0, k_blocks - 1, diagonal, diagonal - 1, diagonal + 1 the first `keep` that there are, each once, then what
 *                  pattern_drawn_bits draws in its order, but for those that are kept already
 *   others         pattern_drawn_bits
 * Shape: bits[nhk][q_blocks][(k_blocks + 31) / 32]; 1 <= keep <= k_blocks <= PATTERN_BLOCKS_MAX.
 */
void pattern_bits(enum pattern pattern, uint64_t seed, int nhk, int q_blocks, int k_blocks, int keep, uint32_t *bits);

#endif
