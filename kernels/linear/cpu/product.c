/*
 * left right^T in tiles of 48 x 64, summed in fp32 along depth. Compiled once for each instruction set (ISA).
 * Both sides are copied to a thread's scratch, widened and transposed so that the multiplied elements are adjacent; so the kernel
 * is the same for both orders of a side. Each element of the result is summed by one thread in one order.
 */
#include "linear/cpu/cpu.h"
#include "linear/rounding.h"

#include <omp.h>

enum { TILE_ROWS = 48, TILE_COLUMNS = 64, TILE_DEPTH = 256, STEP_ROWS = 6, STEP_COLUMNS = 16 };
_Static_assert((TILE_ROWS + TILE_COLUMNS) * TILE_DEPTH + 2 * TILE_ROWS * TILE_COLUMNS == PRODUCT_SCRATCH, "as in cpu.h");

typedef float lanes __attribute__((vector_size(STEP_COLUMNS * sizeof(float)), aligned(4)));

#define ISA_JOIN2(name, isa) name##_##isa
#define ISA_JOIN(name, isa)  ISA_JOIN2(name, isa)

/* Copy rows from `first` on, `depth` elements of each from `d` on: to[panel][d][row in panel], zeros past the last row. */
static void pack(const struct side *s, int64_t first, int64_t d, int depth, int tile, int panel, float *to)
{
	for (int row = 0; row < tile; row++) {
		float *const column = to + row / panel * panel * depth + row % panel;
		const uint16_t *const from = s->value + (first + row) * s->row_step + d * s->depth_step;
		for (int i = 0; i < depth; i++)
			column[i * panel] = first + row < s->rows ? rounding_widen(from[i * s->depth_step]) : 0.0f;
	}
}

/* sums (STEP_ROWS x STEP_COLUMNS of a tile) += product of two panels. */
static void step(const float *left, const float *right, int depth, float *sums)
{
	lanes sum[STEP_ROWS];
	for (int i = 0; i < STEP_ROWS; i++)
		sum[i] = *(const lanes *)(sums + i * TILE_COLUMNS);
	for (int d = 0; d < depth; d++) {
		const lanes b = *(const lanes *)(right + d * STEP_COLUMNS);
		for (int i = 0; i < STEP_ROWS; i++)
			sum[i] += left[d * STEP_ROWS + i] * b;
	}
	for (int i = 0; i < STEP_ROWS; i++)
		*(lanes *)(sums + i * TILE_COLUMNS) = sum[i];
}

/* The factor of a row of a side at depth `d`. */
static float factor_of(const struct side *s, int64_t row, int64_t d)
{
	return !s->factor ? 1.0f : s->blocks ? s->factor[row * s->blocks + d / FW_LINEAR_SCALE_BLOCK] : s->factor[row];
}

/* sums += the sums of the block of depth that begins at `d`, times the factors of its block; then they are zero. */
static void add_block(
	const struct side *left, const struct side *right, int64_t row, int64_t column, int64_t d, float *of_block, float *sums)
{
	for (int i = 0; i < TILE_ROWS && row + i < left->rows; i++)
		for (int j = 0; j < TILE_COLUMNS && column + j < right->rows; j++) {
			const float v = of_block[i * TILE_COLUMNS + j] * factor_of(left, row + i, d);
			sums[i * TILE_COLUMNS + j] += v * factor_of(right, column + j, d);
		}
	memset(of_block, 0, TILE_ROWS * TILE_COLUMNS * sizeof *of_block);
}

static void finish(const struct side *left, const struct side *right, int64_t row, int64_t column, const struct epilogue *e,
	const float *sums, uint16_t *out, int64_t out_stride)
{
	const bool has_blocks = left->blocks || right->blocks; /* then sums include their factors */
	for (int i = 0; i < TILE_ROWS && row + i < left->rows; i++)
		for (int j = 0; j < TILE_COLUMNS && column + j < right->rows; j++) {
			float v = sums[i * TILE_COLUMNS + j];
			if (left->factor && !has_blocks)
				v *= left->factor[row + i];
			if (right->factor && !has_blocks)
				v *= right->factor[column + j];
			if (e->bias)
				v += rounding_widen(e->bias[column + j]);
			out[(row + i) * out_stride + column + j] = rounding_bf16(rounding_activate(e->activation, v));
		}
}

void ISA_JOIN(product, ISA)(const struct side *left, const struct side *right, int32_t depth, const struct epilogue *epilogue,
	uint16_t *out, int64_t out_stride, float *scratch, int threads)
{
	/* with a tile past the last row or column, the counters exceed 32 bits */
	const int64_t across = ((int64_t)right->rows + TILE_COLUMNS - 1) / TILE_COLUMNS;
	const int64_t tiles = ((int64_t)left->rows + TILE_ROWS - 1) / TILE_ROWS * across;
	const bool has_blocks = left->blocks || right->blocks;
	const int deep = has_blocks ? FW_LINEAR_SCALE_BLOCK : TILE_DEPTH;
#pragma omp parallel num_threads(threads)
	{
		float *const mine = scratch + (int64_t)omp_get_thread_num() * PRODUCT_SCRATCH;
		float *const a = mine, *const b = a + TILE_ROWS * TILE_DEPTH, *const sums = b + TILE_COLUMNS * TILE_DEPTH;
		float *const of_block = sums + TILE_ROWS * TILE_COLUMNS, *const to = has_blocks ? of_block : sums;
#pragma omp for schedule(dynamic)
		for (int64_t tile = 0; tile < tiles; tile++) {
			const int64_t row = tile / across * TILE_ROWS, column = tile % across * TILE_COLUMNS;
			memset(sums, 0, 2 * TILE_ROWS * TILE_COLUMNS * sizeof *sums); /* of_block too */
			for (int64_t d = 0; d < depth; d += deep) {
				const int part = depth - d < deep ? (int)(depth - d) : deep;
				pack(left, row, d, part, TILE_ROWS, STEP_ROWS, a);
				pack(right, column, d, part, TILE_COLUMNS, STEP_COLUMNS, b);
				for (int i = 0; i < TILE_ROWS && row + i < left->rows; i += STEP_ROWS)
					for (int j = 0; j < TILE_COLUMNS; j += STEP_COLUMNS)
						step(a + i * part, b + j * part, part, to + i * TILE_COLUMNS + j);
				if (has_blocks)
					add_block(left, right, row, column, d, of_block, sums);
			}
			finish(left, right, row, column, epilogue, sums, out, out_stride);
		}
	}
}
