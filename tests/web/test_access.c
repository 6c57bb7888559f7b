/* access.c: who may do what under `access: token`, by token or by a browser's session, and what of it is recorded. */
#include "site_run.h"

#define FORM  "Content-Type: application/x-www-form-urlencoded\r\n"
#define DAY_S (24 * 3600)

static char token[4][ACCESS_TOKEN_TEXT]; /* by enum token_scope */

static int setup(void **state)
{
	static const char *const scope[] = { "", "read", "trigger", "admin" };
	if (run_setup(state) != 0)
		return -1;
	struct run *run = *state;
	run->site.needs_token = true;
	for (int i = TOKEN_READ; i <= TOKEN_ADMIN; i++) {
		char hash[HASH_HEX], name[32];
		ok(access_new_token(token[i], &err));
		hash_hex(token[i], strlen(token[i]), hash);
		snprintf(name, sizeof name, "mine-%s", scope[i]);
		const struct token_new row = { .name = name, .hash = hash, .scope = scope[i], .made_by = "tests" };
		ok(store_token_insert(run->f->db, &row, clock_utc_ms(), &err));
	}
	return 0;
}

/* Headers with a token. Own: a static buffer. */
static const char *bearer(const char *value)
{
	static char line[256];
	snprintf(line, sizeof line, "Authorization: Bearer %s\r\n", value);
	return line;
}

static int status_of(struct answer a)
{
	int status = a.status;
	answer_free(&a);
	return status;
}

static int get_with(struct run *run, const char *path, const char *headers)
{
	return status_of(request_with(run, "GET", path, headers, NULL, 0));
}

static void note_audit(void *arg, const struct view_audit *row)
{
	struct buf *out = arg;
	buf_printf(out, "%s %s %d\n", row->who, row->path, row->status);
}

/* The requests that were recorded are these, newest first. */
static void audit_is(struct run *run, const char *wanted)
{
	struct buf found;
	buf_init(&found, 4096);
	ok(view_audits(run->f->db, INT64_MAX, 100, note_audit, &found, &err));
	assert_string_equal(found.len ? found.data : "", wanted);
	buf_fini(&found);
}

static void tokens_are_random_and_stored_as_hashes(void **state)
{
	struct run *run = *state;
	for (int i = TOKEN_READ; i <= TOKEN_ADMIN; i++) {
		assert_int_equal(strlen(token[i]), 4 + 64);
		assert_memory_equal(token[i], "fwt_", 4);
		assert_int_equal(strspn(token[i] + 4, "0123456789abcdef"), 64);
		assert_string_not_equal(token[i], token[i % TOKEN_ADMIN + 1]);
	}
	assert_int_equal(fixture_number(run->f, "SELECT count(*) FROM token WHERE hash LIKE 'fwt%'"), 0);
}

static void each_scope_includes_the_ones_below(void **state)
{
	static const struct {
		const char *method, *path, *needs;
		enum token_scope scope;
	} row[] = {
		{ "GET", "/api/v1/repos", "read", TOKEN_READ },
		{ "GET", "/metrics", "read", TOKEN_READ },
		{ "GET", "/alerts", "read", TOKEN_READ },
		{ "POST", "/api/v1/jobs/3/cancel", "trigger", TOKEN_TRIGGER },
		{ "GET", "/api/v1/tokens", "admin", TOKEN_ADMIN },
		{ "POST", "/api/v1/devices/sim-0/pause", "admin", TOKEN_ADMIN },
	};
	struct run *run = *state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		for (int has = TOKEN_READ; has <= TOKEN_ADMIN; has++) {
			bool is_post = strcmp(row[i].method, "POST") == 0;
			run->requested.what[0] = '\0';
			struct answer a =
				request_with(run, row[i].method, row[i].path, bearer(token[has]), is_post ? "" : NULL, 0);
			if (has >= (int)row[i].scope) {
				assert_int_equal(a.status, 200);
				answer_free(&a);
				assert_true(!is_post || run->requested.what[0]);
				continue;
			}
			char says[128];
			snprintf(says, sizeof says, "has scope %s; this needs %s", has == TOKEN_READ ? "read" : "trigger",
				row[i].needs);
			assert_problem(a, 403, says);
			assert_string_equal(run->requested.what, "");
		}
}

