/* The subset of CUDA's runtime that flopwatch.h uses, as calls of the simulated driver (tests/modules/fake_cuda.c). */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef int cudaError_t;
typedef void *cudaStream_t, *cudaEvent_t;

enum { cudaSuccess = 0, cudaEventDefault = 0, cudaEventDisableTiming = 2, cudaMemcpyDeviceToHost = 2 };
enum { cudaDevAttrMultiProcessorCount = 16, cudaDevAttrL2CacheSize = 38 };

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **out, int device);
int cuCtxSetCurrent(void *context);
int cuCtxGetDevice(int *device);
int cuDeviceGetAttribute(int *out, int which, int device);
int cuMemAlloc_v2(uint64_t *out, size_t size);
int cuEventCreate(void **out, unsigned flags);
int cuEventRecord(int64_t *event, void *stream);
int cuEventSynchronize(int64_t *event);
int cuEventElapsedTime(float *ms, int64_t *from, int64_t *to);
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t n, void *stream);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n);
int cuStreamSynchronize(void *stream);
void fake_cuda_work(unsigned us);

static inline const char *cudaGetErrorString(cudaError_t e)
{
	return e ? "error" : "no error";
}
#define cudaGetErrorName cudaGetErrorString

static inline cudaError_t cudaGetDevice(int *device)
{
	void *context = NULL;

	cuInit(0);
	cuDevicePrimaryCtxRetain(&context, 0);
	cuCtxSetCurrent(context);
	return cuCtxGetDevice(device);
}
static inline cudaError_t cudaMalloc(void **out, size_t size)
{
	return cuMemAlloc_v2((uint64_t *)(void *)out, size);
}
static inline cudaError_t cudaMemsetAsync(void *to, int value, size_t n, cudaStream_t stream)
{
	return cuMemsetD8Async((uint64_t)(uintptr_t)to, (unsigned char)value, n, stream);
}
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t n, int kind)
{
	return kind == cudaMemcpyDeviceToHost ? cuMemcpyDtoH_v2(to, (uint64_t)(uintptr_t)from, n) : 1;
}
static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	return cuEventRecord((int64_t *)event, stream);
}
static inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	return cuEventElapsedTime(ms, (int64_t *)from, (int64_t *)to);
}
#define cudaDeviceGetAttribute      cuDeviceGetAttribute
#define cudaEventCreateWithFlags    cuEventCreate
#define cudaEventSynchronize(event) cuEventSynchronize((int64_t *)(event))
#define cudaStreamSynchronize       cuStreamSynchronize
