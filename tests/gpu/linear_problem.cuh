/*
 * linear_problem.cuh - a problem of the linear family with random inputs on the device, and the expected results, in fp64 on
 * sampled rows.
 *
 * An operand is stored as it is multiplied, q as float, with its scales: quantised here as defined by fw_linear.h, not by a
 * kernel under test.
 */
#ifndef LINEAR_PROBLEM_CUH
#define LINEAR_PROBLEM_CUH

#include "fw_linear.h"

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <algorithm>

#define CHECK(call)                                                                                                              \
	do {                                                                                                                     \
		const cudaError_t e_ = (call);                                                                                   \
		if (e_ != cudaSuccess) {                                                                                         \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));                              \
			exit(1);                                                                                                 \
		}                                                                                                                \
	} while (0)

enum recipe { BASELINE, DQ_TENSOR, DQ_ROW, DQ_ROW_PRECISE, INT8WO, FLOAT8WO, INT4WO_64 };
static const char *const recipe_names[] = { "baseline", "float8dq-tensor", "float8dq-row", "float8dq-row, precise", "int8wo",
	"float8wo", "int4wo-64" };
enum { SAMPLES = 256 };

struct request {
	int m, k, n, direction, recipe;
	int activation, bias, prologue;
};

/* rows by depth as multiplied: (q or the value) times scale[row] */
struct operand {
	float *q, *scale;
	int rows, depth;
};

struct problem {
	struct request request;
	struct fw_linear_shape shape;
	__nv_bfloat16 *x, *w, *dy, *bias;
	struct operand left, right;
	int out_rows, out_columns;
	size_t out_elements;
	std::vector<int> rows; /* sampled */
	double *reference;     /* [rows][out_columns] */
};

static __device__ float noise(uint64_t i, uint32_t seed)
{
	uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull + seed * 0xd1342543de82ef95ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	z ^= z >> 31;
	const float u = ((uint32_t)z + 1.0f) * 2.3283064e-10f, v = (uint32_t)(z >> 32) * 2.3283064e-10f;
	return sqrtf(-2.0f * logf(fminf(u, 1.0f))) * cospif(2.0f * v);
}

static __global__ void fill(__nv_bfloat16 *to, size_t n, uint32_t seed, float factor)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		to[i] = __float2bfloat16(noise(i, seed) * factor);
}

static __device__ float value_of(const __nv_bfloat16 *from, bool across, int rows, int depth, int r, int d)
{
	return __bfloat162float(across ? from[(size_t)d * rows + r] : from[(size_t)r * depth + d]);
}

/* One block per row: the values as they are multiplied, and their scale; amax_of_all 0: of the row. */
static __global__ void quantise_operand(const __nv_bfloat16 *from, bool across, int rows, int depth, struct fw_linear_operand as,
	float amax_of_all, struct operand to)
{
	__shared__ float largest[256];
	const int r = blockIdx.x;
	float amax = 0.0f;
	for (int d = threadIdx.x; d < depth; d += 256)
		amax = fmaxf(amax, fabsf(value_of(from, across, rows, depth, r, d)));
	largest[threadIdx.x] = amax;
	for (int n = 128; n; n /= 2) {
		__syncthreads();
		if (threadIdx.x < n)
			largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + n]);
	}
	__syncthreads();
	amax = as.scaling == FW_LINEAR_BY_TENSOR ? amax_of_all : largest[0];
	float s = 1.0f;
	if (amax > 0.0f && as.dtype == FW_E4M3)
		s = __fdiv_rn(amax, 448.0f);
	if (amax > 0.0f && as.dtype == FW_I8)
		s = __fdiv_rn(amax, 127.5f);
	if (threadIdx.x == 0)
		to.scale[r] = s;
	for (int d = threadIdx.x; d < depth; d += 256) {
		const float v = value_of(from, across, rows, depth, r, d);
		float q = v;
		if (as.dtype == FW_E4M3)
			q = (float)__nv_fp8_e4m3(__fdiv_rn(v, s));
		if (as.dtype == FW_I8)
			q = fminf(fmaxf(rintf(__fdiv_rn(v, s)), -128.0f), 127.0f);
		if (as.dtype == FW_I4) {
			float least = INFINITY, most = -INFINITY;
			for (int j = d / as.group * as.group; j < d / as.group * as.group + as.group; j++) {
				least = fminf(least, value_of(from, across, rows, depth, r, j));
				most = fmaxf(most, value_of(from, across, rows, depth, r, j));
			}
			const float step = fmaxf(__fdiv_rn(most - least, 15.0f), 1e-6f);
			const float zero = __bfloat162float(__float2bfloat16(least + 8.0f * step));
			const float level = fminf(fmaxf(rintf(__fdiv_rn(v - least, step)), 0.0f), 15.0f);
			const float stored = __bfloat162float(__float2bfloat16(step));
			q = __bfloat162float(__float2bfloat16((level - 8.0f) * stored + zero));
		}
		to.q[(size_t)r * depth + d] = q;
	}
}

