/** direction.h - the computation of one call of a case. A family lists those that it has. */
#ifndef MODEL_DIRECTION_H
#define MODEL_DIRECTION_H

#include "kernels/fw_kernel.h"

enum direction {
	DIRECTION_FORWARD = FW_FORWARD,
	DIRECTION_BACKWARD = FW_BACKWARD,
	DIRECTION_DGRAD = FW_DGRAD,
	DIRECTION_WGRAD = FW_WGRAD,
	DIRECTION_TOTAL = FW_TOTAL,
	DIRECTION_ONCE, /* for modules a forward: its part that is done once, as long as weights stay (fw_info.once) */
	DIRECTIONS
};

/** As in keys, lines and files: "forward" "backward" "dgrad" "wgrad" "total" "once". */
const char *direction_name(enum direction d);
/** 0 for an unknown word. */
enum direction direction_from_name(const char *name);

#endif
