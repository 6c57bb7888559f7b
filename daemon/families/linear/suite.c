/* suite.c - keys of a linear suite: sets of shapes, combined with recipes and model types. */

#include <limits.h>

#include "families/linear/linear.h"

enum { ROWS_MAX = 16, BLOCKS_MAX = 512 };

struct models {
	int n;
	int32_t of[LINEAR_MODELS];
};

struct draft {
	struct reader *r;
	int n_recipes;
	int32_t recipe[LINEAR_RECIPES];
	struct models models;
	bool is_exact;
	int32_t plain; /* operands whose scaling is disabled */
	int n_blocks;
	struct size {
		int32_t m, k, n;
	} block[BLOCKS_MAX]; /* blocks listed so far */
};

/* A set of shapes while its cases are listed. */
struct set {
	struct draft *draft;
	struct yaml_node *at;
	struct models models;
	int n_rows; /* values that replace the set's m; 0: m of the set */
	int32_t row[ROWS_MAX];
};

/* A block ignores n, so sizes that differ only in n are the same block. */
static bool is_known_block(struct draft *d, int32_t m, int32_t k, int32_t n)
{
	for (int i = 0; i < d->n_blocks; i++)
		if (d->block[i].m == m && d->block[i].k == k)
			return d->block[i].n != n;
	if (d->n_blocks < BLOCKS_MAX)
		d->block[d->n_blocks++] = (struct size){ m, k, n };
	return false;
}

/* Add a shape in every recipe and model type. */
static void add(const struct set *s, int32_t m, int32_t k, int32_t n)
{
	struct draft *d = s->draft;

	for (int i = 0; i < s->models.n; i++) {
		bool is_block = s->models.of[i] == LINEAR_BLOCK;

		if (is_block && is_known_block(d, m, k, n))
			continue;
		for (int j = 0; j < d->n_recipes; j++) {
			struct linear_case a = {
				.m = m, .k = k, .n = is_block ? k : n, .recipe = d->recipe[j], .model = s->models.of[i]
			};

			if (linear_is_fp8(&a)) {
				a.is_exact = d->is_exact && a.recipe != LINEAR_FLOAT8DQ_BLOCK;
				a.plain = d->plain;
			}
			reader_add(d->r, s->at, &a);
		}
	}
}

static void add_rows(void *arg, int32_t m, int32_t k, int32_t n)
{
	const struct set *s = arg;

	for (int i = 0; i < s->n_rows; i++)
		add(s, s->row[i], k, n);
	if (s->n_rows == 0)
		add(s, m, k, n);
}

static void add_custom(struct set *s, struct yaml_node *list)
{
	struct reader *r = s->draft->r;

	reader_require(r->y, s->at, list, "shapes");
	if (list && (!yaml_is_list(list) || yaml_count(list) < 1 || yaml_count(list) > LINEAR_CUSTOM_MAX))
		yaml_mistake(r->y, list, "must be a list of 1 to %d [m, k, n]", LINEAR_CUSTOM_MAX);
	for (int i = 0; list && i < yaml_count(list) && i < LINEAR_CUSTOM_MAX; i++) {
		int32_t size[3];
		int before = yaml_mistakes(r->y);

		s->at = yaml_item(r->y, list, i);
		if (reader_ints(r, s->at, 3, INT32_MAX, size) == 3)
			add_rows(s, size[0], size[1], size[2]);
		else if (yaml_mistakes(r->y) == before)
			yaml_mistake(r->y, s->at, "must be [m, k, n]");
	}
}

/* Read the list as indices of `choices`; without a list, out[0] is 0. Shape: out[max]. Returns the number of indices. */
static int read_choices(
	struct reader *r, struct yaml_node *list, const char *const *choices, const char *hint, int max, int32_t *out)
{
	int n = 0;

	int count = yaml_list(r->y, list, 1, max, "must be a list of %s", hint);

	out[0] = 0;
	for (int i = 0; i < count; i++) {
		int which = reader_choice(r->y, yaml_item(r->y, list, i), choices, hint);

		if (which >= 0)
			out[n++] = which;
	}
	return list ? n : 1;
}

