/*
 * nvml.c - NVML through dlopen, with our own prototypes: the driver brings the library, the toolkit its header, and a runner
 * must start without either.
 */
#include "runner/internal.h"

#include <dlfcn.h>
#include <limits.h>

enum {
	OK = 0,
	INSUFFICIENT_SIZE = 7,
	SENSOR_CORE = 0,
	CLOCK_SM = 1,
	ECC_UNCORRECTED = 1,
	ECC_VOLATILE = 0,
	EVENT_XID = 8,
	EVENTS_MAX = 64,
	MIG_ON = 1,
	ALL_INSTANCES = -1, /* instance of an event that belongs to none */
	BUSY_PCT = 50
};

struct process {
	unsigned pid;
	unsigned long long memory_bytes;
	unsigned gpu_instance, compute_instance;
};

struct utilization {
	unsigned gpu_pct, memory_pct;
};

struct event {
	void *device;
	unsigned long long kind, data;
	unsigned gpu_instance, compute_instance;
};

static struct {
	bool tried, ready;
	int (*init)(void);
	int (*driver)(char *version, unsigned size);
	int (*count)(unsigned *n);
	int (*by_index)(unsigned index, void **device);
	int (*vbios)(void *device, char *version, unsigned size);
	int (*by_uuid)(const char *uuid, void **device);
	int (*uuid_of)(void *device, char *uuid, unsigned size);
	int (*mig_mode)(void *device, unsigned *current, unsigned *pending);
	int (*max_instances)(void *device, unsigned *max);
	int (*instance_at)(void *device, unsigned index, void **instance);
	int (*is_part)(void *device, unsigned *yes);
	int (*whole)(void *instance, void **device);
	int (*instance_of)(void *instance, unsigned *id);
	int (*power)(void *device, unsigned *mw);
	int (*power_limit)(void *device, unsigned *mw);
	int (*temperature)(void *device, int sensor, unsigned *c);
	int (*clock)(void *device, int kind, unsigned *mhz);
	int (*utilization)(void *device, struct utilization *out);
	int (*clock_max)(void *device, int kind, unsigned *mhz);
	int (*reasons)(void *device, unsigned long long *bits);
	int (*processes)(void *device, unsigned *count, struct process *out);
	int (*process_name)(unsigned pid, char *name, unsigned size);
	int (*energy)(void *device, unsigned long long *mj);
	int (*ecc)(void *device, int kind, int counter, unsigned long long *count);
	int (*set_create)(void **set);
	int (*listen)(void *device, unsigned long long kinds, void *set);
	int (*wait)(void *set, struct event *out, unsigned timeout_ms);
	void *events;  /* event set of `device`; NULL: none */
	char uuid[96]; /* UUID of the last requested handle */
	void *device;
	void *gpu;         /* its GPU, or itself, which has clock and temperature */
	unsigned instance; /* its number there */
} nvml;

/* ISO C forbids the cast from an object pointer that dlsym needs. */
static void find(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);
	memcpy(function, &symbol, sizeof symbol);
}

