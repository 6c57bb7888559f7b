/* Formats of profilers and of benchmarks of libraries: what each sample states, how damage is reported, and that no format is taken
 * for another. */
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

/* Samples in tests/data/readers, for the tests of all formats. */
static const struct sample {
	const char *name, *format;
} samples[] = {
	{ "nsys.csv", "nsys" },
	{ "cutlass.csv", "cutlass" },
	{ "rocprof.csv", "rocprof" },
	{ "hipblaslt.txt", "hipblaslt" },
	{ "liger.csv", "liger" },
	{ "pytest-benchmark.json", "pytest-benchmark" },
	{ "asv.json", "asv" },
	{ "criterion-sample.json", "criterion" },
	{ "criterion-estimates.json", "criterion" },
	{ "criterion-lines.json", "criterion" },
	{ "criterion-bencher.txt", "criterion" },
	{ "jmh.json", "jmh" },
	{ "llama-bench.json", "llama-bench" },
	{ "llama-bench.jsonl", "llama-bench" },
	{ "llama-bench.csv", "llama-bench" },
	{ "llama-bench.md", "llama-bench" },
	{ "tritonbench.csv", "tritonbench" },
	{ "tritonbench.json", "tritonbench" },
	{ "torch-compare.txt", "torch-compare" },
	{ "catch2.txt", "catch2" },
};

enum { SAMPLES = sizeof samples / sizeof samples[0] };

static struct reading reading;

static int tear_down(void **state)
{
	(void)state;
	reading_fini(&reading);
	return 0;
}

static int parse(const char *format, const char *text, size_t len, const char *file, struct reading *out, struct fw_err *err)
{
	return reading_parse(&(struct reading_options){ .format = format, .unit = "", .time = "" }, text, len, file, out, err);
}

static void read_text(const char *format, const char *text)
{
	struct fw_err err = { 0 };
	const char *guess = reading_guess(text, strlen(text), "out");

	reading_fini(&reading);
	if (!guess || strcmp(guess, format) != 0)
		fail_msg("it is taken for %s: %s", guess ? guess : "no format", text);
	if (parse(format, text, strlen(text), "out", &reading, &err) != 0)
		fail_msg("%s", err.text);
}

static void sample(const char *name, const char *format)
{
	struct fw_err err = { 0 };
	struct buf text;

	reading_fini(&reading);
	reading_file_load(name, &text);
	assert_string_equal(reading_guess(text.data, text.len, name), format);
	if (parse(format, text.data, text.len, name, &reading, &err) != 0)
		fail_msg("%s", err.text);
	buf_fini(&text);
}

static void rows(int n, int left)
{
	assert_int_equal(reading.n_rows, n);
	assert_int_equal(reading.n_left, left);
}

static const struct reading_row *has(const char *key, int n, double ms)
{
	return reading_has_row(&reading, key, n, ms, 1e-9);
}

static void has_tflops(const char *key, double ms, double tflops)
{
	assert_float_equal(has(key, 1, ms)->tflops, tflops, 1e-9 * tflops);
}

static void lacks(const char *key, const char *why)
{
	reading_lacks(&reading, key, why);
}

static void says(const char *note)
{
	for (int i = 0; i < reading.n_notes; i++)
		if (strstr(reading.note[i], note))
			return;
	fail_msg("it does not say \"%s\"", note);
}

static void refused(const char *format, const char *text, const char *why)
{
	struct fw_err err = { 0 };
	struct reading r;

	if (parse(format, text, strlen(text), "out", &r, &err) == 0)
		fail_msg("it is read, and should say \"%s\"", why);
	assert_int_equal(err.code, ERR_INVALID);
	if (!strstr(err.text, why))
		fail_msg("\"%s\" lacks \"%s\"", err.text, why);
}

/* ---- nsys ------------------------------------------------------------------------------------------------------------------ */

#define NSYS "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"

static void nsys_has_the_median_of_each_kernel(void **state)
{
	(void)state;
	sample("nsys.csv", "nsys");
	rows(2, 0);
	has("void_tile_gemm<float,_(int)64>(const_T1_*,_const_T1_*,_T1_*,_int)", 1, 0.01425);
	has("row_softmax(float_*,_int)", 1, 0.0028);
}

static void nsys_of_other_versions_and_reports(void **state)
{
	(void)state;
	read_text("nsys", "\"Time(%)\",\"Total Time (ns)\",\"Instances\",\"Average\",\"Minimum\",\"Maximum\",\"Name\"\n"
			  "100.0,5000,2,2500.0,2000,3000,\"k\"\n");
	assert_string_equal(has("k", 1, 0.0025)->statistic, READING_MEAN);
	read_text("nsys", "Time (%),Total Time (ms),Instances,Avg (ms),Med (ms),GridXYZ,BlockXYZ,Name\n"
			  "50,4,2,2,2,  16    1    1, 128    1    1,k\n50,4,2,3,3,  32    1    1, 128    1    1,k\n");
	rows(2, 0);
	has("k/grid=16____1____1/block=128____1____1", 1, 2);
	has("k/grid=32____1____1/block=128____1____1", 1, 3);
	/* other reports before and after it */
	read_text("nsys", "Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n9,9,9,9,cudaFree\n\nProcessing\n" NSYS
			  "1,2,3,4000,5000,6,7,8,k\n\nProcessing\nTime (%),Total Time (ns),Count,Avg (ns),Med (ns),Operation\n"
			  "9,9,9,9,9,[CUDA memcpy]\n");
	rows(1, 0);
	has("k", 1, 0.005);
	read_text("nsys", "Processing\r\n" NSYS "1,2,3,4000,5000,6,7,8,k\r\n\r\nProcessing\r\n");
	rows(1, 0);
}

/* Two rows whose names of 3,000 characters differ only at their ends. */
static void read_long_names(const char *format, const char *header, const char *a, const char *b, struct reading *out)
{
	enum { LENGTH = 3000 };
	char *text = calloc(3, LENGTH + 500), *name = calloc(1, LENGTH + 1);
	struct fw_err err = { 0 };

	assert_true(text && name);
	memset(name, 'k', LENGTH);
	sprintf(text, "%s%s%s<%c>\n%s%s<%c>\n", header, a + 1, name, a[0], b + 1, name, b[0]);
	if (parse(format, text, strlen(text), "out", out, &err) != 0)
		fail_msg("%s", err.text);
	free(text);
	free(name);
}

/*
 * nsys and rocprof list kernels by their total time. Names that were cut to the same text would be paired in that order, so that a
 * kernel that became the slower of two would be compared with the other one.
 */
