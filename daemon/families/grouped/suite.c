/* suite.c - keys of a grouped suite: layers of experts, combined with numbers of tokens and routings. */
#include <limits.h>

#include "families/grouped/grouped.h"

enum { LAYERS_MAX = 64, SHAPES_MAX = 32 };

struct layer {
	int n_shapes;
	struct {
		int32_t k, n;
	} shape[SHAPES_MAX];
	int n_routings;
	int32_t routing[GROUPED_ROUTINGS];
};

static void add(struct reader *r, struct yaml_node *at, struct grouped_case a)
{
	if (grouped_check(&a, DIRECTION_FORWARD, NULL) == 0) /* else reader_add reports why not */
		a.used = grouped_used(&a, r->seed);
	reader_add(r, at, &a);
}

static void read_shapes(struct reader *r, struct yaml_node *map, struct layer *out)
{
	struct yaml_node *list = yaml_get(r->y, map, "shapes");
	int n = yaml_list(r->y, list, 1, SHAPES_MAX, "must be a list of [k, n]");

	reader_require(r->y, map, list, "shapes");
	for (int i = 0; i < n; i++) {
		struct yaml_node *item = yaml_item(r->y, list, i);
		int before = yaml_mistakes(r->y);
		int32_t size[2];

		if (reader_ints(r, item, 2, INT32_MAX, size) == 2) {
			out->shape[out->n_shapes].k = size[0];
			out->shape[out->n_shapes++].n = size[1];
		} else if (yaml_mistakes(r->y) == before) {
			yaml_mistake(r->y, item, "must be [k, n]");
		}
	}
}

/* Read names of routings, without a list `uniform`. */
static void read_routings(struct reader *r, struct yaml_node *list, struct layer *out)
{
	const char *const choices[] = { grouped_routings[GROUPED_BALANCED], grouped_routings[GROUPED_UNIFORM],
		grouped_routings[GROUPED_SKEWED], NULL };
	int n = yaml_list(r->y, list, 1, GROUPED_SIZES, "must be a list of balanced, uniform and skewed");

	for (int i = 0; i < n; i++) {
		int which = reader_choice(r->y, yaml_item(r->y, list, i), choices, "balanced, uniform or skewed");

		if (which >= 0)
			out->routing[out->n_routings++] = which;
	}
	if (!list)
		out->routing[out->n_routings++] = GROUPED_UNIFORM;
}

/* Read a list of sizes, of which some may be 0. Returns their number, 0 after a mistake. */
static int read_sizes(struct reader *r, struct yaml_node *list, struct grouped_case *a)
{
	int n = yaml_list(r->y, list, 1, GROUPED_SIZES_MAX, "must be a list of 1 to %d rows", GROUPED_SIZES_MAX);
	int64_t sum = 0;

	for (int i = 0; i < n; i++) {
		int64_t size = 0;

		yaml_int(r->y, yaml_item(r->y, list, i), 0, INT32_MAX, &size);
		a->size[i] = (int32_t)size;
		sum += size;
	}
	a->groups = n;
	a->rows = sum <= INT32_MAX ? (int32_t)sum : INT32_MAX;
	return n;
}

/* Read a layer; `layer` has the suite's routings. */
static void read_layer(struct reader *r, struct yaml_node *map, struct layer layer)
{
	struct yaml *y = r->y;
	struct grouped_case a = { 0 };
	int32_t tokens[READER_LIST_MAX];
	int64_t experts = 0, top_k = 0;

	if (yaml_map(y, map, 0, INT_MAX, "must be {experts: N, top_k: N, tokens: [...], shapes: [[k, n], ...]}") < 0)
		return;
	struct yaml_node *sizes = yaml_get(y, map, "sizes"), *of_experts = yaml_get(y, map, "experts"),
			 *of_top_k = yaml_get(y, map, "top_k"), *of_tokens = yaml_get(y, map, "tokens"),
			 *own = yaml_get(y, map, "routing");

	read_shapes(r, map, &layer);
	yaml_int(y, of_experts, 1, FW_GROUPED_GROUPS_MAX, &experts);
	yaml_int(y, of_top_k, 1, GROUPED_TOP_MAX, &top_k);
	int n_tokens = reader_ints(r, of_tokens, READER_LIST_MAX, GROUPED_TOKENS_MAX, tokens);

	if (sizes) {
		struct yaml_node *both = of_experts ? of_experts : of_top_k ? of_top_k : of_tokens ? of_tokens : own;

		if (both)
			yaml_mistake(y, both, "applies to drawn sizes only; remove it or `sizes`");
		a.routing = GROUPED_SIZES;
		for (int s = 0, n = read_sizes(r, sizes, &a); n > 0 && s < layer.n_shapes; s++) {
			a.k = layer.shape[s].k;
			a.n = layer.shape[s].n;
			add(r, map, a);
		}
		yaml_finish(y, map);
		return;
	}
	reader_require(y, map, of_experts, "experts");
	reader_require(y, map, of_top_k, "top_k");
	reader_require(y, map, of_tokens, "tokens");
	if (own) {
		layer.n_routings = 0;
		read_routings(r, own, &layer);
	}
	a.groups = (int32_t)experts;
	a.top_k = (int32_t)top_k;
	for (int i = 0; experts && top_k && i < layer.n_routings; i++)
		for (int s = 0; s < layer.n_shapes; s++)
			for (int t = 0; t < n_tokens; t++) {
				a.routing = layer.routing[i];
				a.k = layer.shape[s].k;
				a.n = layer.shape[s].n;
				a.tokens = tokens[t];
				a.rows = a.tokens * a.top_k;
				add(r, map, a);
			}
	yaml_finish(y, map);
}

bool grouped_read(struct reader *r, struct yaml_node *root)
{
	struct yaml_node *layers = yaml_get(r->y, root, "layers"), *routings = yaml_get(r->y, root, "routing");
	int n = yaml_list(r->y, layers, 1, LAYERS_MAX, "must be a list of 1 to %d layers", LAYERS_MAX);
	struct layer all = { 0 };

	reader_require(r->y, root, layers, "layers");
	read_routings(r, routings, &all);
	for (int i = 0; i < n; i++)
		read_layer(r, yaml_item(r->y, layers, i), all);
	return true;
}
