/* torchao.c - importer of torchao configurations. Keys and their effects are those of torchao's benchmark runner. */
#include "families/linear/internal.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <strings.h>

/* Forward is all of inference. */
enum { TORCHAO_DIRECTIONS = 4, LINEAR_PROBED = 256 };
static const enum direction torchao_directions[TORCHAO_DIRECTIONS] = { DIRECTION_FORWARD, DIRECTION_DGRAD, DIRECTION_WGRAD,
	DIRECTION_TOTAL };

/* ---- torchao_options: Keys of the whole configuration: mode and recipes. ---- */

/* Append a comment with the position of `at`: "# line 3:5: what". */
static void import_note(struct import *p, const struct yaml_node *at, const char *format, ...)
{
	struct yaml_position position = yaml_position(at);
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' '; /* a line break would end the comment */
	buf_printf(&p->notes, "# line %d:%d: %s\n", position.line, position.column, text);
}

/* Note once, for all models, that `key` has no meaning here, if it is given and not false. */
static void import_note_key(struct import *p, struct yaml_node *map, const char *key, const char *why)
{
	struct yaml_node *n = yaml_get(p->y, map, key);
	const char *text = NULL;
	char reported[80];

	if (!n || yaml_is_null(n) || yaml_string(p->y, n, &text) || !text || !strcasecmp(text, "false"))
		return;
	snprintf(reported, sizeof reported, ": %s has no meaning here", key);
	if (p->notes.len == 0 || !strstr(p->notes.data, reported))
		import_note(p, n, "%s has no meaning here: %s", key, why);
}

/* Read a boolean as YAML 1.1 does, which also accepts "yes" and "True". */
static void read_flag(struct import *p, struct yaml_node *n, bool *out)
{
	const char *text = NULL;

	if (yaml_string(p->y, n, &text) || !text)
		return;
	if (!strcasecmp(text, "true") || !strcasecmp(text, "yes") || !strcasecmp(text, "on"))
		*out = true;
	else if (!strcasecmp(text, "false") || !strcasecmp(text, "no") || !strcasecmp(text, "off"))
		*out = false;
	else
		yaml_mistake(p->y, n, "\"%.40s\" is neither true nor false", text);
}

/* ---- recipes ------------------------------------------------------------------------------------------------------------ */

/* Return the recipe; LINEAR_RECIPES: a recipe of torchao that is not measured here; -1: unknown. */
static int find_recipe(const struct import *p, const char *text)
{
	static const char *const theirs[] = { "int8dq", "int8adq", "int8_dynamic_activation_int", "autoquant", "gemlitewo",
		"marlin", "fp6", "fpx", "uintx", "float8static", "float8_dynamic_activation_int4", "mxfp", "nvfp4",
		"cutlass_int4", NULL };
	char bare[40];
	size_t len = strlen(text);

	if (!strncmp(text, "int4wo-", 7) && len > 4 && len < sizeof bare && !strcmp(text + len - 4, "-hqq")) {
		snprintf(bare, sizeof bare, "%.*s", (int)len - 4, text);
		text = bare;
	}
	if (!strcmp(text, "float8dq"))
		return p->by_row ? LINEAR_FLOAT8DQ_ROW : LINEAR_FLOAT8DQ_TENSOR;
	for (int i = 0; linear_recipes[i]; i++)
		if (!strcmp(text, linear_recipes[i]) && i != LINEAR_FLOAT8DQ_BLOCK) /* torchao has no such name */
			return i;
	for (int i = 0; theirs[i]; i++)
		if (!strncmp(text, theirs[i], strlen(theirs[i])))
			return LINEAR_RECIPES;
	return -1;
}

/* In training, scaling_granularity "row" overrides the recipe's name. Returns the recipe that is measured. */
static int config_has_granularity(struct import *p, const struct yaml_node *n, int which)
{
	if (p->by_row && which == LINEAR_FLOAT8DQ_TENSOR) {
		import_note(p, n, "float8dq-tensor is float8dq-row here: scaling_granularity is %s", p->granularity);
		return LINEAR_FLOAT8DQ_ROW;
	}
	if (p->is_training && p->granularity && !p->by_row && which == LINEAR_FLOAT8DQ_ROW)
		import_note(p, n, "float8dq-row stays, although scaling_granularity is %s", p->granularity);
	return which;
}

