/** torchao.h - CSV files of torchao's benchmarks; called by reading_parse. */
#ifndef READERS_TORCHAO_H
#define READERS_TORCHAO_H

#include "readers/row.h"

/**
 * Read every column of measured times as a series. Microbenchmarks: ..._inference_time_in_ms. float8 training: ref_time_sec and
 * pt_fp8_time_sec, or {,reference_}{forward,backward,total}_time_ms. Matmul: ref_time_s, fp8_time_s. Roofline: b_..._s; its
 * r_... are modelled and left out, as are ratios of any name. 0, -1, inf, nan and empty cells are missing times. FLOPs follow
 * from m, k and n if the model is one linear layer: 2 m k n forward, 4 backward, 6 both.
 */
reading_fn read_torchao;

#endif
