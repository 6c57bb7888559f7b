/* The CPU kernels, built like those of a branch, against the fp64 reference: every mask, both directions, odd sizes. */
/* Left to `make check`: takes seconds, only computes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "attention_cell.h"
#include "attention_run.h"
#include "families/attention/internal.h"
#include "kernels_module.h"
#include "tests/modules/good.c"

static const struct fw_provider *cpu;

static int load(void **state)
{
	(void)state;
	const struct fw_module *m = kernels_module("attention");
	cpu = m && m->abi == FW_ABI && m->n_providers == 1 ? m->provider[0] : NULL;
	return cpu ? 0 : -1;
}

static void judge(struct attention_run *r, const char *what)
{
	struct fw_err err = { 0 };
	struct reference_plan plan;
	struct reference ref;
	struct reference_io io = run_io(r);
	struct accept_result result;
	assert_int_equal(reference_plan_make(&r->cell, 11, 0, &plan, &err), 0);
	assert_int_equal(reference_compute(&reference_cpu, &plan, &io, &ref, &err), 0);
	assert_int_equal(accept_check(&ref, &reference_cpu, &io, &result, &err), 0);
	if (!result.ok)
		fail_msg("%s %s: %s", r->cell.key, what, result.detail);
	assert_true(run_redzones_intact(r));
	reference_fini(&ref);
	reference_plan_fini(&plan);
}

/* Both directions with one configuration. */
static void check(struct attention_run *r, const char *config, int threads)
{
	run_direction(r, DIRECTION_FORWARD);
	assert_int_equal(run_once(r, cpu, config, threads), FW_OK);
	judge(r, config ? config : "");
	run_direction(r, DIRECTION_BACKWARD);
	assert_int_equal(run_once(r, cpu, config, threads), FW_OK);
	judge(r, config ? config : "");
}

static void odd_sizes(void **state)
{
	(void)state;
	static const int sizes[] = { 1, 63, 64, 65, 127, 129, 200 };
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (int mask = FW_FULL; mask <= FW_CAUSAL; mask++) {
			struct attention_run r;
			run_init(&r, mask, sizes[i], NULL, 1, 2, 1, i % 2 ? 64 : 128, 0, 0);
			check(&r, NULL, 0);
			run_fini(&r);
		}
}

static void groups_of_heads(void **state)
{
	(void)state;
	static const int heads[][2] = { { 1, 1 }, { 3, 3 }, { 4, 2 }, { 5, 1 }, { 8, 1 }, { 12, 2 } };
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
		struct attention_run r;
		run_init(&r, FW_CAUSAL, 70, NULL, 1, heads[i][0], heads[i][1], 64, 0, 0);
		check(&r, NULL, 0);
		run_fini(&r);
	}
}

static void sequences(void **state)
{
	(void)state;
	static const int lengths[] = { 1, 130, 64, 2, 63, 1, 1 };
	for (int mask = FW_FULL; mask <= FW_CAUSAL; mask++)
		for (int d = 64; d <= 128; d += 64) {
			struct attention_run r;
			run_init(&r, mask, 262, lengths, 7, 4, 2, d, 0, 0);
			check(&r, NULL, 0);
			run_fini(&r);
		}
}

static void blocks(void **state)
{
	(void)state;
	static const struct {
		int seqlen, block;
		double ratio;
	} shape[] = { { 256, 64, 0.3 }, { 384, 128, 0.5 }, { 320, 64, 1.0 }, { 240, 16, 0.2 }, { 300, 100, 0.7 } };
	for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
		struct attention_run r;
		run_init(&r, FW_BLOCKS, shape[i].seqlen, NULL, 1, 4, 2, i % 2 ? 128 : 64, shape[i].block, shape[i].ratio);
		check(&r, NULL, 0);
		run_fini(&r);
	}
}

/* Key blocks that no query attends to and rows that attend to no key. */
static void empty_blocks(void **state)
{
	(void)state;
	struct attention_run r;
	run_init(&r, FW_BLOCKS, 256, NULL, 1, 2, 1, 64, 64, 1.0);
	for (int row = 0; row < 4; row++)
		r.bits[row] = row == 2 ? 0 : 0xb;
	check(&r, NULL, 0);
	assert_int_equal(((uint16_t *)r.buffer[FW_DK])[130 * 64], 0);
	assert_int_equal(((uint16_t *)r.buffer[FW_DQ])[130 * 2 * 64], 0);
	run_fini(&r);
}

