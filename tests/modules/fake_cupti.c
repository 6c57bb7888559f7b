/*
 * Stands in for the library that reads a GPU's counters, where there is no GPU: once loaded, its soname satisfies later loads of
 * the library. The test sets its behaviour in `fake_cupti`. One chip, "GH100"; value m of range i is 1000 i + m. The samples of a
 * call are in the table `seen`.
 */
#include <string.h>
#include <unistd.h>

#include "daemon/runner/activity_abi.h"
#include "daemon/runner/cupti_abi.h"
#include "daemon/runner/sampling_abi.h"

#define EXPORT __attribute__((visibility("default")))

enum { INVALID_PARAMETER = 1, INVALID_METRIC = 17 };

EXPORT struct fake_cupti {
	char fails[64]; /* the function that returns `code`; "" none */
	int code;
	int skip;       /* number of its calls that succeed before */
	char hangs[64]; /* the function that never returns */
	char lacks[80]; /* a metric that the chip does not have */
	int passes, ranges, dropped;
	int never_done;
	/* requests received */
	int open, hosts, enabled, starts, metrics, add_calls;
	int range_mode, replay_mode;
	int sampling, samples_full, sample_calls, sample_mode; /* enabled; dropped; sampled calls; how */
	int tracing, traced, flushes;                          /* enabled; kernels that every second flush returns */
} fake_cupti;

static int n_names;

static int says(const char *function, size_t size, size_t least)
{
	struct fake_cupti *f = &fake_cupti;
	if (strcmp(f->hangs, function) == 0)
		for (;;)
			pause();
	if (size < least)
		return INVALID_PARAMETER;
	return strcmp(f->fails, function) == 0 && f->skip-- <= 0 ? f->code : 0;
}
#define SAYS(name, type, last)                                                                                                   \
	int code = says(name, p->size, CUPTI_SIZE(type, last));                                                                  \
	if (code != 0)                                                                                                           \
	return code

EXPORT int cuptiGetVersion(uint32_t *out)
{
	*out = 130099;
	return 0;
}

EXPORT int cuptiProfilerInitialize(struct cupti_plain *p)
{
	SAYS("Initialize", struct cupti_plain, none);
	fake_cupti.open++;
	return 0;
}

EXPORT int cuptiProfilerDeInitialize(struct cupti_plain *p)
{
	SAYS("DeInitialize", struct cupti_plain, none);
	fake_cupti.open--;
	return 0;
}

EXPORT int cuptiDeviceGetChipName(struct cupti_chip *p)
{
	SAYS("GetChipName", struct cupti_chip, chip);
	p->chip = "GH100";
	return 0;
}

EXPORT int cuptiProfilerGetCounterAvailability(struct cupti_availability *p)
{
	SAYS("GetCounterAvailability", struct cupti_availability, image);
	if (p->image)
		memset(p->image, 7, 100);
	p->image_bytes = 100;
	return 0;
}

EXPORT int cuptiProfilerHostInitialize(struct cupti_host *p)
{
	SAYS("HostInitialize", struct cupti_host, host);
	p->host = &fake_cupti.hosts;
	fake_cupti.hosts++;
	return strcmp(p->chip, "GH100") == 0 && p->type == CUPTI_RANGE_PROFILER ? 0 : INVALID_PARAMETER;
}

EXPORT int cuptiProfilerHostDeinitialize(struct cupti_host_end *p)
{
	SAYS("HostDeinitialize", struct cupti_host_end, host);
	fake_cupti.hosts--;
	return 0;
}

EXPORT int cuptiProfilerHostGetMetricProperties(struct cupti_metric *p)
{
	SAYS("HostGetMetricProperties", struct cupti_metric, type);
	return strcmp(p->name, fake_cupti.lacks) == 0 ? INVALID_METRIC : 0;
}

EXPORT int cuptiProfilerHostConfigAddMetrics(struct cupti_metrics *p)
{
	SAYS("HostConfigAddMetrics", struct cupti_metrics, n);
	fake_cupti.metrics = n_names = (int)p->n;
	fake_cupti.add_calls++;
	return 0;
}

EXPORT int cuptiProfilerHostGetConfigImageSize(struct cupti_config_size *p)
{
	SAYS("HostGetConfigImageSize", struct cupti_config_size, image_bytes);
	p->image_bytes = 64;
	return 0;
}

EXPORT int cuptiProfilerHostGetConfigImage(struct cupti_config *p)
{
	SAYS("HostGetConfigImage", struct cupti_config, image);
	memset(p->image, 9, 64);
	return 0;
}

EXPORT int cuptiProfilerHostGetNumOfPasses(struct cupti_passes *p)
{
	SAYS("HostGetNumOfPasses", struct cupti_passes, n);
	p->n = (size_t)fake_cupti.passes;
	return 0;
}

