/**
 * skinny.h - declarations shared by the files of provider "skinny": products of few rows of X, bound by reading W once.
 * W's rows are the M side (16) of mma.m16n8k16, X's rows (m of them) the N side (8). A thread block owns BLOCK_N rows of W and a
 * share of k; the blocks of one cluster own shares of the same rows and add their sums through each other's shared memory, in the
 * order of their ranks.
 * Packed W is a sequence of chunks in the order in which they are read: for each tile of BLOCK_N rows, for each BLOCK_K columns,
 * first the values, by 16 rows and 64 columns in the order of the lanes of a warp, then (4 bits) the scales. So a chunk is one
 * bulk copy. Lane 4 g + t holds columns 16 t to 16 t + 15 of rows g and g + 8:
 *
 *     4 bits   16 bytes: row g, then g + 8; of eight columns, number 2 i is nibble i and 2 i + 1 nibble i + 4
 *     8 bits   16 bytes of row g for each lane, then those of row g + 8; i8 plus 128; of four e4m3 the bytes are columns 2 0 3 1
 *     scales   for each group, for each 16 rows, rows 0 8 1 9 ..: bf16 64 s, since tile.h converts q to q / 64, bf16 zero
 *
 * W in bf16 is not packed: a chunk is boxes of 64 columns of all its rows, one after the other, in TMA's 128-byte swizzle, like those of X.
 * X in e4m3 is multiplied as bf16, in which its values are exact; its scales are factors of the sums.
 */
#ifndef LINEAR_SKINNY_H
#define LINEAR_SKINNY_H

#include "linear/operands.h"

#include <cuda.h>
#include <cuda_runtime.h>

#define SKINNY_HD static __host__ __device__ inline

enum {
	SKINNY_M_MAX = 64,
	SKINNY_WARPS = 16,
	SKINNY_THREADS = (SKINNY_WARPS + 2) * 32,
	SKINNY_STAGES_MAX = 24,
	SKINNY_SPLIT_MAX = 8,
	SKINNY_I4_SCALE = 64
};

/**
 * Partition of a chunk among the warps of a block: each has 64 of its columns, WARPS / `warps_k` rows of warps, 16 `tiles` rows
 * each.
 */
struct skinny_shape {
	int tiles, warps_k;
	int block_n, block_k;
	int split;  /* blocks of a cluster, each with its share of k: 1, 2, 4 or 8 */
	int stages; /* chunks in flight */
};

/** One bound problem, passed to kernels by value. */
struct skinny_task {
	CUtensorMap x; /* (64 columns, m, k / 64) in boxes of a chunk, or (k, m, 1) in boxes of 64 columns; 128-byte swizzle */
	CUtensorMap w; /* of bf16: (k, n) in boxes of 64 columns by block_n */
	const unsigned char *packed;
	const float *scale;   /* [tiles of n * block_n], 8 bits */
	const float *x_scale; /* [m] or [1], of X in e4m3; NULL: 1 */
	uint16_t *out;        /* bf16 (m, n) */
	const uint16_t *bias; /* [n] or NULL */
	int64_t out_stride;
	int32_t m, n, k, chunks; /* chunks along k */
	int32_t x_in_blocks;     /* 1: the first of the two layouts, which needs whole blocks */
	int32_t x_scale_step;    /* 1: one per row of X; 0: one for all */
	int32_t format;          /* enum fw_dtype of W */
	int32_t group_log2;      /* 4 bits */
	int32_t activation;
	struct skinny_shape shape;
	int32_t split_log2, owned_log2; /* of shape.split, and of the rows of a tile that one block of a cluster finishes */
	int32_t stage_bytes, received_bytes;
};

SKINNY_HD int skinny_bits(int format)
{
	return format == FW_I4 ? 4 : format == FW_BF16 ? 16 : 8;
}

/** Number of groups in a chunk that have scales. */
SKINNY_HD int skinny_groups(int format, int block_k, int group_log2)
{
	if (format != FW_I4)
		return 0;
	return block_k >> group_log2 > 1 ? block_k >> group_log2 : 1;
}

/** Size of a chunk of W. Units: bytes. */
SKINNY_HD int skinny_chunk_bytes(int format, const struct skinny_shape *s, int group_log2)
{
	return s->block_n * (s->block_k * skinny_bits(format) / 8 + 4 * skinny_groups(format, s->block_k, group_log2));
}

/** X's rows padded to a size of the kernel: 8, 16, 32 or 64. */
SKINNY_HD int skinny_rows(int m)
{
	return m <= 8 ? 8 : m <= 16 ? 16 : m <= 32 ? 32 : 64;
}

/** Blocks that share a multiprocessor: if registers allow it, one begins while another ends. */
SKINNY_HD constexpr int skinny_blocks(int rows, int tiles)
{
	return rows * tiles <= 16 ? 2 : 1;
}

/** Sizes in shared memory of a stage, and of the data received from the cluster. Units: bytes. */
SKINNY_HD int skinny_stage_bytes(const struct skinny_task *t)
{
	const int chunk = skinny_chunk_bytes(t->format, &t->shape, t->group_log2);
	return (chunk + t->shape.block_k * skinny_rows(t->m) * 2 + 1023) / 1024 * 1024;
}

SKINNY_HD int skinny_received_bytes(const struct skinny_task *t)
{
	return t->shape.warps_k * t->shape.block_n * skinny_rows(t->m) * (int)sizeof(float);
}

/** Total shared memory, with 1024 for the alignment of stages. Units: bytes. */
SKINNY_HD int skinny_shared_bytes(const struct skinny_task *t)
{
	return t->shape.stages * skinny_stage_bytes(t) + skinny_received_bytes(t) + 2 * SKINNY_STAGES_MAX * 8 + 1024;
}

/**
 * Choose the partition of a task of which the sizes are set: from `config`, else the one with the least work for the busiest
 * multiprocessor. Units: `shared_bytes` that a block may have. False: it is not possible, or there is no such configuration.
 */
bool skinny_choose(struct skinny_task *, const char *config, int shared_bytes);

/** Launch the product. `may_overlap`: it may begin to read W while earlier work on the stream still runs. */
cudaError_t skinny_launch(const struct skinny_task *, bool may_overlap, cudaStream_t stream);

/** The kernel of a task, or NULL: there is none for this shape. */
const void *skinny_kernel_i4(const struct skinny_task *);
const void *skinny_kernel_i8(const struct skinny_task *);
const void *skinny_kernel_e4m3(const struct skinny_task *);
const void *skinny_kernel_bf16(const struct skinny_task *);

/**
 * Round and pack W. Shape: from bf16 (n, k); steps float2 [n][k / group], scratch for 4 bits. `packed` and `scale` of the task are written.
 */
cudaError_t skinny_pack(const struct skinny_task *, const struct fw_linear_operand *as, const struct contract_matrix *from,
	float2 *steps, cudaStream_t stream);

#endif
