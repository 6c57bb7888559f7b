/*
 * reference_cuda.cu - layer normalisation in fp64 on the GPU, at every position of all outputs. Results are compared there too,
 * so only the worst element crosses the bus.
 */
#ifdef FW_HAVE_CUDA

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "families/layernorm/internal.h"
}
#include "runner/reference_memory.cuh"

enum { THREADS = 256, WARPS = THREADS / 32, CHUNK = 128 /* rows summed by one block */, COMPARE_GRID = 2048 };

#define HOPELESS 1e9f /* error ratio of NaN and infinite results, as in accept_result */

/* A result and its allowed error. */
struct wanted {
	float exact, allowed;
};

static __device__ struct wanted want(double exact, double noise)
{
	struct wanted w = { (float)exact, (float)(LAYERNORM_BF16_ROUNDED * fabs(exact) + LAYERNORM_FP32_SUM * noise) };
	return w;
}

/* Return the sum in every thread of the block. */
static __device__ double block_sum(double v)
{
	__shared__ double warp[WARPS];
	for (int lane = 16; lane > 0; lane /= 2)
		v += __shfl_xor_sync(0xffffffffu, v, lane);
	__syncthreads(); /* until every thread has read the previous sum */
	if (threadIdx.x % 32 == 0)
		warp[threadIdx.x / 32] = v;
	__syncthreads();
	v = 0;
	for (int i = 0; i < WARPS; i++)
		v += warp[i];
	return v;
}

static __device__ double value(const uint16_t *x, int64_t i)
{
	return (double)inputs_bf16_to_float(x[i]);
}

/* One block per row. Shape: y[rows][columns], mean and rstd [rows]. */
static __global__ void forward_rows(const uint16_t *x, const uint16_t *gamma, const uint16_t *beta, int columns, double epsilon,
	struct wanted *y, struct wanted *mean, struct wanted *rstd)
{
	x += (int64_t)blockIdx.x * columns;
	y += (int64_t)blockIdx.x * columns;
	double sum = 0, squares = 0;
	for (int j = threadIdx.x; j < columns; j += THREADS)
		sum += value(x, j);
	double m = block_sum(sum) / columns;
	for (int j = threadIdx.x; j < columns; j += THREADS)
		squares += (value(x, j) - m) * (value(x, j) - m);
	double variance = block_sum(squares) / columns, r = 1 / sqrt(variance + epsilon);
	if (threadIdx.x == 0) {
		mean[blockIdx.x] = { (float)m, (float)(LAYERNORM_FP32_SUM * (fabs(m) + sqrt(variance))) };
		rstd[blockIdx.x] = { (float)r, (float)(LAYERNORM_FP32_SUM * r) };
	}
	for (int j = threadIdx.x; j < columns; j += THREADS) {
		double scaled = (value(x, j) - m) * r * value(gamma, j), shift = value(beta, j);
		y[j] = want(scaled + shift, fabs(scaled) + fabs(shift) + fabs(value(gamma, j)));
	}
}

/* One block per row. Shape: dx[rows][columns]. */
static __global__ void backward_rows(const uint16_t *x, const uint16_t *gamma, const uint16_t *dy, const float *mean,
	const float *rstd, int columns, struct wanted *dx)
{
	double m = (double)mean[blockIdx.x], r = (double)rstd[blockIdx.x], g = 0, gx = 0;
	x += (int64_t)blockIdx.x * columns;
	dy += (int64_t)blockIdx.x * columns;
	dx += (int64_t)blockIdx.x * columns;
	for (int j = threadIdx.x; j < columns; j += THREADS) {
		double own = value(dy, j) * value(gamma, j);
		g += own;
		gx += own * ((value(x, j) - m) * r);
	}
	g = block_sum(g) / columns;
	gx = block_sum(gx) / columns;
	for (int j = threadIdx.x; j < columns; j += THREADS) {
		double v = (value(x, j) - m) * r, own = value(dy, j) * value(gamma, j);
		dx[j] = want(r * (own - g - v * gx), r * (fabs(own) + 1 + fabs(v)));
	}
}

