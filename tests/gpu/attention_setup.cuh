/**
 * attention_setup.cuh - buffers, plans and calls of one attention problem, for attention_check.cu.
 */
#ifndef GPU_ATTENTION_SETUP_CUH
#define GPU_ATTENTION_SETUP_CUH

#include "attention_reference.cuh"
#include "kernels/fw_attention.h"
#include "model/model.h"

#include <cuda_runtime.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <string>
#include <vector>

#define CUDA(call)                                                                                                               \
	do {                                                                                                                     \
		cudaError_t e_ = (call);                                                                                         \
		if (e_ != cudaSuccess) {                                                                                         \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));                              \
			exit(1);                                                                                                 \
		}                                                                                                                \
	} while (0)

enum { REDZONE_BYTES = 4096, REDZONE_VALUE = 0xa5, ALL_ONES = 0xff };

/* A device buffer with a redzone after it. */
struct buffer {
	unsigned char *data;
	size_t bytes;
};

static struct buffer make_buffer(size_t bytes)
{
	struct buffer b = { NULL, bytes };
	CUDA(cudaMalloc(&b.data, bytes + REDZONE_BYTES));
	CUDA(cudaMemset(b.data + bytes, REDZONE_VALUE, REDZONE_BYTES));
	return b;
}

static void fill(const struct buffer &b, int value)
{
	if (b.bytes)
		CUDA(cudaMemset(b.data, value, b.bytes));
}

static bool redzone_is_intact(const struct buffer &b)
{
	unsigned char redzone[REDZONE_BYTES];
	CUDA(cudaMemcpy(redzone, b.data + b.bytes, REDZONE_BYTES, cudaMemcpyDeviceToHost));
	for (int i = 0; i < REDZONE_BYTES; i++)
		if (redzone[i] != REDZONE_VALUE)
			return false;
	return true;
}

static __global__ void fill_inputs(uint64_t seed, uint32_t tensor, uint16_t *out, uint64_t n)
{
	const uint64_t stream = inputs_stream(seed, tensor);
	for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x)
		out[i] = inputs_element(stream, i);
}

/* All buffers of one problem and its description for the ABI. */
struct setup {
	struct problem p;
	int total_q, total_k;
	struct fw_attention attention;
	struct fw_problem direction[2];
	struct buffer slot[FW_ATTENTION_SLOTS];
	struct fw_tensor tensor[FW_ATTENTION_SLOTS];
	struct buffer workspace, persist;
};

static bool is_output(int slot, int backward)
{
	return backward ? slot == FW_DQ || slot == FW_DK || slot == FW_DV : slot == FW_O || slot == FW_LSE;
}

template <typename T> static std::vector<T> fetch(const struct buffer &b)
{
	std::vector<T> out(b.bytes / sizeof(T));
	CUDA(cudaMemcpy(out.data(), b.data, b.bytes, cudaMemcpyDeviceToHost));
	return out;
}

template <typename T> static void store(const struct buffer &b, const std::vector<T> &values)
{
	CUDA(cudaMemcpy(b.data, values.data(), b.bytes, cudaMemcpyHostToDevice));
}

/* Convert normal inputs to the distribution of the problem. Outliers: one element in a thousand gets ten times another one
 * added. */
static void shape_inputs(struct setup *u)
{
	const int slots[] = { FW_Q, FW_K, FW_V };
	for (int s : slots) {
		std::vector<uint16_t> x = fetch<uint16_t>(u->slot[s]);
		const size_t row = (size_t)u->p.nhk * u->p.d;
		for (size_t i = 0; i < x.size(); i++) {
			if (u->p.inputs == SHARP && s == FW_Q)
				x[i] = bf16_bits(8.0 * bf16_value(x[i]));
			if (u->p.inputs == EQUAL_KEYS && s == FW_K && i >= row)
				x[i] = x[i - row];
			if (u->p.inputs == OUTLIERS && inputs_mix(inputs_stream(43, (uint32_t)s) + i) % 1000 == 0)
				x[i] = bf16_bits(
					bf16_value(x[i]) + 10.0 * bf16_value(inputs_element(inputs_stream(44, (uint32_t)s), i)));
		}
		store(u->slot[s], x);
	}
	CUDA(cudaDeviceSynchronize());
}

