/**
 * v1.h - parameters of the kernel of provider "v1": out (m, n) = left (m, depth) right (n, depth)^T in bf16.
 */
#ifndef LINEAR_V1_H
#define LINEAR_V1_H

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdint.h>

/** Units: strides in elements, between stored rows. Passed to the kernel by value. */
struct v1_job {
	const __nv_bfloat16 *left, *right;
	__nv_bfloat16 *out;
	int64_t left_stride, right_stride, out_stride;
	int32_t m, n, depth;
	int32_t left_across, right_across; /* stored with rows along depth */
};

/** Maximum rows and columns of the result: a grid has 65,535 blocks of 128 across. */
enum { V1_COLUMNS_MAX = 65535 * 128 };

/** Allow the kernel its shared memory on the current device. */
cudaError_t v1_setup(const struct v1_job *);

cudaError_t v1_run(const struct v1_job *, cudaStream_t);

#endif
