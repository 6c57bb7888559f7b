/* Work of the passes for one given mask, counted over the lists that they traverse. */
#include "attention/contract.h"
#include "attention/cpu/cpu.h"
#include "attention/cpu/matrix.h"

#include <stdlib.h>
#include <string.h>

/*
 * Work of one list: every (tile, tile of its ranges) costs `products` matrix products of padded rows x TILE_K x headdim for
 * each of `heads` query heads.
 */
static void count_list(const struct fw_attention *a, const struct list *l, int keys, int products, struct fw_work *out)
{
	int group = a->nhq / a->nhk, step = keys ? TILE_Q : TILE_K;
	for (int32_t i = 0; i < l->n_items; i++) {
		const struct item *item = &l->item[i];
		for (int32_t r = 0; r < item->ranges; r++) {
			struct range range = l->range[item->range_first + r];
			for (int32_t at = range.begin; at < range.end; at += step) {
				int32_t n = range.end - at < step ? range.end - at : step;
				int32_t first_row = keys ? at : item->first, rows = keys ? n : item->count;
				int32_t first_key = keys ? item->first : at, n_keys = keys ? item->count : n;
				int partial = rows < TILE_Q || n_keys < TILE_K || first_row + item->diagonal < first_key + n_keys;
				if (a->window && first_row + rows - 1 + item->diagonal - a->window > first_key)
					partial = 1;
				out->flops_issued +=
					2.0 * products * round_up(rows, BLOCK_ROWS) * (double)TILE_K * a->headdim * group;
				out->bytes_moved += 2.0 * a->headdim * 2 * (keys ? rows * group : n_keys);
				out->tiles_total += group;
				out->tiles_partial += partial ? group : 0;
			}
		}
		/* Own rows, once each: Q and O, or K V dK dV, or Q dO dQ. */
		out->bytes_moved += 2.0 * a->headdim * item->count * (keys ? 4 : (products == 2 ? 2 : 3) * group);
	}
}

/*
 * Work under a token mask of one pass over rows or keys, `products` matrix products for each tile that is not empty; tiles of
 * other sequences are not counted. Keys are moved once for all heads that share them and see one.
 */
static void count_tiles(const struct fw_attention *a, const struct fw_io *host, const struct tile_map *map, int keys,
	int products, struct fw_work *out)
{
	const int32_t *cu_q = a->n_seqs > 1 ? host->slot[FW_CU_Q].data : NULL;
	const int32_t *cu_k = a->n_seqs > 1 ? host->slot[FW_CU_K].data : NULL;
	for (int32_t i = 0; i < a->n_seqs; i++) {
		struct range q = sequence_tokens(cu_q, i, a->total_q), k = sequence_tokens(cu_k, i, a->total_k);
		for (int32_t head = 0; head < a->nhq; head++)
			for (int32_t row = q.begin; row < q.end; row += TILE_Q)
				for (int32_t key = k.begin; key < k.end; key += TILE_K) {
					int32_t rows = q.end - row < TILE_Q ? q.end - row : TILE_Q;
					int32_t n = k.end - key < TILE_K ? k.end - key : TILE_K;
					int64_t q_tile = (int64_t)head * map->q_tiles + first_q_tile(i, q.begin) +
							 (row - q.begin) / TILE_Q;
					int state = map->state[q_tile * map->k_tiles + (key - k.begin) / TILE_K];
					out->tiles_total++;
					out->tiles_skipped += state == TILE_EMPTY;
					if (state == TILE_EMPTY)
						continue;
					out->tiles_partial += state == TILE_PARTIAL || rows < TILE_Q || n < TILE_K;
					out->flops_issued +=
						2.0 * products * round_up(rows, BLOCK_ROWS) * (double)TILE_K * a->headdim;
					out->bytes_moved += 2.0 * a->headdim * 2 * (keys ? rows : n);
				}
	}
	out->bytes_moved +=
		2.0 * a->headdim * (keys ? 4.0 * a->total_k * a->nhk : (products == 2 ? 2.0 : 3.0) * a->total_q * a->nhq);
}

