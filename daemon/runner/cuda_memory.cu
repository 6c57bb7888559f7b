/*
 * cuda_memory.cu - buffers on an NVIDIA GPU with redzones, and operations on their bytes.
 *
 * Released memory stays here for the next cell: otherwise a run of twenty cells would spend more time in cudaMalloc than in
 * kernels.
 */
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

extern "C" {
#include "runner/internal.h"

#include "model/model.h"
}
#include "runner/cuda_graph.cuh"
#include "runner/cuda_inside.cuh"

enum { THREADS = 256, GRID_MAX = 4096 };

static const size_t granularity = (size_t)2 << 20;     /* of cudaMalloc */
static const size_t cached_max = (size_t)24 << 30;     /* limit of released memory that stays cached */
static const size_t zone_bytes = DEVICE_REDZONE_BYTES; /* of one redzone */

static __global__ void fill_inputs_kernel(uint16_t *to, uint64_t stream, size_t n)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		to[i] = inputs_element(stream, i);
}

static __global__ void checksum_kernel(const uint64_t *data, size_t bytes, unsigned long long *total)
{
	const size_t n = bytes / sizeof(*data), first = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	unsigned long long sum = 0;
#pragma unroll 4
	for (size_t i = first; i < n; i += (size_t)gridDim.x * blockDim.x)
		sum += inputs_summand(data[i], i);
	if (first == 0) {
		uint64_t rest = 0;
		for (size_t i = n * sizeof(*data); i < bytes; i++)
			rest |= (uint64_t)((const unsigned char *)data)[i] << i % sizeof(*data) * 8;
		sum += inputs_summand(rest, n);
	}
	for (int lane = 16; lane > 0; lane >>= 1)
		sum += __shfl_down_sync(0xffffffffu, sum, lane);
	if (threadIdx.x % 32 == 0)
		atomicAdd(total, sum);
}

/*
 * EXPONENT: the bits that are all set in NaN and infinite values. `first` is the least index of one, left alone if there is none.
 */
template <class T, T EXPONENT> static __global__ void find_nonfinite_kernel(const T *data, size_t n, unsigned long long *first)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		if ((data[i] & EXPONENT) == EXPONENT)
			atomicMin(first, (unsigned long long)i);
}

/* Magnitudes of bf16 are ordered as their bits are. */
static __global__ void find_largest_kernel(const uint16_t *data, size_t n, unsigned long long *largest)
{
	unsigned most = 0;
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		most = max(most, data[i] & 0x7fffu);
	most = __reduce_max_sync(0xffffffffu, most);
	if (threadIdx.x % 32 == 0)
		atomicMax(largest, (unsigned long long)most);
}

/* Shape: to[n / width][width]. Units: 2 bytes. */
static __global__ void gather_rows_kernel(uint16_t *to, const uint16_t *from, size_t pitch, size_t width, size_t n)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		to[i] = from[i / width * pitch + i % width];
}

static __device__ unsigned char redzone_byte(size_t i)
{
	return (unsigned char)(0xc3u ^ (unsigned)(i * 29u));
}

static __global__ void lay_zones_kernel(unsigned char *front, unsigned char *behind)
{
	unsigned char *zone = blockIdx.x == 0 ? front : behind;
	for (size_t i = threadIdx.x; i < DEVICE_REDZONE_BYTES; i += blockDim.x)
		zone[i] = redzone_byte(i);
}

/* One block per zone; repairs a damaged one. */
static __global__ void check_zones_kernel(unsigned char *const *zones, unsigned *damaged)
{
	unsigned char *zone = zones[blockIdx.x];
	unsigned bad = 0;
	for (size_t i = threadIdx.x; i < DEVICE_REDZONE_BYTES; i += blockDim.x) {
		if (zone[i] != redzone_byte(i)) {
			bad = 1;
			zone[i] = redzone_byte(i);
		}
	}
	int any = __syncthreads_or((int)bad);
	if (threadIdx.x == 0)
		damaged[blockIdx.x] = (unsigned)any;
}

static unsigned grid_for(size_t n)
{
	size_t blocks = (n + THREADS - 1) / THREADS;
	return (unsigned)(blocks < 1 ? 1 : blocks > GRID_MAX ? GRID_MAX : blocks);
}

