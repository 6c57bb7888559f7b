/* Mode profile: kernels of a call with their counters, and all reasons for missing ones. The GPU is simulated on the CPU here. */
/* Left to `make check`: loads test modules, takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "attention_cell.h"
#include "fake_cupti.h"
#include "lib/lib.h"
#include "runner/internal.h"
#include "runner_run.h"

static const int32_t one[] = { 48 };

/* ---- a device with counters and graphs ---- */

static int context_answer;
static const struct device_node graph[] = {
	{ .kernel = "memset" },
	{ .kernel = "prepare",
		.symbol = "_Z7preparev",
		.sm = 90,
		.grid = { 4, 1, 1 },
		.block = { 128, 1, 1 },
		.is_kernel = true },
	{ .kernel = "run",
		.symbol = "_Z3runv",
		.sm = 90,
		.grid = { 132, 1, 1 },
		.registers = 168,
		.ctas_per_sm = 1,
		.is_kernel = true },
};
static const char *refused;
static bool phases_differ, is_one_kernel;

static void *context_of(struct device *d, int *driver_index)
{
	(void)d;
	*driver_index = 0;
	return &context_answer;
}

/* Forward has one phase: it contains all nodes, or fewer than the whole call. Backward has two, which then contain too many. */
static int capture(struct device *d, int (*enqueue)(void *arg, void *stream), void *arg, device_node_fn *node, void *node_arg,
	struct fw_err *err)
{
	static int calls;
	(void)d;
	if (refused)
		return err_set(err, ERR_INVALID, "%s", refused);
	assert_int_equal(enqueue(arg, NULL), 0);
	int n = is_one_kernel ? 1 : 3 - (phases_differ && calls++ % 2);
	for (int i = is_one_kernel ? 2 : 0, end = i + n; i < end; i++)
		node(node_arg, &graph[i]);
	return 0;
}

/* Run the mode. Records are returned parsed. */
static bool wants_samples;
static void profile(struct run_result *out, bool counters)
{
	static struct device_ops ops;
	const char *const modules[] = { "good" };
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_FORWARD, 1, one),
		small_cell(FW_CAUSAL, DIRECTION_BACKWARD, 1, one) };
	int index[2], fd = memfd_create("records", 0);
	struct msg_task task = small_task(TASK_PROFILE, "cpu", modules, 1, cell, index, 2);
	struct records records;
	struct runner r;
	struct fw_err err = { 0 };
	task.counters = counters;
	task.samples = wants_samples;
	task.repeat = 1;
	assert_int_equal(records_init(&records, fd, 0, &err), 0);
	assert_int_equal(runner_open(&r, &task, &records, &err), 0);
	ops = device_cpu;
	ops.queues = true;
	ops.context = context_of;
	ops.capture = capture;
	const struct device_ops *own = r.ops;
	r.ops = &ops;
	memset(out, 0, sizeof *out);
	out->status = mode_profile_run(&r);
	r.ops = own;
	runner_close(&r);
	records_fini(&records);
	buf_init(&out->text, 1u << 20);
	assert_true(lseek(fd, 0, SEEK_SET) == 0 && buf_read_fd(&out->text, fd) == 0);
	for (char *at = out->text.data, *end; (end = strchr(at, '\n')); at = end + 1)
		if (protocol_parse(at, (size_t)(end - at), &out->record[out->n++], &err) != 0)
			fail_msg("%s", err.text);
	close(fd);
}

static const struct msg_kernel *kernel(const struct run_result *r, int cell, int n)
{
	for (int i = 0; i < r->n; i++)
		if (r->record[i].t == MSG_KERNEL && r->record[i].u.kernel.cell == cell && r->record[i].u.kernel.n == n)
			return &r->record[i].u.kernel;
	return NULL;
}

static const struct msg_profile *end_of(const struct run_result *r, int cell)
{
	for (int i = 0; i < r->n; i++)
		if (r->record[i].t == MSG_PROFILE && r->record[i].u.profile.cell == cell)
			return &r->record[i].u.profile;
	return NULL;
}

/* ---- tests ---- */

