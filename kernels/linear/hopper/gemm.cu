/**
 * gemm.cu - the host's side of a product: choice of its kernel, tensor maps, launch.
 */
#include "gemm.h"

#include "hopper/tensor_map.h"
#include "linear/contract.h"

int gemm_can(char *why, size_t size)
{
	int device = 0, major = 0, minor = 0;
	if (cudaGetDevice(&device) != cudaSuccess ||
		cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
		cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
		return FW_OK; /* assume support: the next call on the device reports the error */
	if (major * 10 + minor == 90)
		return FW_OK;
	return contract_refuse(
		FW_UNSUPPORTED, why, size, "needs compute capability 9.0, device %d has %d.%d", device, major, minor);
}

static int ceil_div(int a, int b)
{
	return (a + b - 1) / b;
}

static bool fits(const struct gemm_kernel *kernel, const struct gemm_needs *needs)
{
	return kernel->operands == needs->operands && kernel->left_across == needs->left_across &&
	       kernel->right_across == needs->right_across && kernel->finishes == needs->finishes;
}

/* Estimated time, in relative units: the waves of the grid times their cost; narrow tiles read more per multiplication. */
static double cost(const struct gemm_kernel *kernel, const struct gemm_job *job, int processors)
{
	const int clusters = processors / kernel->cluster;
	const int tiles = ceil_div(ceil_div(job->m, GEMM_ROWS), kernel->cluster) * ceil_div(job->n, kernel->width);
	return ceil_div(tiles, clusters) * (kernel->width == 256 ? 1.0 : 0.53);
}

/* Choose the kernel and the order of tiles. */
static int choose(struct gemm_product *p, const struct gemm_needs *needs, const char *config, int processors)
{
	struct gemm_job *job = &p->job;
	int rows = 0, width = 0, stages = 0, cluster = 0, group = 8, used = 0;
	if (config && (sscanf(config, "TILE=%dx%d STAGES=%d CLUSTER=%d GROUP=%d%n", &rows, &width, &stages, &cluster, &group,
			       &used) != 5 ||
			      config[used] || rows != GEMM_ROWS || group < 1))
		return FW_UNSUPPORTED;
	const bool is_bf16 = needs->operands == GEMM_BF16;
	for (const struct gemm_kernel *k = is_bf16 ? gemm_kernels_bf16() : gemm_kernels_e4m3(); k->function; k++) {
		if (!fits(k, needs) || (config && (k->width != width || k->stages != stages || k->cluster != cluster)))
			continue;
		if (!p->kernel || cost(k, job, processors) < cost(p->kernel, job, processors))
			p->kernel = k;
	}
	if (!p->kernel)
		return FW_UNSUPPORTED;
	job->pairs = ceil_div(ceil_div(job->m, GEMM_ROWS), p->kernel->cluster);
	job->columns = ceil_div(job->n, p->kernel->width);
	job->steps = ceil_div(needs->depth, is_bf16 ? 64 : 128);
	job->group = group;
	snprintf(p->config, sizeof p->config, "TILE=%dx%d STAGES=%d CLUSTER=%d GROUP=%d", GEMM_ROWS, p->kernel->width,
		p->kernel->stages, p->kernel->cluster, group);
	return FW_OK;
}

/* Own: the caller owns `attribute`, which must live as long as the result. */
static cudaLaunchConfig_t launch(const struct gemm_product *p, cudaLaunchAttribute *attribute, cudaStream_t stream)
{
	cudaLaunchConfig_t c;
	memset(&c, 0, sizeof c);
	attribute->id = cudaLaunchAttributeClusterDimension;
	attribute->val.clusterDim.x = (unsigned)p->kernel->cluster;
	attribute->val.clusterDim.y = attribute->val.clusterDim.z = 1;
	c.gridDim = dim3((unsigned)(p->job.clusters * p->kernel->cluster));
	c.blockDim = dim3(GEMM_THREADS);
	c.dynamicSmemBytes = (size_t)p->kernel->shared;
	c.stream = stream;
	c.attrs = attribute;
	c.numAttrs = 1;
	return c;
}

/* Set the grid: the number of clusters that the device can hold at once. */
static int set_grid(struct gemm_product *p, int processors, char *error)
{
	cudaLaunchAttribute attribute;
	int most = 0;
	const void *function = p->kernel->function;
	cudaError_t e = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, p->kernel->shared);
	p->job.clusters = processors / p->kernel->cluster;
	if (e == cudaSuccess) {
		cudaLaunchConfig_t c = launch(p, &attribute, 0);
		e = cudaOccupancyMaxActiveClusters(&most, function, &c);
	}
	if (e != cudaSuccess) {
		(void)cudaGetLastError();
		return contract_refuse(FW_UNSUPPORTED, error, CONTRACT_TEXT_BYTES, "no kernel here: %s", cudaGetErrorString(e));
	}
	if (most < 1)
		return contract_refuse(FW_UNSUPPORTED, error, CONTRACT_TEXT_BYTES, "the device holds no cluster of the kernel");
	const int tiles = p->job.pairs * p->job.columns;
	p->job.clusters = tiles < most ? tiles : most;
	return FW_OK;
}

int gemm_choose(struct gemm_product *p, const struct gemm_needs *needs, const char *config, int processors, char *error)
{
	const int status = choose(p, needs, config, processors);
	if (status != FW_OK)
		return contract_refuse(
			status, error, CONTRACT_TEXT_BYTES, "config \"%s\" has no kernel for this problem", config ? config : "");
	return set_grid(p, processors, error);
}

int gemm_map(CUtensorMap *map, const struct gemm_matrix *matrix, int tall, char *error)
{
	const bool is_bytes = matrix->is_bytes;
	const cuuint64_t dims[2] = { (cuuint64_t)matrix->columns, (cuuint64_t)matrix->rows };
	const cuuint64_t strides[1] = { (cuuint64_t)matrix->stride };
	const cuuint32_t box[2] = { is_bytes ? 128u : 64u, (cuuint32_t)tall }, step[2] = { 1, 1 };
	const tensor_map_encode_fn encode = tensor_map_encode();
	if (!encode)
		return contract_refuse(FW_UNSUPPORTED, error, CONTRACT_TEXT_BYTES, "the driver has no cuTensorMapEncodeTiled");
	const CUresult status = encode(map, is_bytes ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2,
		const_cast<void *>(matrix->data), dims, strides, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
		CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	if (status == CUDA_SUCCESS)
		return FW_OK;
	return contract_refuse(FW_UNSUPPORTED, error, CONTRACT_TEXT_BYTES,
		"the driver makes no tensor map of %d x %d, %lld bytes a row (error %d)", matrix->rows, matrix->columns,
		(long long)matrix->stride, (int)status);
}

cudaError_t gemm_enqueue(struct gemm_product *p, cudaStream_t stream)
{
	cudaLaunchAttribute attribute;
	const cudaLaunchConfig_t c = launch(p, &attribute, stream);
	void *arguments[] = { &p->job };
	const cudaError_t launched = cudaLaunchKernelExC(&c, p->kernel->function, arguments), last = cudaGetLastError();
	return launched != cudaSuccess ? launched : last;
}