static bool read_models(struct draft *d, struct yaml_node *list, struct models *out)
{
	out->n = read_choices(d->r, list, linear_models,
		"linear, transformer_block or ln_linear_ with relu, sigmoid, leakyrelu, relu6, gelu, silu or hardswish",
		LINEAR_MODELS, out->of);
	return out->n > 0;
}

static void read_set(struct draft *d, struct yaml_node *map)
{
	struct yaml *y = d->r->y;

	if (yaml_map(y, map, 0, INT_MAX, "must be {name: SET, ...}") < 0)
		return;
	struct yaml_node *name = yaml_get(y, map, "name"), *rows = yaml_get(y, map, "rows"), *list = yaml_get(y, map, "shapes"),
			 *models = yaml_get(y, map, "model_types"), *min_power = yaml_get(y, map, "min_power"),
			 *max_power = yaml_get(y, map, "max_power");
	struct set set = { .draft = d, .at = map, .models = d->models };
	int64_t min = 0, max = 0;

	reader_require(y, map, name, "name");
	int which = name ? reader_choice(y, name, linear_sets, LINEAR_SETS_HINT) : -1;
	bool has_powers = which >= 0 && linear_set_powers((enum linear_set)which, &min, &max);

	yaml_int(y, min_power, LINEAR_POWER_MIN, LINEAR_POWER_MAX, &min);
	yaml_int(y, max_power, LINEAR_POWER_MIN, LINEAR_POWER_MAX, &max);
	set.n_rows = reader_ints(d->r, rows, ROWS_MAX, INT32_MAX, set.row);
	if (models && !read_models(d, models, &set.models))
		return;
	if (which >= 0 && !has_powers && (min_power || max_power))
		yaml_mistake(y, min_power ? min_power : max_power, "%s has no powers", linear_sets[which]);
	if (has_powers && min > max)
		yaml_mistake(y, max_power ? max_power : min_power, "there is no power between min_power %lld and max_power %lld",
			(long long)min, (long long)max);
	if (which > LINEAR_SET_CUSTOM && list)
		yaml_mistake(y, list, "shapes belong to custom");
	if (which == LINEAR_SET_CUSTOM)
		add_custom(&set, list);
	else if (which >= 0)
		linear_set_each((enum linear_set)which, min, max, add_rows, &set);
	yaml_finish(y, map);
}

static bool has_fp8(const struct draft *d)
{
	for (int i = 0; i < d->n_recipes; i++)
		if (linear_is_fp8(&(struct linear_case){ .recipe = d->recipe[i] }))
			return true;
	return false;
}

/* Return whether a recipe has sums that `fast_accumulation` changes. */
static bool has_fast(const struct draft *d)
{
	for (int i = 0; i < d->n_recipes; i++)
		if (d->recipe[i] == LINEAR_FLOAT8DQ_TENSOR || d->recipe[i] == LINEAR_FLOAT8DQ_ROW)
			return true;
	return false;
}

/* The recipe "float8dq" without a suffix takes its granularity from scaling_granularity. */
static void read_recipes(struct draft *d, struct yaml_node *root)
{
	static const char *const granularities[] = { "tensor", "row", "block", NULL };
	static const int32_t recipes[] = { LINEAR_FLOAT8DQ_TENSOR, LINEAR_FLOAT8DQ_ROW, LINEAR_FLOAT8DQ_BLOCK };
	struct yaml *y = d->r->y;
	struct yaml_node *list = yaml_get(y, root, "recipes"), *granularity = yaml_get(y, root, "scaling_granularity");
	const char *choices[LINEAR_RECIPES + 2] = { NULL };
	int scope = granularity ? reader_choice(y, granularity, granularities, "tensor, row or block") : 0;
	bool is_used = false;

	memcpy(choices, linear_recipes, LINEAR_RECIPES * sizeof choices[0]);
	choices[LINEAR_RECIPES] = "float8dq";
	d->n_recipes = read_choices(d->r, list, choices,
		"baseline, int8wo, int4wo-32, int4wo-64, int4wo-128, int4wo-256, float8wo, float8dq-tensor, float8dq-row, float8dq-block "
		"or float8dq",
		LINEAR_RECIPES, d->recipe);
	for (int i = 0; i < d->n_recipes; i++)
		if (d->recipe[i] == LINEAR_RECIPES) {
			is_used = true;
			d->recipe[i] = recipes[scope < 0 ? 0 : scope];
		}
	if (granularity && scope >= 0 && !is_used)
		yaml_mistake(y, granularity, "belongs to the recipe float8dq, which recipes do not have");
}

