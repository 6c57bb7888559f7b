/*
 * Provider "cpu": attention in plain C with OpenMP. Chooses the instruction set, lays out the workspace, runs the phases.
 *
 * Phases: RANGE_MERGE builds the work lists, PREPROCESS (backward) row sums and rescaled LSE, RUN everything else. A total
 * is a forward and a backward with one pair of lists; row sums need its O, so they are part of its RUN. Results do not
 * depend on the number of threads: each output element is summed by one thread in one order.
 */
#include "attention/contract.h"
#include "attention/cpu/cpu.h"
#include "attention/providers.h"
#include "common/cpu.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIG_SIZE = 96, ERROR_SIZE = 128 };

struct fw_plan {
	struct attention_task task;
	const struct attention_passes *passes;
	struct list rows, keys;
	int forward, backward; /* both for a total */
	int bound;
	char config[CONFIG_SIZE];
	char error[ERROR_SIZE];
};

#define PASSES(isa_name)                                                                                                         \
	{                                                                                                                        \
		.isa = #isa_name, .forward_scratch = forward_scratch_##isa_name,                                                 \
		.backward_scratch = backward_scratch_##isa_name, .forward = forward_##isa_name,                                  \
		.preprocess = backward_preprocess_##isa_name, .backward_keys = backward_keys_##isa_name,                         \
		.backward_rows = backward_rows_##isa_name                                                                        \
	}

/* Fastest first. */
static const struct attention_passes all_passes[] = {
#ifdef __x86_64__
	PASSES(v4),
	PASSES(v3),
#endif
	PASSES(base),
};

static void describe(char *out, const struct attention_passes *p)
{
	snprintf(out, CONFIG_SIZE, "TILE_Q=%d TILE_K=%d TILE_HEADS=%d ISA=%s", TILE_Q, TILE_K, TILE_HEADS, p->isa);
}

/* The passes named by `config`, the fastest for NULL; NULL if this machine or this build does not have them. */
static const struct attention_passes *choose(const char *config)
{
	for (size_t i = 0; i < sizeof all_passes / sizeof all_passes[0]; i++) {
		char text[CONFIG_SIZE];
		describe(text, &all_passes[i]);
		if (cpu_has(all_passes[i].isa) && (!config || !strcmp(config, text)))
			return &all_passes[i];
	}
	return NULL;
}

int task_attention(const struct fw_problem *problem, struct fw_attention *a, char *why, size_t why_size)
{
	memset(a, 0, sizeof *a);
	if (!problem || !fw_attention_of(problem))
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "cpu: only attention");
	*a = contract_attention(problem);
	if (problem->direction != FW_FORWARD && problem->direction != FW_BACKWARD && problem->direction != FW_TOTAL)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "cpu: only forward, backward and total");
	if (a->dtype != FW_BF16 && a->dtype != FW_F16)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "cpu: only bf16 and f16");
	if (a->headdim != a->headdim_v || a->headdim % 32 || a->headdim < 32 || a->headdim > HEADDIM_MAX)
		return contract_refuse(
			FW_UNSUPPORTED, why, why_size, "cpu: head dimensions must be equal, a multiple of 32, at most 256");
	if (a->nhk < 1 || a->nhq < a->nhk || a->nhq % a->nhk)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "cpu: query heads must be a multiple of key heads");
	if (a->total_q < 1 || a->total_k < 1 || a->n_seqs < 1)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "cpu: no tokens");
	if (!(a->scale > 0) || !isfinite(a->scale))
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "cpu: the scale must be positive");
	if (a->mask != FW_FULL && a->mask != FW_CAUSAL && a->mask != FW_BLOCKS && a->mask != FW_TOKENS && a->mask != FW_CACHE)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "cpu: unknown mask");
	if (a->mask == FW_BLOCKS && (a->block_q < 1 || a->block_k < 1 || a->n_seqs != 1))
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "cpu: a block mask needs block sizes and one sequence");
	if (a->mask == FW_CACHE && problem->direction != FW_FORWARD)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "cpu: a window or pages have only forward");
	if (a->mask == FW_CACHE && (a->window < 0 || a->page < 0 || (a->page > 0 && (a->n_pages < 1 || a->max_k < 1))))
		return contract_refuse(
			FW_UNSUPPORTED, why, why_size, "cpu: pages need their number and the longest sequence's length");
	if (a->mask != FW_CACHE)
		a->window = a->page = a->n_pages = 0;
	if (a->mask == FW_TOKENS && a->max_k < 1)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "cpu: a token mask needs the longest sequence's length");
	return FW_OK;
}

