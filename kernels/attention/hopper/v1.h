/**
 * v1.h - the main kernels of provider "hopper.v1": what it adds over v0 is written in sm80.h.
 */
#ifndef ATTENTION_HOPPER_V1_H
#define ATTENTION_HOPPER_V1_H

#include "stage.h"

extern const struct main_kernel v1_forward, v1_backward;

#endif
