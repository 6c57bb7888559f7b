/* JSON output: another reader (jansson) reads it back equal, whatever the bytes and numbers were. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lib.h"

static void structure(void **state)
{
	struct buf b;
	struct jsonw j;

	(void)state;
	buf_init(&b, 1000);
	jsonw_init(&j, &b);
	jsonw_object(&j);
	jsonw_kv_string(&j, "a", "x");
	jsonw_key(&j, "list");
	jsonw_array(&j);
	jsonw_int(&j, 1);
	jsonw_array(&j);
	jsonw_array_end(&j);
	jsonw_null(&j);
	jsonw_object(&j);
	jsonw_object_end(&j);
	jsonw_raw(&j, "{\"raw\":1}", 9);
	jsonw_array_end(&j);
	jsonw_kv_bool(&j, "t", true);
	jsonw_kv_int(&j, "i", INT64_MIN);
	jsonw_kv_double(&j, "d", 0.1);
	jsonw_kv_null(&j, "n");
	jsonw_kv_string(&j, "none", NULL);
	jsonw_object_end(&j);
	assert_false(b.failed);
	assert_string_equal(b.data, "{\"a\":\"x\",\"list\":[1,[],null,{},{\"raw\":1}],\"t\":true,\"i\":-9223372036854775808,"
				    "\"d\":0.1,\"n\":null,\"none\":null}");
	buf_fini(&b);
}

static void strings_escape(void **state)
{
	static const char *const pairs[][2] = { { "", "\"\"" }, { "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "\n\t\r\x01", "\"\\n\\t\\u000d\\u0001\"" },
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "a\xff"
		  "b",
			"\"a\xef\xbf\xbd"
			"b\"" },
		{ "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },                 /* overlong */
		{ "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" }, /* surrogate */
		{ "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },                 /* truncated */
		{ "\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" } };
	struct buf b;
	struct jsonw j;
	size_t i;

	(void)state;
	buf_init(&b, 1000);
	for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		buf_clear(&b);
		jsonw_init(&j, &b);
		jsonw_string(&j, pairs[i][0]);
		assert_string_equal(b.data, pairs[i][1]);
	}
	buf_clear(&b);
	jsonw_init(&j, &b);
	jsonw_bytes(&j, "a\0b", 3);
	assert_string_equal(b.data, "\"a\\u0000b\"");
	buf_fini(&b);
}

static void any_bytes_stay_valid(void **state)
{
	struct buf b;
	struct jsonw j;
	unsigned seed = 7;
	int round;

	(void)state;
	buf_init(&b, 10000);
	for (round = 0; round < 3000; round++) {
		unsigned char bytes[40];
		size_t i, len = (size_t)(rand_r(&seed) % 40);
		json_t *back;

		for (i = 0; i < len; i++)
			bytes[i] = (unsigned char)(rand_r(&seed) % 4 ? 0x80 + rand_r(&seed) % 128 : rand_r(&seed) % 128);
		buf_clear(&b);
		jsonw_init(&j, &b);
		jsonw_array(&j);
		jsonw_bytes(&j, bytes, len);
		jsonw_array_end(&j);
		back = json_loadb(b.data, b.len, JSON_ALLOW_NUL, NULL);
		assert_non_null(back);
		json_decref(back);
	}
	buf_fini(&b);
}

/* Any byte at any position in a text that is otherwise plain. */
static void each_character_at_each_position(void **state)
{
	struct buf b;
	struct jsonw j;

	(void)state;
	buf_init(&b, 1000);
	for (int c = 1; c < 128; c++)
		for (size_t position = 0; position < 20; position++) {
			char text[21] = "aaaaaaaaaaaaaaaaaaaa";
			text[position] = (char)c;
			buf_clear(&b);
			jsonw_init(&j, &b);
			jsonw_array(&j);
			jsonw_string(&j, text);
			jsonw_array_end(&j);
			json_t *back = json_loadb(b.data, b.len, 0, NULL);
			assert_non_null(back);
			assert_string_equal(json_string_value(json_array_get(back, 0)), text);
			json_decref(back);
		}
	buf_fini(&b);
}

/* Keys of long lists are written like the others, with enough memory and with none. */
static void literals_are_keys(void **state)
{
	static const double figures[] = { 3.18, -0.0, 0.0004927793, 1e-9, 2.199023e12, NAN, 9999999.5 };
	struct jsonw j;

	(void)state;
	for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
		struct buf ours, plain;
		buf_init(&ours, 1000);
		buf_init(&plain, 1000);
		jsonw_init(&j, &ours);
		jsonw_object(&j);
		jsonw_literal_figure(&j, "first", figures[i]);
		jsonw_literal_plain(&j, "at", "2026-11-23T04:05:06.789Z");
		jsonw_literal(&j, "n");
		jsonw_int(&j, 7);
		jsonw_literal_figure(&j, "last", figures[i]);
		jsonw_object_end(&j);
		jsonw_init(&j, &plain);
		jsonw_object(&j);
		jsonw_kv_figure(&j, "first", figures[i]);
		jsonw_kv_string(&j, "at", "2026-11-23T04:05:06.789Z");
		jsonw_kv_int(&j, "n", 7);
		jsonw_kv_figure(&j, "last", figures[i]);
		jsonw_object_end(&j);
		assert_string_equal(ours.data, plain.data);
		buf_fini(&ours);
		buf_fini(&plain);
	}
}

