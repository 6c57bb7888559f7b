/* What ncu counts and samples for a profile where the runner cannot: a script that prints the output of ncu on an H200. */
/* Left to `make check`: takes seconds. */
#include <math.h>
#include <signal.h>

#include "profile_scene.h"
#include "worker/internal.h"

#define REFUSED "for c in cells: kernels(c, {}); end(c, 'code', 'no libcupti')\n"

/* Its arguments, then a table of so many runs for the role of the module. */
static void ncu(const char *table)
{
	struct buf text;
	buf_init(&text, 1 << 16);
	buf_printf(&text,
		"#!/usr/bin/env python3\n"
		"import os, sys\n"
		"a = sys.argv[1:]\n"
		"if a == ['--version']: print('NVIDIA (R) Nsight Compute\\nVersion 2025.3.1.0 (build 1)'); sys.exit(0)\n"
		"at = [i for i, x in enumerate(a) if x.endswith('/flopwatch-runner')][0]\n"
		"assert a[:at][0:6] == ['--profile-from-start', 'off', '--clock-control', 'none', '--cache-control', 'none'], a\n"
		"is_source = a[a.index('--page') + 1] == 'source' and 'SourceCounters' in a[:at]\n"
		"assert '--csv' in a[:at] and (is_source or 'dram__bytes_read.sum' in a[a.index('--metrics') + 1].split(',')), a\n"
		"assert a[at + 1] == '--capture' and a[at + 2].startswith('{') and a[at + 3:at + 5] == ['--module', '/proc/self/fd/10'], a\n"
		"is_new = b'this is new' in open('/proc/self/fd/10', 'rb').read()\n"
		"here = '%s'\n"
		"open(here + '/runs', 'a').write('%%s %%s\\n' %% ('source' if is_source else 'ncu', 'target' if is_new else 'base'))\n"
		"print('==PROF== Connected to process 1')\n"
		"os.system(a[at] + ' --capture x')\n"
		"def table(n, grid='(132, 1, 1)'):\n"
		"    print('\"ID\",\"Process ID\",\"Kernel Name\",\"Grid Size\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\",\"run__x\"')\n"
		"    print('\"\",\"\",\"\",\"\",\"byte\",\"ns\",\"\"')\n"
		"    for i in range(n): print('\"%%d\",\"1\",\"k\",\"%%s\",\"1,234,%%03d\",\"2,000,000\",\"5\"' %% (i, grid, i))\n"
		"def source(kernel, *rows):\n"
		"    print('\"Kernel Name\",\"%%s\",' %% kernel)\n"
		"    print('\"Address\",\"Source\",\"Warp Stall Sampling (All Samples)\",\"stall_barrier\",\"stall_selected\",\"stall_barrier (Not Issued)\"')\n"
		"    for i, r in enumerate(rows): print('\"%%s\",\"X\",\"%%d\",\"%%d\",\"%%d\",\"9\"' %% (hex(0x7f0000 + 16 * i), *r))\n"
		"if is_source:\n"
		"    try: exec(open(here + '/source').read())\n"
		"    except OSError: print('==ERROR== no such section')\n"
		"    sys.exit(0)\n"
		"%s",
		scene.folder.path, table);
	assert_int_equal(tmp_folder_write(&scene.folder, "ncu", text.data, 0755), 0);
	buf_fini(&text);
}

static void ncu_counts_where_the_runner_cannot(void **state)
{
	(void)state;
	runner(REFUSED);
	ncu("table(4 if is_new else 3)\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"ncu\"", "\"tool\":\"ncu 2025.3.1.0\"", "no libcupti");
	HAS("\"t\":\"kernel\"", "\"role\":\"base\"", "\"repeat\":1", "\"n\":2", "\"dram__bytes_read.sum\":1234002", "\"ms\":2");
	HAS("\"t\":\"kernel\"", "\"role\":\"target\"", "\"repeat\":0", "\"n\":3");
	HAS_NOT("run__x"); /* the same names as elsewhere, and no others */
	assert_non_null(strstr(runs(), "ncu base\nncu target\nncu target\nncu base\n"));
}

/* Its output about instructions: Python. */
static void source(const char *body)
{
	assert_int_equal(tmp_folder_write(&scene.folder, "source", body, 0644), 0);
}

static void ncu_samples_where_it_counted(void **state)
{
	(void)state;
	runner(REFUSED);
	ncu("table(4 if is_new else 3)\n");
	source("source('same()', (0, 0, 0), (5, 0, 5))\nsource('core()', (20, 1, 1), (900, 800, 1), (80, 0, 0))\n"
	       "source('shape', (0, 0, 0))\nif is_new: source('extra()', (0, 0, 0))\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_non_null(strstr(runs(), "ncu base\nsource base\nsource target\n"));
	HAS("\"t\":\"code\"", "\"base\":\"core()\"", "+ 0010  HGMMA.64x128x16.F32.BF16 R4, R2", "<- 90.0 % barrier",
		"\"target_stalls\":{\"samples\":1000,\"lines\":[[16,900,\"barrier\",800,", "[32,80,\"other\",80,\"EXIT\"]");
	HAS("\"t\":\"code\"", "\"base\":\"same()\"", "\"lines\":[[16,5,\"selected\",5,\"\"]]");
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"ncu\"");
	HAS_NOT("stalls_why");
}

