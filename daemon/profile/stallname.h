/** stallname.h - names of warp stalls as in counters. The GPU's sampler names some of them differently. */
#ifndef PROFILE_STALLNAME_H
#define PROFILE_STALLNAME_H

#include <stdbool.h>

enum { STALLNAME_SIZE = 24 };

/**
 * Translate "smsp__pcsamp_warps_issue_stalled_warpgroup_arrive" into "gmma". Returns false if the name is no stall, or counts a
 * part of another one again (samples at which no warp issued). Shape: out[STALLNAME_SIZE].
 */
bool stallname_of_sample(const char *sampled, char *out);

#endif
