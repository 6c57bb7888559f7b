/* Histories of other tools: their points, order, units and repetitions, and the position of each mistake. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "near.h"
#include "readers/readers.h"

#define A "1111111111111111111111111111111111111111"
#define B "2222222222222222222222222222222222222222"

static struct history history;

static int tear_down(void **state)
{
	(void)state;
	history_fini(&history);
	return 0;
}

/* Add a text as a file of the guessed format. */
static void add(const char *format, const char *text)
{
	struct fw_err err = { 0 };
	const char *guessed = history_guess(text, strlen(text));
	assert_non_null(guessed);
	assert_string_equal(guessed, format);
	if (history_add(&history, format, text, strlen(text), "f", &err) != 0)
		fail_msg("%s", err.text);
}

static void finish(void)
{
	struct fw_err err = { 0 };
	assert_int_equal(history_finish(&history, &err), 0);
}

/* Point `i` is of a commit and suite, and a cell of it has a time. */
static void expect(int i, const char *commit, const char *suite, const char *cell, double ms)
{
	assert_true(i < history.n);
	assert_string_equal(history.point[i].commit, commit);
	assert_string_equal(history.point[i].suite, suite);
	const struct reading_row *row = reading_find(&history.point[i].reading, cell);
	assert_non_null(row);
	near(row->median_ms, ms, 1e-9 * ms);
}

static void test_github_action_benchmark(void **state)
{
	(void)state;
	add("github-action-benchmark",
		"window.BENCHMARK_DATA = {\n \"lastUpdate\": 2, \"entries\": {\"C++ \\\"x\\\"\": [\n"
		"  {\"commit\": {\"id\": \"" B "\"}, \"date\": 1700000002000, \"benches\": [\n"
		"    {\"name\": \"fib/20\", \"value\": 2500, \"unit\": \"ns/iter\"}, {\"name\": \"rate\", \"value\": 200, \"unit\": \"ops/sec\"},\n"
		"    {\"name\": \"size\", \"value\": 7, \"unit\": \"bytes\"}]},\n"
		"  {\"commit\": {\"id\": \"" A
		"\"}, \"date\": 1700000001000, \"benches\": [{\"name\": \"fib/20\", \"value\": 2, \"unit\": \"us\"}]}]}}\n;\n");
	finish();
	assert_int_equal(history.n, 2);
	expect(0, A, "C____x_", "fib/20", 0.002);
	expect(1, B, "C____x_", "fib/20", 0.0025);
	expect(1, B, "C____x_", "rate/per-op", 5);
	assert_int_equal(history.point[1].reading.n_rows, 2);
	assert_int_equal(history.notes.n_notes, 1);
	assert_non_null(strstr(history.notes.note[0], "bytes"));
}

static void test_bencher(void **state)
{
	(void)state;
	add("bencher",
		"{\"project\": {}, \"results\": [{\"branch\": {\"name\": \"main\"}, \"testbed\": {\"slug\": \"h200\"}, \"benchmark\": "
		"{\"name\": \"gemm\"}, \"measure\": {\"units\": \"nanoseconds (ns)\"}, \"metrics\": ["
		"{\"start_time\": \"2026-01-02T00:00:00Z\", \"iteration\": 0, \"version\": {\"hash\": \"" B
		"\"}, \"metric\": {\"value\": 3e6}},"
		"{\"start_time\": \"2026-01-01T00:00:00Z\", \"iteration\": 0, \"version\": {\"hash\": \"" A
		"\"}, \"metric\": {\"value\": 1e6}},"
		"{\"start_time\": \"2026-01-01T00:00:00Z\", \"iteration\": 1, \"version\": {\"hash\": \"" A
		"\"}, \"metric\": {\"value\": 2e6}}]}]}");
	finish();
	assert_int_equal(history.n, 2);
	expect(0, A, "h200", "gemm", 1.5);
	assert_int_equal(history.point[0].reading.row[0].n, 2);
	expect(1, B, "h200", "gemm", 3);
}

