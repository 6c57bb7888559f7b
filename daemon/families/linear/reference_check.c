/*
 * reference_check.c - a linear layer in fp64, computed from the quantised operands. A few rows of the output are checked (all
 * rows of a small problem), each over as many columns as the budget of products permits.
 *
 * Output O[i, j] is the sum over l of A(i, l) B(j, l). Forward: A rows of X, B rows of W. Dgrad: A rows of dY, B columns of W.
 * Wgrad: A columns of dY, B columns of X. Direction total is these three. B is read row by row in memory order: if j runs along a
 * row, all sums are computed together.
 */
#include "families/linear/internal.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/fw_linear.h"
#include "model/model.h"
#include "runner/runner.h"

/* ---- reference_activation: The activation in fp64, and its error from an error of its argument. ---- */

/* Error of 0.5 v (1 + erf) in fp32: a unit in the last place of 1, times v. */
#define FP32_ACTIVATED 1e-6

/* `activation`: of enum fw_linear_activation. */
static double activation_of(int activation, double v)
{
	switch (activation) {
	case FW_LINEAR_RELU:
		return fmax(v, 0);
	case FW_LINEAR_SIGMOID:
		return 1 / (1 + exp(-v));
	case FW_LINEAR_LEAKYRELU:
		return v < 0 ? 0.01 * v : v;
	case FW_LINEAR_RELU6:
		return fmin(fmax(v, 0), 6);
	case FW_LINEAR_GELU:
		return 0.5 * v * erfc(-v / sqrt(2));
	case FW_LINEAR_SILU:
		return v / (1 + exp(-v));
	case FW_LINEAR_HARDSWISH:
		return v * fmin(fmax(v + 3, 0), 6) / 6;
	default:
		return v;
	}
}

/* Return the position of the minimum of a non-monotonic activation; INFINITY for the monotonic ones. */
static double lowest_at(int activation)
{
	return activation == FW_LINEAR_GELU        ? -0.7517916
	       : activation == FW_LINEAR_SILU      ? -1.2784645
	       : activation == FW_LINEAR_HARDSWISH ? -1.5
						   : INFINITY;
}

/*
 * Return the largest difference between activation_of(v) and the activation of a value within `noise` of `v`, plus the error of
 * fp32 arithmetic.
 */
static double activation_reach(int activation, double v, double noise)
{
	double here = activation_of(activation, v), lowest = lowest_at(activation);
	double reach = fmax(fabs(activation_of(activation, v - noise) - here), fabs(activation_of(activation, v + noise) - here));

	if (fabs(lowest - v) < noise)
		reach = fmax(reach, here - activation_of(activation, lowest));
	return activation ? reach + FP32_ACTIVATED * (1 + fabs(v)) : noise;
}

/* ---- reference_normalise ---- */

struct moments {
	double mean, deviation; /* root of variance + 1e-5 */
};

static struct moments moments_of(const float *x, int64_t n)
{
	double mean = 0, squares = 0;

#pragma omp simd reduction(+ : mean)
	for (int64_t i = 0; i < n; i++)
		mean += (double)x[i];
	mean /= (double)n;
#pragma omp simd reduction(+ : squares)
	for (int64_t i = 0; i < n; i++)
		squares += ((double)x[i] - mean) * ((double)x[i] - mean);
	return (struct moments){ mean, sqrt(squares / (double)n + 1e-5) };
}

static float normalised(const struct moments *m, float x)
{
	return inputs_bf16_to_float(inputs_float_to_bf16((float)(((double)x - m->mean) / m->deviation)));
}

void normalise(float *x, int64_t n)
{
	struct moments m = moments_of(x, n);

	for (int64_t i = 0; i < n; i++)
		x[i] = normalised(&m, x[i]);
}