static const struct attention_case token_masks[] = {
	{ .source = TOKENS_RANDOM, .density = 0.3 },
	{ .source = TOKENS_RANDOM, .density = 0.02 }, /* rows and tiles without a key */
	{ .source = TOKENS_RANDOM, .density = 0 },
	{ .source = TOKENS_RANDOM, .density = 1 },
	{ .source = TOKENS_CORNER, .corner_rows = 16, .corner_keys = 16 },
};

/* A mask for each query head, in sequences that do not end with a tile. */
static void tokens(void **state)
{
	(void)state;
	static const int sizes[][3] = { { 128, 1, 1 }, { 130, 2, 1 }, { 65, 3, 4 }, { 33, 1, 6 } }; /* tokens, sequences, heads */
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (size_t m = 0; m < sizeof token_masks / sizeof token_masks[0]; m++) {
			int length[] = { sizes[i][0], sizes[i][0], sizes[i][0] };
			struct attention_run r;
			run_init(&r, FW_FULL, sizes[i][0] * sizes[i][1], length, sizes[i][1], sizes[i][2],
				i == 1 ? 1 : (sizes[i][2] + 1) / 2, i % 2 ? 64 : 128, 0, 0);
			run_tokens(&r, &token_masks[m]);
			check(&r, NULL, 0);
			run_fini(&r);
		}
}

/* Queries outside the corner have no key: O and gradients 0, LSE -inf. */
static void rows_without_keys(void **state)
{
	(void)state;
	struct attention_run r;
	run_init(&r, FW_FULL, 128, NULL, 1, 1, 1, 64, 0, 0);
	run_tokens(&r, &token_masks[4]);
	check(&r, NULL, 0);
	for (int row = 0; row < 128; row++)
		assert_int_equal(((float *)r.buffer[FW_LSE])[row] == -INFINITY, row >= 16);
	for (int i = 16 * 64; i < 128 * 64; i++) {
		assert_int_equal(((uint16_t *)r.buffer[FW_O])[i], 0);
		assert_int_equal(((uint16_t *)r.buffer[FW_DQ])[i], 0);
		assert_int_equal(((uint16_t *)r.buffer[FW_DK])[i], 0);
		assert_int_equal(((uint16_t *)r.buffer[FW_DV])[i], 0);
	}
	run_fini(&r);
}

/* Queries of the last tokens, a window, pages, and all of them: sequences of several lengths, odd sizes, groups of 1 and 8. */
static void serving(void **state)
{
	(void)state;
	static const struct {
		int queries, window, page, nhq, nhk, headdim, n_seqs, length[4];
	} shape[] = {
		{ 1, 0, 0, 8, 1, 128, 3, { 130, 64, 300 } },
		{ 1, 0, 0, 4, 4, 256, 1, { 513 } },
		{ 5, 0, 0, 2, 2, 64, 2, { 5, 200 } },
		{ 16, 7, 0, 4, 2, 64, 2, { 40, 200 } }, /* the window ends within a tile, and before the last query's */
		{ 1, 100, 0, 8, 1, 128, 3, { 99, 100, 300 } },
		{ 0, 65, 0, 2, 1, 64, 2, { 200, 70 } },
		{ 1, 0, 16, 8, 1, 128, 3, { 130, 64, 300 } },
		{ 3, 0, 1, 2, 2, 32, 2, { 70, 3 } },
		{ 2, 0, 100, 2, 1, 64, 4, { 100, 2, 201, 99 } },
		{ 4, 33, 24, 8, 1, 256, 2, { 300, 150 } },
	};
	for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
		struct attention_case a = { .mask = shape[i].window || shape[i].page ? FW_CACHE : FW_CAUSAL,
			.nhq = shape[i].nhq,
			.nhk = shape[i].nhk,
			.headdim = shape[i].headdim,
			.dtype = FW_BF16,
			.n_seqs = shape[i].n_seqs,
			.queries = shape[i].queries,
			.window = shape[i].window,
			.page = shape[i].page };
		struct attention_run r;
		struct fw_err err = { 0 };
		for (int s = 0; s < a.n_seqs; s++)
			a.seqlen += a.length[s] = shape[i].length[s];
		if (attention_check(&a, DIRECTION_FORWARD, &err) != 0)
			fail_msg("shape %zu: %s", i, err.text);
		run_open(&r, &a);
		assert_int_equal(run_once(&r, cpu, NULL, 0), FW_OK);
		judge(&r, "");
		if (attention_has_second(&a)) { /* pages in another order, other lengths, on the same sizes */
			struct bound_plan b;
			assert_int_equal(plan_bind(&b, cpu, &r, NULL, 0), FW_OK);
			attention_second(attention_of(&r.cell), 0);
			run_lay(&r);
			plan_release(&b);
			assert_int_equal(run_once(&r, cpu, NULL, 0), FW_OK);
			judge(&r, "second");
		}
		run_fini(&r);
	}
}

