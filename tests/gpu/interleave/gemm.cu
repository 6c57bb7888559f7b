// gemm.cu - a main() of eight matrix products, using the kit: tensor cores, 128 x 128 tiles, no advanced optimisations. The file
// `extra` in the same folder adds a share of work to cells: lines "CELL SHARE". Built with: nvcc -O3 -std=c++17 -arch=native -I
// daemon/kit -o gemm gemm.cu
#include "flopwatch.h"

#include <cuda_bf16.h>
#include <mma.h>
#include <vector>

using namespace nvcuda;

enum { POSITIONS = 5 /* odd: alternating warm and timed calls visit all */, TILE = 128, DEEP = 32, PAD = 8, THREADS = 256 };

// C = A B over the first `deep` columns of A and rows of B, row by row; all sizes are multiples of the tiles.
static __global__ void __run_bounds__(THREADS)
	gemm(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n, int k, int deep)
{
	__shared__ __nv_bfloat16 sa[TILE][DEEP + PAD], sb[DEEP][TILE + PAD];
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4][2];
	const int warp = threadIdx.x / 32, row = warp / 4 * 64, column = warp % 4 * 32;
	const size_t top = (size_t)blockIdx.y * TILE, left = (size_t)blockIdx.x * TILE;

	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 2; j++)
			wmma::fill_fragment(sum[i][j], 0.0F);
	for (int at = 0; at < deep; at += DEEP) {
		for (int i = threadIdx.x; i < TILE * DEEP / 8; i += THREADS) {
			*(uint4 *)&sa[i / (DEEP / 8)][i % (DEEP / 8) * 8] =
				*(const uint4 *)&a[(top + i / (DEEP / 8)) * k + (at + i % (DEEP / 8) * 8) % k];
			*(uint4 *)&sb[i / (TILE / 8)][i % (TILE / 8) * 8] =
				*(const uint4 *)&b[(size_t)((at + i / (TILE / 8)) % k) * n + left + i % (TILE / 8) * 8];
		}
		__syncthreads();
		for (int step = 0; step < DEEP; step += 16) {
			wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa[4];
			wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb[2];

			for (int i = 0; i < 4; i++)
				wmma::load_matrix_sync(fa[i], &sa[row + 16 * i][step], DEEP + PAD);
			for (int j = 0; j < 2; j++)
				wmma::load_matrix_sync(fb[j], &sb[step][column + 16 * j], TILE + PAD);
			for (int i = 0; i < 4; i++)
				for (int j = 0; j < 2; j++)
					wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
		}
		__syncthreads();
	}
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 2; j++)
			wmma::store_matrix_sync(
				&c[(top + row + 16 * i) * n + left + column + 16 * j], sum[i][j], n, wmma::mem_row_major);
}

struct problem {
	int m, n, k, deep;
	const __nv_bfloat16 *a, *b;
	float *c;
};

static float at(size_t i)
{
	return (float)((int)(i * 2654435761u >> 20) % 16 - 8) * 0.0625F;
}

// One row of C, in double precision.
static const char *check(void *argument)
{
	const problem *p = (const problem *)argument;
	std::vector<float> got(p->n), wanted(p->n);

	flopwatch_must(
		cudaMemcpy(got.data(), p->c + (size_t)(p->m - 3) * p->n, got.size() * sizeof(float), cudaMemcpyDeviceToHost),
		"C");
	for (int j = 0; j < p->n; j += 61) {
		double sum = 0;

		for (int i = 0; i < p->deep; i++)
			sum += (double)at((size_t)(p->m - 3) * p->k + i % p->k) * (double)at((size_t)(i % p->k) * p->n + j);
		wanted[j] = (float)sum;
	}
	for (int j = 0; j < p->n; j++)
		if (j % 61)
			wanted[j] = got[j];
	return flopwatch_compare(got.data(), wanted.data(), wanted.size(), 1e-3, 1e-2);
}

static double extra_of(const char *key)
{
	char name[64];
	double share, found = 0;
	FILE *f = fopen("extra", "r");

	while (f && fscanf(f, "%63s %lf", name, &share) == 2)
		if (strcmp(name, key) == 0)
			found = share;
	if (f)
		fclose(f);
	return found;
}

int main()
{
	static const int sizes[8][3] = { { 4096, 4096, 4096 }, { 4096, 4096, 5120 }, { 4096, 5120, 4096 }, { 2048, 8192, 4096 },
		{ 8192, 2048, 4096 }, { 4096, 8192, 2048 }, { 8192, 4096, 2560 }, { 6144, 3072, 4096 } };
	const size_t most = (size_t)8192 * 5120;
	std::vector<__nv_bfloat16> host(most);
	// The address of a buffer affects the time of a call: successive calls use different addresses.
	__nv_bfloat16 *a[POSITIONS], *b[POSITIONS];
	float *c[POSITIONS];

	for (size_t i = 0; i < most; i++)
		host[i] = __float2bfloat16(at(i));
	for (int i = 0; i < POSITIONS; i++) {
		flopwatch_must(cudaMalloc(&a[i], most * 2), "A");
		flopwatch_must(cudaMalloc(&b[i], most * 2), "B");
		flopwatch_must(cudaMalloc(&c[i], most * 4), "C");
		flopwatch_must(cudaMemcpy(a[i], host.data(), most * 2, cudaMemcpyHostToDevice), "A");
		flopwatch_must(cudaMemcpy(b[i], host.data(), most * 2, cudaMemcpyHostToDevice), "B");
	}
	for (const auto &s : sizes) {
		char key[64];
		unsigned made = 0;
		problem p = { s[0], s[1], s[2], 0, a[0], b[0], c[0] };

		snprintf(key, sizeof(key), "gemm/%dx%dx%d", s[0], s[1], s[2]);
		p.deep = s[2] + (int)(extra_of(key) * s[2] / DEEP + 0.5) * DEEP;
		flopwatch_check(check, &p);
		FLOPWATCH_CUDA(key, 2.0 * s[0] * s[1] * s[2], 0, nullptr)
		{
			const unsigned position = made++ % POSITIONS;

			gemm<<<dim3(p.n / TILE, p.m / TILE), THREADS>>>(a[position], b[position], c[position], p.n, p.k, p.deep);
		}
	}
	return 0;
}
