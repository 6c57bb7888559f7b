/* Files of other programs in the forms in which they occur: each gives the values that it states, or a message with the reason
 * why not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lib.h"
#include "readers/readers.h"
#include "reading_file.h"

/* The first lines of ncu's pages. */
#define RAW                                                                                                                      \
	"\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Context\",\"Block Size\",\"Grid Size\",\"Device\",\"gpu__time_duration.sum\""
#define ROW(id, kernel, context, block, grid, device)                                                                            \
	"\"" id "\",\"1\",\"app\",\"" kernel "\",\"" context "\",\"(" block ", 1, 1)\",\"(" grid ", 1, 1)\",\"" device "\","
#define ONE(id, kernel) ROW(id, kernel, "1", "256", "132", "0")
#define NS              RAW "\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ns\"\n"
#define US              RAW "\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\"\n"

static struct reading base, target;

static int tear_down(void **state)
{
	(void)state;
	reading_fini(&base);
	reading_fini(&target);
	return 0;
}

/* Two texts compared, as compare reads them. 0, or -1 with `err` of the first that is refused. */
static int parse_two(struct reading_options how, const char *a, const char *b, struct fw_err *err)
{
	reading_fini(&base);
	reading_fini(&target);
	how.unit = how.unit ? how.unit : "";
	how.time = "";
	how.other = b;
	how.other_len = strlen(b);
	if (reading_parse(&how, a, strlen(a), "a", &base, err) != 0)
		return -1;
	how.other = a;
	how.other_len = strlen(a);
	return reading_parse(&how, b, strlen(b), "b", &target, err);
}

static void both(struct reading_options how, const char *a, const char *b)
{
	struct fw_err err = { 0 };

	if (parse_two(how, a, b, &err) != 0)
		fail_msg("%s", err.text);
}

static void one(struct reading_options how, const char *text)
{
	both(how, text, text);
}

static void refused(struct reading_options how, const char *a, const char *b, const char *why)
{
	struct fw_err err = { 0 };

	if (parse_two(how, a, b, &err) == 0)
		fail_msg("it is read, and should say \"%s\"", why);
	assert_int_equal(err.code, ERR_INVALID);
	if (!strstr(err.text, why))
		fail_msg("\"%s\" lacks \"%s\"", err.text, why);
}

/* Two files of tests/data/readers, with the detected format of both. */
static void files(const char *format, struct reading_options how, const char *a, const char *b)
{
	struct buf text[2];

	reading_file_load(a, &text[0]);
	reading_file_load(b, &text[1]);
	assert_string_equal(reading_guess(text[0].data, text[0].len, a), format);
	assert_string_equal(reading_guess(text[1].data, text[1].len, b), format);
	how.format = format;
	both(how, text[0].data, text[1].data);
	buf_fini(&text[0]);
	buf_fini(&text[1]);
}

/* A row of both, by its key. */
static void has(const char *key, int n, double base_ms, double target_ms)
{
	reading_has_row(&base, key, n, base_ms, 1e-5);
	reading_has_row(&target, key, n, target_ms, 1e-5);
}

static void lacks(const char *key, const char *why, int line)
{
	reading_lacks(&base, key, why);
	for (int i = 0; i < base.n_left; i++)
		if (strcmp(base.left[i].key, key) == 0)
			assert_int_equal(base.left[i].line, line);
}

static void says(const char *note)
{
	for (int i = 0; i < base.n_notes; i++)
		if (strstr(base.note[i], note))
			return;
	for (int i = 0; i < base.n_notes; i++)
		print_message("%s\n", base.note[i]);
	fail_msg("it does not say \"%s\"", note);
}

static void rows(int n)
{
	assert_int_equal(base.n_rows, n);
	assert_int_equal(target.n_rows, n);
}

static const struct reading_options ncu = { .format = "ncu" }, triton = { .format = "triton" }, torchao = { .format = "torchao" },
				    us = { .format = "triton", .unit = "us" };

/* ---- ncu: decimal marks and thousands separators
 * ---------------------------------------------------------------------------------- */

static void a_report_of_two_locales_has_the_same_times(void **state)
{
	(void)state;
	files("ncu", ncu, "ncu-decimal-point.csv", "ncu-decimal-comma.csv");
	rows(2);
	has("scale", 1, 0.01235, 0.01235);
	has("reduce", 1, 1.20416, 1.20416);
	files("ncu", ncu, "ncu-thousands-point.csv", "ncu-thousands-point.csv");
	rows(2);
	has("scale", 1, 0.012345, 0.012345);
	has("reduce", 1, 1.20416, 1.20416);
}

