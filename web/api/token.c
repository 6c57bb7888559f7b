/* Access tokens: who has one, a new one (shown this once), the end of one. */
#include <stdio.h>

#include "db/db.h"
#include "lib/lib.h"
#include "web/answer/answer.h"
#include "web/api/api.h"

static void token_row(void *arg, const struct token_row *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_string(j, "name", row->name);
	jsonw_kv_string(j, "scope", row->scope);
	answer_text(j, "made_by", row->made_by);
	answer_time(j, "created_at", row->created_at);
	answer_time(j, "used_at", row->used_at);
	answer_time(j, "revoked_at", row->revoked_at);
	jsonw_object_end(j);
}

int api_tokens(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)r;
	struct jsonw j;
	answer_items_begin(response, &j);
	return answer_items_end(&j, store_token_list(site->db, token_row, &j, err));
}

static bool is_plain_name(const char *name)
{
	size_t len = strlen(name);
	return len > 0 && len < sizeof((struct token_row *)0)->name &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == len;
}

static int make_token(struct site *site, struct http_request *r, struct http_response *response, const char *name,
	const char *scope, struct fw_err *err)
{
	char token[ACCESS_TOKEN_TEXT], hash[HASH_HEX];
	struct jsonw j;
	if (!name || !is_plain_name(name))
		return err_set(err, ERR_INVALID, "name must be 1 to 63 letters, digits, '-', '_' or '.'");
	if (token_scope_of(scope) == TOKEN_NONE)
		return err_set(err, ERR_INVALID, "scope must be read, trigger or admin");
	if (!site->needs_token)
		return err_set(err, ERR_CONFLICT,
			"under `access: local` nobody shows who he is, so nobody can vouch for a token; set `access: token`, and "
			"make "
			"it with the daemon's own, STATE_DIR/admin.token");
	if (access_new_token(token, err) != 0)
		return -1;
	hash_hex(token, strlen(token), hash);
	const struct token_new fresh = { .name = name, .hash = hash, .scope = scope, .made_by = http_who(r) };
	if (store_token_insert(site->db, &fresh, clock_utc_ms(), err) != 0)
		return -1;
	response->status = 201;
	response->cache = "no-store";
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_kv_string(&j, "name", name);
	jsonw_kv_string(&j, "scope", scope);
	jsonw_kv_string(&j, "token", token);
	jsonw_object_end(&j);
	return 0;
}

int api_token_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	if (http_header(r, "Idempotency-Key"))
		return answer_problem(
			r, response, 400, "a new token takes no Idempotency-Key: an answer that holds a secret is not kept");
	const char *name = NULL, *scope = NULL;
	const struct write_key known[] = { { "name", .text = &name }, { "scope", .text = &scope }, { 0 } };
	json_t *root = write_take(r, response, known);
	if (!root)
		return -1;
	int result = make_token(site, r, response, name, scope, err);
	json_decref(root);
	return result;
}

int api_token_revoke(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct jsonw j;
	const char *name = http_segment(r, 0);
	if (store_token_revoke(site->db, name, clock_utc_ms(), err) != 0)
		return -1;
	http_end_streams(r);
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_kv_string(&j, "name", name);
	jsonw_kv_bool(&j, "revoked", true);
	jsonw_object_end(&j);
	return 0;
}