/* Return the operands that any direction of the suite multiplies. */
static int32_t operands_read(struct yaml *y, struct yaml_node *root)
{
	static const struct {
		const char *direction;
		int32_t operands;
	} reads[] = { { "forward", LINEAR_X | LINEAR_W }, { "once", LINEAR_W }, { "dgrad", LINEAR_W | LINEAR_DY },
		{ "wgrad", LINEAR_X | LINEAR_DY } };
	struct yaml_node *list = yaml_get(y, root, "directions");
	int32_t all = LINEAR_X | LINEAR_W | LINEAR_DY, found = 0;

	for (int i = 0; list && yaml_is_list(list) && i < yaml_count(list); i++) {
		const char *text = NULL;
		int32_t operands = all;

		yaml_string(y, yaml_item(y, list, i), &text);
		for (size_t r = 0; text && r < sizeof reads / sizeof reads[0]; r++)
			if (strcmp(text, reads[r].direction) == 0)
				operands = reads[r].operands;
		found |= operands;
	}
	return found ? found : all;
}

/* Read scaling and accumulation of float8dq. */
static void read_options(struct draft *d, struct yaml_node *root)
{
	static const char *const types[] = { "dynamic", "disabled", NULL };
	struct yaml *y = d->r->y;
	struct yaml_node *fast = yaml_get(y, root, "fast_accumulation"), *use = yaml_get(y, root, "use_fast_accum");
	struct yaml_node *type[LINEAR_OPERANDS] = { yaml_get(y, root, "scaling_type_input"),
		yaml_get(y, root, "scaling_type_weight"), yaml_get(y, root, "scaling_type_grad_output") };
	int32_t read = operands_read(y, root);
	bool is_fast = true;

	for (int i = 0; i < LINEAR_OPERANDS; i++) {
		if (type[i] && reader_choice(y, type[i], types, "dynamic or disabled") == 1)
			d->plain |= 1 << i;
		if (type[i] && !has_fp8(d))
			yaml_mistake(y, type[i], "is for recipes float8dq, but `recipes` has none of them");
		else if (d->plain & 1 << i && !(read & 1 << i))
			yaml_mistake(y, type[i], "changes nothing: no direction of this suite multiplies %s", linear_operands[i]);
	}
	if (fast && use)
		yaml_mistake(y, use, "is another name of fast_accumulation; give one of them");
	yaml_bool(y, fast ? fast : use, &is_fast);
	if (!is_fast && !has_fp8(d))
		yaml_mistake(y, fast ? fast : use, "is for recipes float8dq, but `recipes` has none of them");
	else if (!is_fast && !has_fast(d))
		yaml_mistake(y, fast ? fast : use, "changes nothing: float8dq-block always adds up in fp32 after each block");
	d->is_exact = !is_fast;
}

bool linear_read(struct reader *r, struct yaml_node *root)
{
	struct draft d = { .r = r };
	struct yaml_node *shapes = yaml_get(r->y, root, "shapes"), *models = yaml_get(r->y, root, "model_types");

	read_recipes(&d, root);
	read_options(&d, root);
	bool has_models = read_models(&d, models, &d.models);

	reader_require(r->y, root, shapes, "shapes");
	if (shapes && (!yaml_is_list(shapes) || yaml_count(shapes) < 1 || yaml_count(shapes) > LINEAR_SETS_MAX))
		yaml_mistake(r->y, shapes, "must be a list of 1 to %d {name: SET, ...}", LINEAR_SETS_MAX);
	for (int i = 0; shapes && i < yaml_count(shapes) && i < LINEAR_SETS_MAX; i++)
		read_set(&d, yaml_item(r->y, shapes, i));
	return d.n_recipes > 0 && has_models;
}
