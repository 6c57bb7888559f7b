/* reference_check.c - layer normalisation in fp64 on the host, with the errors of one rounding to bf16 and of sums in fp32. */
#include "families/layernorm/internal.h"

#include <math.h>

#define VISITS 2.7e8
enum { BAND = 64, BLOCK = 1 << 20 };
enum { X = FW_LAYERNORM_X, GAMMA, BETA, Y, MEAN, RSTD, DY, DX, DGAMMA, DBETA };

struct inputs {
	size_t n;
	double epsilon;
	float *x, *gamma, *beta; /* one row each */
};

static void put(double *exact, double *allowed, size_t i, double v, double noise)
{
	exact[i] = v;
	allowed[i] = LAYERNORM_BF16_ROUNDED * fabs(v) + LAYERNORM_FP32_SUM * noise;
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
	*am = LAYERNORM_FP32_SUM * (fabs(mean) + sqrt(variance));
	*r = 1 / sqrt(variance + in->epsilon);
	*ar = LAYERNORM_FP32_SUM * *r;
	for (size_t j = 0; j < in->n; j++) {
		double gamma = (double)in->gamma[j], scaled = ((double)in->x[j] - mean) * *r * gamma, shift = (double)in->beta[j];

		put(y, ay, j, scaled + shift, fabs(scaled) + fabs(shift) + fabs(gamma));
	}
	return 0;
}

static int put_backward_row(const struct inputs *in, int64_t row, const float *x, const float *dy, double mean, double rstd,
	struct values *out, struct fw_err *err)
{
	double g = 0, gx = 0, *dx, *allowed;

	if (values_add(out, DX, row * (int64_t)in->n, in->n, &dx, &allowed, err) != 0)
		return -1;
	for (size_t j = 0; j < in->n; j++) {
		double v = ((double)x[j] - mean) * rstd, own = (double)dy[j] * (double)in->gamma[j];

		g += own / (double)in->n;
		gx += own * v / (double)in->n;
	}
	for (size_t j = 0; j < in->n; j++) {
		double v = ((double)x[j] - mean) * rstd, own = (double)dy[j] * (double)in->gamma[j];

		put(dx, allowed, j, rstd * (own - g - v * gx), rstd * (fabs(own) + 1 + fabs(v)));
	}
	return 0;
}

/* Add `n` rows of X and DY to the gradients. Shape: x, dy [n][columns]; sums as in sum_columns. */
static void sum_rows(
	int64_t n, int64_t columns, const float *x, const float *dy, const float *mean, const float *rstd, double *sums)
{
#pragma omp parallel for
	for (int64_t first = 0; first < columns; first += BAND)
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = first; j < columns && j < first + BAND; j++) {
				double d = (double)dy[i * columns + j];
				double v = ((double)x[i * columns + j] - (double)mean[i]) * (double)rstd[i];

				sums[j] += d * v;
				sums[columns + j] += d;
				sums[2 * columns + j] += fabs(d) * (1 + fabs(v));
			}
}

/* Sum up all rows, and add those that are sampled. Shape: sums[3][columns]: dgamma, dbeta, and the sums of magnitudes. */
static int take_rows(const struct check_io *io, const struct inputs *in, uint64_t seed, int drawn, double *sums,
	struct values *out, struct fw_err *err)
{
	const struct fw_layernorm *a = (const void *)io->cell->shape.bytes;
	int64_t columns = a->columns, many = BLOCK / columns + 1;
	float *x = calloc((size_t)(2 * many * (columns + 1)), sizeof *x);
	float *dy = x + many * columns, *mean = dy + many * columns, *rstd = mean + many;
	int result = 0;

	if (!x)
		return err_set(err, ERR_FULL, "reference: out of memory");
	for (int64_t row = 0; result == 0 && row < a->rows; row += many) {
		int64_t n = a->rows - row < many ? a->rows - row : many;

		if (check_read(io, X, row * columns, (size_t)(n * columns), x, err) != 0 ||
			check_read(io, DY, row * columns, (size_t)(n * columns), dy, err) != 0 ||
			check_read(io, MEAN, row, (size_t)n, mean, err) != 0 ||
			check_read(io, RSTD, row, (size_t)n, rstd, err) != 0) {
			result = -1;
			break;
		}
		sum_rows(n, columns, x, dy, mean, rstd, sums);
		for (int64_t i = 0; result == 0 && i < n; i++)
			if (values_is_drawn(seed, row + i, drawn, a->rows))
				result = put_backward_row(in, row + i, x + i * columns, dy + i * columns, (double)mean[i],
					(double)rstd[i], out, err);
	}
	free(x);
	return result;
}

static int backward(
	const struct check_io *io, const struct inputs *in, uint64_t seed, int drawn, struct values *out, struct fw_err *err)
{
	size_t n = in->n;
	double *sums = calloc(3 * n, sizeof *sums), *dgamma, *dbeta, *ag, *ab;
	int result = sums ? take_rows(io, in, seed, drawn, sums, out, err) : err_set(err, ERR_FULL, "reference: out of memory");

	if (result == 0 &&
		(values_add(out, DGAMMA, 0, n, &dgamma, &ag, err) != 0 || values_add(out, DBETA, 0, n, &dbeta, &ab, err) != 0))
		result = -1;
	for (size_t j = 0; result == 0 && j < n; j++) {
		put(dgamma, ag, j, sums[j], sums[2 * n + j]);
		put(dbeta, ab, j, sums[n + j], sums[2 * n + j]);
	}
	free(sums);
	return result;
}

static int compute(const struct check_io *io, uint64_t seed, double visits, struct values *out, struct fw_err *err)
{
	const struct fw_layernorm *a = (const void *)io->cell->shape.bytes;
	bool forward = io->cell->direction == DIRECTION_FORWARD;
	size_t width = (size_t)a->columns;
	int n = (int)fmin(a->rows, fmax(64, (visits > 0 ? visits : VISITS) / a->columns)), result = -1;
	float *f = calloc(3 * width, sizeof *f);
	struct inputs in = { width, (double)a->epsilon, f, f + width, f + 2 * width };

	if (!f)
		err_set(err, ERR_FULL, "reference: out of memory");
	else if (check_read(io, GAMMA, 0, width, in.gamma, err) == 0)
		result = forward ? check_read(io, BETA, 0, width, in.beta, err) : backward(io, &in, seed, n, out, err);
	for (int i = 0; result == 0 && forward && i < n; i++)
		result = forward_row(io, &in, values_row(seed, i, n, a->rows), out, err);
	free(f);
	return result;
}

#ifdef FW_HAVE_CUDA
VALUES_CHECK(layernorm, compute, &layernorm_check_on_gpu);
#else
VALUES_CHECK(layernorm, compute, NULL);
#endif
