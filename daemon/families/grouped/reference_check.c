/*
 * reference_check.c - grouped products in fp64. Every row of a small problem is checked; of a large one rows that lie at both ends
 * of drawn groups, where a wrong offset shows, and any others, each over as many columns as the budget of products permits.
 *
 * Forward and dgrad have a row of the result for each row of the input. Wgrad has n rows of DW for each group, also for one
 * without rows, whose result is 0.
 */
#include <math.h>

#include "families/grouped/grouped.h"
#include "runner/runner.h"

/*
 * Allowed errors: twice the rounding of a result to bf16; of sums in fp32 a share of the sum of magnitudes. An addition that
 * truncates errs by at most 2^-23 of the partial sum, which has about the size of the root of the number of products so far. L
 * such errors of one sign add up to 2/3 2^-23 L^1.5 products; the share, 0.8e-5 L products, is larger for L up to 10,000, and a
 * tensor core adds at least 16 products at once.
 */
#define BF16_ROUNDED 0.00390625
#define FP32_SUM     1e-5
#define VISITS       2.7e8

enum { ROWS_FEW = 48, COLUMNS_MIN = 64, READ_ELEMENTS = 1 << 20 };

struct problem {
	const struct check_io *io;
	const struct grouped_case *a;
	const int32_t *offsets; /* [groups + 1] */
	enum direction d;
	int64_t columns;          /* of the result */
	int64_t first, n_columns; /* those that are checked */
};

/* Rows of the result that belong to one group, with the sums of their products. */
struct part {
	int group, n;
	const int64_t *row; /* row[n] of the result */
	int64_t length;     /* of the sums */
	double *left;       /* [n][length] */
	double *sum, *size; /* of products and of their magnitudes: [n][n_columns] */
	float *right;       /* [many][length], or [many][n_columns] */
	int64_t many;       /* rows of the other operand that are read at a time */
};

static int64_t length_of(const struct problem *p, int group)
{
	return p->d == DIRECTION_FORWARD ? p->a->k
	       : p->d == DIRECTION_DGRAD ? p->a->n
					 : (int64_t)p->offsets[group + 1] - p->offsets[group];
}

