/**
 * provider.cu - provider "v1": the plain products in bf16 by mma.sync, on any device from compute capability 8.0 on.
 */
#include "v1.h"

#include "linear/contract.h"
#include "linear/providers.h"

#include <stdlib.h>

struct fw_plan {
	struct v1_job job;
	struct fw_linear_shape shape;
	int direction;
	bool bound;
	char error[CONTRACT_TEXT_BYTES];
};

static const char *const config_text = "TILE=128x128";

static int can(const struct fw_problem *problem, char *why, size_t size)
{
	const int status = contract_linear_unblocked(problem, why, size);
	if (status != FW_OK)
		return status;
	const struct fw_linear_shape s = contract_linear(problem);
	if (s.prologue || s.activation || s.bias)
		return contract_refuse(FW_UNSUPPORTED, why, size, "only the product, without prologue, activation and bias");
	if (!contract_is_plain(&s.x) || !contract_is_plain(&s.w) || !contract_is_plain(&s.dy))
		return contract_refuse(FW_UNSUPPORTED, why, size, "only bf16");
	if (s.k % 8 || s.n % 8)
		return contract_refuse(FW_UNSUPPORTED, why, size, "k and n must be multiples of 8, not %d and %d", s.k, s.n);
	const int32_t columns = problem->direction == FW_FORWARD ? s.n : s.k;
	if (columns > V1_COLUMNS_MAX)
		return contract_refuse(FW_UNSUPPORTED, why, size,
			"%d columns of the result are more than the %d that a launch has blocks for", columns, V1_COLUMNS_MAX);
	return FW_OK;
}

/* Prepare the kernel on device `index`; the current device is restored. */
static cudaError_t ready(const struct v1_job *job, int index)
{
	int previous = 0;
	cudaError_t e = cudaGetDevice(&previous);
	if (e == cudaSuccess)
		e = cudaSetDevice(index);
	if (e == cudaSuccess)
		e = v1_setup(job);
	const cudaError_t restored = cudaSetDevice(previous);
	(void)cudaGetLastError();
	return e != cudaSuccess ? e : restored;
}

static int plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t size)
{
	const int status = can(problem, why, size);
	if (status != FW_OK)
		return status;
	if (!out || !info)
		return contract_refuse(FW_INVALID, why, size, "plan and info must not be NULL");
	if (config && strcmp(config, config_text))
		return contract_refuse(FW_UNSUPPORTED, why, size, "config \"%s\" is not %s", config, config_text);
	struct fw_plan *p = (struct fw_plan *)calloc(1, sizeof *p);
	if (!p)
		return contract_refuse(FW_FAILED, why, size, "out of memory");
	const struct fw_linear_shape s = p->shape = contract_linear(problem);
	const bool forward = problem->direction == FW_FORWARD, wgrad = problem->direction == FW_WGRAD;
	p->direction = problem->direction;
	p->job.m = wgrad ? s.n : s.m;
	p->job.n = forward ? s.n : s.k;
	p->job.depth = forward ? s.k : wgrad ? s.m : s.n;
	p->job.left_across = wgrad;
	p->job.right_across = !forward;
	const cudaError_t e = ready(&p->job, index);
	if (e != cudaSuccess) {
		free(p);
		return contract_refuse(e == cudaErrorNoKernelImageForDevice ? FW_UNSUPPORTED : FW_FAILED, why, size,
			"device %d: %s", index, cudaGetErrorString(e));
	}
	struct fw_info answer;
	memset(&answer, 0, sizeof answer);
	answer.phases = FW_LINEAR_RUN;
	answer.config = config_text;
	answer.struct_size = contract_answer_bytes(info->struct_size, sizeof answer);
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

static int bind(struct fw_plan *p, const struct fw_io *io)
{
	struct contract_matrix left = { NULL, 0 }, right = left, to = left;
	if (!p)
		return FW_INVALID;
	p->bound = false;
	p->error[0] = '\0';
	if (!io || !io->slot)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "no slots");
	const bool forward = p->direction == FW_FORWARD, wgrad = p->direction == FW_WGRAD;
	const int64_t n = p->shape.n, k = p->shape.k;
	int status = forward ? contract_matrix(io, FW_LINEAR_X, "X", k, &left, p->error)
			     : contract_matrix(io, FW_LINEAR_DY, "DY", n, &left, p->error);
	if (status == FW_OK)
		status = wgrad ? contract_matrix(io, FW_LINEAR_X, "X", k, &right, p->error)
			       : contract_matrix(io, FW_LINEAR_W, "W", k, &right, p->error);
	if (status == FW_OK)
		status = forward ? contract_matrix(io, FW_LINEAR_Y, "Y", n, &to, p->error)
			 : wgrad ? contract_matrix(io, FW_LINEAR_DW, "DW", k, &to, p->error)
				 : contract_matrix(io, FW_LINEAR_DX, "DX", k, &to, p->error);
	if (status != FW_OK)
		return status;
	p->job.left = (const __nv_bfloat16 *)left.data;
	p->job.right = (const __nv_bfloat16 *)right.data;
	p->job.out = (__nv_bfloat16 *)to.data;
	p->job.left_stride = left.stride;
	p->job.right_stride = right.stride;
	p->job.out_stride = to.stride;
	p->bound = true;
	return FW_OK;
}

static int enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	if (!p)
		return FW_INVALID;
	if (!p->bound)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "enqueue before bind");
	p->error[0] = '\0';
	const cudaError_t e = phases & FW_LINEAR_RUN ? v1_run(&p->job, (cudaStream_t)stream) : cudaSuccess;
	return e == cudaSuccess ? FW_OK
				: contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "run: %s", cudaGetErrorString(e));
}

static const char *error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

static void destroy(struct fw_plan *p)
{
	free(p);
}

extern "C" const struct fw_provider linear_v1 = { (uint32_t)sizeof(struct fw_provider), FW_CUDA, FW_LINEAR, 0, "v1", can, plan,
	bind, enqueue, NULL, error, destroy };
