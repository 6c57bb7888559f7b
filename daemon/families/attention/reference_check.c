/* reference_check.c - check of attention results for the runner. */
#include "families/attention/internal.h"

#include <stdio.h>

/*
 * ---- reference_accept ----
 * Compare a kernel's outputs with the reference, tensor by tensor, and record the worst position.
 *
 * A norm over a whole tensor hides a missing block in rows with small values (late rows of a causal mask). So each position is
 * also compared with its own noise: the errors of naive code, of one rounding of P or dS, and of rounding the result. A
 * position of dQ may in addition differ by the shift of a recomputed softmax and delta.
 */

/* Factors of the criteria. */
static const double max_factor = 2.0, floor_offset = 0.3, norm_factor = 1.1, noise_factor = 4.0, position_factor = 4.0,
		    lse_tolerance = 1e-3, hopeless = 1e9;

/* Limits of the number of mismatches; relative tolerances are in relative_tolerance(). */
static const double mismatch_factor = 2.0, mismatch_most = 0.75, absolute_tolerance = 1e-8;

/* Outputs of a tensor at its positions, with their reference. */
struct compared {
	const struct reference_tensor *t;
	const char *name;
	const struct cell *cell;
	float *x; /* [n][width] */
};

static double ratio_of(double error, double allowed)
{
	if (!(error > 0))
		return error == error ? 0 : hopeless;
	return allowed > 0 && error / allowed < hopeless ? error / allowed : hopeless;
}

static void position_name(const struct compared *c, struct reference_position at, int column, char *out, size_t size)
{
	bool key = c->t->slot == FW_DK || c->t->slot == FW_DV;
	if (c->t->slot == FW_LSE)
		snprintf(out, size, "LSE[query %d, head %d]", at.row, at.head);
	else
		snprintf(out, size, "%s[%s %d, head %d, %d]", c->name, key ? "key" : "query", at.row, at.head, column);
}

/* Store the error if it is the worst so far. `position` indexes c->t->at, `column` is the element in it. */
static void note(struct accept_result *r, const struct compared *c, double ratio, int position, int column, double allowed)
{
	if (r->detail[0] && ratio <= r->error_ratio)
		return;
	char name[96];
	size_t i = (size_t)position * (size_t)c->t->width + (size_t)column;
	position_name(c, c->t->at[position], column, name, sizeof name);
	r->error_ratio = ratio;
	r->slot = c->t->slot;
	snprintf(r->detail, sizeof r->detail, "%s is %.6g, should be %.6g (allowed error %.3g)", name, (double)c->x[i],
		c->t->exact[i], allowed);
}

static int read_outputs(struct compared *c, const struct reference_io *out, struct fw_err *err)
{
	const struct reference_tensor *t = c->t;
	size_t width = (size_t)t->width, count = (size_t)t->n * width;
	int64_t elements = reference_slot_elements(c->cell, t->slot);
	bool whole = (int64_t)count == elements; /* one copy of the head instead of one for each position */
	size_t capacity = (whole ? count : width) + 1;
	float *words = calloc(capacity, sizeof *words);
	uint16_t *bits = (uint16_t *)words;
	int status = 0;

	c->x = calloc(count + 1, sizeof *c->x);
	if (!words || !c->x)
		status = err_set(err, ERR_FULL, "accept: out of memory");
	if (status == 0 && whole)
		status = reference_read(out, t->slot, 0, count, bits, err);
	for (int i = 0; status == 0 && i < t->n; i++) {
		int64_t offset = reference_slot_offset(c->cell, t->slot, t->at[i]);
		const uint16_t *from = bits;
		if (whole)
			from = t->slot == FW_LSE ? (const uint16_t *)(words + offset) : bits + offset;
		else
			status = reference_read(out, t->slot, offset, width, bits, err);
		if (t->slot == FW_LSE)
			memcpy(&c->x[i], from, sizeof(float));
		else
			for (size_t j = 0; j < width; j++)
				c->x[(size_t)i * width + j] = reference_value(attention_in(c->cell)->dtype, from[j]);
	}
	free(words);
	return status;
}

static void compare_lse(const struct compared *c, struct accept_result *r)
{
	for (int i = 0; i < c->t->n; i++) {
		double exact = c->t->exact[i], x = (double)c->x[i], allowed = lse_tolerance * (1 + fabs(exact));
		double error = fabs(x - exact);
		if (isinf(exact)) {
			allowed = 0;
			error = x == exact ? 0 : INFINITY;
		}
		note(r, c, ratio_of(error, allowed), i, 0, allowed);
	}
}

/* Return the error of adding and subtracting 0.3 in the tensors' type: a rounding error that any implementation may have. */
static double rounding_floor(int32_t dtype, double exact)
{
	float offset = (float)floor_offset;
	return fabs((double)reference_round(dtype, reference_round(dtype, (float)exact + offset) - offset) - exact);
}

/* Relative error from which an element is a mismatch; larger for gradients, whose sums cancel more. */
static double relative_tolerance(int slot)
{
	return slot == FW_DQ ? 0.3 : slot == FW_DK ? 0.15 : 0.05;
}