static void a_number_is_read_as_its_file_shows(void **state)
{
	static const struct {
		const char *shows, *cell;
		double value;
	} cases[] = {
		{ "1.234,5", "12,345", 12.345 },
		{ "1.234,5", "12.345", 12345 },
		{ "1,234.5", "12,345", 12345 },
		{ "1,234.5", "12.345", 12.345 },
		{ "1,234,567", "12.345", 12.345 },
		{ "1.234.567", "12.345", 12345 },
		{ "61,07", "1.204", 1204 },
		{ "61.07", "1.204", 1.204 },
		{ "0,345", "1.204", 1204 },
		{ "0.345", "1,204", 1204 },
		{ "1234.567", "1,204", 1204 },
		{ ",5", "1.204", 1204 },
		{ "1'234", "12.345", 12.345 },
		{ "1'234", "12,345", 12.345 },
		{ "1\u2019234.5", "12,345", 12345 },
		{ "1'234.5", "1'204'160", 1204160 },
		{ "1 234,5", "1 204 160,25", 1204160.25 },
		{ "1\u00a0234,5", "12\u00a0345", 12345 },
		{ "1\u202f234", "12,345", 12.345 },
		{ "1\u2009234,5", "12\u2009345", 12345 },
		{ "1.5e+03", "12.345", 12.345 },
		{ "-1.234,5", "-12.345", -12345 },
		{ "7", "7", 7 },
		{ "7", " 7 ", 7 },
		{ "7", "1.204,16", 1204.16 },
		{ "7", "1,5E-3", 0.0015 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct marks m = { 0 };
		double v;

		marks_learn(&m, cases[i].shows, "", 1);
		if (marks_read(&m, cases[i].cell, &v) != MARKS_NUMBER)
			fail_msg("%s beside %s is not a number", cases[i].cell, cases[i].shows);
		if (fabs(v - cases[i].value) > 1e-9 * fabs(v))
			fail_msg("%s beside %s is %g", cases[i].cell, cases[i].shows, v);
	}
}

static void malformed_numbers_are_not_guessed(void **state)
{
	static const char *const none[] = { "", "n/a", "nan", "inf", "1,2,3", "1.2.3", "1.23.456", "12,34,567.8", "1 2", "1'23",
		"0x10", "1e", "1.234,567,8", "--1", "1-", ".", "1,234.5.6" };
	struct marks m = { 0 };
	double v;

	(void)state;
	assert_int_equal(marks_read(&m, "12,345", &v), MARKS_UNDECIDED);
	assert_int_equal(marks_read(&m, "12.345", &v), MARKS_UNDECIDED);
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		marks_learn(&m, none[i], "%", 1);
		if (marks_read(&m, none[i], &v) != MARKS_NO_NUMBER)
			fail_msg("`%s` is read as %g", none[i], v);
	}
	assert_int_equal(m.decimal, 0);
	marks_learn(&m, "61,070", "%", 3); /* 61070 % of what can be at most 100 % */
	assert_int_equal(marks_read(&m, "12,345", &v), MARKS_NUMBER);
	assert_float_equal(v, 12.345, 1e-9);
	assert_false(marks_contradict(&m));
	marks_learn(&m, "1.5", "", 4);
	assert_true(marks_contradict(&m));
}

static void an_undecided_time_is_refused_with_the_way_out(void **state)
{
	(void)state;
	refused(ncu, NS ONE("0", "k") "\"12.345\"\n", "", "a:3: gpu__time_duration.sum: `12.345` is two numbers");
	refused(ncu, NS ONE("0", "k") "\"12,345\"\n", "", "LC_NUMERIC=C");
	refused(ncu, US ONE("0", "k") "\"12,35\"\n" ONE("1", "k") "\"12.35\"\n", "",
		"has decimal points (line 4) and decimal commas (line 3)");
	/* only a time that is read matters */
	one(ncu, RAW
		",\"sm__a.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\",\"inst\"\n" ONE("0", "k") "\"12\",\"12,345\"\n");
	has("k", 1, 0.012, 0.012);
	one(ncu, NS ONE("0", "k") "\"12.345\"\n" ONE("1", "k") "\"1.204.160\"\n");
	reading_has_row(&base, "k", 2, (0.012345 + 1.20416) / 2, 1e-5);
}

static void an_invalid_time_is_noted(void **state)
{
	(void)state;
	one(ncu, US ONE("0", "k") "\"12.5\"\n" ONE("1", "k") "\"n/a\"\n" ONE("2", "lost") "\"\"\n" ONE("3", "zero") "\"0\"\n");
	rows(1);
	has("k", 1, 0.0125, 0.0125);
	says("line 4: the time of a launch of k is left out: `n/a` is not a time");
	says("line 5: the time of a launch of lost is left out: `nothing` is not a time");
	lacks("lost", "none of its launches has a time", 0);
	lacks("zero", "none of its launches has a time", 0);
	refused(ncu, US ONE("0", "k") "\"nan\"\n", "",
		"holds no measured row; 1 row was left out: k (none of its launches has a time)");
}

/* ---- ncu: launches --------------------------------------------------------------------------------------------------------- */

static void launches_that_differ_stay_separate(void **state)
{
	(void)state;
	files("ncu", ncu, "ncu-grids-before.csv", "ncu-grids-after.csv");
	rows(2);
	has("gemm<128,_64>/grid=16", 2, 0.0101, 0.0131);
	has("gemm<128,_64>/grid=512", 3, 0.0802, 0.0802);
	/* blocks, devices, contexts, and two of them at once */
	one(ncu, US ROW("0", "k", "1", "128", "8", "0") "\"1.5\"\n" ROW("1", "k", "1", "256", "8", "0") "\"2.5\"\n");
	has("k/block=128", 1, 0.0015, 0.0015);
	has("k/block=256", 1, 0.0025, 0.0025);
	one(ncu, US ROW("0", "k", "1", "128", "8", "0") "\"1.5\"\n" ROW("1", "k", "1", "128", "8", "1") "\"2.5\"\n");
	has("k/device=1", 1, 0.0025, 0.0025);
	one(ncu, US ROW("0", "k", "1", "128", "8", "0") "\"1.5\"\n" ROW("1", "k", "2", "128", "16", "0") "\"2.5\"\n");
	has("k/grid=16/context=2", 1, 0.0025, 0.0025);
	/* other kernels retain their names */
	one(ncu, US ROW("0", "k", "1", "128", "8", "0") "\"1.5\"\n" ROW("1", "k", "1", "128", "16", "0") "\"2.5\"\n" ONE(
			 "2", "f") "\"3.5\"\n");
	has("f", 1, 0.0035, 0.0035);
}