static int cpu_can(const struct fw_problem *problem, char *why, size_t why_size)
{
	struct fw_attention a;
	return task_attention(problem, &a, why, why_size);
}

/* Allocate the next array in the workspace at `*at`, and advance `*at`; starting at 0 only to get the size. */
static void *place(uintptr_t *at, size_t bytes)
{
	void *p = (void *)*at;
	*at += (uintptr_t)contract_align((int64_t)bytes);
	return p;
}

static size_t lay_out(struct fw_plan *p, uintptr_t base)
{
	struct attention_task *t = &p->task;
	uintptr_t at = base;
	p->rows.item = place(&at, (size_t)p->rows.max_items * sizeof(struct item));
	p->rows.range = place(&at, (size_t)p->rows.max_ranges * sizeof(struct range));
	t->tiles.state = place(&at, (size_t)t->a.nhq * (size_t)t->tiles.q_tiles * (size_t)t->tiles.k_tiles);
	if (p->backward) {
		size_t rows = (size_t)t->a.nhq * (size_t)t->a.total_q;
		p->keys.item = place(&at, (size_t)p->keys.max_items * sizeof(struct item));
		p->keys.range = place(&at, (size_t)p->keys.max_ranges * sizeof(struct range));
		t->lse2 = place(&at, rows * sizeof(float));
		t->delta = place(&at, rows * sizeof(float));
	}
	t->scratch = place(&at, (size_t)t->threads * t->scratch_bytes);
	return at - base;
}

