/**
 * cpu.h - declarations shared by the files of the CPU provider: a bound problem and its passes over the work lists.
 */
#ifndef ATTENTION_CPU_H
#define ATTENTION_CPU_H

#include "attention/cpu/lists.h"
#include "attention/cpu/tile.h"
#include "fw_attention.h"

#include <stdbool.h>

/**
 * One problem with its addresses.
 * Shape: slots as in enum fw_attention_slot; lse2 and delta [nhq][total_q], not forward; scratch [threads][scratch_bytes].
 * Units: strides in elements; lse2 in powers of two, +inf for a row that sees no key; delta is rowsum(dO * O).
 * Own: nothing: the caller owns tensors and workspace, the plan owns the lists.
 */
struct attention_task {
	struct fw_attention a;
	struct fw_tensor slot[FW_ATTENTION_SLOTS];
	int threads;
	struct list *rows, *keys; /* work lists in the workspace; keys: not forward */
	struct tile_map tiles;    /* of a token mask, else without tiles */
	float *lse2, *delta;
	char *scratch;
	size_t scratch_bytes;
};

/** One instruction set's copy of the passes. Each pass writes every row or key of its outputs, and cannot fail. */
struct attention_passes {
	const char *isa;
	/** Scratch for a thread. Units: bytes, a multiple of 64. */
	size_t (*forward_scratch)(const struct fw_attention *a);
	size_t (*backward_scratch)(const struct fw_attention *a);
	/** Reads Q K V and the list of rows, writes O LSE. */
	void (*forward)(const struct attention_task *t);
	/** Reads O LSE dO, writes lse2 delta. */
	void (*preprocess)(const struct attention_task *t);
	/** Reads Q K V dO, lse2, delta and the list of keys, writes dK dV. */
	void (*backward_keys)(const struct attention_task *t);
	/** Reads Q K V dO, lse2, delta and the list of rows, writes dQ. */
	void (*backward_rows)(const struct attention_task *t);
};

#define PASSES_DECLARE(isa)                                                                                                      \
	size_t forward_scratch_##isa(const struct fw_attention *);                                                               \
	void forward_##isa(const struct attention_task *);                                                                       \
	size_t backward_scratch_##isa(const struct fw_attention *);                                                              \
	void backward_preprocess_##isa(const struct attention_task *);                                                           \
	void backward_keys_##isa(const struct attention_task *);                                                                 \
	void backward_rows_##isa(const struct attention_task *)

PASSES_DECLARE(base);
#ifdef __x86_64__
PASSES_DECLARE(v3); /* AVX2 and FMA */
PASSES_DECLARE(v4); /* AVX-512 */
#endif

/* Name of a function in the copy that is compiled; the Makefile defines ISA. */
#define ISA_JOIN2(name, isa) name##_##isa
#define ISA_JOIN(name, isa)  ISA_JOIN2(name, isa)
#define ISA_NAME(name)       ISA_JOIN(name, ISA)

/**
 * Read and check the sizes of a problem. Fields that the caller's struct does not have are 0.
 * Err: FW_UNSUPPORTED, with the reason in `why`, which may be NULL.
 */
int task_attention(const struct fw_problem *problem, struct fw_attention *a, char *why, size_t why_size);

/** fw_provider.count: count.c. Err: FW_UNSUPPORTED, FW_INVALID the mask or offsets are missing or too large, FW_FAILED no memory. */
int count_work(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *out);

/** Whether the tensors are f16, not bf16. */
static inline bool is_f16(const struct attention_task *t)
{
	return t->a.dtype == FW_F16;
}

/** State of the tile whose first query and key are `row` and `key`; TILE_PARTIAL for masks of other kinds. */
static inline enum tile_state tile_at(
	const struct attention_task *t, const struct item *item, int32_t head, int32_t row, int32_t key)
{
	const struct tile_map *map = &t->tiles;
	if (!map->k_tiles)
		return TILE_PARTIAL;
	int64_t q_tile = (int64_t)head * map->q_tiles + item->q_tile + (row - item->q_begin) / TILE_Q;
	return (enum tile_state)map->state[q_tile * map->k_tiles + (key - item->k_begin) / TILE_K];
}

/** Address of (token, head) in a tensor of 16-bit elements. Own: the tensor. */
static inline uint16_t *element(const struct fw_tensor *t, int64_t token, int64_t head)
{
	return (uint16_t *)t->data + token * t->stride[0] + head * t->stride[1];
}

/** Row of K and V that has key `key` of the item's sequence. *run: following keys, this one included, that follow it there. */
static inline int64_t row_of_key(const struct attention_task *t, const struct item *item, int32_t key, int32_t *run)
{
	int32_t token = key - item->k_begin, page = t->a.page;
	*run = INT32_MAX;
	if (!page)
		return key;
	const int32_t *pages = (const int32_t *)t->slot[FW_PAGES].data + (int64_t)item->sequence * page_entries(&t->a);
	*run = page - token % page;
	return (int64_t)pages[token / page] * page + token % page;
}

/** Bits of a query's keys in a token mask. */
static inline const uint32_t *token_bits(const struct attention_task *t, int32_t head, int32_t row)
{
	return (const uint32_t *)t->slot[FW_TOKEN_BITS].data + ((int64_t)head * t->a.total_q + row) * token_words(&t->a);
}

/** Query heads that a row item computes together, at most TILE_HEADS. */
static inline int heads_together(const struct fw_attention *a)
{
	int group = a->nhq / a->nhk;
	return group < TILE_HEADS ? group : TILE_HEADS;
}

#endif