static void both_files_give_a_launch_the_same_name(void **state)
{
	(void)state;
	both(ncu, US ROW("0", "k", "1", "128", "8", "0") "\"1.5\"\n" ROW("1", "k", "1", "128", "16", "0") "\"2.5\"\n",
		US ROW("0", "k", "1", "128", "8", "0") "\"1.6\"\n");
	reading_has_row(&base, "k/grid=8", 1, 0.0015, 1e-5);
	reading_has_row(&target, "k/grid=8", 1, 0.0016, 1e-5);
	/* one shape each: the same kernel with another launch configuration, which is reported */
	both(ncu, US ROW("0", "k", "1", "128", "8", "0") "\"1.5\"\n", US ROW("0", "k", "1", "256", "8", "0") "\"1.6\"\n");
	has("k", 1, 0.0015, 0.0016);
	says("k has a block of 128 here and of 256 in the other file");
}

static void the_warm_up_is_cut(void **state)
{
	struct reading_options how = { .format = "ncu", .warmup = 1 };

	(void)state;
	files("ncu", ncu, "ncu-metrics.csv", "ncu-metrics.csv");
	has("copy<1>", 4, 0.0611, 0.0611);
	files("ncu", how, "ncu-metrics.csv", "ncu-metrics.csv");
	rows(1);
	has("copy<1>", 3, 0.0602, 0.0602);
	lacks("warm<0>", "it has 1 launch, all of them warm-up", 0);
	says("the first launch of each row is left out");
	assert_int_equal(base.n_figures, 0);
}

static void launches_are_chosen(void **state)
{
	(void)state;
	files("ncu", (struct reading_options){ .launches = 4, .warmup = 2 }, "ncu-metrics.csv", "ncu-metrics.csv");
	has("copy<1>", 2, 0.0601, 0.0601);
	says("1 kernel with other counts than 4 is left out: warm<0> 1");
	files("ncu", (struct reading_options){ .kernel = "warm*" }, "ncu-metrics.csv", "ncu-metrics.csv");
	rows(1);
	has("warm<0>", 1, 0.031, 0.031);
	says("4 launches are left out by --kernel or --ids");
	files("ncu", (struct reading_options){ .ids = "2,4-9" }, "ncu-metrics.csv", "ncu-metrics.csv");
	rows(1);
	has("copy<1>", 2, 0.0611, 0.0611);
}

static const struct reading_figure *figure(const char *key, const char *metric)
{
	for (int i = 0; i < base.n_figures; i++)
		if (strcmp(base.figure[i].key, key) == 0 && strcmp(base.figure[i].metric, metric) == 0)
			return &base.figure[i];
	fail_msg("there is no %s of %s", metric, key);
	return NULL;
}

static void metrics_are_read_on_request(void **state)
{
	struct reading_options how = {
		.format = "ncu", .metrics = "dram__bytes_*,launch__registers_per_thread,lts__t_sector_hit_rate.pct", .warmup = 1
	};

	(void)state;
	files("ncu", how, "ncu-metrics.csv", "ncu-metrics.csv");
	assert_int_equal(base.n_figures, 4);
	assert_float_equal(figure("copy<1>", "dram__bytes_read.sum")->median, 100, 1e-9);
	assert_string_equal(figure("copy<1>", "dram__bytes_write.sum")->unit, "Mbyte");
	assert_float_equal(figure("copy<1>", "launch__registers_per_thread")->median, 64, 1e-9);
	assert_float_equal(figure("copy<1>", "lts__t_sector_hit_rate.pct")->median, 56, 1e-9);
	assert_int_equal(figure("copy<1>", "lts__t_sector_hit_rate.pct")->n, 3);
	has("copy<1>", 3, 0.0602, 0.0602);
	/* without any time */
	how.warmup = 0;
	files("ncu", how, "ncu-no-duration.csv", "ncu-no-duration.csv");
	rows(0);
	assert_float_equal(figure("copy<1>", "dram__bytes_read.sum")->median, 100, 1e-9);
	how.metrics = "l1tex__*";
	refused(how, US ONE("0", "k") "\"1.5\"\n", "", "has no metric that fits `l1tex__*`");
}

static void units_of_metrics_are_converted(void **state)
{
	(void)state;
	assert_float_equal(reading_unit_factor("Gbyte", "Mbyte"), 1e3, 1e-9);
	assert_float_equal(reading_unit_factor("KB", "byte"), 1e3, 1e-9);
	assert_float_equal(reading_unit_factor("MiB", "byte"), 1048576, 1e-6);
	assert_float_equal(reading_unit_factor("Tbyte/second", "GB/s"), 1e3, 1e-9);
	assert_float_equal(reading_unit_factor("Ghz", "hz"), 1e9, 1);
	assert_float_equal(reading_unit_factor("usecond", "ns"), 1e3, 1e-9);
	assert_float_equal(reading_unit_factor("%", "%"), 1, 0);
	assert_float_equal(reading_unit_factor("%", "Gbyte/s"), 0, 0);
	assert_float_equal(reading_unit_factor("Mbyte", "Mbyte/s"), 0, 0);
	assert_float_equal(reading_unit_factor("", ""), 1, 0);
}

