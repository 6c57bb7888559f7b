/** reading_json.h - readers of the formats that are JSON; called through reading_parse. `unit` is not used by them. */
#ifndef CORE_READING_JSON_H
#define CORE_READING_JSON_H

#include "core/reading.h"

/**
 * One object a line: {"cell":"name","ms":[1.02,1.03]} with `ms`, `us`, `ns` or `s` as number or list, and `tflops` where it is known; or the
 * lines of `make gpu-bench`: {"bench","peer","cell","value","unit"}, of which those in a unit of time or a rate are rows.
 */
int read_flopwatch(struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err);
/** --json of nvbench: the median (else the mean) of cold GPU times of each state; skipped states are counted. */
int read_nvbench(struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err);
/** --benchmark_format=json: real_time of each repetition; of files with aggregates only, the median, else the mean. */
int read_google_benchmark(
	struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err);
/** --export-json of hyperfine: all times of a command; one that failed is counted as skipped. */
int read_hyperfine(struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err);

#endif
