/*
 * Golden hashes of attention's results, from before families existed: the reference's values at every position that it checks,
 * and the acceptance's messages for correct and wrong results. They were taken at f4fe411; those of two backwards when the noise
 * of delta was included in the ratios.
 */
/* Left to `make check`: takes seconds, only computes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "attention_cell.h"
#include "attention_run.h"
#include "families/attention/internal.h"
#include "lib/lib.h"

struct looked {
	struct reference_plan plan;
	struct reference reference;
};

static void look(const struct attention_run *r, double visits, struct looked *l)
{
	struct fw_err err = { 0 };
	struct reference_io io = run_io(r);

	assert_int_equal(reference_plan_make(&r->cell, 7, visits, &l->plan, &err), 0);
	assert_int_equal(reference_compute(&reference_cpu, &l->plan, &io, &l->reference, &err), 0);
}

static void look_away(struct looked *l)
{
	reference_fini(&l->reference);
	reference_plan_fini(&l->plan);
}

static void add_line(struct hash_state *h, const char *line)
{
	hash_update(h, line, strlen(line));
}

/* Positions and values, with only as many digits as all mathematical libraries agree on. */
static void add_values(struct hash_state *h, const struct reference *reference)
{
	char line[64];

	for (int i = 0; i < reference->n_tensors; i++) {
		const struct reference_tensor *t = &reference->tensor[i];

		for (int p = 0; p < t->n; p++) {
			snprintf(line, sizeof line, "%s %d %d", reference_slot_name(t->slot), t->at[p].head, t->at[p].row);
			add_line(h, line);
			for (int j = 0; j < t->width; j++) {
				snprintf(line, sizeof line, " %.6g", t->exact[p * t->width + j]);
				add_line(h, line);
			}
		}
	}
}

/* Outputs as in the reference at the positions that it checks, times `scale`; 0 elsewhere. */
static void put_outputs(struct attention_run *r, const struct reference *reference, double scale)
{
	for (int i = 0; i < reference->n_tensors; i++) {
		const struct reference_tensor *t = &reference->tensor[i];

		memset(r->buffer[t->slot], 0, run_bytes(r, t->slot));
		for (int p = 0; p < t->n; p++)
			for (int j = 0; j < t->width; j++) {
				int64_t at = reference_slot_offset(&r->cell, t->slot, t->at[p]) + j;
				double value = t->exact[p * t->width + j];

				if (t->slot == FW_LSE)
					((float *)r->buffer[t->slot])[at] = (float)value;
				else
					((uint16_t *)r->buffer[t->slot])[at] = inputs_float_to_bf16((float)(scale * value));
			}
	}
}

static void add_word(struct hash_state *h, struct attention_run *r, const struct reference *reference, double scale)
{
	struct fw_err err = { 0 };
	struct reference_io io = run_io(r);
	struct accept_result result;
	char line[400];

	put_outputs(r, reference, scale);
	assert_int_equal(accept_check(reference, &reference_cpu, &io, &result, &err), 0);
	assert_int_equal(result.ok, scale == 1);
	snprintf(line, sizeof line, "%d %.5g %s\n", result.ok, result.error_ratio, scale == 1 ? "" : result.detail);
	add_line(h, line);
}

/* One direction: values, and the messages for a correct result, one that is ten per cent too large, and an empty one. */
static void hash_direction(struct attention_run *r, double visits, char hex[HASH_HEX])
{
	struct hash_state h;
	struct looked l;

	look(r, visits, &l);
	hash_begin(&h);
	add_line(&h, r->cell.key);
	add_values(&h, &l.reference);
	add_word(&h, r, &l.reference, 1.1);
	add_word(&h, r, &l.reference, 0);
	add_word(&h, r, &l.reference, 1); /* which is what backward begins with */
	hash_end(&h, hex);
	look_away(&l);
}

static void same(const struct cell *cell, const char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		fail_msg("the results of %s are %s, were %s", cell->key, got, want);
}

