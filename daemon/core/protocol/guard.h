/**
 * guard.h - what a device's own readings say about times that were taken between them. Pure; runner, worker and daemon ask
 * the same question, so that nobody believes what another threw away.
 */
#ifndef CORE_PROTOCOL_GUARD_H
#define CORE_PROTOCOL_GUARD_H

#include <stdbool.h>

#include "core/protocol/protocol.h"

/** Limit reasons of a GPU's clocks, as its driver numbers them. A power cap is normal and never a reason to throw times away. */
enum {
	GUARD_POWER_CAP = 0x4,
	GUARD_HW_SLOWDOWN = 0x8,
	GUARD_SW_THERMAL = 0x20,
	GUARD_HW_THERMAL = 0x40,
	GUARD_POWER_BRAKE = 0x80
};

struct guard_reason {
	uint64_t bit;
	const char *name, *words; /* "sw_thermal", "software thermal" */
	bool limits;              /* clocks are below what they could be */
};
enum { GUARD_REASONS = 9 };
/** All of them, the worst first. */
extern const struct guard_reason guard_reason[GUARD_REASONS];

enum { GUARD_WHY_SIZE = 96 };
/** Launches of a cell whose readings discard them, after which it gets no more. */
enum { GUARD_DISCARDED_MAX = 3 };

/** A reading without knowledge. */
void guard_unknown(struct msg_guard *g);
/** The worst of two readings, for the worst is what may have touched the times between them; energy is what was used. */
void guard_merge(struct msg_guard *g, const struct msg_guard *after);
/**
 * Why times taken under this reading mean nothing: hardware slowdown, heat, power brake, another process, an XID, an ECC error.
 * Returns whether there is such a reason; `why` gets it in words, "" else. Shape: why[GUARD_WHY_SIZE].
 */
bool guard_discards(const struct msg_guard *g, char why[GUARD_WHY_SIZE]);
/** Whether an XID means that the device itself is broken, whoever used it (fallen off the bus, firmware, links): no job may follow. */
bool guard_xid_breaks(int xid);

#endif