/* Shape: sums[3][columns]: dgamma, dbeta, and the sums of magnitudes. */
static __global__ void sum_columns(
	const uint16_t *x, const uint16_t *dy, const float *mean, const float *rstd, int rows, int columns, double *sums)
{
	int j = blockIdx.x * THREADS + threadIdx.x, end = min((int)(blockIdx.y + 1) * CHUNK, rows);
	double scaled = 0, plain = 0, size = 0;
	if (j >= columns)
		return;
	for (int i = blockIdx.y * CHUNK; i < end; i++) {
		int64_t at = (int64_t)i * columns + j;
		double d = value(dy, at), v = (value(x, at) - (double)mean[i]) * (double)rstd[i];
		scaled += d * v;
		plain += d;
		size += fabs(d) * (1 + fabs(v));
	}
	atomicAdd(&sums[j], scaled);
	atomicAdd(&sums[columns + j], plain);
	atomicAdd(&sums[2 * columns + j], size);
}

static __global__ void finish_columns(const double *sums, int columns, struct wanted *dgamma, struct wanted *dbeta)
{
	int j = blockIdx.x * THREADS + threadIdx.x;
	if (j >= columns)
		return;
	dgamma[j] = want(sums[j], sums[2 * columns + j]);
	dbeta[j] = want(sums[columns + j], sums[2 * columns + j]);
}

/*
 * `worst`: upper half: the bits of the error ratio; lower half: the complement of the index, so that ties select the first
 * element.
 */
static __global__ void compare_results(
	const void *data, bool is_fp32, const struct wanted *wanted, size_t n, unsigned long long *worst)
{
	unsigned long long mine = 0;
	for (size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x; i < n; i += (size_t)gridDim.x * THREADS) {
		float x = is_fp32 ? ((const float *)data)[i] : inputs_bf16_to_float(((const uint16_t *)data)[i]);
		float error = fabsf(x - wanted[i].exact), allowed = wanted[i].allowed;
		float ratio = !(error <= HOPELESS * allowed) ? HOPELESS : error > 0 ? error / allowed : 0;
		unsigned long long here = (unsigned long long)__float_as_uint(ratio) << 32 | (0xffffffffu - (unsigned)i);
		mine = here > mine ? here : mine;
	}
	for (int lane = 16; lane > 0; lane /= 2) {
		unsigned long long other = __shfl_xor_sync(0xffffffffu, mine, lane);
		mine = other > mine ? other : mine;
	}
	if (threadIdx.x % 32 == 0)
		atomicMax(worst, mine);
}

struct expected {
	const struct check_io *io;
	struct memory memory;
	struct wanted *wanted[FW_LAYERNORM_SLOTS]; /* of the outputs, on the device */
	unsigned long long *worst;
};

static size_t elements_of(const struct fw_layernorm *a, int slot)
{
	bool by_row = slot == FW_LAYERNORM_MEAN || slot == FW_LAYERNORM_RSTD;
	bool by_column = slot == FW_LAYERNORM_DGAMMA || slot == FW_LAYERNORM_DBETA;
	return by_row ? (size_t)a->rows : by_column ? (size_t)a->columns : (size_t)a->rows * (size_t)a->columns;
}

static void compute(struct expected *e, const struct fw_layernorm *a, bool is_forward)
{
	const uint16_t *x = (const uint16_t *)e->io->on_device[FW_LAYERNORM_X];
	const uint16_t *gamma = (const uint16_t *)e->io->on_device[FW_LAYERNORM_GAMMA];
	unsigned columns = (unsigned)(a->columns + THREADS - 1) / THREADS;
	if (is_forward) {
		forward_rows<<<(unsigned)a->rows, THREADS>>>(x, gamma, (const uint16_t *)e->io->on_device[FW_LAYERNORM_BETA],
			a->columns, (double)a->epsilon, e->wanted[FW_LAYERNORM_Y], e->wanted[FW_LAYERNORM_MEAN],
			e->wanted[FW_LAYERNORM_RSTD]);
		return;
	}
	const uint16_t *dy = (const uint16_t *)e->io->on_device[FW_LAYERNORM_DY];
	const float *mean = (const float *)e->io->on_device[FW_LAYERNORM_MEAN];
	const float *rstd = (const float *)e->io->on_device[FW_LAYERNORM_RSTD];
	double *sums = (double *)memory_reserve_zeros(&e->memory, 3 * (size_t)a->columns * sizeof *sums);
	if (e->memory.status != cudaSuccess)
		return;
	backward_rows<<<(unsigned)a->rows, THREADS>>>(x, gamma, dy, mean, rstd, a->columns, e->wanted[FW_LAYERNORM_DX]);
	sum_columns<<<dim3(columns, (unsigned)(a->rows + CHUNK - 1) / CHUNK), THREADS>>>(
		x, dy, mean, rstd, a->rows, a->columns, sums);
	finish_columns<<<columns, THREADS>>>(sums, a->columns, e->wanted[FW_LAYERNORM_DGAMMA], e->wanted[FW_LAYERNORM_DBETA]);
}

