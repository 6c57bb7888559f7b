/* write.c - documented in answer.h. */
#include "web/answer/answer.h"

#include <strings.h>

enum { OBJECT_MAX = 64 << 10, TEXT_MAX = 1023 }; /* bytes; every object is a few short texts */

bool write_is_json(struct http_request *r, struct http_response *response)
{
	size_t len;
	const char *type = http_header(r, "Content-Type");
	http_body(r, &len);
	if (len == 0 || !type || answer_is_form(r) || strncasecmp(type, "application/json", 16) == 0)
		return true;
	return answer_problem(r, response, 415, "send JSON, with Content-Type: application/json, or a form") == 0;
}

/* The fields as texts: a form has no other types. */
static json_t *read_form(struct http_request *r, struct http_response *response)
{
	json_t *root = json_object();
	const char *name, *value;
	int result;
	for (int i = 0; (result = http_form_field(r, i, &name, &value)) == 1; i++)
		if (*value && (json_object_get(root, name) || json_object_set_new(root, name, json_string(value)) != 0)) {
			result = -1;
			break;
		}
	if (result == 0)
		return root;
	json_decref(root);
	answer_problem(r, response, 400, "the body is not a valid form: it has a field twice, or is not UTF-8");
	return NULL;
}

static json_t *read_object(struct http_request *r, struct http_response *response)
{
	size_t len;
	const char *body = http_body(r, &len);
	json_error_t where = { 0 };
	if (!write_is_json(r, response))
		return NULL;
	if (len == 0)
		return json_object();
	if (len > OBJECT_MAX) {
		answer_problem(r, response, 413, "the body must be at most 64 KiB");
		return NULL;
	}
	if (answer_is_form(r))
		return read_form(r, response);
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

/* Store the value of a key; false if it is not valid. Values of a form are texts. */
static bool take(const struct write_key *key, const json_t *value, bool is_form)
{
	const char *text = is_form ? json_string_value(value) : NULL;
	if (key->number) {
		json_int_t v = text ? answer_number(text) : json_is_integer(value) ? json_integer_value(value) : 0;
		*key->number = v >= 1 && v <= key->number_max ? (int)v : 0;
		return *key->number != 0;
	}
	if (json_is_null(value))
		return true;
	if (key->flag && text) {
		*key->flag = strcmp(text, "true") == 0 || strcmp(text, "on") == 0; /* on: a checked checkbox */
		return *key->flag || strcmp(text, "false") == 0;
	}
	if (key->flag) {
		*key->flag = json_is_true(value);
		return json_is_boolean(value);
	}
	*key->text = json_string_value(value);
	return *key->text && json_string_length(value) <= (key->text_max ? key->text_max : TEXT_MAX);
}

/* Refuse the key `name`. `key`: its row in `known`, or the end of the list if it is unknown. */
static void refuse(struct http_request *r, struct http_response *response, const char *name, const struct write_key *key,
	const struct write_key *known)
{
	struct buf detail;
	buf_init(&detail, 1024);
	buf_printf(&detail, "key %.60s is unknown, of the wrong type or %s; known: ", name,
		key->number ? "out of range" : "too long");
	for (const struct write_key *k = known; k->name; k++) {
		buf_printf(&detail, "%s%s", k == known ? "" : ", ", k->name);
		if (k->text && (!k[1].name || !k[1].text))
			buf_puts(&detail, " (texts)");
		else if (k->flag)
			buf_puts(&detail, " (boolean)");
		else if (k->number)
			buf_printf(&detail, " (1 to %d)", k->number_max);
	}
	answer_problem(r, response, 400, detail.data);
	buf_fini(&detail);
}

json_t *write_take(struct http_request *r, struct http_response *response, const struct write_key *known)
{
	json_t *root = read_object(r, response), *value;
	const char *name;
	json_object_foreach(root, name, value)
	{
		const struct write_key *key = known;
		while (key->name && strcmp(key->name, name) != 0)
			key++;
		if (key->name && take(key, value, answer_is_form(r)))
			continue;
		refuse(r, response, name, key, known);
		json_decref(root);
		return NULL;
	}
	return root;
}

json_t *write_take_request(struct http_request *r, struct http_response *response, const char *words,
	const struct write_key *more, struct job_request *out)
{
	const struct write_key known[] = { { "repo", .text = &out->repo }, { "base", .text = &out->base },
		{ "good", .text = &out->base }, { "target", .text = &out->target }, { "bad", .text = &out->target },
		{ "suite", .text = &out->suite }, { "device", .text = &out->device_kind }, { "cells", .text = &out->cells_glob },
		{ "provider", .text = &out->base_provider }, { "base_provider", .text = &out->base_provider },
		{ "target_provider", .text = &out->target_provider }, { "base_config", .text = &out->base_config },
		{ "target_config", .text = &out->target_config }, { "base_toolchain", .text = &out->base_toolchain },
		{ "target_toolchain", .text = &out->target_toolchain }, { "base_flags", .text = &out->base_flags },
		{ "target_flags", .text = &out->target_flags }, { "quick", .flag = &out->quick },
		{ "every_cell", .flag = &out->every_cell }, { "alert", .number = &out->alert, .number_max = INT32_MAX },
		{ "comparison", .number = &out->comparison, .number_max = INT32_MAX }, { 0 } };
	struct write_key taken[sizeof known / sizeof known[0] + 1] = { { 0 } };
	int n = 0;
	for (const char *word = words; *word; word += strcspn(word, " "), word += *word == ' ')
		for (const struct write_key *key = known; key->name; key++)
			if (strlen(key->name) == strcspn(word, " ") && strncmp(key->name, word, strlen(key->name)) == 0)
				taken[n++] = *key;
	if (more)
		taken[n] = *more;
	return write_take(r, response, taken);
}

const char *write_text(const json_t *root, const char *key, size_t max, const char **wrong)
{
	const json_t *v = json_object_get(root, key);
	if (v && !json_is_null(v) && (!json_is_string(v) || json_string_length(v) > max))
		*wrong = key;
	return json_string_value(v);
}

bool write_is_readable(const char *text, const char *keep)
{
	for (size_t left = text ? strlen(text) : 0, n; left; text += n, left -= n) {
		uint32_t c;
		n = utf8_next(text, left, &c);
		if (c == UTF8_INVALID || (utf8_is_hidden(c) && (c >= 0x80 || !strchr(keep, (int)c))))
			return false;
	}
	return true;
}

bool write_back_to(struct http_request *r, struct http_response *response, const char *page)
{
	if (!answer_wants_page(r))
		return false;
	response->status = 303;
	snprintf(response->location, sizeof response->location, "%s", page);
	return true;
}
