/*
 * cupti.c - CUPTI through dlopen, like NVML. It loads libnvperf_host.so and libnvperf_target.so from its own folder, so it is
 * opened by full path if that is known.
 */
#include "runner/internal.h"

#include <dlfcn.h>

static struct {
	bool is_sought;
	void *library;
	struct cupti cupti;
	struct cupti_sampling sampling;
	struct cupti_activity activity;
} state;

/* A set of functions that is loaded together. */
struct set {
	bool tried;
	struct fw_err why; /* reason if it is not loaded */
};
static struct set counting_set, sampling_set, activity_set;

/* Newest first: it supports older GPUs too. The range profiler came with CUDA 12.6. */
static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so" };
static const char *const folders[] = { "/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/usr/local/cuda/extras/CUPTI/lib64",
	"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu" };
enum { NAMES = sizeof names / sizeof names[0], FOLDERS = sizeof folders / sizeof folders[0] };

struct function {
	const char *name;
	size_t at; /* offset in the struct of pointers */
};
static const struct function functions[] = {
	{ "cuptiGetVersion", offsetof(struct cupti, version) },
	{ "cuptiProfilerInitialize", offsetof(struct cupti, initialize) },
	{ "cuptiProfilerDeInitialize", offsetof(struct cupti, finish) },
	{ "cuptiDeviceGetChipName", offsetof(struct cupti, chip) },
	{ "cuptiProfilerGetCounterAvailability", offsetof(struct cupti, availability) },
	{ "cuptiProfilerHostInitialize", offsetof(struct cupti, host_open) },
	{ "cuptiProfilerHostDeinitialize", offsetof(struct cupti, host_close) },
	{ "cuptiProfilerHostGetMetricProperties", offsetof(struct cupti, metric) },
	{ "cuptiProfilerHostConfigAddMetrics", offsetof(struct cupti, add_metrics) },
	{ "cuptiProfilerHostGetConfigImageSize", offsetof(struct cupti, config_size) },
	{ "cuptiProfilerHostGetConfigImage", offsetof(struct cupti, config) },
	{ "cuptiProfilerHostGetNumOfPasses", offsetof(struct cupti, passes) },
	{ "cuptiProfilerHostEvaluateToGpuValues", offsetof(struct cupti, values) },
	{ "cuptiRangeProfilerEnable", offsetof(struct cupti, enable) },
	{ "cuptiRangeProfilerDisable", offsetof(struct cupti, disable) },
	{ "cuptiRangeProfilerGetCounterDataSize", offsetof(struct cupti, counter_size) },
	{ "cuptiRangeProfilerCounterDataImageInitialize", offsetof(struct cupti, counter_image) },
	{ "cuptiRangeProfilerSetConfig", offsetof(struct cupti, set) },
	{ "cuptiRangeProfilerStart", offsetof(struct cupti, start) },
	{ "cuptiRangeProfilerStop", offsetof(struct cupti, stop) },
	{ "cuptiRangeProfilerDecodeData", offsetof(struct cupti, decode) },
	{ "cuptiRangeProfilerGetCounterDataInfo", offsetof(struct cupti, info) },
};
static const struct function sampling_functions[] = {
	{ "cuptiPCSamplingEnable", offsetof(struct cupti_sampling, enable) },
	{ "cuptiPCSamplingDisable", offsetof(struct cupti_sampling, disable) },
	{ "cuptiPCSamplingStart", offsetof(struct cupti_sampling, start) },
	{ "cuptiPCSamplingStop", offsetof(struct cupti_sampling, stop) },
	{ "cuptiPCSamplingGetNumStallReasons", offsetof(struct cupti_sampling, count) },
	{ "cuptiPCSamplingGetStallReasons", offsetof(struct cupti_sampling, names) },
	{ "cuptiPCSamplingSetConfigurationAttribute", offsetof(struct cupti_sampling, set) },
	{ "cuptiPCSamplingGetData", offsetof(struct cupti_sampling, get) },
};

static const struct function activity_functions[] = {
	{ "cuptiActivityRegisterCallbacks", offsetof(struct cupti_activity, callbacks) },
	{ "cuptiActivityEnable", offsetof(struct cupti_activity, enable) },
	{ "cuptiActivityDisable", offsetof(struct cupti_activity, disable) },
	{ "cuptiActivityFlushAll", offsetof(struct cupti_activity, flush) },
	{ "cuptiActivityGetNextRecord", offsetof(struct cupti_activity, next) },
};

static void *open_in(const char *folder)
{
	char path[4096];
	void *library = NULL;
	for (int n = 0; n < NAMES && !library; n++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[n]);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return library;
}

