/*
 * reference_check.c - a linear layer in fp64, computed from the quantised operands. A few rows of the output are checked (all
 * rows of a small problem), each over as many columns as the budget of products permits.
 *
 * Output O[i, j] is the sum over l of A(i, l) B(j, l). Forward: A rows of X, B rows of W. Dgrad: A rows of dY, B columns of W.
 * Wgrad: A columns of dY, B columns of X. Direction total is these three. B is read row by row in memory order: if j runs along a
 * row, all sums are computed together. In gradients through an activation G takes the place of dY, behind a normalisation U that
 * of X, as kernels/fw_linear.h defines them; then dX follows from whole rows of sums.
 */
#include "families/linear/internal.h"

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

/* Return the derivative of activation_of at `v`. */
static double slope_of(int activation, double v)
{
	double sigmoid = 1 / (1 + exp(-v));

	switch (activation) {
	case FW_LINEAR_RELU:
		return v > 0;
	case FW_LINEAR_SIGMOID:
		return sigmoid * (1 / (1 + exp(v)));
	case FW_LINEAR_LEAKYRELU:
		return v > 0 ? 1 : 0.01;
	case FW_LINEAR_RELU6:
		return v > 0 && v < 6;
	case FW_LINEAR_GELU:
		return 0.5 * erfc(-v / sqrt(2)) + v * exp(-v * v / 2) / sqrt(2 * M_PI);
	case FW_LINEAR_SILU:
		return sigmoid * (1 + v * (1 / (1 + exp(v))));
	case FW_LINEAR_HARDSWISH:
		return v <= -3 ? 0 : v >= 3 ? 1 : (2 * v + 3) / 6;
	default:
		return 1;
	}
}

/* Multiply gradients of results by the derivative at `sums`, rounded to bf16. Shape: dy[n], sums[n]. */
static void differentiate(int activation, float *dy, const float *sums, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		dy[i] = inputs_bf16_to_float(
			inputs_float_to_bf16((float)((double)dy[i] * slope_of(activation, (double)sums[i]))));
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
 * of the result for 8,192 products. With scales by block only the sums of a block stay, each of about the size of its root of
 * squares, and their errors are independent. Without fast accumulation the sums of 128 stay, by the contract of fw_linear.h: on
 * the inputs of a suite a third of PART_SUM is enough for them, and sums of 1,024 or more that stay exceed it.
 */
#define FAST_SUM (1.2 / 8192)
#define PART_SUM (0.3 / 8192)
/* Errors of products that are rounded before they are added (q s to bf16), or with a factor rounded to a neighbouring value. */
#define ROUNDED_FACTOR 0.0078125
#define NEIGHBOURS     0.02
#define MARGIN         1.2
#define VISITS         2.7e8

enum { ROWS_FEW = 4, COLUMNS_MIN = 64, READ_ELEMENTS = 1 << 20, BLOCK = FW_LINEAR_SCALE_BLOCK };

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
	float *b_scales;             /* of B's scaling by block: [blocks_of(length)][n_columns]; else NULL */
	bool derives, unnormalises;  /* A is G instead of dY; the output is dX behind a normalisation */
	struct moments *moments;     /* B is U instead of X: those of X's rows [length]; else NULL */
	double *left;                /* A's quantised rows: [n_rows][length] */
	double *sum, *size, *square; /* of products, their magnitudes and squares: [n_rows][n_columns] */
};

static int64_t row_at(const struct problem *p, int i)
{
	return p->n_rows == p->rows ? i : p->row[i];
}

/* Return the number of blocks of a length; the last one may be shorter. */
static int64_t blocks_of(int64_t length)
{
	return (length + BLOCK - 1) / BLOCK;
}

static float largest_of(const float *x, int64_t n, float amax)
{
	for (int64_t i = 0; i < n; i++)
		amax = fmaxf(amax, fabsf(x[i]));
	return amax;
}