static void read_recipe(struct import *p, struct yaml_node *n)
{
	const char *text = NULL;

	if (yaml_string(p->y, n, &text) || !text)
		return;
	int which = config_has_granularity(p, n, find_recipe(p, text));
	bool trains = which == LINEAR_BASELINE || which == LINEAR_FLOAT8DQ_TENSOR || which == LINEAR_FLOAT8DQ_ROW;

	if (which < 0 && !strncmp(text, "int4wo-", 7) && isdigit((unsigned char)text[7]))
		import_note(p, n, "%.40s is left out: groups have 32, 64, 128 or 256 weights here", text);
	else if (which < 0)
		import_note(p, n,
			"%.40s is left out: it is unknown; use baseline, int8wo, int4wo-32, int4wo-64, int4wo-128, int4wo-256, "
			"float8wo, float8dq-tensor or float8dq-row",
			text);
	else if (which == LINEAR_RECIPES)
		import_note(p, n, "%.40s is left out: flopwatch has no such recipe", text);
	else if (p->is_training && !trains)
		import_note(p, n, "%.40s is left out: it is for inference only", text);
	else if (p->takes[which] && which != LINEAR_BASELINE)
		import_note(p, n, "left out what is there already: %s", linear_recipes[which]);
	else
		p->takes[which] = true;
	if (strstr(text, "-hqq") && which >= 0 && which < LINEAR_RECIPES)
		import_note(p, n, "%.40s is %s here: its solver chooses other scales for the same kernel", text,
			linear_recipes[which]);
}

static void read_recipes(struct import *p, struct yaml_node *root)
{
	struct yaml_node *list = yaml_get(p->y, root, "quantization_config_recipe_names");

	if (list && !yaml_is_list(list) && !yaml_is_null(list))
		yaml_mistake(p->y, list, "must be a list of recipes");
	for (int i = 0; i < yaml_count(list) && yaml_is_list(list); i++)
		read_recipe(p, yaml_item(p->y, list, i));
	p->takes[LINEAR_BASELINE] = true; /* torchao always measures it */
}

static void read_sparsity(struct import *p, struct yaml_node *root)
{
	struct yaml_node *list = yaml_get(p->y, root, "sparsity_config_recipe_names");

	if (list && !yaml_is_list(list) && !yaml_is_null(list))
		yaml_mistake(p->y, list, "must be a list of sparsities");
	for (int i = 0; i < yaml_count(list) && yaml_is_list(list); i++) {
		struct yaml_node *n = yaml_item(p->y, list, i);
		const char *text = NULL;

		if (yaml_is_null(n) || yaml_string(p->y, n, &text) || !text || !strcasecmp(text, "none"))
			continue;
		if (strstr(text, "semi") || strstr(text, "2:4") || strstr(text, "block"))
			import_note(p, n, "sparsity %.40s is left out: weights are dense here", text);
		else
			yaml_mistake(p->y, n, "\"%.40s\" is unknown; use semi-sparse or block", text);
	}
	import_note_key(p, root, "sparsity", "weights are dense here");
}

/* ---- training ------------------------------------------------------------------------------------------------------------ */

static void read_mode(struct import *p, struct yaml_node *root)
{
	static const char *const modes[] = { "inference", "training", NULL };
	struct yaml_node *mode = yaml_get(p->y, root, "benchmark_mode");

	p->is_training = mode && reader_choice(p->y, mode, modes, "inference or training") == 1;
}

static const char *const scaling_keys[] = { "scaling_type_input", "scaling_type_weight", "scaling_type_grad_output",
	"scaling_granularity", "use_fast_accum", NULL };

/* A key of the whole configuration; if it has none, that of the first model that has it. NULL: neither. */
static struct yaml_node *get_option(struct import *p, struct yaml_node *root, const char *key)
{
	struct yaml_node *models = yaml_get(p->y, root, "model_params"), *n = yaml_get(p->y, root, key);

	if (!n && yaml_is_map(models))
		n = yaml_get(p->y, models, key);
	for (int i = 0; !n && yaml_is_list(models) && i < yaml_count(models); i++)
		if (yaml_is_map(yaml_item(p->y, models, i)))
			n = yaml_get(p->y, yaml_item(p->y, models, i), key);
	return n;
}

