/**
 * device_check.h - what a device's own readings say about times that were taken between them. Pure; runner, worker and daemon ask
 * the same question, so that nobody believes what another threw away.
 */
#ifndef CORE_PROTOCOL_DEVICE_CHECK_H
#define CORE_PROTOCOL_DEVICE_CHECK_H

#include <stdbool.h>

#include "core/protocol/protocol.h"

/** Limit reasons of a GPU's clocks, as its driver numbers them. A power cap is normal and never a reason to throw times away. */
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
	bool limits;              /* clocks are below what they could be */
};
enum { DEVICE_CHECK_REASONS = 9 };
/** All of them, the worst first. */
extern const struct device_check_reason device_check_reason[DEVICE_CHECK_REASONS];

enum { DEVICE_CHECK_WHY_SIZE = 96 };
/** Runs of a cell whose readings discard them, after which it gets no more. */
enum { DEVICE_CHECK_DISCARDED_MAX = 3 };

/** A reading without knowledge. */
void device_check_unknown(struct msg_device_check *g);
/** The worst of two readings, for the worst is what may have touched the times between them; energy is what was used. */
void device_check_merge(struct msg_device_check *g, const struct msg_device_check *after);
/**
 * Why times taken under this reading mean nothing: hardware slowdown, heat, power brake, another process, an XID, an ECC error.
 * Returns whether there is such a reason; `why` gets it in words, "" else. Shape: why[DEVICE_CHECK_WHY_SIZE].
 */
bool device_check_discards(const struct msg_device_check *g, char why[DEVICE_CHECK_WHY_SIZE]);
/** Whether an XID means that the device itself is broken, whoever used it (fallen off the bus, firmware, links): no job may follow. */
bool device_check_xid_breaks(int xid);

#endif
