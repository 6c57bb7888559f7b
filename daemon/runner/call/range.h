/**
 * range.h - names parts of a run for profilers: NVTX ranges "cell|subject|phase" where CUDA is built in with the NVTX
 * headers, else nothing.
 *
 * Header only: without a profiler attached a range costs a few nanoseconds.
 */
#ifndef RUNNER_CALL_RANGE_H
#define RUNNER_CALL_RANGE_H

#if defined(FW_HAVE_CUDA) && __has_include(<nvtx3/nvToolsExt.h>)
#include <stdio.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#include <nvtx3/nvToolsExt.h>
#pragma GCC diagnostic pop

static inline void range_push(const char *cell, const char *subject, const char *phase)
{
	char name[320];
	snprintf(name, sizeof name, "%s|%s|%s", cell, subject, phase);
	nvtxRangePushA(name);
}

static inline void range_pop(void)
{
	nvtxRangePop();
}
#else
static inline void range_push(const char *cell, const char *subject, const char *phase)
{
	(void)cell, (void)subject, (void)phase;
}

static inline void range_pop(void)
{
}
#endif

#endif
