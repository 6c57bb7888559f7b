/* Requests per minute: windows, clients, and their addresses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>

#include "web/http/internal.h"

static void test_minute(void **state)
{
	(void)state;
	struct rate *rate = rate_new(3);
	struct rate_state s;
	for (int i = 0; i < 3; i++) {
		assert_true(rate_take(rate, "a", 1000 + i * 500, &s));
		assert_int_equal(s.limit, 3);
		assert_int_equal(s.remaining, 2 - i);
	}
	assert_int_equal(s.reset_s, 59);
	assert_false(rate_take(rate, "a", 1000 + RATE_WINDOW_MS - 1, &s));
	assert_int_equal(s.remaining, 0);
	assert_int_equal(s.reset_s, 1);
	assert_true(rate_take(rate, "b", 1000 + RATE_WINDOW_MS - 1, &s));
	assert_true(rate_take(rate, "a", 1000 + RATE_WINDOW_MS, &s));
	assert_int_equal(s.remaining, 2);
	rate_free(rate);
}

/* More clients than the table has entries replace those whose minute ends first. */
static void test_many_clients(void **state)
{
	(void)state;
	struct rate *rate = rate_new(1);
	struct rate_state s;
	char key[RATE_KEY_MAX];
	assert_true(rate_take(rate, "first", 1000, &s));
	for (int i = 0; i < 1023; i++) {
		snprintf(key, sizeof key, "client %d", i);
		assert_true(rate_take(rate, key, 2000, &s));
	}
	assert_false(rate_take(rate, "first", 2000, &s));
	assert_true(rate_take(rate, "one more", 2000, &s));
	assert_false(rate_take(rate, "client 1022", 2000, &s));
	assert_true(rate_take(rate, "first", 2000, &s));
	rate_free(rate);
}

/* Whether the client of address `text` has a limit; its key is in `key`. */
static bool is_limited(const char *text, const char *forwarded, char key[RATE_KEY_MAX])
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return rate_key_of_address((struct sockaddr *)&v4, forwarded, key);
	assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
	return rate_key_of_address((struct sockaddr *)&v6, forwarded, key);
}

static void test_addresses(void **state)
{
	(void)state;
	char key[RATE_KEY_MAX];
	assert_false(is_limited("127.0.0.1", NULL, key));
	assert_false(is_limited("127.8.0.1", NULL, key));
	assert_false(is_limited("::1", NULL, key));
	assert_false(is_limited("::ffff:127.0.0.1", NULL, key)); /* of a listener of IPv6 that also takes IPv4 */
	assert_true(is_limited("::ffff:127.0.0.1", "192.0.2.7", key));
	assert_string_equal(key, "address 192.0.2.7");
	assert_true(is_limited("::ffff:192.0.2.7", NULL, key));
	assert_true(is_limited("192.0.2.7", NULL, key));
	assert_string_equal(key, "address 192.0.2.7");
	assert_true(is_limited("2001:db8:1:2:3:4:5:6", NULL, key));
	assert_string_equal(key, "address 2001:db8:1:2::");
	/* the proxy of this machine appends; what its client sent before that is not believed */
	assert_true(is_limited("127.0.0.1", "10.9.9.9, 192.0.2.7", key));
	assert_string_equal(key, "address 192.0.2.7");
	assert_true(is_limited("127.0.0.1", "2001:db8:1:2:3:4:5:6", key));
	assert_string_equal(key, "address 2001:db8:1:2::");
	/* elsewhere the header is the client's own text */
	assert_true(is_limited("192.0.2.7", "10.9.9.9", key));
	assert_string_equal(key, "address 192.0.2.7");
	assert_true(rate_key_of_address(NULL, NULL, key));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_minute),
		cmocka_unit_test(test_many_clients),
		cmocka_unit_test(test_addresses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
