/* suite.c - the keys of a suite of linear layers: sets of shapes, crossed with recipes and model types. */
#include <string.h>

#include "family/linear/linear.h"

enum { M_LLAMA = 16384, POWER_MIN = 0, POWER_MAX = 30, ROWS_MAX = 16, SETS_MAX = 16, BLOCKS_MAX = 512 };

enum { SET_CUSTOM, SET_LLAMA, SET_POW2, SET_POW2_EXTENDED, SET_SMALL_SWEEP, SET_SWEEP };

struct draft {
	struct reader *r;
	int n_recipes, n_models;
	int32_t recipe[LINEAR_RECIPES], model[LINEAR_MODELS];
	bool is_exact;
	int32_t plain; /* operands whose scaling is disabled */
	int n_rows;    /* in the place of a set's m; 0: as the set has it */
	int32_t row[ROWS_MAX];
	int n_blocks;
	struct size {
		int32_t m, k, n;
	} block[BLOCKS_MAX]; /* sizes of blocks so far */
};

/* Sizes that differ in n alone are one block. */
static bool is_known_block(struct draft *d, int32_t m, int32_t k, int32_t n)
{
	for (int i = 0; i < d->n_blocks; i++)
		if (d->block[i].m == m && d->block[i].k == k)
			return d->block[i].n != n;
	if (d->n_blocks < BLOCKS_MAX)
		d->block[d->n_blocks++] = (struct size){ m, k, n };
	return false;
}

/* A shape in every recipe and model type. */
static void add(struct draft *d, struct yaml_node *at, int32_t m, int32_t k, int32_t n)
{
	for (int i = 0; i < d->n_models; i++) {
		bool is_block = d->model[i] == LINEAR_BLOCK;

		if (is_block && is_known_block(d, m, k, n))
			continue;
		for (int j = 0; j < d->n_recipes; j++) {
			struct linear_case a = {
				.m = m, .k = k, .n = is_block ? k : n, .recipe = d->recipe[j], .model = d->model[i]
			};

			if (linear_is_fp8(&a)) {
				a.is_exact = d->is_exact;
				a.plain = d->plain;
			}
			reader_add(d->r, at, &a);
		}
	}
}

static void add_rows(struct draft *d, struct yaml_node *at, int32_t m, int32_t k, int32_t n)
{
	for (int i = 0; i < d->n_rows; i++)
		add(d, at, d->row[i], k, n);
	if (d->n_rows == 0)
		add(d, at, m, k, n);
}

static void add_cubes(struct draft *d, struct yaml_node *at, int min, int max, bool extended)
{
	for (int p = min; p <= max; p++) {
		int32_t edge = 1 << p;

		add_rows(d, at, edge, edge, edge);
		if (extended && p > 0)
			add_rows(d, at, edge + edge / 2, edge + edge / 2, edge + edge / 2);
	}
}

static void add_sweep(struct draft *d, struct yaml_node *at, int min, int max, bool rising)
{
	for (int m = min; m <= max; m++)
		for (int k = rising ? m : min; k <= max; k++)
			for (int n = rising ? k : min; n <= max; n++)
				add_rows(d, at, 1 << m, 1 << k, 1 << n);
}

static void add_custom(struct draft *d, struct yaml_node *at, struct yaml_node *list)
{
	reader_require(d->r->y, at, list, "shapes");
	if (list && (!yaml_is_list(list) || yaml_count(list) < 1 || yaml_count(list) > READER_LIST_MAX))
		yaml_mistake(d->r->y, list, "must be a list of 1 to %d [m, k, n]", READER_LIST_MAX);
	for (int i = 0; list && i < yaml_count(list) && i < READER_LIST_MAX; i++) {
		struct yaml_node *item = yaml_item(d->r->y, list, i);
		int32_t size[3];

		if (reader_ints(d->r, item, 3, INT32_MAX, size) == 3)
			add_rows(d, item, size[0], size[1], size[2]);
		else
			yaml_mistake(d->r->y, item, "must be [m, k, n]");
	}
}

static void read_set(struct draft *d, struct yaml_node *map)
{
	static const char *const names[] = { "custom", "llama", "pow2", "pow2_extended", "small_sweep", "sweep", NULL };
	static const int32_t llama[][2] = { { 8192, 1280 }, { 1024, 8192 }, { 8192, 7168 }, { 3584, 8192 } };
	static const int64_t powers[][2] = {
		[SET_POW2] = { 10, 14 }, [SET_POW2_EXTENDED] = { 10, 14 }, [SET_SMALL_SWEEP] = { 10, 14 }, [SET_SWEEP] = { 8, 15 }
	};
	struct yaml *y = d->r->y;

	if (!yaml_is_map(map)) {
		yaml_mistake(y, map, "must be {name: SET, ...}");
		return;
	}
	struct yaml_node *name = yaml_get(y, map, "name"), *rows = yaml_get(y, map, "rows"), *list = yaml_get(y, map, "shapes"),
			 *min_power = yaml_get(y, map, "min_power"), *max_power = yaml_get(y, map, "max_power");

	reader_require(y, map, name, "name");
	int set = name ? reader_word(y, name, names, "custom, llama, pow2, pow2_extended, small_sweep or sweep") : -1;
	int64_t min = set >= SET_POW2 ? powers[set][0] : 0, max = set >= SET_POW2 ? powers[set][1] : 0;

	yaml_int(y, min_power, POWER_MIN, POWER_MAX, &min);
	yaml_int(y, max_power, POWER_MIN, POWER_MAX, &max);
	d->n_rows = reader_ints(d->r, rows, ROWS_MAX, INT32_MAX, d->row);
	if (set >= 0 && set < SET_POW2 && (min_power || max_power))
		yaml_mistake(y, min_power ? min_power : max_power, "%s has no powers", names[set]);
	if (set > SET_CUSTOM && list)
		yaml_mistake(y, list, "shapes belong to custom");
	if (set == SET_CUSTOM)
		add_custom(d, map, list);
	else if (set == SET_LLAMA)
		for (int i = 0; i < 4; i++)
			add_rows(d, map, M_LLAMA, llama[i][0], llama[i][1]);
	else if (set == SET_POW2 || set == SET_POW2_EXTENDED)
		add_cubes(d, map, (int)min, (int)max, set == SET_POW2_EXTENDED);
	else if (set > 0)
		add_sweep(d, map, (int)min, (int)max, set == SET_SMALL_SWEEP);
	yaml_finish(y, map);
}

