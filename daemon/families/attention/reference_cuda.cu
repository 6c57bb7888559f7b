/*
 * reference_cuda.cu - reference values on the GPU, where the tensors are: one block for each planned position, sums in fp64.
 *
 * The host converts masks to lists of tokens, so the kernels need no masks. A block processes its list in tiles: each warp
 * computes one pair (the dot products and the factors), then each thread sums one column of the tile. Forward processes the
 * list three times, for the maximum, the sum and the weights; recomputing scores is cheaper than storing them.
 */
#ifdef FW_HAVE_CUDA

#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "families/attention/internal.h"
}
#include "families/attention/internal.h"
#include "runner/reference_memory.cuh"

enum { THREADS = 256, WARPS = THREADS / 32 };

/* Inputs of a kernel. Layouts are those of fw_kernel.h. */
struct problem {
	const uint16_t *q, *k, *v, *o, *dout;
	const float *lse;
	int seqlen, nhq, nhk, headdim;
	double scale;
};

/* enum fw_dtype of the tensors of the problem that is computed. */
static __constant__ int32_t tensors_dtype;

/*
 * Tokens that each position sees: token[first[i]] .. token[first[i + 1] - 1]. Keys under a token mask have a list for each of the
 * `heads` query heads of their group, i * heads + head; else heads is 1.
 */
struct lists {
	const reference_position *at;
	int heads;
	const int64_t *first;
	const int32_t *token;
};

/* Sums of one tensor, [blocks][headdim]; noise: variances. */
struct totals {
	double *exact;
	float *naive, *noise;
};

static __device__ const uint16_t *vector_of(const uint16_t *tensor, int heads, int headdim, int64_t token, int head)
{
	return tensor + (token * heads + head) * headdim;
}

/* Dot product by one warp; every lane receives the sum. */
static __device__ double warp_dot(const uint16_t *x, const uint16_t *y, int n)
{
	double sum = 0;
	for (int i = threadIdx.x % 32; i < n; i += 32)
		sum += (double)reference_value(tensors_dtype, x[i]) * (double)reference_value(tensors_dtype, y[i]);
	for (int lane = 16; lane > 0; lane /= 2)
		sum += __shfl_xor_sync(0xffffffffu, sum, lane);
	return sum;
}

/* delta_noise() of internal.h, computed by one warp. */
static __device__ double warp_delta_noise(const uint16_t *dout, const uint16_t *o, int n)
{
	double sum = 0;
	for (int i = threadIdx.x % 32; i < n; i += 32) {
		double product = (double)reference_value(tensors_dtype, dout[i]) * (double)reference_value(tensors_dtype, o[i]);
		sum += product * product;
	}
	for (int lane = 16; lane > 0; lane /= 2)
		sum += __shfl_xor_sync(0xffffffffu, sum, lane);
	return REFERENCE_DELTA_NOISE * reference_noise(tensors_dtype, sqrt(sum));
}

/* Reduce one value per warp, equal in all its lanes; every thread receives the sum, or the maximum. */
static __device__ double block_reduce(double value, bool maximum)
{
	__shared__ double part[WARPS];
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = value;
	__syncthreads();
	double all = part[0];
	for (int i = 1; i < WARPS; i++)
		all = maximum ? fmax(all, part[i]) : all + part[i];
	return all;
}

/* Factors of one tile of pairs for one output. */
struct factors {
	double exact[THREADS];
	float naive[THREADS], noise[THREADS];
};

/* Sums of one thread for an output row: column threadIdx.x % headdim, every `groups`-th pair. */
struct column {
	double exact;
	float naive, noise;
};

static __device__ int column_groups(int headdim)
{
	return THREADS / headdim;
}

static __device__ void add_tile(struct column *c, const struct factors *f, const uint16_t *tensor, int heads, int head,
	int headdim, const int32_t *token, int n)
{
	int groups = column_groups(headdim);
	if ((int)threadIdx.x >= groups * headdim)
		return;
	for (int i = threadIdx.x / headdim; i < n; i += groups) {
		float x =
			reference_value(tensors_dtype, vector_of(tensor, heads, headdim, token[i], head)[threadIdx.x % headdim]);
		c->exact += f->exact[i] * (double)x;
		c->naive += f->naive[i] * x;
		c->noise += f->noise[i] * f->noise[i] * x * x;
	}
}

