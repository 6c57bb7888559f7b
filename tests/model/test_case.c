/* Cases: the names that identify histories, exact areas and FLOPs, and what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "attention_cell.h"
#include "model/model.h"

static struct cell dense(int32_t mask, int32_t seqlen)
{
	struct cell c = {
		.direction = DIRECTION_FORWARD,
		.threshold_pct = 1.5,
	};
	set_attention(&c,
		&(struct attention_case){
			.mask = mask, .seqlen = seqlen, .nhq = 64, .nhk = 8, .headdim = 128, .dtype = FW_BF16, .n_seqs = 1 },
		0);

	attention_of(&c)->length[0] = seqlen;
	return c;
}

static struct cell sparse(int32_t seqlen, double ratio, int32_t block)
{
	struct cell c = dense(FW_BLOCKS, seqlen);

	attention_of(&c)->sparsity_ratio = ratio;
	attention_of(&c)->block = block;
	return c;
}

static struct cell varlen(int32_t mask)
{
	struct cell c = dense(mask, 12);

	attention_of(&c)->n_seqs = 3;
	attention_of(&c)->length[0] = 7;
	attention_of(&c)->length[1] = 4;
	attention_of(&c)->length[2] = 1;
	return c;
}

static void keys(void **state)
{
	struct cell c = dense(FW_CAUSAL, 8192);

	(void)state;
	case_name(&c);
	assert_string_equal(c.case_key, "attention/dense/causal/s8192/hq64/hk8/d128/bf16");
	assert_string_equal(c.key, "attention/dense/causal/s8192/hq64/hk8/d128/bf16/forward");
	assert_string_equal(c.group, "dense");
	c = sparse(49152, 0.1, 64);
	c.direction = DIRECTION_BACKWARD;
	case_name(&c);
	assert_string_equal(c.key, "attention/block_sparse/s49152/r0.1/b64/hq64/hk8/d128/bf16/backward");
	assert_string_equal(c.group, "block_sparse");
	assert_string_equal(c.title, "keep 0.1, block 64");
	assert_string_equal(c.family, "attention");
	attention_of(&c)->pattern = PATTERN_BANDED;
	case_name(&c);
	assert_string_equal(c.key, "attention/block_sparse/banded/s49152/r0.1/b64/hq64/hk8/d128/bf16/backward");
	assert_string_equal(c.group, "block_sparse");
	assert_string_equal(c.title, "banded, keep 0.1, block 64");
	attention_of(&c)->pattern = PATTERN_RANDOM_TOKENS;
	case_name(&c);
	assert_string_equal(c.title, "random tokens, keep 0.1, block 64");
	c = varlen(FW_FULL);
	case_name(&c);
	assert_string_equal(c.case_key, "attention/dense/varlen_full/s12/hq64/hk8/d128/bf16");
	c = varlen(FW_CAUSAL);
	case_name(&c);
	assert_string_equal(c.title, "varlen causal");
}

/* Long ones of families, with the longest configuration. A cut would make cells equal that differ only at the end. */
static void titles_are_not_cut(void **state)
{
	struct cell c = dense(FW_FULL, 40), longer;
	struct attention_case *a = attention_of(&c);

	(void)state;
	a->mask = FW_CAUSAL;
	a->n_seqs = 2;
	a->length[0] = 32768;
	a->length[1] = 4096;
	a->seqlen = 36864;
	a->queries = 1024;
	a->window = 16384;
	a->page = 128;
	case_name(&c);
	assert_string_equal(c.title, "q1024, n2 mixed, 64:8 heads of 128, w16384, p128");
	memset(c.config, 'A', sizeof c.config - 1);
	longer = c;
	longer.config[sizeof c.config - 2] = 'B';
	case_name(&c);
	case_name(&longer);
	assert_int_equal(strlen(c.title), 48 + 2 + sizeof c.config - 1);
	assert_string_not_equal(c.title, longer.title);
	c = sparse(49152, 0.1, 64);
	attention_of(&c)->pattern = PATTERN_RANDOM_TOKENS;
	memset(c.config, 'A', sizeof c.config - 1);
	longer = c;
	longer.config[sizeof c.config - 2] = 'B';
	case_name(&c);
	case_name(&longer);
	assert_string_not_equal(c.line, longer.line);
}

/* Pairs that a mask includes, counted one by one. */
static double count_pairs(const struct attention_case *a)
{
	double pairs = 0;

	for (int s = 0; s < a->n_seqs; s++)
		for (int q = 0; q < a->length[s]; q++)
			for (int k = 0; k < a->length[s]; k++)
				pairs += a->mask == FW_FULL || k <= q;
	return pairs;
}