/* Return the largest magnitude of the normalised line without normalising it. Shape: x[n]. */
static float normalised_largest(const float *x, int64_t n)
{
	struct moments m = moments_of(x, n);
	float min = x[0], max = x[0];

	for (int64_t i = 1; i < n; i++) {
		min = x[i] < min ? x[i] : min;
		max = x[i] > max ? x[i] : max;
	}
	return fmaxf(fabsf(normalised(&m, min)), fabsf(normalised(&m, max)));
}

/* ---- reference_check ---- */

/* Allowed errors: twice the rounding of a result to bf16; of sums in fp32 a share of the sum of magnitudes. */
#define BF16_ROUNDED 0.00390625
#define FP32_SUM     1e-5
/*
 * Allowed error of sums that stay in the tensor core, which truncates 32 products and the partial sum to 13 bits below the
 * largest of them. Each truncation adds an error, so errors grow with the root of the number l of products and with the size of
 * the partial sums. Simulated for 20,000 sums of 64 to 16,384 products of normal, uniform and heavy-tailed values, they are at
 * most 0.80 of 2^-13 sqrt(l) (|sum| + root of squares). With the rounding to bf16, their norm is that measured on an H200: 2.6e-3
 * of the result for 8,192 products.
 */
#define FAST_SUM (1.2 / 8192)
/* Errors of products that are rounded before they are added (q s to bf16), or with a factor rounded to a neighbouring value. */
#define ROUNDED_FACTOR 0.0078125
#define NEIGHBOURS     0.02
#define MARGIN         1.2
#define VISITS         2.7e8

enum { ROWS_FEW = 4, COLUMNS_MIN = 64, READ_ELEMENTS = 1 << 20 };

struct problem {
	const struct check_io *io;
	struct fw_linear_shape s;
	enum direction d;
	int a_slot, b_slot, out_slot;
	struct fw_linear_operand a, b;
	int64_t rows, columns, length; /* of the output; length of the sums */
	int64_t first, n_columns;      /* columns that are checked */
	int n_rows;
	int64_t row[ROWS_FEW];       /* if not all are checked */
	float a_scale, b_scale;      /* of scaling by tensor */
	double *left;                /* A's quantised rows: [n_rows][length] */
	double *sum, *size, *square; /* of products, their magnitudes and squares: [n_rows][n_columns] */
};

static int64_t row_at(const struct problem *p, int i)
{
	return p->n_rows == p->rows ? i : p->row[i];
}

static float largest_of(const float *x, int64_t n, float amax)
{
	for (int64_t i = 0; i < n; i++)
		amax = fmaxf(amax, fabsf(x[i]));
	return amax;
}

/* Find the largest magnitude of X after the prologue. */
static int find_normalised_largest(const struct problem *p, float *largest, struct fw_err *err)
{
	int64_t width = p->s.k, many = READ_ELEMENTS / width + 1;
	float *rows = calloc((size_t)(many * width), sizeof *rows), most = 0;
	int result = rows ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	for (int64_t at = 0; result == 0 && at < p->s.m; at += many) {
		int64_t n = p->s.m - at < many ? p->s.m - at : many;

		result = check_read(p->io, FW_LINEAR_X, at * width, (size_t)(n * width), rows, err);
#pragma omp parallel for reduction(max : most)
		for (int64_t i = 0; i < n; i++)
			most = fmaxf(most, normalised_largest(rows + i * width, width));
	}
	free(rows);
	*largest = most;
	return result;
}

/* Compute the scale of a whole tensor, if it is scaled by tensor; of X after the prologue. */
static int tensor_scale(const struct problem *p, int slot, const struct fw_linear_operand *as, float *s, struct fw_err *err)
{
	float amax = 0;

	if (as->scaling == FW_LINEAR_BY_TENSOR &&
		(p->s.prologue && slot == FW_LINEAR_X ? find_normalised_largest(p, &amax, err)
						      : check_find_largest(p->io, slot, &amax, err)) != 0)
		return -1;
	*s = quantise_scale(as, amax);
	return 0;
}

