/* devicestate.c - names. */
#include "model/internal.h"

static const char *const names[DEVICESTATE_N] = {
	[DEVICESTATE_OK] = "ok",
	[DEVICESTATE_PAUSED] = "paused",
	[DEVICESTATE_QUARANTINED] = "quarantined",
	[DEVICESTATE_HEALTH_CHECK] = "health_check",
	[DEVICESTATE_ABSENT] = "absent",
};

const char *devicestate_name(enum devicestate v)
{
	return v < DEVICESTATE_N ? names[v] : "";
}

enum devicestate devicestate_from_name(const char *name)
{
	return (enum devicestate)name_find(names, DEVICESTATE_N, name);
}
