/* Suites of linear layers: the shapes of a set, the names of cases, and what is compared with what. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/fw_linear.h"
#include "model/model.h"

static void parse(const char *lines, struct suite *s)
{
	char text[1000];
	struct fw_err err = { 0 };

	snprintf(text, sizeof text, "suite: s\nfamily: linear\ndirections: [forward]\n%s\n", lines);
	if (suite_parse(text, strlen(text), "s.yaml", s, &err) != 0)
		fail_msg("%s", err.text);
}

static void sets_have_their_shapes(void **state)
{
	static const struct {
		const char *set;
		int cells;
		const char *first, *last;
	} sets[] = {
		{ "{name: llama}", 4, "m16384/k8192/n1280", "m16384/k3584/n8192" },
		{ "{name: llama, rows: [1, 2, 4, 8, 16, 32, 64]}", 28, "m1/k8192/n1280", "m64/k3584/n8192" },
		{ "{name: llama4}", 6, "m16384/k8192/n5120", "m128000/k8192/n1024" },
		{ "{name: deepseek_v3_236b}", 4, "m16384/k1536/n5120", "m128000/k7168/n7168" },
		{ "{name: deepseek_v3_671b}", 4, "m16384/k2048/n7168", "m128000/k7168/n7168" },
		{ "{name: qwen3_32b}", 4, "m16384/k5120/n5120", "m128000/k5120/n640" },
		{ "{name: gemma3_27b}", 4, "m16384/k4096/n4096", "m128000/k4096/n1024" },
		{ "{name: pow2}", 5, "m1024/k1024/n1024", "m16384/k16384/n16384" },
		{ "{name: pow2, min_power: 3, max_power: 4}", 2, "m8/k8/n8", "m16/k16/n16" },
		{ "{name: pow2_extended}", 10, "m1024/k1024/n1024", "m24576/k24576/n24576" },
		{ "{name: small_sweep}", 35, "m1024/k1024/n1024", "m16384/k16384/n16384" },
		{ "{name: sweep, min_power: 8, max_power: 9}", 8, "m256/k256/n256", "m512/k512/n512" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
		struct suite s;
		char lines[200], key[CASE_KEY_SIZE];

		snprintf(lines, sizeof lines, "shapes: [%s]", sets[i].set);
		parse(lines, &s);
		assert_int_equal(s.n_cells, sets[i].cells);
		snprintf(key, sizeof key, "linear/linear/baseline/%s/bf16/forward", sets[i].first);
		assert_string_equal(s.cell[0].key, key);
		snprintf(key, sizeof key, "linear/linear/baseline/%s/bf16/forward", sets[i].last);
		assert_string_equal(s.cell[s.n_cells - 1].key, key);
		suite_fini(&s);
	}
}

static void recipes_become_operands(void **state)
{
	struct suite s;
	struct fw_linear_shape shape;
	struct fw_problem p;

	(void)state;
	parse("shapes: [{name: custom, shapes: [[16, 512, 32]]}]\nrecipes: [baseline, int4wo-128, float8dq-tensor]\nmodel_types: "
	      "[ln_linear_gelu]",
		&s);
	assert_int_equal(s.n_cells, 3);
	assert_string_equal(s.cell[1].baseline, s.cell[0].key);
	assert_string_equal(s.cell[0].baseline, "");
	assert_string_equal(s.cell[1].title, "gelu int4wo-128, 512 x 32");
	assert_int_equal(s.cell[1].size, 16);
	case_problem(&s.cell[1], &shape, &p);
	assert_int_equal(p.family, FW_LINEAR);
	assert_int_equal(shape.prologue, FW_LINEAR_LAYERNORM);
	assert_int_equal(shape.activation, FW_LINEAR_GELU);
	assert_int_equal(shape.w.dtype, FW_I4);
	assert_int_equal(shape.w.group, 128);
	assert_int_equal(shape.x.dtype, 0);
	case_problem(&s.cell[2], &shape, &p);
	assert_int_equal(shape.x.dtype, FW_E4M3);
	assert_int_equal(shape.w.scaling, FW_LINEAR_BY_TENSOR);
	assert_true(case_flops(&s.cell[2]) == 2.0 * 16 * 512 * 32);
	assert_true(case_bytes(&s.cell[1]) == 2.0 * 16 * 512 + 2.0 * 16 * 32 + 0.5 * 512 * 32);
	suite_fini(&s);
}

/* Of the first cell of a suite of float8dq in a direction. */
static struct fw_linear_shape first(const char *direction, const char *lines, const char *key, int *flags, struct suite *s)
{
	char text[400];
	struct fw_linear_shape shape;
	struct fw_problem p;
	struct fw_err err = { 0 };

