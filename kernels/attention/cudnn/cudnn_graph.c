/*
 * cudnn_graph.c - the graphs of provider "cudnn". Every tensor is (1, head, row, column); the operands of Q K^T and dO V^T are
 * K and V with rows and columns exchanged.
 */
#include "attention/cudnn/cudnn_graph.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { CONFIGS_MAX = CUDNN_TRIED_MAX / 2 /* of either heuristic */, OPERATIONS_MAX = 24 };

static bool ok(struct cudnn_graph *g, int status, const char *what)
{
	char text[160] = "";
	if (status == 0)
		return true;
	if (!g->error[0]) {
		g->api->last_error(text, sizeof text);
		snprintf(g->error, sizeof g->error, "cuDNN, %s: status %d %s", what, status, text);
	}
	return false;
}

cudnn_descriptor cudnn_graph_new(struct cudnn_graph *g, int kind)
{
	cudnn_descriptor d = NULL;
	if (g->error[0])
		return NULL;
	if (g->n_owned == CUDNN_DESCRIPTORS_MAX) {
		snprintf(g->error, sizeof g->error, "more than %d descriptors", CUDNN_DESCRIPTORS_MAX);
		return NULL;
	}
	if (!ok(g, g->api->make(kind, &d), "making a descriptor"))
		return NULL;
	g->owned[g->n_owned++] = d;
	return d;
}

void cudnn_graph_set(struct cudnn_graph *g, cudnn_descriptor d, int attribute, int type, int64_t count, const void *values)
{
	char what[48];
	snprintf(what, sizeof what, "attribute %d", attribute);
	if (!g->error[0])
		ok(g, g->api->set(d, attribute, type, count, values), what);
}

void cudnn_graph_finish(struct cudnn_graph *g, cudnn_descriptor d, const char *what)
{
	if (!g->error[0])
		ok(g, g->api->finalize(d), what);
}

static void set_descriptor(struct cudnn_graph *g, cudnn_descriptor d, int attribute, cudnn_descriptor value)
{
	cudnn_graph_set(g, d, attribute, CUDNN_TYPE_DESCRIPTOR, 1, &value);
}

static void set_int(struct cudnn_graph *g, cudnn_descriptor d, int attribute, int type, int value)
{
	cudnn_graph_set(g, d, attribute, type, 1, &value);
}

/* ---- tensors ---- */

enum where { MEMORY, VIRTUAL, BY_VALUE };

/* State of a graph under construction: sizes, tensors so far, operations so far. */
struct builder {
	struct cudnn_graph *g;
	int64_t nhq, nhk, q, k, d;
	int64_t next_name; /* UID of the next virtual tensor */
	cudnn_descriptor operation[OPERATIONS_MAX];
	int n_operations;
};