static int fresh(void **state)
{
	refused = NULL;
	phases_differ = is_one_kernel = wants_samples = false;
	return fresh_fake(state);
}

static struct run_result result;

static int forget(void **state)
{
	(void)state;
	run_result_fini(&result);
	return 0;
}

static void range_i_is_kernel_i(void **state)
{
	(void)state;
	profile(&result, true);
	assert_int_equal(result.status, 0);
	for (int c = 10; c < 12; c++) {
		const struct msg_profile *end = end_of(&result, c);
		assert_non_null(end);
		assert_int_equal(end->path, EVIDENCE_RANGE);
		assert_string_equal(end->why, "");
		assert_string_equal(end->tool, "CUPTI 130099");
		assert_int_equal(end->passes, 3);
		assert_int_equal(kernel(&result, c, 0)->n_values, 0); /* a memset makes no range */
		assert_int_equal(kernel(&result, c, 1)->n_values, 64);
		assert_string_equal(kernel(&result, c, 1)->value[4].metric, "dram__bytes_read.sum");
		assert_true(kernel(&result, c, 1)->value[4].value == 4);
		assert_true(kernel(&result, c, 2)->value[4].value == 1004);
		assert_true(kernel(&result, c, 2)->ms > 0.00099 && kernel(&result, c, 2)->ms < 0.00101); /* 1000 ns */
		assert_string_equal(kernel(&result, c, 2)->kernel, "run");
		assert_string_equal(kernel(&result, c, 2)->phase, c == 10 ? "run" : "");
		assert_int_equal(kernel(&result, c, 2)->repeat, 1);
		assert_int_equal(kernel(&result, c, 2)->ctas_per_sm, 1);
		assert_int_equal(strlen(kernel(&result, c, 2)->symbol_sha256), 64);
		assert_null(kernel(&result, c, 3));
	}
	assert_int_equal(fake->enabled, 0);
}

static void memset_kernels_may_be_counted(void **state)
{
	(void)state;
	fake->ranges = 3;
	profile(&result, true);
	assert_int_equal(end_of(&result, 10)->path, EVIDENCE_RANGE);
	assert_true(kernel(&result, 10, 0)->n_values == 64 && kernel(&result, 10, 2)->value[0].value == 2000);
}

static void a_range_too_many_or_too_few_voids_all(void **state)
{
	(void)state;
	fake->ranges = 1;
	profile(&result, true);
	const struct msg_profile *end = end_of(&result, 10);
	assert_int_equal(end->path, EVIDENCE_CODE);
	assert_int_equal(end->passes, 0);
	assert_non_null(strstr(end->why, "counted 1 kernels, but the call runs 2"));
	assert_int_equal(kernel(&result, 10, 1)->n_values, 0);
	assert_true(kernel(&result, 10, 1)->ms < 0);
	assert_string_equal(kernel(&result, 10, 2)->kernel, "run"); /* known values are preserved */
}

static void counters_that_are_refused_leave_kernels_and_a_reason(void **state)
{
	(void)state;
	fake_fails("RangeProfilerStart", 35);
	profile(&result, true);
	assert_int_equal(result.status, 0);
	assert_int_equal(end_of(&result, 10)->path, EVIDENCE_CODE);
	assert_non_null(strstr(end_of(&result, 11)->why, "NVreg_RestrictProfilingToAdminUsers=0"));
	assert_int_equal(kernel(&result, 11, 2)->registers, 168);
}

static void a_kernel_that_is_alone_in_its_phase_is_timed(void **state)
{
	(void)state;
	is_one_kernel = true;
	fake_fails("RangeProfilerStart", 35);
	profile(&result, true);
	const struct msg_profile *end = end_of(&result, 10);
	assert_int_equal(end->path, EVIDENCE_ACTIVITY);
	assert_non_null(strstr(end->why, "NVreg_RestrictProfilingToAdminUsers=0"));
	assert_true(kernel(&result, 10, 0)->ms > 0 && kernel(&result, 10, 0)->n_values == 0);
	assert_int_equal(end_of(&result, 11)->path, EVIDENCE_CODE); /* whose phases do not add up to the call */
	assert_true(kernel(&result, 11, 0)->ms < 0);
}

