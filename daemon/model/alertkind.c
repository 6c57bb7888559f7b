/* alertkind.c - names. */
#include "model/internal.h"

static const char *const names[ALERTKIND_N] = {
	[ALERTKIND_REGRESSION] = "regression",
	[ALERTKIND_DRIFT] = "drift",
	[ALERTKIND_FAILING] = "failing",
	[ALERTKIND_MISSING] = "missing",
	[ALERTKIND_DEVICE_OFFLINE] = "device_offline",
	[ALERTKIND_QUARANTINED] = "quarantined",
	[ALERTKIND_ENVIRONMENT] = "environment",
};

const char *alertkind_name(enum alertkind v)
{
	return v < ALERTKIND_N ? names[v] : "";
}

enum alertkind alertkind_from_name(const char *name)
{
	return (enum alertkind)name_find(names, ALERTKIND_N, name);
}
