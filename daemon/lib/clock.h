/** clock.h - monotonic time for durations, UTC for display and for what has to outlive the process. */
#ifndef LIB_CLOCK_H
#define LIB_CLOCK_H

#include <stdint.h>

#include "lib/err.h"

/** CLOCK_MONOTONIC. Units: ns. */
int64_t clock_mono_ns(void);
/** CLOCK_BOOTTIME: monotonic, and goes on while the machine sleeps. Units: ms. */
int64_t clock_boot_ms(void);
/** Wall clock; it jumps where somebody sets it. Units: ms since 1970-01-01 UTC; the form of every `_at` column. */
int64_t clock_utc_ms(void);
/** "2026-11-21T02:46:00.123Z". Shape: text[32]. */
void clock_format(int64_t utc_ms, char text[32]);
/**
 * Read a time of RFC 3339, "2026-11-21T02:46:00Z" or with an offset or a fraction, or a day alone: its midnight in UTC. A space
 * may stand for 'T', and for the '+' of an offset, which it is in a query that nobody has quoted. Err: ERR_INVALID.
 */
int clock_parse(const char *text, int64_t *utc_ms, struct fw_err *err);

#endif
