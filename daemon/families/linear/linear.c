/* linear.c - the linear family: names, sizes, recipes and useful work of its cases. */
#include "families/linear/linear.h"

#include <stdio.h>

/* an index into a tensor must fit 32 bits */
#define ELEMENTS_MAX INT64_C(0x7fffffff)
/* products of the reference of a block's gradients: some seconds on two cores */
#define BLOCK_PRODUCTS_MAX 1073741824.0

const char *const linear_recipes[LINEAR_RECIPES + 1] = { "baseline", "int8wo", "int4wo-32", "int4wo-64", "int4wo-128",
	"int4wo-256", "float8wo", "float8dq-tensor", "float8dq-row", "float8dq-block", NULL };
const char *const linear_models[LINEAR_MODELS + 1] = { "linear", "ln_linear_relu", "ln_linear_sigmoid", "ln_linear_leakyrelu",
	"ln_linear_relu6", "ln_linear_gelu", "ln_linear_silu", "ln_linear_hardswish", "transformer_block", NULL };

const char *const linear_operands[LINEAR_OPERANDS] = { "x", "w", "dy" };

bool linear_is_fp8(const struct linear_case *a)
{
	return a->recipe >= LINEAR_FLOAT8DQ_TENSOR && a->recipe <= LINEAR_FLOAT8DQ_BLOCK;
}

int linear_group(const struct linear_case *a)
{
	return a->recipe >= LINEAR_INT4WO_32 && a->recipe <= LINEAR_INT4WO_256 ? 32 << (a->recipe - LINEAR_INT4WO_32) : 0;
}

/* Return the operands that a direction multiplies: X W, DY W, DY X; wgrad of a block has products of the last two kinds. */
static int32_t operands_of(const struct linear_case *a, enum direction d)
{
	if (linear_is_block(a) && d == DIRECTION_WGRAD)
		return LINEAR_X | LINEAR_W | LINEAR_DY;
	return d == DIRECTION_FORWARD || d == DIRECTION_ONCE ? LINEAR_X | LINEAR_W
	       : d == DIRECTION_DGRAD                        ? LINEAR_W | LINEAR_DY
	       : d == DIRECTION_WGRAD                        ? LINEAR_X | LINEAR_DY
							     : LINEAR_X | LINEAR_W | LINEAR_DY;
}

/*
 * Whether a direction has a product of two fp8 operands. Where all three operands are multiplied, one kind of product remains if
 * one of them is bf16.
 */
static bool multiplies_fp8(const struct linear_case *a, enum direction d)
{
	bool has_all = operands_of(a, d) == (LINEAR_X | LINEAR_W | LINEAR_DY);
	bool has_none_left = has_all && d == DIRECTION_WGRAD && a->plain & LINEAR_DY; /* every product has DY */

	return linear_is_fp8(a) && !has_none_left &&
	       (has_all ? __builtin_popcount((unsigned)a->plain) < 2 : !(a->plain & operands_of(a, d)));
}

/* Whether sums of fp8 products may stay in the tensor core's accumulator; scales by block require fp32 after each block. */
static bool is_fast(const struct linear_case *a)
{
	return linear_is_fp8(a) && a->recipe != LINEAR_FLOAT8DQ_BLOCK && !a->is_exact;
}

static int check_options(const struct linear_case *a, enum direction d, struct fw_err *err)
{
	if (a->plain && !linear_is_fp8(a))
		return err_set(err, ERR_INVALID, "%s has no scaling to disable: scaling_type_* belong to float8dq",
			linear_recipes[a->recipe]);
	if (a->plain && (a->plain & operands_of(a, d)) == operands_of(a, d))
		return err_set(err, ERR_INVALID,
			"%s without scaling of what %s multiplies is the baseline; leave one of them dynamic",
			linear_recipes[a->recipe], direction_name(d));
	if (a->is_exact && !linear_is_fp8(a))
		return err_set(err, ERR_INVALID, "%s multiplies no fp8: fast accumulation belongs to float8dq",
			linear_recipes[a->recipe]);
	if (a->is_exact && a->recipe == LINEAR_FLOAT8DQ_BLOCK)
		return err_set(
			err, ERR_INVALID, "float8dq-block always adds up in fp32 after each block; leave fast accumulation out");
	if (a->is_exact && !multiplies_fp8(a, d))
		return err_set(err, ERR_INVALID,
			"%s multiplies no two operands in fp8, so nothing accumulates fast; leave it out", direction_name(d));
	return 0;
}

