/* openapi.c - the API from the table of routes: a page, and the OpenAPI 3.1 document, whose other parts are in web/openapi/. */
#include "web/api/internal.h"

#define PART(name) extern const char _binary_web_openapi_##name##_json_start[], _binary_web_openapi_##name##_json_end[]
PART(info);
PART(components);
PART(tags);

enum { WORD_MAX = 64, DOCUMENT_MAX = 1 << 20 };

/* Copy the next one of `words`, a list separated by spaces. False: none. */
static bool next_word(const char **words, char word[WORD_MAX])
{
	if (!*words)
		return false;
	*words += strspn(*words, " ");
	size_t len = strcspn(*words, " ");
	snprintf(word, WORD_MAX, "%.*s", (int)len, *words);
	*words += len;
	return len > 0;
}

static bool has_word(const char *words, const char *wanted)
{
	char word[WORD_MAX];
	while (next_word(&words, word))
		if (strcmp(word, wanted) == 0)
			return true;
	return false;
}

static bool is_get(const struct http_route *route)
{
	return strcmp(route->method, "GET") == 0;
}

/* Return whether the server sends ETags, so that a client can request only changed answers. */
static bool has_tag(const struct http_route *route)
{
	const char *types = route->operation->types;
	bool is_tagged = has_word(types, "text/csv") || has_word(types, "text/markdown") || has_word(types, "image/svg+xml");
	return is_get(route) && (route->operation->answer || is_tagged);
}

/* Return whether requests count against requests_per_minute. */
static bool has_limit(const struct http_route *route)
{
	return route->scope != HTTP_OPEN || !is_get(route);
}

static void begin_object(struct jsonw *j, const char *key)
{
	jsonw_key(j, key);
	jsonw_object(j);
}

/* `key` is NULL in an array. */
static void write_reference(struct jsonw *j, const char *key, const char *kind, const char *name)
{
	char reference[WORD_MAX + 64];
	snprintf(reference, sizeof reference, "#/components/%s/%s", kind, name);
	if (key)
		jsonw_key(j, key);
	jsonw_object(j);
	jsonw_kv_string(j, "$ref", reference);
	jsonw_object_end(j);
}

/* Refer to the parameter with the name of an argument or path segment, unless the operation names another. */
static void write_parameter(struct jsonw *j, const struct api_operation *op, const char *name)
{
	const char *words = op->parameters, *parameter = name;
	char word[WORD_MAX];
	size_t len = strlen(name);
	while (next_word(&words, word))
		if (strncmp(word, name, len) == 0 && word[len] == '=') {
			parameter = word + len + 1;
			break;
		}
	write_reference(j, NULL, "parameters", parameter);
}

static void write_parameters(struct jsonw *j, const struct http_route *route)
{
	const struct api_operation *op = route->operation;
	const char *words = route->query;
	char word[WORD_MAX];
	jsonw_kv_array(j, "parameters");
	for (const char *at = route->path; (at = strchr(at, '{')); at++) {
		snprintf(word, sizeof word, "%.*s", (int)strcspn(at + 1, "}"), at + 1);
		write_parameter(j, op, word);
	}
	while (next_word(&words, word))
		write_parameter(j, op, word);
	if (has_tag(route))
		write_reference(j, NULL, "parameters", "if_none_match");
	for (words = op->parameters; next_word(&words, word);)
		if (!strchr(word, '='))
			write_reference(j, NULL, "parameters", word);
	jsonw_array_end(j);
}

/* `example` may be NULL. */
static void write_json_content(struct jsonw *j, const char *type, const char *schema, const char *example)
{
	begin_object(j, type);
	write_reference(j, "schema", "schemas", schema);
	if (example) {
		jsonw_key(j, "example");
		jsonw_raw(j, example, strlen(example));
	}
	jsonw_object_end(j);
}

static void write_body(struct jsonw *j, const struct api_operation *op)
{
	begin_object(j, "requestBody");
	jsonw_kv_bool(j, "required", !op->is_body_optional);
	begin_object(j, "content");
	write_json_content(j, op->is_multipart ? "multipart/form-data" : "application/json", op->body, op->example);
	if (!op->is_json_only && !op->is_multipart)
		write_json_content(j, "application/x-www-form-urlencoded", op->body, NULL);
	jsonw_object_end(j);
	jsonw_object_end(j);
}

