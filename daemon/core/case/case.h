/**
 * case.h - what is measured: a case (sizes, mask, seed), a direction, their names and their useful FLOPs.
 *
 * Keys are readable, stable and opaque: nothing parses them. "attention/dense/causal/s8192/hq64/hk8/d128/bf16" is a case,
 * with "/forward" it is a cell.
 */
#ifndef CORE_CASE_CASE_H
#define CORE_CASE_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/case/pattern.h"
#include "core/state/series.h"
#include "kernels/fw_attention.h"

enum { CASE_KEY_SIZE = 160, CASE_SEQS_MAX = 256 };

enum direction { DIRECTION_FORWARD = FW_FORWARD, DIRECTION_BACKWARD = FW_BACKWARD };

/** One attention problem with its data. Self-contained: everything the runner needs to make the inputs. */
struct attention_case {
	int32_t mask;                  /* enum fw_mask */
	int32_t seqlen;                /* tokens in all; total_q = total_k */
	int32_t nhq, nhk;              /* heads */
	int32_t headdim;               /* elements */
	int32_t dtype;                 /* enum fw_dtype; FW_BF16 */
	int32_t n_seqs;                /* 1 unless varlen */
	int32_t length[CASE_SEQS_MAX]; /* tokens of each sequence; their sum is seqlen */
	int32_t block;         /* tokens a mask block, of queries and, but for random tokens, of keys; 0 unless FW_BLOCKS */
	enum pattern pattern;  /* where kept blocks lie; PATTERN_UNIFORM unless FW_BLOCKS */
	double sparsity_ratio; /* density kept, 0 < ratio <= 1; 0 unless FW_BLOCKS */
	uint64_t seed;
};

struct cell {
	char key[CASE_KEY_SIZE]; /* case key + "/" + direction */
	char case_key[CASE_KEY_SIZE];
	char family[16]; /* "attention" */
	char group[16];  /* "dense" or "block_sparse": the table it is shown in */
	char mask[16];   /* "full" "causal" "varlen_full" "varlen_causal"; "block_sparse" (uniform), or its pattern */
	enum direction direction;
	double threshold_pct; /* TFLOP/s loss that is a regression */
	double flops;         /* of a call of a foreign benchmark (family "command"); 0 unknown */
	enum series decide;   /* the series that decides: of calls where host time is part of the promise */
	double tau0;          /* scatter of launches that was learned, log ratio; 0: the rule's */
	double nu0;           /* in how many launches it was seen; 0: tau0 comes beside what pairs say */
	double blind_pct;     /* equal builds scatter so much that a smaller loss has to be clear; 0: it sees its threshold */
	struct attention_case attention;
};

const char *direction_name(enum direction d);

/** Fill key, case_key, group, mask from `c->attention` and `c->direction`. */
void case_name(struct cell *c);

/** Query-key pairs that one query head attends to; exact (causal of S tokens: S(S+1)/2). */
double case_area(const struct attention_case *a);

/** Useful FLOPs of one call: forward 4 * area * nhq * headdim, backward 2.5 times that; of a foreign benchmark what it says, NAN unknown. */
double case_flops(const struct cell *c);

/**
 * Bytes that every implementation moves at least: each token's inputs read and outputs written once. Keys and values of a block
 * mask, which may leave some out, are not counted.
 */
double case_bytes(const struct cell *c);

/** Tokens of a key block: those of a query block, of random tokens 1. 0 unless FW_BLOCKS. */
int case_key_block(const struct attention_case *a);

/** Key blocks that a row of query blocks could keep. 0 unless FW_BLOCKS. */
int case_key_blocks(const struct attention_case *a);

/** Kept key blocks in each row of query blocks: floor(ratio * key blocks), at least 1. 0 unless FW_BLOCKS. */
int case_kept_blocks(const struct attention_case *a);

/**
 * The mask under `seed`, by its pattern.
 * Shape: bits[nhk][seqlen / block][(key blocks + 31) / 32], the layout of FW_BLOCK_BITS.
 */
void case_block_bits(const struct attention_case *a, uint64_t seed, uint32_t *bits);

/** The kernel ABI's view: sizes of `a`. `scale` is 1/sqrt(headdim). Own: `out` borrows nothing. */
void case_problem(const struct cell *c, struct fw_attention *out_attention, struct fw_problem *out);

/** Refuse impossible sizes in words a person can act on (heads that do not divide, a block that does not fit, ...). */
int case_check(const struct cell *c, struct fw_err *err);

#endif
