/*
 * reference_block_gradient.c - gradients of a transformer block, for whole sequences; documented in internal.h. Names are those of
 * kernels/fw_linear.h. All values begin with a variance of 0: those of X, DY and S are inputs.
 */
#include "families/linear/internal.h"

/* As in reference_block.c. */
#define FP32_SUM 1e-6
#define SIGMAS   6.0
#define NEAR     4.0 /* standard deviations that a value may be off, more than a rounding */
/* Largest step between neighbouring e4m3 values, as a share of the value, and the least step as one of the largest value. */
#define E4M3_STEP  0.125
#define E4M3_LEAST (1.0 / 512 / 224)

enum { TOKENS = FW_LINEAR_BLOCK_TOKENS, HEADS = FW_LINEAR_BLOCK_HEADS, WIDENS = FW_LINEAR_BLOCK_WIDENS };
enum { STORES = FW_LINEAR_BLOCK_STORES, SEQUENCES_FEW = 4, ROWS_FEW = 4, PIECE = 1 << 18, PARTS = 5 };

/* Values of whole sequences, a line per token. LOST: what DH and DX of a kernel without the mean of rms' have more. */
enum line { X, DY, Q, KV, H, Z, DZ, DH, DA, DX, GELU, HN, ATTENDED, XN, WIDE, BRANCH, LOST_H, LOST_X, LINES };

struct chain {
	struct block b;
	int64_t first; /* token */
	int n;
	struct line_set l[LINES];
};

static bool is_short(const struct fw_linear_operand *as)
{
	return as->dtype != 0 && as->dtype != FW_BF16;
}

static double scale_of(const struct block_matrix *m)
{
	double scale = 1;

	for (int64_t power = 1; power < m->depth; power *= 4)
		scale /= 2;
	return scale;
}

static void rounded(double value, double *variance)
{
	*variance += LINE_SET_SPREAD * value * value;
}

/* ---- products ---- */

/*
 * Quantise a line. Only a value near the middle of two neighbours may be rounded to either; if a kernel rounds it to bf16 before,
 * half of those that are then in the middle become the other one.
 */
static void quantise_line(const struct fw_linear_operand *as, const struct line_set *x, struct line_set *out)
{
	double amax = 0;

	for (int64_t j = 0; j < x->width; j++)
		amax = fmax(amax, fabs(x->value[j]));
	float s = quantise_scale(as, (float)amax);

	for (int64_t j = 0; j < x->width; j++) {
		double v = x->value[j], off = sqrt(x->variance[j]), largest = fmax(amax * E4M3_LEAST, fabs(v) * E4M3_STEP);
		double low = quantise_value(as, (float)(v - NEAR * off), s),
		       high = quantise_value(as, (float)(v + NEAR * off), s);
		double step = fmin(high - low, largest);

		out->value[j] = quantise_value(as, (float)v, s);
		out->variance[j] = fmax(fmin(off, step) * step, step * step / 2);
	}
}

/* Quantise each line, or copy it. Own: line_set_free. */
static int take_lines(const struct fw_linear_operand *as, const struct line_set *from, struct line_set *to, struct fw_err *err)
{
	if (line_set_make(to, from->n, from->width, err) != 0)
		return -1;
	if (!is_short(as)) {
		memcpy(to->value, from->value, (size_t)from->n * (size_t)from->width * sizeof *to->value);
		memcpy(to->variance, from->variance, (size_t)from->n * (size_t)from->width * sizeof *to->variance);
		return 0;
	}
#pragma omp parallel for
	for (int i = 0; i < from->n; i++) {
		struct line_set one = line_set_one(from, i), quantised = line_set_one(to, i);

		quantise_line(as, &one, &quantised);
	}
	return 0;
}

