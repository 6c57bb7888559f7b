/**
 * attention_check.cu - checks and times every provider of a CUDA attention module, without daemon or runner.
 *
 *     attention_check MODULE.so [--time] [--only TEXT] [--provider NAME] [--config TEXT]
 *
 * Checks: small and odd problems against an fp64 reference on the CPU. An output may be at most twice as far from it as a
 * plain bf16 attention on the same inputs is, plus twice the rounding floor. Outputs and workspace are poisoned before every
 * call, the bytes behind each must survive, phases one by one must do what all at once does, a second mask must work on the
 * same plan, O, LSE, dK and dV must repeat bit by bit, and a call must be capturable into a graph.
 * --time: the shapes of suite ffa, cold L2, median of several calls. Exit: 0 all passed, 1 some failed, 2 usage.
 */
#include "kernels/fw_kernel.h"
#include "daemon/core/inputs.h"
#include "attention_reference.cuh"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <math.h>
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

enum { GUARD_BYTES = 4096, GUARD_VALUE = 0xa5, REPEATS = 5, ALL_ONES = 0xff };

static int passed, failed;

/* ---- device buffers ---- */

/* A device buffer with a guard behind it. */
struct buffer {
	unsigned char *data;
	size_t bytes;
};

static struct buffer make_buffer(size_t bytes)
{
	struct buffer b = { NULL, bytes };
	CUDA(cudaMalloc(&b.data, bytes + GUARD_BYTES));
	CUDA(cudaMemset(b.data + bytes, GUARD_VALUE, GUARD_BYTES));
	return b;
}

static void fill(const struct buffer &b, int value)
{
	if (b.bytes)
		CUDA(cudaMemset(b.data, value, b.bytes));
}

static bool guard_intact(const struct buffer &b)
{
	unsigned char guard[GUARD_BYTES];
	CUDA(cudaMemcpy(guard, b.data + b.bytes, GUARD_BYTES, cudaMemcpyDeviceToHost));
	for (int i = 0; i < GUARD_BYTES; i++)
		if (guard[i] != GUARD_VALUE)
			return false;
	return true;
}

static __global__ void fill_inputs(uint64_t seed, uint32_t tensor, uint16_t *out, uint64_t n)
{
	const uint64_t stream = inputs_stream(seed, tensor);
	for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x)
		out[i] = inputs_element(stream, i);
}

/* All buffers of one problem and what the ABI wants to know about them. */
struct setup {
	struct problem p;
	int total_q, total_k;
	struct fw_attention attention;
	struct fw_problem direction[2];
	struct buffer slot[FW_ATTENTION_SLOTS];
	struct fw_tensor tensor[FW_ATTENTION_SLOTS];
	struct buffer workspace;
};

