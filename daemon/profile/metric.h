/**
 * metric.h - GPU counters that explain a kernel's time, by the names of NVIDIA's tools.
 *
 * They are counts and sums: hit rates and shares are computed from them, since the ready-made ratios need extra replays.
 */
#ifndef PROFILE_METRIC_H
#define PROFILE_METRIC_H

/** The first METRICS_BASIC take 4 replays of a call on an H100, all of them 10. */
enum { METRICS_BASIC = 38, METRICS = 60 };

/** Time and clocks, memory, pipes, occupancy, spills; then kinds of bank conflicts, and warp stalls. */
extern const char *const metric_names[METRICS];

#endif