static void close_expected(struct expected *e)
{
	struct fw_err ignored = {};
	if (!e)
		return;
	(void)memory_release(&e->memory, &ignored);
	free(e);
}

static struct expected *open_expected(const struct check_io *io, uint64_t seed, double visits, struct fw_err *err)
{
	const struct fw_layernorm *a = (const struct fw_layernorm *)io->cell->shape.bytes;
	const struct family *f = case_family(io->cell);
	struct expected *e = (struct expected *)calloc(1, sizeof *e);

	(void)seed; /* every position is compared */
	(void)visits;
	if (!e) {
		err_set(err, ERR_FULL, "reference: out of memory");
		return NULL;
	}
	e->io = io;
	e->memory.status = cudaDeviceSynchronize(); /* the tensors come from another stream */
	e->worst = (unsigned long long *)memory_reserve(&e->memory, sizeof *e->worst);
	for (int slot = 0; slot < FW_LAYERNORM_SLOTS; slot++)
		if (f->use(a, io->cell->direction, slot) == SLOT_OUTPUT)
			e->wanted[slot] =
				(struct wanted *)memory_reserve(&e->memory, elements_of(a, slot) * sizeof(struct wanted));
	if (e->memory.status == cudaSuccess)
		compute(e, a, io->cell->direction == DIRECTION_FORWARD);
	if (e->memory.status == cudaSuccess)
		e->memory.status = cudaDeviceSynchronize();
	if (e->memory.status == cudaSuccess)
		return e;
	(void)memory_release(&e->memory, err);
	free(e);
	return NULL;
}

/* Describe element `i` of a slot as the worst result. */
static int describe(const struct expected *e, int slot, size_t i, float ratio, struct accept_result *r, struct fw_err *err)
{
	struct wanted w;
	float x;
	cudaError_t status = cudaMemcpy(&w, &e->wanted[slot][i], sizeof w, cudaMemcpyDeviceToHost);
	if (status != cudaSuccess)
		return err_set(err, ERR_INTERNAL, "reference: CUDA: %s", cudaGetErrorString(status));
	if (check_read(e->io, slot, (int64_t)i, 1, &x, err) != 0)
		return -1;
	values_describe(e->io, slot, (int64_t)i, (double)x, (double)w.exact, (double)w.allowed, (double)ratio, r);
	return 0;
}

static int compare_slot(const struct expected *e, int slot, struct accept_result *r, struct fw_err *err)
{
	const struct fw_layernorm *a = (const struct fw_layernorm *)e->io->cell->shape.bytes;
	bool is_fp32 = slot == FW_LAYERNORM_MEAN || slot == FW_LAYERNORM_RSTD;
	unsigned long long worst = 0;
	cudaError_t status = cudaMemset(e->worst, 0, sizeof *e->worst);
	if (status == cudaSuccess) {
		compare_results<<<COMPARE_GRID, THREADS>>>(
			e->io->on_device[slot], is_fp32, e->wanted[slot], elements_of(a, slot), e->worst);
		status = cudaMemcpy(&worst, e->worst, sizeof worst, cudaMemcpyDeviceToHost);
	}
	if (status != cudaSuccess)
		return err_set(err, ERR_INTERNAL, "reference: CUDA: %s", cudaGetErrorString(status));

	unsigned bits = (unsigned)(worst >> 32);
	float ratio;
	memcpy(&ratio, &bits, sizeof ratio);
	if (r->detail[0] && (double)ratio <= r->error_ratio)
		return 0;
	return describe(e, slot, 0xffffffffu - (unsigned)worst, ratio, r, err);
}

static int compare(struct expected *e, struct accept_result *result, struct fw_err *err)
{
	memset(result, 0, sizeof *result);
	result->slot = -1;
	cudaError_t status = cudaDeviceSynchronize();
	if (status != cudaSuccess)
		return err_set(err, ERR_INTERNAL, "reference: CUDA: %s", cudaGetErrorString(status));
	for (int slot = 0; slot < FW_LAYERNORM_SLOTS; slot++)
		if (e->wanted[slot] && compare_slot(e, slot, result, err) != 0)
			return -1;
	result->ok = result->error_ratio <= 1;
	return 0;
}

extern "C" const struct family_check layernorm_check_on_gpu = { open_expected, compare, close_expected, NULL };

#endif
