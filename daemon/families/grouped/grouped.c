/* grouped.c - the family of grouped products: names, sizes and useful work of its cases. */
#include "families/grouped/grouped.h"

#include <stdio.h>

/* an index into a tensor must fit 32 bits */
#define ELEMENTS_MAX INT64_C(0x7fffffff)

const char *const grouped_routings[GROUPED_ROUTINGS + 1] = { "balanced", "uniform", "skewed", "sizes", NULL };

static int check_rows(const struct grouped_case *a, struct fw_err *err)
{
	int64_t sum = 0;

	if (a->routing == GROUPED_SIZES) {
		if (a->groups > GROUPED_SIZES_MAX)
			return err_set(err, ERR_INVALID, "%d sizes are too many; give 1 to %d", a->groups, GROUPED_SIZES_MAX);
		for (int32_t g = 0; g < a->groups; g++)
			sum += a->size[g] < 0 ? ELEMENTS_MAX + 1 : a->size[g];
		if (sum < 1 || sum > ELEMENTS_MAX || sum != a->rows)
			return err_set(err, ERR_INVALID, "sizes sum up to %lld; they must be 1 to %lld rows", (long long)sum,
				(long long)ELEMENTS_MAX);
		return 0;
	}
	if (a->top_k < 1 || a->top_k > GROUPED_TOP_MAX || a->top_k > a->groups)
		return err_set(err, ERR_INVALID, "top_k %d must be 1 to %d, and at most the %d experts", a->top_k,
			GROUPED_TOP_MAX, a->groups);
	if (a->tokens < 1 || a->tokens > GROUPED_TOKENS_MAX)
		return err_set(err, ERR_INVALID, "tokens %d must be 1 to %d", a->tokens, GROUPED_TOKENS_MAX);
	if (a->rows != a->tokens * a->top_k)
		return err_set(err, ERR_INVALID, "rows %d must be tokens %d times top_k %d", a->rows, a->tokens, a->top_k);
	return 0;
}

int grouped_check(const void *shape, enum direction d, struct fw_err *err)
{
	const struct grouped_case *a = shape;

	(void)d;
	if (a->routing < 0 || a->routing >= GROUPED_ROUTINGS)
		return err_set(err, ERR_INVALID, "routing %d is unknown", a->routing);
	if (a->groups < 1 || a->groups > FW_GROUPED_GROUPS_MAX)
		return err_set(err, ERR_INVALID, "%d experts must be 1 to %d", a->groups, FW_GROUPED_GROUPS_MAX);
	if (a->k < 8 || a->n < 8 || a->k % 8 || a->n % 8)
		return err_set(err, ERR_INVALID, "k %d and n %d must be multiples of 8", a->k, a->n);
	if (check_rows(a, err) != 0)
		return -1;
	if ((int64_t)a->n * a->k > ELEMENTS_MAX / a->groups || (int64_t)a->rows * a->k > ELEMENTS_MAX ||
		(int64_t)a->rows * a->n > ELEMENTS_MAX)
		return err_set(err, ERR_INVALID, "%d experts, %d rows, k %d, n %d: a tensor has more than 2^31 - 1 elements",
			a->groups, a->rows, a->k, a->n);
	return 0;
}

/* Weights of `used` matrices take longer to read than to multiply if their groups have few rows. */
static bool is_by_bytes(const struct grouped_case *a)
{
	return a->rows < (int64_t)GROUPED_FEW_ROWS * a->used;
}

static void key_of(const struct grouped_case *a, int32_t routing, char key[FAMILY_KEY_SIZE])
{
	uint64_t hash = 0;

	if (routing != GROUPED_SIZES) {
		snprintf(key, FAMILY_KEY_SIZE, "grouped/%s/e%d/top%d/t%d/k%d/n%d/bf16", grouped_routings[routing], a->groups,
			a->top_k, a->tokens, a->k, a->n);
		return;
	}
	for (int32_t g = 0; g < a->groups; g++)
		hash = inputs_mix(hash ^ (uint64_t)a->size[g]);
	snprintf(key, FAMILY_KEY_SIZE, "grouped/sizes/e%d-%08x/m%d/k%d/n%d/bf16", a->groups, (unsigned)(hash >> 32), a->rows,
		a->k, a->n);
}

static void label(const void *shape, struct family_label *out)
{
	const struct grouped_case *a = shape;
	bool is_given = a->routing == GROUPED_SIZES;

	key_of(a, a->routing, out->key);
	snprintf(out->group, sizeof out->group, "%s", is_by_bytes(a) ? "grouped_few" : "grouped");
	if (is_given)
		snprintf(out->title, sizeof out->title, "%d given sizes, %d x %d", a->groups, a->k, a->n);
	else
		snprintf(out->title, sizeof out->title, "%s, %d of %d, %d x %d", grouped_routings[a->routing], a->top_k,
			a->groups, a->k, a->n);
	out->size = is_given ? a->rows : a->tokens;
	if (a->routing == GROUPED_UNIFORM || a->routing == GROUPED_SKEWED)
		key_of(a, GROUPED_BALANCED, out->baseline);
}

