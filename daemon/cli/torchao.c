/* torchao.c - documented in internal.h. */
#include "cli/internal.h"

#include <math.h>
#include <unistd.h>

/* Directions of a layer in training; forward alone is inference. Total is all of them in one call. */
enum { FORWARD, DGRAD, WGRAD, TOTAL, N_DIRECTIONS };
static const char *const directions[N_DIRECTIONS] = { "forward", "dgrad", "wgrad", "total" };

/* The current row: one case on one side. */
struct row {
	const json_t *comparison, *shape;
	const char *side, *artefacts; /* artefacts: a folder, NULL none */
	struct buf *out;
};

/* torchao prints 0 for times that were not measured. */
static void put_number(struct buf *out, double value)
{
	buf_printf(out, ",%.9g", isfinite(value) ? value : 0.0);
}

static bool is_same_case(const json_t *a, const json_t *b)
{
	return json_equal(a, b);
}

/* The case's cell in a direction; NULL none. */
static const json_t *find_cell(const json_t *comparison, const json_t *shape, const char *direction)
{
	size_t i;
	json_t *cell;

	json_array_foreach(
		json_object_get(comparison, "cells"), i, cell) if (is_same_case(json_object_get(cell, "shape"), shape) &&
								   !strcmp(value_text(cell, "direction"), direction)) return cell;
	return NULL;
}

static bool is_trained(const json_t *comparison, const json_t *shape)
{
	for (int d = DGRAD; d < N_DIRECTIONS; d++)
		if (find_cell(comparison, shape, directions[d]))
			return true;
	return false;
}

static double time_of(const struct row *r, const json_t *cell)
{
	return value_number(json_object_get(cell, r->side), "median_ms");
}

static bool is_baseline(const struct row *r)
{
	return strcmp(value_text(r->shape, "recipe"), "baseline") == 0;
}

/* Speedup over the baseline in the same runs; NAN not known. */
static double speedup(const struct row *r, const json_t *cell)
{
	if (is_baseline(r))
		return isfinite(time_of(r, cell)) ? 1 : NAN;
	return value_number(json_object_get(cell, "over_baseline"), r->side);
}

/* Time of the case's baseline, from the runs that timed both. */
static double reference(const struct row *r, const json_t *cell)
{
	return time_of(r, cell) * speedup(r, cell);
}

/* A direction that the suite contains, or that is needed for a total. */
static bool is_wanted(const struct row *r, int d)
{
	const json_t *total = find_cell(r->comparison, r->shape, directions[TOTAL]);

	return find_cell(r->comparison, r->shape, directions[d]) || (d != TOTAL && !total);
}

/* Reasons of directions without a time: "dgrad: unsupported: ..." in training. */
static void put_failure(const struct row *r, bool is_training)
{
	char reasons[600] = "";
	size_t used = 0;

	for (int d = 0; d < (is_training ? N_DIRECTIONS : DGRAD) && used < sizeof reasons; d++) {
		const json_t *cell = find_cell(r->comparison, r->shape, directions[d]);
		const char *failure = value_text(cell, "failure"), *reason = value_text(cell, "reason");

		if (!is_wanted(r, d) || (cell && isfinite(time_of(r, cell)) && !*failure))
			continue;
		used += (size_t)snprintf(reasons + used, sizeof reasons - used, "%s%s%s%s%s%s", used ? "; " : "",
			is_training ? directions[d] : "", is_training ? ": " : "",
			!cell      ? "is not in the suite"
			: *failure ? failure
				   : value_text(cell, "verdict"),
			*reason ? ": " : "", reason);
	}
	buf_puts(r->out, ",");
	csv_text(r->out, reasons);
	buf_puts(r->out, "\n");
}

/* The timeline of the case's forward cell. False: there is none. Shape: path[size]. */
static bool trace_path(const struct row *r, char *path, size_t size)
{
	const json_t *cell = find_cell(r->comparison, r->shape, directions[FORWARD]);

	return r->artefacts && cell && artefacts_trace_path(r->artefacts, r->side, value_text(cell, "cell"), path, size) &&
	       access(path, R_OK) == 0;
}

/* The file with the memory of the case's forward cell, or its picture. False: there is none. Shape: path[size]. */
static bool memory_path(const struct row *r, const char *suffix, char *path, size_t size)
{
	const json_t *cell = find_cell(r->comparison, r->shape, directions[FORWARD]);

	return r->artefacts && cell &&
	       artefacts_memory_path(r->artefacts, r->side, value_text(cell, "cell"), suffix, path, size) &&
	       access(path, R_OK) == 0;
}

static void put_config(const struct row *r)
{
	char path[4096];
	const json_t *environment = json_object_get(r->comparison, "environment");
	struct buf *out = r->out;

	csv_text(out, value_text(r->comparison, "suite"));
	buf_puts(out, ",");
	csv_text(out, value_text(r->shape, "recipe"));
	buf_printf(out, ",None,%lld,%lld,%lld,torch.bfloat16,None,", value_integer(r->shape, "m"), value_integer(r->shape, "k"),
		value_integer(r->shape, "n"));
	csv_text(out, value_text(environment, "kind"));
	buf_puts(out, ",");
	csv_text(out, value_text(r->shape, "model"));
	buf_printf(out, ",,%s", trace_path(r, path, sizeof path) ? "True" : "False");
	buf_printf(out, ",%s", memory_path(r, "json", path, sizeof path) ? "True" : "False");
}

