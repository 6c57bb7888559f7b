/* Token masks: their suites, keys, useful work and counts; a file's values and its errors; what the reference rejects. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attention_cell.h"
#include "attention_run.h"
#include "families/attention/internal.h"
#include "lib/lib.h"
#include "runner/runner.h"
#include "verdict/verdict.h"

#define HEAD "suite: t\nfamily: attention\ncommon: {nhq: 8, nhk: 8, headdim: 64, dtype: float16}\n"

static char folder[] = "/tmp/flopwatch-tokens-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char path[100];

	(void)state;
	for (int i = 0; token_elements_names[i]; i++) {
		snprintf(path, sizeof path, "%s/m.%s", folder, token_elements_names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

static void write_mask(const char *name, const void *data, size_t bytes)
{
	char path[100];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
}

static int parse(const char *text, struct suite *s, struct fw_err *err)
{
	char path[100];

	snprintf(path, sizeof path, "%s/s.yaml", folder);
	*err = (struct fw_err){ 0 };
	return suite_parse_local(text, strlen(text), path, s, err);
}

static void good(const char *text, struct suite *s)
{
	struct fw_err err;

	if (parse(text, s, &err) != 0)
		fail_msg("%s", err.text);
}

static void bad(const char *text, const char *why)
{
	struct suite s;
	struct fw_err err;

	assert_int_equal(parse(text, &s, &err), -1);
	if (!strstr(err.text, why))
		fail_msg("\"%s\" lacks \"%s\"", err.text, why);
}

static struct sparsity_mask count(const struct cell *c)
{
	const struct attention_case *a = attention_in(c);
	size_t bytes = (size_t)a->nhq * (size_t)a->seqlen * (size_t)attention_token_words(a) * 4;
	uint32_t *bits = malloc(bytes);
	const void *laid[FW_ATTENTION_SLOTS] = { [FW_TOKEN_BITS] = bits };
	struct mask_counts counts = { 0 };
	struct sparsity_mask mask = { .blocks = (double)attention_pairs(a), .kept = (double)a->pairs_kept };
	struct fw_err err = { 0 };

	assert_int_equal(attention_lay(a, c->seed, FW_TOKEN_BITS, bits, &err), 0);
	attention_count_mask(a, laid, &counts);
	sparsity_counts(&counts, &mask);
	free(bits);
	return mask;
}

static void counted(const struct cell *c, const char *text)
{
	struct sparsity_mask mask = count(c);
	struct sparsity_claim none = { NAN, NAN, NAN, NAN, NAN };
	char words[SPARSITY_SIZE];

	sparsity_text(&mask, &none, words);
	assert_string_equal(words, text);
}

static void a_corner(void **state)
{
	struct suite s;

	(void)state;
	good("suite: t\nfamily: attention\ncommon: {nhq: 1, nhk: 1, headdim: 64, dtype: float16}\n"
	     "token_masks: [{kind: corner, rows: 16, keys: 16, seqlens: [128], dense_reference: true}]\n"
	     "directions: [forward, backward, total]\n",
		&s);
	assert_int_equal(s.n_cells, 6);
	assert_string_equal(s.cell[0].key, "attention/dense/full/s128/hq1/hk1/d64/f16/forward");
	assert_string_equal(s.cell[3].key, "attention/token_mask/corner/16x16/s128/n1/hq1/hk1/d64/f16/forward");
	assert_string_equal(s.cell[3].baseline, s.cell[0].key);
	assert_string_equal(s.cell[5].key, "attention/token_mask/corner/16x16/s128/n1/hq1/hk1/d64/f16/total");
	assert_string_equal(s.cell[3].group, "token_mask");
	assert_true(case_flops(&s.cell[3]) == 4.0 * 256 * 64);
	assert_true(case_flops(&s.cell[4]) == 10.0 * 256 * 64);
	assert_true(case_flops(&s.cell[5]) == 14.0 * 256 * 64);
	counted(&s.cell[3], "kept 256/16384 (1.56 %), rows without a key 112/128, tiles of 64x64 fully masked 3/4 (75 %)");
	suite_fini(&s);
}

static void a_drawn_mask(void **state)
{
	struct suite s;

	(void)state;
	good(HEAD "token_masks: [{kind: random, density: 0.3, seqlens: [512], batch: 2, dense_reference: true}]\n", &s);
	assert_int_equal(s.n_cells, 4);
	assert_string_equal(s.cell[0].key, "attention/dense/varlen_full/s1024/hq8/hk8/d64/f16/forward");
	assert_string_equal(s.cell[2].key, "attention/token_mask/random/r0.3/s512/n2/hq8/hk8/d64/f16/forward");
	assert_string_equal(s.cell[2].baseline, s.cell[0].key);
	struct sparsity_mask m = count(&s.cell[2]);
	assert_true(m.pairs == 2.0 * 8 * 512 * 512 && fabs(sparsity_density(&m) - 0.3) < 0.001);
	assert_true(case_flops(&s.cell[2]) == 4 * m.pairs_kept * 64);
	assert_true(m.tiles == 1024 && m.tiles_masked == 0 && m.common_tiles == 64 && m.common_masked == 0);
	assert_true(m.rows == 8192 && m.rows_empty == 0);
	suite_fini(&s);
}

/* Tiles of a block mask do not depend on its blocks. */
static void tiles_of_blocks(void **state)
{
	static const char *const pattern[] = { "random_tokens", "uniform" };
	static const double masked[] = { 0, 2 * 8 * 6 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char text[400];
		struct suite s;
		struct mask_counts counts = { 0 };
		uint32_t bits[2 * 8 * 16];
		const void *laid[FW_ATTENTION_SLOTS] = { [FW_BLOCK_BITS] = bits };

		snprintf(text, sizeof text,
			"suite: t\nfamily: attention\ncommon: {nhq: 4, nhk: 2, headdim: 64}\n"
			"block_sparse: {seqlens: [512], sparsity_ratios: [0.3], block_sizes: [64], pattern: [%s]}\n",
			pattern[i]);
		good(text, &s);
		attention_block_bits(attention_in(&s.cell[0]), s.cell[0].seed, bits);
		attention_count_mask(s.cell[0].shape.bytes, laid, &counts);
		assert_int_equal(counts.tiles, 128);
		assert_true((double)counts.tiles_masked == masked[i]);
		assert_int_equal(counts.pairs_kept, i ? 2 * 512 * 128 : 2 * 512 * 153);
		suite_fini(&s);
	}
}

