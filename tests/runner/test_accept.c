/* The reference compared with hand-made cases, and what the acceptance accepts, rejects and reports. */
/* Left to `make check`: takes seconds, only computes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "attention_cell.h"
#include "attention_run.h"
#include "families/attention/internal.h"
#include "tests/modules/good.c"

static const struct fw_provider *good(void)
{
	return fw_entry(FW_ABI)->provider[0];
}

static struct reference reference_of(const struct attention_run *r, struct reference_plan *plan, double visits)
{
	struct fw_err err = { 0 };
	struct reference ref;
	struct reference_io io = run_io(r);
	assert_int_equal(reference_plan_make(&r->cell, 7, visits, plan, &err), 0);
	assert_int_equal(reference_compute(&reference_cpu, plan, &io, &ref, &err), 0);
	return ref;
}

/* Complete check of the current buffers. */
static struct accept_result judge(const struct attention_run *r, double visits)
{
	struct fw_err err = { 0 };
	struct reference_plan plan;
	struct reference ref = reference_of(r, &plan, visits);
	struct reference_io io = run_io(r);
	struct accept_result result;
	assert_int_equal(accept_check(&ref, &reference_cpu, &io, &result, &err), 0);
	reference_fini(&ref);
	reference_plan_fini(&plan);
	return result;
}

static void all_masks(void (*test)(struct attention_run *))
{
	static const int lengths[] = { 1, 70, 2, 23 };
	struct attention_run r;
	run_init(&r, FW_FULL, 65, NULL, 1, 4, 2, 64, 0, 0);
	test(&r);
	run_fini(&r);
	run_init(&r, FW_CAUSAL, 130, NULL, 1, 2, 1, 128, 0, 0);
	test(&r);
	run_fini(&r);
	run_init(&r, FW_FULL, 96, lengths, 4, 2, 2, 64, 0, 0);
	test(&r);
	run_fini(&r);
	run_init(&r, FW_CAUSAL, 96, lengths, 4, 4, 1, 64, 0, 0);
	test(&r);
	run_fini(&r);
	run_init(&r, FW_BLOCKS, 256, NULL, 1, 4, 2, 64, 32, 0.4);
	test(&r);
	run_fini(&r);
}

static void check_correct(struct attention_run *r)
{
	assert_int_equal(run_once(r, good(), NULL, 0), FW_OK);
	struct accept_result result = judge(r, 0);
	if (!result.ok)
		fail_msg("%s: %s", r->cell.key, result.detail);
	assert_true(result.error_ratio < 0.8);
	run_direction(r, DIRECTION_BACKWARD);
	assert_int_equal(run_once(r, good(), NULL, 0), FW_OK);
	result = judge(r, 0);
	if (!result.ok)
		fail_msg("%s: %s", r->cell.key, result.detail);
	assert_true(result.error_ratio < 0.8);
}

static void accepts_correct_results(void **state)
{
	(void)state;
	all_masks(check_correct);
}

static void naive_values_pass_the_self_test(void **state)
{
	(void)state;
	struct attention_run r;
	struct reference_plan plan;
	struct accept_result result;
	struct fw_err err = { 0 };
	run_init(&r, FW_CAUSAL, 100, NULL, 1, 2, 1, 64, 0, 0);
	assert_int_equal(run_once(&r, good(), NULL, 0), FW_OK);
	run_direction(&r, DIRECTION_BACKWARD);
	struct reference ref = reference_of(&r, &plan, 0);
	struct reference_io io = run_io(&r);
	for (int i = 0; i < ref.n_tensors; i++) {
		const struct reference_tensor *t = &ref.tensor[i];
		uint16_t *out = r.buffer[t->slot];
		for (int p = 0; p < t->n; p++)
			for (int j = 0; j < t->width; j++)
				out[reference_slot_offset(&r.cell, t->slot, t->at[p]) + j] =
					inputs_float_to_bf16(t->naive[p * t->width + j]);
	}
	assert_int_equal(accept_check(&ref, &reference_cpu, &io, &result, &err), 0);
	assert_true(result.ok);
	assert_true(result.error_ratio > 0.2);
	reference_fini(&ref);
	reference_plan_fini(&plan);
	run_fini(&r);
}

