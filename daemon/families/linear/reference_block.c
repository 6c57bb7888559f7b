/* reference_block.c - reference of a transformer block; documented in internal.h. */
#include "families/linear/internal.h"

/* ---- reference_block_product: Each matrix is read once, in pieces, and multiplied by all lines. ---- */

#define FP32_SUM 1e-6
/*
 * Step between neighbouring e4m3 values, as a share of the value (between 1/16 and 1/8), and the least step, as a share of the
 * largest value.
 */
#define E4M3_STEP  0.09
#define E4M3_LEAST (1.0 / 512 / 448)

enum { PIECE = 1 << 18 };

/*
 * Quantise a line. A value with error d is rounded to a neighbouring value with probability d / step. The scale depends on the
 * largest value, whose error changes all values by a common factor: returns the variance of this factor, 0 if scales are powers of
 * two, of which almost all values near the largest have the same.
 */
static double quantise_line(const struct fw_linear_operand *as, const struct line_set *x, struct line_set *out)
{
	double amax = 0, variance = 0;

	for (int64_t j = 0; j < x->width; j++)
		if (fabs(x->value[j]) > amax) {
			amax = fabs(x->value[j]);
			variance = x->variance[j];
		}
	double drift = amax > 0 && !(as->flags & FW_LINEAR_POWER_OF_TWO) ? variance / (amax * amax) : 0;
	float s = quantise_scale(as, (float)amax);

	for (int64_t j = 0; j < x->width; j++) {
		double v = x->value[j], step = fmax(E4M3_STEP * fabs(v), E4M3_LEAST * amax),
		       off = sqrt(x->variance[j] + drift * v * v);

		out->value[j] = quantise_value(as, (float)v, s);
		out->variance[j] = fmin(off, step) * step;
	}
	return drift;
}

/* Quantise a row of a matrix. */
static void take_row(const struct fw_linear_operand *as, const float *row, int64_t depth, double *out)
{
	float amax = 0;

	if (as->dtype == FW_I4) {
		for (int64_t at = 0; at + as->group <= depth; at += as->group)
			quantise_group(row + at, as->group, out + at);
		return;
	}
	for (int64_t j = 0; j < depth; j++)
		amax = fmaxf(amax, fabsf(row[j]));
	float s = quantise_scale(as, amax);

	for (int64_t j = 0; j < depth; j++)
		out[j] = quantise_value(as, row[j], s);
}

static void multiply_row(const struct block *b, const struct line_set *in, const double *drift, const double *w, double scale,
	int64_t at, struct line_set *out)
{
	double share = b->is_rounded ? LINE_SET_SPREAD : 0;

	for (int i = 0; i < in->n; i++) {
		const double *v = in->value + i * in->width, *variance = in->variance + i * in->width;
		double sum = 0, size = 0, noise = 0;

		for (int64_t l = 0; l < in->width; l++) {
			double product = v[l] * w[l];

			sum += product;
			size += fabs(product);
			noise += variance[l] * w[l] * w[l] + share * product * product;
		}
		noise += drift[i] * sum * sum + FP32_SUM * FP32_SUM * size * size;
		out->value[i * out->width + at] = sum * scale;
		out->variance[i * out->width + at] = noise * scale * scale + LINE_SET_SPREAD * sum * sum * scale * scale;
	}
}

/* Multiply rows [first, first + out->width) of a matrix by quantised lines, and round the results. */
static int multiply(const struct block *b, const struct block_matrix *m, int64_t first, const struct line_set *in,
	const double *drift, struct line_set *out, struct fw_err *err)
{
	int64_t piece = PIECE / m->depth < 1 ? 1 : PIECE / m->depth;
	float *rows = calloc((size_t)(piece * m->depth), sizeof *rows);
	double *taken = calloc((size_t)(piece * m->depth), sizeof *taken), scale = 1;
	int result = rows && taken ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	for (int64_t power = 1; power < m->depth; power *= 4)
		scale /= 2;
	for (int64_t at = 0; result == 0 && at < out->width; at += piece) {
		int64_t n = out->width - at < piece ? out->width - at : piece;

		result = check_read(b->io, FW_LINEAR_W, m->first + (first + at) * m->depth, (size_t)(n * m->depth), rows, err);
		if (result != 0)
			break;
#pragma omp parallel for
		for (int64_t j = 0; j < n; j++) {
			take_row(&b->s.w, rows + j * m->depth, m->depth, taken + j * m->depth);
			multiply_row(b, in, drift, taken + j * m->depth, scale, at + j, out);
		}
	}
	free(rows);
	free(taken);
	return result;
}

