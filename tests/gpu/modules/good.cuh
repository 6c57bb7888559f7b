/*
 * A simple correct attention on the GPU, one sequence, full or causal, so that tests of which results are accepted do not depend
 * on the kernels that are measured. The modules in this folder include it and replace one of the hooks below;
 * tests/modules/good.c is the same for the CPU.
 */
#include "kernels/fw_attention.h"

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BEFORE_ENQUEUE /* p is the plan */
#define BEFORE_ENQUEUE(p) ((void)0)
#endif
#ifndef AFTER_ENQUEUE
#define AFTER_ENQUEUE(p, stream) ((void)0)
#endif
#ifndef ON_PLAN /* at the start of plan */
#define ON_PLAN() ((void)0)
#endif
#ifndef ON_BIND /* memory of its own */
#define ON_BIND(p) ((void)0)
#endif
#ifndef COMPUTE /* the work of enqueue */
#define COMPUTE(p, phases, stream) run(p, phases, stream)
#endif

enum { THREADS = 128, HEADDIM_MAX = 128, KEYS_MAX = 4096 };

struct fw_plan {
	struct fw_attention a;
	int direction;
	struct fw_tensor slot[FW_ATTENTION_SLOTS];
	float *delta; /* workspace: rowsum(dO * O) */
	int calls;    /* number of enqueues so far */
};

/* Parameters of the kernels. Layouts as in fw_kernel.h. */
struct view {
	const __nv_bfloat16 *q, *k, *v, *dout, *o_in;
	__nv_bfloat16 *o, *dq, *dk, *dv;
	float *lse, *delta;
	const float *weight; /* NULL: computed */
	int n, nhq, nhk, d, causal;
	float scale;
};

static __device__ float block_sum(float x, bool maximum)
{
	__shared__ float part[THREADS];
	__syncthreads();
	part[threadIdx.x] = x;
	__syncthreads();
	for (int half = THREADS / 2; half > 0; half /= 2) {
		if ((int)threadIdx.x < half) {
			float other = part[threadIdx.x + half];
			part[threadIdx.x] = maximum ? fmaxf(part[threadIdx.x], other) : part[threadIdx.x] + other;
		}
		__syncthreads();
	}
	return part[0];
}

static __device__ float dot(const __nv_bfloat16 *x, const __nv_bfloat16 *y, int d)
{
	float sum = 0;
	for (int i = 0; i < d; i++)
		sum += __bfloat162float(x[i]) * __bfloat162float(y[i]);
	return sum;
}

static __device__ const __nv_bfloat16 *row_of(const __nv_bfloat16 *t, int heads, int d, int token, int head)
{
	return t + ((int64_t)token * heads + head) * d;
}

/* Block x: row; block y: head, from `first_head` on. */
static __global__ void forward(struct view w, int first_head)
{
	__shared__ float score[KEYS_MAX];
	int row = (int)blockIdx.x, head = first_head + (int)blockIdx.y, kv = head / (w.nhq / w.nhk), n = w.causal ? row + 1 : w.n;
	const __nv_bfloat16 *q = row_of(w.q, w.nhq, w.d, row, head);
	float top = -INFINITY, sum = 0;
	for (int key = (int)threadIdx.x; key < n; key += THREADS) {
		score[key] = w.scale * dot(q, row_of(w.k, w.nhk, w.d, key, kv), w.d);
		top = fmaxf(top, score[key]);
	}
	top = block_sum(top, true);
	for (int key = (int)threadIdx.x; key < n; key += THREADS)
		sum += score[key] = expf(score[key] - top);
	sum = block_sum(sum, false);
	for (int i = (int)threadIdx.x; i < w.d; i += THREADS) {
		float o = 0;
		for (int key = 0; key < n; key++)
			o += score[key] * __bfloat162float(row_of(w.v, w.nhk, w.d, key, kv)[i]);
		w.o[((int64_t)row * w.nhq + head) * w.d + i] = __float2bfloat16(o / sum);
	}
	if (threadIdx.x == 0)
		w.lse[(int64_t)head * w.n + row] = top + logf(sum);
}

static __global__ void row_deltas(struct view w)
{
	int row = (int)(blockIdx.x * THREADS + threadIdx.x), head = (int)blockIdx.y;
	if (row < w.n)
		w.delta[(int64_t)head * w.n + row] =
			dot(row_of(w.dout, w.nhq, w.d, row, head), row_of(w.o_in, w.nhq, w.d, row, head), w.d);
}

