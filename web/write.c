/* write.c - bodies of POSTs; see write.h. */
#include "web/write.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "web/answer.h"

enum { OBJECT_MAX = 64 << 10 }; /* bytes; every object here is a handful of short texts */

bool write_is_json(struct http_request *r, struct http_response *response)
{
	size_t len;
	const char *type = http_header(r, "Content-Type");
	http_body(r, &len);
	if (len == 0 || !type || answer_is_form(r) || strncasecmp(type, "application/json", 16) == 0)
		return true;
	answer_problem(r, response, 415, "send JSON, with Content-Type: application/json");
	return false;
}

json_t *write_read(struct http_request *r, struct http_response *response)
{
	size_t len;
	const char *body = http_body(r, &len);
	json_error_t where = { 0 };
	if (!write_is_json(r, response))
		return NULL;
	if (len == 0 || answer_is_form(r))
		return json_object();
	if (len > OBJECT_MAX) {
		answer_problem(r, response, 413, "an object is at most 64 KiB");
		return NULL;
	}
	json_t *root = json_loadb(body, len, JSON_REJECT_DUPLICATES, &where);
	if (json_is_object(root))
		return root;
	char detail[256];
	if (root)
		snprintf(detail, sizeof detail, "the body must be a JSON object");
	else
		snprintf(detail, sizeof detail, "the body is not JSON: line %d, column %d: %.150s", where.line, where.column,
			where.text);
	json_decref(root);
	answer_problem(r, response, 400, detail);
	return NULL;
}

const char *write_text(const json_t *root, const char *key, size_t max, const char **wrong)
{
	const json_t *v = json_object_get(root, key);
	if (v && !json_is_null(v) && (!json_is_string(v) || json_string_length(v) > max))
		*wrong = key;
	return json_string_value(v);
}

bool write_back_to(struct http_request *r, struct http_response *response, const char *page)
{
	if (!answer_is_form(r))
		return false;
	response->status = 303;
	snprintf(response->location, sizeof response->location, "%s", page);
	return true;
}
