/* Order of calls, their number, and whole runs on the simulated device. */
/* Left to `make check`: loads test modules, takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "attention_cell.h"
#include "protocol/protocol.h"
#include "runner/internal.h"
#include "runner_run.h"

static void two_sides_run_in_the_order_ab_ba_ba_ab(void **state)
{
	const char *const want = "ABBABAABABBABAAB";
	(void)state;
	for (int call = 0; call < 16; call++)
		assert_int_equal(order_side(2, 0, call / 2, call % 2), want[call] - 'A');
	for (int call = 0; call < 16; call++) /* the other start is the mirror */
		assert_int_equal(order_side(2, 1, call / 2, call % 2), 'B' - want[call]);
}

static void many_sides_share_all_positions(void **state)
{
	(void)state;
	for (int n = 1; n <= 6; n++) {
		int at[6][6] = { 0 };
		for (int round = 0; round < 2 * n; round++) {
			int seen = 0;
			for (int k = 0; k < n; k++) {
				int who = order_side(n, 3 % n, round, k);
				assert_in_range(who, 0, n - 1);
				seen |= 1 << who;
				at[who][k]++;
			}
			assert_int_equal(seen, (1 << n) - 1);
		}
		for (int who = 0; who < n; who++)
			for (int k = 0; k < n; k++)
				assert_int_equal(at[who][k], 2);
	}
}

static void rounds_follow_the_length(void **state)
{
	const struct device_ops clocked = { .clocks = true }, plain = { .clocks = false },
				queued = { .clocks = true, .queues = true };
	struct rule r;
	(void)state;
	rule_default(&r, 20); /* 0.4 s, 2 to 32; 0.02 s, to 128 on a queue */
	assert_int_equal(timing_rounds(&r, 0, 2, &clocked), 32);
	assert_int_equal(timing_rounds(&r, 1, 2, &clocked), 32);
	assert_int_equal(timing_rounds(&r, 20, 2, &clocked), 20);
	assert_int_equal(timing_rounds(&r, 21, 2, &clocked), 16); /* 19.05 */
	assert_int_equal(timing_rounds(&r, 50, 2, &clocked), 8);
	assert_int_equal(timing_rounds(&r, 1000, 2, &clocked), 2);
	assert_int_equal(timing_rounds(&r, 1000, 2, &plain), 8);
	for (int n = 1; n <= PROTOCOL_SIDES_MAX; n++)
		assert_true(timing_rounds(&r, 0.001, n, &queued) * n * 2 <= DEVICE_MARKS_MAX);
	assert_int_equal(timing_rounds(&r, 0.05, 2, &queued), 128);
	assert_int_equal(timing_rounds(&r, 0.05, 6, &queued), 84); /* as many as there are marks */
}

static double median_ratio(const struct msg_cell *c, int a, int b)
{
	return (double)stats_median(c->ms[b], c->n) / (double)stats_median(c->ms[a], c->n);
}

static void a_run_times_all_series(void **state)
{
	static struct run_result r;
	const char *const modules[] = { "good", "slow" };
	const int32_t one[] = { 48 }, two[] = { 20, 28 };
	struct cell cell[] = {
		small_cell(FW_FULL, DIRECTION_FORWARD, 1, one),
		small_cell(FW_CAUSAL, DIRECTION_BACKWARD, 2, two),
		small_cell(FW_BLOCKS, DIRECTION_BACKWARD, 1, one),
	};
	int index[3];
	(void)state;
	struct msg_task task = small_task(TASK_TIME, "sim", modules, 2, cell, index, 3);
	run_task(&task, &r);
	assert_int_equal(r.status, 0);
	for (int i = 0; i < 3; i++) {
		const struct msg_cell *device = find_series(&r, index[i], SERIES_DEVICE, ""),
				      *call = find_series(&r, index[i], SERIES_CALL, "");
		const struct msg_cell *phase = find_series(&r, index[i], SERIES_PHASE, "run");
		assert_non_null(device);
		assert_non_null(call);
		assert_non_null(phase);
		assert_int_equal(device->n_sides, 2);
		assert_int_equal(device->role[0], ROLE_BASE);
		assert_int_equal(strlen(device->input_sha256), 64);
		assert_int_equal(device->n % 4, 0);
		assert_int_equal(strlen(device->order), 2 * device->n);
		assert_non_null(device->mhz[0]);
		double ratio = median_ratio(device, 0, 1); /* slow claims 5 % more work */
		assert_true(ratio > 1.03 && ratio < 1.07);
		for (int k = 0; k < phase->n; k++)
			assert_true(phase->ms[0][k] > 0);
	}
	for (int i = 0; i < r.n; i++)
		assert_int_not_equal(r.record[i].t, MSG_FAULT);
	run_result_fini(&r);
}

