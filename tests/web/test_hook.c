/* Webhooks: every forge's signature, right and wrong, replayed and mutated; and the payload is never used. */
#include "site_run.h"

#include "lib/lib.h"

#define HOOK   "/api/v1/hooks/kernels"
#define SECRET "It's a Secret to Everybody"

static int setup(void **state)
{
	if (run_setup(state) != 0)
		return -1;
	((struct run *)*state)->requested.secret = SECRET;
	return 0;
}

static struct answer hook_with(struct run *run, const char *headers, const char *body, size_t len)
{
	return request_with(run, "POST", HOOK, headers, body, len);
}

static struct answer hook(struct run *run, const char *headers, const char *body)
{
	return hook_with(run, headers, body, strlen(body));
}

static void accepted(struct run *run, struct answer a, const char *requested)
{
	if (a.status != 202)
		fail_msg("%d: %s", a.status, a.body);
	answer_free(&a);
	assert_string_equal(run->requested.what, requested);
	run->requested.what[0] = '\0';
}

static void refused_hook(struct run *run, struct answer a)
{
	assert_problem(a, 401, "does not match");
	assert_string_equal(run->requested.what, "");
}

static const char *hex_of(const char *secret, const char *body, size_t len)
{
	static char hex[65];
	unsigned char mac[32];
	hash_hmac(secret, strlen(secret), body, len, mac);
	hash_to_hex(mac, 32, hex);
	return hex;
}

/* The vector that GitHub publishes. */
#define VECTOR "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"

static void test_github(void **state)
{
	struct run *run = *state;
	accepted(run, hook(run, "X-Hub-Signature-256: sha256=" VECTOR "\r\nX-GitHub-Event: push\r\n", "Hello, World!"),
		"poke kernels\n");
	refused_hook(run, hook(run, "X-Hub-Signature-256: sha256=" VECTOR "\r\n", "Hello, World?"));
	refused_hook(run, hook(run, "X-Hub-Signature-256: " VECTOR "\r\n", "Hello, World!"));
	refused_hook(run, hook(run, "X-Hub-Signature-256: sha256=" VECTOR "00\r\n", "Hello, World!"));
	refused_hook(run, hook(run, "X-Hub-Signature-256: sha256=\r\n", "Hello, World!"));
	refused_hook(run, hook(run, "X-Hub-Signature-256: sha256=757107EA0EB2509F\r\n", "Hello, World!"));
	/* SHA-1 is ignored */
	refused_hook(run, hook(run, "X-Hub-Signature: sha1=01dc10d0c83e72ed246219cdd91669667fe2ca59\r\n", "Hello, World!"));
	refused_hook(run, hook(run, "", "Hello, World!"));
	struct answer a = hook(run, "X-Hub-Signature-256: sha256=" VECTOR "\r\nX-GitHub-Event: ping\r\n", "Hello, World!");
	assert_int_equal(a.status, 200);
	assert_string_equal(a.body, "pong\n");
	answer_free(&a);
	assert_string_equal(run->requested.what, "");
}

/* Every single flipped bit makes the signature wrong. */
static void test_mutations(void **state)
{
	struct run *run = *state;
	char signature[65], headers[160];
	for (int i = 0; i < 64; i++) {
		snprintf(signature, sizeof signature, "%s", VECTOR);
		signature[i] = signature[i] == '0' ? '1' : '0';
		snprintf(headers, sizeof headers, "X-Hub-Signature-256: sha256=%s\r\n", signature);
		refused_hook(run, hook(run, headers, "Hello, World!"));
	}
}

/* Both also send GitHub's headers; their own count. */
static void test_gitea_and_forgejo(void **state)
{
	struct run *run = *state;
	accepted(run,
		hook(run, "X-Gitea-Signature: " VECTOR "\r\nX-GitHub-Event: push\r\nX-Hub-Signature-256: sha256=0\r\n",
			"Hello, World!"),
		"poke kernels\n");
	char headers[160];
	snprintf(headers, sizeof headers, "X-Forgejo-Signature: %s\r\nX-GitHub-Event: push\r\n", hex_of(SECRET, "Hello!", 6));
	accepted(run, hook(run, headers, "Hello!"), "poke kernels\n");
	refused_hook(run, hook(run, "X-Gitea-Signature: sha256=" VECTOR "\r\n", "Hello, World!"));
	refused_hook(run, hook(run, "X-Forgejo-Signature: 0\r\nX-Hub-Signature-256: sha256=" VECTOR "\r\n", "Hello, World!"));
}

