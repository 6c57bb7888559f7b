/**
 * v2_provider.cu - provider "hopper.v2", also called "hopper" because it is the newest: kernels with wgmma and TMA.
 */
#include "v1_provider.h"
#include "v2.h"

#include <stdio.h>
#include <string.h>

/* Two heads share a tile of 64 queries where the group allows it: then every mask and short sequences fill whole tiles. */
static int choose(const struct fw_attention *a, int direction, const char *config, struct v1_shape *shape)
{
	const int group = a->nhq / a->nhk;
	if (direction == FW_FORWARD) {
		if (group % 2 != 0 && a->mask == FW_BLOCKS && a->block_q == 64)
			return FW_UNSUPPORTED; /* 128 rows of one head would straddle two blocks */
		shape->outer_rows = group % 2 == 0 ? 64 : 128;
		shape->heads = V1_FORWARD_M / shape->outer_rows;
		shape->step = 128;
		snprintf(shape->config, sizeof shape->config, "BLOCK_M=128 BLOCK_N=128 STAGES=2 WARPGROUPS=3");
	} else {
		shape->outer_rows = a->mask == FW_BLOCKS && a->block_k == 64 ? 64 : 128;
		shape->heads = 1;
		shape->step = V1_STEP;
		snprintf(shape->config, sizeof shape->config, "BLOCK_M=64 BLOCK_N=%d STAGES=%d WARPGROUPS=3", shape->outer_rows,
			shape->outer_rows == 64 ? 4 : 3);
	}
	return !config || !strcmp(config, shape->config) ? FW_OK : FW_UNSUPPORTED;
}

static int shared(const struct v1_job *job)
{
	return job->backward ? v2_backward_shared(job->headdim, job->outer_rows) : v2_forward_shared(job->headdim);
}

static cudaError_t setup(const struct v1_job *job)
{
	int device = 0, major = 0, minor = 0;
	cudaError_t e = cudaGetDevice(&device);
	if (e == cudaSuccess)
		e = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
	if (e == cudaSuccess)
		e = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
	if (e != cudaSuccess)
		return e;
	if (major != 9 || minor != 0)
		return cudaErrorNoKernelImageForDevice;
	const struct v2_job *wide = (const struct v2_job *)job;
	return job->backward ? v2_backward_setup(wide) : v2_forward_setup(wide);
}

typedef CUresult (*encode_tiled)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
	const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
	CUtensorMapFloatOOBfill);

/* From the driver that is loaded anyway, so that a module links to no libcuda. */
static encode_tiled find_encode(void)
{
	void *function = NULL;
	cudaDriverEntryPointQueryResult found;
	if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found) !=
			cudaSuccess ||
		found != cudaDriverEntryPointSuccess)
		return NULL;
	return (encode_tiled)function;
}

/* View (token, head, d) as (64 columns, token, panel, head), boxes of `rows` tokens and `panels` panels. */
static int make_map(CUtensorMap *map, encode_tiled encode, const struct v1_tensor *tensor, const struct v1_job *job, int tokens,
	int heads, int rows, int panels, const char *name, char *why, size_t size)
{
	const cuuint64_t dims[4] = { 64, (cuuint64_t)tokens, (cuuint64_t)(job->headdim / 64), (cuuint64_t)heads };
	const cuuint64_t strides[3] = { (cuuint64_t)tensor->token * 2, 128, (cuuint64_t)tensor->head * 2 };
	const cuuint32_t box[4] = { 64, (cuuint32_t)rows, (cuuint32_t)panels, 1 }, step[4] = { 1, 1, 1, 1 };
	CUresult status = encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, tensor->data, dims, strides, box, step,
		CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
		CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	if (status == CUDA_SUCCESS)
		return FW_OK;
	snprintf(why, size, "%s: the driver makes no tensor map of strides %lld, %lld elements (error %d)", name,
		(long long)tensor->token, (long long)tensor->head, (int)status);
	return FW_UNSUPPORTED;
}

