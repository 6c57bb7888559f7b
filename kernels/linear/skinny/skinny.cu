/**
 * skinny.cu - provider "skinny": at most 64 rows of X, in bf16 or e4m3, and W in any format, compute capability 9.0.
 */
#include "linear/skinny/skinny.h"

#include "hopper/tensor_map.h"
#include "linear/providers.h"
#include "linear/quantise/quantise.h"

#include <stdlib.h>

struct fw_plan {
	struct product product;
	struct skinny_task task;
	struct contract_matrix x, w, y, bias;
	int64_t quantised_at, x_scale_at, partial_at, steps_at, workspace_bytes; /* in the workspace; the normalised X is at 0 */
	int64_t scale_at, persist_bytes;                                         /* in persist */
	unsigned char *workspace;
	int processors;
	bool is_bound;
	bool is_fresh; /* W was just packed: the next launch reads W early, so it must not overlap with the packing */
	char config[64];
	char error[CONTRACT_TEXT_BYTES];
};

static int take_problem(const struct fw_problem *problem, struct product *p, char *why, size_t why_size)
{
	int status = contract_linear_unblocked(problem, why, why_size);
	if (status == FW_OK)
		status = product_make(problem, p, why, why_size);
	if (status != FW_OK)
		return status;
	const struct fw_linear_shape *s = &p->shape;
	if (problem->direction != FW_FORWARD || (!contract_is_plain(&s->x) && s->x.dtype != FW_E4M3))
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "only forward of X in bf16 or e4m3");
	if (!contract_is_plain(&s->w) && s->w.dtype != FW_I4 && s->w.dtype != FW_I8 && s->w.dtype != FW_E4M3)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "only W in bf16, i4, i8 or e4m3");
	if (s->m > SKINNY_M_MAX)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "m is at most %d", SKINNY_M_MAX);
	if (s->k % 8)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "k must be a multiple of 8");
	if (s->w.dtype == FW_I4 && s->w.group != 32 && s->w.group != 64 && s->w.group != 128 && s->w.group != 256)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "groups are of 32, 64, 128 or 256");
	return FW_OK;
}

static int skinny_can(const struct fw_problem *problem, char *why, size_t why_size)
{
	struct product product;
	return take_problem(problem, &product, why, why_size);
}

/* X as the source of quantised tensors. */
static struct quantise_source source_of(const struct fw_plan *p)
{
	const struct fw_linear_shape *s = &p->product.shape;
	const struct quantise_source x = { s->prologue ? p->workspace : p->x.data, s->prologue ? s->k : p->x.stride, s->m, s->k,
		p->processors, s->x.flags & FW_LINEAR_POWER_OF_TWO };
	return x;
}

static void lay_out(struct fw_plan *p)
{
	const struct fw_linear_shape *s = &p->product.shape;
	const struct skinny_task *t = &p->task;
	const int64_t tiles = (t->n + t->shape.block_n - 1) / t->shape.block_n,
		      x_bytes = contract_align((int64_t)s->m * s->k * 2);
	const bool is_quantised = s->x.dtype == FW_E4M3;
	const struct quantise_source x = source_of(p);
	if (t->format != FW_BF16) {
		p->scale_at = contract_align(tiles * t->chunks * skinny_chunk_bytes(t->format, &t->shape, t->group_log2));
		p->persist_bytes = p->scale_at + contract_align(tiles * t->shape.block_n * (int64_t)sizeof(float));
	}
	p->quantised_at = s->prologue ? x_bytes : 0;
	p->x_scale_at = p->quantised_at + (is_quantised ? x_bytes : 0);
	p->partial_at = p->x_scale_at + (is_quantised ? contract_align(s->m * (int64_t)sizeof(float)) : 0);
	p->steps_at = p->partial_at + (is_quantised ? contract_align(quantise_tensor_bytes(&x)) : 0);
	p->workspace_bytes = p->steps_at + (t->format == FW_I4 ? contract_align((int64_t)s->n * (s->k / s->w.group) * 8) : 0);
}

static uint32_t phases_of(const struct fw_plan *p)
{
	const struct fw_linear_shape *s = &p->product.shape;
	return FW_LINEAR_RUN | (p->task.format != FW_BF16 ? FW_LINEAR_QUANTISE_WEIGHT : 0) |
	       (s->prologue ? FW_LINEAR_NORMALISE : 0) | (s->x.dtype == FW_E4M3 ? FW_LINEAR_QUANTISE_ACTIVATION : 0);
}