static void the_seed_decides_everything(void **state)
{
	static struct run_result first, again, other;
	const char *const modules[] = { "good", "good", "slow" };
	const int32_t one[] = { 32 };
	struct cell cell[] = {
		small_cell(FW_FULL, DIRECTION_FORWARD, 1, one),
		small_cell(FW_FULL, DIRECTION_BACKWARD, 1, one),
		small_cell(FW_CAUSAL, DIRECTION_FORWARD, 1, one),
	};
	int index[3];
	(void)state;
	struct msg_task task = small_task(TASK_TIME, "sim:0", modules, 3, cell, index, 3);
	run_task(&task, &first);
	run_task(&task, &again);
	task.seed++;
	run_task(&task, &other);
	assert_int_equal(first.status, 0);
	assert_string_equal(first.text.data, again.text.data);
	assert_string_not_equal(first.text.data, other.text.data);
	run_result_fini(&first);
	run_result_fini(&again);
	run_result_fini(&other);
}

static void the_cpu_is_timed_for_real(void **state)
{
	static struct run_result r;
	const char *const modules[] = { "good", "good" };
	const int32_t one[] = { 32 };
	struct cell cell[] = { small_cell(FW_CAUSAL, DIRECTION_FORWARD, 1, one) };
	int index[1], said = 0;
	(void)state;
	struct msg_task task = small_task(TASK_TIME, "cpu", modules, 2, cell, index, 1);
	task.phases = task.calls = false;
	run_task(&task, &r);
	assert_int_equal(r.status, 0);
	const struct msg_cell *device = find_series(&r, index[0], SERIES_DEVICE, "");
	assert_non_null(device);
	assert_null(device->mhz[0]);
	assert_null(find_series(&r, index[0], SERIES_CALL, ""));
	assert_null(find_series(&r, index[0], SERIES_PHASE, "run"));
	for (int i = 0; i < r.n; i++) /* a crash can be attributed to a side, call by call */
		said += r.record[i].t == MSG_AT && strcmp(r.record[i].u.at.step, "time") == 0 &&
			r.record[i].u.at.role != ROLE_NONE;
	assert_int_equal(said, 2 * device->n);
	run_result_fini(&r);
}

static void a_wrong_side_is_named_and_not_timed(void **state)
{
	static struct run_result r;
	const struct {
		const char *module, *failure;
	} bad[] = { { "wrong_result", "wrong" }, { "out_of_bounds", "oob" }, { "wrong_abi", "abi" } };
	const int32_t one[] = { 32 };
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_FORWARD, 1, one) };
	int index[1];
	(void)state;
	for (int k = 0; k < 3; k++) {
		const char *const modules[] = { "good", bad[k].module };
		struct msg_task task = small_task(TASK_TIME, "sim", modules, 2, cell, index, 1);
		run_task(&task, &r);
		assert_int_equal(r.status, 0);
		int faults = 0;
		for (int i = 0; i < r.n; i++) {
			assert_int_not_equal(r.record[i].t, MSG_CELL);
			if (r.record[i].t != MSG_FAULT)
				continue;
			faults++;
			assert_int_equal(r.record[i].u.fault.role, ROLE_TARGET);
			assert_string_equal(r.record[i].u.fault.failure, bad[k].failure);
		}
		assert_int_equal(faults, 1);
		run_result_fini(&r);
	}
}

static void a_reference_that_fails_is_skipped(void **state)
{
	static struct run_result r;
	const char *const modules[] = { "good", "good", "nan_result" };
	const int32_t one[] = { 32 };
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_FORWARD, 1, one) };
	int index[1];
	(void)state;
	struct msg_task task = small_task(TASK_TIME, "sim", modules, 3, cell, index, 1);
	run_task(&task, &r);
	assert_int_equal(r.status, 0);
	const struct msg_cell *device = find_series(&r, index[0], SERIES_DEVICE, "");
	assert_non_null(device);
	assert_int_equal(device->n_sides, 2);
	run_result_fini(&r);
}

static void no_such_device(void **state)
{
	static struct run_result r;
	const char *const modules[] = { "good" };
	const int32_t one[] = { 32 };
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_FORWARD, 1, one) };
	int index[1];
	(void)state;
	struct msg_task task = small_task(TASK_CHECK, "cuda:99", modules, 1, cell, index, 1);
	run_task(&task, &r);
	assert_int_equal(r.status, 1);
	assert_int_equal(r.record[r.n - 1].t, MSG_FAULT);
	assert_string_equal(r.record[r.n - 1].u.fault.failure, "device");
	run_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_sides_run_in_the_order_ab_ba_ba_ab),
		cmocka_unit_test(many_sides_share_all_positions),
		cmocka_unit_test(rounds_follow_the_length),
		cmocka_unit_test(a_run_times_all_series),
		cmocka_unit_test(the_seed_decides_everything),
		cmocka_unit_test(the_cpu_is_timed_for_real),
		cmocka_unit_test(a_wrong_side_is_named_and_not_timed),
		cmocka_unit_test(a_reference_that_fails_is_skipped),
		cmocka_unit_test(no_such_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
