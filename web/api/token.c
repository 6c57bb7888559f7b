/* token.c - access tokens: list, create (shown only once), revoke. */
#include "web/api/internal.h"

static void token_row(void *arg, const struct token_row *row)
{
	jsonw_format(arg,
		"{ name=%s scope=%s made_by?=%s created_at=%lld{time} used_at=%lld{time} revoked_at=%lld{time} expires_at=%lld{time} }",
		row->name, row->scope, row->made_by, (long long)row->created_at, (long long)row->used_at,
		(long long)row->revoked_at, (long long)row->expires_at);
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

/* Parse the time at which a token expires: a time, a day, or a time from now such as 30d; 0: never. */
static int read_expiry(const char *text, int64_t now_ms, int64_t *at, struct fw_err *err)
{
	struct fw_err malformed = { 0 };
	int64_t age = text && *text ? period_age(text) : 0;
	*at = 0;
	if (!text || !*text)
		return 0;
	if (age)
		*at = now_ms + age;
	else if (clock_parse(text, at, &malformed) != 0)
		*at = 0;
	return *at > now_ms
		       ? 0
		       : err_set(err, ERR_INVALID,
				 "expires must be a future time: 30d, 12h, a day (2027-01-31) or a time (2027-01-31T12:00:00Z)");
}

static int make_token(struct site *site, struct http_request *r, struct http_response *response, const char *name,
	const char *scope, const char *expires, struct fw_err *err)
{
	const int64_t now_ms = clock_utc_ms();
	int64_t expires_at;
	char token[ACCESS_TOKEN_TEXT], hash[HASH_HEX];
	if (!name || !is_plain_name(name))
		return err_set(err, ERR_INVALID, "name must be 1 to 63 letters, digits, '-', '_' or '.'");
	if (token_scope_of(scope) == TOKEN_NONE)
		return err_set(err, ERR_INVALID, "scope must be read, trigger or admin");
	if (read_expiry(expires, now_ms, &expires_at, err) != 0)
		return -1;
	if (!site->needs_token)
		return err_set(err, ERR_CONFLICT,
			"requests are anonymous under `access: local`, so no token can be created; set `access: token`, and "
			"create it with the daemon's own, STATE_DIR/admin.token");
	if (access_new_token(token, err) != 0)
		return -1;
	hash_hex(token, strlen(token), hash);
	const struct token_new fresh = {
		.name = name, .hash = hash, .scope = scope, .made_by = http_who(r), .expires_at = expires_at
	};
	if (store_token_insert(site->db, &fresh, now_ms, err) != 0)
		return -1;
	response->status = 201;
	response->cache = "no-store";
	return answer_with(
		response, "name=%s scope=%s token=%s expires_at=%lld{time}", name, scope, token, (long long)expires_at);
}

int api_token_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	if (http_header(r, "Idempotency-Key"))
		return answer_problem(
			r, response, 400, "a new token accepts no Idempotency-Key: an answer with a secret is not stored");
	const char *name = NULL, *scope = NULL, *expires = NULL;
	const struct write_key known[] = { { "name", .text = &name }, { "scope", .text = &scope },
		{ "expires", .text = &expires }, { 0 } };
	json_t *root = write_take(r, response, known);
	if (!root)
		return -1;
	int result = make_token(site, r, response, name, scope, expires, err);
	json_decref(root);
	return result;
}

int api_token_revoke(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	const char *name = http_segment(r, 0);
	if (store_token_revoke(site->db, name, clock_utc_ms(), err) != 0)
		return -1;
	http_end_streams(r);
	return answer_with(response, "name=%s revoked=%i", name, true);
}