/* Numbers of elements beyond their tolerance: of the kernel, of naive code, and expected from its noise. */
struct mismatches {
	int kernel, naive, worst, worst_column;
	double expected, worst_excess;
};

static void count_mismatch(struct mismatches *m, const struct reference_tensor *t, int position, int column, double error)
{
	size_t e = (size_t)position * (size_t)t->width + (size_t)column;
	double exact = t->exact[e], noise = (double)t->noise[e];
	double tolerance = absolute_tolerance + relative_tolerance(t->slot) * fabs(exact);
	if (error > tolerance) {
		m->kernel++;
		if (error / tolerance > m->worst_excess) {
			m->worst_excess = error / tolerance;
			m->worst = position;
			m->worst_column = column;
		}
	}
	m->naive += fabs((double)t->naive[e] - exact) > tolerance;
	if (noise > 0)
		m->expected += erfc(tolerance / (noise * sqrt(2)));
}

/* Counts are coarse, so only a violation of this criterion is recorded; the other criteria determine the tracked ratio. */
static void compare_mismatches(const struct compared *c, const struct mismatches *m, struct accept_result *r)
{
	double elements = (double)c->t->n * c->t->width, expected = fmax(m->naive, m->expected);
	double spread = noise_factor * sqrt(2 * expected) + c->t->width / 8.0; /* mismatches within one position are correlated */
	double allowed = mismatch_factor * expected + spread;
	allowed = fmin(allowed, mismatch_most * elements);
	if (m->kernel > allowed)
		note(r, c, m->kernel / fmax(allowed, 1), m->worst, m->worst_column,
			relative_tolerance(c->t->slot) *
				fabs(c->t->exact[(size_t)m->worst * (size_t)c->t->width + (size_t)m->worst_column]));
}

/* Sums of squares over one position or a whole tensor. */
struct norms {
	double error, naive, noise, rounding, shift;
};

static void compare_tensor(const struct compared *c, struct accept_result *r)
{
	const struct reference_tensor *t = c->t;
	struct norms all = { 0 };
	struct mismatches mismatches = { 0 };
	double max_naive = 0, max_floor = 0, max_error = -1;
	int worst = 0, worst_column = 0;
	int32_t dtype = attention_in(c->cell)->dtype;

	for (int i = 0; i < t->n; i++) {
		struct norms one = { 0 };
		double position_error = -1;
		int position_column = 0;
		for (int j = 0; j < t->width; j++) {
			size_t e = (size_t)i * (size_t)t->width + (size_t)j;
			double exact = t->exact[e], error = fabs((double)c->x[e] - exact),
			       naive = fabs((double)t->naive[e] - exact);
			double rounding = fabs((double)reference_round(dtype, (float)exact) - exact), noise = (double)t->noise[e];
			if (!isfinite(c->x[e])) {
				note(r, c, hopeless, i, j, 0);
				return;
			}
			count_mismatch(&mismatches, t, i, j, error);
			max_naive = fmax(max_naive, naive);
			max_floor = fmax(max_floor, noise > 0 ? rounding_floor(dtype, exact) : 0);
			if (error > position_error) {
				position_error = error;
				position_column = j;
			}
			one.error += error * error;
			one.naive += naive * naive;
			one.noise += noise * noise;
			one.rounding += rounding * rounding;
			one.shift += t->shift ? (double)t->shift[e] * (double)t->shift[e] : 0;
		}
		double allowed = position_factor * sqrt(one.naive + one.noise + one.rounding) + sqrt(one.shift);
		note(r, c, ratio_of(sqrt(one.error), allowed), i, position_column, allowed / sqrt(t->width));
		if (position_error > max_error) {
			max_error = position_error;
			worst = i;
			worst_column = position_column;
		}
		all.error += one.error;
		all.naive += one.naive;
		all.noise += one.noise;
		all.rounding += one.rounding;
	}
	if (t->n == 0)
		return;
	double allowed = max_factor * (max_naive + max_floor);
	note(r, c, ratio_of(max_error, allowed), worst, worst_column, allowed);
	allowed = norm_factor * sqrt(all.naive) + noise_factor * sqrt((all.noise + all.rounding) / t->n);
	note(r, c, ratio_of(sqrt(all.error), allowed), worst, worst_column, allowed / sqrt((double)t->n * t->width));
	compare_mismatches(c, &mismatches, r);
}

/* Search the whole tensor for NaN and Inf, also outside the planned positions. */
static int search_nonfinite(const struct compared *c, const struct reference_ops *ops, const struct reference_io *out,
	struct accept_result *r, struct fw_err *err)
{
	int64_t index;
	const struct attention_case *a = attention_in(c->cell);
	if (ops->find_nonfinite(out, c->t->slot, &index, err))
		return -1;
	if (index < 0 || r->error_ratio >= hopeless)
		return 0;
	struct reference_position at;
	char name[96];
	int column = 0;
	if (c->t->slot == FW_LSE) {
		at = (struct reference_position){ (int32_t)(index / attention_total_q(a)),
			(int32_t)(index % attention_total_q(a)) };
	} else {
		int64_t vector = index / a->headdim, heads = c->t->slot == FW_DK || c->t->slot == FW_DV ? a->nhk : a->nhq;
		column = (int)(index % a->headdim);
		at = (struct reference_position){ (int32_t)(vector % heads), (int32_t)(vector / heads) };
	}
	position_name(c, at, column, name, sizeof name);
	r->error_ratio = hopeless;
	r->slot = c->t->slot;
	snprintf(r->detail, sizeof r->detail, "%s is not finite", name);
	return 0;
}

