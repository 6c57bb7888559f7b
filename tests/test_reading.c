/* Readers of foreign benchmarks: what each format gives, and in which words each mistake is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "core/csv.h"
#include "core/reading.h"

static struct reading reading;

static int tear_down(void **state)
{
	(void)state;
	reading_fini(&reading);
	return 0;
}

static void load(const char *name, struct buf *text)
{
	char path[256];

	snprintf(path, sizeof path, "tests/data/readers/%s", name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	buf_init(text, 1 << 20);
	assert_int_equal(buf_read_fd(text, fd), 0);
	close(fd);
}

/* Read a sample by the format that it is taken for. */
static void sample(const char *name, const char *format, const char *unit)
{
	struct fw_err err = { 0 };
	struct buf text;

	load(name, &text);
	assert_string_equal(reading_guess(text.data, text.len), format);
	if (reading_parse(format, unit, text.data, text.len, name, &reading, &err))
		fail_msg("%s", err.text);
	assert_string_equal(reading.format, format);
	buf_fini(&text);
}

static void has(const char *key, int n, double median_ms, double tflops)
{
	const struct reading_row *row = reading_find(&reading, key);

	if (!row) {
		for (int i = 0; i < reading.n_rows; i++)
			print_message("%s\n", reading.row[i].key);
		fail_msg("there is no row %s", key);
		return;
	}
	assert_int_equal(row->n, n);
	assert_float_equal(row->median_ms, median_ms, 1e-12 + 1e-9 * median_ms);
	if (isnan(tflops))
		assert_true(isnan(row->tflops));
	else
		assert_float_equal(row->tflops, tflops, 1e-6);
}

static void own_lines(void **state)
{
	(void)state;
	sample("flopwatch.jsonl", "flopwatch", "");
	assert_int_equal(reading.n_rows, 3); /* a count is no time */
	has("vecsum/n1024", 3, 1.25, NAN);
	has("vecsum/n2048", 1, 2.5, 1.5);
	has("daemon.selfcheck.base_median/attention/forward", 1, 6.317056, NAN);
}

static void ffa(void **state)
{
	(void)state;
	sample("ffa-dense.csv", "ffa", "");
	assert_int_equal(reading.n_rows, 4);
	has("ffa/dense/full/s8192/forward", 1, 3.5861, 613.2);
	has("ffa/dense/causal/s8192/backward", 1, 5.6021, 490.7);
	reading_fini(&reading);
	sample("ffa-block-sparse.csv", "ffa", "");
	has("ffa/block_sparse/s49152/r0.1/b64/forward", 1, 22.9861, 340.8);
	has("ffa/block_sparse/s49152/r0.2/b128x64/tile128x128/swap_ab/forward", 1, 46, 340);
	reading_fini(&reading);
	sample("ffa-block-sparse-old.csv", "ffa", "");
	has("ffa/block_sparse/s49152/r0.1/b64/forward", 1, 23, 340.1); /* the same name as in a new file */
	assert_int_equal(reading.n_rows, 1);
	assert_int_equal(reading.n_skipped, 1); /* -1: there is none */
}

static void nvbench(void **state)
{
	(void)state;
	sample("nvbench.json", "nvbench", "");
	assert_int_equal(reading.n_rows, 2);
	has("copy_sweep/T=F32_Elements=2^20", 1, 0.012, NAN); /* the median, where there is one */
	has("copy_sweep/T=F32_Elements=2^24", 1, 0.11, NAN);
	assert_int_equal(reading.n_skipped, 1);
}

static void google_benchmark(void **state)
{
	(void)state;
	sample("google-benchmark.json", "google-benchmark", "");
	assert_int_equal(reading.n_rows, 2);
	has("BM_Sum/1024", 3, 410e-6, NAN); /* repetitions, not their aggregates */
	has("BM_Sort", 1, 2.5, NAN);
	assert_int_equal(reading.n_skipped, 1);
	reading_fini(&reading);
	sample("google-benchmark-aggregates.json", "google-benchmark", "");
	assert_int_equal(reading.n_rows, 1);
	has("BM_Sum/1024", 1, 5.25e-3, NAN);
}

static void hyperfine(void **state)
{
	(void)state;
	sample("hyperfine.json", "hyperfine", "");
	assert_int_equal(reading.n_rows, 2);
	has("sort_data.txt", 3, 12, NAN);
	has("work_[threads=4]", 1, 500, NAN);
	assert_int_equal(reading.n_skipped, 1); /* it ended with 1 */
}

