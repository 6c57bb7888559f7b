/* Two files compared: results of the same name stay separate, both sides are read by the same statistic, and differing conditions
 * are reported. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/lib.h"
#include "readers/readers.h"
#include "reading_file.h"

static struct reading base, target;
static struct buf said;
static int unpaired;

static void forget(void)
{
	reading_fini(&base);
	reading_fini(&target);
	buf_clear(&said);
}

static int begin(void **state)
{
	(void)state;
	buf_init(&said, 1 << 16);
	return 0;
}

static int end(void **state)
{
	(void)state;
	forget();
	buf_fini(&said);
	return 0;
}

static void read_as(const char *format, const char *text, bool name_device, const char *file, struct reading *out)
{
	struct reading_options how = { .format = format, .unit = "", .time = "", .name_device = name_device };
	struct fw_err err = { 0 };

	if (reading_parse(&how, text, strlen(text), file, out, &err) != 0)
		fail_msg("%s", err.text);
}

static void settle(void)
{
	struct fw_err err = { 0 };

	if (reading_pair(&base, "A", &target, "B", &said, &unpaired, &err) != 0)
		fail_msg("%s", err.text);
}

static void pair(const char *format, const char *a, const char *b)
{
	forget();
	read_as(format, a, false, "A", &base);
	read_as(format, b, false, "B", &target);
	settle();
}

static void pair_samples(const char *a, const char *b)
{
	struct buf text[2];

	reading_file_load(a, &text[0]);
	reading_file_load(b, &text[1]);
	pair(reading_guess(text[0].data, text[0].len, a), text[0].data, text[1].data);
	buf_fini(&text[0]);
	buf_fini(&text[1]);
}

/* The row that both have, of `n` values each. */
static void both(const char *key, int n, double base_ms, double target_ms)
{
	reading_has_row(&base, key, n, base_ms, 1e-9);
	reading_has_row(&target, key, n, target_ms, 1e-9);
}

static void says(const char *text)
{
	if (!strstr(said.data, text))
		fail_msg("\"%s\" lacks \"%s\"", said.data, text);
}

static void says_nothing(void)
{
	assert_string_equal(said.data, "");
	assert_int_equal(unpaired, 0);
}

static void left(const struct reading *r, const char *key, const char *why)
{
	reading_lacks(r, key, why);
	assert_null(reading_find(r, key));
}

/* ---- hyperfine ------------------------------------------------------------------------------------------------------------- */

#define COMMAND(name, times, more) "{\"command\":\"" name "\",\"times\":[" times "]" more "}"
#define RESULTS(list)              "{\"results\":[" list "]}"

static void parameters_are_a_part_of_the_name(void **state)
{
	(void)state;
	pair_samples("hyperfine-parameters-before.json", "hyperfine-parameters-after.json");
	assert_int_equal(base.n_rows, 2);
	both("sum_16M_[threads=1]", 3, 2000, 2000);
	both("sum_16M_[threads=16]", 3, 500, 750);
	says_nothing();
	/* values that are numbers and booleans, and substrings of each other */
	static const char one[] = RESULTS(COMMAND("run", "1", ",\"parameters\":{\"n\":1,\"fast\":true}") "," COMMAND(
		"run", "2", ",\"parameters\":{\"n\":11,\"fast\":true}") "," COMMAND("run", "3",
		",\"parameters\":{\"n\":1,\"fast\":false}") "," COMMAND("run", "4", ",\"parameters\":{\"n\":null}"));
	/* their order in the file does not matter, nor how a number is written */
	static const char two[] = RESULTS(COMMAND("run", "5", ",\"parameters\":{\"fast\":\"true\",\"n\":\"1.0\"}") "," COMMAND(
		"run", "6", ",\"parameters\":{\"fast\":true,\"n\":11}") "," COMMAND("run", "7",
		",\"parameters\":{\"fast\":false,\"n\":1e0}"));
	pair("hyperfine", one, two);
	assert_int_equal(base.n_rows, 4);
	both("run_[fast=true]_[n=1]", 1, 1000, 5000);
	both("run_[fast=true]_[n=11]", 1, 2000, 6000);
	both("run_[fast=false]_[n=1]", 1, 3000, 7000);
	reading_has_row(&base, "run_[n=null]", 1, 4000, 1e-9);
	/* a command line that shows its values */
	pair("hyperfine", RESULTS(COMMAND("sleep 4", "1", ",\"parameters\":{\"s\":\"4\"}")),
		RESULTS(COMMAND("sleep 4", "1", ",\"parameters\":{\"s\":\"4\"}")));
	both("sleep_4_[s=4]", 1, 1000, 1000);
}

