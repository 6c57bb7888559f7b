/*
 * mma.cu - grouped products with mma.sync, ldmatrix and cp.async: tensor cores from sm_80 on, without TMA or warp specialisation.
 *
 * A launch has as many blocks as fit on the card, because the host does not know the sizes of groups. Each block counts the tiles of
 * all groups from OFFSETS, and takes every gridDim-th tile. Tiles of a group come column by column, so that concurrent blocks share a
 * part of W, of which there is most if groups are small. Groups without rows have no tile; in wgrad they have tiles of depth 0.
 * Double-buffered: while one step is multiplied the next is loaded. hopper/tile.h describes the tiles.
 */
#include "mma.h"

#include "fw_grouped.h"
#include "hopper/launch.h"
#include "hopper/tile.h"

#define DEVICE static __device__ __forceinline__

enum { THREADS = 256, WARPS = THREADS / 32, COUNTS = FW_GROUPED_GROUPS_MAX / THREADS };

/* 128 rows are shared by two rows of warps, fewer by one. */
template <int ROWS> struct tile {
	static const int down = ROWS == 128 ? 2 : 1, rows = ROWS / down, columns = MMA_COLUMNS / (WARPS / down);
	static const int left = TILE_BYTES(ROWS), step = left + TILE_BYTES(MMA_COLUMNS); /* bytes */
};

/* A tile's group as a separate product, and the tile's position in it. */
struct place {
	const __nv_bfloat16 *left, *right;
	__nv_bfloat16 *out;
	int size; /* rows of the group */
	int row, column;
};

/* Columns of the result, which are its stride; of the left operand as stored. Those of the right one are k. */
template <int DIRECTION> DEVICE int columns_of(const mma_job &job)
{
	return DIRECTION == FW_FORWARD ? job.n : job.k;
}

template <int DIRECTION> DEVICE int left_columns_of(const mma_job &job)
{
	return DIRECTION == FW_FORWARD ? job.k : job.n;
}

template <int DIRECTION> DEVICE int rows_of(const mma_job &job, const place &p)
{
	return DIRECTION == FW_WGRAD ? job.n : p.size;
}

template <int DIRECTION> DEVICE int depth_of(const mma_job &job, const place &p)
{
	return DIRECTION == FW_WGRAD ? p.size : left_columns_of<DIRECTION>(job);
}

/* Count the tiles of all groups before each one. Shape: first[groups + 1], the last one has all. */
template <int ROWS> DEVICE void count_tiles(const mma_job &job, int *first)
{
	for (int g = (int)threadIdx.x; g < job.groups; g += THREADS)
		first[g + 1] = (job.offsets[g + 1] - job.offsets[g] + ROWS - 1) / ROWS;
	if (threadIdx.x == 0)
		first[0] = 0;
	__syncthreads();
	for (int reach = 1; reach < job.groups; reach *= 2) { /* first[g + 1] has the sum of up to `reach` groups */
		int more[COUNTS];
#pragma unroll
		for (int i = 0; i < COUNTS; i++) {
			const int g = (int)threadIdx.x + i * THREADS;
			more[i] = g < job.groups && g >= reach ? first[g + 1 - reach] : 0;
		}
		__syncthreads();
#pragma unroll
		for (int i = 0; i < COUNTS; i++) {
			const int g = (int)threadIdx.x + i * THREADS;
			if (g < job.groups)
				first[g + 1] += more[i];
		}
		__syncthreads();
	}
}

