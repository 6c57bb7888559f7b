/* block.c - see block.h. */
#include "families/linear/internal.h"

#include <math.h>
#include <stdlib.h>

#include "model/model.h"

#define SIGMAS 6.0
#define VISITS 2.7e8

enum { TOKENS = FW_LINEAR_BLOCK_TOKENS, WIDENS = FW_LINEAR_BLOCK_WIDENS, SEQUENCES_FEW = 4 };

static int put(struct values *out, int64_t first, const struct line_set *y, struct fw_err *err)
{
	double *exact, *allowed;

	if (values_add(out, FW_LINEAR_Y, first, (size_t)y->width, &exact, &allowed, err) != 0)
		return -1;
	for (int64_t j = 0; j < y->width; j++) {
		exact[j] = y->value[j];
		allowed[j] = LINE_SET_ROUNDING * fabs(y->value[j]) + SIGMAS * sqrt(y->variance[j]);
	}
	return 0;
}

/* Tokens [token, token + n) of a sequence. Shape: y n lines. */
static int sequence(const struct block *b, int64_t which, int token, int n, struct line_set *y, struct fw_err *err)
{
	enum { X, NORMALISED, Q, KV, ATTENDED, BRANCH, WIDE, H, HN, ALL };
	int64_t k = b->s.k, widths[ALL] = { k, k, k, 2 * k, k, k, WIDENS * k, k, k };
	struct line_set l[ALL] = { 0 };
	float *x = calloc((size_t)(TOKENS * k), sizeof *x);
	int result = x ? check_read(b->io, FW_LINEAR_X, which * TOKENS * k, (size_t)(TOKENS * k), x, err)
		       : err_set(err, ERR_FULL, "reference: out of memory");

	for (int i = 0; result == 0 && i < ALL; i++)
		result = line_set_make(&l[i], i == X || i == NORMALISED || i == KV ? TOKENS : n, widths[i], err);
	for (int64_t j = 0; result == 0 && j < TOKENS * k; j++)
		l[X].value[j] = (double)x[j];
	if (result == 0) {
		struct line_set mine = { n, k, l[NORMALISED].value + token * k, l[NORMALISED].variance + token * k };

		line_set_rms(&l[X], &l[NORMALISED]);
		memcpy(l[H].value, l[X].value + token * k, (size_t)(n * k) * sizeof *l[H].value);
		result = block_product(b, &b->qkv, 0, &mine, &l[Q], err);
	}
	if (result == 0 && (result = block_product(b, &b->qkv, k, &l[NORMALISED], &l[KV], err)) == 0) {
		line_set_attend(&l[Q], &l[KV], &l[ATTENDED]);
		result = block_product(b, &b->project, 0, &l[ATTENDED], &l[BRANCH], err);
	}
	if (result == 0) {
		line_set_add(&l[H], &l[BRANCH]);
		line_set_rms(&l[H], &l[HN]);
		result = block_product(b, &b->up, 0, &l[HN], &l[WIDE], err);
	}
	if (result == 0) {
		line_set_gelu(&l[WIDE]);
		result = block_product(b, &b->down, 0, &l[WIDE], &l[BRANCH], err);
	}
	if (result == 0)
		line_set_add(&l[H], &l[BRANCH]);
	if (result == 0) {
		memcpy(y->value, l[H].value, (size_t)(n * k) * sizeof *y->value);
		memcpy(y->variance, l[H].variance, (size_t)(n * k) * sizeof *y->variance);
	}
	for (int i = 0; i < ALL; i++)
		line_set_free(&l[i]);
	free(x);
	return result;
}

static bool is_in_bf16(const struct block *b)
{
	return b->s.w.dtype == 0 && b->s.x.dtype == 0;
}

/* What they are, and beside it what they are in bf16. */
static int compare_sequence(const struct block *b, int64_t which, int token, int n, struct values *out, struct fw_err *err)
{
	struct line_set y = { 0 }, plain = { 0 };
	struct block in_bf16 = *b;
	bool has_other = !is_in_bf16(b);
	int result = line_set_make(&y, n, b->s.k, err);

	in_bf16.s.x = in_bf16.s.w = (struct fw_linear_operand){ 0 };
	in_bf16.is_rounded = false;
	if (result == 0)
		result = sequence(b, which, token, n, &y, err);
	if (result == 0 && has_other && (result = line_set_make(&plain, n, b->s.k, err)) == 0)
		result = sequence(&in_bf16, which, token, n, &plain, err);
	for (int i = 0; result == 0 && i < n; i++) {
		struct line_set line = line_set_one(&y, i);
		double *other;

		result = put(out, (which * TOKENS + token + i) * b->s.k, &line, err);
		if (result == 0 && has_other && (result = values_other(out, &other, err)) == 0)
			memcpy(other, plain.value + i * plain.width, (size_t)plain.width * sizeof *other);
	}
	line_set_free(&y);
	line_set_free(&plain);
	return result;
}

int block_compute(const struct check_io *io, uint64_t seed, double visits, struct values *out, struct fw_err *err)
{
	const struct linear_case *c = (const void *)io->cell->shape.bytes;
	struct block b = { .io = io };
	double budget = visits > 0 ? visits : VISITS, k = c->k;
	int64_t square = (int64_t)c->k * c->k;
	int result = 0;

	linear_abi(c, DIRECTION_FORWARD, &b.s);
	budget /= is_in_bf16(&b) ? 1 : 2; /* once more for what bf16 gives */
	b.is_rounded = b.s.w.dtype != 0 && b.s.x.dtype == 0;
	b.qkv = (struct block_matrix){ 0, 3 * c->k, c->k };
	b.project = (struct block_matrix){ 3 * square, c->k, c->k };
	b.up = (struct block_matrix){ 4 * square, WIDENS * c->k, c->k };
	b.down = (struct block_matrix){ 8 * square, c->k, WIDENS * c->k };
	if (c->m * TOKENS * 12 * k * k <= budget) {
		for (int32_t i = 0; result == 0 && i < c->m; i++)
			result = compare_sequence(&b, i, 0, TOKENS, out, err);
		return result;
	}
	int few = (int)fmax(1, fmin(SEQUENCES_FEW, budget / (42 * k * k))); /* 32 for keys and values, 10 for a token */

	for (int i = 0; result == 0 && i < few; i++) { /* the last one, and any */
		uint64_t drawn = inputs_mix(seed + (uint64_t)i * INPUTS_INCREMENT);

		result = compare_sequence(&b, i == 0 ? c->m - 1 : (int64_t)(drawn % (uint64_t)c->m),
			(int)(drawn >> 32) & (TOKENS - 1), 1, out, err);
	}
	return result;
}
