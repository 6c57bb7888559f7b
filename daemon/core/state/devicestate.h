/** devicestate.h - whether a device gets jobs. */
#ifndef CORE_STATE_DEVICESTATE_H
#define CORE_STATE_DEVICESTATE_H

enum devicestate {
	DEVICESTATE_OK,
	DEVICESTATE_PAUSED,       /* by a person */
	DEVICESTATE_QUARANTINED,  /* it failed in a way that is no fault of what it ran */
	DEVICESTATE_HEALTH_CHECK, /* a person asked for its return, and it is tried first */
	DEVICESTATE_ABSENT,
	DEVICESTATE_N
};

/** As in rows and JSON; "" for DEVICESTATE_N. */
const char *devicestate_name(enum devicestate v);
/** DEVICESTATE_N for an unknown word. */
enum devicestate devicestate_from_name(const char *name);

#endif
