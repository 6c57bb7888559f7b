/* Suites: the shipped files resolve to the documented cells; every mistake is found at its position. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attention_cell.h"
#include "lib/lib.h"
#include "model/model.h"

static void load(const char *path, struct suite *s)
{
	struct fw_err err = { 0 };
	struct buf text;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	buf_init(&text, 1 << 16);
	assert_int_equal(buf_read_fd(&text, fd), 0);
	close(fd);
	if (suite_parse(text.data, text.len, path, s, &err))
		fail_msg("%s", err.text);
	buf_fini(&text);
}

static void parse(const char *text, struct suite *s)
{
	struct fw_err err = { 0 };

	if (suite_parse(text, strlen(text), "s.yaml", s, &err))
		fail_msg("%s", err.text);
}

static void ffa_is_twenty_cells(void **state)
{
	static const char *const keys[] = {
		"attention/dense/full/s8192/hq64/hk8/d128/bf16/forward",
		"attention/dense/full/s8192/hq64/hk8/d128/bf16/backward",
		"attention/dense/causal/s8192/hq64/hk8/d128/bf16/forward",
		"attention/dense/causal/s8192/hq64/hk8/d128/bf16/backward",
		"attention/dense/varlen_full/s8192/hq64/hk8/d128/bf16/forward",
		"attention/dense/varlen_full/s8192/hq64/hk8/d128/bf16/backward",
		"attention/dense/varlen_causal/s8192/hq64/hk8/d128/bf16/forward",
		"attention/dense/varlen_causal/s8192/hq64/hk8/d128/bf16/backward",
		"attention/block_sparse/s49152/r0.1/b64/hq64/hk8/d128/bf16/forward",
		"attention/block_sparse/s49152/r0.1/b64/hq64/hk8/d128/bf16/backward",
		"attention/block_sparse/s49152/r0.1/b128/hq64/hk8/d128/bf16/forward",
		"attention/block_sparse/s49152/r0.1/b128/hq64/hk8/d128/bf16/backward",
		"attention/block_sparse/s49152/r0.2/b64/hq64/hk8/d128/bf16/forward",
		"attention/block_sparse/s49152/r0.2/b64/hq64/hk8/d128/bf16/backward",
		"attention/block_sparse/s49152/r0.2/b128/hq64/hk8/d128/bf16/forward",
		"attention/block_sparse/s49152/r0.2/b128/hq64/hk8/d128/bf16/backward",
		"attention/block_sparse/s49152/r0.5/b64/hq64/hk8/d128/bf16/forward",
		"attention/block_sparse/s49152/r0.5/b64/hq64/hk8/d128/bf16/backward",
		"attention/block_sparse/s49152/r0.5/b128/hq64/hk8/d128/bf16/forward",
		"attention/block_sparse/s49152/r0.5/b128/hq64/hk8/d128/bf16/backward",
	};
	struct suite s;

	(void)state;
	load("etc/suites/ffa.yaml", &s);
	assert_string_equal(s.name, "ffa");
	assert_string_equal(s.family, "attention");
	assert_true(s.budget_s == 600);
	assert_int_equal(s.n_cells, 20);
	for (int i = 0; i < 20; i++) {
		assert_string_equal(s.cell[i].key, keys[i]);
		assert_true(s.cell[i].threshold_pct == 1.5);
		assert_int_equal(s.cell[i].seed, 42);
	}
	assert_int_equal(attention_of(&s.cell[4])->n_seqs, 14);
	assert_int_equal(attention_of(&s.cell[6])->n_seqs, 15);
	assert_int_equal(attention_of(&s.cell[6])->length[3], 2823);
	suite_fini(&s);
	assert_null(s.cell);
}

static double seconds_of_useful_work(const struct suite *s, double tflops)
{
	double flops = 0;

	for (int i = 0; i < s->n_cells; i++)
		flops += case_flops(&s->cell[i]);
	return flops / tflops * 1e-12;
}

static int count(const struct suite *s, const char *glob)
{
	int n = 0;

	for (int i = 0; i < s->n_cells; i++)
		n += suite_matches(s->cell[i].key, glob);
	return n;
}

/* The statements of doc/suites.md: how many cells, of what, and that their budget is enough for 300 rounds of them. */
static void suites_of_public_systems(void **state)
{
	static const struct {
		const char *file;
		int n_cells;
	} files[] = { { "bubble", 126 }, { "ws", 32 }, { "ws-2x16x64", 32 }, { "traffic", 16 }, { "ffa-nearly-dense", 4 },
		{ "serving", 23 } };
	char path[64];
	struct suite s;

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		snprintf(path, sizeof path, "etc/suites/%s.yaml", files[i].file);
		load(path, &s);
		assert_string_equal(s.name, files[i].file);
		assert_int_equal(s.n_cells, files[i].n_cells);
		assert_true(seconds_of_useful_work(&s, 300) < s.budget_s / 300);
		suite_fini(&s);
	}
	load("etc/suites/bubble.yaml", &s);
	assert_int_equal(count(&s, "attention/dense/full/*"), 6);
	for (int pattern = 1; pattern <= PATTERN_RANDOM_TOKENS; pattern++) {
		snprintf(path, sizeof path, "attention/block_sparse/%s/*", pattern_names[pattern]);
		assert_int_equal(count(&s, path), 30);
	}
	assert_int_equal(count(&s, "*/s512/*"), 42);
	suite_fini(&s);
	load("etc/suites/ws-2x16x64.yaml", &s);
	for (int i = 0; i < s.n_cells; i++)
		assert_true(attention_of(&s.cell[i])->n_seqs == 2 &&
			    attention_of(&s.cell[i])->length[0] == attention_of(&s.cell[i])->length[1]);
	assert_int_equal(attention_of(&s.cell[0])->length[0], 128);
	assert_string_equal(s.cell[0].case_key, "attention/dense/varlen_full/s256/hq16/hk16/d64/bf16");
	suite_fini(&s);
	load("etc/suites/traffic.yaml", &s);
	assert_int_equal(count(&s, "*/bigbird/*"), 8);
	suite_fini(&s);
	load("etc/suites/linear-fp8.yaml", &s);
	assert_int_equal(s.n_cells, 32);
	assert_int_equal(count(&s, "linear/linear/float8dq-block/m4096/k*/total"), 2);
	suite_fini(&s);
	load("etc/suites/serving.yaml", &s);
	assert_int_equal(count(&s, "attention/decode/*"), 20);
	for (int i = 0; i < s.n_cells; i++) /* calls of less than 50 us at the speed of an H200 */
		assert_true(s.cell[i].decide == SERIES_DEVICE || case_bytes(&s.cell[i]) / 4e12 < 50e-6);
	suite_fini(&s);
}

