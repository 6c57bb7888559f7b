/*
 * O and LSE, or dQ: each planned row is a sum over the keys it sees. Keys of one head are unpacked once for all its rows.
 */
#include "families/attention/internal.h"

static void load_head(const struct reference_io *io, int slot, int head, float *out)
{
	const struct attention_case *a = attention_in(io->cell);
#pragma omp parallel for schedule(static)
	for (int row = 0; row < a->seqlen; row++)
		load_row(io, slot, (struct reference_position){ head, row }, out + (int64_t)row * a->headdim);
}

/* What the rows of a plan need of Q, and backward of dO and O; read before threads start, because `read` may not be shared. */
struct row_inputs {
	float *q, *dout; /* [n][d] */
	double *lse, *delta;
};

static void row_inputs_fini(struct row_inputs *r)
{
	free(r->q);
	free(r->dout);
	free(r->lse);
	free(r->delta);
}

static int read_rows(const struct reference_io *io, const struct reference_plan *plan, struct row_inputs *r, struct fw_err *err)
{
	size_t n = (size_t)plan->n_rows, d = (size_t)attention_in(io->cell)->headdim;
	bool backward = io->cell->direction == DIRECTION_BACKWARD;
	float o[REFERENCE_HEADDIM_MAX];

	r->q = array(n * d, sizeof(float));
	r->dout = backward ? array(n * d, sizeof(float)) : NULL;
	r->lse = array(n, sizeof(double));
	r->delta = array(n, sizeof(double));
	if (!r->q || !r->lse || !r->delta || (backward && !r->dout))
		return err_set(err, ERR_FULL, "reference: out of memory");
	for (size_t i = 0; i < n; i++) {
		float lse;
		if (read_row(io, FW_Q, plan->row[i], r->q + i * d, err))
			return -1;
		if (!backward)
			continue;
		if (read_row(io, FW_DO, plan->row[i], r->dout + i * d, err) || read_row(io, FW_O, plan->row[i], o, err) ||
			reference_read(io, FW_LSE, reference_slot_offset(io->cell, FW_LSE, plan->row[i]), 1, &lse, err))
			return -1;
		r->lse[i] = (double)lse;
		r->delta[i] = sums_dot(r->dout + i * d, o, (int)d);
	}
	return 0;
}

/* One row of O and its LSE from the scores of the keys it sees. Shape: score[n]. */
static void forward_row(struct sums o, double *lse, int d, double scale, double *score, int n,
	const struct reference_range *range, int ranges, const float *v)
{
	double top = -INFINITY, sum = 0;
	float naive_top = -INFINITY, naive_sum = 0;
	for (int i = 0; i < n; i++) {
		score[i] *= scale;
		top = fmax(top, score[i]);
	}
	naive_top = reference_round((float)top);
	for (int i = 0; i < n; i++) {
		sum += exp(score[i] - top);
		naive_sum += expf(reference_round((float)score[i]) - naive_top);
	}
	for (int r = 0, i = 0; r < ranges; r++)
		for (int key = range[r].begin; key < range[r].end; key++, i++) {
			double p = exp(score[i] - top) / sum;
			float naive_p = reference_round(expf(reference_round((float)score[i]) - naive_top) / naive_sum);
			sums_add(o, v + (int64_t)key * d, d, p, naive_p, p * REFERENCE_BF16_NOISE);
		}
	sums_finish(o, d, 1);
	*lse = n > 0 ? top + log(sum) : -INFINITY;
}

/* One row of dQ from the scores of the keys it sees, and how far a softmax and a delta of the kernel's own would shift it. */
static void backward_row(struct sums dq, float *shift, const struct row_inputs *in, int i, int d, double scale,
	const double *score, const struct reference_range *range, int ranges, const float *k, const float *v)
{
	double p_k[REFERENCE_HEADDIM_MAX] = { 0 };
	struct reference_row row = { .delta = in->delta[i] };

	for (int r = 0, j = 0; r < ranges; r++)
		for (int key = range[r].begin; key < range[r].end; key++, j++) {
			const float *x = k + (int64_t)key * d;
			double dp = sums_dot(in->dout + (int64_t)i * d, v + (int64_t)key * d, d);
			struct reference_pair pair = reference_backward_pair(score[j], dp, scale, in->lse[i], row.delta, 0);
			sums_add(dq, x, d, pair.ds, pair.naive_ds, pair.noise_ds);
			row.p += pair.p;
			row.p_dp += pair.p * dp;
#pragma omp simd
			for (int c = 0; c < d; c++)
				p_k[c] += pair.p * (double)x[c];
		}
	for (int c = 0; c < d; c++)
		shift[c] = (float)(reference_own_shift(dq.exact[c], p_k[c], row) * scale);
	sums_finish(dq, d, scale);
}

static int compute_head_rows(const struct reference_plan *plan, const struct reference_io *io, const struct row_inputs *in,
	int first, int end, const float *k, const float *v, struct reference *out)
{
	const struct attention_case *a = attention_in(io->cell);
	int d = a->headdim, kv_head = plan->row[first].head / (a->nhq / a->nhk), failed = 0;
	double scale = 1 / sqrt(d);
	bool backward = io->cell->direction == DIRECTION_BACKWARD;

#pragma omp parallel reduction(+ : failed)
	{
		struct reference_range *range = array((size_t)reference_mask_room(a), sizeof *range);
		double *score = array((size_t)a->seqlen, sizeof *score);
		if (!range || !score)
			failed++;
#pragma omp for schedule(dynamic, 1)
		for (int i = first; i < end; i++) {
			if (!range || !score)
				continue;
			const float *q = in->q + (int64_t)i * d;
			int ranges = reference_mask_keys(io, kv_head, plan->row[i].row, range), n = 0;
			struct sums s = sums_of(&out->tensor[0], i);
			for (int r = 0; r < ranges; r++)
				for (int key = range[r].begin; key < range[r].end; key++, n++)
					score[n] = sums_dot(q, k + (int64_t)key * d, d);
			if (backward)
				backward_row(
					s, out->tensor[0].shift + (int64_t)i * d, in, i, d, scale, score, range, ranges, k, v);
			else
				forward_row(s, &out->tensor[1].exact[i], d, scale, score, n, range, ranges, v);
		}
		free(range);
		free(score);
	}
	return failed ? -1 : 0;
}

int reference_rows_compute(
	const struct reference_plan *plan, const struct reference_io *io, struct reference *out, struct fw_err *err)
{
	const struct attention_case *a = attention_in(io->cell);
	size_t elements = (size_t)a->seqlen * (size_t)a->headdim;
	struct row_inputs in = { 0 };
	float *k = array(elements, sizeof *k), *v = array(elements, sizeof *v);
	int group = a->nhq / a->nhk, result = 0;

	if (!k || !v)
		result = err_set(err, ERR_FULL, "reference: out of memory");
	if (result == 0)
		result = read_rows(io, plan, &in, err);
	for (int first = 0, end; result == 0 && first < plan->n_rows; first = end) {
		int kv_head = plan->row[first].head / group;
		for (end = first; end < plan->n_rows && plan->row[end].head / group == kv_head; end++)
			continue;
		load_head(io, FW_K, kv_head, k);
		load_head(io, FW_V, kv_head, v);
		if (compute_head_rows(plan, io, &in, first, end, k, v, out))
			result = err_set(err, ERR_FULL, "reference: out of memory");
	}
	row_inputs_fini(&in);
	free(k);
	free(v);
	return result;
}
