/* jobkind.c - the words. */
#include "core/state/jobkind.h"

#include "core/state/word.h"

static const char *const names[JOBKIND_N] = {
	[JOBKIND_CHANGE] = "change",
	[JOBKIND_SELFCHECK] = "selfcheck",
	[JOBKIND_ANCHOR] = "anchor",
	[JOBKIND_VERIFY] = "verify",
	[JOBKIND_BACKFILL] = "backfill",
	[JOBKIND_CALIBRATE] = "calibrate",
	[JOBKIND_BISECT] = "bisect",
	[JOBKIND_PEER] = "peer",
	[JOBKIND_IMPORT] = "import",
	[JOBKIND_PINNED] = "pinned",
	[JOBKIND_ENVIRONMENT] = "environment",
	[JOBKIND_PROFILE] = "profile",
};

const char *jobkind_name(enum jobkind kind)
{
	return kind < JOBKIND_N ? names[kind] : "";
}

enum jobkind jobkind_from_name(const char *name)
{
	return (enum jobkind)word_find(names, JOBKIND_N, name);
}

bool jobkind_is_itself(enum jobkind kind)
{
	return kind == JOBKIND_SELFCHECK || kind == JOBKIND_CALIBRATE;
}

bool jobkind_is_beside(enum jobkind kind)
{
	return kind == JOBKIND_PEER || kind == JOBKIND_PINNED || kind == JOBKIND_ENVIRONMENT;
}

bool jobkind_is_upkeep(enum jobkind kind)
{
	return kind == JOBKIND_ANCHOR || kind == JOBKIND_VERIFY || kind == JOBKIND_BACKFILL || kind == JOBKIND_CALIBRATE ||
	       kind == JOBKIND_BISECT || kind == JOBKIND_PEER || kind == JOBKIND_PROFILE;
}