int nvml_open(void)
{
	if (nvml.tried)
		return nvml.ready ? 0 : -1;
	nvml.tried = true;
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return -1;
	find(library, "nvmlInit_v2", &nvml.init);
	find(library, "nvmlSystemGetDriverVersion", &nvml.driver);
	find(library, "nvmlDeviceGetCount_v2", &nvml.count);
	find(library, "nvmlDeviceGetHandleByIndex_v2", &nvml.by_index);
	find(library, "nvmlDeviceGetHandleByUUID", &nvml.by_uuid);
	find(library, "nvmlDeviceGetUUID", &nvml.uuid_of);
	find(library, "nvmlDeviceGetMigMode", &nvml.mig_mode);
	find(library, "nvmlDeviceGetMaxMigDeviceCount", &nvml.max_instances);
	find(library, "nvmlDeviceGetMigDeviceHandleByIndex", &nvml.instance_at);
	find(library, "nvmlDeviceIsMigDeviceHandle", &nvml.is_part);
	find(library, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", &nvml.whole);
	find(library, "nvmlDeviceGetGpuInstanceId", &nvml.instance_of);
	find(library, "nvmlDeviceGetVbiosVersion", &nvml.vbios);
	find(library, "nvmlDeviceGetPowerUsage", &nvml.power);
	find(library, "nvmlDeviceGetEnforcedPowerLimit", &nvml.power_limit);
	find(library, "nvmlDeviceGetTemperature", &nvml.temperature);
	find(library, "nvmlDeviceGetClockInfo", &nvml.clock);
	find(library, "nvmlDeviceGetUtilizationRates", &nvml.utilization);
	find(library, "nvmlDeviceGetMaxClockInfo", &nvml.clock_max);
	find(library, "nvmlDeviceGetCurrentClocksEventReasons", &nvml.reasons);
	if (!nvml.reasons) /* its name before driver 535 */
		find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", &nvml.reasons);
	find(library, "nvmlDeviceGetComputeRunningProcesses_v3", &nvml.processes);
	find(library, "nvmlSystemGetProcessName", &nvml.process_name);
	find(library, "nvmlDeviceGetTotalEnergyConsumption", &nvml.energy);
	find(library, "nvmlDeviceGetTotalEccErrors", &nvml.ecc);
	find(library, "nvmlEventSetCreate", &nvml.set_create);
	find(library, "nvmlDeviceRegisterEvents", &nvml.listen);
	find(library, "nvmlEventSetWait_v2", &nvml.wait);
	nvml.ready = nvml.init && nvml.by_uuid && nvml.init() == OK;
	return nvml.ready ? 0 : -1;
}

/* Add the instances of `gpu`; false: not partitioned. A partitioned GPU without instances cannot compute. */
static bool list_instances(void *gpu, char (*uuid)[NVML_UUID_SIZE], int max, int *n)
{
	unsigned current, pending, most;
	void *instance;
	if (!nvml.mig_mode || !nvml.max_instances || !nvml.instance_at || nvml.mig_mode(gpu, &current, &pending) != OK ||
		current != MIG_ON || nvml.max_instances(gpu, &most) != OK)
		return false;
	for (unsigned i = 0; i < most && *n < max; i++)
		if (nvml.instance_at(gpu, i, &instance) == OK && nvml.uuid_of(instance, uuid[*n], sizeof uuid[0]) == OK)
			++*n;
	return true;
}

int nvml_list(char (*uuid)[NVML_UUID_SIZE], int max)
{
	unsigned gpus = 0;
	int n = 0;
	if (nvml_open() != 0 || !nvml.count || !nvml.by_index || !nvml.uuid_of || nvml.count(&gpus) != OK)
		return 0;
	for (unsigned i = 0; i < gpus && n < max; i++) {
		void *gpu;
		if (nvml.by_index(i, &gpu) != OK)
			continue;
		if (!list_instances(gpu, uuid, max, &n) && n < max && nvml.uuid_of(gpu, uuid[n], sizeof uuid[0]) == OK)
			n++;
	}
	return n;
}

void nvml_driver(char *out, size_t size)
{
	*out = '\0';
	if (nvml_open() == 0 && nvml.driver && nvml.driver(out, (unsigned)size) != OK)
		*out = '\0';
}

static void *device_of(const char *uuid)
{
	if (nvml_open() != 0)
		return NULL;
	if (nvml.device && strcmp(uuid, nvml.uuid) == 0)
		return nvml.device;
	void *device;
	if (nvml.by_uuid(uuid, &device) != OK)
		return NULL;
	snprintf(nvml.uuid, sizeof nvml.uuid, "%s", uuid);
	nvml.device = nvml.gpu = device;
	nvml.instance = 0;
	nvml.events = NULL;
	unsigned is_part = 0;
	if (nvml.is_part && nvml.is_part(device, &is_part) == OK && is_part &&
		(!nvml.whole || !nvml.instance_of || nvml.whole(device, &nvml.gpu) != OK ||
			nvml.instance_of(device, &nvml.instance) != OK))
		nvml.device = NULL; /* an instance does not name its GPU */
	return nvml.device;
}

static void *gpu_of(const char *uuid)
{
	return device_of(uuid) ? nvml.gpu : NULL;
}

static bool is_whole(void)
{
	return nvml.device == nvml.gpu;
}

void nvml_vbios(const char *uuid, char *out, size_t size)
{
	void *device = gpu_of(uuid);
	*out = '\0';
	if (device && nvml.vbios && nvml.vbios(device, out, (unsigned)size) != OK)
		*out = '\0';
}

void nvml_read(const char *uuid, struct nvml_reading *out)
{
	*out = (struct nvml_reading){ -1, -1, -1, -1, -1, -1 };
	void *device = gpu_of(uuid);
	unsigned value;
	unsigned long long bits;
	if (!device)
		return;
	if (is_whole() && nvml.power && nvml.power(device, &value) == OK)
		out->power_w = value * 1e-3;
	if (nvml.temperature && nvml.temperature(device, SENSOR_CORE, &value) == OK)
		out->temp_c = value;
	if (nvml.clock && nvml.clock(device, CLOCK_SM, &value) == OK)
		out->sm_mhz = value;
	if (nvml.reasons && nvml.reasons(device, &bits) == OK)
		out->reasons = (int64_t)(bits & INT64_MAX);
	if (is_whole() && nvml.energy && nvml.energy(device, &bits) == OK)
		out->energy_j = (double)bits * 1e-3;
	if (nvml.ecc && nvml.ecc(device, ECC_UNCORRECTED, ECC_VOLATILE, &bits) == OK)
		out->ecc = (int64_t)(bits & INT64_MAX);
}

double nvml_busy_mhz(const char *uuid)
{
	void *device = device_of(uuid);
	struct utilization busy;
	unsigned mhz;
	if (!device || !nvml.utilization || !nvml.clock || nvml.utilization(device, &busy) != OK || busy.gpu_pct < BUSY_PCT ||
		nvml.clock(device, CLOCK_SM, &mhz) != OK)
		return -1;
	return mhz;
}

void nvml_limits(const char *uuid, double *power_w, double *sm_mhz)
{
	void *device = gpu_of(uuid);
	unsigned value;
	*power_w = *sm_mhz = -1;
	if (device && nvml.power_limit && nvml.power_limit(device, &value) == OK)
		*power_w = value * 1e-3;
	if (device && nvml.clock_max && nvml.clock_max(device, CLOCK_SM, &value) == OK)
		*sm_mhz = value;
}

double nvml_energy_j(const char *uuid)
{
	unsigned long long mj;
	void *device = device_of(uuid);
	return device && is_whole() && nvml.energy && nvml.energy(device, &mj) == OK ? (double)mj * 1e-3 : -1;
}

int nvml_xid(const char *uuid)
{
	void *device = gpu_of(uuid);
	int last = 0;
	if (!device || !nvml.set_create || !nvml.listen || !nvml.wait)
		return 0;
	if (!nvml.events) {
		if (nvml.set_create(&nvml.events) != OK)
			nvml.events = NULL;
		else if (nvml.listen(device, EVENT_XID, nvml.events) != OK)
			nvml.wait = NULL; /* this driver has no events */
		return 0;
	}
	struct event e = { 0 };
	for (int n = 0; n < EVENTS_MAX && nvml.wait(nvml.events, &e, 0) == OK; n++)
		if (e.kind == EVENT_XID &&
			(is_whole() || e.gpu_instance == nvml.instance || e.gpu_instance == (unsigned)ALL_INSTANCES))
			last = (int)e.data;
	return last;
}

/* The MPS server has a context from its first client on, without computing. */
static bool is_mps_server(unsigned pid)
{
	static const char server[] = "nvidia-cuda-mps-server";
	char name[PATH_MAX] = "";
	if (!nvml.process_name || nvml.process_name(pid, name, sizeof name) != OK)
		return false;
	name[sizeof name - 1] = '\0';
	const char *slash = strrchr(name, '/');
	return strncmp(slash ? slash + 1 : name, server, sizeof server - 1) == 0;
}

int nvml_compute_pids(const char *uuid, unsigned *pid, int max)
{
	void *device = device_of(uuid);
	struct process list[NVML_PIDS_MAX];
	unsigned n = NVML_PIDS_MAX;
	int status = device && nvml.processes ? nvml.processes(device, &n, list) : -1;
	if (status == INSUFFICIENT_SIZE) { /* the list is too short, so there are processes */
		memset(pid, 0, (size_t)max * sizeof *pid);
		return max;
	}
	if (status != OK)
		return -1;
	int found = 0;
	for (unsigned i = 0; i < n && found < max; i++)
		if (!is_mps_server(list[i].pid))
			pid[found++] = list[i].pid;
	return found;
}

unsigned nvml_own_pid(unsigned own, const unsigned *before, int n_before, const unsigned *after, int n_after)
{
	unsigned fresh = 0;
	int n_fresh = 0;
	for (int i = 0; i < n_after && n_before >= 0; i++) {
		bool seen = false;
		for (int k = 0; k < n_before; k++)
			seen = seen || before[k] == after[i];
		if (seen) /* another process may have this process's number in its namespace */
			continue;
		if (after[i] == own)
			return own;
		fresh = after[i];
		n_fresh++;
	}
	return n_fresh == 1 ? fresh : 0;
}
