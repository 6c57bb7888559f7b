/* The linear family's CPU kernels, built like those of a branch, against a reference in fp64: every recipe, direction and
 * activation. */
/* Left to `make check`: takes seconds, only computes. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "kernels_module.h"
#include "linear_reference.h"

static const struct fw_provider *cpu;

static int load(void **state)
{
	(void)state;
	const struct fw_module *m = kernels_module("linear");
	cpu = m && m->abi == FW_ABI && m->n_providers == 2 ? m->provider[0] : NULL;
	return cpu ? 0 : -1;
}

/* ---- one problem in host memory ---- */

enum { DEVICE_CHECK = 64 };                  /* elements after every tensor, and their value */
static const uint16_t device_check = 0x7fc1; /* a NaN, so that reads of them are detected */

struct run {
	struct fw_linear_shape shape;
	int direction, flags;
	uint16_t *tensor[FW_LINEAR_N_SLOTS];
	int64_t elements[FW_LINEAR_N_SLOTS];
	void *workspace, *persist;
	struct fw_plan *plan;
	struct fw_info info;
};

static struct fw_linear_operand as(int dtype, int scaling, int group, int flags)
{
	return (struct fw_linear_operand){ .dtype = dtype, .scaling = scaling, .group = group, .flags = flags };
}

static struct fw_linear_shape shape(int m, int n, int k)
{
	return (struct fw_linear_shape){ .struct_size = sizeof(struct fw_linear_shape), .m = m, .n = n, .k = k };
}

static struct fw_problem problem(const struct run *r)
{
	return (struct fw_problem){ .struct_size = sizeof(struct fw_problem),
		.family = FW_LINEAR,
		.direction = r->direction,
		.flags = r->flags,
		.shape = &r->shape,
		.shape_size = sizeof r->shape };
}

/* Numbers as large as weights and activations usually are, every row larger than the one before, and one outlier. */
static void fill(uint16_t *to, int64_t rows, int64_t columns, uint32_t seed)
{
	uint32_t state = seed * 2654435761u + 1;
	for (int64_t i = 0; i < rows * columns; i++) {
		double sum = 0;
		for (int j = 0; j < 4; j++) {
			state = state * 1664525u + 1013904223u;
			sum += (double)(state >> 8) / (1 << 24) - 0.5;
		}
		const float v = (float)(sum * (1 + 0.25 * (double)(i / columns % 7)) * (i % 1009 == 5 ? 30 : 1));
		uint32_t bits;
		memcpy(&bits, &v, sizeof bits);
		to[i] = (uint16_t)((bits + 0x8000) >> 16);
	}
}

static void start(struct run *r, struct fw_linear_shape s, int direction)
{
	memset(r, 0, sizeof *r);
	r->shape = s;
	r->direction = direction;
	const int64_t rows[] = { s.m, s.n, 1, s.m, s.m, s.m, s.n, s.m }, columns[] = { s.k, s.k, s.n, s.n, s.n, s.k, s.k, s.n };
	for (int slot = 0; slot < FW_LINEAR_N_SLOTS; slot++) {
		r->elements[slot] = rows[slot] * columns[slot];
		r->tensor[slot] = malloc((size_t)(r->elements[slot] + DEVICE_CHECK) * sizeof(uint16_t));
		fill(r->tensor[slot], rows[slot], columns[slot], (uint32_t)slot + 1);
		for (int i = 0; i < DEVICE_CHECK; i++)
			r->tensor[slot][r->elements[slot] + i] = device_check;
	}
}

static void release(struct run *r)
{
	cpu->destroy(r->plan);
	free(r->workspace);
	free(r->persist);
	r->plan = NULL;
	r->workspace = r->persist = NULL;
}

static void finish(struct run *r)
{
	release(r);
	for (int slot = 0; slot < FW_LINEAR_N_SLOTS; slot++) {
		for (int i = 0; i < DEVICE_CHECK; i++)
			assert_int_equal(r->tensor[slot][r->elements[slot] + i], device_check);
		free(r->tensor[slot]);
	}
}

static int out_slot(const struct run *r)
{
	return r->direction == FW_FORWARD ? FW_LINEAR_Y : r->direction == FW_DGRAD ? FW_LINEAR_DX : FW_LINEAR_DW;
}

static void poison(struct run *r)
{
	for (int64_t i = 0; i < r->elements[out_slot(r)]; i++)
		r->tensor[out_slot(r)][i] = device_check;
}

