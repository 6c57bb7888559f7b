/* MagiAttention's CSV files: columns, missing values, digits that preserve a verdict, and two profiles compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "readers/readers.h"

static struct buf out;

static int setup(void **state)
{
	(void)state;
	buf_init(&out, 1 << 20);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	buf_fini(&out);
	return 0;
}

static void says(const char *wanted)
{
	if (!strstr(out.data, wanted))
		fail_msg("no `%s` in:\n%s", wanted, out.data);
}

static void test_row(void **state)
{
	(void)state;
	struct ffa_csv_row row = { .tokens = 8192, .mask = "full", .latency_ms = 3.5861, .tflops = 613.2028 };
	row.phase_ms[ffa_csv_phase("run", 3, false)] = 3.4125;
	ffa_csv_put(&out, false, &row);
	assert_string_equal(out.data, "8192,full,fwd,3.586100,613.2028,-1.0000,-1.0000,-1.0000,3.412500,-1.0000,-1.0000,,,,,\n");
	buf_clear(&out);
	row = (struct ffa_csv_row){ .tokens = 49152, .ratio = 0.05, .block = 64, .tile_q = 128, .backward = true };
	ffa_csv_put(&out, true, &row);
	assert_string_equal(out.data,
		"49152,0.05,64,64,False,False,False,128,-1,bwd,-1.0000,-1.0000,,,,,,,-1.0000,-1.0000,-1.0000,-1.0000,-1.0000\n");
	assert_int_equal(ffa_csv_phase("fill", 4, true), -1);
}

/* Four decimals of 0.0123 ms are a resolution of one per cent: enough to reverse a verdict. */
static void test_short_times(void **state)
{
	(void)state;
	ffa_csv_put(&out, false, &(struct ffa_csv_row){ .mask = "full", .latency_ms = 0.012345678, .tflops = 0.5 });
	says(",0.01234568,0.5000000,");
}

static int compare(const char *base, const char *target, int *rows, struct fw_err *err)
{
	struct ffa_file a = { base, "a.csv", strlen(base) }, b = { target, "b.csv", strlen(target) };
	buf_clear(&out);
	return ffa_compare(&a, &b, "", &out, rows, err);
}

static void test_compare_dense(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	int rows;
	const char *base = "seqlen,mask_type,direction,latency_ms,tflops_per_sec,fwd_run_ms,fwd_fill_ms\n"
			   "8192,full,fwd,4.0000,500.0000,3.0000,-1.0000\n"
			   "8192,full,bwd,9.0000,400.0000,,\n"
			   "8192,causal,fwd,2.0000,500.0000,1.0000,-1.0000\n",
		   *target = "seqlen,mask_type,direction,latency_ms,tflops_per_sec,fwd_run_ms,fwd_fill_ms\n"
			     "8192,causal,fwd,1.0000,1000.0000,0.5000,0.2000\n"
			     "8192,full,fwd,5.0000,400.0000,4.0000,-1.0000\n";
	assert_int_equal(compare(base, target, &rows, &err), 0);
	assert_int_equal(rows, 2);
	says("mask_type,direction,seqlen,tflops_per_sec_baseline,tflops_per_sec_target,tflops_per_sec_improvement(%),fwd_run_ms_"
	     "baseline,");
	says("\nfull,fwd,8192,500.0000,400.0000,-20.0000,3.0000,4.0000,33.3333,-1.0000,-1.0000,\n");
	says("\ncausal,fwd,8192,500.0000,1000.0000,100.0000,1.0000,0.5000,-50.0000,-1.0000,0.2000,\n");
}

#define SPARSE                                                                                                                   \
	"seqlen,sparsity_ratio,q_block_size,k_block_size,swap_ab,pack_gqa,sparse_load,kblockm,kblockn,direction,latency_ms,"     \
	"tflops_per_sec\n"

/* Two builds may choose different tiles: the case is the same. Rows that differ only in their tiles stay separate. */
static void test_compare_sparse(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	int rows;
	assert_int_equal(compare(SPARSE "49152,0.1000,64,64,False,False,False,64,64,fwd,1.0,100\n",
				 SPARSE "49152,0.1,64,64,False,False,False,128,64,fwd,2.0,50\n", &rows, &err),
		0);
	assert_int_equal(rows, 1);
	says("seqlen,sparsity_ratio,block_size,direction,latency_ms_baseline,latency_ms_target,latency_ms_improvement(%),");
	says("\n49152,0.1000,64,fwd,1.0,2.0,100.0000,100,50,-50.0000\n");

	assert_int_equal(compare("seqlen,sparsity_ratio,block_size,direction,latency_ms\n49152,0.1,64,fwd,1.0\n",
				 SPARSE "49152,0.1,64,64,False,False,False,64,64,fwd,2.0,50\n", &rows, &err),
		0);
	assert_int_equal(rows, 1);

	const char *swept = SPARSE "49152,0.1,64,64,False,False,False,64,64,fwd,1.0,100\n"
				   "49152,0.1,64,64,False,False,False,128,64,fwd,4.0,25\n";
	assert_int_equal(compare(swept, SPARSE "49152,0.1,64,64,False,False,False,128,64,fwd,2.0,50\n", &rows, &err), 0);
	assert_int_equal(rows, 1);
	says("49152,0.1,64,False,False,False,128,64,fwd,4.0,2.0,-50.0000,");
}

/* Rows are forward or backward: a total has none. */
static void test_cells(void **state)
{
	(void)state;
	assert_true(ffa_csv_takes(false, "attention/dense/full/s64/hq1/hk1/d64/bf16/forward"));
	assert_true(ffa_csv_takes(true, "attention/block_sparse/s64/r0.5/b32/hq1/hk1/d64/bf16/backward"));
	assert_false(ffa_csv_takes(false, "attention/dense/full/s64/hq1/hk1/d64/bf16/total"));
	assert_false(ffa_csv_takes(false, "attention/dense/full/s64/hq1/hk1/d64/bf16/ISA=v3/forward"));
	assert_false(ffa_csv_takes(true, "attention/token_mask/random/r0.3/s64/n1/hq1/hk1/d64/bf16/forward"));
}

static void test_refused(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	int rows;
	const char *dense = "seqlen,mask_type,direction,latency_ms\n8192,full,fwd,4.0\n";
	assert_int_equal(compare(dense, SPARSE, &rows, &err), -1);
	assert_string_equal(err.text, "a.csv is dense and b.csv is block-sparse; only files of one kind compare");
	err_clear(&err);
	assert_int_equal(compare(dense, "seqlen,mask_type,direction,latency_ms\n8192,full,f", &rows, &err), -1);
	assert_string_equal(err.text, "b.csv:2: has 3 cells, the header has 4; is the file cut off?");
	err_clear(&err);
	assert_int_equal(compare("", dense, &rows, &err), -1);
	assert_string_equal(err.text, "a.csv: is empty; its first line must name the columns");
	err_clear(&err);
	assert_int_equal(compare("a,b\n1,2\n", dense, &rows, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_row, setup, teardown),
		cmocka_unit_test_setup_teardown(test_short_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_compare_dense, setup, teardown),
		cmocka_unit_test_setup_teardown(test_compare_sparse, setup, teardown),
		cmocka_unit_test(test_cells),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