/* Pages outside the tensor are an error, not a read beyond it. */
static void a_wrong_page_is_reported(void **state)
{
	(void)state;
	struct attention_case a = { .mask = FW_CACHE,
		.seqlen = 100,
		.nhq = 1,
		.nhk = 1,
		.headdim = 64,
		.dtype = FW_BF16,
		.n_seqs = 1,
		.length = { 100 },
		.queries = 1,
		.page = 16 };
	struct attention_run r;
	struct bound_plan b;
	run_open(&r, &a);
	for (int wrong = 0; wrong < 2; wrong++) {
		assert_int_equal(plan_bind(&b, cpu, &r, NULL, 0), FW_OK);
		r.pages[6] = wrong ? -1 : 7;
		assert_int_equal(cpu->enqueue(b.plan, FW_ALL, NULL), FW_INVALID);
		assert_string_equal(cpu->error(b.plan), "cpu: the table of pages does not fit the planned sizes");
		plan_release(&b);
	}
	run_direction(&r, DIRECTION_BACKWARD);
	struct fw_attention sizes;
	struct fw_problem p;
	char why[200] = "";
	case_problem(&r.cell, &sizes, &p);
	assert_int_equal(cpu->can(&p, why, sizeof why), FW_UNSUPPORTED);
	assert_string_equal(why, "cpu: a window or pages have only forward");
	run_fini(&r);
}

/* A total writes the bits of a forward and its backward. */
static void total_is_forward_and_backward(void **state)
{
	(void)state;
	static const int outputs[] = { FW_O, FW_LSE, FW_DQ, FW_DK, FW_DV };
	for (int mask = 0; mask < 3; mask++) {
		static const int length[] = { 70, 70 };
		struct attention_run apart, total;
		run_init(&apart, mask == 1 ? FW_CAUSAL : FW_FULL, 140, length, 2, 4, 2, 64, 0, 0);
		run_init(&total, mask == 1 ? FW_CAUSAL : FW_FULL, 140, length, 2, 4, 2, 64, 0, 0);
		if (mask == 2) {
			run_tokens(&apart, &token_masks[0]);
			run_tokens(&total, &token_masks[0]);
		}
		check(&apart, NULL, 0);
		run_direction(&total, DIRECTION_TOTAL);
		assert_int_equal(run_once(&total, cpu, NULL, 0), FW_OK);
		for (int i = 0; i < 5; i++)
			assert_memory_equal(total.buffer[outputs[i]], apart.buffer[outputs[i]], run_bytes(&apart, outputs[i]));
		assert_true(run_redzones_intact(&total));
		run_fini(&apart);
		run_fini(&total);
	}
}