/* Find the smallest released block that holds `need` and is not far too large. */
static struct block *reusable(struct device *d, size_t need)
{
	struct block *best = NULL;
	for (int i = 0; i < CUDA_BLOCKS_MAX; i++) {
		struct block *b = &d->block[i];
		if (!b->base || b->live || b->capacity < need || b->capacity > 2 * need + granularity)
			continue;
		if (!best || b->capacity < best->capacity)
			best = b;
	}
	return best;
}

static int drop_cached(struct device *d, struct fw_err *err)
{
	for (int i = 0; i < CUDA_BLOCKS_MAX; i++) {
		struct block *b = &d->block[i];
		if (!b->base || b->live)
			continue;
		TRY(cudaFree(b->base), "cannot free memory");
		memset(b, 0, sizeof(*b));
	}
	return 0;
}

static struct block *unused_entry(struct device *d)
{
	for (int i = 0; i < CUDA_BLOCKS_MAX; i++)
		if (!d->block[i].base)
			return &d->block[i];
	return NULL;
}

static int fresh_block(struct device *d, size_t need, struct block **out, struct fw_err *err)
{
	size_t capacity = (need + granularity - 1) / granularity * granularity;
	struct block *b = unused_entry(d);
	if (!b) {
		if (drop_cached(d, err) != 0)
			return -1;
		b = unused_entry(d);
	}
	if (!b)
		return err_set(err, ERR_FULL, "more than %d buffers", CUDA_BLOCKS_MAX);
	void *base = NULL;
	cudaError_t e = cudaMalloc(&base, capacity);
	if (e == cudaErrorMemoryAllocation) {
		cudaGetLastError();
		if (drop_cached(d, err) != 0)
			return -1;
		e = cudaMalloc(&base, capacity);
	}
	if (e != cudaSuccess) {
		char what[80];
		snprintf(what, sizeof(what), "no device memory for %zu bytes", need);
		return cuda_graph_fail(e, what, err);
	}
	b->base = (unsigned char *)base;
	b->capacity = capacity;
	*out = b;
	return 0;
}

int cuda_alloc(struct device *d, size_t bytes, void **out, struct fw_err *err)
{
	struct block *b = reusable(d, bytes + 2 * zone_bytes);
	if (!b && fresh_block(d, bytes + 2 * zone_bytes, &b, err) != 0)
		return -1;
	b->bytes = bytes;
	b->live = true;
	lay_zones_kernel<<<2, THREADS, 0, d->stream>>>(b->base, b->base + zone_bytes + bytes);
	TRY(cudaGetLastError(), "cannot lay redzones");
	*out = b->base + zone_bytes;
	return 0;
}

void cuda_release(struct device *d, void *data)
{
	size_t cached = 0;
	for (int i = 0; data && i < CUDA_BLOCKS_MAX; i++) {
		struct block *b = &d->block[i];
		if (b->base && b->live && b->base + zone_bytes == data)
			b->live = false;
		if (b->base && !b->live)
			cached += b->capacity;
	}
	if (cached > cached_max) {
		struct fw_err ignored = {};
		drop_cached(d, &ignored);
	}
}

int cuda_upload(struct device *d, void *to, const void *from, size_t bytes, struct fw_err *err)
{
	/* On our stream: a plain cudaMemcpy from pageable memory may return before the bytes have arrived. */
	TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, d->stream), "cannot copy to the device");
	return cuda_wait(d, err);
}

int cuda_download(struct device *d, void *to, const void *from, size_t bytes, struct fw_err *err)
{
	TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, d->stream), "cannot copy from the device");
	return cuda_wait(d, err);
}

int cuda_check_redzones(struct device *d, void **which, struct fw_err *err)
{
	unsigned char *zone[2 * CUDA_BLOCKS_MAX];
	unsigned damaged[2 * CUDA_BLOCKS_MAX];
	void *owner[2 * CUDA_BLOCKS_MAX];
	unsigned n = 0;
	for (int i = 0; i < CUDA_BLOCKS_MAX; i++) {
		struct block *b = &d->block[i];
		if (!b->base || !b->live)
			continue;
		owner[n] = owner[n + 1] = b->base + zone_bytes;
		zone[n++] = b->base;
		zone[n++] = b->base + zone_bytes + b->bytes;
	}
	if (n == 0)
		return 0;
	if (cuda_upload(d, d->zones, zone, n * sizeof(zone[0]), err) != 0)
		return -1;
	check_zones_kernel<<<n, THREADS, 0, d->stream>>>(d->zones, d->damaged);
	TRY(cudaGetLastError(), "cannot check redzones");
	if (cuda_download(d, damaged, d->damaged, n * sizeof(damaged[0]), err) != 0)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		if (damaged[i]) {
			*which = owner[i];
			return err_set(err, ERR_INVALID, "bytes outside of a buffer were written");
		}
	}
	return 0;
}