static void numbers_read_back_equal(void **state)
{
	static const double doubles[] = { 0, -0.0, 1, 0.1, 1.0 / 3, 9999.9, 1e300, 5e-324, DBL_MAX, -2.2250738585072014e-308,
		123456789.123456789 };
	struct buf b;
	struct jsonw j;
	unsigned seed = 3;
	size_t i;

	(void)state;
	buf_init(&b, 1000);
	for (i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
		buf_clear(&b);
		jsonw_init(&j, &b);
		jsonw_double(&j, doubles[i]);
		assert_true(strtod(b.data, NULL) == doubles[i]);
	}
	for (i = 0; i < 2000; i++) {
		union {
			uint32_t u;
			float f;
		} v = { .u = (uint32_t)rand_r(&seed) * 2654435761u };

		if (!isfinite(v.f))
			continue;
		buf_clear(&b);
		jsonw_init(&j, &b);
		jsonw_float(&j, v.f);
		assert_true(strtof(b.data, NULL) == v.f);
	}
	buf_clear(&b);
	jsonw_init(&j, &b);
	jsonw_double(&j, 9999.9);
	assert_string_equal(b.data, "9999.9");
	buf_clear(&b);
	jsonw_init(&j, &b);
	jsonw_array(&j);
	jsonw_double(&j, NAN);
	jsonw_double(&j, -INFINITY);
	jsonw_float(&j, NAN);
	jsonw_array_end(&j);
	assert_string_equal(b.data, "[null,null,null]");
	buf_fini(&b);
}

static void nesting_mistakes_fail(void **state)
{
	struct buf b;
	struct jsonw j;
	int i;

	(void)state;
	buf_init(&b, 1000);
	jsonw_init(&j, &b);
	jsonw_array_end(&j);
	assert_true(b.failed);
	buf_clear(&b);
	jsonw_init(&j, &b);
	for (i = 0; i < 100; i++)
		jsonw_array(&j);
	assert_true(b.failed);
	buf_fini(&b);
}

static void figures_have_seven_digits(void **state)
{
	static const struct {
		double v;
		const char *text;
	} known[] = { { 0, "0" }, { 1, "1" }, { -2.5, "-2.5" }, { 0.1, "0.1" }, { 643.123456789, "643.1235" },
		{ 9.99999999, "10" }, { 0.00012345678, "0.0001234568" }, { 9999999.4, "9999999" }, { 12345678, "1.234568e+07" },
		{ 1e-5, "1e-05" }, { -0.05, "-0.05" }, { 100, "100" }, { NAN, "null" }, { INFINITY, "null" } };
	struct buf b;
	struct jsonw j;

	(void)state;
	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		buf_clear(&b);
		jsonw_init(&j, &b);
		jsonw_figure(&j, known[i].v);
		assert_string_equal(b.data, known[i].text);
	}
	for (int i = 1; i < 20000; i++) {
		double v = exp((i % 400 - 200) * 0.05) * (1 + i * 1e-5) * (i % 2 ? 1 : -1);

		buf_clear(&b);
		jsonw_init(&j, &b);
		jsonw_figure(&j, v);
		assert_true(fabs(strtod(b.data, NULL) - v) <= 0.5000001e-6 * fabs(v));
	}
	buf_fini(&b);
}

static void a_format_names_members(void **state)
{
	struct buf b;
	struct jsonw j;
	const char *volatile none = NULL; /* not known to the compiler */

	(void)state;
	buf_init(&b, 1000);
	jsonw_init(&j, &b);
	jsonw_format(&j, "[ { id=%ld n=%d ok=%i name=%s pct=%g s=%f list=[ %s %d ] none=null }", INT64_MAX, -1, true, "a\"b",
		1.0 / 3, 0.1, "x", 2);
	jsonw_format(&j, "{ empty?=%s zero?=%ld set?=%s left~=%s out~=%d here~=%s null=%s gap=%g", "", (int64_t)0, "y", "", 0,
		"z", none, NAN);
	jsonw_format(&j, "} ]");
	assert_false(b.failed);
	assert_string_equal(b.data,
		"[{\"id\":9223372036854775807,\"n\":-1,\"ok\":true,\"name\":\"a\\\"b\",\"pct\":0.3333333,\"s\":0.1,"
		"\"list\":[\"x\",2],\"none\":null},{\"empty\":null,\"zero\":null,\"set\":\"y\",\"here\":\"z\","
		"\"null\":null,\"gap\":null}]");
	jsonw_format(&j, "unknown");
	assert_true(b.failed);
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(structure), cmocka_unit_test(a_format_names_members),
		cmocka_unit_test(strings_escape), cmocka_unit_test(any_bytes_stay_valid),
		cmocka_unit_test(each_character_at_each_position), cmocka_unit_test(literals_are_keys),
		cmocka_unit_test(numbers_read_back_equal), cmocka_unit_test(nesting_mistakes_fail),
		cmocka_unit_test(figures_have_seven_digits) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