static void long_names_stay_different(void **state)
{
	static const char rocprof[] = "Calls,TotalDurationNs,AverageNs,Name\n";
	struct reading before, after;
	const char *reader[] = { "nsys", "rocprof" };
	const char *header[] = { NSYS, rocprof };
	const char *slow[] = { "a1,9,3,4,5000,6,7,8,", "a2,9,5000," }, *fast[] = { "b1,9,3,4,4000,6,7,8,", "b2,9,4000," };
	const char *slower[] = { "b1,9,3,4,6000,6,7,8,", "b2,9,6000," };

	(void)state;
	for (int i = 0; i < 2; i++) {
		read_long_names(reader[i], header[i], slow[i], fast[i], &before);
		read_long_names(reader[i], header[i], slower[i], slow[i], &after);
		assert_int_equal(before.n_rows, 2);
		assert_int_equal(after.n_rows, 2);
		reading_has_row(&after, before.row[0].key, 1, 0.005, 1e-9);
		reading_has_row(&after, before.row[1].key, 1, 0.006, 1e-9);
		reading_fini(&before);
		reading_fini(&after);
	}
}

static void nsys_damaged(void **state)
{
	(void)state;
	read_text("nsys", NSYS "1,2,3,4,abc,6,7,8,a\n1,2,3,nan,,6,7,8,b\n1,2,3,4,5\n1,2,3,4,1e300,6,7,8,c\n");
	rows(2, 2);
	assert_string_equal(has("a", 1, 4e-6)->statistic, READING_MEAN);
	has("c", 1, 4e-6);
	lacks("b", "`nan` is not a number");
	lacks("line_4", "it has 5 cells, the header has 9");
	refused("nsys", NSYS "1,2,3,4,5,6,7,8,k", "out:2: has no end of line");
	refused("nsys", NSYS "1,2,3,4,5", "out:2: has 5 cells, the header has 9; is the file cut off?");
	refused("nsys", NSYS, "out: holds no measured row");
	refused("nsys", "Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n9,9,9,9,cudaFree\n",
		"out: holds no sums of kernels; let nsys write them: nsys stats --report cuda_gpu_kern_sum");
	refused("nsys", "hello", "out: holds no sums of kernels");
}

/* ---- cutlass ---------------------------------------------------------------------------------------------------------------- */

#define CUTLASS "Problem,Provider,OperationKind,Operation,Disposition,Status,m,op_class,stages,Bytes,Flops,Runtime,GB/s,GFLOPs\n"
#define GEMM    "cutlass_tensorop_h16816gemm_128x128_32x4_tn_align8"

static void cutlass_has_times_of_results_that_are_right(void **state)
{
	(void)state;
	sample("cutlass.csv", "cutlass");
	rows(3, 1);
	has_tflops("CUTLASS/" GEMM "/m=1024/n=1024/k=512", 0.0125, 85.9832);
	has_tflops("cuBLAS/" GEMM "/m=1024/n=1024/k=512", 0.01, 107.479);
	says("not_verified");
	assert_int_equal(reading_find(&reading, "CUTLASS/" GEMM "/m=2048/n=1024/k=512")->n, 0);
	lacks("CUTLASS/" GEMM "/m=2048/n=1024/k=512", "its disposition is incorrect, its status success");
	lacks("CUTLASS/" GEMM "/m=1025/n=1024/k=512", "its disposition is not_supported, its status invalid_problem");
}

static void cutlass_printed_after_other_lines(void **state)
{
	(void)state;
	read_text("cutlass", "\n  Problem ID: 1\n     Runtime: 1  ms\n\nCSV Results:\n\nteam," CUTLASS
			     "ours,1,CUTLASS,gemm,a,passed,success,1024.0,simt,2,1,1,0.5,1,\n"
			     "theirs,1,CUTLASS,gemm,a,passed,success,1024,simt,2,1,1,0.25,1,x\n");
	rows(2, 0);
	assert_true(isnan(has("CUTLASS/a/team=ours/m=1024", 1, 0.5)->tflops));
	has("CUTLASS/a/team=theirs/m=1024", 1, 0.25);
	assert_int_equal(reading.n_notes, 0);
}

static void cutlass_damaged(void **state)
{
	(void)state;
	read_text("cutlass", CUTLASS
		"1,CUTLASS,gemm,a,passed,success,1,simt,2,1,1,0,1,1\n1,CUTLASS,gemm,b,passed,success,1,simt,2,1,1,1,1,1\n"
		"1,CUTLASS,gemm,c,passed,error_internal,1,simt,2,1,1,1,1,1\n1,CUTLASS,gemm,d,,success,1,simt,2,1,1,1,1,1\n"
		"1,CUTLASS,gemm,e,failed,success,1,simt,2,1,1,1,1,1\n1,CUTLASS,gemm,f,Passed!,success,1,simt,2,1,1,1,1,1\n");
	rows(2, 4);
	has("CUTLASS/b/m=1", 1, 1);
	lacks("CUTLASS/a/m=1", "0 is neither a time nor a rate");
	lacks("CUTLASS/c/m=1", "its disposition is passed, its status error_internal");
	lacks("CUTLASS/d/m=1", "its disposition is , its status success");
	lacks("CUTLASS/e/m=1", "its disposition is failed, its status success");
	lacks("CUTLASS/f/m=1", "its disposition is Passed!, its status success");
	refused("cutlass", CUTLASS "1,CUTLASS,gemm,a,passed,success,1,simt,2,1,1,0.5,1,1", "out:2: has no end of line");
	refused("cutlass", "Problem,Provider,OperationKind,Operation,Disposition,Status,m,Bytes\n",
		"out:1: has no column Runtime");
	refused("cutlass", "m,n\n1,2\n", "out: holds no table of cutlass_profiler");
}

/* ---- rocprof ---------------------------------------------------------------------------------------------------------------- */

static void rocprof_has_the_mean_of_each_kernel(void **state)
{
	(void)state;
	sample("rocprof.csv", "rocprof");
	rows(2, 0);
	has("void_tile_gemm<float,_64>(float_const*,_float_const*,_float*,_int)_[clone_.kd]", 1, 0.0143);
	has("row_softmax.kd", 1, 0.00285);
	/* of the first version; a name without quotes that has a comma */
	read_text("rocprof",
		"\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\nhipFree,1,5000,5000,1.5\na<1,2>,1,2,3,4\n");
	rows(1, 1);
	has("hipFree", 1, 0.005);
	lacks("line_3", "it has 6 cells, the header has 5");
}

static void rocprof_damaged(void **state)
{
	(void)state;
	read_text("rocprof",
		"Name,Calls,TotalDurationNs,AverageNs\na,1,2,NaN\nb,1,2,-3\nc,1,2,1e999\nd,0,0,1e99\n,1,2,3\nf,1,2,4\n");
	rows(1, 5);
	has("f", 1, 4e-6);
	lacks("a", "`NaN` is not a number");
	lacks("b", "-3 is neither a time nor a rate");
	lacks("c", "`1e999` is not a number");
	lacks("d", "1e+99 ns is not a time");
	lacks("line_6", "it has no name");
	refused("rocprof", "Name,Calls\na,1\n", "out:1: has no column AverageNs");
	refused("rocprof", "AverageNs,TotalDurationNs\n1,2\n", "out:1: has no column Name");
	refused("rocprof", "Name,Calls,TotalDurationNs,AverageNs\na,1,2,30", "out:2: has no end of line");
	refused("rocprof", "", "out: is empty");
}

