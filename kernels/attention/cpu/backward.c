/*
 * Backward pass in two passes over the tiles, so that two threads never add to the same element and every sum has a fixed order:
 * a tile of keys accumulates dK and dV over all rows and heads that see it, a tile of rows accumulates dQ over its keys.
 * Both compute scores and weights: 7 matrix products instead of 5.
 *
 *     dK[first + j][kv_head][column] += dS[row][j] Q[query + j][head][column]        dV: P and dO
 *     dQ[first + row][head][column] += dS[row][j] K[key + j][head / group][column]
 */
#include "attention/cpu/cpu.h"
#include "attention/cpu/matrix.h"

#include <omp.h>

#ifndef ISA
#define ISA base
#endif

/* Scratch of one thread: `row` elements between rows of width headdim, `key_row` between rows of TILE_K scores. */
struct scratch {
	float *q, *dout, *k, *kt, *vt; /* [TILE_Q][row] x2, [TILE_K][row], [headdim][key_row] x2 */
	float *p, *ds;                 /* [TILE_Q][key_row]: weights, gradients of scores */
	float *dq, *dk, *dv;           /* [TILE_HEADS][TILE_Q][row], [TILE_K][row] x2 */
	int row, key_row;
};

/* Lay out the arrays from address `base`; with 0 only to get their size. */
static size_t lay_out(const struct fw_attention *a, uintptr_t base, struct scratch *s)
{
	uintptr_t at = base;
	s->row = a->headdim + PANEL_PAD;
	s->key_row = TILE_K + PANEL_PAD;
	size_t row = (size_t)s->row, key_row = (size_t)s->key_row, d = (size_t)a->headdim;
	s->q = take(&at, TILE_Q * row);
	s->dout = take(&at, TILE_Q * row);
	s->k = take(&at, TILE_K * row);
	s->kt = take(&at, d * key_row);
	s->vt = take(&at, d * key_row);
	s->p = take(&at, TILE_Q * key_row);
	s->ds = take(&at, TILE_Q * key_row);
	s->dq = take(&at, (size_t)heads_together(a) * TILE_Q * row);
	s->dk = take(&at, TILE_K * row);
	s->dv = take(&at, TILE_K * row);
	return at - base;
}

size_t ISA_NAME(backward_scratch)(const struct fw_attention *a)
{
	struct scratch s;
	return lay_out(a, 0, &s);
}

static void scratch_of_thread(const struct attention_task *t, struct scratch *s)
{
	lay_out(&t->a, (uintptr_t)t->scratch + (size_t)omp_get_thread_num() * t->scratch_bytes, s);
}

void ISA_NAME(backward_preprocess)(const struct attention_task *t)
{
	int64_t total = t->a.total_q;
#pragma omp parallel for schedule(static) num_threads(t->threads) collapse(2)
	for (int head = 0; head < t->a.nhq; head++)
		for (int64_t i = 0; i < total; i++) {
			const uint16_t *o = element(&t->slot[FW_O], i, head), *dout = element(&t->slot[FW_DO], i, head);
			float lse = ((const float *)t->slot[FW_LSE].data)[head * t->slot[FW_LSE].stride[0] + i], delta = 0;
			for (int j = 0; j < t->a.headdim; j++)
				delta += to_float(is_f16(t), o[j]) * to_float(is_f16(t), dout[j]);
			t->lse2[head * total + i] = lse == -INFINITY ? INFINITY : lse * (float)LOG2E;
			t->delta[head * total + i] = delta;
		}
}

/*
 * P and dS of one tile into s->p and s->ds; hidden pairs and padding rows give 0 in both. Expects q (scaled), dout, kt and vt
 * unpacked.
 */
static void gradients_of_scores(const struct attention_task *t, const struct item *item, const struct scratch *s, int head,
	int first_row, int n_rows, int first_key, int n_keys)
{
	const float *lse2 = t->lse2 + (int64_t)head * t->a.total_q + first_row;
	const float *delta = t->delta + (int64_t)head * t->a.total_q + first_row;
	int rows = round_up(n_rows, BLOCK_ROWS), d = t->a.headdim;
	struct view q = { s->q, s->row, 1 }, dout = { s->dout, s->row, 1 };

	multiply(rows, TILE_K, d, q, s->kt, s->key_row, s->p, s->key_row, false);
	multiply(rows, TILE_K, d, dout, s->vt, s->key_row, s->ds, s->key_row, false);
	if (t->a.mask == FW_TOKENS && tile_at(t, item, head, first_row, first_key) == TILE_PARTIAL)
		hide_pairs(token_bits(t, head, first_row), token_words(&t->a), first_key - item->k_begin, n_rows, n_keys, s->p,
			s->key_row);
	for (int i = 0; i < rows; i++) {
		float *p = s->p + i * s->key_row, *ds = s->ds + i * s->key_row;
		int seen = i < n_rows ? first_row + i + item->diagonal - first_key : 0;
		seen = seen < 0 ? 0 : seen > n_keys ? n_keys : seen;
		for (int j = seen; j < TILE_K; j++)
			p[j] = -INFINITY;
		float row_lse = i < n_rows ? lse2[i] : INFINITY, row_delta = i < n_rows ? delta[i] : 0;
		for (int j = 0; j < TILE_K; j += LANES) {
			vec weight = exp2_vec(load(p + j) - row_lse);
			store(p + j, weight);
			store(ds + j, weight * (load(ds + j) - row_delta));
		}
	}
}

