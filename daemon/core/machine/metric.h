/**
 * metric.h - the counters of a GPU that tell what a kernel does with its time, by the names that NVIDIA's tools give them.
 *
 * They are counts and sums: hit rates and shares are divided from them afterwards, since the ready-made ratios cost replays of their own.
 */
#ifndef CORE_MACHINE_METRIC_H
#define CORE_MACHINE_METRIC_H

/** The first METRICS_BASIC cost 4 replays of a call on an H100, all of them 10. */
enum { METRICS_BASIC = 38, METRICS = 60 };

/** Time and clocks, memory, pipes, occupancy, spills; then which bank conflicts, and what warps wait for. */
extern const char *const metric_names[METRICS];

#endif