/* Quantise a line of a sum. */
static void take_line(const struct fw_linear_operand *as, const float *x, int64_t n, float tensor, double *out)
{
	float s = as->scaling == FW_LINEAR_BY_TENSOR ? tensor : quantise_scale(as, largest_of(x, n, 0));

	if (as->scaling == FW_LINEAR_BY_GROUP)
		for (int64_t i = 0; i + as->group <= n; i += as->group)
			quantise_group(x + i, as->group, out + i);
	else
		for (int64_t i = 0; i < n; i++)
			out[i] = quantise_value(as, x[i], s);
}

static int take_left(struct problem *p, struct fw_err *err)
{
	float *line = calloc((size_t)p->length, sizeof *line);
	bool by_column = p->d == DIRECTION_WGRAD;
	int result = line ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	for (int i = 0; result == 0 && i < p->n_rows; i++) {
		int64_t row = row_at(p, i);

		result = by_column ? check_read_rows(p->io, p->a_slot, row, p->rows, p->length, 1, line, err)
				   : check_read(p->io, p->a_slot, row * p->length, (size_t)p->length, line, err);
		if (p->s.prologue && result == 0)
			normalise(line, p->length);
		take_line(&p->a, line, p->length, p->a_scale, p->left + i * p->length);
	}
	free(line);
	return result;
}

void quantise_group(const float *x, int n, double *out)
{
	float min = x[0], max = x[0];

	for (int i = 1; i < n; i++) {
		min = fminf(min, x[i]);
		max = fmaxf(max, x[i]);
	}
	struct quantise_group g = quantise_group_make(min, max);

	for (int i = 0; i < n; i++)
		out[i] = quantise_group_value(&g, x[i]);
}

static void add(struct problem *p, int i, int64_t j, double product)
{
	int64_t at = i * p->n_columns + j;

	p->sum[at] += product;
	p->size[at] += fabs(product);
	p->square[at] += product * product;
}

/* Compute sums over B's rows. Shape: rows[many][length], lines[many][length]. */
static int forward(struct problem *p, int64_t many, float *rows, double *lines, struct fw_err *err)
{
	for (int64_t at = 0; at < p->n_columns; at += many) {
		int64_t n = p->n_columns - at < many ? p->n_columns - at : many;

		if (check_read(p->io, p->b_slot, (p->first + at) * p->length, (size_t)(n * p->length), rows, err) != 0)
			return -1;
#pragma omp parallel for
		for (int64_t j = 0; j < n; j++) {
			double *line = lines + j * p->length;

			take_line(&p->b, rows + j * p->length, p->length, p->b_scale, line);
			for (int i = 0; i < p->n_rows; i++)
				for (int64_t l = 0; l < p->length; l++)
					add(p, i, at + j, p->left[i * p->length + l] * line[l]);
		}
	}
	return 0;
}

/* Process columns [first, end) of rows [at, at + n) of B: pass 0 finds the scales of columns, pass 1 adds the products. */
static void add_columns(
	struct problem *p, int pass, int64_t first, int64_t end, int64_t at, int64_t n, const float *rows, float *amax)
{
	for (int64_t l = 0; l < n; l++)
		for (int64_t j = first; j < end; j++) {
			float x = rows[l * p->n_columns + j];

			if (pass == 0) {
				amax[j] = fmaxf(amax[j], fabsf(x));
				continue;
			}
			float s = p->b.scaling == FW_LINEAR_BY_ROW ? quantise_scale(&p->b, amax[j]) : p->b_scale;
			double b = quantise_value(&p->b, x, s);

			for (int i = 0; i < p->n_rows; i++)
				add(p, i, j, p->left[i * p->length + at + l] * b);
		}
}

/*
 * Compute sums over B's columns, which correspond to the output's columns; a column's scale is known after all rows were read.
 * Shape: rows[many][n_columns].
 */