/* Weights are constant in inference only: a training step changes them. */
static uint32_t once(const void *shape, enum direction d)
{
	const struct linear_case *a = shape;
	bool is_quantised = a->recipe != LINEAR_BASELINE && !(a->plain & LINEAR_W);

	return is_quantised && (d == DIRECTION_FORWARD || d == DIRECTION_ONCE) ? FW_LINEAR_QUANTISE_WEIGHT : 0;
}

static bool is_training(enum direction d)
{
	return d != DIRECTION_FORWARD && d != DIRECTION_ONCE;
}

static int check_block(const struct linear_case *a, enum direction d, struct fw_err *err)
{
	int64_t widest = (int64_t)a->m * FW_LINEAR_BLOCK_TOKENS *
			 (is_training(d) ? FW_LINEAR_BLOCK_STORES : FW_LINEAR_BLOCK_WIDENS) * a->k,
		weights = 12 * (int64_t)a->k * a->k;

	if (a->k % FW_LINEAR_BLOCK_HEADS)
		return err_set(err, ERR_INVALID, "k %d of a transformer block must be a multiple of its %d heads", a->k,
			FW_LINEAR_BLOCK_HEADS);
	if (widest > ELEMENTS_MAX || weights > ELEMENTS_MAX)
		return err_set(err, ERR_INVALID, "m %d, k %d: a tensor of the transformer block has more than 2^31 - 1 elements",
			a->m, a->k);
	return a->n == a->k ? 0 : err_set(err, ERR_INVALID, "n %d of a transformer block must be its k %d", a->n, a->k);
}

static int check(const void *shape, enum direction d, struct fw_err *err)
{
	const struct linear_case *a = shape;

	if (a->m < 1 || a->k < 1 || a->n < 1)
		return err_set(err, ERR_INVALID, "m %d, k %d and n %d must be at least 1", a->m, a->k, a->n);
	if (linear_is_block(a) && check_block(a, d, err) != 0)
		return -1;
	if ((int64_t)a->m * a->k > ELEMENTS_MAX || (int64_t)a->n * a->k > ELEMENTS_MAX || (int64_t)a->m * a->n > ELEMENTS_MAX)
		return err_set(err, ERR_INVALID, "m %d, k %d, n %d: a tensor has more than 2^31 - 1 elements", a->m, a->k, a->n);
	if (a->recipe < 0 || a->recipe >= LINEAR_RECIPES || a->model < 0 || a->model >= LINEAR_MODELS)
		return err_set(err, ERR_INVALID, "recipe %d or model type %d is unknown", a->recipe, a->model);
	if (a->plain < 0 || a->plain >= 1 << LINEAR_OPERANDS)
		return err_set(err, ERR_INVALID, "operands %d are unknown", a->plain);
	if (d == DIRECTION_ONCE && !once(a, d))
		return err_set(err, ERR_INVALID, "%s quantises no weights; leave once out", linear_recipes[a->recipe]);
	if (d != DIRECTION_FORWARD && d != DIRECTION_ONCE && a->recipe != LINEAR_BASELINE && !linear_is_fp8(a))
		return err_set(err, ERR_INVALID, "%s %s is for inference only; give directions: [forward]",
			linear_models[a->model], linear_recipes[a->recipe]);
	return check_options(a, d, err);
}

