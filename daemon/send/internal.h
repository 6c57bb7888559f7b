/** internal.h - the helper program that sends one notification over HTTP or SMTP, or queries the OpenID provider. */
#ifndef SEND_INTERNAL_H
#define SEND_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "lib/lib.h"

/*
 * ---- send ----
 * Send one notification over HTTP, or a mail over SMTP, to an address that an administrator configured.
 *
 * Checks of an outgoing call: http and https only (smtp and smtps for a mail), no redirects, absolute deadlines, a small limit on
 * the response, and no connection to loopback, private, link-local or otherwise internal addresses unless the notification allows
 * it. Every address is checked at the time of connection, so that a name which resolves differently the second time does not help.
 */

enum { SEND_HEADERS_MAX = 16, SEND_RECIPIENTS_MAX = 16, SEND_ANSWER_SIZE = 256 };

/** The envelope of a mail; the notification's body is the message with its header. */
struct send_mail {
	char *from;
	int n_to;
	char *to[SEND_RECIPIENTS_MAX];
	char *user, *password; /* NULL: no login */
	bool is_plain;         /* without TLS; otherwise STARTTLS, or TLS from the start with smtps:// */
};

struct notification {
	char *url;
	char *body;
	int n_header;
	char *header[SEND_HEADERS_MAX]; /* "Name: value" */
	bool allow_internal;
	const char *method; /* of HTTP: "POST" (default), "PUT", "PATCH" or "GET", which has no body */
	char *answer_key;   /* member of the JSON response to return, NULL none */
	char *line;         /* of comments: return those of the response's array whose `body` has this line; NULL none */
	char *ca_file;      /* certificates of a private authority, NULL the system's */
	bool is_mail;
	struct send_mail mail;
	struct buf *body_out; /* gets the response, also of a refusal; NULL: not needed. Own: the caller's */
};

/**
 * Read {"url","headers":{},"body","allow_internal","method","answer","line","ca_file","mail":{"from","to":[],"user","password",
 * "tls"}}.
 * Only url and body are required. Err: ERR_INVALID, which names the key. Own: notification_fini frees.
 */
int notification_read(const char *text, size_t len, struct notification *out, struct fw_err *err);
void notification_fini(struct notification *d);

/** True if an address is not on the public internet. Shape: any sockaddr of AF_INET or AF_INET6; other families are internal. */
bool send_is_internal(const struct sockaddr *address);

/** The result of a notification, also of a failed one. */
struct send_answer {
	int status;                    /* of HTTP, or the last reply code of SMTP; 0: no response */
	int duration_ms;               /* from the start of name resolution to the end */
	int retry_after_s;             /* Retry-After of the response, or the end of the forge's limit that is used up; 0: none */
	char answer[SEND_ANSWER_SIZE]; /* text or integer of the response's member `answer_key`, of a refusal too; "": none */
	json_t *comments; /* with `line`: {id, created_at, updated_at, system, user, author, line}; NULL none. Own: caller */
	bool has_next;    /* the response's header Link names a next page */
	char etag[SEND_ANSWER_SIZE]; /* of the response; "": none */
};

/**
 * Send the notification. Err: ERR_IO not delivered (also for responses other than 2xx, with `line` other than 2xx and 304),
 * ERR_INVALID refused by a check.
 */
int send_deliver(const struct notification *d, struct send_answer *answer, struct fw_err *err);

/*
 * ---- jws ----
 * Signed tokens (RFC 7515) in compact form, with the algorithms RS256 and ES256. OpenSSL checks the signature.
 */

/** Append the base64url decoding of `len` characters without padding. Err: -1, an invalid character. */
int jws_unbase64url(struct buf *out, const char *text, size_t len);
/**
 * Check the signature of `token` with the keys of `jwks` ({"keys":[...]}), and return its claims. Own: the caller owns the
 * reference. Err: NULL; ERR_INVALID malformed, another algorithm, no such key, or a wrong signature.
 */
json_t *jws_open(const char *token, const json_t *jwks, struct fw_err *err);

/*
 * ---- oidc ----
 * The requests of a log-in to an OpenID Connect provider: its description, the exchange of the code or of a refresh token, and
 * the checks of the ID token. A provider's texts are foreign: only this program parses them.
 */

enum { OIDC_SKEW_S = 60 /* by which the clocks may differ */ };

/** The claims that an ID token must have. */
struct oidc_expected {
	const char *issuer, *client_id;
	const char *nonce;   /* NULL: any */
	const char *subject; /* NULL: any */
	int64_t now_s;
};

/** Check the claims of an ID token whose signature is valid. Err: ERR_INVALID, which names the claim. */
int oidc_check_claims(const json_t *claims, const struct oidc_expected *expected, struct fw_err *err);

/**
 * Perform the request in `text`, a JSON object: {"step", "issuer", "client_id", "client_secret", "allow_internal", "ca_file",
 * "groups_claim"}; step "begin" needs no more and writes {"authorization_endpoint"}, step "code" needs "code", "verifier",
 * "redirect_uri" and "nonce", step "refresh" needs "refresh_token" and "subject"; both write {"subject", "name", "groups",
 * "refresh_token"}. Err: ERR_INVALID the request; ERR_IO: {"refused":true} is written if the provider refuses this code or
 * refresh token; if it does not answer as it should, {"answered", "refresh_token"}: whether it answered the request for tokens,
 * and its new refresh token.
 */
int oidc_perform(const char *text, size_t len, struct buf *out, struct fw_err *err);

#endif
