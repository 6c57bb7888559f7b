/* reference_cpu.c - reference values on the host, and the search for NaN and Inf. */
#include "families/attention/internal.h"

/*
 * ---- reference_keys ----
 * dK and dV. Each thread processes one query head: it adds up the contributions of the head's queries, in chunks, to every
 * planned key of its key head. The sums of the heads of a group are added at the end, in order.
 */

enum { CHUNK = 256 };

/* Work of one query head. */
struct head_task {
	int head;
	int first, end; /* plan->key of its key head */
	int64_t at;     /* index of its first key in the partial sums */
};

struct key_work {
	int n_tasks;
	struct head_task *task;
	float *lse, *k, *v;             /* [n_tasks][seqlen]; [n_keys][d] */
	double *delta, *delta_noise;    /* [n_tasks][seqlen] */
	struct reference_range *range;  /* [keys of each task][capacity] */
	int *ranges;                    /* [keys of each task] */
	struct reference_tensor dk, dv; /* partial sums, one element for each key of each task */
};

static void key_work_fini(struct key_work *w)
{
	free(w->task);
	free(w->lse);
	free(w->k);
	free(w->v);
	free(w->delta);
	free(w->delta_noise);
	free(w->range);
	free(w->ranges);
	free(w->dk.exact);
	free(w->dk.naive);
	free(w->dk.noise);
	free(w->dv.exact);
	free(w->dv.naive);
	free(w->dv.noise);
}

static bool partial_sums(struct reference_tensor *t, size_t positions, int width)
{
	size_t n = positions * (size_t)width;
	t->width = width;
	t->exact = array(n, sizeof *t->exact);
	t->naive = array(n, sizeof *t->naive);
	t->noise = array(n, sizeof *t->noise);
	return t->exact && t->naive && t->noise;
}

static int key_work_init(const struct reference_plan *plan, const struct reference_io *io, struct key_work *w, struct fw_err *err)
{
	const struct attention_case *a = attention_in(io->cell);
	size_t n = (size_t)plan->n_keys, d = (size_t)a->headdim, capacity = (size_t)reference_mask_capacity(a),
	       s = (size_t)a->seqlen;
	int group = a->nhq / a->nhk;
	int64_t positions = 0;

	w->task = array((size_t)a->nhq, sizeof *w->task);
	if (!w->task)
		return err_set(err, ERR_FULL, "reference: out of memory");
	for (int first = 0, end; first < plan->n_keys; first = end) {
		int kv_head = plan->key[first].head;
		for (end = first; end < plan->n_keys && plan->key[end].head == kv_head; end++)
			continue;
		for (int head = kv_head * group; head < (kv_head + 1) * group; head++, positions += end - first)
			w->task[w->n_tasks++] = (struct head_task){ head, first, end, positions };
	}
	w->k = array(n * d, sizeof *w->k);
	w->v = array(n * d, sizeof *w->v);
	w->range = array((size_t)positions * capacity, sizeof *w->range);
	w->ranges = array((size_t)positions, sizeof *w->ranges);
	w->lse = array((size_t)w->n_tasks * s, sizeof *w->lse);
	w->delta = array((size_t)w->n_tasks * s, sizeof *w->delta);
	w->delta_noise = array((size_t)w->n_tasks * s, sizeof *w->delta_noise);
	if (!w->k || !w->v || !w->range || !w->ranges || !w->lse || !w->delta || !w->delta_noise ||
		!partial_sums(&w->dk, (size_t)positions, a->headdim) || !partial_sums(&w->dv, (size_t)positions, a->headdim))
		return err_set(err, ERR_FULL, "reference: out of memory");
	for (size_t i = 0; i < n; i++) {
		struct reference_position at = plan->key[i];
		if (read_row(io, FW_K, at, w->k + i * d, err) || read_row(io, FW_V, at, w->v + i * d, err))
			return -1;
	}
	for (const struct head_task *t = w->task; t < w->task + w->n_tasks; t++)
		for (int key = t->first; key < t->end; key++) {
			size_t at = (size_t)(t->at + key - t->first);
			w->ranges[at] = reference_mask_rows(io, t->head, plan->key[key].row, w->range + at * capacity);
		}
	return 0;
}