/* ---- hipblaslt -------------------------------------------------------------------------------------------------------------- */

#define HIPBLASLT "[0]:transA,transB,batch_count,m,hipblaslt-Gflops,hipblaslt-GB/s,us\n"

static void hipblaslt_has_a_row_for_each_result(void **state)
{
	(void)state;
	sample("hipblaslt.txt", "hipblaslt");
	rows(2, 0);
	has_tflops("transA=T/transB=N/m=2048/n=1024/k=512/lda=512/ldb=512/ldc=2048/a_type=f16_r/b_type=f16_r/compute_type=f32_r",
		0.01, 214.748);
	assert_int_equal(strncmp(reading.row[1].key, "transA=T/transB=N/batch_count=4/m=2048/", 39), 0);
	assert_float_equal(reading.row[1].median_ms, 0.032, 1e-12);
	read_text("hipblaslt",
		HIPBLASLT "N,N,1,8,1,1,3\n[1]:transA,transB,batch_count,m,hipblaslt-Gflops,hipblaslt-GB/s,us\nN,N,1,8,1,1,2\n"
			  "Winner:\n" HIPBLASLT " N,N,1,8,1,1,2\n");
	rows(3, 0);
	has("transA=N/transB=N/m=8#1", 1, 0.003);
	has("transA=N/transB=N/m=8#2", 1, 0.002);
	has("transA=N/transB=N/m=8/solution=winner", 1, 0.002);
	/* a table of results; an old header */
	read_text("hipblaslt",
		"[0]transA,M,hipblaslt-Gflops,us,solution_index,gcnArchName,CUs\n N,8.0,x,1,9,gfx942:sramecc+,304\n\nT,16,1000, 2.5,8,gfx942:sramecc+,304\n");
	rows(2, 0);
	assert_true(isnan(has("transA=N/M=8", 1, 0.001)->tflops));
	has_tflops("transA=T/M=16", 0.0025, 1);
	assert_string_equal(reading.fact[0].value, "gfx942:sramecc+");
}

static void hipblaslt_damaged(void **state)
{
	(void)state;
	read_text("hipblaslt", HIPBLASLT "N,N,1,8,1,1,inf\nN,N,1,9,1,1,0\nN,N,1,7,1,1,1\n" HIPBLASLT "N,N,1\n" HIPBLASLT "\"\n");
	rows(1, 3);
	has("transA=N/transB=N/m=7", 1, 0.001);
	lacks("transA=N/transB=N/m=8", "`inf` is not a number");
	lacks("line_6", "it has 3 cells, the header has 7");
	refused("hipblaslt", HIPBLASLT "N,N,1,8,1,1,25", "out:2: has no end of line");
	refused("hipblaslt", HIPBLASLT "N,N,1,8", "out:2: has 4 cells, the header has 7; is the file cut off?");
	refused("hipblaslt", "transA,hipblaslt-Gflops\nN,1\n", "out:1: has no column us");
	refused("hipblaslt", "transA,us\nN,1\n", "out: holds no results of hipblaslt-bench");
}

/* ---- liger ------------------------------------------------------------------------------------------------------------------ */

#define LIGER                                                                                                                     \
	"kernel_name,kernel_provider,kernel_operation_mode,metric_name,metric_unit,x_name,x_label,x_value,y_value_50,y_value_20," \
	"y_value_80,extra_benchmark_config_str,gpu_name\n"

static void liger_has_medians_of_times(void **state)
{
	(void)state;
	sample("liger.csv", "liger");
	rows(2, 0);
	has("row_norm/liger/forward/H=1024/M=2048/dtype=torch.bfloat16/eps=1e-06", 1, 0.125);
	has("row_norm/huggingface/forward/H=1024/M=2048/dtype=torch.bfloat16/eps=1e-06", 1, 0.5);
	says("rows of the metric memory are left out: MB is not a unit of time");
	assert_string_equal(reading.fact[0].value, "NVIDIA H100 80GB HBM3");
	/* members in any order are one configuration; several GPUs */
	read_text("liger", LIGER
		"k,liger,full,speed,us,T,t,1,5,5,5,\"{\"\"b\"\":1.0,\"\"a\"\":\"\"x\"\"}\",A\n"
		"k,liger,full,speed,us,T,t,1,6,5,5,\"{\"\"a\"\":\"\"x\"\",\"\"b\"\":1}\",B\nk,torch,full,tail,us,T,t,1,7,5,5,[1],B\n");
	rows(3, 0);
	has("k/liger/full/T=1/a=x/b=1/gpu=A", 1, 0.005);
	has("k/liger/full/T=1/a=x/b=1/gpu=B", 1, 0.006);
	has("k/torch/full/metric=tail/T=1/config=[1]/gpu=B", 1, 0.007);
}

static void liger_damaged(void **state)
{
	(void)state;
	read_text("liger",
		LIGER "k,a,full,speed,ms,T,t,1,nan,1,1,,\nk,b,full,speed,ms,T,t,1,0,1,1,,\nk,c,full,speed,ms,T,t,1,-1,1,1,,\n"
		      "k,d,full,speed,ms,T,t,1\nk,e,full,speed,ms,T,t,1,2,1,1,,\n");
	rows(1, 4);
	has("k/e/full/T=1", 1, 2);
	lacks("k/a/full/T=1", "`nan` is not a number");
	lacks("k/b/full/T=1", "0 is neither a time nor a rate");
	refused("liger", LIGER "k,e,full,speed,ms,T,t,1,2,1,1,,A", "out:2: has no end of line");
	refused("liger", "kernel_name,kernel_provider,y_value_50\na,b,1\n", "out:1: has no column kernel_operation_mode");
	refused("liger", LIGER "k,a,full,memory,MB,T,t,1,5,1,1,,\n", "out: holds no measured row");
}

/* ---- pytest-benchmark ------------------------------------------------------------------------------------------------------- */

#define PYTEST(benchmarks) "{\"machine_info\":{},\"benchmarks\":[" benchmarks "]}"

static void pytest_benchmark_has_rounds_or_statistics(void **state)
{
	(void)state;
	sample("pytest-benchmark.json", "pytest-benchmark");
	rows(2, 0);
	has("tests/test_sort.py::test_sort[1024]", 3, 2.2);
	assert_int_equal(has("tests/test_sort.py::test_copy", 1, 0.0015)->n_times, 2);
	assert_string_equal(reading.fact[reading.n_facts - 1].value, "Example CPU @ 3.00GHz");
	read_text("pytest-benchmark",
		PYTEST("{\"name\":\"a\",\"stats\":{\"mean\":2}},{\"name\":\"a\",\"stats\":{\"mean\":3,\"median\":null}}"));
	assert_string_equal(has("a#1", 1, 2000)->statistic, READING_MEAN);
	has("a#2", 1, 3000);
	read_text("pytest-benchmark",
		PYTEST("{\"fullname\":\"a\",\"stats\":{},\"error\":\"assert 1 == 2\"},{\"name\":\"b\",\"error\":\"\"}"));
	rows(2, 0);
	assert_string_equal(reading_find(&reading, "a")->failure, "assert 1 == 2");
	assert_string_equal(reading_find(&reading, "b")->failure, "failed");
}