/* Plan and bind. */
static void ready(struct run *r, const char *config, int threads)
{
	const struct fw_problem p = problem(r);
	char why[200] = "";
	r->info.struct_size = sizeof r->info;
	if (cpu->plan(&p, config, threads, &r->plan, &r->info, why, sizeof why) != FW_OK)
		fail_msg("plan: %s", why);
	r->workspace = aligned_alloc(256, r->info.workspace_bytes + 256);
	r->persist = aligned_alloc(256, r->info.persist_bytes + 256);
	memset(r->workspace, 0xff, r->info.workspace_bytes);
	memset(r->persist, 0xff, r->info.persist_bytes);
	struct fw_tensor slot[FW_LINEAR_N_SLOTS] = { 0 };
	for (int i = 0; i < FW_LINEAR_N_SLOTS; i++)
		slot[i] = (struct fw_tensor){ .data = r->tensor[i], .dtype = FW_BF16 };
	const struct fw_io io = { .struct_size = sizeof io,
		.n_slots = FW_LINEAR_N_SLOTS,
		.slot = slot,
		.workspace = r->workspace,
		.persist = r->persist };
	assert_int_equal(cpu->bind(r->plan, &io), FW_OK);
}

static void run_it(struct run *r, const char *config, int threads)
{
	release(r);
	ready(r, config, threads);
	poison(r);
	assert_int_equal(cpu->enqueue(r->plan, FW_ALL, NULL), FW_OK);
}

/* The bf16 that is nearest to `v`, as bits. */
static uint16_t shorten(double v)
{
	const float nearest = (float)linear_to_bf16(v);
	uint32_t bits;
	memcpy(&bits, &nearest, sizeof bits);
	return (uint16_t)(bits >> 16);
}

/* The slope by differences; `v` is no point where it changes. */
static double slope_at(int activation, double v)
{
	const double step = 1e-6;
	return (linear_activate(activation, v + step) - linear_activate(activation, v - step)) / (2 * step);
}

/* G of fw_linear.h, rounded to fp32 first: the error of a difference may move a value that is halfway between two. Own: free. */
static uint16_t *make_g(const struct run *r)
{
	const int64_t n = r->elements[FW_LINEAR_DY];
	uint16_t *const g = malloc((size_t)n * sizeof *g);
	for (int64_t i = 0; i < n; i++)
		g[i] = shorten((double)(float)(linear_widen(r->tensor[FW_LINEAR_DY][i]) *
					       slope_at(r->shape.activation, linear_widen(r->tensor[FW_LINEAR_S][i]))));
	return g;
}

static void moments_of(const struct run *r, int row, double *mean, double *deviation)
{
	const int k = r->shape.k;
	const uint16_t *const x = r->tensor[FW_LINEAR_X] + (int64_t)row * k;
	double squares = 0;
	*mean = 0;
	for (int i = 0; i < k; i++)
		*mean += linear_widen(x[i]) / k;
	for (int i = 0; i < k; i++)
		squares += (linear_widen(x[i]) - *mean) * (linear_widen(x[i]) - *mean) / k;
	*deviation = sqrt(squares + 1e-5);
}

/* U of fw_linear.h, X without a prologue. Own: free. */
static uint16_t *make_u(const struct run *r)
{
	const int64_t n = r->elements[FW_LINEAR_X];
	uint16_t *const u = malloc((size_t)n * sizeof *u);
	memcpy(u, r->tensor[FW_LINEAR_X], (size_t)n * sizeof *u);
	for (int row = 0; r->shape.prologue && row < r->shape.m; row++) {
		double mean, deviation;
		moments_of(r, row, &mean, &deviation);
		for (int64_t i = (int64_t)row * r->shape.k; i < (int64_t)(row + 1) * r->shape.k; i++)
			u[i] = shorten((linear_widen(u[i]) - mean) / deviation);
	}
	return u;
}

/* Replace a row of D by the gradient of the prologue, and the errors of D by those of the result. Shape: d[k], error[k]. */
static void unnormalise(const struct run *r, int row, double *d, double *error)
{
	const int k = r->shape.k;
	const uint16_t *const x = r->tensor[FW_LINEAR_X] + (int64_t)row * k;
	double mean, deviation, of_d = 0, along = 0, size = 0;
	moments_of(r, row, &mean, &deviation);
	for (int i = 0; i < k; i++) {
		of_d += d[i] / k;
		along += d[i] * (linear_widen(x[i]) - mean) / deviation / k;
		size += (fabs(d[i]) / 256 + error[i]) / k;
	}
	for (int i = 0; i < k; i++) {
		const double v = (linear_widen(x[i]) - mean) / deviation;
		error[i] = (fabs(d[i]) / 256 + error[i] + 2 * size * (1 + fabs(v)) / sqrt(k)) / deviation;
		d[i] = (d[i] - of_d - v * along) / deviation;
	}
}

