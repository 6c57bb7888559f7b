/**
 * rotation.h - which part of a large suite is measured next at night. Pure.
 *
 * Each night first the share that has waited longest, so that every part is measured within the suite's nights however much else
 * happens; then parts whose last comparison had something to tell, the newest first; then again those that have waited longest.
 * Of several suites each has its share before any has more.
 */
#ifndef CORE_SUITE_ROTATION_H
#define CORE_SUITE_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

/** A part; part[0] of a list is the suite's part 1. */
struct rotation_part {
	int64_t measured_at;  /* 0: never */
	bool is_asked;        /* it was asked for with this commit already */
	bool is_alert_update; /* its last comparison found a change, or failed */
};

/**
 * The place of the part to measure next, -1: none is left. `night_at`: when this night began. Shape: part[n]. Units: ms since 1970.
 */
int rotation_next(const struct rotation_part *part, int n, int nights, int64_t night_at);

/** Whether this night's share is still to be measured. As rotation_next. */
bool rotation_is_behind(const struct rotation_part *part, int n, int nights, int64_t night_at);

#endif
