/**
 * cupti_abi.h - C declarations of CUPTI's functions: the toolkit's host header is C++, and a runner is built without a toolkit.
 * The first two members of each struct are its size, which gives its version, and NULL.
 */
#ifndef RUNNER_CUPTI_ABI_H
#define RUNNER_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { CUPTI_RANGE_PROFILER = 0, CUPTI_AUTO_RANGE = 1, CUPTI_USER_REPLAY = 3 };

/** Size up to and including the last member: a longer version may use the padding after it. */
#define CUPTI_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

struct cupti_plain { /* cuptiProfilerInitialize, DeInitialize */
	size_t size;
	void *none;
};

struct cupti_chip { /* cuptiDeviceGetChipName */
	size_t size;
	void *none;
	size_t device;
	const char *chip; /* out */
};

struct cupti_availability { /* cuptiProfilerGetCounterAvailability */
	size_t size;
	void *none;
	void *context;
	size_t image_bytes; /* in and out */
	uint8_t *image;     /* NULL: return the size only */
};

/* ---- host half: needs no GPU ------------------------------------------------------------------------------------------- */

struct cupti_host { /* cuptiProfilerHostInitialize */
	size_t size;
	void *none;
	int type;
	const char *chip;
	const uint8_t *availability;
	void *host; /* out */
};

struct cupti_host_end { /* cuptiProfilerHostDeinitialize */
	size_t size;
	void *none;
	void *host;
};

struct cupti_metric { /* cuptiProfilerHostGetMetricProperties */
	size_t size;
	void *none;
	void *host;
	const char *name;
	const char *description, *unit_of_hardware, *unit; /* out */
	int type;                                          /* out */
};

struct cupti_metrics { /* cuptiProfilerHostConfigAddMetrics */
	size_t size;
	void *none;
	void *host;
	const char *const *names;
	size_t n;
};

struct cupti_config_size { /* cuptiProfilerHostGetConfigImageSize */
	size_t size;
	void *none;
	void *host;
	size_t image_bytes; /* out */
};

struct cupti_config { /* cuptiProfilerHostGetConfigImage */
	size_t size;
	void *none;
	void *host;
	size_t image_bytes;
	uint8_t *image;
};

struct cupti_passes { /* cuptiProfilerHostGetNumOfPasses */
	size_t size;
	void *none;
	size_t image_bytes;
	uint8_t *image;
	size_t n; /* out */
};

struct cupti_values { /* cuptiProfilerHostEvaluateToGpuValues */
	size_t size;
	void *none;
	void *host;
	const uint8_t *image;
	size_t image_bytes, range;
	const char *const *names;
	size_t n;
	double *value; /* value[n] */
};

/* ---- target half ------------------------------------------------------------------------------------------------------- */

struct cupti_enable { /* cuptiRangeProfilerEnable */
	size_t size;
	void *none;
	void *context;
	void *profiler; /* out */
};

struct cupti_on { /* cuptiRangeProfilerDisable, Start */
	size_t size;
	void *none;
	void *profiler;
};

struct cupti_counter_size { /* cuptiRangeProfilerGetCounterDataSize */
	size_t size;
	void *none;
	void *profiler;
	const char *const *names;
	size_t n, ranges_max;
	uint32_t nodes_max;
	size_t image_bytes; /* out */
};

struct cupti_counter_image { /* cuptiRangeProfilerCounterDataImageInitialize */
	size_t size;
	void *none;
	void *profiler;
	size_t image_bytes;
	uint8_t *image;
};

struct cupti_setting { /* cuptiRangeProfilerSetConfig */
	size_t size;
	void *none;
	void *profiler;
	size_t config_bytes;
	const uint8_t *config;
	size_t image_bytes;
	uint8_t *image;
	int range, replay;
	size_t ranges_max;
	uint16_t levels, level_min;
	size_t pass;
	uint16_t level;
};

struct cupti_stop { /* cuptiRangeProfilerStop */
	size_t size;
	void *none;
	void *profiler;
	size_t pass, level; /* out */
	uint8_t is_last;    /* out: all passes are done */
};

struct cupti_decode { /* cuptiRangeProfilerDecodeData */
	size_t size;
	void *none;
	void *profiler;
	size_t dropped; /* out */
};

struct cupti_info { /* cuptiRangeProfilerGetCounterDataInfo */
	size_t size;
	void *none;
	const uint8_t *image;
	size_t image_bytes;
	size_t ranges; /* out */
};

#endif