/* Note each scaling key of a model that has another value than the suite, which has one for all of its models. */
static void note_other_scaling(struct import *p, struct yaml_node *root, struct yaml_node *map)
{
	for (const char *const *key = scaling_keys; *key; key++) {
		struct yaml_node *n = yaml_get(p->y, map, *key), *used = get_option(p, root, *key);
		const char *text = NULL, *used_text = NULL;

		if (!n || n == used || yaml_string(p->y, n, &text) != 0 || yaml_string(p->y, used, &used_text) != 0)
			continue;
		if (text && used_text && strcasecmp(text, used_text) != 0)
			import_note(p, n, "%s is %.40s here: a suite has one value for all models", *key, used_text);
	}
}

static void read_scaling(struct import *p, struct yaml_node *root)
{
	static const char *const types[] = { "dynamic", "disabled", NULL };
	static const char *const granularities[] = { "tensorwise", "rowwise", "axiswise", "columnwise", NULL };
	struct yaml_node *fast = get_option(p, root, "use_fast_accum"), *by = get_option(p, root, "scaling_granularity");
	bool is_fast = true;

	struct yaml_node *type[LINEAR_OPERANDS] = { get_option(p, root, "scaling_type_input"),
		get_option(p, root, "scaling_type_weight"), get_option(p, root, "scaling_type_grad_output") };

	for (int i = 0; i < LINEAR_OPERANDS; i++)
		if (type[i] && reader_choice(p->y, type[i], types, "dynamic or disabled") == 1)
			p->plain |= 1 << i;
	if (p->plain & LINEAR_DY && !p->is_training) {
		import_note_key(p, root, "scaling_type_grad_output", "inference multiplies no gradient");
		p->plain &= ~LINEAR_DY;
	}
	int granularity = by ? reader_choice(p->y, by, granularities, "tensorwise, rowwise, axiswise or columnwise") : -1;

	p->granularity = granularity >= 0 ? granularities[granularity] : NULL;
	p->by_row = p->is_training && granularity > 0;
	if (granularity > 0 && !p->is_training)
		import_note(p, by, "scaling_granularity has no meaning here: in inference the recipe determines it");
	read_flag(p, fast, &is_fast);
	p->is_exact = !is_fast;
	import_note_key(p, root, "repeat_n", "how often a cell is timed follows from how much it varies");
}

/* Note the options of fp8 products if no recipe has such products. */
static void note_unused(struct import *p, struct yaml_node *root)
{
	static const char *const keys[] = { "scaling_type_input", "scaling_type_weight", "scaling_type_grad_output" };
	static const char why[] = "no recipe that is left multiplies fp8";

	if (p->takes[LINEAR_FLOAT8DQ_TENSOR] || p->takes[LINEAR_FLOAT8DQ_ROW])
		return;
	for (int i = 0; i < LINEAR_OPERANDS; i++)
		if (p->plain & 1 << i)
			import_note_key(p, root, keys[i], why);
	if (p->is_exact)
		import_note(p, get_option(p, root, "use_fast_accum"), "use_fast_accum has no meaning here: %s", why);
	if (p->by_row)
		import_note_key(p, root, "scaling_granularity", why);
}

/* Note that scales of columns are those of rows: only values that are added up can share a scale. */
static void note_columns(struct import *p, struct yaml_node *root)
{
	if (p->by_row && p->takes[LINEAR_FLOAT8DQ_ROW] && !strcmp(p->granularity, "columnwise"))
		import_note(p, get_option(p, root, "scaling_granularity"),
			"columnwise is rowwise here: the columns of W^T are the rows of W, and a scale for a column of X is no factor of "
			"a sum");
}

