/*
 * A profile from the worker's side: four processes and which of their records are accepted, machine code always, and the target
 * with its base's configuration. Runner and nvdisasm are scripts.
 */
/* Left to `make check`: takes seconds. */
#include <math.h>
#include <signal.h>

#include "profile_scene.h"

static void each_side_is_counted_twice(void **state)
{
	(void)state;
	runner("for c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_string_equal(runs(),
		"base 0 counters [0, 1]\ntarget 0 counters [0, 1]\ntarget 1 counters [0, 1]\nbase 1 counters [0, 1]\n"
		"run base target reference TILE=3 PARTS=2 TILE=3 PARTS=2\n");
	HAS("\"t\":\"kernel\"", "\"cell\":1", "\"role\":\"target\"", "\"repeat\":1", "\"n\":2",
		"\"values\":{\"dram__bytes_read.sum\":101}");
	assert_null(find(14, "\"t\":\"kernel\"", "\"cell\":0", NULL)); /* 3 of base and 4 of target, twice */
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"range\"", "\"why\":\"\"", "\"passes\":10", "\"tool\":\"CUPTI 130001\"",
		"\"base_config\":\"TILE=3 PARTS=2\"", "\"target_config\":\"TILE=3 PARTS=1\"", "\"gpu_s\":2");
	assert_non_null(strstr(scene.record[scene.n - 1], "\"t\":\"profile\"")); /* the last line of a cell */
	assert_non_null(strstr(scene.record[scene.n - 1], "\"cell\":1"));
	const char *core = find(0, "\"t\":\"kernel\"", "\"kernel\":\"core()\"", NULL);
	assert_null(strstr(core, "symbol_sha256")); /* its code's hash is what the worker read in the sealed module */
	assert_null(strstr(core, "\"code\":\"\""));
}

static void machine_code_differences_are_reported(void **state)
{
	(void)state;
	runner("for c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"code\"", "\"base\":\"same()\"", "\"target\":\"same()\"", "\"what\":\"same\"");
	HAS("\"t\":\"code\"", "\"base\":\"core()\"", "\"what\":\"changed\"", "[\"HGMMA.64x128x16.F32.BF16\",1,2]",
		"\"registers\":168,\"local_bytes\":0,\"shared_bytes\":1024,\"ctas_per_sm\":1", "@@ -");
	/* another shape of the same kernel */
	HAS("\"t\":\"code\"", "\"base\":\"shape<128>()\"", "\"target\":\"shape<64>()\"", "\"what\":\"changed\"",
		"[\"FADD\",0,1]");
	HAS("\"t\":\"code\"", "\"base\":\"\"", "\"target\":\"extra()\"", "\"what\":\"added\"");
	assert_null(find(4, "\"t\":\"code\"", "\"cell\":0", NULL));
}

/* The sampling run of the runner: Python. */
static void sampler(const char *body)
{
	assert_int_equal(tmp_folder_write(&scene.folder, "sample", body, 0644), 0);
}

#define COUNTED "config = 'TILE=3'\nfor c in cells: kernels(c, counted); end(c, 'range')\n"
#define SEEN                                                                                                                     \
	"for c in cells:\n"                                                                                                      \
	"    say('at', run=0, cell=c, role=role, step='sample')\n"                                                               \
	"    seen(c, 'core', 1000, [0, 10, 'selected', 10], [16, 900, 'gmma', 800], [32, 90, 'barrier', 60])\n"                  \
	"    seen(c, 'same', 500, [48, 500, 'long_scoreboard', 500])\n"                                                          \
	"    end(c, 'code')\n"

