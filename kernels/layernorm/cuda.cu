/*
 * cuda.cu - layer normalisation on a GPU. A block keeps walking over rows: a row lies in its threads' registers, eight bf16 a load,
 * and the next one is on its way while this one is summed up. GAMMA, BETA and, backward, the columns' sums stay in registers too.
 */
#include <cuda_runtime.h>

#include "layernorm/plan.h"

enum { THREADS_MAX = 512, VECTOR = 8, VECTORS_MAX = 8, BLOCKS_A_SM = 4, COLUMN_THREADS = 128 };

struct job {
	const uint4 *x, *gamma, *beta, *dy;
	uint4 *y, *dx;
	float *mean, *rstd, *partial;
	int rows, vectors, parts;
	float epsilon;
};

static __device__ __forceinline__ float low(uint32_t w)
{
	return __uint_as_float(w << 16);
}

static __device__ __forceinline__ float high(uint32_t w)
{
	return __uint_as_float(w & 0xffff0000u);
}

static __device__ __forceinline__ void widen(uint4 v, float out[VECTOR])
{
	const uint32_t w[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
	for (int i = 0; i < 4; i++) {
		out[2 * i] = low(w[i]);
		out[2 * i + 1] = high(w[i]);
	}
}

static __device__ __forceinline__ uint32_t rounded(float f) /* to the nearest even; no NaN comes here but as one */
{
	const uint32_t u = __float_as_uint(f);
	return f != f ? 0x7fc0u : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
}

static __device__ __forceinline__ uint4 narrow(const float v[VECTOR])
{
	return make_uint4(rounded(v[0]) | rounded(v[1]) << 16, rounded(v[2]) | rounded(v[3]) << 16,
		rounded(v[4]) | rounded(v[5]) << 16, rounded(v[6]) | rounded(v[7]) << 16);
}

/* Sums over the block, which everyone gets. `shared` has room for a warp's each; two calls in a row take two of them. */
static __device__ __forceinline__ float2 block_sum(float2 v, float2 *shared)
{
#pragma unroll
	for (int lane = 16; lane > 0; lane /= 2) {
		v.x += __shfl_xor_sync(0xffffffffu, v.x, lane);
		v.y += __shfl_xor_sync(0xffffffffu, v.y, lane);
	}
	if (threadIdx.x % 32 == 0)
		shared[threadIdx.x / 32] = v;
	__syncthreads();
	v = make_float2(0, 0);
	for (int warp = 0; warp < (int)blockDim.x / 32; warp++) {
		v.x += shared[warp].x;
		v.y += shared[warp].y;
	}
	return v;
}

template <int N> static __device__ __forceinline__ void load(const uint4 *from, int vectors, uint4 out[N])
{
#pragma unroll
	for (int i = 0; i < N; i++) {
		const int at = threadIdx.x + i * blockDim.x;
		out[i] = at < vectors ? from[at] : make_uint4(0, 0, 0, 0);
	}
}

template <int N> static __global__ void __launch_bounds__(THREADS_MAX) forward(job j)
{
	__shared__ float2 sums[2][THREADS_MAX / 32];
	const float n = (float)(j.vectors * VECTOR);
	uint4 gamma[N], beta[N], next[N];
	load<N>(j.gamma, j.vectors, gamma);
	load<N>(j.beta, j.vectors, beta);
	load<N>(j.x + (int64_t)blockIdx.x * j.vectors, j.vectors, next);
	for (int64_t row = blockIdx.x; row < j.rows; row += gridDim.x) {
		uint4 x[N];
		float2 sum = make_float2(0, 0), squares = make_float2(0, 0);
#pragma unroll
		for (int i = 0; i < N; i++)
			x[i] = next[i];
		if (row + gridDim.x < j.rows)
			load<N>(j.x + (row + gridDim.x) * j.vectors, j.vectors, next);
#pragma unroll
		for (int i = 0; i < N; i++) {
			float v[VECTOR];
			widen(x[i], v);
#pragma unroll
			for (int k = 0; k < VECTOR; k++)
				sum.x += v[k];
		}
		const float mean = block_sum(sum, sums[0]).x / n;
#pragma unroll
		for (int i = 0; i < N; i++) {
			float v[VECTOR];
			widen(x[i], v);
			const float counts = (int)(threadIdx.x + i * blockDim.x) < j.vectors ? 1.0f : 0.0f;
#pragma unroll
			for (int k = 0; k < VECTOR; k++)
				squares.x += counts * (v[k] - mean) * (v[k] - mean);
		}
		const float rstd = 1.0f / sqrtf(block_sum(squares, sums[1]).x / n + j.epsilon);
#pragma unroll
		for (int i = 0; i < N; i++) {
			const int at = threadIdx.x + i * blockDim.x;
			float v[VECTOR], g[VECTOR], b[VECTOR];
			widen(x[i], v);
			widen(gamma[i], g);
			widen(beta[i], b);
#pragma unroll
			for (int k = 0; k < VECTOR; k++)
				v[k] = (v[k] - mean) * rstd * g[k] + b[k];
			if (at < j.vectors)
				j.y[row * j.vectors + at] = narrow(v);
		}
		if (threadIdx.x == 0) {
			j.mean[row] = mean;
			j.rstd[row] = rstd;
		}
	}
}

template <int N> static __global__ void __launch_bounds__(THREADS_MAX) backward(job j)
{
	__shared__ float2 sums[2][THREADS_MAX / 32];
	const float n = (float)(j.vectors * VECTOR);
	uint4 gamma[N];
	float dgamma[N][VECTOR] = {}, dbeta[N][VECTOR] = {};
	int turn = 0;
	load<N>(j.gamma, j.vectors, gamma);
	for (int64_t row = blockIdx.x; row < j.rows; row += gridDim.x, turn ^= 1) {
		uint4 x[N], dy[N];
		float2 sum = make_float2(0, 0);
		load<N>(j.x + row * j.vectors, j.vectors, x);
		load<N>(j.dy + row * j.vectors, j.vectors, dy);
		const float mean = j.mean[row], rstd = j.rstd[row];
#pragma unroll
		for (int i = 0; i < N; i++) {
			float v[VECTOR], d[VECTOR], g[VECTOR];
			widen(x[i], v);
			widen(dy[i], d);
			widen(gamma[i], g);
#pragma unroll
			for (int k = 0; k < VECTOR; k++) {
				const float normal = (v[k] - mean) * rstd; /* of columns that are not there dY is 0 */
				dgamma[i][k] += d[k] * normal;
				dbeta[i][k] += d[k];
				sum.x += d[k] * g[k];
				sum.y += d[k] * g[k] * normal;
			}
		}
		sum = block_sum(sum, sums[turn]);
#pragma unroll
		for (int i = 0; i < N; i++) {
			const int at = threadIdx.x + i * blockDim.x;
			float v[VECTOR], d[VECTOR], g[VECTOR];
			widen(x[i], v);
			widen(dy[i], d);
			widen(gamma[i], g);
#pragma unroll
			for (int k = 0; k < VECTOR; k++)
				v[k] = rstd * (d[k] * g[k] - sum.x / n - (v[k] - mean) * rstd * (sum.y / n));
			if (at < j.vectors)
				j.dx[row * j.vectors + at] = narrow(v);
		}
	}
#pragma unroll
	for (int i = 0; i < N; i++) {
		const int at = threadIdx.x + i * blockDim.x;
		for (int k = 0; k < VECTOR && at < j.vectors; k++) {
			j.partial[((int64_t)blockIdx.x * j.vectors + at) * VECTOR + k] = dgamma[i][k];
			j.partial[(((int64_t)j.parts + blockIdx.x) * j.vectors + at) * VECTOR + k] = dbeta[i][k];
		}
	}
}

/* Block y: 0 DGAMMA, 1 DBETA. Eight rows of threads share a column's parts. */
static __global__ void columns(const float *partial, int parts, int n, uint16_t *dgamma, uint16_t *dbeta)
{
	__shared__ float sums[8][COLUMN_THREADS];
	const int column = blockIdx.x * COLUMN_THREADS + threadIdx.x;
	float sum = 0;
	for (int part = threadIdx.y; part < parts && column < n; part += 8)
		sum += partial[((int64_t)blockIdx.y * parts + part) * n + column];
	sums[threadIdx.y][threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.y > 0 || column >= n)
		return;
	for (int i = 1; i < 8; i++)
		sum += sums[i][threadIdx.x];
	(blockIdx.y == 0 ? dgamma : dbeta)[column] = (uint16_t)rounded(sum);
}

/* ---- host -------------------------------------------------------------------------------------------------------- */

static int threads_of(const struct fw_plan *p)
{
	const int vectors = p->a.columns / VECTOR, a_thread = vectors > 2 * THREADS_MAX ? 4 : vectors > 128 ? 2 : 1;
	const int threads = ((vectors + a_thread - 1) / a_thread + 31) / 32 * 32;
	return threads < THREADS_MAX ? threads : THREADS_MAX;
}

static int can(const struct fw_problem *problem, char *why, size_t why_size)
{
	const int status = layernorm_can(problem, why, why_size);
	const int most = THREADS_MAX * VECTORS_MAX * VECTOR;
	if (status == FW_OK && fw_layernorm_of(problem)->columns > most)
		return contract_say(
			FW_UNSUPPORTED, why, why_size, "a row of more than %d columns does not fit into registers", most);
	return status;
}

static int plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t why_size)
{
	int sms = 0;
	if (config && strcmp(config, "BLOCKS_A_SM=4") != 0)
		return contract_say(FW_UNSUPPORTED, why, why_size, "there is no %s", config);
	if (can(problem, why, why_size) != FW_OK)
		return FW_UNSUPPORTED;
	const cudaError_t e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, index);
	if (e != cudaSuccess)
		return contract_say(FW_FAILED, why, why_size, "device %d: %s", index, cudaGetErrorString(e));
	const int rows = fw_layernorm_of(problem)->rows, blocks = sms * BLOCKS_A_SM;
	return layernorm_plan(problem, rows < blocks ? rows : blocks, "BLOCKS_A_SM=4", out, info, why, why_size);
}

