/* The API's description, OpenAPI 3.1, for programs that write clients and for tests that check us. It lies in web/openapi/, compiled in. */
#include <stdio.h>

#include "lib/lib.h"
#include "web/answer/answer.h"
#include "web/api/api.h"

#define PART(name) extern const char _binary_web_openapi_##name##_json_start[], _binary_web_openapi_##name##_json_end[]
PART(info);
PART(paths);
PART(components);

static void put(struct buf *out, const char *key, const char *start, const char *end)
{
	buf_puts(out, key);
	buf_append(out, start, (size_t)(end - start));
}

static void write_document(struct buf *out)
{
	put(out, "{\"openapi\":\"3.1.0\",\"info\":", _binary_web_openapi_info_json_start, _binary_web_openapi_info_json_end);
	put(out, ",\"servers\":[{\"url\":\"/\"}],\"paths\":", _binary_web_openapi_paths_json_start,
		_binary_web_openapi_paths_json_end);
	put(out, ",\"components\":", _binary_web_openapi_components_json_start, _binary_web_openapi_components_json_end);
	buf_puts(out, "}\n");
}

void api_openapi(void *arg, struct http_request *r, struct http_response *response)
{
	static char etag[HASH_HEX + 2];
	(void)arg, (void)r;
	response->type = "application/json; charset=utf-8";
	write_document(&response->body);
	if (!etag[0] && !response->body.failed) {
		char hash[HASH_HEX];
		hash_hex(response->body.data, response->body.len, hash);
		snprintf(etag, sizeof etag, "\"%s\"", hash);
	}
	snprintf(response->etag, sizeof response->etag, "%s", etag);
}