int cuda_checksum(struct device *d, const void *data, size_t bytes, uint64_t *sum, struct fw_err *err)
{
	unsigned long long total;
	TRY(cudaMemsetAsync(d->total, 0, sizeof(*d->total), d->stream), "cannot sum up a buffer");
	checksum_kernel<<<grid_for(bytes / 8), THREADS, 0, d->stream>>>((const uint64_t *)data, bytes, d->total);
	TRY(cudaGetLastError(), "cannot sum up a buffer");
	if (cuda_download(d, &total, d->total, sizeof(total), err) != 0)
		return -1;
	*sum = total;
	return 0;
}

int cuda_find_nonfinite(struct device *d, const void *data, size_t n, bool is_fp32, int64_t *index, struct fw_err *err)
{
	unsigned long long first;
	TRY(cudaMemsetAsync(d->total, 0xff, sizeof(*d->total), d->stream), "cannot search a buffer");
	if (is_fp32)
		find_nonfinite_kernel<uint32_t, 0x7f800000u>
			<<<grid_for(n), THREADS, 0, d->stream>>>((const uint32_t *)data, n, d->total);
	else
		find_nonfinite_kernel<uint16_t, 0x7f80u>
			<<<grid_for(n), THREADS, 0, d->stream>>>((const uint16_t *)data, n, d->total);
	TRY(cudaGetLastError(), "cannot search a buffer");
	if (cuda_download(d, &first, d->total, sizeof(first), err) != 0)
		return -1;
	*index = first < n ? (int64_t)first : -1;
	return 0;
}

int cuda_find_largest(struct device *d, const void *data, size_t n, float *largest, struct fw_err *err)
{
	unsigned long long most;
	TRY(cudaMemsetAsync(d->total, 0, sizeof(*d->total), d->stream), "cannot search a buffer");
	find_largest_kernel<<<grid_for(n), THREADS, 0, d->stream>>>((const uint16_t *)data, n, d->total);
	TRY(cudaGetLastError(), "cannot search a buffer");
	if (cuda_download(d, &most, d->total, sizeof(most), err) != 0)
		return -1;
	*largest = inputs_bf16_to_float((uint16_t)most);
	return 0;
}

/* Gathered in the memory of scrub, whose contents are arbitrary: thousands of short copies over the bus would take seconds. */
int cuda_download_rows(struct device *d, void *to, const void *from, size_t pitch, size_t width, size_t rows, struct fw_err *err)
{
	size_t at_once = d->scrub_bytes / width;
	for (size_t at = 0, n; at < rows; at += n) {
		n = rows - at < at_once ? rows - at : at_once;
		gather_rows_kernel<<<grid_for(n * width / 2), THREADS, 0, d->stream>>>((uint16_t *)d->scrub,
			(const uint16_t *)((const unsigned char *)from + at * pitch), pitch / 2, width / 2, n * width / 2);
		TRY(cudaGetLastError(), "cannot gather rows");
		if (cuda_download(d, (unsigned char *)to + at * width, d->scrub, n * width, err) != 0)
			return -1;
	}
	return 0;
}

int cuda_fill_inputs(struct device *d, void *to, uint64_t seed, uint32_t tensor, size_t n, struct fw_err *err)
{
	if (n == 0)
		return 0;
	fill_inputs_kernel<<<grid_for(n), THREADS, 0, d->stream>>>((uint16_t *)to, inputs_stream(seed, tensor), n);
	TRY(cudaGetLastError(), "cannot fill an input");
	return 0;
}

int cuda_fill_bytes(struct device *d, void *to, int value, size_t bytes, struct fw_err *err)
{
	TRY(cudaMemsetAsync(to, value, bytes, d->stream), "cannot fill a buffer");
	return 0;
}

int cuda_copy(struct device *d, void *to, const void *from, size_t bytes, struct fw_err *err)
{
	TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, d->stream), "cannot copy a buffer");
	return 0;
}
