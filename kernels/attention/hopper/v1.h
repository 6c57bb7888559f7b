/**
 * v1.h - the main kernels of provider "hopper.v1". For the instructions that it uses in addition to v0 see sm80.h.
 */
#ifndef ATTENTION_HOPPER_V1_H
#define ATTENTION_HOPPER_V1_H

#include "stage.h"

extern const struct main_kernel v1_forward, v1_backward;

#endif
