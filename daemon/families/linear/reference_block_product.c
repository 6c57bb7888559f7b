/* reference_block_product.c - a matrix is read once, in pieces, and takes all lines that it has to multiply along. */
#include "families/linear/internal.h"

#include <math.h>
#include <stdlib.h>

#define FP32_SUM 1e-6
/* From one e4m3 value to the next is this share of it, 1/16 to 1/8, and never less than that of the largest. */
#define E4M3_STEP  0.09
#define E4M3_LEAST (1.0 / 512 / 448)

enum { PIECE = 1 << 18 };

/*
 * What a line is multiplied as. A value that is off by d goes to its neighbour with a probability of d over the step between them; and
 * the scale follows the largest value, which moves all of them together: by how much is returned, as the variance of a factor.
 */
static double quantise_line(const struct fw_linear_operand *as, const struct line_set *x, struct line_set *out)
{
	double amax = 0, variance = 0;

	for (int64_t j = 0; j < x->width; j++)
		if (fabs(x->value[j]) > amax) {
			amax = fabs(x->value[j]);
			variance = x->variance[j];
		}
	double drift = amax > 0 ? variance / (amax * amax) : 0;
	float s = quantise_scale(as, (float)amax);

	for (int64_t j = 0; j < x->width; j++) {
		double v = x->value[j], step = fmax(E4M3_STEP * fabs(v), E4M3_LEAST * amax),
		       off = sqrt(x->variance[j] + drift * v * v);

		out->value[j] = quantise_value(as, (float)v, s);
		out->variance[j] = fmin(off, step) * step;
	}
	return drift;
}

/* A row of a matrix as it is multiplied. */
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

/* Rows [first, first + out->width) of a matrix times lines that are as they are multiplied; rounded. */
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

int block_product(const struct block *b, const struct block_matrix *m, int64_t first, const struct line_set *in,
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
