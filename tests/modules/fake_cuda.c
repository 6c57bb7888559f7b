/*
 * fake_cuda.c - the subset of libcuda.so.1 that the kit uses, on the host: a device with one queue. Work takes time only if it is
 * the waiting kernel or was added with fake_cuda_work; events have the time at which the device reaches them, and a run of the
 * stamp kernel writes stamps that advance at 1500 MHz. Runs of the waiting kernel are counted, and with FAKE_CUDA_TELL printed at
 * exit. A launch or write that violates the driver's rules ends the program.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum { SMS = 132, NOT_INITIALISED = 3, NO_CONTEXT = 201, NOT_READY = 600 };

static int context, current, is_initialised;
static const char stamp[] = "flopwatch_stamp", spin[] = "flopwatch_spin";
static uint64_t spins, longest_ns;
static int64_t idle_ns; /* when the device will have done all that is queued */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void add_work(int64_t ns)
{
	int64_t now = now_ns();

	idle_ns = (idle_ns > now ? idle_ns : now) + ns;
}

/* Wait for the device as the driver does: without sleeping longer than needed. */
static void wait_until(int64_t ns)
{
	while (now_ns() < ns)
		;
}

static void must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fake_cuda: %s\n", what);
	abort();
}

EXPORT int cuInit(unsigned flags)
{
	must(flags == 0, "cuInit");
	is_initialised = 1;
	return 0;
}

EXPORT int cuDeviceGetCount(int *count)
{
	*count = is_initialised;
	return is_initialised ? 0 : NOT_INITIALISED;
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return 0;
}

EXPORT int cuDevicePrimaryCtxRetain(void **out, int device)
{
	must(device == 0, "cuDevicePrimaryCtxRetain");
	*out = &context;
	return 0;
}

EXPORT int cuCtxSetCurrent(void *c)
{
	must(c == &context, "cuCtxSetCurrent");
	current = 1;
	return 0;
}

EXPORT int cuCtxGetCurrent(void **out)
{
	*out = current ? &context : NULL;
	return 0;
}

EXPORT int cuCtxGetDevice(int *device)
{
	*device = 0;
	return current ? 0 : NO_CONTEXT;
}

EXPORT int cuDeviceGetAttribute(int *out, int which, int device)
{
	must(device == 0 && (which == 16 || which == 38), "cuDeviceGetAttribute");
	*out = which == 16 ? SMS : 1 << 20;
	return 0;
}

EXPORT int cuMemAlloc_v2(uint64_t *out, size_t size)
{
	*out = (uint64_t)(uintptr_t)calloc(1, size);
	return 0;
}

EXPORT int cuEventCreate(void **out, unsigned flags)
{
	must(flags == 0 || flags == 2, "cuEventCreate");
	*out = calloc(1, sizeof(int64_t));
	return 0;
}

EXPORT int cuEventRecord(int64_t *event, void *stream)
{
	must(stream == NULL, "an event on another stream");
	add_work(0);
	*event = idle_ns;
	return 0;
}

EXPORT int cuEventSynchronize(int64_t *event)
{
	must(*event != 0, "an event that was not recorded is waited for");
	wait_until(*event);
	return 0;
}

EXPORT int cuEventQuery(int64_t *event)
{
	must(*event != 0, "an event that was not recorded is queried");
	return now_ns() >= *event ? 0 : NOT_READY;
}

EXPORT int cuEventElapsedTime(float *ms, int64_t *from, int64_t *to)
{
	must(*from && *to >= *from, "events in the wrong order");
	*ms = (float)(*to - *from) * 1e-6f;
	return 0;
}

EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t n, void *stream)
{
	(void)stream;
	memset((void *)(uintptr_t)to, value, n);
	return 0;
}

EXPORT int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n)
{
	memcpy(to, (void *)(uintptr_t)from, n);
	return 0;
}

EXPORT int cuModuleLoadData(void **module, const char *image)
{
	must(strstr(image, ".version") && strstr(image, stamp) && strstr(image, spin), "no PTX");
	*module = (void *)stamp;
	return 0;
}

EXPORT int cuModuleGetFunction(void **function, void *module, const char *name)
{
	must(module == stamp && (strcmp(name, stamp) == 0 || strcmp(name, spin) == 0), "cuModuleGetFunction");
	*function = strcmp(name, spin) == 0 ? (void *)spin : module;
	return 0;
}

EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared, void *stream, void **parameters, void **extra)
{
	unsigned blocks = function == spin ? 1 : 2 * SMS, threads = function == spin ? 1 : 32;

	must(gx == blocks && gy == 1 && gz == 1 && bx == threads && by == 1 && bz == 1, "a run of another shape");
	must(shared == 0 && stream == NULL && extra == NULL, "a run with other arguments");
	if (function == spin) {
		uint64_t wait_ns = *(uint64_t *)parameters[0];

		add_work((int64_t)wait_ns);
		spins++;
		longest_ns = wait_ns > longest_ns ? wait_ns : longest_ns;
		return 0;
	}
	uint64_t *table = (uint64_t *)(uintptr_t) * (uint64_t *)parameters[0];
	add_work(0);
	uint64_t ns = (uint64_t)idle_ns;

	for (int sm = 0; sm < SMS; sm++) {
		table[2 * sm] = ns * 3 / 2;
		table[2 * sm + 1] = ns;
	}
	return 0;
}

__attribute__((destructor)) static void tell(void)
{
	if (getenv("FAKE_CUDA_TELL"))
		fprintf(stderr, "spun %llu times, %llu us at most\n", (unsigned long long)spins,
			(unsigned long long)(longest_ns / 1000));
}

EXPORT int cuStreamSynchronize(void *stream)
{
	(void)stream;
	wait_until(idle_ns);
	return 0;
}

/* Queue work of a program. */
EXPORT void fake_cuda_work(unsigned us);
EXPORT void fake_cuda_work(unsigned us)
{
	add_work(1000 * (int64_t)us);
}

EXPORT int cuGetErrorName(int error, const char **out)
{
	*out = error == NO_CONTEXT ? "CUDA_ERROR_INVALID_CONTEXT" : "CUDA_ERROR";
	return 0;
}
