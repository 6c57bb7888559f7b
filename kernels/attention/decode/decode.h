/**
 * decode.h - a bound problem of provider "decode": attention of few queries on many keys, split over the keys.
 */
#ifndef ATTENTION_DECODE_H
#define ATTENTION_DECODE_H

#include <cuda_runtime.h>
#include <stdint.h>

/** Tensor (token, head, element) of 16 bits, elements adjacent. Units: strides in elements. */
struct decode_tensor {
	const void *data;
	int64_t token, head;
};

/**
 * Everything that the kernels need; passed to them by value. A row is a query and a query head of one key head: row r of a sequence
 * is head r % group of query r / group.
 * Shape: sum [splits][total_q][nhq][headdim], the outputs of each share of the keys before they are divided; part the same without
 * headdim, maximum of the scores in powers of two and sum of the weights; both in the workspace.
 */
struct decode_job {
	int32_t nhq, nhk, group, headdim, is_f16;
	int32_t total_q, total_k, n_seqs, max_q, max_k;
	int32_t window, page, entries; /* of a sequence in the table of pages */
	int32_t splits, chunks;        /* shares of the keys; thread blocks that share the rows of a key head */
	float scale_log2;              /* scale * log2(e) */
	struct decode_tensor q, k, v, o;
	float *lse;
	int64_t lse_head;
	const int32_t *cu_q, *cu_k; /* NULL: one sequence */
	const int32_t *pages;       /* NULL: not in pages */
	float *sum;
	float2 *part;
};

enum { DECODE_ROWS = 16 }; /* of a thread block */

/** Each launches a phase and returns the result of cudaGetLastError: RUN computes `sum` and `part`, CAST writes O and LSE. */
cudaError_t decode_split(const struct decode_job *job, cudaStream_t stream);
cudaError_t decode_combine(const struct decode_job *job, cudaStream_t stream);

#endif