static void warp_stalls_are_next_to_the_hunks(void **state)
{
	(void)state;
	runner(COUNTED);
	sampler(SEEN);
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_non_null(strstr(runs(), "base 1 counters [0, 1]\nbase samples [0, 1]\ntarget samples [0, 1]\n"));
	/* the instruction that only the target has, and the reason why its warps wait there */
	HAS("\"t\":\"code\"", "\"base\":\"core()\"", "+ 0010  HGMMA.64x128x16.F32.BF16 R4, R2", "<- 90.0 % gmma", "  0020  EXIT",
		"<- 9.0 % barrier, before: 90.0 % gmma\\n"); /* the same instruction, after it */
	HAS("\"t\":\"code\"", "\"base\":\"core()\"",
		"\"target_stalls\":{\"samples\":1000,\"lines\":[[16,900,\"gmma\",800,\"HGMMA.64x128x16.F32.BF16 R4, R2\"],"
		"[32,90,\"barrier\",60,\"EXIT\"],[0,10,\"selected\",10,\"HGMMA.64x128x16.F32.BF16 R4, R2\"]]}");
	/* a kernel with unchanged code is sampled too; its disassembly has no such instruction */
	HAS("\"t\":\"code\"", "\"base\":\"same()\"", "\"what\":\"same\"",
		"\"base_stalls\":{\"samples\":500,\"lines\":[[48,500,\"long_scoreboard\",500,\"\"]]}");
	HAS_NOT("\"t\":\"code\"", "\"base\":\"shape<128>()\"", "_stalls");
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"range\"", "\"gpu_s\":3"); /* six processes */
	HAS_NOT("stalls_why");
	HAS_NOT("\"t\":\"stalls\"");
}

static void missing_samples_void_no_other_result(void **state)
{
	static const struct {
		const char *sampler, *why;
	} cases[] = {
		{ "for c in cells: end(c, 'code', 'libcupti has no cuptiPCSamplingEnable')\n",
			"\"stalls_why\":\"base: libcupti has no cuptiPCSamplingEnable\"" },
		{ "say('at', run=0, cell=0, role=role, step='sample')\nif role == 'target': os.kill(os.getpid(), 11)\n" SEEN,
			"\"stalls_why\":\"target: crash: killed by SIGSEGV" },
		{ "sys.exit(0)\n", "\"stalls_why\":\"base: crash: ended without a message\"" },
		{ "say('fault', cell=cells[0], role=role, **{'class': 'crash'}, detail='lost')\nfor c in cells[1:]: end(c, 'code', 'lost too')\n",
			"\"stalls_why\":\"base: crash: lost\"" },
	};
	(void)state;
	runner(COUNTED);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sampler(cases[i].sampler);
		if (profile(EVIDENCE_RANGE) != 0)
			fail_msg("%s", scene.err.text);
		HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"range\"", "\"why\":\"\"", cases[i].why);
		HAS_NOT("_stalls\":{"); /* half of a comparison is invalid */
		HAS("\"t\":\"kernel\"", "\"cell\":0", "dram__bytes_read");
	}
}

static void a_sampler_that_hangs_is_ended(void **state)
{
	(void)state;
	scene.bench.limits.run_s = 10;
	runner(COUNTED);
	sampler("say('at', run=0, cell=cells[0], role=role, step='sample')\nif cells[0] == 0: time.sleep(600)\n" SEEN);
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"range\"",
		"\"stalls_why\":\"base: timeout: did not end within 10 s in step sample\"");
	HAS("\"t\":\"code\"", "\"cell\":1", "\"base\":\"core()\"", "<- 90.0 % gmma");
}

static void no_sampling_without_permission_for_counters(void **state)
{
	(void)state;
	runner("for c in cells: kernels(c, {}); end(c, 'code', 'the driver shows counters to administrators only')\n");
	sampler(SEEN);
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_null(strstr(runs(), "samples"));
}

static void the_loss_is_traced_to_the_configuration(void **state)
{
	(void)state;
	runner("for c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"counterfactual\"", "\"cell\":0", "\"config\":\"TILE=3 PARTS=2\"", "\"base_ms\":1,", "\"target_ms\":1.5,",
		"\"with_ms\":1.25");
	HAS("\"t\":\"counterfactual\"", "\"cell\":1");
}

