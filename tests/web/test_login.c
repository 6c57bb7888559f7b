/* login.c: what a browser gets in each step of a log-in at a provider, whose side of it the daemon's calls report here. */
#include "site_run.h"

#define CALLBACK "/login/oidc/callback"

/* The answers of the daemon's calls. */
static struct {
	int waits; /* calls of login_address or login_user that are not done yet */
	struct site_user user;
	enum err_code begin, address, code, exchange, log_out; /* set: that call fails */
} given;

static int refuse(enum err_code code, struct fw_err *e)
{
	return code ? err_set(e, code, "the <provider> says no") : 0;
}

static int begin(struct control *c, const void *request, const char *client, struct fw_err *e)
{
	(void)request;
	note(c, e, "begin %s\n", or_dash(client));
	return refuse(given.begin, e);
}

static int address(struct control *c, const void *request, const char *next, struct site_login *out, struct fw_err *e)
{
	(void)request;
	note(c, e, "address %s\n", next);
	if (given.waits-- > 0)
		return 1;
	snprintf(out->location, sizeof out->location, "https://id.example.org/authorize?state=s");
	snprintf(out->cookie, sizeof out->cookie, "secret-of-this-log-in");
	return refuse(given.address, e);
}

static int code(struct control *c, const void *request, const struct site_code *q, struct fw_err *e)
{
	(void)request;
	note(c, e, "code %s %s %s %s %s %s\n", or_dash(q->code), or_dash(q->state), or_dash(q->issuer), or_dash(q->error),
		or_dash(q->cookie), or_dash(q->client));
	return refuse(given.code, e);
}

static int user(struct control *c, const void *request, struct site_user *out, struct fw_err *e)
{
	(void)request;
	note(c, e, "user\n");
	if (given.waits-- > 0)
		return 1;
	*out = given.user;
	return refuse(given.exchange, e);
}

static void over(struct control *c, const void *request)
{
	(void)request;
	note(c, NULL, "over\n");
}

static int log_out(struct control *c, int64_t token, const char *sealed, struct buf *location, struct fw_err *e)
{
	note(c, e, "log_out %lld %s\n", (long long)token, sealed);
	buf_puts(location, "https://id.example.org/end?hint=h&state=\"s\"");
	return refuse(given.log_out, e);
}

static bool is_logged_out(struct control *c, const char *state)
{
	note(c, NULL, "is_logged_out %s\n", or_dash(state));
	return state && strcmp(state, "ours") == 0;
}

static int setup(void **state)
{
	static struct site_actions with_provider;
	if (run_setup(state) != 0)
		return -1;
	struct run *run = *state;
	with_provider = actions;
	with_provider.login_begin = begin;
	with_provider.login_address = address;
	with_provider.login_code = code;
	with_provider.login_user = user;
	with_provider.login_finish = over;
	with_provider.log_out = log_out;
	with_provider.is_logged_out = is_logged_out;
	run->site.act = &with_provider;
	run->site.needs_token = true;
	run->site.provider = "https://id.example.org/team";
	memset(&given, 0, sizeof given);
	const struct token_new row = { .name = "oidc~ann", .hash = "nobody has it", .scope = "trigger", .made_by = "tests" };
	ok(store_token_insert(run->f->db, &row, clock_utc_ms(), &err));
	given.user = (struct site_user){ .token = fixture_number(run->f, "SELECT id FROM token"),
		.name = "oidc~ann",
		.scope = "trigger",
		.is_named = true,
		.session_ms = 3600 * 1000,
		.next = "/alerts" };
	return 0;
}

static struct answer get_with(struct run *run, const char *path, const char *headers)
{
	return request_with(run, "GET", path, headers, NULL, 0);
}

static void calls_are(struct run *run, const char *wanted)
{
	assert_string_equal(run->requested.what, wanted);
	run->requested.what[0] = '\0';
}

static void note_audit(void *arg, const struct view_audit *row)
{
	buf_printf(arg, "%s %s %d\n", row->who, row->path, row->status);
}

static void audit_is(struct run *run, const char *wanted)
{
	struct buf found;
	buf_init(&found, 4096);
	ok(view_audits(run->f->db, INT64_MAX, 100, note_audit, &found, &err));
	assert_string_equal(found.len ? found.data : "", wanted);
	buf_fini(&found);
}

/* A page with the form, the reason, and no cookie. */
static void failed(struct answer a, int status)
{
	assert_int_equal(a.status, status);
	assert_string_equal(header_of(&a, "Content-Type"), "text/html; charset=utf-8");
	assert_string_equal(header_of(&a, "Set-Cookie"), "");
	assert_string_equal(header_of(&a, "Cache-Control"), "no-store");
	assert_non_null(strstr(a.body, "The log-in failed: the &lt;provider&gt; says no."));
	assert_non_null(strstr(a.body, "action=/login"));
	answer_free(&a);
}

