/**
 * sim_trace.h - noise of a real GPU: 256 calls in a row of cuDNN's attention forward (64:8 heads, headdim 128, 8192 tokens) on
 * an H200 at its power limit, five key lengths interleaved and scaled to one level.
 */
#ifndef RUNNER_SIM_TRACE_H
#define RUNNER_SIM_TRACE_H

#include <stdint.h>

enum { SIM_TRACE_CALLS = 256 };

struct sim_call {
	int16_t log_e5; /* 1e5 ln(time / running median of 101 calls) */
	uint16_t mhz;   /* SM clock that the driver reported during the call */
};

extern const struct sim_call sim_trace[SIM_TRACE_CALLS];

#endif
