/**
 * gemm.h - a matrix product out (m, n) = left (m, depth) right (n, depth)^T that is ready to run, the kernels for it and the choice
 * of one. Functions with `error` write the reason of a failure to it, CONTRACT_TEXT_BYTES at most.
 * Either operand may be stored across: rows along depth, so that gradients need no transposed copy.
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
	int32_t steps;    /* steps of 128 bytes along depth */
	int32_t pairs;    /* row pairs; a pair is the adjacent row tiles that the blocks of a cluster own */
	int32_t columns;  /* column tiles */
	int32_t group;    /* pairs that are computed before the next column, so that shared data stays in the L2 cache */
	int32_t clusters; /* clusters in the grid */
	/* applied in kernels with an epilogue */
	const float *left_scale, *right_scale; /* NULL: 1 */
	int32_t left_step, right_step;         /* 1: one per row of that operand; 0: one for all */
	const __nv_bfloat16 *bias;             /* [n]; NULL: none */
	int64_t left_pitch, right_pitch;       /* scales by step: their distance from one step to the next */
	int32_t activation;                    /* enum fw_linear_activation */
};

/**
 * Types of left and right, and how the sums of 8 bits are added: in the tensor core's accumulator; PRECISE: in fp32 after each step;
 * BLOCKS, SPANS: in fp32 after each step, times its scales, one for each row of left and of right one for 128 rows or for each row.
 */
enum gemm_operands {
	GEMM_BF16 = 0,
	GEMM_E4M3 = 1,
	GEMM_E4M3_PRECISE = 2,
	GEMM_E5M2 = 3, /* left; right is e4m3 */
	GEMM_E5M2_PRECISE = 4,
	GEMM_E4M3_BLOCKS = 5,
	GEMM_E4M3_SPANS = 6
};

/** Applied to sums before they are rounded: nothing; scales; scales, bias and activation. */
enum gemm_finishes { GEMM_PLAIN = 0, GEMM_SCALES = 1, GEMM_ALL = 2 };

/**
 * A kernel. Its row tile is 128. Scales by step are read without a test up to the next multiple of GEMM_SCALES_ROWS rows of an
 * operand.
 */
struct gemm_kernel {
	enum gemm_operands operands;
	int left_across, right_across; /* stored with rows along depth */
	int width;                     /* columns of a tile */
	int stages;
	int cluster; /* blocks of a cluster; they share the right operand */
	enum gemm_finishes finishes;
	int shared; /* dynamic shared memory in bytes */
	const void *function;
};

enum { GEMM_ROWS = 128, GEMM_THREADS = 384, GEMM_STORE_ROWS = 16, GEMM_SCALES_ROWS = 256 };

/** All kernels; an entry with function NULL ends the list. */
const struct gemm_kernel *gemm_kernels_bf16(void);
const struct gemm_kernel *gemm_kernels_e4m3(void);

/** A product with its kernel. Tensor maps must be aligned to 64 bytes. */
struct gemm_product {
	struct gemm_job job;
	const struct gemm_kernel *kernel;
	char config[64];
};

/** Properties that the kernel of a product must have. */
struct gemm_needs {
	enum gemm_operands operands;
	int left_across, right_across;
	enum gemm_finishes finishes;
	int depth; /* elements that are summed */
};

/** A row-major matrix of bf16, or of bytes. Units: stride in bytes. */
struct gemm_matrix {
	const void *data;
	int rows, columns, is_bytes;
	int64_t stride;
};

/** Whether the current device can run the kernels, or cannot be queried. Err: FW_UNSUPPORTED, with the reason. */
int gemm_can(char *why, size_t why_size);

/**
 * Choose kernel, tile order and grid for the current device; m, n and the epilogue of product->job are set. `config`: NULL, or the
 * required choice. Err: FW_UNSUPPORTED.
 */
int gemm_choose(struct gemm_product *, const struct gemm_needs *, const char *config, int processors, char *error);

/** Make a map of boxes of 128 bytes by `tall` rows. Err: FW_UNSUPPORTED. */
int gemm_map(CUtensorMap *, const struct gemm_matrix *, int tall, char *error);

/** Enqueue the kernel. */
cudaError_t gemm_enqueue(struct gemm_product *, cudaStream_t);

#endif