static int bound(struct v1_job *job, char *why, size_t size)
{
	struct v2_job *wide = (struct v2_job *)job;
	int device = 0, processors = 0;
	if (cudaGetDevice(&device) != cudaSuccess ||
		cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) {
		snprintf(why, size, "the current device does not answer");
		return FW_FAILED;
	}
	wide->processors = processors;
	const encode_tiled encode = find_encode();
	if (!encode) {
		snprintf(why, size, "the driver has no cuTensorMapEncodeTiled");
		return FW_UNSUPPORTED;
	}
	const int panels = job->headdim / 64, q = job->total_q, k = job->total_k;
	const int key_rows = job->backward ? job->outer_rows : job->step;
	int status = make_map(&wide->q, encode, &job->q, job, q, job->nhq, 64, panels, "Q", why, size);
	if (status == FW_OK)
		status = make_map(&wide->k, encode, &job->k, job, k, job->nhk, key_rows, panels, "K", why, size);
	if (status == FW_OK)
		status = make_map(&wide->v, encode, &job->v, job, k, job->nhk, key_rows, panels, "V", why, size);
	if (status == FW_OK && !job->backward && job->block == 64)
		status = make_map(&wide->k_half, encode, &job->k, job, k, job->nhk, 64, 1, "K", why, size);
	if (status == FW_OK && !job->backward && job->block == 64)
		status = make_map(&wide->v_half, encode, &job->v, job, k, job->nhk, 64, 1, "V", why, size);
	if (status == FW_OK && !job->backward)
		status = make_map(&wide->o, encode, &job->o, job, q, job->nhq, 64, panels, "O", why, size);
	if (status == FW_OK && job->backward)
		status = make_map(&wide->grad_o, encode, &job->grad_o, job, q, job->nhq, 64, panels, "dO", why, size);
	return status;
}

static cudaError_t run(const struct v1_job *job, cudaStream_t stream)
{
	const struct v2_job *wide = (const struct v2_job *)job;
	return job->backward ? v2_backward(wide, stream) : v2_forward(wide, stream);
}

static cudaError_t cast(const struct v1_job *job, cudaStream_t stream)
{
	return v2_cast((const struct v2_job *)job, stream);
}

static const struct v1_kernels kernels = { "hopper.v2", sizeof(struct v2_job), choose, shared, setup, bound, run, cast, true };

static int plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t size)
{
	return v1_plan(&kernels, problem, config, index, out, info, why, size);
}

static int count(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *work)
{
	return v1_count(&kernels, problem, config, host, work);
}

static int can(const struct fw_problem *problem, char *why, size_t size)
{
	const int status = v1_can_ordered(problem, why, size);
	int device = 0, major = 0, minor = 0;
	if (status != FW_OK)
		return status;
	if (cudaGetDevice(&device) == cudaSuccess &&
		cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
		cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess &&
		(major != 9 || minor != 0)) {
		snprintf(why, size, "needs compute capability 9.0, device %d has %d.%d", device, major, minor);
		return FW_UNSUPPORTED;
	}
	const struct fw_attention *a = problem->attention;
	if (problem->direction == FW_FORWARD && a->nhq / a->nhk % 2 != 0 && a->mask == FW_BLOCKS && a->block_q == 64) {
		snprintf(why, size, "blocks of 64 need an even number of query heads a key head");
		return FW_UNSUPPORTED;
	}
	return FW_OK;
}

#define PROVIDER(name)                                                                                                           \
	{                                                                                                                        \
		(uint32_t)sizeof(struct fw_provider), FW_CUDA, FW_ATTENTION, 0, name, can, plan, v1_bind, v1_enqueue, count,     \
			v1_error, v1_destroy                                                                                     \
	}

extern "C" const struct fw_provider attention_hopper = PROVIDER("hopper");
extern "C" const struct fw_provider attention_hopper_v2 = PROVIDER("hopper.v2");