EXPORT int cuptiProfilerHostEvaluateToGpuValues(struct cupti_values *p)
{
	SAYS("HostEvaluateToGpuValues", struct cupti_values, value);
	for (size_t m = 0; m < p->n; m++)
		p->value[m] = 1000.0 * (double)p->range + (double)m;
	return (int)p->n == n_names && p->range < (size_t)fake_cupti.ranges ? 0 : INVALID_PARAMETER;
}

EXPORT int cuptiRangeProfilerEnable(struct cupti_enable *p)
{
	SAYS("RangeProfilerEnable", struct cupti_enable, profiler);
	p->profiler = &fake_cupti.enabled;
	fake_cupti.enabled++;
	fake_cupti.starts = 0;
	return p->context ? 0 : INVALID_PARAMETER;
}

EXPORT int cuptiRangeProfilerDisable(struct cupti_on *p)
{
	SAYS("RangeProfilerDisable", struct cupti_on, profiler);
	fake_cupti.enabled--;
	return 0;
}

EXPORT int cuptiRangeProfilerGetCounterDataSize(struct cupti_counter_size *p)
{
	SAYS("RangeProfilerGetCounterDataSize", struct cupti_counter_size, image_bytes);
	p->image_bytes = 4096;
	return (int)p->n == n_names && p->nodes_max >= p->ranges_max ? 0 : INVALID_PARAMETER;
}

EXPORT int cuptiRangeProfilerCounterDataImageInitialize(struct cupti_counter_image *p)
{
	SAYS("RangeProfilerCounterDataImageInitialize", struct cupti_counter_image, image);
	memset(p->image, 0, p->image_bytes);
	return 0;
}

EXPORT int cuptiRangeProfilerSetConfig(struct cupti_setting *p)
{
	SAYS("RangeProfilerSetConfig", struct cupti_setting, level);
	fake_cupti.range_mode = p->range;
	fake_cupti.replay_mode = p->replay;
	return p->config[0] == 9 && p->levels == 1 ? 0 : INVALID_PARAMETER;
}

EXPORT int cuptiRangeProfilerStart(struct cupti_on *p)
{
	SAYS("RangeProfilerStart", struct cupti_on, profiler);
	fake_cupti.starts++;
	return 0;
}

EXPORT int cuptiRangeProfilerStop(struct cupti_stop *p)
{
	SAYS("RangeProfilerStop", struct cupti_stop, is_last);
	p->is_last = fake_cupti.starts >= fake_cupti.passes && !fake_cupti.never_done;
	return 0;
}

EXPORT int cuptiRangeProfilerDecodeData(struct cupti_decode *p)
{
	SAYS("RangeProfilerDecodeData", struct cupti_decode, dropped);
	p->dropped = (size_t)fake_cupti.dropped;
	return 0;
}

EXPORT int cuptiRangeProfilerGetCounterDataInfo(struct cupti_info *p)
{
	SAYS("RangeProfilerGetCounterDataInfo", struct cupti_info, ranges);
	p->ranges = (size_t)fake_cupti.ranges;
	return 0;
}

/* ---- traced kernels -------------------------------------------------------------------------------------------------------- */

enum { RECORD_BYTES = 160, NO_MORE = 12 };

static activity_lend_fn *lend;
static activity_back_fn *back;

EXPORT int cuptiActivityRegisterCallbacks(activity_lend_fn *l, activity_back_fn *b)
{
	lend = l;
	back = b;
	return says("ActivityRegisterCallbacks", 0, 0);
}

EXPORT int cuptiActivityEnable(int kind)
{
	int code = says("ActivityEnable", 0, 0);
	fake_cupti.tracing += code == 0;
	fake_cupti.flushes = 0;
	return kind == ACTIVITY_CONCURRENT_KERNEL ? code : INVALID_PARAMETER;
}

EXPORT int cuptiActivityDisable(int kind)
{
	fake_cupti.tracing--;
	return kind == ACTIVITY_CONCURRENT_KERNEL ? 0 : INVALID_PARAMETER;
}

/* Kernels in the order of their end: the last one to begin comes first. Kernel i of a call takes 10 (i + 1) us, and one more in
 * each call. */
EXPORT int cuptiActivityFlushAll(uint32_t how)
{
	static const int grid[] = { 4, 132, 7 };
	int code = says("ActivityFlushAll", 0, 0), is_call = fake_cupti.flushes++ % 2, n = is_call ? fake_cupti.traced : 1;
	uint8_t *buffer = NULL;
	size_t size = 0, records_max = 0;
	if (code != 0 || how != ACTIVITY_FLUSH_FORCED || !lend)
		return code ? code : INVALID_PARAMETER;
	lend(&buffer, &size, &records_max);
	for (int i = 0; i < n; i++) {
		int k = n - 1 - i;
		struct activity_kernel r = { .kind = ACTIVITY_CONCURRENT_KERNEL,
			.start_ns = 1000000 + 1000 * (uint64_t)k,
			.grid = { is_call ? grid[k % 3] : 9, 1, 1 } };
		r.end_ns = r.start_ns + 10000 * (uint64_t)(k + 1) + 1000 * (uint64_t)(fake_cupti.flushes / 2);
		memcpy(buffer + (size_t)i * RECORD_BYTES, &r, sizeof r);
	}
	back(NULL, 0, buffer, size, (size_t)n * RECORD_BYTES);
	return 0;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + RECORD_BYTES : buffer;
	if (next >= buffer + valid)
		return NO_MORE;
	*record = next;
	return 0;
}