/* Find the scale of each column of a matrix. Shape: rows[many][depth], scale[depth]. */
static int find_column_scales(
	const struct chain *c, const struct block_matrix *m, int64_t many, float *rows, float *scale, struct fw_err *err)
{
	const struct fw_linear_operand *as = &c->b.s.w;

	for (int64_t at = 0; is_short(as) && at < m->rows; at += many) {
		int64_t n = m->rows - at < many ? m->rows - at : many;

		if (check_read(c->b.io, FW_LINEAR_W, m->first + at * m->depth, (size_t)(n * m->depth), rows, err) != 0)
			return -1;
		for (int64_t i = 0; i < n * m->depth; i++)
			scale[i % m->depth] = fmaxf(scale[i % m->depth], fabsf(rows[i]));
	}
	for (int64_t j = 0; j < m->depth; j++)
		scale[j] = quantise_scale(as, scale[j]);
	return 0;
}

/* Add the products of lines with rows [at, at + n) of a matrix. Shape: square as out, sums of squares. */
static void add_rows(const struct line_set *d, int64_t at, int64_t n, const double *w, struct line_set *out, double *square)
{
#pragma omp parallel for
	for (int t = 0; t < out->n; t++) {
		double *value = out->value + t * out->width, *variance = out->variance + t * out->width,
		       *squares = square + t * out->width;

		for (int64_t i = 0; i < n; i++) {
			double v = d->value[t * d->width + at + i], noise = d->variance[t * d->width + at + i];

			for (int64_t j = 0; j < out->width; j++) {
				double factor = w[i * out->width + j], product = v * factor;

				value[j] += product;
				variance[j] += noise * factor * factor;
				squares[j] += product * product;
			}
		}
	}
}

/* Multiply sums by the matrix's factor, add the errors of summing `length` products, and of rounding them. */
static void finish_sums(double scale, bool is_mixed, int64_t length, const double *square, struct line_set *out)
{
	double share = FP32_SUM * FP32_SUM * (double)length + (is_mixed ? LINE_SET_SPREAD : 0);

	for (int64_t j = 0; j < out->n * out->width; j++) {
		out->variance[j] = (out->variance[j] + share * square[j]) * scale * scale;
		out->value[j] *= scale;
		rounded(out->value[j], &out->variance[j]);
	}
}

/* out = lines times a matrix and its factor, both operands quantised along its rows. Shape: d [n][rows], out [n][depth]. */
static int go_back(
	const struct chain *c, const struct block_matrix *m, const struct line_set *d, struct line_set *out, struct fw_err *err)
{
	int64_t many = PIECE / m->depth < 1 ? 1 : PIECE / m->depth;
	size_t sums = (size_t)out->n * (size_t)out->width;
	float *rows = calloc((size_t)(many * m->depth), sizeof *rows), *scale = calloc((size_t)m->depth, sizeof *scale);
	double *w = calloc((size_t)(many * m->depth), sizeof *w), *square = calloc(sums, sizeof *square);
	struct line_set taken = { 0 };
	int result = rows && scale && w && square ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	memset(out->value, 0, sums * sizeof *out->value);
	memset(out->variance, 0, sums * sizeof *out->variance);
	if (result == 0 && (result = take_lines(&c->b.s.dy, d, &taken, err)) == 0)
		result = find_column_scales(c, m, many, rows, scale, err);
	for (int64_t at = 0; result == 0 && at < m->rows; at += many) {
		int64_t n = m->rows - at < many ? m->rows - at : many;

		result = check_read(c->b.io, FW_LINEAR_W, m->first + at * m->depth, (size_t)(n * m->depth), rows, err);
		for (int64_t i = 0; result == 0 && i < n * m->depth; i++)
			w[i] = quantise_value(&c->b.s.w, rows[i], scale[i % m->depth]);
		if (result == 0)
			add_rows(&taken, at, n, w, out, square);
	}
	if (result == 0)
		finish_sums(scale_of(m), is_short(&c->b.s.w) != is_short(&c->b.s.dy), m->rows, square, out);
	line_set_free(&taken);
	free(rows);
	free(scale);
	free(w);
	free(square);
	return result;
}

/* ---- passes between products ---- */

