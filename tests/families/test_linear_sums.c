/* Products of e4m3 whose sums stay in the tensor core: Hopper's loss of precision is accepted; a larger loss or another error is
 * not. */
/* Left to `make check`: takes seconds, only computes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "families/linear/internal.h"
#include "model/model.h"
#include "runner/runner.h"

enum { M = 4, N = 512, K_MAX = 8192, AT_ONCE = 32, HOPPER_BITS = 13 };

static const struct fw_linear_operand by_row = { .dtype = FW_E4M3, .scaling = FW_LINEAR_BY_ROW };

struct layer {
	struct suite suite;
	int k;
	uint16_t x[M * K_MAX], w[N * K_MAX], y[M * N];
	double scale_x[M], scale_w[N];
	float values_x[M * K_MAX], values_w[N * K_MAX]; /* as they are multiplied, without their scales */
};

static struct layer layer;

static void take(const uint16_t *from, int rows, int k, double *scale, float *out)
{
	for (int i = 0; i < rows; i++) {
		float amax = 0;
		for (int l = 0; l < k; l++)
			amax = fmaxf(amax, fabsf(inputs_bf16_to_float(from[i * k + l])));
		float s = quantise_scale(&by_row, amax);
		scale[i] = (double)s;
		for (int l = 0; l < k; l++)
			out[i * k + l] = (float)(quantise_value(&by_row, inputs_bf16_to_float(from[i * k + l]), s) / (double)s);
	}
}

static void make(int k, bool is_exact)
{
	char text[512];
	struct fw_err err = { 0 };
	uint64_t x = inputs_stream(7, FW_LINEAR_X), w = inputs_stream(7, FW_LINEAR_W);
	snprintf(text, sizeof text,
		"suite: sums\nfamily: linear\nseed: 7\nthreshold_pct: 2\nbudget_s: 10\nshapes: [{name: custom, shapes: [[%d, %d, %d]]}]\n"
		"recipes: [float8dq-row]\ndirections: [forward]\nfast_accumulation: %s\n",
		M, k, N, is_exact ? "false" : "true");
	if (suite_parse(text, strlen(text), "sums.yaml", &layer.suite, &err) != 0)
		fail_msg("%s", err.text);
	layer.k = k;
	for (int i = 0; i < M * k; i++)
		layer.x[i] = inputs_element(x, (uint64_t)i);
	for (int i = 0; i < N * k; i++)
		layer.w[i] = inputs_element(w, (uint64_t)i);
	take(layer.x, M, k, layer.scale_x, layer.values_x);
	take(layer.w, N, k, layer.scale_w, layer.values_w);
}

/* 32 products and the sum so far, truncated to `bits` below the largest of them, then added. */
static double sum_of(const float *x, const float *w, int k, int bits)
{
	double sum = 0;
	for (int first = 0; first < k; first += AT_ONCE) {
		int exponent, count = k - first < AT_ONCE ? k - first : AT_ONCE;
		double largest = fabs(sum), next = 0;
		for (int l = first; l < first + count; l++)
			largest = fmax(largest, fabs((double)x[l] * (double)w[l]));
		frexp(largest, &exponent);
		double unit = ldexp(1, exponent - 1 - bits);
		for (int l = first; l < first + count; l++)
			next += trunc((double)x[l] * (double)w[l] / unit) * unit;
		sum = next + trunc(sum / unit) * unit;
	}
	return sum;
}

/* Sums leave the tensor core after `leaves` values. */
static struct accept_result judge_parts(int bits, int leaves, double factor_of_a_column)
{
	struct check_io io = { .cell = &layer.suite.cell[0] };
	struct accept_result result = { 0 };
	struct fw_err err = { 0 };
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0;
			for (int l = 0; l < layer.k; l += leaves)
				sum += sum_of(&layer.values_x[i * layer.k + l], &layer.values_w[j * layer.k + l],
					layer.k - l < leaves ? layer.k - l : leaves, bits);
			double y = sum * layer.scale_x[i] * layer.scale_w[j] * (j == N / 2 ? factor_of_a_column : 1);
			layer.y[i * N + j] = inputs_float_to_bf16((float)y);
		}
	io.host[FW_LINEAR_X] = layer.x;
	io.host[FW_LINEAR_W] = layer.w;
	io.host[FW_LINEAR_Y] = layer.y;
	const struct family_check *check = family_check_find("linear");
	struct expected *e = check->open(&io, 3, 0, &err);
	if (!e || check->compare(e, &result, &err) != 0)
		fail_msg("%s", err.text);
	check->close(e);
	return result;
}

static struct accept_result judged(int bits, double factor_of_a_column)
{
	return judge_parts(bits, layer.k, factor_of_a_column);
}

static void rounding_of_hopper_is_accepted(void **state)
{
	static const int lengths[] = { 64, 1024, 3584, 8192 };
	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		make(lengths[i], false);
		struct accept_result result = judged(HOPPER_BITS, 1);
		if (!result.ok)
			fail_msg("k %d: %s", lengths[i], result.detail);
		suite_fini(&layer.suite);
	}
}

static void larger_errors_are_rejected(void **state)
{
	(void)state;
	make(8192, false);
	assert_false(judged(HOPPER_BITS - 3, 1).ok);
	assert_false(judged(HOPPER_BITS, 1.1).ok); /* the scale of one column of 512 */
	assert_false(judged(HOPPER_BITS, 0.9).ok);
	suite_fini(&layer.suite);
}

