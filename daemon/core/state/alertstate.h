/** alertstate.h - where an alert stands: it lasts until it is resolved, or until a person answers for it. */
#ifndef CORE_STATE_ALERTSTATE_H
#define CORE_STATE_ALERTSTATE_H

#include <stdbool.h>

enum alertstate {
	ALERTSTATE_OPEN,
	ALERTSTATE_ACKNOWLEDGED, /* a person looks at it */
	ALERTSTATE_ACCEPTED,     /* the loss is wanted */
	ALERTSTATE_RESOLVED,     /* it is over */
	ALERTSTATE_INVALID,      /* a person says that it is not real */
	ALERTSTATE_N
};

/** As in rows and JSON; "" for ALERTSTATE_N. */
const char *alertstate_name(enum alertstate v);
/** ALERTSTATE_N for an unknown word. */
enum alertstate alertstate_from_name(const char *name);
/** Open or acknowledged. */
bool alertstate_is_live(enum alertstate v);

#endif
