/**
 * idempotent.h - a POST that carries an Idempotency-Key happens once: who asks again with the same key and the same body gets the
 * first answer again, however often the network made him repeat himself.
 */
#ifndef WEB_IDEMPOTENT_H
#define WEB_IDEMPOTENT_H

#include <stdbool.h>

#include "web/http.h"
#include "web/site.h"

/**
 * Before the work: true when the answer is written already, because the key was used (the first answer), was used for another
 * request (422), or is no key (400).
 */
bool idempotent_replay(struct site *site, struct http_request *r, struct http_response *response);

/** After the work: remember a 2xx answer under the request's key, if it has one. A failure to do so is only logged. */
void idempotent_keep(struct site *site, struct http_request *r, const struct http_response *response);

#endif