/* Every element of a gradient through prologue and activation. */
static void judge_gradient(const struct run *r, const char *what)
{
	uint16_t *const g = make_g(r), *const u = make_u(r);
	const struct linear_tensors t = { .x = u, .w = r->tensor[FW_LINEAR_W], .dy = g };
	struct linear_side left, right;
	linear_sides(&r->shape, r->direction, &t, &left, &right);
	const size_t depth = (size_t)left.depth, across = (size_t)right.rows;
	double *a = malloc(depth * sizeof *a), *b = malloc(across * depth * sizeof *b), *d = malloc(2 * across * sizeof *d);
	for (int column = 0; column < right.rows; column++)
		linear_row(&right, column, b + (size_t)column * depth);
	for (int row = 0; row < left.rows; row++) {
		double *const error = d + across;
		linear_row(&left, row, a);
		for (size_t column = 0; column < across; column++) {
			d[column] = error[column] = 0;
			double largest = 0;
			for (size_t i = 0; i < depth; i++) {
				d[column] += a[i] * b[column * depth + i];
				error[column] += 2e-5 * fabs(a[i] * b[column * depth + i]);
				largest = fmax(largest, fabs(a[i] * b[column * depth + i]));
			}
			error[column] += r->shape.activation ? largest / 128 : 0; /* one value of G halfway between two */
		}
		if (r->direction == FW_DGRAD && r->shape.prologue)
			unnormalise(r, row, d, error);
		for (size_t column = 0; column < across; column++) {
			const double got = linear_widen(r->tensor[out_slot(r)][(size_t)row * across + column]);
			if (!(fabs(got - d[column]) <= fabs(d[column]) / 256 + error[column]))
				fail_msg("%s, activation %d, direction %d: row %d, column %zu is %g and should be %g", what,
					r->shape.activation, r->direction, row, column, got, d[column]);
		}
	}
	free(a);
	free(b);
	free(d);
	free(g);
	free(u);
}

/* Every element of the result. */
static void judge(const struct run *r, const char *what)
{
	const struct linear_tensors t = { r->tensor[FW_LINEAR_X], r->tensor[FW_LINEAR_W], r->tensor[FW_LINEAR_BIAS],
		r->tensor[FW_LINEAR_DY] };
	struct linear_side left, right;
	linear_sides(&r->shape, r->direction, &t, &left, &right);
	const size_t depth = (size_t)left.depth;
	double *a = malloc(depth * sizeof *a), *b = malloc((size_t)right.rows * depth * sizeof *b);
	for (int column = 0; column < right.rows; column++)
		linear_row(&right, column, b + (size_t)column * depth);
	for (int row = 0; row < left.rows; row++) {
		linear_row(&left, row, a);
		for (int column = 0; column < right.rows; column++) {
			const double bias = r->shape.bias ? linear_widen(t.bias[column]) : 0;
			const double got = linear_widen(r->tensor[out_slot(r)][(int64_t)row * right.rows + column]);
			double wanted;
			if (!linear_is_right(
				    a, b + (size_t)column * depth, left.depth, bias, r->shape.activation, 1e-6, got, &wanted))
				fail_msg("%s, (%d, %d, %d): row %d, column %d is %g and should be %g", what, r->shape.m,
					r->shape.n, r->shape.k, row, column, got, wanted);
		}
	}
	free(a);
	free(b);
}

static void check(struct fw_linear_shape s, int direction, const char *what)
{
	struct run r;
	start(&r, s, direction);
	run_it(&r, NULL, 0);
	judge(&r, what);
	finish(&r);
}

/* ---- recipes ---- */

struct recipe {
	const char *name;
	struct fw_linear_operand x, w, dy;
};

#define TENSOR FW_LINEAR_BY_TENSOR
#define ROW    FW_LINEAR_BY_ROW
#define POWER  FW_LINEAR_POWER_OF_TWO
#define BLOCK  FW_LINEAR_BY_BLOCK
#define INT4(group)                                                                                                              \
	{ 0, 0, 0, 0 }, { FW_I4, FW_LINEAR_BY_GROUP, group, FW_LINEAR_ASYMMETRIC },                                              \
	{                                                                                                                        \
		0, 0, 0, 0                                                                                                       \
	}