static void equal_commands_are_two_results(void **state)
{
	(void)state;
	pair_samples("hyperfine-same-command-before.json", "hyperfine-same-command-after.json");
	assert_int_equal(base.n_rows, 2);
	both("./run_kernels.bin#1", 3, 1000, 1000);
	both("./run_kernels.bin#2", 3, 2000, 1000);
	says_nothing();
	/* one of them failed: it retains its number */
	pair("hyperfine", RESULTS(COMMAND("a", "1", ",\"exit_codes\":[1]") "," COMMAND("a", "2,3", "") "," COMMAND("b", "9", "")),
		RESULTS(COMMAND("a", "4", "") "," COMMAND("b", "9", "") "," COMMAND("a", "5,6", "")));
	left(&base, "a#1", "it ended with a failure");
	both("a#2", 2, 2500, 5500);
	both("b", 1, 9000, 9000);
	/* a command with the name that numbering would give it */
	pair("hyperfine", RESULTS(COMMAND("a", "1", "") "," COMMAND("a#1", "2", "") "," COMMAND("a", "3", "")),
		RESULTS(COMMAND("a", "1", "") "," COMMAND("a#1", "2", "") "," COMMAND("a", "3", "")));
	assert_int_equal(base.n_rows, 3);
	both("a#1", 1, 2000, 2000);
	both("a##1", 1, 1000, 1000);
	both("a#2", 1, 3000, 3000);
	/* every number is already used by another command: keys must be unique, so the file is refused */
	static const char taken[] = RESULTS(COMMAND("a", "1", "") "," COMMAND("a", "3", "") "," COMMAND(
		"a#1", "2", "") "," COMMAND("a##1", "2", "") "," COMMAND("a###1", "2", "") "," COMMAND("a####1", "2",
		"") "," COMMAND("a#####1", "2", "") "," COMMAND("a######1", "2", "") "," COMMAND("a#######1", "2",
		"") "," COMMAND("a########1", "2", ""));
	struct reading refused = { 0 };
	struct fw_err err = { 0 };
	assert_int_equal(reading_parse(&(struct reading_options){ .format = "hyperfine", .unit = "", .time = "" }, taken,
				 strlen(taken), "A", &refused, &err),
		-1);
	assert_non_null(strstr(err.text, "results called a cannot be numbered"));
	reading_fini(&refused);
	/* long names that are truncated stay separate, too */
	char name[400], text[2000];
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	snprintf(text, sizeof text, "{\"results\":[{\"command\":\"%s\",\"times\":[1]},{\"command\":\"%s\",\"times\":[2]}]}", name,
		name);
	pair("hyperfine", text, text);
	assert_int_equal(base.n_rows, 2);
	says_nothing();
}

static void uneven_numbers_of_one_name_are_not_compared(void **state)
{
	(void)state;
	pair("hyperfine", RESULTS(COMMAND("a", "1", "") "," COMMAND("a", "2", "") "," COMMAND("b", "3", "")),
		RESULTS(COMMAND("a", "2", "") "," COMMAND("b", "3", "")));
	says("A has 2 results called a, B has 1: their order is unknown, so none of them is compared");
	assert_int_equal(unpaired, 1);
	left(&base, "a#1", "the files have different numbers of results of this name");
	left(&base, "a#2", "the files have different numbers of results of this name");
	left(&target, "a", "the files have different numbers of results of this name");
	both("b", 1, 3000, 3000);
	pair("hyperfine", RESULTS(COMMAND("a", "1", "") "," COMMAND("a", "2", "")),
		RESULTS(COMMAND("a", "2", "") "," COMMAND("a", "3", "") "," COMMAND("a", "1", "")));
	says("B has 3");
	assert_int_equal(base.n_rows + target.n_rows, 0);
	/* a row that only one file has is absent, and nothing else is reported about it */
	pair("hyperfine", RESULTS(COMMAND("a", "1", "") "," COMMAND("a", "2", "") "," COMMAND("b", "3", "")),
		RESULTS(COMMAND("b", "3", "")));
	says_nothing();
	assert_int_equal(base.n_rows, 3);
}