static void test_gitlab_token(void **state)
{
	struct run *run = *state;
	accepted(run, hook(run, "X-Gitlab-Token: " SECRET "\r\nX-Gitlab-Event: Push Hook\r\n", "{}"), "poke kernels\n");
	/* captured, and sent under another id */
	accepted(run, hook(run, "X-Gitlab-Token: " SECRET "\r\nX-Gitlab-Event-UUID: 2\r\n", "{}"), "");
	accepted(run, hook(run, "X-Gitlab-Token: " SECRET "\r\nX-Gitlab-Event-UUID: 3\r\n", "{\"a\":1}"), "poke kernels\n");
	/* a script without a payload */
	for (int i = 0; i < 3; i++)
		accepted(run, hook(run, "X-Gitlab-Token: " SECRET "\r\n", ""), "poke kernels\n");
	refused_hook(run, hook(run, "X-Gitlab-Token: It's a Secret to Everybod\r\n", "{}"));
	refused_hook(run, hook(run, "X-Gitlab-Token: " SECRET "!\r\n", "{}"));
	refused_hook(run, hook(run, "X-Gitlab-Token: \r\n", "{}"));
}

/* Standard Webhooks: base64 of the HMAC over id.timestamp.body, possibly in a list of several. */
static void signed_headers(
	char *headers, size_t size, const char *key, size_t key_len, const char *id, int64_t at, const char *body)
{
	struct buf text, signature;
	unsigned char mac[32];
	buf_init(&text, 4096);
	buf_init(&signature, 128);
	buf_printf(&text, "%s.%lld.%s", id, (long long)at, body);
	hash_hmac(key, key_len, text.data, text.len, mac);
	buf_base64(&signature, mac, sizeof mac);
	snprintf(headers, size, "webhook-id: %s\r\nwebhook-timestamp: %lld\r\nwebhook-signature: v1,AAAA v2,BBBB v1,%s\r\n", id,
		(long long)at, signature.data);
	buf_fini(&text);
	buf_fini(&signature);
}

static void test_gitlab_signature(void **state)
{
	struct run *run = *state;
	char headers[512];
	int64_t now_s = clock_utc_ms() / 1000;
	signed_headers(headers, sizeof headers, SECRET, strlen(SECRET), "msg_1", now_s, "{\"a\":1}");
	accepted(run, hook(run, headers, "{\"a\":1}"), "poke kernels\n");
	refused_hook(run, hook(run, headers, "{\"a\":2}"));
	/* replayed: the same id triggers nothing */
	accepted(run, hook(run, headers, "{\"a\":1}"), "");
	/* too old, from the future, no number */
	signed_headers(headers, sizeof headers, SECRET, strlen(SECRET), "msg_2", now_s - 3600, "{}");
	refused_hook(run, hook(run, headers, "{}"));
	signed_headers(headers, sizeof headers, SECRET, strlen(SECRET), "msg_3", now_s + 3600, "{}");
	refused_hook(run, hook(run, headers, "{}"));
	refused_hook(run, hook(run, "webhook-id: a\r\nwebhook-timestamp: soon\r\nwebhook-signature: v1,AAAA\r\n", "{}"));
	refused_hook(run, hook(run, "webhook-signature: v1,AAAA\r\n", "{}"));
	/* a secret in base64 after whsec_ is decoded before it signs */
	run->requested.secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
	struct buf key;
	buf_init(&key, 64);
	assert_int_equal(buf_unbase64(&key, "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 32), 0);
	signed_headers(headers, sizeof headers, key.data, key.len, "msg_4", now_s, "{}");
	buf_fini(&key);
	accepted(run, hook(run, headers, "{}"), "poke kernels\n");
}

/* What Standard Webhooks signs is no body of another forge: its signature would be valid for it, at any time. */
static void test_signature_of_another_scheme(void **state)
{
	struct run *run = *state;
	static const char *const texts[] = { "msg_1.1764500000.{\"a\":1}", "msg_1.1.", "a.0.b.c" }, *const bodies[] = {
		"{\"a\":\"msg_1.1764500000.x\"}", "payload=%7B%22version%22%3A%221.2.3%22%7D", "a.b.c", "a.1"
	};
	char headers[160];
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		const char *hex = hex_of(SECRET, texts[i], strlen(texts[i]));
		snprintf(headers, sizeof headers, "X-Hub-Signature-256: sha256=%s\r\n", hex);
		refused_hook(run, hook(run, headers, texts[i]));
		snprintf(headers, sizeof headers, "X-Gitea-Signature: %s\r\n", hex);
		refused_hook(run, hook(run, headers, texts[i]));
	}
	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
		snprintf(headers, sizeof headers, "X-Gitea-Signature: %s\r\n", hex_of(SECRET, bodies[i], strlen(bodies[i])));
		accepted(run, hook(run, headers, bodies[i]), "poke kernels\n");
	}
}