/* Add the sums of the groups and store the block's row. All threads must call it. */
static __device__ void store_row(struct column c, struct totals out, int64_t row, int headdim)
{
	__shared__ struct factors share;
	__syncthreads();
	share.exact[threadIdx.x] = c.exact;
	share.naive[threadIdx.x] = c.naive;
	share.noise[threadIdx.x] = c.noise;
	__syncthreads();
	if ((int)threadIdx.x >= headdim)
		return;
	for (int g = 1; g < column_groups(headdim); g++) {
		c.exact += share.exact[threadIdx.x + g * headdim];
		c.naive += share.naive[threadIdx.x + g * headdim];
		c.noise += share.noise[threadIdx.x + g * headdim];
	}
	out.exact[row * headdim + threadIdx.x] = c.exact;
	out.naive[row * headdim + threadIdx.x] = c.naive;
	out.noise[row * headdim + threadIdx.x] = c.noise;
}

static __global__ void forward_rows(struct problem p, struct lists l, struct totals o, double *lse)
{
	__shared__ struct factors f;
	reference_position at = l.at[blockIdx.x];
	const int32_t *token = l.token + l.first[blockIdx.x];
	int n = (int)(l.first[blockIdx.x + 1] - l.first[blockIdx.x]), kv_head = at.head / (p.nhq / p.nhk), d = p.headdim;
	int warp = threadIdx.x / 32;
	const uint16_t *q = vector_of(p.q, p.nhq, d, at.row, at.head);

	double top = -INFINITY;
	for (int i = warp; i < n; i += WARPS)
		top = fmax(top, p.scale * warp_dot(q, vector_of(p.k, p.nhk, d, token[i], kv_head), d));
	top = block_reduce(top, true);
	float naive_top = reference_round(tensors_dtype, (float)top);

	double sum = 0;
	float naive_part = 0;
	for (int i = warp; i < n; i += WARPS) {
		double score = p.scale * warp_dot(q, vector_of(p.k, p.nhk, d, token[i], kv_head), d);
		sum += exp(score - top);
		naive_part += expf(reference_round(tensors_dtype, (float)score) - naive_top);
	}
	sum = block_reduce(sum, false);
	float naive_sum = (float)block_reduce((double)naive_part, false);

	struct column c = { 0, 0, 0 };
	for (int base = 0; base < n; base += THREADS) {
		int tile = n - base < THREADS ? n - base : THREADS;
		__syncthreads();
		for (int i = warp; i < tile; i += WARPS) {
			double score = p.scale * warp_dot(q, vector_of(p.k, p.nhk, d, token[base + i], kv_head), d);
			double weight = exp(score - top) / sum;
			if (threadIdx.x % 32 == 0) {
				f.exact[i] = weight;
				f.naive[i] = reference_round(tensors_dtype,
					expf(reference_round(tensors_dtype, (float)score) - naive_top) / naive_sum);
				f.noise[i] = (float)reference_noise(tensors_dtype, weight);
			}
		}
		__syncthreads();
		add_tile(&c, &f, p.v, p.nhk, kv_head, d, token + base, tile);
	}
	store_row(c, o, blockIdx.x, d);
	if (threadIdx.x == 0)
		lse[blockIdx.x] = n > 0 ? top + log(sum) : -INFINITY;
}

static __device__ void store_factors(struct factors *f, int i, double exact, float naive, double noise)
{
	f->exact[i] = exact;
	f->naive[i] = naive;
	f->noise[i] = (float)noise;
}