static __device__ float weight_of(const struct view &w, int head, int row, int key)
{
	int kv = head / (w.nhq / w.nhk);
	if (w.weight)
		return w.weight[((int64_t)head * w.n + row) * w.n + key];
	return expf(w.scale * dot(row_of(w.q, w.nhq, w.d, row, head), row_of(w.k, w.nhk, w.d, key, kv), w.d) -
		    w.lse[(int64_t)head * w.n + row]);
}

static __global__ void weights(struct view w, float *out)
{
	int row = (int)blockIdx.x, head = (int)blockIdx.y;
	for (int key = (int)threadIdx.x; key < w.n; key += THREADS)
		out[((int64_t)head * w.n + row) * w.n + key] = w.causal && key > row ? 0 : weight_of(w, head, row, key);
}

static __global__ void backward_rows(struct view w)
{
	__shared__ float ds[KEYS_MAX];
	int row = (int)blockIdx.x, head = (int)blockIdx.y, kv = head / (w.nhq / w.nhk), n = w.causal ? row + 1 : w.n;
	float delta = w.delta[(int64_t)head * w.n + row];
	for (int key = (int)threadIdx.x; key < n; key += THREADS)
		ds[key] = weight_of(w, head, row, key) *
			  (dot(row_of(w.dout, w.nhq, w.d, row, head), row_of(w.v, w.nhk, w.d, key, kv), w.d) - delta);
	__syncthreads();
	for (int i = (int)threadIdx.x; i < w.d; i += THREADS) {
		float dq = 0;
		for (int key = 0; key < n; key++)
			dq += ds[key] * __bfloat162float(row_of(w.k, w.nhk, w.d, key, kv)[i]);
		w.dq[((int64_t)row * w.nhq + head) * w.d + i] = __float2bfloat16(dq * w.scale);
	}
}

/* Block x: key; block y: its head. */
static __global__ void backward_keys(struct view w)
{
	__shared__ float p[KEYS_MAX], ds[KEYS_MAX];
	int key = (int)blockIdx.x, kv = (int)blockIdx.y, group = w.nhq / w.nhk;
	const __nv_bfloat16 *v = row_of(w.v, w.nhk, w.d, key, kv);
	float dk = 0, dv = 0;
	for (int head = kv * group; head < (kv + 1) * group; head++) {
		__syncthreads();
		for (int row = (int)threadIdx.x; row < w.n; row += THREADS) {
			p[row] = w.causal && row < key ? 0 : weight_of(w, head, row, key);
			ds[row] = p[row] *
				  (dot(row_of(w.dout, w.nhq, w.d, row, head), v, w.d) - w.delta[(int64_t)head * w.n + row]);
		}
		__syncthreads();
		for (int row = 0; (int)threadIdx.x < w.d && row < w.n; row++) {
			dk += ds[row] * __bfloat162float(row_of(w.q, w.nhq, w.d, row, head)[threadIdx.x]);
			dv += p[row] * __bfloat162float(row_of(w.dout, w.nhq, w.d, row, head)[threadIdx.x]);
		}
	}
	if ((int)threadIdx.x < w.d) {
		w.dk[((int64_t)key * w.nhk + kv) * w.d + threadIdx.x] = __float2bfloat16(dk * w.scale);
		w.dv[((int64_t)key * w.nhk + kv) * w.d + threadIdx.x] = __float2bfloat16(dv);
	}
}

static struct view view_of(const struct fw_plan *p)
{
	struct view w = {};
	w.q = (const __nv_bfloat16 *)p->slot[FW_Q].data;
	w.k = (const __nv_bfloat16 *)p->slot[FW_K].data;
	w.v = (const __nv_bfloat16 *)p->slot[FW_V].data;
	w.o = (__nv_bfloat16 *)p->slot[FW_O].data;
	w.o_in = w.o;
	w.lse = (float *)p->slot[FW_LSE].data;
	w.dout = (const __nv_bfloat16 *)p->slot[FW_DO].data;
	w.dq = (__nv_bfloat16 *)p->slot[FW_DQ].data;
	w.dk = (__nv_bfloat16 *)p->slot[FW_DK].data;
	w.dv = (__nv_bfloat16 *)p->slot[FW_DV].data;
	w.delta = p->delta;
	w.n = p->a.total_q;
	w.nhq = p->a.nhq;
	w.nhk = p->a.nhk;
	w.d = p->a.headdim;
	w.causal = p->a.mask == FW_CAUSAL;
	w.scale = (float)p->a.scale;
	return w;
}