/* ---- samples of program counters ----------------------------------------------------------------------------------------- */

enum { NOT_NOW = 7, SEEN_A_TIME = 3 };

static const char *const stalls[] = { "smsp__pcsamp_sample_count", "smsp__pcsamp_warps_issue_stalled_barrier",
	"smsp__pcsamp_warps_issue_stalled_barrier_not_issued", "smsp__pcsamp_warps_issue_stalled_selected",
	"smsp__pcsamp_warps_issue_stalled_warpgroup_arrive" };
enum { STALLS = sizeof stalls / sizeof stalls[0], FIRST_INDEX = 3 };

/* In this order, some at a time; the second function is in this file and no kernel of the call. */
static const struct {
	const char *name;
	unsigned offset, stall, samples;
} seen[] = {
	{ "_Z3runv", 0x20, 4, 9 },
	{ "_Z3runv", 0x20, 3, 1 },
	{ "restore", 0x0, 1, 99 },
	{ "_Z3runv", 0x10, 3, 5 },
	{ "_Z7preparev", 0x30, 1, 4 },
	{ "_Z3runv", 0x40, 2, 7 }, /* counted again under another name */
	{ "_Z3runv", 0x40, 1, 7 },
	{ NULL, 0x50, 1, 1000 },
};
enum { SEEN = sizeof seen / sizeof seen[0] };
static size_t given; /* of the current call */

EXPORT int cuptiPCSamplingEnable(struct sampling_on *p)
{
	SAYS("PCSamplingEnable", struct sampling_on, context);
	fake_cupti.sampling++;
	return p->context ? 0 : INVALID_PARAMETER;
}

EXPORT int cuptiPCSamplingDisable(struct sampling_on *p)
{
	SAYS("PCSamplingDisable", struct sampling_on, context);
	fake_cupti.sampling--;
	return 0;
}

EXPORT int cuptiPCSamplingStart(struct sampling_on *p)
{
	SAYS("PCSamplingStart", struct sampling_on, context);
	given = 0;
	return fake_cupti.sample_mode == SAMPLING_SERIALIZED ? 0 : NOT_NOW;
}

EXPORT int cuptiPCSamplingStop(struct sampling_on *p)
{
	SAYS("PCSamplingStop", struct sampling_on, context);
	fake_cupti.sample_calls++;
	return 0;
}

EXPORT int cuptiPCSamplingGetNumStallReasons(struct sampling_count *p)
{
	SAYS("PCSamplingGetNumStallReasons", struct sampling_count, n);
	*p->n = STALLS;
	return fake_cupti.sampling ? 0 : NOT_NOW;
}

EXPORT int cuptiPCSamplingGetStallReasons(struct sampling_names *p)
{
	SAYS("PCSamplingGetStallReasons", struct sampling_names, name);
	for (size_t i = 0; i < p->n; i++) {
		p->index[i] = (uint32_t)i + FIRST_INDEX;
		strcpy(p->name[i], stalls[i]);
	}
	return p->n == STALLS ? 0 : INVALID_PARAMETER;
}

EXPORT int cuptiPCSamplingSetConfigurationAttribute(struct sampling_setting *p)
{
	SAYS("PCSamplingSetConfigurationAttribute", struct sampling_setting, attribute);
	for (size_t i = 0; i < p->n; i++) {
		const struct sampling_attribute *a = &p->attribute[i];
		if (a->type == SAMPLING_MODE)
			fake_cupti.sample_mode = (int)a->as.number;
		if (a->type == SAMPLING_REASONS && (a->as.reasons.n != STALLS || a->as.reasons.index[0] != FIRST_INDEX))
			return INVALID_PARAMETER;
		if (a->type == SAMPLING_START_STOP && a->as.number != 1)
			return INVALID_PARAMETER;
	}
	return 0;
}

EXPORT int cuptiPCSamplingGetData(struct sampling_get *p)
{
	SAYS("PCSamplingGetData", struct sampling_get, data);
	struct sampling_data *d = p->data;
	if (d->size != sizeof *d || d->capacity < SEEN_A_TIME)
		return INVALID_PARAMETER;
	for (d->n = 0; d->n < SEEN_A_TIME && given < SEEN; d->n++, given++) {
		struct sampling_pc *pc = &d->pc[d->n];
		if (pc->size != sizeof *pc)
			return INVALID_PARAMETER;
		pc->name = (char *)seen[given].name;
		pc->offset = seen[given].offset;
		pc->n_reasons = 1;
		pc->reason[0] = (struct sampling_reason){ seen[given].stall + FIRST_INDEX, seen[given].samples };
	}
	d->remaining = SEEN - given;
	d->is_full = (uint8_t)fake_cupti.samples_full;
	return 0;
}
