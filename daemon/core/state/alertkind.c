/* alertkind.c - the words. */
#include "core/state/alertkind.h"

#include "core/state/word.h"

static const char *const names[ALERTKIND_N] = {
	[ALERTKIND_REGRESSION] = "regression",
	[ALERTKIND_CREEP] = "creep",
	[ALERTKIND_BROKEN] = "broken",
	[ALERTKIND_VANISHED] = "vanished",
	[ALERTKIND_SILENT] = "silent",
	[ALERTKIND_QUARANTINED] = "quarantined",
	[ALERTKIND_ENVIRONMENT] = "environment",
};

const char *alertkind_name(enum alertkind v)
{
	return v < ALERTKIND_N ? names[v] : "";
}

enum alertkind alertkind_from_name(const char *name)
{
	return (enum alertkind)word_find(names, ALERTKIND_N, name);
}
