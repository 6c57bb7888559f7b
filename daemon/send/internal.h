/** internal.h - the helper program that sends one notification over HTTP. */
#ifndef SEND_INTERNAL_H
#define SEND_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "lib/lib.h"

/*
 * ---- send ----
 * Send one HTTP notification to an address that an administrator configured.
 *
 * Checks of an outgoing call: http and https only, no redirects, absolute deadlines, a small limit on the response, and no
 * connection to loopback, private, link-local or otherwise internal addresses unless the notification allows it. Every address is
 * checked at the time of connection, so that a name which resolves differently the second time does not help.
 */

enum { SEND_HEADERS_MAX = 16 };

struct notification {
	char *url;
	char *body;
	int n_header;
	char *header[SEND_HEADERS_MAX]; /* "Name: value" */
	bool allow_internal;
};

/** Read {"url","headers":{},"body","allow_internal"}. Err: ERR_INVALID, which names the key. Own: notification_fini frees. */
int notification_read(const char *text, size_t len, struct notification *out, struct fw_err *err);
void notification_fini(struct notification *d);

/** True if an address is not on the public internet. Shape: any sockaddr of AF_INET or AF_INET6; other families are internal. */
bool send_is_internal(const struct sockaddr *address);

/** The result of a notification, also of a failed one. */
struct send_answer {
	int status;        /* of HTTP; 0: no response */
	int duration_ms;   /* from the start of name resolution to the end */
	int retry_after_s; /* Retry-After of the response; 0: none */
};

/** POST the notification. Err: ERR_IO not delivered (also for responses other than 2xx), ERR_INVALID refused by a check. */
int send_deliver(const struct notification *d, struct send_answer *answer, struct fw_err *err);

#endif