/* All keys equal: every weight is 1 / n, O is the mean of V, LSE = scale * q.k + log n. */
static void equal_keys_give_the_mean(void **state)
{
	(void)state;
	enum { S = 9, D = 64 };
	struct attention_run r;
	struct reference_plan plan;
	run_init(&r, FW_CAUSAL, S, NULL, 1, 1, 1, D, 0, 0);
	uint16_t *k = r.buffer[FW_K], *v = r.buffer[FW_V], *q = r.buffer[FW_Q];
	for (int i = 1; i < S; i++)
		memcpy(k + i * D, k, D * sizeof *k);
	struct reference ref = reference_of(&r, &plan, 0);
	assert_true(plan.complete);
	assert_int_equal(plan.n_rows, S);
	for (int i = 0; i < S; i++) {
		double score = 0;
		for (int j = 0; j < D; j++) {
			double mean = 0;
			for (int key = 0; key <= i; key++)
				mean += (double)inputs_bf16_to_float(v[key * D + j]) / (i + 1);
			assert_true(fabs(mean - ref.tensor[0].exact[i * D + j]) < 1e-12);
			score += (double)inputs_bf16_to_float(q[i * D + j]) * (double)inputs_bf16_to_float(k[j]);
		}
		assert_true(fabs(ref.tensor[1].exact[i] - (score / 8 + log(i + 1))) < 1e-12);
	}
	reference_fini(&ref);
	reference_plan_fini(&plan);
	run_fini(&r);
}

/* Two keys, one query, by hand; and the gradients of sum(dO * O) by differences of the exact forward. */
static double loss(const struct attention_run *r, const double *q, const double *k, const double *v)
{
	const struct attention_case *a = attention_in(&r->cell);
	int s = a->seqlen, d = a->headdim;
	double sum = 0;
	for (int h = 0; h < a->nhq; h++)
		for (int i = 0; i < s; i++) {
			int g = h / (a->nhq / a->nhk);
			double weight[16], total = 0;
			for (int j = 0; j <= i; j++) {
				double score = 0;
				for (int x = 0; x < d; x++)
					score += q[(i * a->nhq + h) * d + x] * k[(j * a->nhk + g) * d + x];
				total += weight[j] = exp(score / sqrt(d));
			}
			for (int j = 0; j <= i; j++)
				for (int x = 0; x < d; x++)
					sum += weight[j] / total * v[(j * a->nhk + g) * d + x] *
					       (double)inputs_bf16_to_float(
						       ((uint16_t *)r->buffer[FW_DO])[(i * a->nhq + h) * d + x]);
		}
	return sum;
}

static void gradients_match_differences(void **state)
{
	(void)state;
	enum { S = 5, HQ = 2, D = 32 };
	struct attention_run r;
	struct reference_plan plan;
	run_init(&r, FW_CAUSAL, S, NULL, 1, HQ, 1, D, 0, 0);
	double x[3][S * HQ * D];
	for (int t = 0; t < 3; t++)
		for (int i = 0; i < S * (t ? 1 : HQ) * D; i++)
			x[t][i] = (double)inputs_bf16_to_float(((uint16_t *)r.buffer[t])[i]);
	assert_int_equal(run_once(&r, good(), NULL, 0), FW_OK);
	run_direction(&r, DIRECTION_BACKWARD);
	struct reference ref = reference_of(&r, &plan, 0);
	for (int t = 0; t < 3; t++) {
		const struct reference_tensor *tensor = &ref.tensor[t];
		for (int p = 0; p < tensor->n; p++)
			for (int j = 0; j < D; j += 5) {
				int64_t at = reference_slot_offset(&r.cell, tensor->slot, tensor->at[p]) + j;
				double kept = x[t][at], step = 1e-4;
				x[t][at] = kept + step;
				double up = loss(&r, x[0], x[1], x[2]);
				x[t][at] = kept - step;
				double down = loss(&r, x[0], x[1], x[2]);
				x[t][at] = kept;
				/* O is rounded to bf16, so delta is slightly off: hence not 1e-6. */
				assert_true(fabs((up - down) / (2 * step) - tensor->exact[p * D + j]) < 0.05);
			}
	}
	reference_fini(&ref);
	reference_plan_fini(&plan);
	run_fini(&r);
}