static void make_setup(struct setup *u, const struct problem &p, int64_t max_blocks)
{
	u->p = p;
	u->total_q = total(p.q_lens);
	u->total_k = total(p.k_lens);
	memset(&u->attention, 0, sizeof u->attention);
	struct fw_attention &a = u->attention;
	a.struct_size = sizeof a;
	a.nhq = p.nhq;
	a.nhk = p.nhk;
	a.headdim = a.headdim_v = p.d;
	a.dtype = FW_BF16;
	a.mask = p.mask;
	a.block_q = a.block_k = p.block;
	a.total_q = u->total_q;
	a.total_k = u->total_k;
	a.n_seqs = (int)p.q_lens.size();
	a.max_q = *std::max_element(p.q_lens.begin(), p.q_lens.end());
	a.max_k = *std::max_element(p.k_lens.begin(), p.k_lens.end());
	a.max_blocks = p.block ? max_blocks : 0;
	a.scale = 1.0 / sqrt((double)p.d);
	for (int i = 0; i < 2; i++) {
		memset(&u->direction[i], 0, sizeof u->direction[i]);
		u->direction[i].struct_size = sizeof u->direction[i];
		u->direction[i].family = FW_ATTENTION;
		u->direction[i].direction = i ? FW_BACKWARD : FW_FORWARD;
		u->direction[i].shape = &u->attention;
		u->direction[i].shape_size = sizeof u->attention;
	}
	const size_t wide_q = (size_t)u->total_q * p.nhq * p.d * 2, wide_k = (size_t)u->total_k * p.nhk * p.d * 2;
	memset(u->tensor, 0, sizeof u->tensor);
	for (int s = 0; s < FW_ATTENTION_SLOTS; s++) {
		size_t bytes = 0;
		const bool q_like = s == FW_Q || s == FW_O || s == FW_DO || s == FW_DQ;
		struct fw_tensor &t = u->tensor[s];
		if (s < FW_CU_Q && s != FW_LSE) {
			bytes = q_like ? wide_q : wide_k;
			t.dtype = FW_BF16;
			t.stride[0] = (int64_t)(q_like ? p.nhq : p.nhk) * p.d;
			t.stride[1] = p.d;
			t.stride[2] = 1;
		} else if (s == FW_LSE) {
			bytes = (size_t)u->total_q * p.nhq * 4;
			t.dtype = FW_F32;
			t.stride[0] = u->total_q;
			t.stride[1] = 1;
		} else if (s == FW_BLOCK_BITS) {
			const int q_blocks = p.block ? ceil_div(u->total_q, p.block) : 0,
				  k_blocks = p.block ? ceil_div(u->total_k, p.block) : 0;
			bytes = (size_t)p.nhk * q_blocks * ceil_div(k_blocks, 32) * 4;
			t.dtype = FW_U32;
		} else {
			bytes = p.q_lens.size() > 1 ? (p.q_lens.size() + 1) * 4 : 0;
			t.dtype = FW_I32;
		}
		u->slot[s] = make_buffer(bytes);
		t.data = bytes ? u->slot[s].data : NULL;
	}
	u->workspace.data = u->persist.data = NULL;
	u->workspace.bytes = u->persist.bytes = 0;
	const int filled[] = { FW_Q, FW_K, FW_V, FW_DO };
	for (int s : filled)
		fill_inputs<<<1024, 256>>>(42, (uint32_t)s, (uint16_t *)u->slot[s].data, u->slot[s].bytes / 2);
	CUDA(cudaGetLastError());
	CUDA(cudaDeviceSynchronize());
	if (p.inputs != NORMAL)
		shape_inputs(u);
}

