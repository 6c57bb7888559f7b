/** torchao.h - CSV files of torchao's benchmarks; called through reading_parse. */
#ifndef CORE_READING_TORCHAO_H
#define CORE_READING_TORCHAO_H

#include "core/reading/row.h"

/**
 * Its microbenchmarks: every column that ends in inference_time_in_ms. Its float8 training (bench_linear_float8: forward and
 * backward of a linear layer) and matmul (bench_matmul): every column that ends in time_sec or time_s. 0 means not measured.
 * FLOPs follow from m, k and n where the model is one linear layer: 2 m k n, three times that with backward.
 */
reading_fn read_torchao;

#endif
