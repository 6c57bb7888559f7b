/**
 * rotation.h - the next shard of a large suite to measure off-peak. Pure.
 *
 * Each night first the shards that have waited longest, so that all are measured within the suite's nights; then shards whose
 * last comparison found a change, the newest first; then again the longest waiting. With several suites each gets its share
 * before any gets more.
 */
#ifndef MODEL_ROTATION_H
#define MODEL_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

/** A shard; part[0] of a list is the suite's shard 1. */
struct rotation_part {
	int64_t measured_at;  /* 0: never */
	bool is_requested;    /* already requested for this commit */
	bool is_alert_update; /* its last comparison found a change, or failed */
};

/**
 * Return the position of the next shard, -1: none is left. `night_at`: start of this night. Shape: part[n]. Units: ms since
 * 1970.
 */
int rotation_next(const struct rotation_part *part, int n, int nights, int64_t night_at);

/** Return whether this night's share is unfinished. As rotation_next. */
bool rotation_is_behind(const struct rotation_part *part, int n, int nights, int64_t night_at);

#endif