static int cpu_plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t why_size)
{
	struct fw_attention a;
	int status = task_attention(problem, &a, why, why_size);
	if (status != FW_OK)
		return status;
	const struct attention_passes *passes = choose(config);
	if (!passes)
		return contract_refuse(
			FW_UNSUPPORTED, why, why_size, "cpu: the configuration is not one of this library on this machine");
	struct fw_plan *p = calloc(1, sizeof *p);
	if (!p)
		return contract_refuse(FW_FAILED, why, why_size, "cpu: out of memory");
	struct attention_task *t = &p->task;
	t->a = a;
	t->threads = cpu_threads(index);
	t->rows = &p->rows;
	t->keys = &p->keys;
	p->passes = passes;
	p->forward = problem->direction != FW_BACKWARD;
	p->backward = problem->direction != FW_FORWARD;
	t->scratch_bytes = p->forward ? passes->forward_scratch(&t->a) : 0;
	if (p->backward && passes->backward_scratch(&t->a) > t->scratch_bytes)
		t->scratch_bytes = passes->backward_scratch(&t->a);
	tiles_capacity(&t->a, &t->tiles);
	lists_capacity(&t->a, 0, &p->rows.max_items, &p->rows.max_ranges);
	lists_capacity(&t->a, 1, &p->keys.max_items, &p->keys.max_ranges);
	describe(p->config, passes);

	struct fw_info answer = { .struct_size = contract_answer_bytes(info->struct_size, sizeof answer),
		.phases = FW_RANGE_MERGE | FW_RUN | (p->forward ? 0 : FW_PREPROCESS),
		.workspace_bytes = lay_out(p, 0),
		.config = p->config };
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

static int fail(struct fw_plan *p, int status, const char *reason)
{
	snprintf(p->error, sizeof p->error, "cpu: %s", reason);
	return status;
}

/* Strides that are all 0 mean row-major. */
static void settle_strides(const struct fw_attention *a, int slot, struct fw_tensor *t)
{
	if (t->stride[0] || t->stride[1] || t->stride[2])
		return;
	const bool keys = slot == FW_K || slot == FW_V || slot == FW_DK || slot == FW_DV;
	if (slot == FW_LSE) {
		t->stride[0] = a->total_q;
		t->stride[1] = 1;
	} else {
		t->stride[0] = (int64_t)(keys ? a->nhk : a->nhq) * a->headdim;
		t->stride[1] = a->headdim;
		t->stride[2] = 1;
	}
}

static int cpu_bind(struct fw_plan *p, const struct fw_io *io)
{
	static const int forward[] = { FW_Q, FW_K, FW_V, FW_O, FW_LSE };
	static const int backward[] = { FW_Q, FW_K, FW_V, FW_O, FW_LSE, FW_DO, FW_DQ, FW_DK, FW_DV };
	const int *needed = p->backward ? backward : forward;
	size_t n = p->backward ? sizeof backward / sizeof backward[0] : sizeof forward / sizeof forward[0];
	const struct fw_attention *a = &p->task.a;
	struct fw_tensor *slot = p->task.slot;

	p->bound = 0;
	p->error[0] = 0;
	if (!io || !io->slot || io->n_slots < FW_TOKEN_BITS || !io->workspace) /* an older runner has no token masks */
		return fail(p, FW_INVALID, "bind needs every slot and a workspace");
	memset(slot, 0, sizeof p->task.slot);
	for (uint32_t i = 0; i < io->n_slots && i < FW_ATTENTION_SLOTS; i++)
		slot[i] = io->slot[i];
	for (size_t i = 0; i < n; i++) {
		struct fw_tensor *t = &slot[needed[i]];
		if (!t->data)
			return fail(p, FW_INVALID, "bind: a tensor is missing");
		settle_strides(a, needed[i], t);
		if (needed[i] == FW_LSE ? t->stride[1] != 1 : t->stride[2] != 1)
			return fail(p, FW_INVALID, "bind: the innermost stride must be 1");
	}
	if (a->n_seqs > 1 && (!slot[FW_CU_Q].data || !slot[FW_CU_K].data))
		return fail(p, FW_INVALID, "bind: sequence offsets are missing");
	if (a->mask == FW_BLOCKS && !slot[FW_BLOCK_BITS].data)
		return fail(p, FW_INVALID, "bind: block bits are missing");
	if (a->mask == FW_TOKENS && !slot[FW_TOKEN_BITS].data)
		return fail(p, FW_INVALID, "bind: token bits are missing");
	if (a->page && !slot[FW_PAGES].data)
		return fail(p, FW_INVALID, "bind: the table of pages is missing");
	lay_out(p, (uintptr_t)io->workspace);
	p->bound = 1;
	return FW_OK;
}

static int merge_ranges(struct fw_plan *p)
{
	struct attention_task *t = &p->task;
	const int32_t *cu_q = t->slot[FW_CU_Q].data, *cu_k = t->slot[FW_CU_K].data;
	const uint32_t *bits = t->slot[FW_BLOCK_BITS].data;
	if (lists_build(&t->a, cu_q, cu_k, bits, 0, &p->rows))
		return fail(p, FW_INVALID, "offsets or block bits do not fit the planned sizes");
	if (p->backward && lists_build(&t->a, cu_q, cu_k, bits, 1, &p->keys))
		return fail(p, FW_INVALID, "offsets or block bits do not fit the planned sizes");
	if (t->a.page && pages_fit(&t->a, cu_k, t->slot[FW_PAGES].data))
		return fail(p, FW_INVALID, "the table of pages does not fit the planned sizes");
	if (t->a.mask == FW_TOKENS && tiles_build(&t->a, cu_q, cu_k, t->slot[FW_TOKEN_BITS].data, &t->tiles) < 0)
		return fail(p, FW_INVALID, "offsets do not fit the planned sizes");
	return FW_OK;
}

static int cpu_enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	(void)stream;
	if (!p)
		return FW_INVALID;
	p->error[0] = 0;
	if (!p->bound)
		return fail(p, FW_INVALID, "enqueue before bind");
	if (phases & FW_RANGE_MERGE) {
		int status = merge_ranges(p);
		if (status != FW_OK)
			return status;
	}
	if (p->forward && (phases & FW_RUN))
		p->passes->forward(&p->task);
	if (p->backward && (phases & (p->forward ? FW_RUN : FW_PREPROCESS)))
		p->passes->preprocess(&p->task);
	if (p->backward && (phases & FW_RUN)) {
		p->passes->backward_keys(&p->task);
		p->passes->backward_rows(&p->task);
	}
	return FW_OK;
}

static const char *cpu_error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

static void cpu_destroy(struct fw_plan *p)
{
	free(p);
}

const struct fw_provider attention_cpu = {
	.struct_size = sizeof attention_cpu,
	.device = FW_CPU,
	.family = FW_ATTENTION,
	.flags = 0,
	.name = "cpu",
	.can = cpu_can,
	.plan = cpu_plan,
	.bind = cpu_bind,
	.enqueue = cpu_enqueue,
	.count = count_work,
	.error = cpu_error,
	.destroy = cpu_destroy,
};
