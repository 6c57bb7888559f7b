/** write.h - what every writing handler does: read the JSON of a POST, and lead the reader of a page back to one. */
#ifndef WEB_WRITE_H
#define WEB_WRITE_H

#include <jansson.h>

#include "web/http.h"

/** Whether the body, if there is one, says that it is JSON or a form. False: the problem (415) is written. */
bool write_is_json(struct http_request *r, struct http_response *response);

/**
 * The body's JSON object; an empty body and a form are an empty object. Err: NULL and the problem is written.
 * Own: the caller's reference.
 */
json_t *write_read(struct http_request *r, struct http_response *response);

/** A key's text, NULL if absent or null. One that is no text or longer than `max` bytes sets *wrong to its key. */
const char *write_text(const json_t *root, const char *key, size_t max, const char **wrong);

/** The request came from a page's form: answer it with the way back to `page`. False: the caller answers as an API. */
bool write_back_to(struct http_request *r, struct http_response *response, const char *page);

#endif