static void to_the_provider(void **state)
{
	struct run *run = *state;
	struct answer a = get(run, "/login/oidc?next=/alerts");
	assert_int_equal(a.status, 303);
	assert_string_equal(header_of(&a, "Location"), "https://id.example.org/authorize?state=s");
	assert_string_equal(header_of(&a, "Cache-Control"), "no-store");
	assert_string_equal(header_of(&a, "Set-Cookie"),
		"flopwatch_login=secret-of-this-log-in; Path=/login/oidc; Max-Age=600; HttpOnly; SameSite=Lax");
	answer_free(&a);
	calls_are(run, "begin -\naddress /alerts\nover\n");
	run->site.public_url = "https://watch.example.org";
	a = get(run, "/login/oidc?next=//evil.example");
	assert_non_null(strstr(header_of(&a, "Set-Cookie"), "SameSite=Lax; Secure"));
	answer_free(&a);
	calls_are(run, "begin -\naddress /\nover\n");
}

/* Run the server until the daemon was called as expected. */
static void run_until(struct run *run, const char *calls)
{
	for (int64_t end_ns = clock_mono_ns() + INT64_C(120000000000);
		strcmp(run->requested.what, calls) != 0 && clock_mono_ns() < end_ns;)
		poll(NULL, 0, http_run(run->http) ? 10 : 0);
	calls_are(run, calls);
}

/* Begin a request whose answer is waited for. Own: the caller closes the socket. */
static int ask(struct run *run, const char *path)
{
	char text[512];
	int fd = dial(run);
	poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, 10000);
	int len = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n", path,
		http_port(run->http));
	assert_int_equal(send(fd, text, (size_t)len, MSG_NOSIGNAL), len);
	return fd;
}

static void the_provider_takes_a_while(void **state)
{
	struct run *run = *state;
	given.waits = 2;
	int fd = ask(run, "/login/oidc?next=/alerts");
	run_until(run, "begin -\naddress /alerts\n");
	http_notify(run->http);
	run_until(run, "address /alerts\n");
	http_notify(run->http);
	struct answer a = request_on(run, fd, "", 0);
	assert_int_equal(a.status, 303);
	answer_free(&a);
	calls_are(run, "address /alerts\nover\nover\n"); /* at the answer, and at the end of the request */
	given.waits = 1;
	fd = ask(run, CALLBACK "?code=c&state=s");
	run_until(run, "code c s - - - -\nuser\n");
	http_notify(run->http);
	a = request_on(run, fd, "", 0);
	assert_int_equal(a.status, 200);
	answer_free(&a);
	calls_are(run, "user\nover\nover\n");
	/* browsers that go away meanwhile */
	given.waits = 1;
	close(ask(run, "/login/oidc?next=/alerts"));
	run_until(run, "begin -\naddress /alerts\nover\n");
	given.waits = 1;
	close(ask(run, CALLBACK "?code=c&state=s"));
	run_until(run, "code c s - - - -\nuser\nover\n");
	audit_is(run, "oidc~ann " CALLBACK " 200\n");
}

static void back_from_the_provider(void **state)
{
	struct run *run = *state;
	char session[128], cookie[200], logged[256] = "";
	FILE *log = tmpfile();
	int before = dup(STDERR_FILENO);
	assert_true(log && before >= 0 && dup2(fileno(log), STDERR_FILENO) >= 0);
	struct answer a = get_with(run, CALLBACK "?code=c&state=s&iss=https://id.example.org",
		"Cookie: flopwatch_login=secret-of-this-log-in\r\nX-Forwarded-For: 192.0.2.7\r\n");
	dup2(before, STDERR_FILENO);
	close(before);
	assert_true(pread(fileno(log), logged, sizeof logged - 1, 0) >= 0);
	fclose(log);
	assert_null(strstr(logged, "ev=audit")); /* the log warns only of a request that was not recorded */
	assert_int_equal(a.status, 200);
	assert_string_equal(header_of(&a, "Content-Type"), "text/html; charset=utf-8");
	/* from a page of this server, since the session's cookie is not sent along a redirect of the provider */
	assert_non_null(strstr(a.body, "http-equiv=refresh content=\"0; url=/alerts\""));
	assert_non_null(strstr(a.body, "You are logged in as oidc~ann, with scope trigger."));
	assert_int_equal(sscanf(header_of(&a, "Set-Cookie"), "flopwatch_session=%100[^;]; Path=/; Max-Age=3600; ", session), 1);
	assert_non_null(strstr(header_of(&a, "Set-Cookie"), "Max-Age=3600; HttpOnly; SameSite=Strict"));
	answer_free(&a);
	calls_are(run, "code c s https://id.example.org - secret-of-this-log-in address 192.0.2.7\nuser\nover\n");
	audit_is(run, "oidc~ann " CALLBACK " 200\n");
	snprintf(cookie, sizeof cookie, "Cookie: flopwatch_session=%s\r\n", session);
	a = get_with(run, "/alerts", cookie);
	assert_int_equal(a.status, 200);
	answer_free(&a);
	a = get_with(run, "/api/v1/tokens", cookie);
	assert_problem(a, 403, "token oidc~ann has scope trigger");
}