static void without_a_token(void **state)
{
	static const char *const wrong[] = { "", "Authorization: Bearer fwt_0\r\n", "Authorization: Basic YTpi\r\n",
		"Authorization: Bearer\r\n", "Cookie: flopwatch_session=fwt_0\r\n", "Cookie: flopwatch_session=\r\n" };
	struct run *run = *state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct answer a = request_with(run, "GET", "/api/v1/repos", wrong[i], NULL, 0);
		assert_string_equal(header_of(&a, "WWW-Authenticate"), "Bearer realm=\"flopwatch\"");
		assert_problem(a, 401, "flopwatch token add");
		assert_problem(request_with(run, "GET", "/metrics", wrong[i], NULL, 0), 401, "flopwatch token add");
		assert_problem(request_with(run, "POST", "/api/v1/devices/sim-0/pause", wrong[i], "", 0), 401, "token");
		for (int k = 0; k < 2; k++) { /* a page leads to the log-in */
			a = request_with(run, "GET", k ? "/api" : "/alerts", wrong[i], NULL, 0);
			assert_int_equal(a.status, 303);
			assert_string_equal(header_of(&a, "Location"), k ? "/login?next=/api" : "/login?next=/alerts");
			answer_free(&a);
		}
		assert_int_equal(get_with(run, "/healthz", wrong[i]), 200);
		assert_int_equal(get_with(run, "/login", wrong[i]), 200);
	}
	assert_string_equal(run->requested.what, "");
	audit_is(run, "");
	/* the scheme has no case, and a header counts before a cookie */
	char headers[512];
	snprintf(headers, sizeof headers, "authorization: bEARER %s\r\n", token[TOKEN_READ]);
	assert_int_equal(get_with(run, "/api/v1/repos", headers), 200);
	run->site.needs_token = false;
	struct answer a = get(run, "/api/v1/repos");
	assert_int_equal(a.status, 200);
	assert_string_equal(header_of(&a, "Cache-Control"), "no-cache");
	answer_free(&a);
}

static void answers_are_the_users_own(void **state)
{
	struct run *run = *state;
	struct answer a = request_with(run, "GET", "/alerts", bearer(token[TOKEN_READ]), NULL, 0);
	assert_string_equal(header_of(&a, "Cache-Control"), "private, no-cache");
	assert_non_null(strstr(header_of(&a, "Vary"), "Authorization, Cookie"));
	assert_non_null(strstr(a.body, "action=/logout"));
	answer_free(&a);
	a = get(run, "/login");
	assert_null(strstr(a.body, "action=/logout"));
	answer_free(&a);
}

static void expired_and_revoked(void **state)
{
	struct run *run = *state;
	int64_t now_ms = clock_utc_ms();
	char hash[HASH_HEX];
	hash_hex("fwt_old", 7, hash);
	const struct token_new old = {
		.name = "old", .hash = hash, .scope = "admin", .made_by = "tests", .expires_at = now_ms - 1
	};
	ok(store_token_insert(run->f->db, &old, now_ms - 1000, &err));
	assert_int_equal(get_with(run, "/api/v1/repos", bearer("fwt_old")), 401);
	assert_int_equal(get_with(run, "/api/v1/repos", bearer(token[TOKEN_READ])), 200);
	struct answer a = request_with(run, "POST", "/api/v1/tokens/mine-read/revoke", bearer(token[TOKEN_ADMIN]), "", 0);
	assert_int_equal(a.status, 200);
	json_t *root = json_of(&a);
	assert_string_equal(text_at(root, "name"), "mine-read");
	assert_true(json_is_true(json_object_get(root, "revoked")));
	json_decref(root);
	assert_int_equal(get_with(run, "/api/v1/repos", bearer(token[TOKEN_READ])), 401);
	assert_problem(request_with(run, "POST", "/api/v1/tokens/mine-read/revoke", bearer(token[TOKEN_ADMIN]), "", 0), 404,
		"mine-read");
}

