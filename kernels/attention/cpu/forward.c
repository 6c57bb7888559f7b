/*
 * Forward pass: O and LSE, one tile of query rows at a time with a running softmax over its key tiles.
 *
 *     O[first + row][head][column] += P[row][j] V[key + j][head / group][column]
 * A work item is a tile of rows and up to TILE_HEADS query heads that share the key head, so a key tile is unpacked to fp32 once
 * for all of them. Scores are base-2 exponents: Q is scaled by scale * log2(e) when it is unpacked.
 */
#include "attention/cpu/cpu.h"
#include "attention/cpu/matrix.h"

#include <omp.h>

#ifndef ISA
#define ISA base
#endif

/* Scratch of one thread. Rows of q and o are TILE_Q for each head. */
struct scratch {
	float *q, *o, *top, *sum; /* [heads][TILE_Q][width], ..., [heads][TILE_Q] */
	float *kt, *v, *s;        /* [width][key_row], [TILE_K][row], [TILE_Q][key_row] */
	int row, key_row;         /* elements between rows */
};

/* Lay out the arrays from address `base`; with 0 only to get their size. */
static size_t lay_out(const struct fw_attention *a, uintptr_t base, struct scratch *s)
{
	size_t heads = (size_t)heads_together(a);
	uintptr_t at = base;
	s->row = a->headdim + PANEL_PAD;
	s->key_row = TILE_K + PANEL_PAD;
	s->q = take(&at, heads * TILE_Q * (size_t)s->row);
	s->o = take(&at, heads * TILE_Q * (size_t)s->row);
	s->top = take(&at, heads * TILE_Q);
	s->sum = take(&at, heads * TILE_Q);
	s->kt = take(&at, (size_t)a->headdim * (size_t)s->key_row);
	s->v = take(&at, TILE_K * (size_t)s->row);
	s->s = take(&at, TILE_Q * (size_t)s->key_row);
	return at - base;
}

size_t ISA_NAME(forward_scratch)(const struct fw_attention *a)
{
	struct scratch s;
	return lay_out(a, 0, &s);
}

/* -inf for keys beyond the range's end and beyond the row's diagonal, and for those before its window, if there is one. */
static void hide(float *s, int key_row, int rows, int first_row, int first_key, int count, int diagonal, int window)
{
	for (int i = 0; i < rows; i++) {
		int end = first_row + i + diagonal - first_key, begin = window ? end - window : 0;
		int seen = end < 0 ? 0 : end > count ? count : end;
		for (int j = 0; j < begin && j < TILE_K; j++)
			s[i * key_row + j] = -INFINITY;
		for (int j = seen; j < TILE_K; j++)
			s[i * key_row + j] = -INFINITY;
	}
}

/* Unpack keys and values [key, key + count), one page after the other. */
static void unpack_keys(const struct attention_task *t, const struct item *item, int key, int count, const struct scratch *s)
{
	for (int done = 0, n; done < count; done += n) {
		int32_t run;
		int64_t row = row_of_key(t, item, key + done, &run);
		n = run < count - done ? run : count - done;
		int padded = done + n < count ? n : TILE_K - done;
		unpack_columns(is_f16(t), element(&t->slot[FW_K], row, item->kv_head), t->slot[FW_K].stride[0], n, padded,
			t->a.headdim, s->kt + done, s->key_row);
		unpack_rows(is_f16(t), element(&t->slot[FW_V], row, item->kv_head), t->slot[FW_V].stride[0], n, padded,
			t->a.headdim, 1.0f, s->v + (size_t)done * (size_t)s->row, s->row);
	}
}

/* Convert one row of scores to weights, and rescale the row's running sums. */
static void soften(float *s, float *o, int width, float *top, float *sum)
{
	vec high = load(s);
	for (int j = LANES; j < TILE_K; j += LANES)
		high = max_vec(high, load(s + j));
	float new_top = max_of(high);
	if (new_top < *top)
		new_top = *top;
	if (new_top == -INFINITY) {
		memset(s, 0, TILE_K * sizeof *s);
		return;
	}
	if (new_top > *top) {
		float factor = exp2f(*top - new_top);
		*top = new_top;
		*sum *= factor;
		for (int j = 0; j < width; j += LANES)
			store(o + j, load(o + j) * factor);
	}
	vec total = { 0 };
	for (int j = 0; j < TILE_K; j += LANES) {
		vec weight = exp2_vec(load(s + j) - new_top);
		store(s + j, weight);
		total += weight;
	}
	*sum += sum_of(total);
}