static void triton(void **state)
{
	(void)state;
	sample("triton.csv", "triton", "");
	assert_int_equal(reading.n_rows, 4);
	has("cuBLAS/M=256/N=256/K=256/per-TFLOP", 1, 1e3 / 2.978909, 2.978909);
	has("Triton/M=4096/N=4096/K=4096/per-TFLOP", 1, 1e3 / 600.25, 600.25);
	reading_fini(&reading);
	sample("triton-old.csv", "triton", "GB/s");
	assert_int_equal(reading.n_rows, 3);
	has("Triton/size=8192/per-GB", 1, 1e3 / 21.412196, NAN);
	assert_int_equal(reading.n_skipped, 1);
	reading_fini(&reading);
	sample("triton-old.csv", "triton", "us");
	has("Torch/size=4096", 1, 0.0096, NAN);
}

static void torchao(void **state)
{
	(void)state;
	sample("torchao.csv", "torchao", "");
	assert_int_equal(reading.n_rows, 6);
	has("small_linear/linear/int8wo/m1024/k1024/n1024/torch.bfloat16/max-autotune/cuda/baseline_model_eager", 1, 0.0412, NAN);
	assert_int_equal(reading.n_skipped, 2); /* 0: not compiled */
	reading_fini(&reading);
	sample("torchao-old.csv", "torchao", "");
	has("bf16_linear/linear/int4wo-32/m1024/k1024/n1024/torch.bfloat16/max-autotune/cuda", 1, 92.79, NAN);
}

/* ---- what is refused ------------------------------------------------------------------------------------------------------- */

