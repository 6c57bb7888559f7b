/* oidc.c - steps of a log-in to an OpenID Connect provider; documented in internal.h. */
#include "send/internal.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FORM_MAX = 1 << 16, BODY_MAX = 1 << 16, URL_MAX = 1024, SUBJECT_MAX = 255, HINT_MAX = 6000 };

/* One log-in request, and the provider's configuration. */
struct log_in {
	const json_t *request;
	json_t *provider;
	int status; /* of the last response; 0: none */
};

static const char *text_of(const json_t *o, const char *name)
{
	const char *text = json_string_value(json_object_get(o, name));
	return text && *text ? text : NULL;
}

/* ---- requests ---------------------------------------------------------------------------------------------------------- */

/* Append "&name=value", encoded; nothing without a value. */
static void put_field(struct buf *form, const char *name, const char *value)
{
	char *encoded = value ? curl_easy_escape(NULL, value, 0) : NULL;
	if (value && !encoded)
		form->failed = true;
	else if (value)
		buf_printf(form, "%s%s=%s", form->len ? "&" : "", name, encoded);
	curl_free(encoded);
}

/* Return the provider's error code if it is one of a closed list; messages repeat no other text of a provider. */
static const char *error_word(const json_t *body)
{
	const char *word = text_of(body, "error");
	return word && strlen(word) < 64 && strspn(word, "abcdefghijklmnopqrstuvwxyz_") == strlen(word) ? word : NULL;
}

/*
 * Request one JSON object. `what`: its name in messages. `form`: body of a POST; NULL: a GET. `authorization`: value of the
 * header; NULL: none. Own: json_decref of *out, which is also set if the provider rejects the request with an object.
 */
static int request(struct log_in *l, const char *what, const char *url, const char *form, const char *authorization, json_t **out,
	struct fw_err *err)
{
	struct buf header, body;
	struct send_answer answer = { 0 };
	struct fw_err why = { 0 };
	char url_text[URL_MAX], accept[] = "Accept: application/json", type[] = "Content-Type: application/x-www-form-urlencoded";
	*out = NULL;
	if ((size_t)snprintf(url_text, sizeof url_text, "%s", url) >= sizeof url_text)
		return err_set(err, ERR_IO, "the provider's address of %s is longer than %d bytes", what, URL_MAX - 1);
	buf_init(&header, FORM_MAX);
	buf_init(&body, BODY_MAX + 1);
	buf_printf(&header, "Authorization: %s", authorization ? authorization : "");
	struct notification n = { .url = url_text,
		.body = (char *)(form ? form : ""),
		.method = form ? "POST" : "GET",
		.header = { accept },
		.n_header = 1,
		.allow_internal = json_is_true(json_object_get(l->request, "allow_internal")),
		.ca_file = (char *)text_of(l->request, "ca_file"),
		.body_out = &body };
	if (form)
		n.header[n.n_header++] = type;
	if (authorization)
		n.header[n.n_header++] = header.data;
	int result = header.failed ? err_set(&why, ERR_IO, "the header does not fit") : send_deliver(&n, &answer, &why);
	l->status = answer.status;
	if (!body.failed)
		*out = json_loadb(body.data, body.len, JSON_REJECT_DUPLICATES, NULL);
	if (result != 0 && answer.status >= 400)
		err_set(err, ERR_IO, "the provider answered %d to the request for %s%s%s", answer.status, what,
			error_word(*out) ? ": " : "", error_word(*out) ? error_word(*out) : "");
	else if (result != 0 && answer.status >= 300)
		err_set(err, ERR_IO, "the provider answered %d to the request for %s; redirects are not followed", answer.status,
			what);
	else if (result != 0 && why.code == ERR_INVALID)
		err_set(err, ERR_IO, "the provider's address of %s is an internal one; set oidc.allow_internal to permit it",
			what);
	else if (result != 0)
		err_set(err, ERR_IO, "the provider did not answer the request for %s: %s", what, why.text);
	else if (!json_is_object(*out))
		result = err_set(err, ERR_IO,
			"the provider's answer to the request for %s is not a JSON object of at most %d bytes", what, BODY_MAX);
	if (header.data)
		explicit_bzero(header.data, header.len);
	if (body.data)
		explicit_bzero(body.data, body.len);
	buf_fini(&header);
	buf_fini(&body);
	return result;
}