/* Both directions on one provider. Own: the caller frees out[0 .. FW_DV]. */
static void run_unequal(const struct fw_provider *which, int total_q, int total_k, void *out[FW_ATTENTION_SLOTS])
{
	enum { HQ = 4, HK = 2, D = 64 };
	struct fw_attention a = { .struct_size = sizeof a,
		.nhq = HQ,
		.nhk = HK,
		.headdim = D,
		.headdim_v = D,
		.dtype = FW_BF16,
		.mask = FW_CAUSAL,
		.total_q = total_q,
		.total_k = total_k,
		.n_seqs = 1,
		.max_q = total_q,
		.max_k = total_k,
		.scale = 0.125 };
	struct fw_tensor slot[FW_ATTENTION_SLOTS] = { 0 };
	for (int i = FW_Q; i <= FW_DV; i++) {
		bool keys = i == FW_K || i == FW_V || i == FW_DK || i == FW_DV, input = i <= FW_V || i == FW_DO;
		size_t n = (size_t)(keys ? total_k * HK : total_q * HQ) * D;
		out[i] = calloc(n, sizeof(uint16_t));
		if (input)
			inputs_fill(9, (uint32_t)i, 0, n, out[i]);
		slot[i] = (struct fw_tensor){ out[i], { (keys ? HK : HQ) * D, D, 1 }, FW_BF16, 0 };
	}
	slot[FW_LSE] = (struct fw_tensor){ out[FW_LSE], { total_q, 1, 0 }, FW_F32, 0 };
	for (int direction = FW_FORWARD; direction <= FW_BACKWARD; direction++) {
		struct fw_problem p = { .struct_size = sizeof p,
			.family = FW_ATTENTION,
			.direction = direction,
			.shape = &a,
			.shape_size = sizeof a };
		struct fw_info info = { .struct_size = sizeof info };
		struct fw_plan *plan;
		char why[200];
		assert_int_equal(which->plan(&p, NULL, 0, &plan, &info, why, sizeof why), FW_OK);
		void *workspace = aligned_alloc(256, (info.workspace_bytes + 255) / 256 * 256);
		struct fw_io io = {
			.struct_size = sizeof io, .n_slots = FW_ATTENTION_SLOTS, .slot = slot, .workspace = workspace
		};
		assert_int_equal(which->bind(plan, &io), FW_OK);
		assert_int_equal(which->enqueue(plan, FW_ALL, NULL), FW_OK);
		which->destroy(plan);
		free(workspace);
	}
}

/* The causal diagonal ends at the bottom right: with fewer keys than queries the first rows attend to no key. */
static void causal_with_unequal_lengths(void **state)
{
	(void)state;
	static const int sizes[][2] = { { 70, 200 }, { 200, 70 }, { 1, 130 } };
	for (size_t i = 0; i < 3; i++) {
		void *ours[FW_ATTENTION_SLOTS] = { 0 }, *naive[FW_ATTENTION_SLOTS] = { 0 };
		run_unequal(cpu, sizes[i][0], sizes[i][1], ours);
		run_unequal(fw_entry(FW_ABI)->provider[0], sizes[i][0], sizes[i][1], naive);
		for (int slot = FW_O; slot <= FW_DV; slot++) {
			bool keys = slot == FW_DK || slot == FW_DV;
			int n = slot == FW_LSE || slot == FW_DO ? 0 : (keys ? sizes[i][1] * 2 : sizes[i][0] * 4) * 64;
			double error = 0, size = 1e-30;
			for (int j = 0; j < n; j++) {
				double x = (double)inputs_bf16_to_float(((uint16_t *)ours[slot])[j]);
				double y = (double)inputs_bf16_to_float(((uint16_t *)naive[slot])[j]);
				error += (x - y) * (x - y);
				size += y * y;
			}
			assert_true(sqrt(error / size) < 1e-3);
		}
		for (int j = 0; j < sizes[i][0] * 4; j++) {
			float x = ((float *)ours[FW_LSE])[j], y = ((float *)naive[FW_LSE])[j];
			assert_true(x == y || fabsf(x - y) < 1e-4f);
		}
		for (int slot = FW_Q; slot <= FW_DV; slot++) {
			free(ours[slot]);
			free(naive[slot]);
		}
	}
}

static void large_scores(void **state)
{
	(void)state;
	struct attention_run r;
	run_init(&r, FW_CAUSAL, 150, NULL, 1, 2, 1, 64, 0, 0);
	uint16_t *q = r.buffer[FW_Q];
	for (size_t i = 0; i < run_bytes(&r, FW_Q) / 2; i++)
		q[i] = inputs_float_to_bf16(inputs_bf16_to_float(q[i]) * 8);
	check(&r, NULL, 0);
	run_fini(&r);
}