/* Every pass of a direction under a token mask. */
static int count_tokens(const struct fw_attention *a, int direction, const struct fw_io *host, struct fw_work *out)
{
	struct tile_map map;
	tiles_capacity(a, &map);
	map.state = calloc((size_t)a->nhq * (size_t)map.q_tiles * (size_t)map.k_tiles + 1, 1);
	if (!map.state)
		return FW_FAILED;
	out->blocks_kept =
		tiles_build(a, host->slot[FW_CU_Q].data, host->slot[FW_CU_K].data, host->slot[FW_TOKEN_BITS].data, &map);
	if (out->blocks_kept >= 0 && direction != FW_BACKWARD)
		count_tiles(a, host, &map, 0, 2, out);
	if (out->blocks_kept >= 0 && direction != FW_FORWARD) {
		count_tiles(a, host, &map, 0, 3, out);
		count_tiles(a, host, &map, 1, 4, out);
	}
	free(map.state);
	return out->blocks_kept < 0 ? FW_INVALID : FW_OK;
}

static int count_direction(const struct fw_attention *a, const struct fw_io *host, int keys, int products, struct fw_work *out)
{
	struct list l = { 0 };
	int status = FW_FAILED;
	lists_capacity(a, keys, &l.max_items, &l.max_ranges);
	l.item = malloc((size_t)l.max_items * sizeof *l.item + 1);
	l.range = malloc((size_t)l.max_ranges * sizeof *l.range + 1);
	if (l.item && l.range) {
		status = FW_INVALID;
		if (!lists_build(
			    a, host->slot[FW_CU_Q].data, host->slot[FW_CU_K].data, host->slot[FW_BLOCK_BITS].data, keys, &l)) {
			count_list(a, &l, keys, products, out);
			status = FW_OK;
		}
	}
	free(l.item);
	free(l.range);
	return status;
}

/* Tiles that a kernel without any list would visit. */
static int64_t all_tiles(const struct fw_attention *a)
{
	return (int64_t)a->nhq * ((a->total_q + TILE_Q - 1) / TILE_Q) * ((a->total_k + TILE_K - 1) / TILE_K);
}

static int64_t kept_blocks(const struct fw_attention *a, const uint32_t *bits)
{
	int64_t words = ((a->total_k + a->block_k - 1) / a->block_k + 31) / 32, kept = 0;
	int64_t n = words * a->nhk * ((a->total_q + a->block_q - 1) / a->block_q);
	for (int64_t i = 0; i < n; i++)
		kept += __builtin_popcount(bits[i]);
	return kept;
}

int count_work(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *out)
{
	(void)config;
	struct fw_attention a;
	if (task_attention(problem, &a, NULL, 0) != FW_OK)
		return FW_UNSUPPORTED;
	if (!host || !host->slot || !out || host->n_slots < FW_TOKEN_BITS)
		return FW_INVALID;
	if (a.mask == FW_BLOCKS && !host->slot[FW_BLOCK_BITS].data)
		return FW_INVALID;
	if (a.n_seqs > 1 && (!host->slot[FW_CU_Q].data || !host->slot[FW_CU_K].data))
		return FW_INVALID;
	if (a.mask == FW_TOKENS && (host->n_slots <= FW_TOKEN_BITS || !host->slot[FW_TOKEN_BITS].data))
		return FW_INVALID;
	struct fw_work work = { .struct_size = contract_answer_bytes(out->struct_size, sizeof work) };
	int status = FW_OK, passes = 0;
	if (a.mask == FW_TOKENS) {
		status = count_tokens(&a, problem->direction, host, &work);
	} else {
		/* Backward multiplies 3 tiles for dQ and 4 for dK and dV. */
		if (problem->direction != FW_BACKWARD)
			status = count_direction(&a, host, 0, 2, &work), passes++;
		if (status == FW_OK && problem->direction != FW_FORWARD)
			status = count_direction(&a, host, 0, 3, &work), passes++;
		if (status == FW_OK && problem->direction != FW_FORWARD)
			status = count_direction(&a, host, 1, 4, &work), passes++;
	}
	if (status != FW_OK)
		return status;
	int64_t dense = all_tiles(&a) * passes;
	if (dense > work.tiles_total) {
		work.tiles_skipped = dense - work.tiles_total;
		work.tiles_total = dense;
	}
	if (a.mask == FW_BLOCKS)
		work.blocks_kept = kept_blocks(&a, host->slot[FW_BLOCK_BITS].data);
	memcpy(out, &work, work.struct_size);
	return FW_OK;
}