/* Read LSE and compute delta of every query of the tasks' heads. O is read once, in whole tokens. */
static int read_statistics(const struct reference_io *io, struct key_work *w, struct fw_err *err)
{
	const struct attention_case *a = attention_in(io->cell);
	int d = a->headdim, status = 0;
	size_t token = (size_t)a->nhq * (size_t)d;
	uint16_t *o = array(CHUNK * token, sizeof *o);
	if (!o)
		return err_set(err, ERR_FULL, "reference: out of memory");
	for (int t = 0; status == 0 && t < w->n_tasks; t++)
		status = reference_read(io, FW_LSE, (int64_t)w->task[t].head * a->seqlen, (size_t)a->seqlen,
			w->lse + (int64_t)t * a->seqlen, err);
	for (int first = 0; status == 0 && first < a->seqlen; first += CHUNK) {
		int n = a->seqlen - first < CHUNK ? a->seqlen - first : CHUNK;
		status = reference_read(io, FW_O, first * (int64_t)token, (size_t)n * token, o, err);
		if (status)
			break;
#pragma omp parallel for schedule(static)
		for (int i = 0; i < n; i++)
			for (int t = 0; t < w->n_tasks; t++) {
				float dout[REFERENCE_HEADDIM_MAX], row[REFERENCE_HEADDIM_MAX];
				struct reference_position at = { w->task[t].head, first + i };
				load_row(io, FW_DO, at, dout);
				for (int j = 0; j < d; j++)
					row[j] = reference_value(a->dtype, o[(size_t)i * token + (size_t)(at.head * d + j)]);
				w->delta[(int64_t)t * a->seqlen + first + i] = sums_dot(dout, row, d);
				w->delta_noise[(int64_t)t * a->seqlen + first + i] = delta_noise(a->dtype, dout, row, d);
			}
	}
	free(o);
	return status;
}

/* Add the contribution of query `row` of task `t` to planned key `key`. */
static void add_pair(
	const struct reference_io *io, struct key_work *w, int t, int key, int row, const float *q, const float *dout)
{
	int d = attention_in(io->cell)->headdim;
	int64_t at = w->task[t].at + key - w->task[t].first, s = (int64_t)t * attention_in(io->cell)->seqlen + row;
	struct reference_pair pair = reference_backward_pair(attention_in(io->cell)->dtype,
		sums_dot(q, w->k + (int64_t)key * d, d), sums_dot(dout, w->v + (int64_t)key * d, d), 1 / sqrt(d),
		(double)w->lse[s], w->delta[s], w->delta_noise[s]);
	sums_add(sums_of(&w->dk, at), q, d, pair.ds, pair.naive_ds, pair.noise_ds);
	sums_add(sums_of(&w->dv, at), dout, d, pair.p, pair.naive_p, pair.noise_p);
}

/* Shape: q, dout [CHUNK][d], buffers of a chunk. */
static void run_task(const struct reference_io *io, struct key_work *w, int t, float *q, float *dout)
{
	const struct attention_case *a = attention_in(io->cell);
	const struct head_task *task = &w->task[t];
	int d = a->headdim, capacity = reference_mask_capacity(a);

	for (int first = 0; first < a->seqlen; first += CHUNK) {
		int last = a->seqlen - first < CHUNK ? a->seqlen : first + CHUNK;
		bool loaded = false;
		for (int key = task->first; key < task->end; key++)
			for (int r = 0; r < w->ranges[task->at + key - task->first]; r++) {
				struct reference_range range = w->range[(task->at + key - task->first) * capacity + r];
				int begin = range.begin > first ? range.begin : first, end = range.end < last ? range.end : last;
				for (int row = first; row < last && begin < end && !loaded; row++) {
					struct reference_position at = { task->head, row };
					load_row(io, FW_Q, at, q + (int64_t)(row - first) * d);
					load_row(io, FW_DO, at, dout + (int64_t)(row - first) * d);
				}
				loaded = loaded || begin < end;
				for (int row = begin; row < end; row++)
					add_pair(io, w, t, key, row, q + (int64_t)(row - first) * d,
						dout + (int64_t)(row - first) * d);
			}
	}
}

static int run_tasks(const struct reference_io *io, struct key_work *w)
{
	size_t d = (size_t)attention_in(io->cell)->headdim;
	int failed = 0;
#pragma omp parallel reduction(+ : failed)
	{
		float *q = array(CHUNK * d, sizeof *q), *dout = array(CHUNK * d, sizeof *dout);
		if (!q || !dout)
			failed++;
#pragma omp for schedule(dynamic, 1)
		for (int t = 0; t < w->n_tasks; t++)
			if (q && dout)
				run_task(io, w, t, q, dout);
		free(q);
		free(dout);
	}
	return failed ? -1 : 0;
}