static void pytest_benchmark_damaged(void **state)
{
	(void)state;
	read_text("pytest-benchmark",
		PYTEST("{\"name\":\"a\",\"stats\":{\"median\":NaN,\"mean\":Infinity}},{\"name\":\"b\",\"stats\":{\"data\":[1,0]}},"
		       "{\"name\":\"c\",\"stats\":{\"data\":[1,\"2\"]}},{\"name\":\"d\",\"stats\":{\"data\":[],\"median\":1}},"
		       "{\"name\":\"e\",\"stats\":{\"median\":-1,\"mean\":1e300}}"));
	rows(1, 4);
	has("d", 1, 1000);
	lacks("a", "it has neither times nor a median or mean");
	lacks("b", "0 ms is not a time");
	lacks("c", "data must be a number or a list of numbers");
	refused("pytest-benchmark", PYTEST("{\"stats\":{}}"), "out: benchmarks[0].fullname: is missing");
	refused("pytest-benchmark", PYTEST("{\"name\":\"a\"}"), "out: benchmarks[0].stats: must be an object");
	refused("pytest-benchmark", PYTEST("{\"name\":\"a\",\"stats\":7}"), "out: benchmarks[0].stats: must be an object");
	refused("pytest-benchmark", PYTEST("{\"name\":\"a\",\"error\":7}"), "out: benchmarks[0].error: must be a string");
	refused("pytest-benchmark", PYTEST("7"), "out: benchmarks[0]: must be an object");
	refused("pytest-benchmark", "{\"machine_info\":{}}", "out: file.benchmarks");
	refused("pytest-benchmark", "{\"benchmarks\":\n[", "out:2:1: is not JSON");
	refused("pytest-benchmark", "[]", "out: file: must be an object");
}

static void pytest_benchmark_of_many_rounds(void **state)
{
	struct fw_err err = { 0 };
	struct buf text;

	(void)state;
	buf_init(&text, 8 << 20);
	buf_puts(&text, "{\"machine_info\":{},\"benchmarks\":[{\"name\":\"a\",\"stats\":{\"median\":1,\"data\":[1");
	for (int i = 0; i < READING_VALUES_MAX; i++)
		buf_puts(&text, ",2");
	buf_puts(&text, "]}}]}");
	assert_int_equal(parse("pytest-benchmark", text.data, text.len, "out", &reading, &err), 0);
	has("a", 1, 1000);
	says("the median of each benchmark is read, because the file has more than");
	buf_fini(&text);
}

/* ---- asv -------------------------------------------------------------------------------------------------------------------- */

#define ASV(results)                                                                                                             \
	"{\"commit_hash\":\"0\",\"version\":2,\"result_columns\":[\"result\",\"params\",\"samples\"],\"results\":{" results "}}"

static void asv_has_samples_or_medians_of_times(void **state)
{
	(void)state;
	sample("asv.json", "asv");
	rows(5, 1);
	has("sums.Rows.time_sum(1024,'f4')", 1, 2);
	has("sums.Rows.time_sum(1024,'f8')", 1, 4);
	lacks("sums.Rows.time_sum(4096,'f4')", "it failed: asv stored no result");
	lacks("sums.Rows.time_sum(4096,'f8')", "skipped by the benchmark suite");
	has("sums.time_all", 3, 1.5);
	lacks("sums.time_broken", "it failed: asv stored no result");
	says("sums.peakmem_all is left out: by its name it does not benchmark time");
	read_text("asv",
		ASV("\"a.TimeAll\":[[1]],\"a.Timeout\":[[1]],\"time_b\":[[1,2],[[\"x\",\"y\"]]],\"a.timeraw_c\":[[3],[],[null]]"));
	rows(4, 0);
	has("a.TimeAll", 1, 1000);
	has("time_b(y)", 1, 2000);
	has("a.timeraw_c", 1, 3000);
}

/* The texts of parameters are cut in names; two combinations of them are never samples of one result. */
static void asv_combinations_with_long_values_stay_two(void **state)
{
#define TEN  "0123456789"
#define LONG TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
	(void)state;
	read_text("asv", ASV("\"time_a\":[[1,3],[[\"" LONG "a\",\"" LONG "b\"]],[[1,1,1],[3,3,3]]]"));
	rows(2, 0);
	assert_float_equal(reading.row[0].median_ms, 1000, 1e-9);
	assert_float_equal(reading.row[1].median_ms, 3000, 1e-9);
	assert_string_not_equal(reading.row[0].key, reading.row[1].key);
#undef LONG
#undef TEN
}

static void asv_damaged(void **state)
{
	(void)state;
	read_text("asv",
		ASV("\"time_a\":[[0]],\"time_b\":[[-1]],\"time_c\":[[\"1\"]],\"time_d\":[[1],[],[[1,-1]]],\"time_e\":[[1e300]],\"time_f\":[[1]],"
		    "\"time_g\":[[Infinity]],\"time_h\":[[[1,{}]]]"));
	rows(1, 7);
	has("time_f", 1, 1000);
	lacks("time_a", "0 ms is not a time");
	lacks("time_c", "result must be a number or a list of numbers");
	lacks("time_d", "-1000 ms is not a time");
	refused("asv", ASV("\"time_a\":7"), "out: results.time_a: must be a list with a list of results");
	refused("asv", ASV("\"time_a\":[7]"), "out: results.time_a: must be a list with a list of results");
	refused("asv", ASV("\"time_a\":[[1,2]]"), "out: results.time_a: result 1 has no combination of parameters");
	refused("asv", ASV("\"time_a\":[[1,2],[[\"x\"]]]"), "out: results.time_a: result 1 has no combination of parameters");
	refused("asv", ASV("\"time_a\":[[1],[[]]]"), "out: results.time_a: result 0 has no combination of parameters");
	refused("asv", ASV("\"time_a\":[[1],[[7]]]"), "out: results.time_a: result 0 has no combination of parameters");
	refused("asv", ASV("\"mem_a\":[[1]]"), "out: holds no measured row");
	refused("asv", "{\"version\":1,\"results\":{}}", "out: is of version 1 of asv's results; 2 is read");
	refused("asv", "{\"version\":2,\"result_columns\":[\"x\"],\"results\":{}}", "out: file.result_columns: has no result");
	refused("asv", "{\"version\":2,\"result_columns\":[\"result\"]}", "out: file.results");
	refused("asv", "{\"results\":", "out:1:11: is not JSON");
}

/* ---- criterion -------------------------------------------------------------------------------------------------------------- */

