/**
 * provider.cu - provider "fp8": products of two 8-bit floats in every direction, by the kernels of hopper/.
 *
 * wgmma reads 8-bit operands only along their rows, so gradients multiply copies that were transposed while they were rounded.
 */
#include "side.h"

#include "linear/hopper/gemm.h"
#include "linear/providers.h"

#include <stdlib.h>

struct fw_plan {
	struct gemm_product gemm; /* first: tensor maps must be aligned to 64 bytes */
	struct product product;
	struct fp8_side left, right;
	struct quantise_source x; /* before its prologue */
	int64_t normal_at, workspace_bytes, persist_bytes;
	unsigned char *workspace;
	bool is_bound;
	char error[CONTRACT_TEXT_BYTES];
};

static bool is_by_block(const struct operand *o)
{
	return o->as.scaling == FW_LINEAR_BY_BLOCK;
}

static int take_problem(const struct fw_problem *problem, struct product *product, char *why, size_t size)
{
	int status = product_make(problem, product, why, size);
	if (status == FW_OK)
		status = fp8_side_check(&product->left, why, size);
	if (status == FW_OK)
		status = fp8_side_check(&product->right, why, size);
	if (status != FW_OK)
		return status;
	if (is_by_block(&product->left) != is_by_block(&product->right))
		return contract_refuse(FW_UNSUPPORTED, why, size, "only both operands or none with a scale for every block");
	if (product->right.rows % 8)
		return contract_refuse(
			FW_UNSUPPORTED, why, size, "rows of the result must be multiples of 8, not %d", product->right.rows);
	return FW_OK;
}

static int can(const struct fw_problem *problem, char *why, size_t size)
{
	struct product product;
	const int status = take_problem(problem, &product, why, size);
	return status == FW_OK ? gemm_can(why, size) : status;
}

static struct gemm_needs needs_of(const struct product *p, bool is_fast)
{
	const bool is_e5m2 = p->left.as.dtype == FW_E5M2, has_epilogue = p->shape.bias || p->shape.activation;
	struct gemm_needs needs = { is_fast ? GEMM_E4M3 : GEMM_E4M3_PRECISE, 0, 0, GEMM_SCALES, p->left.depth };
	if (is_by_block(&p->left)) {
		needs.operands = p->right.slot == FW_LINEAR_W ? GEMM_E4M3_BLOCKS : GEMM_E4M3_SPANS;
		needs.finishes = has_epilogue ? GEMM_ALL : GEMM_PLAIN;
	} else if (is_e5m2) {
		needs.operands = is_fast ? GEMM_E5M2 : GEMM_E5M2_PRECISE;
	} else if (has_epilogue || !is_fast) {
		needs.finishes = GEMM_ALL;
	}
	return needs;
}

/* Lay out the memory and choose the kernel for device `index`, which is current. */
static int choose(struct fw_plan *p, const char *config, bool is_fast, int index)
{
	const struct product *product = &p->product;
	int processors = 0;
	const cudaError_t e = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, index);
	if (e != cudaSuccess)
		return contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "device %d: %s", index, cudaGetErrorString(e));
	p->x.rows = product->shape.m;
	p->x.columns = product->shape.k;
	p->workspace_bytes = contract_align(product->shape.prologue ? (int64_t)p->x.rows * p->x.columns * 2 : 0);
	fp8_side_make(&p->left, &product->left, processors, &p->workspace_bytes, &p->persist_bytes);
	fp8_side_make(&p->right, &product->right, processors, &p->workspace_bytes, &p->persist_bytes);
	struct gemm_job *job = &p->gemm.job;
	job->m = product->left.rows;
	job->n = product->right.rows;
	job->activation = product->shape.activation;
	job->left_step = product->left.as.scaling == FW_LINEAR_BY_ROW;
	job->right_step = product->right.as.scaling == FW_LINEAR_BY_ROW;
	job->left_pitch = p->left.copy.scale_pitch;
	job->right_pitch = p->right.copy.scale_pitch;
	const struct gemm_needs needs = needs_of(product, is_fast);
	return gemm_choose(&p->gemm, &needs, config, processors, p->error);
}

/* As choose; the current device is restored. */
static int choose_on(struct fw_plan *p, const char *config, bool is_fast, int index)
{
	int previous = 0;
	cudaError_t e = cudaGetDevice(&previous);
	if (e == cudaSuccess)
		e = cudaSetDevice(index);
	if (e != cudaSuccess)
		return contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "device %d: %s", index, cudaGetErrorString(e));
	const int status = choose(p, config, is_fast, index);
	e = cudaSetDevice(previous);
	if (e != cudaSuccess && status == FW_OK)
		return contract_refuse(
			FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "device %d: %s", previous, cudaGetErrorString(e));
	return status;
}

static uint32_t phases_of(const struct fw_plan *p)
{
	return FW_LINEAR_RUN | fp8_side_phase(&p->left) | fp8_side_phase(&p->right) |
	       (p->product.shape.prologue ? FW_LINEAR_NORMALISE : 0);
}

