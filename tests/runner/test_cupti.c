/* The names of our counters and their replays with the real library, whose host functions need no GPU; skipped where it is not
 * installed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "profile/profile.h"
#include "runner/internal.h"

#if defined(FW_HAVE_CUDA) && __has_include(<cupti_range_profiler.h>) && __has_include(<cupti_target.h>)
#define HAS_HEADERS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <cupti_activity.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#pragma GCC diagnostic pop
#endif

/* NULL: not installed, which is printed. */
static const struct cupti *library(void)
{
	const struct cupti *c;
	struct fw_err err = { 0 };
#ifdef __SANITIZE_ADDRESS__
	printf("# it opens a library of its own with RTLD_DEEPBIND, which AddressSanitizer refuses\n");
	return NULL;
#endif
	if (cupti_open(&c, &err) == 0)
		return c;
	printf("# %s\n", err.text);
	return NULL;
}

static void hopper_has_all_counters_in_few_replays(void **state)
{
	const struct cupti *c = library();
	struct fw_err err = { 0 };
	struct schedule s;
	(void)state;
	if (!c)
		skip();
	if (schedule_open(&s, c, "GH100", NULL, metric_names, METRICS_BASIC, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(s.n_names, METRICS_BASIC);
	assert_int_equal(s.passes, 4);
	schedule_close(&s);
	if (schedule_open(&s, c, "GH100", NULL, metric_names, METRICS, &err) != 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < s.n_names; i++)
		assert_string_equal(s.name[i], metric_names[i]);
	assert_int_equal(s.n_names, METRICS);
	assert_int_equal(s.passes, 11);
	schedule_close(&s);
}

static void names_that_do_not_exist_are_left_out(void **state)
{
	static const char *const name[] = { "sm__pipe_tensor_op_gmma_cycles_active.sum", "dram__bytes_read.sum" };
	const struct cupti *c = library();
	struct fw_err err = { 0 };
	struct schedule s;
	(void)state;
	if (!c)
		skip();
	assert_int_equal(schedule_open(&s, c, "GH100", NULL, name, 2, &err), 0);
	assert_int_equal(s.n_names, 1);
	schedule_close(&s);
	assert_int_equal(schedule_open(&s, c, "GH100", NULL, name, 1, &err), -1);
	assert_non_null(strstr(err.text, "none of the counters"));
	schedule_close(&s);
	assert_int_equal(schedule_open(&s, c, "QX999", NULL, name, 2, &err), -1);
	schedule_close(&s);
}

/*
 * A sampler has its own names for two of the stalls that counters name, and reports each again for samples at which no warp
 * issued. The library names them only on a GPU, so these were recorded on one.
 */
static void stalls_of_samples_are_those_of_counters(void **state)
{
	FILE *reported = fopen("tests/data/gpu/h200-2026-11-23-stall-reasons.txt", "re");
	bool seen[METRICS] = { false };
	char line[200], name[160], out[STALLNAME_SIZE], metric[128];
	int n = 0;
	(void)state;
	assert_non_null(reported);
	while (fgets(line, sizeof line, reported)) {
		if (sscanf(line, "%*d %159s", name) != 1 || !stallname_of_sample(name, out))
			continue;
		snprintf(metric, sizeof metric, "smsp__warps_issue_stalled_%s.sum", out);
		int m = METRICS_BASIC;
		while (m < METRICS && strcmp(metric_names[m], metric) != 0)
			m++;
		if (m == METRICS || seen[m])
			fail_msg("%s is %s, which is no stall that is counted, or one that was there", name, out);
		seen[m] = true;
		n++;
	}
	fclose(reported);
	assert_int_equal(n, 19);
	assert_false(stallname_of_sample("smsp__pcsamp_sample_count", out));
	assert_false(stallname_of_sample("smsp__warps_issue_stalled_wait.sum", out));
}

static void the_library_has_the_sampler_and_the_tracer(void **state)
{
	const struct cupti_sampling *sampling;
	const struct cupti_activity *activity;
	struct fw_err err = { 0 };
	(void)state;
	if (!library())
		skip();
	if (cupti_sampling_open(&sampling, &err) != 0)
		fail_msg("%s", err.text);
	assert_non_null(sampling->get);
	if (cupti_activity_open(&activity, &err) != 0)
		fail_msg("%s", err.text);
	assert_non_null(activity->next);
}

/* Our declarations match those of the toolkit. */
static void structs_are_those_of_the_header(void **state)
{
	(void)state;
#ifdef HAS_HEADERS
#define SAME(type, last, theirs) assert_int_equal(CUPTI_SIZE(type, last), theirs##_STRUCT_SIZE)
	SAME(struct cupti_plain, none, CUpti_Profiler_Initialize_Params);
	SAME(struct cupti_chip, chip, CUpti_Device_GetChipName_Params);
	SAME(struct cupti_availability, image, CUpti_Profiler_GetCounterAvailability_Params);
	SAME(struct cupti_enable, profiler, CUpti_RangeProfiler_Enable_Params);
	SAME(struct cupti_on, profiler, CUpti_RangeProfiler_Start_Params);
	SAME(struct cupti_counter_size, image_bytes, CUpti_RangeProfiler_GetCounterDataSize_Params);
	SAME(struct cupti_counter_image, image, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
	SAME(struct cupti_setting, level, CUpti_RangeProfiler_SetConfig_Params);
	SAME(struct cupti_stop, is_last, CUpti_RangeProfiler_Stop_Params);
	SAME(struct cupti_decode, dropped, CUpti_RangeProfiler_DecodeData_Params);
	SAME(struct cupti_info, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params);
#define SAMPLE(type, last, theirs) assert_int_equal(CUPTI_SIZE(type, last), theirs##Size)
	SAMPLE(struct sampling_on, context, CUpti_PCSamplingEnableParams);
	SAMPLE(struct sampling_count, n, CUpti_PCSamplingGetNumStallReasonsParams);
	SAMPLE(struct sampling_names, name, CUpti_PCSamplingGetStallReasonsParams);
	SAMPLE(struct sampling_setting, attribute, CUpti_PCSamplingConfigurationInfoParams);
	SAMPLE(struct sampling_get, data, CUpti_PCSamplingGetDataParams);
	assert_int_equal(sizeof(struct sampling_attribute), sizeof(CUpti_PCSamplingConfigurationInfo));
	assert_int_equal(sizeof(struct sampling_data), sizeof(CUpti_PCSamplingData));
	assert_int_equal(sizeof(struct sampling_pc), sizeof(CUpti_PCSamplingPCData));
	assert_int_equal(offsetof(struct sampling_pc, reason), offsetof(CUpti_PCSamplingPCData, stallReason));
	assert_int_equal(offsetof(struct sampling_data, is_full), offsetof(CUpti_PCSamplingData, hardwareBufferFull));
	assert_int_equal(offsetof(struct activity_kernel, start_ns), offsetof(CUpti_ActivityKernel10, start));
	assert_int_equal(offsetof(struct activity_kernel, end_ns), offsetof(CUpti_ActivityKernel10, end));
	assert_int_equal(offsetof(struct activity_kernel, grid), offsetof(CUpti_ActivityKernel10, gridX));
	assert_int_equal(ACTIVITY_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	assert_int_equal(ACTIVITY_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	assert_int_equal(SAMPLING_MODE, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE);
	assert_int_equal(SAMPLING_BUFFER, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER);
	assert_int_equal(SAMPLING_SERIALIZED, CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED);
	assert_int_equal(offsetof(struct cupti_setting, range), offsetof(CUpti_RangeProfiler_SetConfig_Params, range));
	assert_int_equal(offsetof(struct cupti_setting, pass), offsetof(CUpti_RangeProfiler_SetConfig_Params, passIndex));
	assert_int_equal(CUPTI_AUTO_RANGE, CUPTI_AutoRange);
	assert_int_equal(CUPTI_USER_REPLAY, CUPTI_UserReplay);
#else
	puts("# the toolkit's headers are not installed");
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hopper_has_all_counters_in_few_replays),
		cmocka_unit_test(names_that_do_not_exist_are_left_out),
		cmocka_unit_test(stalls_of_samples_are_those_of_counters),
		cmocka_unit_test(the_library_has_the_sampler_and_the_tracer),
		cmocka_unit_test(structs_are_those_of_the_header),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
