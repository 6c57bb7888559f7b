/*
 * cuda_graph.cu - kernels of a captured graph. They belong to the static runtime of a module and are unknown to ours, so the
 * driver's functions read them.
 */
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda.h>
#include <cxxabi.h>

extern "C" {
#include "profile/profile.h"
#include "runner/internal.h"
}
#include "runner/cuda_graph.cuh"

int cuda_graph_fail(cudaError_t e, const char *what, struct fw_err *err)
{
	cudaGetLastError(); /* a plain error must not appear again at the next call; a failed context fails every call anyway */
	return err_set(err, e == cudaErrorMemoryAllocation ? ERR_FULL : ERR_INTERNAL, "%s: %s (%s)", what, cudaGetErrorString(e),
		cudaGetErrorName(e));
}

/* The driver's functions on a graph's kernels, found at run time: libcuda is not linked. */
struct graph_functions {
	CUresult(CUDAAPI *params)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *);
	CUresult(CUDAAPI *attribute)(int *, CUfunction_attribute, CUfunction);
	CUresult(CUDAAPI *name)(const char **, CUfunction);
	CUresult(CUDAAPI *function_of)(CUfunction *, CUkernel);
	CUresult(CUDAAPI *occupancy)(int *, CUfunction, int, size_t);
};

static void *driver_function(const char *name, unsigned version)
{
	void *function = NULL;
	cudaDriverEntryPointQueryResult found;
	if (cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found) != cudaSuccess ||
		found != cudaDriverEntryPointSuccess) {
		cudaGetLastError();
		return NULL;
	}
	return function;
}

static void find_graph_functions(struct graph_functions *g)
{
	*(void **)&g->params = driver_function("cuGraphKernelNodeGetParams", 12000);
	*(void **)&g->attribute = driver_function("cuFuncGetAttribute", 12000);
	*(void **)&g->name = driver_function("cuFuncGetName", 12030);
	*(void **)&g->function_of = driver_function("cuKernelGetFunction", 12000);
	*(void **)&g->occupancy = driver_function("cuOccupancyMaxActiveBlocksPerMultiprocessor", 12000);
}

static int attribute_of(const struct graph_functions *g, CUfunction_attribute which, CUfunction function)
{
	int value = 0;
	if (!g->attribute || !function || g->attribute(&value, which, function) != CUDA_SUCCESS)
		return 0;
	return value;
}

static void report_other(const char *what, bool is_kernel, device_node_fn *report, void *arg)
{
	struct device_node n = {};
	n.kernel = what;
	n.is_kernel = is_kernel;
	report(arg, &n);
}

static void report_kernel(const struct graph_functions *g, cudaGraphNode_t node, device_node_fn *report, void *arg)
{
	CUDA_KERNEL_NODE_PARAMS p;
	memset(&p, 0, sizeof(p));
	if (!g->params || g->params((CUgraphNode)node, &p) != CUDA_SUCCESS) {
		report_other("kernel", true, report, arg);
		return;
	}
	CUfunction function = p.func;
	if (!function && p.kern && (!g->function_of || g->function_of(&function, p.kern) != CUDA_SUCCESS))
		function = NULL;
	const char *mangled = NULL;
	if (!g->name || !function || g->name(&mangled, function) != CUDA_SUCCESS)
		mangled = NULL;
	int status = -1;
	const char *known = mangled ? cubin_plain_symbol(mangled) : "kernel";
	char *plain = mangled ? abi::__cxa_demangle(known, NULL, NULL, &status) : NULL;
	struct device_node n = {};
	n.is_kernel = true;
	n.kernel = status == 0 && plain ? plain : known;
	n.symbol = mangled;
	n.sm = attribute_of(g, CU_FUNC_ATTRIBUTE_BINARY_VERSION, function);
	n.grid[0] = (int)p.gridDimX, n.grid[1] = (int)p.gridDimY, n.grid[2] = (int)p.gridDimZ;
	n.block[0] = (int)p.blockDimX, n.block[1] = (int)p.blockDimY, n.block[2] = (int)p.blockDimZ;
	n.registers = attribute_of(g, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
	n.local_bytes = attribute_of(g, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function);
	n.shared_bytes = attribute_of(g, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function) + (int)p.sharedMemBytes;
	int threads = n.block[0] * n.block[1] * n.block[2];
	if (!g->occupancy || !function || g->occupancy(&n.ctas_per_sm, function, threads, p.sharedMemBytes) != CUDA_SUCCESS)
		n.ctas_per_sm = 0;
	report(arg, &n);
	free(plain);
}

void *cuda_graph_context(void)
{
	CUresult(CUDAAPI * current)(CUcontext *) = NULL;
	CUcontext context = NULL;
	*(void **)&current = driver_function("cuCtxGetCurrent", 12000);
	return current && current(&context) == CUDA_SUCCESS ? context : NULL;
}

int cuda_graph_report(cudaGraph_t graph, device_node_fn *report, void *arg, struct fw_err *err)
{
	struct graph_functions functions = {};
	size_t n = 0;
	TRY(cudaGraphGetNodes(graph, NULL, &n), "cannot read the captured graph");
	if (n == 0)
		return 0;
	cudaGraphNode_t *node = (cudaGraphNode_t *)calloc(n, sizeof(*node));
	if (!node)
		return err_set(err, ERR_FULL, "no memory for %zu graph nodes", n);
	cudaError_t e = cudaGraphGetNodes(graph, node, &n);
	find_graph_functions(&functions);
	for (size_t i = 0; e == cudaSuccess && i < n; i++) {
		cudaGraphNodeType type;
		e = cudaGraphNodeGetType(node[i], &type);
		if (e != cudaSuccess)
			break;
		if (type == cudaGraphNodeTypeKernel)
			report_kernel(&functions, node[i], report, arg);
		else if (type == cudaGraphNodeTypeMemset)
			report_other("memset", false, report, arg);
		else if (type == cudaGraphNodeTypeMemcpy)
			report_other("memcpy", false, report, arg);
		else if (type == cudaGraphNodeTypeHost)
			report_other("host function", false, report, arg);
		else
			report_other("other", false, report, arg);
	}
	free(node);
	return e == cudaSuccess ? 0 : cuda_graph_fail(e, "cannot read the captured graph", err);
}
