/**
 * v2.h - what the files of provider "hopper.v2" say to each other: the work lists of v1.h plus what TMA and persistent blocks need.
 *
 * Kernels of this stage exist only for compute capability 9.0 (wgmma, TMA, setmaxnreg). One producer warp loads, two consumer warp groups compute.
 */
#ifndef ATTENTION_HOPPER_V2_H
#define ATTENTION_HOPPER_V2_H

#include "v1.h"

#include <cuda.h>

/**
 * A bound problem, passed to kernels by value. Maps view a tensor (token, head, d) as (64 columns, token, panel, head); a box holds
 * `rows` tokens of all panels of one head, so that one load fills a tile of panels (see sm90.h).
 */
struct v2_job {
	struct v1_job work;
	float *grad_kv;      /* in parts: [nhk * parts][n_tiles][2: dV, dK][outer_rows * headdim] in the order of v2_backward */
	struct v1_job rows;  /* where dQ is a pass of its own: the work list of its rows */
	CUtensorMap q, k, v; /* forward: boxes of 64 queries, of 128 keys */
	CUtensorMap k_half, v_half; /* forward with blocks of 64: boxes of 64 keys and one panel */
	CUtensorMap walk_k, walk_v; /* dQ pass: boxes of 128 keys */
	CUtensorMap o;              /* forward: boxes of 64 rows, stored */
	CUtensorMap grad_o; /* backward: as q; there q and grad_o have boxes of 64 queries, k and v of work.outer_rows keys */
	int32_t processors; /* multiprocessors: blocks of a persistent grid */
};

/* Each launches one phase on the stream and returns what cudaGetLastError says. */
cudaError_t v2_forward(const struct v2_job *job, cudaStream_t stream);
cudaError_t v2_backward(const struct v2_job *job, cudaStream_t stream);
cudaError_t v2_cast(const struct v2_job *job, cudaStream_t stream); /* fp32 sums in the order of v2_backward become dQ */

cudaError_t v2_grad_q(const struct v2_job *job, cudaStream_t stream);    /* dQ, where it is a pass of its own */
cudaError_t v2_cast_keys(const struct v2_job *job, cudaStream_t stream); /* sums of parts become dK and dV */

/* Let the kernel that a job needs use its shared memory on the current device. */
cudaError_t v2_forward_setup(const struct v2_job *job);
cudaError_t v2_backward_setup(const struct v2_job *job);
cudaError_t v2_grad_q_setup(const struct v2_job *job);

/** Launch a persistent kernel: as many blocks as there are multiprocessors, or items. Units: `shared` bytes. */
static inline cudaError_t v2_launch(
	const struct v2_job *job, const void *kernel, int64_t items, int threads, int shared, cudaStream_t stream)
{
	const unsigned blocks = (unsigned)(items < job->processors ? items : job->processors);
	void *arguments[] = { (void *)job };
	const cudaError_t launched =
		cudaLaunchKernel(kernel, dim3(blocks), dim3((unsigned)threads), arguments, (size_t)shared, stream);
	const cudaError_t last = cudaGetLastError();
	return launched != cudaSuccess ? launched : last;
}

/** Units: bytes of dynamic shared memory. */
int v2_forward_shared(int headdim);
int v2_backward_shared(int headdim, int outer_rows);

#endif
