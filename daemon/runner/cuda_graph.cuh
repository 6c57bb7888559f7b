/**
 * cuda_graph.cuh - what cuda.cu and cuda_graph.cu share: errors of the CUDA runtime, nodes of a captured graph.
 */
#ifndef RUNNER_CUDA_GRAPH_CUH
#define RUNNER_CUDA_GRAPH_CUH

#include <cuda_runtime.h>

/** Report a runtime error once and forget it where it is not sticky. Returns -1. Err: ERR_FULL no memory, else ERR_INTERNAL. */
int cuda_graph_fail(cudaError_t e, const char *what, struct fw_err *err);

/** Return with the error of a call that failed. */
#define TRY(call, what)                                                                                                          \
	do {                                                                                                                     \
		cudaError_t try_error = (call);                                                                                  \
		if (try_error != cudaSuccess)                                                                                    \
			return cuda_graph_fail(try_error, what, err);                                                            \
	} while (0)

/** The calling thread's context; NULL: there is none, or the driver does not report it. */
void *cuda_graph_context(void);

/** Describe every node of a graph: its kernel's name, sizes and resources, or "memset", "memcpy", "host function", "other". */
int cuda_graph_report(cudaGraph_t graph, device_node_fn *report, void *arg, struct fw_err *err);

#endif
