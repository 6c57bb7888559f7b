/**
 * tile.h - sizes that decide the speed of the CPU kernels. All values that satisfy the assertions at the end give correct
 * results.
 */
#ifndef ATTENTION_CPU_TILE_H
#define ATTENTION_CPU_TILE_H

/* Query rows of a tile: a key tile is unpacked to fp32 once for this many rows of every head that shares it. */
#define TILE_Q 64

/* Keys of a tile: scores of TILE_Q x TILE_K and one fp32 panel of keys and of values stay in the first-level cache. */
#define TILE_K 64

/* Query heads of one key head that are computed together; more heads share the unpacking, fewer need less second-level cache. */
#define TILE_HEADS 4

/* Rows and vectors of the register block of a matrix product: their product is the number of accumulators. */
#define BLOCK_ROWS    4
#define BLOCK_VECTORS 2

#define HEADDIM_MAX 256

/* Elements between the starts of two consecutive panels' rows, so that rows do not fall on the same cache sets. */
#define PANEL_PAD 16

_Static_assert(TILE_Q % BLOCK_ROWS == 0, "TILE_Q must be a multiple of BLOCK_ROWS");
_Static_assert(TILE_K % 16 == 0 && TILE_K >= 16, "TILE_K must be a multiple of 16, the longest vector");
_Static_assert(TILE_HEADS >= 1, "TILE_HEADS must be positive");

#endif