/* The driver's tracer needs no privileges: it reports kernels of one phase, too, in calls that had others before them. */
static void without_counters_every_kernel_is_traced(void **state)
{
	(void)state;
	fake_fails("RangeProfilerStart", 35);
	fake->traced = 2;
	profile(&result, true);
	for (int c = 10; c < 12; c++) {
		assert_int_equal(end_of(&result, c)->path, EVIDENCE_ACTIVITY);
		assert_non_null(strstr(end_of(&result, c)->why, "NVreg_RestrictProfilingToAdminUsers=0"));
		assert_true(kernel(&result, c, 0)->ms < 0); /* a memset is no kernel */
		assert_int_equal(kernel(&result, c, 1)->n_values, 0);
	}
	assert_true(
		fabs(kernel(&result, 10, 1)->ms - 0.013) < 1e-9); /* the third of five calls, in the order of their beginning */
	assert_true(fabs(kernel(&result, 10, 2)->ms - 0.023) < 1e-9);
	assert_int_equal(fake->tracing, 0);
}

static void a_trace_of_other_kernels_is_ignored(void **state)
{
	static const int counts[] = { 0, 1, 3, 600 };
	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		fresh(NULL);
		fake_fails("RangeProfilerStart", 35);
		fake->traced = counts[i];
		profile(&result, true);
		assert_int_equal(end_of(&result, 10)->path, EVIDENCE_CODE);
		assert_true(kernel(&result, 10, 1)->ms < 0 && kernel(&result, 10, 2)->ms < 0);
		assert_int_equal(fake->tracing, 0);
		forget(NULL);
	}
	fresh(NULL);
	fake_fails("ActivityEnable", 39);
	fake->traced = 2;
	profile(&result, false);
	assert_int_equal(end_of(&result, 10)->path, EVIDENCE_CODE);
	assert_int_equal(fake->tracing, 0);
}

static void counters_are_read_only_on_request(void **state)
{
	(void)state;
	profile(&result, false);
	assert_int_equal(fake->starts, 0);
	assert_int_equal(end_of(&result, 10)->path, EVIDENCE_CODE);
	assert_non_null(kernel(&result, 10, 2));
}

static void phases_that_do_not_make_the_call_are_not_named(void **state)
{
	(void)state;
	phases_differ = true;
	profile(&result, true);
	assert_int_equal(end_of(&result, 10)->path, EVIDENCE_RANGE);
	assert_string_equal(kernel(&result, 10, 2)->phase, "");
}

static void a_call_that_cannot_be_captured_has_no_kernels(void **state)
{
	(void)state;
	refused = "it allocates";
	profile(&result, true);
	assert_int_equal(end_of(&result, 10)->path, EVIDENCE_CODE);
	assert_non_null(strstr(end_of(&result, 10)->why, "it allocates"));
	assert_null(kernel(&result, 10, 0));
}

/* ---- where warps wait ---- */

static const struct msg_stalls *stalls(const struct run_result *r, int cell, const char *symbol)
{
	char sha[HASH_HEX];
	hash_hex(symbol, strlen(symbol), sha);
	for (int i = 0; i < r->n; i++)
		if (r->record[i].t == MSG_STALLS && r->record[i].u.stalls.cell == cell &&
			strcmp(r->record[i].u.stalls.symbol_sha256, sha) == 0)
			return &r->record[i].u.stalls;
	return NULL;
}

