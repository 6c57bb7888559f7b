/* reference_lines.c - operations on lines with variances; documented in internal.h. */
#include "families/linear/internal.h"

enum { TOKENS = FW_LINEAR_BLOCK_TOKENS, HEADS = FW_LINEAR_BLOCK_HEADS };

int line_set_make(struct line_set *l, int n, int64_t width, struct fw_err *err)
{
	*l = (struct line_set){ n, width, calloc((size_t)n * (size_t)width, sizeof(double)),
		calloc((size_t)n * (size_t)width, sizeof(double)) };
	return l->value && l->variance ? 0 : err_set(err, ERR_FULL, "reference: out of memory");
}

void line_set_free(struct line_set *l)
{
	free(l->value);
	free(l->variance);
	*l = (struct line_set){ 0 };
}

struct line_set line_set_one(const struct line_set *l, int i)
{
	return (struct line_set){ 1, l->width, l->value + i * l->width, l->variance + i * l->width };
}

static void rounded(double value, double *variance)
{
	*variance += LINE_SET_SPREAD * value * value;
}

void line_set_rms(const struct line_set *x, struct line_set *out)
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

/* Compute attention of one head and token: q[width] over the lines of its sequence, each k keys, then k values. */
static void attend_head(const struct line_set *q, const struct line_set *kv, int64_t at, int64_t width, struct line_set *out)
{
	double p[TOKENS], noise[TOKENS], most = -INFINITY, sum = 0;
	int64_t k = q->width;

	for (int64_t u = 0; u < TOKENS; u++) {
		p[u] = noise[u] = 0;
		for (int64_t c = at; c < at + width; c++) {
			double key = kv->value[2 * u * k + c], key_noise = kv->variance[2 * u * k + c];

			p[u] += q->value[c] * key;
			noise[u] += q->variance[c] * key * key + q->value[c] * q->value[c] * key_noise;
		}
		p[u] /= sqrt((double)width);
		noise[u] /= (double)width;
		most = fmax(most, p[u]);
	}
	for (int64_t u = 0; u < TOKENS; u++)
		sum += p[u] = exp(p[u] - most);
	for (int64_t c = at; c < at + width; c++) {
		double value = 0, variance = 0;

		for (int64_t u = 0; u < TOKENS; u++)
			value += p[u] / sum * kv->value[(2 * u + 1) * k + c];
		for (int64_t u = 0; u < TOKENS; u++) { /* an error of one weight changes all others, since they are normalised */
			double v = kv->value[(2 * u + 1) * k + c], share = p[u] / sum;

			variance += share * share *
				    (noise[u] * (v - value) * (v - value) + kv->variance[(2 * u + 1) * k + c] +
					    LINE_SET_SPREAD * v * v);
		}
		rounded(value, &variance);
		out->value[c] = value;
		out->variance[c] = variance;
	}
}

void line_set_attend(const struct line_set *q, const struct line_set *kv, struct line_set *out)
{
	int64_t width = q->width / HEADS;

	for (int i = 0; i < q->n; i++) {
		struct line_set one = line_set_one(q, i), to = line_set_one(out, i);

		for (int64_t head = 0; head < HEADS; head++)
			attend_head(&one, kv, head * width, width, &to);
	}
}

void line_set_add(struct line_set *to, const struct line_set *from)
{
	for (int64_t j = 0; j < to->n * to->width; j++) {
		to->value[j] += from->value[j];
		to->variance[j] += from->variance[j];
		rounded(to->value[j], &to->variance[j]);
	}
}

/* The slope of GELU is at most 1.13. */
void line_set_gelu(struct line_set *x)
{
	for (int64_t j = 0; j < x->n * x->width; j++) {
		double v = x->value[j];

		x->value[j] = 0.5 * v * erfc(-v / sqrt(2));
		x->variance[j] *= 1.13 * 1.13;
		rounded(x->value[j], &x->variance[j]);
	}
}
