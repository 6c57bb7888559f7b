/*
 * Runs one attention problem on a provider in host memory, for the tests of kernels and of the acceptance.
 */
#ifndef ATTENTION_RUN_H
#define ATTENTION_RUN_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_cell.h"
#include "families/attention/internal.h"
#include "kernels/fw_attention.h"
#include "model/model.h"

enum { REDZONE_BYTES = 256 };

struct attention_run {
	struct cell cell;
	void *buffer[FW_ATTENTION_SLOTS]; /* each followed by REDZONE_BYTES of 0xab */
	int32_t cu_q[ATTENTION_SEQS_MAX + 1], cu_k[ATTENTION_SEQS_MAX + 1];
	int32_t *pages; /* of a case in pages */
	uint32_t *bits; /* of a block mask, or of a token mask */
	size_t bits_bytes;
};

static inline size_t run_bytes(const struct attention_run *r, int slot)
{
	return (size_t)reference_slot_elements(&r->cell, slot) * (slot == FW_LSE ? sizeof(float) : sizeof(uint16_t));
}

/* Other positions for the retained blocks of a block mask. */
static inline void run_pattern(struct attention_run *r, enum pattern pattern)
{
	struct attention_case *a = attention_of(&r->cell);
	a->pattern = pattern;
	case_name(&r->cell);
	free(r->bits);
	r->bits_bytes = (size_t)a->nhk * (size_t)(a->seqlen / a->block) * (size_t)((attention_key_blocks(a) + 31) / 32) *
			sizeof(uint32_t);
	r->bits = calloc(1, r->bits_bytes);
	attention_block_bits(a, r->cell.seed, r->bits);
}

/* Other inputs. */
static inline void run_seed(struct attention_run *r, uint64_t seed)
{
	static const int input[] = { FW_Q, FW_K, FW_V, FW_DO };
	r->cell.seed = seed;
	for (int i = 0; i < 4; i++)
		inputs_fill(seed, (uint32_t)input[i], 0, run_bytes(r, input[i]) / sizeof(uint16_t), r->buffer[input[i]]);
}

/* Offsets and pages of the case as it is now. */
static inline void run_lay(struct attention_run *r)
{
	const struct attention_case *a = attention_in(&r->cell);
	struct fw_err err = { 0 };
	struct fw_tensor t;
	if (attention_lay(a, r->cell.seed, FW_CU_Q, r->cu_q, &err) != 0 ||
		attention_lay(a, r->cell.seed, FW_CU_K, r->cu_k, &err) != 0)
		abort();
	free(r->pages);
	r->pages = a->page ? malloc(attention_lay_out(a, FW_PAGES, &t)) : NULL;
	if (r->pages && attention_lay(a, r->cell.seed, FW_PAGES, r->pages, &err) != 0)
		abort();
}

static inline void run_open(struct attention_run *r, const struct attention_case *a)
{
	memset(r, 0, sizeof *r);
	*attention_of(&r->cell) = *a;
	snprintf(r->cell.family, sizeof r->cell.family, "attention");
	r->cell.seed = 42;
	run_lay(r);
	r->cell.direction = DIRECTION_FORWARD;
	case_name(&r->cell);
	for (int slot = FW_Q; slot <= FW_DV; slot++) {
		size_t bytes = run_bytes(r, slot);
		r->buffer[slot] = malloc(bytes + REDZONE_BYTES);
		memset(r->buffer[slot], 0xff, bytes); /* NaN in bf16 and float */
		memset((char *)r->buffer[slot] + bytes, 0xab, REDZONE_BYTES);
	}
	run_seed(r, 42);
	if (a->mask == FW_BLOCKS)
		run_pattern(r, PATTERN_UNIFORM);
}

/* `length` NULL: one sequence of `seqlen`; else `n_seqs` lengths that add up to it. `block` 0 unless FW_BLOCKS. */
static inline void run_init(struct attention_run *r, int mask, int seqlen, const int *length, int n_seqs, int nhq, int nhk,
	int headdim, int block, double ratio)
{
	struct attention_case a = { .mask = mask,
		.seqlen = seqlen,
		.nhq = nhq,
		.nhk = nhk,
		.headdim = headdim,
		.dtype = FW_BF16,
		.n_seqs = length ? n_seqs : 1,
		.block = block,
		.sparsity_ratio = ratio };
	for (int i = 0; i < a.n_seqs; i++)
		a.length[i] = length ? length[i] : seqlen;
	run_open(r, &a);
}

/* A token mask for sequences of equal lengths; `a` has its source, the run its sizes. */
static inline void run_tokens(struct attention_run *r, const struct attention_case *source)
{
	struct attention_case *a = attention_of(&r->cell);
	struct fw_err err = { 0 };
	a->mask = FW_TOKENS;
	a->source = source->source;
	a->density = source->density;
	a->corner_rows = source->corner_rows;
	a->corner_keys = source->corner_keys;
	if (attention_complete_tokens(a, r->cell.seed, &err) != 0)
		abort();
	case_name(&r->cell);
	free(r->bits);
	r->bits_bytes = (size_t)a->nhq * (size_t)a->seqlen * (size_t)attention_token_words(a) * sizeof(uint32_t);
	r->bits = calloc(1, r->bits_bytes);
	if (attention_token_bits(a, r->cell.seed, r->bits, &err) != 0)
		abort();
}

