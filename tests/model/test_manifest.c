/* The manifest of a branch: defaults, a complete file, and every mistake at its position. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "model/model.h"

static void defaults(void **state)
{
	struct manifest m;
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(manifest_parse(NULL, 0, ".flopwatch.yaml", &m, &err), 0);
	assert_int_equal(m.n_inputs, 1);
	assert_string_equal(m.input[0], "kernels");
	assert_string_equal(m.build.dir, "kernels");
	assert_int_equal(m.build.n_command, 2);
	assert_string_equal(m.build.command[0], "make");
	assert_string_equal(m.build.command[1], "DEVICE={device}");
	assert_string_equal(m.build.family[0], "attention");
	assert_string_equal(m.build.output[0], "build/{device}/libattention.so");
	assert_string_equal(m.suite[0], "ffa");
	assert_true(m.build.timeout_s == 900);
	assert_int_equal(m.peers.n, 1);
	assert_string_equal(m.peers.of[0].provider, "cudnn");
	assert_int_equal(m.peers.of[0].device, DEVICE_CUDA);
}

static void a_whole_file(void **state)
{
	static const char text[] = "flopwatch: 1\n"
				   "inputs: [src/kernels, cmake]\n"
				   "build:\n"
				   "  dir: src\n"
				   "  command: [cmake, --build, .]\n"
				   "  outputs: {attention: out/{device}.so, linear: out/lin.so}\n"
				   "  timeout_s: 60\n"
				   "suites: [ffa, ffa-smoke]\n";
	struct manifest m;
	struct fw_err err = { 0 };

	(void)state;
	/* braces inside a flow mapping must be quoted in YAML */
	assert_int_equal(manifest_parse(text, strlen(text), "m.yaml", &m, &err), -1);
	static const char good[] = "flopwatch: 1\n"
				   "inputs: [src/kernels, cmake]\n"
				   "build:\n"
				   "  dir: src\n"
				   "  command: [cmake, --build, .]\n"
				   "  outputs: {attention: \"out/{device}.so\", linear: out/lin.so}\n"
				   "  timeout_s: 60\n"
				   "suites: [ffa, ffa-smoke]\n";

	err_clear(&err);
	assert_int_equal(manifest_parse(good, strlen(good), "m.yaml", &m, &err), 0);
	assert_int_equal(m.n_inputs, 2);
	assert_string_equal(m.input[0], "src/kernels");
	assert_string_equal(m.input[1], "cmake");
	assert_string_equal(m.build.dir, "src");
	assert_int_equal(m.build.n_command, 3);
	assert_string_equal(m.build.command[2], ".");
	assert_int_equal(m.build.n_outputs, 2);
	assert_string_equal(m.build.family[1], "linear");
	assert_string_equal(m.build.output[0], "out/{device}.so");
	assert_int_equal(m.n_suites, 2);
	assert_int_equal(m.suite_at[1].line, 8);
	assert_int_equal(m.suite_at[1].column, 15);
	assert_true(m.build.timeout_s == 60);
}

static void absent_keys_keep_defaults(void **state)
{
	static const char text[] = "flopwatch: 1\nsuites: [demo]\nbuild: {dir: .}\n";
	struct manifest m;
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(manifest_parse(text, strlen(text), "m.yaml", &m, &err), 0);
	assert_string_equal(m.build.dir, ".");
	assert_int_equal(m.peers.n, 0); /* another build is another module */
	assert_string_equal(m.build.command[0], "make");
	assert_string_equal(m.input[0], "kernels");
	assert_string_equal(m.suite[0], "demo");
}

