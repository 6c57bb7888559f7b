/* test_words.c - enums and the words that stand for them in lines, files and rows. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/state/device_kind.h"
#include "core/state/role.h"
#include "core/state/run_mode.h"
#include "core/state/series.h"
#include "core/state/word.h"

/* Every value has a word of its own, and the list ends behind the last. */
static void assert_whole(const char *const *names, int n)
{
	for (int i = 0; i < n; i++) {
		assert_non_null(names[i]);
		assert_int_equal(word_find(names, n, names[i]), i);
	}
	assert_null(names[n]);
}

static void kinds_of_devices(void **state)
{
	(void)state;
	assert_whole(device_kind_names, DEVICE_KINDS);
	for (int i = 0; i < DEVICE_KINDS; i++)
		assert_int_equal(device_kind_from_name(device_kind_name((enum device_kind)i)), i);
	assert_int_equal(device_kind_from_name("cuda"), DEVICE_CUDA);
	assert_int_equal(device_kind_from_name("tpu"), DEVICE_KINDS);
	assert_string_equal(device_kind_name(DEVICE_KINDS), "");
}

static void roles(void **state)
{
	(void)state;
	assert_whole(role_names, ROLES);
	for (int i = 0; i < ROLES; i++)
		assert_int_equal(role_from_name(role_name((enum role)i)), i);
	assert_int_equal(role_from_name("peer:x"), ROLES);
	assert_string_equal(role_name(ROLES), "");
}

static void modes_of_the_runner(void **state)
{
	(void)state;
	assert_whole(run_mode_names, RUN_MODES);
	assert_string_equal(run_mode_name(RUN_AUDIT), "audit");
	assert_string_equal(run_mode_name(RUN_MODES), "");
}

static void series_of_times(void **state)
{
	(void)state;
	assert_whole(series_names, SERIES_N);
	assert_int_equal(series_from_name("sustained"), SERIES_SUSTAINED);
	assert_int_equal(series_from_name(""), SERIES_DEVICE);
	assert_int_equal(series_from_name("calls"), SERIES_DEVICE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_devices),
		cmocka_unit_test(roles),
		cmocka_unit_test(modes_of_the_runner),
		cmocka_unit_test(series_of_times),
	};
	return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