/* Find the largest magnitude of X after the prologue, or of G. */
static int find_changed_largest(const struct problem *p, int slot, float *largest, struct fw_err *err)
{
	bool is_x = slot == FW_LINEAR_X;
	int64_t width = is_x ? p->s.k : p->s.n, many = READ_ELEMENTS / width + 1;
	float *rows = calloc((size_t)(many * width), sizeof *rows), most = 0;
	float *sums = calloc(is_x ? 1 : (size_t)(many * width), sizeof *sums);
	int result = rows && sums ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	for (int64_t at = 0; result == 0 && at < p->s.m; at += many) {
		int64_t n = p->s.m - at < many ? p->s.m - at : many;

		result = check_read(p->io, slot, at * width, (size_t)(n * width), rows, err);
		if (result == 0 && !is_x)
			result = check_read(p->io, FW_LINEAR_S, at * width, (size_t)(n * width), sums, err);
#pragma omp parallel for reduction(max : most)
		for (int64_t i = 0; i < n; i++) {
			float *row = rows + i * width;

			if (!is_x)
				differentiate(p->s.activation, row, sums + i * width, width);
			most = fmaxf(most, is_x ? normalised_largest(row, width) : largest_of(row, width, 0));
		}
	}
	free(rows);
	free(sums);
	*largest = most;
	return result;
}

/* Compute the scale of a whole tensor, if it is scaled by tensor; of X after the prologue, of G instead of dY. */
static int tensor_scale(const struct problem *p, int slot, const struct fw_linear_operand *as, float *s, struct fw_err *err)
{
	bool is_changed = (p->s.prologue && slot == FW_LINEAR_X) || (p->derives && slot == FW_LINEAR_DY);
	float amax = 0;

	if (as->scaling == FW_LINEAR_BY_TENSOR &&
		(is_changed ? find_changed_largest(p, slot, &amax, err) : check_find_largest(p->io, slot, &amax, err)) != 0)
		return -1;
	*s = quantise_scale(as, amax);
	return 0;
}

/* Quantise a line of a sum with a scale for each block of it: of `scales`, `step` apart; NULL: those of the line itself. */
static void take_blocks(
	const struct fw_linear_operand *as, const float *x, int64_t n, const float *scales, int64_t step, double *out)
{
	for (int64_t first = 0, b = 0; first < n; first += BLOCK, b++) {
		int64_t end = first + BLOCK < n ? first + BLOCK : n;
		float s = scales ? scales[b * step] : quantise_scale(as, largest_of(x + first, end - first, 0));

		for (int64_t i = first; i < end; i++)
			out[i] = quantise_value(as, x[i], s);
	}
}

/* Quantise a line of a sum. */
static void take_line(const struct fw_linear_operand *as, const float *x, int64_t n, float tensor, double *out)
{
	if (as->scaling == FW_LINEAR_BY_BLOCK) {
		take_blocks(as, x, n, NULL, 0, out);
		return;
	}
	float s = as->scaling == FW_LINEAR_BY_TENSOR ? tensor : quantise_scale(as, largest_of(x, n, 0));

	if (as->scaling == FW_LINEAR_BY_GROUP)
		for (int64_t i = 0; i + as->group <= n; i += as->group)
			quantise_group(x + i, as->group, out + i);
	else
		for (int64_t i = 0; i < n; i++)
			out[i] = quantise_value(as, x[i], s);
}

/* Read row `row` of A from a tensor of A's shape. Shape: line[length]. */
static int read_line(const struct problem *p, int slot, int64_t row, float *line, struct fw_err *err)
{
	return p->d == DIRECTION_WGRAD ? check_read_rows(p->io, slot, row, p->rows, p->length, 1, line, err)
				       : check_read(p->io, slot, row * p->length, (size_t)p->length, line, err);
}