/* Return whether an address has the host and port of the issuer. */
static bool is_of_issuer(const char *url, const char *issuer)
{
	const char *host = strstr(issuer, "://");
	size_t len = host ? (size_t)(host - issuer) + 3 + strcspn(host + 3, "/") : 0;
	return len && strncmp(url, issuer, len) == 0 && strchr("/?", url[len]);
}

/*
 * Return an address in the configuration: https://, or http:// at host and port of the issuer if that has http://. NULL with
 * `err`.
 */
static const char *endpoint(const struct log_in *l, const char *name, struct fw_err *err)
{
	const char *url = text_of(l->provider, name), *issuer = text_of(l->request, "issuer");
	bool is_plain = strncmp(issuer, "http://", 7) == 0;
	if (url && (strncmp(url, "https://", 8) == 0 || (is_plain && is_of_issuer(url, issuer))))
		return url;
	if (url && is_plain)
		err_set(err, ERR_IO, "the provider's %s is neither https:// nor on the host and port of oidc.issuer", name);
	else
		err_set(err, ERR_IO, "the provider's description has no %s with %s", name, is_plain ? "http://" : "https://");
	return NULL;
}

static bool is_printable(const char *text)
{
	while (*text > ' ' && *text < 127)
		text++;
	return !*text;
}

static bool lists(const json_t *list, const char *word)
{
	size_t i;
	json_t *one;
	json_array_foreach(list, i, one) if (json_is_string(one) && strcmp(json_string_value(one), word) == 0) return true;
	return false;
}

static int discover(struct log_in *l, struct fw_err *err)
{
	char url[URL_MAX];
	const char *issuer = text_of(l->request, "issuer");
	size_t len = strlen(issuer);
	while (len && issuer[len - 1] == '/')
		len--;
	snprintf(url, sizeof url, "%.*s/.well-known/openid-configuration", (int)len, issuer);
	if (request(l, "its description", url, NULL, NULL, &l->provider, err) != 0)
		return -1;
	const char *name = text_of(l->provider, "issuer");
	if (!name || strcmp(name, issuer) != 0)
		return err_set(err, ERR_IO, "the provider names another issuer than oidc.issuer: %.200s", name ? name : "none");
	const json_t *methods = json_object_get(l->provider, "code_challenge_methods_supported");
	if (methods && !lists(methods, "S256"))
		return err_set(err, ERR_IO, "the provider does not support PKCE with S256");
	return 0;
}

/* ---- checks ------------------------------------------------------------------------------------------------------------ */

static bool is_for(const json_t *claims, const char *client_id)
{
	const json_t *audience = json_object_get(claims, "aud"), *party = json_object_get(claims, "azp");
	if (party && (!json_is_string(party) || strcmp(json_string_value(party), client_id) != 0))
		return false;
	if (json_is_string(audience))
		return strcmp(json_string_value(audience), client_id) == 0;
	return lists(audience, client_id) && (json_array_size(audience) == 1 || party);
}

static bool has(const json_t *claims, const char *name, const char *wanted)
{
	const char *text = text_of(claims, name);
	return text && strcmp(text, wanted) == 0;
}

int oidc_check_claims(const json_t *claims, const struct oidc_expected *expected, struct fw_err *err)
{
	const json_t *ends = json_object_get(claims, "exp"), *begins = json_object_get(claims, "iat");
	const char *subject = text_of(claims, "sub");
	if (!has(claims, "iss", expected->issuer))
		return err_set(err, ERR_INVALID, "the ID token is from another issuer (iss)");
	if (!is_for(claims, expected->client_id))
		return err_set(err, ERR_INVALID, "the ID token is for another client (aud)");
	if (!json_is_number(ends) || json_number_value(ends) <= (double)(expected->now_s - OIDC_SKEW_S))
		return err_set(err, ERR_INVALID, "the ID token has expired (exp); check the clocks of both machines");
	if (json_is_number(begins) && json_number_value(begins) > (double)(expected->now_s + OIDC_SKEW_S))
		return err_set(
			err, ERR_INVALID, "the ID token was issued in the future (iat); check the clocks of both machines");
	if (expected->nonce && !has(claims, "nonce", expected->nonce))
		return err_set(err, ERR_INVALID, "the ID token is of another log-in (nonce)");
	if (!subject || strlen(subject) > SUBJECT_MAX)
		return err_set(err, ERR_INVALID, "the ID token names no user (sub)");
	if (expected->subject && strcmp(subject, expected->subject) != 0)
		return err_set(err, ERR_INVALID, "the ID token is for another user (sub)");
	return 0;
}

