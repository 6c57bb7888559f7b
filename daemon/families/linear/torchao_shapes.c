/* torchao_shapes.c - see torchao_shapes.c. */
#include "families/linear/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 512 << 10, SHAPES_MAX = 8192 };

/* One set while its shapes are gone through. */
struct found {
	struct torchao_shapes *all;
	struct yaml_node *at;
	const bool *takes;
	int model, first, again; /* `first` of its shapes in all->of; how many were there before */
	bool is_reported, is_block;
};

void torchao_shapes_init(struct torchao_shapes *s, struct yaml *y, bool is_training, bool is_exact, int32_t plain)
{
	*s = (struct torchao_shapes){ .y = y, .is_training = is_training, .is_exact = is_exact, .plain = plain };
	buf_init(&s->sets, TEXT_MAX);
	buf_init(&s->notes, TEXT_MAX);
}

void torchao_shapes_fini(struct torchao_shapes *s)
{
	buf_fini(&s->sets);
	buf_fini(&s->notes);
	free(s->of);
	*s = (struct torchao_shapes){ 0 };
}

static void mistake(struct found *f, const char *what)
{
	if (!f->is_reported)
		yaml_mistake(f->all->y, f->at, "%s", what);
	f->is_reported = true;
}

/* Once of a set. */
static void note_unsupported(struct found *f, const struct linear_case *a)
{
	struct yaml_position position = yaml_position(f->at);
	struct buf *notes = &f->all->notes;
	struct fw_err err = { 0 };
	char line[400];

	if (family_linear.fits(a, DIRECTION_FORWARD, &err) == 0)
		return;
	snprintf(line, sizeof line, "# line %d:%d: %s is unsupported: %.300s\n", position.line, position.column,
		linear_recipes[a->recipe], err.text);
	if (notes->len == 0 || !strstr(notes->data, line))
		buf_puts(notes, line);
}

static void check(struct found *f, int32_t m, int32_t k, int32_t n)
{
	static const enum direction directions[] = { DIRECTION_FORWARD, DIRECTION_DGRAD, DIRECTION_WGRAD, DIRECTION_TOTAL };
	struct fw_err err = { 0 };

	for (int i = 0; i < LINEAR_RECIPES && !f->is_reported; i++) {
		struct linear_case a = { .m = m, .k = k, .n = n, .recipe = i, .model = f->model };

		if (!f->takes[i])
			continue;
		if (linear_is_fp8(&a)) {
			a.is_exact = f->all->is_exact;
			a.plain = f->all->plain;
		}
		for (int d = 0; d < (f->all->is_training ? 4 : 1); d++)
			if (family_linear.check(&a, directions[d], &err) != 0)
				mistake(f, err.text);
		note_unsupported(f, &a);
	}
}

static void add(void *arg, int32_t m, int32_t k, int32_t n)
{
	struct found *f = arg;
	struct torchao_shapes *s = f->all;
	bool is_block = f->model == LINEAR_BLOCK; /* whose n says nothing */
	const struct torchao_shape shape = { m, k, is_block ? k : n, f->model };

	if (f->model < 0)
		return;
	if (is_block)
		f->is_block = true;
	for (int i = 0; i < s->n; i++)
		if (memcmp(&s->of[i], &shape, sizeof shape) == 0) {
			f->again++;
			return;
		}
	if (s->n == SHAPES_MAX) {
		mistake(f, "there are more than 8192 shapes");
		return;
	}
	if (s->n == s->size) {
		int size = s->size ? 2 * s->size : 64;
		struct torchao_shape *more = realloc(s->of, (size_t)size * sizeof *more);

		if (!more) {
			mistake(f, "out of memory");
			return;
		}
		s->of = more;
		s->size = size;
	}
	s->of[s->n++] = shape;
	check(f, m, k, shape.n);
}

static void read_custom(struct found *f, struct yaml_node *map, struct yaml_node *list)
{
	struct yaml *y = f->all->y;
	struct reader reader = { .y = y };

	reader_require(y, map, list, "shapes");
	if (list && (!yaml_is_list(list) || yaml_count(list) < 1))
		yaml_mistake(y, list, "must be a list of [m, k, n]");
	for (int i = 0; i < yaml_count(list) && yaml_is_list(list); i++) {
		int32_t size[3];
		int before = yaml_mistakes(y);

		f->at = yaml_item(y, list, i);
		f->is_reported = false;
		if (reader_ints(&reader, f->at, 3, INT32_MAX, size) == 3)
			add(f, size[0], size[1], size[2]);
		else if (yaml_mistakes(y) == before)
			yaml_mistake(y, f->at, "must be [m, k, n]");
	}
}