template <int N> static void launch_rows(const struct fw_plan *p, const job &j, cudaStream_t stream)
{
	if (p->direction == FW_FORWARD)
		forward<N><<<p->parts, threads_of(p), 0, stream>>>(j);
	else
		backward<N><<<p->parts, threads_of(p), 0, stream>>>(j);
}

static void enqueue_rows(const struct fw_plan *p, cudaStream_t stream)
{
	const job j = { (const uint4 *)p->slot[FW_LAYERNORM_X], (const uint4 *)p->slot[FW_LAYERNORM_GAMMA],
		(const uint4 *)p->slot[FW_LAYERNORM_BETA], (const uint4 *)p->slot[FW_LAYERNORM_DY],
		(uint4 *)p->slot[FW_LAYERNORM_Y], (uint4 *)p->slot[FW_LAYERNORM_DX], (float *)p->slot[FW_LAYERNORM_MEAN],
		(float *)p->slot[FW_LAYERNORM_RSTD], p->partial, p->a.rows, p->a.columns / VECTOR, p->parts, p->a.epsilon };
	const int n = (j.vectors + threads_of(p) - 1) / threads_of(p);
	if (n <= 1)
		launch_rows<1>(p, j, stream);
	else if (n <= 2)
		launch_rows<2>(p, j, stream);
	else if (n <= 4)
		launch_rows<4>(p, j, stream);
	else
		launch_rows<VECTORS_MAX>(p, j, stream);
}

static int enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	if (!p->is_bound)
		return contract_say(FW_INVALID, p->error, sizeof p->error, "no bind came before");
	if (phases & FW_LAYERNORM_ROWS)
		enqueue_rows(p, (cudaStream_t)stream);
	if (p->direction == FW_BACKWARD && (phases & FW_LAYERNORM_COLUMNS))
		columns<<<dim3((unsigned)(p->a.columns + COLUMN_THREADS - 1) / COLUMN_THREADS, 2), dim3(COLUMN_THREADS, 8), 0,
			(cudaStream_t)stream>>>(p->partial, p->parts, p->a.columns, (uint16_t *)p->slot[FW_LAYERNORM_DGAMMA],
			(uint16_t *)p->slot[FW_LAYERNORM_DBETA]);
	const cudaError_t e = cudaGetLastError();
	return e == cudaSuccess ? FW_OK
				: contract_say(FW_FAILED, p->error, sizeof p->error, "a launch: %s", cudaGetErrorString(e));
}

extern "C" const struct fw_provider layernorm_cuda = { sizeof(struct fw_provider), FW_CUDA, FW_LAYERNORM, 0, "cuda", can, plan,
	layernorm_bind, enqueue, layernorm_count, layernorm_error, layernorm_destroy };