static int gradient(struct problem *p, int64_t many, float *rows, float *amax, struct fw_err *err)
{
	for (int pass = p->b.scaling == FW_LINEAR_BY_ROW ? 0 : 1; pass < 2; pass++)
		for (int64_t at = 0; at < p->length; at += many) {
			int64_t n = p->length - at < many ? p->length - at : many;

			if (check_read_rows(
				    p->io, p->b_slot, at * p->columns + p->first, p->columns, n, p->n_columns, rows, err) != 0)
				return -1;
#pragma omp parallel for
			for (int64_t j = 0; j < p->n_columns; j += COLUMNS_MIN)
				add_columns(p, pass, j, j + COLUMNS_MIN < p->n_columns ? j + COLUMNS_MIN : p->n_columns, at, n,
					rows, amax);
		}
	return 0;
}

static int put(const struct problem *p, struct values *out, struct fw_err *err)
{
	const struct linear_case *c = (const void *)p->io->cell->shape.bytes;
	bool a_short = p->a.dtype != 0, b_short = p->b.dtype != 0;
	bool is_fast = a_short && b_short && !c->is_exact;
	double factor = (a_short != b_short || p->s.prologue ? ROUNDED_FACTOR : 0) + (a_short && p->s.prologue ? NEIGHBOURS : 0);

	for (int i = 0; i < p->n_rows; i++) {
		double *exact, *allowed;

		if (values_add(out, p->out_slot, row_at(p, i) * p->columns + p->first, (size_t)p->n_columns, &exact, &allowed,
			    err) != 0)
			return -1;
		for (int64_t j = 0; j < p->n_columns; j++) {
			int64_t at = i * p->n_columns + j;
			double root = sqrt(p->square[at]), noise = FP32_SUM * p->size[at] + factor * root;

			if (is_fast)
				noise += FAST_SUM * sqrt((double)p->length) * (fabs(p->sum[at]) + root);

			exact[j] = activation_of(p->s.activation, p->sum[at]);
			allowed[j] =
				BF16_ROUNDED * fabs(exact[j]) + activation_reach(p->s.activation, p->sum[at], MARGIN * noise);
		}
	}
	return 0;
}

static void set_up(struct problem *p, const struct check_io *io, enum direction d, uint64_t seed, double budget)
{
	*p = (struct problem){ .io = io, .d = d };
	linear_abi(io->cell->shape.bytes, io->cell->direction, &p->s);
	bool dgrad = p->d == DIRECTION_DGRAD, wgrad = p->d == DIRECTION_WGRAD;

	p->a_slot = dgrad || wgrad ? FW_LINEAR_DY : FW_LINEAR_X;
	p->b_slot = wgrad ? FW_LINEAR_X : FW_LINEAR_W;
	p->out_slot = dgrad ? FW_LINEAR_DX : wgrad ? FW_LINEAR_DW : FW_LINEAR_Y;
	p->a = dgrad || wgrad ? p->s.dy : p->s.x;
	p->b = wgrad ? p->s.x : p->s.w;
	p->rows = wgrad ? p->s.n : p->s.m;
	p->columns = p->d == DIRECTION_FORWARD ? p->s.n : p->s.k;
	p->length = dgrad ? p->s.n : wgrad ? p->s.m : p->s.k;
	p->n_rows = (double)p->rows * (double)p->columns * (double)p->length <= budget / 16 || p->rows < ROWS_FEW ? (int)p->rows
														  : ROWS_FEW;
	p->n_columns = (int64_t)fmin((double)p->columns, fmax(COLUMNS_MIN, budget / ((double)p->length * p->n_rows)));
	p->first = (int64_t)(inputs_mix(seed) % (uint64_t)(p->columns - p->n_columns + 1));
	for (int i = 0; i < ROWS_FEW; i++) { /* the last row, and one of each quarter */
		int64_t drawn =
			p->rows * i / ROWS_FEW + (int64_t)(inputs_mix(seed + (uint64_t)i) % (uint64_t)(p->rows / ROWS_FEW + 1));

		p->row[i] = i == 0 || drawn >= p->rows ? p->rows - 1 : drawn;
	}
}