static void write_headers(struct jsonw *j, const struct http_route *route, int status)
{
	const struct api_operation *op = route->operation;
	const char *const names[] = {
		has_tag(route) ? "ETag" : NULL,
		has_word(route->query, "cursor") ? "Link" : NULL,
		op->has_location && status == 201 ? "Location" : NULL,
		has_limit(route) ? "RateLimit-Limit" : NULL,
		has_limit(route) ? "RateLimit-Remaining" : NULL,
		has_limit(route) ? "RateLimit-Reset" : NULL,
	};
	begin_object(j, "headers");
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (names[i])
			write_reference(j, names[i], "headers", names[i]);
	jsonw_object_end(j);
}

static void write_answer(struct jsonw *j, const struct http_route *route, int status, const char *result)
{
	const struct api_operation *op = route->operation;
	const char *types = op->types;
	char code[16], type[WORD_MAX];
	snprintf(code, sizeof code, "%d", status);
	begin_object(j, code);
	jsonw_kv_string(j, "description", result ? result : "OK");
	begin_object(j, "content");
	if (op->answer)
		write_json_content(j, "application/json", op->answer, NULL);
	while (next_word(&types, type)) {
		begin_object(j, type);
		begin_object(j, "schema");
		jsonw_kv_string(j, "type", "string");
		if (strncmp(type, "application/", 12) == 0)
			jsonw_kv_string(j, "contentMediaType", type);
		jsonw_object_end(j);
		jsonw_object_end(j);
	}
	jsonw_object_end(j);
	write_headers(j, route, status);
	jsonw_object_end(j);
}

static void write_responses(struct jsonw *j, const struct http_route *route)
{
	const struct api_operation *op = route->operation;
	bool has_scope = route->scope != HTTP_OPEN, has_name = strchr(route->path, '{') || has_word(route->query, "repo");
	const struct {
		int status;
		const char *name;
		bool follows; /* the route can send it */
	} refusals[] = {
		{ 304, "unchanged", has_tag(route) },
		{ 400, "malformed", true },
		{ 401, "no_token", has_scope },
		{ 403, "forbidden", has_scope },
		{ 404, "not_found", has_name },
		{ 405, "method", true },
		{ 406, "not_acceptable", is_get(route) },
		{ 409, "conflict", false },
		{ 409, "ambiguous", false },
		{ 413, "too_large", op->body },
		{ 415, "media_type", op->body },
		{ 416, "range", false },
		{ 422, "key_reused", has_word(op->parameters, "idempotency_key") },
		{ 422, "unreadable", false },
		{ 429, "too_many", has_limit(route) },
		{ 503, "not_now", false },
	};
	begin_object(j, "responses");
	write_answer(j, route, op->status ? op->status : 200, op->result);
	if (op->other.status)
		write_answer(j, route, op->other.status, op->other.result);
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
		char code[16];
		if (!refusals[i].follows && !has_word(op->refusals, refusals[i].name))
			continue;
		snprintf(code, sizeof code, "%d", refusals[i].status);
		write_reference(j, code, "responses", refusals[i].name);
	}
	jsonw_object_end(j);
}