/* out = add + rms'(v, d). Shape: lost as out, what its mean takes away. */
static void rms_back(const struct line_set *v, const struct line_set *d, const struct line_set *add, struct line_set *out,
	struct line_set *lost)
{
	int64_t k = v->width;

#pragma omp parallel for
	for (int t = 0; t < v->n; t++) {
		const double *x = v->value + t * k, *g = d->value + t * k, *noise = d->variance + t * k;
		double squares = 0, along = 0, along_noise = 0;

		for (int64_t j = 0; j < k; j++)
			squares += x[j] * x[j];
		double factor = 1 / sqrt(squares / (double)k + 1e-5);

		for (int64_t j = 0; j < k; j++) { /* u may be rounded too */
			double u = x[j] * factor, product = g[j] * u / (double)k;

			along += product;
			along_noise += noise[j] * u * u / (double)k / (double)k + LINE_SET_SPREAD * product * product;
		}
		for (int64_t j = 0; j < k; j++) {
			double u = x[j] * factor, value = (g[j] - u * along) * factor;
			double variance = (noise[j] + u * u * (along_noise + LINE_SET_SPREAD * along * along)) * factor * factor;

			rounded(value, &variance);
			lost->value[t * k + j] = u * along * factor;
			out->value[t * k + j] = add->value[t * k + j] + value;
			out->variance[t * k + j] = add->variance[t * k + j] + variance;
			rounded(out->value[t * k + j], &out->variance[t * k + j]);
		}
	}
}

/* DZ = WIDE gelu'(Z) */
static void gelu_back(struct chain *c)
{
	const struct line_set *z = &c->l[Z], *d = &c->l[WIDE];

	for (int64_t j = 0; j < z->n * z->width; j++) {
		double v = z->value[j];
		double slope = 0.5 * erfc(-v / sqrt(2)) + v * exp(-v * v / 2) / sqrt(2 * M_PI);

		c->l[DZ].value[j] = d->value[j] * slope;
		c->l[DZ].variance[j] = d->variance[j] * slope * slope;
		rounded(c->l[DZ].value[j], &c->l[DZ].variance[j]);
	}
}

/* One head of a sequence; its columns of Q are [at, at + width). */
struct head {
	int first; /* line of its first token */
	int64_t at, width;
};

/* Attention weights of each query and key, and the gradients of their scores. */
struct weights {
	double p[TOKENS][TOKENS], slope[TOKENS][TOKENS], noise[TOKENS][TOKENS];
};

static double key_of(const struct chain *c, const struct head *h, int u, int64_t column)
{
	return c->l[KV].value[(h->first + u) * c->l[KV].width + column];
}

/* Set the weights of query `t`. */
static void weigh(const struct chain *c, const struct head *h, int t, double *p)
{
	double most = -INFINITY, sum = 0;

	for (int u = 0; u < TOKENS; u++) {
		p[u] = 0;
		for (int64_t j = h->at; j < h->at + h->width; j++)
			p[u] += c->l[Q].value[(h->first + t) * c->l[Q].width + j] * key_of(c, h, u, j);
		p[u] /= sqrt((double)h->width);
		most = fmax(most, p[u]);
	}
	for (int u = 0; u < TOKENS; u++)
		sum += p[u] = exp(p[u] - most);
	for (int u = 0; u < TOKENS; u++)
		p[u] /= sum;
}

/* Set the gradients of the scores of query `t`, whose result has the gradient BRANCH. */
static void find_slopes(const struct chain *c, const struct head *h, int t, struct weights *w)
{
	int64_t k = c->b.s.k;
	const double *d = c->l[BRANCH].value + (h->first + t) * k, *off = c->l[BRANCH].variance + (h->first + t) * k;
	double mean = 0, mean_noise = 0;

	for (int u = 0; u < TOKENS; u++) {
		w->slope[t][u] = w->noise[t][u] = 0;
		for (int64_t j = h->at; j < h->at + h->width; j++) {
			double v = key_of(c, h, u, k + j);

			w->slope[t][u] += d[j] * v;
			w->noise[t][u] += off[j] * v * v;
		}
		mean += w->p[t][u] * w->slope[t][u];
		mean_noise += w->p[t][u] * w->p[t][u] * w->noise[t][u];
	}
	for (int64_t j = h->at; j < h->at + h->width; j++) { /* the mean may come from the rounded result */
		double product = d[j] * c->l[ATTENDED].value[(h->first + t) * k + j];

		mean_noise += LINE_SET_SPREAD * product * product;
	}
	for (int u = 0; u < TOKENS; u++) {
		double p = w->p[t][u], shrink = 1 / sqrt((double)h->width);

		w->slope[t][u] = p * (w->slope[t][u] - mean) * shrink;
		w->noise[t][u] = p * p * (w->noise[t][u] + mean_noise) * shrink * shrink;
		w->noise[t][u] += 2 * LINE_SET_SPREAD * w->slope[t][u] * w->slope[t][u]; /* of the weight and of the product */
	}
}

