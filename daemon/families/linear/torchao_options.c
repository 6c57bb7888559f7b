/* torchao_options.c - keys of a whole configuration: in which mode, in which recipes. */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "families/linear/internal.h"
#include "model/model.h"

void import_note(struct import *p, const struct yaml_node *at, const char *format, ...)
{
	struct yaml_position position = yaml_position(at);
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' '; /* it stays inside its comment */
	buf_printf(&p->notes, "# line %d:%d: %s\n", position.line, position.column, text);
}

void import_note_key(struct import *p, struct yaml_node *map, const char *key, const char *why)
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

/* As YAML has it there, where yes and True are words for it. */
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

/* Its place among ours; LINEAR_RECIPES: one of theirs that is not measured here, -1 none of theirs. */
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
		if (!strcmp(text, linear_recipes[i]))
			return i;
	for (int i = 0; theirs[i]; i++)
		if (!strncmp(text, theirs[i], strlen(theirs[i])))
			return LINEAR_RECIPES;
	return -1;
}

/* In training rows have their scales where the configuration says so, whatever a recipe is called. */
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

	if (which < 0)
		yaml_mistake(p->y, n,
			"\"%.40s\" is unknown; use baseline, int8wo, int4wo-32, int4wo-64, int4wo-128, int4wo-256, float8wo, "
			"float8dq-tensor or float8dq-row",
			text);
	else if (which == LINEAR_RECIPES)
		import_note(p, n, "%.40s is left out: there is no such recipe here", text);
	else if (p->is_training && !trains)
		import_note(p, n, "%.40s is left out: it is inference alone", text);
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
	p->takes[LINEAR_BASELINE] = true; /* which theirs always measures */
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

	p->is_training = mode && reader_word(p->y, mode, modes, "inference or training") == 1;
}

static void read_scaling(struct import *p, struct yaml_node *root)
{
	static const char *const types[] = { "dynamic", "disabled", NULL };
	static const char *const granularities[] = { "tensorwise", "rowwise", "axiswise", NULL };
	struct yaml_node *fast = yaml_get(p->y, root, "use_fast_accum"), *by = yaml_get(p->y, root, "scaling_granularity");
	bool is_fast = true;

	struct yaml_node *type[LINEAR_OPERANDS] = { yaml_get(p->y, root, "scaling_type_input"),
		yaml_get(p->y, root, "scaling_type_weight"), yaml_get(p->y, root, "scaling_type_grad_output") };

	for (int i = 0; i < LINEAR_OPERANDS; i++)
		if (type[i] && reader_word(p->y, type[i], types, "dynamic or disabled") == 1)
			p->plain |= 1 << i;
	if (p->plain & LINEAR_DY && !p->is_training) {
		import_note_key(p, root, "scaling_type_grad_output", "inference multiplies no gradient");
		p->plain &= ~LINEAR_DY;
	}
	int granularity = by ? reader_word(p->y, by, granularities, "tensorwise, rowwise or axiswise") : -1;

	p->granularity = granularity >= 0 ? granularities[granularity] : NULL;
	p->by_row = p->is_training && granularity > 0;
	if (granularity > 0 && !p->is_training)
		import_note(p, by, "scaling_granularity has no meaning here: in inference a recipe says it");
	read_flag(p, fast, &is_fast);
	p->is_exact = !is_fast;
	import_note_key(p, root, "repeat_n", "how often a cell is timed follows from how much it varies");
}

/* What belongs to products of fp8 where there are none. */
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
		import_note(p, yaml_get(p->y, root, "use_fast_accum"), "use_fast_accum has no meaning here: %s", why);
	if (p->by_row)
		import_note_key(p, root, "scaling_granularity", why);
}

void import_read_options(struct import *p, struct yaml_node *root)
{
	read_mode(p, root);
	read_scaling(p, root);
	read_recipes(p, root);
	read_sparsity(p, root);
	note_unused(p, root);
}
