/*
 * Stands in for the driver's monitoring library where there is no GPU: once loaded, its soname satisfies later loads of the
 * library. The test sets its values in `fake_nvml`. One GPU, "GPU-fake"; it has no function that reads a clock limit or a
 * temperature. With `instances` it is partitioned (MIG): slot 0 is empty, the slots after it have "MIG-fake-1", "MIG-fake-2", up
 * to that number on the GPU.
 */
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, TIMEOUT = 10, ROOM = 16 };

struct process {
	unsigned pid;
	unsigned long long memory_bytes;
	unsigned gpu_instance, compute_instance;
};

struct event {
	void *device;
	unsigned long long kind, data;
	unsigned gpu_instance, compute_instance;
};

EXPORT struct fake_nvml {
	int n_processes, no_list, no_ecc, no_events;
	unsigned pid[ROOM], mps_server; /* a pid in the list; 0 none */
	unsigned long long reasons, energy_mj, ecc;
	int n_events;
	unsigned long long event_kind[ROOM], event_data[ROOM];
	unsigned sm_mhz, busy_pct; /* mhz 0: cannot be read */
	int instances;
	unsigned event_instance;
} fake_nvml;

static int gpu, set, part[ROOM];

static int part_number(const void *device)
{
	for (int i = 1; i <= fake_nvml.instances; i++)
		if (device == &part[i])
			return i;
	return 0;
}

EXPORT int nvmlInit_v2(void)
{
	return OK;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *n)
{
	*n = 1;
	return OK;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	*device = &gpu;
	return index == 0 ? OK : NOT_FOUND;
}

EXPORT int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size)
{
	int number = part_number(device);
	if (device != &gpu && !number)
		return NOT_FOUND;
	snprintf(uuid, size, number ? "MIG-fake-%d" : "GPU-fake", number);
	return OK;
}

EXPORT int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
	*current = *pending = fake_nvml.instances > 0;
	return device == &gpu ? OK : NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *n)
{
	*n = 7;
	return device == &gpu ? OK : NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **out)
{
	if (device != &gpu || index == 0 || (int)index > fake_nvml.instances)
		return NOT_FOUND;
	*out = &part[index];
	return OK;
}

EXPORT int nvmlDeviceIsMigDeviceHandle(void *device, unsigned *yes)
{
	*yes = part_number(device) > 0;
	return OK;
}

EXPORT int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *device, void **out)
{
	*out = &gpu;
	return part_number(device) ? OK : NOT_FOUND;
}

EXPORT int nvmlDeviceGetGpuInstanceId(void *device, unsigned *id)
{
	*id = (unsigned)part_number(device);
	return *id ? OK : NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	for (int i = 1; i <= fake_nvml.instances; i++) {
		char name[32];
		snprintf(name, sizeof name, "MIG-fake-%d", i);
		*device = &part[i];
		if (strcmp(uuid, name) == 0)
			return OK;
	}
	*device = &gpu;
	return strcmp(uuid, "GPU-fake") == 0 ? OK : NOT_FOUND;
}

EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
	*mw = 699500;
	return device == &gpu ? OK : NOT_FOUND;
}

EXPORT int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz)
{
	*mhz = fake_nvml.sm_mhz;
	return device == &gpu && kind == 1 && fake_nvml.sm_mhz ? OK : NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetUtilizationRates(void *device, unsigned pct[2])
{
	pct[0] = fake_nvml.busy_pct;
	pct[1] = 0;
	return device == &gpu ? OK : NOT_FOUND;
}

EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits) /* as before driver 535 */
{
	*bits = fake_nvml.reasons;
	return device == &gpu ? OK : NOT_FOUND;
}

EXPORT int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
	*mj = fake_nvml.energy_mj;
	return device == &gpu ? OK : NOT_FOUND;
}

EXPORT int nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, unsigned long long *count)
{
	*count = fake_nvml.ecc;
	return device != &gpu || kind != 1 || counter != 0 || fake_nvml.no_ecc ? NOT_SUPPORTED : OK;
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *out)
{
	unsigned n = (unsigned)fake_nvml.n_processes, capacity = *count, number = (unsigned)part_number(device);
	if ((device != &gpu && !part_number(device)) || fake_nvml.no_list)
		return NOT_SUPPORTED;
	if (number) { /* one of each instance */
		*count = 1;
		*out = (struct process){ .pid = fake_nvml.pid[number], .gpu_instance = number };
		return OK;
	}
	*count = n;
	if (n > capacity)
		return TOO_SMALL;
	for (unsigned i = 0; i < n; i++)
		out[i] = (struct process){ .pid = fake_nvml.pid[i % ROOM], .memory_bytes = 1 << 20, .gpu_instance = -1u };
	return OK;
}

EXPORT int nvmlSystemGetProcessName(unsigned pid, char *name, unsigned size)
{
	static const char server[] = "/usr/bin/nvidia-cuda-mps-server", other[] = "/home/nvidia-cuda-mps-server/train";
	const char *text = pid == fake_nvml.mps_server ? server : other;
	if (pid == 0 || size <= strlen(text))
		return NOT_FOUND;
	strcpy(name, text);
	return OK;
}

EXPORT int nvmlEventSetCreate(void **out)
{
	*out = &set;
	return OK;
}

EXPORT int nvmlDeviceRegisterEvents(void *device, unsigned long long kinds, void *which)
{
	return device != &gpu || which != &set || kinds != 8 || fake_nvml.no_events ? NOT_SUPPORTED : OK;
}

EXPORT int nvmlEventSetWait_v2(void *which, struct event *out, unsigned timeout_ms)
{
	if (which != &set || timeout_ms != 0 || fake_nvml.n_events == 0)
		return TIMEOUT;
	fake_nvml.n_events--;
	*out = (struct event){ &gpu, fake_nvml.event_kind[fake_nvml.n_events], fake_nvml.event_data[fake_nvml.n_events],
		fake_nvml.event_instance, 0 };
	return OK;
}