/* Return the group that row `row` of the result belongs to. */
static int group_of(const struct problem *p, int64_t row)
{
	int low = 0, high = p->a->groups - 1;

	if (p->d == DIRECTION_WGRAD)
		return (int)(row / p->a->n);
	while (low < high) {
		int middle = (low + high) / 2;

		if (row < p->offsets[middle + 1])
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Read the left operand of a row of the result. Shape: line[length]. */
static int read_left(const struct problem *p, const struct part *t, int64_t row, float *line, struct fw_err *err)
{
	int slot = p->d == DIRECTION_FORWARD ? FW_GROUPED_X : FW_GROUPED_DY;

	if (p->d != DIRECTION_WGRAD)
		return check_read(p->io, slot, row * t->length, (size_t)t->length, line, err);
	if (t->length == 0)
		return 0;
	return check_read_rows(
		p->io, slot, (int64_t)p->offsets[t->group] * p->a->n + row % p->a->n, p->a->n, t->length, 1, line, err);
}

static int take_left(const struct problem *p, const struct part *t, struct fw_err *err)
{
	float *line = calloc((size_t)t->length + 1, sizeof *line);
	int result = line ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	for (int i = 0; result == 0 && i < t->n; i++) {
		result = read_left(p, t, t->row[i], line, err);
		for (int64_t l = 0; result == 0 && l < t->length; l++)
			t->left[i * t->length + l] = (double)line[l];
	}
	free(line);
	return result;
}

/* Sums over rows of W[g], which are columns of Y. */
static int sum_rows(const struct problem *p, struct part *t, struct fw_err *err)
{
	int64_t matrix = (int64_t)t->group * p->a->n * p->a->k;

	for (int64_t at = 0; at < p->n_columns; at += t->many) {
		int64_t n = p->n_columns - at < t->many ? p->n_columns - at : t->many;

		if (check_read(p->io, FW_GROUPED_W, matrix + (p->first + at) * t->length, (size_t)(n * t->length), t->right,
			    err) != 0)
			return -1;
#pragma omp parallel for
		for (int64_t j = 0; j < n; j++)
			for (int i = 0; i < t->n; i++) {
				const float *right = t->right + j * t->length;
				const double *left = t->left + i * t->length;
				double sum = 0, size = 0;

				for (int64_t l = 0; l < t->length; l++) {
					sum += left[l] * (double)right[l];
					size += fabs(left[l] * (double)right[l]);
				}
				t->sum[i * p->n_columns + at + j] = sum;
				t->size[i * p->n_columns + at + j] = size;
			}
	}
	return 0;
}

/* Sums over columns: of W[g] in dgrad, of the group's rows of X in wgrad. */
static int sum_columns(const struct problem *p, struct part *t, struct fw_err *err)
{
	bool dgrad = p->d == DIRECTION_DGRAD;
	int slot = dgrad ? FW_GROUPED_W : FW_GROUPED_X;
	int64_t first = (dgrad ? (int64_t)t->group * p->a->n : p->offsets[t->group]) * p->columns + p->first;

	for (int64_t at = 0; at < t->length; at += t->many) {
		int64_t n = t->length - at < t->many ? t->length - at : t->many;

		if (check_read_rows(p->io, slot, first + at * p->columns, p->columns, n, p->n_columns, t->right, err) != 0)
			return -1;
#pragma omp parallel for
		for (int64_t band = 0; band < p->n_columns; band += COLUMNS_MIN)
			for (int i = 0; i < t->n; i++)
				for (int64_t l = 0; l < n; l++)
					for (int64_t j = band; j < p->n_columns && j < band + COLUMNS_MIN; j++) {
						double product =
							t->left[i * t->length + at + l] * (double)t->right[l * p->n_columns + j];

						t->sum[i * p->n_columns + j] += product;
						t->size[i * p->n_columns + j] += fabs(product);
					}
	}
	return 0;
}

static int put(const struct problem *p, const struct part *t, struct values *out, struct fw_err *err)
{
	int slot = p->d == DIRECTION_FORWARD ? FW_GROUPED_Y : p->d == DIRECTION_DGRAD ? FW_GROUPED_DX : FW_GROUPED_DW;

	for (int i = 0; i < t->n; i++) {
		double *exact, *allowed;

		if (values_add(out, slot, t->row[i] * p->columns + p->first, (size_t)p->n_columns, &exact, &allowed, err) != 0)
			return -1;
		for (int64_t j = 0; j < p->n_columns; j++) {
			exact[j] = t->sum[i * p->n_columns + j];
			allowed[j] = BF16_ROUNDED * fabs(exact[j]) + FP32_SUM * t->size[i * p->n_columns + j];
		}
	}
	return 0;
}

/* Compute `n` rows of the result, which belong to one group. */
static int take_part(const struct problem *p, const int64_t *row, int n, struct values *out, struct fw_err *err)
{
	struct part t = { .group = group_of(p, row[0]), .n = n, .row = row };
	bool by_rows = p->d == DIRECTION_FORWARD;
	int result = -1;

	t.length = length_of(p, t.group);
	int64_t width = by_rows ? t.length : p->n_columns;

	t.many = READ_ELEMENTS / width + 1;
	t.left = calloc((size_t)(n * t.length) + 1, sizeof *t.left);
	t.sum = calloc((size_t)(2 * n * p->n_columns), sizeof *t.sum);
	t.right = calloc((size_t)(t.many * width), sizeof *t.right);
	if (!t.left || !t.sum || !t.right) {
		err_set(err, ERR_FULL, "reference: out of memory");
	} else {
		t.size = t.sum + n * p->n_columns;
		if (take_left(p, &t, err) == 0 && (by_rows ? sum_rows(p, &t, err) : sum_columns(p, &t, err)) == 0)
			result = put(p, &t, out, err);
	}
	free(t.left);
	free(t.sum);
	free(t.right);
	return result;
}

static int compare_rows(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Draw a row of the result: in rotation the first and the last one of a drawn group, and any. */
static int64_t draw_row(const struct problem *p, uint64_t seed, int i, int64_t rows)
{
	uint64_t drawn = inputs_mix(seed + (uint64_t)i * INPUTS_INCREMENT);
	int64_t any = (int64_t)((drawn >> 16) % (uint64_t)rows);
	int groups = p->a->groups, group = (int)(drawn % (uint64_t)groups);
	int64_t first, last;

	while (p->d != DIRECTION_WGRAD && p->offsets[group] == p->offsets[group + 1]) /* some group has rows */
		group = (group + 1) % groups;
	first = p->d == DIRECTION_WGRAD ? (int64_t)group * p->a->n : p->offsets[group];
	last = (p->d == DIRECTION_WGRAD ? first + p->a->n : p->offsets[group + 1]) - 1;
	return i % 3 == 0 ? first : i % 3 == 1 ? last : any;
}

static int compute(const struct check_io *io, uint64_t seed, double visits, struct values *out, struct fw_err *err)
{
	const struct grouped_case *a = (const void *)io->cell->shape.bytes;
	struct problem p = { .io = io, .a = a, .offsets = io->laid[FW_GROUPED_OFFSETS], .d = io->cell->direction };
	bool wgrad = p.d == DIRECTION_WGRAD;
	double budget = visits > 0 ? visits : VISITS, longest = 0;
	int64_t rows = wgrad ? (int64_t)a->groups * a->n : a->rows;
	double results = (double)rows * (p.d == DIRECTION_FORWARD ? a->n : a->k);
	bool is_whole = fmax((double)a->rows * a->n * a->k, 4 * results) <= budget / 16;
	int n = is_whole ? (int)rows : rows < ROWS_FEW ? (int)rows : ROWS_FEW, result = 0;
	int64_t *row = calloc((size_t)n, sizeof *row);

	if (!row)
		return err_set(err, ERR_FULL, "reference: out of memory");
	p.columns = p.d == DIRECTION_FORWARD ? a->n : a->k;
	for (int g = 0; g < a->groups; g++)
		longest = fmax(longest, (double)length_of(&p, g));
	p.n_columns = is_whole ? p.columns : (int64_t)fmin((double)p.columns, fmax(COLUMNS_MIN, budget / (longest * n)));
	p.first = (int64_t)(inputs_mix(seed) % (uint64_t)(p.columns - p.n_columns + 1));
	for (int i = 0; i < n; i++)
		row[i] = n == rows ? i : draw_row(&p, seed, i, rows);
	qsort(row, (size_t)n, sizeof *row, compare_rows);
	for (int from = 0, to; result == 0 && from < n; from = to) {
		int unique = from; /* rows may be drawn twice */

		for (to = from + 1; to < n && group_of(&p, row[to]) == group_of(&p, row[from]); to++)
			if (row[to] != row[unique])
				row[++unique] = row[to];
		result = take_part(&p, row + from, unique + 1 - from, out, err);
	}
	free(row);
	return result;
}

VALUES_CHECK(grouped, compute, NULL);