/* Exchange a code or a refresh token for tokens. Own: json_decref of *out, which may be set after -1. */
static int get_tokens(struct log_in *l, json_t **out, struct fw_err *err)
{
	const json_t *methods = json_object_get(l->provider, "token_endpoint_auth_methods_supported");
	const char *url = endpoint(l, "token_endpoint", err), *id = text_of(l->request, "client_id"),
		   *secret = text_of(l->request, "client_secret"), *refresh = text_of(l->request, "refresh_token");
	bool is_in_form = methods && !lists(methods, "client_secret_basic") && lists(methods, "client_secret_post");
	struct buf form, pair, header;
	if (!url)
		return -1;
	buf_init(&form, FORM_MAX);
	buf_init(&pair, FORM_MAX);
	buf_init(&header, FORM_MAX);
	put_field(&form, "grant_type", refresh ? "refresh_token" : "authorization_code");
	put_field(&form, "refresh_token", refresh);
	put_field(&form, "code", refresh ? NULL : text_of(l->request, "code"));
	put_field(&form, "redirect_uri", refresh ? NULL : text_of(l->request, "redirect_uri"));
	put_field(&form, "code_verifier", refresh ? NULL : text_of(l->request, "verifier"));
	put_field(&form, "client_id", is_in_form ? id : NULL);
	put_field(&form, "client_secret", is_in_form ? secret : NULL);
	char *id_text = curl_easy_escape(NULL, id, 0), *secret_text = curl_easy_escape(NULL, secret, 0);
	buf_printf(&pair, "%s:%s", id_text ? id_text : "", secret_text ? secret_text : "");
	buf_puts(&header, "Basic ");
	buf_base64(&header, pair.data, pair.len);
	bool is_whole = id_text && secret_text && !form.failed && !pair.failed && !header.failed;
	int result = is_whole ? request(l, "tokens", url, form.data, is_in_form ? NULL : header.data, out, err)
			      : err_set(err, ERR_INVALID, "the request for tokens does not fit");
	curl_free(id_text);
	curl_free(secret_text);
	buf_fini(&form);
	buf_fini(&pair);
	buf_fini(&header);
	return result;
}

/* Own: json_decref of *out, also after -1. */
static int get_keys(struct log_in *l, json_t **out, struct fw_err *err)
{
	const char *url = endpoint(l, "jwks_uri", err);
	*out = NULL;
	return url ? request(l, "its keys", url, NULL, NULL, out, err) : -1;
}

/* Own: json_decref of the claims. */
static json_t *open_id_token(const struct log_in *l, const json_t *tokens, const json_t *jwks, struct fw_err *err)
{
	const char *token = text_of(tokens, "id_token");
	json_t *claims = NULL;
	const struct oidc_expected expected = { .issuer = text_of(l->request, "issuer"),
		.client_id = text_of(l->request, "client_id"),
		.nonce = text_of(l->request, "nonce"),
		.subject = text_of(l->request, "subject"),
		.now_s = (int64_t)time(NULL) };
	if (!token)
		err_set(err, ERR_IO, "the provider sent no ID token; oidc.scopes must contain openid");
	else
		claims = jws_open(token, jwks, err);
	if (!claims || oidc_check_claims(claims, &expected, err) == 0)
		return claims;
	json_decref(claims);
	return NULL;
}

/* ---- the user ---------------------------------------------------------------------------------------------------------- */

/* Find a claim by its name, or by a path such as realm_access.roles. */
static const json_t *find_claim(const json_t *claims, const char *name)
{
	char part[64];
	const json_t *o = json_object_get(claims, name);
	if (o)
		return o;
	for (o = claims; o && *name; name += strspn(name, ".")) {
		size_t len = strcspn(name, ".");
		snprintf(part, sizeof part, "%.*s", (int)len, name);
		o = json_object_get(o, part);
		name += len;
	}
	return o == claims ? NULL : o;
}

