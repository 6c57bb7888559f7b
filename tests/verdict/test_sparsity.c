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

static void words_of_a_count(void **state)
{
	struct sparsity_claim claim = honest();
	char text[EXPLAIN_SIZE];

	(void)state;
	sparsity_words(&mask, &claim, text);
	assert_string_equal(text, "fully masked blocks 720/800 (90 %), tiles skipped 51200/56320, partial 3 %");
	claim = (struct sparsity_claim){ NAN, NAN, NAN, NAN, NAN };
	sparsity_words(&mask, &claim, text);
	assert_string_equal(text, "fully masked blocks 720/800 (90 %)");
}

static void says(struct sparsity_claim claim, const char *words)
{
	char text[EXPLAIN_SIZE];

	sparsity_contradiction(&mask, &claim, text);
	assert_string_equal(text, words);
}

static void what_cannot_be_is_said(void **state)
{
	struct sparsity_claim claim = honest();

	(void)state;
	says(claim, "");
	claim.flops_issued = 1e9 * (1 - 1e-12); /* another order of adding */
	says(claim, "");
	says((struct sparsity_claim){ NAN, NAN, NAN, NAN, NAN }, "");
	claim.flops_issued = 0.9e9;
	says(claim, "says it issues 9e+08 multiplications and additions, the mask asks for 1e+09");
	claim = honest();
	claim.blocks_kept = 90;
	says(claim, "says it keeps 90 blocks, the mask keeps 80");
	claim.blocks_kept = 79;
	says(claim, "says it keeps 79 blocks, the mask keeps 80");
	claim = honest();
	claim.tiles_skipped = 56000;
	says(claim, "says it skips 56000 tiles and masks 1690, of 56320 in all");
	claim.tiles_skipped = 56320;
	claim.tiles_partial = 0;
	says(claim, "says it skips all of 56320 tiles, the mask keeps 80 blocks");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_a_count),
		cmocka_unit_test(what_cannot_be_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