/* CUTLASS's kernels have names of thousands of characters, which may differ only in the last arguments of their templates. */
static void kernels_with_long_names_are_not_launches_of_one(void **state)
{
	enum { LENGTH = 3000 };
	static char name[LENGTH + 1], text[4 * LENGTH];

	(void)state;
	memset(name, 'k', LENGTH);
	snprintf(text, sizeof text,
		US "\"0\",\"1\",\"app\",\"%s<1>\",\"1\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"0\",\"1.5\"\n"
		   "\"1\",\"1\",\"app\",\"%s<2>\",\"1\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"0\",\"4.5\"\n"
		   "\"2\",\"1\",\"app\",\"%s<2>\",\"1\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"0\",\"7.5\"\n",
		name, name, name);
	one(ncu, text);
	rows(3);
	for (int i = 0; i < 3; i++)
		assert_float_equal(base.row[i].median_ms, (1.5 + 3 * i) / 1e3, 1e-9);
}

/* ---- ncu: tables ----------------------------------------------------------------------------------------------------------- */

#define DETAILS                                                                                                                  \
	"\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\""
#define DETAIL(id, kernel, metric, unit, value)                                                                                  \
	"\"" id "\",\"1\",\"" kernel "\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"S\",\"" metric "\",\"" unit "\",\"" value "\""

static void rows_of_details_end_early(void **state)
{
	static const char *const rules[] = { "", ",\"Rule Name\",\"Rule Type\",\"Rule Description\"",
		",\"Rule Name\",\"Rule Type\",\"Rule Description\",\"Estimated Speedup Type\",\"Estimated Speedup\"" };
	static const char *const ends[] = { "", ",", ",\"\",\"\",\"\"" };
	char text[2000];

	(void)state;
	files("ncu", ncu, "ncu-details-20-columns.csv", "ncu-details-20-columns.csv");
	rows(2);
	has("scale", 1, 0.01235, 0.01235);
	has("reduce", 1, 1.20416, 1.20416);
	for (int r = 0; r < 3; r++)
		for (int e = 0; e < (r == 0 ? 1 : 3); e++) {
			snprintf(text, sizeof text,
				DETAILS "%s\n" DETAIL("0", "k", "Duration", "us", "12.35") "%s\n" DETAIL("0", "k", "Registers",
					"", "12") "%s\n%s" DETAIL("1", "k", "Duration", "ms", "0.5") "%s\n",
				rules[r], ends[e], ends[e],
				r == 2 ? DETAIL("0", "k", "", "",
						 "") ",\"Rule\",\"OPT\",\"Use less, or more\",\"local\",\"12.5\"\n"
				       : "",
				ends[e]);
			one(ncu, text);
			rows(1);
			has("k", 2, (0.01235 + 0.5) / 2, (0.01235 + 0.5) / 2);
		}
}

static void a_time_that_two_sections_have_is_one(void **state)
{
	(void)state;
	one(ncu, DETAILS "\n" DETAIL("0", "k", "Duration", "us", "12.35") "\n" DETAIL("0", "k", "Duration", "us", "12.35") "\n");
	has("k", 1, 0.01235, 0.01235);
}

static void units_may_stand_in_names(void **state)
{
	(void)state;
	one(ncu, "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum [us]\"\n\"0\",\"1\",\"k\",\"12.5\"\n");
	has("k", 1, 0.0125, 0.0125);
	one(ncu, "\"ID\",\"Process ID\",\"Kernel Name\",\"Duration [ms]\"\n\"0\",\"1\",\"k\",\"12.5\"\n");
	has("k", 1, 12.5, 12.5);
	one(ncu,
		"ID,Process ID,Kernel Name,gpu__time_duration.sum\n,,,us\n0,1,k,12.5\n1,1,k,13.5\n"); /* saved again without quotes */
	has("k", 2, 0.013, 0.013);
}

static void lines_of_the_program_lose_no_table(void **state)
{
	static const char *const lines[] = { "==PROF== Profiling \"k\": 0%....50%....100% - 8 passes\n",
		"step 3, loss 0.25, lr 1e-3, a, b, c\n", "\n", "1024,12.5,20.25\n",
		"\"quoted\",\"line\",\"of\",\"the\",\"program\"\n", "it's \"half quoted\n", "\"\n", "\"\",\"\"\n",
		"N,triton (us),torch (us)\n", ",,,,,,,,\n" };
	char text[4000];

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		snprintf(text, sizeof text,
			"%s" RAW "\n%s\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\"\n%s" ONE("0", "k") "\"1.5\"\n%s" ONE(
				"1", "k") "\"2.5\"\n%s%s",
			lines[i], lines[i], lines[i], lines[i], lines[i], "done, all, of, it, is, good");
		assert_string_equal(reading_guess(text, strlen(text), "out"), "ncu");
		one(ncu, text);
		rows(1);
		has("k", 2, 0.002, 0.002);
	}
	/* printed without a final newline */
	one(ncu, US ONE("0", "k") "\"1.5\"\nworking... " ONE("1", "k") "\"2.5\"\n");
	has("k", 2, 0.002, 0.002);
	/* two runs into one file, the second with another column */
	one(ncu, US ONE("0", "k") "\"1.5\"\n==PROF== Disconnected\n" RAW
				  ",\"a__b.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ms\",\"inst\"\n" ONE(
					  "0", "k") "\"2.5\",\"7\"\n");
	has("k", 2, (0.0015 + 2.5) / 2, (0.0015 + 2.5) / 2);
}