static void write_groups(struct jsonw *j, const json_t *groups)
{
	size_t i;
	json_t *one;
	jsonw_kv_array(j, "groups");
	if (json_is_string(groups))
		jsonw_string(j, json_string_value(groups));
	json_array_foreach(groups, i, one) if (json_is_string(one)) jsonw_string(j, json_string_value(one));
	jsonw_array_end(j);
}

/*
 * Request the user's claims (userinfo). They are not signed, so they must be of the user of the ID token. Own: json_decref; NULL:
 * none.
 */
static int get_userinfo(struct log_in *l, const json_t *tokens, const char *subject, json_t **out, struct fw_err *err)
{
	const char *access = text_of(tokens, "access_token");
	const char *url = text_of(l->provider, "userinfo_endpoint") ? endpoint(l, "userinfo_endpoint", err) : NULL;
	struct buf header;
	*out = NULL;
	if (!text_of(l->provider, "userinfo_endpoint") || !access)
		return 0;
	if (!url)
		return -1;
	buf_init(&header, FORM_MAX);
	buf_printf(&header, "Bearer %s", access);
	int result = strpbrk(access, "\r\n") ? err_set(err, ERR_IO, "the provider sent an access token of more than one line")
					     : request(l, "the user's claims", url, NULL, header.data, out, err);
	buf_fini(&header);
	if (result == 0 && !has(*out, "sub", subject))
		result = err_set(err, ERR_IO, "the provider's answer to the request for the user's claims is for another user");
	return result;
}

/* Return the first of these claims that is a text. */
static const char *find_name(const json_t *claims, const json_t *info)
{
	static const char *const names[] = { "preferred_username", "email", "sub" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *text = text_of(claims, names[i]);
		if (!text)
			text = text_of(info, names[i]);
		if (text)
			return text;
	}
	return "";
}

/*
 * Write the data for a log-out at the provider, if it supports that: the browser opens `end_session_endpoint` with the ID token,
 * which is omitted if it is too long for an address.
 */
static void write_log_out(struct log_in *l, const json_t *tokens, struct jsonw *j)
{
	struct fw_err unusable = { 0 };
	const char *url = text_of(l->provider, "end_session_endpoint") ? endpoint(l, "end_session_endpoint", &unusable) : NULL;
	const char *token = text_of(tokens, "id_token");
	if (!url || !is_printable(url))
		return;
	jsonw_kv_string(j, "end_session_endpoint", url);
	if (token && strlen(token) <= HINT_MAX)
		jsonw_kv_string(j, "id_token", token);
}

static int write_user(struct log_in *l, const json_t *tokens, const json_t *claims, struct buf *out, struct fw_err *err)
{
	const char *claim = text_of(l->request, "groups_claim"), *subject = text_of(claims, "sub"),
		   *refresh = text_of(tokens, "refresh_token");
	const json_t *groups = find_claim(claims, claim ? claim : "groups");
	json_t *info = NULL;
	struct jsonw j;
	if (text_of(tokens, "id_token") && (!groups || !text_of(claims, "preferred_username"))) {
		if (get_userinfo(l, tokens, subject, &info, err) != 0) {
			json_decref(info);
			return -1;
		}
		groups = groups ? groups : find_claim(info, claim ? claim : "groups");
	}
	jsonw_init(&j, out);
	jsonw_object(&j);
	jsonw_kv_string(&j, "subject", subject);
	jsonw_kv_string(&j, "name", find_name(claims, info));
	write_groups(&j, groups);
	if (refresh || text_of(l->request, "refresh_token")) /* a provider may keep the old one valid */
		jsonw_kv_string(&j, "refresh_token", refresh ? refresh : text_of(l->request, "refresh_token"));
	if (!text_of(l->request, "refresh_token"))
		write_log_out(l, tokens, &j);
	jsonw_object_end(&j);
	json_decref(info);
	return out->failed ? err_set(err, ERR_IO, "the provider sent too many groups") : 0;
}

/* Get the claims of the ID token. A response to a refresh may have none: then those of userinfo. Own: as get_userinfo. */
static int get_claims(struct log_in *l, const json_t *tokens, const json_t *jwks, json_t **out, struct fw_err *err)
{
	const char *subject = text_of(l->request, "subject");
	if (text_of(tokens, "id_token") || !text_of(l->request, "refresh_token")) {
		*out = open_id_token(l, tokens, jwks, err);
		return *out ? 0 : -1;
	}
	if (get_userinfo(l, tokens, subject, out, err) != 0)
		return -1;
	return *out ? 0 : err_set(err, ERR_IO, "the provider sent neither an ID token nor the user's claims");
}

