/* run_mode.c - names. */
#include "model/model.h"

const char *const run_mode_names[RUN_MODES + 1] = {
	[RUN_CHECK] = "check",
	[RUN_TIME] = "time",
	[RUN_CAPTURE] = "capture",
	[RUN_PROFILE] = "profile",
	[RUN_AUDIT] = "audit",
	[RUN_IDLE] = "idle",
	[RUN_DEVICE_CHECK] = "device_check",
	[RUN_HEALTH_CHECK] = "health_check",
	[RUN_CLOCKS] = "clocks",
};

const char *run_mode_name(enum run_mode mode)
{
	return mode < RUN_MODES ? run_mode_names[mode] : "";
}
