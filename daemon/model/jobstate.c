/* jobstate.c - table of transitions; no other code decides them. */
#include "model/internal.h"

static const char *const names[JOBSTATE_N] = {
	"queued",
	"assigned",
	"building",
	"checking",
	"measuring",
	"done",
	"failed",
	"cancelled",
	"superseded",
	"target_missing",
};

/* One row a state, one column an event. 0 is queued, which only a disconnected worker leads to, so "o" means "no change". */
enum { o = -1, Q = JOBSTATE_QUEUED, S = JOBSTATE_ASSIGNED, B = JOBSTATE_BUILDING, C = JOBSTATE_CHECKING, M = JOBSTATE_MEASURING };
enum { D = JOBSTATE_DONE, F = JOBSTATE_FAILED, X = JOBSTATE_CANCELLED, U = JOBSTATE_SUPERSEDED, G = JOBSTATE_TARGET_MISSING };

/* clang-format off */
static const signed char next[JOBSTATE_N][JOBSTATE_EVENTS] = {
	/*                            assign build check run done fail cancel lost newer missing */
	[JOBSTATE_QUEUED]         = {  S,   o,    o,    o,     D,   F,   X,     o,   U,    G },
	[JOBSTATE_ASSIGNED]       = {  o,   B,    C,    M,     D,   F,   X,     Q,   o,    G },
	[JOBSTATE_BUILDING]       = {  o,   o,    C,    M,     D,   F,   X,     Q,   o,    G },
	[JOBSTATE_CHECKING]       = {  o,   o,    o,    M,     D,   F,   X,     Q,   o,    G },
	[JOBSTATE_MEASURING]      = {  o,   o,    o,    o,     D,   F,   X,     Q,   o,    G },
	[JOBSTATE_DONE]           = {  o,   o,    o,    o,     o,   o,   o,     o,   o,    o },
	[JOBSTATE_FAILED]         = {  o,   o,    o,    o,     o,   o,   o,     o,   o,    o },
	[JOBSTATE_CANCELLED]      = {  o,   o,    o,    o,     o,   o,   o,     o,   o,    o },
	[JOBSTATE_SUPERSEDED]     = {  o,   o,    o,    o,     o,   o,   o,     o,   o,    o },
	[JOBSTATE_TARGET_MISSING] = {  o,   o,    o,    o,     o,   o,   o,     o,   o,    o },
};
/* clang-format on */

enum jobstate jobstate_next(enum jobstate from, enum jobstate_event on)
{
	return next[from][on] == o ? from : (enum jobstate)next[from][on];
}

bool jobstate_is_final(enum jobstate s)
{
	return s >= JOBSTATE_DONE && s < JOBSTATE_N;
}

const char *jobstate_name(enum jobstate s)
{
	return s < JOBSTATE_N ? names[s] : "";
}

enum jobstate jobstate_from_name(const char *name)
{
	return (enum jobstate)name_find(names, JOBSTATE_N, name);
}
