/**
 * cudnn_graph.h - attention as a cuDNN graph, and the plan that cuDNN compiles from it.
 * Forward is one node. Backward has none in release 9.19, so it is written as matrix products and elementwise steps in the order
 * of cuDNN's attention pattern; cuDNN recognises the pattern and runs it as one kernel with helper kernels.
 */
#ifndef ATTENTION_CUDNN_GRAPH_H
#define ATTENTION_CUDNN_GRAPH_H

#include "attention/cudnn/cudnn_api.h"

#include "fw_attention.h"

enum { CUDNN_DESCRIPTORS_MAX = 128, CUDNN_TRIED_MAX = 16 };

/** UIDs of tensors that have an address: the slots of the kernel ABI, and these. */
enum cudnn_name {
	CUDNN_SCALE = FW_ATTENTION_SLOTS, /* by value, fp32 */
	CUDNN_ONE,                        /* by value, fp32 */
	CUDNN_ROW_SUMS,                   /* scratch, fp32 [nhq][q]: rowsum(dO * O) */
	CUDNN_GRAD_Q_SUM,                 /* scratch, fp32 [nhq][q][d] */
	CUDNN_NAMES
};

/** A graph under construction, and its plan. Own: cudnn_graph_free frees everything in it. */
struct cudnn_graph {
	const struct cudnn_api *api;
	cudnn_handle handle;
	cudnn_descriptor owned[CUDNN_DESCRIPTORS_MAX]; /* in the order of creation */
	int n_owned;
	cudnn_descriptor plan;
	int64_t workspace_bytes; /* workspace of cuDNN alone */
	int64_t engine;          /* index of the engine that cuDNN chose */
	int n_tried;
	int64_t tried[CUDNN_TRIED_MAX]; /* engines that were compiled until one succeeded, that one last */
	char error[256];                /* the first failure, "" if none */
};

/**
 * Build the graph of a problem and compile it. `engine`: -1 to choose, else only that one. Strides are part of a plan, and are
 * those of row-major tensors; LSE has nhq rows of total_q. Err: FW_UNSUPPORTED with graph->error when no engine supports it,
 * FW_FAILED.
 */
int cudnn_graph_make(
	struct cudnn_graph *graph, const struct cudnn_api *api, const struct fw_attention *a, int backward, int64_t engine);

/** Free all descriptors, also after a failure. */
void cudnn_graph_free(struct cudnn_graph *graph);

/** Create a descriptor and add it to the graph; NULL after a failure. */
cudnn_descriptor cudnn_graph_new(struct cudnn_graph *graph, int kind);

/** Set an attribute; does nothing after a failure. */
void cudnn_graph_set(struct cudnn_graph *graph, cudnn_descriptor d, int attribute, int type, int64_t count, const void *values);

/** Finalise a descriptor; does nothing after a failure. `what`: its name in messages. */
void cudnn_graph_finish(struct cudnn_graph *graph, cudnn_descriptor d, const char *what);

#endif