static void *open_library(void)
{
	const char *home = getenv("CUDA_HOME");
	char folder[4000];
	void *library = NULL;
	for (int n = 0; n < NAMES && !library; n++)
		library = dlopen(names[n], RTLD_NOW | RTLD_LOCAL);
	if (!library && home && *home) {
		snprintf(folder, sizeof folder, "%s/lib64", home);
		library = open_in(folder);
	}
	for (int f = 0; f < FOLDERS && !library; f++)
		library = open_in(folders[f]);
	return library;
}

/* Shape: f[n], with their offsets in `to`. */
static int load(const struct function *f, size_t n, void *to, const char *since, struct fw_err *err)
{
	if (!state.is_sought)
		state.library = open_library();
	state.is_sought = true;
	if (!state.library)
		return err_set(err, ERR_UNSUPPORTED,
			"libcupti is not installed, or not in a searched folder (the loader's folders, /usr/local/cuda): it comes with the CUDA "
			"toolkit, package cuda-cupti");
	for (size_t i = 0; i < n; i++) {
		void *symbol = dlsym(state.library, f[i].name);
		if (!symbol)
			return err_set(err, ERR_UNSUPPORTED, "libcupti has no %s: install the one of CUDA %s or newer", f[i].name,
				since);
		/* ISO C forbids the cast from an object pointer that dlsym needs */
		memcpy((char *)to + f[i].at, &symbol, sizeof symbol);
	}
	return 0;
}

static void *open_set(struct set *set, const struct function *f, size_t n, void *to, const char *since, struct fw_err *err)
{
	if (!set->tried && load(f, n, to, since, &set->why) == 0)
		set->why.code = ERR_NONE;
	set->tried = true;
	if (set->why.code != ERR_NONE)
		err_set(err, set->why.code, "%s", set->why.text);
	return set->why.code == ERR_NONE ? to : NULL;
}

int cupti_open(const struct cupti **out, struct fw_err *err)
{
	*out = open_set(&counting_set, functions, sizeof functions / sizeof functions[0], &state.cupti, "12.6", err);
	return *out ? 0 : -1;
}

int cupti_sampling_open(const struct cupti_sampling **out, struct fw_err *err)
{
	*out = open_set(&sampling_set, sampling_functions, sizeof sampling_functions / sizeof sampling_functions[0],
		&state.sampling, "11.3", err);
	return *out ? 0 : -1;
}

int cupti_activity_open(const struct cupti_activity **out, struct fw_err *err)
{
	*out = open_set(&activity_set, activity_functions, sizeof activity_functions / sizeof activity_functions[0],
		&state.activity, "9", err);
	return *out ? 0 : -1;
}

void cupti_name(const struct cupti *c, char *out, size_t size)
{
	uint32_t version = 0;
	if (c->version(&version) != 0)
		version = 0;
	snprintf(out, size, "CUPTI %u", version);
}

/* Errors that the user can fix. */
static const struct {
	int code;
	const char *words;
} sentences[] = {
	{ 2, "the driver does not have this device" },
	{ 8, "the device has no free memory for counters" },
	{ 14, "CUPTI and the driver do not match: install the CUPTI of the driver's CUDA version, or a newer driver" },
	{ 15, "CUPTI could not start: libnvperf_host.so and libnvperf_target.so must be next to libcupti, and the driver must "
	      "not be older than CUPTI" },
	{ 17, "this GPU lacks some of the counters" },
	{ 26, "another process reads the GPU's counters; if that is DCGM, `dcgmi profile --pause` stops it" },
	{ 27, "counters of this GPU cannot be read by this CUPTI" },
	{ 33, "this is a virtual GPU, whose counters cannot be read" },
	{ 35, "the driver shows counters to administrators only: load it with NVreg_RestrictProfilingToAdminUsers=0 "
	      "(/etc/modprobe.d), then reboot (see doc/troubleshooting.md#counters)" },
	{ 36, "another profiling interface of CUPTI is in use in this process" },
	{ 38, "this GPU is too old for the range profiler" },
	{ 39, "another tool (ncu, nsys or a sanitizer) is attached to this process: run it without that tool" },
	{ 40, "this is a virtual GPU, and its host does not allow profiling: vGPU has to be set up with profiling enabled" },
	{ 41, "the GPU is in confidential-computing mode, in which counters cannot be read" },
	{ 42, "this is a mining GPU, whose counters cannot be read" },
	{ 43, "the device is a MIG slice, whose counters cannot be read: use a whole GPU" },
	{ 44, "the GPU is in an SLI group, whose counters cannot be read" },
	{ 45, "counters cannot be read under the Windows Subsystem for Linux" },
	{ 46, "CUPTI does not know this GPU: install a newer one" },
};

int cupti_check(int code, const char *function, struct fw_err *err)
{
	if (code == 0)
		return 0;
	for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++)
		if (sentences[i].code == code)
			return err_set(err, ERR_UNSUPPORTED, "%s (%s returned %d)", sentences[i].words, function, code);
	return err_set(err, ERR_UNSUPPORTED, "%s failed with error %d of CUPTI", function, code);
}