static void mistake(const char *text, const char *words)
{
	struct manifest m;
	struct fw_err err = { 0 };

	assert_int_equal(manifest_parse(text, strlen(text), "m.yaml", &m, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	if (!strstr(err.text, words))
		fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void programs(void **state)
{
	static const char text[] =
		"flopwatch: 1\n"
		"benchmarks:\n"
		"  sums: {command: [./bench, out.json], reader: google-benchmark, time: cpu, outputs: [out.json], gpu: false,\n"
		"    artifacts: [bench, data/big]}\n"
		"  gemm:\n"
		"    command: [python3, gemm.py]\n"
		"    reader: triton\n"
		"    unit: TFLOPS\n"
		"    threshold_pct: 3\n"
		"    timeout_s: 20\n"
		"    budget_s: 90\n"
		"    pairs: 240\n"
		"  fresh: {command: [./bench], reader: triton, fork: false}\n"
		"  forked: {command: [./bench], reader: triton, gpu: false, fork: true}\n";
	struct manifest m;
	struct fw_err err = { 0 };

	(void)state;
	if (manifest_parse(text, strlen(text), "m.yaml", &m, &err))
		fail_msg("%s", err.text);
	assert_int_equal(m.n_benchmarks, 4);
	assert_true(!manifest_benchmark(&m, "fresh")->fork && manifest_benchmark(&m, "forked")->fork);
	assert_string_equal(m.input[0], "."); /* the defaults suit a repository of scripts */
	assert_string_equal(m.build.dir, ".");
	assert_int_equal(m.build.n_command, 0);
	assert_int_equal(m.n_suites, 4);
	assert_string_equal(m.suite[1], "gemm");
	const struct benchmark *sums = manifest_benchmark(&m, "sums"), *gemm = manifest_benchmark(&m, "gemm");

	assert_true(sums && gemm && !manifest_benchmark(&m, "ffa"));
	assert_int_equal(sums->n_command, 2);
	assert_string_equal(sums->output[0], "out.json");
	assert_true(!sums->gpu && gemm->gpu);
	assert_true(!sums->fork && gemm->fork); /* start-up holds a GPU */
	assert_true(sums->threshold_pct == 1.5 && sums->timeout_s == 300 && sums->budget_s == 600 && sums->pairs == 0);
	assert_true(gemm->threshold_pct == 3 && gemm->timeout_s == 20 && gemm->budget_s == 90 && gemm->pairs == 240);
	assert_int_equal(gemm->n_outputs, 0);
	assert_string_equal(gemm->unit, "TFLOPS");
	assert_int_equal(sums->n_artifacts, 2);
	assert_string_equal(sums->artifact[1], "data/big");
	assert_int_equal(gemm->n_artifacts, 0);
	assert_string_equal(sums->time, "cpu");
	assert_string_equal(gemm->time, "");
}

static void a_program_has_a_rule(void **state)
{
	struct rule r, of_modules;

	(void)state;
	rule_default(&of_modules, 61);
	benchmark_rule(&(struct benchmark){ .n_command = 1 }, 61, &r);
	assert_true(r.programs && !of_modules.programs);
	assert_true(r.k == of_modules.k && r.version == of_modules.version && r.tau0 == of_modules.tau0);
	assert_int_equal(r.runs_max, BENCHMARK_RUNS_MAX);
	assert_int_equal(r.pairs_min, BENCHMARK_PAIRS);
	assert_int_equal(r.pairs_max, BENCHMARK_PAIRS);
	assert_int_equal(r.pairs_short, 0);
}

/* The first and the last value of each number, and those next to them. */
static void numbers_of_a_program_have_bounds(void **state)
{
	static const struct {
		const char *key, *least, *most, *less, *more;
	} row[] = { { "threshold_pct", "0.1", "99", "0.09", "99.1" }, { "timeout_s", "1", "86400", "0", "86401" },
		{ "budget_s", "1", "86400", "0", "86401" } };

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		for (int k = 0; k < 4; k++) {
			const char *value = k == 0 ? row[i].least : k == 1 ? row[i].most : k == 2 ? row[i].less : row[i].more;
			char text[200];
			struct manifest m;
			struct fw_err err = { 0 };
			snprintf(text, sizeof text, "flopwatch: 1\nbenchmarks:\n  a: {command: [a], reader: flopwatch, %s: %s}\n",
				row[i].key, value);
			if (manifest_parse(text, strlen(text), "m.yaml", &m, &err) != (k < 2 ? 0 : -1))
				fail_msg("%s: %s: %s", row[i].key, value, err.text);
		}
}

static void many_programs(void **state)
{
	struct fw_err err = { 0 };
	struct manifest m;
	struct buf text;

	(void)state;
	buf_init(&text, 64 << 10);
	buf_puts(&text, "flopwatch: 1\nbenchmarks:\n");
	for (int i = 0; i < MANIFEST_BENCHMARKS_MAX; i++)
		buf_printf(&text, "  b%d: {command: [python3, b%d.py], reader: flopwatch}\n", i, i);
	if (manifest_parse(text.data, text.len, "m.yaml", &m, &err))
		fail_msg("%s", err.text);
	assert_int_equal(m.n_benchmarks, 64);
	assert_int_equal(m.n_suites, 64);
	assert_string_equal(m.suite[63], "b63");
	assert_string_equal(manifest_benchmark(&m, "b63")->command[1], "b63.py");
	buf_puts(&text, "  more: {command: [python3, b.py], reader: flopwatch}\n");
	assert_int_equal(manifest_parse(text.data, text.len, "m.yaml", &m, &err), -1);
	assert_non_null(strstr(err.text, "m.yaml:3:3: benchmarks: must name 1 to 64 benchmarks"));
	buf_fini(&text);
}

static void mistakes(void **state)
{
	(void)state;
	mistake("", "must be a mapping");
	mistake("[1, 2]", "must be a mapping");
	mistake("suites: [ffa]", "flopwatch: is missing");
	mistake("flopwatch: 2", "m.yaml:1:12: flopwatch: version 2 is unknown");
	mistake("flopwatch: one", "m.yaml:1:12: flopwatch:");
	mistake("flopwatch: 1\ninput: [kernels]", "did you mean");
	mistake("flopwatch: 1\ninputs: [/etc]", "m.yaml:2:10: inputs[0]: must be a path inside");
	mistake("flopwatch: 1\ninputs: [kernels, ../secret]", "inside the repository");
	mistake("flopwatch: 1\ninputs: [a/../../b]", "inside the repository");
	mistake("flopwatch: 1\ninputs: [kernels/]", "inside the repository");
	mistake("flopwatch: 1\ninputs: []", "must be a list of 1 to 32");
	mistake("flopwatch: 1\ninputs: kernels", "must be a list");
	mistake("flopwatch: 1\ninputs: [a, b, a]", "m.yaml:2:16: inputs[2]: is named twice");
	mistake("flopwatch: 1\nsuites: [ffa, ffa]", "m.yaml:2:15: suites[1]: is named twice");
	mistake("flopwatch: 1\nbuild: make", "must be a mapping");
	mistake("flopwatch: 1\nbuild: {command: [\"\"]}", "must have 1 to 255 bytes");
	mistake("flopwatch: 1\nbuild: {outputs: {Attention: a.so}}", "is no family");
	mistake("flopwatch: 1\nbuild: {outputs: {attention: ../../lib.so}}", "inside the repository");
	mistake("flopwatch: 1\nbuild: {outputs: [a.so]}", "must name 1 to 8 modules");
	mistake("flopwatch: 1\nbuild: {timeout_s: 0}", "timeout_s");
	mistake("flopwatch: 1\nbuild: {commands: [make]}", "command");
	mistake("flopwatch: 1\nbenchmarks: {x: {reader: ffa}}", "benchmarks.x: command is missing");
	mistake("flopwatch: 1\nbenchmarks: {x: {command: [a]}}", "reader is missing; use one of flopwatch, ffa");
	mistake("flopwatch: 1\nbenchmarks: {x: {command: [a], reader: xml}}",
		"m.yaml:2:40: benchmarks.x.reader: `xml` is not a format");
	mistake("flopwatch: 1\nbenchmarks: {x: {command: [a], reader: triton, unit: miles}}", "`miles` is not a unit");
	mistake("flopwatch: 1\nbenchmarks: {x: {command: [a], reader: google-benchmark, time: user}}",
		"time: `user` is not a time; use real or cpu");
	mistake("flopwatch: 1\nbenchmarks: {x: {command: [a], reader: nvbench, time: cpu}}",
		"time: is for google-benchmark, which writes two; nvbench has one time");
	mistake("flopwatch: 1\nbenchmarks: {x: {command: [a], reader: ffa, outputs: [../x]}}", "inside the repository");
	mistake("flopwatch: 1\nbenchmarks: {x: {command: [a], reader: ffa, artifacts: [/bin/a]}}", "inside the repository");
	mistake("flopwatch: 1\nbenchmarks: {x: {command: [a], reader: ffa, artifacts: [.]}}", "artifacts[0]: is everything");
	mistake("flopwatch: 1\nbenchmarks: {x: {command: [a], reader: ffa, artifacts: [a, b, a/c]}}",
		"artifacts[2]: is in a, which is another one");
	mistake("flopwatch: 1\nbenchmarks: {x: {command: [a], reader: ffa, artifacts: [a, a]}}",
		"artifacts[1]: is in a, which is another one");
	mistake("flopwatch: 1\nbenchmarks: {\"a b\": {command: [a], reader: ffa}}",
		"\"a b\" is not a name of a benchmark; use 1 to 63 of a-z 0-9 _ -");
	mistake("flopwatch: 1\nbenchmarks: {a123456789012345678901234567890123456789012345678901234567890123: {command: [a], reader: ffa}}",
		"use 1 to 63 of");
	mistake("flopwatch: 1\nbenchmarks: [x]", "must name 1 to 64 benchmarks");
	mistake("flopwatch: 1\nbenchmarks: {x: {command: [a], reader: ffa, timeout: 3}}", "did you mean");
	/* all at once */
	mistake("flopwatch: 1\ninputs: [/a]\nbuild: {dir: /b}\n", "inputs[0]: must be a path inside");
	mistake("flopwatch: 1\ninputs: [/a]\nbuild: {dir: /b}\n", " | m.yaml:3:14: build.dir: must be a path inside");
}

static void paths(void **state)
{
	static const char *const good[] = { ".", "a", "a/b", ".hidden", "a..b", "...", "-a", "a b" };
	static const char *const bad[] = { "", "/", "/a", "a/", "..", "../a", "a/..", "a/../b", "./a", "a/./b", "a//b", "a\nb",
		"\177" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_true(manifest_path_ok(good[i]));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(manifest_path_ok(bad[i]));
}

static void expand(void **state)
{
	char out[24];

	(void)state;
	manifest_expand("build/{device}/lib{device}.so", "cpu", out, sizeof out);
	assert_string_equal(out, "build/cpu/libcpu.so");
	manifest_expand("{dev}{device", "cpu", out, sizeof out);
	assert_string_equal(out, "{dev}{device");
	manifest_expand("0123456789012345678901{device}", "cuda", out, sizeof out);
	assert_string_equal(out, "0123456789012345678901c"); /* truncated, never beyond */
	manifest_expand("{device}", "a name that is longer than the room for it", out, sizeof out);
	assert_int_equal(strlen(out), sizeof out - 1);
	memset(out, '#', sizeof out);
	manifest_expand("{device}", "cuda", out, 4); /* as long as the room: nothing behind it is written */
	assert_string_equal(out, "cud");
	assert_int_equal(out[4], '#');
	manifest_expand("", "cpu", out, sizeof out);
	assert_string_equal(out, "");
}

static void providers_to_compare_with(void **state)
{
	static const char one[] = "flopwatch: 1\nsuites: [demo]\npeers: [cudnn@cuda, naive, torch]\n";
	struct fw_err err = { 0 };
	static struct manifest m;
	char longer[400];

	(void)state;
	assert_int_equal(manifest_parse(one, strlen(one), "m.yaml", &m, &err), 0);
	assert_int_equal(peers_find(&m.peers, "naive"), 1);
	assert_int_equal(peers_find(&m.peers, "cudnn"), 0);
	assert_int_equal(peers_find(&m.peers, "cutlass"), -1);
	snprintf(longer, sizeof longer, "flopwatch: 1\nsuites: [demo]\npeers: [%0300d]\n", 7);
	mistake(longer, "m.yaml:3:9: ");
	snprintf(longer, sizeof longer, "flopwatch: 1\nsuites: [demo]\npeers: [%048d@cuda]\n", 7);
	mistake(longer, "m.yaml:3:9: peers[0]: is longer than the 47 bytes of a provider's name");
	mistake("flopwatch: 1\nsuites: [demo]\npeers: [[x]]\n", "m.yaml:3:9: ");
	mistake("flopwatch: 1\nbenchmarks: {sums: ./b}\n",
		"m.yaml:2:20: benchmarks.sums: must be a mapping with command and reader");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(a_whole_file),
		cmocka_unit_test(absent_keys_keep_defaults),
		cmocka_unit_test(programs),
		cmocka_unit_test(a_program_has_a_rule),
		cmocka_unit_test(numbers_of_a_program_have_bounds),
		cmocka_unit_test(many_programs),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(paths),
		cmocka_unit_test(expand),
		cmocka_unit_test(providers_to_compare_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
