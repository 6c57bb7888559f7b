/* alertstate.c - names. */
#include "model/internal.h"

static const char *const names[ALERTSTATE_N] = {
	[ALERTSTATE_OPEN] = "open",
	[ALERTSTATE_ACKNOWLEDGED] = "acknowledged",
	[ALERTSTATE_ACCEPTED] = "accepted",
	[ALERTSTATE_RESOLVED] = "resolved",
	[ALERTSTATE_INVALID] = "invalid",
};

const char *alertstate_name(enum alertstate v)
{
	return v < ALERTSTATE_N ? names[v] : "";
}

enum alertstate alertstate_from_name(const char *name)
{
	return (enum alertstate)name_find(names, ALERTSTATE_N, name);
}

bool alertstate_is_live(enum alertstate v)
{
	return v == ALERTSTATE_OPEN || v == ALERTSTATE_ACKNOWLEDGED;
}