static void criterion_has_samples_or_estimates(void **state)
{
	struct fw_err err = { 0 };

	(void)state;
	sample("criterion-sample.json", "criterion");
	has("benchmark", 3, 0.0015);
	sample("criterion-estimates.json", "criterion");
	assert_int_equal(has("benchmark", 1, 0.0015)->n_times, 2);
	sample("criterion-lines.json", "criterion");
	rows(1, 0);
	has("sort/1024", 3, 0.0015);
	sample("criterion-bencher.txt", "criterion");
	rows(2, 0);
	has("sort/1024", 1, 0.0015);
	has("sort/2048", 1, 0.00325075);
	read_text("criterion", "{\"reason\":\"benchmark-complete\",\"id\":\"a\",\"mean\":{\"estimate\":2,\"unit\":\"us\"}}\n\n"
			       "{\"reason\":\"benchmark-complete\",\"id\":\"a\",\"median\":{\"estimate\":3}}");
	assert_string_equal(has("a#1", 1, 0.002)->statistic, READING_MEAN);
	has("a#2", 1, 3e-6);
	/* the folder below criterion/ is the name */
	static const char *const files[][2] = { { "target/criterion/sort/16/new/estimates.json", "sort/16" },
		{ "/x/criterion/target/criterion/sort/base/sample.json", "sort" }, { "criterion/sort/new/s.json", "sort" },
		{ "criterion/new/s.json", "benchmark" }, { "my-criterion/sort/new/s.json", "benchmark" },
		{ "a/b.json", "benchmark" } };

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		static const char text[] = "{\"median\":{\"point_estimate\":5}}";

		reading_fini(&reading);
		assert_int_equal(parse("criterion", text, strlen(text), files[i][0], &reading, &err), 0);
		has(files[i][1], 1, 5e-6);
	}
}

static void criterion_damaged(void **state)
{
	(void)state;
	read_text("criterion",
		"{\"reason\":\"benchmark-complete\",\"id\":\"a\",\"measured_values\":[1,2],\"iteration_count\":[1]}\n"
		"{\"reason\":\"benchmark-complete\",\"id\":\"b\",\"measured_values\":[1],\"iteration_count\":[0],\"unit\":\"ns\"}\n"
		"{\"reason\":\"benchmark-complete\",\"id\":\"c\",\"measured_values\":[1],\"iteration_count\":[1],\"unit\":\"cycles\"}\n"
		"{\"reason\":\"benchmark-complete\",\"id\":\"d\",\"measured_values\":[1],\"iteration_count\":[1]}\n");
	rows(1, 3);
	has("d", 1, 1e-6);
	lacks("a", "it has neither a median nor a mean");
	read_text("criterion",
		"test a ... bench: x ns/iter (+/- 1)\ntest b ... bench: 0 ns/iter\ntest c ... bench: 12\ntest d ... bench: 5 ns/iter\n"
		"test  ... bench: 5 ns/iter\n ... bench: 5 ns/iter\ntest e ... bench: 1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5 ns/iter");
	rows(1, 4);
	has("d", 1, 5e-6);
	lacks("a", "it has no time in ns/iter");
	lacks("c", "it has no time in ns/iter");
	refused("criterion", "{\"reason\":\"benchmark-complete\",\"measured_values\":[1]}", "out:1: line.id: is missing");
	refused("criterion", "{\"reason\":\"benchmark-complete\",\"id\":\"a\"}\n{\"reason\":\"benchm",
		"out:2:17: is not a JSON object");
	refused("criterion", "{\"iters\":[1],\"times\":[]}", "benchmark (it has samples without a time or number of iterations)");
	refused("criterion", "{\"iters\":[1],\"times\":[\"1\"]}",
		"benchmark (it has samples without a time or number of iterations)");
	refused("criterion", "{\"iters\":{},\"times\":7}", "benchmark (it has samples without a time or number of iterations)");
	refused("criterion", "{\"mean\":{\"point_estimate\":-1}}", "benchmark (it has neither a median nor a mean)");
	refused("criterion", "{\"x\":1}", "out: is neither estimates.json nor sample.json of Criterion");
	refused("criterion", "[1]", "out: is neither estimates.json nor sample.json of Criterion");
	refused("criterion", "{\"mean\":", "out:1:8: is not JSON");
}

/* ---- jmh -------------------------------------------------------------------------------------------------------------------- */

#define JMH(metric) "[{\"benchmark\":\"a\",\"mode\":\"thrpt\",\"primaryMetric\":{" metric "}}]"

static void jmh_has_times_and_rates(void **state)
{
	(void)state;
	sample("jmh.json", "jmh");
	rows(3, 0);
	has("org.example.SortBench.sort/kind=random/size=1024/mode=avgt", 3, 0.0021);
	has("org.example.SortBench.sort/kind=random/size=1024/mode=thrpt/threads=4/per-op", 3, 0.002); /* 500 in a ms */
	assert_int_equal(has("org.example.SortBench.copy/mode=sample", 1, 1.25)->n_times, 2);
	assert_string_equal(reading.fact[0].name, "jdkVersion");
	static const struct {
		const char *metric;
		double ms;
	} units[] = { { "\"scoreUnit\":\"ops/s\",\"score\":4", 250 }, { "\"scoreUnit\":\"ops/us\",\"score\":4", 0.00025 },
		{ "\"scoreUnit\":\"ops/ns\",\"rawData\":[[2]]", 5e-7 }, { "\"scoreUnit\":\"ops/min\",\"score\":3", 20000 } };

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		char text[200];

		snprintf(text, sizeof text, JMH("%s"), units[i].metric);
		read_text("jmh", text);
		has("a/mode=thrpt/per-op", 1, units[i].ms);
	}
	read_text("jmh", JMH("\"scoreUnit\":\"ns/op\",\"score\":7"));
	has("a/mode=thrpt", 1, 7e-6);
}

static void jmh_damaged(void **state)
{
	(void)state;
	refused("jmh", JMH("\"scoreUnit\":\"ops/s\",\"score\":0"),
		"a/mode=thrpt/per-op (its score is neither a time nor a rate)");
	refused("jmh", JMH("\"scoreUnit\":\"ops/s\",\"score\":\"NaN\""), "its score is neither a time nor a rate");
	refused("jmh", JMH("\"scoreUnit\":\"ms/op\",\"score\":NaN"), "its score is neither a time nor a rate");
	refused("jmh", JMH("\"scoreUnit\":\"ms/op\",\"rawData\":[[1,-1]]"),
		"a score of its raw data is neither a time nor a rate");
	refused("jmh", JMH("\"scoreUnit\":\"ops/s\",\"rawData\":[[1,1e300]]"),
		"a score of its raw data is neither a time nor a rate");
	refused("jmh", JMH("\"scoreUnit\":\"MB/sec\",\"score\":1"), "its unit `MB/sec` is neither a time of an operation nor");
	refused("jmh", JMH("\"scoreUnit\":\"ms/x\",\"score\":1"), "its unit `ms/x` is neither");
	refused("jmh", JMH("\"score\":1"), "its unit `` is neither");
	refused("jmh", "[{\"benchmark\":\"a\"}]", "out: [0].primaryMetric");
	refused("jmh", "[{\"primaryMetric\":{}}]", "out: [0].benchmark: is missing");
	refused("jmh", "[7]", "out: [0]: must be an object");
	refused("jmh", "{}", "out: is not a list of benchmarks; let JMH write one with -rf json");
	refused("jmh", "[", "out:1:1: is not JSON");
}

