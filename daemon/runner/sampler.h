/**
 * sampler.h - positions and stalls of a kernel's warps: the GPU samples a warp of each scheduler at a fixed interval. Kernels
 * are serialised meanwhile, so times of such a call are meaningless.
 */
#ifndef RUNNER_SAMPLER_H
#define RUNNER_SAMPLER_H

#include "profile/stallname.h"
#include "runner/cupti.h"

enum { SAMPLER_REASONS_MAX = 64 };

struct sampler_function {
	char *symbol;               /* mangled */
	size_t n;                   /* instructions, up to the last sampled one */
	uint32_t *count;            /* count[n * reasons] */
	unsigned long long samples; /* sum */
};

struct sampler {
	const struct cupti_sampling *cupti;
	void *context;
	bool is_enabled;
	size_t n_names, reasons;           /* number in the library; number here */
	int of_index[SAMPLER_REASONS_MAX]; /* our index of the library's index i; -1 none */
	char reason[SAMPLER_REASONS_MAX][STALLNAME_SIZE];
	struct sampling_data got, kept; /* kept: samples that remain when the library stops; unused */
	size_t n;
	struct sampler_function *function; /* function[n] */
	unsigned long long dropped;
};

/** Prepare on a driver context. Own: sampler_close, also after -1. Err: ERR_UNSUPPORTED with a message for the user. */
int sampler_open(struct sampler *s, void *context, struct fw_err *err);
/** Sample the next work on the context. */
int sampler_begin(struct sampler *s, struct fw_err *err);
/** Add the samples of work that was waited for. */
int sampler_end(struct sampler *s, struct fw_err *err);
void sampler_close(struct sampler *s);

#endif