static void writes_are_recorded(void **state)
{
	struct run *run = *state;
	assert_int_equal(get_with(run, "/api/v1/tokens", bearer(token[TOKEN_ADMIN])), 200);
	audit_is(run, ""); /* reading is not */
	struct answer a = request_with(run, "POST", "/api/v1/jobs/3/cancel", bearer(token[TOKEN_TRIGGER]), "", 0);
	assert_int_equal(status_of(a), 200);
	assert_string_equal(run->requested.what, "cancel 3 mine-trigger\n");
	run->requested.refuse = (struct fw_err){ .code = ERR_CONFLICT, .text = "done" };
	a = request_with(run, "POST", "/api/v1/jobs/3/cancel", bearer(token[TOKEN_ADMIN]), "", 0);
	assert_int_equal(status_of(a), 409);
	run->requested.refuse.code = ERR_NONE;
	a = request_with(run, "POST", "/api/v1/jobs/3/cancel", bearer(token[TOKEN_READ]), "", 0);
	assert_int_equal(status_of(a), 403);
	audit_is(run, "mine-admin /api/v1/jobs/3/cancel 409\nmine-trigger /api/v1/jobs/3/cancel 200\n");
}

/* Log in by a token; returns the value of the session's cookie. Own: a static buffer. */
static const char *log_in(struct run *run, const char *with, const char *flags)
{
	static char session[ACCESS_TOKEN_TEXT];
	char form[256], wanted[256];
	int len = snprintf(form, sizeof form, "token=%s&next=/alerts", with);
	struct answer a = request_with(run, "POST", "/login", FORM, form, (size_t)len);
	assert_int_equal(a.status, 303);
	assert_string_equal(header_of(&a, "Location"), "/alerts");
	assert_string_equal(header_of(&a, "Cache-Control"), "no-store");
	const char *cookie = header_of(&a, "Set-Cookie");
	assert_int_equal(sscanf(cookie, "flopwatch_session=%68[^;]", session), 1);
	snprintf(wanted, sizeof wanted, "flopwatch_session=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s", session,
		ACCESS_SESSION_DAYS * DAY_S, flags);
	assert_string_equal(cookie, wanted);
	assert_string_not_equal(session, with);
	answer_free(&a);
	return session;
}

static const char *cookie_of(const char *session)
{
	static char line[256];
	snprintf(line, sizeof line, "Cookie: flopwatch_session=%s\r\n", session);
	return line;
}