static void small_suites_fit_a_cpu(void **state)
{
	static const char *const files[] = { "etc/suites/ffa-smoke.yaml", "etc/suites/demo.yaml", "etc/suites/serving-smoke.yaml",
		"etc/suites/linear-fp8-smoke.yaml" };

	(void)state;
	for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
		struct suite s;

		load(files[f], &s);
		assert_true(s.n_cells >= 4 && s.n_cells <= 16);
		for (int i = 0; i < s.n_cells; i++)
			assert_true(case_flops(&s.cell[i]) < 3e9);
		suite_fini(&s);
	}
}

#define HEAD                                                                                                                     \
	"suite: s\nfamily: attention\ncommon: {nhq: 8, nhk: 2, headdim: 64}\n"                                                   \
	"varlen: {full: [100, 28], causal: [64, 63, 1]}\n"

static void thresholds_and_directions(void **state)
{
	struct suite s;

	(void)state;
	parse(HEAD "dense: {seqlens: [128, 256], masks: [full]}\nblock_sparse: {seqlens: [512], sparsity_ratios: [0.5], "
		   "block_sizes: [64]}\n"
		   "directions: [backward]\nthreshold_pct: 2\nthresholds: [{cell: '*/s128/*', pct: 3}, {cell: "
		   "'attention/block*', pct: 4%}]\n"
		   "seed: 9\nbudget_s: 30s\n",
		&s);
	assert_int_equal(s.n_cells, 3);
	assert_int_equal(s.cell[0].direction, DIRECTION_BACKWARD);
	assert_true(s.cell[0].threshold_pct == 3);
	assert_true(s.cell[1].threshold_pct == 2);
	assert_true(s.cell[2].threshold_pct == 4);
	assert_int_equal(s.cell[2].seed, 9);
	assert_true(s.budget_s == 30);
	suite_fini(&s);
}

