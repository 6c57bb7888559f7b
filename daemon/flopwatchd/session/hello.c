#include "flopwatchd/session/internal.h"

#include <stdio.h>

/* Find a configured folder that branch code could not read there; NULL none. */
static const char *find_missing_folder(const struct config *c, const struct msg_hello *h)
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
			w->builds
				? "the worker offers to measure but is configured to build only; let its command pass on --build-only"
				: "the worker only builds; remove --build-only from its command");
		return false;
	}
	const char *closed = find_missing_folder(c, h);
	if (closed)
		snprintf(why, HELLO_WHY_SIZE,
			"the worker does not show %s, which sandbox.read_only requires: start it with --read-only %s, see "
			"flopwatch-worker(8)",
			closed, closed);
	return !closed;
}