/* One thread per row is enough here. */
static __global__ void normalise(const __nv_bfloat16 *from, int rows, int columns, __nv_bfloat16 *to)
{
	const int r = blockIdx.x * blockDim.x + threadIdx.x;
	double sum = 0, square = 0;
	if (r >= rows)
		return;
	for (int c = 0; c < columns; c++)
		sum += __bfloat162float(from[(size_t)r * columns + c]);
	for (int c = 0; c < columns; c++)
		square += pow(__bfloat162float(from[(size_t)r * columns + c]) - sum / columns, 2.0);
	for (int c = 0; c < columns; c++)
		to[(size_t)r * columns + c] = __double2bfloat16(
			(__bfloat162float(from[(size_t)r * columns + c]) - sum / columns) / sqrt(square / columns + 1e-5));
}

static __device__ double activate(double x, int activation)
{
	switch (activation) {
	case FW_LINEAR_RELU:
		return fmax(x, 0.0);
	case FW_LINEAR_SIGMOID:
		return 1.0 / (1.0 + exp(-x));
	case FW_LINEAR_LEAKYRELU:
		return x > 0 ? x : 0.01 * x;
	case FW_LINEAR_RELU6:
		return fmin(fmax(x, 0.0), 6.0);
	case FW_LINEAR_GELU:
		return 0.5 * x * (1.0 + erf(x * sqrt(0.5)));
	case FW_LINEAR_SILU:
		return x / (1.0 + exp(-x));
	case FW_LINEAR_HARDSWISH:
		return x * fmin(fmax(x + 3.0, 0.0), 6.0) / 6.0;
	default:
		return x;
	}
}

/* One warp per sum. */
static __global__ void product(
	struct operand left, struct operand right, const int *rows, const __nv_bfloat16 *bias, int activation, double *to)
{
	const int column = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, row = rows[blockIdx.y];
	if (column >= right.rows)
		return;
	const float *a = left.q + (size_t)row * left.depth, *b = right.q + (size_t)column * left.depth;
	double sum = 0;
	for (int d = lane; d < left.depth; d += 32)
		sum += (double)a[d] * b[d];
	for (int other = 16; other; other /= 2)
		sum += __shfl_xor_sync(~0u, sum, other);
	sum = sum * left.scale[row] * right.scale[column] + (bias ? (double)__bfloat162float(bias[column]) : 0.0);
	if (lane == 0)
		to[(size_t)blockIdx.y * right.rows + column] = activate(sum, activation);
}

static __nv_bfloat16 *random_matrix(size_t n, uint32_t seed, float factor)
{
	__nv_bfloat16 *to;
	CHECK(cudaMalloc(&to, n * 2));
	fill<<<1024, 256>>>(to, n, seed, factor);
	CHECK(cudaGetLastError());
	return to;
}

static struct operand operand_new(const __nv_bfloat16 *from, bool across, int rows, int depth, struct fw_linear_operand as)
{
	struct operand o = { NULL, NULL, rows, depth };
	float amax = 0.0f;
	CHECK(cudaMalloc(&o.q, (size_t)rows * depth * 4));
	CHECK(cudaMalloc(&o.scale, (size_t)rows * 4));
	if (as.scaling == FW_LINEAR_BY_TENSOR) {
		std::vector<uint16_t> host((size_t)rows * depth);
		CHECK(cudaMemcpy(host.data(), from, host.size() * 2, cudaMemcpyDeviceToHost));
		uint16_t most = 0; /* bf16 without its sign is ordered like an integer */
		for (uint16_t v : host)
			most = std::max<uint16_t>(most, v & 0x7fff);
		const uint32_t bits = (uint32_t)most << 16;
		memcpy(&amax, &bits, sizeof amax);
	}
	quantise_operand<<<(unsigned)rows, 256>>>(from, across, rows, depth, as, amax, o);
	CHECK(cudaGetLastError());
	return o;
}