static int take_left(struct problem *p, struct fw_err *err)
{
	float *line = calloc((size_t)p->length, sizeof *line), *sums = calloc((size_t)p->length, sizeof *sums);
	int result = line && sums ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	for (int i = 0; result == 0 && i < p->n_rows; i++) {
		int64_t row = row_at(p, i);

		result = read_line(p, p->a_slot, row, line, err);
		if (result == 0 && p->derives && (result = read_line(p, FW_LINEAR_S, row, sums, err)) == 0)
			differentiate(p->s.activation, line, sums, p->length);
		if (result == 0 && p->s.prologue && p->d == DIRECTION_FORWARD)
			normalise(line, p->length);
		if (result == 0)
			take_line(&p->a, line, p->length, p->a_scale, p->left + i * p->length);
	}
	free(line);
	free(sums);
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

			if (p->b_scales)
				take_blocks(&p->b, rows + j * p->length, p->length, p->b_scales + at + j, p->n_columns, line);
			else
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
			float s = p->b_scales                        ? p->b_scales[(at + l) / BLOCK * p->n_columns + j]
				  : p->b.scaling == FW_LINEAR_BY_ROW ? quantise_scale(&p->b, amax[j])
								     : p->b_scale;
			double b = quantise_value(&p->b, x, s);

			for (int i = 0; i < p->n_rows; i++)
				add(p, i, j, p->left[i * p->length + at + l] * b);
		}
}

/* Compute the moments of all rows of X, of which B's columns read a part each. */
static int find_moments(struct problem *p, struct fw_err *err)
{
	int64_t width = p->s.k, many = READ_ELEMENTS / width + 1;
	float *rows = calloc((size_t)(many * width), sizeof *rows);
	int result = -1;

	p->moments = calloc((size_t)p->s.m, sizeof *p->moments);
	if (!rows || !p->moments)
		err_set(err, ERR_FULL, "reference: out of memory");
	else
		result = 0;
	for (int64_t at = 0; result == 0 && at < p->s.m; at += many) {
		int64_t n = p->s.m - at < many ? p->s.m - at : many;

		result = check_read(p->io, FW_LINEAR_X, at * width, (size_t)(n * width), rows, err);
#pragma omp parallel for
		for (int64_t i = 0; i < n; i++)
			p->moments[at + i] = moments_of(rows + i * width, width);
	}
	free(rows);
	return result;
}

/* Normalise the checked columns of rows [at, at + n) of X. Shape: rows[n][n_columns]. */
static void normalise_window(const struct problem *p, int64_t at, int64_t n, float *rows)
{
#pragma omp parallel for
	for (int64_t l = 0; l < n; l++)
		for (int64_t j = 0; j < p->n_columns; j++)
			rows[l * p->n_columns + j] = normalised(&p->moments[at + l], rows[l * p->n_columns + j]);
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
			if (p->moments)
				normalise_window(p, at, n, rows);
#pragma omp parallel for
			for (int64_t j = 0; j < p->n_columns; j += COLUMNS_MIN)
				add_columns(p, pass, j, j + COLUMNS_MIN < p->n_columns ? j + COLUMNS_MIN : p->n_columns, at, n,
					rows, amax);
		}
	return 0;
}

/* The columns of the output that share a scale with a checked one, as a range of `first` to `end`. */
struct window {
	int64_t first, end;
};

/* Blocks of W span columns of the output, those of X are columns of their own. */
static struct window window_of(const struct problem *p)
{
	int64_t end = p->first + p->n_columns;

	if (p->b_slot != FW_LINEAR_W)
		return (struct window){ p->first, end };
	return (struct window){ p->first / BLOCK * BLOCK,
		blocks_of(end) * BLOCK < p->columns ? blocks_of(end) * BLOCK : p->columns };
}

/*
 * Find the largest magnitude of each column of the window in each block of the depth. Shape: amax[blocks_of(length)][width of the
 * window].
 */
static int find_largest_blocks(const struct problem *p, struct window w, float *amax, struct fw_err *err)
{
	bool is_forward = p->d == DIRECTION_FORWARD;
	int64_t width = w.end - w.first, line = is_forward ? p->length : width, lines = is_forward ? width : p->length,
		many = READ_ELEMENTS / line + 1;
	float *rows = calloc((size_t)(many * line), sizeof *rows);
	int result = rows ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	for (int64_t at = 0; result == 0 && at < lines; at += many) {
		int64_t n = lines - at < many ? lines - at : many;

		result = is_forward
				 ? check_read(p->io, p->b_slot, (w.first + at) * line, (size_t)(n * line), rows, err)
				 : check_read_rows(p->io, p->b_slot, at * p->columns + w.first, p->columns, n, line, rows, err);
		if (result == 0 && p->moments)
			normalise_window(p, at, n, rows);
		for (int64_t i = 0; result == 0 && i < n; i++)
			for (int64_t j = 0; j < line; j++) {
				int64_t column = is_forward ? at + i : j, depth = is_forward ? j : at + i;
				float *most = &amax[depth / BLOCK * width + column];

				*most = fmaxf(*most, fabsf(rows[i * line + j]));
			}
	}
	free(rows);
	return result;
}

