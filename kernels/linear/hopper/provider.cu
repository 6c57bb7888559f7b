/**
 * provider.cu - provider "hopper": the products of gemm.h behind the kernel ABI, with the conversions of the operands before
 * them.
 */
#include "plan.h"

#include "linear/providers.h"

#include <stdlib.h>

static int can(const struct fw_problem *problem, char *why, size_t size)
{
	const int status = plan_can(problem, why, size);
	return status == FW_OK ? gemm_can(why, size) : status;
}

/* Fill in the product for the problem. */
static void describe(struct fw_plan *p, const struct fw_problem *problem)
{
	const struct fw_linear_shape s = p->shape = contract_linear(problem);
	const bool forward = problem->direction == FW_FORWARD, wgrad = problem->direction == FW_WGRAD;
	p->direction = problem->direction;
	p->product.job.m = wgrad ? s.n : s.m;
	p->product.job.n = forward ? s.n : s.k;
	p->depth = forward ? s.k : wgrad ? s.m : s.n;
	p->product.job.activation = s.activation;
	p->form = !forward || contract_is_plain(&s.w) ? WEIGHT_PLAIN
		  : contract_is_plain(&s.x)           ? WEIGHT_EXPANDED
						      : WEIGHT_MULTIPLIED;
	p->kind = s.w.dtype == FW_I4 ? QUANTISE_I4 : s.w.dtype == FW_I8 ? QUANTISE_I8 : QUANTISE_E4M3;
}

/* Make the device-dependent choices for device `index`; the current device is restored. */
static int plan_on(struct fw_plan *p, const char *config, bool is_fast, int index)
{
	int previous = 0, processors = 0;
	cudaError_t e = cudaGetDevice(&previous);
	if (e == cudaSuccess)
		e = cudaSetDevice(index);
	if (e == cudaSuccess)
		e = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, index);
	const int status = e == cudaSuccess ? plan_choose(p, config, is_fast, processors)
					    : contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "device %d: %s", index,
						      cudaGetErrorString(e));
	e = cudaSetDevice(previous);
	if (e != cudaSuccess && status == FW_OK)
		return contract_refuse(
			FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "device %d: %s", previous, cudaGetErrorString(e));
	return status;
}

static uint32_t phases_of(const struct fw_plan *p)
{
	return FW_LINEAR_RUN | (p->form != WEIGHT_PLAIN ? FW_LINEAR_QUANTISE_WEIGHT : 0) |
	       (p->form == WEIGHT_MULTIPLIED ? FW_LINEAR_QUANTISE_ACTIVATION : 0) | (p->shape.prologue ? FW_LINEAR_NORMALISE : 0);
}

static int plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t size)
{
	const size_t line = 64;
	int status = plan_can(problem, why, size);
	if (status != FW_OK)
		return status;
	if (!out || !info)
		return contract_refuse(FW_INVALID, why, size, "plan and info must not be NULL");
	struct fw_plan *p = (struct fw_plan *)aligned_alloc(line, (sizeof *p + line - 1) / line * line);
	if (!p)
		return contract_refuse(FW_FAILED, why, size, "out of memory");
	memset(p, 0, sizeof *p);
	describe(p, problem);
	status = plan_on(p, config, problem->flags & FW_FAST_ACCUM, index);
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
	answer.config = p->product.config;
	answer.struct_size = contract_answer_bytes(info->struct_size, sizeof answer);
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

static int quantise_weight(struct fw_plan *p, cudaStream_t stream)
{
	unsigned char *scales = p->persist + p->w_scale_at;
	if (p->kind == QUANTISE_I4)
		return quantise_groups(&p->w, p->shape.w.group, p->persist, scales, stream);
	if (p->shape.w.scaling == FW_LINEAR_BY_ROW)
		return quantise_rows(&p->w, p->kind, p->persist, (float *)scales, stream);
	return quantise_tensor(&p->w, QUANTISE_E4M3, p->persist, (float *)scales, p->workspace + p->partial_at, stream);
}

static int quantise_activation(struct fw_plan *p, cudaStream_t stream)
{
	struct quantise_source x = p->x;
	unsigned char *values = p->workspace + p->x_q_at;
	float *scales = (float *)(p->workspace + p->x_scale_at);
	if (p->shape.prologue) {
		x.data = p->workspace + p->normal_at;
		x.stride = x.columns;
	}
	return p->shape.x.scaling == FW_LINEAR_BY_ROW
		       ? quantise_rows(&x, QUANTISE_E4M3, values, scales, stream)
		       : quantise_tensor(&x, QUANTISE_E4M3, values, scales, p->workspace + p->partial_at, stream);
}

static int run(struct fw_plan *p, cudaStream_t stream)
{
	if (p->form == WEIGHT_EXPANDED) {
		const int e = quantise_expand(p->kind, p->persist, p->persist + p->w_scale_at, p->shape.w.group,
			(int64_t)p->shape.n * p->shape.k, p->workspace + p->expanded_at, stream);
		if (e != cudaSuccess)
			return e;
	}
	return gemm_enqueue(&p->product, stream);
}

static int check_launch(struct fw_plan *p, const char *phase, int e)
{
	if (e == cudaSuccess)
		return FW_OK;
	return contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "%s: %s", phase, cudaGetErrorString((cudaError_t)e));
}

static int enqueue(struct fw_plan *p, uint32_t phases, void *stream_handle)
{
	const cudaStream_t stream = (cudaStream_t)stream_handle;
	int status = FW_OK;
	if (!p)
		return FW_INVALID;
	if (!p->bound)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "enqueue before bind");
	p->error[0] = '\0';
	phases &= phases_of(p);
	if (phases & FW_LINEAR_QUANTISE_WEIGHT)
		status = check_launch(p, "quantise_weight", quantise_weight(p, stream));
	if (status == FW_OK && phases & FW_LINEAR_NORMALISE)
		status = check_launch(p, "normalise", quantise_normalise(&p->x, p->workspace + p->normal_at, stream));
	if (status == FW_OK && phases & FW_LINEAR_QUANTISE_ACTIVATION)
		status = check_launch(p, "quantise_activation", quantise_activation(p, stream));
	if (status == FW_OK && phases & FW_LINEAR_RUN)
		status = check_launch(p, "run", run(p, stream));
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

extern "C" const struct fw_provider linear_hopper = { (uint32_t)sizeof(struct fw_provider), FW_CUDA, FW_LINEAR, 0, "hopper", can,
	plan, plan_bind, enqueue, NULL, error, destroy };
