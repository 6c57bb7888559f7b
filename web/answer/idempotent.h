/**
 * idempotent.h - a POST that carries an Idempotency-Key happens once: who asks again with the same key and the same body gets the
 * first answer again, however often the network made him repeat himself.
 */
#ifndef WEB_ANSWER_IDEMPOTENT_H
#define WEB_ANSWER_IDEMPOTENT_H

#include <stdbool.h>

#include "web/http/http.h"
#include "web/answer/site.h"

typedef void idempotent_work(void *site, struct http_request *r, struct http_response *response);

/**
 * Do the work, or answer in its place where its key was used: with the first answer, 422 (for another request), 400 (no key). What it writes
 * and its answer, where that is 2xx, are one transaction: after a crash there are both or neither. Without a key it is just done.
 */
void idempotent_run(struct site *site, struct http_request *r, struct http_response *response, idempotent_work *work);

#endif
