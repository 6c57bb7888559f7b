/**
 * v2.h - additions of provider "hopper.v2" to a job, for TMA and persistent blocks.
 *
 * Kernels of this stage exist only for compute capability 9.0 (wgmma, TMA, setmaxnreg). One producer warp loads, two consumer
 * warp groups compute.
 */
#ifndef ATTENTION_HOPPER_V2_H
#define ATTENTION_HOPPER_V2_H

#include "hopper/launch.h"
#include "stage.h"

#include <cuda.h>

/**
 * A bound problem, passed to kernels by value. Maps view a tensor (token, head, d) as (64 columns, token, panel, head); a box holds
 * `rows` tokens of all panels of one head, so that one load fills a tile of panels (see sm90.h).
 */
struct v2_job {
	struct job work;
	float *grad_kv;      /* in parts: [nhk * parts][n_tiles][2: dV, dK][outer_rows * headdim] in the order of v2_backward */
	struct job rows;     /* if dQ is a separate pass: the work list of its rows */
	CUtensorMap q, k, v; /* forward: boxes of 64 queries, of 128 keys */
	CUtensorMap k_half, v_half; /* forward with blocks of 64: boxes of 64 keys and one panel */
	CUtensorMap walk_k, walk_v; /* dQ pass: boxes of 128 keys */
	CUtensorMap o;              /* forward: boxes of 64 rows, stored */
	CUtensorMap grad_o; /* backward, where boxes of q and grad_o are 64 queries, those of k and v work.outer_rows keys */
	int32_t processors; /* multiprocessors: blocks of a persistent grid */
};

/** The stage's job that contains `job` as its first member. */
static inline const struct v2_job *v2_of(const struct job *job)
{
	return (const struct v2_job *)job;
}

extern const struct main_kernel v2_forward, v2_backward;
extern const struct main_kernel v2_grad_q; /* dQ as a separate pass, after v2_backward */

/* Phase CAST: convert the fp32 sums of v2_backward to dQ, and to dK and dV if these were summed in parts. */
cudaError_t v2_cast(const struct job *job, cudaStream_t stream);

/** Launch a persistent kernel: as many blocks as there are multiprocessors, or items. Units: `shared` bytes. */
static inline cudaError_t v2_launch(
	const struct v2_job *job, const void *kernel, int64_t items, int threads, int shared, cudaStream_t stream)
{
	return launch(kernel, items < job->processors ? items : job->processors, threads, shared, job, stream);
}

#endif