static void a_browser_logs_in_and_out(void **state)
{
	struct run *run = *state;
	char headers[512], session[ACCESS_TOKEN_TEXT];
	snprintf(session, sizeof session, "%s", log_in(run, token[TOKEN_TRIGGER], ""));
	assert_int_equal(get_with(run, "/alerts", cookie_of(session)), 200);
	assert_int_equal(get_with(run, "/api/v1/tokens", cookie_of(session)), 403); /* with the scope of its token */
	assert_int_equal(get_with(run, "/api/v1/repos", bearer(session)), 401);     /* a session is no token */
	assert_int_equal(get_with(run, "/api/v1/repos", cookie_of(token[TOKEN_READ])), 401);
	snprintf(headers, sizeof headers, "%sAuthorization: Bearer fwt_0\r\n", cookie_of(session));
	assert_int_equal(get_with(run, "/api/v1/repos", headers), 401); /* a wrong token counts, not the cookie */
	int64_t left_ms = fixture_number(run->f, "SELECT expires_at FROM session") - clock_utc_ms();
	assert_in_range(
		left_ms, ACCESS_SESSION_DAYS * DAY_S * INT64_C(1000) - 120000, ACCESS_SESSION_DAYS * DAY_S * INT64_C(1000));
	/* others cannot end it */
	assert_int_equal(status_of(request_with(run, "POST", "/logout", "", "", 0)), 303);
	assert_int_equal(status_of(request_with(run, "POST", "/logout", cookie_of("fwt_0"), "", 0)), 303);
	audit_is(run, "");
	assert_int_equal(get_with(run, "/alerts", cookie_of(session)), 200);
	struct answer a = request_with(run, "POST", "/logout", cookie_of(session), "", 0);
	assert_int_equal(a.status, 303);
	assert_string_equal(header_of(&a, "Location"), "/login");
	assert_string_equal(header_of(&a, "Set-Cookie"), "flopwatch_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
	answer_free(&a);
	audit_is(run, "mine-trigger /logout 303\n");
	assert_int_equal(get_with(run, "/alerts", cookie_of(session)), 303);
	/* where browsers come encrypted, the cookie is Secure */
	run->site.public_url = "https://watch.example.org";
	log_in(run, token[TOKEN_READ], "; Secure");
	run->site.public_url = "http://watch.example.org";
	log_in(run, token[TOKEN_READ], "");
	run->site.tls = &(struct http_tls){ 0 };
	log_in(run, token[TOKEN_READ], "; Secure");
}

static void a_log_in_that_fails(void **state)
{
	static const struct {
		const char *form, *says;
		int status;
	} wrong[] = {
		{ "", "Paste your access token", 400 },
		{ "token=&next=/alerts", "Paste your access token", 400 },
		{ "token=fwt_0&next=/alerts", "does not exist, was revoked or has expired", 403 },
	};
	static const char *const elsewhere[] = { "//evil.example", "https://evil.example", "evil", "/..", "/a b", "" };
	struct run *run = *state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct answer a = request_with(run, "POST", "/login", FORM, wrong[i].form, strlen(wrong[i].form));
		assert_int_equal(a.status, wrong[i].status);
		assert_non_null(strstr(a.body, wrong[i].says));
		assert_string_equal(header_of(&a, "Set-Cookie"), "");
		answer_free(&a);
	}
	assert_int_equal(fixture_number(run->f, "SELECT count(*) FROM session"), 0);
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) /* it leads to a page of this site only */
		assert_string_equal(access_next(elsewhere[i]), "/");
	assert_string_equal(access_next(NULL), "/");
	assert_string_equal(access_next("/alerts"), "/alerts");
}

static void the_log_in_page_names_the_provider(void **state)
{
	struct run *run = *state;
	struct answer a = get(run, "/login?next=/alerts");
	assert_int_equal(a.status, 200);
	assert_null(strstr(a.body, "Log in at"));
	assert_non_null(strstr(a.body, "name=next value=\"/alerts\""));
	answer_free(&a);
	run->site.provider = "https://id.example.org/realms/team";
	a = get(run, "/login?next=/alerts");
	assert_non_null(strstr(a.body, "href=\"/login/oidc?next=%2Falerts\">Log in at id.example.org</a>"));
	answer_free(&a);
	run->site.public_url = "https://watch.example.org";
	a = get(run, "/login");
	assert_non_null(strstr(a.body, "href=\"https://watch.example.org/login/oidc?next=%2F\">Log in at id.example.org</a>"));
	answer_free(&a);
}

static struct answer make_token(struct run *run, const char *scope_of_maker, const char *body)
{
	char headers[512];
	snprintf(headers, sizeof headers, "%sContent-Type: application/json\r\n", bearer(scope_of_maker));
	return request_with(run, "POST", "/api/v1/tokens", headers, body, strlen(body));
}