static int skinny_plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out,
	struct fw_info *info, char *why, size_t why_size)
{
	const size_t line = 64; /* alignment of a tensor map */
	struct product product;
	const int status = take_problem(problem, &product, why, why_size);
	if (status != FW_OK)
		return status;
	int major = 0, shared = 0, processors = 0;
	if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index) != cudaSuccess ||
		cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, index) != cudaSuccess ||
		cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, index) != cudaSuccess)
		return contract_refuse(FW_FAILED, why, why_size, "the properties of device %d cannot be read", index);
	if (major != 9)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "only compute capability 9.0");
	struct fw_plan *p = (struct fw_plan *)aligned_alloc(line, (sizeof *p + line - 1) / line * line);
	if (!p)
		return contract_refuse(FW_FAILED, why, why_size, "out of memory");
	memset(p, 0, sizeof *p);
	const struct fw_linear_shape *s = &product.shape;
	struct skinny_task *t = &p->task;
	p->product = product;
	p->processors = processors;
	t->m = s->m;
	t->n = s->n;
	t->k = s->k;
	t->format = s->w.dtype;
	t->activation = s->activation;
	while (t->format == FW_I4 && 1 << t->group_log2 < s->w.group)
		t->group_log2++;
	if (!skinny_choose(t, config, shared)) {
		free(p);
		return contract_refuse(
			FW_UNSUPPORTED, why, why_size, "the configuration is not one of this library for this shape");
	}
	snprintf(p->config, sizeof p->config, "TILES=%d WARPS_K=%d BLOCK_K=%d SPLIT=%d", t->shape.tiles, t->shape.warps_k,
		t->shape.block_k, t->shape.split);
	lay_out(p);
	struct fw_info answer;
	memset(&answer, 0, sizeof answer);
	answer.struct_size = contract_answer_bytes(info->struct_size, sizeof answer);
	answer.phases = phases_of(p);
	answer.once = answer.phases & FW_LINEAR_QUANTISE_WEIGHT;
	answer.workspace_bytes = (uint64_t)p->workspace_bytes;
	answer.persist_bytes = (uint64_t)p->persist_bytes;
	answer.config = p->config;
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