/* The canonical JSON gives the same case. */
static void survives_json(void **state)
{
	struct suite s;
	struct buf text;
	unsigned char element[64 * 64] = { [5] = 1, [64 * 63] = 1 };

	(void)state;
	write_mask("m.u8", element, sizeof element);
	good(HEAD "token_masks:\n  - {kind: random, density: 0.3, seqlens: [64], batch: 2}\n"
		  "  - {kind: corner, rows: 3, keys: 5, seqlens: [64]}\n  - {file: m.u8, seqlens: [64]}\n",
		&s);
	for (int i = 0; i < s.n_cells; i++) {
		struct attention_case again = { 0 };
		struct fw_err err = { 0 };

		buf_init(&text, 1 << 14);
		family_json(case_family(&s.cell[i]), s.cell[i].shape.bytes, &text);
		json_t *j = json_loadb(text.data, text.len, 0, NULL);
		struct fields f = { .object = j, .err = &err };

		attention_parse(&f, &again);
		if (f.failed || attention_check(&again, DIRECTION_FORWARD, &err) != 0)
			fail_msg("%s: %s", s.cell[i].key, err.text);
		assert_memory_equal(&again, s.cell[i].shape.bytes, sizeof again);
		json_decref(j);
		buf_fini(&text);
	}
	assert_int_equal(attention_in(&s.cell[4])->pairs_kept, 16);
	suite_fini(&s);
}