/* Multiply rows [first, first + out->width) of a matrix by lines, which are quantised first if the recipe requires it. */
static int block_product(const struct block *b, const struct block_matrix *m, int64_t first, const struct line_set *in,
	struct line_set *out, struct fw_err *err)
{
	struct line_set quantised = { 0 };
	double *drift = calloc((size_t)in->n, sizeof *drift);
	bool is_plain = b->s.x.dtype == 0 || b->s.x.dtype == FW_BF16;
	int result = drift ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	if (result == 0 && !is_plain)
		result = line_set_make(&quantised, in->n, in->width, err);
	for (int i = 0; result == 0 && !is_plain && i < in->n; i++) {
		struct line_set from = line_set_one(in, i), to = line_set_one(&quantised, i);

		drift[i] = quantise_line(&b->s.x, &from, &to);
	}
	if (result == 0)
		result = multiply(b, m, first, is_plain ? in : &quantised, drift, out, err);
	line_set_free(&quantised);
	free(drift);
	return result;
}

/* ---- reference_block ---- */

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

/* Compute tokens [token, token + n) of a sequence. Shape: y n lines. */
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

/* Add the reference of these tokens, and with a quantised recipe also their values in bf16. */
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
		if (result == 0 && has_other && (result = values_other(out, "another precision", &other, err)) == 0)
			memcpy(other, plain.value + i * plain.width, (size_t)plain.width * sizeof *other);
	}
	line_set_free(&y);
	line_set_free(&plain);
	return result;
}

static void set_matrices(struct block *b, int64_t width)
{
	int64_t square = width * width;

	b->qkv = (struct block_matrix){ 0, 3 * width, width };
	b->project = (struct block_matrix){ 3 * square, width, width };
	b->up = (struct block_matrix){ 4 * square, WIDENS * width, width };
	b->down = (struct block_matrix){ 8 * square, width, WIDENS * width };
}

/* Compute the reference of forward; in total its operands are quantised as in training. */
static int forward(const struct block *whole, uint64_t seed, double visits, struct values *out, struct fw_err *err)
{
	const struct linear_case *c = (const void *)whole->io->cell->shape.bytes;
	struct block b = *whole;
	double budget = visits, k = c->k;
	int result = 0;

	budget /= is_in_bf16(&b) ? 1 : 2; /* the second computation is in bf16 */
	b.is_rounded = b.s.w.dtype != 0 && b.s.x.dtype == 0;
	if (c->m * TOKENS * 12 * k * k <= budget) {
		for (int32_t i = 0; result == 0 && i < c->m; i++)
			result = compare_sequence(&b, i, 0, TOKENS, out, err);
		return result;
	}
	/* 42 k * k products: 32 for keys and values, 10 for a token */
	int few = (int)fmax(1, fmin(SEQUENCES_FEW, budget / (42 * k * k)));

	for (int i = 0; result == 0 && i < few; i++) { /* the last sequence, and random ones */
		uint64_t drawn = inputs_mix(seed + (uint64_t)i * INPUTS_INCREMENT);

		result = compare_sequence(&b, i == 0 ? c->m - 1 : (int64_t)(drawn % (uint64_t)c->m),
			(int)(drawn >> 32) & (TOKENS - 1), 1, out, err);
	}
	return result;
}

int block_compute(const struct check_io *io, uint64_t seed, double visits, struct values *out, struct fw_err *err)
{
	const struct linear_case *c = (const void *)io->cell->shape.bytes;
	enum direction d = io->cell->direction;
	bool is_total = d == DIRECTION_TOTAL, is_forward = d == DIRECTION_FORWARD || d == DIRECTION_ONCE;
	double budget = visits > 0 ? visits : VISITS;
	struct block b = { .io = io };
	int result = 0;

	linear_abi(c, is_forward ? DIRECTION_FORWARD : d, &b.s);
	set_matrices(&b, c->k);
	if (is_forward || is_total)
		result = forward(&b, seed, budget, out, err);
	if (result == 0 && !is_forward)
		result = block_gradient(&b, d != DIRECTION_WGRAD, d != DIRECTION_DGRAD, seed, budget, out, err);
	return result;
}