static void times_that_were_taken_out_leave_a_mean(void **state)
{
	(void)state;
	pair("hyperfine", RESULTS("{\"command\":\"a\",\"mean\":2,\"median\":null}"),
		RESULTS(COMMAND("a", "1,1,4", ",\"mean\":2,\"median\":1")));
	both("a", 1, 2000, 2000);
	says("compared by the mean, the best statistic that both files state: a\n");
	pair("hyperfine", RESULTS("{\"command\":\"a\",\"mean\":2,\"median\":1}"), RESULTS(COMMAND("a", "1,1,4", "")));
	reading_has_row(&base, "a", 1, 1000, 1e-9);
	reading_has_row(&target, "a", 3, 1000, 1e-9);
	says_nothing();
	static const char bad[] =
		RESULTS("{\"command\":\"a\",\"times\":[]},{\"command\":\"b\",\"times\":[\"x\"]},{\"command\":\"c\"}," COMMAND(
			"d", "1", ""));
	pair("hyperfine", bad, bad);
	both("d", 1, 1000, 1000);
	left(&base, "a", "it has neither times nor a median or mean");
	left(&base, "b", "times must be a number or a list of numbers");
	left(&base, "c", "it has neither times nor a median or mean");
}

/* ---- Google Benchmark ------------------------------------------------------------------------------------------------------ */

#define ITEMS(list)          "{\"context\":{},\"benchmarks\":[" list "]}"
#define ITEM(name, ms, more) "{\"name\":\"" name "\",\"run_type\":\"iteration\",\"time_unit\":\"ms\",\"real_time\":" ms more "}"
#define SUM(name, what, ms, more)                                                                                                \
	"{\"name\":\"" name "_" what "\",\"run_name\":\"" name "\",\"run_type\":\"aggregate\",\"aggregate_name\":\"" what        \
	"\",\"time_unit\":\"ms\",\"real_time\":" ms more "}"
#define FAMILY(f, i, r) ",\"family_index\":" f ",\"per_family_instance_index\":" i ",\"repetition_index\":" r
#define OLD(name, ms)   "{\"name\":\"" name "\",\"time_unit\":\"ms\",\"real_time\":" ms "}"

static void families_are_results(void **state)
{
	(void)state;
	pair_samples("gbench-two-families-before.json", "gbench-two-families-after.json");
	assert_int_equal(base.n_rows, 2);
	both("BM_Copy/4096#1", 1, 0.01, 0.01);
	both("BM_Copy/4096#2", 1, 0.1, 0.14);
	says_nothing();
	/* repetitions in any order */
	static const char mixed[] =
		ITEMS(ITEM("a", "1", FAMILY("0", "0", "0")) "," ITEM("a", "10", FAMILY("1", "0", "0")) "," ITEM(
			"a", "3", FAMILY("0", "0", "1")) "," ITEM("a", "30", FAMILY("1", "0", "1")) "," SUM("a", "mean", "2",
			FAMILY("0", "0", "0")) "," SUM("a", "mean", "20", FAMILY("1", "0", "0")));
	pair("google-benchmark", mixed, mixed);
	assert_int_equal(base.n_rows, 2);
	both("a#1", 2, 2, 2);
	both("a#2", 2, 20, 20);
	/* instances of one family */
	static const char instances[] = ITEMS(ITEM("a", "1", FAMILY("0", "0", "0")) "," ITEM("a", "5", FAMILY("0", "1", "0")));
	pair("google-benchmark", instances, instances);
	both("a#2", 1, 5, 5);
	/* aggregates only, and aggregates with repetitions */
	static const char beside[] = ITEMS(SUM("a", "mean", "7", ",\"family_index\":0,\"per_family_instance_index\":0") "," SUM(
		"a", "median", "6", ",\"family_index\":0,\"per_family_instance_index\":0") "," ITEM("a", "1",
		FAMILY("1", "0", "0")) "," ITEM("a", "2", FAMILY("1", "0", "1")) "," SUM("a", "median", "1.5",
		",\"family_index\":1,\"per_family_instance_index\":0"));
	pair("google-benchmark", beside, beside);
	assert_int_equal(base.n_rows, 2);
	both("a#1", 1, 6, 6);
	both("a#2", 2, 1.5, 1.5);
}