static void equal_configurations_need_no_such_run(void **state)
{
	(void)state;
	runner("config = 'TILE=3'\nfor c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_null(strstr(runs(), "run"));
	HAS_NOT("\"t\":\"counterfactual\"");
}

/* A target that refuses it leaves the run without the third. */
static void a_configuration_that_is_refused_costs_only_its_run(void **state)
{
	(void)state;
	struct buf text;
	buf_init(&text, 1 << 16);
	buf_puts(&text, runner_head);
	char *third = strstr(text.data, ", 'reference': [1.25] * 4");
	assert_non_null(third);
	memset(third, ' ', strlen(", 'reference': [1.25] * 4"));
	buf_puts(&text, "for c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(tmp_folder_write(&scene.folder, "flopwatch-runner", text.data, 0755), 0);
	buf_fini(&text);
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"range\"");
	HAS_NOT("\"t\":\"counterfactual\"");
}

static void another_providers_configuration_is_not_tried(void **state)
{
	(void)state;
	runner("for c in cells: kernels(c, counted); end(c, 'range')\n");
	snprintf(scene.bench.side[scene.bench.target].provider, sizeof scene.bench.side[0].provider, "other");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_null(strstr(runs(), "run"));
}

static void a_found_configuration_is_passed_to_later_processes(void **state)
{
	(void)state;
	runner("for p in run.get('pins', []): log('pinned ' + p['config'])\n"
	       "config += ' SEEN=%d' % repeat if not run.get('pins') else ''\n"
	       "for c in cells: kernels(c, counted); end(c, 'range', tunes=True)\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_ptr_equal(
		strstr(runs(), "base 0 counters [0, 1]\ntarget 0 counters [0, 1]\n"
			       "target 1 counters [0, 1]\npinned TILE=3 PARTS=1 SEEN=0\npinned TILE=3 PARTS=1 SEEN=0\n"
			       "base 1 counters [0, 1]\npinned TILE=3 PARTS=2 SEEN=0\npinned TILE=3 PARTS=2 SEEN=0\nrun "),
		runs());
}

static void refused_counters_are_not_requested_again(void **state)
{
	(void)state;
	runner("for c in cells: kernels(c, {}); end(c, 'code', 'the driver shows counters to administrators only')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_ptr_equal(
		strstr(runs(),
			"base 0 counters [0, 1]\ntarget 0 kernels [0, 1]\ntarget 1 kernels [0, 1]\nbase 1 kernels [0, 1]\nrun"),
		runs());
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"code\"", "administrators only", "\"passes\":0");
	HAS("\"t\":\"code\"", "\"base\":\"core()\"", "\"what\":\"changed\""); /* that is known nevertheless */
	HAS("\"t\":\"kernel\"", "\"role\":\"target\"", "\"ms\":-1", "\"values\":{}");
}

static void times_are_reported_without_counters(void **state)
{
	(void)state;
	runner("for c in cells:\n"
	       "    kernels(c, {}); end(c, 'activity' if c == 0 or role == 'base' else 'code', 'no libcupti')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"activity\"", "no libcupti");
	HAS("\"t\":\"kernel\"", "\"cell\":0", "\"role\":\"target\"", "\"repeat\":1", "\"ms\":1,");
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"code\"");
	HAS_NOT("\"t\":\"kernel\"", "\"cell\":1", "\"ms\":1,"); /* of one side alone they show nothing */
}

static void one_cell_may_be_counted_and_another_not(void **state)
{
	(void)state;
	runner("for c in cells:\n"
	       "    bad = c == 0 and role == 'target' and counters\n"
	       "    kernels(c, {} if bad else counted); end(c, 'code' if bad else 'range', 'the GPU counted 1 kernels' if bad else '')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"code\"", "counted 1 kernels");
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"range\"");
	assert_non_null(strstr(runs(), "target 1 counters [1]\nbase 1 counters [1]\n"));
	/* half of a comparison is invalid */
	HAS_NOT("\"t\":\"kernel\"", "\"cell\":0", "dram__bytes_read");
}

