/** stallname.h - what warps wait for, by the names that counters have for it. The GPU's sampler has other names for some of the same. */
#ifndef CORE_MACHINE_STALLNAME_H
#define CORE_MACHINE_STALLNAME_H

#include <stdbool.h>

enum { STALLNAME_SIZE = 24 };

/**
 * "smsp__pcsamp_warps_issue_stalled_warpgroup_arrive" is "gmma". False: that name is none of a stall, or counts a part of another one again (its
 * samples at which no warp issued). Shape: out[STALLNAME_SIZE].
 */
bool stallname_of_sample(const char *sampled, char *out);

#endif