static void sampled_positions_agree_with_all(void **state)
{
	(void)state;
	struct attention_run r;
	struct reference_plan all, some;
	run_init(&r, FW_BLOCKS, 512, NULL, 1, 4, 2, 64, 64, 0.5);
	assert_int_equal(run_once(&r, good(), NULL, 0), FW_OK);
	run_direction(&r, DIRECTION_BACKWARD);
	struct reference full = reference_of(&r, &all, 0), part = reference_of(&r, &some, 1);
	assert_true(all.complete);
	assert_false(some.complete);
	assert_in_range(some.n_rows, 40, 64);
	assert_in_range(some.n_keys, 8, 16);
	for (int t = 0; t < 3; t++) {
		const struct reference_tensor *a = &full.tensor[t], *b = &part.tensor[t];
		for (int i = 0; i < b->n; i++) {
			int at = b->at[i].head * 512 + b->at[i].row;
			assert_int_equal(a->at[at].row, b->at[i].row);
			assert_memory_equal(a->exact + at * 64, b->exact + i * 64, 64 * sizeof *a->exact);
			assert_memory_equal(a->naive + at * 64, b->naive + i * 64, 64 * sizeof *a->naive);
		}
	}
	reference_fini(&full);
	reference_fini(&part);
	reference_plan_fini(&all);
	reference_plan_fini(&some);
	run_fini(&r);
}

static void plan_is_seeded_and_covers_ends(void **state)
{
	(void)state;
	static const int lengths[] = { 40000, 9151, 1 };
	struct attention_run r;
	struct reference_plan p[3];
	struct fw_err err = { 0 };
	memset(&r, 0, sizeof r);
	*attention_of(&r.cell) = (struct attention_case){
		.mask = FW_CAUSAL, .seqlen = 49152, .nhq = 64, .nhk = 8, .headdim = 128, .dtype = FW_BF16, .n_seqs = 3
	};
	snprintf(r.cell.family, sizeof r.cell.family, "attention");
	memcpy(attention_of(&r.cell)->length, lengths, sizeof lengths);
	run_direction(&r, DIRECTION_BACKWARD);
	for (int i = 0; i < 3; i++)
		assert_int_equal(reference_plan_make(&r.cell, i == 2 ? 8 : 7, 0, &p[i], &err), 0);
	assert_int_equal(p[0].n_rows, p[1].n_rows);
	assert_memory_equal(p[0].row, p[1].row, (size_t)p[0].n_rows * sizeof *p[0].row);
	assert_memory_equal(p[0].key, p[1].key, (size_t)p[0].n_keys * sizeof *p[0].key);
	assert_true(p[2].n_rows != p[0].n_rows || memcmp(p[0].row, p[2].row, (size_t)p[0].n_rows * sizeof *p[0].row));
	bool first = false, last = false, end = false;
	for (int i = 0; i < p[0].n_rows; i++) {
		first = first || p[0].row[i].row == 0;
		last = last || p[0].row[i].row == 49151;
		end = end || p[0].row[i].row == 39999 || p[0].row[i].row == 40000 || p[0].row[i].row == 49150;
		assert_in_range(p[0].row[i].head, 0, 63);
	}
	assert_true(first && last && end);
	for (int i = 0; i < p[0].n_keys; i++)
		assert_in_range(p[0].key[i].head, 0, 7);
	for (int i = 0; i < 3; i++)
		reference_plan_fini(&p[i]);
}

static void result_of_a_change(
	struct attention_run *r, int slot, struct reference_position at, int column, uint16_t bits, const char *name)
{
	int64_t i = reference_slot_offset(&r->cell, slot, at) + column;
	uint16_t *x = r->buffer[slot], kept = x[i];
	x[i] = bits;
	struct accept_result result = judge(r, 0);
	x[i] = kept;
	assert_false(result.ok);
	assert_int_equal(result.slot, slot);
	if (strncmp(result.detail, name, strlen(name)) != 0)
		fail_msg("%s is not named in: %s", name, result.detail);
}

static void names_the_wrong_element(void **state)
{
	(void)state;
	struct attention_run r;
	run_init(&r, FW_CAUSAL, 80, NULL, 1, 8, 4, 64, 0, 0);
	assert_int_equal(run_once(&r, good(), NULL, 0), FW_OK);
	uint16_t three = inputs_float_to_bf16(3);
	result_of_a_change(&r, FW_O, (struct reference_position){ 5, 70 }, 63, three, "O[query 70, head 5, 63] is 3, should be ");
	result_of_a_change(&r, FW_O, (struct reference_position){ 0, 1 }, 0, 0x7fc0, "O[query 1, head 0, 0] is nan, should be ");
	result_of_a_change(
		&r, FW_O, (struct reference_position){ 7, 79 }, 1, 0xff80, "O[query 79, head 7, 1] is -inf, should be ");
	float *lse = r.buffer[FW_LSE], kept = lse[3 * 80 + 17];
	lse[3 * 80 + 17] += 0.1f;
	struct accept_result result = judge(&r, 0);
	assert_false(result.ok);
	assert_int_equal(strncmp(result.detail, "LSE[query 17, head 3] is ", 25), 0);
	lse[3 * 80 + 17] = kept;
	run_direction(&r, DIRECTION_BACKWARD);
	assert_int_equal(run_once(&r, good(), NULL, 0), FW_OK);
	result_of_a_change(&r, FW_DQ, (struct reference_position){ 6, 33 }, 2, three, "dQ[query 33, head 6, 2] is 3, should be ");
	result_of_a_change(
		&r, FW_DK, (struct reference_position){ 3, 17 }, 64 - 1, three, "dK[key 17, head 3, 63] is 3, should be ");
	result_of_a_change(&r, FW_DV, (struct reference_position){ 1, 0 }, 9, 0x7f80, "dV[key 0, head 1, 9] is inf, should be ");
	run_fini(&r);
}