static void tokens_are_made_by_an_admin(void **state)
{
	static const struct {
		const char *body, *says;
	} wrong[] = {
		{ "{\"scope\":\"read\"}", "name must be 1 to 63 letters" },
		{ "{\"name\":\"\",\"scope\":\"read\"}", "name must be 1 to 63 letters" },
		{ "{\"name\":\"a b\",\"scope\":\"read\"}", "name must be 1 to 63 letters" },
		{ "{\"name\":\"a~b\",\"scope\":\"read\"}", "name must be 1 to 63 letters" }, /* a name of a provider's user */
		{ "{\"name\":\"0123456789012345678901234567890123456789012345678901234567890123\",\"scope\":\"read\"}",
			"name must be 1 to 63 letters" },
		{ "{\"name\":\"a\"}", "scope must be read, trigger or admin" },
		{ "{\"name\":\"a\",\"scope\":\"root\"}", "scope must be read, trigger or admin" },
		{ "{\"name\":\"a\",\"scope\":\"read\",\"expires\":\"yesterday\"}", "expires must be a future time" },
		{ "{\"name\":\"a\",\"scope\":\"read\",\"expires\":\"2001-01-01\"}", "expires must be a future time" },
		{ "{\"name\":\"a\",\"scope\":\"read\",\"for\":\"1d\"}", "key for is unknown" },
	};
	struct run *run = *state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_problem(make_token(run, token[TOKEN_ADMIN], wrong[i].body), 400, wrong[i].says);
	assert_problem(make_token(run, token[TOKEN_TRIGGER], "{\"name\":\"a\",\"scope\":\"read\"}"), 403, "needs admin");
	assert_int_equal(fixture_number(run->f, "SELECT count(*) FROM token"), 3);
	struct answer a = make_token(run, token[TOKEN_ADMIN],
		"{\"name\":\"012345678901234567890123456789012345678901234567890123456789012\",\"scope\":\"read\"}");
	assert_int_equal(status_of(a), 201);
	a = make_token(run, token[TOKEN_ADMIN], "{\"name\":\"CI-1_a.b\",\"scope\":\"trigger\",\"expires\":\"2d\"}");
	assert_int_equal(a.status, 201);
	assert_string_equal(header_of(&a, "Cache-Control"), "no-store");
	json_t *root = json_of(&a);
	assert_string_equal(text_at(root, "name"), "CI-1_a.b");
	assert_string_equal(text_at(root, "scope"), "trigger");
	assert_int_equal(get_with(run, "/api/v1/repos", bearer(text_at(root, "token"))), 200);
	assert_int_equal(get_with(run, "/api/v1/tokens", bearer(text_at(root, "token"))), 403);
	json_decref(root);
	int64_t left_ms =
		fixture_number(run->f, "SELECT expires_at FROM token WHERE name = 'CI-1_a.b' AND made_by = 'mine-admin'") -
		clock_utc_ms();
	assert_in_range(left_ms, 2 * DAY_S * INT64_C(1000) - 120000, 2 * DAY_S * INT64_C(1000));
	a = make_token(run, token[TOKEN_ADMIN], "{\"name\":\"later\",\"scope\":\"read\",\"expires\":\"2999-01-31\"}");
	assert_int_equal(status_of(a), 201);
	assert_int_equal(fixture_number(run->f, "SELECT expires_at FROM token WHERE name = 'later'"), INT64_C(32474736000000));
	a = make_token(run, token[TOKEN_ADMIN], "{\"name\":\"never\",\"scope\":\"read\",\"expires\":\"\"}");
	assert_int_equal(status_of(a), 201);
	assert_int_equal(fixture_number(run->f, "SELECT expires_at FROM token WHERE name = 'never'"), 0);
	assert_problem(make_token(run, token[TOKEN_ADMIN], "{\"name\":\"never\",\"scope\":\"read\"}"), 409, "exists");
	/* an answer with a secret is not stored for a repetition */
	char headers[512];
	snprintf(headers, sizeof headers, "%sContent-Type: application/json\r\nIdempotency-Key: 1\r\n",
		bearer(token[TOKEN_ADMIN]));
	static const char body[] = "{\"name\":\"b\",\"scope\":\"read\"}";
	assert_problem(request_with(run, "POST", "/api/v1/tokens", headers, body, sizeof body - 1), 400, "no Idempotency-Key");
	run->site.needs_token = false; /* requests are anonymous: no one is responsible for a new token */
	assert_problem(make_token(run, "x", body), 409, "no token can be created");
	assert_int_equal(fixture_number(run->f, "SELECT count(*) FROM token WHERE name = 'b'"), 0);
}

#define ACCESS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, run_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ACCESS_TEST(tokens_are_random_and_stored_as_hashes),
		ACCESS_TEST(each_scope_includes_the_ones_below),
		ACCESS_TEST(without_a_token),
		ACCESS_TEST(answers_are_the_users_own),
		ACCESS_TEST(expired_and_revoked),
		ACCESS_TEST(writes_are_recorded),
		ACCESS_TEST(a_browser_logs_in_and_out),
		ACCESS_TEST(a_log_in_that_fails),
		ACCESS_TEST(the_log_in_page_names_the_provider),
		ACCESS_TEST(tokens_are_made_by_an_admin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
