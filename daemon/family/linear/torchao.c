/* torchao.c - see torchao.h. Keys and what follows from them are those of its runner of benchmarks. */
#include "family/linear/torchao.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "family/linear/linear.h"
#include "family/linear/torchao_shapes.h"

enum { NOTES_MAX = 64 << 10, NAME_SIZE = 64 };

struct import {
	struct yaml *y;
	struct buf notes; /* comment lines */
	bool is_training, is_exact, by_row;
	int32_t plain; /* operands whose scaling is disabled */
	bool takes[LINEAR_RECIPES];
	char name[NAME_SIZE]; /* "" not known yet */
	struct torchao_shapes shapes;
};

/* "# file:3:5: key: what" */
static void note(struct import *p, const struct yaml_node *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void note(struct import *p, const struct yaml_node *at, const char *format, ...)
{
	struct yaml_place place = yaml_place(at);
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' '; /* it stays inside its comment */
	buf_printf(&p->notes, "# line %d:%d: %s\n", place.line, place.column, text);
}

/* What a key of theirs is good for has another place here. */
static void note_key(struct import *p, struct yaml_node *map, const char *key, const char *why)
{
	struct yaml_node *n = yaml_get(p->y, map, key);
	const char *text = NULL;

	if (!n || yaml_is_null(n) || yaml_string(p->y, n, &text) || !text || !strcasecmp(text, "false"))
		return;
	note(p, n, "%s has no meaning here: %s", key, why);
}

static void take_name(struct import *p, const char *text)
{
	size_t n = 0;

	for (; *text && n + 1 < sizeof p->name; text++) {
		char c = (char)tolower((unsigned char)*text);
		bool is_fit = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';

		p->name[n++] = is_fit ? c : '-';
	}
	p->name[n] = '\0';
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
	if (!strcmp(text, "float8dq") || !strcmp(text, "float8dq-tensor"))
		return p->by_row ? LINEAR_FLOAT8DQ_ROW : LINEAR_FLOAT8DQ_TENSOR;
	for (int i = 0; linear_recipes[i]; i++)
		if (!strcmp(text, linear_recipes[i]))
			return i;
	for (int i = 0; theirs[i]; i++)
		if (!strncmp(text, theirs[i], strlen(theirs[i])))
			return LINEAR_RECIPES;
	return -1;
}

static void read_recipe(struct import *p, struct yaml_node *n)
{
	const char *text = NULL;

	if (yaml_string(p->y, n, &text) || !text)
		return;
	int which = find_recipe(p, text);
	bool trains = which == LINEAR_BASELINE || which == LINEAR_FLOAT8DQ_TENSOR || which == LINEAR_FLOAT8DQ_ROW;

	if (which < 0)
		yaml_mistake(p->y, n,
			"\"%.40s\" is unknown; use baseline, int8wo, int4wo-32, int4wo-64, int4wo-128, int4wo-256, float8wo, "
			"float8dq-tensor or float8dq-row",
			text);
	else if (which == LINEAR_RECIPES)
		note(p, n, "%.40s is left out: there is no such recipe here", text);
	else if (p->is_training && !trains)
		note(p, n, "%.40s is left out: it is inference alone", text);
	else
		p->takes[which] = true;
	if (strstr(text, "-hqq") && which >= 0 && which < LINEAR_RECIPES)
		note(p, n, "%.40s is %s here: its solver chooses other scales for the same kernel", text, linear_recipes[which]);
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
			note(p, n, "sparsity %.40s is left out: weights are dense here", text);
		else
			yaml_mistake(p->y, n, "\"%.40s\" is unknown; use semi-sparse or block", text);
	}
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
	p->by_row = by && reader_word(p->y, by, granularities, "tensorwise, rowwise or axiswise") > 0;
	read_flag(p, fast, &is_fast);
	p->is_exact = !is_fast;
	note_key(p, root, "repeat_n", "how often a cell is timed follows from how much it scatters");
}

/* ---- models -------------------------------------------------------------------------------------------------------------- */

/* Its place in linear_models; -1 it is left out, or a mistake. */
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
		if (i > 0 && p->is_training) {
			note(p, n, "%.40s is left out: it is inference alone", text);
			return -1;
		}
		return i;
	}
	yaml_mistake(p->y, n,
		"\"%.40s\" is unknown; use linear, transformer_block, or ln_linear_ with relu, sigmoid, leakyrelu, relu6, gelu, silu "
		"or hardswish",
		text);
	return -1;
}

static void read_model(struct import *p, struct yaml_node *map, bool is_first)
{
	static const char *const dtypes[] = { "torch.bfloat16", "bfloat16", NULL };
	struct yaml *y = p->y;

	if (!yaml_is_map(map)) {
		yaml_mistake(y, map, "must be {name: ..., matrix_shapes: [...], ...}");
		return;
	}
	struct yaml_node *name = yaml_get(y, map, "name"), *sets = yaml_get(y, map, "matrix_shapes"),
			 *dtype = yaml_get(y, map, "high_precision_dtype"), *type = yaml_get(y, map, "model_type");
	const char *text = NULL;
	struct import ignored = { .y = y };

	if (name && yaml_string(y, name, &text) == 0 && text && !p->name[0])
		take_name(p, text);
	if (dtype)
		reader_word(y, dtype, dtypes, "torch.bfloat16, which is all that is measured here");
	buf_init(&ignored.notes, NOTES_MAX);
	struct import *teller = is_first ? p : &ignored; /* once is enough */

	note_key(teller, map, "torch_compile_mode", "kernels are compiled by the build of their repository");
	note_key(teller, map, "use_torch_compile", "kernels are compiled by the build of their repository");
	note_key(teller, map, "device", "a worker measures on the devices that it has");
	note_key(teller, map, "enable_profiler", "flopwatch profile looks at cells when somebody wants to know");
	note_key(teller, map, "enable_memory_profiler", "memory stands beside the times of every comparison");
	buf_fini(&ignored.notes);
	int model = read_model_type(p, type);

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
	if (yaml_is_map(list)) /* as the first version had it */
		read_model(p, list, true);
	else if (list && (!yaml_is_list(list) || yaml_count(list) < 1))
		yaml_mistake(p->y, list, "must be a list of {name: ..., matrix_shapes: [...]}");
	for (int i = 0; i < yaml_count(list) && yaml_is_list(list); i++)
		read_model(p, yaml_item(p->y, list, i), i == 0);
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
	buf_printf(out, "suite: %s\nfamily: linear\nshapes:\n", p->name[0] ? p->name : "torchao");
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
	read_mode(&p, root);
	read_scaling(&p, root);
	read_recipes(&p, root);
	read_sparsity(&p, root);
	note_key(&p, root, "output_dir", "the daemon keeps results; flopwatch export writes files");
	torchao_shapes_init(&p.shapes, y, p.is_training, p.is_exact, p.plain);
	read_models(&p, root);
	yaml_finish(y, root);
	if (yaml_mistakes(y) == 0 && p.shapes.n == 0)
		yaml_mistake(y, root, "nothing of it can be measured here");
	if (p.notes.failed || p.shapes.notes.failed || p.shapes.sets.failed)
		yaml_mistake(y, root, "is too large for a suite");
	if (yaml_mistakes(y) == 0)
		write_suite(&p, out);
	torchao_shapes_fini(&p.shapes);
	buf_fini(&p.notes);
}