static const struct recipe recipes[] = {
	{ .name = "baseline" },
	{ .name = "int8wo", .w = { FW_I8, ROW, 0, 0 } },
	{ .name = "int4wo-32", INT4(32) },
	{ .name = "int4wo-64", INT4(64) },
	{ .name = "float8wo", .w = { FW_E4M3, ROW, 0, 0 } },
	{ .name = "float8dq-tensor", { FW_E4M3, TENSOR, 0, 0 }, { FW_E4M3, TENSOR, 0, 0 }, { FW_E5M2, TENSOR, 0, 0 } },
	{ .name = "float8dq-row", { FW_E4M3, ROW, 0, 0 }, { FW_E4M3, ROW, 0, 0 }, { FW_E5M2, ROW, 0, 0 } },
	{ .name = "powers of two", { FW_E4M3, ROW, 0, POWER }, { FW_E4M3, ROW, 0, POWER }, { FW_E4M3, ROW, 0, POWER } },
	{ .name = "float8dq-block", { FW_E4M3, BLOCK, 128, 0 }, { FW_E4M3, BLOCK, 128, 0 }, { FW_E4M3, BLOCK, 128, 0 } },
};
enum { N_RECIPES = sizeof recipes / sizeof recipes[0] };

static struct fw_linear_shape with(const struct recipe *recipe, int m, int n, int k)
{
	struct fw_linear_shape s = shape(m, n, k);
	s.x = recipe->x;
	s.w = recipe->w;
	s.dy = recipe->dy;
	return s;
}

static void every_recipe_in_every_direction(void **state)
{
	(void)state;
	static const int directions[] = { FW_FORWARD, FW_DGRAD, FW_WGRAD };
	for (int i = 0; i < N_RECIPES; i++)
		for (int j = 0; j < 3; j++)
			check(with(&recipes[i], 50, 70, 128), directions[j], recipes[i].name);
}

static void odd_sizes(void **state)
{
	(void)state;
	static const int sizes[][3] = { { 1, 1, 1 }, { 1, 65, 7 }, { 3, 17, 63 }, { 49, 64, 257 }, { 47, 1, 300 },
		{ 97, 129, 5 } };
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (int j = 0; j < N_RECIPES; j++) {
			const int k = recipes[j].w.dtype == FW_I4 ? recipes[j].w.group * (1 + (int)i % 3) : sizes[i][2];
			for (int direction = FW_FORWARD; direction <= FW_WGRAD; direction++)
				if (direction != FW_BACKWARD)
					check(with(&recipes[j], sizes[i][0], sizes[i][1], k), direction, recipes[j].name);
		}
}

static void blocks_that_a_size_does_and_does_not_fill(void **state)
{
	(void)state;
	static const int sizes[][3] = { { 256, 128, 384 }, { 129, 257, 130 }, { 200, 300, 260 }, { 3, 127, 513 } };
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (int direction = FW_FORWARD; direction <= FW_WGRAD; direction++)
			for (int plain = 0; plain < 7 && direction != FW_BACKWARD; plain++) {
				struct fw_linear_shape s = shape(sizes[i][0], sizes[i][1], sizes[i][2]);
				const struct fw_linear_operand by_block = as(FW_E4M3, BLOCK, 128, 0), bf16 = as(0, 0, 0, 0);
				s.x = plain & 1 ? bf16 : by_block;
				s.w = plain & 2 ? bf16 : by_block;
				s.dy = plain & 4 ? bf16 : by_block;
				check(s, direction, "blocks");
			}
}

/* A value next to 448 is rounded, the same value next to none that is larger is not. */
static void a_block_has_its_own_scale(void **state)
{
	(void)state;
	struct run r;
	struct fw_linear_shape s = shape(1, 1, 256);
	s.x = as(FW_E4M3, BLOCK, 128, 0);
	start(&r, s, FW_FORWARD);
	for (int i = 0; i < 256; i++) {
		r.tensor[FW_LINEAR_X][i] = i < 2 || i >= 128 ? 0x3f81 : 0; /* 1.0078125 */
		r.tensor[FW_LINEAR_W][i] = i == 1 ? 0x3f80 : 0;
	}
	r.tensor[FW_LINEAR_X][0] = 0x43e0; /* 448 */
	run_it(&r, NULL, 0);
	assert_true(linear_widen(r.tensor[FW_LINEAR_Y][0]) == 1); /* e4m3 has no 1.0078125 */
	r.tensor[FW_LINEAR_W][1] = 0;
	r.tensor[FW_LINEAR_W][128] = 0x3f80;
	run_it(&r, NULL, 0);
	assert_true(linear_widen(r.tensor[FW_LINEAR_Y][0]) == 1.0078125);
	finish(&r);
}

static void groups_of_other_sizes(void **state)
{
	(void)state;
	for (int group = 128; group <= 256; group *= 2) {
		struct fw_linear_shape s = shape(5, 20, 512);
		s.w = as(FW_I4, FW_LINEAR_BY_GROUP, group, FW_LINEAR_ASYMMETRIC);
		check(s, FW_FORWARD, "a wide group");
	}
	struct fw_linear_shape s = shape(5, 20, 9);
	s.w = as(FW_I4, FW_LINEAR_BY_GROUP, 3, FW_LINEAR_ASYMMETRIC);
	check(s, FW_FORWARD, "a group of 3");
}

