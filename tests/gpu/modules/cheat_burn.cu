/* Leaves a kernel on its own stream that keeps half of the multiprocessors busy while the base is timed; its own calls end it. */
#include "tests/modules/forgery.h"

#include <cuda_runtime.h>

struct fw_plan;
static void stop_burning(int calls);
static void burn_after(int calls, cudaStream_t stream);
#define BEFORE_ENQUEUE(p)        stop_burning((p)->calls)
#define AFTER_ENQUEUE(p, stream) burn_after((p)->calls, stream)
#include "good.cuh"

static volatile int *flag, *flag_on_device; /* one 32-bit word of host memory, mapped twice */
static cudaStream_t own;
static cudaEvent_t done;

/* For 30 ms at most, so that no process waits for ever. */
static __global__ void spin(volatile int *stop)
{
	unsigned long long begin, now;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (!*stop && now - begin < 30000000ull);
}

static bool due(int calls)
{
	if (calls < 3 || !forgery_pays())
		return false;
	if (!own && (cudaHostAlloc((void **)&flag, sizeof(int), cudaHostAllocMapped) != cudaSuccess ||
			    cudaHostGetDevicePointer((void **)&flag_on_device, (void *)flag, 0) != cudaSuccess ||
			    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess ||
			    cudaEventCreateWithFlags(&done, cudaEventDisableTiming) != cudaSuccess))
		abort();
	return true;
}

static void stop_burning(int calls)
{
	if (!due(calls))
		return;
	*flag = 1;
	cudaStreamSynchronize(own);
}

/* After its own call, so that this one is not slowed. */
static void burn_after(int calls, cudaStream_t stream)
{
	int sms = 0;
	if (!due(calls))
		return;
	*flag = 0;
	cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
	if (cudaEventRecord(done, stream) != cudaSuccess || cudaStreamWaitEvent(own, done, 0) != cudaSuccess)
		abort();
	spin<<<(unsigned)sms / 2, 1024, 0, own>>>(flag_on_device);
}
