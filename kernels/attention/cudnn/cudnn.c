/*
 * cudnn.c - provider "cudnn": NVIDIA's attention behind the kernel ABI, as a peer for comparison.
 *
 * Full mask, one sequence, bf16. The library is loaded at first use; if it is missing, the provider returns FW_UNSUPPORTED. plan
 * compiles; forward is one kernel, backward is one graph of cuDNN's, so there is only phase RUN.
 */
#include "attention/contract.h"
#include "attention/cudnn/cudnn_graph.h"
#include "attention/providers.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS_MAX = 1 << 24, CONFIG_SIZE = 64 };

struct fw_plan {
	struct cudnn_graph graph;
	struct fw_attention attention;
	bool backward;
	bool bound;
	cudnn_descriptor pack; /* addresses of the last bind */
	float scale, one;      /* scalars that the graph takes by value */
	int64_t row_sums_at, grad_q_at, cudnn_at, workspace_bytes;
	char config[CONFIG_SIZE], tried[CUDNN_TRIED_MAX][CONFIG_SIZE];
	struct fw_candidate candidate[CUDNN_TRIED_MAX]; /* compiled engines; none was timed */
	char error[CONTRACT_TEXT_BYTES];
};

static int can(const struct fw_problem *problem, char *why, size_t size)
{
	if (!problem || !fw_attention_of(problem))
		return contract_refuse(FW_UNSUPPORTED, why, size, "only attention");
	const struct fw_attention a = contract_attention(problem);
	if (problem->direction != FW_FORWARD && problem->direction != FW_BACKWARD)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only forward and backward");
	if (problem->flags & FW_DETERMINISTIC && problem->direction == FW_BACKWARD)
		return contract_refuse(FW_UNSUPPORTED, why, size, "cuDNN's backward as used here is not deterministic");
	if (a.mask != FW_FULL)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only the full mask: cuDNN's attention node takes no other");
	if (a.n_seqs != 1)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only one sequence");
	if (a.dtype != FW_BF16)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only bf16");
	if ((a.headdim != 64 && a.headdim != 128) || a.headdim_v != a.headdim)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only headdim 64 and 128, the same for V");
	if (a.nhq < 1 || a.nhk < 1 || a.nhq % a.nhk)
		return contract_refuse(FW_UNSUPPORTED, why, size, "query heads must be a multiple of key heads");
	if (a.total_q < 1 || a.total_k < 1 || a.total_q > TOKENS_MAX || a.total_k > TOKENS_MAX)
		return contract_refuse(FW_UNSUPPORTED, why, size, "1 to %d tokens", TOKENS_MAX);
	return cudnn_api(why, size) ? FW_OK : FW_UNSUPPORTED;
}

/* Compile on device `index`; the current device is restored. */
static int compile_on(struct fw_plan *p, const struct cudnn_api *api, int index, int64_t engine)
{
	int previous = 0;
	cudaError_t e = cudaGetDevice(&previous);
	if (e == cudaSuccess)
		e = cudaSetDevice(index);
	if (e != cudaSuccess)
		return contract_refuse(
			FW_FAILED, p->graph.error, sizeof p->graph.error, "device %d: %s", index, cudaGetErrorString(e));
	int status = cudnn_graph_make(&p->graph, api, &p->attention, p->backward, engine);
	cudaSetDevice(previous);
	(void)cudaGetLastError();
	return status;
}

static int plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t size)
{
	int status = can(problem, why, size);
	if (status != FW_OK)
		return status;
	if (!out || !info)
		return contract_refuse(FW_INVALID, why, size, "plan and info must not be NULL");
	const struct cudnn_api *api = cudnn_api(NULL, 0);
	size_t version = 0;
	int engine = -1, used = 0;
	if (config && (sscanf(config, "CUDNN=%zu ENGINE=%d%n", &version, &engine, &used) != 2 || config[used] || engine < 0 ||
			      version != api->version()))
		return contract_refuse(
			FW_UNSUPPORTED, why, size, "config \"%s\" is not one of cudnn %zu", config, api->version());
	struct fw_plan *p = calloc(1, sizeof *p);
	if (!p)
		return contract_refuse(FW_FAILED, why, size, "out of memory");
	p->attention = contract_attention(problem);
	p->backward = problem->direction == FW_BACKWARD;
	p->scale = (float)p->attention.scale;
	p->one = 1.0f;
	status = compile_on(p, api, index, engine);
	if (status != FW_OK) {
		contract_refuse(status, why, size, "%s", p->graph.error);
		cudnn_graph_free(&p->graph);
		free(p);
		return status;
	}

	const int64_t rows = (int64_t)p->attention.nhq * p->attention.total_q;
	int64_t at = 0;
	p->row_sums_at = at;
	at = contract_align(at + (p->backward ? rows * 4 : 0));
	p->grad_q_at = at;
	at = contract_align(at + (p->backward ? rows * p->attention.headdim * 4 : 0));
	p->cudnn_at = at;
	p->workspace_bytes = contract_align(at + p->graph.workspace_bytes);
	snprintf(p->config, sizeof p->config, "CUDNN=%zu ENGINE=%d", api->version(), (int)p->graph.engine);

	struct fw_info answer = { .phases = FW_RUN, .workspace_bytes = (uint64_t)p->workspace_bytes, .config = p->config };
	if (p->graph.n_tried > 1) {
		for (int i = 0; i < p->graph.n_tried; i++) {
			snprintf(p->tried[i], CONFIG_SIZE, "CUDNN=%zu ENGINE=%d", api->version(), (int)p->graph.tried[i]);
			p->candidate[i].config = p->tried[i];
		}
		answer.candidate = p->candidate;
		answer.n_candidates = (uint64_t)p->graph.n_tried;
	}
	answer.struct_size = contract_answer_bytes(info->struct_size, sizeof answer);
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

/* Strides are part of the compiled plan, so that only row-major tensors are supported; 0 means row-major. */
static int take(struct fw_plan *p, const struct fw_io *io, int slot, const char *name, void **address)
{
	const struct fw_attention *a = &p->attention;
	if ((uint32_t)slot >= io->n_slots || !io->slot[slot].data)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "%s is missing", name);
	const struct fw_tensor *t = &io->slot[slot];
	const bool of_queries = slot == FW_Q || slot == FW_O || slot == FW_DO || slot == FW_DQ;
	const int64_t heads = of_queries ? a->nhq : a->nhk;
	const int64_t outer = slot == FW_LSE ? a->total_q : heads * a->headdim, middle = slot == FW_LSE ? 1 : a->headdim;
	if (t->stride[0] && (t->stride[0] != outer || t->stride[1] != middle || (slot != FW_LSE && t->stride[2] != 1)))
		return contract_refuse(FW_UNSUPPORTED, p->error, CONTRACT_TEXT_BYTES, "%s: only row-major tensors", name);
	if ((uintptr_t)t->data % 16)
		return contract_refuse(
			FW_UNSUPPORTED, p->error, CONTRACT_TEXT_BYTES, "%s must start at a multiple of 16 bytes", name);
	*address = t->data;
	return FW_OK;
}

