/* Terminal output: columns that line up, comparisons as tables with warnings, and foreign text that cannot steer a terminal. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/internal.h"

static char *text; /* the last printed text */
static size_t text_len;

static FILE *open_text(void)
{
	free(text);
	text = NULL;
	FILE *f = open_memstream(&text, &text_len);
	assert_non_null(f);
	return f;
}

static int free_text(void **state)
{
	(void)state;
	free(text);
	text = NULL;
	return 0;
}

static void test_columns(void **state)
{
	(void)state;
	static const char *const titles[] = { "name", ">n", "last" };
	struct table t;
	FILE *f = open_text();
	table_init(&t, 3, titles);
	table_cell(&t, "%s", "a");
	table_cell(&t, "%d", 5);
	table_cell(&t, "%s", "x");
	table_cell(&t, "%s", "\u00fcber");
	table_cell(&t, "%d", 12345);
	table_cell(&t, "%s", "");
	table_print(&t, f);
	table_fini(&t);
	fclose(f);
	assert_string_equal(text, "  name      n  last\n"
				  "  a         5  x\n"
				  "  \u00fcber  12345\n");
}

static void test_hostile_cell(void **state)
{
	(void)state;
	static const char *const titles[] = { "name" };
	struct table t;
	FILE *f = open_text();
	table_init(&t, 1, titles);
	table_cell(&t, "%s", "\033[31mred\n\302\233x \342\200\256evil \377");
	table_print(&t, f);
	table_fini(&t);
	fclose(f);
	assert_string_equal(text, "  name\n  \\x1b[31mred\\x0a\\x9bx \\u202eevil \357\277\275\n");
}

static void test_plain_lines(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	static const char log[] = "cc -c a.c\n\033]0;title\007\ta\0b\r\n";
	FILE *f = open_text();
	assert_int_equal(plain_print_lines(f, log, sizeof log - 1, &err), 0);
	fclose(f);
	assert_string_equal(text, "cc -c a.c\n\\x1b]0;title\\x07\ta\\x00b\\x0d\n");
}

static void report(const char *json)
{
	json_error_t where;
	json_t *comparison = json_loads(json, 0, &where);
	if (!comparison)
		fail_msg("%s", where.text);
	FILE *f = open_text();
	report_comparison(comparison, f);
	fclose(f);
	json_decref(comparison);
}

#define HEAD                                                                                                                     \
	"{\"id\":17,\"repo\":\"kernels\",\"branch\":\"ada/wider\",\"suite\":\"ffa\",\"base\":{\"commit\":\"0123456789abcdef\"}," \
	"\"target\":{\"commit\":\"fedcba9876543210\"},\"runs\":6,\"gpu_s\":58.2,\"isolation\":\"bwrap\","
#define CELL(group, direction, name, rest)                                                                                       \
	"{\"cell\":\"" name "/" direction "\",\"group\":\"" group "\",\"direction\":\"" direction "\",\"runs\":4," rest "}"
#define TIMED                                                                                                                    \
	"\"base\":{\"median_ms\":1.71,\"tflops\":643.12},\"target\":{\"median_ms\":1.75,\"tflops\":628.6},"                      \
	"\"change_pct\":-2.26,\"ci_low_pct\":-2.62,\"ci_high_pct\":-1.9,\"threshold_pct\":1.5"