/* `p_k` receives the sums of p * K of each row, only `exact`; `row` receives the other arguments of reference_own_shift. */
static __global__ void backward_rows(
	struct problem p, struct lists l, struct totals dq, struct totals p_k, struct reference_row *row)
{
	__shared__ struct factors f, weight;
	reference_position at = l.at[blockIdx.x];
	const int32_t *token = l.token + l.first[blockIdx.x];
	int n = (int)(l.first[blockIdx.x + 1] - l.first[blockIdx.x]), kv_head = at.head / (p.nhq / p.nhk), d = p.headdim;
	const uint16_t *q = vector_of(p.q, p.nhq, d, at.row, at.head), *dout = vector_of(p.dout, p.nhq, d, at.row, at.head);
	double delta = warp_dot(dout, vector_of(p.o, p.nhq, d, at.row, at.head), d);
	double lse = (double)p.lse[(int64_t)at.head * p.seqlen + at.row];
	double sum_p = 0, sum_p_dp = 0;

	struct column c = { 0, 0, 0 }, cw = { 0, 0, 0 };
	for (int base = 0; base < n; base += THREADS) {
		int tile = n - base < THREADS ? n - base : THREADS;
		__syncthreads();
		for (int i = threadIdx.x / 32; i < tile; i += WARPS) {
			double score = warp_dot(q, vector_of(p.k, p.nhk, d, token[base + i], kv_head), d);
			double dp = warp_dot(dout, vector_of(p.v, p.nhk, d, token[base + i], kv_head), d);
			struct reference_pair pair = reference_backward_pair(tensors_dtype, score, dp, p.scale, lse, delta, 0);
			sum_p += pair.p;
			sum_p_dp += pair.p * dp;
			if (threadIdx.x % 32 == 0) {
				store_factors(&f, i, pair.ds, pair.naive_ds, pair.noise_ds);
				store_factors(&weight, i, pair.p, 0, 0);
			}
		}
		__syncthreads();
		add_tile(&c, &f, p.k, p.nhk, kv_head, d, token + base, tile);
		add_tile(&cw, &weight, p.k, p.nhk, kv_head, d, token + base, tile);
	}
	store_row(c, dq, blockIdx.x, d);
	store_row(cw, p_k, blockIdx.x, d);
	sum_p = block_reduce(sum_p, false);
	sum_p_dp = block_reduce(sum_p_dp, false);
	if (threadIdx.x == 0) {
		row[blockIdx.x].p = sum_p;
		row[blockIdx.x].p_dp = sum_p_dp;
		row[blockIdx.x].delta = delta;
	}
}

/* Block x: planned key; block y: query head within its group. Partial sums at [x * group + y]. */
static __global__ void backward_keys(struct problem p, struct lists l, struct totals dk, struct totals dv)
{
	__shared__ struct factors to_k, to_v;
	reference_position at = l.at[blockIdx.x];
	int list = (int)blockIdx.x * l.heads + (l.heads > 1 ? (int)blockIdx.y : 0);
	const int32_t *token = l.token + l.first[list];
	int n = (int)(l.first[list + 1] - l.first[list]), d = p.headdim;
	int head = at.head * (p.nhq / p.nhk) + blockIdx.y;
	const uint16_t *k = vector_of(p.k, p.nhk, d, at.row, at.head), *v = vector_of(p.v, p.nhk, d, at.row, at.head);

	struct column ck = { 0, 0, 0 }, cv = { 0, 0, 0 };
	for (int base = 0; base < n; base += THREADS) {
		int tile = n - base < THREADS ? n - base : THREADS;
		__syncthreads();
		for (int i = threadIdx.x / 32; i < tile; i += WARPS) {
			int64_t row = token[base + i];
			const uint16_t *dout = vector_of(p.dout, p.nhq, d, row, head);
			double score = warp_dot(vector_of(p.q, p.nhq, d, row, head), k, d);
			const uint16_t *o = vector_of(p.o, p.nhq, d, row, head);
			double dp = warp_dot(dout, v, d), delta = warp_dot(dout, o, d), noise = warp_delta_noise(dout, o, d);
			struct reference_pair pair = reference_backward_pair(
				tensors_dtype, score, dp, p.scale, (double)p.lse[(int64_t)head * p.seqlen + row], delta, noise);
			if (threadIdx.x % 32 == 0) {
				store_factors(&to_k, i, pair.ds, pair.naive_ds, pair.noise_ds);
				store_factors(&to_v, i, pair.p, pair.naive_p, pair.noise_p);
			}
		}
		__syncthreads();
		add_tile(&ck, &to_k, p.q, p.nhq, head, d, token + base, tile);
		add_tile(&cv, &to_v, p.dout, p.nhq, head, d, token + base, tile);
	}
	int64_t out = (int64_t)blockIdx.x * gridDim.y + blockIdx.y;
	store_row(ck, dk, out, d);
	store_row(cv, dv, out, d);
}

