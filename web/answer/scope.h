/** scope.h - which repository and branch a request is about. */
#ifndef WEB_ANSWER_SCOPE_H
#define WEB_ANSWER_SCOPE_H

#include "lib/branch.h"
#include "web/answer/site.h"

struct scope {
	char repo[128];
	char branch[BRANCH_KEY_MAX]; /* "": every branch */
};

/**
 * Read ?repo= and ?branch=. Without ?repo= the only configured repository is meant.
 * Err: -1 and the problem is written: 404 for an unknown repository, 400 when there are several to choose from.
 */
int scope_read(struct site *site, struct http_request *r, struct http_response *response, struct scope *out);

/**
 * As scope_read for a page that offers the choice itself: without ?repo= the first configured repository, "" when there is none;
 * without ?branch= its upstream branch. Err: -1 and the problem is written, for an unknown repository.
 */
int scope_offer(struct site *site, struct http_request *r, struct http_response *response, struct scope *out);

/** ?branch= as the key that is stored, NULL if absent. Shape: key[BRANCH_KEY_MAX]. Own: `key` itself. */
const char *scope_branch(struct http_request *r, char *key);

#endif
