#include <stdio.h>

#include "web/answer/answer.h"
#include "web/html/html.h"
#include "web/page/page.h"

void page_static(void *arg, struct http_request *r, struct http_response *response)
{
	(void)arg;
	const struct asset *a = asset_find(http_segment(r, 0));
	if (!a) {
		answer_problem(r, response, 404, NULL);
		return;
	}
	response->type = a->type;
	/* an address that names these very bytes never changes its meaning */
	const char *version = http_query(r, "v");
	bool exact = version && strncmp(a->etag + 1, version, 10) == 0 && strlen(version) == 10;
	response->cache = exact ? "public, max-age=31536000, immutable" : "no-cache";
	snprintf(response->etag, sizeof response->etag, "%s", a->etag);
	buf_append(&response->body, a->start, (size_t)(a->end - a->start));
}