static void every_instruction_set(void **state)
{
	(void)state;
	static const char *const isas[] = { "base", "v3", "v4" };
	struct attention_run r;
	struct bound_plan b;
	char config[96];
	run_init(&r, FW_CAUSAL, 129, NULL, 1, 4, 2, 64, 0, 0);
	int ran = 0;
	assert_int_equal(plan_bind(&b, cpu, &r, NULL, 1), FW_OK);
	snprintf(config, sizeof config, "%s", b.info.config);
	plan_release(&b);
	char *isa = strstr(config, "ISA=");
	assert_non_null(isa);
	for (size_t i = 0; i < 3; i++) {
		snprintf(isa, sizeof config - (size_t)(isa - config), "ISA=%s", isas[i]);
		run_direction(&r, DIRECTION_FORWARD);
		int status = plan_bind(&b, cpu, &r, config, 1);
		if (status == FW_OK) {
			assert_string_equal(b.info.config, config);
			plan_release(&b);
			check(&r, config, 0);
			ran++;
		} else {
			assert_int_equal(status, FW_UNSUPPORTED);
		}
	}
	assert_true(ran >= 1);
	run_fini(&r);
}

/* Copies of all outputs of a direction, to compare bits. */
static void *outputs(const struct attention_run *r, size_t *bytes)
{
	static const int forward[] = { FW_O, FW_LSE }, backward[] = { FW_DQ, FW_DK, FW_DV };
	bool is_forward = r->cell.direction == DIRECTION_FORWARD;
	*bytes = 0;
	char *all = NULL;
	for (int i = 0; i < (is_forward ? 2 : 3); i++) {
		int slot = is_forward ? forward[i] : backward[i];
		all = realloc(all, *bytes + run_bytes(r, slot));
		memcpy(all + *bytes, r->buffer[slot], run_bytes(r, slot));
		*bytes += run_bytes(r, slot);
	}
	return all;
}

static void same_outputs(const struct attention_run *r, const void *expected)
{
	size_t bytes;
	void *now = outputs(r, &bytes);
	assert_memory_equal(now, expected, bytes);
	free(now);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
	(void)state;
	struct attention_run r;
	run_init(&r, FW_BLOCKS, 512, NULL, 1, 8, 2, 64, 64, 0.4);
	for (int direction = DIRECTION_FORWARD; direction <= DIRECTION_BACKWARD; direction++) {
		size_t bytes;
		run_direction(&r, direction);
		assert_int_equal(run_once(&r, cpu, NULL, 1), FW_OK);
		void *one = outputs(&r, &bytes);
		for (int threads = 2; threads <= 5; threads++) {
			assert_int_equal(run_once(&r, cpu, NULL, threads), FW_OK);
			same_outputs(&r, one);
		}
		free(one);
	}
	run_fini(&r);
}

static void phases_one_by_one_and_a_refilled_workspace(void **state)
{
	(void)state;
	struct attention_run r;
	static const int lengths[] = { 100, 1, 99 };
	run_init(&r, FW_CAUSAL, 200, lengths, 3, 4, 2, 64, 0, 0);
	for (int direction = DIRECTION_FORWARD; direction <= DIRECTION_BACKWARD; direction++) {
		struct bound_plan b;
		size_t bytes;
		run_direction(&r, direction);
		assert_int_equal(run_once(&r, cpu, NULL, 0), FW_OK);
		void *at_once = outputs(&r, &bytes);
		assert_int_equal(plan_bind(&b, cpu, &r, NULL, 0), FW_OK);
		for (int round = 0; round < 3; round++) {
			memset(b.workspace, 0x11 * (round + 1), b.info.workspace_bytes);
			run_poison_outputs(&r);
			for (uint32_t phase = 1; phase <= FW_CAST; phase <<= 1)
				assert_int_equal(cpu->enqueue(b.plan, phase, NULL), FW_OK);
			same_outputs(&r, at_once);
		}
		assert_int_equal(b.info.phases, FW_RANGE_MERGE | FW_RUN | (direction == DIRECTION_BACKWARD ? FW_PREPROCESS : 0));
		plan_release(&b);
		free(at_once);
	}
	run_fini(&r);
}

static void a_second_mask_on_the_same_plan(void **state)
{
	(void)state;
	struct attention_run r;
	run_init(&r, FW_BLOCKS, 512, NULL, 1, 2, 1, 64, 64, 0.5);
	for (int direction = DIRECTION_FORWARD; direction <= DIRECTION_BACKWARD; direction++) {
		struct bound_plan b;
		run_direction(&r, direction);
		assert_int_equal(plan_bind(&b, cpu, &r, NULL, 0), FW_OK);
		for (uint64_t seed = 1; seed <= 2; seed++) {
			pattern_drawn_bits(seed, 1, 8, 8, 4, r.bits);
			if (direction == DIRECTION_BACKWARD) {
				run_direction(&r, DIRECTION_FORWARD);
				assert_int_equal(run_once(&r, cpu, NULL, 0), FW_OK);
				run_direction(&r, DIRECTION_BACKWARD);
			}
			run_poison_outputs(&r);
			assert_int_equal(cpu->enqueue(b.plan, FW_ALL, NULL), FW_OK);
			judge(&r, "second mask");
		}
		plan_release(&b);
	}
	run_fini(&r);
}

