/* reference_cuda.cu - sums of products in fp64 on the GPU, where the operands are; documented in internal.h. */
#ifdef FW_HAVE_CUDA

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "families/linear/internal.h"
}
#include "runner/reference_memory.cuh"

enum {
	THREADS = 256,
	WARPS = THREADS / 32,
	LINES = 4 /* of A in one launch */,
	PIECE = 128 /* rows of B in a block of add_columns */
};

/* Arguments of a launch, which adds the products of lines [at, at + n) of A. */
struct task {
	struct fw_linear_operand as;
	float scale;
	const uint16_t *b;
	const double *left;
	int64_t columns, first, n_columns, length;
	int64_t at;
	int n;
};

struct totals {
	double sum, size, square;
};

static __device__ void add(struct totals *t, double product)
{
	t->sum += product;
	t->size += fabs(product);
	t->square += product * product;
}

static __device__ void block_add(struct totals *to, const struct totals *mine)
{
	double v[3] = { mine->sum, mine->size, mine->square };
	for (int k = 0; k < 3; k++)
		for (int lane = 16; lane > 0; lane /= 2)
			v[k] += __shfl_xor_sync(0xffffffffu, v[k], lane);
	if (threadIdx.x % 32 == 0) {
		atomicAdd(&to->sum, v[0]);
		atomicAdd(&to->size, v[1]);
		atomicAdd(&to->square, v[2]);
	}
}

/* Return the largest magnitude of a line, in every thread of the block. */
static __device__ float largest_of(const uint16_t *x, int64_t n)
{
	__shared__ float warp[WARPS];
	float most = 0;
	for (int64_t i = threadIdx.x; i < n; i += THREADS)
		most = fmaxf(most, fabsf(inputs_bf16_to_float(x[i])));
	for (int lane = 16; lane > 0; lane /= 2)
		most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lane));
	if (threadIdx.x % 32 == 0)
		warp[threadIdx.x / 32] = most;
	__syncthreads();
	for (int i = 0; i < WARPS; i++)
		most = fmaxf(most, warp[i]);
	return most;
}

/* One block per column of the output, which is a row of B. Shape: to[lines][n_columns]. */
static __global__ void add_rows(struct task t, struct totals *to)
{
	const uint16_t *b = t.b + (t.first + blockIdx.x) * t.length;
	struct totals mine[LINES] = {};
	if (t.as.scaling == FW_LINEAR_BY_GROUP) {
		for (int64_t at = (int64_t)threadIdx.x * t.as.group; at + t.as.group <= t.length;
			at += (int64_t)THREADS * t.as.group) {
			float min = inputs_bf16_to_float(b[at]), max = min;
			for (int64_t l = at + 1; l < at + t.as.group; l++) {
				min = fminf(min, inputs_bf16_to_float(b[l]));
				max = fmaxf(max, inputs_bf16_to_float(b[l]));
			}
			struct quantise_group g = quantise_group_make(min, max);
			for (int64_t l = at; l < at + t.as.group; l++) {
				double value = quantise_group_value(&g, inputs_bf16_to_float(b[l]));
#pragma unroll
				for (int i = 0; i < LINES; i++)
					if (i < t.n)
						add(&mine[i], t.left[(t.at + i) * t.length + l] * value);
			}
		}
	} else {
		float scale = t.as.scaling == FW_LINEAR_BY_TENSOR ? t.scale : quantise_scale(&t.as, largest_of(b, t.length));
		for (int64_t l = threadIdx.x; l < t.length; l += THREADS) {
			double value = quantise_value(&t.as, inputs_bf16_to_float(b[l]), scale);
#pragma unroll
			for (int i = 0; i < LINES; i++)
				if (i < t.n)
					add(&mine[i], t.left[(t.at + i) * t.length + l] * value);
		}
	}
#pragma unroll
	for (int i = 0; i < LINES; i++)
		if (i < t.n)
			block_add(&to[(t.at + i) * t.n_columns + blockIdx.x], &mine[i]);
}

