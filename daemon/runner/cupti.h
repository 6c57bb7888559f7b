/** cupti.h - NVIDIA's library that reads a GPU's counters, loaded on first use: a runner must start, and time, without it. */
#ifndef RUNNER_CUPTI_H
#define RUNNER_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "runner/activity_abi.h"
#include "runner/cupti_abi.h"
#include "runner/sampling_abi.h"

/** Its functions; all are set once cupti_open has returned 0. They return 0 or a code for cupti_fail. */
struct cupti {
	int (*version)(uint32_t *out);
	int (*initialize)(struct cupti_plain *);
	int (*finish)(struct cupti_plain *);
	int (*chip)(struct cupti_chip *);
	int (*availability)(struct cupti_availability *);
	int (*host_open)(struct cupti_host *);
	int (*host_close)(struct cupti_host_end *);
	int (*metric)(struct cupti_metric *);
	int (*add_metrics)(struct cupti_metrics *);
	int (*config_size)(struct cupti_config_size *);
	int (*config)(struct cupti_config *);
	int (*passes)(struct cupti_passes *);
	int (*values)(struct cupti_values *);
	int (*enable)(struct cupti_enable *);
	int (*disable)(struct cupti_on *);
	int (*counter_size)(struct cupti_counter_size *);
	int (*counter_image)(struct cupti_counter_image *);
	int (*set)(struct cupti_setting *);
	int (*start)(struct cupti_on *);
	int (*stop)(struct cupti_stop *);
	int (*decode)(struct cupti_decode *);
	int (*info)(struct cupti_info *);
};

struct cupti_sampling {
	int (*enable)(struct sampling_on *);
	int (*disable)(struct sampling_on *);
	int (*start)(struct sampling_on *);
	int (*stop)(struct sampling_on *);
	int (*count)(struct sampling_count *);
	int (*names)(struct sampling_names *);
	int (*set)(struct sampling_setting *);
	int (*get)(struct sampling_get *);
};

struct cupti_activity {
	int (*callbacks)(activity_lend_fn *, activity_back_fn *);
	int (*enable)(int kind);
	int (*disable)(int kind);
	int (*flush)(uint32_t how);
	int (*next)(uint8_t *buffer, size_t valid, void **record);
};

/** Load it, once a process. Err: ERR_UNSUPPORTED it is missing or too old, with the package to install. Own: never freed. */
int cupti_open(const struct cupti **out, struct fw_err *err);
/** Load the sampler's functions, which older versions have too. */
int cupti_sampling_open(const struct cupti_sampling **out, struct fw_err *err);
int cupti_activity_open(const struct cupti_activity **out, struct fw_err *err);
/** Write "CUPTI 130001". Shape: out[size]. */
void cupti_name(const struct cupti *c, char *out, size_t size);

/** Set an error with the cause of a function's code and the remedy. Returns -1. Err: ERR_UNSUPPORTED. */
int cupti_fail(int code, const char *function, struct fw_err *err);

#endif
