/* login.c - the log-in by an OpenID Connect provider: GET /login/oidc sends the browser there, and it returns to the callback. */
#include "web/answer/answer.h"

#include "web/html/html.h"

static const char login_cookie[] = "flopwatch_login";

/* The status of a failed log-in, on the page where it can be repeated. */
static int draw_failure(struct site *site, struct http_response *response, const char *next, const struct fw_err *err)
{
	char text[sizeof err->text + 32];
	response->status = err->code == ERR_INVALID ? 400 : err->code == ERR_CONFLICT ? 403 : err->code == ERR_BUSY ? 503 : 502;
	response->cache = "no-store";
	snprintf(text, sizeof text, "The log-in failed: %s.", err->text);
	access_draw_login(site, response, next, text);
	return 0;
}

static int addressed(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct site_login login;
	struct fw_err why = { 0 };
	(void)err;
	if (!response) {
		site->act->login_finish(site->control, r);
		return 0;
	}
	const char *next = access_next(http_query(r, "next"));
	int state = site->act->login_address(site->control, r, next, &login, &why);
	if (state > 0) {
		response->later = addressed;
		return 0;
	}
	site->act->login_finish(site->control, r);
	if (state < 0)
		return draw_failure(site, response, next, &why);
	/* Lax: the browser sends it when the provider sends it back */
	snprintf(response->cookie, sizeof response->cookie, "%s=%s; Path=/login/oidc; Max-Age=600; HttpOnly; SameSite=Lax%s",
		login_cookie, login.cookie, access_secure(site));
	snprintf(response->location, sizeof response->location, "%s", login.location);
	response->cache = "no-store";
	response->status = 303;
	return 0;
}

int page_login_oidc(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct fw_err why = { 0 };
	char client[HTTP_CLIENT_MAX];
	if (!site->provider)
		return answer_problem(r, response, 404, "the configuration has no `oidc`");
	if (!http_count_log_in(r, client))
		return answer_problem(r, response, 429, NULL);
	if (site->act->login_begin(site->control, r, client, &why) != 0)
		return draw_failure(site, response, access_next(http_query(r, "next")), &why);
	return addressed(site, r, response, err);
}

/*
 * The session's cookie is SameSite=Strict: a browser does not send it along a redirect that began at the provider, but along one
 * from a page of this server.
 */
static void draw_entry(struct http_response *response, const struct site_user *user)
{
	struct buf *out = &response->body;
	response->type = "text/html; charset=utf-8";
	emit_format(out,
		"<!doctype html><html lang=en><head><meta charset=utf-8><meta http-equiv=refresh content=\"0; url=%-s\">"
		"<title>Logged in</title></head><body><h1>Logged in</h1>",
		user->next); /* a plain path: access_next */
	emit_format(out, "<p>You are logged in as %s, with scope %s.</p>", user->name, user->scope);
	emit_format(out, "<p><a href=\"%s\">Continue</a></p></body></html>\n", user->next);
}

/* A log-in whose user the provider named. The name of a user who is not logged in may be that of another one. */
static void record(struct site *site, const struct http_request *r, const struct site_user *user, int status)
{
	struct fw_err err = { 0 };
	const char *who = status == 200 ? user->name : "oidc";
	if (user->is_named && store_audit_add(site->db, who, http_path(r), status, clock_utc_ms(), &err) != 0)
		log_warning("audit", "path=%s who=%s err=%s", http_path(r), who, log_quote(err.text));
}

static int exchanged(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct site_user user = { .next = "/" };
	struct fw_err why = { 0 };
	if (!response) {
		site->act->login_finish(site->control, r);
		return 0;
	}
	int state = site->act->login_user(site->control, r, &user, &why);
	if (state > 0) {
		response->later = exchanged;
		return 0;
	}
	int result = 0;
	if (state < 0)
		(void)draw_failure(site, response, user.next[0] ? user.next : "/", &why);
	else if ((result = access_open_session(site, user.token, user.log_out, user.session_ms, response, err)) == 0)
		draw_entry(response, &user);
	site->act->login_finish(site->control, r);
	record(site, r, &user, result != 0 ? 500 : response->status);
	return result;
}

int page_login_callback(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct fw_err why = { 0 };
	char client[HTTP_CLIENT_MAX];
	const struct site_code code = { .code = http_query(r, "code"),
		.state = http_query(r, "state"),
		.issuer = http_query(r, "iss"),
		.error = http_query(r, "error"),
		.cookie = http_cookie(r, login_cookie),
		.client = client };
	if (!site->provider)
		return answer_problem(r, response, 404, "the configuration has no `oidc`");
	if (!http_count_log_in(r, client))
		return answer_problem(r, response, 429, NULL);
	if (site->act->login_code(site->control, r, &code, &why) != 0)
		return draw_failure(site, response, "/", &why);
	return exchanged(site, r, response, err);
}
