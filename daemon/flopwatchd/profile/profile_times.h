/** profile_times.h - what a profile's cell lost, and whose it is before anything is counted: the clock's, the host's. Pure. */
#ifndef FLOPWATCHD_PROFILE_PROFILE_TIMES_H
#define FLOPWATCHD_PROFILE_PROFILE_TIMES_H

#include "core/cause/cause.h"
#include "db/store/result.h"

/**
 * Fill base_ms, target_ms, noise_ms, clock_ms and host_ms of `e`, whose kernels are there: from the cell as it was compared, else (NULL, or
 * it has no times) from its kernels by themselves; 0: they have none either. Where whole calls decided, what they lost and their
 * kernels did not is the host's, unless it is less than two processes of one side differ by. Units: ms.
 */
void profile_times(const struct store_cell *timed, struct cause_evidence *e);

#endif