static void families_of_old_versions(void **state)
{
	(void)state;
	/* 2019: the index of the repetition begins again */
	static const char y2019[] =
		ITEMS(ITEM("a", "1", ",\"repetition_index\":0") "," ITEM("a", "3", ",\"repetition_index\":1") "," ITEM(
			"a", "10", ",\"repetition_index\":0") "," ITEM("a", "30", ",\"repetition_index\":1"));
	pair("google-benchmark", y2019, y2019);
	assert_int_equal(base.n_rows, 2);
	both("a#1", 2, 2, 2);
	both("a#2", 2, 20, 20);
	static const char once[] = ITEMS(ITEM("a", "1", ",\"repetitions\":1") "," ITEM("a", "2", ",\"repetitions\":1"));
	pair("google-benchmark", once, once);
	both("a#2", 1, 2, 2);
	/* before: aggregates end the repetitions of a benchmark, and without them the number of repetitions is not stated */
	static const char y2017[] =
		ITEMS(OLD("a", "1") "," OLD("a", "3") "," OLD("a_mean", "2") "," OLD("a_stddev", "1") "," OLD("a", "10") "," OLD(
			"a", "30") "," OLD("a_mean", "20") "," OLD("a_stddev", "9") "," OLD("b", "5") "," OLD("b", "6"));
	pair("google-benchmark", y2017, y2017);
	assert_int_equal(base.n_rows, 4);
	both("a#1", 2, 2, 2);
	both("a#2", 2, 20, 20);
	both("b#1", 1, 5, 5);
	both("b#2", 1, 6, 6);
	/* aggregates only, twice */
	static const char twice[] =
		ITEMS(OLD("a_mean", "2") "," OLD("a_median", "1") "," OLD("a_mean", "20") "," OLD("a_median", "10"));
	pair("google-benchmark", twice, twice);
	both("a#1", 1, 1, 1);
	both("a#2", 1, 10, 10);
	/* a sum over sizes belongs to no benchmark */
	static const char complexity[] = ITEMS(ITEM("a/8", "1", "") "," SUM("a", "BigO", "0", "") "," SUM("a", "RMS", "0", ""));
	pair("google-benchmark", complexity, complexity);
	assert_int_equal(base.n_rows + base.n_left, 1);
}

static void names_of_google_benchmark(void **state)
{
	(void)state;
	static const char text[] =
		ITEMS(ITEM("a/threads:1", "1", ",\"threads\":1,\"hits\":7,\"label\":\"x\"") "," ITEM("a/threads:8", "2",
			",\"threads\":8") "," ITEM("a/real_time", "3", "") "," ITEM("a_mean", "4", ",\"run_name\":\"a_mean\""));
	pair("google-benchmark", text, text);
	assert_int_equal(base.n_rows, 4);
	both("a/threads:8", 1, 2, 2);
	both("a_mean", 1, 4, 4); /* its actual name */
	pair("google-benchmark", ITEMS("{\"name\":\"a\",\"run_type\":\"iteration\",\"real_time\":1500,\"time_unit\":\"us\"}"),
		ITEMS("{\"name\":\"a\",\"run_type\":\"iteration\",\"real_time\":1500000}"));
	both("a", 1, 1.5, 1.5);
}

static void an_item_without_a_time_has_no_result(void **state)
{
	(void)state;
	pair_samples("gbench-row-without-time.json", "gbench-row-inf.json");
	both("BM_A", 1, 0.01, 0.01);
	both("BM_C", 1, 0.03, 0.03);
	left(&base, "BM_B", "it has no real_time");
	left(&target, "BM_B", "its real_time is NaN or infinite");
	left(&target, "BM_D", "a real_time of 0 is not a time");
	static const char text[] = ITEMS(ITEM("a", "1", "") "," ITEM("b", "null", "") "," ITEM("c", "\"fast\"", "") "," ITEM(
		"d", "-1", "") "," ITEM("e", "1e300", "") "," ITEM("f", "1", ",\"error_occurred\":true") "," SUM("g", "stddev",
		"1", "") ",{\"name\":\"h\",\"real_time\":1,\"time_unit\":\"fortnight\"}");
	pair("google-benchmark", text, text);
	reading_has_row(&base, "a", 1, 1, 1e-9);
	left(&base, "b", "it has no real_time");
	left(&base, "c", "its real_time is not a number");
	left(&base, "d", "a real_time of -1 is not a time");
	left(&base, "e", "a real_time of 1e+300 is not a time");
	assert_string_equal(reading_why(&base, "f"), "error_occurred");
	left(&base, "g", "it has neither a median nor a mean");
	left(&base, "h", "the time_unit `fortnight` is unknown; ns, us, ms and s are read");
}

