/**
 * v1.cu - the product with mma.sync, ldmatrix and cp.async: tensor cores from sm_80 on, without TMA or warp specialisation.
 *
 *     out[row][column] += left[row][j] * right[column][j], 128 x 128 per block, 64 x 32 per warp, j in steps of 64
 * Double-buffered: while one tile is multiplied the next is loaded. tile.h describes the tiles.
 */
#include "v1.h"

#include "hopper/launch.h"
#include "hopper/tile.h"

enum { SIDE = 128, STEP = TILE_STEP, THREADS = 256, TILE = TILE_BYTES(SIDE), SHARED = 4 * TILE };

template <int LEFT, int RIGHT> static __global__ void __launch_bounds__(THREADS, 2) v1_kernel(const v1_job job)
{
	extern __shared__ __align__(128) unsigned char memory[];
	const uint32_t base = sm80_shared(memory);
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, row = warp / 4 * 64, column = warp % 4 * 32;
	const int first_row = (int)blockIdx.x * SIDE, first_column = (int)blockIdx.y * SIDE,
		  steps = (job.depth + STEP - 1) / STEP;
	float c[4][4][4] = {};
	tile_fill<LEFT, SIDE, THREADS>(base, job.left, job.left_stride, job.m, job.depth, first_row, 0);
	tile_fill<RIGHT, SIDE, THREADS>(base + TILE, job.right, job.right_stride, job.n, job.depth, first_column, 0);
	sm80_copy_commit();
	for (int s = 0; s < steps; s++) {
		const uint32_t left = base + (uint32_t)(s % 2) * 2 * TILE, next = base + (uint32_t)((s + 1) % 2) * 2 * TILE;
		sm80_copy_wait();
		__syncthreads();
		if (s + 1 < steps) {
			tile_fill<LEFT, SIDE, THREADS>(
				next, job.left, job.left_stride, job.m, job.depth, first_row, (s + 1) * STEP);
			tile_fill<RIGHT, SIDE, THREADS>(
				next + TILE, job.right, job.right_stride, job.n, job.depth, first_column, (s + 1) * STEP);
			sm80_copy_commit();
		}
#pragma unroll
		for (int k = 0; k < STEP; k += 16) {
			uint32_t a[4][4], b[2][4];
#pragma unroll
			for (int i = 0; i < 4; i++)
				tile_left<LEFT>(a[i], left, row + 16 * i, k, lane);
#pragma unroll
			for (int j = 0; j < 2; j++)
				tile_right<RIGHT>(b[j], left + TILE, column + 16 * j, k, lane);
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int j = 0; j < 4; j++)
					sm80_mma(c[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
		}
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int j = 0; j < 4; j++)
#pragma unroll
			for (int half = 0; half < 2; half++) {
				const int y = first_row + row + 16 * i + 8 * half + lane / 4;
				const int x = first_column + column + 8 * j + 2 * (lane % 4);
				if (y < job.m && x < job.n)
					*(uint32_t *)(job.out + y * job.out_stride + x) =
						sm80_pack(c[i][j][2 * half], c[i][j][2 * half + 1]);
			}
}

static const void *kernel_of(const struct v1_job *job)
{
	if (job->left_across)
		return (const void *)v1_kernel<1, 1>;
	return job->right_across ? (const void *)v1_kernel<0, 1> : (const void *)v1_kernel<0, 0>;
}

cudaError_t v1_setup(const struct v1_job *job)
{
	return launch_allow_all(kernel_of(job), SHARED);
}

cudaError_t v1_run(const struct v1_job *job, cudaStream_t stream)
{
	void *arguments[] = { const_cast<struct v1_job *>(job) };
	const dim3 grid((unsigned)((job->m + SIDE - 1) / SIDE), (unsigned)((job->n + SIDE - 1) / SIDE));
	const cudaError_t launched = cudaLaunchKernel(kernel_of(job), grid, dim3(THREADS), arguments, SHARED, stream);
	const cudaError_t last = cudaGetLastError();
	return launched != cudaSuccess ? launched : last;
}