static void each_case_in_each_configuration(void **state)
{
	struct suite s;

	(void)state;
	parse(HEAD
		"dense: {seqlens: [128], masks: [full]}\nblock_sparse: {seqlens: [128], sparsity_ratios: [0.5], block_sizes: [64]}\n"
		"configs: [ISA=base, 'TILE=2   STAGES=3']\ndirections: [forward, backward]\n"
		"thresholds: [{cell: '*/ISA=base/*', pct: 3}]\n",
		&s);
	assert_int_equal(s.n_cells, 8);
	assert_string_equal(s.cell[0].key, "attention/dense/full/s128/hq8/hk2/d64/bf16/ISA=base/forward");
	assert_string_equal(s.cell[0].config, "ISA=base");
	assert_string_equal(s.cell[0].title, "full, ISA=base");
	assert_string_equal(s.cell[3].key, "attention/dense/full/s128/hq8/hk2/d64/bf16/TILE=2,STAGES=3/backward");
	assert_string_equal(s.cell[3].config, "TILE=2 STAGES=3");
	assert_true(s.cell[0].threshold_pct == 3 && s.cell[3].threshold_pct == 1.5);
	/* a sparse case is compared with the dense case in the same configuration */
	assert_string_equal(s.cell[4].baseline, s.cell[0].key);
	assert_string_equal(s.cell[7].baseline, s.cell[3].key);
	suite_fini(&s);
}

static void patterns_of_block_masks(void **state)
{
	static const char *const masks[] = { "block_sparse", "banded", "strided", "random_tokens" };
	struct suite s, named;
	char hex[65], named_hex[65];

	(void)state;
	parse(HEAD "block_sparse: {seqlens: [512], sparsity_ratios: [0.5], block_sizes: [64], "
		   "pattern: [uniform, banded, strided, random_tokens]}\ndirections: [forward]\n",
		&s);
	assert_int_equal(s.n_cells, 4);
	for (int i = 0; i < 4; i++) {
		assert_string_equal(attention_mask_name(attention_of(&s.cell[i])), masks[i]);
		assert_int_equal(attention_of(&s.cell[i])->pattern, i);
	}
	assert_string_equal(s.cell[0].key, "attention/block_sparse/s512/r0.5/b64/hq8/hk2/d64/bf16/forward");
	assert_string_equal(s.cell[3].key, "attention/block_sparse/random_tokens/s512/r0.5/b64/hq8/hk2/d64/bf16/forward");
	suite_fini(&s);
	parse(HEAD "block_sparse: {seqlens: [512], sparsity_ratios: [0.5], block_sizes: [64]}\n", &s);
	parse(HEAD "block_sparse: {seqlens: [512], sparsity_ratios: [0.5], block_sizes: [64], pattern: [uniform]}\n", &named);
	suite_hash(&s, hex);
	suite_hash(&named, named_hex);
	assert_string_equal(hex, named_hex); /* masks without a pattern have always been uniform */
	suite_fini(&s);
	suite_fini(&named);
}

static void sparse_lengths_have_a_dense_case(void **state)
{
	struct suite s;

	(void)state;
	parse(HEAD "dense: {seqlens: [512], masks: [full]}\nblock_sparse: {seqlens: [512, 1024], sparsity_ratios: [0.5], "
		   "block_sizes: [64], dense_reference: true}\ndirections: [forward]\n",
		&s);
	assert_int_equal(s.n_cells, 4);
	assert_string_equal(s.cell[0].case_key, "attention/dense/full/s512/hq8/hk2/d64/bf16");
	assert_string_equal(s.cell[1].case_key, "attention/dense/full/s1024/hq8/hk2/d64/bf16");
	assert_string_equal(attention_mask_name(attention_of(&s.cell[2])), "block_sparse");
	suite_fini(&s);
	parse(HEAD "block_sparse: {seqlens: [512], sparsity_ratios: [0.5], block_sizes: [64], dense_reference: false}\n", &s);
	assert_int_equal(s.n_cells, 2);
	suite_fini(&s);
	parse(HEAD "block_sparse:\n  - {seqlens: [512], sparsity_ratios: [0.25], block_sizes: [64], dense_reference: true}\n"
		   "  - {seqlens: [512, 1024], sparsity_ratios: [0.5], block_sizes: [128], dense_reference: true}\n"
		   "directions: [forward]\n",
		&s);
	assert_int_equal(s.n_cells, 5); /* the dense case of 512 tokens once */
	suite_fini(&s);
}