/* The same mask as bits, bytes and floats; one for all, for each head, and for each sequence and head. */
static void files_of_all_kinds(void **state)
{
	enum { N = 40, MASKS = 16 };
	static unsigned char u8[MASKS * N * N], bits[MASKS * N * N / 8];
	static uint16_t f16[MASKS * N * N];
	static float f32[MASKS * N * N];
	static const int masks[] = { 1, 8, 2, 16 };

	(void)state;
	for (int i = 0; i < MASKS * N * N; i++) {
		u8[i] = inputs_mix((uint64_t)i) % 3 == 0;
		f16[i] = u8[i] ? 0x3c00 : i % 2 ? 0x8000 : 0;
		f32[i] = u8[i];
		bits[i / 8] |= (unsigned char)(u8[i] << (i % 8));
	}
	for (size_t m = 0; m < 4; m++) {
		size_t n = (size_t)masks[m] * N * N;
		uint32_t got[4][8 * 2 * N * 2];

		write_mask("m.bits", bits, n / 8);
		write_mask("m.u8", u8, n);
		write_mask("m.f16", f16, n * 2);
		write_mask("m.f32", f32, n * 4);
		for (int i = 0; i < 4; i++) {
			char text[300];
			struct suite s;
			struct fw_err err = { 0 };

			snprintf(text, sizeof text, HEAD "token_masks: [{file: m.%s, seqlens: [%d], batch: 2}]\n",
				token_elements_names[i], N);
			good(text, &s);
			assert_int_equal(attention_token_bits(attention_in(&s.cell[0]), 1, got[i], &err), 0);
			suite_fini(&s);
			assert_memory_equal(got[i], got[0], sizeof got[0]);
		}
		for (int head = 0; head < 8; head++)
			for (int row = 0; row < 2 * N; row++)
				for (int key = 0; key < N; key++) {
					int mask = (masks[m] == 2 || masks[m] == 16 ? row / N : 0) * (masks[m] >= 8 ? 8 : 1) +
						   (masks[m] >= 8 ? head : 0);
					assert_int_equal(got[0][(head * 2 * N + row) * 2 + key / 32] >> (key % 32) & 1,
						u8[(mask * N + row % N) * N + key]);
				}
	}
}

static void mistakes_are_placed(void **state)
{
	unsigned char element[64 * 64] = { 0 };
	float f32[64 * 64] = { [130] = 0.5f };
	struct suite s;
	struct fw_err err = { 0 };

	(void)state;
	write_mask("m.bits", element, 511);
	bad(HEAD "token_masks: [{file: m.bits, seqlens: [64]}]\n", "s.yaml:4:22: ");
	bad(HEAD "token_masks: [{file: m.bits, seqlens: [64]}]\n",
		"m.bits has 511 bytes; bits of a mask [1 or 1][8 or 1][64][64] have 512");
	write_mask("m.f32", f32, sizeof f32);
	bad(HEAD "token_masks: [{file: m.f32, seqlens: [64]}]\n",
		"offset 520: the element of batch 0, head 0, query 2, key 2 is 0.5; write 0");
	write_mask("m.u8", element, sizeof element);
	bad(HEAD "token_masks: [{file: none.u8, seqlens: [64]}]\n", "none.u8 cannot be read: No such file");
	bad(HEAD "token_masks: [{file: m.u8, elements: i8, seqlens: [64]}]\n", "\"i8\" is unknown; use bits, u8, f16 or f32");
	bad(HEAD "token_masks: [{kind: random, density: 0.3, seqlens: [8192, 11008]}]\n", "more than 2^30 pairs together");
	bad(HEAD "token_masks: [{kind: random, seqlens: [64]}]\n", "density is missing");
	bad(HEAD "token_masks: [{kind: random, density: 0.5}]\n", "seqlens is missing");
	bad(HEAD "token_masks: [{kind: corner, rows: 65, keys: 1, seqlens: [64]}]\n",
		"a corner of 65 queries x 1 keys does not fit 64 tokens");
	bad(HEAD "token_masks: [{seqlens: [64]}]\n", "kind or file is missing");
	bad(HEAD "token_masks: [{kind: random, density: 0.5, rows: 3, seqlens: [64]}]\n", "rows");
	bad(HEAD "token_masks: [{kind: random, density: 0.5, seqlens: [65536]}]\n", "more than 2^30 pairs");
	static const char of_commit[] = HEAD "token_masks: [{file: m.u8, seqlens: [64]}]\n";
	assert_int_equal(suite_parse(of_commit, sizeof of_commit - 1, "s.yaml", &s, &err), -1);
	if (!strstr(err.text, "s.yaml:4:22: token_masks[0].file: a mask's file is read from the suite's folder on this machine"))
		fail_msg("%s", err.text);
}

