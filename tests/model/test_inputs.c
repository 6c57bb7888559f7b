/* Inputs: golden hashes (tests/support/inputs.py gives the same), statistics, and the exact shape of block masks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention_cell.h"
#include "families/attention/attention.h"
#include "kernels/fw_attention.h"
#include "lib/lib.h"
#include "model/model.h"

static const struct {
	const char *name, *hash;
} golden[] = {
	{ "fill_q_seed42_1m", "4c92664c94cd57154ecccd92450c15b0e172ee28017703206b8ef2df936f93db" },
	{ "blocks_seed42_384_keep38", "2cd8b1661ba976fe9fc4b76a9c305e5f4ceffd4944bbc5acd7e58f1854f0715f" },
	{ "blocks_seed42_768_keep76", "46e4e60d747525afaf3aee0c753cf986c127059384ed83ab3d8d6b02c243f5f5" },
	{ "banded_seed42_384_keep38", "94330b51b63950fb68f41b165d8a741c813f8f1e5066d6138892592dee01b1f4" },
	{ "strided_seed42_384_keep38", "4a59787b89bcd13cb41fab0f7a2e88c891b6adc9a85833c473c0ecbaf6201676" },
	{ "bigbird_seed42_128_keep16", "ad4c649f2b2bafb76bb37664117e59f8227a1411466e12e7079f28b291f20e9c" },
	{ "random_tokens_seed42_8x512_keep51", "0c40433ac8a8bb23e8fb4a861cf14f4dbaddba8565f9e5f9bc8c07f3ee756856" },
	{ "tokens_seed42_4x2x100_density0.3", "948ff7dea95e96596fc8faa7cd0e2932c9a900d6b882f1f0ffc0284481e739bb" },
	{ "pages_seed42_100_17_1_page16", "126359b1ec7a50aaa2ac5661ca32562b655b531696e21d2a3b62c75b1e04416d" },
};

enum { MILLION = 1 << 20 };

static void fill_is_golden(void **state)
{
	uint16_t *v = malloc(MILLION * sizeof *v);
	char hex[HASH_HEX];

	(void)state;
	assert_non_null(v);
	inputs_fill(42, FW_Q, 0, MILLION, v);
	hash_hex(v, MILLION * sizeof *v, hex);
	assert_string_equal(hex, golden[0].hash);
	free(v);
}

static void check_blocks(enum pattern pattern, int rows, int blocks, int keep, const char *hash)
{
	size_t words = ((size_t)blocks + 31) / 32, n = 8 * (size_t)rows * words;
	uint32_t *bits = malloc(n * sizeof *bits);
	char hex[HASH_HEX];

	assert_non_null(bits);
	memset(bits, 0xff, n * sizeof *bits); /* earlier contents must not matter */
	pattern_bits(pattern, 42, 8, rows, blocks, keep, bits);
	for (size_t row = 0; row < 8 * (size_t)rows; row++) {
		int kept = 0;

		for (size_t w = 0; w < words; w++)
			kept += __builtin_popcount(bits[row * words + w]);
		assert_int_equal(kept, keep);
	}
	hash_hex(bits, n * sizeof *bits, hex);
	assert_string_equal(hex, hash);
	free(bits);
}

static void blocks_are_golden(void **state)
{
	(void)state;
	check_blocks(PATTERN_UNIFORM, 384, 384, 38, golden[1].hash);
	check_blocks(PATTERN_UNIFORM, 768, 768, 76, golden[2].hash);
	check_blocks(PATTERN_BANDED, 384, 384, 38, golden[3].hash);
	check_blocks(PATTERN_STRIDED, 384, 384, 38, golden[4].hash);
	check_blocks(PATTERN_BIGBIRD, 128, 128, 16, golden[5].hash);
	check_blocks(PATTERN_RANDOM_TOKENS, 8, 512, 51, golden[6].hash);
}

static void tokens_are_golden(void **state)
{
	const struct attention_case a = { .mask = FW_TOKENS,
		.seqlen = 200,
		.nhq = 4,
		.nhk = 4,
		.n_seqs = 2,
		.length = { 100, 100 },
		.source = TOKENS_RANDOM,
		.density = 0.3 };
	uint32_t bits[4 * 200 * 4];
	struct fw_err err = { 0 };
	char hex[HASH_HEX];

	(void)state;
	memset(bits, 0xff, sizeof bits); /* earlier contents must not matter */
	assert_int_equal(attention_token_bits(&a, 42, bits, &err), 0);
	hash_hex(bits, sizeof bits, hex);
	assert_string_equal(hex, golden[7].hash);
}