/* A missing block changes late rows only by little in absolute terms; the norm of the whole tensor barely changes. */
static void a_lost_block_shows(void **state)
{
	(void)state;
	struct attention_run r;
	run_init(&r, FW_BLOCKS, 1024, NULL, 1, 2, 1, 64, 64, 1.0);
	uint32_t kept = r.bits[11];
	r.bits[11] &= ~(1u << 3);
	assert_int_equal(run_once(&r, good(), NULL, 0), FW_OK);
	r.bits[11] = kept;
	struct accept_result result = judge(&r, 0);
	assert_false(result.ok);
	int query, head;
	assert_int_equal(sscanf(result.detail, "O[query %d, head %d,", &query, &head), 2);
	assert_in_range(query, 11 * 64, 12 * 64 - 1);
	run_fini(&r);
}

static void rows_without_keys_must_be_zero(void **state)
{
	(void)state;
	struct attention_run r;
	run_init(&r, FW_BLOCKS, 128, NULL, 1, 2, 1, 64, 32, 0.5);
	r.bits[1] = 0;
	assert_int_equal(run_once(&r, good(), NULL, 0), FW_OK);
	assert_true(judge(&r, 0).ok);
	uint16_t tiny = 0x3580;
	result_of_a_change(
		&r, FW_O, (struct reference_position){ 1, 40 }, 7, tiny, "O[query 40, head 1, 7] is 9.53674e-07, should be 0 ");
	float *lse = r.buffer[FW_LSE];
	lse[40] = -1e30f;
	assert_false(judge(&r, 0).ok);
	lse[40] = -INFINITY;
	run_direction(&r, DIRECTION_BACKWARD);
	assert_int_equal(run_once(&r, good(), NULL, 0), FW_OK);
	assert_true(judge(&r, 0).ok);
	result_of_a_change(
		&r, FW_DQ, (struct reference_position){ 0, 63 }, 0, tiny, "dQ[query 63, head 0, 0] is 9.53674e-07, should be 0 ");
	run_fini(&r);
}

static void nonfinite_outside_the_sample(void **state)
{
	(void)state;
	struct attention_run r;
	run_init(&r, FW_FULL, 300, NULL, 1, 2, 1, 64, 0, 0);
	assert_int_equal(run_once(&r, good(), NULL, 0), FW_OK);
	uint16_t *o = r.buffer[FW_O];
	for (int row = 100; row < 300; row += 33) {
		uint16_t kept = o[row * 128 + 64 + 3];
		o[row * 128 + 64 + 3] = 0x7fc0;
		struct accept_result result = judge(&r, 1);
		char name[40];
		snprintf(name, sizeof name, "O[query %d, head 1, 3] is ", row);
		assert_false(result.ok);
		assert_int_equal(strncmp(result.detail, name, strlen(name)), 0);
		o[row * 128 + 64 + 3] = kept;
	}
	run_fini(&r);
}

/* Outputs and given inputs through `read` instead of host memory, inputs from the seed. */
static int read_from_run(void *arg, int slot, int64_t first, size_t n, void *out, struct fw_err *err)
{
	const struct attention_run *r = arg;
	size_t size = slot == FW_LSE ? sizeof(float) : sizeof(uint16_t);
	if ((size_t)first + n > run_bytes(r, slot) / size)
		return err_set(err, ERR_INTERNAL, "read beyond %s", reference_slot_name(slot));
	memcpy(out, (const char *)r->buffer[slot] + (size_t)first * size, n * size);
	return 0;
}

