/**
 * gemm_bf16.cu - products of bf16: forward, and both gradients without a transposed copy.
 */
#include "gemm_kernel.h"

template <int LEFT, int RIGHT, int WIDTH, int STAGES, int CLUSTER, int BUFFERS, int FINISHES>
using tiles = gemm_tiles<GEMM_BF16, LEFT, RIGHT, WIDTH, STAGES, CLUSTER, BUFFERS, FINISHES>;

const struct gemm_kernel *gemm_kernels_bf16(void)
{
	static const struct gemm_kernel kernels[] = {
		gemm_kernel_entry<tiles<0, 0, 256, 4, 2, 2, GEMM_PLAIN>>(),
		gemm_kernel_entry<tiles<0, 0, 128, 6, 2, 2, GEMM_PLAIN>>(),
		gemm_kernel_entry<tiles<0, 0, 256, 4, 2, 2, GEMM_SCALES>>(),
		gemm_kernel_entry<tiles<0, 0, 128, 6, 2, 2, GEMM_SCALES>>(),
		gemm_kernel_entry<tiles<0, 0, 256, 4, 2, 2, GEMM_ALL>>(),
		gemm_kernel_entry<tiles<0, 0, 128, 6, 2, 2, GEMM_ALL>>(),
		gemm_kernel_entry<tiles<0, 1, 256, 4, 2, 2, GEMM_PLAIN>>(),
		gemm_kernel_entry<tiles<0, 1, 128, 6, 2, 2, GEMM_PLAIN>>(),
		gemm_kernel_entry<tiles<1, 1, 256, 4, 2, 2, GEMM_PLAIN>>(),
		gemm_kernel_entry<tiles<1, 1, 128, 6, 2, 2, GEMM_PLAIN>>(),
		{},
	};
	return kernels;
}
