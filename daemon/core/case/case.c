/*
 * case.c - names, sizes and useful FLOPs of what is measured.
 *
 * FLOPs are counted here and nowhere else, from the exact area of the mask, so that no branch can claim more work than its
 * problem holds.
 */
#include "core/case/case.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/case/inputs.h"

/* Largest problem that is believed: beyond it a typing error is likelier than a wish. */
enum { SEQLEN_MAX = 1 << 20, HEADS_MAX = 512, HEADDIM_MAX = 512 };
#define ELEMENTS_MAX (INT64_C(1) << 32)

const char *direction_name(enum direction d)
{
	return d == DIRECTION_BACKWARD ? "backward" : "forward";
}

static const char *dtype_name(int32_t dtype)
{
	switch (dtype) {
	case FW_BF16:
		return "bf16";
	case FW_F16:
		return "f16";
	case FW_F32:
		return "f32";
	default:
		return "unknown";
	}
}

static const char *mask_name(const struct attention_case *a)
{
	if (a->mask == FW_BLOCKS)
		return a->pattern == PATTERN_UNIFORM ? "block_sparse" : pattern_names[a->pattern];
	if (a->mask == FW_CAUSAL)
		return a->n_seqs > 1 ? "varlen_causal" : "causal";
	return a->n_seqs > 1 ? "varlen_full" : "full";
}

void case_name(struct cell *c)
{
	const struct attention_case *a = &c->attention;
	const char *dtype = dtype_name(a->dtype);
	/* uniform masks were there before patterns were, and histories hang on their keys */
	bool has_pattern = a->mask == FW_BLOCKS && a->pattern != PATTERN_UNIFORM;

	snprintf(c->family, sizeof c->family, "attention");
	snprintf(c->group, sizeof c->group, "%s", a->mask == FW_BLOCKS ? "block_sparse" : "dense");
	snprintf(c->mask, sizeof c->mask, "%s", mask_name(a));
	if (a->mask == FW_BLOCKS)
		snprintf(c->case_key, sizeof c->case_key, "attention/block_sparse%s%s/s%d/r%g/b%d/hq%d/hk%d/d%d/%s",
			has_pattern ? "/" : "", has_pattern ? pattern_names[a->pattern] : "", a->seqlen, a->sparsity_ratio,
			a->block, a->nhq, a->nhk, a->headdim, dtype);
	else
		snprintf(c->case_key, sizeof c->case_key, "attention/dense/%s/s%d/hq%d/hk%d/d%d/%s", c->mask, a->seqlen, a->nhq,
			a->nhk, a->headdim, dtype);
	snprintf(c->key, sizeof c->key, "%.*s/%s", (int)sizeof c->case_key - 10, c->case_key, direction_name(c->direction));
}

int case_key_block(const struct attention_case *a)
{
	if (a->mask != FW_BLOCKS)
		return 0;
	return a->pattern == PATTERN_RANDOM_TOKENS ? 1 : a->block;
}

int case_key_blocks(const struct attention_case *a)
{
	int block = case_key_block(a);

	return block > 0 ? a->seqlen / block : 0;
}

int case_kept_blocks(const struct attention_case *a)
{
	int blocks = case_key_blocks(a);

	if (blocks == 0)
		return 0;
	/* 0.29 * 100 is 28.999999999999996: a person who writes 0.29 means 29 */
	int kept = (int)floor(a->sparsity_ratio * blocks + 1e-9);

	if (kept > blocks)
		kept = blocks;
	return kept < 1 ? 1 : kept;
}

void case_block_bits(const struct attention_case *a, uint64_t seed, uint32_t *bits)
{
	pattern_bits(a->pattern, seed, a->nhk, a->seqlen / a->block, case_key_blocks(a), case_kept_blocks(a), bits);
}

double case_area(const struct attention_case *a)
{
	double area = 0;

	if (a->mask == FW_BLOCKS)
		return (double)a->seqlen * case_kept_blocks(a) * case_key_block(a);
	for (int i = 0; i < a->n_seqs; i++) {
		double s = a->length[i];

		area += a->mask == FW_CAUSAL ? s * (s + 1) / 2 : s * s;
	}
	return area;
}