static bool is_output(int slot, int backward)
{
	return backward ? slot == FW_DQ || slot == FW_DK || slot == FW_DV : slot == FW_O || slot == FW_LSE;
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
	a.scale = p.logit_factor / sqrt((double)p.d);
	for (int i = 0; i < 2; i++) {
		memset(&u->direction[i], 0, sizeof u->direction[i]);
		u->direction[i].struct_size = sizeof u->direction[i];
		u->direction[i].family = FW_ATTENTION;
		u->direction[i].direction = i ? FW_BACKWARD : FW_FORWARD;
		u->direction[i].attention = &u->attention;
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
	u->workspace.data = NULL;
	u->workspace.bytes = 0;
	const int filled[] = { FW_Q, FW_K, FW_V, FW_DO };
	for (int s : filled)
		fill_inputs<<<1024, 256>>>(42, (uint32_t)s, (uint16_t *)u->slot[s].data, u->slot[s].bytes / 2);
	CUDA(cudaGetLastError());
	CUDA(cudaDeviceSynchronize());
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
}

template <typename T> static std::vector<T> fetch(const struct buffer &b)
{
	std::vector<T> out(b.bytes / sizeof(T));
	CUDA(cudaMemcpy(out.data(), b.data, b.bytes, cudaMemcpyDeviceToHost));
	return out;
}

/* ---- comparing ---- */

/* One outcome: the first failure in words, and the largest error in units of what is allowed. */
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

static void compare(struct outcome *o, const char *name, const std::vector<uint16_t> &got, const std::vector<double> &exact,
	const std::vector<double> &plain)
{
	double worst = 0, plain_worst = 0, floor_worst = 0;
	size_t where = 0;
	for (size_t i = 0; i < got.size(); i++) {
		const double x = bf16_value(got[i]), r = exact[i];
		if (!std::isfinite(x)) {
			fail(o, "%s[%zu] is %g, not %g", name, i, x, r);
			return;
		}
		if (fabs(x - r) > worst) {
			worst = fabs(x - r);
			where = i;
		}
		plain_worst = std::max(plain_worst, fabs(plain[i] - r));
		floor_worst = std::max(floor_worst, fabs(round_bf16(round_bf16(r + 0.3) - 0.3) - r));
	}
	const double allowed = 2 * plain_worst + 2 * floor_worst;
	if (worst / allowed > o->ratio) {
		o->ratio = worst / allowed;
		o->error = worst;
		o->allowed = allowed;
	}
	if (!(worst <= allowed))
		fail(o, "%s[%zu] is %g, not %g: error %.3g, allowed %.3g", name, where, bf16_value(got[where]), exact[where],
			worst, allowed);
}

static void compare_lse(struct outcome *o, const std::vector<float> &got, const std::vector<double> &exact)
{
	for (size_t i = 0; i < got.size(); i++) {
		const bool same = std::isinf(exact[i]) ? std::isinf(got[i]) && got[i] < 0
						       : fabs(got[i] - exact[i]) <= 1e-4 * std::max(1.0, fabs(exact[i]));
		if (!same) {
			fail(o, "LSE[%zu] is %g, not %g", i, got[i], exact[i]);
			return;
		}
	}
}

/* ---- one provider, one problem, one direction ---- */

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
	CUDA(cudaDeviceSynchronize()); /* memset is asynchronous, and the calls run on a stream that does not wait for the default one */
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

static void check_values(
	struct outcome *o, const struct setup *u, int backward, const struct answer &exact, const struct answer &plain)
{
	if (backward) {
		compare(o, "dQ", fetch<uint16_t>(u->slot[FW_DQ]), exact.dq, plain.dq);
		compare(o, "dK", fetch<uint16_t>(u->slot[FW_DK]), exact.dk, plain.dk);
		compare(o, "dV", fetch<uint16_t>(u->slot[FW_DV]), exact.dv, plain.dv);
	} else {
		compare(o, "O", fetch<uint16_t>(u->slot[FW_O]), exact.o, plain.o);
		compare_lse(o, fetch<float>(u->slot[FW_LSE]), exact.lse);
	}
	for (int s = 0; s < FW_ATTENTION_SLOTS; s++)
		if (!guard_intact(u->slot[s]))
			fail(o, "bytes behind %s were overwritten", slot_name(s));
	if (u->workspace.data && !guard_intact(u->workspace))
		fail(o, "bytes behind the workspace were overwritten");
}

/* Everything but dQ must be the same bits as in the first call. */
static void check_bits(
	struct outcome *o, const struct setup *u, int backward, const std::vector<uint16_t> first[], const char *what)
{
	for (int s = 0; s < FW_ATTENTION_SLOTS; s++)
		if (is_output(s, backward) && s != FW_DQ && fetch<uint16_t>(u->slot[s]) != first[s])
			fail(o, "%s: %s differs from the first call", what, slot_name(s));
}

struct plan_of {
	struct fw_plan *plan;
	struct fw_info info;
};

static int make_plan(
	struct outcome *o, const struct fw_provider *v, struct setup *u, int backward, const char *config, struct plan_of *out)
{
	char why[256] = "";
	memset(out, 0, sizeof *out);
	out->info.struct_size = sizeof out->info;
	int status = v->plan(&u->direction[backward], config, 0, &out->plan, &out->info, why, sizeof why);
	if (status != FW_OK) {
		fail(o, "plan: status %d, %s", status, why);
		return status;
	}
	CUDA(cudaFree(u->workspace.data));
	u->workspace = make_buffer(out->info.workspace_bytes);
	struct fw_io io;
	memset(&io, 0, sizeof io);
	io.struct_size = sizeof io;
	io.n_slots = FW_ATTENTION_SLOTS;
	io.slot = u->tensor;
	io.workspace = u->workspace.data;
	status = v->bind(out->plan, &io);
	if (status != FW_OK)
		fail(o, "bind: status %d, %s", status, v->error(out->plan));
	return status;
}

static void check_count(struct outcome *o, const struct fw_provider *v, const struct setup *u, int backward, const char *config,
	const struct mask &m)
{
	struct fw_tensor host[FW_ATTENTION_SLOTS];
	struct fw_io io;
	struct fw_work work;
	if (!v->count)
		return;
	memset(host, 0, sizeof host);
	memset(&io, 0, sizeof io);
	memset(&work, 0, sizeof work);
	io.struct_size = sizeof io;
	io.n_slots = FW_ATTENTION_SLOTS;
	io.slot = host;
	work.struct_size = sizeof work;
	host[FW_CU_Q].data = (void *)m.cu_q.data();
	host[FW_CU_K].data = (void *)m.cu_k.data();
	host[FW_BLOCK_BITS].data = m.bits.empty() ? NULL : (void *)m.bits.data();
	const double useful = useful_pairs(u->p, m) * (u->p.nhq / u->p.nhk) * u->p.d * (backward ? 10.0 : 4.0);
	if (v->count(&u->direction[backward], config, &io, &work) != FW_OK)
		fail(o, "count refused");
	else if (work.flops_issued < useful * (1 - 1e-9))
		fail(o, "count: %g FLOPs issued, fewer than the %g useful", work.flops_issued, useful);
	else if (work.blocks_kept != m.blocks && u->p.block)
		fail(o, "count: %lld blocks kept, not %lld", (long long)work.blocks_kept, (long long)m.blocks);
	else if (work.tiles_skipped < 0 || work.tiles_partial < 0 || work.tiles_skipped + work.tiles_partial > work.tiles_total)
		fail(o, "count: %lld tiles, %lld skipped, %lld partial", (long long)work.tiles_total,
			(long long)work.tiles_skipped, (long long)work.tiles_partial);
}

static struct outcome check(const struct fw_provider *v, struct setup *u, int backward, const char *config,
	const struct mask masks[2], const struct answer exact[2], const struct answer plain[2], cudaStream_t stream)
{
	struct outcome o = { "", 0, 0, 0 };
	struct plan_of made;
	set_mask(u, masks[0]);
	if (make_plan(&o, v, u, backward, config, &made) == FW_OK) {
		std::vector<uint16_t> first[FW_ATTENTION_SLOTS];
		poison(u, backward, ALL_ONES);
		if (finished(&o, v, made.plan, v->enqueue(made.plan, FW_ALL, stream), "all phases")) {
			check_values(&o, u, backward, exact[0], plain[0]);
			for (int s = 0; s < FW_ATTENTION_SLOTS; s++)
				if (is_output(s, backward))
					first[s] = fetch<uint16_t>(u->slot[s]);
		}

		poison(u, backward, 0x7b);
		for (uint32_t phase = 1; phase < FW_ALL; phase <<= 1)
			if (made.info.phases & phase)
				finished(&o, v, made.plan, v->enqueue(made.plan, phase, stream), "one phase");
		check_values(&o, u, backward, exact[0], plain[0]);
		check_bits(&o, u, backward, first, "phases one by one");

		for (int i = 0; i < REPEATS; i++) {
			poison(u, backward, i);
			finished(&o, v, made.plan, v->enqueue(made.plan, FW_ALL, stream), "repeat");
			check_bits(&o, u, backward, first, "repeat");
		}

		cudaGraph_t graph = NULL;
		cudaGraphExec_t executable = NULL;
		poison(u, backward, ALL_ONES);
		CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
		int status = v->enqueue(made.plan, FW_ALL, stream);
		cudaError_t e = cudaStreamEndCapture(stream, &graph);
		if (status != FW_OK || e != cudaSuccess) {
			fail(&o, "capture: status %d, %s", status, cudaGetErrorString(e));
			(void)cudaGetLastError();
		} else {
			CUDA(cudaGraphInstantiate(&executable, graph, 0));
			CUDA(cudaGraphLaunch(executable, stream));
			finished(&o, v, made.plan, FW_OK, "graph");
			check_values(&o, u, backward, exact[0], plain[0]);
			check_bits(&o, u, backward, first, "graph");
			CUDA(cudaGraphExecDestroy(executable));
		}
		if (graph)
			CUDA(cudaGraphDestroy(graph));

		set_mask(u, masks[1]);
		if (backward) { /* the second mask has its own O and LSE: exact ones, rounded as forward would */
			std::vector<uint16_t> out(exact[1].o.size());
			std::vector<float> lse(exact[1].lse.begin(), exact[1].lse.end());
			for (size_t i = 0; i < out.size(); i++) {
				float f = (float)round_bf16(exact[1].o[i]);
				uint32_t bits;
				memcpy(&bits, &f, 4);
				out[i] = (uint16_t)(bits >> 16);
			}
			CUDA(cudaMemcpy(u->slot[FW_O].data, out.data(), u->slot[FW_O].bytes, cudaMemcpyHostToDevice));
			CUDA(cudaMemcpy(u->slot[FW_LSE].data, lse.data(), u->slot[FW_LSE].bytes, cudaMemcpyHostToDevice));
		}
		poison(u, backward, 0x11);
		if (finished(&o, v, made.plan, v->enqueue(made.plan, FW_ALL, stream), "second mask")) {
			std::string before = o.failure;
			check_values(&o, u, backward, exact[1], plain[1]);
			if (before.empty() && !o.failure.empty())
				o.failure = "second mask: " + o.failure;
		}
		check_count(&o, v, u, backward, made.info.config, masks[0]);
		const std::string again = made.info.config;
		struct fw_plan *pinned = NULL;
		struct fw_info info;
		char why[256] = "";
		memset(&info, 0, sizeof info);
		info.struct_size = sizeof info;
		if (v->plan(&u->direction[backward], again.c_str(), 0, &pinned, &info, why, sizeof why) != FW_OK ||
			again != info.config)
			fail(&o, "its own config \"%s\" is refused: %s", again.c_str(), why);
		v->destroy(pinned);
		if (v->plan(&u->direction[backward], "BLOCK_M=7", 0, &pinned, &info, why, sizeof why) == FW_OK) {
			fail(&o, "config BLOCK_M=7 is accepted");
			v->destroy(pinned);
		}
	}
	v->destroy(made.plan);
	return o;
}

static void report(
	const struct fw_provider *v, const struct problem &p, int backward, const char *config, const struct outcome &o)
{
	printf("%s %s %s %s%s%s%s: error %.3g allowed %.3g (%.2f)%s%s\n", o.failure.empty() ? "ok    " : "FAILED", v->name,
		p.name.c_str(), backward ? "backward" : "forward", config ? " [" : "", config ? config : "", config ? "]" : "",
		o.error, o.allowed, o.ratio, o.failure.empty() ? "" : "  ", o.failure.c_str());
	fflush(stdout);
	if (o.failure.empty())
		passed++;
	else
		failed++;
}

static void check_problem(const struct fw_provider *v, const struct problem &p)
{
	char why[256] = "";
	struct setup u;
	const struct mask masks[2] = { make_mask(p, 0), make_mask(p, 1) };
	make_setup(&u, p, std::max(masks[0].blocks, masks[1].blocks));
	struct answer exact[2], plain[2];
	struct inputs in;
	in.q = fetch<uint16_t>(u.slot[FW_Q]);
	in.k = fetch<uint16_t>(u.slot[FW_K]);
	in.v = fetch<uint16_t>(u.slot[FW_V]);
	in.grad_o = fetch<uint16_t>(u.slot[FW_DO]);
	for (int i = 0; i < 2; i++) {
		const bool same =
			i && masks[0].cu_q == masks[1].cu_q && masks[0].cu_k == masks[1].cu_k && masks[0].bits == masks[1].bits;
		if (same) {
			exact[1] = exact[0];
			plain[1] = plain[0];
		} else {
			reference(p, masks[i], in, u.attention.scale, &exact[i], &plain[i]);
		}
	}
	cudaStream_t stream;
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	/* Backward reads O and LSE of its own forward of the first mask; the second mask uses the exact ones. */
	const char *const configs[] = { NULL, "BLOCK_M=64 BLOCK_N=64 STAGES=2" };
	for (int backward = 0; backward < 2; backward++)
		for (int c = 0; c < (backward ? 2 : 1); c++) {
			if (v->can(&u.direction[backward], why, sizeof why) != FW_OK) {
				printf("skip   %s %s %s: %s\n", v->name, p.name.c_str(), backward ? "backward" : "forward", why);
				continue;
			}
			if (configs[c]) {
				struct fw_plan *probe = NULL;
				struct fw_info info;
				memset(&info, 0, sizeof info);
				info.struct_size = sizeof info;
				if (v->plan(&u.direction[backward], configs[c], 0, &probe, &info, why, sizeof why) != FW_OK)
					continue;
				v->destroy(probe);
			}
			if (backward) { /* O and LSE of the first mask again */
				struct outcome o = { "", 0, 0, 0 };
				struct plan_of made;
				set_mask(&u, masks[0]);
				if (make_plan(&o, v, &u, 0, NULL, &made) == FW_OK)
					finished(&o, v, made.plan, v->enqueue(made.plan, FW_ALL, stream), "forward for backward");
				v->destroy(made.plan);
			}
			report(v, p, backward, configs[c], check(v, &u, backward, configs[c], masks, exact, plain, stream));
		}
	CUDA(cudaStreamDestroy(stream));
	free_setup(&u);
}

/* ---- timing ---- */

static double median(std::vector<double> v)
{
	std::sort(v.begin(), v.end());
	return v.empty() ? NAN : v[v.size() / 2];
}

static double timed_call(const struct fw_provider *v, struct fw_plan *plan, uint32_t phases, const struct buffer &scrub,
	cudaStream_t stream, cudaEvent_t from, cudaEvent_t to)
{
	float ms = 0;
	CUDA(cudaMemsetAsync(scrub.data, 1, scrub.bytes, stream));
	CUDA(cudaEventRecord(from, stream));
	int status = v->enqueue(plan, phases, stream);
	CUDA(cudaEventRecord(to, stream));
	CUDA(cudaStreamSynchronize(stream));
	if (status != FW_OK) {
		fprintf(stderr, "enqueue: status %d, %s\n", status, v->error(plan));
		exit(1);
	}
	CUDA(cudaEventElapsedTime(&ms, from, to));
	return ms;
}

static void time_problem(const struct fw_provider *v, const struct problem &p, const char *config)
{
	static const char *const phase_names[] = { "range_merge", "prepare", "preprocess", "run", "fill", "cast" };
	const struct mask m = make_mask(p, 0);
	struct setup u;
	cudaStream_t stream;
	cudaEvent_t from, to;
	make_setup(&u, p, m.blocks);
	set_mask(&u, m);
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaEventCreate(&from));
	CUDA(cudaEventCreate(&to));
	struct buffer scrub = make_buffer((size_t)256 << 20);
	CUDA(cudaDeviceSynchronize());
	const double pairs = useful_pairs(p, m) * (p.nhq / p.nhk);
	for (int backward = 0; backward < 2; backward++) {
		char why[256];
		struct outcome o = { "", 0, 0, 0 };
		struct plan_of made;
		if (v->can(&u.direction[backward], why, sizeof why) != FW_OK)
			continue;
		if (make_plan(&o, v, &u, backward, backward ? config : NULL, &made) != FW_OK) {
			printf("time   %s %s %s: %s\n", v->name, p.name.c_str(), backward ? "backward" : "forward",
				o.failure.c_str());
			v->destroy(made.plan);
			continue;
		}
		double once = timed_call(v, made.plan, FW_ALL, scrub, stream, from, to);
		once = timed_call(v, made.plan, FW_ALL, scrub, stream, from, to);
		const int calls = std::max(5, std::min(30, (int)(1000.0 / once)));
		std::vector<double> ms;
		for (int i = 0; i < calls; i++)
			ms.push_back(timed_call(v, made.plan, FW_ALL, scrub, stream, from, to));
		const double mid = median(ms);
		printf("time   %s %-34s %-8s %9.4f ms %7.1f TFLOP/s  [%s]", v->name, p.name.c_str(),
			backward ? "backward" : "forward", mid, pairs * p.d * (backward ? 10.0 : 4.0) / mid * 1e-9,
			made.info.config);
		std::vector<double> phase_ms[6];
		for (int i = 0; i < 3; i++)
			for (int n = 0; n < 6; n++)
				if (made.info.phases & 1u << n)
					phase_ms[n].push_back(timed_call(v, made.plan, 1u << n, scrub, stream, from, to));
		for (int n = 0; n < 6; n++)
			if (!phase_ms[n].empty())
				printf(" %s %.4f", phase_names[n], median(phase_ms[n]));
		printf("\n");
		fflush(stdout);
		v->destroy(made.plan);
	}
	CUDA(cudaFree(scrub.data));
	CUDA(cudaEventDestroy(from));
	CUDA(cudaEventDestroy(to));
	CUDA(cudaStreamDestroy(stream));
	free_setup(&u);
}

