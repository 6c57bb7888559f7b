/* hello.c - see hello.h. */
#include "flopwatchd/dispatch/hello.h"

#include <stdio.h>

/* A folder that branch code is promised and that it could not read there; NULL none. */
static const char *not_shown(const struct config *c, const struct msg_hello *h)
{
	for (int i = 0; i < c->n_read_only; i++) {
		bool shown = false;
		for (int k = 0; k < h->n_read_only; k++)
			shown = shown || readonly_lies_in(c->read_only[i], h->read_only[k]);
		if (!shown)
			return c->read_only[i];
	}
	return NULL;
}

bool hello_is_fine(const struct config *c, const struct config_worker *w, const struct msg_hello *h, char *why)
{
	if (h->protocol != PROTOCOL_VERSION) {
		snprintf(why, HELLO_WHY_SIZE,
			"the worker (version %s) speaks protocol %d, this daemon %d; install the same version", h->version,
			h->protocol, PROTOCOL_VERSION);
		return false;
	}
	if (h->builds_only != w->builds) {
		snprintf(why, HELLO_WHY_SIZE,
			w->builds ? "it was asked for builds alone and offers to measure; let its command hand on --build-only"
				  : "it only builds; take --build-only out of its command");
		return false;
	}
	const char *closed = not_shown(c, h);
	if (closed)
		snprintf(why, HELLO_WHY_SIZE,
			"it does not show %s, which sandbox.read_only demands: start it with --read-only %s, see "
			"flopwatch-worker(8)",
			closed, closed);
	return !closed;
}
