/** roofline.h - the time below which a call is not believed on a device. */
#ifndef WORKER_BENCH_ROOFLINE_H
#define WORKER_BENCH_ROOFLINE_H

#include "core/protocol/protocol.h"

/**
 * What the cell's useful FLOPs take at the device's peak, or its bytes at its bandwidth, whichever is longer, less a tenth for
 * what the device's facts leave open. Bytes that may stay in the last-level cache cost nothing. Units: ms; 0 where nothing is known.
 */
double roofline_floor_ms(const struct msg_device *d, const struct cell *c);

#endif