/* Add the partial sums of a group's heads. */
static void collect(const struct key_work *w, const struct reference_tensor *from, struct reference_tensor *to)
{
	for (int t = 0; t < w->n_tasks; t++)
		for (int key = w->task[t].first; key < w->task[t].end; key++) {
			size_t out = (size_t)key * (size_t)to->width;
			size_t in = (size_t)(w->task[t].at + key - w->task[t].first) * (size_t)to->width;
			for (int j = 0; j < to->width; j++) {
				to->exact[out + (size_t)j] += from->exact[in + (size_t)j];
				to->naive[out + (size_t)j] += from->naive[in + (size_t)j];
				to->noise[out + (size_t)j] += from->noise[in + (size_t)j];
			}
		}
}

/* Fill tensors 1 and 2 (DK, DV) of `out`. Err: -1 out of memory, or a tensor that cannot be read. */
static int reference_keys_compute(
	const struct reference_plan *plan, const struct reference_io *io, struct reference *out, struct fw_err *err)
{
	int d = attention_in(io->cell)->headdim, dtype = attention_in(io->cell)->dtype;
	struct key_work w = { 0 };
	int status = key_work_init(plan, io, &w, err);
	if (status == 0)
		status = read_statistics(io, &w, err);
	if (status == 0 && run_tasks(io, &w))
		status = err_set(err, ERR_FULL, "reference: out of memory");
	if (status == 0) {
		collect(&w, &w.dk, &out->tensor[1]);
		collect(&w, &w.dv, &out->tensor[2]);
		for (int i = 0; i < plan->n_keys; i++) {
			sums_finish(dtype, sums_of(&out->tensor[1], i), d, 1 / sqrt(d));
			sums_finish(dtype, sums_of(&out->tensor[2], i), d, 1);
		}
	}
	key_work_fini(&w);
	return status;
}

/*
 * ---- reference_rows ----
 * O and LSE, or dQ: each planned row is a sum over the keys it sees. The keys of a head are unpacked once for all of its rows.
 */

static void load_head(const struct reference_io *io, int slot, int head, float *out)
{
	const struct attention_case *a = attention_in(io->cell);
#pragma omp parallel for schedule(static)
	for (int key = 0; key < a->seqlen; key++) {
		struct reference_position at = { head, reference_key_row(io, key) };
		load_row(io, slot, at, out + (int64_t)key * a->headdim);
	}
}

/* Rows of Q, and of dO and O for backward; read before threads start, because `read` is not thread-safe. */
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

/* Compute one row of O and its LSE from the scores of the keys it sees. Shape: score[n]. */
static void forward_row(int32_t dtype, struct sums o, double *lse, int d, double scale, double *score, int n,
	const struct reference_range *range, int ranges, const float *v)
{
	double top = -INFINITY, sum = 0;
	float naive_top = -INFINITY, naive_sum = 0;
	for (int i = 0; i < n; i++) {
		score[i] *= scale;
		top = fmax(top, score[i]);
	}
	naive_top = reference_round(dtype, (float)top);
	for (int i = 0; i < n; i++) {
		sum += exp(score[i] - top);
		naive_sum += expf(reference_round(dtype, (float)score[i]) - naive_top);
	}
	for (int r = 0, i = 0; r < ranges; r++)
		for (int key = range[r].begin; key < range[r].end; key++, i++) {
			double p = exp(score[i] - top) / sum;
			float naive_p =
				reference_round(dtype, expf(reference_round(dtype, (float)score[i]) - naive_top) / naive_sum);
			sums_add(o, v + (int64_t)key * d, d, p, naive_p, reference_noise(dtype, p));
		}
	sums_finish(dtype, o, d, 1);
	*lse = n > 0 ? top + log(sum) : -INFINITY;
}

/* Compute one row of dQ from the scores of the keys it sees, and its shift if a kernel recomputes softmax and delta. */
static void backward_row(int32_t dtype, struct sums dq, float *shift, const struct row_inputs *in, int i, int d, double scale,
	const double *score, const struct reference_range *range, int ranges, const float *k, const float *v)
{
	double p_k[REFERENCE_HEADDIM_MAX] = { 0 };
	struct reference_row row = { .delta = in->delta[i] };

	for (int r = 0, j = 0; r < ranges; r++)
		for (int key = range[r].begin; key < range[r].end; key++, j++) {
			const float *x = k + (int64_t)key * d;
			double dp = sums_dot(in->dout + (int64_t)i * d, v + (int64_t)key * d, d);
			struct reference_pair pair =
				reference_backward_pair(dtype, score[j], dp, scale, in->lse[i], row.delta, 0);
			sums_add(dq, x, d, pair.ds, pair.naive_ds, pair.noise_ds);
			row.p += pair.p;
			row.p_dp += pair.p * dp;
#pragma omp simd
			for (int c = 0; c < d; c++)
				p_k[c] += pair.p * (double)x[c];
		}
	for (int c = 0; c < d; c++)
		shift[c] = (float)(reference_own_shift(dq.exact[c], p_k[c], row) * scale);
	sums_finish(dtype, dq, d, scale);
}