static void filter_keeps_order(void **state)
{
	struct suite s;

	(void)state;
	load("etc/suites/ffa.yaml", &s);
	assert_int_equal(suite_filter(&s, "*/forward"), 10);
	assert_int_equal(suite_filter(&s, "*/dense/*"), 4);
	assert_string_equal(s.cell[3].title, "varlen causal");
	assert_int_equal(suite_filter(&s, "nothing"), 0);
	suite_fini(&s);
}

static void hash_is_of_the_cells(void **state)
{
	static const char body[] = HEAD "dense: {seqlens: [128], masks: [varlen_full]}\n";
	static const char moved[] =
		"# a comment\ndense:\n  masks: [ varlen_full ]\n  seqlens: [128]\n" HEAD "threshold_pct: 1.5\n";
	static const char *const others[] = {
		HEAD "dense: {seqlens: [128], masks: [varlen_full]}\nseed: 43\n",
		HEAD "dense: {seqlens: [128], masks: [varlen_full]}\nthreshold_pct: 1.4\n",
		HEAD "dense: {seqlens: [128], masks: [varlen_causal]}\n",
		"suite: s\nfamily: attention\ncommon: {nhq: 8, nhk: 2, headdim: 64}\nvarlen: {full: [28, 100]}\n"
		"dense: {seqlens: [128], masks: [varlen_full]}\n",
	};
	struct suite a, b;
	char one[65], two[65];

	(void)state;
	parse(body, &a);
	parse(moved, &b);
	suite_hash(&a, one);
	suite_hash(&b, two);
	assert_int_equal(strlen(one), 64);
	assert_string_equal(one, two);
	suite_fini(&b);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		parse(others[i], &b);
		suite_hash(&b, two);
		assert_string_not_equal(one, two);
		suite_fini(&b);
	}
	suite_fini(&a);
}