static void write_security(struct jsonw *j, enum http_scope scope)
{
	static const char *const names[] = { [HTTP_READ] = "read", [HTTP_TRIGGER] = "trigger", [HTTP_ADMIN] = "admin" };
	jsonw_kv_array(j, "security");
	if (scope != HTTP_OPEN) {
		jsonw_object(j);
		jsonw_kv_array(j, "bearer");
		jsonw_string(j, names[scope]);
		jsonw_array_end(j);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void write_operation(struct jsonw *j, const struct http_route *route)
{
	const struct api_operation *op = route->operation;
	begin_object(j, is_get(route) ? "get" : "post");
	jsonw_kv_string(j, "operationId", op->id);
	jsonw_kv_array(j, "tags");
	jsonw_string(j, op->tag);
	jsonw_array_end(j);
	jsonw_kv_string(j, "summary", op->summary);
	if (op->description)
		jsonw_kv_string(j, "description", op->description);
	write_security(j, route->scope);
	write_parameters(j, route);
	if (op->body)
		write_body(j, op);
	write_responses(j, route);
	jsonw_object_end(j);
}

/* Return the first documented row with the path of row `i`, at which all methods of the path are written. */
static int first_of_path(const struct http_route *route, int i)
{
	int first = 0;
	while (!route[first].operation || strcmp(route[first].path, route[i].path) != 0)
		first++;
	return first;
}

static void write_paths(struct jsonw *j, const struct http_route *route, int n)
{
	jsonw_object(j);
	for (int i = 0; i < n; i++) {
		if (!route[i].operation || first_of_path(route, i) < i)
			continue;
		begin_object(j, route[i].path);
		for (int other = i; other < n; other++)
			if (route[other].operation && strcmp(route[other].path, route[i].path) == 0)
				write_operation(j, &route[other]);
		jsonw_object_end(j);
	}
	jsonw_object_end(j);
}

static void write_part(struct buf *out, const char *key, const char *start, const char *end)
{
	buf_puts(out, key);
	buf_append(out, start, (size_t)(end - start));
}

static void write_document(struct buf *out, const struct http_route *route, int n)
{
	struct jsonw j;
	write_part(
		out, "{\"openapi\":\"3.1.0\",\"info\":", _binary_web_openapi_info_json_start, _binary_web_openapi_info_json_end);
	buf_puts(out, ",\"servers\":[{\"url\":\"/\"}],\"paths\":");
	jsonw_init(&j, out);
	write_paths(&j, route, n);
	write_part(out, ",\"tags\":", _binary_web_openapi_tags_json_start, _binary_web_openapi_tags_json_end);
	write_part(out, ",\"components\":", _binary_web_openapi_components_json_start, _binary_web_openapi_components_json_end);
	buf_puts(out, "}\n");
}

int api_openapi(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	static struct buf document; /* the table is constant, so the document is written once */
	static char etag[HASH_HEX + 2];
	(void)site, (void)err;
	if (!etag[0]) {
		char hash[HASH_HEX];
		int n;
		const struct http_route *routes = http_routes(r, &n);
		buf_init(&document, DOCUMENT_MAX);
		write_document(&document, routes, n);
		if (document.failed) {
			buf_fini(&document);
			return answer_problem(r, response, 500, NULL);
		}
		hash_hex(document.data, document.len, hash);
		snprintf(etag, sizeof etag, "\"%s\"", hash);
	}
	response->type = "application/json; charset=utf-8";
	buf_append(&response->body, document.data, document.len);
	snprintf(response->etag, sizeof response->etag, "%s", etag);
	return 0;
}

int page_api(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct buf *out = &response->body;
	int n;
	const struct http_route *route = http_routes(r, &n);
	(void)site, (void)err;
	layout_begin(response, "API", "api", NULL);
	emit_raw(out,
		"<p class=lead>The API returns all data of these pages as JSON. The index is at <a href=\"/api/v1/\">/api/v1/</a>, the full description is <a href=\"/api/v1/openapi.json\">OpenAPI</a>.</p><p>Lists are "
		"<code>{\"items\":[],\"next_cursor\":null}</code>: pass <code>cursor</code> for the next page; lists with times take <code>since</code> and <code>until</code> "
		"(<code>2026-11-21T02:46:00Z</code>, <code>2026-11-21</code>, <code>7d</code>). Errors are problem documents (RFC 9457). A finished "
		"comparison has an ETag. "
		"Times are UTC, and every number names its unit.</p>");
	layout_table(out, "Method|Address|~Arguments|Result");
	for (int i = 0; i < n; i++) {
		const struct api_operation *op = route[i].operation;
		if (!op)
			continue;
		emit_format(out,
			"<tr><td>%-s</td><th scope=row class=wrap><code>%s</code></th><td class=\"wrap w\">%s</td><td class=wrap>%s",
			route[i].method, route[i].path, route[i].query ? route[i].query : "", op->summary);
		if (op->example)
			emit_format(out, ": <code>%s</code>", op->example);
		emit_raw(out, "</td></tr>\n");
	}
	layout_table_end(out);
	layout_command(out,
		"curl -s http://127.0.0.1:8451/api/v1/comparisons?verdict=regression | jq '.items[] | {id, branch, worst_pct}'");
	return layout_end(response, "/api/v1/", 0);
}
