/*
 * attention.c - the family of attention: names, sizes and useful FLOPs of its cases.
 */
#include "families/attention/attention.h"

#include <stdio.h>
#include <string.h>

const char *attention_mask_name(const struct attention_case *a)
{
	if (a->mask == FW_BLOCKS)
		return a->pattern == PATTERN_UNIFORM ? "block_sparse" : pattern_names[a->pattern];
	if (a->mask == FW_TOKENS)
		return a->source == TOKENS_RANDOM ? "token_random" : a->source == TOKENS_CORNER ? "token_corner" : "token_file";
	if (attention_is_serving(a))
		return "serving";
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
	snprintf(key, FAMILY_KEY_SIZE, "attention/dense/%s/s%d/hq%d/hk%d/d%d/%s", mask, a->seqlen, a->nhq, a->nhk, a->headdim,
		family_dtype_name(a->dtype));
}

/* Write the file's name with characters of a key alone, cut off, and the first digits of its hash: "m.bits-0f3a5c77". */
static void file_name(const struct attention_case *a, char *out, size_t size)
{
	enum { NAME_MAX_SHOWN = 24, HASH_SHOWN = 8 };
	const char *slash = strrchr(a->path, '/');

	snprintf(out, size, "%.*s-%.*s", NAME_MAX_SHOWN, slash ? slash + 1 : a->path, HASH_SHOWN, a->hash);
	for (; *out; out++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *out))
			*out = '_';
}

static void token_label(const struct attention_case *a, struct family_label *out)
{
	char mask[48], batch[24] = "";

	if (a->n_seqs > 1)
		snprintf(batch, sizeof batch, ", batch %d", a->n_seqs);
	if (a->source == TOKENS_RANDOM) {
		snprintf(mask, sizeof mask, "random/r%g", a->density);
		snprintf(out->title, sizeof out->title, "random, keep %g%s", a->density, batch);
	} else if (a->source == TOKENS_CORNER) {
		snprintf(mask, sizeof mask, "corner/%dx%d", a->corner_rows, a->corner_keys);
		snprintf(out->title, sizeof out->title, "corner %d x %d%s", a->corner_rows, a->corner_keys, batch);
	} else {
		char name[40];

		file_name(a, name, sizeof name);
		snprintf(mask, sizeof mask, "file/%s", name);
		snprintf(out->title, sizeof out->title, "%s%s", name, batch);
	}
	snprintf(out->key, sizeof out->key, "attention/token_mask/%s/s%d/n%d/hq%d/hk%d/d%d/%s", mask, attention_tokens(a),
		a->n_seqs, a->nhq, a->nhk, a->headdim, family_dtype_name(a->dtype));
	dense_key(a, a->n_seqs > 1 ? "varlen_full" : "full", out->baseline);
}

static bool has_equal_lengths(const struct attention_case *a)
{
	for (int i = 1; i < a->n_seqs; i++)
		if (a->length[i] != a->length[0])
			return false;
	return true;
}

/* "k8192/n16"; of different lengths the longest, and a hash of all: "k8192-0f3a5c77/n16". */
static void name_lengths(const struct attention_case *a, char *out, size_t size)
{
	uint64_t hash = 0;

	for (int i = 0; i < a->n_seqs; i++)
		hash = inputs_mix(hash ^ (uint64_t)a->length[i]);
	if (has_equal_lengths(a))
		snprintf(out, size, "k%d/n%d", a->length[0], a->n_seqs);
	else
		snprintf(out, size, "k%d-%08x/n%d", attention_longest(a), (unsigned)(hash >> 32), a->n_seqs);
}

static void serving_label(const struct attention_case *a, struct family_label *out)
{
	bool is_decode = a->queries && a->queries <= ATTENTION_DECODE_QUERIES;
	char lengths[48], queries[16] = "qall", window[16] = "", page[16] = "";

	snprintf(out->group, sizeof out->group, "%s", is_decode ? "decode" : "prefill");
	out->size = attention_longest(a);
	name_lengths(a, lengths, sizeof lengths);
	if (a->queries)
		snprintf(queries, sizeof queries, "q%d", a->queries);
	if (a->window)
		snprintf(window, sizeof window, "/w%d", a->window);
	if (a->page)
		snprintf(page, sizeof page, "/p%d", a->page);
	snprintf(out->key, sizeof out->key, "attention/%s/%s/%s%s%s/hq%d/hk%d/d%d/%s", out->group, lengths, queries, window, page,
		a->nhq, a->nhk, a->headdim, family_dtype_name(a->dtype));
	snprintf(out->title, sizeof out->title, "%s, n%d%s, %d:%d heads of %d%s%s%s%s", queries, a->n_seqs,
		has_equal_lengths(a) ? "" : " mixed", a->nhq, a->nhk, a->headdim, a->window ? ", " : "", window + !!a->window,
		a->page ? ", " : "", page + !!a->page);
}

