/**
 * cudnn_graph.h - attention as a graph that cuDNN understands, and the plan that cuDNN compiles from it.
 *
 * Forward is one node. Backward has none in release 9.19, so it is spelled out in matrix products and elementwise steps in the order
 * that cuDNN knows as attention; it recognises the pattern and runs it as one kernel with its helpers.
 */
#ifndef ATTENTION_CUDNN_GRAPH_H
#define ATTENTION_CUDNN_GRAPH_H

#include "attention/cudnn/cudnn_api.h"

#include "fw_attention.h"

enum { CUDNN_DESCRIPTORS_MAX = 128, CUDNN_TRIED_MAX = 16 };

/** Names of tensors that have an address: those of the kernel ABI by slot, and these. */
enum cudnn_name {
	CUDNN_SCALE = FW_ATTENTION_SLOTS, /* by value, fp32 */
	CUDNN_ONE,                        /* by value, fp32 */
	CUDNN_ROW_SUMS,                   /* scratch, fp32 [nhq][q]: rowsum(dO * O) */
	CUDNN_GRAD_Q_SUM,                 /* scratch, fp32 [nhq][q][d] */
	CUDNN_NAMES
};

/** A graph while it is built, and its plan. Own: everything in it, until cudnn_graph_free. */
struct cudnn_graph {
	const struct cudnn_api *api;
	cudnn_handle handle;
	cudnn_descriptor owned[CUDNN_DESCRIPTORS_MAX]; /* in the order of making */
	int n_owned;
	cudnn_descriptor plan;
	int64_t workspace_bytes; /* of cuDNN alone */
	int64_t engine;          /* the number of the engine that cuDNN chose */
	int n_tried;
	int64_t tried[CUDNN_TRIED_MAX]; /* engines that were compiled in turn until one took it, that one last */
	char error[256];                /* the first failure, "" if none */
};

/**
 * Build the graph of a problem and compile it. `engine`: -1 to choose, else only that one. Strides are part of a plan, and are
 * those of row-major tensors; LSE has nhq rows of total_q. Err: FW_UNSUPPORTED with graph->error when no engine takes it, FW_FAILED.
 */
int cudnn_graph_make(
	struct cudnn_graph *graph, const struct cudnn_api *api, const struct fw_attention *a, int backward, int64_t engine);

/** Frees what was made, also after a failure. */
void cudnn_graph_free(struct cudnn_graph *graph);

/** Make, remember and return a descriptor; NULL after a failure. */
cudnn_descriptor cudnn_graph_new(struct cudnn_graph *graph, int kind);

/** Set an attribute; does nothing after a failure. */
void cudnn_graph_set(struct cudnn_graph *graph, cudnn_descriptor d, int attribute, int type, int64_t count, const void *values);

/** Finish a descriptor; does nothing after a failure. `what`: its name for people. */
void cudnn_graph_finish(struct cudnn_graph *graph, cudnn_descriptor d, const char *what);

#endif
