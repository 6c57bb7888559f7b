/*
 * block.c - see block.h. Lines are rows of values with their variances. A product reads its matrix once, in pieces, and takes all lines
 * that it has to multiply along.
 */
#include "family/linear/reference/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/case/inputs.h"
#include "family/linear/linear.h"
#include "family/linear/reference/quantise.h"

/* Half a unit in the last place of bf16 is at most this share of a value, at least half of it; errors spread evenly over it. */
#define ROUNDING 0.00390625
#define SPREAD   (ROUNDING * ROUNDING / 3 / 2)
#define SIGMAS   6.0
#define FP32_SUM 1e-6
#define VISITS   2.7e8
/* From one e4m3 value to the next is this share of it, 1/16 to 1/8, and never less than that of the largest. */
#define E4M3_STEP  0.09
#define E4M3_LEAST (1.0 / 512 / 448)

enum { TOKENS = FW_LINEAR_BLOCK_TOKENS, HEADS = FW_LINEAR_BLOCK_HEADS, WIDENS = FW_LINEAR_BLOCK_WIDENS };
enum { SEQUENCES_FEW = 4, PIECE = 1 << 18 };

/* Shape: value and variance [n][width]. */
struct lines {
	int n;
	int64_t width;
	double *value, *variance;
};

/* One of the four matrices of W. */
struct matrix {
	int64_t first, rows, depth;
};

struct block {
	const struct check_io *io;
	struct fw_linear_shape s;
	bool is_rounded; /* W is multiplied as what 8 or 4 bits stand for, beside bf16 */
	struct matrix qkv, project, up, down;
};

static int lines_make(struct lines *l, int n, int64_t width, struct fw_err *err)
{
	*l = (struct lines){ n, width, calloc((size_t)n * (size_t)width, sizeof(double)),
		calloc((size_t)n * (size_t)width, sizeof(double)) };
	return l->value && l->variance ? 0 : err_set(err, ERR_FULL, "reference: out of memory");
}

static void lines_free(struct lines *l)
{
	free(l->value);
	free(l->variance);
	*l = (struct lines){ 0 };
}

/* One of them, which stays theirs. */
static struct lines line_of(const struct lines *l, int i)
{
	return (struct lines){ 1, l->width, l->value + i * l->width, l->variance + i * l->width };
}

static void rounded(double value, double *variance)
{
	*variance += SPREAD * value * value;
}

static void rms(const struct lines *x, struct lines *out)
{
	for (int i = 0; i < x->n; i++) {
		const double *v = x->value + i * x->width;
		double squares = 0;

		for (int64_t j = 0; j < x->width; j++)
			squares += v[j] * v[j];
		double factor = 1 / sqrt(squares / (double)x->width + 1e-5);

		for (int64_t j = i * x->width; j < (i + 1) * x->width; j++) {
			out->value[j] = x->value[j] * factor;
			out->variance[j] = x->variance[j] * factor * factor;
			rounded(out->value[j], &out->variance[j]);
		}
	}
}

/*
 * What a line is multiplied as. A value that is off by d goes to its neighbour with a probability of d over the step between them; and
 * the scale follows the largest value, which moves all of them together: by how much is returned, as the variance of a factor.
 */
static double quantise_line(const struct fw_linear_operand *as, const struct lines *x, struct lines *out)
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

static void multiply_row(const struct block *b, const struct lines *in, const double *drift, const double *w, double scale,
	int64_t at, struct lines *out)
{
	double share = b->is_rounded ? SPREAD : 0;

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
		out->variance[i * out->width + at] = noise * scale * scale + SPREAD * sum * sum * scale * scale;
	}
}

/* Rows [first, first + out->width) of a matrix times lines that are as they are multiplied; rounded. */
static int multiply(const struct block *b, const struct matrix *m, int64_t first, const struct lines *in, const double *drift,
	struct lines *out, struct fw_err *err)
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

