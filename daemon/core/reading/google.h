/** google.h - the JSON of Google Benchmark; called through reading_parse. */
#ifndef CORE_READING_GOOGLE_H
#define CORE_READING_GOOGLE_H

#include "core/reading/row.h"

/**
 * --benchmark_format=json: real_time, or cpu_time where `time` asks for it, of each repetition; where a benchmark wrote aggregates
 * alone, its median, else its mean. Repetitions are one row where the file says that they are: by family_index and repetition_index, in old files
 * by the aggregates that follow them. Other items of one name are rows of their own. One with error_occurred failed, in its own words; one that
 * was skipped, or an item of which has no time (0, NaN, infinite, missing), is left out. The context is stated (reading_tell).
 */
reading_fn read_google;

#endif
