/* Limits of readers, outputs of several files, figures that are no times, and the files of profile_ffa. */
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

static struct reading all;

static int tear_down(void **state)
{
	(void)state;
	reading_fini(&all);
	return 0;
}

static int parse(const char *format, const char *text, struct reading *out, struct fw_err *err)
{
	return reading_parse(
		&(struct reading_options){ .format = format, .unit = "", .time = "" }, text, strlen(text), "out", out, err);
}

static void one_of(const char *text, struct reading *out)
{
	struct fw_err err = { 0 };

	if (parse("flopwatch", text, out, &err) != 0)
		fail_msg("%s", err.text);
}

static void outputs_of_several_files(void **state)
{
	struct reading more;
	struct fw_err err = { 0 };

	(void)state;
	one_of("{\"cell\":\"a\",\"ms\":1}\n{\"cell\":\"none\",\"ms\":0}\n", &more);
	assert_int_equal(reading_join(&all, &more, "first", &err), 0);
	assert_int_equal(more.n_rows, 0);
	one_of("{\"cell\":\"b\",\"ms\":[2,4,3]}\n{\"cell\":\"also none\",\"ms\":-1}\n", &more);
	assert_int_equal(reading_join(&all, &more, "second", &err), 0);
	assert_int_equal(all.n_rows, 2);
	assert_int_equal(all.n_left, 2);
	reading_has_row(&all, "a", 1, 1, 1e-9);
	reading_has_row(&all, "b", 3, 3, 1e-9);
	reading_lacks(&all, "also_none", "-1 ms is not a time");
	one_of("{\"cell\":\"c\",\"ms\":1}\n{\"cell\":\"a\",\"ms\":1}\n", &more);
	assert_int_equal(reading_join(&all, &more, "third", &err), -1);
	assert_string_equal(err.text, "third: a was already in another output");
}

static void too_many_rows(void **state)
{
	struct reading r;
	struct fw_err err = { 0 };
	struct buf text;

	(void)state;
	buf_init(&text, 4 << 20);
	for (int i = 0; i <= READING_ROWS_MAX; i++)
		buf_printf(&text, "{\"cell\":\"c%d\",\"ms\":1}\n", i);
	assert_int_equal(parse("flopwatch", text.data, &r, &err), -1);
	assert_non_null(strstr(err.text, "4096 rows"));
	buf_clear(&text);
	for (int i = 0; i <= READING_ROWS_MAX; i++)
		buf_printf(&text, "{\"cell\":\"c%d\",\"ms\":0}\n", i);
	err_clear(&err);
	assert_int_equal(parse("flopwatch", text.data, &r, &err), -1);
	assert_non_null(strstr(err.text, "4096 rows without a time; split the file"));
	buf_fini(&text);
}

