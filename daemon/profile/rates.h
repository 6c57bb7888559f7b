/**
 * rates.h - rates of a GH100 per cycle, for the busy share of each unit.
 *
 * Sources: CUDA C++ Programming Guide, table "throughput of native arithmetic instructions", compute capability 9.0 (results
 * per cycle and multiprocessor: 128 FP32, 64 integer, 16 special functions); NVIDIA H100 white paper (4096 dense bf16
 * operations per cycle and multiprocessor, 4 schedulers, 32 load/store units, 128 bytes of shared memory per cycle). Unmeasured
 * devices: DRAM at 90 % of the vendor's value, as a copy reaches on an H200 (4.3 of 4.8 TB/s); L2 at 24 bytes per cycle and
 * multiprocessor (an attention kernel reached 5.1 TB/s), reductions in L2 at half of that (one reached 1.8 TB/s).
 */
#ifndef PROFILE_RATES_H
#define PROFILE_RATES_H

#include "profile/cause.h"

#define RATES_TENSOR    (1.0 / 128) /* m64n256k16: 2 * 64 * 256 * 16 operations */
#define RATES_XU        0.5         /* warp instructions per cycle and multiprocessor, as below */
#define RATES_FMA       4.0
#define RATES_ALU       2.0
#define RATES_LSU       1.0
#define RATES_ISSUE     4.0
#define RATES_WAVEFRONT 1.0
#define RATES_SECTOR    32.0 /* bytes */

/** All rates; `sms` and `mhz` of an H200 if the device does not report them. */
struct rates {
	double sms, mhz;
	double dram_bytes, l2_bytes, reduce_bytes; /* of the device per millisecond */
};

struct rates rates_of(const struct cause_device *d);

#endif