static void unpack_queries(const struct attention_task *t, const struct scratch *s, int head, int first, int count)
{
	int rows = round_up(count, BLOCK_ROWS), d = t->a.headdim;
	unpack_rows(is_f16(t), element(&t->slot[FW_Q], first, head), t->slot[FW_Q].stride[0], count, rows, d,
		(float)(t->a.scale * LOG2E), s->q, s->row);
	unpack_rows(is_f16(t), element(&t->slot[FW_DO], first, head), t->slot[FW_DO].stride[0], count, rows, d, 1.0f, s->dout,
		s->row);
}

static void unpack_keys(const struct attention_task *t, const struct scratch *s, int kv_head, int first, int count)
{
	unpack_columns(is_f16(t), element(&t->slot[FW_K], first, kv_head), t->slot[FW_K].stride[0], count, TILE_K, t->a.headdim,
		s->kt, s->key_row);
	unpack_columns(is_f16(t), element(&t->slot[FW_V], first, kv_head), t->slot[FW_V].stride[0], count, TILE_K, t->a.headdim,
		s->vt, s->key_row);
}

static void run_key_item(const struct attention_task *t, const struct item *item, const struct scratch *s)
{
	int group = t->a.nhq / t->a.nhk, d = t->a.headdim;
	size_t bytes = TILE_K * (size_t)s->row * sizeof(float);

	memset(s->dk, 0, bytes);
	memset(s->dv, 0, bytes);
	unpack_keys(t, s, item->kv_head, item->first, item->count);
	for (int head = item->kv_head * group; head < (item->kv_head + 1) * group; head++) {
		for (int r = 0; r < item->ranges; r++) {
			struct range range = t->keys->range[item->range_first + r];
			for (int row = range.begin; row < range.end; row += TILE_Q) {
				int count = range.end - row < TILE_Q ? range.end - row : TILE_Q,
				    rows = round_up(count, BLOCK_ROWS);
				struct view p = { s->p, 1, s->key_row }, ds = { s->ds, 1, s->key_row };
				if (tile_at(t, item, head, row, item->first) == TILE_EMPTY)
					continue;
				unpack_queries(t, s, head, row, count);
				gradients_of_scores(t, item, s, head, row, count, item->first, item->count);
				multiply(TILE_K, d, rows, p, s->dout, s->row, s->dv, s->row, true);
				multiply(TILE_K, d, rows, ds, s->q, s->row, s->dk, s->row, true);
			}
		}
	}
	/* q carries scale * log2(e); dK wants scale. */
	for (int i = 0; i < item->count; i++) {
		pack_row(is_f16(t), s->dk + i * s->row, d, LN2, element(&t->slot[FW_DK], item->first + i, item->kv_head));
		pack_row(is_f16(t), s->dv + i * s->row, d, 1.0f, element(&t->slot[FW_DV], item->first + i, item->kv_head));
	}
}

static void run_row_item(const struct attention_task *t, const struct item *item, int head0, int heads, const struct scratch *s)
{
	int d = t->a.headdim, rows = round_up(item->count, BLOCK_ROWS);
	size_t head_size = (size_t)TILE_Q * (size_t)s->row;

	memset(s->dq, 0, (size_t)heads * head_size * sizeof(float));
	for (int r = 0; r < item->ranges; r++) {
		struct range range = t->rows->range[item->range_first + r];
		for (int key = range.begin; key < range.end; key += TILE_K) {
			int count = range.end - key < TILE_K ? range.end - key : TILE_K;
			bool unpacked = false;
			for (int h = 0; h < heads; h++) {
				struct view ds = { s->ds, s->key_row, 1 };
				if (tile_at(t, item, head0 + h, item->first, key) == TILE_EMPTY)
					continue;
				if (!unpacked) {
					unpack_keys(t, s, item->kv_head, key, count);
					unpack_rows(is_f16(t), element(&t->slot[FW_K], key, item->kv_head),
						t->slot[FW_K].stride[0], count, TILE_K, d, 1.0f, s->k, s->row);
					unpacked = true;
				}
				unpack_queries(t, s, head0 + h, item->first, item->count);
				gradients_of_scores(t, item, s, head0 + h, item->first, item->count, key, count);
				multiply(rows, d, TILE_K, ds, s->k, s->row, s->dq + (size_t)h * head_size, s->row, true);
			}
		}
	}
	for (int h = 0; h < heads; h++)
		for (int i = 0; i < item->count; i++)
			pack_row(is_f16(t), s->dq + (size_t)h * head_size + i * s->row, d, (float)t->a.scale,
				element(&t->slot[FW_DQ], item->first + i, head0 + h));
}

/* Ascending: the first key tiles of a causal mask are seen by most rows. */
void ISA_NAME(backward_keys)(const struct attention_task *t)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads)
	for (int i = 0; i < t->keys->n_items; i++) {
		struct scratch s;
		scratch_of_thread(t, &s);
		run_key_item(t, &t->keys->item[i], &s);
	}
}

/* Descending: the last row tiles see most keys. */
void ISA_NAME(backward_rows)(const struct attention_task *t)
{
	int group = t->a.nhq / t->a.nhk, together = heads_together(&t->a), parts = (group + together - 1) / together;
	int n = t->rows->n_items * parts;

#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads)
	for (int i = n - 1; i >= 0; i--) {
		const struct item *item = &t->rows->item[i / parts];
		int part = i % parts, left = group - part * together;
		struct scratch s;
		scratch_of_thread(t, &s);
		run_row_item(t, item, item->kv_head * group + part * together, left < together ? left : together, &s);
	}
}