/* ---- llama-bench ------------------------------------------------------------------------------------------------------------ */

static void llama_bench_in_all_its_formats(void **state)
{
	static const char *const names[] = { "llama-bench.jsonl", "llama-bench.csv", "llama-bench.md" };

	(void)state;
	sample("llama-bench.json", "llama-bench");
	rows(2, 0);
	has("llama_1B_Q4_0/pp512/flash_attn=false/per-token", 3, 0.125);
	assert_string_equal(has("llama_1B_Q4_0/tg128@d1024/flash_attn=true/per-token", 1, 5)->statistic, READING_MEAN);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		sample(names[i], "llama-bench");
		rows(2, 0);
		has("llama_1B_Q4_0/pp512/per-token", i == 0 ? 3 : 1, 0.125);
		has("llama_1B_Q4_0/tg128/per-token", 1, 5);
	}
	read_text("llama-bench",
		"ggml: found 1 device\n| model | size | params | ngl | test | t/s |\n| - | -: | - | - | - | -: |\r\n"
		"| a | 1 | 1 | 33 | pp 512+tg 128 @ d64 | 100.00 ± 1.00 |\r\n| a | 1 | 1 | 34 | tg 8 | 50 |");
	rows(2, 0);
	has("a/pp512+tg128@d64/n_gpu_layers=33/per-token", 1, 10);
	has("a/tg8/n_gpu_layers=34/per-token", 1, 20);
}

/* A setting that varies in one file belongs to the names of both. Others, which a version may not know, are conditions. */
static void llama_bench_names_what_varies(void **state)
{
	static const char one[] = "[{\"model_type\":\"a\",\"n_gen\":1,\"avg_ts\":1,\"n_threads\":4}]";
	static const char two[] = "[{\"model_type\":\"a\",\"n_gen\":1,\"avg_ts\":1,\"n_threads\":4,\"poll\":50},"
				  "{\"model_type\":\"a\",\"n_gen\":1,\"avg_ts\":2,\"n_threads\":8,\"poll\":50}]";
	struct reading_options how = { .format = "llama-bench", .unit = "", .time = "", .other = two, .other_len = strlen(two) };
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(reading_parse(&how, one, strlen(one), "out", &reading, &err), 0);
	has("a/tg1/n_threads=4/per-token", 1, 1000);
	read_text("llama-bench", two);
	has("a/tg1/n_threads=8/per-token", 1, 500);
	assert_string_equal(reading.fact[0].name, "poll");
	assert_string_equal(reading.fact[0].value, "50");
}

static void llama_bench_damaged(void **state)
{
	(void)state;
	read_text("llama-bench",
		"[{\"model_type\":\"a\",\"n_gen\":1,\"avg_ts\":0},{\"model_type\":\"a\",\"n_gen\":2,\"avg_ts\":null},"
		"{\"model_type\":\"a\",\"n_gen\":3,\"avg_ts\":1,\"samples_ts\":[1,0]},{\"model_type\":\"a\",\"n_gen\":4,\"avg_ts\":4,\"samples_ts\":7}]");
	rows(1, 3);
	has("a/tg4/per-token", 1, 250);
	lacks("a/tg1/per-token", "its tokens per second, `0`, are not a rate");
	lacks("a/tg3/per-token", "a value of its samples_ts is not a rate");
	read_text("llama-bench",
		"| model | size | params | test | t/s |\n| a | 1 | 1 | tg 8 | nan |\n| a | 1 | 1 | tg\n| a | 1 | 1 | tg 9 | 1 |\n| a |\n");
	rows(1, 3);
	lacks("a/tg8/per-token", "its tokens per second, `nan`, are not a rate");
	lacks("line_3", "it is no whole row of the table");
	refused("llama-bench", "[{\"model_type\":\"a\",\"avg_ts\":1}]", "out: [0].test: is missing");
	refused("llama-bench", "[{\"n_gen\":1,\"avg_ts\":1}]", "out: [0].model_type: is missing");
	refused("llama-bench", "[7]", "out: [0]: must be an object");
	refused("llama-bench", "[]", "out: holds no results of llama-bench");
	refused("llama-bench", "hello", "out: holds no results of llama-bench");
	refused("llama-bench", "{\"model_type\":\"a\",\"n_gen\":1,\"avg_ts\":1}\n{\"mod", "out:2:5: is not a JSON object");
	refused("llama-bench", "model_type,n_gen,avg_ts\na,1,20", "out:2: has no end of line");
	refused("llama-bench", "x,avg_ts_of\n", "out:1: has no column avg_ts");
}

/* ---- tritonbench ------------------------------------------------------------------------------------------------------------ */

static void tritonbench_has_latencies_with_their_rates(void **state)
{
	(void)state;
	sample("tritonbench.csv", "tritonbench");
	rows(4, 0);
	has_tflops("aten_matmul/(M,_N,_K)=(256,_256,_256)", 0.008, 4.194304);
	has_tflops("aten_matmul/(M,_N,_K)=(1024,_1024,_1024)", 0.02, 107.3741824);
	has_tflops("triton_matmul/(M,_N,_K)=(256,_256,_256)", 0.01, 3.3554432);
	lacks("triton_matmul/(M,_N,_K)=(1024,_1024,_1024)", "CUDA out of memory");
	says("column `triton_matmul-speedup` is left out: its metric is neither a time nor a rate");
	sample("tritonbench.json", "tritonbench");
	rows(2, 0);
	has_tflops("gemm_fwd/aten_matmul/x=(256,_256,_256)", 0.008, 4.194304);
	has_tflops("gemm_fwd/triton_matmul/x=(256,_256,_256)", 0.01, 3.3554432);
}

static void tritonbench_has_rates_without_latencies(void **state)
{
	(void)state;
	read_text("tritonbench", "x_val;flops;a-b-tflops;a-b-gbps;c-gbps;c-walltime\n1024.0;7;2;3;4;5\n");
	rows(3, 0);
	has_tflops("a-b/x_val=1024/per-TFLOP", 500, 2);
	has("c/x_val=1024/per-GB", 1, 250);
	has("c/x_val=1024/walltime", 1, 5);
	read_text("tritonbench", "x_val;a-latency\n1;0.0095 (\u00b17.05%)\n2; 3 (+-1%)\n3;x (1)\n");
	rows(3, 0);
	has("a/x_val=1", 1, 0.0095);
	has("a/x_val=2", 1, 3);
	read_text("tritonbench",
		"{\"environ\":{\"device\":\"H100\"},\"metrics\":{\"tritonbench_a_fwd[x_16-b]_tflops\":4,\"tritonbench_a_fwd[x_16-b]_gbps\":4,"
		"\"tritonbench_a_fwd[x_-1-b]_cuda_time\":4,\"x\":1}}");
	rows(2, 0);
	has("a_fwd/b/x=16/per-TFLOP", 1, 250);
	has("a_fwd/b/x=-1/cuda_time", 1, 4);
	assert_string_equal(reading.fact[0].value, "H100");
}

