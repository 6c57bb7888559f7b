/*
 * cuda.cu - an NVIDIA GPU as a device: one context, one stream, events as marks. Modules bring their own static CUDA runtime
 * and share this context and stream. Buffers are in cuda_memory.cu.
 */
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <unistd.h>

extern "C" {
#include "runner/internal.h"

#include "model/model.h"
#include "protocol/protocol.h"
}
#include "runner/cuda_graph.cuh"
#include "runner/cuda_inside.cuh"

static const int64_t memory_slack = 512 << 20; /* used by the driver: modules' code, local memory of all threads */

static void format_uuid(const cudaUUID_t *uuid, char *out, size_t size)
{
	const unsigned char *b = (const unsigned char *)uuid->bytes;
	snprintf(out, size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
		b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

/*
 * Dense bf16 FLOPs of one SM in one cycle, by compute capability; the highest known value for unknown ones. Source: NVIDIA's
 * architecture white papers.
 */
static double sm_flops(int major, int minor)
{
	if (major < 8)
		return 1024;
	if (major == 8)
		return minor == 0 || minor == 7 ? 2048 : 1024;
	return major == 9 ? 4096 : 16384;
}

static int cuda_describe(int index, struct msg_device *out, struct fw_err *err)
{
	int n = 0, driver = 0, clock_khz = 0;
	cudaError_t e = cudaGetDeviceCount(&n);
	if (e != cudaSuccess) {
		cudaGetLastError();
		return err_set(err, ERR_NOT_FOUND, "no CUDA device: %s", cudaGetErrorString(e));
	}
	if (index < 0 || index >= n)
		return err_set(err, ERR_NOT_FOUND, "no device cuda:%d; there are %d", index, n);
	cudaDeviceProp prop;
	TRY(cudaGetDeviceProperties(&prop, index), "cannot describe the device");
	memset(out, 0, sizeof(*out));
	out->kind = DEVICE_CUDA;
	bool is_instance = mig_own(out->uuid, sizeof(out->uuid));
	if (!is_instance)
		format_uuid(&prop.uuid, out->uuid, sizeof(out->uuid));
	snprintf(out->name, sizeof(out->name), "%.95s", prop.name);
	nvml_driver(out->driver, sizeof(out->driver));
	if (!out->driver[0] && cudaDriverGetVersion(&driver) == cudaSuccess)
		snprintf(out->driver, sizeof(out->driver), "cuda %d.%d", driver / 1000, driver % 1000 / 10);
	snprintf(out->toolkit, sizeof(out->toolkit), "cuda %d.%d", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
	out->index = index;
	if (cudaDeviceGetPCIBusId(out->pci, sizeof(out->pci), index) != cudaSuccess)
		out->pci[0] = '\0';
	for (char *c = out->pci; *c; c++) /* as the system writes it */
		*c = *c >= 'A' && *c <= 'F' ? (char)(*c - 'A' + 'a') : *c;
	out->cores = prop.multiProcessorCount;
	out->memory_bytes = (int64_t)prop.totalGlobalMem;
	out->l2_bytes = prop.l2CacheSize;
	double power_w, sm_mhz;
	nvml_vbios(out->uuid, out->vbios, sizeof(out->vbios));
	nvml_limits(out->uuid, &power_w, &sm_mhz);
	out->power_limit_w = power_w > 0 ? power_w : 0;
	if (sm_mhz > 0)
		out->clock_max_mhz = sm_mhz;
	else if (cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, index) == cudaSuccess)
		out->clock_max_mhz = clock_khz * 1e-3;
	int memory_khz = 0, bus_bits = 0;
	out->peak_tflops = out->cores * sm_flops(prop.major, prop.minor) * out->clock_max_mhz * 1e-6;
	/* An instance may report the bus width of its whole GPU, so it gets no peak bandwidth. */
	if (!is_instance && cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, index) == cudaSuccess &&
		cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, index) == cudaSuccess)
		out->peak_gb_s = 2.0 * memory_khz * (bus_bits / 8) * 1e-6; /* both edges of the clock */
	return 0;
}

