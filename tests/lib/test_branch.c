/* Names of branches: keys for transfer, texts for people, and arbitrary bytes made visible. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "lib/lib.h"

static void shows(const char *key, const char *text)
{
	struct buf out;
	buf_init(&out, 4096);
	branch_text(&out, key);
	assert_string_equal(out.data, text);
	buf_fini(&out);
}

static void test_text(void **state)
{
	(void)state;
	shows("", "");
	shows("main", "main");
	shows("team/a%2Bb%26c", "team/a+b&c");
	shows("%C3%BCber", "\u00fcber");
	shows("%ff%FE", "\ufffd\ufffd");
	shows("a%E2%80%AEb", "a\\u202eb");
	shows("%1B%5B2J%0A%00", "\\x1b[2J\\x0a\\x00");
	shows("100%25", "100%");
	shows("%2525", "%25");
	/* no escapes: shown as they are */
	shows("%", "%");
	shows("%2", "%2");
	shows("%zz%4", "%zz%4");
}

static void is_key(const char *given, const char *key)
{
	char out[BRANCH_KEY_MAX];
	branch_key(given, out);
	assert_string_equal(out, key);
}

static void test_key(void **state)
{
	(void)state;
	is_key("", "");
	is_key("main", "main");
	is_key("team/a-b_c.d~e", "team/a-b_c.d~e");
	is_key("a+b c", "a%2Bb%20c");
	is_key("\u00fc\xff", "%C3%BC%FF");
	is_key("a%2Bb", "a%2Bb"); /* a key already */
	is_key("100%25", "100%25");
	is_key("100%", "100%25"); /* a name: no key ends like this */
	is_key("%", "%25");
	is_key("%zz", "%25zz");
	is_key("50%41", "50%2541"); /* of 50A the key is 50A */
	is_key("a%2b", "a%252b");
	is_key("%E2%80", "%E2%80");
	is_key("100%+", "100%25%2B");
	char given[2048], key[BRANCH_KEY_MAX];
	memset(given, '+', sizeof given);
	given[341] = '\0';
	branch_key(given, key);
	assert_int_equal(strlen(key), 1023);
	given[341] = '+';
	given[342] = '\0';
	branch_key(given, key);
	assert_string_equal(key, "%");
}

static void test_show(void **state)
{
	(void)state;
	struct buf out;
	buf_init(&out, 4096);
	utf8_show(&out, "a\tb\nc\0d\x7f\xe2\x82", 10, "\n\t");
	assert_int_equal(out.len, strlen("a\tb\nc\\x00d\\x7f\ufffd\ufffd"));
	assert_string_equal(out.data, "a\tb\nc\\x00d\\x7f\ufffd\ufffd");
	buf_clear(&out);
	utf8_show(&out, "a\tb\u200b\U000e0041\u6f22", strlen("a\tb\u200b\U000e0041\u6f22"), "");
	assert_string_equal(out.data, "a\\x09b\\u200b\\ue0041\u6f22");
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_show),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
