/*
 * primed.c - calls on a device that the host queues slowly, on the simulated driver: `a` takes the host 0.4 ms and the device
 * 0.05 ms, `waits` waits for the device, `long` keeps the host for 9 ms, and `grows` takes the host five times as long from
 * its sixth call on, so that the spin ends too early. The same as primed.py.
 */
#include "flopwatch.h"

static void keep_host(double us)
{
	int64_t until = flopwatch_ns() + (int64_t)(us * 1e3);

	while (flopwatch_ns() < until)
		;
}

int main(void)
{
	int n = 0;

	FLOPWATCH_CUDA("a", 0, 0, NULL)
	{
		fake_cuda_work(25);
		keep_host(400);
		fake_cuda_work(25);
	}
	FLOPWATCH_CUDA("waits", 0, 0, NULL)
	{
		fake_cuda_work(50);
		cudaStreamSynchronize(NULL);
		keep_host(100);
	}
	FLOPWATCH_CUDA("long", 0, 0, NULL)
	{
		keep_host(9000);
		fake_cuda_work(50);
	}
	FLOPWATCH_CUDA("grows", 0, 0, NULL)
	{
		keep_host(n++ < 5 ? 300 : 1500);
		fake_cuda_work(50);
	}
	return 0;
}
