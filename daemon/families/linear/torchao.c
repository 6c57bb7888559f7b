/* torchao.c - see torchao.c. Keys and what follows from them are those of its runner of benchmarks. */
#include "families/linear/internal.h"

#include <ctype.h>
#include <stdio.h>

#include "model/model.h"

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
			import_note(p, n, "%.40s is left out: it is inference alone", text);
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

static void read_model(struct import *p, struct yaml_node *map)
{
	static const char *const dtypes[] = { "torch.bfloat16", "bfloat16", "torch.float32", "float32", "torch.float16",
		"float16", "torch.float64", "float64", NULL };
	struct yaml *y = p->y;

	if (!yaml_is_map(map)) {
		yaml_mistake(y, map, "must be {name: ..., matrix_shapes: [...], ...}");
		return;
	}
	struct yaml_node *name = yaml_get(y, map, "name"), *sets = yaml_get(y, map, "matrix_shapes"),
			 *dtype = yaml_get(y, map, "high_precision_dtype"), *type = yaml_get(y, map, "model_type");
	const char *text = NULL;

	if (name && yaml_string(y, name, &text) == 0 && text && !p->name[0])
		take_name(p, text);
	int precision = dtype ? reader_word(y, dtype, dtypes, "torch.bfloat16, which is all that is measured here") : 0;

	if (precision > 1)
		import_note(p, dtype, "left out with its model: %s is not measured here", dtypes[precision]);

	import_note_key(p, map, "torch_compile_mode", "kernels are compiled by the build of their repository");
	import_note_key(p, map, "use_torch_compile", "kernels are compiled by the build of their repository");
	import_note_key(p, map, "compile", "kernels are compiled by the build of their repository");
	import_note_key(p, map, "sparsity", "weights are dense here");
	import_note_key(p, map, "device", "a worker measures on the devices that it has");
	import_note_key(p, map, "enable_profiler", "flopwatch profile looks at cells when somebody wants to know");
	import_note_key(p, map, "enable_memory_profiler", "memory stands beside the times of every comparison");
	int model = read_model_type(p, type);

	if (precision > 1)
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
	if (yaml_is_map(list)) /* as the first version had it */
		read_model(p, list);
	else if (list && (!yaml_is_list(list) || yaml_count(list) < 1))
		yaml_mistake(p->y, list, "must be a list of {name: ..., matrix_shapes: [...]}");
	for (int i = 0; i < yaml_count(list) && yaml_is_list(list); i++)
		read_model(p, yaml_item(p->y, list, i));
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
	import_note_key(&p, root, "output_dir", "the daemon keeps results; flopwatch export writes files");
	torchao_shapes_init(&p.shapes, y, p.is_training, p.is_exact, p.plain);
	read_models(&p, root);
	yaml_finish(y, root);
	if (p.shapes.n_sets > LINEAR_SETS_MAX)
		yaml_mistake(y, yaml_get(y, root, "model_params"), "make %d sets of shapes; a suite has at most %d",
			p.shapes.n_sets, LINEAR_SETS_MAX);
	if (yaml_mistakes(y) == 0 && p.shapes.n == 0)
		yaml_mistake(y, root, "nothing of it can be measured here");
	if (p.notes.failed || p.shapes.notes.failed || p.shapes.sets.failed)
		yaml_mistake(y, root, "is too large for a suite");
	if (yaml_mistakes(y) == 0)
		write_suite(&p, out);
	torchao_shapes_fini(&p.shapes);
	buf_fini(&p.notes);
}