static int read_fails(void *arg, int slot, int64_t first, size_t n, void *out, struct fw_err *err)
{
	(void)arg;
	(void)slot;
	(void)first;
	(void)n;
	(void)out;
	return err_set(err, ERR_IO, "no such tensor today");
}

/* A few large errors of naive code must not hide many small ones: only the fraction of wrong elements shows them. */
static void many_small_misses_show(void **state)
{
	enum { POSITIONS = 64, EARLY = 8, WIDTH = 64 };
	static uint16_t x[POSITIONS * WIDTH];
	static float lse[POSITIONS], naive[POSITIONS * WIDTH], noise[POSITIONS * WIDTH];
	static double exact[POSITIONS * WIDTH];
	struct reference_position at[POSITIONS];
	struct attention_run r;
	(void)state;
	run_init(&r, FW_FULL, POSITIONS, NULL, 1, 1, 1, WIDTH, 0, 0);
	for (int i = 0; i < POSITIONS; i++) {
		at[i] = (struct reference_position){ 0, i };
		for (int j = 0; j < WIDTH; j++) {
			int e = i * WIDTH + j;
			double unit = 2.0 * ((e * 37) % 101) / 101 - 1;
			exact[e] = (double)reference_round(FW_BF16, (float)(i < EARLY ? 2 * unit : 0.2 * unit));
			naive[e] = (float)(exact[e] + (i < EARLY ? 0.05 : j % 16 == 0 ? 0.004 : 0));
		}
	}
	struct reference ref = { .cell = &r.cell,
		.n_tensors = 1,
		.tensor[0] = { .slot = FW_O,
			.n = POSITIONS,
			.width = WIDTH,
			.at = at,
			.exact = exact,
			.naive = naive,
			.noise = noise } };
	struct reference_io io = { .cell = &r.cell, .host = { [FW_O] = x, [FW_LSE] = lse } };
	for (int off = 0; off < 2; off++) {
		struct accept_result result;
		struct fw_err err = { 0 };
		for (int e = 0; e < POSITIONS * WIDTH; e++)
			x[e] = to_bf16((float)(exact[e] + (off && e >= EARLY * WIDTH ? 0.0035 : 0)));
		assert_int_equal(accept_check(&ref, NULL, &io, &result, &err), 0);
		assert_int_equal(result.ok, !off);
	}
	run_fini(&r);
}

static void reads_through_the_callback(void **state)
{
	(void)state;
	struct attention_run r;
	struct reference_plan plan;
	struct reference ref;
	struct accept_result result;
	struct fw_err err = { 0 };
	run_init(&r, FW_FULL, 530, NULL, 1, 4, 2, 64, 0, 0); /* three parts of tokens, the last one short */
	assert_int_equal(run_once(&r, good(), NULL, 0), FW_OK);
	run_direction(&r, DIRECTION_BACKWARD);
	assert_int_equal(run_once(&r, good(), NULL, 0), FW_OK);
	struct reference_io io = { .cell = &r.cell, .read = read_from_run, .arg = &r };
	assert_int_equal(reference_plan_make(&r.cell, 3, 1, &plan, &err), 0);
	assert_int_equal(reference_compute(&reference_cpu, &plan, &io, &ref, &err), 0);
	assert_int_equal(accept_check(&ref, &reference_cpu, &io, &result, &err), 0);
	if (!result.ok)
		fail_msg("%s", result.detail);
	io.read = read_fails;
	assert_int_equal(accept_check(&ref, &reference_cpu, &io, &result, &err), -1);
	assert_string_equal(err.text, "no such tensor today");
	reference_fini(&ref);
	err_clear(&err);
	assert_int_equal(reference_compute(&reference_cpu, &plan, &io, &ref, &err), -1);
	assert_int_equal(err.code, ERR_IO);
	reference_plan_fini(&plan);
	run_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_correct_results),
		cmocka_unit_test(naive_values_pass_the_self_test),
		cmocka_unit_test(equal_keys_give_the_mean),
		cmocka_unit_test(gradients_match_differences),
		cmocka_unit_test(sampled_positions_agree_with_all),
		cmocka_unit_test(plan_is_seeded_and_covers_ends),
		cmocka_unit_test(names_the_wrong_element),
		cmocka_unit_test(a_lost_block_shows),
		cmocka_unit_test(rows_without_keys_must_be_zero),
		cmocka_unit_test(nonfinite_outside_the_sample),
		cmocka_unit_test(many_small_misses_show),
		cmocka_unit_test(reads_through_the_callback),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
