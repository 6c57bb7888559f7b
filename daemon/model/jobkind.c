/* jobkind.c - names and properties. */
#include "model/internal.h"

static const char *const names[JOBKIND_N] = {
	[JOBKIND_COMPARE] = "compare",
	[JOBKIND_SELFCHECK] = "selfcheck",
	[JOBKIND_REFERENCE] = "reference",
	[JOBKIND_VERIFY] = "verify",
	[JOBKIND_BACKFILL] = "backfill",
	[JOBKIND_CALIBRATE] = "calibrate",
	[JOBKIND_BISECT] = "bisect",
	[JOBKIND_PEER] = "peer",
	[JOBKIND_IMPORT] = "import",
	[JOBKIND_CONFIG] = "config",
	[JOBKIND_ENVIRONMENT] = "environment",
	[JOBKIND_PROFILE] = "profile",
};

const char *jobkind_name(enum jobkind kind)
{
	return kind < JOBKIND_N ? names[kind] : "";
}

enum jobkind jobkind_from_name(const char *name)
{
	return (enum jobkind)name_find(names, JOBKIND_N, name);
}

bool jobkind_is_itself(enum jobkind kind)
{
	return kind == JOBKIND_SELFCHECK || kind == JOBKIND_CALIBRATE;
}

bool jobkind_is_side_by_side(enum jobkind kind)
{
	return kind == JOBKIND_PEER || kind == JOBKIND_CONFIG || kind == JOBKIND_ENVIRONMENT;
}

bool jobkind_is_upkeep(enum jobkind kind)
{
	return kind == JOBKIND_REFERENCE || kind == JOBKIND_VERIFY || kind == JOBKIND_BACKFILL || kind == JOBKIND_CALIBRATE ||
	       kind == JOBKIND_BISECT || kind == JOBKIND_PEER || kind == JOBKIND_PROFILE;
}
