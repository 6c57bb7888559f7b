/* check.c - what layer normalisation gives, in fp64. Allowed is what rounding once to bf16 takes, and sums in fp32. */
#include <math.h>
#include <stdlib.h>

#include "kernels/fw_layernorm.h"
#include "runner/runner.h"

#define BF16_ROUNDED 0.00390625 /* 2^-8 */
#define FP32_SUM     2e-5
#define VISITS       2.7e8
enum { BLOCK = 1 << 20 };
enum { X = FW_LAYERNORM_X, GAMMA, BETA, Y, MEAN, RSTD, DY, DX, DGAMMA, DBETA };

struct inputs {
	size_t n;
	double epsilon;
	float *x, *dy, *gamma, *beta; /* one row each, of the block of rows that was read */
	double *dgamma, *dbeta, *sum; /* of columns: the gradients, and the magnitudes that they are sums of */
};

static void put(double *exact, double *allowed, size_t i, double v, double noise)
{
	exact[i] = v;
	allowed[i] = BF16_ROUNDED * fabs(v) + FP32_SUM * noise;
}

static int forward_row(const struct check_io *io, const struct inputs *in, int64_t row, struct values *out, struct fw_err *err)
{
	double mean = 0, variance = 0, *y, *ay, *m, *am, *r, *ar;

	if (values_add(out, Y, row * (int64_t)in->n, in->n, &y, &ay, err) != 0 ||
		values_add(out, MEAN, row, 1, &m, &am, err) != 0 || values_add(out, RSTD, row, 1, &r, &ar, err) != 0 ||
		check_read(io, X, row * (int64_t)in->n, in->n, in->x, err) != 0)
		return -1;
	for (size_t j = 0; j < in->n; j++)
		mean += (double)in->x[j] / (double)in->n;
	for (size_t j = 0; j < in->n; j++)
		variance += ((double)in->x[j] - mean) * ((double)in->x[j] - mean) / (double)in->n;
	*m = mean;
	*am = FP32_SUM * (fabs(mean) + sqrt(variance));
	*r = 1 / sqrt(variance + in->epsilon);
	*ar = FP32_SUM * *r;
	for (size_t j = 0; j < in->n; j++) {
		double gamma = (double)in->gamma[j], scaled = ((double)in->x[j] - mean) * *r * gamma, shift = (double)in->beta[j];

		put(y, ay, j, scaled + shift, fabs(scaled) + fabs(shift) + fabs(gamma));
	}
	return 0;
}

/* Every row adds to the gradients of columns; `out` NULL: it is not one of those that are looked at. */
static int backward_row(const struct check_io *io, struct inputs *in, int64_t row, struct values *out, struct fw_err *err)
{
	double g = 0, gx = 0, *dx, *allowed;
	float mean, rstd;

	if (check_read(io, MEAN, row, 1, &mean, err) != 0 || check_read(io, RSTD, row, 1, &rstd, err) != 0 ||
		(out && values_add(out, DX, row * (int64_t)in->n, in->n, &dx, &allowed, err) != 0))
		return -1;
	for (size_t j = 0; j < in->n; j++) {
		double x = ((double)in->x[j] - (double)mean) * (double)rstd, dy = (double)in->dy[j];

		in->dgamma[j] += dy * x;
		in->dbeta[j] += dy;
		in->sum[j] += fabs(dy) * (1 + fabs(x));
		g += dy * (double)in->gamma[j] / (double)in->n;
		gx += dy * (double)in->gamma[j] * x / (double)in->n;
	}
	for (size_t j = 0; out && j < in->n; j++) {
		double x = ((double)in->x[j] - (double)mean) * (double)rstd, own = (double)in->dy[j] * (double)in->gamma[j];

		put(dx, allowed, j, (double)rstd * (own - g - x * gx), (double)rstd * (fabs(own) + 1 + fabs(x)));
	}
	return 0;
}

static int compute(const struct check_io *io, uint64_t seed, double visits, struct values *out, struct fw_err *err)
{
	const struct fw_layernorm *a = (const void *)io->cell->shape.bytes;
	bool forward = io->cell->direction == DIRECTION_FORWARD;
	size_t width = (size_t)a->columns;
	int n = (int)fmin(a->rows, fmax(64, (visits > 0 ? visits : VISITS) / a->columns)), result = -1;
	int64_t rows = width < BLOCK ? BLOCK / (int64_t)width : 1; /* read together */
	size_t block = (size_t)rows * width;
	float *f = calloc(2 * block + 2 * width, sizeof *f);
	double *d = calloc(3 * width, sizeof *d), *dgamma, *dbeta, *ag, *ab;
	struct inputs in = { width, (double)a->epsilon, f, f + block, f + 2 * block, f + 2 * block + width, d, d + width,
		d + 2 * width };

	if (!f || !d)
		err_set(err, ERR_FULL, "reference: out of memory");
	else if (check_read(io, GAMMA, 0, width, in.gamma, err) == 0)
		result = forward ? check_read(io, BETA, 0, width, in.beta, err) : 0;
	for (int i = 0; result == 0 && forward && i < n; i++)
		result = forward_row(io, &in, values_row(seed, i, n, a->rows), out, err);
	for (int64_t row = 0; result == 0 && !forward && row < a->rows; row++, in.x += width, in.dy += width) {
		if (row % rows == 0) {
			size_t count = (size_t)(a->rows - row < rows ? a->rows - row : rows) * width;

			in.x = f;
			in.dy = f + block;
			result = check_read(io, X, row * (int64_t)width, count, in.x, err) |
				 check_read(io, DY, row * (int64_t)width, count, in.dy, err);
		}
		result = result ? -1 : backward_row(io, &in, row, values_is_drawn(seed, row, n, a->rows) ? out : NULL, err);
	}
	if (result == 0 && !forward && (result = values_add(out, DGAMMA, 0, width, &dgamma, &ag, err)) == 0 &&
		(result = values_add(out, DBETA, 0, width, &dbeta, &ab, err)) == 0)
		for (size_t j = 0; j < width; j++) {
			put(dgamma, ag, j, in.dgamma[j], in.sum[j]);
			put(dbeta, ab, j, in.dbeta[j], in.sum[j]);
		}
	free(f);
	free(d);
	return result;
}

VALUES_CHECK(layernorm, compute);
