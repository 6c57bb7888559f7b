/* names.c: enums and their names in lines, files and rows. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
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
	assert_whole(task_mode_names, TASK_MODES);
	assert_string_equal(task_mode_names[TASK_AUDIT], "audit");
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

static void kinds_of_jobs_and_costs(void **state)
{
	(void)state;
	assert_string_equal(series_name(SERIES_SUSTAINED), "sustained");
	assert_string_equal(series_name(SERIES_N), series_name(SERIES_DEVICE));
	assert_true(
		jobkind_is_upkeep(JOBKIND_CALIBRATE) && jobkind_is_upkeep(JOBKIND_PEER) && jobkind_is_upkeep(JOBKIND_PROFILE));
	assert_false(jobkind_is_upkeep(JOBKIND_COMPARE) || jobkind_is_upkeep(JOBKIND_CONFIG));
	for (int i = 0; i < COST_N; i++)
		assert_int_equal(cost_from_name(cost_kinds[i].name), i);
	assert_int_equal(cost_from_name("time"), COST_N);
	assert_true(cost_grows(COST_MEMORY, 100, 111, 10));
	assert_false(cost_grows(COST_MEMORY, 100, 110, 10));
	assert_false(cost_grows(COST_FIRST, 10, 900, 10)); /* the first call of a module is measured once */
	assert_true(cost_grows(COST_FIRST, 10, 1011, 10));
	assert_false(cost_grows(COST_MEMORY, NAN, 111, 10) || cost_grows(COST_MEMORY, 100, NAN, 10));
}

/* Where the time of a device went, the longest first; what is below a hundredth is the rest. */
static void steps_of_a_device(void **state)
{
	double s[DEVICE_STEPS] = { 0 };
	char text[200], want[200];

	(void)state;
	for (int i = 0; i < DEVICE_STEPS; i++)
		assert_int_equal(device_step_from_name(device_step_names[i]), i);
	assert_int_equal(device_step_from_name("rest"), DEVICE_STEPS);
	device_step_summary(s, text, sizeof text);
	assert_string_equal(text, "");
	s[0] = 25, s[1] = 74.2, s[2] = 0.8;
	device_step_summary(s, text, sizeof text);
	snprintf(want, sizeof want, "%s 74 %%, %s 25 %%, rest 1 %%", device_step_names[1], device_step_names[0]);
	assert_string_equal(text, want);
	device_step_summary(s, text, 12);
	assert_int_equal(strlen(text), 11);
}

static void families(void **state)
{
	int n = 0, defaults = 0;

	(void)state;
	for (const struct family *f; (f = family_at(n)); n++) {
		assert_ptr_equal(family_find(f->name), f);
		defaults += f->is_default;
		for (const struct family_group *g = f->group; g->name; g++) {
			assert_ptr_equal(family_group(g->name), g);
			assert_true(family_group_is_irregular(g->name) == g->is_irregular);
		}
		for (int i = 0; i < f->n_slots; i++)
			assert_string_equal(family_slot_name(f, i), f->slot[i].name);
		assert_string_equal(family_slot_name(f, f->n_slots), "?");
		assert_string_equal(family_slot_name(f, -1), "?");
		for (int i = 0; i < FAMILY_PHASES_MAX; i++)
			assert_string_equal(family_phase_name(f, (uint32_t)1 << i), f->phase[i] ? f->phase[i] : "?");
		assert_string_equal(family_phase_name(f, FW_ALL), "all");
		assert_string_equal(family_phase_name(f, 3), "phases");
	}
	assert_true(n >= 3);
	assert_int_equal(defaults, 1);
	assert_true(family_default()->is_default);
	assert_null(family_at(-1));
	assert_null(family_at(n + 1));
	assert_null(family_at(1000000));
	assert_null(family_find("attentio"));
	assert_null(family_group("none"));
	assert_false(family_group_is_irregular("none"));
	assert_true(family_group_is_irregular("block_sparse") && !family_group_is_irregular("dense"));
}

static void summary_is(const double s[DEVICE_STEPS], size_t size, const char *wanted)
{
	char text[256];

	device_step_summary(s, text, size);
	assert_string_equal(text, wanted);
}

/* The longest steps first; those below one per cent together, if they are half of one. */
static void steps_of_a_device_in_short(void **state)
{
	double s[DEVICE_STEPS] = { 0 };
	char wanted[256];

	(void)state;
	summary_is(s, 256, "");
	s[0] = 3;
	snprintf(wanted, sizeof wanted, "%s 100 %%", device_step_names[0]);
	summary_is(s, 256, wanted);
	s[DEVICE_STEPS - 1] = 1;
	snprintf(wanted, sizeof wanted, "%s 75 %%, %s 25 %%", device_step_names[0], device_step_names[DEVICE_STEPS - 1]);
	summary_is(s, 256, wanted);
	s[0] = 1;
	s[1] = 98;
	snprintf(wanted, sizeof wanted, "%s 98 %%, %s 1 %%, %s 1 %%", device_step_names[1], device_step_names[0],
		device_step_names[DEVICE_STEPS - 1]);
	summary_is(s, 256, wanted);
	s[0] = 5.01;
	s[1] = 994.99;
	s[DEVICE_STEPS - 1] = 0;
	snprintf(wanted, sizeof wanted, "%s 99 %%, rest 1 %%", device_step_names[1]);
	summary_is(s, 256, wanted);
	s[0] = 4.9;
	s[1] = 995.1;
	snprintf(wanted, sizeof wanted, "%s 100 %%", device_step_names[1]);
	summary_is(s, 256, wanted);
	wanted[3] = '\0';
	summary_is(s, 4, wanted);
}

static void types_of_elements(void **state)
{
	static const struct {
		int32_t dtype;
		const char *name;
		size_t bytes;
	} row[] = { { FW_BF16, "bf16", 2 }, { FW_F16, "f16", 2 }, { FW_F32, "f32", 4 }, { FW_E4M3, "e4m3", 1 },
		{ FW_E5M2, "e5m2", 1 }, { FW_I8, "i8", 1 }, { FW_I4, "i4", 1 }, { FW_I32, "i32", 4 }, { FW_U32, "u32", 4 },
		{ FW_BF16 - 1, "unknown", 1 }, { FW_U32 + 1, "unknown", 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		assert_string_equal(family_dtype_name(row[i].dtype), row[i].name);
		assert_int_equal(family_element_bytes(row[i].dtype), row[i].bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(families),
		cmocka_unit_test(types_of_elements),
		cmocka_unit_test(steps_of_a_device_in_short),
		cmocka_unit_test(kinds_of_devices),
		cmocka_unit_test(roles),
		cmocka_unit_test(modes_of_the_runner),
		cmocka_unit_test(series_of_times),
		cmocka_unit_test(states_of_devices),
		cmocka_unit_test(kinds_and_states_of_alerts),
		cmocka_unit_test(kinds_of_jobs_and_costs),
		cmocka_unit_test(steps_of_a_device),
	};
	return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