static void results(void **state)
{
	static const int lengths[] = { 1, 70, 2, 23 };
	static const struct {
		int mask, seqlen, n_seqs, nhq, nhk, headdim, block;
		double ratio;
		enum pattern pattern;
		const char *forward, *backward;
	} golden[] = {
		{ FW_FULL, 65, 0, 4, 2, 64, 0, 0, PATTERN_UNIFORM,
			"22a57d7aeadcae07e04e913bcebe7d9658663bdbafd20361446609cd35778856",
			"47c0b086788979919fe938d0c03831dd987eea926a76698b99a196ffebee60ea" },
		{ FW_CAUSAL, 130, 0, 2, 1, 128, 0, 0, PATTERN_UNIFORM,
			"0dde98ca65382ded4639a9337d7230d0943eafab1f43db3d43b92ff8496a3413",
			"3d9769096cfd683ce230e9767bda17de0cfcbfaea0b4867a483bbb3ec0088d24" },
		{ FW_FULL, 96, 4, 2, 2, 64, 0, 0, PATTERN_UNIFORM,
			"28574eb7c72885ff40757f31822a301e1656521bd4a1ed6e6da966652c4ca263",
			"70dbf76335409f5c615291c6a05e4db2a47670df48586e47cbabff58d85a6ee9" },
		{ FW_CAUSAL, 96, 4, 4, 1, 64, 0, 0, PATTERN_UNIFORM,
			"f643a02e35ec23804a7852398493132bb61ec71e26d070153372c4d96b3e5481",
			"2556437667ebf1994af4c6ae51378d5730f930843b14bc17f6f5bf60034a9dae" },
		{ FW_BLOCKS, 256, 0, 4, 2, 64, 32, 0.4, PATTERN_UNIFORM,
			"ddf87b8fff7cf6a192860843f2cc719420408d695756e5a5ded657b95ccef0c1",
			"cf4234ed0fe8e46a079a7f17be3125b2d05c7a8f2b0cde8bae9a8422b033e9d7" },
		{ FW_BLOCKS, 256, 0, 2, 1, 64, 32, 0.5, PATTERN_BANDED,
			"ed4bfa5d25096123d9a4629ff4bc4de913532156a178ac3eb8f94a0788e2474a",
			"20288aecd91b2f6a26276e7d8e4e8d5fa4e82aa5f3cd1f0924cde50e89c6ccc4" },
		{ FW_BLOCKS, 256, 0, 2, 1, 64, 32, 0.5, PATTERN_BIGBIRD,
			"6e7a27da14905a5f4e3397a07ef9dbca4415b4d87c52c94bfa6d6e931559411c",
			"9be74313c50d7628d4a5beb366a509746aaddff00086e22187e88786fd3cc05a" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
		struct attention_run r;
		char hex[HASH_HEX];

		run_init(&r, golden[i].mask, golden[i].seqlen, golden[i].n_seqs ? lengths : NULL, golden[i].n_seqs, golden[i].nhq,
			golden[i].nhk, golden[i].headdim, golden[i].block, golden[i].ratio);
		if (golden[i].pattern != PATTERN_UNIFORM)
			run_pattern(&r, golden[i].pattern);
		hash_direction(&r, 0, hex);
		same(&r.cell, hex, golden[i].forward);
		run_direction(&r, DIRECTION_BACKWARD);
		hash_direction(&r, 0, hex);
		same(&r.cell, hex, golden[i].backward);
		run_fini(&r);
	}
}

/* Where a problem is too large to check every position, the same ones are drawn. */
static void positions(void **state)
{
	struct attention_run r;
	struct looked l;
	struct hash_state h;
	char hex[HASH_HEX];

	(void)state;
	run_init(&r, FW_CAUSAL, 2048, NULL, 1, 4, 2, 16, 0, 0);
	look(&r, 1e6, &l);
	assert_false(l.plan.complete);
	hash_begin(&h);
	add_values(&h, &l.reference);
	hash_end(&h, hex);
	same(&r.cell, hex, "0b8dc59248e11724b97d2a993601939e043cfbaef7b1f1e5c2a8b82967e67287");
	look_away(&l);
	run_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results),
		cmocka_unit_test(positions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