/* ---- problems ---- */

static struct problem dense(
	const char *kind, int mask, std::vector<int> q, std::vector<int> k, int nhq, int nhk, int d, double factor = 1.0)
{
	char name[200];
	snprintf(name, sizeof name, "%s/q%d/k%d/n%zu/hq%d/hk%d/d%d%s", kind, total(q), total(k), q.size(), nhq, nhk, d,
		factor != 1.0 ? "/sharp" : "");
	struct problem p = { name, nhq, nhk, d, mask, 0, q, k, 0.0, factor };
	return p;
}

static struct problem blocks(int tokens_q, int tokens_k, int block, double density, int nhq, int nhk, int d)
{
	char name[200];
	snprintf(name, sizeof name, "blocks/q%d/k%d/r%g/b%d/hq%d/hk%d/d%d", tokens_q, tokens_k, density, block, nhq, nhk, d);
	struct problem p = { name, nhq, nhk, d, FW_BLOCKS, block, { tokens_q }, { tokens_k }, density, 1.0 };
	return p;
}

static std::vector<struct problem> small_problems(void)
{
	std::vector<struct problem> list;
	const int lengths[] = { 1, 63, 64, 65, 127, 129, 1000 };
	for (int d = 64; d <= 128; d += 64) {
		for (int n : lengths) {
			list.push_back(dense("full", FW_FULL, { n }, { n }, 4, 2, d));
			list.push_back(dense("causal", FW_CAUSAL, { n }, { n }, 4, 2, d));
		}
		list.push_back(dense("full", FW_FULL, { 300 }, { 300 }, 3, 3, d)); /* group 1: 128 queries of one head */
		list.push_back(dense("causal", FW_CAUSAL, { 300 }, { 300 }, 3, 3, d));
		list.push_back(dense("causal", FW_CAUSAL, { 300 }, { 300 }, 6, 2, d)); /* group 3 */
		list.push_back(dense("full", FW_FULL, { 200 }, { 200 }, 16, 2, d));    /* group 8 */
		list.push_back(dense("causal", FW_CAUSAL, { 513 }, { 513 }, 8, 1, d));
		list.push_back(dense("full", FW_FULL, { 70 }, { 333 }, 4, 1, d));
		list.push_back(dense("causal", FW_CAUSAL, { 70 }, { 333 }, 4, 1, d));
		list.push_back(dense("causal", FW_CAUSAL, { 333 }, { 70 }, 4, 1, d)); /* rows without keys */
		list.push_back(dense("causal", FW_CAUSAL, { 500 }, { 500 }, 2, 1, d, 8.0));
		list.push_back(
			dense("varlen_full", FW_FULL, { 130, 1, 64, 0, 65, 2, 200 }, { 130, 1, 64, 0, 65, 2, 200 }, 4, 2, d));
		list.push_back(
			dense("varlen_causal", FW_CAUSAL, { 130, 1, 64, 0, 65, 2, 200 }, { 130, 1, 64, 0, 65, 2, 200 }, 4, 2, d));
		list.push_back(dense("varlen_full", FW_FULL, { 5, 100, 0, 77 }, { 200, 3, 40, 0 }, 4, 1, d));
		list.push_back(dense("varlen_causal", FW_CAUSAL, { 5, 100, 0, 77 }, { 200, 3, 40, 0 }, 3, 3, d));
		for (int block = 64; block <= 128; block += 64) {
			list.push_back(blocks(1024, 1024, block, 0.3, 4, 2, d));
			list.push_back(blocks(1000, 1000, block, 0.5, 8, 1, d));
			list.push_back(blocks(600, 1111, block, 0.4, 3, 3, d));
			list.push_back(blocks(129, 65, block, 0.9, 2, 2, d));
		}
	}
	std::vector<int> many;
	for (int i = 0; i < 256; i++)
		many.push_back(1 + (i * 37) % 11);
	list.push_back(dense("varlen_causal", FW_CAUSAL, many, many, 2, 1, 128));
	list.push_back(blocks(2300, 2300, 64, 0.25, 2, 1, 128)); /* more than 32 blocks a row */
	list.push_back(dense("causal", FW_CAUSAL, { 8191 }, { 8191 }, 1, 1, 128));
	list.push_back(dense("full", FW_FULL, { 4097 }, { 4097 }, 2, 1, 64));
	return list;
}

