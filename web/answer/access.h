/**
 * access.h - who may do what. On loopback everybody who reaches the daemon; elsewhere whoever shows an access token: programs as
 * `Authorization: Bearer`, browsers through a session that /login opens.
 */
#ifndef WEB_ANSWER_ACCESS_H
#define WEB_ANSWER_ACCESS_H

#include "lib/err.h"
#include "web/http/http.h"

enum { ACCESS_SESSION_DAYS = 30 };
enum { ACCESS_TOKEN_BYTES = 32, ACCESS_TOKEN_TEXT = 4 + 2 * ACCESS_TOKEN_BYTES + 1 };

/** The guard of http.h; `arg` is the struct site. A page's reader is sent to /login, a program gets 401 or 403. */
bool access_allows(void *arg, struct http_request *r, struct http_response *response, enum http_scope scope);

/** A new random token ("fwt_" and 64 digits). Err: ERR_INTERNAL no random bytes. */
int access_new_token(char token[ACCESS_TOKEN_TEXT], struct fw_err *err);

/** Where a reader may be sent after logging in: `next` when it is a path of ours, else "/". */
const char *access_next(const char *next);

http_handler_fn page_login, page_login_post, page_logout;

#endif