static void a_changed_file_is_refused(void **state)
{
	unsigned char element[64 * 64] = { 1 };
	static uint32_t bits[8 * 64 * 2];
	struct suite s;
	struct fw_err err = { 0 };

	(void)state;
	write_mask("m.u8", element, sizeof element);
	good(HEAD "token_masks: [{file: m.u8, seqlens: [64]}]\n", &s);
	element[7] = 1;
	write_mask("m.u8", element, sizeof element);
	assert_int_equal(attention_lay(s.cell[0].shape.bytes, 42, FW_TOKEN_BITS, bits, &err), -1);
	assert_non_null(strstr(err.text, "has changed since the suite was read"));
	suite_fini(&s);
}

/* Another mask of the same sizes, for each source. */
static void has_a_second_mask(void **state)
{
	struct suite s;

	(void)state;
	good(HEAD "token_masks:\n  - {kind: random, density: 0.3, seqlens: [64]}\n"
		  "  - {kind: corner, rows: 3, keys: 5, seqlens: [64]}\n  - {kind: random, density: 1, seqlens: [64]}\n"
		  "directions: [forward]\n",
		&s);
	for (int i = 0; i < 3; i++) {
		static uint32_t bits[2][8 * 64 * 2];
		struct attention_case *a = attention_of(&s.cell[i]);
		struct fw_err err = { 0 };

		assert_int_equal(attention_has_second(a), i < 2);
		assert_int_equal(attention_lay(a, 42, FW_TOKEN_BITS, bits[0], &err), 0);
		attention_second(a, 0);
		assert_int_equal(attention_lay(a, 42, FW_TOKEN_BITS, bits[1], &err), 0);
		assert_int_equal(memcmp(bits[0], bits[1], sizeof bits[0]) != 0, i < 2);
	}
	suite_fini(&s);
}

/* ---- the reference ---- */

/* Outputs as a correct kernel writes them: the reference's own values at every position. */
static void put(struct attention_run *r, const struct reference *reference)
{
	for (int i = 0; i < reference->n_tensors; i++) {
		const struct reference_tensor *t = &reference->tensor[i];

		for (int p = 0; p < t->n; p++)
			for (int j = 0; j < t->width; j++) {
				int64_t at = reference_slot_offset(&r->cell, t->slot, t->at[p]) + j;
				float value = (float)t->exact[p * t->width + j];

				if (t->slot == FW_LSE)
					((float *)r->buffer[t->slot])[at] = value;
				else
					((uint16_t *)r->buffer[t->slot])[at] = inputs_float_to_bf16(value);
			}
	}
}

static void make_right(struct attention_run *r, enum direction d)
{
	struct reference_plan plan;
	struct reference reference;
	struct fw_err err = { 0 };
	struct reference_io io = run_io(r);

	run_direction(r, d);
	assert_int_equal(reference_plan_make(&r->cell, 7, 0, &plan, &err), 0);
	assert_true(plan.complete);
	assert_int_equal(reference_compute(&reference_cpu, &plan, &io, &reference, &err), 0);
	put(r, &reference);
	reference_fini(&reference);
	reference_plan_fini(&plan);
}

static struct accept_result judge(struct attention_run *r)
{
	const struct family_check *check = family_check_find("attention");
	struct accept_result result;
	struct fw_err err = { 0 };
	struct check_io io = { .cell = &r->cell, .laid = { [FW_TOKEN_BITS] = r->bits } };

	for (int slot = FW_Q; slot <= FW_DV; slot++)
		io.host[slot] = r->buffer[slot];
	struct expected *e = check->open(&io, 7, 0, &err);
	assert_non_null(e);
	assert_int_equal(check->compare(e, &result, &err), 0);
	check->close(e);
	return result;
}