static void every_pattern(void **state)
{
	(void)state;
	for (int pattern = 0; pattern < PATTERNS; pattern++) {
		struct attention_run r;
		run_init(&r, FW_BLOCKS, 384, NULL, 1, 2, 1, 64, 64, 0.34);
		run_pattern(&r, (enum pattern)pattern);
		check(&r, NULL, 0);
		run_fini(&r);
	}
}

static struct fw_work work_of(struct attention_run *r)
{
	struct fw_attention a;
	struct fw_problem p;
	struct fw_tensor slot[FW_ATTENTION_SLOTS] = { 0 };
	struct fw_work work = { .struct_size = sizeof work };
	case_problem(&r->cell, &a, &p);
	slot[FW_CU_Q].data = attention_of(&r->cell)->n_seqs > 1 ? r->cu_q : NULL;
	slot[FW_CU_K].data = attention_of(&r->cell)->n_seqs > 1 ? r->cu_k : NULL;
	slot[attention_of(&r->cell)->mask == FW_TOKENS ? FW_TOKEN_BITS : FW_BLOCK_BITS].data = r->bits;
	struct fw_io host = { .struct_size = sizeof host, .n_slots = FW_ATTENTION_SLOTS, .slot = slot };
	assert_int_equal(cpu->count(&p, NULL, &host, &work), FW_OK);
	return work;
}

/* Sizes that are multiples of the tiles: issued work is the useful work, backward 7 products for 5. */
static void counts_are_exact(void **state)
{
	(void)state;
	struct attention_run r;
	run_init(&r, FW_FULL, 256, NULL, 1, 4, 2, 64, 0, 0);
	struct fw_work work = work_of(&r);
	assert_true(work.flops_issued == case_flops(&r.cell));
	assert_int_equal(work.tiles_total, 4 * 4 * 4);
	assert_int_equal(work.tiles_partial, 0);
	assert_int_equal(work.tiles_skipped, 0);
	run_direction(&r, DIRECTION_BACKWARD);
	assert_true(work_of(&r).flops_issued == case_flops(&r.cell) * 7 / 5);
	run_fini(&r);

	run_init(&r, FW_CAUSAL, 256, NULL, 1, 1, 1, 64, 0, 0);
	work = work_of(&r);
	assert_int_equal(work.tiles_total, 16);
	assert_int_equal(work.tiles_skipped, 6);
	assert_int_equal(work.tiles_partial, 4);
	assert_true(work.flops_issued == 10 * 4.0 * 64 * 64 * 64);
	run_fini(&r);

	run_init(&r, FW_BLOCKS, 1024, NULL, 1, 4, 2, 128, 128, 0.25);
	work = work_of(&r);
	assert_int_equal(work.blocks_kept, 2 * 8 * 2);
	assert_true(work.flops_issued == case_flops(&r.cell));
	run_fini(&r);

	/* 2 queries of 4 heads, padded to 4 rows: keys 171 - 64 .. 300 in tiles from the first seen one */
	run_open(&r, &(struct attention_case){ .mask = FW_CACHE,
			     .seqlen = 300,
			     .nhq = 4,
			     .nhk = 1,
			     .headdim = 64,
			     .dtype = FW_BF16,
			     .n_seqs = 1,
			     .length = { 300 },
			     .queries = 2,
			     .window = 128,
			     .page = 16 });
	work = work_of(&r);
	assert_int_equal(work.tiles_total, 4 * 5); /* a kernel without a window visits 5 tiles of keys */
	assert_int_equal(work.tiles_skipped, 4 * 2);
	assert_true(work.flops_issued == 4 * 3 * 4.0 * 4 * 64 * 64);
	assert_true(work.bytes_moved == 2.0 * 64 * (2 * 129 + 2 * 2 * 4));
	assert_true(case_flops(&r.cell) == 4.0 * (128 + 128) * 4 * 64);
	assert_true(case_bytes(&r.cell) == 2.0 * 64 * (2 * 2 * 4 + 2 * 129) + 4.0 * 2 * 4);
	run_fini(&r);

	run_init(&r, FW_FULL, 128, NULL, 1, 2, 1, 64, 0, 0);
	run_tokens(&r, &token_masks[4]);
	work = work_of(&r);
	assert_int_equal(work.blocks_kept, 2 * 256);
	assert_int_equal(work.tiles_total, 2 * 4);
	assert_int_equal(work.tiles_skipped, 2 * 3);
	assert_int_equal(work.tiles_partial, 2);
	assert_true(work.flops_issued == 2 * 4.0 * 64 * 64 * 64);
	assert_true(case_flops(&r.cell) == 2 * 4.0 * 256 * 64);
	run_direction(&r, DIRECTION_TOTAL);
	assert_true(work_of(&r).flops_issued == 2 * 18.0 * 64 * 64 * 64);
	assert_true(case_flops(&r.cell) == 2 * 14.0 * 256 * 64);
	run_fini(&r);
}