static void refused(const char *format, const char *text, const char *why)
{
	struct fw_err err = { 0 };
	struct reading r;

	assert_int_equal(reading_parse(format, "", text, strlen(text), "out", &r, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	if (!strstr(err.text, why))
		fail_msg("\"%s\" lacks \"%s\"", err.text, why);
	assert_int_equal(r.n_rows, 0);
	assert_null(r.row);
}

static void mistakes_have_a_place(void **state)
{
	(void)state;
	refused("fa", "x", "`fa` is no format that is read; use one of flopwatch, ffa");
	refused("flopwatch", "", "out: holds no measured row");
	refused("flopwatch", "{\"cell\":\"a\",\"ms\":1}\n{\"cell\":\"a\",\"ms\":", "out:2: is no JSON object");
	refused("flopwatch", "{\"cell\":\"a\",\"ms\":0}", "out:1: row.ms: 0 ms is no time");
	refused("flopwatch", "{\"cell\":\"a\",\"ms\":\"1\"}", "out:1: row.ms: must be a number");
	refused("flopwatch", "{\"cell\":\"a\",\"ms\":[]}", "is an empty list");
	refused("flopwatch", "{\"cell\":\"a\",\"ms\":1,\"us\":1}", "out:1: row.us: stands beside ms");
	refused("flopwatch", "{\"cell\":\"a\"}", "out:1: row.ms: is missing");
	refused("flopwatch", "{\"ms\":1}", "out:1: row.cell: is missing");
	refused("flopwatch", "[1]", "out:1: row: must be an object");
	refused("flopwatch", "{\"cell\":\"a\",\"ms\":1e300}", "is no time");
	refused("ffa", "a,b\n1,2\n", "out:1: has no column seqlen");
	refused("ffa", "seqlen,direction,latency_ms\n1,fwd,2\n", "out:1: has neither mask_type");
	refused("ffa", "seqlen,mask_type,direction,latency_ms\n8192,full,fwd,abc\n",
		"out:2: column latency_ms: `abc` is no number");
	refused("ffa", "seqlen,mask_type,direction,latency_ms\n8192,full,up,1\n", "`up` is neither fwd nor bwd");
	refused("ffa", "seqlen,mask_type,direction,latency_ms\n8192,full,fw",
		"out:2: has 3 cells, the header has 4; is the file cut off?");
	refused("ffa", "seqlen,mask_type,direction,latency_ms\n8192,full,fwd,-2\n", "out:2: column latency_ms: -2 ms is no time");
	refused("ffa", "seqlen,mask_type,direction,latency_ms\n8192,\"full,fwd,1\n", "a quoted cell has no end");
	refused("nvbench", "{\"benchmarks\":[{\"name\":\"b\",\"states\":[{\"name\":\"s\",\"summaries\":[]}]}]}",
		"out: benchmarks[0].states[0].summaries: holds no time");
	refused("nvbench", "{\"benchmarks\":[{\"name\":\"b\",\"states\":{}}]}", "out: benchmarks[0].states: must be an array");
	refused("nvbench", "{\"benchmarks\":", "is no JSON");
	refused("google-benchmark", "{\"benchmarks\":[{\"name\":\"b\",\"real_time\":\"1\"}]}",
		"out: benchmarks[0].real_time: must be a number");
	refused("google-benchmark", "{\"benchmarks\":[{\"name\":\"b\",\"real_time\":1,\"time_unit\":\"h\"}]}", "`h` is unknown");
	refused("google-benchmark", "{\"benchmarks\":[{\"name\":\"b\",\"real_time\":1,\"error_occurred\":true}]}",
		"holds no measured row; all were skipped");
	refused("hyperfine", "{\"results\":[{\"command\":\"c\"}]}", "out: results[0].times: is missing");
	refused("hyperfine", "{\"results\":[7]}", "out: results[0]: must be an object");
	refused("triton", "x,Triton\n1,2\n", "does not say what its numbers are; give a unit");
	refused("triton", "x,Triton (furlongs)\n1,2\n", "the unit `furlongs` is unknown");
	refused("triton", "Triton (ms)\n1\n", "begins with a column of results");
	refused("torchao", "name,time\na,1\n", "out:1: has no column that ends in inference_time_in_ms");
}

static void bytes_that_are_no_text(void **state)
{
	struct fw_err err = { 0 };

	(void)state;
	refused("ffa", "seqlen\n\xff\xfe\n", "out:2: is no UTF-8 text");
	assert_int_equal(reading_parse("ffa", "", "a\0b", 3, "out", &reading, &err), -1);
	assert_non_null(strstr(err.text, "is no UTF-8 text"));
	assert_null(reading_guess("", 0));
	assert_null(reading_guess("hello", 5));
}

static void deep_and_many(void **state)
{
	struct fw_err err = { 0 };
	struct buf text;

	(void)state;
	buf_init(&text, 8 << 20);
	for (int i = 0; i < 100000; i++)
		buf_puts(&text, "[");
	assert_int_equal(reading_parse("hyperfine", "", text.data, text.len, "out", &reading, &err), -1);
	err_clear(&err);
	buf_clear(&text);
	for (int i = 0; i <= READING_ROWS_MAX; i++)
		buf_printf(&text, "{\"cell\":\"c%d\",\"ms\":1}\n", i);
	assert_int_equal(reading_parse("flopwatch", "", text.data, text.len, "out", &reading, &err), -1);
	assert_non_null(strstr(err.text, "more than 4096 rows"));
	buf_fini(&text);
}

static void keys_are_clean(void **state)
{
	struct fw_err err = { 0 };
	struct buf text;

	(void)state;
	buf_init(&text, 1 << 16);
	buf_puts(&text, "{\"cell\":\"a b\\u001b[31m\",\"ms\":1}\n{\"cell\":\"");
	for (int i = 0; i < 300; i++)
		buf_puts(&text, "é");
	buf_puts(&text, "\",\"ms\":2}\n");
	assert_int_equal(reading_parse("flopwatch", "", text.data, text.len, "out", &reading, &err), 0);
	buf_fini(&text);
	assert_int_equal(reading.n_rows, 2);
	assert_string_equal(reading.row[0].key, "a_b_[31m"); /* a control character is a space before it is a key */
	assert_true(strlen(reading.row[1].key) < CASE_KEY_SIZE);
	assert_non_null(strchr(reading.row[1].key, '~'));
}

static void csv_by_the_book(void **state)
{
	static const char text[] = "\xef\xbb\xbf"
				   "a,\"b,\"\"c\"\"\"\r\n\r\n\"x\ny\",\nlast";
	struct fw_err err = { 0 };
	struct csv c;

	(void)state;
	csv_init(&c, text, sizeof text - 1, "t");
	assert_int_equal(csv_next(&c, &err), 1);
	assert_int_equal(c.n, 2);
	assert_string_equal(c.cell[1], "b,\"c\"");
	assert_string_equal(c.cell[0], "a");
	assert_int_equal(csv_next(&c, &err), 1);
	assert_int_equal(c.line, 3);
	assert_string_equal(c.cell[0], "x\ny");
	assert_string_equal(c.cell[1], "");
	assert_int_equal(csv_next(&c, &err), 1);
	assert_int_equal(c.line, 5);
	assert_string_equal(c.cell[0], "last");
	assert_int_equal(csv_next(&c, &err), 0);
	csv_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(own_lines, tear_down),
		cmocka_unit_test_teardown(ffa, tear_down),
		cmocka_unit_test_teardown(nvbench, tear_down),
		cmocka_unit_test_teardown(google_benchmark, tear_down),
		cmocka_unit_test_teardown(hyperfine, tear_down),
		cmocka_unit_test_teardown(triton, tear_down),
		cmocka_unit_test_teardown(torchao, tear_down),
		cmocka_unit_test(mistakes_have_a_place),
		cmocka_unit_test_teardown(bytes_that_are_no_text, tear_down),
		cmocka_unit_test_teardown(deep_and_many, tear_down),
		cmocka_unit_test_teardown(keys_are_clean, tear_down),
		cmocka_unit_test(csv_by_the_book),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