static int compute_head_rows(const struct reference_plan *plan, const struct reference_io *io, const struct row_inputs *in,
	int first, int end, const float *k, const float *v, struct reference *out)
{
	const struct attention_case *a = attention_in(io->cell);
	int d = a->headdim, failed = 0;
	double scale = 1 / sqrt(d);
	bool backward = io->cell->direction == DIRECTION_BACKWARD;

#pragma omp parallel reduction(+ : failed)
	{
		struct reference_range *range = array((size_t)reference_mask_capacity(a), sizeof *range);
		double *score = array((size_t)a->seqlen, sizeof *score);
		if (!range || !score)
			failed++;
#pragma omp for schedule(dynamic, 1)
		for (int i = first; i < end; i++) {
			if (!range || !score)
				continue;
			const float *q = in->q + (int64_t)i * d;
			int ranges = reference_mask_keys(io, plan->row[i].head, plan->row[i].row, range), n = 0;
			struct sums s = sums_of(&out->tensor[0], i);
			for (int r = 0; r < ranges; r++)
				for (int key = range[r].begin; key < range[r].end; key++, n++)
					score[n] = sums_dot(q, k + (int64_t)key * d, d);
			if (backward)
				backward_row(a->dtype, s, out->tensor[0].shift + (int64_t)i * d, in, i, d, scale, score, range,
					ranges, k, v);
			else
				forward_row(a->dtype, s, &out->tensor[1].exact[i], d, scale, score, n, range, ranges, v);
		}
		free(range);
		free(score);
	}
	return failed ? -1 : 0;
}

/* Fill tensor 0 (O or DQ) and, if forward, tensor 1 (LSE) of `out`. Err: -1 out of memory, or a tensor that cannot be read. */
static int reference_rows_compute(
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

/* ---- reference_cpu ---- */

enum { SCAN = 1 << 20 };

static int compute(const struct reference_plan *plan, const struct reference_io *io, struct reference *out, struct fw_err *err)
{
	if (attention_in(io->cell)->headdim > REFERENCE_HEADDIM_MAX)
		return err_set(err, ERR_UNSUPPORTED, "reference: headdim %d is above %d", attention_in(io->cell)->headdim,
			REFERENCE_HEADDIM_MAX);
	if (reference_rows_compute(plan, io, out, err))
		return -1;
	return io->cell->direction == DIRECTION_BACKWARD ? reference_keys_compute(plan, io, out, err) : 0;
}

/* ---- search for NaN and Inf -------------------------------------------------------------------------------------- */

static int64_t first_bad(int slot, int32_t dtype, const void *data, int64_t n)
{
	uint16_t exponent = dtype == FW_F16 ? 0x7c00u : 0x7f80u;
	int64_t bad = n;
#pragma omp parallel for schedule(static) reduction(min : bad)
	for (int64_t i = 0; i < n; i++) {
		bool finite;
		if (slot == FW_LSE) {
			float x = ((const float *)data)[i];
			finite = x < INFINITY;
		} else {
			finite = (((const uint16_t *)data)[i] & exponent) != exponent;
		}
		if (!finite && i < bad)
			bad = i;
	}
	return bad < n ? bad : -1;
}

static int find_nonfinite(const struct reference_io *io, int slot, int64_t *index, struct fw_err *err)
{
	int64_t n = reference_slot_elements(io->cell, slot);
	*index = -1;
	if (io->host[slot]) {
		*index = first_bad(slot, attention_in(io->cell)->dtype, io->host[slot], n);
		return 0;
	}
	void *chunk = malloc(SCAN * sizeof(float));
	int status = chunk ? 0 : err_set(err, ERR_FULL, "reference: out of memory");
	for (int64_t at = 0; status == 0 && *index < 0 && at < n; at += SCAN) {
		int64_t count = n - at < SCAN ? n - at : SCAN;
		status = reference_read(io, slot, at, (size_t)count, chunk, err);
		if (status == 0) {
			int64_t bad = first_bad(slot, attention_in(io->cell)->dtype, chunk, count);
			*index = bad < 0 ? -1 : at + bad;
		}
	}
	free(chunk);
	return status;
}

const struct reference_ops reference_cpu = { .name = "cpu", .compute = compute, .find_nonfinite = find_nonfinite };