static std::vector<struct problem> large_problems(void)
{
	const std::vector<int> full = { 2150, 3051, 419, 356, 130, 895, 54, 1116, 14, 2, 2, 1, 1, 1 };
	const std::vector<int> causal = { 1408, 177, 2559, 2823, 600, 370, 35, 58, 20, 25, 58, 23, 22, 4, 10 };
	std::vector<struct problem> list;
	list.push_back(dense("full", FW_FULL, { 8192 }, { 8192 }, 64, 8, 128));
	list.push_back(dense("causal", FW_CAUSAL, { 8192 }, { 8192 }, 64, 8, 128));
	list.push_back(dense("varlen_full", FW_FULL, full, full, 64, 8, 128));
	list.push_back(dense("varlen_causal", FW_CAUSAL, causal, causal, 64, 8, 128));
	for (int block = 64; block <= 128; block += 64) {
		const double ratios[] = { 0.1, 0.2, 0.5 };
		for (double ratio : ratios)
			list.push_back(blocks(49152, 49152, block, ratio, 64, 8, 128));
	}
	return list;
}

static int usage(void)
{
	fprintf(stderr, "usage: attention_check MODULE.so [--time] [--only TEXT] [--provider NAME] [--config TEXT]\n");
	return 2;
}

int main(int argc, char **argv)
{
	const char *path = NULL, *only = "", *provider = NULL, *config = NULL;
	bool timing = false;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--time"))
			timing = true;
		else if (!strcmp(argv[i], "--only") && i + 1 < argc)
			only = argv[++i];
		else if (!strcmp(argv[i], "--provider") && i + 1 < argc)
			provider = argv[++i];
		else if (!strcmp(argv[i], "--config") && i + 1 < argc)
			config = argv[++i];
		else if (argv[i][0] == '-' || path)
			return usage();
		else
			path = argv[i];
	}
	if (!path)
		return usage();
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	const struct fw_module *(*entry)(uint32_t) = (const struct fw_module *(*)(uint32_t))dlsym(library, "fw_entry");
	const struct fw_module *module = entry ? entry(FW_ABI) : NULL;
	if (!module) {
		fprintf(stderr, "%s: no kernel library of ABI %u\n", path, FW_ABI);
		return 2;
	}
	CUDA(cudaSetDevice(0));
	for (uint32_t i = 0; i < module->n_providers; i++) {
		const struct fw_provider *v = module->provider[i];
		if (v->device != FW_CUDA || v->family != FW_ATTENTION || (provider && strcmp(provider, v->name)))
			continue;
		for (const struct problem &p : timing ? large_problems() : small_problems()) {
			if (p.name.find(only) == std::string::npos)
				continue;
			if (timing)
				time_problem(v, p, config);
			else
				check_problem(v, p);
		}
	}
	if (!timing)
		printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