static void tritonbench_damaged(void **state)
{
	(void)state;
	read_text("tritonbench", "x;a-latency\n1;nan\n2;0\n3;-1\n4;\n5;1e300\n6;2\n7\nhashes;abc\n");
	rows(1, 6);
	has("a/x=6", 1, 2);
	lacks("a/x=1", "`nan` is neither a time nor a rate");
	lacks("a/x=4", "it has no value");
	lacks("line_8", "it has 1 cells, the header has 2");
	read_text("tritonbench",
		"{\"tritonbench_g[x_1-a]_latency\":NaN,\"tritonbench_g[x_2-a]_latency\":null,\"tritonbench_g[x_3-a]_latency\":\"no device 7\","
		"\"tritonbench_g[x_4-a]_latency\":[1],\"tritonbench_g[x_5-a]_latency\":5,\"tritonbench_g[x_]_latency\":5,\"tritonbench_g]_[x_6-a]\":1}");
	rows(2, 3);
	has("g/a/x=5", 1, 5);
	lacks("g/a/x=1", "`nan` is neither a time nor a rate");
	lacks("g/a/x=2", "it has no value");
	lacks("g/a/x=3", "no device 7");
	refused("tritonbench", "x;a-latency\n1;25", "out:2: has no end of line");
	refused("tritonbench", "x;a-speedup\n1;2\n", "out:1: has no metric of time or rate");
	refused("tritonbench", "{\"x\":1}", "out: holds no measured row");
	refused("tritonbench", "{\"tritonbench_g[x_1-a]_latency\":", "out:1:32: is not JSON");
	assert_null(reading_guess("low-latency; cheap", 18, "out"));
	assert_null(reading_guess("x;y-speedup\n", 12, "out"));
}

/* ---- torch-compare ---------------------------------------------------------------------------------------------------------- */

#define COMPARE(rows, unit) "[-- l --]\n      |  a  |  b\n1 threads: --\n" rows "\nTimes are in x (" unit ").\n"

static void torch_compare_has_medians_of_all_tables(void **state)
{
	(void)state;
	sample("torch-compare.txt", "torch-compare");
	rows(6, 0);
	has("row_sum/(256,_64)/torch.sum/threads=1", 1, 0.0125);
	has("row_sum/(256,_64)/einsum/threads=1", 1, 0.025);
	has("row_sum/(1024,_64)/torch.sum/threads=1", 1, 0.04);
	has("row_sum/(256,_64)/torch.sum/threads=4", 1, 0.005);
	has("row_sum/(256,_64)/einsum/threads=4", 1, 0.0075);
	has("copy/x[:]/tensor/threads=1", 1, 1.5);
	/* environments, colours, a statement of two lines, and rows of one name */
	read_text(
		"torch-compare", COMPARE("  (base)    x  |  \033[92m\033[1m 1.5 \033[0m\033[0m  |  2\n            y  |  3  |  4\n"
					 "  (new)     x  |  5  |\n      u = 1\n      u + 1  |    |  6\n",
					 "s"));
	rows(6, 0);
	has("l/x/a/env=(base)/threads=1", 1, 1500);
	has("l/y/b/env=(base)/threads=1", 1, 4000);
	has("l/x/a/env=(new)/threads=1", 1, 5000);
	has("l/u_=_1_u_+_1/b/env=(new)/threads=1", 1, 6000);
	read_text("torch-compare", COMPARE("      x  |  1  |  2\n      x  |  3  |  4\n", "ns"));
	has("l/x/a/threads=1#1", 1, 1e-6);
	has("l/x/a/threads=1#2", 1, 3e-6);
}

static void torch_compare_damaged(void **state)
{
	(void)state;
	read_text("torch-compare",
		COMPARE("      x  |  nan  |  0\n      y  |  1.5  |  -1\n      z  |  1.2.3  |  2  |  3  |\n", "us"));
	rows(2, 4);
	has("l/y/a/threads=1", 1, 0.0015);
	has("l/z/b/threads=1", 1, 0.002);
	lacks("l/x/a/threads=1", "`nan` is not a time");
	lacks("l/x/b/threads=1", "`0` is not a time");
	refused("torch-compare", COMPARE("      x  |  1  |  2\n", "h"), "out:1: the unit `h` of the table is unknown");
	refused("torch-compare", "\n[-- l --]\n   |  a\n1 threads: --\n   x  |  1\n",
		"out:2: the table has no line `Times are in ...` below it; is the file cut off?");
	/* cut, with another output behind it, whose unit is not the one of the first table */
	refused("torch-compare", "[-- l --]\n   |  a\n1 threads: --\n   x  |  1\n" COMPARE("      x  |  1  |  2\n", "ms"),
		"out:1: the table has no line `Times are in ...` below it; is the file cut off?");
	refused("torch-compare", "[-- l --]\n\nTimes are in x (us).\n", "out: holds no measured row");
	refused("torch-compare", "hello", "out: holds no table of torch.utils.benchmark.Compare");
}

/* ---- catch2 ----------------------------------------------------------------------------------------------------------------- */

/* Columns as wide as in the table of Catch2. */
#define RULE    "-------------------------------------------------------------------------------\n"
#define CATCH2  "benchmark name                       samples       iterations    est run time\n" RULE
#define NO_MEAN "benchmark name                       samples       iterations    mean\n" RULE
#define SPACES  "                                          "
#define COUNTS  "                                           100             1       1.5 ms\n"

static void catch2_has_the_mean_of_each_benchmark(void **state)
{
	(void)state;
	sample("catch2.txt", "catch2");
	rows(3, 0);
	has("Rows/softmax/1024_columns", 1, 0.1805);
	has("Rows/softmax/4096_columns_of_a_matrix_that_is_not_aligned", 1, 1.25);
	has("Sums/sum", 1, 0.00095);
	read_text("catch2", NO_MEAN "a" COUNTS "b" COUNTS);
	rows(2, 0);
	has("a", 1, 1.5);
	read_text("catch2", CATCH2 "a" COUNTS SPACES "2 s 1 s 3 s\n" SPACES "1 s 1 s 1 s\n\na" COUNTS SPACES "1 m 1 m 1 m\n");
	rows(2, 0);
	has("a#1", 1, 2000);
	has("a#2", 1, 60000);
}