/* Tensor map of X as it is multiplied, boxes of all rows. */
static int map_x(struct fw_plan *p, tensor_map_encode_fn encode)
{
	const struct fw_linear_shape *s = &p->product.shape;
	const struct quantise_source x = source_of(p);
	const bool is_quantised = s->x.dtype == FW_E4M3;
	const cuuint64_t row_bytes = (cuuint64_t)(is_quantised ? s->k : x.stride) * 2;
	void *const data = is_quantised ? p->workspace + p->quantised_at : const_cast<void *>(x.data);
	const bool in_blocks = s->k % 64 == 0;
	const cuuint64_t sizes[3] = { (cuuint64_t)(in_blocks ? 64 : s->k), (cuuint64_t)s->m,
		(cuuint64_t)(in_blocks ? s->k / 64 : 1) };
	const cuuint64_t strides[2] = { row_bytes, in_blocks ? 128 : row_bytes * (cuuint64_t)s->m };
	const cuuint32_t box[3] = { 64, (cuuint32_t)skinny_rows(s->m), in_blocks ? (cuuint32_t)p->task.shape.block_k / 64 : 1 };
	const cuuint32_t steps[3] = { 1, 1, 1 };
	p->task.x_in_blocks = in_blocks;
	const CUresult result = encode(&p->task.x, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, data, sizes, strides, box, steps,
		CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
		CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	if (result != CUDA_SUCCESS)
		return contract_refuse(FW_FAILED, p->error, sizeof p->error, "no tensor map of X: error %d", (int)result);
	return FW_OK;
}

/* Tensor map of W in bf16, boxes of the rows of a tile. */
static int map_w(struct fw_plan *p, tensor_map_encode_fn encode)
{
	const struct fw_linear_shape *s = &p->product.shape;
	const cuuint64_t sizes[2] = { (cuuint64_t)s->k, (cuuint64_t)s->n }, strides[1] = { (cuuint64_t)p->w.stride * 2 };
	const cuuint32_t box[2] = { 64, (cuuint32_t)p->task.shape.block_n }, steps[2] = { 1, 1 };
	const CUresult result = encode(&p->task.w, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p->w.data, sizes, strides, box, steps,
		CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
		CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	if (result != CUDA_SUCCESS)
		return contract_refuse(FW_FAILED, p->error, sizeof p->error, "no tensor map of W: error %d", (int)result);
	return FW_OK;
}

static int skinny_bind(struct fw_plan *p, const struct fw_io *io)
{
	if (!p)
		return FW_INVALID;
	p->is_bound = false;
	p->error[0] = '\0';
	const struct fw_linear_shape *s = &p->product.shape;
	int status = io && io->slot ? FW_OK : FW_INVALID;
	if (status == FW_OK)
		status = contract_matrix(io, FW_LINEAR_X, "X", s->k, &p->x, p->error);
	if (status == FW_OK)
		status = contract_matrix(io, FW_LINEAR_W, "W", s->k, &p->w, p->error);
	if (status == FW_OK)
		status = matrix_take(io, FW_LINEAR_Y, s->n, &p->y, p->error);
	if (status == FW_OK && s->bias)
		status = matrix_take(io, FW_LINEAR_BIAS, s->n, &p->bias, p->error);
	if (status != FW_OK)
		return status;
	if ((p->persist_bytes && !io->persist) || (p->workspace_bytes && !io->workspace))
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "workspace or persist is missing");
	const tensor_map_encode_fn encode = tensor_map_encode();
	if (!encode)
		return contract_refuse(FW_FAILED, p->error, sizeof p->error, "the driver has no cuTensorMapEncodeTiled");
	p->workspace = (unsigned char *)io->workspace;
	p->task.x_scale = s->x.dtype == FW_E4M3 ? (const float *)(p->workspace + p->x_scale_at) : NULL;
	p->task.x_scale_step = s->x.scaling == FW_LINEAR_BY_ROW;
	p->task.packed = (const unsigned char *)io->persist;
	p->task.scale = (const float *)((const unsigned char *)io->persist + p->scale_at);
	p->task.out = (uint16_t *)p->y.data;
	p->task.out_stride = p->y.stride;
	p->task.bias = (const uint16_t *)p->bias.data;
	status = map_x(p, encode);
	if (status == FW_OK && p->task.format == FW_BF16)
		status = map_w(p, encode);
	p->is_bound = status == FW_OK;
	return status;
}

static cudaError_t normalise(const struct fw_plan *p, cudaStream_t stream)
{
	const struct fw_linear_shape *s = &p->product.shape;
	const struct quantise_source x = { p->x.data, p->x.stride, s->m, s->k, p->processors, 0 };
	return (cudaError_t)quantise_normalise(&x, p->workspace, stream);
}

static cudaError_t quantise_activation(const struct fw_plan *p, cudaStream_t stream)
{
	const struct quantise_source x = source_of(p);
	void *const values = p->workspace + p->quantised_at;
	float *const scales = (float *)(p->workspace + p->x_scale_at);
	if (p->product.shape.x.scaling == FW_LINEAR_BY_ROW)
		return (cudaError_t)quantise_rows(&x, QUANTISE_E4M3_IN_BF16, values, scales, stream);
	return (cudaError_t)quantise_tensor(&x, QUANTISE_E4M3_IN_BF16, values, scales, p->workspace + p->partial_at, stream);
}

static int skinny_enqueue(struct fw_plan *p, uint32_t phases, void *stream_handle)
{
	if (!p)
		return FW_INVALID;
	p->error[0] = '\0';
	if (!p->is_bound)
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "enqueue before bind");
	const cudaStream_t stream = (cudaStream_t)stream_handle;
	cudaError_t e = cudaSuccess;
	phases &= phases_of(p);
	if (phases & FW_LINEAR_QUANTISE_WEIGHT)
		e = skinny_pack(&p->task, &p->product.shape.w, &p->w, (float2 *)(p->workspace + p->steps_at), stream);
	p->is_fresh = p->is_fresh || (phases & FW_LINEAR_QUANTISE_WEIGHT);
	if (e == cudaSuccess && (phases & FW_LINEAR_NORMALISE))
		e = normalise(p, stream);
	if (e == cudaSuccess && (phases & FW_LINEAR_QUANTISE_ACTIVATION))
		e = quantise_activation(p, stream);
	if (e == cudaSuccess && (phases & FW_LINEAR_RUN)) {
		e = skinny_launch(&p->task, !p->is_fresh, stream);
		p->is_fresh = false;
	}
	return e == cudaSuccess ? FW_OK : contract_refuse(FW_FAILED, p->error, sizeof p->error, "%s", cudaGetErrorString(e));
}

static int skinny_count(const struct fw_problem *problem, const char *, const struct fw_io *, struct fw_work *work)
{
	struct product product;
	const int status = take_problem(problem, &product, NULL, 0);
	if (status != FW_OK)
		return status;
	const struct fw_linear_shape *s = &product.shape;
	struct fw_work answer;
	memset(&answer, 0, sizeof answer);
	answer.struct_size = contract_answer_bytes(work->struct_size, sizeof answer);
	answer.flops_issued = 2.0 * skinny_rows(s->m) * s->n * s->k;
	answer.bytes_moved = (double)s->n * s->k * skinny_bits(s->w.dtype) / 8 +
			     (s->w.dtype == FW_I4            ? 4.0 * s->n * (s->k / s->w.group)
				     : s->w.dtype == FW_BF16 ? 0.0
							     : 4.0 * s->n) +
			     2.0 * s->m * (s->k + (double)s->n);
	memcpy(work, &answer, answer.struct_size);
	return FW_OK;
}

static const char *skinny_error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

static void skinny_destroy(struct fw_plan *p)
{
	free(p);
}

extern "C" const struct fw_provider linear_skinny = { sizeof linear_skinny, FW_CUDA, FW_LINEAR, 0, "skinny", skinny_can,
	skinny_plan, skinny_bind, skinny_enqueue, skinny_count, skinny_error, skinny_destroy };