static void problem_recipe(struct fw_linear_shape *s, int recipe)
{
	const struct fw_linear_operand by_tensor = { FW_E4M3, FW_LINEAR_BY_TENSOR, 0, 0 },
				       by_row = { FW_E4M3, FW_LINEAR_BY_ROW, 0, 0 };
	const struct fw_linear_operand i8 = { FW_I8, FW_LINEAR_BY_ROW, 0, 0 };
	const struct fw_linear_operand i4 = { FW_I4, FW_LINEAR_BY_GROUP, 64, FW_LINEAR_ASYMMETRIC };
	if (recipe == DQ_TENSOR)
		s->x = s->w = by_tensor;
	if (recipe == DQ_ROW || recipe == DQ_ROW_PRECISE)
		s->x = s->w = by_row;
	if (recipe == INT8WO)
		s->w = i8;
	if (recipe == FLOAT8WO)
		s->w = by_row;
	if (recipe == INT4WO_64)
		s->w = i4;
}

static struct problem *problem_new(const struct request *request)
{
	struct problem *p = new struct problem();
	const struct request r = p->request = *request;
	struct fw_linear_shape *s = &p->shape;
	s->struct_size = sizeof *s;
	s->m = r.m;
	s->n = r.n;
	s->k = r.k;
	s->activation = r.activation;
	s->bias = r.bias;
	s->prologue = r.prologue;
	problem_recipe(s, r.recipe);
	const float small = 1.0f / sqrtf((float)r.k);
	p->x = random_matrix((size_t)r.m * r.k, 1, 1.0f);
	p->w = random_matrix((size_t)r.n * r.k, 2, small);
	p->dy = random_matrix((size_t)r.m * r.n, 3, 1.0f);
	p->bias = random_matrix((size_t)r.n, 4, 1.0f);
	const bool forward = r.direction == FW_FORWARD, wgrad = r.direction == FW_WGRAD;
	p->out_rows = wgrad ? r.n : r.m;
	p->out_columns = forward ? r.n : r.k;
	p->out_elements = (size_t)p->out_rows * p->out_columns;
	const int depth = forward ? r.k : wgrad ? r.m : r.n;
	struct fw_linear_operand w_as = s->w;
	if (w_as.dtype == FW_I4 && r.k % w_as.group)
		w_as = {}; /* it cannot be computed */
	__nv_bfloat16 *x = p->x;
	if (r.prologue) {
		CHECK(cudaMalloc(&x, (size_t)r.m * r.k * 2));
		normalise<<<(unsigned)(r.m + 63) / 64, 64>>>(p->x, r.m, r.k, x);
		CHECK(cudaGetLastError());
	}
	p->left = operand_new(forward ? x : p->dy, wgrad, p->out_rows, depth, forward ? s->x : s->dy);
	p->right = operand_new(wgrad ? p->x : p->w, !forward, p->out_columns, depth, wgrad ? s->x : w_as);
	for (int i = 0; i < std::min((int)SAMPLES, p->out_rows); i++) /* distributed over all tiles, at other positions in each */
		p->rows.push_back((int)((long)i * p->out_rows / std::min((int)SAMPLES, p->out_rows)) +
				  (p->out_rows > SAMPLES ? i * 7 % std::max(1, p->out_rows / SAMPLES) : 0));
	int *rows;
	CHECK(cudaMalloc(&rows, p->rows.size() * sizeof *rows));
	CHECK(cudaMemcpy(rows, p->rows.data(), p->rows.size() * sizeof *rows, cudaMemcpyHostToDevice));
	CHECK(cudaMalloc(&p->reference, p->rows.size() * (size_t)p->out_columns * sizeof(double)));
	product<<<dim3((unsigned)(p->out_columns + 7) / 8, (unsigned)p->rows.size()), 256>>>(
		p->left, p->right, rows, r.bias ? p->bias : NULL, r.activation, p->reference);
	CHECK(cudaDeviceSynchronize());
	cudaFree(rows);
	if (x != p->x)
		cudaFree(x);
	cudaFree(p->left.q);
	cudaFree(p->right.q);
	cudaFree(p->left.scale);
	cudaFree(p->right.scale);
	return p;
}

