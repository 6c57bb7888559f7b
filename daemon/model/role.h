/** role.h - the subject of a record: a side of a job, the device or the worker. */
#ifndef MODEL_ROLE_H
#define MODEL_ROLE_H

enum role {
	ROLE_NONE, /* no single side */
	ROLE_BASE,
	ROLE_TARGET,
	ROLE_REFERENCE, /* a history's fixed build, timed with both sides */
	ROLE_DEVICE,
	ROLE_WORKER,
	ROLES
};

/** As in lines, rows and text: "" "base" "target" "reference" "device" "worker". Shape: ends with NULL. */
extern const char *const role_names[ROLES + 1];

const char *role_name(enum role role);
/** ROLES for an unknown word. */
enum role role_from_name(const char *name);

#endif