	snprintf(text, sizeof text,
		"suite: s\nfamily: linear\ndirections: [%s]\nshapes: [{name: custom, shapes: [[16, 64, 32]]}]\nrecipes: [float8dq]\n%s\n",
		direction, lines);
	if (suite_parse(text, strlen(text), "s.yaml", s, &err) != 0)
		fail_msg("%s", err.text);
	assert_string_equal(s->cell[0].key, key);
	case_problem(&s->cell[0], &shape, &p);
	*flags = p.flags;
	return shape;
}

static void options_become_operands(void **state)
{
	static const char key[] = "linear/linear/float8dq-%s/m16/k64/n32/bf16/%s";
	char wanted[CASE_KEY_SIZE];
	struct suite s;
	int flags;

	(void)state;
	snprintf(wanted, sizeof wanted, key, "tensor", "forward");
	struct fw_linear_shape shape = first("forward", "", wanted, &flags, &s);
	assert_int_equal(flags, FW_FAST_ACCUM);
	assert_int_equal(shape.x.scaling, FW_LINEAR_BY_TENSOR);
	suite_fini(&s);

	snprintf(wanted, sizeof wanted, key, "row-exact", "wgrad");
	shape = first("wgrad", "scaling_granularity: row\nuse_fast_accum: false", wanted, &flags, &s);
	assert_int_equal(flags, 0);
	assert_int_equal(shape.x.scaling, FW_LINEAR_BY_ROW);
	assert_int_equal(shape.dy.dtype, FW_E4M3);
	assert_int_equal(shape.dy.flags, FW_LINEAR_POWER_OF_TWO);
	suite_fini(&s);

	snprintf(wanted, sizeof wanted, key, "block", "total");
	shape = first("total", "scaling_granularity: block", wanted, &flags, &s);
	assert_int_equal(flags, 0); /* its sums leave the tensor core after each block */
	for (int i = 0; i < 3; i++) {
		const struct fw_linear_operand *o = i == 0 ? &shape.x : i == 1 ? &shape.w : &shape.dy;

		assert_int_equal(o->dtype, FW_E4M3);
		assert_int_equal(o->scaling, FW_LINEAR_BY_BLOCK);
		assert_int_equal(o->group, 128);
		assert_int_equal(o->flags, 0); /* scales are no powers of two, also in training */
	}
	suite_fini(&s);

	snprintf(wanted, sizeof wanted, key, "tensor-bf16dy", "total");
	shape = first("total", "scaling_type_grad_output: disabled\nscaling_type_input: dynamic", wanted, &flags, &s);
	assert_int_equal(flags, FW_FAST_ACCUM); /* of its forward */
	assert_int_equal(shape.dy.dtype, 0);
	assert_int_equal(shape.w.dtype, FW_E4M3);
	assert_string_equal(s.cell[0].title, "float8dq-tensor dy bf16, 64 x 32");
	assert_true(case_flops(&s.cell[0]) == 6.0 * 16 * 64 * 32);
	suite_fini(&s);

	snprintf(wanted, sizeof wanted, key, "tensor-bf16w", "dgrad");
	shape = first("dgrad", "scaling_type_weight: disabled", wanted, &flags, &s);
	assert_int_equal(flags, 0); /* not a product of two fp8 operands */
	assert_int_equal(shape.w.dtype, 0);
	assert_int_equal(shape.dy.dtype, FW_E5M2);
	suite_fini(&s);
}