/* Compute the scales of B's blocks, if it has some. */
static int find_scales(struct problem *p, struct fw_err *err)
{
	struct window w = window_of(p);
	int64_t width = w.end - w.first, blocks = blocks_of(p->length), across = p->b_slot == FW_LINEAR_W ? BLOCK : 1;

	if (p->b.scaling != FW_LINEAR_BY_BLOCK)
		return 0;
	float *amax = calloc((size_t)(blocks * width), sizeof *amax);

	p->b_scales = calloc((size_t)(blocks * p->n_columns), sizeof *p->b_scales);
	int result =
		amax && p->b_scales ? find_largest_blocks(p, w, amax, err) : err_set(err, ERR_FULL, "reference: out of memory");

	for (int64_t b = 0; result == 0 && b < blocks; b++)
		for (int64_t j = 0; j < p->n_columns; j++) {
			int64_t first = (p->first + j - w.first) / across * across;
			int64_t count = width - first < across ? width - first : across;

			p->b_scales[b * p->n_columns + j] = quantise_scale(&p->b, largest_of(amax + b * width + first, count, 0));
		}
	free(amax);
	return result;
}

/* Return the error that the sum at `at` of a correct kernel may have. */
static double noise_of(const struct problem *p, int64_t at)
{
	const struct linear_case *c = (const void *)p->io->cell->shape.bytes;
	bool a_short = p->a.dtype != 0, b_short = p->b.dtype != 0, a_changed = p->derives, b_changed = p->moments != NULL;

	if (p->d == DIRECTION_FORWARD)
		a_changed = p->s.prologue != FW_LINEAR_NO_PROLOGUE;
	double factor = (a_short != b_short || a_changed || b_changed ? ROUNDED_FACTOR : 0) +
			((a_short && a_changed) || (b_short && b_changed) ? NEIGHBOURS : 0);
	double root = sqrt(p->square[at]), noise = FP32_SUM * p->size[at] + factor * root;

	if (a_short && b_short && c->recipe == LINEAR_FLOAT8DQ_BLOCK)
		noise += FAST_SUM * sqrt(fmin(BLOCK, (double)p->length)) * (fabs(p->sum[at]) + 2 * root);
	else if (a_short && b_short && c->is_exact)
		noise += PART_SUM * sqrt(fmin(BLOCK, (double)p->length)) * (fabs(p->sum[at]) + root);
	else if (a_short && b_short)
		noise += FAST_SUM * sqrt((double)p->length) * (fabs(p->sum[at]) + root);
	return MARGIN * noise;
}

/* Return the largest error of a mean of k values from their errors: six standard deviations, or all errors of one sign. */
static double mean_error(double errors, double squares, int64_t k)
{
	return fmin(errors / (double)k, 6 * sqrt(squares) / (double)k);
}

/*
 * Compute a row of dX = (D - mean(D) - V mean(D V)) / deviation, where D are the sums and V the normalised X, both perhaps
 * rounded to bf16. `means`: of D and D V. Shape: x[k].
 */
static void unnormalise(const struct problem *p, const float *x, int64_t at, double *exact, double *allowed, double means[2])
{
	int64_t k = p->s.k;
	struct moments m = moments_of(x, k);
	double mean = 0, along = 0, errors[2] = { 0, 0 }, squares[2] = { 0, 0 };

	for (int64_t j = 0; j < k; j++) {
		double d = p->sum[at + j], v = ((double)x[j] - m.mean) / m.deviation;
		double error = noise_of(p, at + j) + BF16_ROUNDED * fabs(d);
		double beside = fabs(v) * (error + BF16_ROUNDED * fabs(d));

		allowed[j] = error;
		mean += d / (double)k;
		along += d * v / (double)k;
		errors[0] += error;
		squares[0] += error * error;
		errors[1] += beside;
		squares[1] += beside * beside;
	}
	double of_mean = mean_error(errors[0], squares[0], k), of_along = mean_error(errors[1], squares[1], k);

	means[0] = mean;
	means[1] = along;

	for (int64_t j = 0; j < k; j++) {
		double v = ((double)x[j] - m.mean) / m.deviation;

		exact[j] = (p->sum[at + j] - mean - v * along) / m.deviation;
		allowed[j] = BF16_ROUNDED * fabs(exact[j]) +
			     (allowed[j] + of_mean + fabs(v) * (of_along + BF16_ROUNDED * fabs(along))) / m.deviation;
	}
}