static __global__ void find_bad(const void *data, int is_lse, uint16_t exponent, int64_t n, unsigned long long *first)
{
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
		bool finite = is_lse ? ((const float *)data)[i] < INFINITY : (((const uint16_t *)data)[i] & exponent) != exponent;
		if (!finite)
			atomicMin(first, (unsigned long long)i);
	}
}

/* ---- host -------------------------------------------------------------------------------------------------------- */

static struct totals reserve_totals(struct memory *m, size_t elements)
{
	struct totals t;
	t.exact = (double *)memory_reserve(m, elements * sizeof(double));
	t.naive = (float *)memory_reserve(m, elements * sizeof(float));
	t.noise = (float *)memory_reserve(m, elements * sizeof(float));
	return t;
}

/* Upload the lists of the positions: of keys their rows in K and V, of queries their tokens. Err: -1 out of host memory. */
static int upload_lists(struct memory *m, const struct reference_io *io, const struct reference_position *at, int n, bool keys,
	struct lists *out, struct fw_err *err)
{
	const struct attention_case *a = attention_in(io->cell);
	int group = a->nhq / a->nhk, heads = keys && a->mask == FW_TOKENS ? group : 1;
	struct reference_range *range =
		(struct reference_range *)calloc((size_t)reference_mask_capacity(a) + 1, sizeof(struct reference_range));
	int64_t *first = (int64_t *)calloc((size_t)n * (size_t)heads + 1, sizeof(int64_t));
	int32_t *token = NULL;
	int status = range && first ? 0 : -1;

	/* first count, then fill */
	for (int pass = 0; status == 0 && pass < 2; pass++) {
		int64_t used = 0;
		for (int i = 0; i < n * heads; i++) {
			struct reference_position of = at[i / heads];
			int ranges = keys ? reference_mask_rows(io, of.head * group + i % heads, of.row, range)
					  : reference_mask_keys(io, of.head, of.row, range);
			first[i] = used;
			for (int r = 0; r < ranges; r++)
				for (int32_t t = range[r].begin; t < range[r].end; t++, used++)
					if (pass == 1)
						token[used] = keys ? t : reference_key_row(io, t);
		}
		first[n * heads] = used;
		if (pass == 0) {
			token = (int32_t *)calloc((size_t)used + 1, sizeof(int32_t));
			status = token ? 0 : -1;
		}
	}
	if (status == 0) {
		out->at = (const reference_position *)memory_upload(m, at, (size_t)n * sizeof *at);
		out->heads = heads;
		out->first = (const int64_t *)memory_upload(m, first, ((size_t)n * (size_t)heads + 1) * sizeof *first);
		out->token = (const int32_t *)memory_upload(m, token, (size_t)first[n * heads] * sizeof *token);
	}
	free(range);
	free(first);
	free(token);
	return status ? err_set(err, ERR_FULL, "reference: out of memory") : 0;
}

/* Convert sums to values, as reference_cpu.c does. */
static void finish(int32_t dtype, struct reference_tensor *t, double scale)
{
	for (size_t i = 0; i < (size_t)t->n * (size_t)t->width; i++) {
		t->exact[i] *= scale;
		t->naive[i] = reference_round(dtype, t->naive[i] * (float)scale);
		t->noise[i] = sqrtf(t->noise[i]) * (float)scale;
	}
}

