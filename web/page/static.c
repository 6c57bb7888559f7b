#include "web/page/internal.h"

int page_static(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)err;
	const struct asset *a = asset_find(http_segment(r, 0));
	if (!a)
		return answer_problem(r, response, 404, NULL);
	response->type = a->type;
	/* an address with this version always refers to the same bytes */
	const char *version = http_query(r, "v");
	bool exact = version && strncmp(a->etag + 1, version, 10) == 0 && strlen(version) == 10;
	response->cache = exact ? "public, max-age=31536000, immutable" : "no-cache";
	snprintf(response->etag, sizeof response->etag, "%s", a->etag);
	buf_append(&response->body, a->start, (size_t)(a->end - a->start));
	return 0;
}
