/* direction.c - names. */
#include "model/model.h"

static const char *const names[DIRECTIONS] = { [DIRECTION_FORWARD] = "forward",
	[DIRECTION_BACKWARD] = "backward",
	[DIRECTION_DGRAD] = "dgrad",
	[DIRECTION_WGRAD] = "wgrad",
	[DIRECTION_TOTAL] = "total",
	[DIRECTION_ONCE] = "once" };

const char *direction_name(enum direction d)
{
	return d >= DIRECTION_FORWARD && d < DIRECTIONS ? names[d] : "unknown";
}

enum direction direction_from_name(const char *name)
{
	int d = DIRECTION_FORWARD;

	while (d < DIRECTIONS && strcmp(names[d], name) != 0)
		d++;
	return d < DIRECTIONS ? (enum direction)d : 0;
}