static void a_step_that_fails(void **state)
{
	static const struct {
		enum err_code code;
		int status;
	} codes[] = { { ERR_INVALID, 400 }, { ERR_CONFLICT, 403 }, { ERR_BUSY, 503 }, { ERR_IO, 502 }, { ERR_TIMEOUT, 502 } };
	struct run *run = *state;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		given.begin = codes[i].code;
		failed(get(run, "/login/oidc?next=/alerts"), codes[i].status);
		calls_are(run, "begin -\n");
		given.begin = ERR_NONE;
		given.address = codes[i].code;
		failed(get(run, "/login/oidc?next=/alerts"), codes[i].status);
		calls_are(run, "begin -\naddress /alerts\nover\n");
		given.address = ERR_NONE;
		given.code = codes[i].code;
		failed(get(run, CALLBACK "?error=access_denied&state=s"), codes[i].status);
		calls_are(run, "code - s - access_denied - -\n");
		given.code = ERR_NONE;
	}
	audit_is(run, ""); /* the provider has named nobody */
	given.exchange = ERR_CONFLICT;
	failed(get(run, CALLBACK "?code=c&state=s"), 403);
	calls_are(run, "code c s - - - -\nuser\nover\n");
	audit_is(run, "oidc " CALLBACK " 403\n"); /* a user who is not logged in: its name may be another's */
	given.user.is_named = false;
	given.user.next[0] = '\0';
	failed(get(run, CALLBACK "?code=c&state=s"), 403);
	audit_is(run, "oidc " CALLBACK " 403\n");
	assert_int_equal(fixture_number(run->f, "SELECT count(*) FROM session"), 0);
}

static void a_session_that_cannot_be_stored(void **state)
{
	struct run *run = *state;
	given.user.token = 999; /* no such row */
	struct answer a = get(run, CALLBACK "?code=c&state=s");
	assert_int_equal(a.status, 500);
	assert_string_equal(header_of(&a, "Set-Cookie"), "");
	answer_free(&a);
	calls_are(run, "code c s - - - -\nuser\nover\n");
	audit_is(run, "oidc " CALLBACK " 500\n");
}

/* Log in. Shape: cookie[200], the header of the session. */
static void log_in(struct run *run, char *cookie)
{
	char session[128];
	struct answer a = get(run, CALLBACK "?code=c&state=s");
	assert_int_equal(a.status, 200);
	assert_int_equal(sscanf(header_of(&a, "Set-Cookie"), "flopwatch_session=%100[^;]", session), 1);
	answer_free(&a);
	snprintf(cookie, 200, "Cookie: flopwatch_session=%s\r\n", session);
	run->requested.what[0] = '\0';
}

/* The session has ended, whatever the provider says, and the browser has no cookie. */
static void logged_out(struct run *run, const char *cookie, const struct answer *a)
{
	assert_non_null(strstr(header_of(a, "Set-Cookie"), "flopwatch_session=; Path=/; Max-Age=0; "));
	assert_int_equal(fixture_number(run->f, "SELECT count(*) FROM session"), 0);
	struct answer after = get_with(run, "/alerts", cookie);
	assert_int_equal(after.status, 303);
	answer_free(&after);
}

static void a_log_out_at_the_provider(void **state)
{
	struct run *run = *state;
	char cookie[200], wanted[64];
	given.user.log_out = "sealed-for-ann";
	log_in(run, cookie);
	struct answer a = request_with(run, "POST", "/logout", cookie, "", 0);
	assert_int_equal(a.status, 200);
	assert_string_equal(header_of(&a, "Location"), "");
	assert_string_equal(header_of(&a, "Cache-Control"), "no-store");
	assert_string_equal(header_of(&a, "Content-Type"), "text/html; charset=utf-8");
	assert_non_null(strstr(
		a.body, "http-equiv=refresh content=\"0; url=https://id.example.org/end?hint=h&amp;state=&quot;s&quot;\""));
	assert_non_null(strstr(a.body, "<a href=\"https://id.example.org/end?hint=h&amp;state=&quot;s&quot;\">"));
	snprintf(wanted, sizeof wanted, "log_out %lld sealed-for-ann\n", (long long)given.user.token);
	calls_are(run, wanted);
	logged_out(run, cookie, &a);
	answer_free(&a);
	audit_is(run, "oidc~ann /logout 200\noidc~ann " CALLBACK " 200\n");
}

