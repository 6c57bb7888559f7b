/*
 * A backward may compute softmax and delta itself. O was rounded to bf16, so the delta of the given O differs; where P is peaked,
 * dQ and dK show the difference. Such a result is correct, and one with a larger error is not.
 */
/* Left to `make check`: takes seconds, only computes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "attention_cell.h"
#include "attention_run.h"
#include "families/attention/internal.h"
#include "tests/modules/honest_recomputes.c"

static void expect(const struct attention_run *r, struct reference_plan *plan, struct reference *reference)
{
	struct fw_err err = { 0 };
	struct reference_io io = run_io(r);

	assert_int_equal(reference_plan_make(&r->cell, 7, 0, plan, &err), 0);
	assert_int_equal(reference_compute(&reference_cpu, plan, &io, reference, &err), 0);
}

static struct accept_result judge(const struct attention_run *r, const struct reference *reference)
{
	struct fw_err err = { 0 };
	struct reference_io io = run_io(r);
	struct accept_result result;

	assert_int_equal(accept_check(reference, &reference_cpu, &io, &result, &err), 0);
	return result;
}

static void backward(struct attention_run *r)
{
	const struct fw_provider *recomputes = fw_entry(FW_ABI)->provider[0];

	run_direction(r, DIRECTION_FORWARD);
	assert_int_equal(run_once(r, recomputes, NULL, 0), FW_OK);
	run_direction(r, DIRECTION_BACKWARD);
	assert_int_equal(run_once(r, recomputes, NULL, 0), FW_OK);
}

/* Queries that are `times` as long make P more peaked. */
static void accepts_inputs(int mask, int seqlen, int headdim, float times, int seeds)
{
	struct attention_run r;

	run_init(&r, mask, seqlen, NULL, 1, 2, 1, headdim, 0, 0);
	for (int seed = 1; seed <= seeds; seed++) {
		struct reference_plan plan;
		struct reference reference;
		uint16_t *q = r.buffer[FW_Q];

		run_seed(&r, (uint64_t)seed);
		for (size_t i = 0; i < run_bytes(&r, FW_Q) / sizeof *q; i++)
			q[i] = inputs_float_to_bf16(times * inputs_bf16_to_float(q[i]));
		backward(&r);
		expect(&r, &plan, &reference);
		struct accept_result result = judge(&r, &reference);
		if (!result.ok)
			fail_msg("%s, seed %d: %s", r.cell.key, seed, result.detail);
		reference_fini(&reference);
		reference_plan_fini(&plan);
	}
	run_fini(&r);
}

static void accepts_a_recomputed_delta(void **state)
{
	(void)state;
	accepts_inputs(FW_CAUSAL, 64, 32, 1, 30);
	accepts_inputs(FW_FULL, 96, 32, 1, 10);
	accepts_inputs(FW_FULL, 64, 32, 3, 10);
}

static double square(double x)
{
	return x * x;
}

static double norm_of(const float *x, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += square((double)x[i]);
	return sqrt(sum);
}

/* The largest error that is allowed in a row in addition to its shift. */
static double noise_of(const struct reference_tensor *t, int row)
{
	double sum = 0;

	for (int e = row * t->width; e < (row + 1) * t->width; e++)
		sum += square((double)t->noise[e]) + square((double)t->naive[e] - t->exact[e]) +
		       square((double)reference_round(FW_BF16, (float)t->exact[e]) - t->exact[e]);
	return sqrt(sum);
}

/* The row whose tolerance depends most on what its own delta changes. */
static int most_shifted(const struct reference_tensor *t)
{
	double most = 0;
	int found = -1;

	for (int i = 0; i < t->n; i++) {
		double noise = noise_of(t, i), ratio = noise > 0 ? norm_of(t->shift + i * t->width, t->width) / noise : 0;

		if (ratio > most) {
			most = ratio;
			found = i;
		}
	}
	assert_true(found >= 0);
	return found;
}

/* dQ of one row as its own delta gives it, then with `times` the error. */
static bool accepts_shifted(const struct attention_run *r, const struct reference *reference, int row, double times)
{
	const struct reference_tensor *t = &reference->tensor[0];
	uint16_t *x = (uint16_t *)r->buffer[FW_DQ] + reference_slot_offset(&r->cell, FW_DQ, t->at[row]);

	for (int j = 0; j < t->width; j++)
		x[j] = inputs_float_to_bf16((float)(t->exact[row * t->width + j] + times * (double)t->shift[row * t->width + j]));
	struct accept_result result = judge(r, reference);
	assert_true(result.ok || result.slot == FW_DQ);
	return result.ok;
}

static void a_greater_difference_shows(void **state)
{
	struct attention_run r;
	struct reference_plan plan;
	struct reference reference;

	(void)state;
	run_init(&r, FW_CAUSAL, 64, NULL, 1, 2, 1, 32, 0, 0);
	backward(&r);
	expect(&r, &plan, &reference);
	int row = most_shifted(&reference.tensor[0]);
	assert_true(accepts_shifted(&r, &reference, row, 1));
	assert_false(accepts_shifted(&r, &reference, row, 6));
	reference_fini(&reference);
	reference_plan_fini(&plan);
	run_fini(&r);
}

/* A row that attends to one key has P = 1 and dS = 0 with either delta: no additional error is allowed there. */
static void a_row_with_one_key_is_not_shifted(void **state)
{
	struct attention_run r;
	struct reference_plan plan;
	struct reference reference;

	(void)state;
	run_init(&r, FW_CAUSAL, 8, NULL, 1, 1, 1, 32, 0, 0);
	backward(&r);
	expect(&r, &plan, &reference);
	assert_true(norm_of(reference.tensor[0].shift, 32) < 1e-5);
	assert_true(norm_of(reference.tensor[0].shift + 32, 32) > 1e-5);
	assert_null(reference.tensor[1].shift);
	reference_fini(&reference);
	reference_plan_fini(&plan);
	run_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_a_recomputed_delta),
		cmocka_unit_test(a_greater_difference_shows),
		cmocka_unit_test(a_row_with_one_key_is_not_shifted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