static void cuda_close(struct device *d)
{
	if (!d)
		return;
	/* Errors cannot be handled here: the process ends next. */
	for (int i = 0; i < CUDA_BLOCKS_MAX; i++)
		if (d->block[i].base)
			cudaFree(d->block[i].base);
	for (int i = 0; i < DEVICE_MARKS_MAX; i++)
		if (d->event[i])
			cudaEventDestroy(d->event[i]);
	cudaFree(d->scrub);
	cudaFree(d->stamps);
	cudaFree(d->zones);
	cudaFree(d->damaged);
	cudaFree(d->total);
	if (d->stream)
		cudaStreamDestroy(d->stream);
	free(d);
}

static int make_context(struct device *d, struct fw_err *err)
{
	unsigned before[NVML_PIDS_MAX], after[NVML_PIDS_MAX];
	int n_before = nvml_compute_pids(d->uuid, before, NVML_PIDS_MAX);
	TRY(cudaSetDevice(d->index), "cannot use the device");
	TRY(cudaFree(NULL), "cannot make a context on the device");
	int n_after = nvml_compute_pids(d->uuid, after, NVML_PIDS_MAX);
	d->pid = nvml_own_pid((unsigned)getpid(), before, n_before, after, n_after);
	/* A window of persisting L2 lines would survive the scrub. A device without that limit has no such windows. */
	if (cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0) != cudaSuccess)
		cudaGetLastError();
	TRY(cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking), "cannot make a stream");
	return 0;
}

static int make_resources(struct device *d, size_t l2_bytes, struct fw_err *err)
{
	for (int i = 0; i < DEVICE_MARKS_MAX; i++)
		TRY(cudaEventCreate(&d->event[i]), "cannot make an event");
	d->scrub_bytes = 2 * (l2_bytes ? l2_bytes : (size_t)64 << 20);
	TRY(cudaMalloc((void **)&d->scrub, d->scrub_bytes), "no memory to displace the cache");
	TRY(cudaMalloc((void **)&d->stamps, sizeof(ulonglong2) * DEVICE_STAMPS_MAX * 2 * STAMP_WIDTH),
		"no memory for clock stamps");
	TRY(cudaMalloc((void **)&d->zones, sizeof(*d->zones) * 2 * CUDA_BLOCKS_MAX), "no memory for redzones");
	TRY(cudaMalloc((void **)&d->damaged, sizeof(*d->damaged) * 2 * CUDA_BLOCKS_MAX), "no memory for redzones");
	TRY(cudaMalloc((void **)&d->total, sizeof(*d->total)), "no memory for a checksum");
	return 0;
}

static int cuda_open(int index, uint64_t seed, struct device **out, struct fw_err *err)
{
	struct msg_device about;
	(void)seed;
	if (cuda_describe(index, &about, err) != 0)
		return -1;
	struct device *d = (struct device *)calloc(1, sizeof(*d));
	if (!d)
		return err_set(err, ERR_FULL, "no memory for the device");
	d->index = index;
	d->sms = about.cores;
	d->ecc = -1;
	snprintf(d->uuid, sizeof(d->uuid), "%s", about.uuid);
	if (make_context(d, err) != 0 || make_resources(d, (size_t)about.l2_bytes, err) != 0) {
		cuda_close(d);
		return -1;
	}
	*out = d;
	return 0;
}

static int cuda_plan_index(const struct device *d)
{
	return d->index;
}

int cuda_wait(struct device *d, struct fw_err *err)
{
	cudaError_t e = cudaStreamSynchronize(d->stream);
	if (e == cudaSuccess)
		return 0;
	return err_set(err, ERR_INVALID, "a kernel failed: %s (%s)", cudaGetErrorString(e), cudaGetErrorName(e));
}