static void aggregates_next_to_repetitions(void **state)
{
	(void)state;
	static const char repetitions[] = ITEMS(ITEM("a", "1", ",\"repetition_index\":0") "," ITEM(
		"a", "1", ",\"repetition_index\":1") "," ITEM("a", "4", ",\"repetition_index\":2"));
	pair("google-benchmark", repetitions, ITEMS(SUM("a", "mean", "2", "") "," SUM("a", "median", "1", "")));
	reading_has_row(&base, "a", 3, 1, 1e-9);
	reading_has_row(&target, "a", 1, 1, 1e-9);
	says_nothing();
	pair("google-benchmark", repetitions, ITEMS(SUM("a", "mean", "2", "")));
	both("a", 1, 2, 2);
	says("compared by the mean, the best statistic that both files state: a\n");
	pair("google-benchmark", ITEMS(SUM("a", "median", "1", "") "," ITEM("b", "1", "")),
		ITEMS(SUM("a", "mean", "2", "") "," ITEM("b", "1", "")));
	says("a is not compared: one file states its median, the other its mean, and they have no statistic in common");
	assert_int_equal(unpaired, 1);
	left(&base, "a", "the files state no statistic of it in common");
	left(&target, "a", "the files state no statistic of it in common");
	both("b", 1, 1, 1);
}

/* ---- nvbench --------------------------------------------------------------------------------------------------------------- */

#define VALUE(tag, s) "{\"tag\":\"nv/" tag "\",\"data\":[{\"name\":\"value\",\"value\":\"" s "\"}]}"
#define STATE(name, device, summaries)                                                                                           \
	"{\"name\":\"" name "\",\"device\":" device ",\"summaries\":[" summaries "],\"is_skipped\":false}"
#define BENCH(name, states)       "{\"name\":\"" name "\",\"states\":[" states "]}"
#define DEVICE(id, name)          "{\"id\":" id ",\"name\":\"" name "\"}"
#define FILE_OF(devices, benches) "{\"devices\":[" devices "],\"benchmarks\":[" benches "]}"
#define ONE(device, summaries)    FILE_OF("", BENCH("b", STATE("Device=" device " N=1", device, summaries)))

static void both_sides_take_one_statistic(void **state)
{
	(void)state;
	pair_samples("nvbench-mean-only.json", "nvbench-mean-and-median.json");
	both("copy/Elements=2^20", 1, 0.0106, 0.0106);
	says("compared by the mean of cold GPU times, the best statistic that both files state: copy/Elements=2^20\n");
	assert_int_equal(unpaired, 0);
	pair_samples("nvbench-mean-and-median.json", "nvbench-mean-and-median.json");
	both("copy/Elements=2^20", 1, 0.01, 0.01);
	says_nothing();
	/* cold and batched */
	pair("nvbench", ONE("0", VALUE("batch/time/gpu/mean", "2e-3")),
		ONE("0", VALUE("cold/time/gpu/mean", "1e-3") "," VALUE("batch/time/gpu/mean", "3e-3")));
	both("b/N=1", 1, 2, 3);
	says("mean of batched GPU times");
	/* the CPU's clock is the only one that both have */
	pair("nvbench", ONE("0", VALUE("cold/time/cpu/mean", "5e-3")),
		ONE("0", VALUE("cold/time/gpu/median", "1e-3") "," VALUE("cold/time/cpu/mean", "6e-3")));
	both("b/N=1", 1, 5, 6);
	says("mean of cold CPU times");
	/* each state on its own */
	pair("nvbench",
		FILE_OF("", BENCH("b", STATE("N=1", "0",
					       VALUE("cold/time/gpu/mean", "1e-3") "," VALUE("cold/time/gpu/median",
						       "2e-3")) "," STATE("N=2", "0", VALUE("cold/time/gpu/mean", "3e-3")))),
		FILE_OF("", BENCH("b", STATE("N=1", "0",
					       VALUE("cold/time/gpu/mean", "1e-3") "," VALUE(
						       "cold/time/gpu/median", "2e-3")) "," STATE("N=2", "0",
					       VALUE("cold/time/gpu/mean", "3e-3") "," VALUE("cold/time/gpu/median", "4e-3")))));
	both("b/N=1", 1, 2, 2);
	both("b/N=2", 1, 3, 3);
	says("compared by the mean of cold GPU times, the best statistic that both files state: b/N=2\n");
	/* a title of 2021 and a tag of today are the same statistic */
	pair("nvbench",
		"{\"benchmarks\":[{\"name\":\"b\",\"states\":{\"Device=0 N=1\":{\"summaries\":{\"Average GPU Time (Cold)\":{\"value\":{\"value\":\"2e-3\"}}}}}}]}",
		ONE("0", VALUE("cold/time/gpu/mean", "3e-3") "," VALUE("cold/time/gpu/median", "1e-3")));
	both("b/N=1", 1, 2, 3);
	/* none in common */
	pair("nvbench", ONE("0", VALUE("cold/time/gpu/median", "1e-3")), ONE("0", VALUE("batch/time/gpu/mean", "1e-3")));
	says("b/N=1 is not compared: one file states its median of cold GPU times, the other its mean of batched GPU times");
	assert_int_equal(base.n_rows + target.n_rows, 0);
	assert_int_equal(unpaired, 1);
}