static int sum_on_host(struct problem *p, struct fw_err *err)
{
	bool is_forward = p->d == DIRECTION_FORWARD;
	int64_t width = is_forward ? p->length : p->n_columns, many = READ_ELEMENTS / width + 1;
	float *rows = calloc((size_t)(many * width), sizeof *rows), *amax = calloc((size_t)p->n_columns, sizeof *amax);
	double *lines = calloc(is_forward ? (size_t)(many * width) : 1, sizeof *lines);
	int result = rows && amax && lines ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	if (result == 0)
		result = is_forward ? forward(p, many, rows, lines, err) : gradient(p, many, rows, amax, err);
	free(rows);
	free(amax);
	free(lines);
	return result;
}

static int sum_products(struct problem *p, struct fw_err *err)
{
#ifdef FW_HAVE_CUDA
	const void *b = p->io->on_device[p->b_slot];
	struct fw_err on_device = { 0 };
	struct linear_sums s = { .b = p->b,
		.b_scale = p->b_scale,
		.is_forward = p->d == DIRECTION_FORWARD,
		.columns = p->columns,
		.first = p->first,
		.n_columns = p->n_columns,
		.length = p->length,
		.n_rows = p->n_rows,
		.left = p->left,
		.sum = p->sum,
		.size = p->size,
		.square = p->square };

	if (b && linear_cuda_sum(b, &s, &on_device) == 0)
		return 0;
	if (b && on_device.code != ERR_FULL) {
		*err = on_device;
		return -1;
	}
#endif
	return sum_on_host(p, err);
}

static int compute_one(
	const struct check_io *io, enum direction d, uint64_t seed, double budget, struct values *out, struct fw_err *err)
{
	struct problem p;
	int result = -1;

	set_up(&p, io, d, seed, budget);
	size_t sums = (size_t)p.n_rows * (size_t)p.n_columns;

	p.left = calloc((size_t)p.n_rows * (size_t)p.length, sizeof *p.left);
	p.sum = calloc(3 * sums, sizeof *p.sum);
	p.size = p.sum ? p.sum + sums : NULL;
	p.square = p.sum ? p.sum + 2 * sums : NULL;
	if (!p.left || !p.sum)
		err_set(err, ERR_FULL, "reference: out of memory");
	else if (tensor_scale(&p, p.a_slot, &p.a, &p.a_scale, err) == 0 &&
		 tensor_scale(&p, p.b_slot, &p.b, &p.b_scale, err) == 0 && take_left(&p, err) == 0 && sum_products(&p, err) == 0)
		result = put(&p, out, err);
	free(p.left);
	free(p.sum);
	return result;
}

static int compute(const struct check_io *io, uint64_t seed, double visits, struct values *out, struct fw_err *err)
{
	static const enum direction parts[] = { DIRECTION_FORWARD, DIRECTION_DGRAD, DIRECTION_WGRAD };
	double budget = visits > 0 ? visits : VISITS;
	int result = 0;

	if (linear_is_block((const void *)io->cell->shape.bytes))
		return block_compute(io, seed, visits, out, err);
	if (io->cell->direction == DIRECTION_ONCE)
		return compute_one(io, DIRECTION_FORWARD, seed, budget, out, err);
	if (io->cell->direction != DIRECTION_TOTAL)
		return compute_one(io, io->cell->direction, seed, budget, out, err);
	for (size_t i = 0; result == 0 && i < sizeof parts / sizeof parts[0]; i++)
		result = compute_one(io, parts[i], seed, budget / 3, out, err);
	return result;
}

VALUES_CHECK(linear, compute, NULL);
