/* Readers of foreign benchmarks: the result of each format, and the message for each mistake. */
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

static struct reading reading;

static int tear_down(void **state)
{
	(void)state;
	reading_fini(&reading);
	return 0;
}

static int parse(const char *format, const char *unit, const char *text, size_t len, const char *file, struct reading *out,
	struct fw_err *err)
{
	return reading_parse(&(struct reading_options){ .format = format, .unit = unit, .time = "" }, text, len, file, out, err);
}

/* Read a sample in its detected format. */
static void sample(const char *name, const char *format, const char *unit)
{
	struct fw_err err = { 0 };
	struct buf text;

	reading_file_load(name, &text);
	assert_string_equal(reading_guess(text.data, text.len, name), format);
	if (parse(format, unit, text.data, text.len, name, &reading, &err))
		fail_msg("%s", err.text);
	assert_string_equal(reading.format, format);
	buf_fini(&text);
}

static void has(const char *key, int n, double median_ms, double tflops)
{
	const struct reading_row *row = reading_has_row(&reading, key, n, median_ms, 1e-9);

	if (isnan(tflops))
		assert_true(isnan(row->tflops));
	else
		assert_float_equal(row->tflops, tflops, 1e-6);
}

static void lacks(const char *key, const char *why)
{
	reading_lacks(&reading, key, why);
}

static void own_lines(void **state)
{
	(void)state;
	sample("flopwatch.jsonl", "flopwatch", "");
	assert_int_equal(reading.n_rows, 3); /* a count is not a time */
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
	assert_int_equal(reading.n_left, 1); /* -1: there is none */
	lacks("ffa/block_sparse/s49152/r0.1/b64/backward", "-1: out of memory, or not measured");
}

static void flops_report(void **state)
{
	(void)state;
	sample("flops_report.csv", "ffa", "");
	assert_int_equal(reading.n_rows, 6);
	has("sdpa/seqlen=1024/per-TFLOP", 1, 1e3 / 210.5, 210.5);
	has("ffa/seqlen=131072/per-TFLOP", 1, 1e3 / 624, 624);
	assert_int_equal(reading.n_left, 3);
	lacks("sdpa/seqlen=65536/per-TFLOP", "-1: out of memory, or not measured");
	lacks("fa3/seqlen=131072/per-TFLOP", "-2: not supported");
}

static void nvbench(void **state)
{
	(void)state;
	sample("nvbench.json", "nvbench", "");
	assert_int_equal(reading.n_rows, 2);
	has("copy_sweep/T=F32_Elements=2^20", 1, 0.012, NAN); /* the median, where there is one */
	has("copy_sweep/T=F32_Elements=2^24", 1, 0.11, NAN);
	assert_int_equal(reading.n_left, 1);
	reading_fini(&reading);
	sample("nvbench-2021.json", "nvbench", "");
	assert_int_equal(reading.n_rows, 1);
	has("copy_sweep/Elements=2^20", 1, 0.0125, NAN); /* isolated calls, by the GPU's clock */
	lacks("copy_sweep/Elements=2^40", "skipped: out of memory");
	reading_fini(&reading);
	sample("nvbench-2026.json", "nvbench", ""); /* of tests/gpu/nvbench_copy.cu on an H200 */
	assert_int_equal(reading.n_rows, 8);
	has("copy/T=F32_Elements=2^20", 1, 7.455999962985516e-3, NAN);
	has("scaled_sum/Elements=2^24_Grid=small", 1, 0.24268800020217895, NAN);
	assert_int_equal(reading.n_left, 0);
}

static void google_benchmark(void **state)
{
	(void)state;
	sample("google-benchmark.json", "google-benchmark", "");
	assert_int_equal(reading.n_rows, 3);
	has("BM_Sum/1024", 3, 410e-6, NAN); /* repetitions, not their aggregates */
	has("BM_Sort", 1, 2.5, NAN);
	lacks("BM_Broken", "no device");
	assert_int_equal(reading.n_left, 0);
	reading_fini(&reading);
	sample("google-benchmark-aggregates.json", "google-benchmark", "");
	assert_int_equal(reading.n_rows, 1);
	has("BM_Sum/1024", 1, 5.25e-3, NAN);
}

