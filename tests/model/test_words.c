/* test_words.c - enums and their names in lines, files and rows. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/internal.h"
#include "model/model.h"

/* Every value has a name of its own, and the list ends after the last one. */
static void assert_whole(const char *const *names, int n)
{
	for (int i = 0; i < n; i++) {
		assert_non_null(names[i]);
		assert_int_equal(name_find(names, n, names[i]), i);
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
	assert_string_equal(run_mode_names[RUN_AUDIT], "audit");
}

static void series_of_times(void **state)
{
	(void)state;
	assert_whole(series_names, SERIES_N);
	assert_int_equal(series_from_name("sustained"), SERIES_SUSTAINED);
	assert_int_equal(series_from_name(""), SERIES_DEVICE);
	assert_int_equal(series_from_name("calls"), SERIES_DEVICE);
}

static void states_of_devices(void **state)
{
	(void)state;
	for (int i = 0; i < DEVICESTATE_N; i++)
		assert_int_equal(devicestate_from_name(devicestate_name((enum devicestate)i)), i);
	assert_int_equal(devicestate_from_name("quarantined"), DEVICESTATE_QUARANTINED);
	assert_int_equal(devicestate_from_name("lost"), DEVICESTATE_N);
	assert_string_equal(devicestate_name(DEVICESTATE_N), "");
}

static void kinds_and_states_of_alerts(void **state)
{
	(void)state;
	for (int i = 0; i < ALERTKIND_N; i++)
		assert_int_equal(alertkind_from_name(alertkind_name((enum alertkind)i)), i);
	for (int i = 0; i < ALERTSTATE_N; i++) {
		assert_int_equal(alertstate_from_name(alertstate_name((enum alertstate)i)), i);
		assert_int_equal(alertstate_is_live((enum alertstate)i), i == ALERTSTATE_OPEN || i == ALERTSTATE_ACKNOWLEDGED);
	}
	assert_int_equal(alertkind_from_name("drift"), ALERTKIND_DRIFT);
	assert_int_equal(alertstate_from_name("invalid"), ALERTSTATE_INVALID);
	assert_string_equal(alertkind_name(ALERTKIND_N), "");
	assert_string_equal(alertstate_name(ALERTSTATE_N), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_devices),
		cmocka_unit_test(roles),
		cmocka_unit_test(modes_of_the_runner),
		cmocka_unit_test(series_of_times),
		cmocka_unit_test(states_of_devices),
		cmocka_unit_test(kinds_and_states_of_alerts),
	};
	return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