/* A session without the provider's log-out, and one whose log-out there cannot begin, end here. */
static void a_log_out_here_only(void **state)
{
	struct run *run = *state;
	char cookie[200];
	for (int i = 0; i < 2; i++) {
		given.user.log_out = i ? "sealed-for-ann" : NULL;
		given.log_out = i ? ERR_IO : ERR_NONE;
		log_in(run, cookie);
		struct answer a = request_with(run, "POST", "/logout", cookie, "", 0);
		assert_int_equal(a.status, 303);
		assert_string_equal(header_of(&a, "Location"), "/login");
		assert_null(strstr(a.body, "id.example.org"));
		assert_int_equal(strstr(run->requested.what, "log_out") != NULL, i);
		logged_out(run, cookie, &a);
		answer_free(&a);
	}
	run->requested.what[0] = '\0';
	struct answer a = request_with(run, "POST", "/logout", "Cookie: flopwatch_session=nobody\r\n", "", 0);
	assert_int_equal(a.status, 303);
	answer_free(&a);
	calls_are(run, "");
}

static void back_from_a_log_out(void **state)
{
	static const char said[] = "You are logged out here and at the provider.";
	struct run *run = *state;
	struct answer a = get(run, "/login/oidc/logged-out?state=ours");
	assert_int_equal(a.status, 200);
	assert_string_equal(header_of(&a, "Cache-Control"), "no-store");
	assert_non_null(strstr(a.body, said));
	assert_non_null(strstr(a.body, "action=/login"));
	answer_free(&a);
	calls_are(run, "is_logged_out ours\n");
	a = get(run, "/login/oidc/logged-out?state=another");
	assert_null(strstr(a.body, said));
	assert_non_null(strstr(a.body, "action=/login"));
	answer_free(&a);
	a = get(run, "/login/oidc/logged-out");
	assert_null(strstr(a.body, said));
	answer_free(&a);
	calls_are(run, "is_logged_out another\nis_logged_out -\n");
	run->site.provider = NULL;
	a = get(run, "/login/oidc/logged-out?state=ours");
	assert_null(strstr(a.body, said));
	answer_free(&a);
	calls_are(run, "");
}

static void without_a_provider(void **state)
{
	struct run *run = *state;
	run->site.provider = NULL;
	struct answer a = get(run, "/login/oidc?next=/alerts");
	assert_int_equal(a.status, 404);
	answer_free(&a);
	a = get(run, CALLBACK "?code=c&state=s");
	assert_int_equal(a.status, 404);
	answer_free(&a);
	calls_are(run, "");
}

/* An address may begin or end twenty log-ins a minute, also without a limit of requests; this machine's programs any number. */
static void an_address_has_a_limit(void **state)
{
	static const char *const path[] = { "/login/oidc?next=/alerts", CALLBACK "?code=c&state=s" };
	struct run *run = *state;
	for (int i = 0; i < HTTP_LOG_INS_PER_MINUTE + 2; i++) {
		struct answer a = get_with(run, path[i % 2], "X-Forwarded-For: 192.0.2.7\r\n");
		assert_int_equal(a.status, i >= HTTP_LOG_INS_PER_MINUTE ? 429 : i % 2 ? 200 : 303);
		answer_free(&a);
		run->requested.what[0] = '\0';
		a = get(run, path[i % 2]);
		assert_int_equal(a.status, i % 2 ? 200 : 303);
		answer_free(&a);
		run->requested.what[0] = '\0';
	}
	struct answer a = get_with(run, path[0], "X-Forwarded-For: 192.0.2.8\r\n"); /* another address */
	assert_int_equal(a.status, 303);
	answer_free(&a);
}

#define LOGIN_TEST(name) cmocka_unit_test_setup_teardown(name, setup, run_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOGIN_TEST(to_the_provider),
		LOGIN_TEST(the_provider_takes_a_while),
		LOGIN_TEST(back_from_the_provider),
		LOGIN_TEST(a_step_that_fails),
		LOGIN_TEST(a_session_that_cannot_be_stored),
		LOGIN_TEST(a_log_out_at_the_provider),
		LOGIN_TEST(a_log_out_here_only),
		LOGIN_TEST(back_from_a_log_out),
		LOGIN_TEST(without_a_provider),
		LOGIN_TEST(an_address_has_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