static void a_process_that_dies_costs_its_cell(void **state)
{
	(void)state;
	runner("for c in cells:\n"
	       "    say('at', run=0, cell=c, role=role, step='count')\n"
	       "    if c == 0 and role == 'target' and counters: os.kill(os.getpid(), 11)\n"
	       "    kernels(c, counted); end(c, 'range' if counters else 'code')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"code\"", "target: crash: killed by SIGSEGV in step count");
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"range\"");
	HAS("\"t\":\"kernel\"", "\"cell\":0", "\"role\":\"target\"", "\"kernel\":\"core()\"");
}

static void kernels_that_hang_when_they_are_counted_are_given_up(void **state)
{
	(void)state;
	scene.bench.limits.run_s = 10; /* only the one that hangs takes all of them */
	runner("for c in cells:\n"
	       "    say('at', run=0, cell=c, role=role, step='count')\n"
	       "    if c == 1 and counters: time.sleep(600)\n"
	       "    kernels(c, counted); end(c, 'range' if counters else 'code')\n");
	assert_int_equal(tmp_folder_write(&scene.folder, "ncu", "#!/bin/sh\necho ncu >>${0%/*}/runs\n", 0755), 0);
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"range\"");
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"code\"", "base: timeout: did not end within 10 s in step count",
		"kernels that wait for each other cannot be counted");
	HAS("\"t\":\"code\"", "\"cell\":1", "\"base\":\"core()\"", "\"what\":\"changed\"");
	assert_null(strstr(runs(), "ncu")); /* it runs them one by one, too */
}

static void a_side_that_never_runs_is_reported(void **state)
{
	(void)state;
	runner("if role == 'target':\n    say('fault', cell=None, role=role, **{'class': 'abi'}, detail='no entry'); sys.exit(0)\n"
	       "for c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"code\"", "target: abi: no entry");
}

static void forged_records_are_rejected(void **state)
{
	(void)state;
	runner("if role == 'target':\n"
	       "    out.write('{\"t\":\"profile\",\"cell\":0,\"path\":\"range\",\"target_config\":\"forged\"}\\n'); time.sleep(600)\n"
	       "for c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"code\"", "forged: branch code wrote into the runner's records");
	HAS_NOT("\"target_config\":\"forged\"");
}

/* ---- which processes may end it ---------------------------------------------------------------------------------------- */

static void a_push_ends_it_at_once(void **state)
{
	(void)state;
	peer_signals();
	runner("kernels(cells[0], counted)\ntime.sleep(600)\n");
	snprintf(scene.cancel_at, sizeof scene.cancel_at, "\"step\":\"count\"");
	assert_int_equal(profile(EVIDENCE_RANGE), -1);
	assert_int_equal(scene.err.code, ERR_CANCELLED);
	HAS_NOT("\"t\":\"profile\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_side_is_counted_twice, set_up, tear_down),
		cmocka_unit_test_setup_teardown(machine_code_differences_are_reported, set_up, tear_down),
		cmocka_unit_test_setup_teardown(warp_stalls_are_next_to_the_hunks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(missing_samples_void_no_other_result, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_sampler_that_hangs_is_ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_sampling_without_permission_for_counters, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_configuration_that_is_refused_costs_only_its_run, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_providers_configuration_is_not_tried, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_loss_is_traced_to_the_configuration, set_up, tear_down),
		cmocka_unit_test_setup_teardown(equal_configurations_need_no_such_run, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_found_configuration_is_passed_to_later_processes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refused_counters_are_not_requested_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(times_are_reported_without_counters, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_cell_may_be_counted_and_another_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_dies_costs_its_cell, set_up, tear_down),
		cmocka_unit_test_setup_teardown(kernels_that_hang_when_they_are_counted_are_given_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_side_that_never_runs_is_reported, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forged_records_are_rejected, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_push_ends_it_at_once, set_up, tear_down),
	};
	procs_adopt();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