static void layernorm_bias_and_every_activation(void **state)
{
	(void)state;
	for (int activation = 0; activation < FW_LINEAR_N_ACTIVATIONS; activation++)
		for (int i = 0; i < N_RECIPES; i++) {
			struct fw_linear_shape s = with(&recipes[i], 9, 33, 64);
			s.activation = activation;
			s.bias = activation % 2;
			s.prologue = activation % 3 ? FW_LINEAR_LAYERNORM : FW_LINEAR_NO_PROLOGUE;
			check(s, FW_FORWARD, recipes[i].name);
		}
}

/* Move values of S off the points where a slope changes. */
static void leave_kinks(struct run *r)
{
	for (int64_t i = 0; i < r->elements[FW_LINEAR_S]; i++) {
		const double v = linear_widen(r->tensor[FW_LINEAR_S][i]);
		if (fabs(v) < 1e-3 || fabs(fabs(v) - 3) < 1e-3 || fabs(v - 6) < 1e-3)
			r->tensor[FW_LINEAR_S][i] = 0x3f00; /* 0.5 */
	}
}

static void gradients_go_through_normalisation_and_activation(void **state)
{
	(void)state;
	for (int direction = FW_DGRAD; direction <= FW_WGRAD; direction++)
		for (int activation = 0; activation < FW_LINEAR_N_ACTIVATIONS; activation++)
			for (int i = 0; i < N_RECIPES; i++)
				for (int prologue = FW_LINEAR_NO_PROLOGUE; prologue <= FW_LINEAR_LAYERNORM; prologue++) {
					struct run r;
					struct fw_linear_shape s = with(&recipes[i], 40, 33, 64);
					s.activation = activation;
					s.prologue = prologue;
					start(&r, s, direction);
					leave_kinks(&r);
					run_it(&r, NULL, 0);
					judge_gradient(&r, recipes[i].name);
					poison(&r);
					for (uint32_t phase = 1; phase <= FW_LINEAR_ACTIVATE; phase <<= 1)
						assert_int_equal(cpu->enqueue(r.plan, phase, NULL), FW_OK);
					judge_gradient(&r, recipes[i].name);
					finish(&r);
				}
}

/* What one value of dY gives in dX of W = 1, without prologue. */
static void slopes_at_their_kinks(void **state)
{
	static const struct {
		int activation;
		uint16_t at;
		double slope;
	} kinks[] = { { FW_LINEAR_RELU, 0, 0 }, { FW_LINEAR_LEAKYRELU, 0, 0.01 }, { FW_LINEAR_RELU6, 0, 0 },
		{ FW_LINEAR_RELU6, 0x40c0, 0 }, { FW_LINEAR_HARDSWISH, 0xc040, 0 }, { FW_LINEAR_HARDSWISH, 0x4040, 1 },
		{ FW_LINEAR_SIGMOID, 0x42c8, 3.7e-44 }, { FW_LINEAR_SILU, 0xc2c8, -3.7e-42 }, { FW_LINEAR_GELU, 0x42c8, 1 } };
	(void)state;
	for (size_t i = 0; i < sizeof kinks / sizeof kinks[0]; i++) {
		struct run r;
		struct fw_linear_shape s = shape(1, 1, 1);
		s.activation = kinks[i].activation;
		start(&r, s, FW_DGRAD);
		r.tensor[FW_LINEAR_W][0] = r.tensor[FW_LINEAR_DY][0] = 0x3f80;
		r.tensor[FW_LINEAR_S][0] = kinks[i].at;
		run_it(&r, NULL, 0);
		assert_true(fabs(linear_widen(r.tensor[FW_LINEAR_DX][0]) - kinks[i].slope) <= 0.004 * kinks[i].slope + 1e-38);
		finish(&r);
	}
}

