/**
 * v2_provider.cu - provider "hopper.v2", also available as "hopper" because it is the newest: kernels with wgmma and TMA.
 */
#include "v2.h"

#include "hopper/tensor_map.h"

#include <stdio.h>
#include <string.h>

static const int64_t l2_bytes = 80 << 20; /* working set above which a cache of 50 to 60 MB has too many misses */

static bool is_nearly_full(const struct fw_attention *a)
{
	const double rows = ceil_div(a->total_q, a->block_q), columns = ceil_div(a->total_k, a->block_k);
	return (double)a->max_blocks > 0.84 * rows * columns * a->nhk;
}

/*
 * Parts cost a pass over fp32 sums. They have two benefits: the data that the steps of a key head read and add to stays in the
 * cache, and there are more and shorter items, which triangles and short sequences need to fill the last wave.
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

static int can(const struct fw_attention *a, int direction, char *why, size_t size)
{
	if (direction == FW_FORWARD && a->nhq / a->nhk % 2 != 0 && a->mask == FW_BLOCKS && a->block_q == 64)
		return contract_refuse(FW_UNSUPPORTED, why, size, "blocks of 64 need an even number of query heads a key head");
	return FW_OK; /* else 128 rows of one head would straddle two blocks */
}

/* Two heads share a tile of 64 queries if the group size allows it: then tiles are full also for short sequences and under every mask. */
static int choose(const struct fw_attention *a, int direction, const char *config, struct shape *shape)
{
	const int group = a->nhq / a->nhk;
	shape->runs = true;
	if (direction == FW_FORWARD) {
		shape->outer_rows = group % 2 == 0 ? 64 : 128;
		shape->heads = JOB_FORWARD_ROWS / shape->outer_rows;
		shape->step = 128;
		snprintf(shape->config, sizeof shape->config, "BLOCK_M=128 BLOCK_N=128 STAGES=2 WARPGROUPS=3");
		return !config || !strcmp(config, shape->config) ? FW_OK : FW_UNSUPPORTED;
	}
	const bool small = a->mask == FW_BLOCKS && a->block_k == 64;
	/* Blocks of 64 that are nearly all set are faster as tiles of 128 keys, of which a half is masked occasionally. */
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
	shape->step = JOB_STEP;
	shape->parts = parts;
	shape->passes = passes;
	snprintf(shape->config, sizeof shape->config, "BLOCK_M=64 BLOCK_N=%d STAGES=%d WARPGROUPS=3 PARTS=%d PASSES=%d", rows,
		rows == 64 ? 4 : 3, parts, passes);
	return !config || !strcmp(config, shape->config) ? FW_OK : FW_UNSUPPORTED;
}

/* Offsets in job->extra. Units: bytes. */
struct extra_layout {
	int64_t grad_kv, tiles, list, cursor, bytes;
};

/* The work list of the dQ pass: the same mask, traversed by rows. */
static struct job rows_of(const struct job *job)
{
	struct job rows = *job;
	rows.backward = 0;
	rows.parts = 1;
	rows.runs = 1;
	rows.outer_rows = job->group % 2 == 0 ? 64 : 128;
	rows.heads = JOB_FORWARD_ROWS / rows.outer_rows;
	rows.step = 128;
	rows.n_tiles = ceil_div(job->total_q, job->block) * (job->block / rows.outer_rows);
	rows.section = 1;
	return rows;
}

static struct extra_layout lay_out_extra(const struct job *job)
{
	struct extra_layout layout = { 0, 0, 0, 0, 0 };
	int64_t at = 0;
	if (!job->backward)
		return layout;
	if (job->parts > 1)
		at = contract_align((int64_t)job->nhk * job->parts * job->n_tiles * 2 * job->outer_rows * job->headdim *
				    (int64_t)sizeof(float));
	if (job->passes == 2) {
		const struct job rows = rows_of(job);
		layout.tiles = at;
		at = contract_align(at + (int64_t)rows.n_tiles * rows.nhk * (int64_t)sizeof(struct tile));
		layout.list = at;
		at = contract_align(at + rows.list_capacity * (int64_t)sizeof(int32_t));
		layout.cursor = at;
		at = contract_align(at + 2 * (int64_t)sizeof(int32_t));
	}
	layout.bytes = at;
	return layout;
}

static int64_t extra(const struct job *job)
{
	return lay_out_extra(job).bytes;
}

static cudaError_t lists(const struct job *job, cudaStream_t stream)
{
	cudaError_t e = lists_build(job, stream);
	return e == cudaSuccess && job->passes == 2 ? lists_build(&v2_of(job)->rows, stream) : e;
}

/* View (token, head, d) as (64 columns, token, panel, head), boxes of `rows` tokens and `panels` panels. */
static int make_map(CUtensorMap *map, tensor_map_encode_fn encode, const struct tensor *tensor, const struct job *job, int tokens,
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
	return contract_refuse(FW_UNSUPPORTED, why, size,
		"%s: the driver makes no tensor map of strides %lld, %lld elements (error %d)", name, (long long)tensor->token,
		(long long)tensor->head, (int)status);
}

static int bound(struct job *job, char *why, size_t size)
{
	struct v2_job *wide = (struct v2_job *)job;
	int device = 0, processors = 0;
	if (cudaGetDevice(&device) != cudaSuccess ||
		cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
		return contract_refuse(FW_FAILED, why, size, "the current device does not answer");
	wide->processors = processors;
	const tensor_map_encode_fn encode = tensor_map_encode();
	if (!encode)
		return contract_refuse(FW_UNSUPPORTED, why, size, "the driver has no cuTensorMapEncodeTiled");
	const struct extra_layout layout = lay_out_extra(job);
	wide->grad_kv = (float *)(job->extra + layout.grad_kv);
	const bool walks = !job->backward || job->passes == 2; /* rows over keys */
	if (job->passes == 2) {
		wide->rows = rows_of(job);
		wide->rows.tiles = (struct tile *)(job->extra + layout.tiles);
		wide->rows.list = (int32_t *)(job->extra + layout.list);
		wide->rows.cursor = (int32_t *)(job->extra + layout.cursor);
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

static const struct stage stage = { "hopper.v2", sizeof(struct v2_job), 90, true, can, choose, &v2_forward, &v2_backward, lists,
	v2_cast, extra, bound };

extern "C" const struct fw_provider attention_hopper = stage_provider<&stage>("hopper");
extern "C" const struct fw_provider attention_hopper_v2 = stage_provider<&stage>("hopper.v2");