static void a_row_of_ncu_that_is_cut_is_not_passed_over(void **state)
{
	(void)state;
	refused(ncu, US ONE("0", "k") "\"1.5\"\n" ONE("1", "k") "\"2.", "", "a:4: the last row is cut");
	refused(ncu, US ONE("0", "k") "\"1.5\"\n\"1\",\"1\",\"app\"\n", "",
		"a:4: has 3 cells, the header has 9; is the file cut off?");
	one(ncu, US ONE("0", "k") "\"1.5\"\n\"1\",\"1\",\"app\"\n" ONE("2", "k") "\"2.5\"\n");
	has("k", 2, 0.002, 0.002);
	says("line 4 is left out: it has 3 whole cells, the header has 9");
}

/* Whatever the order of the columns, a row is read only where it has each cell that is needed. */
static void a_short_row_of_ncu_lacks_its_kernel(void **state)
{
	static char text[70000];
	size_t n = (size_t)snprintf(text, sizeof text,
		"\"ID\",\"Process ID\",\"Metric Value\",\"Metric Unit\",\"Metric Name\",\"Kernel Name\"\n\"0\",\"1\",\"");

	(void)state;
	memset(text + n, 'x', 60000);
	snprintf(text + n + 60000, sizeof text - n - 60000, "\"\n\"1\",\"1\",\"5\",\"us\",\"gpu__time_duration.sum\",\"k\"\n");
	one(ncu, text);
	has("k", 1, 0.005, 0.005);
}

/* ---- triton ---------------------------------------------------------------------------------------------------------------- */

static void columns_of_whole_numbers(void **state)
{
	(void)state;
	files("triton", us, "triton-whole-before.csv", "triton-whole-after.csv");
	rows(4);
	has("triton/M=1024/N=1024", 1, 0.012, 0.018);
	has("triton/M=2048/N=2048", 1, 0.048, 0.072);
	has("torch/M=1024/N=1024", 1, 0.02, 0.02);
	has("torch/M=2048/N=2048", 1, 0.08, 0.08);
	/* names that identify nothing: the two files do */
	both(us, "M,E,mine,yours\n1024,8,12,20\n2048,8,48,80\n", "M,E,mine,yours\n1024,8,12,20\n2048,8,72,80\n");
	rows(4);
	has("mine/M=2048/E=8", 1, 0.048, 0.072);
	has("yours/M=1024/E=8", 1, 0.02, 0.02);
	/* in another order, and with a row that only one file has */
	both(us, "M,mine\n1024,12\n2048,48\n", "M,mine\n4096,99\n2048,72\n1024,12\n");
	reading_has_row(&base, "mine/M=2048", 1, 0.048, 1e-5);
	reading_has_row(&target, "mine/M=2048", 1, 0.072, 1e-5);
	/* a file with more sizes does not identify a column */
	both(us, "M,N,mine\n1024,512,1.5\n", "M,N,mine\n1024,512,2.5\n1024,1024,3.5\n");
	reading_has_row(&base, "mine/M=1024/N=512", 1, 0.0015, 1e-5);
	reading_has_row(&target, "mine/M=1024/N=1024", 1, 0.0035, 1e-5);
}

static void ambiguous_columns_need_an_option(void **state)
{
	static const char text[] = "M,wave,mine\n1024,3,12\n2048,6,48\n";
	struct reading_options how = us;

	(void)state;
	refused(us, text, text,
		"a:1: column 2, `wave`, has only whole numbers, which may be sizes or results; name the result columns with "
		"--results");
	how.results = "mine";
	one(how, text);
	rows(2);
	has("mine/M=1024/wave=3", 1, 0.012, 0.012);
	how.results = "wave,mine";
	one(how, text);
	rows(4);
	has("wave/M=2048", 1, 0.006, 0.006);
	how.results = "wave";
	one(how, text);
	rows(2);
	says("column `mine` is left out: --results does not name it");
	how.results = "wawe";
	refused(how, text, text, "a:1: has no column `wawe`, which --results names");
	how.results = "M";
	refused(how, text, text, "names the first column");
	one(us, "M,wave (us),mine (us)\n1024,3,12\n");
	has("wave/M=1024", 1, 0.003, 0.003);
}

static void a_unit_has_many_spellings(void **state)
{
	static const char *const names[] = { "triton (us)", "triton(us)", "triton [us]", "triton[us]", "triton {us}",
		"triton, us", "triton_us", "triton-us", "triton_(us)", "triton ( us )", "triton (in us)", "triton in us",
		"triton_in_us", "triton (\u00b5s)", "triton (\u03bcs)", "triton_\u03bcs", "triton (usec)",
		"triton (microseconds)", "triton us" };
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(text, sizeof text, "N,\"%s\"\n1024,12.5\n", names[i]);
		assert_string_equal(reading_guess(text, strlen(text), "out.csv"), "triton");
		one(triton, text);
		rows(1);
		has("triton/N=1024", 1, 0.0125, 0.0125);
		one(us, text);
		has("triton/N=1024", 1, 0.0125, 0.0125);
		refused((struct reading_options){ .format = "triton", .unit = "ms" }, text, text,
			"but --unit is ms; leave --unit out");
	}
	files("triton", triton, "triton-greek-mu.csv", "triton-micro-sign.csv");
	has("torch/N=1024", 1, 0.02025, 0.02025);
	files("triton", triton, "triton-unit-no-space.csv", "triton-unit-brackets.csv");
	has("torch/N=1024", 1, 0.02025, 0.02025);
	one(triton, "N,triton_(ms)\n1024,12.5\n");
	has("triton/N=1024", 1, 12.5, 12.5);
	one(triton, "N,triton (TFLOPS),torch_GB/s\n1024,125.0,100.0\n");
	has("triton/N=1024/per-TFLOP", 1, 8, 8);
	has("torch/N=1024/per-GB", 1, 10, 10);
	one((struct reading_options){ .format = "triton", .unit = "usec" },
		"N,triton (us)\n1024,12.5\n"); /* the same unit contradicts nothing */
	refused(us, "N,triton (us),torch (ms)\n1,2,3\n", "", "a:1: column 3, `torch (ms)`, is in ms, but --unit is us");
}