/* What is new of the set: by its name where all of it is, else shape by shape, as many in a set as one may have. */
static void write_set(const struct found *f, enum linear_set set, const int64_t *power)
{
	struct torchao_shapes *s = f->all;
	bool is_custom = set == LINEAR_SET_CUSTOM || f->again > 0 || f->is_block;

	for (int i = f->first; i < s->n;) {
		s->n_sets++;
		buf_printf(&s->sets, "  - {name: %s", linear_sets[is_custom ? LINEAR_SET_CUSTOM : set]);
		if (!is_custom) {
			if (set >= LINEAR_SET_POW2)
				buf_printf(
					&s->sets, ", min_power: %lld, max_power: %lld", (long long)power[0], (long long)power[1]);
			i = s->n;
		}
		for (int k = 0; k < LINEAR_CUSTOM_MAX && i < s->n; k++, i++)
			buf_printf(&s->sets, "%s[%d, %d, %d]", k ? ", " : ", shapes: [", s->of[i].m, s->of[i].k, s->of[i].n);
		buf_puts(&s->sets, is_custom ? "]" : "");
		if (f->model > 0)
			buf_printf(&s->sets, ", model_types: [%s]", linear_models[f->model]);
		buf_puts(&s->sets, "}\n");
	}
}

/* What a set does not read, of those that there are. */
static void note_foreign(struct torchao_shapes *s, const struct yaml_node *n, const char *key, int set, bool is_foreign)
{
	struct yaml_position position = yaml_position(n);

	if (n && set >= 0 && is_foreign)
		buf_printf(&s->notes, "# line %d:%d: %s has no meaning here: %s has none\n", position.line, position.column, key,
			linear_sets[set]);
}

void torchao_shapes_read(struct torchao_shapes *s, struct yaml_node *map, int model, const bool *takes)
{
	struct yaml *y = s->y;
	struct found f = { .all = s, .at = map, .takes = takes, .model = model, .first = s->n };
	int64_t power[2] = { 0, 0 };

	if (!yaml_is_map(map)) {
		yaml_mistake(y, map, "must be {name: SET, ...}");
		return;
	}
	struct yaml_node *name = yaml_get(y, map, "name"), *list = yaml_get(y, map, "shapes"),
			 *min = yaml_get(y, map, "min_power"), *max = yaml_get(y, map, "max_power");

	reader_require(y, map, name, "name");
	int set = name ? reader_word(y, name, linear_sets, LINEAR_SETS_HINT) : -1;

	if (set >= 0)
		linear_set_powers((enum linear_set)set, &power[0], &power[1]);
	note_foreign(s, min, "min_power", set, set < LINEAR_SET_POW2);
	note_foreign(s, max, "max_power", set, set < LINEAR_SET_POW2);
	note_foreign(s, list, "shapes", set, set != LINEAR_SET_CUSTOM);
	yaml_int(y, min, LINEAR_POWER_MIN, LINEAR_POWER_MAX, &power[0]);
	yaml_int(y, max, LINEAR_POWER_MIN, LINEAR_POWER_MAX, &power[1]);
	if (set >= LINEAR_SET_POW2 && power[0] > power[1])
		yaml_mistake(y, max ? max : min, "no power lies between min_power %lld and max_power %lld", (long long)power[0],
			(long long)power[1]);
	if (set == LINEAR_SET_CUSTOM)
		read_custom(&f, map, list);
	else if (set > LINEAR_SET_CUSTOM)
		linear_set_each((enum linear_set)set, power[0], power[1], add, &f);
	yaml_finish(y, map);
	if (f.again) {
		struct yaml_position position = yaml_position(map);

		buf_printf(
			&s->notes, "# line %d:%d: left out what is there already: %d\n", position.line, position.column, f.again);
	}
	if (set >= 0)
		write_set(&f, (enum linear_set)set, power);
}
