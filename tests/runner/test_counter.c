/* Counters reported by a library that a test controls: replays, ranges, and failures of each of its functions. */
/* Left to `make check`: loads test modules. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_cupti.h"
#include "runner/internal.h"

static const char *const names[] = { "gpu__time_duration.sum", "dram__bytes_read.sum", "smsp__inst_executed.sum" };
enum { NAMES = 3 };
static int context;

/* All steps, without the calls in between. */
static int collect(struct counter *c, struct fw_err *err)
{
	int result = counter_open(c, &context, 0, 4, names, NAMES, err);
	while (result == 0 && !c->is_done)
		result = counter_begin(c, err) != 0 || counter_end(c, err) != 0 ? -1 : 0;
	double value[NAMES];
	return result == 0 && counter_decode(c, err) == 0 && counter_read(c, 1, value, err) == 0 ? 0 : -1;
}

static void everything_is_given_back(void)
{
	assert_int_equal(fake->open, 0);
	assert_int_equal(fake->hosts, 0);
	assert_int_equal(fake->enabled, 0);
}

static void a_call_is_replayed_until_all_is_counted(void **state)
{
	struct fw_err err = { 0 };
	struct counter c;
	double value[NAMES];
	(void)state;
	assert_int_equal(collect(&c, &err), 0);
	assert_int_equal(c.made, 3);
	assert_int_equal(c.schedule.passes, 3);
	assert_int_equal(c.ranges, 2);
	assert_int_equal(counter_read(&c, 1, value, &err), 0);
	assert_true(value[0] == 1000 && value[2] == 1002);
	assert_int_equal(fake->add_calls, 1); /* all metrics at once: separately they take more replays */
	assert_int_equal(fake->range_mode, CUPTI_AUTO_RANGE);
	assert_int_equal(fake->replay_mode, CUPTI_USER_REPLAY);
	counter_close(&c);
	everything_is_given_back();
}

static void counters_that_the_chip_lacks_are_skipped(void **state)
{
	struct fw_err err = { 0 };
	struct counter c;
	(void)state;
	snprintf(fake->lacks, sizeof fake->lacks, "dram__bytes_read.sum");
	assert_int_equal(collect(&c, &err), 0);
	assert_int_equal(c.schedule.n_names, 2);
	assert_string_equal(c.schedule.name[1], "smsp__inst_executed.sum");
	counter_close(&c);
}

static void every_function_may_fail(void **state)
{
	static const char *const functions[] = { "Initialize", "GetChipName", "GetCounterAvailability", "HostInitialize",
		"HostConfigAddMetrics", "HostGetConfigImageSize", "HostGetConfigImage", "HostGetNumOfPasses",
		"RangeProfilerEnable", "RangeProfilerGetCounterDataSize", "RangeProfilerCounterDataImageInitialize",
		"RangeProfilerSetConfig", "RangeProfilerStart", "RangeProfilerStop", "RangeProfilerDecodeData",
		"RangeProfilerGetCounterDataInfo", "HostEvaluateToGpuValues" };
	(void)state;
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		struct fw_err err = { 0 };
		struct counter c;
		fresh_fake(NULL);
		fake_fails(functions[i], 35); /* missing privileges may be reported late */
		assert_int_equal(collect(&c, &err), -1);
		assert_int_equal(err.code, ERR_UNSUPPORTED);
		assert_non_null(strstr(err.text, functions[i]));
		assert_non_null(strstr(err.text, "NVreg_RestrictProfilingToAdminUsers=0"));
		counter_close(&c);
		everything_is_given_back();
	}
	struct fw_err err = { 0 };
	struct counter c;
	fresh_fake(NULL);
	fake_fails("RangeProfilerStop", 35);
	fake->skip = 1; /* at the second replay */
	assert_int_equal(collect(&c, &err), -1);
	counter_close(&c);
	everything_is_given_back();
}

static void errors_of_cupti_have_a_remedy(void **state)
{
	static const struct {
		int code;
		const char *words;
	} expected[] = { { 26, "dcgmi profile --pause" }, { 39, "ncu, nsys or a sanitizer" }, { 15, "libnvperf_host.so" },
		{ 33, "virtual GPU" }, { 40, "virtual GPU" }, { 41, "confidential" }, { 43, "MIG" },
		{ 999, "error 999 of CUPTI" } };
	(void)state;
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
		struct fw_err err = { 0 };
		struct counter c;
		fresh_fake(NULL);
		fake_fails("RangeProfilerEnable", expected[i].code);
		assert_int_equal(collect(&c, &err), -1);
		assert_non_null(strstr(err.text, expected[i].words));
		assert_null(strchr(err.text, '\n'));
		assert_true(strlen(err.text) < 400); /* it fits into a record */
		counter_close(&c);
	}
}

static void replays_come_to_an_end(void **state)
{
	struct fw_err err = { 0 };
	struct counter c;
	(void)state;
	fake->never_done = 1;
	assert_int_equal(collect(&c, &err), -1);
	assert_non_null(strstr(err.text, "not complete after 100 replays"));
	counter_close(&c);
	fresh_fake(NULL);
	err_clear(&err);
	fake->dropped = 5;
	assert_int_equal(collect(&c, &err), -1);
	assert_non_null(strstr(err.text, "5 kernels were dropped"));
	counter_close(&c);
	everything_is_given_back();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_call_is_replayed_until_all_is_counted, fresh_fake),
		cmocka_unit_test_setup(counters_that_the_chip_lacks_are_skipped, fresh_fake),
		cmocka_unit_test_setup(every_function_may_fail, fresh_fake),
		cmocka_unit_test_setup(errors_of_cupti_have_a_remedy, fresh_fake),
		cmocka_unit_test_setup(replays_come_to_an_end, fresh_fake),
	};
	return cmocka_run_group_tests(tests, load_fake, NULL);
}
