/** alertstate.h - states of an alert: it lasts until it is resolved, or until a user decides. */
#ifndef MODEL_ALERTSTATE_H
#define MODEL_ALERTSTATE_H

#include <stdbool.h>

enum alertstate {
	ALERTSTATE_OPEN,
	ALERTSTATE_ACKNOWLEDGED, /* a user works on it */
	ALERTSTATE_ACCEPTED,     /* the regression is intended */
	ALERTSTATE_RESOLVED,     /* it ended */
	ALERTSTATE_INVALID,      /* a user declared it false */
	ALERTSTATE_N
};

const char *alertstate_name(enum alertstate v);
/** ALERTSTATE_N for an unknown word. */
enum alertstate alertstate_from_name(const char *name);
bool alertstate_is_live(enum alertstate v);

#endif