static void values_that_are_hard_to_round(void **state)
{
	(void)state;
	for (int i = 0; i < N_RECIPES; i++) {
		struct run r;
		start(&r, with(&recipes[i], 8, 12, 64), FW_FORWARD);
		uint16_t *const x = r.tensor[FW_LINEAR_X], *const w = r.tensor[FW_LINEAR_W];
		memset(x, 0, 64 * sizeof *x); /* a row of zeros */
		memset(w, 0, 64 * sizeof *w);
		for (int k = 0; k < 64; k++) {
			w[64 + k] = 0x3f80;                                    /* a row of ones, a group without a range */
			w[128 + k] = (uint16_t)(k % 2 ? 0x42ff : 0xc2ff);      /* -127.5 and 127.5: q is -128 and 127 */
			w[192 + k] = (uint16_t)(0x3f00 + k);                   /* slightly more than 0.5 */
			w[256 + k] = (uint16_t)(k == 3 ? 0x43e0 : 0x3c00 + k); /* 448 next to values that e4m3 has no bits for */
			x[64 + k] = (uint16_t)(k == 9 ? 0x7000 : 0x0100 + k);  /* 1e29 next to almost nothing */
		}
		x[128 + 3] = 0; /* and without the 448 */
		run_it(&r, NULL, 0);
		judge(&r, recipes[i].name);
		finish(&r);
	}
}

static void rounding_to_127_5_is_to_even(void **state)
{
	(void)state;
	struct run r;
	struct fw_linear_shape s = shape(1, 1, 4);
	s.w = as(FW_I8, ROW, 0, 0);
	start(&r, s, FW_FORWARD);
	const uint16_t w[] = { 0x42ff, 0x3fc0, 0x4020, 0xc2ff }; /* 127.5 1.5 2.5 -127.5: scale 1, q 127 2 2 -128 */
	const uint16_t x[] = { 0x3f80, 0x4120, 0x42c8, 0 };      /* 1 10 100 0 */
	memcpy(r.tensor[FW_LINEAR_W], w, sizeof w);
	memcpy(r.tensor[FW_LINEAR_X], x, sizeof x);
	run_it(&r, NULL, 0);
	assert_true(linear_widen(r.tensor[FW_LINEAR_Y][0]) == 348); /* 127 + 20 + 200 = 347, whose nearest bf16 is 348 (even) */
	finish(&r);
}

static void any_number_of_threads_and_every_call_give_the_same_bits(void **state)
{
	(void)state;
	for (int i = 0; i < N_RECIPES; i++) {
		struct run r;
		start(&r, with(&recipes[i], 100, 130, 320), FW_FORWARD);
		const size_t bytes = (size_t)r.elements[FW_LINEAR_Y] * sizeof(uint16_t);
		run_it(&r, NULL, 1);
		void *const first = malloc(bytes);
		memcpy(first, r.tensor[FW_LINEAR_Y], bytes);
		for (int threads = 1; threads <= 5; threads++) {
			run_it(&r, NULL, threads);
			assert_memory_equal(r.tensor[FW_LINEAR_Y], first, bytes);
		}
		free(first);
		finish(&r);
	}
}

static void weights_are_rounded_once_and_the_rest_in_every_call(void **state)
{
	(void)state;
	for (int i = 0; i < N_RECIPES; i++) {
		struct run r;
		struct fw_linear_shape s = with(&recipes[i], 20, 30, 64);
		s.prologue = FW_LINEAR_LAYERNORM;
		start(&r, s, FW_FORWARD);
		ready(&r, NULL, 0);
		const bool rounds_w = recipes[i].w.dtype != 0, rounds_x = recipes[i].x.dtype != 0;
		assert_int_equal(r.info.once, rounds_w ? FW_LINEAR_QUANTISE_WEIGHT : 0);
		assert_int_equal(r.info.phases, FW_LINEAR_NORMALISE | FW_LINEAR_RUN | (rounds_w ? FW_LINEAR_QUANTISE_WEIGHT : 0) |
							(rounds_x ? FW_LINEAR_QUANTISE_ACTIVATION : 0));
		assert_int_equal(cpu->enqueue(r.plan, r.info.once, NULL), FW_OK);
		for (int call = 0; call < 2; call++) { /* another X each time, and the workspace is overwritten in between */
			fill(r.tensor[FW_LINEAR_X], 20, 64, 100 + (uint32_t)call);
			memset(r.workspace, 0x11, r.info.workspace_bytes);
			poison(&r);
			for (uint32_t phase = 1; phase <= FW_LINEAR_ACTIVATE; phase <<= 1)
				if (!(phase & r.info.once))
					assert_int_equal(cpu->enqueue(r.plan, phase, NULL), FW_OK);
			judge(&r, recipes[i].name);
		}
		finish(&r);
	}
}