static void label(const void *shape, struct family_label *out)
{
	const struct attention_case *a = shape;
	/* keys of uniform masks do not name the pattern: stored histories use these keys */
	bool is_sparse = a->mask == FW_BLOCKS, has_pattern = is_sparse && a->pattern != PATTERN_UNIFORM;
	const char *pattern = has_pattern ? pattern_names[a->pattern] : "";

	snprintf(out->group, sizeof out->group, "%s", is_sparse ? "block_sparse" : a->mask == FW_TOKENS ? "token_mask" : "dense");
	out->size = a->seqlen;
	if (a->mask == FW_TOKENS) {
		token_label(a, out);
		return;
	}
	if (attention_is_serving(a)) {
		serving_label(a, out);
		return;
	}
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
	snprintf(out->key, sizeof out->key, "attention/block_sparse%s%s/s%d/r%g/b%d/hq%d/hk%d/d%d/%s", has_pattern ? "/" : "",
		pattern, a->seqlen, a->sparsity_ratio, a->block, a->nhq, a->nhk, a->headdim, family_dtype_name(a->dtype));
	with_spaces(out->title);
	with_spaces(out->line);
	dense_key(a, "full", out->baseline);
}

static double flops(const void *shape, enum direction d)
{
	const struct attention_case *a = shape;
	double forward = 4 * attention_area(a) * a->nhq * a->headdim;

	return d == DIRECTION_BACKWARD ? 2.5 * forward : d == DIRECTION_TOTAL ? 3.5 * forward : forward;
}

/* Keys of all sequences that a query sees; all of them without a window. */
static double seen_keys(const struct attention_case *a)
{
	double sum = 0;

	for (int i = 0; i < a->n_seqs; i++)
		sum += a->window && a->window + attention_queries(a, i) - 1 < a->length[i]
			       ? a->window + attention_queries(a, i) - 1
			       : a->length[i];
	return sum;
}

/* Keys and values of a block or token mask are not counted, because the mask may skip some of them. */
static double bytes(const void *shape, enum direction d)
{
	const struct attention_case *a = shape;
	bool backward = d != DIRECTION_FORWARD, forward = d != DIRECTION_BACKWARD,
	     is_dense = a->mask != FW_BLOCKS && a->mask != FW_TOKENS;
	double rows = attention_total_q(a), query = 2 * rows * a->nhq * a->headdim, key = 2 * seen_keys(a) * a->nhk * a->headdim;
	double inputs = (backward ? 2 : 1) * query + (is_dense ? 2 * key : 0); /* Q, dO; K, V */
	double outputs = (backward ? query + 2 * key : 0) + (forward ? query + 4 * rows * a->nhq : 0);

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
	[FW_TOKEN_BITS] = { .name = "token_bits", .words = "token bits", .fill = SLOT_LAID },
	[FW_PAGES] = { .name = "pages", .words = "table of pages", .fill = SLOT_LAID },
};

const struct family family_attention = {
	.number = FW_ATTENTION,
	.name = "attention",
	.is_default = true,
	.shape_bytes = sizeof(struct attention_case),
	.abi_bytes = sizeof(struct fw_attention),
	.metric = METRIC_TFLOPS,
	.direction = { DIRECTION_FORWARD, DIRECTION_BACKWARD, DIRECTION_TOTAL },
	.n_on_request = 1,
	.group = { { "dense", "dense", false, false }, { "block_sparse", "block-sparse", true, false },
		{ "token_mask", "token mask", true, false }, { "decode", "decoding", false, true },
		{ "prefill", "prefill", false, false } },
	.phase = { "range_merge", "prepare", "preprocess", "run", "fill", "cast" },
	.main_phase = FW_RUN,
	.n_slots = FW_ATTENTION_SLOTS,
	.slot = slots,
	.read = attention_read,
	.keys = "dense, block_sparse, token_masks or serving",
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
	.lay_out = attention_lay_out,
	.lay = attention_lay,
	.file = attention_file,
	.has_second = attention_has_second,
	.second = attention_second,
	.second_words = "another mask, or pages in another order, of the same size",
	.kept = attention_kept,
	.count_mask = attention_count_mask,
};