/* Leave out recipes that the scaling of the file does not allow in any size. */
static void leave_refused(struct import *p, struct yaml_node *root)
{
	struct yaml_node *list = yaml_get(p->y, root, "quantization_config_recipe_names");

	for (int i = 0; i < LINEAR_RECIPES; i++) {
		struct linear_case a = { .m = LINEAR_PROBED, .k = LINEAR_PROBED, .n = LINEAR_PROBED, .recipe = i };
		struct fw_err err = { 0 };

		if (!p->takes[i] || !linear_is_fp8(&a))
			continue;
		a.is_exact = p->is_exact;
		a.plain = p->plain;
		for (int d = 0; d < (p->is_training ? TORCHAO_DIRECTIONS : 1) && p->takes[i]; d++)
			if (family_linear.check(&a, torchao_directions[d], &err) != 0) {
				import_note(p, list, "%s is left out: %s", linear_recipes[i], err.text);
				p->takes[i] = false;
			}
	}
}

/* Read the keys of the whole configuration: benchmark_mode, scaling, recipes, sparsities. */
static void import_read_options(struct import *p, struct yaml_node *root)
{
	read_mode(p, root);
	read_scaling(p, root);
	read_recipes(p, root);
	leave_refused(p, root);
	note_columns(p, root);
	read_sparsity(p, root);
	note_unused(p, root);
}

/* ---- torchao_shapes ---- */

enum { TEXT_MAX = 512 << 10, SHAPES_MAX = 8192 };

/* A set while its shapes are read. */
struct found {
	struct torchao_shapes *all;
	struct yaml_node *at;
	const bool *takes;
	int model, first, again; /* model type; index of its first shape in all->of; number of shapes listed earlier */
	bool is_reported, is_block;
};

static void torchao_shapes_init(struct torchao_shapes *s, struct yaml *y, bool is_training, bool is_exact, int32_t plain)
{
	*s = (struct torchao_shapes){ .y = y, .is_training = is_training, .is_exact = is_exact, .plain = plain };
	buf_init(&s->sets, TEXT_MAX);
	buf_init(&s->notes, TEXT_MAX);
}

static void torchao_shapes_fini(struct torchao_shapes *s)
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

/* Note an unsupported recipe, once per set. */
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
	struct fw_err err = { 0 };

	for (int i = 0; i < LINEAR_RECIPES && !f->is_reported; i++) {
		struct linear_case a = { .m = m, .k = k, .n = n, .recipe = i, .model = f->model };

		if (!f->takes[i])
			continue;
		if (linear_is_fp8(&a)) {
			a.is_exact = f->all->is_exact;
			a.plain = f->all->plain;
		}
		for (int d = 0; d < (f->all->is_training ? TORCHAO_DIRECTIONS : 1); d++)
			if (family_linear.check(&a, torchao_directions[d], &err) != 0)
				mistake(f, err.text);
		note_unsupported(f, &a);
	}
}