static void columns_without_times_are_skipped_and_listed(void **state)
{
	static const char *const names[] = { "speedup (x)", "speedup", "triton / torch (%)", "ratio (us)", "triton_over_torch",
		"calls", "stddev (us)", "triton stddev", "percentage", "Instances", "hit%", "count" };
	char text[200], note[100];

	(void)state;
	files("triton", triton, "triton-unit-other-column.csv", "triton-unit-other-column.csv");
	rows(2);
	has("triton/N=1024", 1, 0.0125, 0.0125);
	says("column `speedup (x)` is left out: `x` is not a unit of time or rate");
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(text, sizeof text, "N,triton,%s\n1024,12.5,1.62\n", names[i]);
		snprintf(note, sizeof note, "column `%s` is left out", names[i]);
		one(us, text);
		rows(1);
		has("triton/N=1024", 1, 0.0125, 0.0125);
		says(note);
	}
	one(triton, "N,triton (us),torch\n1024,12.5,20.25\n");
	rows(1);
	says("column `torch` is left out: it has no unit; give one with --unit");
	one(us, "N,triton (us),torch\n1024,12.5,20.25\n");
	has("torch/N=1024", 1, 0.02025, 0.02025);
	refused(us, "N,calls,speedup (x)\n1024,10,1.5\n", "", "which may be sizes or results");
	refused(us, "N,speedup,stddev\n1024,10,1.5\n", "", "has no column of times or rates");
	refused(triton, "N,triton (us),triton_us\n1,2,3\n", "", "a:1: columns 2 and 3 are both results of `triton`");
	refused(triton, "N,triton (us),triton (us)\n1,2,3\n", "", "a:1: columns 2 and 3 are both called `triton (us)`");
}

static void sizes_have_units(void **state)
{
	(void)state;
	files("triton", triton, "triton-unit-of-x.csv", "triton-unit-of-x.csv");
	rows(1);
	has("triton/M_(tokens)=1024", 1, 0.0125, 0.0125);
	one(triton, "M (tokens),K [bytes],triton (us)\n1024,64,12.5\n");
	has("triton/M_(tokens)=1024/K_[bytes]=64", 1, 0.0125, 0.0125);
	one(us, "size (MiB),triton\n1,12.5\n");
	has("triton/size_(MiB)=1", 1, 0.0125, 0.0125);
}

static void a_row_without_a_time_costs_that_row(void **state)
{
	static const struct {
		const char *cell, *why;
	} cases[] = { { "0.0", "0 is neither a time nor a rate" }, { "inf", "`inf` is not a number" },
		{ "nan", "`nan` is not a number" }, { "OOM", "`OOM` is not a number" }, { "", "its cell is empty" },
		{ "-1", "-1 is neither a time nor a rate" }, { "1e300", "1e+300 us is not a time" }, { "12,5", "" } };
	char text[200];

	(void)state;
	files("triton", triton, "triton-row-zero.csv", "triton-row-zero.csv");
	rows(5);
	has("triton/N=4096", 1, 0.05, 0.05);
	has("torch/N=2048", 1, 0.0405, 0.0405);
	lacks("triton/N=2048", "0 is neither a time nor a rate", 3);
	files("triton", triton, "triton-row-inf.csv", "triton-row-inf.csv");
	rows(5);
	has("triton/N=4096/per-TFLOP", 1, 1e3 / 150, 1e3 / 150);
	lacks("triton/N=2048/per-TFLOP", "`inf` is not a number", 3);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		snprintf(text, sizeof text, "N,triton (us)\n1024,12.5\n2048,%s\n4096,50\n", cases[i].cell);
		one(triton, text);
		rows(2);
		has("triton/N=4096", 1, 0.05, 0.05);
		if (cases[i].why[0])
			lacks("triton/N=2048", cases[i].why, 3);
		else
			lacks("line_3", "it has 3 cells, the header has 2", 3);
	}
	one(triton, "N,triton (us)\r\n1024,\"12.5\"x\r\n2048,25\r\n");
	rows(1);
	lacks("line_2", "text follows a closing quote; double a quote that belongs to a cell", 2);
}

static void one_number_in_two_spellings_is_one_key(void **state)
{
	static const char *const spellings[] = { "0.1", "0.100000", "1e-1", "0.10", ".1", "+0.1", "1.0E-1", " 0.1" };
	char text[200];

	(void)state;
	files("triton", triton, "keys-short.csv", "keys-long.csv");
	rows(2);
	has("triton/sparsity=0.1", 1, 1, 1.5);
	has("triton/sparsity=0.25", 1, 2, 2);
	for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
		snprintf(text, sizeof text, "s,triton (ms)\n%s,2.5\n", spellings[i]);
		one(triton, text);
		has("triton/s=0.1", 1, 2.5, 2.5);
	}
	one(triton, "M,triton (ms)\n4096.0,2.5\n8.192e3,3.5\n");
	has("triton/M=4096", 1, 2.5, 2.5);
	has("triton/M=8192", 1, 3.5, 3.5);
	one(triton, "id,triton (ms)\n12345678901234567,2.5\n12345678901234568,3.5\n"); /* more digits than a double has */
	rows(2);
	one(torchao, "name,m,k,n,ref_time_s,time_s\na,1024.0,64,6.4e1,0.002,0.001\n");
	has("a/m1024/k64/n64/ref", 1, 2, 2);
	/* what is not a number stays as it is */
	one(triton, "layout,triton (ms)\n0x10,2.5\nv1.10,3.5\n");
	has("triton/layout=0x10", 1, 2.5, 2.5);
	has("triton/layout=v1.10", 1, 3.5, 3.5);
}