/* Magnitudes of bf16 are ordered as their bits are. Shape: largest[n_columns]. */
static __global__ void find_largest_of_columns(struct task t, unsigned *largest)
{
	int64_t j = blockIdx.x * (int64_t)THREADS + threadIdx.x, end = min((blockIdx.y + 1) * (int64_t)PIECE, t.length);
	unsigned most = 0;
	if (j >= t.n_columns)
		return;
	for (int64_t l = blockIdx.y * (int64_t)PIECE; l < end; l++)
		most = max(most, t.b[l * t.columns + t.first + j] & 0x7fffu);
	atomicMax(&largest[j], most);
}

/* One thread per column of the output, for a piece of B's rows. */
static __global__ void add_columns(struct task t, const unsigned *largest, struct totals *to)
{
	int64_t j = blockIdx.x * (int64_t)THREADS + threadIdx.x, end = min((blockIdx.y + 1) * (int64_t)PIECE, t.length);
	struct totals mine[LINES] = {};
	if (j >= t.n_columns)
		return;
	float scale =
		t.as.scaling == FW_LINEAR_BY_ROW ? quantise_scale(&t.as, inputs_bf16_to_float((uint16_t)largest[j])) : t.scale;
	for (int64_t l = blockIdx.y * (int64_t)PIECE; l < end; l++) {
		double value = quantise_value(&t.as, inputs_bf16_to_float(t.b[l * t.columns + t.first + j]), scale);
#pragma unroll
		for (int i = 0; i < LINES; i++)
			if (i < t.n)
				add(&mine[i], t.left[(t.at + i) * t.length + l] * value);
	}
#pragma unroll
	for (int i = 0; i < LINES; i++) {
		if (i >= t.n)
			continue;
		struct totals *sum = &to[(t.at + i) * t.n_columns + j];
		atomicAdd(&sum->sum, mine[i].sum);
		atomicAdd(&sum->size, mine[i].size);
		atomicAdd(&sum->square, mine[i].square);
	}
}

static void run(struct memory *m, const struct linear_sums *s, struct task *t, struct totals *to)
{
	const dim3 pieces((unsigned)((s->n_columns + THREADS - 1) / THREADS), (unsigned)((s->length + PIECE - 1) / PIECE));
	unsigned *largest = s->is_forward ? NULL : (unsigned *)memory_reserve_zeros(m, (size_t)s->n_columns * sizeof(unsigned));
	if (m->status == cudaSuccess && !s->is_forward)
		find_largest_of_columns<<<pieces, THREADS>>>(*t, largest);
	for (t->at = 0; m->status == cudaSuccess && t->at < s->n_rows; t->at += t->n) {
		t->n = (int)(s->n_rows - t->at < LINES ? s->n_rows - t->at : LINES);
		if (s->is_forward)
			add_rows<<<(unsigned)s->n_columns, THREADS>>>(*t, to);
		else
			add_columns<<<pieces, THREADS>>>(*t, largest, to);
		m->status = cudaGetLastError();
	}
}

int linear_cuda_sum(const void *b, const struct linear_sums *s, struct fw_err *err)
{
	size_t n = (size_t)s->n_rows * (size_t)s->n_columns;
	struct totals *host = (struct totals *)calloc(n + 1, sizeof *host);
	struct memory m;
	struct task t;

	if (!host)
		return err_set(err, ERR_FULL, "reference: out of memory");
	memset(&m, 0, sizeof m);
	m.status = cudaDeviceSynchronize(); /* the tensors come from another stream */
	t.as = s->b;
	t.scale = s->b_scale;
	t.b = (const uint16_t *)b;
	t.left = (const double *)memory_upload(&m, s->left, (size_t)s->n_rows * (size_t)s->length * sizeof *s->left);
	t.columns = s->columns;
	t.first = s->first;
	t.n_columns = s->n_columns;
	t.length = s->length;
	struct totals *to = (struct totals *)memory_reserve_zeros(&m, n * sizeof *to);
	run(&m, s, &t, to);
	memory_download(&m, host, to, n * sizeof *host);
	for (size_t i = 0; i < n; i++) {
		s->sum[i] = host[i].sum;
		s->size[i] = host[i].size;
		s->square[i] = host[i].square;
	}
	free(host);
	return memory_release(&m, err);
}

#endif