/* Shape: out[max] places among `words`, each once. Returns how many; without a list the first word. */
static int read_words(struct reader *r, struct yaml_node *list, const char *const *words, const char *hint, int max, int32_t *out)
{
	int n = 0;

	out[0] = 0;
	if (!list)
		return 1;
	if (!yaml_is_list(list) || yaml_count(list) < 1 || yaml_count(list) > max) {
		yaml_mistake(r->y, list, "must be a list of %s", hint);
		return 0;
	}
	for (int i = 0; i < yaml_count(list); i++) {
		int which = reader_word(r->y, yaml_item(r->y, list, i), words, hint);

		if (which >= 0)
			out[n++] = which;
	}
	return n;
}

static bool has_fp8(const struct draft *d)
{
	for (int i = 0; i < d->n_recipes; i++)
		if (linear_is_fp8(&(struct linear_case){ .recipe = d->recipe[i] }))
			return true;
	return false;
}

/* float8dq alone takes its granularity from a key of its own. */
static void read_recipes(struct draft *d, struct yaml_node *root)
{
	static const char *const granularities[] = { "tensor", "row", NULL };
	struct yaml *y = d->r->y;
	struct yaml_node *list = yaml_get(y, root, "recipes"), *granularity = yaml_get(y, root, "scaling_granularity");
	const char *words[LINEAR_RECIPES + 2] = { NULL };
	int by_row = granularity ? reader_word(y, granularity, granularities, "tensor or row") : 0;
	bool is_used = false;

	memcpy(words, linear_recipes, LINEAR_RECIPES * sizeof words[0]);
	words[LINEAR_RECIPES] = "float8dq";
	d->n_recipes = read_words(d->r, list, words,
		"baseline, int8wo, int4wo-32, int4wo-64, int4wo-128, int4wo-256, float8wo, float8dq-tensor, float8dq-row or float8dq",
		LINEAR_RECIPES, d->recipe);
	for (int i = 0; i < d->n_recipes; i++)
		if (d->recipe[i] == LINEAR_RECIPES) {
			is_used = true;
			d->recipe[i] = by_row == 1 ? LINEAR_FLOAT8DQ_ROW : LINEAR_FLOAT8DQ_TENSOR;
		}
	if (granularity && by_row >= 0 && !is_used)
		yaml_mistake(y, granularity, "belongs to the recipe float8dq, which recipes do not have");
}

/* How operands of float8dq are scaled and their products added up. */
static void read_options(struct draft *d, struct yaml_node *root)
{
	static const char *const types[] = { "dynamic", "disabled", NULL };
	struct yaml *y = d->r->y;
	struct yaml_node *fast = yaml_get(y, root, "fast_accumulation"), *use = yaml_get(y, root, "use_fast_accum");
	struct yaml_node *type[LINEAR_OPERANDS] = { yaml_get(y, root, "scaling_type_input"),
		yaml_get(y, root, "scaling_type_weight"), yaml_get(y, root, "scaling_type_grad_output") };
	bool is_fast = true;

	for (int i = 0; i < LINEAR_OPERANDS; i++) {
		if (type[i] && reader_word(y, type[i], types, "dynamic or disabled") == 1)
			d->plain |= 1 << i;
		if (type[i] && !has_fp8(d))
			yaml_mistake(y, type[i], "belongs to the recipes float8dq, of which recipes have none");
	}
	if (fast && use)
		yaml_mistake(y, use, "is another name of fast_accumulation; give one of them");
	yaml_bool(y, fast ? fast : use, &is_fast);
	d->is_exact = !is_fast;
}

bool linear_read(struct reader *r, struct yaml_node *root)
{
	struct draft d = { .r = r };
	struct yaml_node *shapes = yaml_get(r->y, root, "shapes"), *models = yaml_get(r->y, root, "model_types");

	read_recipes(&d, root);
	read_options(&d, root);
	d.n_models = read_words(r, models, linear_models,
		"linear, transformer_block or ln_linear_ with relu, sigmoid, leakyrelu, relu6, gelu, silu or hardswish",
		LINEAR_MODELS, d.model);
	reader_require(r->y, root, shapes, "shapes");
	if (shapes && (!yaml_is_list(shapes) || yaml_count(shapes) < 1 || yaml_count(shapes) > SETS_MAX))
		yaml_mistake(r->y, shapes, "must be a list of 1 to %d {name: SET, ...}", SETS_MAX);
	for (int i = 0; shapes && i < yaml_count(shapes) && i < SETS_MAX; i++)
		read_set(&d, yaml_item(r->y, shapes, i));
	return d.n_recipes > 0 && d.n_models > 0;
}