static void test_replay(void **state)
{
	struct run *run = *state;
	static const char signature[] = "X-Hub-Signature-256: sha256=" VECTOR "\r\nX-GitHub-Delivery: 72d3162e-cc78-11e3\r\n";
	accepted(run, hook(run, signature, "Hello, World!"), "poke kernels\n");
	for (int i = 0; i < 20; i++)
		accepted(run, hook(run, signature, "Hello, World!"), "");
	/*
	 * the id is not signed: with another, or none, or in another forge's format, the body is recognised as the captured one
	 */
	static const char *const disguises[] = { "X-Hub-Signature-256: sha256=" VECTOR "\r\nX-GitHub-Delivery: another\r\n",
		"X-Hub-Signature-256: sha256=" VECTOR "\r\n", "X-Gitea-Signature: " VECTOR "\r\nX-Gitea-Delivery: 1\r\n",
		"X-Forgejo-Signature: " VECTOR "\r\n" };
	for (size_t i = 0; i < sizeof disguises / sizeof disguises[0]; i++)
		accepted(run, hook(run, disguises[i], "Hello, World!"), "");
	/* a wrong signature uses up neither a notification's id nor its body */
	char third[160], late[160];
	snprintf(third, sizeof third, "X-Hub-Signature-256: sha256=%s\r\nX-GitHub-Delivery: third\r\n",
		hex_of(SECRET, "third", 5));
	refused_hook(run, hook(run, "X-Hub-Signature-256: sha256=0\r\nX-GitHub-Delivery: third\r\n", "third"));
	accepted(run, hook(run, third, "third"), "poke kernels\n");
	/* nor does one that could not be executed: its sender tries again */
	snprintf(late, sizeof late, "X-Hub-Signature-256: sha256=%s\r\nX-GitHub-Delivery: late\r\n", hex_of(SECRET, "late", 4));
	run->requested.refuse = (struct fw_err){ .code = ERR_BUSY, .text = "no repository is watched at the moment" };
	assert_problem(hook(run, late, "late"), 503, "no repository is watched");
	run->requested.refuse = (struct fw_err){ 0 };
	run->requested.what[0] = '\0';
	accepted(run, hook(run, late, "late"), "poke kernels\n");
	accepted(run, hook(run, late, "late"), "");
	assert_int_equal(fixture_number(run->f, "SELECT count(*) FROM webhook_seen"), 3); /* replays add nothing */
	char headers[1024], id[202];
	memset(id, 'a', 201);
	id[201] = '\0';
	signed_headers(headers, sizeof headers, SECRET, strlen(SECRET), id, clock_utc_ms() / 1000, "Hello, World!");
	assert_problem(hook(run, headers, "Hello, World!"), 400, "longer than 200 bytes");
	/* an unsigned id in addition to a signed one changes nothing */
	signed_headers(headers, sizeof headers, SECRET, strlen(SECRET), "msg_9", clock_utc_ms() / 1000, "{}");
	run->requested.what[0] = '\0';
	accepted(run, hook(run, headers, "{}"), "poke kernels\n");
	static const char *const beside[] = { "X-GitHub-Delivery: another-1\r\n", "X-Gitea-Delivery: another-3\r\n",
		"X-Forgejo-Delivery: 4\r\n", "X-Gitlab-Event-UUID: 5\r\n" };
	size_t len = strlen(headers);
	for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
		snprintf(headers + len, sizeof headers - len, "%s", beside[i]);
		accepted(run, hook(run, headers, "{}"), "");
	}
}