static void test_lnt(void **state)
{
	(void)state;
	add("lnt",
		"{\"format_version\": \"2\", \"machine\": {\"name\": \"box\"}, \"run\": {\"start_time\": \"2026-01-02T00:00:00Z\", "
		"\"llvm_project_revision\": \"" B
		"\"}, \"tests\": [{\"name\": \"fib\", \"execution_time\": [1, 3, 2], \"compile_time\": 0.5, "
		"\"score\": 7}]}");
	add("lnt",
		"{\"Machine\": {\"Name\": \"box\"}, \"Run\": {\"Start Time\": \"2026-01-01 00:00:00Z\", \"Info\": {\"tag\": \"nts\", "
		"\"run_order\": \"" A
		"\"}}, \"Tests\": [{\"Name\": \"nts.fib.exec\", \"Data\": [0.25]}, {\"Name\": \"nts.fib.hash\", \"Data\": [1]}]}");
	finish();
	assert_int_equal(history.n, 2);
	expect(0, A, "box", "nts.fib.exec", 250);
	assert_int_equal(history.point[0].reading.n_rows, 1);
	expect(1, B, "box", "fib", 2000);
	expect(1, B, "box", "fib/compile", 500);
}

static void test_asv(void **state)
{
	(void)state;
	char text[600];
	static const char *const commits[] = { B, A };
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof text,
			"{\"version\": 2, \"commit_hash\": \"%s\", \"date\": %d, \"params\": {\"machine\": \"m\"}, \"result_columns\": "
			"[\"result\", \"params\"], \"results\": {\"s.time_sum\": [[%d.5, null], [[\"1\", \"2\"]]], \"s.mem_x\": [[1], []]}}",
			commits[i], 2000 - i, i);
		if (i == 0)
			memcpy(strstr(text, "null"), "NaN ", 4);
		add("asv", text);
	}
	finish();
	assert_int_equal(history.n, 2);
	expect(0, A, "", "s.time_sum(1)", 1500);
	expect(1, B, "", "s.time_sum(1)", 500);
	assert_int_equal(history.notes.n_notes, 2);
	assert_string_equal(history.notes.note[0], "s.mem_x is left out: by its name it does not benchmark time");
	assert_string_equal(history.notes.note[1], "1 row was left out: s.time_sum(2) (skipped by the benchmark suite)");
}

/* A commit without a time, and the description of the machine, do not refuse the others. */
static void test_asv_without_times(void **state)
{
	(void)state;
	add("asv",
		"{\"arch\": \"x86_64\", \"cpu\": \"c\", \"machine\": \"m\", \"num_cpu\": \"8\", \"os\": \"Linux\", \"ram\": \"1\", "
		"\"version\": 1}");
	add("asv", "{\"version\": 2, \"commit_hash\": \"" A "\", \"date\": 1, \"params\": {}, \"result_columns\": [\"result\", "
		   "\"params\"], \"results\": {\"time_a\": [[NaN], []]}}");
	add("asv", "{\"version\": 2, \"commit_hash\": \"" B "\", \"date\": 2, \"params\": {}, \"result_columns\": [\"result\", "
		   "\"params\"], \"results\": {\"time_a\": [[2], []]}}");
	finish();
	assert_int_equal(history.n, 1);
	expect(0, B, "", "time_a", 2000);
	assert_int_equal(history.notes.n_notes, 3);
	assert_string_equal(history.notes.note[0], "f is left out: it describes a machine");
	assert_string_equal(history.notes.note[1], "1 row was left out: time_a (skipped by the benchmark suite)");
	assert_string_equal(history.notes.note[2], "commit 111111111111 is left out: it has no time");
}

static void test_rustc_perf(void **state)
{
	(void)state;
	add("rustc-perf", "date,commit,benchmark,profile,scenario,metric,value\r\n"
			  "2026-01-02," B ",\"serde, derive\",opt,full,wall-time,1.5\r\n"
			  "2026-01-02," B ",\"serde, derive\",opt,full,instructions:u,100\r\n"
			  "2026-01-01," A ",\"serde, derive\",opt,full,wall-time,1.25\r\n"
			  "2026-01-01," A ",\"serde, derive\",opt,full,task-clock,900\r\n");
	finish();
	assert_int_equal(history.n, 2);
	expect(0, A, "", "serde,_derive/opt/full", 1250);
	expect(0, A, "", "serde,_derive/opt/full/task-clock", 900);
	expect(1, B, "", "serde,_derive/opt/full", 1500);
	assert_int_equal(history.notes.n_notes, 1);
}

