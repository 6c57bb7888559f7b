/**
 * activation.h - what follows a sum, in fp64, and how far a sum that is off by a little may take it.
 */
#ifndef FAMILIES_LINEAR_REFERENCE_ACTIVATION_H
#define FAMILIES_LINEAR_REFERENCE_ACTIVATION_H

/** enum fw_linear_activation of a value. */
double activation_of(int activation, double v);
/**
 * The largest distance from activation_of(v) at which a value within `noise` of `v` comes out: as steep as it is there, nothing where it
 * is flat. What fp32 loses on its way is in it.
 */
double activation_reach(int activation, double v, double noise);

#endif
