/** clock.h - monotonic time for durations, UTC for display. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/** CLOCK_MONOTONIC. Units: ns. */
int64_t clock_mono_ns(void);
/** Wall clock. Units: ms since 1970-01-01 UTC; the form of every `_at` column. */
int64_t clock_utc_ms(void);
/** "2026-11-21T02:46:00.123Z". Shape: text[32]. */
void clock_format(int64_t utc_ms, char text[32]);

#endif