static int bind(struct fw_plan *p, const struct fw_io *io)
{
	static const struct {
		int slot;
		bool backward_only;
		const char *name;
	} used[] = { { FW_Q, false, "Q" }, { FW_K, false, "K" }, { FW_V, false, "V" }, { FW_O, false, "O" },
		{ FW_LSE, false, "LSE" }, { FW_DO, true, "dO" }, { FW_DQ, true, "dQ" }, { FW_DK, true, "dK" },
		{ FW_DV, true, "dV" } };
	int64_t ids[CUDNN_NAMES];
	void *addresses[CUDNN_NAMES];
	int n = 0;
	if (!p)
		return FW_INVALID;
	p->bound = false;
	p->error[0] = '\0';
	if (!io || !io->slot)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "no slots");
	if (p->workspace_bytes > 0 && (!io->workspace || (uintptr_t)io->workspace % CONTRACT_ALIGNMENT))
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "the workspace is missing or not %d-aligned",
			CONTRACT_ALIGNMENT);
	for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
		if (used[i].backward_only && !p->backward)
			continue;
		int status = take(p, io, used[i].slot, used[i].name, &addresses[n]);
		if (status != FW_OK)
			return status;
		ids[n++] = used[i].slot;
	}
	char *workspace = io->workspace;
	ids[n] = CUDNN_SCALE;
	addresses[n++] = &p->scale;
	if (p->backward) {
		ids[n] = CUDNN_ONE;
		addresses[n++] = &p->one;
		ids[n] = CUDNN_ROW_SUMS;
		addresses[n++] = workspace + p->row_sums_at;
		ids[n] = CUDNN_GRAD_Q_SUM;
		addresses[n++] = workspace + p->grad_q_at;
	}
	void *scratch = workspace ? workspace + p->cudnn_at : NULL;
	struct cudnn_graph *g = &p->graph;
	if (p->pack) { /* the last descriptor created */
		g->api->drop(p->pack);
		g->n_owned--;
		p->pack = NULL;
	}
	g->error[0] = '\0';
	cudnn_descriptor pack = cudnn_graph_new(g, CUDNN_VARIANT_PACK);
	cudnn_graph_set(g, pack, CUDNN_PACK_POINTERS, CUDNN_TYPE_VOID_PTR, n, addresses);
	cudnn_graph_set(g, pack, CUDNN_PACK_IDS, CUDNN_TYPE_INT64, n, ids);
	cudnn_graph_set(g, pack, CUDNN_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &scratch);
	cudnn_graph_finish(g, pack, "addresses");
	p->pack = pack; /* released by the next bind, also if it is unfinished */
	p->bound = !g->error[0];
	return p->bound ? FW_OK : contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "%s", g->error);
}

static int enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	if (!p)
		return FW_INVALID;
	if (!p->bound)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "enqueue before bind");
	p->error[0] = '\0';
	if (!(phases & FW_RUN))
		return FW_OK;
	const struct cudnn_api *api = p->graph.api;
	int status = api->set_stream(p->graph.handle, stream);
	if (status == 0)
		status = api->execute(p->graph.handle, p->graph.plan, p->pack);
	if (status == 0)
		return FW_OK;
	char text[160] = "";
	api->last_error(text, sizeof text);
	return contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "cuDNN: status %d %s", status, text);
}

static const char *error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

static void destroy(struct fw_plan *p)
{
	if (p)
		cudnn_graph_free(&p->graph);
	free(p);
}

const struct fw_provider attention_cudnn = {
	.struct_size = sizeof(struct fw_provider),
	.device = FW_CUDA,
	.family = FW_ATTENTION,
	.flags = FW_JIT,
	.name = "cudnn",
	.can = can,
	.plan = plan,
	.bind = bind,
	.enqueue = enqueue,
	.count = NULL, /* the work inside cuDNN is unknown */
	.error = error,
	.destroy = destroy,
};
