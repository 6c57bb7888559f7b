/** internal.h - flopwatch-send, the program that sends one notification over HTTP or SMTP, or makes one step of a log-in. */
#ifndef SEND_INTERNAL_H
#define SEND_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "lib/lib.h"

/*
 * ---- send ----
 * Sending of one notification over HTTP, or as a mail over SMTP, to an address that an administrator configured.
 *
 * A request uses only http and https (a mail smtp and smtps), follows no redirects, and has a deadline and a small limit on the
 * response. It connects to loopback, private, link-local or other internal addresses only if the notification allows it. Each
 * address is checked when the connection is made, so a name that later resolves to another address cannot evade the check.
 */

enum { SEND_HEADERS_MAX = 16, SEND_RECIPIENTS_MAX = 16, SEND_ANSWER_SIZE = 256 };

/** The envelope of a mail; the notification's body is the message with its header. */
struct send_mail {
	char *from;
	int n_to;
	char *to[SEND_RECIPIENTS_MAX];
	char *user, *password; /* NULL: no authentication */
	bool is_plain;         /* without TLS; otherwise STARTTLS, or TLS from the start for smtps:// */
};

/** One notification. Own: notification_fini frees all members except body_out. */
struct notification {
	char *url;
	char *body;
	int n_header;
	char *header[SEND_HEADERS_MAX]; /* "Name: value" */
	bool allow_internal;
	const char *method; /* of HTTP: "POST" (default), "PUT", "PATCH" or "GET", which has no body */
	char *answer_key;   /* member of the JSON response to return; NULL: none */
	char *line;         /* the response is a list of comments: return those whose `body` has this line; NULL: it is not */
	char *ca_file;      /* file with trusted certificates; NULL: the system's */
	bool is_mail;
	struct send_mail mail;
	struct buf *body_out; /* receives the response, also one that rejects the request; NULL: none. Own: the caller's */
};

/**
 * Parse {"url","headers":{},"body","allow_internal","method","answer","line","ca_file","mail":{"from","to":[],"user","password",
 * "tls"}}. Only url and body are required. Shape: text[len]. Own: notification_fini. Err: ERR_INVALID names the key.
 */
int notification_read(const char *text, size_t len, struct notification *out, struct fw_err *err);
/** Free the members and zero the struct. */
void notification_fini(struct notification *d);

/** Return whether an address is not on the public internet, or is neither AF_INET nor AF_INET6. */
bool send_is_internal(const struct sockaddr *address);

/** The result of a notification, also of a failed one. */
struct send_answer {
	int status;                    /* HTTP status, or the last reply code of SMTP; 0: no response */
	int duration_ms;               /* from the start of name resolution to the end */
	int retry_after_s;             /* Retry-After of the response, or the time until a forge's rate limit ends; 0: none */
	char answer[SEND_ANSWER_SIZE]; /* text or integer of the response's member `answer_key`; "": none */
	/* with `line`: [{id, created_at, updated_at, system, user, author, line}]; NULL: none. Own: json_decref by the caller */
	json_t *comments;
	bool has_next;               /* the response's header Link names a next page */
	char etag[SEND_ANSWER_SIZE]; /* header ETag of the response; "": none */
};

/**
 * Send the notification. `answer` is valid also after a failure. Err: ERR_IO if it was not delivered, also for a response other
 * than 2xx (with `line` also 304); ERR_INVALID if a check rejects it.
 */
int send_deliver(const struct notification *d, struct send_answer *answer, struct fw_err *err);

/*
 * ---- jws ----
 * Signed tokens (RFC 7515) in compact form, with the algorithms RS256 and ES256. OpenSSL verifies the signature.
 */

/** Append the decoding of `len` characters of base64url without padding. Returns 0; -1 for an invalid character. */
int jws_unbase64url(struct buf *out, const char *text, size_t len);
/**
 * Verify the signature of `token` with the keys of `jwks` ({"keys":[...]}). Returns its claims; NULL with `err`. Own:
 * json_decref. Err: ERR_INVALID for a malformed token, another algorithm, an unknown key, or a wrong signature.
 */
json_t *jws_open(const char *token, const json_t *jwks, struct fw_err *err);

/*
 * ---- oidc ----
 * The requests of a log-in to an OpenID Connect provider: its configuration, the exchange of the code or of a refresh token, and
 * the checks of the ID token. A provider's responses are untrusted, so only this program parses them.
 */

enum { OIDC_SKEW_S = 60 }; /* tolerated difference of both clocks */

/** The claims that an ID token must have. */
struct oidc_expected {
	const char *issuer, *client_id;
	const char *nonce;   /* NULL: any */
	const char *subject; /* NULL: any */
	int64_t now_s;
};

/** Check the claims of an ID token whose signature is valid. Err: ERR_INVALID names the claim. */
int oidc_check_claims(const json_t *claims, const struct oidc_expected *expected, struct fw_err *err);

/**
 * Make one step of a log-in and append its result to `out`. The request is a JSON object: {"step", "issuer", "client_id",
 * "client_secret", "allow_internal", "ca_file", "groups_claim"}. Shape: text[len].
 *
 * Step "begin" has the result {"authorization_endpoint"}. Step "code" also requires "code", "verifier", "redirect_uri" and
 * "nonce"; step "refresh" also requires "refresh_token" and "subject". Both have the result {"subject", "name", "groups",
 * "refresh_token"}.
 *
 * Err: ERR_INVALID for an invalid request. ERR_IO if the provider failed; the result is then {"refused":true} if it rejects the
 * code or refresh token, otherwise {"answered", "refresh_token"}: whether it answered the request for tokens, and its new refresh
 * token.
 */
int oidc_perform(const char *text, size_t len, struct buf *out, struct fw_err *err);

#endif
