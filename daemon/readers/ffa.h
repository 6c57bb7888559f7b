/** ffa.h - CSV files of MagiAttention; called by reading_parse. */
#ifndef READERS_FFA_H
#define READERS_FFA_H

#include "readers/row.h"

/**
 * Read its profile_*.csv: dense (seqlen, mask_type) and block-sparse, with `block_size` (old) or `q_block_size` and
 * `k_block_size` (new); latency_ms is the time, phases are not read. Or its flops.csv: a column of sizes, then TFLOP/s of one
 * implementation a column. Rows of -1 (out of memory) and -2 (not supported) are left out.
 */
reading_fn read_ffa;

#endif