static void refuses_what_it_cannot_do(void **state)
{
	(void)state;
	struct attention_run r;
	struct fw_attention a;
	struct fw_problem p;
	char why[200] = "";
	run_init(&r, FW_FULL, 8, NULL, 1, 1, 1, 64, 0, 0);
	case_problem(&r.cell, &a, &p);
	assert_int_equal(cpu->can(&p, why, sizeof why), FW_OK);
	a.headdim = a.headdim_v = 288;
	assert_int_equal(cpu->can(&p, why, sizeof why), FW_UNSUPPORTED);
	assert_string_equal(why, "cpu: head dimensions must be equal, a multiple of 32, at most 256");
	case_problem(&r.cell, &a, &p);
	a.dtype = FW_F32;
	assert_int_equal(cpu->can(&p, why, sizeof why), FW_UNSUPPORTED);
	case_problem(&r.cell, &a, &p);
	p.direction = FW_WGRAD;
	assert_int_equal(cpu->can(&p, why, sizeof why), FW_UNSUPPORTED);
	run_fini(&r);

	/* More blocks than the plan was made for: an error, not a write past the lists. */
	struct bound_plan b;
	run_init(&r, FW_BLOCKS, 512, NULL, 1, 1, 1, 64, 64, 0.25);
	assert_int_equal(plan_bind(&b, cpu, &r, NULL, 0), FW_OK);
	for (int i = 0; i < 8; i++)
		r.bits[i] = 0x55;
	assert_int_equal(cpu->enqueue(b.plan, FW_ALL, NULL), FW_INVALID);
	assert_string_equal(cpu->error(b.plan), "cpu: offsets or block bits do not fit the planned sizes");
	plan_release(&b);
	run_fini(&r);
}

/* A caller that was built before a struct grew passes its own size: nothing beyond it is read or written. */
static void structs_of_an_older_caller(void **state)
{
	(void)state;
	struct attention_run r;
	struct fw_attention a;
	struct fw_problem p;
	struct fw_plan *plan;
	char why[200] = "";
	run_init(&r, FW_FULL, 64, NULL, 1, 1, 1, 64, 0, 0);
	case_problem(&r.cell, &a, &p);

	struct fw_info info;
	memset(&info, 0x5a, sizeof info);
	info.struct_size = offsetof(struct fw_info, workspace_bytes);
	assert_int_equal(cpu->plan(&p, NULL, 1, &plan, &info, why, sizeof why), FW_OK);
	cpu->destroy(plan);
	assert_int_equal(info.phases, FW_RANGE_MERGE | FW_RUN);
	assert_true(info.workspace_bytes == 0x5a5a5a5a5a5a5a5aULL && info.persist_bytes == 0x5a5a5a5a5a5a5a5aULL);

	struct fw_work work;
	struct fw_tensor slot[FW_ATTENTION_SLOTS] = { 0 };
	struct fw_io host = { .struct_size = sizeof host, .n_slots = FW_ATTENTION_SLOTS, .slot = slot };
	memset(&work, 0x5a, sizeof work);
	work.struct_size = offsetof(struct fw_work, tiles_total);
	assert_int_equal(cpu->count(&p, NULL, &host, &work), FW_OK);
	assert_true(work.flops_issued == case_flops(&r.cell));
	assert_true(work.tiles_total == 0x5a5a5a5a5a5a5a5aLL && work.blocks_kept == 0x5a5a5a5a5a5a5a5aLL);

	a.struct_size = offsetof(struct fw_attention, scale);
	assert_int_equal(cpu->can(&p, why, sizeof why), FW_UNSUPPORTED);
	assert_string_equal(why, "cpu: the scale must be positive");
	run_fini(&r);
}

