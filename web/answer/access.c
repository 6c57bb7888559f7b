#include "web/answer/answer.h"

#include <strings.h>
#include <sys/random.h>

#include "web/html/html.h"

static const int64_t token_session_ms = (int64_t)ACCESS_SESSION_DAYS * 24 * 3600 * 1000;
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

bool access_allows(struct site *site, struct http_request *r, struct http_response *response, enum http_scope scope)
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
			       "send a valid access token as \"Authorization: Bearer fwt_...\"; flopwatch token add creates one") ==
		       0;
	/* both enums have the same order: read, trigger, admin */
	if ((int)token_scope_of(row.scope) - TOKEN_READ < (int)scope - HTTP_READ) {
		char detail[256];
		snprintf(detail, sizeof detail, "token %s has scope %s; this needs %s (see doc/troubleshooting.md#token-scope)",
			row.name, row.scope, scope == HTTP_ADMIN ? "admin" : "trigger");
		return answer_problem(r, response, 403, detail) == 0;
	}
	http_set_who(r, row.name);
	http_set_expiry(r, row.expires_at);
	response->logged_in = true;
	return true;
}

void access_record(struct site *site, struct http_request *r, const struct http_response *response, enum http_scope scope)
{
	struct fw_err err = { 0 };
	if (scope > HTTP_READ &&
		store_audit_add(site->db, http_who(r), http_path(r), response->status, clock_utc_ms(), &err) != 0)
		log_warning("audit", "path=%s who=%s err=%s", log_quote(http_path(r)), http_who(r), log_quote(err.text));
}

const char *access_next(const char *next)
{
	return next && next[0] == '/' && route_is_plain(next) ? next : "/";
}

/* ---- pages ------------------------------------------------------------------------------------------------------------ */

/* The host of the provider, as users know it. */
static void draw_provider(const struct site *site, struct buf *out, const char *next)
{
	char host[128];
	const char *at = site->provider ? strstr(site->provider, "://") : NULL;
	if (!at)
		return;
	snprintf(host, sizeof host, "%.*s", (int)strcspn(at + 3, "/"), at + 3);
	/* the provider returns the browser to public_url, so the log-in begins there too: its cookie belongs to one host name */
	emit_format(out, "<p><a class=button href=\"%s/login/oidc?next=%s\">Log in at %s</a></p>",
		site->public_url ? site->public_url : "", next, host);
}

void access_draw_login(const struct site *site, struct http_response *response, const char *next, const char *diagnostic)
{
	struct buf *out = &response->body;
	layout_begin(response, "Log in", "", NULL);
	if (diagnostic)
		emit_format(out, "<p class=banner role=alert>%s</p>", diagnostic);
	draw_provider(site, out, next);
	emit_raw(out, "<p class=lead>This dashboard is reachable from other machines, so it requires an access token. "
		      "A user with an admin token creates yours: <code>flopwatch token add NAME --scope trigger</code>.</p>");
	emit_raw(out, "<form method=post action=/login class=filter><input type=hidden name=next value=\"");
	emit_format(out,
		"%s\"><label>Access token <input type=password name=token required autocomplete=current-password></label>"
		" <button>Log in</button></form>",
		next);
	layout_end(response, NULL, 0);
}

int page_login(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)err;
	access_draw_login(site, response, access_next(http_query(r, "next")), NULL);
	return 0;
}

/* With TLS, and under an https public_url, the cookie is Secure: the browser never sends it unencrypted. */
const char *access_secure(const struct site *site)
{
	return site->tls || (site->public_url && strncmp(site->public_url, "https://", 8) == 0) ? "; Secure" : "";
}

static void set_cookie(const struct site *site, const char *value, int64_t age_s, struct http_response *response)
{
	response->cache = "no-store";
	snprintf(response->cookie, sizeof response->cookie, "%s=%s; Path=/; Max-Age=%lld; HttpOnly; SameSite=Strict%s",
		session_cookie, value, (long long)age_s, access_secure(site));
}

