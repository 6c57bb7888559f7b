#include "web/answer/answer.h"

#include <strings.h>
#include <sys/random.h>

#include "web/html/html.h"

static const int64_t session_ms = (int64_t)ACCESS_SESSION_DAYS * 24 * 3600 * 1000;
static const char session_cookie[] = "flopwatch_session";

int access_new_token(char token[ACCESS_TOKEN_TEXT], struct fw_err *err)
{
	unsigned char random[ACCESS_TOKEN_BYTES];
	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		return err_sys(err, "cannot read random bytes");
	memcpy(token, "fwt_", 4);
	hash_to_hex(random, sizeof random, token + 4);
	return 0;
}

/* Find the token of a request: 1 and the row, 0 no valid token, -1. */
static int find(struct site *site, const struct http_request *r, struct token_row *row, struct fw_err *err)
{
	char hash[HASH_HEX];
	const int64_t now_ms = clock_utc_ms();
	const char *header = http_header(r, "Authorization");
	if (header) {
		if (strncasecmp(header, "Bearer ", 7) != 0)
			return 0;
		hash_hex(header + 7, strlen(header + 7), hash);
		return store_token_find(site->db, hash, now_ms, row, err);
	}
	const char *cookie = http_cookie(r, session_cookie);
	if (!cookie)
		return 0;
	hash_hex(cookie, strlen(cookie), hash);
	return store_session_find(site->db, hash, now_ms, row, err);
}

static bool is_page(const struct http_request *r)
{
	const char *path = http_path(r);
	return strncmp(path, "/api/", 5) != 0 && strcmp(path, "/metrics") != 0;
}

static bool is_allowed(struct site *site, struct http_request *r, struct http_response *response, enum http_scope scope)
{
	struct fw_err err = { 0 };
	struct token_row row;
	if (!site->needs_token)
		return true;
	response->is_private = true;
	int found = find(site, r, &row, &err);
	if (found < 0)
		return answer_error(r, response, &err) == 0;
	if (found == 0 && is_page(r)) {
		response->status = 303;
		snprintf(response->location, sizeof response->location, "/login?next=%s", http_path(r));
		return false;
	}
	if (found == 0)
		return answer_problem(r, response, 401,
			       "send an access token as \"Authorization: Bearer fwt_...\"; flopwatch token add creates one") == 0;
	/* both enums have the same order: read, trigger, admin */
	if ((int)token_scope_of(row.scope) - TOKEN_READ < (int)scope - HTTP_READ) {
		char detail[256];
		snprintf(detail, sizeof detail, "token %s has scope %s; this needs %s (see doc/troubleshooting.md#token-scope)",
			row.name, row.scope, scope == HTTP_ADMIN ? "admin" : "trigger");
		return answer_problem(r, response, 403, detail) == 0;
	}
	http_set_who(r, row.name);
	response->logged_in = true;
	return true;
}

bool access_allows(struct site *site, struct http_request *r, struct http_response *response, enum http_scope scope)
{
	struct fw_err err = { 0 };
	if (!is_allowed(site, r, response, scope))
		return false;
	if (is_page(r) && view_alerts_open(site->db, &response->open_alerts, &err) != 0)
		return answer_error(r, response, &err) == 0;
	return true;
}

const char *access_next(const char *next)
{
	return next && next[0] == '/' && route_is_plain(next) ? next : "/";
}

/* ---- pages ------------------------------------------------------------------------------------------------------------ */

static void draw_login(struct http_response *response, const char *next, const char *diagnostic)
{
	struct buf *out = &response->body;
	layout_begin(response, "Log in", "", NULL);
	emit_raw(out, "<p class=lead>This dashboard is reachable from other machines, so it requires an access token. "
		      "A user with an admin token creates yours: <code>flopwatch token add NAME --scope trigger</code>.</p>");
	if (diagnostic)
		emit_format(out, "<p class=banner role=alert>%s</p>", diagnostic);
	emit_raw(out, "<form method=post action=/login class=filter><input type=hidden name=next value=\"");
	emit_format(out,
		"%s\"><label>Access token <input type=password name=token required autocomplete=current-password></label>"
		" <button>Log in</button></form>",
		next);
	layout_end(response, NULL, 0);
}

int page_login(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)err;
	draw_login(response, access_next(http_query(r, "next")), NULL);
	return 0;
}

/* Under an https public_url the cookie is Secure: the browser never sends it unencrypted. */
static void set_cookie(const struct site *site, const char *value, int64_t age_s, struct http_response *response)
{
	bool is_https = site->public_url && strncmp(site->public_url, "https://", 8) == 0;
	response->cache = "no-store";
	snprintf(response->cookie, sizeof response->cookie, "%s=%s; Path=/; Max-Age=%lld; HttpOnly; SameSite=Strict%s",
		session_cookie, value, (long long)age_s, is_https ? "; Secure" : "");
}

/* A session has its own secret, so that the browser does not store the token and a log-out ends only this session. */
static int open_session(struct site *site, const struct token_row *row, struct http_response *response, struct fw_err *err)
{
	char session[ACCESS_TOKEN_TEXT], hash[HASH_HEX];
	const int64_t now_ms = clock_utc_ms();
	if (access_new_token(session, err) != 0)
		return -1;
	hash_hex(session, strlen(session), hash);
	if (store_session_insert(site->db, hash, row->id, now_ms + session_ms, now_ms, err) != 0)
		return -1;
	set_cookie(site, session, session_ms / 1000, response);
	return 0;
}

int page_login_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct token_row row;
	char hash[HASH_HEX];
	const char *token = http_form(r, "token"), *next = access_next(http_form(r, "next"));
	if (!token || !*token) {
		response->status = 400;
		draw_login(response, next, "Paste your access token.");
		return 0;
	}
	hash_hex(token, strlen(token), hash);
	int found = store_token_find(site->db, hash, clock_utc_ms(), &row, err);
	if (found == 0) {
		response->status = 403;
		draw_login(response, next, "That token does not exist or was revoked.");
	} else if (found < 0 || open_session(site, &row, response, err) != 0) {
		return -1;
	} else {
		response->status = 303;
		snprintf(response->location, sizeof response->location, "%s", next);
	}
	return 0;
}

int page_logout(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	const char *cookie = http_cookie(r, session_cookie);
	if (cookie) {
		char hash[HASH_HEX];
		bool was_open;
		hash_hex(cookie, strlen(cookie), hash);
		if (store_session_end(site->db, hash, &was_open, err) != 0)
			return -1;
		if (was_open) /* an unknown cookie must not end the streams of other clients */
			http_end_streams(r);
	}
	set_cookie(site, "", 0, response);
	response->status = 303;
	snprintf(response->location, sizeof response->location, "/login");
	return 0;
}