double case_flops(const struct cell *c)
{
	const struct attention_case *a = &c->attention;

	if (strcmp(c->family, "command") == 0)
		return c->flops > 0 ? c->flops : NAN;
	double forward = 4 * case_area(a) * a->nhq * a->headdim;

	return c->direction == DIRECTION_BACKWARD ? 2.5 * forward : forward;
}

double case_bytes(const struct cell *c)
{
	const struct attention_case *a = &c->attention;
	bool backward = c->direction == DIRECTION_BACKWARD, blocks = a->mask == FW_BLOCKS;
	double query = 2.0 * a->seqlen * a->nhq * a->headdim, key = 2.0 * a->seqlen * a->nhk * a->headdim;
	double inputs = (backward ? 2 : 1) * query + (blocks ? 0 : 2 * key); /* Q, dO; K, V */
	double outputs = backward ? query + 2 * key : query + 4.0 * a->seqlen * a->nhq;

	return inputs + outputs;
}

void case_problem(const struct cell *c, struct fw_attention *out_attention, struct fw_problem *out)
{
	const struct attention_case *a = &c->attention;
	int32_t longest = 0;

	for (int i = 0; i < a->n_seqs; i++)
		if (a->length[i] > longest)
			longest = a->length[i];
	*out_attention = (struct fw_attention){
		.struct_size = sizeof *out_attention,
		.nhq = a->nhq,
		.nhk = a->nhk,
		.headdim = a->headdim,
		.headdim_v = a->headdim,
		.dtype = a->dtype,
		.mask = a->mask,
		.block_q = a->block,
		.block_k = case_key_block(a),
		.total_q = a->seqlen,
		.total_k = a->seqlen,
		.n_seqs = a->n_seqs,
		.max_q = longest,
		.max_k = longest,
		.max_blocks = a->mask == FW_BLOCKS ? (int64_t)a->nhk * (a->seqlen / a->block) * case_kept_blocks(a) : 0,
		.scale = 1 / sqrt(a->headdim),
	};
	*out = (struct fw_problem){
		.struct_size = sizeof *out,
		.family = FW_ATTENTION,
		.direction = (int32_t)c->direction,
		.shape = out_attention,
		.shape_size = sizeof *out_attention,
	};
}

static int check_blocks(const struct attention_case *a, struct fw_err *err)
{
	if (a->block < 1 || a->block > a->seqlen)
		return err_set(err, ERR_INVALID, "a block of %d tokens does not fit seqlen %d", a->block, a->seqlen);
	if (a->seqlen % a->block != 0)
		return err_set(err, ERR_INVALID, "seqlen %d is no multiple of block size %d; use %d or %d", a->seqlen, a->block,
			a->seqlen / a->block * a->block, (a->seqlen / a->block + 1) * a->block);
	if (a->pattern < PATTERN_UNIFORM || a->pattern >= PATTERNS)
		return err_set(err, ERR_INVALID, "pattern %d is unknown", (int)a->pattern);
	int blocks = case_key_blocks(a);

	if (blocks > INPUTS_BLOCKS_MAX && a->pattern == PATTERN_RANDOM_TOKENS)
		return err_set(err, ERR_INVALID, "random tokens are drawn of at most %d, not of seqlen %d; use a shorter one",
			INPUTS_BLOCKS_MAX, a->seqlen);
	if (blocks > INPUTS_BLOCKS_MAX)
		return err_set(err, ERR_INVALID, "seqlen %d in blocks of %d gives more than %d blocks a row; use larger blocks",
			a->seqlen, a->block, INPUTS_BLOCKS_MAX);
	if (!(a->sparsity_ratio > 0 && a->sparsity_ratio <= 1))
		return err_set(
			err, ERR_INVALID, "sparsity ratio %g is the share that is kept: above 0, at most 1", a->sparsity_ratio);
	if (a->sparsity_ratio * blocks + 1e-9 < 1)
		return err_set(err, ERR_INVALID, "sparsity ratio %g keeps less than one of %d blocks", a->sparsity_ratio, blocks);
	if (a->pattern == PATTERN_BIGBIRD && case_kept_blocks(a) <= PATTERN_BIGBIRD_PLACED)
		return err_set(err, ERR_INVALID,
			"a BigBird mask keeps the first block, the last, three at the diagonal and at least one that is drawn; "
			"sparsity ratio %g keeps %d of %d",
			a->sparsity_ratio, case_kept_blocks(a), blocks);
	return 0;
}

