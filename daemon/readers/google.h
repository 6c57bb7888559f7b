/** google.h - JSON of Google Benchmark; called by reading_parse. */
#ifndef READERS_GOOGLE_H
#define READERS_GOOGLE_H

#include "readers/row.h"

/**
 * Read --benchmark_format=json: real_time, or cpu_time if `time` requests it, of each repetition; if a benchmark has only
 * aggregates, its median, else its mean. Repetitions are one row if the file marks them: by family_index and repetition_index,
 * in old files by following aggregates. Other items of one name are separate rows. An item with error_occurred failed, with its
 * message; a skipped one, or a result with an item without a time (0, NaN, infinite, missing), is left out. The context becomes
 * conditions (reading_report).
 */
reading_fn read_google;

#endif