static void cards_meet_by_name_and_order(void **state)
{
	(void)state;
	pair("nvbench", ONE("0", VALUE("cold/time/gpu/median", "1e-3")), ONE("4", VALUE("cold/time/gpu/median", "2e-3")));
	both("b/N=1", 1, 1, 2);
	says_nothing();
#define TWO(x, xname, xs, y, yname, ys)                                                                                          \
	FILE_OF(DEVICE(x, xname) "," DEVICE(y, yname),                                                                           \
		BENCH("b", STATE("Device=" x " N=1", x, VALUE("cold/time/gpu/median", xs)) "," STATE(                            \
				   "Device=" y " N=1", y, VALUE("cold/time/gpu/median", ys))))
	pair("nvbench", TWO("0", "H100", "1e-3", "1", "H200", "2e-3"), TWO("0", "H200", "3e-3", "1", "H100", "4e-3"));
	both("b/Device=H100_N=1", 1, 1, 4);
	both("b/Device=H200_N=1", 1, 2, 3);
	pair("nvbench", TWO("0", "H100", "1e-3", "1", "H100", "2e-3"), TWO("4", "H100", "3e-3", "7", "H100", "4e-3"));
	both("b/Device=H100(1)_N=1", 1, 1, 3);
	both("b/Device=H100(2)_N=1", 1, 2, 4);
	says_nothing();
	/* without names the order identifies them */
	pair("nvbench",
		FILE_OF("", BENCH("b", STATE("Device=2 N=1", "2", VALUE("cold/time/gpu/median", "1e-3")) "," STATE(
					       "Device=5 N=1", "5", VALUE("cold/time/gpu/median", "2e-3")))),
		FILE_OF("", BENCH("b", STATE("Device=0 N=1", "0", VALUE("cold/time/gpu/median", "3e-3")) "," STATE(
					       "Device=1 N=1", "1", VALUE("cold/time/gpu/median", "4e-3")))));
	both("b/Device=0_N=1", 1, 1, 3);
	both("b/Device=1_N=1", 1, 2, 4);
	/* one compared with several */
	forget();
	read_as("nvbench",
		FILE_OF(DEVICE("3", "H200"), BENCH("b", STATE("Device=3", "3", VALUE("cold/time/gpu/median", "1e-3")))), true,
		"A", &base);
	read_as("nvbench", TWO("0", "H100", "1e-3", "1", "H200", "2e-3"), false, "B", &target);
	reading_has_row(&base, "b/Device=H200", 1, 1, 1e-9);
	assert_int_equal(base.n_devices, 1);
	assert_int_equal(target.n_devices, 2);
}

static void states_without_a_time(void **state)
{
	(void)state;
	pair_samples("nvbench-row-without-time.json", "nvbench-row-without-time.json");
	both("copy/Elements=2^20", 1, 0.01, 0.01);
	both("copy/Elements=2^28", 1, 2.56, 2.56);
	left(&base, "copy/Elements=2^24", "its summaries hold no time");
	static const char text[] = FILE_OF("",
		BENCH("b",
			STATE("N=1", "0", VALUE("cold/time/gpu/mean", "nan")) "," STATE("N=2", "null",
				VALUE("cpu_only/time/cpu/mean",
					"1e-3")) ",{\"name\":\"N=3\"},{\"name\":\"N=4\",\"is_skipped\":true,\"skip_reason\":\"too large\"}," STATE("N=5",
				"0", VALUE("cold/time/gpu/mean", "0"))) "," BENCH("b",
			STATE("N=2", "0", VALUE("cpu_only/time/cpu/mean", "4e-3"))));
	pair("nvbench", text, text);
	left(&base, "b/N=1", "its time is not a time");
	left(&base, "b/N=3", "its summaries hold no time");
	left(&base, "b/N=4", "skipped: too large");
	left(&base, "b/N=5", "its time is not a time");
	both("b/N=2#1", 1, 1, 1); /* two benchmarks of the same name */
	both("b/N=2#2", 1, 4, 4);
}