static void download_rows(struct memory *m, struct totals from, struct reference_tensor *to)
{
	size_t n = (size_t)to->n * (size_t)to->width;
	memory_download(m, to->exact, from.exact, n * sizeof(double));
	memory_download(m, to->naive, from.naive, n * sizeof(float));
	memory_download(m, to->noise, from.noise, n * sizeof(float));
}

/* Compute the shift from the sums of ds * K in `to`: call before `finish`. Err: -1 out of host memory. */
static int download_shift(struct memory *m, struct totals p_k, const struct reference_row *rows, double scale,
	struct reference_tensor *to, struct fw_err *err)
{
	size_t width = (size_t)to->width, n = (size_t)to->n;
	double *sums = (double *)calloc(n * width + 1, sizeof(double));
	struct reference_row *row = (struct reference_row *)calloc(n + 1, sizeof(struct reference_row));
	int status = sums && row ? 0 : -1;
	if (status == 0) {
		memory_download(m, sums, p_k.exact, n * width * sizeof(double));
		memory_download(m, row, rows, n * sizeof *row);
		for (size_t i = 0; i < n * width; i++)
			to->shift[i] = (float)(reference_own_shift(to->exact[i], sums[i], row[i / width]) * scale);
	}
	free(sums);
	free(row);
	return status ? err_set(err, ERR_FULL, "reference: out of memory") : 0;
}

/* Add the partial sums of each key's query heads. Err: -1 out of host memory. */
static int download_keys(struct memory *m, struct totals from, int group, struct reference_tensor *to, struct fw_err *err)
{
	size_t width = (size_t)to->width, n = (size_t)to->n * (size_t)group * width;
	struct reference_tensor part = { 0 };
	part.n = to->n * group;
	part.width = to->width;
	part.exact = (double *)calloc(n + 1, sizeof(double));
	part.naive = (float *)calloc(n + 1, sizeof(float));
	part.noise = (float *)calloc(n + 1, sizeof(float));
	int status = part.exact && part.naive && part.noise ? 0 : -1;
	if (status == 0) {
		download_rows(m, from, &part);
		for (size_t i = 0; i < n; i++) {
			size_t out = i / width / (size_t)group * width + i % width;
			to->exact[out] += part.exact[i];
			to->naive[out] += part.naive[i];
			to->noise[out] += part.noise[i];
		}
	}
	free(part.exact);
	free(part.naive);
	free(part.noise);
	return status ? err_set(err, ERR_FULL, "reference: out of memory") : 0;
}

static int compute_rows(struct memory *m, const struct problem *p, const struct reference_plan *plan,
	const struct reference_io *io, struct reference *out, struct fw_err *err)
{
	struct lists l;
	size_t n = (size_t)plan->n_rows;
	bool forward = io->cell->direction == DIRECTION_FORWARD;
	if (n == 0)
		return 0;
	if (upload_lists(m, io, plan->row, plan->n_rows, false, &l, err))
		return -1;
	struct totals sums = reserve_totals(m, n * (size_t)p->headdim), p_k = { NULL, NULL, NULL };
	double *lse = forward ? (double *)memory_reserve(m, n * sizeof(double)) : NULL;
	struct reference_row *row = forward ? NULL : (struct reference_row *)memory_reserve(m, n * sizeof(struct reference_row));
	if (!forward)
		p_k = reserve_totals(m, n * (size_t)p->headdim);
	if (m->status != cudaSuccess)
		return 0;
	if (forward)
		forward_rows<<<(unsigned)n, THREADS>>>(*p, l, sums, lse);
	else
		backward_rows<<<(unsigned)n, THREADS>>>(*p, l, sums, p_k, row);
	m->status = cudaGetLastError();
	download_rows(m, sums, &out->tensor[0]);
	if (forward)
		memory_download(m, out->tensor[1].exact, lse, n * sizeof(double));
	else if (download_shift(m, p_k, row, p->scale, &out->tensor[0], err))
		return -1;
	finish(attention_in(io->cell)->dtype, &out->tensor[0], forward ? 1 : p->scale);
	return 0;
}

