/* Readings of a device: which of them void times, how two are merged, and how a test writes them. */
/* Left to `make check`: loads test modules, takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include "attention_cell.h"
#include "protocol/protocol.h"
#include "runner/internal.h"
#include "runner_run.h"

static void reasons_that_void_times(void **state)
{
	char why[DEVICE_CHECK_WHY_SIZE];
	struct msg_device_check g;
	(void)state;
	device_check_unknown(&g);
	assert_false(device_check_discards(&g, why));
	assert_string_equal(why, "");
	g.reasons = DEVICE_CHECK_POWER_CAP | 0x1; /* idle and power cap are normal */
	g.temp_c = 95;
	g.foreign = 0;
	assert_false(device_check_discards(&g, why));
	for (unsigned bit = 1; bit <= 0x200; bit <<= 1) {
		bool bad = bit == DEVICE_CHECK_HW_SLOWDOWN || bit == DEVICE_CHECK_SW_THERMAL || bit == DEVICE_CHECK_HW_THERMAL ||
			   bit == DEVICE_CHECK_POWER_BRAKE;
		g.reasons = bit;
		assert_int_equal(device_check_discards(&g, why), bad);
	}
	g.reasons = 0;
	g.foreign = 1;
	assert_true(device_check_discards(&g, why));
	assert_string_equal(why, "1 other process used the device");
	g.foreign = -1;
	g.ecc = 2;
	assert_true(device_check_discards(&g, why));
	g.xid = 43;
	assert_true(device_check_discards(&g, why));
	assert_string_equal(why, "the driver reported XID 43");
}

static void xids_of_branches_and_of_devices(void **state)
{
	(void)state;
	assert_false(device_check_xid_breaks(0));
	assert_false(device_check_xid_breaks(13)); /* a kernel's illegal address */
	assert_false(device_check_xid_breaks(31));
	assert_false(device_check_xid_breaks(43));
	assert_true(device_check_xid_breaks(79)); /* fallen off the bus */
	assert_true(device_check_xid_breaks(119));
}

static void the_worst_of_two_readings(void **state)
{
	struct msg_device_check a, b;
	(void)state;
	device_check_unknown(&a);
	device_check_unknown(&b);
	a.power_w = 690;
	b.power_w = 500;
	b.temp_c = 71;
	a.energy_j = 100;
	b.energy_j = 130;
	b.reasons = 4;
	b.xid = 31;
	b.ecc = 1;
	b.foreign = 2;
	device_check_merge(&a, &b);
	assert_true(a.power_w > 689 && a.temp_c > 70 && a.energy_j > 29 && a.energy_j < 31);
	assert_int_equal(a.reasons, 4);
	assert_int_equal(a.foreign, 2);
	assert_int_equal(a.xid, 31);
	assert_int_equal(a.ecc, 1);
}

static void scripts_report_when(void **state)
{
	const char *script =
		"run=2 cell=1 pass=0-1 reasons=0x20 temp_c=93.5\nat=idle run=1-3 foreign=2\nat=health_check lost=1\n";
	struct msg_device_check g;
	(void)state;
	device_check_unknown(&g);
	assert_false(device_check_script_apply(script, &(struct device_check_moment){ DEVICE_CHECK_AT_TIME, 1, 1, 0 }, &g));
	assert_int_equal(g.reasons, 0);
	device_check_script_apply(script, &(struct device_check_moment){ DEVICE_CHECK_AT_TIME, 2, 1, 2 }, &g);
	assert_int_equal(g.reasons, 0);
	device_check_script_apply(script, &(struct device_check_moment){ DEVICE_CHECK_AT_TIME, 2, 1, 1 }, &g);
	assert_int_equal(g.reasons, 0x20);
	assert_true(g.temp_c > 93);
	device_check_script_apply(script, &(struct device_check_moment){ DEVICE_CHECK_AT_IDLE, 4, 0, 0 }, &g);
	assert_int_equal(g.foreign, -1);
	device_check_script_apply(script, &(struct device_check_moment){ DEVICE_CHECK_AT_IDLE, 3, 0, 0 }, &g);
	assert_int_equal(g.foreign, 2);
	assert_true(
		device_check_script_apply(script, &(struct device_check_moment){ DEVICE_CHECK_AT_HEALTH_CHECK, 1, 0, 0 }, &g));
	assert_false(device_check_script_apply(
		"=\n\n x =1 run\n", &(struct device_check_moment){ DEVICE_CHECK_AT_TIME, 1, 0, 0 }, &g));
}

/* One run of one cell on device sim under a script. */
static void make_run(const char *script, struct run_result *r)
{
	const char *const modules[] = { "good", "good" };
	const int32_t one[] = { 32 };
	static struct cell cell[1];
	static int index[1];
	cell[0] = small_cell(FW_FULL, DIRECTION_FORWARD, 1, one);
	struct msg_task task = small_task(TASK_TIME, "sim", modules, 2, cell, index, 1);
	task.phases = task.calls = false;
	snprintf(task.device_check_script, sizeof task.device_check_script, "%s", script);
	run_task(&task, r);
}