static void total_is_its_three_parts(void **state)
{
	(void)state;
	static const int parts[] = { FW_FORWARD, FW_DGRAD, FW_WGRAD };
	for (int i = 0; i < N_RECIPES; i++)
		for (int one_by_one = 0; one_by_one < 2 && recipes[i].w.dtype != FW_I4; one_by_one++) {
			struct run r;
			start(&r, with(&recipes[i], 33, 47, 50), FW_TOTAL);
			ready(&r, NULL, 0);
			assert_int_equal(r.info.once, 0); /* weights differ after every step */
			for (int j = 0; j < 3; j++) {
				r.direction = parts[j];
				poison(&r);
			}
			for (uint32_t phase = 1; one_by_one && phase <= FW_LINEAR_ACTIVATE; phase <<= 1)
				assert_int_equal(cpu->enqueue(r.plan, phase, NULL), FW_OK);
			if (!one_by_one)
				assert_int_equal(cpu->enqueue(r.plan, FW_ALL, NULL), FW_OK);
			for (int j = 0; j < 3; j++) {
				r.direction = parts[j];
				judge(&r, recipes[i].name);
			}
			finish(&r);
		}
	struct run r;
	start(&r, shape(16, 24, 32), FW_TOTAL);
	ready(&r, "ISA=base | ISA=base | ISA=base", 1);
	assert_string_equal(r.info.config, "ISA=base | ISA=base | ISA=base");
	const struct fw_problem p = problem(&r);
	struct fw_work work = { .struct_size = sizeof work };
	assert_int_equal(cpu->count(&p, NULL, NULL, &work), FW_OK);
	assert_true(work.flops_issued == 6.0 * 16 * 24 * 32);
	struct fw_plan *none = NULL;
	assert_int_equal(cpu->plan(&p, "ISA=base | ISA=base", 1, &none, &r.info, NULL, 0), FW_UNSUPPORTED);
	finish(&r);
}

static void an_operand_is_rounded_whatever_the_others_are(void **state)
{
	(void)state;
	for (int scaling = TENSOR; scaling <= ROW; scaling++)
		for (int plain = 1; plain < 7; plain++)
			for (int direction = FW_FORWARD; direction <= FW_WGRAD; direction++) {
				struct fw_linear_shape s = shape(37, 41, 29);
				if (direction == FW_BACKWARD)
					continue;
				if (!(plain & 1))
					s.x = as(FW_E4M3, scaling, 0, 0);
				if (!(plain & 2))
					s.w = as(FW_E4M3, scaling, 0, 0);
				if (!(plain & 4))
					s.dy = as(FW_E5M2, scaling, 0, 0);
				check(s, direction, "some in bf16");
			}
}

static void every_instruction_set(void **state)
{
	(void)state;
	static const char *const configs[] = { "ISA=base", "ISA=v3", "ISA=v4" };
	int ran = 0;
	for (int i = 0; i < 3; i++) {
		struct run r;
		start(&r, shape(49, 66, 300), FW_FORWARD);
		const struct fw_problem p = problem(&r);
		r.info.struct_size = sizeof r.info;
		const int status = cpu->plan(&p, configs[i], 1, &r.plan, &r.info, NULL, 0);
		if (status == FW_OK) {
			assert_string_equal(r.info.config, configs[i]);
			run_it(&r, configs[i], 2);
			judge(&r, configs[i]);
			ran++;
		} else {
			assert_int_equal(status, FW_UNSUPPORTED);
		}
		finish(&r);
	}
	assert_true(ran >= 1);
}

static void rows_may_lie_separate(void **state)
{
	(void)state;
	struct run r, separate;
	const struct fw_linear_shape s = with(&recipes[1], 6, 10, 40);
	start(&r, s, FW_FORWARD);
	run_it(&r, NULL, 0);
	start(&separate, shape(6, 55, 55), FW_FORWARD); /* space for rows of 55 */
	separate.shape = s;
	ready(&separate, NULL, 0);
	struct fw_tensor slot[FW_LINEAR_N_SLOTS] = { 0 };
	for (int i = 0; i < FW_LINEAR_N_SLOTS; i++)
		slot[i] = (struct fw_tensor){ .data = separate.tensor[i], .dtype = FW_BF16, .stride = { 55, 1, 0 } };
	for (int row = 0; row < 10; row++) {
		memcpy(separate.tensor[FW_LINEAR_W] + row * 55, r.tensor[FW_LINEAR_W] + row * 40, 80);
		if (row < 6)
			memcpy(separate.tensor[FW_LINEAR_X] + row * 55, r.tensor[FW_LINEAR_X] + row * 40, 80);
	}
	const struct fw_io io = { sizeof io, FW_LINEAR_N_SLOTS, slot, separate.workspace, separate.persist };
	assert_int_equal(cpu->bind(separate.plan, &io), FW_OK);
	assert_int_equal(cpu->enqueue(separate.plan, FW_ALL, NULL), FW_OK);
	for (int row = 0; row < 6; row++)
		assert_memory_equal(separate.tensor[FW_LINEAR_Y] + row * 55, r.tensor[FW_LINEAR_Y] + row * 10, 20);
	slot[FW_LINEAR_X].stride[1] = 2;
	assert_int_equal(cpu->bind(separate.plan, &io), FW_UNSUPPORTED);
	assert_non_null(strstr(cpu->error(separate.plan), "X"));
	slot[FW_LINEAR_X] = (struct fw_tensor){ 0 };
	assert_int_equal(cpu->bind(separate.plan, &io), FW_INVALID);
	assert_int_equal(cpu->enqueue(separate.plan, FW_ALL, NULL), FW_INVALID);
	finish(&separate);
	finish(&r);
}