static int cuda_scrub(struct device *d, struct fw_err *err)
{
	d->scrub_value = (d->scrub_value + 1) & 0xff;
	TRY(cudaMemsetAsync(d->scrub, d->scrub_value, d->scrub_bytes, d->stream), "cannot displace the cache");
	return 0;
}

static void *cuda_stream(struct device *d)
{
	return d->stream;
}

static void *cuda_context(struct device *d, int *driver_index)
{
	*driver_index = d->index;
	return cuda_graph_context();
}

static int cuda_mark(struct device *d, int slot, struct fw_err *err)
{
	TRY(cudaEventRecord(d->event[slot], d->stream), "cannot record an event");
	return 0;
}

/* Several blocks may run on one SM: each writes a consistent pair in one 16-byte store. */
static __global__ void stamp_kernel(ulonglong2 *table)
{
	unsigned sm;
	unsigned long long ns;
	if (threadIdx.x != 0)
		return;
	asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	unsigned long long cycles = (unsigned long long)clock64();
	if (sm < STAMP_WIDTH)
		table[sm] = make_ulonglong2(cycles, ns);
}

static int cuda_stamp(struct device *d, int slot, int end, struct fw_err *err)
{
	ulonglong2 *table = d->stamps + (size_t)slot * 2 * STAMP_WIDTH;
	if (end == 0) /* an SM without a block must not retain the stamp of an earlier cell */
		TRY(cudaMemsetAsync(table, 0, sizeof(*table) * 2 * STAMP_WIDTH, d->stream), "cannot clear clock stamps");
	stamp_kernel<<<2 * d->sms, 32, 0, d->stream>>>(table + (size_t)end * STAMP_WIDTH);
	TRY(cudaGetLastError(), "cannot stamp clocks");
	return 0;
}

static int cuda_wait_mark(struct device *d, int slot, struct fw_err *err)
{
	cudaError_t e = cudaEventSynchronize(d->event[slot]);
	if (e == cudaSuccess)
		return 0;
	return err_set(err, ERR_INVALID, "a kernel failed: %s (%s)", cudaGetErrorString(e), cudaGetErrorName(e));
}

static bool cuda_passed_mark(struct device *d, int slot)
{
	return cudaEventQuery(d->event[slot]) != cudaErrorNotReady; /* wait_mark reports errors */
}

