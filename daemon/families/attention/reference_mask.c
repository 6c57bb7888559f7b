/* reference_mask.c - a direct implementation of the masks specified in fw_kernel.h, independent of the lists of kernels. */
#include "families/attention/internal.h"

int reference_mask_capacity(const struct attention_case *a)
{
	int keys = attention_key_blocks(a), rows = a->mask == FW_BLOCKS ? a->seqlen / a->block : 0;
	if (a->mask == FW_TOKENS)
		return attention_tokens(a) / 2 + 1;
	return a->mask != FW_BLOCKS ? 1 : keys > rows ? keys : rows;
}

int reference_sequence(const struct attention_case *a, const int32_t *cu, int token)
{
	int low = 0, high = cu ? a->n_seqs : 1;
	while (high - low > 1) { /* cu[low] <= token < cu[high] */
		int middle = (low + high) / 2;
		if (token < cu[middle])
			high = middle;
		else
			low = middle;
	}
	return low;
}

static struct reference_range tokens_of(const int32_t *cu, int sequence, int total)
{
	return cu ? (struct reference_range){ cu[sequence], cu[sequence + 1] } : (struct reference_range){ 0, total };
}

/* Keys of query `row`: those up to its own, which is as far from its sequence's end as the query, the last `window` of them. */
static struct reference_range causal_keys(const struct reference_io *io, int row)
{
	const struct attention_case *a = attention_in(io->cell);
	int sequence = reference_sequence(a, io->cu_q, row);
	struct reference_range q = tokens_of(io->cu_q, sequence, attention_total_q(a)),
			       k = tokens_of(io->cu_k, sequence, a->seqlen);
	k.end -= q.end - 1 - row;
	if (a->window && k.end - k.begin > a->window)
		k.begin = k.end - a->window;
	return k;
}

static bool block_kept(const struct reference_io *io, int kv_head, int q_block, int k_block)
{
	const struct attention_case *a = attention_in(io->cell);
	int words = (attention_key_blocks(a) + 31) / 32;
	const uint32_t *row = io->block_bits + ((int64_t)kv_head * (a->seqlen / a->block) + q_block) * words;
	return row[k_block / 32] >> (k_block % 32) & 1u;
}

static int kept_blocks(const struct reference_io *io, int kv_head, int block, bool of_key, struct reference_range *out)
{
	const struct attention_case *a = attention_in(io->cell);
	int tokens = of_key ? a->block : attention_key_block(a), n = 0;
	for (int other = 0; other < a->seqlen / tokens; other++) {
		if (!block_kept(io, kv_head, of_key ? other : block, of_key ? block : other))
			continue;
		int begin = other * tokens, end = begin + tokens;
		if (n > 0 && out[n - 1].end == begin)
			out[n - 1].end = end;
		else
			out[n++] = (struct reference_range){ begin, end };
	}
	return n;
}

static bool is_pair_kept(const struct reference_io *io, int head, int row, int key)
{
	const struct attention_case *a = attention_in(io->cell);
	const uint32_t *bits = io->token_bits + ((int64_t)head * a->seqlen + row) * attention_token_words(a);
	int bit = key % attention_tokens(a);
	return bits[bit / 32] >> (bit % 32) & 1u;
}

/* Ranges of the keys of query `token`, or of the queries of key `token`, all of one sequence. */
static int kept_tokens(const struct reference_io *io, int head, int token, bool of_key, struct reference_range *out)
{
	const struct attention_case *a = attention_in(io->cell);
	int first = token - token % attention_tokens(a), n = 0;
	for (int other = first; other < first + attention_tokens(a); other++) {
		if (!is_pair_kept(io, head, of_key ? other : token, of_key ? token : other))
			continue;
		if (n > 0 && out[n - 1].end == other)
			out[n - 1].end++;
		else
			out[n++] = (struct reference_range){ other, other + 1 };
	}
	return n;
}

int reference_mask_keys(const struct reference_io *io, int head, int row, struct reference_range *out)
{
	const struct attention_case *a = attention_in(io->cell);
	if (a->mask == FW_TOKENS)
		return kept_tokens(io, head, row, false, out);
	if (a->mask == FW_BLOCKS)
		return kept_blocks(io, head / (a->nhq / a->nhk), row / a->block, false, out);
	if (a->mask == FW_FULL)
		out[0] = tokens_of(io->cu_k, reference_sequence(a, io->cu_q, row), a->seqlen);
	else
		out[0] = causal_keys(io, row);
	return 1;
}

int reference_mask_rows(const struct reference_io *io, int head, int key, struct reference_range *out)
{
	const struct attention_case *a = attention_in(io->cell);
	if (a->mask == FW_TOKENS)
		return kept_tokens(io, head, key, true, out);
	if (a->mask == FW_BLOCKS)
		return kept_blocks(io, head / (a->nhq / a->nhk), key / attention_key_block(a), true, out);
	out[0] = tokens_of(io->cu_q, reference_sequence(a, io->cu_k, key), a->seqlen); /* backward has as many queries */
	if (a->mask == FW_CAUSAL)
		out[0].begin = key;
	return 1;
}
