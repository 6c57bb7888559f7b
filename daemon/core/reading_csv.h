/** reading_csv.h - readers of the formats that are tables; called through reading_parse. */
#ifndef CORE_READING_CSV_H
#define CORE_READING_CSV_H

#include "core/reading.h"

/**
 * MagiAttention's profile_*.csv: dense (seqlen, mask_type) and block-sparse, with `block_size` (old) or `q_block_size` and
 * `k_block_size` (new). latency_ms is the time; the breakdown into phases is not read.
 */
int read_ffa(struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err);
/**
 * The CSV of triton.testing's perf_report: columns of x values, then one column a line. The newer "Triton (TFLOPS)" says its unit; in
 * older files `unit` must, and the leading columns of whole numbers (at least the first) are x. Cells without a number are skipped.
 */
int read_triton(struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err);
/** torchao's microbenchmark CSV: every column that ends in inference_time_in_ms; 0 means not measured. */
int read_torchao(struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err);

#endif