/* ---- lines, tables --------------------------------------------------------------------------------------------------------- */

static void rows_of_lines_and_tables(void **state)
{
	(void)state;
	static const char lines[] =
		"{\"cell\":\"a\",\"ms\":[1,2,3]}\n{\"cell\":\"a\",\"ms\":8}\n{\"cell\":\"b\",\"us\":0}\n{\"cell\":\"c\",\"ms\":1,\"us\":1}\n"
		"{\"cell\":\"d\",\"ms\":\"x\"}\n{\"cell\":\"e\"}\n{\"cell\":\"f\",\"s\":1,\"tflops\":\"x\"}\n";
	pair("flopwatch", lines, lines);
	assert_int_equal(base.n_rows, 2);
	both("a", 4, 2.5, 2.5); /* lines of one cell are its repetitions */
	both("f", 1, 1000, 1000);
	left(&base, "b", "0 ms is not a time");
	left(&base, "c", "us and ms are both given; give one of them");
	left(&base, "d", "ms must be a number or a list of numbers");
	left(&base, "e", "it has none of ms, us, ns and s");
	static const char profile[] =
		"seqlen,mask_type,direction,latency_ms\n8,full,fwd,1\n8,full,fwd,3\n8,full,bwd,x\n8,full,up,1\n16,full,fwd,0\n";
	pair("ffa", profile, profile);
	assert_int_equal(base.n_rows, 2);
	both("ffa/dense/full/s8/forward#1", 1, 1, 1);
	both("ffa/dense/full/s8/forward#2", 1, 3, 3);
	assert_int_equal(base.n_left, 3);
	static const char rates[] = "seqlen,ffa\n1024,100\n1024.0,200\n2048,0\n4096,inf\n";
	pair("ffa", rates, rates);
	both("ffa/seqlen=1024/per-TFLOP#1", 1, 10, 10);
	both("ffa/seqlen=1024/per-TFLOP#2", 1, 5, 5);
	assert_int_equal(base.n_left, 2);
}

/* ---- measurement conditions
 * ---------------------------------------------------------------------------------------------------- */

#define CONTEXT(text) "{\"context\":{" text "},\"benchmarks\":[" ITEM("a", "1", "") "]}"