static cudnn_descriptor tensor(
	struct builder *b, int64_t name, int type, const int64_t dimensions[4], const int64_t strides[4], enum where where)
{
	cudnn_descriptor t = cudnn_graph_new(b->g, CUDNN_TENSOR);
	const int64_t alignment = where == BY_VALUE ? 4 : 16;
	const bool is_virtual = where == VIRTUAL, by_value = where == BY_VALUE;
	set_int(b->g, t, CUDNN_TENSOR_TYPE, CUDNN_TYPE_DATA_TYPE, type);
	cudnn_graph_set(b->g, t, CUDNN_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dimensions);
	cudnn_graph_set(b->g, t, CUDNN_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides);
	cudnn_graph_set(b->g, t, CUDNN_TENSOR_ID, CUDNN_TYPE_INT64, 1, &name);
	cudnn_graph_set(b->g, t, CUDNN_TENSOR_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
	cudnn_graph_set(b->g, t, CUDNN_TENSOR_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
	cudnn_graph_set(b->g, t, CUDNN_TENSOR_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &by_value);
	cudnn_graph_finish(b->g, t, "a tensor");
	return t;
}

/* A bf16 tensor of the caller, (token, head, element) in memory. */
static cudnn_descriptor rows_of(struct builder *b, int slot, int64_t heads, int64_t tokens)
{
	const int64_t dimensions[4] = { 1, heads, tokens, b->d }, strides[4] = { tokens * heads * b->d, b->d, heads * b->d, 1 };
	return tensor(b, slot, CUDNN_BF16, dimensions, strides, MEMORY);
}

/* The same with rows and columns exchanged. */
static cudnn_descriptor columns_of(struct builder *b, int slot, int64_t heads, int64_t tokens)
{
	const int64_t dimensions[4] = { 1, heads, b->d, tokens }, strides[4] = { tokens * heads * b->d, b->d, 1, heads * b->d };
	return tensor(b, slot, CUDNN_BF16, dimensions, strides, MEMORY);
}

/* fp32, one value per query and head. */
static cudnn_descriptor row_values(struct builder *b, int64_t name, enum where where)
{
	const int64_t dimensions[4] = { 1, b->nhq, b->q, 1 }, strides[4] = { b->nhq * b->q, b->q, 1, 1 };
	return tensor(b, name, CUDNN_FLOAT, dimensions, strides, where);
}

static cudnn_descriptor number(struct builder *b, int64_t name)
{
	const int64_t ones[4] = { 1, 1, 1, 1 };
	return tensor(b, name, CUDNN_FLOAT, ones, ones, BY_VALUE);
}

/* A virtual tensor, packed: (head, rows, columns). */
static cudnn_descriptor inner(struct builder *b, int type, int64_t heads, int64_t rows, int64_t columns)
{
	const int64_t dimensions[4] = { 1, heads, rows, columns },
		      strides[4] = { heads * rows * columns, rows * columns, columns, 1 };
	return tensor(b, b->next_name++, type, dimensions, strides, VIRTUAL);
}

/* ---- operations ---- */

static void add_operation(struct builder *b, cudnn_descriptor operation, const char *what)
{
	cudnn_graph_finish(b->g, operation, what);
	b->operation[b->n_operations++] = operation;
}

/* y = mode(x, right); right NULL: unary. */
static cudnn_descriptor pointwise(struct builder *b, int mode, cudnn_descriptor x, cudnn_descriptor right, cudnn_descriptor y)
{
	cudnn_descriptor by = cudnn_graph_new(b->g, CUDNN_POINTWISE_MODE), operation;
	set_int(b->g, by, CUDNN_MODE_POINTWISE, CUDNN_TYPE_POINTWISE, mode);
	set_int(b->g, by, CUDNN_MODE_PRECISION, CUDNN_TYPE_DATA_TYPE, CUDNN_FLOAT);
	cudnn_graph_finish(b->g, by, "an elementwise mode");
	operation = cudnn_graph_new(b->g, CUDNN_POINTWISE);
	set_descriptor(b->g, operation, CUDNN_POINTWISE_BY, by);
	set_descriptor(b->g, operation, CUDNN_POINTWISE_X, x);
	if (right)
		set_descriptor(b->g, operation, CUDNN_POINTWISE_B, right);
	set_descriptor(b->g, operation, CUDNN_POINTWISE_Y, y);
	add_operation(b, operation, "an elementwise step");
	return y;
}

static cudnn_descriptor matmul(struct builder *b, cudnn_descriptor left, cudnn_descriptor right, cudnn_descriptor y)
{
	cudnn_descriptor by = cudnn_graph_new(b->g, CUDNN_MATMUL_MODE), operation;
	set_int(b->g, by, CUDNN_MODE_MATMUL_PRECISION, CUDNN_TYPE_DATA_TYPE, CUDNN_FLOAT);
	cudnn_graph_finish(b->g, by, "a product's mode");
	operation = cudnn_graph_new(b->g, CUDNN_MATMUL);
	set_descriptor(b->g, operation, CUDNN_MATMUL_BY, by);
	set_descriptor(b->g, operation, CUDNN_MATMUL_A, left);
	set_descriptor(b->g, operation, CUDNN_MATMUL_B, right);
	set_descriptor(b->g, operation, CUDNN_MATMUL_C, y);
	add_operation(b, operation, "a product");
	return y;
}

static cudnn_descriptor sum(struct builder *b, cudnn_descriptor x, cudnn_descriptor y)
{
	cudnn_descriptor by = cudnn_graph_new(b->g, CUDNN_REDUCTION_MODE), operation;
	set_int(b->g, by, CUDNN_MODE_REDUCTION, CUDNN_TYPE_REDUCTION, CUDNN_ADD);
	set_int(b->g, by, CUDNN_MODE_REDUCTION_PRECISION, CUDNN_TYPE_DATA_TYPE, CUDNN_FLOAT);
	cudnn_graph_finish(b->g, by, "a sum's mode");
	operation = cudnn_graph_new(b->g, CUDNN_REDUCTION);
	set_descriptor(b->g, operation, CUDNN_REDUCTION_BY, by);
	set_descriptor(b->g, operation, CUDNN_REDUCTION_X, x);
	set_descriptor(b->g, operation, CUDNN_REDUCTION_Y, y);
	add_operation(b, operation, "a sum");
	return y;
}

static cudnn_descriptor reshape(struct builder *b, cudnn_descriptor x, cudnn_descriptor y)
{
	cudnn_descriptor operation = cudnn_graph_new(b->g, CUDNN_RESHAPE);
	set_descriptor(b->g, operation, CUDNN_RESHAPE_X, x);
	set_descriptor(b->g, operation, CUDNN_RESHAPE_Y, y);
	add_operation(b, operation, "a reshape");
	return y;
}

static void build_forward(struct builder *b)
{
	cudnn_descriptor node;
	const cudnn_descriptor tensors[] = { rows_of(b, FW_Q, b->nhq, b->q), rows_of(b, FW_K, b->nhk, b->k),
		rows_of(b, FW_V, b->nhk, b->k), rows_of(b, FW_O, b->nhq, b->q), row_values(b, FW_LSE, MEMORY),
		number(b, CUDNN_SCALE) };
	const int attributes[] = { CUDNN_FORWARD_Q, CUDNN_FORWARD_K, CUDNN_FORWARD_V, CUDNN_FORWARD_O, CUDNN_FORWARD_STATS,
		CUDNN_FORWARD_SCALE };
	node = cudnn_graph_new(b->g, CUDNN_ATTENTION_FORWARD);
	for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
		set_descriptor(b->g, node, attributes[i], tensors[i]);
	add_operation(b, node, "attention");
}

/* P or dS of (query, key) as (key, query), in bf16. */
static cudnn_descriptor transposed(struct builder *b, cudnn_descriptor x)
{
	const int64_t dimensions[4] = { 1, b->nhq, b->k, b->q }, strides[4] = { b->nhq * b->q * b->k, b->q * b->k, 1, b->k };
	return reshape(b, x, tensor(b, b->next_name++, CUDNN_BF16, dimensions, strides, VIRTUAL));
}

/* dK or dV: a product for every query head, summed over the heads of a group. */
static void gradient_of_keys(struct builder *b, cudnn_descriptor left, cudnn_descriptor right, int slot)
{
	cudnn_descriptor out = rows_of(b, slot, b->nhk, b->k);
	if (b->nhq == b->nhk)
		matmul(b, left, right, out);
	else
		sum(b, matmul(b, left, right, inner(b, CUDNN_BF16, b->nhq, b->k, b->d)), out);
}

static void build_backward(struct builder *b)
{
	const int64_t hq = b->nhq;
	cudnn_descriptor q = rows_of(b, FW_Q, hq, b->q), grad_o = rows_of(b, FW_DO, hq, b->q), o = rows_of(b, FW_O, hq, b->q),
			 k = columns_of(b, FW_K, b->nhk, b->k), v = columns_of(b, FW_V, b->nhk, b->k),
			 lse = row_values(b, FW_LSE, MEMORY), scale = number(b, CUDNN_SCALE);
	cudnn_descriptor t, p, ds, row_sums;

	t = pointwise(b, CUDNN_MULTIPLY, grad_o, o, inner(b, CUDNN_FLOAT, hq, b->q, b->d));
	t = sum(b, t, row_values(b, b->next_name++, VIRTUAL));
	row_sums = pointwise(b, CUDNN_MULTIPLY, t, number(b, CUDNN_ONE), row_values(b, CUDNN_ROW_SUMS, MEMORY));

	t = matmul(b, q, k, inner(b, CUDNN_FLOAT, hq, b->q, b->k));
	t = pointwise(b, CUDNN_MULTIPLY, t, scale, inner(b, CUDNN_FLOAT, hq, b->q, b->k));
	t = pointwise(b, CUDNN_SUBTRACT, t, lse, inner(b, CUDNN_FLOAT, hq, b->q, b->k));
	p = pointwise(b, CUDNN_EXP, t, NULL, inner(b, CUDNN_FLOAT, hq, b->q, b->k));
	gradient_of_keys(b, transposed(b, p), grad_o, FW_DV);

	t = matmul(b, grad_o, v, inner(b, CUDNN_FLOAT, hq, b->q, b->k));
	t = pointwise(b, CUDNN_SUBTRACT, t, row_sums, inner(b, CUDNN_FLOAT, hq, b->q, b->k));
	t = pointwise(b, CUDNN_MULTIPLY, t, p, inner(b, CUDNN_FLOAT, hq, b->q, b->k));
	ds = pointwise(b, CUDNN_MULTIPLY, t, scale, inner(b, CUDNN_FLOAT, hq, b->q, b->k));
	gradient_of_keys(b, transposed(b, ds), q, FW_DK);

	const int64_t key_dimensions[4] = { 1, b->nhk, b->k, b->d },
		      key_strides[4] = { b->k * b->nhk * b->d, b->d, b->nhk * b->d, 1 };
	t = reshape(b, k, tensor(b, b->next_name++, CUDNN_BF16, key_dimensions, key_strides, VIRTUAL));
	const int64_t sum_dimensions[4] = { 1, hq, b->q, b->d }, sum_strides[4] = { hq * b->q * b->d, b->q * b->d, b->d, 1 };
	t = matmul(b, ds, t, tensor(b, CUDNN_GRAD_Q_SUM, CUDNN_FLOAT, sum_dimensions, sum_strides, MEMORY));
	pointwise(b, CUDNN_IDENTITY, t, NULL, rows_of(b, FW_DQ, hq, b->q));
}

/* ---- the plan ---- */

/* Compile one of the engines that a heuristic proposes. Returns whether there is a plan; cuDNN's reasons are in g->error. */
static bool compile(struct cudnn_graph *g, cudnn_descriptor operations, int mode, int64_t wanted)
{
	cudnn_descriptor heuristic = cudnn_graph_new(g, CUDNN_ENGINE_HEURISTIC), configs[CONFIGS_MAX] = { 0 };
	int64_t n = 0, one = 0;
	set_descriptor(g, heuristic, CUDNN_HEURISTIC_GRAPH, operations);
	set_int(g, heuristic, CUDNN_HEURISTIC_MODE, CUDNN_TYPE_HEUR_MODE, mode);
	cudnn_graph_finish(g, heuristic, "choosing an engine");
	for (int i = 0; i < CONFIGS_MAX; i++)
		configs[i] = cudnn_graph_new(g, CUDNN_ENGINE_CONFIG);
	if (g->error[0] ||
		!ok(g, g->api->get(heuristic, CUDNN_HEURISTIC_RESULTS, CUDNN_TYPE_DESCRIPTOR, CONFIGS_MAX, &n, configs),
			"listing engines"))
		return false;
	for (int64_t i = 0; i < n; i++) {
		cudnn_descriptor engine = cudnn_graph_new(g, CUDNN_ENGINE), plan = cudnn_graph_new(g, CUDNN_EXECUTION_PLAN);
		int64_t index = -1;
		if (g->error[0])
			return false;
		if (g->api->get(configs[i], CUDNN_CONFIG_ENGINE, CUDNN_TYPE_DESCRIPTOR, 1, &one, &engine) == 0)
			g->api->get(engine, CUDNN_ENGINE_INDEX, CUDNN_TYPE_INT64, 1, &one, &index);
		if (wanted >= 0 && index != wanted)
			continue;
		if (index >= 0 && g->n_tried < CUDNN_TRIED_MAX)
			g->tried[g->n_tried++] = index;
		if (g->handle)
			cudnn_graph_set(g, plan, CUDNN_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &g->handle);
		set_descriptor(g, plan, CUDNN_PLAN_CONFIG, configs[i]);
		cudnn_graph_finish(g, plan, "compiling");
		if (!g->error[0] && ok(g, g->api->get(plan, CUDNN_PLAN_WORKSPACE, CUDNN_TYPE_INT64, 1, &one, &g->workspace_bytes),
					    "asking for the workspace")) {
			g->plan = plan;
			g->engine = index;
			return true;
		}
		if (i + 1 < n)
			g->error[0] = '\0'; /* the next engine may succeed; if not, the last reason is reported */
	}
	if (!g->error[0])
		snprintf(g->error, sizeof g->error, "cuDNN has no engine for this problem");
	return false;
}

int cudnn_graph_make(
	struct cudnn_graph *g, const struct cudnn_api *api, const struct fw_attention *a, int backward, int64_t engine)
{
	memset(g, 0, sizeof *g);
	g->api = api;
	struct builder b = {
		.g = g, .nhq = a->nhq, .nhk = a->nhk, .q = a->total_q, .k = a->total_k, .d = a->headdim, .next_name = CUDNN_NAMES
	};
	if (!ok(g, api->create(&g->handle), "making a handle"))
		return FW_FAILED;
	if (backward)
		build_backward(&b);
	else
		build_forward(&b);
	cudnn_descriptor operations = cudnn_graph_new(g, CUDNN_OPERATION_GRAPH);
	cudnn_graph_set(g, operations, CUDNN_GRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &g->handle);
	cudnn_graph_set(g, operations, CUDNN_GRAPH_OPERATIONS, CUDNN_TYPE_DESCRIPTOR, b.n_operations, b.operation);
	cudnn_graph_finish(g, operations, "the graph");
	if (g->error[0])
		return FW_FAILED;
	if (compile(g, operations, CUDNN_HEURISTIC_A, engine))
		return FW_OK;
	char reason[sizeof g->error]; /* this reason is more useful: the fallback rarely supports attention */
	memcpy(reason, g->error, sizeof reason);
	g->error[0] = '\0';
	if (compile(g, operations, CUDNN_HEURISTIC_FALLBACK, engine))
		return FW_OK;
	memcpy(g->error, reason, sizeof reason);
	return FW_UNSUPPORTED;
}

void cudnn_graph_free(struct cudnn_graph *g)
{
	for (int i = g->n_owned - 1; i >= 0; i--)
		g->api->drop(g->owned[i]);
	g->n_owned = 0;
	if (g->handle)
		g->api->destroy(g->handle);
	g->handle = NULL;
}