static void put_sum(struct line_set *out, int64_t line, int64_t column, double value, double variance)
{
	rounded(value, &variance);
	out->value[line * out->width + column] = value;
	out->variance[line * out->width + column] = variance;
}

/* DA of one head: columns of Q, K and V. */
static void attend_back_head(struct chain *c, const struct head *h)
{
	int64_t k = c->b.s.k;
	struct weights w;

	for (int t = 0; t < TOKENS; t++) {
		weigh(c, h, t, w.p[t]);
		find_slopes(c, h, t, &w);
	}
	for (int t = 0; t < TOKENS; t++)
		for (int64_t j = h->at; j < h->at + h->width; j++) {
			double value[3] = { 0 }, noise[3] = { 0 };

			for (int u = 0; u < TOKENS; u++) {
				double key = key_of(c, h, u, j), query = c->l[Q].value[(h->first + u) * k + j], p = w.p[u][t],
				       d = c->l[BRANCH].value[(h->first + u) * k + j];

				value[0] += w.slope[t][u] * key;
				noise[0] += w.noise[t][u] * key * key;
				value[1] += w.slope[u][t] * query;
				noise[1] += w.noise[u][t] * query * query;
				value[2] += p * d;
				noise[2] +=
					p * p * c->l[BRANCH].variance[(h->first + u) * k + j] + LINE_SET_SPREAD * p * p * d * d;
			}
			for (int which = 0; which < 3; which++)
				put_sum(&c->l[DA], h->first + t, which * k + j, value[which], noise[which]);
		}
}

static void attend_back(struct chain *c)
{
	int64_t width = c->b.s.k / HEADS;

#pragma omp parallel for
	for (int i = 0; i < c->n / TOKENS * HEADS; i++) {
		struct head h = { i / HEADS * TOKENS, i % HEADS * width, width };

		attend_back_head(c, &h);
	}
}

/* ATTENDED = attend(Q K V) */
static void attend(struct chain *c)
{
	int64_t k = c->b.s.k;

	for (int first = 0; first < c->n; first += TOKENS) {
		struct line_set q = line_set_one(&c->l[Q], first), kv = line_set_one(&c->l[KV], first),
				to = line_set_one(&c->l[ATTENDED], first);

		q.n = kv.n = to.n = TOKENS;
		kv.width = 2 * k;
		line_set_attend(&q, &kv, &to);
	}
}

/* ---- chains ---- */

/* Copy columns [first, first + width) of rows of `pitch` values. */
static void split(const float *from, int64_t pitch, int64_t first, struct line_set *to)
{
	for (int64_t i = 0; i < to->n; i++)
		for (int64_t j = 0; j < to->width; j++)
			to->value[i * to->width + j] = (double)from[i * pitch + first + j];
}

static int read_lines(struct chain *c, struct fw_err *err)
{
	int64_t k = c->b.s.k, values = c->n * k;
	float *rows = calloc((size_t)(STORES * values), sizeof *rows);
	int result = rows ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	if (result == 0 && (result = check_read(c->b.io, FW_LINEAR_X, c->first * k, (size_t)values, rows, err)) == 0)
		split(rows, k, 0, &c->l[X]);
	if (result == 0 && (result = check_read(c->b.io, FW_LINEAR_DY, c->first * k, (size_t)values, rows, err)) == 0)
		split(rows, k, 0, &c->l[DY]);
	if (result == 0)
		result = check_read(c->b.io, FW_LINEAR_S, c->first * STORES * k, (size_t)(STORES * values), rows, err);
	if (result == 0) {
		split(rows, STORES * k, 0, &c->l[Q]);
		split(rows, STORES * k, k, &c->l[KV]);
		split(rows, STORES * k, 3 * k, &c->l[H]);
		split(rows, STORES * k, 4 * k, &c->l[Z]);
	}
	free(rows);
	return result;
}