static void pages_are_golden(void **state)
{
	const struct attention_case a = { .mask = FW_CACHE, .seqlen = 118, .n_seqs = 3, .length = { 100, 17, 1 }, .page = 16 };
	int32_t table[3 * 7];
	char hex[HASH_HEX];

	(void)state;
	memset(table, 0xff, sizeof table);
	attention_page_table(&a, 42, table);
	hash_hex(table, sizeof table, hex);
	assert_string_equal(hex, golden[8].hash);
}

static bool is_unmasked(const uint32_t *bits, int row, int block)
{
	return bits[2 * row + block / 32] >> (block % 32) & 1;
}

/* 40 blocks of which each row retains 8. */
static void patterns_lie_as_they_are_named(void **state)
{
	uint32_t bits[40 * 2];

	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		pattern_bits(PATTERN_BANDED, seed, 1, 40, 40, 8, bits);
		for (int row = 0; row < 40; row++) {
			int borders = 0;

			for (int block = 1; block < 40; block++)
				borders += is_unmasked(bits, row, block) != is_unmasked(bits, row, block - 1);
			assert_in_range(borders, 1, 2); /* one run */
			assert_true(is_unmasked(bits, row, row) || (row > 0 && is_unmasked(bits, row, row - 1)));
		}
		pattern_bits(PATTERN_BIGBIRD, seed, 1, 40, 40, 8, bits);
		for (int row = 0; row < 40; row++) {
			assert_true(is_unmasked(bits, row, 0) && is_unmasked(bits, row, 39) && is_unmasked(bits, row, row));
			assert_true(
				(row == 0 || is_unmasked(bits, row, row - 1)) && (row == 39 || is_unmasked(bits, row, row + 1)));
		}
		pattern_bits(PATTERN_STRIDED, seed, 1, 40, 40, 8, bits);
		for (int row = 0; row < 40; row++)
			for (int block = 0; block < 40; block++) {
				assert_int_equal(is_unmasked(bits, row, block), is_unmasked(bits, row, (block + 5) % 40));
				assert_int_equal(
					is_unmasked(bits, row, block), is_unmasked(bits, (row + 1) % 40, (block + 1) % 40));
			}
	}
}

/* Few rows and few blocks, where little remains to be drawn. */
static void every_pattern_keeps_what_it_shall(void **state)
{
	(void)state;
	for (int pattern = 0; pattern < PATTERNS; pattern++)
		for (int blocks = 1; blocks <= 40; blocks++)
			for (int keep = 1; keep <= blocks; keep++) {
				uint32_t bits[3 * 2];
				int words = (blocks + 31) / 32;

				memset(bits, 0xff, sizeof bits);
				pattern_bits((enum pattern)pattern, 7, 1, 3, blocks, keep, bits);
				for (int row = 0; row < 3; row++) {
					int kept = 0;

					for (int w = 0; w < words; w++)
						kept += __builtin_popcount(bits[row * words + w]);
					assert_int_equal(kept, keep);
					if (blocks % 32)
						assert_int_equal(bits[row * words + words - 1] >> (blocks % 32), 0);
				}
			}
}

/* A window of a tensor has the same elements as the whole, so that a GPU may generate them in any order. */
static void windows_agree(void **state)
{
	uint16_t whole[300], part[100];

	(void)state;
	inputs_fill(7, FW_DO, 0, 300, whole);
	inputs_fill(7, FW_DO, 150, 100, part);
	assert_memory_equal(whole + 150, part, sizeof part);
	for (uint64_t i = 0; i < 300; i++)
		assert_int_equal(whole[i], inputs_element(inputs_stream(7, FW_DO), i));
}

static void tensors_and_seeds_differ(void **state)
{
	uint16_t q[64], k[64], other[64];

	(void)state;
	inputs_fill(42, FW_Q, 0, 64, q);
	inputs_fill(42, FW_K, 0, 64, k);
	inputs_fill(43, FW_Q, 0, 64, other);
	assert_memory_not_equal(q, k, sizeof q);
	assert_memory_not_equal(q, other, sizeof q);
}

/* Sum of four uniform values of 16 bits, over 2^15: mean 0, standard deviation sqrt(4 / 12 * 4) = 1.1547, never beyond 4. */
static void looks_normal(void **state)
{
	enum { N = 1 << 18 };
	uint16_t *v = malloc(N * sizeof *v);
	double sum = 0, squares = 0, fourth = 0;

	(void)state;
	assert_non_null(v);
	inputs_fill(42, FW_V, 0, N, v);
	for (int i = 0; i < N; i++) {
		double x = (double)inputs_bf16_to_float(v[i]);

		assert_true(fabs(x) <= 4);
		sum += x;
		squares += x * x;
		fourth += x * x * x * x;
	}
	assert_true(fabs(sum / N) < 0.01);
	assert_true(fabs(sqrt(squares / N) - 1.1547) < 0.01);
	assert_true(fabs(fourth / N / (squares / N * squares / N) - 2.7) < 0.05); /* kurtosis of four uniforms: 3 - 6/5/4 */
	free(v);
}