static void warp_stalls_are_sampled_per_instruction(void **state)
{
	(void)state;
	wants_samples = true;
	profile(&result, false);
	assert_int_equal(result.status, 0);
	for (int c = 10; c < 12; c++) {
		const struct msg_stalls *run = stalls(&result, c, "_Z3runv"), *prepare = stalls(&result, c, "_Z7preparev");
		assert_string_equal(end_of(&result, c)->why, "");
		assert_non_null(run);
		assert_int_equal(run->role, ROLE_BASE);
		assert_int_equal(run->samples, 20 * 22); /* of 20 calls; without samples under another name */
		assert_int_equal(run->n, 3);
		assert_int_equal(run->line[0].offset, 0x10);
		assert_string_equal(run->line[0].reason, "selected"); /* nothing else was seen there */
		assert_int_equal(run->line[1].offset, 0x20);
		assert_int_equal(run->line[1].samples, 200);
		assert_string_equal(run->line[1].reason, "gmma");
		assert_int_equal(run->line[1].of_reason, 180);
		assert_string_equal(run->line[2].reason, "barrier");
		assert_non_null(prepare);
		assert_int_equal(prepare->line[0].samples, 80);
		assert_null(stalls(&result, c, "restore")); /* the call runs no such kernel */
		assert_null(kernel(&result, c, 2));         /* which another process names */
	}
	assert_int_equal(fake->sample_calls, 40);
	assert_int_equal(fake->sampling + fake->starts, 0);
}