/* A session has its own secret, so that the browser does not store the token and a log-out ends only this session. */
int access_open_session(struct site *site, int64_t token, const char *log_out, int64_t session_ms, struct http_response *response,
	struct fw_err *err)
{
	char session[ACCESS_TOKEN_TEXT], hash[HASH_HEX];
	const int64_t now_ms = clock_utc_ms();
	if (access_new_token(session, err) != 0)
		return -1;
	hash_hex(session, strlen(session), hash);
	if (store_session_insert(site->db, hash, token, log_out, now_ms + session_ms, now_ms, err) != 0)
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
		access_draw_login(site, response, next, "Paste your access token.");
		return 0;
	}
	hash_hex(token, strlen(token), hash);
	int found = store_token_find(site->db, hash, clock_utc_ms(), &row, err);
	if (found == 0) {
		response->status = 403;
		access_draw_login(site, response, next, "That token does not exist, was revoked or has expired.");
	} else if (found < 0 || access_open_session(site, row.id, NULL, token_session_ms, response, err) != 0) {
		return -1;
	} else {
		response->status = 303;
		snprintf(response->location, sizeof response->location, "%s", next);
	}
	return 0;
}

/* Append the address of the log-out at the provider; nothing if this session has none. */
static void find_log_out(struct site *site, const char *hash, int64_t token, struct buf *location)
{
	struct fw_err unusable = { 0 };
	struct buf sealed;
	buf_init(&sealed, STORE_REFRESH_MAX);
	if (store_session_log_out(site->db, hash, &sealed, &unusable) != 0 ||
		(sealed.len && site->act->log_out(site->control, token, sealed.data, location, &unusable) != 0)) {
		log_warning("logout", "err=%s", log_quote(unusable.text));
		buf_clear(location);
	}
	buf_fini(&sealed);
}

static int end_session(struct site *site, struct http_request *r, const char *cookie, struct buf *location, struct fw_err *err)
{
	char hash[HASH_HEX];
	bool was_open;
	struct token_row row;
	const int64_t now_ms = clock_utc_ms();
	hash_hex(cookie, strlen(cookie), hash);
	int found = store_session_find(site->db, hash, now_ms, &row, err);
	if (found == 1)
		find_log_out(site, hash, row.id, location);
	if (found < 0 || store_session_end(site->db, hash, &was_open, err) != 0)
		return -1;
	if (was_open) /* an unknown cookie must not end the streams of other clients */
		http_end_streams(r);
	if (found == 0)
		return 0;
	return store_audit_add(site->db, row.name, "/logout", location->len ? 200 : 303, now_ms, err) != 0
		       ? -1
		       : store_account_forget(site->db, now_ms, err);
}

/* A page, not a redirect: browsers apply `form-action 'self'` also to the redirects of a form. */
static void draw_log_out(struct http_response *response, const char *location)
{
	struct buf *out = &response->body;
	response->type = "text/html; charset=utf-8";
	emit_raw(out, "<!doctype html><html lang=en><head><meta charset=utf-8><meta http-equiv=refresh content=\"0; url=");
	emit_attribute(out, location);
	emit_raw(out,
		"\"><title>Logged out</title></head><body><h1>Logged out</h1><p>You are logged out of flopwatch.</p><p><a href=\"");
	emit_attribute(out, location);
	emit_raw(out, "\">Log out at the provider, too</a></p></body></html>\n");
}

int page_logout(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	const char *cookie = http_cookie(r, session_cookie);
	struct buf location;
	buf_init(&location, STORE_REFRESH_MAX);
	int result = cookie ? end_session(site, r, cookie, &location, err) : 0;
	if (result == 0) {
		set_cookie(site, "", 0, response);
		if (location.len) {
			draw_log_out(response, location.data);
		} else {
			response->status = 303;
			snprintf(response->location, sizeof response->location, "/login");
		}
	}
	buf_fini(&location);
	return result;
}

int page_logged_out(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)err;
	bool is_begun_here = site->provider && site->act->is_logged_out(site->control, http_query(r, "state"));
	response->cache = "no-store";
	access_draw_login(site, response, "/", is_begun_here ? "You are logged out here and at the provider." : NULL);
	return 0;
}