/* Every statement has the file, and the line or position if there is one. */
static void refusals_name_the_place(void **state)
{
	static const struct {
		const char *format, *text, *why;
	} cases[] = {
		{ "torchao", "shape,fp8_time_in_ms,fp8_time_in_ms\n1,2,3\n", "out:1" },
		{ "ncu",
			"\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\"\n\"0\",\"1\",\"k\",\"Duration\",\"us\"\n",
			"out:1: has a column Metric Name and no Metric Value" },
		{ "ncu",
			"\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\"0\",\"1\",\"k\",\"Duration\",\"us\",1",
			"out:2: the last row is cut; let ncu write it again" },
		{ "triton", "N,a (furlong)\n1,2\n", "out:1" },
		{ "triton", "N,a (ms),a (ms)\n1,2,3\n", "out:1" },
		{ "nvbench", "{\"benchmarks\":[{\"name\":\"b\",\"states\":[7]}]}", "out: benchmarks[0].states" },
		{ "hyperfine", "{\"results\":[{\"command\":7}]}", "out: results[0]" },
		{ "jmh", "[{\"benchmark\":7}]", "out: " },
		{ "criterion", "{\"reason\":\"benchmark-complete\",\"id\":7}\n", "out:1" },
		{ "pytest-benchmark", "{\"benchmarks\":[7]}", "out: benchmarks[0]" },
		{ "asv", "{\"result_columns\":[\"result\"],\"results\":7}", "out: " },
		{ "flopwatch", "{\"cell\":\"a\",\"ms\":1e-300}\n", "out: holds no measured row" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct fw_err err = { 0 };
		struct reading r;

		if (parse(cases[i].format, cases[i].text, &r, &err) == 0)
			fail_msg("%s accepts: %s", cases[i].format, cases[i].text);
		if (err.code != ERR_INVALID || strncmp(err.text, cases[i].why, strlen(cases[i].why)) != 0)
			fail_msg("%s: %s, not %s", cases[i].format, err.text, cases[i].why);
	}
}

static void figures_are_found_in_any_unit(void **state)
{
	struct reading_figure like = { .key = "k", .metric = "bandwidth", .unit = "MB/s" };
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(reading_add_figure(&all, "k", "bandwidth", "GB/s", 2, "out", &err), 0);
	assert_int_equal(reading_add_figure(&all, "k", "registers", "", 168, "out", &err), 0);
	assert_non_null(reading_find_figure(&all, &like));
	assert_true(reading_unit_factor("GB/s", "MB/s") == 1000);
	snprintf(like.unit, sizeof like.unit, "ms");
	assert_null(reading_find_figure(&all, &like)); /* another quantity */
	snprintf(like.metric, sizeof like.metric, "registers");
	like.unit[0] = '\0';
	assert_non_null(reading_find_figure(&all, &like));
	snprintf(like.key, sizeof like.key, "other");
	assert_null(reading_find_figure(&all, &like));
}

static void notes_end_with_their_number(void **state)
{
	(void)state;
	for (int i = 0; i < 2 * READING_NOTES_MAX; i++)
		reading_note(&all, "note %d", i % (READING_NOTES_MAX + 5));
	assert_int_equal(all.n_notes, READING_NOTES_MAX);
	assert_string_equal(all.note[0], "note 0");
	assert_string_equal(all.note[READING_NOTES_MAX - 1], "more results were left out than are listed here");
}

static void files_of_profile_ffa(void **state)
{
	char name[FFA_CSV_NAME_SIZE];
	struct ffa_csv_row row = {
		.tokens = 8192, .latency_ms = 3.5861, .tflops = NAN, .backward = true, .ratio = 0.1, .block = 64
	};
	struct buf out;

	(void)state;
	row.mask = "causal,\"x\"";
	ffa_csv_name(0, "main", "b2", name);
	assert_string_equal(name, "profile_dense_main");
	ffa_csv_name(3, "main", "b2", name);
	assert_string_equal(name, "profile_block_sparse_b2");
	ffa_csv_name(4, "main", "b2", name);
	assert_string_equal(name, "compare_main_b2_dense");
	assert_true(ffa_csv_takes(false, "attention/dense/causal/s8192/forward"));
	assert_false(ffa_csv_takes(false, "attention/dense/causal/s8192/total"));
	assert_false(ffa_csv_takes(true, "attention/dense/causal/s8192/forward"));
	assert_false(ffa_csv_takes(false, "attention/dense/causal/s8192/BLOCK=64/forward"));
	buf_init(&out, 4096);
	ffa_csv_head(&out, false);
	assert_int_equal(strncmp(out.data, "seqlen,mask_type,direction,latency_ms,tflops_per_sec,", 53), 0);
	buf_clear(&out);
	ffa_csv_put(&out, false, &row);
	assert_ptr_equal(strstr(out.data, "8192,\"causal,\"\"x\"\"\",bwd,3.5861"), out.data); /* and an unknown rate */
	assert_non_null(strstr(out.data, ",-1.0000"));
	buf_clear(&out);
	ffa_csv_head(&out, true);
	ffa_csv_put(&out, true, &row);
	assert_non_null(strstr(out.data, "\n8192,0.1,64,64,False,False,False,-1,-1,bwd,"));
	buf_fini(&out);
}

#define LIMIT_TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIMIT_TEST(outputs_of_several_files),
		LIMIT_TEST(too_many_rows),
		LIMIT_TEST(refusals_name_the_place),
		LIMIT_TEST(figures_are_found_in_any_unit),
		LIMIT_TEST(notes_end_with_their_number),
		LIMIT_TEST(files_of_profile_ffa),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