/* The same of lines as they come, which are quantised first where they have to be. */
static int product(const struct block *b, const struct matrix *m, int64_t first, const struct lines *in, struct lines *out,
	struct fw_err *err)
{
	struct lines quantised = { 0 };
	double *drift = calloc((size_t)in->n, sizeof *drift);
	bool is_plain = b->s.x.dtype == 0 || b->s.x.dtype == FW_BF16;
	int result = drift ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	if (result == 0 && !is_plain)
		result = lines_make(&quantised, in->n, in->width, err);
	for (int i = 0; result == 0 && !is_plain && i < in->n; i++) {
		struct lines from = line_of(in, i), to = line_of(&quantised, i);

		drift[i] = quantise_line(&b->s.x, &from, &to);
	}
	if (result == 0)
		result = multiply(b, m, first, is_plain ? in : &quantised, drift, out, err);
	lines_free(&quantised);
	free(drift);
	return result;
}

/* One head of one token: q[width] over the keys and values of its sequence, lines of 2 k: keys, then values. */
static void attend_head(const struct lines *q, const struct lines *kv, int64_t at, int64_t width, struct lines *out)
{
	double p[TOKENS], noise[TOKENS], most = -INFINITY, sum = 0;
	int64_t k = q->width;

	for (int u = 0; u < TOKENS; u++) {
		p[u] = noise[u] = 0;
		for (int64_t c = at; c < at + width; c++) {
			double key = kv->value[u * 2 * k + c], key_noise = kv->variance[u * 2 * k + c];

			p[u] += q->value[c] * key;
			noise[u] += q->variance[c] * key * key + q->value[c] * q->value[c] * key_noise;
		}
		p[u] /= sqrt((double)width);
		noise[u] /= (double)width;
		most = fmax(most, p[u]);
	}
	for (int u = 0; u < TOKENS; u++)
		sum += p[u] = exp(p[u] - most);
	for (int64_t c = at; c < at + width; c++) {
		double value = 0, variance = 0;

		for (int u = 0; u < TOKENS; u++)
			value += p[u] / sum * kv->value[u * 2 * k + k + c];
		for (int u = 0; u < TOKENS; u++) { /* a share that moves takes from all others */
			double v = kv->value[u * 2 * k + k + c], share = p[u] / sum;

			variance += share * share *
				    (noise[u] * (v - value) * (v - value) + kv->variance[u * 2 * k + k + c] + SPREAD * v * v);
		}
		rounded(value, &variance);
		out->value[c] = value;
		out->variance[c] = variance;
	}
}

static void attend(const struct lines *q, const struct lines *kv, struct lines *out)
{
	int64_t width = q->width / HEADS;

	for (int i = 0; i < q->n; i++) {
		struct lines one = line_of(q, i), to = line_of(out, i);

		for (int64_t head = 0; head < HEADS; head++)
			attend_head(&one, kv, head * width, width, &to);
	}
}

/* to += from; rounded. */
static void add(struct lines *to, const struct lines *from)
{
	for (int64_t j = 0; j < to->n * to->width; j++) {
		to->value[j] += from->value[j];
		to->variance[j] += from->variance[j];
		rounded(to->value[j], &to->variance[j]);
	}
}

/* Rises by 1.13 at most. */
static void gelu(struct lines *x)
{
	for (int64_t j = 0; j < x->n * x->width; j++) {
		double v = x->value[j];

		x->value[j] = 0.5 * v * erfc(-v / sqrt(2));
		x->variance[j] *= 1.13 * 1.13;
		rounded(x->value[j], &x->variance[j]);
	}
}

static int put(struct values *out, int64_t first, const struct lines *y, struct fw_err *err)
{
	double *exact, *allowed;

	if (values_add(out, FW_LINEAR_Y, first, (size_t)y->width, &exact, &allowed, err) != 0)
		return -1;
	for (int64_t j = 0; j < y->width; j++) {
		exact[j] = y->value[j];
		allowed[j] = ROUNDING * fabs(y->value[j]) + SIGMAS * sqrt(y->variance[j]);
	}
	return 0;
}

