/**
 * tile.h - tiles of an operand in shared memory for products with mma.sync: loading one with cp.async, and fragments of it.
 *
 * A tile has SIDE rows of the operand, TILE_STEP deep: rows of 64 bf16 in the swizzle of sm80.h. If the operand is stored across (a
 * stored row has one value of each of its rows), the tile is panels of 64 columns, and ldmatrix transposes it.
 */
#ifndef HOPPER_TILE_H
#define HOPPER_TILE_H

#include "hopper/sm80.h"

enum { TILE_STEP = 64, TILE_CHUNKS = TILE_STEP / 8, TILE_PANEL = TILE_STEP * 128 /* bytes */ };

/** Bytes of a tile. */
#define TILE_BYTES(side) ((side)*TILE_STEP * 2)

/** Load a tile: rows `first` on of the operand, `step` on along depth. Zeros beyond its ends. Units: stride in elements. */
template <int ACROSS, int SIDE, int THREADS>
SM80_DEVICE void tile_fill(uint32_t to, const __nv_bfloat16 *from, int64_t stride, int rows, int depth, int first, int step)
{
#pragma unroll
	for (int i = 0; i < (SIDE * TILE_CHUNKS + THREADS - 1) / THREADS; i++) {
		const int at = (int)threadIdx.x + i * THREADS, row = at / TILE_CHUNKS, chunk = at % TILE_CHUNKS;
		if (SIDE * TILE_CHUNKS % THREADS && at >= SIDE * TILE_CHUNKS)
			break;
		/* the tile's row and eight columns, as stored; across, rows 64 on are the second panel */
		const int y = ACROSS ? step + row % TILE_STEP : first + row;
		const int x = ACROSS ? first + row / TILE_STEP * 64 + chunk * 8 : step + chunk * 8;
		const bool valid = y < (ACROSS ? depth : rows) && x < (ACROSS ? rows : depth);
		sm80_copy16(to + row * 128 + ((chunk ^ (row & 7)) << 4), valid ? from + y * stride + x : from, valid);
	}
}

/** Load fragment A of 16 rows from `row` on, 16 along depth from `k` on. */
template <int ACROSS> SM80_DEVICE void tile_left(uint32_t r[4], uint32_t tile, int row, int k, int lane)
{
	if (ACROSS) {
		const int y = k + lane % 8 + lane / 16 * 8, chunk = row % 64 / 8 + lane / 8 % 2;
		sm80_load4_transposed(r, tile + row / 64 * TILE_PANEL + y * 128 + ((chunk ^ (y & 7)) << 4));
	} else {
		const int y = row + lane % 16, chunk = k / 8 + lane / 16;
		sm80_load4(r, tile + y * 128 + ((chunk ^ (y & 7)) << 4));
	}
}

/** Load two adjacent fragments B: columns `column` to + 7 in r[0], r[1], the next eight in r[2], r[3]. */
template <int ACROSS> SM80_DEVICE void tile_right(uint32_t r[4], uint32_t tile, int column, int k, int lane)
{
	if (ACROSS) {
		const int y = k + lane % 16, chunk = column % 64 / 8 + lane / 16;
		sm80_load4_transposed(r, tile + column / 64 * TILE_PANEL + y * 128 + ((chunk ^ (y & 7)) << 4));
	} else {
		const int y = column + lane % 8 + lane / 16 * 8, chunk = k / 8 + lane / 8 % 2;
		sm80_load4(r, tile + y * 128 + ((chunk ^ (y & 7)) << 4));
	}
}

#endif