/* A date that is none leaves the order of the file. */
static void test_huge_date(void **state)
{
	(void)state;
	add("github-action-benchmark", "{\"entries\": {\"s\": [{\"commit\": {\"id\": \"" B
				       "\"}, \"date\": 1e300, \"benches\": [{\"name\": \"x\", \"unit\": "
				       "\"ms\", \"value\": 1}]}, {\"commit\": {\"id\": \"" A
				       "\"}, \"date\": -5, \"benches\": [{\"name\": \"x\", \"unit\": "
				       "\"ms\", \"value\": 2}]}]}}");
	finish();
	expect(0, B, "s", "x", 1);
	expect(1, A, "s", "x", 2);
}

/* Without a column of dates the order is that of the file. */
static void test_order_of_file(void **state)
{
	(void)state;
	add("rustc-perf", "commit,suite,benchmark,unit,value\n" B ",b,x,us,1\n" A ",b,x,us,2\n" A ",a,x,us,3\n");
	finish();
	assert_int_equal(history.n, 3);
	expect(0, A, "a", "x", 0.003);
	expect(1, B, "b", "x", 0.001);
	expect(2, A, "b", "x", 0.002);
}

static void test_mistakes(void **state)
{
	(void)state;
#define ENTRY(id, benches)                                                                                                       \
	"{\"entries\": {\"s\": [{\"commit\": {\"id\": \"" A "\"}, \"benches\": []},\n {\"commit\": {\"id\": " id                 \
	"}, \"benches\": " benches "}]}}"
	static const struct {
		const char *format, *text, *mistake;
	} cases[] = {
		{ "github-action-benchmark", "window.BENCHMARK_DATA = {\n\"entries\": [}", "f:2:13: is not JSON" },
		{ "github-action-benchmark", "{}", "f:1:1: needs `entries`" },
		{ "github-action-benchmark", ENTRY("\"abc\"", "[]"), "f:2:20: `abc` is not the full hash of a commit" },
		{ "github-action-benchmark", ENTRY("null", "[]"), "f:2:20: needs the full hash" },
		{ "github-action-benchmark", ENTRY("\"" B "\"", "7"), "f:2:2: needs `benches`" },
		{ "github-action-benchmark", ENTRY("\"" B "\"", "[\n  {\"name\": \"}\", \"unit\": \"ms\", \"value\": \"x\"}]"),
			"f:3:40: the value of } must be a number" },
		{ "github-action-benchmark", ENTRY("\"" B "\"", "[\n  {\"name\": \"n\", \"unit\": \"ms\", \"value\": -1}]"),
			"f:3:40: -1 ms is not a time" },
		{ "github-action-benchmark", ENTRY("\"" B "\"", "[\n  {\"name\": \"n\", \"value\": 1}]"),
			"f:3:3: needs `name` and `unit`" },
		{ "bencher", "{\"results\": [\n{\"benchmark\": {}}]}", "f:2:1: needs `benchmark`.name" },
		{ "lnt", "{\"run\": {\n \"run_order\": \"7\"}, \"tests\": []}", "f:2:15: `7` is not the full hash of a commit" },
		{ "lnt", "{\"run\": {\"run_order\": \"" A "\"}, \"tests\": [\n{\"name\": \"x\", \"execution_time\": [1,\n 0]}]}",
			"f:3:2: 0 s is not a time" },
		{ "bencher", "{\"results\": 7}", "f:1:1: needs `results`, a list" },
		{ "bencher",
			"{\"results\": [{\"benchmark\": {\"name\": \"x\"}, \"measure\": {\"units\": \"ms\"}, \"metrics\": [\n"
			"{\"version\": {\"hash\": \"abc\"}}]}]}",
			"f:2:22: `abc` is not the full hash of a commit" },
		{ "bencher",
			"{\"results\": [{\"benchmark\": {\"name\": \"x\"}, \"measure\": {\"units\": \"ms\"}, \"metrics\": [\n"
			"{\"version\": {\"hash\": \"" A "\"}, \"metric\": {\"value\": 0}}]}]}",
			"f:2:87: 0 ms is not a time" },
		{ "lnt", "{\"run\": {\"run_order\": \"" A "\"}, \"tests\": 7}", "f:1:1: needs `tests`, a list" },
		{ "lnt", "{\"Run\": {\"Info\": {\"run_order\": \"" A "\"}}, \"Tests\": [\n 7]}", "f:2:2: needs a name" },
		{ "rustc-perf", "commit,benchmark,unit,value\n" A ",,ms,1\n", "f:2:42: `` is not a name of a benchmark" },
		{ "asv", "{\"commit_hash\": \"abc\"}", "f:1:17: `abc` is not the full hash of a commit" },
		{ "rustc-perf", "commit,benchmark,unit,value\n" A ",x,ms,fast\n", "f:2:47: `fast` is not a number" },
		{ "rustc-perf", "commit,benchmark,unit,value\n" A ",\"a,b\",ms,-1\n", "f:2:51: `-1` is not a time" },
		{ "rustc-perf", "commit,benchmark,unit,value\n\nabc,x,ms,1\n", "f:3:1: `abc` is not the full hash of a commit" },
		{ "rustc-perf", "commit,benchmark,unit,value\n" A ",x\n", "f:2:1: has 2 cells, the header 4" },
		{ "rustc-perf", "commit,benchmark,unit,date,value\n" A ",x,ms,soon,1\n", "f:2:47: `soon` is not a date" },
		{ "rustc-perf", "commit,benchmark,value\n", "f:1:1: has neither a column `unit` nor `metric`" },
		{ "rustc-perf", "commit,unit,value\n", "f:1: has no column benchmark" },
		{ "rustc-perf", "commit,benchmark,unit,value\n" A ",x,ms,1", "f:2" },
		{ "nothing", "x", "f: `nothing` is not a format of a history" },
		{ "lnt", "", "f: is empty" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct fw_err err = { 0 };
		struct history h = { 0 };
		assert_int_equal(history_add(&h, cases[i].format, cases[i].text, strlen(cases[i].text), "f", &err), -1);
		if (strncmp(err.text, cases[i].mistake, strlen(cases[i].mistake)) != 0)
			fail_msg("case %zu: %s, not %s", i, err.text, cases[i].mistake);
		assert_int_equal(err.code, ERR_INVALID);
		history_fini(&h);
	}
	assert_null(history_guess("a,b\n", 4));
	assert_null(history_guess("{\"x\": 1}", 8));
}

/* The files of two machines would be mixed up. */
static void test_commits_that_come_twice(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	static const char one[] = "{\"version\": 2, \"commit_hash\": \"" A "\", \"date\": 1, \"params\": {}, \"result_columns\": "
				  "[\"result\", \"params\"], \"results\": {\"time_a\": [[2], []]}}";
	add("asv", one);
	assert_int_equal(history_add(&history, "asv", one, sizeof one - 1, "g", &err), -1);
	assert_string_equal(
		err.text, "g:1:31: there is another file of commit 111111111111; give the files of one machine and environment");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_github_action_benchmark, tear_down),
		cmocka_unit_test_teardown(test_bencher, tear_down),
		cmocka_unit_test_teardown(test_lnt, tear_down),
		cmocka_unit_test_teardown(test_asv, tear_down),
		cmocka_unit_test_teardown(test_asv_without_times, tear_down),
		cmocka_unit_test_teardown(test_rustc_perf, tear_down),
		cmocka_unit_test_teardown(test_order_of_file, tear_down),
		cmocka_unit_test_teardown(test_huge_date, tear_down),
		cmocka_unit_test_teardown(test_mistakes, tear_down),
		cmocka_unit_test_teardown(test_commits_that_come_twice, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