static int note_event(struct control *a, const char *repo, const char *body, size_t len, struct fw_err *e)
{
	return note(a, e, "event %s %.*s\n", repo, (int)len, body);
}

/* An approval must not begin again when somebody sends its captured notification again. */
static void test_a_replay_states_no_approval(void **state)
{
	struct run *run = *state;
	struct site_actions with_events = actions;
	char headers[160];
	with_events.forge_event = note_event;
	run->site.act = &with_events;
	snprintf(headers, sizeof headers, "X-Hub-Signature-256: sha256=%s\r\n", hex_of(SECRET, "label", 5));
	/* an event whose storing fails leaves no mark, so the forge can send it again */
	run->requested.refuse = (struct fw_err){ .code = ERR_FULL, .text = "the disk is full" };
	assert_problem(hook(run, headers, "label"), 503, "the disk is full");
	run->requested.refuse = (struct fw_err){ 0 };
	run->requested.what[0] = '\0';
	accepted(run, hook(run, headers, "label"), "event kernels label\npoke kernels\n");
	accepted(run, hook(run, headers, "label"), "");
	run->site.act = &actions;
}

/* Whatever the body contains, only the configured repository is fetched: the body need not even be JSON. */
static void test_payload_is_not_used(void **state)
{
	struct run *run = *state;
	static const char *const bodies[] = { "", "\x00\x01\xff garbage",
		"{\"ref\":\"refs/heads/$(touch /tmp/x)\",\"repository\":{\"clone_url\":\"ext::sh -c "
		"id\",\"full_name\":\"other\"}}",
		"{\"repository\":{\"name\":\"../../etc\"},\"after\":\"0000000000000000000000000000000000000000\"}" };
	static const size_t lens[] = { 0, 11, 0, 0 };
	for (size_t i = 0; i < 4; i++) {
		char headers[256];
		size_t len = lens[i] ? lens[i] : strlen(bodies[i]);
		snprintf(headers, sizeof headers, "X-Hub-Signature-256: sha256=%s\r\n", hex_of(SECRET, bodies[i], len));
		accepted(run, hook_with(run, headers, bodies[i], len), "poke kernels\n");
	}
	assert_int_equal(fixture_number(run->f, "SELECT count(*) FROM job"), 0);
}

static void test_no_webhook(void **state)
{
	struct run *run = *state;
	struct answer a = request_with(
		run, "POST", "/api/v1/hooks/other", "X-Hub-Signature-256: sha256=" VECTOR "\r\n", "Hello, World!", 13);
	assert_problem(a, 404, "accepts no webhooks");
	run->requested.secret = NULL;
	assert_problem(hook(run, "X-Hub-Signature-256: sha256=" VECTOR "\r\n", "Hello, World!"), 404, "accepts no webhooks");
	assert_problem(get(run, HOOK), 405, "Allow");
	assert_string_equal(run->requested.what, "");
}

#define HOOK_TEST(name) cmocka_unit_test_setup_teardown(name, setup, run_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOOK_TEST(test_github),
		HOOK_TEST(test_mutations),
		HOOK_TEST(test_gitea_and_forgejo),
		HOOK_TEST(test_gitlab_token),
		HOOK_TEST(test_gitlab_signature),
		HOOK_TEST(test_signature_of_another_scheme),
		HOOK_TEST(test_replay),
		HOOK_TEST(test_a_replay_states_no_approval),
		HOOK_TEST(test_payload_is_not_used),
		HOOK_TEST(test_no_webhook),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