/* Return whether the provider rejects the code or token permanently, so that a retry cannot succeed. */
static bool is_refusal(const struct log_in *l, const json_t *answer)
{
	static const char *const words[] = { "invalid_grant", "interaction_required", "login_required", "consent_required",
		"access_denied", "unauthorized_client", "invalid_client" };
	const char *word = error_word(answer);
	size_t n = text_of(l->request, "refresh_token") ? sizeof words / sizeof words[0] : 1; /* for a code only the first word */
	for (size_t i = 0; word && i < n; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

/*
 * Write the result of a failed request: whether the provider answered, and a new refresh token, since the old one is then
 * invalid.
 */
static void write_failure(const json_t *tokens, bool is_answered, struct buf *out)
{
	struct jsonw j;
	buf_clear(out);
	jsonw_init(&j, out);
	jsonw_object(&j);
	if (text_of(tokens, "refresh_token"))
		jsonw_kv_string(&j, "refresh_token", text_of(tokens, "refresh_token"));
	jsonw_kv_bool(&j, "answered", is_answered);
	jsonw_object_end(&j);
}

/* Request the keys before the tokens: after the response with tokens no failure may lose a new refresh token. */
static int get_user(struct log_in *l, struct buf *out, struct fw_err *err)
{
	json_t *tokens = NULL, *claims = NULL, *jwks = NULL;
	bool is_answered = false;
	int result = get_keys(l, &jwks, err);
	if (result == 0) {
		result = get_tokens(l, &tokens, err);
		is_answered = l->status >= 200 && l->status < 500 && l->status != 408 && l->status != 429;
		if (result != 0 && is_refusal(l, tokens)) {
			buf_puts(out, "{\"refused\":true}");
		} else {
			result = result == 0 && get_claims(l, tokens, jwks, &claims, err) == 0
					 ? write_user(l, tokens, claims, out, err)
					 : -1;
			if (result != 0)
				write_failure(tokens, is_answered, out);
		}
	}
	json_decref(jwks);
	json_decref(tokens);
	json_decref(claims);
	if (result != 0 && err->code == ERR_INVALID)
		err->code = ERR_IO; /* the provider caused it, not the caller */
	return result;
}

static int begin(struct log_in *l, struct buf *out, struct fw_err *err)
{
	struct jsonw j;
	const char *url = endpoint(l, "authorization_endpoint", err);
	if (!url)
		return -1;
	jsonw_init(&j, out);
	jsonw_object(&j);
	jsonw_kv_string(&j, "authorization_endpoint", url);
	jsonw_object_end(&j);
	return 0;
}

static int perform(struct log_in *l, struct buf *out, struct fw_err *err)
{
	static const struct {
		const char *step, *key[4];
	} steps[] = { { "begin", { NULL } }, { "code", { "code", "verifier", "redirect_uri", "nonce" } },
		{ "refresh", { "refresh_token", "subject" } } };
	const char *step = text_of(l->request, "step");
	size_t at = 0;
	while (at < sizeof steps / sizeof steps[0] && (!step || strcmp(steps[at].step, step) != 0))
		at++;
	if (at == sizeof steps / sizeof steps[0])
		return err_set(err, ERR_INVALID, "log-in: step must be begin, code or refresh");
	for (int i = 0; i < 4 && steps[at].key[i]; i++)
		if (!text_of(l->request, steps[at].key[i]))
			return err_set(err, ERR_INVALID, "log-in: %s must be text", steps[at].key[i]);
	if (!text_of(l->request, "issuer") || !text_of(l->request, "client_id") || !text_of(l->request, "client_secret"))
		return err_set(err, ERR_INVALID, "log-in: issuer, client_id and client_secret must be texts");
	if (discover(l, err) != 0)
		return -1;
	return at == 0 ? begin(l, out, err) : get_user(l, out, err);
}

int oidc_perform(const char *text, size_t len, struct buf *out, struct fw_err *err)
{
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	struct log_in l = { .request = root };
	int result = json_is_object(root) ? perform(&l, out, err) : err_set(err, ERR_INVALID, "log-in: not an object");
	json_decref(l.provider);
	json_decref(root);
	return result;
}