static void areas_are_exact(void **state)
{
	struct cell cases[] = { dense(FW_FULL, 37), dense(FW_CAUSAL, 37), varlen(FW_FULL), varlen(FW_CAUSAL) };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_true(attention_area(attention_of(&cases[i])) == count_pairs(attention_of(&cases[i])));
	struct cell c = sparse(49152, 0.1, 128);

	assert_int_equal(attention_kept_blocks(attention_of(&c)), 38); /* floor(0.1 * 384) */
	assert_true(attention_area(attention_of(&c)) == 49152.0 * 38 * 128);
	c = sparse(6400, 0.29, 64); /* 0.29 * 100 is slightly below 29 in doubles */
	assert_int_equal(attention_kept_blocks(attention_of(&c)), 29);
	assert_int_equal(attention_kept_blocks(attention_of(&cases[0])), 0);
	for (int pattern = 0; pattern < PATTERNS; pattern++) {
		uint32_t bits[2 * 16 * 32] = { 0 };
		struct attention_case *a = attention_of(&c);

		c = sparse(1024, 0.3, 64);
		a->pattern = (enum pattern)pattern;
		a->nhk = 2;
		attention_block_bits(a, 5, bits);
		int kept = 0, key_blocks = attention_key_blocks(a);

		for (int w = 0; w < 2 * 16 * ((key_blocks + 31) / 32); w++)
			kept += __builtin_popcount(bits[w]);
		assert_int_equal(key_blocks, pattern == PATTERN_RANDOM_TOKENS ? 1024 : 16);
		assert_int_equal(kept, 2 * 16 * attention_kept_blocks(a));
		assert_true(attention_area(a) == (double)kept / 2 * 64 * attention_key_block(a));
	}
}

static void flops_of_one_call(void **state)
{
	struct cell c = dense(FW_CAUSAL, 8192);

	(void)state;
	assert_true(case_flops(&c) == 4.0 * (8192.0 * 8193 / 2) * 64 * 128);
	c.direction = DIRECTION_BACKWARD;
	assert_true(case_flops(&c) == 10.0 * (8192.0 * 8193 / 2) * 64 * 128);
}

static void problem_of_the_abi(void **state)
{
	struct fw_attention a;
	struct fw_problem p;
	struct cell c = sparse(49152, 0.5, 64);

	(void)state;
	c.direction = DIRECTION_BACKWARD;
	case_problem(&c, &a, &p);
	assert_int_equal(p.struct_size, sizeof p);
	assert_int_equal(p.family, FW_ATTENTION);
	assert_int_equal(p.direction, FW_BACKWARD);
	assert_ptr_equal(p.shape, &a);
	assert_int_equal(p.shape_size, sizeof a);
	assert_int_equal(a.struct_size, sizeof a);
	assert_int_equal(a.total_q, 49152);
	assert_int_equal(a.max_blocks, (int64_t)8 * 768 * 384);
	assert_int_equal(a.block_q, 64);
	assert_true(fabs(a.scale - 1 / sqrt(128.0)) < 1e-15);
	c = sparse(8192, 0.5, 64);
	attention_of(&c)->pattern = PATTERN_RANDOM_TOKENS;
	case_problem(&c, &a, &p);
	assert_int_equal(a.block_q, 64);
	assert_int_equal(a.block_k, 1);
	assert_int_equal(a.max_blocks, (int64_t)8 * 128 * 4096);
	c = varlen(FW_CAUSAL);
	case_problem(&c, &a, &p);
	assert_int_equal(a.n_seqs, 3);
	assert_int_equal(a.max_q, 7);
	assert_int_equal(a.max_k, 7);
	assert_int_equal(a.max_blocks, 0);
	assert_int_equal(p.direction, FW_FORWARD);
}