static void free_chain(struct chain *c)
{
	for (int i = 0; i < LINES; i++)
		line_set_free(&c->l[i]);
}

/* Compute gradients of the inputs, and what is multiplied by them in the gradients of matrices. Own: free_chain, also after an error. */
static int make_chain(struct chain *c, bool has_dx, struct fw_err *err)
{
	int64_t k = c->b.s.k;
	int result = 0;

	for (int i = 0; result == 0 && i < LINES; i++) {
		int64_t times = i == Z || i == DZ || i == GELU || i == WIDE ? WIDENS : i == KV ? 2 : i == DA ? 3 : 1;

		result = line_set_make(&c->l[i], c->n, times * k, err);
	}
	if (result == 0)
		result = read_lines(c, err);
	if (result == 0 && (result = go_back(c, &c->b.down, &c->l[DY], &c->l[WIDE], err)) == 0) {
		gelu_back(c);
		result = go_back(c, &c->b.up, &c->l[DZ], &c->l[BRANCH], err);
	}
	if (result == 0) {
		rms_back(&c->l[H], &c->l[BRANCH], &c->l[DY], &c->l[DH], &c->l[LOST_H]);
		result = go_back(c, &c->b.project, &c->l[DH], &c->l[BRANCH], err);
	}
	if (result != 0)
		return -1;
	attend(c);
	attend_back(c);
	memcpy(c->l[GELU].value, c->l[Z].value, (size_t)c->n * (size_t)(WIDENS * k) * sizeof(double));
	line_set_gelu(&c->l[GELU]);
	line_set_rms(&c->l[H], &c->l[HN]);
	line_set_rms(&c->l[X], &c->l[XN]);
	if (has_dx && (result = go_back(c, &c->b.qkv, &c->l[DA], &c->l[BRANCH], err)) == 0)
		rms_back(&c->l[X], &c->l[BRANCH], &c->l[DH], &c->l[DX], &c->l[LOST_X]);
	return result;
}

/* ---- results ---- */

/* Wrong results; those of dX and dW are compared separately. */
static const char dx_precision[] = "another precision", dw_precision[] = "another precision";
static const char lost_x[] = "a gradient without mean(d u) of X", lost_h[] = "a gradient without mean(d u) of H";
static const char dw_lost_h[] = "a gradient without mean(d u) of H";

/* Add a line of results, and if there is one the result of `what`. Shape: wrong a line or NULL. */
static int put_line(struct values *out, int slot, int64_t first, const struct line_set *y, const char *what, const double *wrong,
	struct fw_err *err)
{
	double *exact, *allowed, *other;

	if (values_add(out, slot, first, (size_t)y->width, &exact, &allowed, err) != 0)
		return -1;
	for (int64_t j = 0; j < y->width; j++) {
		exact[j] = y->value[j];
		allowed[j] = LINE_SET_ROUNDING * fabs(y->value[j]) + SIGMAS * sqrt(y->variance[j]);
	}
	if (!wrong)
		return 0;
	if (values_other(out, what, &other, err) != 0)
		return -1;
	memcpy(other, wrong, (size_t)y->width * sizeof *other);
	return 0;
}

/* A mean may be less than the allowed error of an element, so each line is added once more for each mean. */
static int put_dx(const struct chain *c, const struct chain *plain, struct values *out, struct fw_err *err)
{
	static const struct {
		enum line lost;
		const char *what;
	} means[] = { { LOST_X, lost_x }, { LOST_H, lost_h } };
	int64_t k = c->b.s.k;
	double *wrong = calloc((size_t)k, sizeof *wrong);
	int result = wrong ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	for (int i = 0; result == 0 && i < c->n; i++) {
		struct line_set line = line_set_one(&c->l[DX], i);
		int64_t first = (c->first + i) * k;

		if (plain)
			result = put_line(out, FW_LINEAR_DX, first, &line, dx_precision, plain->l[DX].value + i * k, err);
		for (size_t m = 0; result == 0 && m < sizeof means / sizeof means[0]; m++) {
			for (int64_t j = 0; j < k; j++)
				wrong[j] = line.value[j] + c->l[means[m].lost].value[i * k + j];
			result = put_line(out, FW_LINEAR_DX, first, &line, means[m].what, wrong, err);
		}
	}
	free(wrong);
	return result;
}

