/*
 * attention.c - the family of attention: names, sizes and useful FLOPs of its cases.
 */
#include "families/attention/attention.h"

#include <stdio.h>

const char *attention_mask_name(const struct attention_case *a)
{
	if (a->mask == FW_BLOCKS)
		return a->pattern == PATTERN_UNIFORM ? "block_sparse" : pattern_names[a->pattern];
	if (a->mask == FW_CAUSAL)
		return a->n_seqs > 1 ? "varlen_causal" : "causal";
	return a->n_seqs > 1 ? "varlen_full" : "full";
}

static void with_spaces(char *text)
{
	for (; *text; text++)
		*text = *text == '_' ? ' ' : *text;
}

static void dense_key(const struct attention_case *a, const char *mask, char key[FAMILY_KEY_SIZE])
{
	snprintf(key, FAMILY_KEY_SIZE, "attention/dense/%s/s%d/hq%d/hk%d/d%d/bf16", mask, a->seqlen, a->nhq, a->nhk, a->headdim);
}

static void label(const void *shape, struct family_label *out)
{
	const struct attention_case *a = shape;
	/* keys of uniform masks do not name the pattern: stored histories use these keys */
	bool is_sparse = a->mask == FW_BLOCKS, has_pattern = is_sparse && a->pattern != PATTERN_UNIFORM;
	const char *pattern = has_pattern ? pattern_names[a->pattern] : "";

	snprintf(out->group, sizeof out->group, "%s", is_sparse ? "block_sparse" : "dense");
	out->size = a->seqlen;
	if (!is_sparse) {
		snprintf(out->title, sizeof out->title, "%s", attention_mask_name(a));
		dense_key(a, attention_mask_name(a), out->key);
		with_spaces(out->title);
		return;
	}
	snprintf(out->line, sizeof out->line, "%s%sblock %d", pattern, has_pattern ? ", " : "", a->block);
	int64_t rows = a->seqlen / a->block;
	out->pieces = (double)rows * attention_kept_blocks(a);
	snprintf(out->title, sizeof out->title, "%s%skeep %g, block %d", pattern, has_pattern ? ", " : "", a->sparsity_ratio,
		a->block);
	snprintf(out->key, sizeof out->key, "attention/block_sparse%s%s/s%d/r%g/b%d/hq%d/hk%d/d%d/bf16", has_pattern ? "/" : "",
		pattern, a->seqlen, a->sparsity_ratio, a->block, a->nhq, a->nhk, a->headdim);
	with_spaces(out->title);
	with_spaces(out->line);
	dense_key(a, "full", out->baseline);
}

static double flops(const void *shape, enum direction d)
{
	const struct attention_case *a = shape;
	double forward = 4 * attention_area(a) * a->nhq * a->headdim;

	return d == DIRECTION_BACKWARD ? 2.5 * forward : forward;
}

/* Keys and values of a block mask are not counted, because the mask may skip some of them. */
static double bytes(const void *shape, enum direction d)
{
	const struct attention_case *a = shape;
	bool backward = d == DIRECTION_BACKWARD, blocks = a->mask == FW_BLOCKS;
	double query = 2.0 * a->seqlen * a->nhq * a->headdim, key = 2.0 * a->seqlen * a->nhk * a->headdim;
	double inputs = (backward ? 2 : 1) * query + (blocks ? 0 : 2 * key); /* Q, dO; K, V */
	double outputs = backward ? query + 2 * key : query + 4.0 * a->seqlen * a->nhq;

	return inputs + outputs;
}

static const struct family_slot slots[FW_ATTENTION_SLOTS] = {
	[FW_Q] = { .name = "Q" },
	[FW_K] = { .name = "K" },
	[FW_V] = { .name = "V" },
	[FW_O] = { .name = "O" },
	[FW_LSE] = { .name = "LSE" },
	[FW_DO] = { .name = "dO" },
	[FW_DQ] = { .name = "dQ" },
	[FW_DK] = { .name = "dK" },
	[FW_DV] = { .name = "dV" },
	[FW_CU_Q] = { .name = "cu_q", .words = "sequence offsets", .fill = SLOT_LAID },
	[FW_CU_K] = { .name = "cu_k", .words = "sequence offsets", .fill = SLOT_LAID },
	[FW_BLOCK_BITS] = { .name = "block_bits", .words = "block bits", .fill = SLOT_LAID },
};

const struct family family_attention = {
	.number = FW_ATTENTION,
	.name = "attention",
	.is_default = true,
	.shape_bytes = sizeof(struct attention_case),
	.abi_bytes = sizeof(struct fw_attention),
	.metric = METRIC_TFLOPS,
	.direction = { DIRECTION_FORWARD, DIRECTION_BACKWARD },
	.group = { { "dense", "dense", false }, { "block_sparse", "block-sparse", true } },
	.phase = { "range_merge", "prepare", "preprocess", "run", "fill", "cast" },
	.main_phase = FW_RUN,
	.n_slots = FW_ATTENTION_SLOTS,
	.slot = slots,
	.read = attention_read,
	.keys = "dense or block_sparse",
	.check = attention_check,
	.label = label,
	.write = attention_write,
	.parse = attention_parse,
	.digest = attention_digest,
	.flops = flops,
	.bytes = bytes,
	.abi = attention_abi,
	.use = attention_use,
	.change = attention_change,
	.keeps_rows = true,
	.lay_out = attention_lay_out,
	.lay = attention_lay,
	.has_second = attention_has_second,
	.second = attention_second,
	.second_words = "another mask of the same size",
	.kept = attention_kept,
};
