/* cuda.cu - layer normalisation on a GPU: choice of the kernel in kernel.h, the number of blocks and the threads per block. */
#include "layernorm/kernel.h"
#include "layernorm/plan.h"

/* Forward uses persistent blocks up to here: faster for 16,384 x 1024; for 4096 x 8192 a block per row is faster. */
#define WALK_ELEMENTS_MAX (24 << 20)

/* Forward has four vectors per thread, so that one warp holds a row of 1024; backward holds more data per vector. */
static int threads_of(const struct fw_layernorm *a, int direction)
{
	const int vectors = a->columns / VECTOR;
	const int a_thread = direction == FW_FORWARD ? 4 : vectors > 2 * THREADS_MAX ? 4 : vectors > 128 ? 2 : 1;
	const int threads = ((vectors + a_thread - 1) / a_thread + 31) / 32 * 32;
	return threads < THREADS_MAX ? threads : THREADS_MAX;
}

static int can(const struct fw_problem *problem, char *why, size_t why_size)
{
	const int status = layernorm_can(problem, why, why_size);
	const int most = THREADS_MAX * VECTORS_MAX * VECTOR;
	if (status == FW_OK && fw_layernorm_of(problem)->columns > most)
		return contract_refuse(
			FW_UNSUPPORTED, why, why_size, "a row of more than %d columns does not fit into registers", most);
	return status;
}

template <int N> static const void *kernel_of(int direction, bool walks)
{
	return direction == FW_BACKWARD         ? (const void *)backward<N>
	       : walks && N <= WALK_VECTORS_MAX ? (const void *)forward<N, N <= WALK_VECTORS_MAX>
						: (const void *)forward<N, false>;
}

static const void *kernel_for(const struct fw_layernorm *a, int direction, bool walks)
{
	const int threads = threads_of(a, direction), n = (a->columns / VECTOR + threads - 1) / threads;
	return n <= 1   ? kernel_of<1>(direction, walks)
	       : n <= 2 ? kernel_of<2>(direction, walks)
	       : n <= 4 ? kernel_of<4>(direction, walks)
			: kernel_of<VECTORS_MAX>(direction, walks);
}

/*
 * Number of persistent blocks: as many as can be resident. Backward writes partial sums per block, so it uses only as many as
 * saturate memory.
 */
static cudaError_t walkers(const struct fw_layernorm *a, int direction, int index, int *blocks)
{
	const int threads = threads_of(a, direction);
	int sms = 0, a_sm = THREADS_MAX / threads;
	cudaError_t e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, index);
	if (e == cudaSuccess && direction == FW_FORWARD)
		e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_sm, kernel_for(a, direction, true), threads, 0);
	*blocks = sms * a_sm < a->rows ? sms * a_sm : a->rows;
	return e;
}

static int plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t why_size)
{
	int blocks = 0;
	if (can(problem, why, why_size) != FW_OK)
		return FW_UNSUPPORTED;
	const struct fw_layernorm *a = fw_layernorm_of(problem);
	const bool is_backward = problem->direction == FW_BACKWARD;
	const bool can_walk = is_backward || a->columns <= THREADS_MAX * WALK_VECTORS_MAX * VECTOR;
	bool walks = is_backward || (can_walk && (int64_t)a->rows * a->columns <= WALK_ELEMENTS_MAX);
	if (config && !(can_walk && strcmp(config, "WALKS=1") == 0) && !(!is_backward && strcmp(config, "WALKS=0") == 0))
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "there is no %s of this problem", config);
	walks = config ? strcmp(config, "WALKS=1") == 0 : walks;
	const cudaError_t e = walkers(a, problem->direction, index, &blocks);
	if (e != cudaSuccess)
		return contract_refuse(FW_FAILED, why, why_size, "device %d: %s", index, cudaGetErrorString(e));
	return layernorm_plan(problem, walks ? blocks : a->rows, walks ? "WALKS=1" : "WALKS=0", out, info, why, why_size);
}

static cudaError_t enqueue_rows(const struct fw_plan *p, cudaStream_t stream)
{
	job j = { (const uint4 *)p->slot[FW_LAYERNORM_X], (const uint4 *)p->slot[FW_LAYERNORM_GAMMA],
		(const uint4 *)p->slot[FW_LAYERNORM_BETA], (const uint4 *)p->slot[FW_LAYERNORM_DY],
		(uint4 *)p->slot[FW_LAYERNORM_Y], (uint4 *)p->slot[FW_LAYERNORM_DX], (float *)p->slot[FW_LAYERNORM_MEAN],
		(float *)p->slot[FW_LAYERNORM_RSTD], p->partial, p->a.rows, p->a.columns / VECTOR, p->parts, p->a.epsilon };
	void *arguments[] = { &j };
	return cudaLaunchKernel(kernel_for(&p->a, p->direction, p->parts < p->a.rows), dim3((unsigned)p->parts),
		dim3((unsigned)threads_of(&p->a, p->direction)), arguments, 0, stream);
}

static int enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	if (!p->is_bound)
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "no bind came before");
	cudaError_t e = phases & FW_LAYERNORM_ROWS ? enqueue_rows(p, (cudaStream_t)stream) : cudaSuccess;
	if (p->direction == FW_BACKWARD && (phases & FW_LAYERNORM_COLUMNS))
		columns<<<dim3((unsigned)(p->a.columns + COLUMNS_A_BLOCK - 1) / COLUMNS_A_BLOCK, 2), dim3(COLUMNS_A_BLOCK, 32), 0,
			(cudaStream_t)stream>>>(p->partial, p->parts, p->a.columns, (uint16_t *)p->slot[FW_LAYERNORM_DGAMMA],
			(uint16_t *)p->slot[FW_LAYERNORM_DBETA]);
	const cudaError_t last = cudaGetLastError();
	e = e == cudaSuccess ? last : e;
	return e == cudaSuccess ? FW_OK
				: contract_refuse(FW_FAILED, p->error, sizeof p->error, "a launch: %s", cudaGetErrorString(e));
}

extern "C" const struct fw_provider layernorm_cuda = { sizeof(struct fw_provider), FW_CUDA, FW_LAYERNORM, 0, "cuda", can, plan,
	layernorm_bind, enqueue, layernorm_count, layernorm_error, layernorm_destroy };
