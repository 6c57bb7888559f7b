/* linear.c - the family of linear layers: names, sizes, recipes and useful work of its cases. */
#include "family/linear/linear.h"

#include <stdio.h>
#include <string.h>

/* An index into a tensor fits 32 bits. */
#define ELEMENTS_MAX INT64_C(0x7fffffff)

const char *const linear_recipes[LINEAR_RECIPES + 1] = { "baseline", "int8wo", "int4wo-32", "int4wo-64", "int4wo-128",
	"int4wo-256", "float8wo", "float8dq-tensor", "float8dq-row", NULL };
const char *const linear_models[FW_LINEAR_N_ACTIVATIONS + 1] = { "linear", "ln_linear_relu", "ln_linear_sigmoid",
	"ln_linear_leakyrelu", "ln_linear_relu6", "ln_linear_gelu", "ln_linear_silu", "ln_linear_hardswish", NULL };

static bool is_fp8(const struct linear_case *a)
{
	return a->recipe == LINEAR_FLOAT8DQ_TENSOR || a->recipe == LINEAR_FLOAT8DQ_ROW;
}

static int group_of(const struct linear_case *a)
{
	return a->recipe >= LINEAR_INT4WO_32 && a->recipe <= LINEAR_INT4WO_256 ? 32 << (a->recipe - LINEAR_INT4WO_32) : 0;
}

static int check(const void *shape, enum direction d, struct fw_err *err)
{
	const struct linear_case *a = shape;

	if (a->m < 1 || a->k < 1 || a->n < 1)
		return err_set(err, ERR_INVALID, "m %d, k %d and n %d must be at least 1", a->m, a->k, a->n);
	if ((int64_t)a->m * a->k > ELEMENTS_MAX || (int64_t)a->n * a->k > ELEMENTS_MAX || (int64_t)a->m * a->n > ELEMENTS_MAX)
		return err_set(err, ERR_INVALID, "m %d, k %d, n %d: a tensor has more than 2^31 - 1 elements", a->m, a->k, a->n);
	if (a->recipe < 0 || a->recipe >= LINEAR_RECIPES || a->model < 0 || a->model >= FW_LINEAR_N_ACTIVATIONS)
		return err_set(err, ERR_INVALID, "recipe %d or model type %d is unknown", a->recipe, a->model);
	if (a->is_exact && !is_fp8(a))
		return err_set(err, ERR_INVALID, "%s multiplies no fp8: fast_accumulation belongs to float8dq",
			linear_recipes[a->recipe]);
	if (d != DIRECTION_FORWARD && (a->model || (a->recipe != LINEAR_BASELINE && !is_fp8(a))))
		return err_set(err, ERR_INVALID, "%s %s is inference alone; give directions: [forward]", linear_models[a->model],
			linear_recipes[a->recipe]);
	return 0;
}

static void key_of(const struct linear_case *a, int recipe, bool exact, char key[FAMILY_KEY_SIZE])
{
	snprintf(key, FAMILY_KEY_SIZE, "linear/%s/%s%s/m%d/k%d/n%d/bf16", linear_models[a->model], linear_recipes[recipe],
		exact ? "-exact" : "", a->m, a->k, a->n);
}

static void label(const void *shape, struct family_label *out)
{
	const struct linear_case *a = shape;

	key_of(a, a->recipe, a->is_exact, out->key);
	snprintf(out->group, sizeof out->group, "%s", a->model ? "ln_linear" : "linear");
	snprintf(out->title, sizeof out->title, "%s%s%s%s, %d x %d", a->model ? linear_models[a->model] + 10 : "",
		a->model ? " " : "", linear_recipes[a->recipe], a->is_exact ? " exact" : "", a->k, a->n);
	out->size = a->m;
	if (a->recipe != LINEAR_BASELINE)
		key_of(a, LINEAR_BASELINE, false, out->baseline);
}

static void write_shape(const void *shape, struct jsonw *j)
{
	const struct linear_case *a = shape;

	jsonw_kv_int(j, "m", a->m);
	jsonw_kv_int(j, "k", a->k);
	jsonw_kv_int(j, "n", a->n);
	jsonw_kv_string(j, "recipe", linear_recipes[a->recipe]);
	jsonw_kv_string(j, "model", linear_models[a->model]);
	jsonw_kv_bool(j, "fast_accumulation", is_fp8(a) && !a->is_exact);
}

static void parse(struct fields *f, void *shape)
{
	struct linear_case *a = shape;

	*a = (struct linear_case){ .m = (int32_t)field_int(f, "m", 1, INT32_MAX),
		.k = (int32_t)field_int(f, "k", 1, INT32_MAX),
		.n = (int32_t)field_int(f, "n", 1, INT32_MAX),
		.recipe = field_word(f, "recipe", linear_recipes, NULL, 0),
		.model = field_word(f, "model", linear_models, NULL, 0) };
	a->is_exact = !field_bool(f, "fast_accumulation") && is_fp8(a);
}

static double flops(const void *shape, enum direction d)
{
	const struct linear_case *a = shape;

	(void)d;
	return 2.0 * a->m * a->n * a->k;
}