static int compute_keys(struct memory *m, const struct problem *p, const struct reference_plan *plan,
	const struct reference_io *io, struct reference *out, struct fw_err *err)
{
	struct lists l;
	int group = p->nhq / p->nhk;
	size_t elements = (size_t)plan->n_keys * (size_t)group * (size_t)p->headdim;
	if (plan->n_keys == 0)
		return 0;
	if (upload_lists(m, io, plan->key, plan->n_keys, true, &l, err))
		return -1;
	struct totals dk = reserve_totals(m, elements), dv = reserve_totals(m, elements);
	if (m->status != cudaSuccess)
		return 0;
	backward_keys<<<dim3((unsigned)plan->n_keys, (unsigned)group), THREADS>>>(*p, l, dk, dv);
	m->status = cudaGetLastError();
	if (download_keys(m, dk, group, &out->tensor[1], err) || download_keys(m, dv, group, &out->tensor[2], err))
		return -1;
	finish(attention_in(io->cell)->dtype, &out->tensor[1], p->scale);
	finish(attention_in(io->cell)->dtype, &out->tensor[2], 1);
	return 0;
}

static int compute(const struct reference_plan *plan, const struct reference_io *io, struct reference *out, struct fw_err *err)
{
	static const int needed[] = { FW_Q, FW_K, FW_V, FW_O, FW_LSE, FW_DO };
	const struct attention_case *a = attention_in(io->cell);
	bool backward = io->cell->direction == DIRECTION_BACKWARD;
	struct memory m;
	struct problem p;

	memset(&m, 0, sizeof m);
	if (a->headdim > THREADS)
		return err_set(err, ERR_UNSUPPORTED, "reference: headdim %d is above %d", a->headdim, (int)THREADS);
	for (int i = 0; i < (backward ? 6 : 3); i++)
		if (!io->on_device[needed[i]])
			return err_set(err, ERR_INTERNAL, "reference: %s of %s is not on the device",
				reference_slot_name(needed[i]), io->cell->key);
	p.q = (const uint16_t *)io->on_device[FW_Q];
	p.k = (const uint16_t *)io->on_device[FW_K];
	p.v = (const uint16_t *)io->on_device[FW_V];
	p.o = (const uint16_t *)io->on_device[FW_O];
	p.dout = (const uint16_t *)io->on_device[FW_DO];
	p.lse = (const float *)io->on_device[FW_LSE];
	p.seqlen = a->seqlen;
	p.nhq = a->nhq;
	p.nhk = a->nhk;
	p.headdim = a->headdim;
	p.scale = 1 / sqrt((double)a->headdim);

	m.status = cudaMemcpyToSymbol(tensors_dtype, &a->dtype, sizeof a->dtype);
	if (m.status == cudaSuccess)
		m.status = cudaDeviceSynchronize(); /* another stream writes the tensors */
	int status = compute_rows(&m, &p, plan, io, out, err);
	if (status == 0 && backward)
		status = compute_keys(&m, &p, plan, io, out, err);
	return memory_release(&m, err) || status ? -1 : 0;
}

static int find_nonfinite(const struct reference_io *io, int slot, int64_t *index, struct fw_err *err)
{
	struct memory m;
	unsigned long long first = ~0ull;
	const void *data = io->on_device[slot];

	*index = -1;
	if (!data)
		return reference_cpu.find_nonfinite(io, slot, index, err);
	memset(&m, 0, sizeof m);
	m.status = cudaDeviceSynchronize();
	unsigned long long *found = (unsigned long long *)memory_upload(&m, &first, sizeof first);
	if (m.status == cudaSuccess) {
		find_bad<<<1024, THREADS>>>(data, slot == FW_LSE, attention_in(io->cell)->dtype == FW_F16 ? 0x7c00u : 0x7f80u,
			reference_slot_elements(io->cell, slot), found);
		m.status = cudaGetLastError();
	}
	memory_download(&m, &first, found, sizeof first);
	if (memory_release(&m, err))
		return -1;
	*index = first == ~0ull ? -1 : (int64_t)first;
	return 0;
}

extern "C" const struct reference_ops reference_cuda = { "cuda", compute, find_nonfinite };

#endif
