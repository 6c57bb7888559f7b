/* Configurations compared by key. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "profile/profile.h"

static void differ(const char *base, const char *target, const char *as)
{
	char out[CONFIG_DELTA_SIZE];

	config_delta_text(base, target, out);
	assert_string_equal(out, as);
}

static void keys_whose_values_differ(void **state)
{
	(void)state;
	differ("TILE=3 PARTS=2", "TILE=2 PARTS=1", "TILE 3 -> 2, PARTS 2 -> 1");
	differ("TILE=3 PARTS=2", "PARTS=2 TILE=3", "");
	differ("TILE=3 SPLIT=4", "TILE=3 SWAP=1", "SPLIT 4 -> none, SWAP none -> 1");
	differ("TILE=3, FAST", "TILE=3", "FAST set -> none");
	differ("TILE=30", "TILE=3", "TILE 30 -> 3");
	differ("TILE_M=3", "TILE=3", "TILE_M 3 -> none, TILE none -> 3");
	differ("", "", "");
	differ(NULL, "TILE=3", "TILE none -> 3");
	differ("URL=a=b", "URL=a=c", "URL a=b -> a=c");
}

static void choice(const char *base, const char *target, const char *as)
{
	char out[CONFIG_DELTA_SIZE];

	config_choice_text(base, target, out);
	assert_string_equal(out, as);
}

static void the_choice_of_the_target(void **state)
{
	(void)state;
	choice("BLOCK_M=128,BLOCK_N=128,num_warps=8", "BLOCK_M=128,BLOCK_N=64,num_warps=4",
		"BLOCK_N 64, num_warps 4 instead of BLOCK_N 128, num_warps 8");
	choice("BLOCK_N=64", "BLOCK_N=64,maxnreg=128", "maxnreg 128 instead of maxnreg unset");
	choice("BLOCK_N=64", "BLOCK_N=64", "");
}

static void what_is_long_is_cut(void **state)
{
	char base[2000] = "", target[2000] = "", out[CONFIG_DELTA_SIZE];
	struct config_change change[CONFIG_DELTA_MAX];

	(void)state;
	for (int i = 0; i < 40; i++) {
		char word[32];

		snprintf(word, sizeof word, "KEY_NUMBER_%d=%d ", i, i);
		strcat(base, word);
		snprintf(word, sizeof word, "KEY_NUMBER_%d=%d ", i, i + 1);
		strcat(target, word);
	}
	assert_int_equal(config_delta(base, target, change), CONFIG_DELTA_MAX);
	config_delta_text(base, target, out);
	assert_int_equal(strlen(out), CONFIG_DELTA_SIZE - 1);
	config_choice_text(base, target, out);
	assert_int_equal(strlen(out), CONFIG_DELTA_SIZE - 1);
	memset(base, 'x', 500);
	base[500] = '\0';
	assert_int_equal(config_delta(base, "", change), 1);
	assert_int_equal(strlen(change[0].key), CONFIG_DELTA_TEXT - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_whose_values_differ),
		cmocka_unit_test(the_choice_of_the_target),
		cmocka_unit_test(what_is_long_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