/* W is read as it lies after it was quantised once; what else is read or written is bf16. */
static double bytes(const void *shape, enum direction d)
{
	const struct linear_case *a = shape;
	double x = 2.0 * a->m * a->k, y = 2.0 * a->m * a->n, w = (double)a->n * a->k;

	if (d == DIRECTION_WGRAD)
		return x + y + 2 * w;
	return x + y + (a->recipe == LINEAR_BASELINE ? 2 : group_of(a) ? 0.5 : 1) * w;
}

static int32_t multiplied(const void *shape, enum direction d)
{
	(void)d;
	return is_fp8(shape) ? FW_E4M3 : FW_BF16;
}

void linear_abi(const void *shape, enum direction d, void *out)
{
	const struct linear_case *a = shape;
	bool training = d != DIRECTION_FORWARD, by_tensor = a->recipe == LINEAR_FLOAT8DQ_TENSOR;
	struct fw_linear_shape s = { .struct_size = sizeof s, .m = a->m, .n = a->n, .k = a->k };
	struct fw_linear_operand fp8 = { FW_E4M3, by_tensor ? FW_LINEAR_BY_TENSOR : FW_LINEAR_BY_ROW, 0,
		training && !by_tensor ? FW_LINEAR_POWER_OF_TWO : 0 };

	s.prologue = a->model ? FW_LINEAR_LAYERNORM : FW_LINEAR_NO_PROLOGUE;
	s.activation = a->model;
	if (a->recipe == LINEAR_INT8WO || a->recipe == LINEAR_FLOAT8WO)
		s.w = (struct fw_linear_operand){ a->recipe == LINEAR_INT8WO ? FW_I8 : FW_E4M3, FW_LINEAR_BY_ROW, 0, 0 };
	if (group_of(a))
		s.w = (struct fw_linear_operand){ FW_I4, FW_LINEAR_BY_GROUP, group_of(a), FW_LINEAR_ASYMMETRIC };
	if (is_fp8(a)) {
		if (d != DIRECTION_DGRAD)
			s.x = fp8;
		if (d != DIRECTION_WGRAD)
			s.w = fp8;
		if (training)
			s.dy = fp8;
		if (training && by_tensor)
			s.dy.dtype = FW_E5M2;
	}
	memcpy(out, &s, sizeof s);
}

static enum slot_use use(const void *shape, enum direction d, int slot)
{
	bool forward = d == DIRECTION_FORWARD, dgrad = d == DIRECTION_DGRAD;

	(void)shape;
	switch (slot) {
	case FW_LINEAR_X:
		return dgrad ? SLOT_UNUSED : SLOT_INPUT;
	case FW_LINEAR_W:
		return forward || dgrad ? SLOT_INPUT : SLOT_UNUSED;
	case FW_LINEAR_DY:
		return forward ? SLOT_UNUSED : SLOT_INPUT;
	case FW_LINEAR_Y:
		return forward ? SLOT_OUTPUT : SLOT_UNUSED;
	case FW_LINEAR_DX:
		return dgrad ? SLOT_OUTPUT : SLOT_UNUSED;
	case FW_LINEAR_DW:
		return !forward && !dgrad ? SLOT_OUTPUT : SLOT_UNUSED;
	default:
		return SLOT_UNUSED;
	}
}

/* W rolls too: neither its quantised copy nor the cache can be that of an earlier call. */
static enum slot_change change(const void *shape, enum direction d, int slot)
{
	(void)shape;
	return slot == (d == DIRECTION_FORWARD ? FW_LINEAR_X : FW_LINEAR_DY) ? SLOT_ROLLS_FIRST : SLOT_ROLLS;
}

static size_t lay_out(const void *shape, int slot, struct fw_tensor *t)
{
	const struct linear_case *a = shape;
	bool is_weight = slot == FW_LINEAR_W || slot == FW_LINEAR_DW, is_out = slot == FW_LINEAR_Y || slot == FW_LINEAR_DY;
	int64_t rows = is_weight ? a->n : a->m, columns = is_out ? a->n : a->k;

	*t = (struct fw_tensor){ .stride = { columns, 1, 0 }, .dtype = FW_BF16 };
	return (size_t)rows * (size_t)columns * 2;
}

static const struct family_slot slots[FW_LINEAR_N_SLOTS] = { { .name = "X" }, { .name = "W" }, { .name = "bias" },
	{ .name = "Y" }, { .name = "dY" }, { .name = "dX" }, { .name = "dW" } };

const struct family family_linear = {
	.number = FW_LINEAR,
	.name = "linear",
	.shape_bytes = sizeof(struct linear_case),
	.abi_bytes = sizeof(struct fw_linear_shape),
	.metric = METRIC_TFLOPS,
	.direction = { DIRECTION_FORWARD, DIRECTION_DGRAD, DIRECTION_WGRAD },
	.group = { { "linear", "linear", false }, { "ln_linear", "normalised linear", false } },
	.phase = FW_LINEAR_PHASE_NAMES,
	.main_phase = FW_LINEAR_RUN,
	.n_slots = FW_LINEAR_N_SLOTS,
	.slot = slots,
	.read = linear_read,
	.keys = "shapes and recipes",
	.check = check,
	.label = label,
	.write = write_shape,
	.parse = parse,
	.flops = flops,
	.bytes = bytes,
	.multiplied = multiplied,
	.abi = linear_abi,
	.use = use,
	.change = change,
	.lay_out = lay_out,
};
