/**
 * mma.h - parameters of the kernel of provider "mma": for each group out = left right in bf16.
 */
#ifndef GROUPED_MMA_H
#define GROUPED_MMA_H

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdint.h>

/** Passed to the kernel by value; buffers as fw_grouped.h describes them. */
struct mma_job {
	const __nv_bfloat16 *left, *right;
	__nv_bfloat16 *out;
	const int32_t *offsets;
	int32_t groups, n, k;
	int32_t direction; /* enum fw_direction */
	int32_t tile_rows; /* 16, 64 or 128; of wgrad 128 */
	int32_t blocks;    /* of a launch; each takes tiles in turn */
};

enum { MMA_COLUMNS = 128 /* of a tile */ };

/** Allow the kernel its shared memory on the current device. */
cudaError_t mma_setup(const struct mma_job *);

cudaError_t mma_run(const struct mma_job *, cudaStream_t);

#endif