/* Transpose and quantise: lines of `to` are columns of `from`, all or `n` of them. Own: line_set_free. */
static int take_columns(const struct fw_linear_operand *as, const struct line_set *from, const int64_t *column, int n,
	struct line_set *to, struct fw_err *err)
{
	struct line_set across = { 0 };
	int result = line_set_make(&across, n, from->n, err);

	for (int64_t i = 0; result == 0 && i < n; i++)
		for (int64_t t = 0; t < from->n; t++) {
			across.value[i * from->n + t] = from->value[t * from->width + column[i]];
			across.variance[i * from->n + t] = from->variance[t * from->width + column[i]];
		}
	if (result == 0)
		result = take_lines(as, &across, to, err);
	line_set_free(&across);
	return result;
}

/* Gradients of rows of a matrix: out = d^T a, over tokens. Shape: d [n][tokens], a [depth][tokens], out [n][depth]. */
static void multiply_columns(
	const struct line_set *d, const struct line_set *a, double scale, bool is_mixed, struct line_set *out, double *square)
{
#pragma omp parallel for
	for (int64_t j = 0; j < out->width; j++)
		for (int i = 0; i < out->n; i++) {
			const double *dv = d->value + i * d->width, *dn = d->variance + i * d->width,
				     *av = a->value + j * a->width, *an = a->variance + j * a->width;
			double sum = 0, noise = 0, squares = 0;

			for (int64_t t = 0; t < d->width; t++) {
				double product = dv[t] * av[t];

				sum += product;
				squares += product * product;
				noise += dn[t] * av[t] * av[t] + dv[t] * dv[t] * an[t];
			}
			out->value[i * out->width + j] = sum;
			out->variance[i * out->width + j] = noise;
			square[i * out->width + j] = squares;
		}
	finish_sums(scale, is_mixed, d->width, square, out);
}

/* Compute the gradient of rows of a matrix. Shape: row[n], out [n][depth]. Own: line_set_free. */
static int find_dw(const struct chain *c, const struct block_matrix *m, enum line of, enum line with, const int64_t *row, int n,
	struct line_set *out, struct fw_err *err)
{
	int64_t *every = calloc((size_t)m->depth, sizeof *every);
	double *square = calloc((size_t)n * (size_t)m->depth, sizeof *square);
	struct line_set d = { 0 }, a = { 0 };
	int result = every && square ? line_set_make(out, n, m->depth, err) : err_set(err, ERR_FULL, "reference: out of memory");

	for (int64_t j = 0; result == 0 && j < m->depth; j++)
		every[j] = j;
	if (result == 0)
		result = take_columns(&c->b.s.dy, &c->l[of], row, n, &d, err);
	if (result == 0)
		result = take_columns(&c->b.s.x, &c->l[with], every, (int)m->depth, &a, err);
	if (result == 0)
		multiply_columns(&d, &a, scale_of(m), is_short(&c->b.s.dy) != is_short(&c->b.s.x), out, square);
	line_set_free(&d);
	line_set_free(&a);
	free(every);
	free(square);
	return result;
}

