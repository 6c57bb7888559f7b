/**
 * fw_attention.h - the family of attention: O = softmax(scale Q K^T) V under a mask, and its gradients.
 */
#ifndef FW_ATTENTION_H
#define FW_ATTENTION_H

#include "fw_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FW_ATTENTION 1

/**
 * FW_CAUSAL is aligned at the bottom right: row i of a sequence sees key j when j <= i + len_k - len_q.
 * FW_BLOCKS computes the (query block, key block) pairs whose bit is set in FW_BLOCK_BITS: whole blocks, without a causal mask.
 * FW_TOKENS computes the (query, key) pairs of each query head whose bit is set in FW_TOKEN_BITS, without a causal mask; a query
 * may see no key.
 * FW_CACHE is FW_CAUSAL over keys with a window (`window`), in pages (`page`), or both; forward only. A module that knows neither
 * of these fields does not know this mask, and refuses it.
 */
enum fw_mask { FW_FULL = 1, FW_CAUSAL = 2, FW_BLOCKS = 3, FW_TOKENS = 4, FW_CACHE = 5 };

/**
 * Phases of one call:
 *   RANGE_MERGE  convert sequence offsets or block bits to work lists
 *   PREPARE      zero accumulators, set ticket counters
 *   PREPROCESS   backward: row sums of dO*O, rescaled LSE
 *   RUN          the main kernel
 *   FILL         write rows that no work item covers
 *   CAST         convert accumulators to the output type
 */
enum fw_attention_phase { FW_RANGE_MERGE = 1, FW_PREPARE = 2, FW_PREPROCESS = 4, FW_RUN = 8, FW_FILL = 16, FW_CAST = 32 };

/**
 * Buffers. The work depends on CU_Q, CU_K, BLOCK_BITS, TOKEN_BITS and PAGES (fw_provider.count).
 * Shape: Q, O, DO, DQ (total_q, nhq, d); K, V, DK, DV (total_k, nhk, d), row-major unless strides are set;
 *        LSE (nhq, total_q) fp32; CU_Q, CU_K int32 [n_seqs + 1], ascending from 0 to total_q / total_k;
 *        BLOCK_BITS u32 [nhk][ceil(total_q / block_q)][ceil(ceil(total_k / block_k) / 32)], bit j of word w = key block 32w + j;
 *        TOKEN_BITS u32 [nhq][total_q][ceil(max_k / 32)], bit j of word w = key 32w + j of the query's own sequence;
 *        PAGES int32 [n_seqs][ceil(max_k / page)], numbers of pages, 0 beyond the sequence's last one. With pages K and V are
 *        (n_pages, page, nhk, d), and key t of sequence s is row t % page of page PAGES[s][t / page]. Rows of a last page behind
 *        the sequence's end have values that no query sees.
 * Query head h reads key head h / (nhq / nhk). LSE is the natural logarithm of the row's sum of exp(scale * q.k).
 * Forward reads Q K V and writes O LSE. Backward reads Q K V O LSE DO and writes DQ DK DV. Total reads Q K V DO and writes O LSE
 * DQ DK DV. A row that sees no key: O 0, LSE -inf, gradients 0.
 */
enum fw_attention_slot {
	FW_Q,
	FW_K,
	FW_V,
	FW_O,
	FW_LSE,
	FW_DO,
	FW_DQ,
	FW_DK,
	FW_DV,
	FW_CU_Q,
	FW_CU_K,
	FW_BLOCK_BITS,
	FW_TOKEN_BITS,
	FW_PAGES,
	FW_ATTENTION_SLOTS
};

/** Sizes only. Offsets and mask bits are device data: building the lists is timed, one plan serves every mask of these sizes. */
struct fw_attention {
	uint32_t struct_size;
	int32_t nhq, nhk;             /* heads; nhq is a multiple of nhk */
	int32_t headdim, headdim_v;   /* elements */
	int32_t dtype;                /* enum fw_dtype of Q K V O and their gradients */
	int32_t mask;                 /* enum fw_mask */
	int32_t block_q, block_k;     /* tokens of a mask block, for queries and keys; the two may differ; 0 unless FW_BLOCKS */
	int32_t total_q, total_k;     /* tokens over all sequences */
	int32_t n_seqs, max_q, max_k; /* n_seqs 1: CU_Q and CU_K may be NULL */
	int64_t max_blocks;           /* upper bound on the number of set blocks over all key heads; 0 unless FW_BLOCKS */
	double scale;                 /* factor on q.k before the exponential */
	int32_t window;   /* the last keys that a query sees, up to that of FW_CAUSAL; 0: all of them, also unless FW_CACHE */
	int32_t page;     /* tokens of a page of K and V; 0: K and V are not in pages, also unless FW_CACHE */
	int32_t n_pages;  /* pages of K and V, each of one sequence; 0 without pages */
	int32_t reserved; /* 0 */
};

/** The sizes of a problem of this family, NULL for another family. */
static inline const struct fw_attention *fw_attention_of(const struct fw_problem *problem)
{
	return problem->family == FW_ATTENTION ? (const struct fw_attention *)problem->shape : NULL;
}

#ifdef __cplusplus
}
#endif
#endif
