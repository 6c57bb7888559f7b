/**
 * gemm.h - a matrix product out (m, n) = left (m, depth) right (n, depth)^T that is ready to run, and the kernels that there are for it.
 *
 * Either operand may be stored across: rows along depth, so that nothing has to be transposed for a gradient.
 */
#ifndef LINEAR_HOPPER_GEMM_H
#define LINEAR_HOPPER_GEMM_H

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdint.h>

/** Passed to the kernels by value. */
struct gemm_job {
	CUtensorMap left, right, out;
	int32_t m, n;
	int32_t steps;    /* of 128 bytes along depth */
	int32_t pairs;    /* of row tiles: what the blocks of a cluster own side by side */
	int32_t columns;  /* column tiles */
	int32_t group;    /* pairs that are walked before the next column, so that what they share stays in the L2 cache */
	int32_t clusters; /* of the grid */
	/* of kernels that finish */
	const float *left_scale, *right_scale; /* NULL: 1 */
	int32_t left_step, right_step;         /* 1: one a row of that operand; 0: one of all */
	const __nv_bfloat16 *bias;             /* [n]; NULL: none */
	int32_t activation;                    /* enum fw_linear_activation */
};

enum gemm_operands { GEMM_BF16 = 0, GEMM_E4M3 = 1, GEMM_E4M3_PRECISE = 2 };

/** What becomes of sums before they are rounded: nothing; scales; scales, bias and activation. */
enum gemm_finishes { GEMM_PLAIN = 0, GEMM_SCALES = 1, GEMM_ALL = 2 };

/** A kernel. Its row tile is 128. */
struct gemm_kernel {
	enum gemm_operands operands;
	int left_across, right_across; /* stored with rows along depth */
	int width;                     /* columns of a tile */
	int stages;
	int cluster; /* blocks; they share the right operand */
	enum gemm_finishes finishes;
	int shared; /* bytes of dynamic shared memory */
	const void *function;
};

enum { GEMM_ROWS = 128, GEMM_THREADS = 384, GEMM_STORE_ROWS = 16 };

/** All kernels; NULL function ends the list. */
const struct gemm_kernel *gemm_kernels_bf16(void);
const struct gemm_kernel *gemm_kernels_e4m3(void);

#endif
