/** profile_times.h - the loss of a profiled cell, and the parts of the clock and the host, before any counter. Pure. */
#ifndef FLOPWATCHD_RECORD_PROFILE_TIMES_H
#define FLOPWATCHD_RECORD_PROFILE_TIMES_H

#include "profile/cause.h"
#include "db/result.h"

/**
 * Fill base_ms, target_ms, noise_ms, clock_ms and host_ms of `e`, whose kernels are set: from the compared cell, else (NULL, or
 * without times) from its kernels; 0: no times either. If whole calls decided, a loss that their kernels do not show is the
 * host's, unless it is within the difference of two processes of one side. Units: ms.
 */
void profile_times(const struct store_cell *timed, struct cause_evidence *e);

#endif