static int check_lengths(const struct attention_case *a, struct fw_err *err)
{
	int64_t sum = 0;

	if (a->n_seqs < 1 || a->n_seqs > CASE_SEQS_MAX)
		return err_set(err, ERR_INVALID, "%d sequences; 1 to %d are possible", a->n_seqs, CASE_SEQS_MAX);
	for (int i = 0; i < a->n_seqs; i++) {
		if (a->length[i] < 1)
			return err_set(err, ERR_INVALID, "sequence %d has %d tokens; at least 1", i, a->length[i]);
		sum += a->length[i];
	}
	if (sum != a->seqlen)
		return err_set(err, ERR_INVALID, "the sequences hold %lld tokens, seqlen is %d", (long long)sum, a->seqlen);
	return 0;
}

int case_check(const struct cell *c, struct fw_err *err)
{
	const struct attention_case *a = &c->attention;

	if (c->direction != DIRECTION_FORWARD && c->direction != DIRECTION_BACKWARD)
		return err_set(err, ERR_INVALID, "direction %d is neither forward nor backward", (int)c->direction);
	if (a->mask != FW_FULL && a->mask != FW_CAUSAL && a->mask != FW_BLOCKS)
		return err_set(err, ERR_INVALID, "mask %d is unknown", a->mask);
	if (a->dtype != FW_BF16)
		return err_set(err, ERR_INVALID, "dtype %s is not supported; use bf16", dtype_name(a->dtype));
	if (a->seqlen < 1 || a->seqlen > SEQLEN_MAX)
		return err_set(err, ERR_INVALID, "seqlen %d is outside 1..%d", a->seqlen, SEQLEN_MAX);
	if (a->nhq < 1 || a->nhq > HEADS_MAX || a->nhk < 1 || a->nhk > HEADS_MAX)
		return err_set(err, ERR_INVALID, "nhq %d and nhk %d must lie in 1..%d", a->nhq, a->nhk, HEADS_MAX);
	if (a->nhq % a->nhk != 0)
		return err_set(err, ERR_INVALID, "nhq %d is no multiple of nhk %d", a->nhq, a->nhk);
	if (a->headdim < 8 || a->headdim > HEADDIM_MAX || a->headdim % 8 != 0)
		return err_set(err, ERR_INVALID, "headdim %d must be a multiple of 8 in 8..%d", a->headdim, HEADDIM_MAX);
	if ((int64_t)a->seqlen * a->nhq * a->headdim > ELEMENTS_MAX)
		return err_set(err, ERR_INVALID, "seqlen %d x nhq %d x headdim %d is more than 2^32 elements a tensor", a->seqlen,
			a->nhq, a->headdim);
	if (!(c->threshold_pct > 0 && c->threshold_pct < 100))
		return err_set(err, ERR_INVALID, "threshold %g %% must lie between 0 and 100", c->threshold_pct);
	if (check_lengths(a, err))
		return -1;
	if (a->mask != FW_BLOCKS)
		return a->block || a->sparsity_ratio != 0 || a->pattern != PATTERN_UNIFORM
			       ? err_set(err, ERR_INVALID, "a dense case has no block size, sparsity ratio or pattern")
			       : 0;
	if (a->n_seqs != 1)
		return err_set(err, ERR_INVALID, "a block-sparse case is one sequence, not %d", a->n_seqs);
	return check_blocks(a, err);
}