/* Add the gradients of some rows of a matrix, of all if `budget` products suffice, and those that `wrong` has as `what`. */
static int put_matrix(const struct chain *c, const struct chain *wrong, const char *what, const struct block_matrix *m,
	enum line of, enum line with, uint64_t seed, double budget, struct values *out, struct fw_err *err)
{
	int n = (int)fmin((double)m->rows, fmax(ROWS_FEW, budget / ((double)m->depth * c->n)));
	int64_t *row = calloc((size_t)n, sizeof *row);
	struct line_set dw = { 0 }, other = { 0 };
	int result = row ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	for (int i = 0; result == 0 && i < n; i++)
		row[i] = values_row(seed + (uint64_t)m->first, i, n, m->rows);
	if (result == 0)
		result = find_dw(c, m, of, with, row, n, &dw, err);
	if (result == 0 && wrong)
		result = find_dw(wrong, m, of, with, row, n, &other, err);
	for (int i = 0; result == 0 && i < n; i++) {
		struct line_set line = line_set_one(&dw, i);

		result = put_line(out, FW_LINEAR_DW, m->first + row[i] * m->depth, &line, what,
			wrong ? other.value + i * other.width : NULL, err);
	}
	line_set_free(&dw);
	line_set_free(&other);
	free(row);
	return result;
}

/* Add the gradient of PROJECT once more, with that of a kernel whose DH lacks a mean. */
static int put_lost_mean(const struct chain *c, uint64_t seed, double budget, struct values *out, struct fw_err *err)
{
	struct chain without = *c; /* shares all lines except DH */
	int64_t values = c->n * (int64_t)c->b.s.k;
	int result = line_set_make(&without.l[DH], c->n, c->b.s.k, err);

	for (int64_t j = 0; result == 0 && j < values; j++)
		without.l[DH].value[j] = c->l[DH].value[j] + c->l[LOST_H].value[j];
	if (result == 0)
		result = put_matrix(c, &without, dw_lost_h, &c->b.project, DH, ATTENDED, seed, budget, out, err);
	line_set_free(&without.l[DH]);
	return result;
}

static int put_dw(
	const struct chain *c, const struct chain *plain, uint64_t seed, double budget, struct values *out, struct fw_err *err)
{
	int result = put_matrix(c, plain, dw_precision, &c->b.down, DY, GELU, seed, budget / PARTS, out, err);

	if (result == 0)
		result = put_matrix(c, plain, dw_precision, &c->b.up, DZ, HN, seed, budget / PARTS, out, err);
	if (result == 0)
		result = put_matrix(c, plain, dw_precision, &c->b.project, DH, ATTENDED, seed, budget / PARTS, out, err);
	if (result == 0)
		result = put_matrix(c, plain, dw_precision, &c->b.qkv, DA, XN, seed, budget / PARTS, out, err);
	return result == 0 ? put_lost_mean(c, seed, budget / PARTS, out, err) : result;
}

/* Compare whole sequences from token `first` on. */
static int compare(const struct block *b, int64_t first, int n, bool has_dx, bool has_dw, uint64_t seed, double budget,
	struct values *out, struct fw_err *err)
{
	struct chain c = { .b = *b, .first = first, .n = n }, plain = { .b = *b, .first = first, .n = n };
	bool has_other = is_short(&b->s.x) || is_short(&b->s.w) || is_short(&b->s.dy);
	int result = make_chain(&c, has_dx, err);

	plain.b.s.x = plain.b.s.w = plain.b.s.dy = (struct fw_linear_operand){ 0 };
	if (result == 0 && has_other)
		result = make_chain(&plain, has_dx, err);
	if (result == 0 && has_dx)
		result = put_dx(&c, has_other ? &plain : NULL, out, err);
	if (result == 0 && has_dw)
		result = put_dw(&c, has_other ? &plain : NULL, seed, budget, out, err);
	free_chain(&c);
	free_chain(&plain);
	return result;
}

int block_gradient(
	const struct block *b, bool has_dx, bool has_dw, uint64_t seed, double visits, struct values *out, struct fw_err *err)
{
	double of_sequence = TOKENS * 12.0 * b->s.k * b->s.k;
	int few = (int)fmax(1, fmin(SEQUENCES_FEW, visits / of_sequence)), result = 0;

	if (has_dw || b->s.m * of_sequence <= visits)
		return compare(b, 0, b->s.m * TOKENS, has_dx, has_dw, seed, visits, out, err);
	for (int i = 0; result == 0 && i < few; i++)
		result = compare(b, values_row(seed, i, few, b->s.m) * TOKENS, TOKENS, true, false, seed, visits, out, err);
	return result;
}