static void write_shape(const void *shape, struct jsonw *j)
{
	const struct grouped_case *a = shape;

	jsonw_format(j, "routing=%s groups=%d top_k=%d tokens=%d k=%d n=%d rows=%d used=%d sizes=[", grouped_routings[a->routing],
		a->groups, a->top_k, a->tokens, a->k, a->n, a->rows, a->used);
	for (int32_t g = 0; a->routing == GROUPED_SIZES && g < a->groups; g++)
		jsonw_int(j, a->size[g]);
	jsonw_array_end(j);
}

static void parse(struct fields *f, void *shape)
{
	struct grouped_case *a = shape;

	*a = (struct grouped_case){ .routing = field_choice(f, "routing", grouped_routings, NULL, 0),
		.groups = (int32_t)field_int(f, "groups", 1, FW_GROUPED_GROUPS_MAX),
		.top_k = (int32_t)field_int(f, "top_k", 0, GROUPED_TOP_MAX),
		.tokens = (int32_t)field_int(f, "tokens", 0, GROUPED_TOKENS_MAX),
		.k = (int32_t)field_int(f, "k", 1, INT32_MAX),
		.n = (int32_t)field_int(f, "n", 1, INT32_MAX),
		.rows = (int32_t)field_int(f, "rows", 1, INT32_MAX),
		.used = (int32_t)field_int(f, "used", 1, FW_GROUPED_GROUPS_MAX) };
	json_t *list = field_array(f, "sizes", 0, GROUPED_SIZES_MAX);
	size_t n = json_array_size(list);

	if (!f->failed && n != (a->routing == GROUPED_SIZES ? (size_t)a->groups : 0))
		field_fail(f, "sizes", "has %zu items", n);
	for (size_t i = 0; i < n; i++) {
		json_t *v = json_array_get(list, i);

		if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > INT32_MAX)
			field_fail(f, "sizes", "item %zu is not a number of rows", i);
		else
			a->size[i] = (int32_t)json_integer_value(v);
	}
}

/* The same products in every direction: of each row, n by k. */
static double flops(const void *shape, enum direction d)
{
	const struct grouped_case *a = shape;

	(void)d;
	return 2.0 * a->rows * a->n * a->k;
}

/* Weights of a group without rows need not be read, but their gradient has to be written. */
static double bytes(const void *shape, enum direction d)
{
	const struct grouped_case *a = shape;
	double matrices = d == DIRECTION_WGRAD ? a->groups : a->used;

	return 2.0 * ((double)a->rows * a->k + (double)a->rows * a->n + matrices * a->n * a->k) + 4.0 * (a->groups + 1);
}

static void abi(const void *shape, enum direction d, void *out)
{
	const struct grouped_case *a = shape;
	struct fw_grouped sizes = { sizeof sizes, a->groups, a->rows, a->n, a->k };

	(void)d;
	memcpy(out, &sizes, sizeof sizes);
}

static const struct family_slot slots[FW_GROUPED_SLOTS] = { { .name = "X" }, { .name = "W" },
	{ .name = "offsets", .words = "offsets of groups", .fill = SLOT_LAID }, { .name = "Y" }, { .name = "dY" },
	{ .name = "dX" }, { .name = "dW" } };

const struct family family_grouped = { .number = FW_GROUPED,
	.name = "grouped",
	.shape_bytes = sizeof(struct grouped_case),
	.abi_bytes = sizeof(struct fw_grouped),
	.metric = METRIC_TFLOPS,
	.direction = { DIRECTION_FORWARD, DIRECTION_DGRAD, DIRECTION_WGRAD },
	.group = { { "grouped", "grouped products", false, false },
		{ "grouped_few", "grouped products of few rows", false, true } },
	.phase = { "prepare", "run" },
	.main_phase = FW_GROUPED_RUN,
	.n_slots = FW_GROUPED_SLOTS,
	.slot = slots,
	.read = grouped_read,
	.keys = "layers",
	.check = grouped_check,
	.label = label,
	.write = write_shape,
	.parse = parse,
	.flops = flops,
	.bytes = bytes,
	.abi = abi,
	.use = grouped_use,
	.change = grouped_change,
	.lay_out = grouped_lay_out,
	.lay = grouped_lay,
	.has_second = grouped_has_second,
	.second_words = "the same groups in another order",
	.second = grouped_second };