/* A user who requests exact sums gets none that stayed in the tensor core. */
static void exact_sums_accept_no_tensor_core_rounding(void **state)
{
	(void)state;
	make(8192, true);
	assert_false(judged(HOPPER_BITS, 1).ok);
	assert_true(judged(40, 1).ok);
	suite_fini(&layer.suite);
}

/* fw_linear.h lets sums of 128 stay without fast accumulation. */
static void exact_sums_may_stay_for_128_values(void **state)
{
	static const int lengths[] = { 64, 128, 320, 1024, 3584, 8192 };
	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		make(lengths[i], true);
		struct accept_result result = judge_parts(HOPPER_BITS, 128, 1);
		if (!result.ok)
			fail_msg("k %d: %s", lengths[i], result.detail);
		assert_false(judge_parts(HOPPER_BITS - 3, 128, 1).ok);
		if (lengths[i] >= 1024)
			assert_false(judge_parts(HOPPER_BITS, 1024, 1).ok);
		suite_fini(&layer.suite);
	}
}

enum { BLOCK = FW_LINEAR_SCALE_BLOCK, BLOCKS_N = 256, BLOCKS_K = 8000 };

/* Compute the scale of a block of `rows` rows and up to BLOCK columns, and its values without it. Shape: from, out [..][k]. */
static double take_block(const uint16_t *from, int rows, int columns, int k, float *out)
{
	float amax = 0;
	for (int i = 0; i < rows; i++)
		for (int l = 0; l < columns; l++)
			amax = fmaxf(amax, fabsf(inputs_bf16_to_float(from[i * k + l])));
	float s = quantise_scale(&by_row, amax);
	for (int i = 0; i < rows; i++)
		for (int l = 0; l < columns; l++)
			out[i * k + l] = (float)(quantise_value(&by_row, inputs_bf16_to_float(from[i * k + l]), s) / (double)s);
	return (double)s;
}

/*
 * Scales by block, whose sums leave the tensor core after `leaves` values. Judge a kernel with `bits` of precision; the last block
 * of the depth has 64 values.
 */
static bool blocks_are_right(int bits, int leaves)
{
	static double scale_x[M][BLOCKS_K / BLOCK + 1], scale_w[BLOCKS_N / BLOCK][BLOCKS_K / BLOCK + 1];
	const int k = BLOCKS_K;
	struct accept_result result = { 0 };
	struct fw_err err = { 0 };
	char text[512];
	snprintf(text, sizeof text,
		"suite: sums\nfamily: linear\nseed: 7\nthreshold_pct: 2\nbudget_s: 10\nshapes: [{name: custom, shapes: [[%d, %d, "
		"%d]]}]\nrecipes: [float8dq-block]\ndirections: [forward]\n",
		M, k, BLOCKS_N);
	if (suite_parse(text, strlen(text), "sums.yaml", &layer.suite, &err) != 0)
		fail_msg("%s", err.text);
	for (int i = 0; i < M * k; i++)
		layer.x[i] = inputs_element(inputs_stream(7, FW_LINEAR_X), (uint64_t)i);
	for (int i = 0; i < BLOCKS_N * k; i++)
		layer.w[i] = inputs_element(inputs_stream(7, FW_LINEAR_W), (uint64_t)i);
	for (int l = 0; l < k; l += BLOCK) {
		int columns = k - l < BLOCK ? k - l : BLOCK;
		for (int i = 0; i < M; i++)
			scale_x[i][l / BLOCK] = take_block(layer.x + i * k + l, 1, columns, k, layer.values_x + i * k + l);
		for (int j = 0; j < BLOCKS_N; j += BLOCK)
			scale_w[j / BLOCK][l / BLOCK] =
				take_block(layer.w + j * k + l, BLOCK, columns, k, layer.values_w + j * k + l);
	}
	for (int i = 0; i < M; i++)
		for (int j = 0; j < BLOCKS_N; j++) {
			double y = 0;
			for (int l = 0; l < k; l += leaves) {
				int count = k - l < leaves ? k - l : leaves;
				y += sum_of(&layer.values_x[i * k + l], &layer.values_w[j * k + l], count, bits) *
				     scale_x[i][l / BLOCK] * scale_w[j / BLOCK][l / BLOCK];
			}
			layer.y[i * BLOCKS_N + j] = inputs_float_to_bf16((float)y);
		}
	struct check_io io = { .cell = &layer.suite.cell[0] };
	io.host[FW_LINEAR_X] = layer.x;
	io.host[FW_LINEAR_W] = layer.w;
	io.host[FW_LINEAR_Y] = layer.y;
	const struct family_check *check = family_check_find("linear");
	struct expected *e = check->open(&io, 3, 0, &err);
	if (!e || check->compare(e, &result, &err) != 0)
		fail_msg("%s", err.text);
	check->close(e);
	suite_fini(&layer.suite);
	return result.ok;
}

static void sums_of_blocks_may_stay_for_a_block(void **state)
{
	(void)state;
	assert_true(blocks_are_right(40, BLOCK));
	assert_true(blocks_are_right(HOPPER_BITS, BLOCK));
	assert_false(blocks_are_right(HOPPER_BITS - 4, BLOCK));
	assert_false(blocks_are_right(40, BLOCKS_K)); /* scales of the first block for all */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounding_of_hopper_is_accepted),
		cmocka_unit_test(larger_errors_are_rejected),
		cmocka_unit_test(exact_sums_accept_no_tensor_core_rounding),
		cmocka_unit_test(exact_sums_may_stay_for_128_values),
		cmocka_unit_test(sums_of_blocks_may_stay_for_a_block),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