static void set_mask(const struct setup *u, const struct mask &m)
{
	if (u->tensor[FW_CU_Q].data) {
		CUDA(cudaMemcpy(u->slot[FW_CU_Q].data, m.cu_q.data(), u->slot[FW_CU_Q].bytes, cudaMemcpyHostToDevice));
		CUDA(cudaMemcpy(u->slot[FW_CU_K].data, m.cu_k.data(), u->slot[FW_CU_K].bytes, cudaMemcpyHostToDevice));
	}
	if (u->tensor[FW_BLOCK_BITS].data)
		CUDA(cudaMemcpy(
			u->slot[FW_BLOCK_BITS].data, m.bits.data(), u->slot[FW_BLOCK_BITS].bytes, cudaMemcpyHostToDevice));
	CUDA(cudaDeviceSynchronize());
}

static void free_setup(struct setup *u)
{
	for (int s = 0; s < FW_ATTENTION_SLOTS; s++)
		CUDA(cudaFree(u->slot[s].data));
	CUDA(cudaFree(u->workspace.data));
	CUDA(cudaFree(u->persist.data));
}

/* One outcome: the first failure as text, and the largest error relative to the allowed one. */
struct outcome {
	std::string failure;
	double error, allowed, ratio;
};

static void fail(struct outcome *o, const char *format, ...)
{
	char text[300];
	va_list arguments;
	if (!o->failure.empty())
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	o->failure = text;
}

static const char *slot_name(int slot)
{
	static const char *const names[FW_ATTENTION_SLOTS] = { "Q", "K", "V", "O", "LSE", "dO", "dQ", "dK", "dV", "CU_Q", "CU_K",
		"BLOCK_BITS" };
	return names[slot];
}

static void poison(const struct setup *u, int backward, int workspace_value)
{
	for (int s = 0; s < FW_ATTENTION_SLOTS; s++)
		if (is_output(s, backward))
			fill(u->slot[s], ALL_ONES);
	if (u->workspace.bytes)
		fill(u->workspace, workspace_value);
	CUDA(cudaDeviceSynchronize()); /* memset is asynchronous, and the calls do not wait for the default stream */
}

static bool finished(struct outcome *o, const struct fw_provider *v, const struct fw_plan *plan, int status, const char *what)
{
	if (status != FW_OK) {
		fail(o, "%s: status %d, %s", what, status, v->error(plan));
		return false;
	}
	cudaError_t e = cudaDeviceSynchronize();
	if (e != cudaSuccess) {
		fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
		exit(1);
	}
	return true;
}

struct plan_of {
	struct fw_plan *plan;
	struct fw_info info;
};

/* `flags`: enum fw_problem_flag. A refusal leaves its reason in o->failure; the caller decides whether that is allowed. */
static int make_plan(struct outcome *o, const struct fw_provider *v, struct setup *u, int backward, int flags, const char *config,
	struct plan_of *out)
{
	char why[256] = "";
	memset(out, 0, sizeof *out);
	out->info.struct_size = sizeof out->info;
	struct fw_problem problem = u->direction[backward];
	problem.flags = flags;
	int status = v->plan(&problem, config, 0, &out->plan, &out->info, why, sizeof why);
	if (status != FW_OK) {
		fail(o, "plan: status %d, %s", status, why);
		return status;
	}
	CUDA(cudaFree(u->workspace.data));
	CUDA(cudaFree(u->persist.data));
	u->workspace = make_buffer(out->info.workspace_bytes);
	u->persist = make_buffer(out->info.persist_bytes);
	struct fw_io io;
	memset(&io, 0, sizeof io);
	io.struct_size = sizeof io;
	io.n_slots = FW_ATTENTION_SLOTS;
	io.slot = u->tensor;
	io.workspace = u->workspace.data;
	io.persist = u->persist.data;
	status = v->bind(out->plan, &io);
	if (status != FW_OK)
		fail(o, "bind: status %d, %s", status, v->error(out->plan));
	return status;
}

#endif