static void strides_of_0_are_row_major(void **state)
{
	(void)state;
	struct attention_run r;
	run_init(&r, FW_CAUSAL, 100, NULL, 1, 4, 2, 64, 0, 0);
	for (int direction = DIRECTION_FORWARD; direction <= DIRECTION_BACKWARD; direction++) {
		struct bound_plan b;
		size_t bytes;
		run_direction(&r, direction);
		assert_int_equal(run_once(&r, cpu, NULL, 1), FW_OK);
		void *with_strides = outputs(&r, &bytes);
		assert_int_equal(plan_bind(&b, cpu, &r, NULL, 1), FW_OK);
		struct fw_tensor slot[FW_ATTENTION_SLOTS] = { 0 };
		for (int i = 0; i < FW_CU_Q; i++)
			slot[i] = (struct fw_tensor){ .data = r.buffer[i], .dtype = i == FW_LSE ? FW_F32 : FW_BF16 };
		struct fw_io io = {
			.struct_size = sizeof io, .n_slots = FW_ATTENTION_SLOTS, .slot = slot, .workspace = b.workspace
		};
		assert_int_equal(cpu->bind(b.plan, &io), FW_OK);
		run_poison_outputs(&r);
		assert_int_equal(cpu->enqueue(b.plan, FW_ALL, NULL), FW_OK);
		same_outputs(&r, with_strides);
		plan_release(&b);
		free(with_strides);
	}
	run_fini(&r);
}

/* Calls that violate the contract are reported, not executed. */
static void a_broken_contract_is_reported(void **state)
{
	(void)state;
	struct attention_run r;
	struct fw_attention a;
	struct fw_problem p;
	struct fw_tensor slot[FW_ATTENTION_SLOTS] = { 0 };
	struct fw_io host = { .struct_size = sizeof host, .n_slots = FW_ATTENTION_SLOTS, .slot = slot };
	struct fw_work work = { .struct_size = sizeof work };
	static const int lengths[] = { 30, 34 };
	run_init(&r, FW_FULL, 64, lengths, 2, 1, 1, 64, 0, 0);
	case_problem(&r.cell, &a, &p);
	assert_int_equal(cpu->count(&p, NULL, &host, &work), FW_INVALID); /* two sequences, and no offsets */
	a.headdim = a.headdim_v = 288;
	assert_int_equal(cpu->count(&p, NULL, &host, &work), FW_UNSUPPORTED);
	assert_int_equal(cpu->can(NULL, NULL, 0), FW_UNSUPPORTED);
	assert_int_equal(cpu->enqueue(NULL, FW_ALL, NULL), FW_INVALID);
	assert_string_equal(cpu->error(NULL), "");
	cpu->destroy(NULL);
	run_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(odd_sizes),
		cmocka_unit_test(groups_of_heads),
		cmocka_unit_test(sequences),
		cmocka_unit_test(blocks),
		cmocka_unit_test(empty_blocks),
		cmocka_unit_test(tokens),
		cmocka_unit_test(rows_without_keys),
		cmocka_unit_test(serving),
		cmocka_unit_test(a_wrong_page_is_reported),
		cmocka_unit_test(total_is_forward_and_backward),
		cmocka_unit_test(causal_with_unequal_lengths),
		cmocka_unit_test(large_scores),
		cmocka_unit_test(every_instruction_set),
		cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
		cmocka_unit_test(phases_one_by_one_and_a_refilled_workspace),
		cmocka_unit_test(a_second_mask_on_the_same_plan),
		cmocka_unit_test(every_pattern),
		cmocka_unit_test(counts_are_exact),
		cmocka_unit_test(refuses_what_it_cannot_do),
		cmocka_unit_test(structs_of_an_older_caller),
		cmocka_unit_test(strides_of_0_are_row_major),
		cmocka_unit_test(a_broken_contract_is_reported),
	};
	return cmocka_run_group_tests(tests, load, NULL);
}
