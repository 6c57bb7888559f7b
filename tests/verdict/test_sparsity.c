/* What a mask excludes compared with what a module reports: the messages, and impossible values. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "verdict/verdict.h"

static const struct sparsity_mask mask = { .blocks = 800, .kept = 80, .flops_useful = 1e9 };

static struct sparsity_claim honest(void)
{
	return (struct sparsity_claim){
		.tiles_total = 56320, .tiles_skipped = 51200, .tiles_partial = 1690, .blocks_kept = 80, .flops_issued = 1e9
	};
}

static void counts_are_taken_over(void **state)
{
	const struct mask_counts counts = { .pairs = 1,
		.pairs_kept = 2,
		.rows = 3,
		.rows_empty = 4,
		.tiles = 5,
		.tiles_masked = 6,
		.common_tiles = 7,
		.common_masked = 8 };
	struct sparsity_mask m = { .blocks = 9, .kept = 10 };

	(void)state;
	sparsity_counts(&counts, &m);
	assert_true(m.pairs == 1 && m.pairs_kept == 2 && m.rows == 3 && m.rows_empty == 4);
	assert_true(m.tiles == 5 && m.tiles_masked == 6 && m.common_tiles == 7 && m.common_masked == 8);
	assert_true(m.blocks == 9 && m.kept == 10);
}

static void words_of_a_count(void **state)
{
	struct sparsity_claim claim = honest();
	char text[SPARSITY_SIZE];

	(void)state;
	sparsity_text(&mask, &claim, text);
	assert_string_equal(text, "fully masked blocks 720/800 (90 %), tiles skipped 51200/56320, partial 3 %");
	claim = (struct sparsity_claim){ NAN, NAN, NAN, NAN, NAN };
	sparsity_text(&mask, &claim, text);
	assert_string_equal(text, "fully masked blocks 720/800 (90 %)");
}

/* Tiles are counted whatever the blocks; a module that skips nothing is named, above the density where none should. */
static void words_of_tiles(void **state)
{
	struct sparsity_mask m = {
		.blocks = 8192, .kept = 2448, .pairs = 524288, .pairs_kept = 156672, .rows = 1024, .tiles = 128, .tiles_masked = 0
	};
	struct sparsity_claim claim = { .tiles_total = 256, .tiles_partial = 256 };
	char text[SPARSITY_SIZE];

	(void)state;
	sparsity_text(&m, &claim, text);
	assert_string_equal(text,
		"density 0.299, tiles of 64x64 fully masked 0/128 (0 %), tiles skipped 0/256, partial 100 %; no "
		"tile to skip");
	m.pairs_kept = 0.9 * 524288;
	sparsity_text(&m, &claim, text);
	assert_string_equal(text, "density 0.9, tiles of 64x64 fully masked 0/128 (0 %), tiles skipped 0/256, partial 100 %; "
				  "skipping off above 0.85");
	m.pairs_kept = 0.5 * 524288;
	m.tiles_masked = 64;
	sparsity_text(&m, &claim, text);
	assert_non_null(strstr(text, "fully masked 64/128 (50 %), tiles skipped 0/256, partial 100 %; skipping off"));
	assert_null(strstr(text, "above"));
	claim.tiles_skipped = 128;
	claim.tiles_partial = 0;
	sparsity_text(&m, &claim, text);
	assert_non_null(strstr(text, "tiles skipped 128/256, partial 0 %; skipping on"));
	m = (struct sparsity_mask){ .blocks = 16384,
		.kept = 256,
		.pairs = 16384,
		.pairs_kept = 256,
		.rows = 128,
		.rows_empty = 112,
		.tiles = 4,
		.tiles_masked = 3,
		.common_tiles = 2,
		.common_masked = 1 };
	sparsity_text(&m, &(struct sparsity_claim){ NAN, NAN, NAN, NAN, NAN }, text);
	assert_string_equal(text,
		"kept 256/16384 (1.56 %), rows without a key 112/128, tiles of 64x64 fully masked 3/4 (75 %), in all "
		"heads and sequences 1/2 (50 %)");
}

static void expects(double density, double over, const char *text)
{
	struct sparsity_mask m = { .pairs = 1e6, .pairs_kept = density * 1e6 };
	char out[SPARSITY_SIZE];

	sparsity_expected(&m, over, out);
	assert_string_equal(out, text);
}