static void run_view(const struct fw_plan *p, const struct view &w, uint32_t phases, cudaStream_t stream)
{
	dim3 rows((unsigned)w.n, (unsigned)w.nhq);
	if (p->direction == FW_FORWARD) {
		if (phases & FW_RUN)
			forward<<<rows, THREADS, 0, stream>>>(w, 0);
		return;
	}
	if (phases & FW_PREPROCESS)
		row_deltas<<<dim3((unsigned)(w.n + THREADS - 1) / THREADS, (unsigned)w.nhq), THREADS, 0, stream>>>(w);
	if (phases & FW_RUN) {
		backward_rows<<<rows, THREADS, 0, stream>>>(w);
		backward_keys<<<dim3((unsigned)w.n, (unsigned)w.nhk), THREADS, 0, stream>>>(w);
	}
}

static inline void run(struct fw_plan *p, uint32_t phases, cudaStream_t stream)
{
	run_view(p, view_of(p), phases, stream);
}

static int module_can(const struct fw_problem *problem, char *why, size_t why_size)
{
	const struct fw_attention *a = fw_attention_of(problem);
	const char *reason = NULL;
	if (!a || a->dtype != FW_BF16)
		reason = "only attention in bf16";
	else if (a->mask > FW_CAUSAL || a->n_seqs > 1 || a->total_q != a->total_k)
		reason = "only one sequence, full or causal";
	else if (a->headdim > HEADDIM_MAX || a->headdim != a->headdim_v || a->total_q > KEYS_MAX)
		reason = "only head dimensions up to 128 and 4096 tokens";
	if (!reason)
		return FW_OK;
	if (why_size)
		snprintf(why, why_size, "%s", reason);
	return FW_UNSUPPORTED;
}

static int module_plan(const struct fw_problem *problem, const char *, int, struct fw_plan **out, struct fw_info *info, char *why,
	size_t why_size)
{
	int status = module_can(problem, why, why_size);
	if (status != FW_OK)
		return status;
	ON_PLAN();
	struct fw_plan *p = (struct fw_plan *)calloc(1, sizeof(*p));
	if (!p)
		return FW_FAILED;
	p->a = *fw_attention_of(problem);
	p->direction = problem->direction;
	info->phases = FW_RUN | (p->direction == FW_BACKWARD ? FW_PREPROCESS : 0);
	info->workspace_bytes = (uint64_t)p->a.nhq * (uint64_t)p->a.total_q * sizeof(float);
	info->config = "NAIVE=1";
	*out = p;
	return FW_OK;
}

static int module_bind(struct fw_plan *p, const struct fw_io *io)
{
	for (uint32_t i = 0; i < io->n_slots && i < FW_ATTENTION_SLOTS; i++)
		p->slot[i] = io->slot[i];
	p->delta = (float *)io->workspace;
	ON_BIND(p);
	return FW_OK;
}

static int module_enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	BEFORE_ENQUEUE(p);
	COMPUTE(p, phases, (cudaStream_t)stream);
	AFTER_ENQUEUE(p, (cudaStream_t)stream);
	p->calls++;
	return cudaPeekAtLastError() == cudaSuccess ? FW_OK : FW_FAILED;
}

static const char *module_error(const struct fw_plan *)
{
	return cudaGetErrorString(cudaGetLastError());
}

static void module_destroy(struct fw_plan *p)
{
	free(p);
}

FW_EXPORT const struct fw_module *fw_entry(uint32_t)
{
	static struct fw_provider provider;
	static const struct fw_provider *const providers[] = { &provider };
	static struct fw_module module;
	provider.struct_size = sizeof(provider);
	provider.device = FW_CUDA;
	provider.family = FW_ATTENTION;
	provider.name = "naive";
	provider.can = module_can;
	provider.plan = module_plan;
	provider.bind = module_bind;
	provider.enqueue = module_enqueue;
	provider.error = module_error;
	provider.destroy = module_destroy;
	module.abi = FW_ABI;
	module.struct_size = sizeof(module);
	module.n_providers = 1;
	module.build = "naive kernels for tests";
	module.provider = providers;
	return &module;
}