static int plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t size)
{
	const size_t line = 64;
	struct product product;
	int status = take_problem(problem, &product, why, size);
	if (status != FW_OK)
		return status;
	if (!out || !info)
		return contract_refuse(FW_INVALID, why, size, "plan and info must not be NULL");
	struct fw_plan *p = (struct fw_plan *)aligned_alloc(line, (sizeof *p + line - 1) / line * line);
	if (!p)
		return contract_refuse(FW_FAILED, why, size, "out of memory");
	memset(p, 0, sizeof *p);
	p->product = product;
	status = choose_on(p, config, problem->flags & FW_FAST_ACCUM, index);
	if (status != FW_OK) {
		contract_refuse(status, why, size, "%s", p->error);
		free(p);
		return status;
	}
	struct fw_info answer;
	memset(&answer, 0, sizeof answer);
	answer.phases = phases_of(p);
	answer.once = answer.phases & FW_LINEAR_QUANTISE_WEIGHT;
	answer.workspace_bytes = (uint64_t)p->workspace_bytes;
	answer.persist_bytes = (uint64_t)p->persist_bytes;
	answer.config = p->gemm.config;
	answer.struct_size = contract_answer_bytes(info->struct_size, sizeof answer);
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

static int take(struct fw_plan *p, const struct fw_io *io, const struct operand *o, struct contract_matrix *matrix)
{
	static const char *const names[] = { "X", "W", "BIAS", "Y", "DY" };
	return contract_matrix(io, o->slot, names[o->slot], o->is_transposed ? o->rows : o->depth, matrix, p->error);
}

static int make_maps(struct fw_plan *p, const struct contract_matrix *out)
{
	struct gemm_job *job = &p->gemm.job;
	const struct gemm_kernel *kernel = p->gemm.kernel;
	const int depth = p->left.of.depth;
	const struct gemm_matrix left = { p->left.copy.values, job->m, depth, true, p->left.copy.pitch };
	const struct gemm_matrix right = { p->right.copy.values, job->n, depth, true, p->right.copy.pitch };
	const struct gemm_matrix result = { out->data, job->m, job->n, false, out->stride * 2 };
	int status = gemm_map(&job->left, &left, GEMM_ROWS, p->error);
	if (status == FW_OK)
		status = gemm_map(&job->right, &right, kernel->width / kernel->cluster, p->error);
	return status == FW_OK ? gemm_map(&job->out, &result, GEMM_STORE_ROWS, p->error) : status;
}

static int bind(struct fw_plan *p, const struct fw_io *io)
{
	static const char *const names[] = { "X", "W", "BIAS", "Y", "DY", "DX", "DW" };
	struct contract_matrix left = { NULL, 0 }, right = left, out = left, bias = left;
	if (!p)
		return FW_INVALID;
	p->is_bound = false;
	p->error[0] = '\0';
	if (!io || !io->slot)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "no slots");
	if ((p->workspace_bytes && !io->workspace) || (p->persist_bytes && !io->persist))
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "workspace or persist is missing");
	const struct product *product = &p->product;
	int status = take(p, io, &product->left, &left);
	if (status == FW_OK)
		status = take(p, io, &product->right, &right);
	if (status == FW_OK)
		status = contract_matrix(io, product->out, names[product->out], product->right.rows, &out, p->error);
	if (status == FW_OK && product->shape.bias)
		status = contract_matrix(io, FW_LINEAR_BIAS, "BIAS", product->shape.n, &bias, p->error);
	if (status != FW_OK)
		return status;
	p->workspace = (unsigned char *)io->workspace;
	p->x.data = left.data;
	p->x.stride = left.stride;
	if (product->shape.prologue) {
		left.data = p->workspace + p->normal_at;
		left.stride = product->shape.k;
	}
	fp8_side_bind(&p->left, &left, p->workspace, (unsigned char *)io->persist);
	fp8_side_bind(&p->right, &right, p->workspace, (unsigned char *)io->persist);
	p->gemm.job.bias = (const __nv_bfloat16 *)bias.data;
	p->gemm.job.left_scale = p->left.copy.scales;
	p->gemm.job.right_scale = p->right.copy.scales;
	status = make_maps(p, &out);
	p->is_bound = status == FW_OK;
	return status;
}

static int check_launch(struct fw_plan *p, const char *phase, int e)
{
	if (e == cudaSuccess)
		return FW_OK;
	return contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "%s: %s", phase, cudaGetErrorString((cudaError_t)e));
}

static int enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	int status = FW_OK;
	if (!p)
		return FW_INVALID;
	if (!p->is_bound)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "enqueue before bind");
	p->error[0] = '\0';
	phases &= phases_of(p);
	if (phases & FW_LINEAR_NORMALISE)
		status = check_launch(p, "normalise", quantise_normalise(&p->x, p->workspace + p->normal_at, stream));
	if (status == FW_OK && phases & fp8_side_phase(&p->right))
		status = check_launch(p, "quantise the right operand", fp8_side_enqueue(&p->right, stream));
	if (status == FW_OK && phases & fp8_side_phase(&p->left))
		status = check_launch(p, "quantise the left operand", fp8_side_enqueue(&p->left, stream));
	if (status == FW_OK && phases & FW_LINEAR_RUN)
		status = check_launch(p, "run", gemm_enqueue(&p->gemm, (cudaStream_t)stream));
	return status;
}

static const char *error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

static void destroy(struct fw_plan *p)
{
	free(p);
}

extern "C" const struct fw_provider linear_fp8 = { (uint32_t)sizeof(struct fw_provider), FW_CUDA, FW_LINEAR, 0, "fp8", can, plan,
	bind, enqueue, NULL, error, destroy };