static void test_comparison(void **state)
{
	(void)state;
	report(HEAD "\"verdict\":\"regression\",\"identical_by\":null,\"cells\":[" CELL("dense", "forward", "d/full",
		"\"verdict\":\"regression\",\"borderline\":true,\"flags\":[\"borderline\"],\"phases\":[{\"phase\":\"list\","
		"\"base_ms\":0.1,\"target_ms\":0."
		"1,\"change_pct\":0},{\"phase\":\"run\",\"base_ms\":1.61,\"target_ms\":1.65,\"change_pct\":-2.42},{\"phase\":"
		"\"x\",\"base_ms\":null,\"target_ms\":1}]," TIMED) "," CELL("dense", "backward", "d/full",
		"\"verdict\":\"unchanged\",\"tail\":true,\"flags\":[\"tail\"]," TIMED) "," CELL("block_sparse", "forward",
		"s/r0.1",
		"\"verdict\":\"failed\",\"failure\":\"wrong\",\"reason\":\"worst O[17,3,64]\",\"base\":{},\"target\":null,"
		"\"change_pct\":null") "," CELL("linear", "dgrad", "l/1", "\"verdict\":\"undecided\"," TIMED) "," CELL("dense",
		"forward", "d/causal", "\"verdict\":\"improvement\"," TIMED) "," CELL("dense", "forward", "d/varlen",
		"\"verdict\":\"regression\",\"phases\":[{\"phase\":\"list\",\"base_ms\":0.01,\"target_ms\":0.02},"
		"{\"phase\":\"run\",\"base_ms\":1.61,\"target_ms\":1.61}]," TIMED) "]}");
	assert_non_null(strstr(text, "C17  kernels  ada/wider  ffa  0123456789ab..fedcba987654  verdict: regression\n"));
	/* both dense forward cells are in one table; tables are in the order of their first cells */
	const char *dense = strstr(text, "\ndense forward\n"), *backward = strstr(text, "\ndense backward\n"),
		   *sparse = strstr(text, "\nblock-sparse forward\n"), *other = strstr(text, "\nlinear dgrad\n");
	assert_true(dense && backward && sparse && other);
	assert_true(dense < backward && backward < sparse && sparse < other);
	assert_null(strstr(dense + 1, "\ndense forward\n"));
	const char *causal = strstr(text, "d/causal/forward");
	assert_true(causal > dense && causal < backward);
	assert_non_null(strstr(text, "  d/full/forward     1.7100    643.1     1.7500    628.6  -2.26 %  -2.62 .. -1.90     4  "
				     "regression   borderline\n"));
	assert_non_null(strstr(text, "unchanged  tail\n"));
	assert_non_null(strstr(text, "failed: wrong\n"));
	assert_non_null(strstr(text, "6 runs, device held 58.2 s, isolation bwrap\n"));
	assert_non_null(strstr(text,
		"WARNING d/full/forward lost 2.26 % TFLOP/s (threshold 1.50 %), most of it in run (-2.42 %), borderline\n"));
	assert_non_null(strstr(text, "WARNING d/full/backward has more slow calls than its base\n"));
	assert_non_null(strstr(text, "WARNING s/r0.1/forward failed: wrong: worst O[17,3,64]\n"));
	assert_non_null(strstr(text,
		"WARNING l/1/dgrad undecided: its interval lies beyond the threshold, but too few runs agree to call it a slowdown\n"));
	/* a phase that explains less than half of the regression is not named */
	assert_non_null(strstr(text, "WARNING d/varlen/forward lost 2.26 % TFLOP/s (threshold 1.50 %)\n"));
	assert_null(strstr(text, "WARNING d/causal"));
	/* -2.26 is printed with medians whose quotient is -2.29 */
	assert_non_null(strstr(text, "\nchange: the middle of paired ratios\n"));
	assert_null(strstr(text, "nan"));
}

static void test_sparse(void **state)
{
	(void)state;
	report(HEAD
		"\"verdict\":\"unchanged\",\"long_over_short\":[{\"title\":\"banded, keep 0.1, block 64\",\"direction\":\"forward\","
		"\"shortest\":512,\"longest\":8192,\"base\":null,\"target\":3.456}],\"cells\":[" CELL("block_sparse", "forward",
			"s/r0.1",
			"\"sparsity\":{\"base\":{\"text\":\"b\",\"contradiction\":null},\"target\":{\"text\":\"fully "
			"masked blocks 720/800 (90 %)\",\"contradiction\":\"claims 90 active blocks, the mask has 80\"}},"
			"\"over_baseline\":{\"base\":null,\"target\":7.5,\"ideal\":10},\"verdict\":\"unchanged\"," TIMED) "]}");
	const char *table = strstr(text, "\nspeedup of masks\n");
	assert_non_null(table);
	const char *row = strstr(table, "  s/r0.1/forward  fully masked blocks 720/800 (90 %)  ");
	assert_non_null(row);
	assert_non_null(strstr(row, "  7.50      10.00\n"));
	assert_non_null(strstr(text, "WARNING s/r0.1/forward: the target claims 90 active blocks, the mask has 80\n"));
	assert_non_null(
		strstr(text, "long over short: banded, keep 0.1, block 64 forward, throughput at 8192 over 512: base -, target "
			     "3.46\n"));
}

#define RAN(config)         "{\"median_ms\":1.7,\"provider\":\"hopper\",\"configuration\":\"" config "\"}"
#define SIDES(base, target) "\"verdict\":\"unchanged\",\"base\":" base ",\"target\":" target

