// transpose.cuh - a square matrix of n rows, by tiles.
#pragma once

#include "blockops/runtime.cuh"

namespace blockops {

constexpr int tile = 32;

#ifdef __CUDACC__
__global__ void transpose_kernel(int n, const float *x, float *y)
{
	__shared__ float part[tile][tile + 1];
	int column = blockIdx.x * tile + threadIdx.x, row = blockIdx.y * tile + threadIdx.y;

	for (int k = 0; k < tile; k += 8)
		if (column < n && row + k < n)
			part[threadIdx.y + k][threadIdx.x] = x[(size_t)(row + k) * n + column];
	__syncthreads();
	column = blockIdx.y * tile + threadIdx.x;
	row = blockIdx.x * tile + threadIdx.y;
	for (int k = 0; k < tile; k += 8)
		if (column < n && row + k < n)
			y[(size_t)(row + k) * n + column] = part[threadIdx.x][threadIdx.y + k];
}

inline void transpose(int n, const float *x, float *y)
{
	int tiles = (n + tile - 1) / tile;

	transpose_kernel<<<dim3(tiles, tiles), dim3(tile, 8)>>>(n, x, y);
}
#else
inline void transpose(int n, const float *x, float *y)
{
	for (int row0 = 0; row0 < n; row0 += tile)
		for (int column0 = 0; column0 < n; column0 += tile)
			for (int row = row0; row < row0 + tile && row < n; row++)
				for (int column = column0; column < column0 + tile && column < n; column++)
					y[(size_t)column * n + row] = x[(size_t)row * n + column];
}
#endif

} // namespace blockops
