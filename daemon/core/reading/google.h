/** google.h - the JSON of Google Benchmark; called through reading_parse. */
#ifndef CORE_READING_GOOGLE_H
#define CORE_READING_GOOGLE_H

#include "core/reading/row.h"

/**
 * --benchmark_format=json: real_time, or cpu_time where `time` asks for it, of each repetition; where a benchmark wrote aggregates
 * alone, its median, else its mean. One with error_occurred failed, in its own words; one that was skipped, or whose time is NaN or infinite,
 * is left out.
 */
reading_fn read_google;

#endif