/* ---- unknown formats
 * ------------------------------------------------------------------------------------------------------------ */

static void a_table_is_known_by_positive_marks(void **state)
{
	static const char *const known[] = { "size,Triton,Torch\n1,2,3\n", "N,naive (ms),mine (ms)\n1,2,3\n",
		"M,N,cublas,triton\n1,2,3,4\n" };
	static const char *const unknown[] = {
		"kernel,grid,avg_us,calls\nscale,132,12.35,10\n",
		"a,b\n1,2\n",
		"date,open,close\n2024-01-01,1.5,2.5\n",
		"Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n1,2,3,4,5,6,7,8,k\n",
		"name,iterations,real_time,cpu_time,time_unit,bytes_per_second\nBM,1,2,3,ns,\n",
		"command,mean,stddev,median,user,system,min,max\nls,1,2,3,4,5,6,7\n",
		"Benchmark,Device,Skipped,Samples,CPU Time (sec),Noise (%),GPU Time (sec)\nb,0,No,3,1,2,3\n",
		"\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n",
		"{\"results\":[{\"name\":\"a\",\"ms\":1}]}",
		"{\"benchmarks\":[{\"name\":\"a\",\"stats\":{\"mean\":1}}],\"machine\":{}}",
		"{\"context\":\"of a story\",\"rows\":[]}",
		"{\"cells\":[{\"cell_type\":\"code\"}]}",
		"[{\"name\":\"a\",\"ms\":1}]",
		"x;y;z\n1;2;3\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		assert_string_equal(reading_guess(known[i], strlen(known[i]), "out.csv"), "triton");
	for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
		const char *guess = reading_guess(unknown[i], strlen(unknown[i]), "out.csv");

		if (guess)
			fail_msg("%s is taken for %s", unknown[i], guess);
	}
}

static void a_count_is_no_time_because_a_unit_is_given(void **state)
{
	struct buf text;

	(void)state;
	reading_file_load("unknown.csv", &text);
	assert_null(reading_guess(text.data, text.len, "unknown.csv"));
	one(us, text.data);
	rows(2);
	has("avg/kernel=scale/grid=132", 1, 0.01235, 0.01235);
	has("avg/kernel=reduce/grid=264", 1, 1.20416, 1.20416);
	says("column `calls` is left out: by its name (calls) it is not a time");
	buf_fini(&text);
	one(us, "kernel,avg,instances,stddev\nscale,12.35,10,0.5\n");
	rows(1);
	has("avg/kernel=scale", 1, 0.01235, 0.01235);
}

static void bytes_and_ends_of_lines(void **state)
{
	static const char wide[] = "\xff\xfeN\0,\0";
	struct fw_err err = { 0 };
	struct reading r;
	char text[70000];

	(void)state;
	one(triton, "\xef\xbb\xbfN,triton (us)\r\n1024,12.5\r\n");
	has("triton/N=1024", 1, 0.0125, 0.0125);
	assert_int_equal(reading_parse(&(struct reading_options){ .format = "triton", .unit = "", .time = "" }, wide,
				 sizeof wide - 1, "w", &r, &err),
		-1);
	assert_non_null(strstr(err.text, "w:1:1: is not UTF-8 text but UTF-16"));
	refused(triton, "N,triton (us)\n1024,\xff\n", "", "a:2:6: is not UTF-8 text");
	refused(triton, "", "", "is empty");
	refused(triton, "N,triton (us)\n", "", "holds no measured row");
	refused(ncu, US, "", "holds no measured row");
	memset(text, '1', sizeof text);
	memcpy(text, "N,triton (us)\n1024,", 19);
	memcpy(text + sizeof text - 12, "\n2048,12.5\n", 12);
	one(triton, text);
	rows(1);
	lacks("line_2", "a row is longer than 64 KiB", 2);
}

/* ---- torchao --------------------------------------------------------------------------------------------------------------- */

static void a_ratio_is_no_time_however_its_name_ends(void **state)
{
	(void)state;
	files("torchao", torchao, "torchao-ratio.csv", "torchao-ratio.csv");
	rows(4);
	has("square/m4096/k4096/n4096/ref", 1, 0.2, 0.2);
	has("square/m4096/k4096/n4096/fp8", 1, 0.1, 0.1);
	has("wide/m4096/k4096/n8192/ref", 1, 0.4, 0.4);
	has("wide/m4096/k4096/n8192/fp8", 1, 0.2, 0.2);
	says("column `ratio_of_time_s` is left out: by its name it is not a time: ratio");
	one(torchao, "name,M,K,N,ref_time_s,time_s,ref_over_time_s,speedup_time_s\na,1,2,3,0.2,0.1,inf,nan\n");
	rows(2);
	one(torchao, "name,M,K,N,ref_time_s,time_s\na,1,2,3,0.2,inf\nb,1,2,3,-1,0.1\nc,1,2,3,,0\n");
	rows(2);
	lacks("a/m1/k2/n3", "`inf` is not a number", 2);
	lacks("b/m1/k2/n3/ref", "-1 is neither a time nor a rate", 3);
	lacks("c/m1/k2/n3/ref", "its cell is empty", 4);
	lacks("c/m1/k2/n3", "0: not measured", 4);
}

