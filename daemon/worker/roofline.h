/** roofline.h - lower bound of a call's time on a device. */
#ifndef WORKER_ROOFLINE_H
#define WORKER_ROOFLINE_H

#include "protocol/protocol.h"

/**
 * Return the longer of useful FLOPs over peak and bytes over bandwidth, less a tenth for the uncertainty of the device's data.
 * Bytes that may stay in the last-level cache cost nothing. Units: ms; 0 unknown.
 */
double roofline_floor_ms(const struct msg_device *d, const struct cell *c);

#endif