static void finish(const struct attention_task *t, const struct item *item, int head, const struct scratch *s, int h)
{
	float *lse = (float *)t->slot[FW_LSE].data + head * t->slot[FW_LSE].stride[0];
	for (int i = 0; i < item->count; i++) {
		float sum = s->sum[h * TILE_Q + i], top = s->top[h * TILE_Q + i];
		pack_row(is_f16(t), s->o + ((size_t)h * TILE_Q + (size_t)i) * (size_t)s->row, t->a.headdim,
			sum > 0 ? 1.0f / sum : 0, element(&t->slot[FW_O], item->first + i, head));
		lse[item->first + i] = sum > 0 ? (top + log2f(sum)) * LN2 : -INFINITY;
	}
}

static void run_item(const struct attention_task *t, const struct item *item, int head0, int heads, const struct scratch *s)
{
	const struct fw_attention *a = &t->a;
	int d = a->headdim, rows = round_up(item->count, BLOCK_ROWS);
	size_t head_size = (size_t)TILE_Q * (size_t)s->row;

	for (int h = 0; h < heads; h++)
		unpack_rows(is_f16(t), element(&t->slot[FW_Q], item->first, head0 + h), t->slot[FW_Q].stride[0], item->count,
			rows, d, (float)(a->scale * LOG2E), s->q + (size_t)h * head_size, s->row);
	memset(s->o, 0, (size_t)heads * head_size * sizeof(float));
	for (int i = 0; i < heads * TILE_Q; i++)
		s->top[i] = -INFINITY, s->sum[i] = 0;

	for (int r = 0; r < item->ranges; r++) {
		struct range range = t->rows->range[item->range_first + r];
		for (int key = range.begin; key < range.end; key += TILE_K) {
			int count = range.end - key < TILE_K ? range.end - key : TILE_K;
			int partial = count < TILE_K || a->window || item->first + item->diagonal < key + TILE_K;
			bool unpacked = false;
			for (int h = 0; h < heads; h++) {
				float *o = s->o + (size_t)h * head_size;
				enum tile_state state = tile_at(t, item, head0 + h, item->first, key);
				if (state == TILE_EMPTY)
					continue;
				if (!unpacked) {
					unpack_keys(t, item, key, count, s);
					unpacked = true;
				}
				struct view q = { s->q + (size_t)h * head_size, s->row, 1 }, p = { s->s, s->key_row, 1 };
				multiply(rows, TILE_K, d, q, s->kt, s->key_row, s->s, s->key_row, false);
				if (partial)
					hide(s->s, s->key_row, rows, item->first, key, count, item->diagonal, a->window);
				if (a->mask == FW_TOKENS && state == TILE_PARTIAL)
					hide_pairs(token_bits(t, head0 + h, item->first), token_words(a), key - item->k_begin,
						item->count, count, s->s, s->key_row);
				for (int i = 0; i < rows; i++)
					soften(s->s + i * s->key_row, o + (size_t)i * (size_t)s->row, d, &s->top[h * TILE_Q + i],
						&s->sum[h * TILE_Q + i]);
				multiply(rows, d, TILE_K, p, s->v, s->row, o, s->row, true);
			}
		}
	}
	for (int h = 0; h < heads; h++)
		finish(t, item, head0 + h, s, h);
}

void ISA_NAME(forward)(const struct attention_task *t)
{
	int group = t->a.nhq / t->a.nhk, together = heads_together(&t->a), parts = (group + together - 1) / together;
	int n = t->rows->n_items * parts;

	/* Descending: the last tiles of a causal mask are the longest. */
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads)
	for (int i = n - 1; i >= 0; i--) {
		const struct item *item = &t->rows->item[i / parts];
		int part = i % parts, left = group - part * together;
		struct scratch s;
		lay_out(&t->a, (uintptr_t)t->scratch + (size_t)omp_get_thread_num() * t->scratch_bytes, &s);
		run_item(t, item, item->kv_head * group + part * together, left < together ? left : together, &s);
	}
}