static void a_roofline_has_measured_and_modelled_columns(void **state)
{
	(void)state;
	files("torchao", torchao, "torchao-roofline.csv", "torchao-roofline.csv");
	rows(8);
	has("m1024/k2048/n4096/b_bf16_gemm", 1, 0.021, 0.021);
	has("m1024/k2048/n4096/b_fp8_gemm", 1, 0.015, 0.015);
	has("m1024/k2048/n4096/b_bf16_e2e", 1, 0.03, 0.03);
	has("m1024/k2048/n4096/b_fp8_e2e", 1, 0.02, 0.02);
	has("m2048/k2048/n4096/b_fp8_e2e", 1, 0.04, 0.04);
	says("column `r_bf16_gemm_s` is left out: it is a model's and not measured");
}

static void a_training_table_has_three_times_a_side(void **state)
{
	static const char key[] =
		"attn.w0/m16384/k1024/n8192/torch.bfloat16/tensorwise/i:dyn_ten,w:dyn_ten,g:dyn_ten/max-autotune/cuda/use_fast_accum";
	static const struct {
		const char *series;
		double ms, tflops;
	} rows_of[] = { { "forward", 0.5, 549.755813888 }, { "backward", 1, 549.755813888 }, { "total", 1.5, 549.755813888 },
		{ "reference_forward", 0.8, 343.59738368 }, { "reference_backward", 1.6, 343.59738368 },
		{ "reference_total", 2.4, 343.59738368 } };
	char full[300];

	(void)state;
	files("torchao", torchao, "torchao-training-ms.csv", "torchao-training-ms.csv");
	rows(6);
	for (int i = 0; i < 6; i++) {
		snprintf(full, sizeof full, "%s/%s", key, rows_of[i].series);
		has(full, 1, rows_of[i].ms, rows_of[i].ms);
		assert_float_equal(reading_find(&base, full)->tflops, rows_of[i].tflops, 1e-6);
	}
	/* a failed case is reported, and has no time */
	one(torchao, "name,m,k,n,forward_time_ms,total_time_ms,failure\na,8,8,8,0,0,out of memory\nb,8,8,8,1,3,\n");
	has("b/m8/k8/n8/total", 1, 3, 3);
	assert_string_equal(reading_find(&base, "a/m8/k8/n8/total")->failure, "out of memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_report_of_two_locales_has_the_same_times, tear_down),
		cmocka_unit_test_teardown(a_number_is_read_as_its_file_shows, tear_down),
		cmocka_unit_test_teardown(malformed_numbers_are_not_guessed, tear_down),
		cmocka_unit_test_teardown(an_undecided_time_is_refused_with_the_way_out, tear_down),
		cmocka_unit_test_teardown(an_invalid_time_is_noted, tear_down),
		cmocka_unit_test_teardown(launches_that_differ_stay_separate, tear_down),
		cmocka_unit_test_teardown(both_files_give_a_launch_the_same_name, tear_down),
		cmocka_unit_test_teardown(the_warm_up_is_cut, tear_down),
		cmocka_unit_test_teardown(launches_are_chosen, tear_down),
		cmocka_unit_test_teardown(metrics_are_read_on_request, tear_down),
		cmocka_unit_test_teardown(units_of_metrics_are_converted, tear_down),
		cmocka_unit_test_teardown(kernels_with_long_names_are_not_launches_of_one, tear_down),
		cmocka_unit_test_teardown(rows_of_details_end_early, tear_down),
		cmocka_unit_test_teardown(a_time_that_two_sections_have_is_one, tear_down),
		cmocka_unit_test_teardown(units_may_stand_in_names, tear_down),
		cmocka_unit_test_teardown(lines_of_the_program_lose_no_table, tear_down),
		cmocka_unit_test_teardown(a_row_of_ncu_that_is_cut_is_not_passed_over, tear_down),
		cmocka_unit_test_teardown(a_short_row_of_ncu_lacks_its_kernel, tear_down),
		cmocka_unit_test_teardown(columns_of_whole_numbers, tear_down),
		cmocka_unit_test_teardown(ambiguous_columns_need_an_option, tear_down),
		cmocka_unit_test_teardown(a_unit_has_many_spellings, tear_down),
		cmocka_unit_test_teardown(columns_without_times_are_skipped_and_listed, tear_down),
		cmocka_unit_test_teardown(sizes_have_units, tear_down),
		cmocka_unit_test_teardown(a_row_without_a_time_costs_that_row, tear_down),
		cmocka_unit_test_teardown(one_number_in_two_spellings_is_one_key, tear_down),
		cmocka_unit_test_teardown(a_table_is_known_by_positive_marks, tear_down),
		cmocka_unit_test_teardown(a_count_is_no_time_because_a_unit_is_given, tear_down),
		cmocka_unit_test_teardown(bytes_and_ends_of_lines, tear_down),
		cmocka_unit_test_teardown(a_ratio_is_no_time_however_its_name_ends, tear_down),
		cmocka_unit_test_teardown(a_roofline_has_measured_and_modelled_columns, tear_down),
		cmocka_unit_test_teardown(a_training_table_has_three_times_a_side, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
