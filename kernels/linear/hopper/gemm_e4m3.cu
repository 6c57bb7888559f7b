/**
 * gemm_e4m3.cu - products of e4m3, and of e5m2 by e4m3, scaled in the epilogue or after each step.
 */
#include "gemm_kernel.h"

template <int OPERANDS, int WIDTH, int STAGES, int FINISHES, int BUFFERS = 2>
using tiles = gemm_tiles<OPERANDS, 0, 0, WIDTH, STAGES, 2, BUFFERS, FINISHES>;

const struct gemm_kernel *gemm_kernels_e4m3(void)
{
	static const struct gemm_kernel kernels[] = {
		gemm_kernel_entry<tiles<GEMM_E4M3, 256, 4, GEMM_SCALES>>(),
		gemm_kernel_entry<tiles<GEMM_E4M3, 256, 3, GEMM_SCALES, 4>>(),
		gemm_kernel_entry<tiles<GEMM_E4M3, 128, 6, GEMM_SCALES>>(),
		gemm_kernel_entry<tiles<GEMM_E4M3, 256, 4, GEMM_ALL>>(),
		gemm_kernel_entry<tiles<GEMM_E4M3, 128, 6, GEMM_ALL>>(),
		gemm_kernel_entry<tiles<GEMM_E4M3_PRECISE, 128, 6, GEMM_ALL>>(),
		gemm_kernel_entry<tiles<GEMM_E5M2, 256, 4, GEMM_SCALES>>(),
		gemm_kernel_entry<tiles<GEMM_E5M2, 128, 6, GEMM_SCALES>>(),
		gemm_kernel_entry<tiles<GEMM_E5M2_PRECISE, 128, 6, GEMM_SCALES>>(),
		gemm_kernel_entry<tiles<GEMM_E4M3_BLOCKS, 128, 6, GEMM_PLAIN>>(),
		gemm_kernel_entry<tiles<GEMM_E4M3_BLOCKS, 128, 6, GEMM_ALL>>(),
		gemm_kernel_entry<tiles<GEMM_E4M3_SPANS, 128, 6, GEMM_PLAIN>>(),
		{},
	};
	return kernels;
}
