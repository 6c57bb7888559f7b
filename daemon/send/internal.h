/** internal.h - the helper program that sends one notification over HTTP. */
#ifndef SEND_INTERNAL_H
#define SEND_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "lib/lib.h"

/*
 * ---- send ----
 * One HTTP notification to an address that an administrator configured.
 *
 * Guards of an outgoing call: http and https only, no redirects, absolute deadlines, a small cap on the answer, and no
 * connection to loopback, private, link-local or otherwise internal addresses unless the notification allows it; that is checked
 * on every address that is connected to, when it is, so that a name which resolves differently the second time does not help.
 */

enum { SEND_HEADERS_MAX = 16 };

struct notification {
	char *url;
	char *body;
	int n_header;
	char *header[SEND_HEADERS_MAX]; /* "Name: value" */
	bool allow_internal;
};

/** Read {"url","headers":{},"body","allow_internal"}. Err: ERR_INVALID naming the key. Own: notification_fini frees. */
int notification_read(const char *text, size_t len, struct notification *out, struct fw_err *err);
void notification_fini(struct notification *d);

/** Whether an address is not on the public internet. Shape: any sockaddr of AF_INET or AF_INET6; other families are internal. */
bool send_is_internal(const struct sockaddr *address);

/** What came of a notification, also of one that failed. */
struct send_answer {
	int status;        /* of HTTP; 0: no answer */
	int duration_ms;   /* from the first look-up of the name to the end */
	int retry_after_s; /* when the receiver wants to be asked again; 0: it did not say */
};

/** POST it. Err: ERR_IO not delivered (also for answers other than 2xx), ERR_INVALID refused by a guard. */
int send_deliver(const struct notification *d, struct send_answer *answer, struct fw_err *err);

#endif
