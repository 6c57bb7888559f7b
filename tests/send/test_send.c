/* Requests that flopwatch-send rejects before it connects: invalid notifications, and addresses outside of the internet. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "send/internal.h"

static bool is_internal(const char *text)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return send_is_internal((struct sockaddr *)&v4);
	if (inet_pton(AF_INET6, text, &v6.sin6_addr) != 1)
		fail_msg("%s is no address", text);
	return send_is_internal((struct sockaddr *)&v6);
}

static void test_internal(void **state)
{
	(void)state;
	static const char *const internal[] = { "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1",
		"100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.0.1", "169.254.169.254", "172.16.0.1",
		"172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1",
		"198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1",
		"64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:10::1", "2001:db8::1",
		"2002:7f00:1::1", "2002:a00:1::1", "2002:c0a8:1::", "3fff::1", "3fff:fff::1", "5f00::1", "fc00::1",
		"fd12:3456::1", "fe80::1", "fec0::1", "ff02::1" };
	for (size_t i = 0; i < sizeof internal / sizeof internal[0]; i++)
		if (!is_internal(internal[i]))
			fail_msg("%s passes", internal[i]);
}

static void test_public(void **state)
{
	(void)state;
	static const char *const public[] = { "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
		"126.255.255.255", "128.0.0.1", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.1",
		"192.0.3.1", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "203.0.112.1", "223.255.255.255",
		"::ffff:1.1.1.1", "64:ff9b::101:101", "2001:200::1", "2001:4860:4860::8888", "2002:101:101::1",
		"2606:4700:4700::1111", "2a00:1450::1", "3ffe::1", "3fff:1000::1" };
	for (size_t i = 0; i < sizeof public / sizeof public[0]; i++)
		if (is_internal(public[i]))
			fail_msg("%s is refused", public[i]);
}

static void test_other_families(void **state)
{
	(void)state;
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	assert_true(send_is_internal((struct sockaddr *)&local));
}

static void test_notification(void **state)
{
	(void)state;
	static const char text[] =
		"{\"url\":\"https://example.org/hook\",\"headers\":{\"Content-Type\":\"application/json\",\"X-Id\":\"\"},"
		"\"body\":\"{\\\"a\\\":1}\",\"allow_internal\":true}";
	struct notification d;
	struct fw_err err = { 0 };
	assert_int_equal(notification_read(text, strlen(text), &d, &err), 0);
	assert_string_equal(d.url, "https://example.org/hook");
	assert_string_equal(d.body, "{\"a\":1}");
	assert_true(d.allow_internal);
	assert_int_equal(d.n_header, 2);
	assert_string_equal(d.header[0], "Content-Type: application/json");
	assert_string_equal(d.header[1], "X-Id: ");
	notification_fini(&d);
	notification_fini(&d);
	static const char least[] = "{\"url\":\"http://example.org\",\"body\":\"\"}";
	assert_int_equal(notification_read(least, strlen(least), &d, &err), 0);
	assert_false(d.allow_internal);
	assert_int_equal(d.n_header, 0);
	notification_fini(&d);
}

static void test_mistakes(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} wrong[] = {
		{ "", "notification: line" },
		{ "{", "notification: line" },
		{ "[]", "not an object" },
		{ "{\"url\":\"http://a\",\"url\":\"http://b\",\"body\":\"\"}", "duplicate" },
		{ "{\"body\":\"\"}", "url must begin" },
		{ "{\"url\":7,\"body\":\"\"}", "url must begin" },
		{ "{\"url\":\"file:///etc/passwd\",\"body\":\"\"}", "url must begin" },
		{ "{\"url\":\"gopher://a/\",\"body\":\"\"}", "url must begin" },
		{ "{\"url\":\" http://a/\",\"body\":\"\"}", "url must begin" },
		{ "{\"url\":\"http://a/\"}", "body must be text" },
		{ "{\"url\":\"http://a/\",\"body\":{}}", "body must be text" },
		{ "{\"url\":\"http://a/\",\"body\":\"\",\"headers\":[]}", "headers must be an object" },
		{ "{\"url\":\"http://a/\",\"body\":\"\",\"headers\":{\"A\":1}}", "header A is not" },
		{ "{\"url\":\"http://a/\",\"body\":\"\",\"headers\":{\"\":\"x\"}}", "is not one line" },
		{ "{\"url\":\"http://a/\",\"body\":\"\",\"headers\":{\"A\":\"1\\r\\nB: 2\"}}", "header A is not" },
		{ "{\"url\":\"http://a/\",\"body\":\"\",\"headers\":{\"A: 1\\nB\":\"2\"}}", "is not one line" },
		{ "{\"url\":\"http://a/\",\"body\":\"\",\"allow_internal\":\"yes\"}", "allow_internal must be" },
	};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct notification d;
		struct fw_err err = { 0 };
		if (notification_read(wrong[i].text, strlen(wrong[i].text), &d, &err) != -1 || err.code != ERR_INVALID ||
			!strstr(err.text, wrong[i].says))
			fail_msg("%s: %s", wrong[i].text, err.text);
		assert_null(d.url);
		assert_int_equal(d.n_header, 0);
	}
}

static void test_too_many_headers(void **state)
{
	(void)state;
	char text[2048];
	size_t len = (size_t)snprintf(text, sizeof text, "{\"url\":\"http://a/\",\"body\":\"\",\"headers\":{\"H0\":\"0\"");
	for (int i = 1; i <= SEND_HEADERS_MAX; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, ",\"H%d\":\"%d\"", i, i);
	len += (size_t)snprintf(text + len, sizeof text - len, "}}");
	struct notification d;
	struct fw_err err = { 0 };
	assert_int_equal(notification_read(text, len, &d, &err), -1);
	assert_non_null(strstr(err.text, "headers: more than 16"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_internal),
		cmocka_unit_test(test_public),
		cmocka_unit_test(test_other_families),
		cmocka_unit_test(test_notification),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_too_many_headers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
