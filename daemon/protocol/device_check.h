/**
 * device_check.h - judgement of times by device readings around them. Pure; runner, worker and daemon share it, so they discard
 * the same times.
 */
#ifndef PROTOCOL_DEVICE_CHECK_H
#define PROTOCOL_DEVICE_CHECK_H

#include <stdbool.h>

#include "protocol/protocol.h"

/** Limit reasons of a GPU's clocks, in the driver's numbering. A power cap is normal and never discards times. */
enum {
	DEVICE_CHECK_POWER_CAP = 0x4,
	DEVICE_CHECK_HW_SLOWDOWN = 0x8,
	DEVICE_CHECK_SW_THERMAL = 0x20,
	DEVICE_CHECK_HW_THERMAL = 0x40,
	DEVICE_CHECK_POWER_BRAKE = 0x80
};

struct device_check_reason {
	uint64_t bit;
	const char *name, *words; /* "sw_thermal", "software thermal" */
	bool limits;              /* clocks are below their possible values */
};
enum { DEVICE_CHECK_REASONS = 9 };
/** All of them, the worst first. */
extern const struct device_check_reason device_check_reason[DEVICE_CHECK_REASONS];

enum { DEVICE_CHECK_WHY_SIZE = 96 };
/** Discarded runs of a cell, after which it gets no more. */
enum { DEVICE_CHECK_DISCARDED_MAX = 3 };

/** Set all fields to unknown. */
void device_check_unknown(struct msg_device_check *g);
/** Take the worse of two readings: either may affect the times between them; energy becomes the difference. */
void device_check_merge(struct msg_device_check *g, const struct msg_device_check *after);
/**
 * Return whether times under this reading are invalid: hardware slowdown, heat, power brake, another process, an XID, an ECC
 * error. `why` receives the reason, "" else. Shape: why[DEVICE_CHECK_WHY_SIZE].
 */
bool device_check_discards(const struct msg_device_check *g, char why[DEVICE_CHECK_WHY_SIZE]);
/** Return whether an XID means a broken device whatever ran on it (fallen off the bus, firmware, links): no job may follow. */
bool device_check_xid_breaks(int xid);

#endif