static void google_benchmark_of_2018(void **state)
{
	(void)state;
	sample("google-benchmark-2018.json", "google-benchmark", "");
	assert_int_equal(reading.n_rows, 3);
	has("BM_Sum/1024", 2, 415e-6, NAN); /* neither their mean nor a user-defined statistic is a third repetition */
	has("BM_Copy", 1, 7e-3, NAN);       /* a median, where there are no repetitions */
	assert_string_equal(reading_find(&reading, "BM_Launch")->failure, "no kernel image for this device");
	assert_int_equal(reading_find(&reading, "BM_Launch")->n, 0);
	lacks("BM_Launch", "no kernel image for this device");
	assert_int_equal(reading.n_left, 1);
	lacks("BM_Empty", "a real_time of 0 is not a time");
}

static void google_benchmark_by_cpu_time(void **state)
{
	struct reading_options how = { .format = "google-benchmark", .unit = "", .time = "cpu" };
	struct fw_err err = { 0 };
	struct buf text;

	(void)state;
	reading_file_load("google-benchmark-2018.json", &text);
	assert_int_equal(reading_parse(&how, text.data, text.len, "out", &reading, &err), 0);
	has("BM_Sum/1024", 2, 401e-6, NAN);
	has("BM_Copy", 1, 3e-3, NAN);
	buf_fini(&text);
	assert_true(format_has_times(format_from_name("google-benchmark")));
	assert_false(format_has_times(format_from_name("nvbench")));
}

/* A repetition that failed, or has no time, invalidates its benchmark, whatever else the file contains. */
static void one_bad_repetition(void **state)
{
	static const char text[] =
		"{\"benchmarks\":["
		"{\"name\":\"a\",\"repetitions\":2,\"run_type\":\"iteration\",\"real_time\":5},"
		"{\"name\":\"a\",\"repetitions\":2,\"run_type\":\"iteration\",\"error_occurred\":true,\"error_message\":\"lost it\"},"
		"{\"name\":\"b\",\"run_type\":\"iteration\",\"repetition_index\":0,\"real_time\":5},"
		"{\"name\":\"b\",\"run_type\":\"iteration\",\"repetition_index\":1,\"real_time\":0},"
		"{\"name\":\"c\",\"run_type\":\"iteration\",\"skipped\":true,\"skip_message\":\"no GPU\"}]}";
	struct fw_err err = { 0 };
	char reported[256];

	(void)state;
	assert_int_equal(parse("google-benchmark", "", text, sizeof text - 1, "out", &reading, &err), 0);
	assert_int_equal(reading.n_rows, 1);
	lacks("a", "lost it");
	assert_true(isnan(reading.row[0].median_ms));
	reading_report_skipped(&reading, reported, sizeof reported);
	assert_string_equal(reported, "2 rows were left out: b (a real_time of 0 is not a time), c (skipped: no GPU)");
	reading_report_skipped(&reading, reported, 64);
	assert_string_equal(reported, "2 rows were left out: 2 more");
}

static void hyperfine(void **state)
{
	(void)state;
	sample("hyperfine.json", "hyperfine", "");
	assert_int_equal(reading.n_rows, 2);
	has("sort_data.txt", 3, 12, NAN);
	has("work_[threads=4]", 1, 500, NAN);
	assert_int_equal(reading.n_left, 2); /* one refused row does not invalidate the file */
	lacks("false", "it ended with a failure");
	lacks("true", "a time of 0 s, less than starting the shell took; hyperfine -N starts none");
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
	assert_int_equal(reading.n_left, 1);
	reading_fini(&reading);
	sample("triton-old.csv", "triton", "us");
	has("Torch/size=4096", 1, 0.0096, NAN);
}

static void torchao(void **state)
{
	(void)state;
	sample("torchao.csv", "torchao", "");
	assert_int_equal(reading.n_rows, 6);
	has("small_linear/linear/int8wo/m1024/k1024/n1024/torch.bfloat16/max-autotune/cuda/baseline_model_eager", 1, 0.0412,
		2e-9 * 1024 * 1024 * 1024 / 0.0412);
	assert_int_equal(reading.n_left, 2); /* 0: not compiled */
	lacks("small_linear/linear/float8dq-tensor/semi-sparse/m2048/k4096/n1024/torch.bfloat16/max-autotune/cuda/baseline_model_"
	      "compiled",
		"0: not measured");
	reading_fini(&reading);
	sample("torchao-old.csv", "torchao", "");
	has("bf16_linear/linear/int4wo-32/m1024/k1024/n1024/torch.bfloat16/max-autotune/cuda", 1, 92.79,
		2e-9 * 1024 * 1024 * 1024 / 92.79);
}