static void catch2_damaged(void **state)
{
	(void)state;
	read_text("catch2",
		RULE "T\n" RULE CATCH2 "a" COUNTS SPACES "nan ns 1 ns 1 ns\n\n" RULE "U\n" RULE CATCH2 "b" COUNTS
		     "Benchmark failed (no device)\nc" COUNTS SPACES "1 us 1 us 1 us\n" SPACES "1 us 1 us 1 us\n"
		     "a line of another program that is longer than any name\nd" COUNTS SPACES "0 ns 0 ns 0 ns\ne" COUNTS);
	rows(2, 3);
	has("U/c", 1, 0.001);
	lacks("T/a", "its mean is missing");
	lacks("U/b", "no device");
	lacks("U/d", "a mean of 0 ms is not a time");
	lacks("U/e", "its mean is missing; is the file cut off?");
	refused("catch2", NO_MEAN "a" SPACES "100             1      1.5 m",
		"a (line 3: its line has no end, so that its mean may be cut)");
	refused("catch2", "<?xml version=\"1.0\"?>\n<Catch2TestRun><BenchmarkResults/></Catch2TestRun>",
		"out:1: is XML, which is not read; let Catch2 write its text");
	refused("catch2", "hello", "out: holds no benchmarks of Catch2's console reporter");
	refused("catch2", CATCH2, "out: holds no measured row");
	assert_string_equal(reading_guess("<Catch2TestRun>\n<BenchmarkResults", 33, "out"), "catch2");
	assert_null(reading_guess("<html>", 6, "out"));
}

/* ---- all formats ----------------------------------------------------------------------------------------------------------- */

static void no_sample_is_another_format(void **state)
{
	char formats[] = FORMAT_NAMES, *rest = formats, *format;

	(void)state;
	while ((format = strsep(&rest, ", ")) != NULL)
		for (int i = 0; i < SAMPLES && *format; i++) {
			struct fw_err err = { 0 };
			struct buf text;
			struct reading r = { 0 };

			if (strcmp(samples[i].format, format) == 0 || strcmp(format, "triton") == 0)
				continue; /* triton reads any table if a user says so */
			reading_file_load(samples[i].name, &text);
			if (parse(format, text.data, text.len, "out", &r, &err) == 0)
				fail_msg("%s is read as %s: %s", samples[i].name, format, r.row[0].key);
			assert_int_equal(err.code, ERR_INVALID);
			buf_fini(&text);
		}
}

/* However a file is cut, what remains of it is what the whole file states. */
static void no_cut_changes_a_value(void **state)
{
	(void)state;
	for (int i = 0; i < SAMPLES; i++) {
		struct buf text;

		sample(samples[i].name, samples[i].format);
		reading_file_load(samples[i].name, &text);
		for (size_t len = 0; len < text.len; len++) {
			struct fw_err err = { 0 };
			struct reading r;
			char *part = malloc(len + 1); /* so that a sanitizer sees a read behind its end */

			assert_non_null(part);
			memcpy(part, text.data, len);
			if (parse(samples[i].format, part, len, samples[i].name, &r, &err) == 0)
				for (int k = 0; k < r.n_rows; k++) {
					const struct reading_row *whole = reading_find(&reading, r.row[k].key);

					if (!whole || whole->n != r.row[k].n || fabs(whole->median_ms - r.row[k].median_ms) > 0)
						fail_msg("%s, cut after %zu bytes: %s", samples[i].name, len, r.row[k].key);
				}
			reading_fini(&r);
			free(part);
		}
		buf_fini(&text);
	}
}

/* A source, a log or the strings of a binary that mention a table of torch.utils.benchmark are no such table. */
static void a_text_about_torch_compare_is_none(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"strings:\n threads: -\nTimes are in \n[-\n",
		"print(\"[- title -]\")\nprint(f\"{n} threads: ----\")\nprint(\"Times are in microseconds (us).\")\n",
		"Times are in microseconds (us).\n1 threads: ----\n[--- sum ---]\n",
		"[--- sum ---]\nmany threads: ----\nTimes are in microseconds (us).\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		const char *guess = reading_guess(texts[i], strlen(texts[i]), "out");
		if (guess)
			fail_msg("it is taken for %s: %s", guess, texts[i]);
	}
	assert_string_equal(
		reading_guess("[--- sum ---]\n1 threads: ----\n x | 1\n\nTimes are in microseconds (us).\n", 70, "out"),
		"torch-compare");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(nsys_has_the_median_of_each_kernel, tear_down),
		cmocka_unit_test_teardown(nsys_of_other_versions_and_reports, tear_down),
		cmocka_unit_test(long_names_stay_different),
		cmocka_unit_test_teardown(nsys_damaged, tear_down),
		cmocka_unit_test(a_text_about_torch_compare_is_none),
		cmocka_unit_test_teardown(cutlass_has_times_of_results_that_are_right, tear_down),
		cmocka_unit_test_teardown(cutlass_printed_after_other_lines, tear_down),
		cmocka_unit_test_teardown(cutlass_damaged, tear_down),
		cmocka_unit_test_teardown(rocprof_has_the_mean_of_each_kernel, tear_down),
		cmocka_unit_test_teardown(rocprof_damaged, tear_down),
		cmocka_unit_test_teardown(hipblaslt_has_a_row_for_each_result, tear_down),
		cmocka_unit_test_teardown(hipblaslt_damaged, tear_down),
		cmocka_unit_test_teardown(liger_has_medians_of_times, tear_down),
		cmocka_unit_test_teardown(liger_damaged, tear_down),
		cmocka_unit_test_teardown(pytest_benchmark_has_rounds_or_statistics, tear_down),
		cmocka_unit_test_teardown(pytest_benchmark_damaged, tear_down),
		cmocka_unit_test_teardown(pytest_benchmark_of_many_rounds, tear_down),
		cmocka_unit_test_teardown(asv_has_samples_or_medians_of_times, tear_down),
		cmocka_unit_test_teardown(asv_combinations_with_long_values_stay_two, tear_down),
		cmocka_unit_test_teardown(asv_damaged, tear_down),
		cmocka_unit_test_teardown(criterion_has_samples_or_estimates, tear_down),
		cmocka_unit_test_teardown(criterion_damaged, tear_down),
		cmocka_unit_test_teardown(jmh_has_times_and_rates, tear_down),
		cmocka_unit_test_teardown(jmh_damaged, tear_down),
		cmocka_unit_test_teardown(llama_bench_in_all_its_formats, tear_down),
		cmocka_unit_test_teardown(llama_bench_names_what_varies, tear_down),
		cmocka_unit_test_teardown(llama_bench_damaged, tear_down),
		cmocka_unit_test_teardown(tritonbench_has_latencies_with_their_rates, tear_down),
		cmocka_unit_test_teardown(tritonbench_has_rates_without_latencies, tear_down),
		cmocka_unit_test_teardown(tritonbench_damaged, tear_down),
		cmocka_unit_test_teardown(torch_compare_has_medians_of_all_tables, tear_down),
		cmocka_unit_test_teardown(torch_compare_damaged, tear_down),
		cmocka_unit_test_teardown(catch2_has_the_mean_of_each_benchmark, tear_down),
		cmocka_unit_test_teardown(catch2_damaged, tear_down),
		cmocka_unit_test(no_sample_is_another_format),
		cmocka_unit_test_teardown(no_cut_changes_a_value, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