static void bf16_rounds_to_even(void **state)
{
	static const struct {
		float v;
		uint16_t bits;
	} cases[] = {
		{ 0.0f, 0x0000 }, { -0.0f, 0x8000 }, { 1.0f, 0x3f80 }, { -2.0f, 0xc000 },
		{ 1.00390625f, 0x3f80 },                              /* half way between 1 and 1.0078125: to the even one */
		{ 1.01171875f, 0x3f82 },                              /* half way, the even one is above */
		{ 3.3895314e38f, 0x7f7f }, { 3.4028235e38f, 0x7f80 }, /* the largest float rounds to infinity */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(inputs_float_to_bf16(cases[i].v), cases[i].bits);
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		float v = inputs_bf16_to_float((uint16_t)bits);

		if (isnan(v))
			assert_true(isnan(inputs_bf16_to_float(inputs_float_to_bf16(v))));
		else
			assert_int_equal(inputs_float_to_bf16(v), bits);
	}
}

static void keep_all_and_one(void **state)
{
	uint32_t bits[2 * 3 * 2];

	(void)state;
	pattern_drawn_bits(1, 2, 3, 40, 40, bits);
	for (int row = 0; row < 6; row++) {
		assert_int_equal(bits[2 * row], 0xffffffffu);
		assert_int_equal(bits[2 * row + 1], 0xffu);
	}
	pattern_drawn_bits(1, 2, 3, 40, 1, bits);
	for (int row = 0; row < 6; row++)
		assert_int_equal(__builtin_popcount(bits[2 * row]) + __builtin_popcount(bits[2 * row + 1]), 1);
}

/* The compiler's own type is the reference: every f16 value, and the values between two of them. */
static void f16_is_that_of_the_compiler(void **state)
{
	(void)state;
	for (uint32_t bits = 0; bits < 1u << 16; bits++) {
		union {
			uint16_t u;
			_Float16 h;
		} v = { .u = (uint16_t)bits }, next = { .u = (uint16_t)(bits + 1) };
		float x = inputs_f16_to_float(v.u);

		if ((bits & 0x7fffu) > 0x7c00u) {
			assert_true(isnan(x) && (inputs_float_to_f16(x) & 0x7fffu) > 0x7c00u);
			continue;
		}
		assert_true(x == (float)v.h);
		assert_int_equal(inputs_float_to_f16(x), v.u);
		for (int part = 1; part < 8 && (bits & 0x7fffu) < 0x7bffu; part++) {
			float between = (float)v.h + ((float)next.h - (float)v.h) * (float)part / 8;
			union {
				_Float16 h;
				uint16_t u;
			} wanted = { .h = (_Float16)between };

			assert_int_equal(inputs_float_to_f16(between), wanted.u);
		}
	}
	assert_int_equal(inputs_float_to_f16(65519.0f), 0x7bff);
	assert_int_equal(inputs_float_to_f16(65520.0f), 0x7c00);
	assert_int_equal(inputs_float_to_f16(-1e30f), 0xfc00);
	assert_int_equal(inputs_float_to_f16(1e-30f), 0);
}

/* Drawn values are exact in both types. */
static void f16_inputs_have_the_values_of_bf16(void **state)
{
	enum { N = 1 << 16 };
	static uint16_t wide[N], narrow[N];

	(void)state;
	inputs_fill(42, FW_Q, 0, N, wide);
	memcpy(narrow, wide, sizeof wide);
	inputs_to_f16(narrow, N);
	for (int i = 0; i < N; i++)
		assert_true(inputs_f16_to_float(narrow[i]) == inputs_bf16_to_float(wide[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fill_is_golden),
		cmocka_unit_test(blocks_are_golden),
		cmocka_unit_test(tokens_are_golden),
		cmocka_unit_test(pages_are_golden),
		cmocka_unit_test(patterns_lie_as_they_are_named),
		cmocka_unit_test(every_pattern_keeps_what_it_shall),
		cmocka_unit_test(windows_agree),
		cmocka_unit_test(tensors_and_seeds_differ),
		cmocka_unit_test(looks_normal),
		cmocka_unit_test(bf16_rounds_to_even),
		cmocka_unit_test(f16_is_that_of_the_compiler),
		cmocka_unit_test(f16_inputs_have_the_values_of_bf16),
		cmocka_unit_test(keep_all_and_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