static inline void run_fini(struct attention_run *r)
{
	for (int slot = FW_Q; slot <= FW_DV; slot++)
		free(r->buffer[slot]);
	free(r->bits);
	free(r->pages);
}

static inline void run_poison_outputs(struct attention_run *r)
{
	static const int outputs[] = { FW_O, FW_LSE, FW_DQ, FW_DK, FW_DV };
	for (int i = 0; i < 5; i++)
		if (r->cell.direction == DIRECTION_TOTAL || (r->cell.direction == DIRECTION_FORWARD) == (i < 2))
			memset(r->buffer[outputs[i]], 0xff, run_bytes(r, outputs[i]));
}

static inline bool run_redzones_intact(const struct attention_run *r)
{
	for (int slot = FW_Q; slot <= FW_DV; slot++)
		for (size_t i = 0; i < REDZONE_BYTES; i++)
			if (((const unsigned char *)r->buffer[slot])[run_bytes(r, slot) + i] != 0xab)
				return false;
	return true;
}

static inline void run_slots(const struct attention_run *r, struct fw_tensor slot[FW_ATTENTION_SLOTS])
{
	const struct attention_case *a = attention_in(&r->cell);
	memset(slot, 0, FW_ATTENTION_SLOTS * sizeof *slot);
	for (int i = FW_Q; i <= FW_DV; i++) {
		int64_t heads = i == FW_K || i == FW_V || i == FW_DK || i == FW_DV ? a->nhk : a->nhq;
		slot[i] = (struct fw_tensor){ r->buffer[i], { heads * a->headdim, a->headdim, 1 }, FW_BF16, 0 };
	}
	slot[FW_LSE] = (struct fw_tensor){ r->buffer[FW_LSE], { attention_total_q(a), 1, 0 }, FW_F32, 0 };
	slot[FW_CU_Q] = (struct fw_tensor){ a->n_seqs > 1 ? (void *)(uintptr_t)r->cu_q : NULL, { 1, 0, 0 }, FW_I32, 0 };
	slot[FW_CU_K] = (struct fw_tensor){ a->n_seqs > 1 ? (void *)(uintptr_t)r->cu_k : NULL, { 1, 0, 0 }, FW_I32, 0 };
	slot[FW_PAGES] = (struct fw_tensor){ r->pages, { attention_page_entries(a), 1, 0 }, FW_I32, 0 };
	slot[a->mask == FW_TOKENS ? FW_TOKEN_BITS : FW_BLOCK_BITS] = (struct fw_tensor){ r->bits, { 1, 0, 0 }, FW_U32, 0 };
}

static inline struct reference_io run_io(const struct attention_run *r)
{
	struct reference_io io = { .cell = &r->cell,
		.cu_q = r->cu_q,
		.cu_k = r->cu_k,
		.block_bits = r->bits,
		.token_bits = r->bits,
		.pages = r->pages };
	for (int slot = FW_Q; slot <= FW_DV; slot++)
		io.host[slot] = r->buffer[slot];
	return io;
}

/* A plan with its workspace, bound to a run's buffers. */
struct bound_plan {
	const struct fw_provider *provider;
	struct fw_attention attention;
	struct fw_problem problem;
	struct fw_plan *plan;
	struct fw_info info;
	void *workspace;
};

/* Returns the provider's status. `threads` 0: as many as there are. */
static inline int plan_bind(
	struct bound_plan *b, const struct fw_provider *provider, struct attention_run *r, const char *config, int threads)
{
	struct fw_tensor slot[FW_ATTENTION_SLOTS];
	char why[200] = "";
	memset(b, 0, sizeof *b);
	b->provider = provider;
	b->info.struct_size = sizeof b->info;
	case_problem(&r->cell, &b->attention, &b->problem);
	int status = provider->plan(&b->problem, config, threads, &b->plan, &b->info, why, sizeof why);
	if (status != FW_OK)
		return status;
	size_t bytes = (b->info.workspace_bytes + 255) / 256 * 256 + 256;
	b->workspace = aligned_alloc(256, bytes);
	memset(b->workspace, 0x77, bytes);
	run_slots(r, slot);
	struct fw_io io = { .struct_size = sizeof io, .n_slots = FW_ATTENTION_SLOTS, .slot = slot, .workspace = b->workspace };
	return provider->bind(b->plan, &io);
}

static inline void plan_release(struct bound_plan *b)
{
	b->provider->destroy(b->plan);
	free(b->workspace);
}

/* Plan, poison, compute once, release. */
static inline int run_once(struct attention_run *r, const struct fw_provider *provider, const char *config, int threads)
{
	struct bound_plan b;
	int status = plan_bind(&b, provider, r, config, threads);
	run_poison_outputs(r);
	if (status == FW_OK)
		status = provider->enqueue(b.plan, FW_ALL, NULL);
	plan_release(&b);
	return status;
}

static inline void run_direction(struct attention_run *r, enum direction direction)
{
	r->cell.direction = direction;
	case_name(&r->cell);
}

#endif