static void ncu(void **state)
{
	(void)state;
	sample("ncu.csv", "ncu", "");
	assert_int_equal(reading.n_rows, 5);
	has("dense_lists_kernel", 1, 0.003776, NAN);
	has("void_v2_backward_kernel<128,_128,_1>", 1, 4.62384, NAN); /* thousands have commas */
	reading_fini(&reading);
	sample("ncu-details.csv", "ncu", "");
	assert_int_equal(reading.n_rows, 2);
	has("void_add<float>", 2, 1.23528, NAN); /* each launch is a time */
	has("scale", 1, 0.0024, NAN);
}

static void torchao_training(void **state)
{
	static const char key[] = "ffn.w1/m16384/k8192/n3584/torch.bfloat16/i:dyn_ten,w:dyn_ten/compiled/use_fast_accum/pt_fp8";
	static const char block[] = "name,model_type,m,k,n,model_inference_time_in_ms\nb,transformer_block,8,8,8,2\n";
	struct fw_err err = { 0 };

	(void)state;
	sample("torchao-training.csv", "torchao", "");
	assert_int_equal(reading.n_rows, 3);
	has(key, 1, 3, 962.072674304); /* forward and backward: 6 m k n, as in the file's own tops column */
	assert_int_equal(reading.n_left, 1);
	reading_fini(&reading);
	sample("torchao-matmul.csv", "torchao", "");
	assert_int_equal(reading.n_rows, 2);
	has("square/m4096/k4096/n4096/fast_accum", 1, 0.1, 2e-9 * 4096 * 4096 * 4096 / 0.1);
	has("square/m4096/k4096/n4096/fast_accum/ref", 1, 0.2, 1e-9 * 4096 * 4096 * 4096 / 0.1);
	reading_fini(&reading);
	assert_int_equal(parse("torchao", "", block, sizeof block - 1, "out", &reading, &err), 0);
	has("b/transformer_block/m8/k8/n8", 1, 2, NAN); /* more work than that of one layer */
}

/* ---- refused files --------------------------------------------------------------------------------------------------------- */

/* The benchmark's own error message is shown to people, too. */
static void failures_show_all_their_lines(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	char text[600];
	int n = snprintf(text, sizeof text, "{\"cell\":\"a\",\"error\":\"no\\u001b[2J\\nroom\"}\n{\"cell\":\"b\",\"error\":\"");
	for (int i = 0; i < 50; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "\u202e");
	n += snprintf(text + n, sizeof text - (size_t)n, "\"}\n");
	if (parse("flopwatch", "", text, (size_t)n, "f", &reading, &err))
		fail_msg("%s", err.text);
	assert_string_equal(reading_find(&reading, "a")->failure, "no [2J room");
	assert_int_equal(strncmp(reading_find(&reading, "b")->failure, "\\u202e\\u202e", 12), 0);
	reading_fini(&reading);
}

