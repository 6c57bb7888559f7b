/**
 * sampler.h - where in a kernel's machine code warps are, and what they wait for there: the GPU looks at a warp of each scheduler every so many
 * cycles. Kernels run one by one meanwhile, so no time of such a call is a time of anything.
 */
#ifndef RUNNER_COUNTER_SAMPLER_H
#define RUNNER_COUNTER_SAMPLER_H

#include "core/machine/stallname.h"
#include "runner/counter/cupti.h"

enum { SAMPLER_REASONS_MAX = 64 };

/** One function of those that ran. */
struct sampler_function {
	char *symbol;               /* mangled */
	size_t n;                   /* instructions, up to the last one that was seen */
	uint32_t *count;            /* count[n * reasons] */
	unsigned long long samples; /* sum */
};

struct sampler {
	const struct cupti_sampling *cupti;
	void *context;
	bool is_enabled;
	size_t n_names, reasons;           /* as the library counts them; as we do */
	int of_index[SAMPLER_REASONS_MAX]; /* of what the library calls index i: ours; -1 none */
	char reason[SAMPLER_REASONS_MAX][STALLNAME_SIZE];
	struct sampling_data got, kept; /* kept: what the library has left when it stops; nobody reads it */
	size_t n;
	struct sampler_function *function; /* function[n] */
	unsigned long long dropped;
};

/** Prepare on a context of the driver. Own: sampler_close, also after -1. Err: ERR_UNSUPPORTED in a sentence for people. */
int sampler_open(struct sampler *s, void *context, struct fw_err *err);
/** The next work on the context is sampled. */
int sampler_begin(struct sampler *s, struct fw_err *err);
/** The work is done and was waited for: adds what was seen. */
int sampler_end(struct sampler *s, struct fw_err *err);
/** A zeroed one is fine. */
void sampler_close(struct sampler *s);

#endif