/*
 * Add a row of dX. In a long row a mean may be less than the allowed error of an element, so the row is added once for each mean,
 * with the result of a kernel without it. Shape: x[k], scratch for a row.
 */
static int put_row(const struct problem *p, int i, float *x, struct values *out, struct fw_err *err)
{
	static const char *const without[2] = { "a gradient without mean(D)", "a gradient without mean(D V)" };
	int64_t k = p->s.k, first = row_at(p, i) * k;

	if (check_read(p->io, FW_LINEAR_X, first, (size_t)k, x, err) != 0)
		return -1;
	struct moments m = moments_of(x, k);

	for (int which = 0; which < 2; which++) {
		double *exact, *allowed, *other, means[2];

		if (values_add(out, p->out_slot, first, (size_t)k, &exact, &allowed, err) != 0 ||
			values_other(out, without[which], &other, err) != 0)
			return -1;
		unnormalise(p, x, i * p->n_columns, exact, allowed, means);
		for (int64_t j = 0; j < k; j++) {
			double v = ((double)x[j] - m.mean) / m.deviation;

			other[j] = exact[j] + means[which] * (which == 0 ? 1 : v) / m.deviation;
		}
	}
	return 0;
}

static int put(const struct problem *p, struct values *out, struct fw_err *err)
{
	float *x = calloc(p->unnormalises ? (size_t)p->s.k : 1, sizeof *x);
	int result = x ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	for (int i = 0; result == 0 && i < p->n_rows; i++) {
		int activation = p->d == DIRECTION_FORWARD ? p->s.activation : FW_LINEAR_NO_ACTIVATION;
		double *exact, *allowed;

		if (p->unnormalises) {
			result = put_row(p, i, x, out, err);
			continue;
		}
		result = values_add(
			out, p->out_slot, row_at(p, i) * p->columns + p->first, (size_t)p->n_columns, &exact, &allowed, err);
		for (int64_t j = 0; result == 0 && j < p->n_columns; j++) {
			int64_t at = i * p->n_columns + j;

			exact[j] = activation_of(activation, p->sum[at]);
			allowed[j] = BF16_ROUNDED * fabs(exact[j]) + activation_reach(activation, p->sum[at], noise_of(p, at));
		}
	}
	free(x);
	return result;
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
	p->derives = (dgrad || wgrad) && p->s.activation;
	p->unnormalises = dgrad && p->s.prologue; /* fewer rows, but whole ones */
	if (p->unnormalises && p->n_rows < p->rows)
		p->n_rows = (int)fmax(1, fmin(ROWS_FEW, budget / ((double)p->length * (double)p->columns)));
	p->n_columns = p->unnormalises
			       ? p->columns
			       : (int64_t)fmin((double)p->columns, fmax(COLUMNS_MIN, budget / ((double)p->length * p->n_rows)));
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

	bool is_on_device = b && !p->moments && !p->b_scales; /* the device computes neither normalised X nor blocks */

	if (is_on_device && linear_cuda_sum(b, &s, &on_device) == 0)
		return 0;
	if (is_on_device && on_device.code != ERR_FULL) {
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
	else if ((d != DIRECTION_WGRAD || !p.s.prologue || find_moments(&p, err) == 0) &&
		 tensor_scale(&p, p.a_slot, &p.a, &p.a_scale, err) == 0 &&
		 tensor_scale(&p, p.b_slot, &p.b, &p.b_scale, err) == 0 && take_left(&p, err) == 0 && find_scales(&p, err) == 0 &&
		 sum_products(&p, err) == 0)
		result = put(&p, out, err);
	free(p.moments);
	free(p.b_scales);
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
