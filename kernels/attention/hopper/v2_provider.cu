/**
 * v2_provider.cu - provider "hopper.v2", also called "hopper" because it is the newest: kernels with wgmma and TMA.
 */
#include "v1_provider.h"
#include "v2.h"

#include <stdio.h>
#include <string.h>

static const int64_t l2_bytes = 80 << 20; /* what may be in use before too little of it stays in a cache of 50 to 60 MB */

static bool is_nearly_full(const struct fw_attention *a)
{
	const double rows = v1_ceil_div(a->total_q, a->block_q), columns = v1_ceil_div(a->total_k, a->block_k);
	return (double)a->max_blocks > 0.84 * rows * columns * a->nhk;
}

/*
 * Parts cost a pass over fp32 sums and pay twice: what the steps of a key head read and add to stays in the cache, and there are more and
 * shorter items, which triangles and short sequences need to fill the last wave.
 */
static int choose_parts(const struct fw_attention *a, int group, int passes)
{
	const int64_t in_use = (int64_t)a->total_q * group * a->headdim * (2 + 2 + (passes == 2 ? 0 : 4));
	if (in_use > l2_bytes)
		return group;
	if (a->mask == FW_CAUSAL)
		return group % 2 ? group : group / 2;
	return 1;
}

/* Two heads share a tile of 64 queries where the group allows it: then every mask and short sequences fill whole tiles. */
static int choose(const struct fw_attention *a, int direction, const char *config, struct v1_shape *shape)
{
	const int group = a->nhq / a->nhk;
	shape->runs = true;
	if (direction == FW_FORWARD) {
		if (group % 2 != 0 && a->mask == FW_BLOCKS && a->block_q == 64)
			return FW_UNSUPPORTED; /* 128 rows of one head would straddle two blocks */
		shape->outer_rows = group % 2 == 0 ? 64 : 128;
		shape->heads = V1_FORWARD_M / shape->outer_rows;
		shape->step = 128;
		snprintf(shape->config, sizeof shape->config, "BLOCK_M=128 BLOCK_N=128 STAGES=2 WARPGROUPS=3");
		return !config || !strcmp(config, shape->config) ? FW_OK : FW_UNSUPPORTED;
	}
	const bool small = a->mask == FW_BLOCKS && a->block_k == 64;
	/* Blocks of 64 that are nearly all kept cost less as tiles of 128 keys, of which a half is masked now and then. */
	int rows = small && !is_nearly_full(a) ? 64 : 128, passes = rows == 64 && group % 2 == 0 ? 2 : 1;
	int parts = choose_parts(a, group, passes);
	if (config && sscanf(config, "BLOCK_M=64 BLOCK_N=%d %*s %*s PARTS=%d PASSES=%d", &rows, &parts, &passes) != 3)
		return FW_UNSUPPORTED;
	if ((rows != 64 && rows != 128) || (rows == 64 && !small) || parts < 1 || group % parts)
		return FW_UNSUPPORTED;
	if (passes != 1 && (passes != 2 || a->mask != FW_BLOCKS || group % 2 != 0 || (small && rows == 128)))
		return FW_UNSUPPORTED;
	shape->outer_rows = rows;
	shape->heads = 1;
	shape->step = V1_STEP;
	shape->parts = parts;
	shape->passes = passes;
	snprintf(shape->config, sizeof shape->config, "BLOCK_M=64 BLOCK_N=%d STAGES=%d WARPGROUPS=3 PARTS=%d PASSES=%d", rows,
		rows == 64 ? 4 : 3, parts, passes);
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
	if (!job->backward)
		return v2_forward_setup(wide);
	e = v2_backward_setup(wide);
	return e == cudaSuccess && job->passes == 2 ? v2_grad_q_setup(wide) : e;
}

/* Places in job->extra. Units: bytes. */
struct room {
	int64_t grad_kv, tiles, list, cursor, bytes;
};

static int64_t align_up(int64_t bytes)
{
	return (bytes + 255) / 256 * 256;
}

/* The work list of the dQ pass: the same mask, walked by rows. */
static struct v1_job rows_of(const struct v1_job *job)
{
	struct v1_job rows = *job;
	rows.backward = 0;
	rows.parts = 1;
	rows.runs = 1;
	rows.outer_rows = job->group % 2 == 0 ? 64 : 128;
	rows.heads = V1_FORWARD_M / rows.outer_rows;
	rows.step = 128;
	rows.n_tiles = v1_ceil_div(job->total_q, job->block) * (job->block / rows.outer_rows);
	rows.section = 1;
	return rows;
}

