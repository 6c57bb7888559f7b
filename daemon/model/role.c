/* role.c - names. */
#include "model/internal.h"

const char *const role_names[ROLES + 1] = {
	[ROLE_NONE] = "",
	[ROLE_BASE] = "base",
	[ROLE_TARGET] = "target",
	[ROLE_REFERENCE] = "reference",
	[ROLE_DEVICE] = "device",
	[ROLE_WORKER] = "worker",
};

const char *role_name(enum role role)
{
	return role < ROLES ? role_names[role] : "";
}

enum role role_from_name(const char *name)
{
	return (enum role)name_find(role_names, ROLES, name);
}