static void a_bad_pass_is_taken_again(void **state)
{
	static struct run_result r;
	char why[DEVICE_CHECK_WHY_SIZE];
	(void)state;
	make_run("pass=0-1 reasons=0x40", &r);
	const struct msg_cell *m = find_series(&r, 10, SERIES_DEVICE, "");
	assert_non_null(m);
	assert_int_equal(m->redo, 2);
	assert_false(device_check_discards(&m->device_check, why));
	run_result_fini(&r);
	make_run("reasons=0x40", &r); /* three times, then reported as it is */
	m = find_series(&r, 10, SERIES_DEVICE, "");
	assert_int_equal(m->redo, 3);
	assert_true(device_check_discards(&m->device_check, why));
	run_result_fini(&r);
}

/* A runner whose device is lost ends with its process, without cleanup. Here the process continues. */
static void expect_leaks(bool expected)
{
#ifdef __SANITIZE_ADDRESS__
	if (expected)
		__lsan_disable();
	else
		__lsan_enable();
#else
	(void)expected;
#endif
}

static void a_lost_context_ends_the_run(void **state)
{
	static struct run_result r;
	(void)state;
	expect_leaks(true);
	make_run("lost=1", &r);
	expect_leaks(false);
	assert_int_equal(r.status, 3);
	assert_null(find_series(&r, 10, SERIES_DEVICE, ""));
	assert_int_equal(r.record[r.n - 1].t, MSG_FAULT);
	run_result_fini(&r);
}

static void health_and_idle_checks_of_a_device(void **state)
{
	static const struct {
		enum task_mode mode;
		const char *device, *script;
		bool ok;
	} row[] = {
		{ TASK_HEALTH_CHECK, "sim", "", true },
		{ TASK_HEALTH_CHECK, "cpu", "", true },
		{ TASK_HEALTH_CHECK, "sim", "at=health_check lost=1", false },
		{ TASK_HEALTH_CHECK, "sim", "at=health_check pass=1 xid=79", false },
		{ TASK_HEALTH_CHECK, "sim", "at=health_check foreign=2", true }, /* another process does not make it unfit */
		{ TASK_HEALTH_CHECK, "sim", "at=health_check foreign=2 reasons=0x40", false },
		{ TASK_HEALTH_CHECK, "cuda:99", "", false },
		{ TASK_IDLE, "sim", "", true },
		{ TASK_IDLE, "cpu", "at=idle run=1 foreign=3", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		static struct run_result r;
		struct msg_task task = small_task(row[i].mode, row[i].device, NULL, 0, NULL, NULL, 0);
		snprintf(task.device_check_script, sizeof task.device_check_script, "%s", row[i].script);
		run_task(&task, &r);
		assert_int_equal(r.status, 0);
		assert_int_equal(r.n, 1);
		assert_int_equal(r.record[0].t, MSG_STATE);
		assert_int_equal(r.record[0].u.state.what, row[i].mode);
		assert_int_equal(r.record[0].u.state.ok, row[i].ok);
		run_result_fini(&r);
	}
}

static void leftovers_are_named(void **state)
{
	static struct run_result r;
	const char *const modules[] = { "good", "leftover" };
	const int32_t one[] = { 32 };
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_FORWARD, 1, one) };
	int index[1], rounding = 0;
	(void)state;
	struct msg_task task = small_task(TASK_TIME, "sim", modules, 2, cell, index, 1);
	task.phases = task.calls = false;
	expect_leaks(true); /* the purpose of the module */
	run_task(&task, &r);
	expect_leaks(false);
	for (int i = 0; i < r.n; i++) {
		if (r.record[i].t != MSG_NOTE)
			continue;
		assert_int_equal(r.record[i].u.note.role, ROLE_TARGET);
		rounding += strstr(r.record[i].u.note.text, "rounding mode") != NULL;
	}
	assert_int_equal(rounding, 1);
	assert_non_null(find_series(&r, 10, SERIES_DEVICE, ""));
	run_result_fini(&r);
}

static void sustained_runs_have_separate_clocks(void **state)
{
	static struct run_result r;
	const char *const modules[] = { "good", "hungry" };
	const int32_t one[] = { 128 };
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_BACKWARD, 1, one) };
	enum sustained_order sustained[] = { SUSTAINED_TARGET_FIRST };
	int index[1];
	(void)state;
	attention_of(&cell[0])->nhq = 8;
	attention_of(&cell[0])->headdim = 64;
	case_name(&cell[0]);
	struct msg_task task = small_task(TASK_TIME, "sim", modules, 2, cell, index, 1);
	task.phases = task.calls = false;
	task.sustained = sustained;
	run_task(&task, &r);
	const struct msg_cell *m = find_series(&r, 10, SERIES_SUSTAINED, "");
	assert_non_null(m);
	assert_int_equal(strlen(m->order), 2 * m->n);
	assert_true(m->order[0] == 'B' && m->order[m->n - 1] == 'B' && m->order[m->n] == 'A');
	double base = stats_median(m->mhz[0], m->n), target = stats_median(m->mhz[1], m->n);
	assert_true(target < 0.985 * base);
	assert_true(m->energy_j[0] > 0 && m->energy_j[1] > 0);
	run_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_that_void_times),
		cmocka_unit_test(xids_of_branches_and_of_devices),
		cmocka_unit_test(the_worst_of_two_readings),
		cmocka_unit_test(scripts_report_when),
		cmocka_unit_test(a_bad_pass_is_taken_again),
		cmocka_unit_test(a_lost_context_ends_the_run),
		cmocka_unit_test(health_and_idle_checks_of_a_device),
		cmocka_unit_test(leftovers_are_named),
		cmocka_unit_test(sustained_runs_have_separate_clocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
