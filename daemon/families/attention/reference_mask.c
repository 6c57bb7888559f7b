/* reference_mask.c - a direct implementation of the masks specified in fw_kernel.h, independent of the lists of kernels. */
#include "families/attention/internal.h"

int reference_mask_room(const struct attention_case *a)
{
	int keys = attention_key_blocks(a), rows = a->mask == FW_BLOCKS ? a->seqlen / a->block : 0;
	return a->mask != FW_BLOCKS ? 1 : keys > rows ? keys : rows;
}

static struct reference_range sequence_of(const struct reference_io *io, int token)
{
	const struct attention_case *a = attention_in(io->cell);
	if (a->n_seqs == 1 || !io->cu)
		return (struct reference_range){ 0, a->seqlen };
	int i = 0;
	while (i + 1 < a->n_seqs && token >= io->cu[i + 1])
		i++;
	return (struct reference_range){ io->cu[i], io->cu[i + 1] };
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

int reference_mask_keys(const struct reference_io *io, int kv_head, int row, struct reference_range *out)
{
	const struct attention_case *a = attention_in(io->cell);
	if (a->mask == FW_BLOCKS)
		return kept_blocks(io, kv_head, row / a->block, false, out);
	out[0] = sequence_of(io, row);
	if (a->mask == FW_CAUSAL)
		out[0].end = row + 1;
	return 1;
}

int reference_mask_rows(const struct reference_io *io, int kv_head, int key, struct reference_range *out)
{
	const struct attention_case *a = attention_in(io->cell);
	if (a->mask == FW_BLOCKS)
		return kept_blocks(io, kv_head, key / attention_key_block(a), true, out);
	out[0] = sequence_of(io, key);
	if (a->mask == FW_CAUSAL)
		out[0].begin = key;
	return 1;
}