static int fits(const void *shape, enum direction d, struct fw_err *err)
{
	const struct linear_case *a = shape;
	int group = linear_group(a);
	double checked =
		FW_LINEAR_BLOCK_TOKENS * (d == DIRECTION_DGRAD ? 1 : (double)a->m); /* tokens that dX of a token, dW depend on */

	if (group && a->k % group)
		return err_set(err, ERR_INVALID, "k = %d is not a multiple of the group of %d", a->k, group);
	if (linear_is_block(a) && a->recipe == LINEAR_FLOAT8DQ_TENSOR)
		return err_set(err, ERR_INVALID,
			"float8dq-tensor has a scale over all tokens of a transformer block, for which there is no check; use float8dq-row");
	if (linear_is_block(a) && a->recipe == LINEAR_FLOAT8DQ_BLOCK)
		return err_set(err, ERR_INVALID,
			"float8dq-block has no reference results for the weights of a transformer block; use float8dq-row");
	if (linear_is_block(a) && d != DIRECTION_FORWARD && d != DIRECTION_ONCE &&
		checked * 12 * a->k * a->k > BLOCK_PRODUCTS_MAX)
		return err_set(err, ERR_INVALID,
			"%s of a transformer block with m %d, k %d takes more products than the reference computes; 192 m k^2 may be at most "
			"2^30, in dgrad with an m of 1",
			direction_name(d), a->m, a->k);
	return 0;
}

/* Write the operands whose scaling is disabled, each with the prefix `before`. */
static void plain_words(int32_t plain, const char *before, char out[24])
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < LINEAR_OPERANDS; i++)
		if (plain & 1 << i)
			used += (size_t)snprintf(out + used, 24 - used, "%s%s", before, linear_operands[i]);
}

static void key_of(const struct linear_case *a, int recipe, int32_t plain, bool exact, char key[FAMILY_KEY_SIZE])
{
	char words[24], n[16] = "";

	plain_words(plain, "-bf16", words);
	if (!linear_is_block(a))
		snprintf(n, sizeof n, "/n%d", a->n);
	snprintf(key, FAMILY_KEY_SIZE, "linear/%s/%s%s%s/m%d/k%d%s/bf16", linear_models[a->model], linear_recipes[recipe], words,
		exact ? "-exact" : "", a->m, a->k, n);
}

static void title_of(const struct linear_case *a, char *title, size_t size)
{
	bool is_alone = a->model == LINEAR_PRODUCT || linear_is_block(a);
	char words[24];

	plain_words(a->plain, " ", words);
	size_t used = (size_t)snprintf(title, size, "%s%s%s%s%s%s, ", is_alone ? "" : linear_models[a->model] + 10,
		is_alone ? "" : " ", linear_recipes[a->recipe], words, a->plain ? " bf16" : "", a->is_exact ? " exact" : "");

	if (used < size && linear_is_block(a))
		snprintf(title + used, size - used, "%d wide", a->k);
	else if (used < size)
		snprintf(title + used, size - used, "%d x %d", a->k, a->n);
}

static void label(const void *shape, struct family_label *out)
{
	const struct linear_case *a = shape;

	key_of(a, a->recipe, a->plain, a->is_exact, out->key);
	snprintf(out->group, sizeof out->group, "%s", linear_is_block(a) ? "block" : a->model ? "ln_linear" : "linear");
	title_of(a, out->title, sizeof out->title);
	out->size = a->m;
	if (a->recipe != LINEAR_BASELINE)
		key_of(a, LINEAR_BASELINE, 0, false, out->baseline);
}

static void write_shape(const void *shape, struct jsonw *j)
{
	const struct linear_case *a = shape;

	jsonw_format(j, "m=%d k=%d n=%d recipe=%s model=%s fast_accumulation=%i unscaled~=%d", a->m, a->k, a->n,
		linear_recipes[a->recipe], linear_models[a->model], is_fast(a), a->plain);
}

static void parse(struct fields *f, void *shape)
{
	struct linear_case *a = shape;

	*a = (struct linear_case){ .m = (int32_t)field_int(f, "m", 1, INT32_MAX),
		.k = (int32_t)field_int(f, "k", 1, INT32_MAX),
		.n = (int32_t)field_int(f, "n", 1, INT32_MAX),
		.recipe = field_choice(f, "recipe", linear_recipes, NULL, 0),
		.model = field_choice(f, "model", linear_models, NULL, 0),
		.plain = (int32_t)field_int_or(f, "unscaled", 0, (1 << LINEAR_OPERANDS) - 1, 0) };
	a->is_exact = !field_bool(f, "fast_accumulation") && is_fast(a);
}

