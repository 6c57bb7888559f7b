/** write.h - what every writing handler does: read the JSON of a POST, and lead the reader of a page back to one. */
#ifndef WEB_ANSWER_WRITE_H
#define WEB_ANSWER_WRITE_H

#include <jansson.h>
#include <stdbool.h>

#include "web/http/http.h"

/** Whether the body, if there is one, says that it is JSON or a form. False: the problem (415) is written. */
bool write_is_json(struct http_request *r, struct http_response *response);

/** A key that a request's object may have. Its value goes to the one place that is given. */
struct write_key {
	const char *name;  /* NULL ends a list of them; texts stand first */
	const char **text; /* what is too long for its purpose the daemon refuses */
	bool *flag;
	int *number, number_max; /* from 1 */
	size_t text_max;         /* bytes; 0: 1023 */
};

/**
 * Read the body, a JSON object or the fields of a form, and put every value into its place; what is absent (or null, of a text or
 * flag, or an empty field) leaves its place as it is. An empty body is an empty object. Own: the caller's reference; the texts are the object's. Err: NULL and the problem, which names a key that cannot be taken
 * and lists the known ones, is written.
 */
json_t *write_take(struct http_request *r, struct http_response *response, const struct write_key *known);

/** A key's text, NULL if absent or null. One that is no text or longer than `max` bytes sets *wrong to its key. */
const char *write_text(const json_t *root, const char *key, size_t max, const char **wrong);

/** Valid UTF-8 without characters that hide or reorder what people read; those of `keep` (ASCII, e.g. "\n") may be there. NULL is. */
bool write_is_readable(const char *text, const char *keep);

/** The reader of a page wants it back: answer it with the way back to `page`. False: the caller answers as an API. */
bool write_back_to(struct http_request *r, struct http_response *response, const char *page);

#endif