static void ncu_without_samples_reports_the_reason(void **state)
{
	static const struct {
		const char *source, *words;
	} cases[] = {
		{ "print('==ERROR== x')\n", "ncu: its output: holds no table of instructions" },
		{ "source('same()', (1, 1, 1))\n", "ncu: sampled 1 launches, but the call has 3" },
		{ "print('\"Kernel Name\",\"k\",'); print('\"Address\",\"Source\"')\n",
			"ncu: its output: its instructions have no samples" },
	};
	(void)state;
	runner(REFUSED);
	ncu("table(4 if is_new else 3)\n");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		source(cases[i].source);
		assert_int_equal(profile(EVIDENCE_RANGE), 0);
		HAS("\"t\":\"profile\"", "\"path\":\"ncu\"", "\"stalls_why\":\"", cases[i].words);
		HAS_NOT("_stalls\":{");
	}
}

/* Output of ncu 2025.3.1 on an H200, most rows left out. It has no column for waits for wgmma. */
static void a_table_of_instructions_is_read(void **state)
{
	static char text[16384];
	FILE *file = fopen("tests/data/readers/ncu-source.csv", "re");
	struct msg_kernel kernel[] = { { .grid = { 0 } }, { .grid = { 8, 1, 1 }, .symbol_sha256 = "lists" },
		{ .grid = { 132, 1, 1 }, .symbol_sha256 = "forward" } };
	const struct buffered_process p = { .n = 3, .kernel = kernel };
	struct buffered_stalls s = { 0 };
	char why[200] = "";
	(void)state;
	assert_non_null(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	if (!ncu_stalls_take(&p, text, strlen(text), &s, why, sizeof why))
		fail_msg("%s", why);
	assert_int_equal(s.n, 1); /* the first has no samples */
	assert_string_equal(s.kernel[0].symbol_sha256, "forward");
	assert_int_equal(s.kernel[0].n, 5);
	const struct evidence_stall *l = s.kernel[0].line + 1;
	assert_int_equal(l[-1].offset, 0);
	assert_int_equal(l[0].offset, 0x5ad0);
	assert_int_equal(l[0].samples, 5447);
	assert_string_equal(l[0].reason, "other");
	assert_int_equal(l[0].of_reason, 5447 - (15 + 32 + 59 + 137));
	assert_int_equal(l[1].offset, 0x5bc0);
	assert_string_equal(l[1].reason, "barrier");
	assert_int_equal(l[1].of_reason, 9852);
	assert_string_equal(l[2].reason, "short_scoreboard");
	assert_string_equal(l[3].reason, "long_scoreboard");
	assert_int_equal(s.kernel[0].samples, l[-1].samples + l[0].samples + l[1].samples + l[2].samples + l[3].samples);
	buffered_clear_stalls(&s);
}

static void ncu_that_fails_reports_the_reason(void **state)
{
	static const struct {
		const char *table, *words;
	} cases[] = {
		{ "print('==ERROR== ERR_NVGPUCTRPERM - The user does not have permission'); sys.exit(1)\n",
			"no libcupti; ncu: the driver shows counters to administrators only (ERR_NVGPUCTRPERM)" },
		{ "print('==ERROR== Failed to connect.'); sys.exit(1)\n", "ncu: Failed to connect." },
		{ "sys.exit(1)\n", "ncu: printed no table" },
		{ "table(2)\n", "ncu: counted 2 launches, but the call has 3" },
		{ "table(3, '(1, 1, 1)')\n", "ncu: counted 3 launches, but the call has 3, of other sizes" },
	};
	(void)state;
	runner(REFUSED);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		ncu(cases[i].table);
		assert_int_equal(profile(EVIDENCE_RANGE), 0);
		HAS("\"t\":\"profile\"", "\"path\":\"code\"", cases[i].words);
		HAS_NOT("\"values\":{\"");
	}
}

static void other_devices_have_no_ncu(void **state)
{
	(void)state;
	runner(REFUSED);
	ncu("table(3)\n");
	scene.bench.device.kind = DEVICE_SIM;
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_null(strstr(runs(), "ncu"));
	HAS("\"t\":\"profile\"", "\"path\":\"code\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ncu_counts_where_the_runner_cannot, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ncu_samples_where_it_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ncu_without_samples_reports_the_reason, set_up, tear_down),
		cmocka_unit_test(a_table_of_instructions_is_read),
		cmocka_unit_test_setup_teardown(ncu_that_fails_reports_the_reason, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_devices_have_no_ncu, set_up, tear_down),
	};
	procs_adopt();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
