/**
 * ptxasdelta.h - what ptxas complains of in one build and not in the other, function by function.
 *
 * Nothing is concluded from what a log does not hold: where it is cut nothing is said to be missing, and registers and spills are
 * compared where both builds printed them.
 */
#ifndef CORE_MACHINE_PTXASDELTA_H
#define CORE_MACHINE_PTXASDELTA_H

#include "core/machine/ptxaslog.h"
#include "core/machine/symbolname.h"

enum { PTXASDELTA_WHAT_SIZE = 200, PTXASDELTA_MAX = 256 };

enum ptxas_change_how { PTXAS_NEW, PTXAS_MORE, PTXAS_FEWER, PTXAS_GONE, PTXAS_CHANGES };

/** "new" "more" "fewer" "gone". Shape: ends with NULL. */
extern const char *const ptxas_change_names[PTXAS_CHANGES + 1];

struct ptxas_change {
	enum ptxas_change_how how;
	enum ptxas_kind kind;
	char code[8];                 /* "C7512"; "" none */
	char kernel[SYMBOLNAME_SIZE]; /* as people write it; "" the line names none */
	int architecture;             /* 90 for sm_90a; 0 not known */
	char what
		[PTXASDELTA_WHAT_SIZE]; /* "wgmma is serialised for want of registers", "spills of 104 bytes by stores and ..." */
};

/**
 * Serial products first, then setmaxnreg, spills and the rest; what became worse before what became better. How many there are. Shape:
 * out[room].
 */
size_t ptxasdelta(const struct ptxaslog *base, const struct ptxaslog *target, struct ptxas_change *out, size_t room);

#endif