static void put_inference(const struct row *r)
{
	const json_t *cell = find_cell(r->comparison, r->shape, directions[FORWARD]);
	char path[4096];

	put_config(r);
	buf_puts(r->out, ",0,0"); /* eager */
	put_number(r->out, reference(r, cell));
	put_number(r->out, time_of(r, cell));
	buf_puts(r->out, ",0");
	put_number(r->out, speedup(r, cell));
	buf_puts(r->out, ",0,");
	if (trace_path(r, path, sizeof path))
		csv_text(r->out, path);
	buf_puts(r->out, ",");
	if (memory_path(r, "json", path, sizeof path))
		csv_text(r->out, path);
	buf_puts(r->out, ",");
	if (memory_path(r, "svg", path, sizeof path))
		csv_text(r->out, path);
	buf_puts(r->out, ",");
	put_failure(r, false);
}

static void put_training(const struct row *r)
{
	const char *recipe = value_text(r->shape, "recipe");
	bool is_fp8 = strncmp(recipe, "float8dq", 8) == 0, by_row = strcmp(recipe, "float8dq-row") == 0,
	     by_block = strcmp(recipe, "float8dq-block") == 0;
	double own[N_DIRECTIONS], other[N_DIRECTIONS],
		flops = 2.0 * (double)value_integer(r->shape, "m") * (double)value_integer(r->shape, "k") *
			(double)value_integer(r->shape, "n");

	for (int d = 0; d < N_DIRECTIONS; d++) {
		const json_t *cell = find_cell(r->comparison, r->shape, directions[d]);

		own[d] = time_of(r, cell);
		other[d] = reference(r, cell);
	}
	put_config(r);
	for (int operand = 0; operand < 3; operand++) /* input, weight, gradient of the output */
		buf_printf(
			r->out, ",%s", is_fp8 && !(value_integer(r->shape, "unscaled") >> operand & 1) ? "dynamic" : "disabled");
	buf_printf(r->out, ",%s,%s,0",
		by_row     ? "axiswise"
		: by_block ? "blockwise"
			   : "tensorwise",
		json_is_true(json_object_get(r->shape, "fast_accumulation")) ? "True" : "False");
	put_number(r->out, own[FORWARD]);
	put_number(r->out, own[DGRAD] + own[WGRAD]);
	put_number(r->out, own[TOTAL]);
	put_number(r->out, other[FORWARD]);
	put_number(r->out, other[DGRAD] + other[WGRAD]);
	put_number(r->out, other[TOTAL]);
	put_number(r->out, other[TOTAL] / own[TOTAL]);
	buf_puts(r->out, ",");
	csv_text(r->out, recipe);
	put_number(r->out, 3 * flops / other[TOTAL] * 1e3);
	buf_puts(r->out, ",0");
	put_number(r->out, 3 * flops / own[TOTAL] * 1e3);
	buf_puts(r->out, ",0");
	put_failure(r, true);
}

static void put_head(struct buf *out, bool is_training)
{
	buf_puts(out, "name,quantization,sparsity,m,k,n,high_precision_dtype,torch_compile_mode,device,model_type,output_dir,"
		      "enable_profiler,enable_memory_profiler,");
	buf_puts(out,
		is_training
			? "scaling_type_input,scaling_type_weight,scaling_type_grad_output,scaling_granularity,use_fast_accum,repeat_n,"
			  "forward_time_ms,backward_time_ms,total_time_ms,reference_forward_time_ms,reference_backward_time_ms,"
			  "reference_total_time_ms,speedup,scaling_repr,ref_tops_sec,ref_pct_top_peak,tops_sec,pct_top_peak,failure\n"
			: "baseline_model_eager_inference_time_in_ms,quantized_model_eager_inference_time_in_ms,"
			  "baseline_model_compiled_inference_time_in_ms,quantized_model_compiled_inference_time_in_ms,"
			  "eager speedup on baseline,compile speedup on baseline,eager vs compile speedup,profiler_json_path,"
			  "memory_profile_path,memory_visualization_path,memory_stats,failure\n");
}

/* One row per case, at its first cell. */
static bool is_first(const json_t *cells, size_t at, const json_t *shape)
{
	for (size_t i = 0; i < at; i++)
		if (is_same_case(json_object_get(json_array_get(cells, i), "shape"), shape))
			return false;
	return true;
}

int torchao_write(const json_t *comparison, const char *side, bool is_training, const char *artefacts, struct buf *out)
{
	const json_t *cells = json_object_get(comparison, "cells");
	int rows = 0;

	for (size_t i = 0; i < json_array_size(cells); i++) {
		const json_t *shape = json_object_get(json_array_get(cells, i), "shape");
		struct row row = { .comparison = comparison, .shape = shape, .side = side, .artefacts = artefacts, .out = out };

		if (!json_object_get(shape, "recipe") || !is_first(cells, i, shape) ||
			is_trained(comparison, shape) != is_training)
			continue;
		if (rows++ == 0)
			put_head(out, is_training);
		(is_training ? put_training : put_inference)(&row);
	}
	return rows;
}