/* Tokens [token, token + n) of a sequence. */
static int sequence(const struct block *b, int64_t which, int token, int n, struct values *out, struct fw_err *err)
{
	enum { X, NORMALISED, Q, KV, ATTENDED, BRANCH, WIDE, H, HN, ALL };
	int64_t k = b->s.k, widths[ALL] = { k, k, k, 2 * k, k, k, WIDENS * k, k, k };
	struct lines l[ALL] = { 0 };
	float *x = calloc((size_t)(TOKENS * k), sizeof *x);
	int result = x ? check_read(b->io, FW_LINEAR_X, which * TOKENS * k, (size_t)(TOKENS * k), x, err)
		       : err_set(err, ERR_FULL, "reference: out of memory");

	for (int i = 0; result == 0 && i < ALL; i++)
		result = lines_make(&l[i], i == X || i == NORMALISED || i == KV ? TOKENS : n, widths[i], err);
	for (int64_t j = 0; result == 0 && j < TOKENS * k; j++)
		l[X].value[j] = (double)x[j];
	if (result == 0) {
		struct lines mine = { n, k, l[NORMALISED].value + token * k, l[NORMALISED].variance + token * k };

		rms(&l[X], &l[NORMALISED]);
		memcpy(l[H].value, l[X].value + token * k, (size_t)(n * k) * sizeof *l[H].value);
		result = product(b, &b->qkv, 0, &mine, &l[Q], err);
	}
	if (result == 0 && (result = product(b, &b->qkv, k, &l[NORMALISED], &l[KV], err)) == 0) {
		attend(&l[Q], &l[KV], &l[ATTENDED]);
		result = product(b, &b->project, 0, &l[ATTENDED], &l[BRANCH], err);
	}
	if (result == 0) {
		add(&l[H], &l[BRANCH]);
		rms(&l[H], &l[HN]);
		result = product(b, &b->up, 0, &l[HN], &l[WIDE], err);
	}
	if (result == 0) {
		gelu(&l[WIDE]);
		result = product(b, &b->down, 0, &l[WIDE], &l[BRANCH], err);
	}
	if (result == 0)
		add(&l[H], &l[BRANCH]);
	for (int i = 0; result == 0 && i < n; i++) {
		struct lines y = line_of(&l[H], i);

		result = put(out, (which * TOKENS + token + i) * k, &y, err);
	}
	for (int i = 0; i < ALL; i++)
		lines_free(&l[i]);
	free(x);
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
	b.is_rounded = b.s.w.dtype != 0 && b.s.x.dtype == 0;
	b.qkv = (struct matrix){ 0, 3 * c->k, c->k };
	b.project = (struct matrix){ 3 * square, c->k, c->k };
	b.up = (struct matrix){ 4 * square, WIDENS * c->k, c->k };
	b.down = (struct matrix){ 8 * square, c->k, WIDENS * c->k };
	if (c->m * TOKENS * 12 * k * k <= budget) {
		for (int32_t i = 0; result == 0 && i < c->m; i++)
			result = sequence(&b, i, 0, TOKENS, out, err);
		return result;
	}
	int few = (int)fmax(1, fmin(SEQUENCES_FEW, budget / (42 * k * k))); /* 32 for keys and values, 10 for a token */

	for (int i = 0; result == 0 && i < few; i++) { /* the last one, and any */
		uint64_t drawn = inputs_mix(seed + (uint64_t)i * INPUTS_INCREMENT);

		result = sequence(&b, i == 0 ? c->m - 1 : (int64_t)(drawn % (uint64_t)c->m), (int)(drawn >> 32) & (TOKENS - 1), 1,
			out, err);
	}
	return result;
}
