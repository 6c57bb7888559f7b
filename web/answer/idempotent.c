#include "web/answer/answer.h"

enum { KEY_MAX = 128 };

/* Hash of the request: user, path and body. */
static void fingerprint(const struct http_request *r, char hex[HASH_HEX])
{
	struct hash_state s;
	size_t len;
	const char *body = http_body(r, &len), *who = http_who(r), *path = http_path(r);
	hash_begin(&s);
	hash_update(&s, who, strlen(who) + 1);
	hash_update(&s, path, strlen(path) + 1);
	hash_update(&s, body, len);
	hash_end(&s, hex);
}

/* Answer with the stored answer of the key. 1: `response` is written, 0: the key is new, -1. */
static int replay(struct site *site, struct http_request *r, const char *key, struct http_response *response, struct fw_err *err)
{
	struct store_answer stored;
	char requested[HASH_HEX];
	if (!*key || strlen(key) > KEY_MAX)
		return err_set(err, ERR_INVALID, "Idempotency-Key must have 1 to 128 characters");
	int found = store_answer_find(site->db, key, &stored, &response->body, err);
	if (found <= 0)
		return found;
	fingerprint(r, requested);
	if (strcmp(requested, stored.fingerprint) != 0)
		return answer_problem(r, response, 422, "this Idempotency-Key was used for another request; use a new one");
	response->status = stored.status;
	response->type = "application/json; charset=utf-8";
	snprintf(response->location, sizeof response->location, "%s", stored.location);
	return 1;
}

static int keep(
	struct site *site, struct http_request *r, const char *key, const struct http_response *response, struct fw_err *err)
{
	struct store_answer stored = { .status = response->status };
	fingerprint(r, stored.fingerprint);
	snprintf(stored.location, sizeof stored.location, "%.*s", (int)sizeof stored.location - 1, response->location);
	return store_answer_put(site->db, key, &stored, &response->body, clock_utc_ms(), err);
}

int idempotent_run(
	struct site *site, struct http_request *r, struct http_response *response, http_handler_fn *work, struct fw_err *err)
{
	const char *key = http_header(r, "Idempotency-Key");
	if (!key)
		return work(site, r, response, err);
	int replayed = replay(site, r, key, response, err);
	if (replayed != 0)
		return replayed < 0 ? -1 : 0;
	if (db_outer_begin(site->db, err) != 0)
		return -1;
	int result = work(site, r, response, err);
	if (result == 0 && response->status <= 299)
		result = keep(site, r, key, response, err);
	return db_outer_end(site->db, result == 0, err) != 0 ? -1 : result;
}