static double cuda_host_us(struct device *d)
{
	struct timespec t;
	(void)d;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int cuda_wait_all(struct device *d, double *late_us, struct fw_err *err)
{
	if (cuda_wait(d, err) != 0)
		return -1;
	double done = cuda_host_us(d);
	cudaError_t e = cudaDeviceSynchronize();
	*late_us = cuda_host_us(d) - done;
	if (e == cudaSuccess)
		return 0;
	return err_set(err, ERR_INVALID, "a kernel failed: %s (%s)", cudaGetErrorString(e), cudaGetErrorName(e));
}

static float cuda_elapsed_ms(struct device *d, int from_slot, int to_slot)
{
	float ms = 0;
	if (cudaEventElapsedTime(&ms, d->event[from_slot], d->event[to_slot]) != cudaSuccess) {
		cudaGetLastError();
		return 0;
	}
	return ms;
}

static int compare_floats(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

static float cuda_clock_mhz(struct device *d, int slot)
{
	ulonglong2 table[2][STAMP_WIDTH];
	float mhz[STAMP_WIDTH];
	int n = 0;
	if (cudaMemcpy(table, d->stamps + (size_t)slot * 2 * STAMP_WIDTH, sizeof(table), cudaMemcpyDeviceToHost) != cudaSuccess) {
		cudaGetLastError();
		return 0;
	}
	for (int i = 0; i < STAMP_WIDTH; i++)
		if (table[0][i].y && table[1][i].y > table[0][i].y && table[1][i].x > table[0][i].x)
			mhz[n++] =
				(float)((double)(table[1][i].x - table[0][i].x) / (double)(table[1][i].y - table[0][i].y) * 1e3);
	if (n == 0)
		return 0;
	qsort(mhz, (size_t)n, sizeof(mhz[0]), compare_floats);
	return mhz[n / 2];
}

static int cuda_capture(struct device *d, int (*enqueue)(void *arg, void *stream), void *arg, device_node_fn *node,
	void *node_arg, struct fw_err *err)
{
	cudaGraph_t graph = NULL;
	if (cuda_wait(d, err) != 0)
		return -1;
	TRY(cudaStreamBeginCapture(d->stream, cudaStreamCaptureModeGlobal), "cannot begin a capture");
	int refused = enqueue(arg, d->stream);
	cudaError_t e = cudaStreamEndCapture(d->stream, &graph);
	if (e != cudaSuccess || refused != 0) {
		cudaGetLastError();
		if (graph)
			cudaGraphDestroy(graph);
		return err_set(err, ERR_INVALID, "%s (%s)",
			e != cudaSuccess ? cudaGetErrorString(e) : "enqueue failed while captured", cudaGetErrorName(e));
	}
	int rc = cuda_graph_report(graph, node, node_arg, err);
	e = cudaGraphDestroy(graph);
	return rc != 0 ? rc : e == cudaSuccess ? 0 : cuda_graph_fail(e, "cannot free a graph", err);
}

static void cuda_profiler(struct device *d, bool start)
{
	(void)d;
	if ((start ? cudaProfilerStart() : cudaProfilerStop()) != cudaSuccess)
		cudaGetLastError(); /* no profiler attached */
}

/* Copy the driver's reading, without processes, XIDs and errors. */
static void take_reading(const struct nvml_reading *now, struct msg_device_check *out)
{
	out->power_w = now->power_w;
	out->temp_c = now->temp_c;
	out->sm_mhz = now->sm_mhz;
	out->reasons = now->reasons < 0 ? 0 : (uint64_t)now->reasons;
	if (now->reasons >= 0)
		snprintf(out->regime, sizeof(out->regime), "%s",
			now->reasons & DEVICE_CHECK_POWER_CAP ? "power_limited" : "boost");
	out->energy_j = now->energy_j;
}

static void cuda_device_check(struct device *d, struct msg_device_check *out)
{
	struct nvml_reading now;
	unsigned pid[NVML_PIDS_MAX];
	nvml_read(d->uuid, &now);
	int n = nvml_compute_pids(d->uuid, pid, NVML_PIDS_MAX);
	take_reading(&now, out);
	out->foreign = -1;
	if (n >= 0 && d->pid != 0) {
		out->foreign = 0;
		for (int i = 0; i < n; i++)
			out->foreign += pid[i] != d->pid;
	}
	out->xid = nvml_xid(d->uuid);
	if (now.ecc >= 0 && d->ecc >= 0 && now.ecc > d->ecc)
		out->ecc = (int)(now.ecc - d->ecc);
	d->ecc = now.ecc;
}

static double cuda_energy_j(struct device *d)
{
	return nvml_energy_j(d->uuid);
}

static void cuda_read_idle(int index, struct msg_device_check *out, char *who, size_t size)
{
	struct nvml_reading now;
	struct msg_device about;
	struct fw_err err = {};
	unsigned pid[NVML_PIDS_MAX];
	size_t used = 0;
	who[0] = 0;
	if (cuda_describe(index, &about, &err) != 0)
		return;
	nvml_read(about.uuid, &now);
	take_reading(&now, out);
	out->ecc = now.ecc > 0 ? (int)(now.ecc < INT_MAX ? now.ecc : INT_MAX) : 0;
	int n = nvml_compute_pids(about.uuid, pid, NVML_PIDS_MAX);
	for (int i = 0; i < n && used + 24 < size; i++)
		used += (size_t)snprintf(who + used, size - used, "%spid %u", i ? ", " : "", pid[i]);
	out->foreign = n;
}

/*
 * Limits of the context, and foreign memory in use. The stack limit is left out: the driver raises it itself for a kernel that
 * needs more.
 */
static const enum cudaLimit limits[] = { cudaLimitPersistingL2CacheSize, cudaLimitMallocHeapSize, cudaLimitPrintfFifoSize };
static const char *const limit_names[] = { "persisting L2 bytes", "malloc heap bytes", "printf buffer bytes" };
enum { LIMITS = sizeof(limits) / sizeof(limits[0]) };

static int64_t cuda_taken_bytes(struct device *d)
{
	size_t free_bytes, total_bytes;
	int64_t ours = 0;
	for (int i = 0; i < CUDA_BLOCKS_MAX; i++)
		if (d->block[i].base)
			ours += (int64_t)d->block[i].capacity;
	if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) {
		cudaGetLastError();
		return -1;
	}
	return (int64_t)(total_bytes - free_bytes) - ours;
}

static int cuda_settings(struct device *d, bool quick, struct device_setting *out)
{
	size_t value;
	for (int i = 0; i < LIMITS; i++) {
		if (cudaDeviceGetLimit(&value, limits[i]) != cudaSuccess) {
			cudaGetLastError();
			value = 0;
		}
		out[i].name = limit_names[i];
		out[i].value = (int64_t)value;
		out[i].slack = 0;
		out[i].can_set = true;
	}
	if (quick)
		return LIMITS;
	int64_t taken = cuda_taken_bytes(d);
	if (taken < 0)
		return LIMITS;
	out[LIMITS].name = "bytes of device memory";
	out[LIMITS].value = taken;
	out[LIMITS].slack = memory_slack;
	out[LIMITS].can_set = false;
	return LIMITS + 1;
}

static void cuda_set_back(struct device *d, int which, int64_t value)
{
	(void)d;
	if (which >= LIMITS)
		return;
	if (limits[which] == cudaLimitPersistingL2CacheSize && cudaCtxResetPersistingL2Cache() != cudaSuccess)
		cudaGetLastError();
	if (cudaDeviceSetLimit(limits[which], (size_t)value) != cudaSuccess)
		cudaGetLastError();
}

/* C++17 has no designated initialisers. */
static struct device_ops make_ops(void)
{
	struct device_ops o = {};
	o.kind = DEVICE_CUDA;
	o.abi_device = FW_CUDA;
	o.clocks = true;
	o.queues = true;
	o.describe = cuda_describe;
	o.open = cuda_open;
	o.close = cuda_close;
	o.plan_index = cuda_plan_index;
	o.alloc = cuda_alloc;
	o.release = cuda_release;
	o.check_redzones = cuda_check_redzones;
	o.upload = cuda_upload;
	o.download = cuda_download;
	o.checksum = cuda_checksum;
	o.find_nonfinite = cuda_find_nonfinite;
	o.find_largest = cuda_find_largest;
	o.download_rows = cuda_download_rows;
	o.fill_inputs = cuda_fill_inputs;
	o.fill_bytes = cuda_fill_bytes;
	o.copy = cuda_copy;
	o.scrub = cuda_scrub;
	o.context = cuda_context;
	o.stream = cuda_stream;
	o.mark = cuda_mark;
	o.stamp = cuda_stamp;
	o.wait_mark = cuda_wait_mark;
	o.passed_mark = cuda_passed_mark;
	o.wait = cuda_wait;
	o.wait_all = cuda_wait_all;
	o.elapsed_ms = cuda_elapsed_ms;
	o.clock_mhz = cuda_clock_mhz;
	o.host_us = cuda_host_us;
	o.capture = cuda_capture;
	o.profiler = cuda_profiler;
	o.device_check = cuda_device_check;
	o.read_idle = cuda_read_idle;
	o.busy_mhz = nvml_busy_mhz;
	o.energy_j = cuda_energy_j;
	o.settings = cuda_settings;
	o.taken_bytes = cuda_taken_bytes;
	o.set_back = cuda_set_back;
	return o;
}

extern "C" {
extern const struct device_ops device_cuda;
const struct device_ops device_cuda = make_ops();
}
