/*
 * hook.c - POST /api/v1/hooks/{repo}: a forge reports a push, or a user's approval of a request. A push only triggers a fetch of
 * the configured address: nothing else of its payload counts. Signatures are checked over the raw body, in constant time, before
 * anything else; a repeated notification starts nothing, and no approval. A repeated notification is detected only by data that
 * its signature covers: the id if it is signed (Standard Webhooks), else the body. A sender who captured a notification can
 * change the other ids of forges.
 */
#include "web/api/internal.h"

enum { CLOCK_TOLERANCE_S = 300 };

/* Check a hexadecimal HMAC of the body, as sent by GitHub (after "sha256="), Gitea and Forgejo. */
static bool hex_matches(const char *sent, const char *secret, const char *body, size_t len)
{
	unsigned char mac[32];
	char hex[65];
	hash_hmac(secret, strlen(secret), body, len, mac);
	hash_to_hex(mac, 32, hex);
	return strlen(sent) == 64 && hash_equal(sent, hex, 64);
}

/* Check signatures of Standard Webhooks (newer GitLab): "v1,<base64>" over "id.timestamp.body", separated by spaces. */
static bool standard_matches(struct http_request *r, const char *signatures, const char *secret, const char *body, size_t len)
{
	const char *id = http_header(r, "webhook-id"), *at = http_header(r, "webhook-timestamp");
	if (!id || !at || answer_number(at) < 0 || llabs(clock_utc_ms() / 1000 - answer_number(at)) > CLOCK_TOLERANCE_S)
		return false;
	struct buf text, key, want;
	buf_init(&text, len + 1024);
	buf_init(&key, 1024);
	buf_init(&want, 128);
	buf_printf(&text, "%s.%s.", id, at);
	buf_append(&text, body, len);
	bool encoded = strncmp(secret, "whsec_", 6) == 0 && buf_unbase64(&key, secret + 6, strlen(secret + 6)) == 0;
	if (!encoded) {
		buf_clear(&key);
		buf_puts(&key, secret);
	}
	unsigned char mac[32];
	hash_hmac(key.data, key.len, text.data, text.len, mac);
	buf_base64(&want, mac, sizeof mac);
	bool matches = false;
	for (const char *s = signatures; *s && !text.failed && !matches; s += strcspn(s, " "), s += *s == ' ')
		matches = strncmp(s, "v1,", 3) == 0 && strcspn(s + 3, " ") == want.len && hash_equal(s + 3, want.data, want.len);
	buf_fini(&text);
	buf_fini(&key);
	buf_fini(&want);
	return matches;
}

/*
 * Whether a body may be what Standard Webhooks signs, "id.timestamp.body": a forge sends JSON, or a form with the field `payload`.
 * With the same secret its signature would otherwise be valid for this body too, without a limit of time.
 */
static bool is_signed_text(const char *body, size_t len)
{
	static const char form[] = "payload=";
	const char *end = body + len, *dot = memchr(body, '.', len), *at = dot ? dot + 1 : end;
	if (len == 0 || *body == '{' || (len >= sizeof form - 1 && memcmp(body, form, sizeof form - 1) == 0))
		return false;
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return dot && at > dot + 1 && at < end && *at == '.';
}

/* Gitea and Forgejo also send GitHub's header names, so check theirs first. *has_id: the id is signed as well. */
static bool is_signed(struct http_request *r, const char *secret, bool *has_id)
{
	*has_id = false;
	size_t len;
	const char *body = http_body(r, &len), *header;
	if ((header = http_header(r, "X-Gitea-Signature")) || (header = http_header(r, "X-Forgejo-Signature")))
		return !is_signed_text(body, len) && hex_matches(header, secret, body, len);
	if ((header = http_header(r, "X-Hub-Signature-256")))
		return strncmp(header, "sha256=", 7) == 0 && !is_signed_text(body, len) &&
		       hex_matches(header + 7, secret, body, len);
	if ((header = http_header(r, "webhook-signature"))) {
		*has_id = true;
		return standard_matches(r, header, secret, body, len);
	}
	if ((header = http_header(r, "X-Gitlab-Token")))
		return strlen(header) == strlen(secret) && hash_equal(header, secret, strlen(secret));
	return false;
}

/* Key that detects a repeated notification: one of both, or none. */
struct mark {
	const char *id;      /* signed id; NULL none */
	char body[HASH_HEX]; /* hash; "": not used */
};

/* Compute the key. A script's request with a token and without a body has none. */
static void mark_of(struct http_request *r, bool has_id, struct mark *mark)
{
	size_t len;
	const char *body = http_body(r, &len);
	*mark = (struct mark){ .id = has_id ? http_header(r, "webhook-id") : NULL };
	if (!has_id && (len || !http_header(r, "X-Gitlab-Token")))
		hash_hex(body, len, mark->body);
}

/* Store the key of a notification. 1: new; 0: seen before; -1. */
static int remember(struct db *db, const char *repo, const struct mark *mark, struct fw_err *err)
{
	char key[400];
	if (!mark->id && !mark->body[0])
		return 1;
	snprintf(key, sizeof key, "%s/%s/%s", repo, mark->id ? "id" : "body", mark->id ? mark->id : mark->body);
	return store_notification(db, key, clock_utc_ms(), err);
}

/*
 * Store the notification's approval and trigger a fetch, unless the daemon has seen this notification before. 1: triggered,
 * 0: seen before, -1: nothing was stored, so that the sender can retry.
 */
static int fetch_once(struct site *site, struct http_request *r, const char *repo, const struct mark *mark, struct fw_err *err)
{
	size_t len;
	const char *body = http_body(r, &len);
	if (db_begin(site->db, err) != 0)
		return -1;
	int is_new = remember(site->db, repo, mark, err);
	if (is_new == 1 && (!site->act->forge_event || site->act->forge_event(site->control, repo, body, len, err) == 0) &&
		site->act->trigger(site->control, repo, NULL, err) == 0 && db_commit(site->db, err) == 0)
		return 1;
	db_rollback(site->db);
	return is_new == 0 ? 0 : -1;
}

int api_hook(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	const char *repo = http_segment(r, 0), *secret;
	if (site->act->secret(site->control, repo, &secret, err) != 0)
		return answer_problem(
			r, response, 404, "unknown repository, or it has no secret_file and so accepts no webhooks");
	struct mark mark;
	bool has_id;
	if (!is_signed(r, secret, &has_id))
		return answer_problem(r, response, 401, "the signature does not match this repository's secret");
	const char *event = http_header(r, "X-GitHub-Event");
	mark_of(r, has_id, &mark);
	response->type = "text/plain; charset=utf-8";
	if (event && strcmp(event, "ping") == 0) {
		buf_puts(&response->body, "pong\n");
		return 0;
	}
	if (mark.id && strlen(mark.id) > 200)
		return answer_problem(r, response, 400, "the notification id is longer than 200 bytes");
	int is_new = fetch_once(site, r, repo, &mark, err);
	if (is_new < 0)
		return -1;
	response->status = 202;
	buf_puts(&response->body, is_new ? "fetching\n" : "seen before\n");
	return 0;
}
