/**
 * torchao.h - a comparison of linear layers in the columns of torchao's microbenchmarks, whose scripts then go on working.
 *
 * One file a side, and one more for cases that were also timed backward. Ours are compiled kernels: their times stand in the columns of compiled
 * models, and those of eager ones are 0, which there means not measured; so is a total that was not timed as one call, for a forward by itself
 * is that of inference. What failed is a row, with its reason in a last column.
 */
#ifndef CLI_TORCHAO_H
#define CLI_TORCHAO_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/buf.h"

/** Append the file of a side ("base", "target") of a comparison as the API gives it. Returns its rows; 0: nothing is appended. */
int torchao_write(const json_t *comparison, const char *side, bool is_training, struct buf *out);

#endif