static void speedups_are_held_against_their_range(void **state)
{
	(void)state;
	expects(0.299, 1.07, "expected 1.5 to 3: below");
	expects(0.25, 2.9, "expected 1.5 to 3: met");
	expects(0.25, 3.1, "expected 1.5 to 3: above");
	expects(0.0156, 30, "expected 2 to 4: above");
	expects(0.1, 2, "expected 2 to 4: met");
	expects(0.5, 1.3, "expected 1.2 to 2: met");
	expects(0.625, 1.2, "expected 1.1 to 1.5: met");
	expects(0.875, 0.94, "expected 1: below");
	expects(0.9, 0.995, "expected 1: met");
	/* each range, with 1 % of tolerance, ends halfway to the next density */
	static const struct {
		double from, to, low, high;
		const char *text;
	} row[] = { { 0, 0.2, 2, 4, "expected 2 to 4: " }, { 0.2, 0.4, 1.5, 3, "expected 1.5 to 3: " },
		{ 0.4, 0.6, 1.2, 2, "expected 1.2 to 2: " }, { 0.6, 0.8, 1.1, 1.5, "expected 1.1 to 1.5: " },
		{ 0.8, 1, 1, 1, "expected 1: " } };
	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		for (int k = 0; k < 4; k++) {
			char text[SPARSITY_SIZE];
			double over = k == 0   ? 0.985 * row[i].low
				      : k == 1 ? 0.995 * row[i].low
				      : k == 2 ? 1.005 * row[i].high
					       : 1.015 * row[i].high;
			snprintf(text, sizeof text, "%s%s", row[i].text, k == 0 ? "below" : k == 3 ? "above" : "met");
			expects(row[i].from + 0.001, over, text);
			expects(row[i].to - 0.001, over, text);
		}
	expects(0.9, NAN, "");
	expects(NAN, 2, "");
}

static void says(struct sparsity_claim claim, const char *words)
{
	char text[EXPLAIN_SIZE];

	sparsity_contradiction(&mask, &claim, text);
	assert_string_equal(text, words);
}

static void impossible_speedups_are_reported(void **state)
{
	struct sparsity_claim claim = honest();

	(void)state;
	says(claim, "");
	claim.flops_issued = 1e9 * (1 - 1e-12); /* another order of adding */
	says(claim, "");
	says((struct sparsity_claim){ NAN, NAN, NAN, NAN, NAN }, "");
	claim.flops_issued = 0.9e9;
	says(claim, "claims 9e+08 multiplications and additions, the mask needs 1e+09");
	claim = honest();
	claim.blocks_kept = 90;
	says(claim, "claims 90 active blocks, the mask has 80");
	claim.blocks_kept = 79;
	says(claim, "claims 79 active blocks, the mask has 80");
	claim = honest();
	claim.tiles_skipped = 56000;
	says(claim, "claims 56000 skipped and 1690 masked tiles, of 56320 in all");
	claim.tiles_skipped = 56320;
	claim.tiles_partial = 0;
	says(claim, "claims to skip all of 56320 tiles, the mask has 80 active blocks");
}

static void counts_of_a_mask(void **state)
{
	const struct mask_counts counts = { .pairs = 1000,
		.pairs_kept = 250,
		.rows = 20,
		.rows_empty = 1,
		.tiles = 40,
		.tiles_masked = 30,
		.common_tiles = 10,
		.common_masked = 5 };
	struct sparsity_mask counted = { .blocks = 1000 };
	char text[SPARSITY_SIZE];

	(void)state;
	sparsity_counts(&counts, &counted);
	assert_true(sparsity_density(&counted) == 0.25);
	assert_true(isnan(sparsity_density(&mask)));
	sparsity_text(&counted, &(struct sparsity_claim){ NAN, NAN, NAN, NAN, NAN }, text);
	assert_non_null(strstr(text, "kept 250/1000 (25 %), rows without a key 1/20"));
	assert_non_null(strstr(text, "fully masked 30/40 (75 %), in all heads and sequences 5/10 (50 %)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_taken_over),
		cmocka_unit_test(words_of_a_count),
		cmocka_unit_test(words_of_tiles),
		cmocka_unit_test(speedups_are_held_against_their_range),
		cmocka_unit_test(impossible_speedups_are_reported),
		cmocka_unit_test(counts_of_a_mask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