static void refuse(struct cell c, const char *words)
{
	struct fw_err err = { 0 };

	assert_int_equal(case_check(&c, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	if (!strstr(err.text, words))
		fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void bytes_count_the_compulsory_traffic(void **state)
{
	struct cell c = dense(FW_CAUSAL, 8192), b = sparse(8192, 0.5, 64);
	double query = 2.0 * 8192 * 64 * 128, key = 2.0 * 8192 * 8 * 128, lse = 4.0 * 8192 * 64;

	(void)state;
	assert_true(case_bytes(&c) == 2 * query + 2 * key + lse);
	assert_true(case_bytes(&b) == 2 * query + lse); /* a key block may be retained nowhere */
	c.direction = b.direction = DIRECTION_BACKWARD;
	assert_true(case_bytes(&c) == 3 * query + 4 * key);
	assert_true(case_bytes(&b) == 3 * query + 2 * key);
}

static void impossible_sizes(void **state)
{
	struct cell c;

	(void)state;
	c = dense(FW_FULL, 128);
	attention_of(&c)->nhk = 7;
	refuse(c, "not a multiple of nhk 7");
	c = dense(FW_FULL, 128);
	attention_of(&c)->headdim = 100;
	refuse(c, "headdim 100");
	c = dense(FW_FULL, 0);
	refuse(c, "seqlen 0");
	c = dense(FW_FULL, 1 << 20);
	refuse(c, "2^32 elements");
	c = dense(9, 128);
	refuse(c, "mask 9");
	c = dense(FW_FULL, 128);
	attention_of(&c)->dtype = FW_F32;
	refuse(c, "f32");
	c = dense(FW_FULL, 128);
	attention_of(&c)->block = 64;
	refuse(c, "dense case has no block");
	c = dense(FW_FULL, 128);
	c.direction = (enum direction)3;
	refuse(c, "has no direction");
	c = dense(FW_FULL, 128);
	c.threshold_pct = 0;
	refuse(c, "threshold");
	c = varlen(FW_FULL);
	attention_of(&c)->length[1] = 5;
	refuse(c, "hold 13 tokens, seqlen is 12");
	c = varlen(FW_FULL);
	attention_of(&c)->length[2] = 0;
	refuse(c, "sequence 2 has 0 tokens");
	refuse(sparse(1000, 0.5, 64), "seqlen 1000 is not a multiple of block size 64; use 960 or 1024");
	refuse(sparse(64, 0.5, 128), "does not fit");
	refuse(sparse(1024, 0, 64), "sparsity ratio");
	refuse(sparse(1024, 1.5, 64), "sparsity ratio");
	refuse(sparse(1024, NAN, 64), "sparsity ratio");
	refuse(sparse(1024, 0.05, 64), "less than one of 16 blocks");
	refuse(sparse(1 << 17, 0.5, 1), "more than");
	c = sparse(32768, 0.5, 64);
	attention_of(&c)->pattern = PATTERN_RANDOM_TOKENS;
	refuse(c, "random tokens are drawn of at most 16384, not of seqlen 32768");
	c = sparse(1024, 0.5, 64);
	attention_of(&c)->pattern = PATTERNS;
	refuse(c, "pattern 5 is unknown");
	c = sparse(1024, 0.32, 64);
	attention_of(&c)->pattern = PATTERN_BIGBIRD;
	refuse(c, "at least one that is drawn; sparsity ratio 0.32 keeps 5 of 16");
	c = dense(FW_FULL, 128);
	attention_of(&c)->pattern = PATTERN_BANDED;
	refuse(c, "dense case has no block size, sparsity ratio or pattern");
}

static void possible_sizes(void **state)
{
	struct cell cases[] = { dense(FW_FULL, 8192), dense(FW_CAUSAL, 1), varlen(FW_FULL), varlen(FW_CAUSAL),
		sparse(49152, 0.1, 64), sparse(49152, 1, 128) };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct fw_err err = { 0 };

		assert_int_equal(case_check(&cases[i], &err), 0);
		assert_int_equal(err.code, ERR_NONE);
	}
	assert_int_equal(attention_kept_blocks(attention_of(&cases[5])), 384);
}

static void texts_of_families(void **state)
{
	struct cell c = dense(FW_CAUSAL, 8192), program;
	const struct family *f = case_family(&c);
	struct benchmark b = { .name = "a_benchmark_of_sums", .threshold_pct = 2 };

	(void)state;
	case_name(&c);
	assert_string_equal(family_slot_name(f, 0), f->slot[0].name);
	assert_string_equal(family_slot_name(f, f->n_slots), "?");
	assert_string_equal(family_slot_name(f, -1), "?");
	assert_string_equal(family_phase_name(f, FW_ALL), "all");
	assert_string_equal(family_phase_name(f, 1), f->phase[0]);
	assert_string_equal(family_phase_name(f, 3), "phases");
	assert_false(family_needs_forward(f, c.shape.bytes, DIRECTION_FORWARD));
	assert_true(family_needs_forward(f, c.shape.bytes, DIRECTION_BACKWARD));
	assert_int_equal(family_element_bytes(FW_F32), 4);
	assert_int_equal(family_element_bytes(FW_BF16), 2);
	assert_int_equal(family_element_bytes(FW_E4M3), 1);
	assert_string_equal(family_dtype_name(FW_E5M2), "e5m2");
	assert_string_equal(family_dtype_name(-7), "unknown");
	assert_string_equal(family_default()->name, "attention");
	assert_null(family_find("convolution"));
	assert_null(family_group("convolution"));
	assert_int_equal(case_metric(&c), f->metric);
	c.direction = DIRECTION_ONCE;
	assert_int_equal(case_metric(&c), METRIC_GBPS);
	benchmark_cell(&b, "sums/n1024", 1e6, &program);
	assert_string_equal(program.key, "sums/n1024");
	assert_string_equal(program.case_key, "sums/n1024");
	assert_string_equal(program.group, "a_benchmark_of_"); /* cut */
	assert_int_equal(case_metric(&program), METRIC_TFLOPS);
	assert_true(case_flops(&program) == 1e6 && isnan(case_bytes(&program)));
	snprintf(program.family, sizeof program.family, "convolution");
	refuse(program, "family \"convolution\" is unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys),
		cmocka_unit_test(titles_are_not_cut),
		cmocka_unit_test(areas_are_exact),
		cmocka_unit_test(flops_of_one_call),
		cmocka_unit_test(problem_of_the_abi),
		cmocka_unit_test(bytes_count_the_compulsory_traffic),
		cmocka_unit_test(impossible_sizes),
		cmocka_unit_test(possible_sizes),
		cmocka_unit_test(texts_of_families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
