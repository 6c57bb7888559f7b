/* Rounding of whole tensors: two passes over memory, the first computes the scales, the second rounds. */
#include "linear/cpu/cpu.h"
#include "linear/rounding.h"

#include <math.h>

/* Number of rows and columns of the tensor in memory. */
static int32_t tensor_rows(const struct operand *o)
{
	return o->is_transposed ? o->depth : o->rows;
}

static int32_t tensor_columns(const struct operand *o)
{
	return o->is_transposed ? o->rows : o->depth;
}

static float at(const struct contract_matrix *m, int64_t row, int64_t column)
{
	return rounding_widen(((const uint16_t *)m->data)[row * m->stride + column]);
}

/* factor[row of this side][span] = the largest magnitude of that part of the row. */
static void largest(const struct operand *o, const struct contract_matrix *from, float *factor, int threads)
{
	const int32_t span = operand_span(o), spans = operand_spans(o);
#pragma omp parallel for num_threads(threads) schedule(static)
	for (int32_t row = 0; row < o->rows; row++)
		for (int32_t i = 0; i < spans; i++) {
			const int64_t first = (int64_t)i * span, end = first + span < o->depth ? first + span : o->depth;
			float amax = 0.0f;
			for (int64_t d = first; d < end; d++)
				amax = fmaxf(amax, fabsf(o->is_transposed ? at(from, d, row) : at(from, row, d)));
			factor[(int64_t)row * spans + i] = amax;
		}
}

/* Set the largest magnitude of each block of W in each of its rows. */
static void share_blocks(const struct operand *o, float *factor)
{
	const int64_t spans = operand_spans(o);
	for (int64_t first = 0; first < o->rows; first += o->as.group) {
		const int64_t end = first + o->as.group < o->rows ? first + o->as.group : o->rows;
		for (int64_t i = 0; i < spans; i++) {
			float amax = 0.0f;
			for (int64_t row = first; row < end; row++)
				amax = fmaxf(amax, factor[row * spans + i]);
			for (int64_t row = first; row < end; row++)
				factor[row * spans + i] = amax;
		}
	}
}

static void quantise_8bit(const struct operand *o, const struct contract_matrix *from, uint16_t *to, float *factor, int threads)
{
	const int32_t rows = tensor_rows(o), columns = tensor_columns(o), span = operand_span(o), spans = operand_spans(o);
	largest(o, from, factor, threads);
	if (o->as.scaling == FW_LINEAR_BY_BLOCK && o->slot == FW_LINEAR_W)
		share_blocks(o, factor);
	if (o->as.scaling == FW_LINEAR_BY_TENSOR) {
		float amax = 0.0f;
		for (int32_t i = 0; i < o->rows; i++)
			amax = fmaxf(amax, factor[i]);
		for (int32_t i = 0; i < o->rows; i++)
			factor[i] = amax;
	}
	for (int64_t i = 0; i < (int64_t)o->rows * spans; i++)
		factor[i] = rounding_scale(&o->as, factor[i]);
#pragma omp parallel for num_threads(threads) schedule(static)
	for (int32_t row = 0; row < rows; row++)
		for (int32_t column = 0; column < columns; column++) {
			const int64_t line = o->is_transposed ? column : row, d = o->is_transposed ? row : column;
			to[(int64_t)row * columns + column] =
				rounding_bf16(rounding_8bit(o->as.dtype, at(from, row, column), factor[line * spans + d / span]));
		}
}

/* Groups run along the rows of W in memory, in both directions. */
static void quantise_4bit(const struct operand *o, const struct contract_matrix *from, uint16_t *to, int threads)
{
	const int32_t rows = tensor_rows(o), columns = tensor_columns(o), group = o->as.group;
#pragma omp parallel for num_threads(threads) schedule(static)
	for (int32_t row = 0; row < rows; row++)
		for (int32_t first = 0; first < columns; first += group) {
			float min = at(from, row, first), max = min;
			for (int32_t i = 1; i < group; i++) {
				min = fminf(min, at(from, row, first + i));
				max = fmaxf(max, at(from, row, first + i));
			}
			const struct rounding_group g = rounding_group(min, max);
			for (int32_t i = 0; i < group; i++)
				to[(int64_t)row * columns + first + i] =
					rounding_bf16((rounding_4bit(&g, at(from, row, first + i)) - 8.0f) * g.scale + g.zero);
		}
}

void quantise(const struct operand *operand, const struct contract_matrix *from, uint16_t *to, float *factor, int threads)
{
	if (operand->as.dtype == FW_I4)
		quantise_4bit(operand, from, to, threads);
	else
		quantise_8bit(operand, from, to, factor, threads);
}

struct cpu_moments cpu_moments(const struct contract_matrix *x, int64_t row, int32_t k)
{
	double sum = 0, squares = 0;
	for (int32_t i = 0; i < k; i++)
		sum += (double)at(x, row, i);
	const double mean = sum / k;
	for (int32_t i = 0; i < k; i++)
		squares += ((double)at(x, row, i) - mean) * ((double)at(x, row, i) - mean);
	const struct cpu_moments moments = { mean, 1.0 / sqrt(squares / k + 1e-5) };
	return moments;
}

void normalise(const struct contract_matrix *x, int32_t m, int32_t k, uint16_t *to, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
	for (int32_t row = 0; row < m; row++) {
		const struct cpu_moments moments = cpu_moments(x, row, k);
		for (int32_t i = 0; i < k; i++)
			to[(int64_t)row * k + i] =
				rounding_bf16((float)(((double)at(x, row, i) - moments.mean) * moments.inverse));
	}
}
