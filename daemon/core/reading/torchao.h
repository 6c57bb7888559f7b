/** torchao.h - CSV files of torchao's benchmarks; called through reading_parse. */
#ifndef CORE_READING_TORCHAO_H
#define CORE_READING_TORCHAO_H

#include "core/reading/row.h"

/**
 * Every column of a measured time is a series. Microbenchmarks: ..._inference_time_in_ms. float8 training: ref_time_sec and pt_fp8_time_sec, or
 * {,reference_}{forward,backward,total}_time_ms. Matmul: ref_time_s, fp8_time_s. Roofline: b_..._s; its r_... are a model's and left out, as are ratios,
 * however their names end. 0, -1, inf, nan and nothing are no time and cost that one time. FLOPs follow from m, k and n where the model is one
 * linear layer: 2 m k n forward, 4 backward, 6 both.
 */
reading_fn read_torchao;

#endif