int accept_check(const struct reference *reference, const struct reference_ops *ops, const struct reference_io *out,
	struct accept_result *result, struct fw_err *err)
{
	*result = (struct accept_result){ .ok = false, .slot = -1 };
	for (int i = 0; i < reference->n_tensors; i++) {
		struct compared c = { .t = &reference->tensor[i], .cell = reference->cell };
		c.name = reference_slot_name(c.t->slot);
		int status = read_outputs(&c, out, err);
		if (status == 0) {
			if (c.t->slot == FW_LSE)
				compare_lse(&c, result);
			else
				compare_tensor(&c, result);
			if (ops)
				status = search_nonfinite(&c, ops, out, result, err);
		}
		free(c.x);
		if (status)
			return -1;
	}
	result->ok = result->error_ratio <= 1;
	return 0;
}

/* ---- reference_check ---- */

/* Reference of one direction. */
struct half {
	struct cell cell;
	struct reference_io io;
	struct reference_plan plan;
	struct reference reference;
};

/*
 * A total is checked as its forward, then as a backward of the O and LSE that the call wrote: they are known only when results
 * are compared, so that its reference is computed then.
 */
struct expected {
	const struct check_io *from;
	const struct reference_ops *ops;
	struct half half;  /* the direction's, of a total its forward */
	bool has_backward; /* a total */
	struct half backward;
};

static int read_slot(void *arg, int slot, int64_t first, size_t n, void *out, struct fw_err *err)
{
	const struct check_io *io = arg;

	if (!io->read)
		return err_set(err, ERR_INTERNAL, "the reference requests a tensor that %s does not have", io->cell->key);
	return io->read(io->arg, slot, first, n, out, err);
}

static void close_expected(struct expected *e)
{
	if (!e)
		return;
	reference_fini(&e->half.reference);
	reference_plan_fini(&e->half.plan);
	reference_fini(&e->backward.reference);
	reference_plan_fini(&e->backward.plan);
	free(e);
}

static int plan_half(
	const struct check_io *io, enum direction d, uint64_t seed, double visits, struct half *h, struct fw_err *err)
{
	h->cell = *io->cell;
	h->cell.direction = d;
	h->io = (struct reference_io){ .cell = &h->cell,
		.cu_q = io->laid[FW_CU_Q],
		.cu_k = io->laid[FW_CU_K],
		.block_bits = io->laid[FW_BLOCK_BITS],
		.token_bits = io->laid[FW_TOKEN_BITS],
		.pages = io->laid[FW_PAGES],
		.read = read_slot,
		.arg = (void *)(uintptr_t)io };
	memcpy(h->io.host, io->host, sizeof h->io.host);
	memcpy(h->io.on_device, io->on_device, sizeof h->io.on_device);
	return reference_plan_make(&h->cell, seed, visits, &h->plan, err);
}

static struct expected *open_expected(const struct check_io *io, uint64_t seed, double visits, struct fw_err *err)
{
	struct expected *e = calloc(1, sizeof *e);

	if (!e) {
		err_set(err, ERR_FULL, "reference: out of memory");
		return NULL;
	}
	e->from = io;
	e->has_backward = io->cell->direction == DIRECTION_TOTAL;
	e->ops = &reference_cpu;
#ifdef FW_HAVE_CUDA
	if (io->on_device[FW_Q])
		e->ops = &reference_cuda;
#endif
	enum direction d = e->has_backward ? DIRECTION_FORWARD : io->cell->direction;

	if (plan_half(io, d, seed, visits, &e->half, err) == 0 &&
		reference_compute(e->ops, &e->half.plan, &e->half.io, &e->half.reference, err) == 0 &&
		(!e->has_backward || plan_half(io, DIRECTION_BACKWARD, seed, visits, &e->backward, err) == 0))
		return e;
	close_expected(e);
	return NULL;
}

static int compare(struct expected *e, struct accept_result *result, struct fw_err *err)
{
	struct half *b = &e->backward;
	struct accept_result backward;

	if (accept_check(&e->half.reference, e->ops, &e->half.io, result, err) != 0)
		return -1;
	if (!e->has_backward || !result->ok)
		return 0;
	if (reference_compute(e->ops, &b->plan, &b->io, &b->reference, err) != 0)
		return -1;
	int status = accept_check(&b->reference, e->ops, &b->io, &backward, err);

	reference_fini(&b->reference);
	if (status == 0 && backward.error_ratio > result->error_ratio)
		*result = backward;
	return status;
}

const struct family_check family_check_attention = { .open = open_expected, .compare = compare, .close = close_expected };