/* Return the group that has row tile `at` of all. */
DEVICE int group_of(const int *first, int groups, int at)
{
	int low = 0, high = groups - 1;
	while (low < high) {
		const int middle = (low + high) / 2;
		if (at < first[middle + 1])
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

template <int DIRECTION, int ROWS> DEVICE void find_place(const mma_job &job, const int *first, int at, int across, place *p)
{
	const bool wgrad = DIRECTION == FW_WGRAD;
	const int down = wgrad ? (job.n + ROWS - 1) / ROWS : 0;
	const int group = wgrad ? at / (down * across) : group_of(first, job.groups, at / across);
	const int tiles = wgrad ? down : first[group + 1] - first[group];
	const int inside = at - (wgrad ? group * down : first[group]) * across;
	const int64_t begin = job.offsets[group], matrix = (int64_t)group * job.n * job.k;
	p->size = job.offsets[group + 1] - (int)begin;
	p->row = inside % tiles * ROWS;
	p->column = inside / tiles * MMA_COLUMNS;
	p->left = job.left + begin * left_columns_of<DIRECTION>(job);
	p->right = job.right + (wgrad ? begin * job.k : matrix);
	p->out = job.out + (wgrad ? matrix : begin * columns_of<DIRECTION>(job));
}

template <int DIRECTION, int ROWS> DEVICE void fill(uint32_t to, const mma_job &job, const place &p, int step)
{
	const int depth = depth_of<DIRECTION>(job, p);
	tile_fill<DIRECTION == FW_WGRAD, ROWS, THREADS>(
		to, p.left, left_columns_of<DIRECTION>(job), rows_of<DIRECTION>(job, p), depth, p.row, step);
	tile_fill<DIRECTION != FW_FORWARD, MMA_COLUMNS, THREADS>(
		to + tile<ROWS>::left, p.right, job.k, columns_of<DIRECTION>(job), depth, p.column, step);
	sm80_copy_commit();
}

/* Multiply and store one tile. Shared memory from `base` on has two steps. */
template <int DIRECTION, int ROWS> DEVICE void multiply(const mma_job &job, const place &p, uint32_t base)
{
	const int fragments = tile<ROWS>::rows / 16, pairs = tile<ROWS>::columns / 16, lane = (int)threadIdx.x % 32;
	const int warp = (int)threadIdx.x / 32, wide = WARPS / tile<ROWS>::down;
	const int row = warp / wide * tile<ROWS>::rows, column = warp % wide * tile<ROWS>::columns;
	const int steps = (depth_of<DIRECTION>(job, p) + TILE_STEP - 1) / TILE_STEP;
	float c[fragments][2 * pairs][4] = {};
	fill<DIRECTION, ROWS>(base, job, p, 0);
	for (int s = 0; s < steps; s++) {
		const uint32_t left = base + (uint32_t)(s % 2 * tile<ROWS>::step), right = left + tile<ROWS>::left;
		sm80_copy_wait();
		__syncthreads();
		if (s + 1 < steps)
			fill<DIRECTION, ROWS>(base + (uint32_t)((s + 1) % 2 * tile<ROWS>::step), job, p, (s + 1) * TILE_STEP);
#pragma unroll
		for (int k = 0; k < TILE_STEP; k += 16) {
			uint32_t a[fragments][4], b[pairs][4];
#pragma unroll
			for (int i = 0; i < fragments; i++)
				tile_left<DIRECTION == FW_WGRAD>(a[i], left, row + 16 * i, k, lane);
#pragma unroll
			for (int j = 0; j < pairs; j++)
				tile_right<DIRECTION != FW_FORWARD>(b[j], right, column + 16 * j, k, lane);
#pragma unroll
			for (int i = 0; i < fragments; i++)
#pragma unroll
				for (int j = 0; j < 2 * pairs; j++)
					sm80_mma(c[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
		}
	}
	const int columns = columns_of<DIRECTION>(job);
	sm80_copy_wait(); /* of depth 0: the zeros of the first step */
	__syncthreads();  /* all warps have read their tiles, which the next one overwrites */
#pragma unroll
	for (int i = 0; i < fragments; i++)
#pragma unroll
		for (int j = 0; j < 2 * pairs; j++)
#pragma unroll
			for (int half = 0; half < 2; half++) {
				const int y = p.row + row + 16 * i + 8 * half + lane / 4,
					  x = p.column + column + 8 * j + 2 * (lane % 4);
				if (y < rows_of<DIRECTION>(job, p) && x < columns)
					*(uint32_t *)(p.out + (int64_t)y * columns + x) =
						sm80_pack(c[i][j][2 * half], c[i][j][2 * half + 1]);
			}
}

template <int DIRECTION, int ROWS>
static __global__ void __launch_bounds__(THREADS, 2) mma_kernel(const __grid_constant__ mma_job job)
{
	extern __shared__ __align__(128) unsigned char memory[];
	__shared__ int first[FW_GROUPED_GROUPS_MAX + 1];
	__shared__ place p; /* not in registers, of which the sums need most */
	const int across = (columns_of<DIRECTION>(job) + MMA_COLUMNS - 1) / MMA_COLUMNS;
	int tiles =
		job.groups * ((job.n + ROWS - 1) / ROWS) * across; /* below 2^25, since no tensor has more than 2^31 elements */
	if (DIRECTION != FW_WGRAD) {
		count_tiles<ROWS>(job, first);
		tiles = first[job.groups] * across;
	}
	for (int at = (int)blockIdx.x; at < tiles; at += (int)gridDim.x) {
		if (threadIdx.x == 0)
			find_place<DIRECTION, ROWS>(job, first, at, across, &p);
		__syncthreads();
		multiply<DIRECTION, ROWS>(job, p, sm80_shared(memory));
		__syncthreads(); /* all threads have read p */
	}
}

template <int DIRECTION> static const void *kernel_of(int tile_rows)
{
	return tile_rows == 16   ? (const void *)mma_kernel<DIRECTION, 16>
	       : tile_rows == 64 ? (const void *)mma_kernel<DIRECTION, 64>
				 : (const void *)mma_kernel<DIRECTION, 128>;
}

static const void *kernel_for(const mma_job *job)
{
	return job->direction == FW_WGRAD     ? (const void *)mma_kernel<FW_WGRAD, 128>
	       : job->direction == FW_FORWARD ? kernel_of<FW_FORWARD>(job->tile_rows)
					      : kernel_of<FW_DGRAD>(job->tile_rows);
}

static int shared_of(const mma_job *job)
{
	return 2 * (TILE_BYTES(job->tile_rows) + TILE_BYTES(MMA_COLUMNS));
}

cudaError_t mma_setup(const mma_job *job)
{
	return launch_allow_all(kernel_for(job), shared_of(job));
}

cudaError_t mma_run(const mma_job *job, cudaStream_t stream)
{
	return launch(kernel_for(job), job->blocks, THREADS, shared_of(job), job, stream);
}
