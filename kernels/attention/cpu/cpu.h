/**
 * cpu.h - what the files of the CPU provider share: one bound problem and its passes over the work lists.
 */
#ifndef ATTENTION_CPU_H
#define ATTENTION_CPU_H

#include "attention/cpu/lists.h"
#include "attention/cpu/tile.h"
#include "fw_kernel.h"

/** One problem with its addresses. Strides in elements. */
struct attention_task {
	struct fw_attention a;
	struct fw_tensor slot[FW_ATTENTION_SLOTS];
	int threads;
	struct list *rows, *keys; /* work lists in the workspace; keys: backward only */
	float *lse2, *delta; /* backward: [nhq][total_q], LSE in powers of two (+inf where nothing is seen), rowsum(dO * O) */
	char *scratch;       /* [threads][scratch_bytes] */
	size_t scratch_bytes;
};

/** One instruction set's copy of the passes. Each writes every row or key of its outputs. */
struct attention_passes {
	const char *isa;
	size_t (*forward_scratch)(const struct fw_attention *a);  /* bytes a thread, multiple of 64 */
	size_t (*backward_scratch)(const struct fw_attention *a); /* bytes a thread, multiple of 64 */
	void (*forward)(const struct attention_task *t);          /* O LSE */
	void (*preprocess)(const struct attention_task *t);       /* lse2 delta */
	void (*backward_keys)(const struct attention_task *t);    /* DK DV */
	void (*backward_rows)(const struct attention_task *t);    /* DQ */
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

/* Name of a function in the copy that is being compiled; the Makefile defines ISA. */
#define ISA_JOIN2(name, isa) name##_##isa
#define ISA_JOIN(name, isa)  ISA_JOIN2(name, isa)
#define ISA_NAME(name)       ISA_JOIN(name, ISA)

/** Address of (token, head) in a tensor of bf16. */
static inline uint16_t *element(const struct fw_tensor *t, int64_t token, int64_t head)
{
	return (uint16_t *)t->data + token * t->stride[0] + head * t->stride[1];
}

/** Query heads that a row item computes together. */
static inline int heads_together(const struct fw_attention *a)
{
	int group = a->nhq / a->nhk;
	return group < TILE_HEADS ? group : TILE_HEADS;
}

#endif
