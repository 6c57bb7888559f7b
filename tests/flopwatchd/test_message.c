/* Messages to people: the requests to each service, and the mail. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flopwatchd/notify/internal.h"

#define OPENED                                                                                                                   \
	"{\"event\":\"alert.opened\",\"alert\":7,\"kind\":\"regression\",\"repo\":\"kernels\",\"branch\":\"slow\",\"target\":"   \
	"\"0123456789abcdef\",\"subject\":\"a & <b> *c*\",\"title\":\"gr\u00fcn forward, 4 cells\",\"worst_pct\":-4.5,\"url\":"  \
	"\"https://b.example/alerts/7\"}"
#define NAMED                                                                                                                    \
	"{\"event\":\"alert.named\",\"alert\":7,\"kind\":\"regression\",\"repo\":\"kernels\",\"branch\":\"slow\",\"target\":"    \
	"\"0123456789abcdef\",\"subject\":\"a & <b> *c*\",\"title\":\"gr\u00fcn forward, 5 cells\"}"

#define COST                                                                                                                     \
	"{\"event\":\"alert.opened\",\"alert\":8,\"kind\":\"cost\",\"repo\":\"kernels\",\"branch\":\"slow\",\"target\":"         \
	"\"0123456789abcdef\",\"title\":\"a call launches more kernels\",\"cells\":[{\"cell\":\"a\",\"why\":\"a call also "      \
	"launches zero (fill)\"}],\"why\":null}"

static struct fw_err err;
static struct config config;

/** The input of flopwatch-send for payloads. `first`: id of the thread's first message, NULL none. Own: the caller's reference. */
static json_t *request(struct config_webhook to, const char *payload, const char *first)
{
	struct store_outbox row = { .kind = "webhook", .target = "r" };
	struct store_outbox_first found = { .at = 1795775940000 };
	struct buf text, first_text;
	struct deliver out;
	buf_init(&text, 1 << 20);
	buf_init(&first_text, 1 << 20);
	buf_puts(&text, payload);
	buf_puts(&first_text, OPENED);
	if (first)
		snprintf(found.answer, sizeof found.answer, "%s", first);
	config.n_webhooks = 1;
	config.webhook[0] = to;
	snprintf(config.webhook[0].name, sizeof to.name, "r");
	snprintf(config.webhook[0].secret, sizeof to.secret, "a secret");
	struct deliver_content what = {
		.id = "msg_1", .payload = &text, .first = first ? &found : NULL, .first_payload = first ? &first_text : NULL
	};
	assert_int_equal(deliver_prepare(&config, &row, &what, 1795775940000, &out, &err), 0);
	assert_string_equal(out.program, "flopwatch-send");
	json_t *root = json_loadb(out.in.data, out.in.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	deliver_fini(&out);
	buf_fini(&text);
	buf_fini(&first_text);
	return root;
}

static const char *text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static json_t *body(const json_t *sent)
{
	json_t *root = json_loads(text(sent, "body"), JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	return root;
}

static void test_slack(void **state)
{
	(void)state;
	struct config_webhook to = { .kind = RECEIVER_SLACK, .url = "https://c.example/x" };
	json_t *sent = request(to, OPENED, NULL), *b = body(sent);
	assert_string_equal(text(b, "text"),
		"*regression* opened kernels slow 0123456789 \"a &amp; &lt;b&gt; *c*\": gr\u00fcn forward, 4 cells, worst -4.50 % "
		"<https://b.example/alerts/7|look>");
	json_decref(b);
	json_decref(sent);
	sent = request(to, "[" NAMED "]", "");
	b = body(sent);
	assert_non_null(strstr(text(b, "text"), "\nThis follows the message of 2026-11-27 10:39 UTC."));
	json_decref(b);
	json_decref(sent);
}

static void test_an_alert_of_a_cost_has_its_reason(void **state)
{
	(void)state;
	struct config_webhook to = { .kind = RECEIVER_SLACK, .url = "https://c.example/x" };
	json_t *sent = request(to, COST, NULL), *b = body(sent);
	assert_string_equal(text(b, "text"),
		"*cost* opened kernels slow 0123456789: a call launches more kernels. Why: a call also launches zero (fill)");
	json_decref(b);
	json_decref(sent);
}

static void test_a_group_has_a_line_for_each_alert(void **state)
{
	(void)state;
	struct config_webhook to = { .kind = RECEIVER_DISCORD, .url = "https://c.example/x?a=1" };
	json_t *sent = request(to,
		"[" OPENED "," NAMED
		",{\"event\":\"alert.opened\",\"alert\":8,\"kind\":\"failing\",\"repo\":\"k\",\"branch\":\"b\",\"target\":\"ff\"}]",
		NULL);
	json_t *b = body(sent);
	assert_string_equal(text(sent, "url"), "https://c.example/x?a=1&wait=true");
	assert_string_equal(text(b, "content"),
		"**regression** opened, named kernels slow 0123456789 \"a & \\<b\\> \\*c\\*\": gr\u00fcn forward, 5 cells\n**failing** opened k b ff");
	assert_int_equal(json_array_size(json_object_get(json_object_get(b, "allowed_mentions"), "parse")), 0);
	json_decref(b);
	json_decref(sent);
}

static void test_discord_forum(void **state)
{
	(void)state;
	struct config_webhook to = { .kind = RECEIVER_DISCORD, .url = "https://c.example/x", .forum = true };
	json_t *sent = request(to, OPENED, NULL), *b = body(sent);
	assert_string_equal(text(sent, "answer"), "channel_id");
	assert_string_equal(text(b, "thread_name"), "regression in kernels slow 0123456789: gr\u00fcn forward, 4 cells");
	json_decref(b);
	json_decref(sent);
	sent = request(to, NAMED, "42");
	b = body(sent);
	assert_string_equal(text(sent, "url"), "https://c.example/x?wait=true&thread_id=42");
	assert_null(text(b, "thread_name"));
	assert_null(strstr(text(b, "content"), "This follows"));
	json_decref(b);
	json_decref(sent);
}

static void test_matrix(void **state)
{
	(void)state;
	struct config_webhook to = { .kind = RECEIVER_MATRIX, .url = "https://m.example/", .room = "!a b:m.example" };
	json_t *sent = request(to, OPENED, NULL), *b = body(sent);
	assert_string_equal(
		text(sent, "url"), "https://m.example/_matrix/client/v3/rooms/%21a%20b%3Am.example/send/m.room.message/msg_1");
	assert_string_equal(text(sent, "method"), "PUT");
	assert_string_equal(text(json_object_get(sent, "headers"), "Authorization"), "Bearer a secret");
	assert_null(json_object_get(b, "m.relates_to"));
	/* without it a subject with @room or a user's name notifies them (intentional mentions of the client-server API 1.7) */
	assert_true(json_is_object(json_object_get(b, "m.mentions")));
	assert_int_equal(json_object_size(json_object_get(b, "m.mentions")), 0);
	json_decref(b);
	json_decref(sent);
	sent = request(to, NAMED, "$root");
	b = body(sent);
	assert_string_equal(text(json_object_get(b, "m.relates_to"), "event_id"), "$root");
	assert_string_equal(text(json_object_get(b, "m.relates_to"), "rel_type"), "m.thread");
	json_decref(b);
	json_decref(sent);
}

static void test_mail(void **state)
{
	(void)state;
	struct config_webhook to = { .kind = RECEIVER_MAIL,
		.url = "smtp://m.example:587",
		.from = "fw@b.example",
		.user = "fw",
		.n_to = 2,
		.to = { "a@b.example", "c@b.example" } };
	json_t *sent = request(to, OPENED, NULL), *mail = json_object_get(sent, "mail");
	const char *message = text(sent, "body");
	assert_string_equal(text(mail, "password"), "a secret");
	assert_string_equal(text(mail, "tls"), "required");
	assert_int_equal(json_array_size(json_object_get(mail, "to")), 2);
	assert_non_null(strstr(message, "Date: Fri, 27 Nov 2026 10:39:00 +0000\r\n"));
	assert_non_null(strstr(message, "\r\nMessage-ID: <msg_1@b.example>\r\n"));
	assert_null(strstr(message, "In-Reply-To"));
	for (const char *line = message; *line; line = strstr(line, "\r\n") + 2)
		assert_true(strcspn(line, "\r") <= 78);
	const char *subject = strstr(message, "Subject: [flopwatch]\r\n =?utf-8?B?");
	assert_non_null(subject);
	json_decref(sent);
	sent = request(to, NAMED, "<msg_0@b.example>");
	message = text(sent, "body");
	assert_non_null(strstr(message, "Subject: Re: [flopwatch]\r\n =?utf-8?B?"));
	assert_non_null(strstr(message, "\r\nIn-Reply-To: <msg_0@b.example>\r\nReferences: <msg_0@b.example>\r\n"));
	json_decref(sent);
}

static void test_long_texts_are_cut(void **state)
{
	(void)state;
	struct config_webhook to = { .kind = RECEIVER_DISCORD, .url = "https://c.example/x", .forum = true };
	struct buf payload;
	buf_init(&payload, 1 << 16);
	buf_puts(&payload, "{\"event\":\"alert.opened\",\"alert\":7,\"kind\":\"regression\",\"title\":\"");
	for (int i = 0; i < 3000; i++)
		buf_puts(&payload, "\u00fc");
	buf_puts(&payload, "\"}");
	json_t *sent = request(to, payload.data, NULL), *b = body(sent);
	assert_in_range(strlen(text(b, "content")), 1990, 2000);
	assert_in_range(strlen(text(b, "thread_name")), 90, 100);
	json_decref(b);
	json_decref(sent);
	buf_fini(&payload);
}

static void test_quiet_hours(void **state)
{
	(void)state;
	const int64_t day = 1795737600000; /* 2026-11-27 00:00 UTC */
	struct config_webhook w = { .quiet_from = 22 * 60, .quiet_to = 7 * 60 };
	setenv("TZ", "UTC", 1);
	tzset();
	assert_int_equal(config_quiet_until(&w, day), day + 7 * 3600000);
	assert_int_equal(config_quiet_until(&w, day + 7 * 3600000 - 1), day + 7 * 3600000);
	assert_int_equal(config_quiet_until(&w, day + 7 * 3600000), 0);
	assert_int_equal(config_quiet_until(&w, day + 22 * 3600000 - 1), 0);
	assert_int_equal(config_quiet_until(&w, day + 22 * 3600000 + 61500), day + 31 * 3600000);
	w.quiet_to = w.quiet_from;
	assert_int_equal(config_quiet_until(&w, day), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slack),
		cmocka_unit_test(test_an_alert_of_a_cost_has_its_reason),
		cmocka_unit_test(test_a_group_has_a_line_for_each_alert),
		cmocka_unit_test(test_discord_forum),
		cmocka_unit_test(test_matrix),
		cmocka_unit_test(test_mail),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_quiet_hours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
