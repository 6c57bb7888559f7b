/** stalls.h - reasons for which warps do not issue, as shares of a kernel's time on both sides. */
#ifndef PROFILE_STALLS_H
#define PROFILE_STALLS_H

#include "profile/pairing.h"

enum stall {
	STALL_BARRIER,
	STALL_BRANCH_RESOLVING,
	STALL_DISPATCH_STALL,
	STALL_DRAIN,
	STALL_GMMA,
	STALL_IMC_MISS,
	STALL_LG_THROTTLE,
	STALL_LONG_SCOREBOARD,
	STALL_MATH_PIPE_THROTTLE,
	STALL_MEMBAR,
	STALL_MIO_THROTTLE,
	STALL_MISC,
	STALL_NO_INSTRUCTION,
	STALL_NOT_SELECTED,
	STALL_SELECTED,
	STALL_SHORT_SCOREBOARD,
	STALL_SLEEPING,
	STALL_TEX_THROTTLE,
	STALL_WAIT,
	STALLS
};

/** As in the names of metrics: "long_scoreboard". Shape: ends with NULL. */
extern const char *const stall_names[STALLS + 1];

/** Size of "smsp__warps_issue_stalled_long_scoreboard.sum". */
enum { STALL_METRIC_SIZE = 80 };
void stall_metric(enum stall s, char *out);

struct stalls {
	bool is_known;
	struct {
		double base, target; /* share of all */
		double ms;           /* additional wait of the kernel for this reason; 0 if noise, or growing like all waits */
	} of[STALLS];
};

void stalls_read(const struct kernel_pair *p, struct stalls *out);
/** Sum `ms` over the selected reasons that have the sign of `sign`. Shape: bit `1u << enum stall`. */
double stalls_sum(const struct stalls *s, unsigned which, double sign);

#endif