/* Configurations of kernels: each is printed once, and a change names both sides. */
static void test_configurations(void **state)
{
	(void)state;
	report(HEAD "\"verdict\":\"unchanged\",\"cells\":[" CELL(
		"dense", "forward", "d/full", SIDES(RAN("M=128"), RAN("M=128"))) "," CELL("dense", "forward", "d/causal",
		SIDES(RAN("M=128"), RAN("M=64 \\u001b"))) "," CELL("dense", "backward", "d/full",
		SIDES(RAN("M=128"), RAN("M=128"))) "," CELL("dense", "backward", "d/causal",
		SIDES(RAN("M=128"), RAN("M=64 \\u001b"))) "," CELL("dense", "forward", "d/varlen",
		SIDES("{\"provider\":\"cudnn\",\"configuration\":\"E=3\"}", RAN("M=128"))) "," CELL("dense", "forward", "d/none",
		"\"verdict\":\"failed\",\"base\":null,\"target\":{}") "]}");
	assert_non_null(strstr(text, "\nconfiguration: M=128 in 2 cells\n"));
	assert_non_null(strstr(text, "\nconfiguration: M=128 -> M=64 \\x1b in 2 cells, first d/causal/forward\n"));
	assert_non_null(strstr(text, "\nconfiguration: cudnn E=3 -> hopper M=128 in 1 cell, first d/varlen/forward\n"));
	assert_null(strstr(text, "paired ratios")); /* without a change there is nothing to explain */
	const char *last = strstr(text, "configuration: cudnn");
	assert_null(strstr(last + 1, "configuration:"));
}

static void test_identical(void **state)
{
	(void)state;
	report(HEAD "\"verdict\":\"identical\",\"identical_by\":\"tree\",\"cells\":[" CELL(
		"dense", "forward", "d/full", "\"verdict\":\"identical\"") "]}");
	assert_non_null(strstr(text, "verdict: identical, same code by tree\n"));
	assert_null(strstr(text, "dense forward"));
	assert_null(strstr(text, "WARNING"));
}

static void test_hostile_comparison(void **state)
{
	(void)state;
	report("{\"id\":1,\"repo\":\"a\\u001b[2Jb\",\"verdict\":\"failed\",\"cells\":[" CELL("dense", "forward", "x\\u202e",
		"\"verdict\":\"failed\",\"failure\":\"build\",\"reason\":\"\\u0007\\nWARNING forged\"") "]}");
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\007'));
	assert_null(strstr(text, "\342\200\256"));
	assert_null(strstr(text, "\nWARNING forged"));
	assert_non_null(strstr(text, "\\x0aWARNING forged"));
	report("{}");
	assert_non_null(strstr(text, "0 runs, device held 0.0 s\n"));
}

static void test_values(void **state)
{
	(void)state;
	json_t *o =
		json_loads("{\"t\":\"x\",\"n\":1.5,\"i\":7,\"z\":null,\"branch\":\"a%2Bb\",\"branch_display\":\"a+b\"}", 0, NULL);
	assert_string_equal(value_text(o, "t"), "x");
	assert_string_equal(value_text(o, "z"), "");
	assert_string_equal(value_text(o, "n"), "");
	assert_true(value_number(o, "n") == 1.5);
	assert_true(value_number(o, "i") == 7);
	assert_true(isnan(value_number(o, "z")) && isnan(value_number(o, "missing")));
	assert_int_equal(value_integer(o, "i"), 7);
	assert_int_equal(value_integer(o, "z"), 0);
	assert_string_equal(value_branch(o), "a+b");
	json_object_del(o, "branch_display");
	assert_string_equal(value_branch(o), "a%2Bb");
	assert_string_equal(value_text(NULL, "t"), "");
	json_decref(o);
}

/* A family that is shown by bytes prints no FLOP rate; one that is shown by neither prints no speed. */
static void a_loss_names_the_shown_metric(void **state)
{
	static const char form[] = "{\"cells\":[{\"cell\":\"norm/a\",\"verdict\":\"regression\",\"flags\":[\"sustained\"],"
				   "\"decided_by\":\"sustained\",\"change_pct\":-0.2,\"base\":{%s},\"target\":{},"
				   "\"sustained\":{\"change_pct\":-8}}]}";
	static const char *const said[][2] = { { "\"tflops\":600", "norm/a lost 8.00 % TFLOP/s once" },
		{ "\"gb_s\":3000", "norm/a lost 8.00 % GB/s once" }, { "", "norm/a lost 8.00 % speed once" } };
	char body[512];
	(void)state;
	for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
		snprintf(body, sizeof body, form, said[i][0]);
		json_t *comparison = json_loads(body, 0, NULL);
		FILE *out = open_text();
		assert_non_null(comparison);
		footnotes_print(comparison, out);
		fclose(out);
		json_decref(comparison);
		assert_non_null(strstr(text, said[i][1]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_hostile_cell),
		cmocka_unit_test(test_plain_lines),
		cmocka_unit_test(test_comparison),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_configurations),
		cmocka_unit_test(test_identical),
		cmocka_unit_test(test_hostile_comparison),
		cmocka_unit_test(test_values),
		cmocka_unit_test(a_loss_names_the_shown_metric),
	};
	return cmocka_run_group_tests(tests, NULL, free_text);
}