static void samples_that_are_refused_leave_a_reason(void **state)
{
	static const struct {
		const char *function;
		int code;
		const char *words;
	} cases[] = {
		{ "PCSamplingEnable", 35, "NVreg_RestrictProfilingToAdminUsers=0" },
		{ "PCSamplingGetNumStallReasons", 39, "another tool" },
		{ "PCSamplingGetStallReasons", 1, "cuptiPCSamplingGetStallReasons failed with error 1" },
		{ "PCSamplingSetConfigurationAttribute", 27, "cannot be read by this CUPTI" },
		{ "PCSamplingStart", 26, "dcgmi profile --pause" },
		{ "PCSamplingStop", 999, "cuptiPCSamplingStop failed with error 999" },
		{ "PCSamplingGetData", 8, "no free memory for counters" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		fresh(NULL);
		wants_samples = true;
		fake_fails(cases[i].function, cases[i].code);
		profile(&result, false);
		assert_int_equal(result.status, 0);
		assert_non_null(strstr(end_of(&result, 10)->why, cases[i].words));
		assert_non_null(end_of(&result, 11));
		assert_null(stalls(&result, 10, "_Z3runv"));
		assert_int_equal(fake->sampling, 0);
		forget(NULL);
	}
	fresh(NULL);
	wants_samples = true;
	fake->samples_full = 1;
	profile(&result, false);
	assert_non_null(strstr(end_of(&result, 10)->why, "buffer of samples overflowed"));
}

static void a_call_of_unknown_kernels_is_not_sampled(void **state)
{
	(void)state;
	wants_samples = true;
	refused = "it allocates";
	profile(&result, false);
	assert_non_null(strstr(end_of(&result, 10)->why, "it allocates"));
	assert_int_equal(fake->sample_calls, 0);
}

/* The process that waits for this one ends it; until then every record before is written. */
static void a_library_that_hangs_preserves_earlier_results(void **state)
{
	(void)state;
	int records[2];
	assert_int_equal(pipe(records), 0);
	pid_t child = fork();
	if (child == 0) {
		struct cell cell[] = { small_cell(FW_FULL, DIRECTION_FORWARD, 1, one) };
		const char *const modules[] = { "good" };
		int index[1];
		struct msg_task task = small_task(TASK_PROFILE, "cpu", modules, 1, cell, index, 1);
		struct device_ops ops = device_cpu;
		struct records out;
		struct runner r;
		struct fw_err err = { 0 };
		task.counters = true;
		snprintf(fake->hangs, sizeof fake->hangs, "RangeProfilerStop");
		if (records_init(&out, records[1], 0, &err) != 0 || runner_open(&r, &task, &out, &err) != 0)
			_exit(1);
		ops.queues = true;
		ops.context = context_of;
		ops.capture = capture;
		r.ops = &ops;
		_exit(mode_profile_run(&r));
	}
	close(records[1]);
	char text[8192] = "";
	size_t n = 0;
	while (!strstr(text, "\"step\":\"count\"")) { /* wait for that state, not for a time */
		ssize_t got = read(records[0], text + n, sizeof text - 1 - n);
		assert_true(got > 0);
		n += (size_t)got;
	}
	kill(child, SIGKILL);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_null(strstr(text, "\"t\":\"profile\""));
	close(records[0]);
	memset(&result, 0, sizeof result);
}

static void devices_without_counters_report_the_reason(void **state)
{
	static const char *const devices[] = { "cpu", "sim" };
	const char *const modules[] = { "good" };
	(void)state;
	memset(&result, 0, sizeof result);
	for (int d = 0; d < 2; d++) {
		static struct run_result r;
		struct cell cell[] = { small_cell(FW_FULL, DIRECTION_BACKWARD, 1, one) };
		int index[1];
		struct msg_task task = small_task(TASK_PROFILE, devices[d], modules, 1, cell, index, 1);
		task.counters = true;
		run_task(&task, &r);
		assert_int_equal(r.status, 0);
		const struct msg_profile *end = end_of(&r, 10);
		assert_non_null(end);
		assert_int_equal(end->path, EVIDENCE_CODE);
		assert_non_null(strstr(end->why, "has no counters"));
		run_result_fini(&r);
	}
}

/* The query of `flopwatch-runner --counters`. */
static void a_device_is_tried_with_one_counter(void **state)
{
	struct device_ops ops = device_cpu;
	struct device *dev = NULL;
	struct fw_err err = { 0 };
	struct msg_profile p;
	(void)state;
	memset(&result, 0, sizeof result);
	assert_int_equal(device_cpu.open(0, 0, &dev, &err), 0);
	ops.context = context_of;
	counters_try(&ops, dev, &p);
	assert_int_equal(p.path, EVIDENCE_RANGE);
	assert_string_equal(p.why, "");
	assert_string_equal(p.tool, "CUPTI 130099");
	assert_int_equal(fake->metrics, 1);
	assert_int_equal(fake->open + fake->hosts + fake->enabled, 0);
	fake_fails("RangeProfilerEnable", 26);
	counters_try(&ops, dev, &p);
	assert_int_equal(p.path, EVIDENCE_CODE);
	assert_non_null(strstr(p.why, "dcgmi profile --pause"));
	fresh(NULL);
	fake->ranges = 0;
	counters_try(&ops, dev, &p);
	assert_non_null(strstr(p.why, "counted nothing where a kernel ran"));
	device_cpu.close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(range_i_is_kernel_i, fresh, forget),
		cmocka_unit_test_setup_teardown(memset_kernels_may_be_counted, fresh, forget),
		cmocka_unit_test_setup_teardown(a_range_too_many_or_too_few_voids_all, fresh, forget),
		cmocka_unit_test_setup_teardown(counters_that_are_refused_leave_kernels_and_a_reason, fresh, forget),
		cmocka_unit_test_setup_teardown(a_kernel_that_is_alone_in_its_phase_is_timed, fresh, forget),
		cmocka_unit_test_setup_teardown(without_counters_every_kernel_is_traced, fresh, forget),
		cmocka_unit_test_setup_teardown(a_trace_of_other_kernels_is_ignored, fresh, forget),
		cmocka_unit_test_setup_teardown(counters_are_read_only_on_request, fresh, forget),
		cmocka_unit_test_setup_teardown(phases_that_do_not_make_the_call_are_not_named, fresh, forget),
		cmocka_unit_test_setup_teardown(a_call_that_cannot_be_captured_has_no_kernels, fresh, forget),
		cmocka_unit_test_setup_teardown(warp_stalls_are_sampled_per_instruction, fresh, forget),
		cmocka_unit_test_setup_teardown(samples_that_are_refused_leave_a_reason, fresh, forget),
		cmocka_unit_test_setup_teardown(a_call_of_unknown_kernels_is_not_sampled, fresh, forget),
		cmocka_unit_test_setup_teardown(a_library_that_hangs_preserves_earlier_results, fresh, forget),
		cmocka_unit_test_setup_teardown(a_device_is_tried_with_one_counter, fresh, forget),
		cmocka_unit_test_setup_teardown(devices_without_counters_report_the_reason, fresh, forget),
	};
	return cmocka_run_group_tests(tests, load_fake, NULL);
}