static void wrong(struct attention_run *r, int slot, int64_t at, uint32_t value, const char *detail)
{
	char *to = (char *)r->buffer[slot] + (size_t)at * (slot == FW_LSE ? 4 : 2), before[4];
	size_t bytes = slot == FW_LSE ? 4 : 2;

	memcpy(before, to, bytes);
	memcpy(to, &value, bytes);
	struct accept_result result = judge(r);
	memcpy(to, before, bytes);
	assert_false(result.ok);
	if (!strstr(result.detail, detail))
		fail_msg("\"%s\" lacks \"%s\"", result.detail, detail);
}

/* A total is checked in all its outputs; a row without keys must be exactly 0, with LSE -inf. */
static void rows_without_keys_are_checked(void **state)
{
	struct attention_case corner = { .source = TOKENS_CORNER, .corner_rows = 16, .corner_keys = 16 };
	struct attention_run r;
	float one = 1;
	uint32_t bits;

	(void)state;
	memcpy(&bits, &one, sizeof bits);
	run_init(&r, FW_FULL, 128, NULL, 1, 1, 1, 64, 0, 0);
	run_tokens(&r, &corner);
	make_right(&r, DIRECTION_FORWARD);
	make_right(&r, DIRECTION_BACKWARD);
	for (int i = 0; i < 3; i++) {
		static const enum direction directions[] = { DIRECTION_FORWARD, DIRECTION_BACKWARD, DIRECTION_TOTAL };

		run_direction(&r, directions[i]);
		struct accept_result result = judge(&r);
		if (!result.ok)
			fail_msg("%s: %s", r.cell.key, result.detail);
		if (directions[i] != DIRECTION_BACKWARD) {
			wrong(&r, FW_O, 20 * 64, 0x7fc0, "O[query 20, head 0, 0] is nan");
			wrong(&r, FW_O, 20 * 64 + 1, 0x3c00, "O[query 20, head 0, 1]");
			wrong(&r, FW_LSE, 100, bits, "LSE[query 100, head 0] is 1, should be -inf");
			wrong(&r, FW_LSE, 100, 0x7fc00000, "LSE[query 100, head 0] is nan");
		}
		if (directions[i] != DIRECTION_FORWARD) {
			wrong(&r, FW_DQ, 20 * 64, 0x7fc0, "dQ[query 20, head 0, 0] is nan");
			wrong(&r, FW_DK, 127 * 64, 0x3c00, "dK[key 127, head 0, 0]");
			wrong(&r, FW_DV, 16 * 64, 0x3c00, "dV[key 16, head 0, 0]");
		}
	}
	run_fini(&r);
}

/* Each query head has its own mask: the result of another head's, or of none, is wrong. */
static void another_mask_is_wrong(void **state)
{
	struct attention_case drawn = { .source = TOKENS_RANDOM, .density = 0.5 };
	struct attention_run r;

	(void)state;
	for (int other = 0; other < 2; other++)
		for (int d = DIRECTION_FORWARD; d <= DIRECTION_BACKWARD; d++) {
			run_init(&r, FW_FULL, 96, NULL, 1, 2, 1, 64, 0, 0);
			run_tokens(&r, &drawn);
			make_right(&r, DIRECTION_FORWARD);
			size_t words = r.bits_bytes / 4;
			uint32_t *right = malloc(r.bits_bytes);
			memcpy(right, r.bits, r.bits_bytes);
			for (size_t i = 0; i < words; i++)
				r.bits[i] = other ? right[(i + words / 2) % words] : UINT32_MAX;
			make_right(&r, (enum direction)d);
			memcpy(r.bits, right, r.bits_bytes);
			assert_false(judge(&r).ok);
			free(right);
			run_fini(&r);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_corner),
		cmocka_unit_test(a_drawn_mask),
		cmocka_unit_test(tiles_of_blocks),
		cmocka_unit_test(survives_json),
		cmocka_unit_test(files_of_all_kinds),
		cmocka_unit_test(mistakes_are_placed),
		cmocka_unit_test(a_changed_file_is_refused),
		cmocka_unit_test(has_a_second_mask),
		cmocka_unit_test(rows_without_keys_are_checked),
		cmocka_unit_test(another_mask_is_wrong),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