static void problem_free(struct problem *p)
{
	cudaFree(p->x);
	cudaFree(p->w);
	cudaFree(p->dy);
	cudaFree(p->bias);
	cudaFree(p->reference);
	delete p;
}

static struct fw_problem problem_of(const struct problem *p)
{
	struct fw_problem q = {};
	const int recipe = p->request.recipe;
	q.struct_size = sizeof q;
	q.family = FW_LINEAR;
	q.direction = p->request.direction;
	q.flags = FW_DETERMINISTIC | (recipe == DQ_TENSOR || recipe == DQ_ROW ? FW_FAST_ACCUM : 0);
	q.shape = &p->shape;
	q.shape_size = sizeof p->shape;
	return q;
}

static struct fw_io problem_io(const struct problem *p, void *out, void *workspace, void *persist, struct fw_tensor *slots)
{
	void *const data[FW_LINEAR_N_SLOTS] = { p->x, p->w, p->bias, out, p->dy, out, out, nullptr };
	for (int i = 0; i < FW_LINEAR_N_SLOTS; i++)
		slots[i] = { data[i], {}, FW_BF16, 0 };
	return { sizeof(struct fw_io), FW_LINEAR_N_SLOTS, slots, workspace, persist };
}

/* relative: of the sampled rows, Frobenius; worst: an element, in units of their root mean square. */
struct difference {
	double relative, worst, got, wanted;
	int row, column;
};

static struct difference problem_compare(const struct problem *p, const void *out)
{
	struct difference d = {};
	const size_t columns = (size_t)p->out_columns;
	std::vector<uint16_t> got(columns * p->rows.size());
	std::vector<double> wanted(got.size());
	CHECK(cudaMemcpy(wanted.data(), p->reference, wanted.size() * sizeof(double), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < p->rows.size(); i++)
		CHECK(cudaMemcpy(got.data() + i * columns, (const uint16_t *)out + (size_t)p->rows[i] * columns, columns * 2,
			cudaMemcpyDeviceToHost));
	double square = 0, error = 0;
	for (size_t i = 0; i < got.size(); i++) {
		const uint32_t bits = (uint32_t)got[i] << 16;
		float value;
		memcpy(&value, &bits, sizeof value);
		const double away = std::isfinite(value) ? fabs(value - wanted[i]) : INFINITY;
		square += wanted[i] * wanted[i];
		error += away * away;
		if (away > d.worst) {
			d.worst = away;
			d.got = value;
			d.wanted = wanted[i];
			d.row = p->rows[i / columns];
			d.column = (int)(i % columns);
		}
	}
	d.relative = sqrt(error / square);
	d.worst /= sqrt(square / (double)got.size());
	return d;
}

static uint64_t problem_hash(const struct problem *p, const void *out)
{
	std::vector<uint16_t> host(p->out_elements);
	uint64_t hash = 0xcbf29ce484222325ull;
	CHECK(cudaMemcpy(host.data(), out, host.size() * 2, cudaMemcpyDeviceToHost));
	for (uint16_t v : host)
		hash = (hash ^ v) * 0x100000001b3ull;
	return hash;
}

static std::string problem_name(const struct request *r)
{
	char text[128];
	snprintf(text, sizeof text, "%d x %d x %d %s %s%s%s%s", r->m, r->k, r->n,
		r->direction == FW_FORWARD ? "forward"
		: r->direction == FW_DGRAD ? "dgrad"
					   : "wgrad",
		recipe_names[r->recipe], r->prologue ? " norm" : "", r->activation ? " act" : "", r->bias ? " bias" : "");
	return text;
}

static double problem_flops(const struct request *r)
{
	return 2.0 * r->m * r->k * r->n;
}

#endif