static void mistake(const char *text, const char *words)
{
	struct suite s;
	struct fw_err err = { 0 };

	assert_int_equal(suite_parse(text, strlen(text), "s.yaml", &s, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_null(s.cell);
	assert_int_equal(s.n_cells, 0);
	if (!strstr(err.text, words))
		fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void the_call_decides_some_cells(void **state)
{
	static const char cells[] = HEAD "dense: {seqlens: [128, 256], masks: [full]}\ndirections: [forward]\n";
	char text[400];
	struct suite s;

	(void)state;
	snprintf(text, sizeof text, "%sdecide: {call: ['*/s256/*']}\n", cells);
	parse(text, &s);
	assert_int_equal(s.cell[0].decide, SERIES_DEVICE);
	assert_int_equal(s.cell[1].decide, SERIES_CALL);
	suite_fini(&s);
	snprintf(text, sizeof text, "%sdecide: {call: ['*/s512/*']}\n", cells);
	mistake(text, ":7:17: decide.call[0]: \"*/s512/*\" matches no cell of this suite");
	snprintf(text, sizeof text, "%sdecide: {device: ['*']}\n", cells);
	mistake(text, ":7:9: decide: call is missing");
	snprintf(text, sizeof text, "%sdecide: host\n", cells);
	mistake(text, ":7:9: decide: \"host\" is unknown; use device, call or {call: [PATTERN]}");
}

static void many_thresholds(void)
{
	struct buf text;

	buf_init(&text, 1 << 20);
	buf_puts(&text, HEAD "dense: {seqlens: [128], masks: [full]}\nthresholds:\n");
	for (int i = 0; i <= SUITE_CELLS_MAX; i++)
		buf_puts(&text, "  - {cell: '*', pct: 2}\n");
	mistake(text.data, "must be a list of at most");
	buf_fini(&text);
}

static void costs_have_limits(void **state)
{
	struct suite s;
	struct fw_err err;
	const char *text = HEAD "dense: {seqlens: [128], masks: [full]}\ncosts: {memory: 5, first: off, launches: 12.5}\n";
	(void)state;
	assert_int_equal(suite_parse(text, strlen(text), "s.yaml", &s, &err), 0);
	assert_true(s.costs.pct[COST_MEMORY] == 5 && s.costs.pct[COST_FIRST] == COST_OFF && s.costs.pct[COST_LAUNCHES] == 12.5);
	assert_true(s.costs.pct[COST_ERROR] == 50 && s.costs.pct[COST_HOST] == 10); /* the defaults */
	suite_fini(&s);
}

static void mistakes(void **state)
{
	(void)state;
	mistake("", "must be a mapping");
	mistake("- 1", "must be a mapping");
	mistake("suite: [", "s.yaml:");
	mistake("suite: s\nfamily: attention\n", "common is missing");
	mistake("family: attention\ncommon: {nhq: 8, nhk: 2, headdim: 64}\n", "suite is missing");
	mistake(HEAD, "holds no cell");
	mistake(HEAD "dense: {seqlen: [128], masks: [full]}\n", "did you mean");
	mistake(HEAD "dense: {seqlens: [128]}\n", "masks is missing");
	mistake(HEAD "dense: {seqlens: [128], masks: [diagonal]}\n", "s.yaml:5:33: dense.masks[0]: \"diagonal\" is unknown");
	mistake(HEAD "dense: {seqlens: [0], masks: [full]}\n", "dense.seqlens[0]");
	mistake(HEAD "dense: {seqlens: [129], masks: [varlen_full]}\n",
		"the lengths in varlen.full sum to 128, but seqlen is 129");
	mistake(HEAD "dense: {seqlens: [128, 128], masks: [full]}\n", "appears twice");
	mistake(HEAD "dense: {seqlens: [1.5], masks: [full]}\n", "dense.seqlens[0]");
	mistake(HEAD "dense: {seqlens: [128], masks: [full]}\ncosts: {memory: -1}\n", "s.yaml:6:17: costs.memory: ");
	mistake(HEAD "dense: {seqlens: [128], masks: [full]}\ncosts: {memory: 5, colour: 2}\n", "s.yaml:6:20: costs.colour: ");
	mistake(HEAD "dense: {seqlens: [128], masks: [full]}\ncosts: 5\n", "e.g. {memory: 5, first: off}");
	mistake(HEAD "block_sparse: {seqlens: [1000], sparsity_ratios: [0.5], block_sizes: [64]}\n",
		"not a multiple of block size 64");
	mistake(HEAD "block_sparse: {seqlens: [1024], sparsity_ratios: [1.5], block_sizes: [64]}\n", "sparsity_ratios[0]");
	mistake(HEAD "block_sparse: {seqlens: [1024], sparsity_ratios: [0.01], block_sizes: [64]}\n",
		"less than one of 16 blocks");
	mistake(HEAD "block_sparse: {seqlens: [64], sparsity_ratios: [0.5], block_sizes: [128]}\n", "does not fit");
	mistake(HEAD "block_sparse: {seqlens: [64], sparsity_ratios: [0.5], block_sizes: [32], pattern: [diagonal]}\n",
		"use uniform, banded, strided, random_tokens or bigbird");
	mistake(HEAD "block_sparse: {seqlens: [64], sparsity_ratios: [0.5], block_sizes: [32], dense_reference: yes}\n",
		"dense_reference");
	mistake(HEAD "block_sparse: []\n", "list of 1 to 32 mappings");
	mistake(HEAD "block_sparse: [64]\n", "block_sparse[0]: must be a mapping of seqlens");
	mistake(HEAD "block_sparse: {seqlens: [64], sparsity_ratios: [0.5], block_sizes: [32], pattern: banded}\n",
		"must be a list of uniform");
	mistake(HEAD "block_sparse: {seqlens: [64], sparsity_ratios: [0.5], block_sizes: [32], pattern: [banded, banded]}\n",
		"appears twice");
	mistake(HEAD "dense: {seqlens: [1048576], masks: [full], batch: 2}\n", "seqlen 2097152 is outside");
	mistake(HEAD "dense: {seqlens: [128], masks: [full], batch: 0}\n", "dense.batch");
	mistake(HEAD "dense: {seqlens: [128], masks: [full]}\ndirections: [sideways]\n", "forward, backward or total");
	mistake(HEAD "dense: {seqlens: [128], masks: [full]}\nthreshold_pct: 0\n", "threshold_pct");
	mistake(HEAD "dense: {seqlens: [128], masks: [full]}\nthresholds: [{cell: '*/nope', pct: 2}]\n", "matches no cell");
	mistake(HEAD "dense: {seqlens: [128], masks: [full]}\nthresholds: [{cell: '*'}]\n", "pct is missing");
	mistake(HEAD "dense: {seqlens: [128], masks: [full]}\nconfigs: [A=1, A=1]\n", "A=1 appears twice");
	mistake(HEAD "dense: {seqlens: [128], masks: [full]}\nconfigs: ['A=1/2']\n", "must be terms such as");
	mistake(HEAD
		"dense: {seqlens: [128], masks: [full]}\nconfigs: [A=1234567890123456789012345678901234567890123456789012345678901234]\n",
		"must be terms such as");
	mistake(HEAD "dense: {seqlens: [128], masks: [full]}\nconfigs: []\n", "must be a list of 1 to 32 configurations");
	many_thresholds();
	mistake("suite: s\nfamily: gemm\ncommon: {nhq: 8, nhk: 2, headdim: 64}\n", "use attention");
	mistake("suite: s\nfamily: attention\ncommon: {nhq: 8, nhk: 3, headdim: 64}\ndense: {seqlens: [128], masks: [full]}\n",
		"nhq 8 is not a multiple of nhk 3");
	mistake("suite: s\nfamily: attention\ncommon: {nhq: 8, nhk: 2, headdim: 64}\nvarlen: {full: [128]}\n",
		"at least two lengths");
	mistake("suite: s\nfamily: attention\ncommon: {nhq: 8, nhk: 2, headdim: 64, dtype: fp8}\n", "use bf16 or f16");
	mistake("suite: ../etc\nfamily: attention\ncommon: {nhq: 8, nhk: 2, headdim: 64}\n", "characters of a-z");
	mistake("suite: s\nfamily: attention\ncommon: {nhq: 8, nhk: 2, headdim: 64}\ndense: {seqlens: [128], masks: "
		"[varlen_full]}\n",
		"needs the list varlen.full");
}

static void too_many_cells(void **state)
{
	(void)state;
	mistake("suite: s\nfamily: linear\nshapes: [{name: sweep}]\ndirections: [forward]\nmodel_types: [linear, ln_linear_relu]\n"
		"recipes: [baseline, int8wo, int4wo-32, int4wo-64, int4wo-128, int4wo-256, float8wo, float8dq-row, float8dq-tensor]\n",
		"more than 8192 cells");
}

/* `push.always` names cells, each pattern by itself. */
static void patterns_of_a_push(void **state)
{
#define PUSH(always)                                                                                                             \
	"suite: s\nfamily: linear\ndirections: [forward]\nshapes: [{name: sweep, max_power: 11}]\nrecipes: [baseline, int8wo]\n" \
	"push: {cells: 3, always: " always "}\n"
	(void)state;
	mistake(PUSH("['*/int8wo/* */m1/*']"), "s.yaml:6:27: push.always[0]: \"*/int8wo/* */m1/*\" has a space");
	mistake(PUSH("['*/nothing/*']"), "s.yaml:6:27: push.always[0]: \"*/nothing/*\" matches no cell of this suite");
	mistake(PUSH("[[x]]"), "push.always[0]");
	mistake(HEAD "dense: {seqlens: [128], masks: [full, [x]]}\n", "s.yaml:5:39: dense.masks[1]: is a list; must be text");
	mistake(HEAD "dense: {seqlens: [128], masks: [full]}\nthresholds: [7]\n",
		"s.yaml:6:14: thresholds[0]: must be {cell: GLOB");
	mistake(HEAD "dense: {seqlens: [128], masks: [full]}\ndecide: gut\n", "s.yaml:6:9: decide: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ffa_is_twenty_cells),
		cmocka_unit_test(suites_of_public_systems),
		cmocka_unit_test(small_suites_fit_a_cpu),
		cmocka_unit_test(thresholds_and_directions),
		cmocka_unit_test(each_case_in_each_configuration),
		cmocka_unit_test(the_call_decides_some_cells),
		cmocka_unit_test(patterns_of_block_masks),
		cmocka_unit_test(sparse_lengths_have_a_dense_case),
		cmocka_unit_test(filter_keeps_order),
		cmocka_unit_test(hash_is_of_the_cells),
		cmocka_unit_test(costs_have_limits),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(too_many_cells),
		cmocka_unit_test(patterns_of_a_push),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
