/* A host thread that prepares something during plan, and has ended by its return. */
#include <pthread.h>
static void prepare(void);
#define ON_PLAN() prepare()
#include "good.cuh"

static void *count_devices(void *arg)
{
	int n = 0;
	return cudaGetDeviceCount(&n) == cudaSuccess ? arg : NULL;
}

static void prepare(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, count_devices, NULL) == 0)
		pthread_join(thread, NULL);
}
