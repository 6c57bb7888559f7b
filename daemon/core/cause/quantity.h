/**
 * quantity.h - what a kernel does and moves, counted: how much of it changed, how much of that does not merely follow from another
 * change, and the milliseconds that it costs.
 *
 * More products bring loads, exponentials and instructions with them in their proportion; spills are loads and stores; writes to L2 end in
 * DRAM. Only what goes beyond that is a quantity's own. It costs the share of its unit's time, drawn out as far as the kernel's
 * busiest unit falls short of being busy all the time.
 */
#ifndef CORE_CAUSE_QUANTITY_H
#define CORE_CAUSE_QUANTITY_H

#include "core/cause/pairing.h"
#include "core/cause/rates.h"

enum quantity {
	QUANTITY_TENSOR,
	QUANTITY_XU,
	QUANTITY_FMA,
	QUANTITY_ALU,
	QUANTITY_LSU,
	QUANTITY_ALL, /* instructions of any kind */
	QUANTITY_LOCAL_LOADS,
	QUANTITY_LOCAL_STORES,
	QUANTITY_CONFLICTS,
	QUANTITY_WAVEFRONTS,
	QUANTITY_ATOMICS, /* sectors, as the reads and writes are */
	QUANTITY_L2_READS,
	QUANTITY_L2_WRITES,
	QUANTITY_DRAM_READS, /* bytes */
	QUANTITY_DRAM_WRITES,
	QUANTITIES
};

struct quantity_change {
	bool is_real;        /* it changed by more than its noise */
	double base, target; /* 0 unknown */
	double own;          /* of the change */
	double share;        /* of the unit's time that the base takes, 0 to 1 */
	double ms;           /* what `own` costs; below 0 it saves that */
};

struct quantities {
	struct quantity_change of[QUANTITIES];
	double busiest; /* unit, as a share of the base's time */
};

void quantities_read(const struct pair *p, const struct rates *r, struct quantities *out);

#endif