/* Quantising weights has its own cell, whose FLOPs are meaningless; forward no longer counts the bytes that it read. */
static void work_that_is_done_once_has_cells(void **state)
{
	struct suite s;
	struct fw_linear_shape shape;
	struct fw_problem p;
	struct fw_err err = { 0 };
	static const char text[] =
		"suite: s\nfamily: linear\ndirections: [forward, once]\nshapes: [{name: custom, shapes: [[16, 512, 32]]}]\n"
		"recipes: [baseline, int8wo, int4wo-128, float8dq]\n";

	(void)state;
	if (suite_parse(text, strlen(text), "s.yaml", &s, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(s.n_cells, 7); /* the baseline quantises nothing */
	assert_string_equal(s.cell[2].key, "linear/linear/int8wo/m16/k512/n32/bf16/once");
	assert_true(isnan(case_flops(&s.cell[2])));
	assert_true(case_bytes(&s.cell[2]) == 3.0 * 512 * 32);
	assert_int_equal(case_metric(&s.cell[2]), METRIC_GBPS);
	assert_int_equal(case_metric(&s.cell[1]), METRIC_TFLOPS);
	assert_true(case_bytes(&s.cell[4]) == 2.5 * 512 * 32);
	assert_true(case_bytes(&s.cell[1]) == 2.0 * 16 * 512 + 2.0 * 16 * 32 + 512 * 32);
	case_problem(&s.cell[6], &shape, &p);
	assert_int_equal(p.direction, FW_FORWARD); /* as modules see it */
	assert_int_equal(p.flags, FW_FAST_ACCUM);
	assert_int_equal(shape.w.flags, 0);
	assert_int_equal(shape.dy.dtype, 0);
	suite_fini(&s);
}

/* A gradient through normalisation and activation reads S, and for dX also X; its FLOPs are those of its product. */
static void gradients_of_models_read_what_forward_stored(void **state)
{
	static const struct {
		const char *name;
		double flops, bytes;
		enum slot_use x, w, s;
	} directions[] = { { "forward", 2, 0, SLOT_INPUT, SLOT_INPUT, SLOT_UNUSED },
		{ "dgrad", 2, 2.0 * 16 * 512 + 2.0 * 16 * 32, SLOT_INPUT, SLOT_INPUT, SLOT_INPUT },
		{ "wgrad", 2, 2.0 * 16 * 32, SLOT_INPUT, SLOT_UNUSED, SLOT_INPUT },
		{ "total", 6, 2.0 * 16 * 32, SLOT_INPUT, SLOT_INPUT, SLOT_INPUT } };
	static const char text[] =
		"suite: s\nfamily: linear\ndirections: [forward, dgrad, wgrad, total]\nshapes: [{name: custom, shapes: "
		"[[16, 512, 32]]}]\nmodel_types: [linear, ln_linear_silu]\n";
	struct suite s;
	struct fw_err err = { 0 };

	(void)state;
	if (suite_parse(text, strlen(text), "s.yaml", &s, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(s.n_cells, 8);
	for (int i = 0; i < 4; i++) {
		const struct cell *alone = &s.cell[i], *c = &s.cell[4 + i];
		const struct family *f = case_family(c);
		struct fw_linear_shape shape;
		struct fw_problem p;
		struct fw_tensor t;
		char key[CASE_KEY_SIZE];

		snprintf(key, sizeof key, "linear/ln_linear_silu/baseline/m16/k512/n32/bf16/%s", directions[i].name);
		assert_string_equal(c->key, key);
		case_problem(c, &shape, &p);
		assert_int_equal(shape.prologue, FW_LINEAR_LAYERNORM);
		assert_int_equal(shape.activation, FW_LINEAR_SILU);
		assert_true(case_flops(c) == directions[i].flops * 16 * 512 * 32);
		assert_true(case_bytes(c) == case_bytes(alone) + directions[i].bytes);
		assert_int_equal(f->use(c->shape.bytes, c->direction, FW_LINEAR_X), directions[i].x);
		assert_int_equal(f->use(c->shape.bytes, c->direction, FW_LINEAR_W), directions[i].w);
		assert_int_equal(f->use(c->shape.bytes, c->direction, FW_LINEAR_S), directions[i].s);
		assert_int_equal(f->use(alone->shape.bytes, c->direction, FW_LINEAR_S), SLOT_UNUSED);
		assert_int_equal(f->lay_out(c->shape.bytes, FW_LINEAR_S, &t), 2 * 16 * 32);
	}
	suite_fini(&s);
}

/* Of two recipes `use_fast_accum` changes one; the other is the same case with and without it, also through its JSON. */
static void blocks_have_no_fast_accumulation(void **state)
{
	static const char shapes[] =
		"shapes: [{name: custom, shapes: [[16, 512, 32]]}]\nrecipes: [float8dq-row, float8dq-block]\n";
	struct suite fast, exact;
	char lines[300];

	(void)state;
	parse(shapes, &fast);
	snprintf(lines, sizeof lines, "%suse_fast_accum: false", shapes);
	parse(lines, &exact);
	assert_string_equal(exact.cell[0].key, "linear/linear/float8dq-row-exact/m16/k512/n32/bf16/forward");
	assert_string_equal(exact.cell[1].key, "linear/linear/float8dq-block/m16/k512/n32/bf16/forward");
	assert_string_equal(fast.cell[1].key, exact.cell[1].key);
	assert_string_equal(fast.cell[1].baseline, "linear/linear/baseline/m16/k512/n32/bf16/forward");
	assert_memory_equal(fast.cell[1].shape.bytes, exact.cell[1].shape.bytes, sizeof fast.cell[1].shape.bytes);
	suite_fini(&fast);
	suite_fini(&exact);
}

static void suites_hash_as_they_always_did(void **state)
{
	struct suite s;
	char hex[65];

	(void)state;
	parse("shapes: [{name: llama}, {name: llama, rows: [1, 16]}]\nrecipes: [baseline, int8wo, int4wo-128, float8wo, "
	      "float8dq-tensor, float8dq-row]\nseed: 42\nthreshold_pct: 1.5\nbudget_s: 900",
		&s);
	suite_hash(&s, hex);
	assert_int_equal(s.n_cells, 72);
	assert_string_equal(hex, "bf55f84e07c922654a6dfe54a8770bb3da1b0dbffa3fc4b4d60567d3822b9b5f");
	suite_fini(&s);
}

/* Gradients of a block read X, W, dY and what a forward stored, 8 k values a token; dW depends on the gradients of inputs. */
static void gradients_of_blocks_read_what_forward_stored(void **state)
{
	static const char text[] =
		"suite: s\nfamily: linear\ndirections: [forward, dgrad, wgrad, total]\nshapes: [{name: custom, shapes: "
		"[[2, 64, 1]]}]\nrecipes: [float8dq-row]\nmodel_types: [transformer_block]\n";
	static const double weights[] = { 12, 12, 21, 36 }, attention[] = { 2, 5, 7, 9 };
	const double x = 2.0 * 32 * 64, w = 2.0 * 12 * 64 * 64,
		     bytes[] = { 2 * x + w / 2, 11 * x + w, 10 * x + 2 * w, 12 * x + 2 * w };
	struct suite s;
	struct fw_linear_shape shape;
	struct fw_problem p;
	struct fw_tensor t;
	struct fw_err err = { 0 };

	(void)state;
	if (suite_parse(text, strlen(text), "s.yaml", &s, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(s.n_cells, 4);
	for (int i = 0; i < 4; i++) {
		const struct cell *c = &s.cell[i];
		const struct family *f = case_family(c);

		assert_true(case_flops(c) == 2.0 * 32 * (weights[i] * 64 * 64 + attention[i] * 16 * 64));
		assert_true(case_bytes(c) == bytes[i]);
		for (int slot = FW_LINEAR_X; slot <= FW_LINEAR_W; slot++)
			assert_int_equal(f->use(c->shape.bytes, c->direction, slot), SLOT_INPUT);
		assert_int_equal(f->use(c->shape.bytes, c->direction, FW_LINEAR_S), i == 0 ? SLOT_UNUSED : SLOT_INPUT);
		assert_int_equal(f->lay_out(c->shape.bytes, FW_LINEAR_S, &t), 2 * 32 * 8 * 64);
		assert_int_equal(t.stride[0], 8 * 64);
		assert_int_equal(f->lay_out(c->shape.bytes, FW_LINEAR_DW, &t), 2 * 12 * 64 * 64);
		case_problem(c, &shape, &p);
		assert_int_equal(shape.w.dtype, FW_E4M3); /* in wgrad too */
		assert_int_equal(shape.w.flags, i == 0 ? 0 : FW_LINEAR_POWER_OF_TWO);
		assert_int_equal(p.flags, FW_FAST_ACCUM);
	}
	suite_fini(&s);
}

static void a_block_has_no_n(void **state)
{
	struct suite s;
	struct fw_linear_shape shape;
	struct fw_problem p;
	struct fw_tensor t;

	(void)state;
	parse("shapes: [{name: custom, shapes: [[2, 64, 8], [2, 64, 16], [4, 64, 8]]}]\nrecipes: [baseline, int8wo]\nmodel_types: "
	      "[linear, transformer_block]",
		&s);
	assert_int_equal(s.n_cells, 3 * 2 + 2 * 2);
	const struct cell *c = &s.cell[3];

	assert_string_equal(s.cell[2].key, "linear/transformer_block/baseline/m2/k64/bf16/forward");
	assert_string_equal(c->key, "linear/transformer_block/int8wo/m2/k64/bf16/forward");
	assert_string_equal(c->baseline, s.cell[2].key);
	assert_string_equal(c->group, "block");
	assert_string_equal(c->title, "int8wo, 64 wide");
	assert_int_equal(c->size, 2);
	case_problem(c, &shape, &p);
	assert_int_equal(shape.prologue, FW_LINEAR_BLOCK);
	assert_int_equal(shape.n, 64);
	assert_int_equal(shape.w.dtype, FW_I8);
	assert_true(case_flops(c) == 2.0 * 32 * 12 * 64 * 64 + 4.0 * 16 * 32 * 64);
	assert_true(case_bytes(c) == 2 * 2.0 * 32 * 64 + 12 * 64 * 64);
	assert_int_equal(case_family(c)->lay_out(c->shape.bytes, FW_LINEAR_W, &t), 2 * 12 * 64 * 64);
	assert_int_equal(case_family(c)->lay_out(c->shape.bytes, FW_LINEAR_Y, &t), 2 * 32 * 64);
	suite_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_have_their_shapes),
		cmocka_unit_test(recipes_become_operands),
		cmocka_unit_test(options_become_operands),
		cmocka_unit_test(work_that_is_done_once_has_cells),
		cmocka_unit_test(gradients_of_models_read_what_forward_stored),
		cmocka_unit_test(blocks_have_no_fast_accumulation),
		cmocka_unit_test(suites_hash_as_they_always_did),
		cmocka_unit_test(gradients_of_blocks_read_what_forward_stored),
		cmocka_unit_test(a_block_has_no_n),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