static void differing_conditions_are_reported(void **state)
{
	(void)state;
	pair("nvbench",
		FILE_OF(DEVICE("0", "NVIDIA H100"), BENCH("b", STATE("Device=0", "0", VALUE("cold/time/gpu/median", "1e-3")))),
		FILE_OF(DEVICE("0", "NVIDIA H200"), BENCH("b", STATE("Device=0", "0", VALUE("cold/time/gpu/median", "1e-3")))));
	says("GPU: NVIDIA H100 in A, NVIDIA H200 in B; the times may differ because of that\n");
	both("b", 1, 1, 1);
	/* a card that another state of the file could have used is not reported */
	pair("nvbench",
		FILE_OF(DEVICE("0", "H100") "," DEVICE("1", "H200"),
			BENCH("b", STATE("Device=1", "1", VALUE("cold/time/gpu/median", "1e-3")))),
		FILE_OF(DEVICE("0", "H200"), BENCH("b", STATE("Device=0", "0", VALUE("cold/time/gpu/median", "1e-3")))));
	says_nothing();
	pair("google-benchmark", CONTEXT("\"library_build_type\":\"release\""), CONTEXT("\"library_build_type\":\"debug\""));
	says("library_build_type: release in A, debug in B; ");
	pair("google-benchmark", CONTEXT("\"library_build_type\":\"debug\""), CONTEXT("\"library_build_type\":\"debug\""));
	says("library_build_type: debug in both files, which distorts times\n");
	pair("google-benchmark", CONTEXT(""), CONTEXT("\"library_build_type\":\"debug\""));
	says("library_build_type: debug in B, and A does not report it; ");
	pair("google-benchmark", CONTEXT("\"cpu_scaling_enabled\":true"), CONTEXT("\"cpu_scaling_enabled\":true"));
	says("cpu_scaling_enabled: true in both files");
	pair("google-benchmark",
		CONTEXT("\"host_name\":\"x\",\"num_cpus\":8,\"mhz_per_cpu\":3000,\"compiler\":\"gcc 13\",\"date\":\"1\""),
		CONTEXT("\"host_name\":\"y\",\"num_cpus\":16,\"mhz_per_cpu\":2000,\"compiler\":\"clang 18\",\"date\":\"2\""));
	says("host_name: x in A, y in B;");
	says("num_cpus: 8 in A, 16 in B;");
	says("mhz_per_cpu: 3000 in A, 2000 in B;");
	says("compiler: gcc 13 in A, clang 18 in B;");
	assert_null(strstr(said.data, "date"));
	/* a clock is read again by each run */
	pair("google-benchmark", CONTEXT("\"mhz_per_cpu\":3000,\"executable\":\"./a\",\"load_avg\":[1]"),
		CONTEXT("\"mhz_per_cpu\":2991,\"executable\":\"./b\",\"load_avg\":[2]"));
	says_nothing();
	pair("flopwatch", "{\"cell\":\"a\",\"ms\":1,\"device\":\"NVIDIA H100\"}\n",
		"{\"cell\":\"a\",\"ms\":1,\"device\":\"NVIDIA H200\"}\n");
	says("device: NVIDIA H100 in A, NVIDIA H200 in B;");
	pair("ffa", "seqlen,mask_type,direction,latency_ms,gpu\n8,full,fwd,1,H100\n",
		"seqlen,mask_type,direction,latency_ms,gpu\n8,full,fwd,1,H200\n");
	says("gpu: H100 in A, H200 in B;");
#define LAUNCH(cc, host, gpu)                                                                                                                         \
	"\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"CC\",\"device__attribute_display_name\",\"gpu__time_duration.sum\"\n" \
	"\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\"\n"                                                                                                 \
	"\"0\",\"1\",\"app\",\"" host "\",\"k\",\"" cc "\",\"" gpu "\",\"5\"\n"
	pair("ncu", LAUNCH("9.0", "a", "H100"), LAUNCH("10.0", "b", "B200"));
	says("GPU: H100 in A, B200 in B;");
	says("compute capability: 9.0 in A, 10.0 in B;");
	says("host: a in A, b in B;");
	both("k", 1, 0.005, 0.005);
	pair("ncu", LAUNCH("9.0", "a", "H100"), LAUNCH("9.0", "a", "H100"));
	says_nothing();
#define DETAIL(gpu)                                                                                                              \
	"\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"                               \
	"\"0\",\"1\",\"k\",\"device__attribute_display_name\",\"\",\"" gpu "\"\n\"0\",\"1\",\"k\",\"Duration\",\"us\",\"5\"\n"
	pair("ncu", DETAIL("H100"), DETAIL("H200"));
	says("GPU: H100 in A, H200 in B;");
	/* a message stays one line, whatever a file contains */
	pair("flopwatch", "{\"cell\":\"a\",\"ms\":1,\"host\":\"x\\ny\"}\n", "{\"cell\":\"a\",\"ms\":1,\"host\":\"z\"}\n");
	says("host: x y in A, z in B; the times may differ because of that\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_are_a_part_of_the_name),
		cmocka_unit_test(equal_commands_are_two_results),
		cmocka_unit_test(uneven_numbers_of_one_name_are_not_compared),
		cmocka_unit_test(times_that_were_taken_out_leave_a_mean),
		cmocka_unit_test(families_are_results),
		cmocka_unit_test(families_of_old_versions),
		cmocka_unit_test(names_of_google_benchmark),
		cmocka_unit_test(an_item_without_a_time_has_no_result),
		cmocka_unit_test(aggregates_next_to_repetitions),
		cmocka_unit_test(both_sides_take_one_statistic),
		cmocka_unit_test(cards_meet_by_name_and_order),
		cmocka_unit_test(states_without_a_time),
		cmocka_unit_test(rows_of_lines_and_tables),
		cmocka_unit_test(differing_conditions_are_reported),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