static void refused(const char *format, const char *text, const char *why)
{
	struct fw_err err = { 0 };
	struct reading r;

	assert_int_equal(parse(format, "", text, strlen(text), "out", &r, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	if (!strstr(err.text, why))
		fail_msg("\"%s\" lacks \"%s\"", err.text, why);
	assert_int_equal(r.n_rows, 0);
	assert_null(r.row);
}

/* Google Benchmark writes invalid JSON for such values, and one such row must not discard the others. */
static void bare_numbers_that_are_none(void **state)
{
	static const char text[] =
		"{\"context\":{\"load_avg\":[NaN, 1]},\"benchmarks\":[\n"
		"{\"name\":\"a\",\"run_type\":\"iteration\",\"real_time\":5,\"items_per_second\":Infinity,\"note\":\"x: NaN, [inf\\\", NaN\"},\n"
		"{\"name\":\"b\",\"run_type\":\"iteration\",\"real_time\":NaN},\n"
		"{\"name\":\"c\",\"run_type\":\"iteration\",\"real_time\": -Infinity },\n"
		"{\"name\":\"d\",\"run_type\":\"iteration\",\"real_time\":-nan},\n"
		"{\"name\":\"e\",\"run_type\":\"iteration\",\"repetition_index\":0,\"real_time\":6},\n"
		"{\"name\":\"e\",\"run_type\":\"iteration\",\"repetition_index\":1,\"real_time\":inf}]}";
	struct fw_err err = { 0 };
	char reported[400];

	(void)state;
	if (parse("google-benchmark", "", text, sizeof text - 1, "out", &reading, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(reading.n_rows, 1);
	has("a", 1, 5e-6, NAN);
	reading_report_skipped(&reading, reported, sizeof reported);
	assert_non_null(strstr(reported, "4 rows were left out: "));
	assert_non_null(strstr(reported, "b (its real_time is NaN or infinite)"));
	lacks("e", "its real_time is NaN or infinite");
	/* other mistakes retain their position */
	refused("google-benchmark",
		"{\"benchmarks\":[\n{\"name\":\"a\",\"real_time\":NaN},\n{\"name\":\"b\",\"real_time\":\"NaN\"}]}",
		"2 rows were left out: a (its real_time is NaN or infinite), b (its real_time is not a number)");
	refused("google-benchmark",
		"{\"benchmarks\":[\n{\"name\":\"a\",\"real_time\":NaN},\n{\"name\":\"b\",\"real_time\":Nan1}]}", "out:3:27: ");
	refused("google-benchmark", "{\"benchmarks\":[{\"name\":\"a\",\"real_time\":NaN NaN}]}", "near 'NaN'");
	refused("google-benchmark", "{\"benchmarks\":[{\"name\":NaN,\"real_time\":1}]}", "benchmarks[0].name: is no text");
	refused("google-benchmark", "NaN", "out:1:3: ");
	refused("nvbench", "{\"benchmarks\":[NaN]}", "out:1:18: is not JSON");
}

static void mistakes_have_a_position(void **state)
{
	(void)state;
	refused("fa", "x", "`fa` is not a format that is read; use one of flopwatch, ffa");
	refused("flopwatch", "", "out: holds no measured row");
	refused("flopwatch", "{\"cell\":\"a\",\"ms\":1}\n{\"cell\":\"a\",\"ms\":", "out:2:17: is not a JSON object");
	refused("flopwatch", "{\"cell\":\"a\",\"ms\":0}",
		"out: holds no measured row; 1 row was left out: a (0 ms is not a time)");
	refused("flopwatch", "{\"cell\":\"a\",\"ms\":\"1\"}", "a (ms must be a number or a list of numbers)");
	refused("flopwatch", "{\"cell\":\"a\",\"ms\":[]}", "a (an empty list; a row needs a time)");
	refused("flopwatch", "{\"cell\":\"a\",\"ms\":1,\"us\":1}", "a (us and ms are both given; give one of them)");
	refused("flopwatch", "{\"cell\":\"a\"}", "a (it has none of ms, us, ns and s)");
	refused("flopwatch", "{\"ms\":1}", "out:1: row.cell: is missing");
	refused("flopwatch", "[1]", "out:1: row: must be an object");
	refused("flopwatch", "{\"cell\":\"a\",\"ms\":1e300}", "is not a time");
	refused("ffa", "a,b\n1,2\n", "out:1: has no column seqlen");
	refused("ffa", "seqlen,direction,latency_ms\n1,fwd,2\n", "out:1: has neither mask_type");
	refused("ffa", "seqlen,mask_type,direction,latency_ms\n8192,full,fwd,abc\n",
		"ffa/dense/full/s8192/forward (line 2: `abc` is not a number)");
	refused("ffa", "seqlen,mask_type,direction,latency_ms\n8192,full,up,1\n",
		"ffa/dense/full/s8192/up (line 2: the direction `up` is neither fwd nor bwd)");
	refused("ffa", "seqlen,mask_type,direction,latency_ms\n8192,full,fw",
		"out:2: has 3 cells, the header has 4; is the file cut off?");
	refused("ffa", "seqlen,mask_type,direction,latency_ms\n8192,full,fwd,-2\n",
		"ffa/dense/full/s8192/forward (line 2: -2 ms is not a time)");
	refused("ffa", "seqlen,mask_type,direction,latency_ms\n8192,\"full,fwd,1\n", "a quoted cell has no end");
	refused("nvbench", "{\"benchmarks\":[{\"name\":\"b\",\"states\":[{\"name\":\"s\",\"summaries\":[]}]}]}",
		"out: none of its states holds a time; run it without --profile");
	refused("nvbench", "{\"benchmarks\":[{\"name\":\"b\",\"states\":7}]}", "out: benchmarks[0].states: must be an array");
	refused("nvbench", "{\"benchmarks\":", "is not JSON");
	refused("google-benchmark", "{\"benchmarks\":[{\"name\":\"b\",\"real_time\":\"1\"}]}",
		"b (its real_time is not a number)");
	refused("google-benchmark", "{\"benchmarks\":[{\"name\":\"b\",\"real_time\":1,\"time_unit\":\"h\"}]}",
		"b (the time_unit `h` is unknown; ns, us, ms and s are read)");
	refused("google-benchmark", "{\"benchmarks\":[{\"name\":\"b\",\"real_time\":1,\"skipped\":true}]}",
		"holds no measured row; 1 row was left out: b (skipped)");
	refused("nvbench", "{\"meta\":{\"version\":{\"json\":{\"major\":2,\"string\":\"2.0.0\"}}},\"benchmarks\":[]}",
		"out: is of version 2.0.0 of nvbench's JSON; 1 is read");
	refused("hyperfine", "{\"results\":[{\"command\":\"c\"}]}", "c (it has neither times nor a median or mean)");
	refused("hyperfine", "{\"results\":[7]}", "out: results[0]: must be an object");
	refused("triton", "x,Triton\n1,2\n", "has no unit for its numbers; give one");
	refused("triton", "x,Triton (furlongs)\n1,2\n", "the unit `furlongs` is unknown");
	refused("triton", "Triton (ms)\n1\n", "begins with a column of results");
	refused("ncu", "==PROF== Connected\n", "out: holds no table of ncu; let it write one with --csv");
	refused("ncu", "\"ID\",\"Process ID\",\"Name\"\n", "out:1: has no column Kernel Name");
	refused("ncu", "\"ID\",\"Process ID\",\"Kernel Name\",\"a__b.sum\"\n\"\",\"\",\"\",\"byte\"\n\"0\",\"1\",\"k\",\"5\"\n",
		"out: has no times of kernels; let ncu collect them with --metrics gpu__time_duration.sum");
	refused("ncu", "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"0\",\"1\",\"k\",\"5\"\n",
		"`` is not a unit of time");
	refused("ncu",
		"x\n\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"a\",\"b\"\n\"0\",\"1\",\"k\",\"5\",\"6\"\n",
		"out:3: has 5 cells, the header has 6");
	refused("torchao", "name,time\na,1\n", "out:1: has no column of measured times: none ends in inference_time_in_ms");
	refused("ffa", "seqlen,ffa\n1024,0\n", "ffa/seqlen=1024/per-TFLOP (line 2: 0 TFLOP/s is not a rate)");
	refused("ffa", "seqlen,ffa\n1024,x\n", "ffa/seqlen=1024/per-TFLOP (line 2: `x` is not a number)");
	refused("ffa", "seqlen,ffa\n1024,-1\n",
		"holds no measured row; 1 row was left out: ffa/seqlen=1024/per-TFLOP (line 2: -1: out of memory, or not measured)");
}

/* A truncated number is still a number: 613.2 becomes 61. */
static void a_cut_number_is_none(void **state)
{
	static const char whole[] = "seqlen,mask_type,direction,latency_ms,tflops_per_sec\n8192,full,fwd,3.5861,613.2\n";
	static const char quoted[] = "name,m,model_inference_time_in_ms,note\na,1,2,\"x\"";
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(parse("ffa", "", whole, sizeof whole - 1, "out", &reading, &err), 0);
	reading_fini(&reading);
	for (size_t cut = 2; cut < 7; cut++) {
		struct reading r;

		assert_int_equal(parse("ffa", "", whole, sizeof whole - cut, "out", &r, &err), -1);
		assert_non_null(strstr(err.text, "out:2: has no end of line, so its last cell, `6"));
		err_clear(&err);
	}
	refused("triton", "x,Triton (ms)\n1,2", "has no end of line, so its last cell, `2`, may be cut");
	refused("torchao", "name,m,model_inference_time_in_ms\na,1,2", "has no end of line");
	assert_int_equal(parse("torchao", "", quoted, sizeof quoted - 1, "out", &reading, &err), 0); /* the quote ends it */
}

static void hexadecimal_is_no_number(void **state)
{
	double v;

	(void)state;
	refused("triton", "x,Triton (ms)\n1,0x10\n", "1 row was left out: Triton/x=1 (line 2: `0x10` is not a number)");
	refused("ffa", "seqlen,mask_type,direction,latency_ms\n8192,full,fwd,0x1.8p1\n", "`0x1.8p1` is not a number");
	refused("torchao", "name,model_inference_time_in_ms\na,inf\n", "`inf` is not a number");
	refused("nvbench",
		"{\"benchmarks\":[{\"name\":\"b\",\"states\":[{\"name\":\"s\",\"summaries\":[{\"tag\":\"nv/cold/time/gpu/mean\","
		"\"data\":[{\"name\":\"value\",\"value\":\"0x1p-3\"}]}]}]}]}",
		"none of its states holds a time");
	assert_true(reading_number(" 1.5e-3 ", &v));
	assert_false(reading_number("1.5e-3x", &v));
	assert_false(reading_number("", &v));
	assert_false(reading_number("nan", &v));
}

static void bytes_that_are_no_text(void **state)
{
	struct fw_err err = { 0 };

	(void)state;
	refused("ffa", "seqlen\n\xff\xfe\n", "out:2:1: is not UTF-8 text");
	assert_int_equal(parse("ffa", "", "a\0b", 3, "out", &reading, &err), -1);
	assert_non_null(strstr(err.text, "is not UTF-8 text"));
	assert_null(reading_guess("", 0, "out"));
	assert_null(reading_guess("hello", 5, "out"));
}

static void deep_and_many(void **state)
{
	struct fw_err err = { 0 };
	struct buf text;

	(void)state;
	buf_init(&text, 8 << 20);
	for (int i = 0; i < 100000; i++)
		buf_puts(&text, "[");
	assert_int_equal(parse("hyperfine", "", text.data, text.len, "out", &reading, &err), -1);
	err_clear(&err);
	buf_clear(&text);
	for (int i = 0; i <= READING_ROWS_MAX; i++)
		buf_printf(&text, "{\"cell\":\"c%d\",\"ms\":1}\n", i);
	assert_int_equal(parse("flopwatch", "", text.data, text.len, "out", &reading, &err), -1);
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
	assert_int_equal(parse("flopwatch", "", text.data, text.len, "out", &reading, &err), 0);
	buf_fini(&text);
	assert_int_equal(reading.n_rows, 2);
	assert_string_equal(reading.row[0].key, "a_b_[31m"); /* a control character becomes a space before it becomes a key */
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
		cmocka_unit_test_teardown(flops_report, tear_down),
		cmocka_unit_test_teardown(nvbench, tear_down),
		cmocka_unit_test_teardown(google_benchmark, tear_down),
		cmocka_unit_test_teardown(google_benchmark_of_2018, tear_down),
		cmocka_unit_test_teardown(google_benchmark_by_cpu_time, tear_down),
		cmocka_unit_test_teardown(bare_numbers_that_are_none, tear_down),
		cmocka_unit_test_teardown(one_bad_repetition, tear_down),
		cmocka_unit_test_teardown(hyperfine, tear_down),
		cmocka_unit_test_teardown(triton, tear_down),
		cmocka_unit_test_teardown(torchao, tear_down),
		cmocka_unit_test_teardown(ncu, tear_down),
		cmocka_unit_test_teardown(torchao_training, tear_down),
		cmocka_unit_test(failures_show_all_their_lines),
		cmocka_unit_test(mistakes_have_a_position),
		cmocka_unit_test_teardown(a_cut_number_is_none, tear_down),
		cmocka_unit_test(hexadecimal_is_no_number),
		cmocka_unit_test_teardown(bytes_that_are_no_text, tear_down),
		cmocka_unit_test_teardown(deep_and_many, tear_down),
		cmocka_unit_test_teardown(keys_are_clean, tear_down),
		cmocka_unit_test(csv_by_the_book),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
