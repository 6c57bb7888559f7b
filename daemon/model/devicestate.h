/** devicestate.h - states that decide whether a device gets jobs. */
#ifndef MODEL_DEVICESTATE_H
#define MODEL_DEVICESTATE_H

enum devicestate {
	DEVICESTATE_OK,
	DEVICESTATE_PAUSED,       /* by a user */
	DEVICESTATE_QUARANTINED,  /* it failed, and the jobs on it were not at fault */
	DEVICESTATE_HEALTH_CHECK, /* a user requested its return, and it is tested first */
	DEVICESTATE_ABSENT,
	DEVICESTATE_N
};

const char *devicestate_name(enum devicestate v);
/** DEVICESTATE_N for an unknown word. */
enum devicestate devicestate_from_name(const char *name);

#endif