static void add(void *arg, int32_t m, int32_t k, int32_t n)
{
	struct found *f = arg;
	struct torchao_shapes *s = f->all;
	bool is_block = f->model == LINEAR_BLOCK; /* a block ignores n */
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
	s->of = mem_grow_one(s->of, (size_t)s->n, sizeof *s->of);
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

/* Write the new shapes of the set: by the set's name if all are new, else as custom sets of up to LINEAR_CUSTOM_MAX shapes. */
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

/* Note a given key that the set does not read. */
static void note_foreign(struct torchao_shapes *s, const struct yaml_node *n, const char *key, int set, bool is_foreign)
{
	struct yaml_position position = yaml_position(n);

	if (n && set >= 0 && is_foreign)
		buf_printf(&s->notes, "# line %d:%d: %s has no meaning here: %s has none\n", position.line, position.column, key,
			linear_sets[set]);
}

/*
 * Add one set in `model`, an index of linear_models; -1: only check it for mistakes. A shape listed earlier is left out and
 * reported. A shape that a recipe of `takes` does not allow is a mistake, reported once. Shape: takes[LINEAR_RECIPES].
 */
static void torchao_shapes_read(struct torchao_shapes *s, struct yaml_node *map, int model, const bool *takes)
{
	struct yaml *y = s->y;
	struct found f = { .all = s, .at = map, .takes = takes, .model = model, .first = s->n };
	int64_t power[2] = { 0, 0 };

	if (yaml_map(y, map, 0, INT_MAX, "must be {name: SET, ...}") < 0)
		return;
	struct yaml_node *name = yaml_get(y, map, "name"), *list = yaml_get(y, map, "shapes"),
			 *min = yaml_get(y, map, "min_power"), *max = yaml_get(y, map, "max_power");

	reader_require(y, map, name, "name");
	int set = name ? reader_choice(y, name, linear_sets, LINEAR_SETS_HINT) : -1;

	if (set >= 0)
		linear_set_powers((enum linear_set)set, &power[0], &power[1]);
	note_foreign(s, min, "min_power", set, set < LINEAR_SET_POW2);
	note_foreign(s, max, "max_power", set, set < LINEAR_SET_POW2);
	note_foreign(s, list, "shapes", set, set != LINEAR_SET_CUSTOM);
	yaml_int(y, min, LINEAR_POWER_MIN, LINEAR_POWER_MAX, &power[0]);
	yaml_int(y, max, LINEAR_POWER_MIN, LINEAR_POWER_MAX, &power[1]);
	if (set >= LINEAR_SET_POW2 && power[0] > power[1])
		yaml_mistake(y, max ? max : min, "there is no power between min_power %lld and max_power %lld",
			(long long)power[0], (long long)power[1]);
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

/* ---- torchao ---- */

enum { NOTES_MAX = 64 << 10 };

static void take_name(struct import *p, const char *text)
{
	size_t n = 0;

	for (; *text && n + 1 < IMPORT_NAME_SIZE; text++) {
		char c = (char)tolower((unsigned char)*text);
		bool is_fit = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';

		p->name[n++] = is_fit ? c : '-';
	}
	p->name[n] = '\0';
}

/* ---- models -------------------------------------------------------------------------------------------------------------- */

/* Return the index in linear_models; -1: left out, or a mistake. */
static int read_model_type(struct import *p, struct yaml_node *n)
{
	const char *text = "linear";

	if (n && yaml_string(p->y, n, &text))
		return -1;
	if (!strcmp(text, "ln_linear"))
		text = "ln_linear_relu";
	for (int i = 0; linear_models[i]; i++) {
		if (strcmp(text, linear_models[i]) != 0)
			continue;
		if (i == LINEAR_BLOCK && p->is_training) {
			import_note(
				p, n, "%.40s is left out: in training it starts from stored values; write a suite for it", text);
			return -1;
		}
		return i;
	}
	import_note(p, n,
		"left out with its model: model_type %.40s is unknown; use linear, transformer_block, or ln_linear_ with relu, "
		"sigmoid, leakyrelu, relu6, gelu, "
		"silu or hardswish",
		text);
	return -1;
}

static void read_model(struct import *p, struct yaml_node *root, struct yaml_node *map)
{
	struct yaml *y = p->y;

	if (yaml_map(y, map, 0, INT_MAX, "must be {name: ..., matrix_shapes: [...], ...}") < 0)
		return;
	struct yaml_node *name = yaml_get(y, map, "name"), *sets = yaml_get(y, map, "matrix_shapes"),
			 *dtype = yaml_get(y, map, "high_precision_dtype"), *type = yaml_get(y, map, "model_type");
	const char *text = NULL;

	if (name && yaml_string(y, name, &text) == 0 && text && !p->name[0])
		take_name(p, text);
	bool is_measured = !dtype || yaml_string(y, dtype, &text) != 0 || !text || !strcmp(text, "torch.bfloat16") ||
			   !strcmp(text, "bfloat16");

	if (!is_measured)
		import_note(p, dtype, "left out with its model: %.40s is not measured here; use torch.bfloat16", text);

	import_note_key(p, map, "torch_compile_mode", "kernels are compiled by the build of their repository");
	import_note_key(p, map, "use_torch_compile", "kernels are compiled by the build of their repository");
	import_note_key(p, map, "compile", "kernels are compiled by the build of their repository");
	import_note_key(p, map, "sparsity", "weights are dense here");
	import_note_key(p, map, "device", "a worker measures on the devices that it has");
	import_note_key(p, map, "enable_profiler", "flopwatch profile profiles cells on request");
	import_note_key(p, map, "enable_memory_profiler", "every comparison reports memory next to times");
	import_note_key(p, map, "repeat_n", "how often a cell is timed follows from how much it varies");
	note_other_scaling(p, root, map);
	int model = read_model_type(p, type);

	if (!is_measured)
		model = -1;

	reader_require(y, map, sets, "matrix_shapes");
	if (sets && (!yaml_is_list(sets) || yaml_count(sets) < 1))
		yaml_mistake(y, sets, "must be a list of {name: SET, ...}");
	for (int i = 0; i < yaml_count(sets) && yaml_is_list(sets); i++)
		torchao_shapes_read(&p->shapes, yaml_item(y, sets, i), model, p->takes);
	yaml_finish(y, map);
}

static void read_models(struct import *p, struct yaml_node *root)
{
	struct yaml_node *list = yaml_get(p->y, root, "model_params");

	reader_require(p->y, root, list, "model_params");
	if (yaml_is_map(list)) /* format of torchao's first version */
		read_model(p, root, list);
	else if (list && (!yaml_is_list(list) || yaml_count(list) < 1))
		yaml_mistake(p->y, list, "must be a list of {name: ..., matrix_shapes: [...]}");
	for (int i = 0; i < yaml_count(list) && yaml_is_list(list); i++)
		read_model(p, root, yaml_item(p->y, list, i));
}

/* ---- the suite ------------------------------------------------------------------------------------------------------------ */

static void write_suite(struct import *p, struct buf *out)
{
	static const char *const operands[LINEAR_OPERANDS] = { "input", "weight", "grad_output" };
	bool has_fp8 = p->takes[LINEAR_FLOAT8DQ_TENSOR] || p->takes[LINEAR_FLOAT8DQ_ROW];
	const char *before = "";

	buf_printf(out, "# Imported from a configuration of torchao's microbenchmarks; places are those of that file.\n");
	buf_append(out, p->notes.data, p->notes.len);
	buf_append(out, p->shapes.notes.data, p->shapes.notes.len);
	buf_printf(out, "suite: \"%s\"\nfamily: linear\nshapes:\n", p->name[0] ? p->name : "torchao");
	buf_append(out, p->shapes.sets.data, p->shapes.sets.len);
	buf_puts(out, "recipes: [");
	for (int i = 0; i < LINEAR_RECIPES; i++)
		if (p->takes[i]) {
			buf_printf(out, "%s%s", before, linear_recipes[i]);
			before = ", ";
		}
	buf_printf(out, "]\ndirections: [%s]\n", p->is_training ? "forward, dgrad, wgrad, total" : "forward");
	if (p->is_exact && has_fp8)
		buf_puts(out, "use_fast_accum: false\n");
	for (int i = 0; i < LINEAR_OPERANDS && has_fp8; i++)
		if (p->plain & 1 << i)
			buf_printf(out, "scaling_type_%s: disabled\n", operands[i]);
}

void torchao_import(struct yaml *y, struct yaml_node *root, const char *name, struct buf *out)
{
	struct import p = { .y = y };

	buf_init(&p.notes, NOTES_MAX);
	if (name)
		take_name(&p, name);
	if (!yaml_is_map(root)) {
		if (yaml_mistakes(y) == 0)
			yaml_mistake(y, root, "must be a mapping with model_params and quantization_config_recipe_names");
		buf_fini(&p.notes);
		return;
	}
	import_read_options(&p, root);
	import_note_key(&p, root, "output_dir", "the daemon stores results; flopwatch export writes files");
	torchao_shapes_init(&p.shapes, y, p.is_training, p.is_exact, p.plain);
	read_models(&p, root);
	yaml_finish(y, root);
	if (p.shapes.n_sets > LINEAR_SETS_MAX)
		yaml_mistake(y, yaml_get(y, root, "model_params"), "make %d sets of shapes; a suite has at most %d",
			p.shapes.n_sets, LINEAR_SETS_MAX);
	if (yaml_mistakes(y) == 0 && p.shapes.n == 0) {
		yaml_mistake(y, root, "nothing of it can be measured here");
		buf_append(out, p.notes.data, p.notes.len); /* the reasons */
		buf_append(out, p.shapes.notes.data, p.shapes.notes.len);
	}
	if (p.notes.failed || p.shapes.notes.failed || p.shapes.sets.failed)
		yaml_mistake(y, root, "is too large for a suite");
	if (yaml_mistakes(y) == 0)
		write_suite(&p, out);
	torchao_shapes_fini(&p.shapes);
	buf_fini(&p.notes);
}