static void refused(struct fw_linear_shape s, int direction, const char *because)
{
	struct run r = { .shape = s, .direction = direction };
	const struct fw_problem p = problem(&r);
	char why[200] = "";
	assert_int_equal(cpu->can(&p, why, sizeof why), FW_UNSUPPORTED);
	if (!strstr(why, because))
		fail_msg("\"%s\" does not say \"%s\"", why, because);
	assert_int_equal(cpu->plan(&p, NULL, 0, &r.plan, &r.info, NULL, 0), FW_UNSUPPORTED);
	assert_null(r.plan);
}

static void what_cannot_be_computed_is_refused_with_its_reason(void **state)
{
	(void)state;
	struct fw_linear_shape s = shape(4, 8, 100);
	s.w = as(FW_I4, FW_LINEAR_BY_GROUP, 32, FW_LINEAR_ASYMMETRIC);
	refused(s, FW_FORWARD, "k = 100 is not a multiple of the group of 32");
	s.k = 96;
	s.w.flags = 0;
	refused(s, FW_FORWARD, "asymmetric");
	refused(shape(0, 8, 8), FW_FORWARD, "at least 1");
	refused(shape(65536, 8, 65536), FW_FORWARD, "2^31");
	refused(shape(4, 8, 8), FW_BACKWARD, "only forward, dgrad, wgrad and total");
	s = shape(4, 8, 8);
	s.bias = 1;
	refused(s, FW_DGRAD, "without bias");
	refused(s, FW_TOTAL, "dgrad: gradients come without bias");
	s.bias = 0;
	s.prologue = FW_LINEAR_LAYERNORM + 1;
	refused(s, FW_WGRAD, "transformer block");
	s = shape(4, 8, 8);
	s.activation = FW_LINEAR_N_ACTIVATIONS;
	refused(s, FW_FORWARD, "activation");
	s = shape(4, 8, 8);
	s.x = as(FW_I4, FW_LINEAR_BY_GROUP, 4, FW_LINEAR_ASYMMETRIC);
	refused(s, FW_FORWARD, "only W");
	s.x = as(FW_E4M3, FW_LINEAR_BY_GROUP, 4, 0);
	refused(s, FW_FORWARD, "by tensor, by row or by block");
	s.x = as(FW_E4M3, BLOCK, 64, 0);
	refused(s, FW_FORWARD, "X with a scale for every block must be e4m3, in blocks of 128, without flags");
	s.x = as(FW_E4M3, BLOCK, 128, POWER);
	refused(s, FW_FORWARD, "without flags");
	s.x = as(FW_E5M2, BLOCK, 128, 0);
	refused(s, FW_FORWARD, "must be e4m3");
	s.x = as(FW_BF16, ROW, 0, 0);
	refused(s, FW_FORWARD, "has no scale");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_recipe_in_every_direction),
		cmocka_unit_test(odd_sizes),
		cmocka_unit_test(blocks_that_a_size_does_and_does_not_fill),
		cmocka_unit_test(a_block_has_its_own_scale),
		cmocka_unit_test(groups_of_other_sizes),
		cmocka_unit_test(layernorm_bias_and_every_activation),
		cmocka_unit_test(gradients_go_through_normalisation_and_activation),
		cmocka_unit_test(slopes_at_their_kinks),
		cmocka_unit_test(values_that_are_hard_to_round),
		cmocka_unit_test(rounding_to_127_5_is_to_even),
		cmocka_unit_test(any_number_of_threads_and_every_call_give_the_same_bits),
		cmocka_unit_test(weights_are_rounded_once_and_the_rest_in_every_call),
		cmocka_unit_test(total_is_its_three_parts),
		cmocka_unit_test(an_operand_is_rounded_whatever_the_others_are),
		cmocka_unit_test(every_instruction_set),
		cmocka_unit_test(rows_may_lie_separate),
		cmocka_unit_test(what_cannot_be_computed_is_refused_with_its_reason),
	};
	return cmocka_run_group_tests(tests, load, NULL);
}