/*
 * A gradient is one product, also through normalisation and activation: it reads the sums that the forward stored. These two and
 * their derivatives are not counted. FLOPs of a block: its products with weights, queries by keys, and attention weights by
 * values; attention's gradient is five such products, as in the family attention. Wgrad needs the gradients of all inputs but X.
 */
static double flops(const void *shape, enum direction d)
{
	const struct linear_case *a = shape;

	if (d == DIRECTION_ONCE)
		return 0;
	if (!linear_is_block(a))
		return (d == DIRECTION_TOTAL ? 6.0 : 2.0) * a->m * a->n * a->k;
	double weights = d == DIRECTION_TOTAL ? 36 : d == DIRECTION_WGRAD ? 21 : 12; /* in units of k k */
	double pairs = d == DIRECTION_TOTAL ? 9 : d == DIRECTION_WGRAD ? 7 : d == DIRECTION_DGRAD ? 5 : 2;

	return 2.0 * (double)linear_tokens(a) * (weights * a->k * a->k + pairs * FW_LINEAR_BLOCK_TOKENS * a->k);
}

/* Direction once is not part of a call: forward reads W as quantised by it. All other tensors are bf16. */
static double bytes(const void *shape, enum direction d)
{
	const struct linear_case *a = shape;
	double rows = (double)linear_tokens(a), x = 2 * rows * a->k, y = 2 * rows * a->n;
	double w = (linear_is_block(a) ? 24.0 : 2.0) * a->n * a->k;
	double quantised = !once(a, DIRECTION_FORWARD) ? w : w / (linear_group(a) ? 4 : 2);
	double s = a->model ? y : 0; /* values that a forward stored and gradients read */

	if (linear_is_block(a))
		s *= FW_LINEAR_BLOCK_STORES;

	switch (d) {
	case DIRECTION_ONCE:
		return w + quantised;
	case DIRECTION_FORWARD:
		return x + y + quantised;
	case DIRECTION_TOTAL:
		return 2 * (x + y + w) + s;
	case DIRECTION_DGRAD:
		return x + y + w + s + (a->model ? x : 0); /* of X also the normalisation's gradient depends */
	default:
		return x + y + w + s + (linear_is_block(a) ? w : 0); /* dW, of a block W too */
	}
}

static int32_t multiplied(const void *shape, enum direction d)
{
	return multiplies_fp8(shape, d) ? FW_E4M3 : FW_BF16;
}

static int32_t flags(const void *shape, enum direction d)
{
	const struct linear_case *a = shape;

	return multiplies_fp8(a, d) && is_fast(a) ? FW_FAST_ACCUM : 0;
}

static const struct family_slot slots[FW_LINEAR_N_SLOTS] = { { .name = "X" }, { .name = "W" }, { .name = "bias" },
	{ .name = "Y" }, { .name = "dY" }, { .name = "dX" }, { .name = "dW" }, { .name = "S" } };

const struct family family_linear = {
	.number = FW_LINEAR,
	.name = "linear",
	.shape_bytes = sizeof(struct linear_case),
	.abi_bytes = sizeof(struct fw_linear_shape),
	.metric = METRIC_TFLOPS,
	.direction = { DIRECTION_FORWARD, DIRECTION_DGRAD, DIRECTION_WGRAD, DIRECTION_TOTAL, DIRECTION_ONCE },
	.n_on_request = 2,
	.group = { { "linear", "linear", false }, { "ln_linear", "normalised linear", false },
		{ "block", "transformer block", false } },
	.phase = FW_LINEAR_PHASE_NAMES,
	.main_phase = FW_LINEAR_RUN,
	.n_slots = FW_LINEAR_N_SLOTS,
	.slot = slots,
	.read = linear_read,
	.keys = "shapes and recipes",
	.import = torchao_import,
	.check = check,
	.fits = fits,
	.label = label,
	.write = write_shape,
	.parse = parse,
	.flops = flops,
	.bytes = bytes,
	.multiplied = multiplied,
	.once = once,
	.flags = flags,
	.abi = linear_abi,
	.use = linear_use,
	.change = linear_change,
	.lay_out = linear_lay_out,
};