static struct room room_of(const struct v1_job *job)
{
	struct room room = { 0, 0, 0, 0, 0 };
	int64_t at = 0;
	if (!job->backward)
		return room;
	if (job->parts > 1)
		at = align_up((int64_t)job->nhk * job->parts * job->n_tiles * 2 * job->outer_rows * job->headdim *
			      (int64_t)sizeof(float));
	if (job->passes == 2) {
		const struct v1_job rows = rows_of(job);
		room.tiles = at;
		at = align_up(at + (int64_t)rows.n_tiles * rows.nhk * (int64_t)sizeof(struct v1_tile));
		room.list = at;
		at = align_up(at + rows.list_capacity * (int64_t)sizeof(int32_t));
		room.cursor = at;
		at = align_up(at + 2 * (int64_t)sizeof(int32_t));
	}
	room.bytes = at;
	return room;
}

static int64_t extra(const struct v1_job *job)
{
	return room_of(job).bytes;
}

static cudaError_t lists(const struct v1_job *job, cudaStream_t stream)
{
	cudaError_t e = v1_lists(job, stream);
	return e == cudaSuccess && job->passes == 2 ? v1_lists(&((const struct v2_job *)job)->rows, stream) : e;
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
	const struct room room = room_of(job);
	wide->grad_kv = (float *)(job->extra + room.grad_kv);
	const bool walks = !job->backward || job->passes == 2; /* rows over keys */
	if (job->passes == 2) {
		wide->rows = rows_of(job);
		wide->rows.tiles = (struct v1_tile *)(job->extra + room.tiles);
		wide->rows.list = (int32_t *)(job->extra + room.list);
		wide->rows.cursor = (int32_t *)(job->extra + room.cursor);
	}
	const int panels = job->headdim / 64, q = job->total_q, k = job->total_k;
	const int key_rows = job->backward ? job->outer_rows : job->step;
	int status = make_map(&wide->q, encode, &job->q, job, q, job->nhq, 64, panels, "Q", why, size);
	if (status == FW_OK)
		status = make_map(&wide->k, encode, &job->k, job, k, job->nhk, key_rows, panels, "K", why, size);
	if (status == FW_OK)
		status = make_map(&wide->v, encode, &job->v, job, k, job->nhk, key_rows, panels, "V", why, size);
	if (status == FW_OK && walks && job->block == 64)
		status = make_map(&wide->k_half, encode, &job->k, job, k, job->nhk, 64, 1, "K", why, size);
	if (status == FW_OK && walks && job->block == 64)
		status = make_map(&wide->v_half, encode, &job->v, job, k, job->nhk, 64, 1, "V", why, size);
	if (status == FW_OK && job->passes == 2)
		status = make_map(&wide->walk_k, encode, &job->k, job, k, job->nhk, 128, panels, "K", why, size);
	if (status == FW_OK && job->passes == 2)
		status = make_map(&wide->walk_v, encode, &job->v, job, k, job->nhk, 128, panels, "V", why, size);
	if (status == FW_OK && job->passes == 2)
		status = make_map(&wide->o, encode, &job->grad_q, job, q, job->nhq, 64, panels, "dQ", why, size);
	if (status == FW_OK && !job->backward)
		status = make_map(&wide->o, encode, &job->o, job, q, job->nhq, 64, panels, "O", why, size);
	if (status == FW_OK && job->backward)
		status = make_map(&wide->grad_o, encode, &job->grad_o, job, q, job->nhq, 64, panels, "dO", why, size);
	return status;
}

static cudaError_t run(const struct v1_job *job, cudaStream_t stream)
{
	const struct v2_job *wide = (const struct v2_job *)job;
	if (!job->backward)
		return v2_forward(wide, stream);
	cudaError_t e = v2_backward(wide, stream);
	return e == cudaSuccess && job->passes == 2 ? v2_grad_q(wide, stream) : e;
}

static cudaError_t cast(const struct v1_job *job, cudaStream_t stream)
{
	const struct v2_job *wide = (const struct v2_job *)job;
	cudaError_t e = job->passes == 2 ? cudaSuccess : v2_cast(wide, stream);
	return e == cudaSuccess && job->parts > 1 ? v2_cast_keys(wide, stream) : e;
}

static const struct v1_kernels kernels = { "hopper.v2", sizeof(struct v2_job), choose, shared, setup, extra, lists, bound, run,
	cast, true };

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
