/* Leaves a kernel on a stream of its own that keeps half of the multiprocessors busy while the base is timed; its own calls end it. */
#include "tests/modules/forgery.h"

#include <cuda_runtime.h>

struct fw_plan;
static void burn(int calls, int on);
#define BEFORE_ENQUEUE(p) burn((p)->calls, 0)
#define AFTER_ENQUEUE(p)  burn((p)->calls, 1)
#include "good.cuh"

static volatile int *flag, *flag_on_device; /* one word of host memory, twice mapped */
static cudaStream_t own;
static cudaEvent_t done;

/* For 30 ms at most, so that nobody waits for ever. */
static __global__ void spin(volatile int *stop)
{
	unsigned long long begin, now;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (!*stop && now - begin < 30000000ull);
}

static void burn(int calls, int on)
{
	int sms = 0;
	if (calls < 3 || !forgery_pays())
		return;
	if (!own && (cudaHostAlloc((void **)&flag, sizeof(int), cudaHostAllocMapped) != cudaSuccess ||
			    cudaHostGetDevicePointer((void **)&flag_on_device, (void *)flag, 0) != cudaSuccess ||
			    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess || cudaEventCreate(&done) != cudaSuccess))
		abort();
	if (!on) {
		*flag = 1;
		cudaStreamSynchronize(own);
		return;
	}
	*flag = 0;
	cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
	spin<<<(unsigned)sms / 2, 1024, 0, own>>>(flag_on_device);
}
