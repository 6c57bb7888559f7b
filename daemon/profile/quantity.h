/**
 * quantity.h - counted work and traffic of a kernel: its change, the part of the change that does not follow from another one,
 * and its cost in milliseconds.
 *
 * More products bring loads, exponentials and instructions in proportion; spills are loads and stores; writes to L2 end in
 * DRAM. Only the excess is a quantity's own change. Its cost is the share of its unit's time, extended by the idle share of the
 * kernel's busiest unit.
 */
#ifndef PROFILE_QUANTITY_H
#define PROFILE_QUANTITY_H

#include "profile/pairing.h"
#include "profile/rates.h"

enum quantity {
	QUANTITY_TENSOR,
	QUANTITY_XU,
	QUANTITY_FMA,
	QUANTITY_ALU,
	QUANTITY_LSU,
	QUANTITY_ALL,
	QUANTITY_LOCAL_LOADS,
	QUANTITY_LOCAL_STORES,
	QUANTITY_CONFLICTS,
	QUANTITY_WAVEFRONTS,
	QUANTITY_ATOMICS, /* sectors, as the reads and writes */
	QUANTITY_L2_READS,
	QUANTITY_L2_WRITES,
	QUANTITY_DRAM_READS,
	QUANTITY_DRAM_WRITES,
	QUANTITIES
};

struct quantity_change {
	bool is_real;        /* it changed by more than its noise */
	double base, target; /* 0 unknown */
	double own;          /* of the change */
	double share;        /* of the base's time on the unit, 0 to 1 */
	double ms;           /* cost of `own`; below 0 a saving */
};

struct quantities {
	struct quantity_change of[QUANTITIES];
	double busiest; /* unit, as a share of the base's time */
};

void quantities_read(const struct kernel_pair *p, const struct rates *r, struct quantities *out);

#endif
