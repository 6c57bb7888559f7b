/* JSON read in place: output of jsonw is read back equal; invalid JSON is detected, and nothing is read beyond its end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lib.h"

struct story {
	const char *name, *missing, *nothing, *words;
	double ratio, absent, inner_ms;
	int count;
	int64_t id;
	bool yes, no;
	struct jsonr_span list;
	int items;
	enum { UNTOLD, TAIL, OTHER } called, uncalled;
};

static void count_items(struct jsonr *r, void *into)
{
	struct story *s = into;
	if (!jsonr_array(r))
		return;
	for (; jsonr_item(r); s->items++)
		jsonr_value(r);
}

static void call(const char *text, void *into)
{
	((struct story *)into)->called = strcmp(text, "tail") == 0 ? TAIL : OTHER;
}

static void uncall(const char *text, void *into)
{
	(void)text;
	((struct story *)into)->uncalled = OTHER;
}

#define FIELD(name, as, member)                                                                                                  \
	{                                                                                                                        \
		JSONR_KEY(name), .kind = as, .offset = offsetof(struct story, member)                                            \
	}
static const struct jsonr_field inner[] = { FIELD("ms", JSONR_NUMBER, inner_ms), { .key = NULL } };
static const struct jsonr_field fields[] = { FIELD("name", JSONR_TEXT, name), FIELD("missing", JSONR_TEXT, missing),
	FIELD("nothing", JSONR_TEXT, nothing), FIELD("words", JSONR_LIST, words), FIELD("ratio", JSONR_NUMBER, ratio),
	FIELD("absent", JSONR_NUMBER, absent), { JSONR_KEY("deeper"), .kind = JSONR_OBJECT, .inner = inner },
	FIELD("count", JSONR_WHOLE, count), FIELD("id", JSONR_ID, id), FIELD("yes", JSONR_TRUE, yes), FIELD("no", JSONR_TRUE, no),
	{ JSONR_KEY("called"), .kind = JSONR_NAME, .name = call }, { JSONR_KEY("uncalled"), .kind = JSONR_NAME, .name = uncall },
	FIELD("list", JSONR_SPAN, list), { JSONR_KEY("items"), .kind = JSONR_OTHER, .read = count_items }, { .key = NULL } };

static char buffer[4096];

/* From memory of exactly its size, so that a sanitizer reports a read beyond it. */
static struct story read_story(const char *text, size_t len, bool *failed)
{
	struct story s = { .missing = "unset", .nothing = "unset", .words = "unset", .absent = NAN };
	struct jsonr r;
	char *exact = malloc(len + (len == 0));
	assert_non_null(exact);
	memcpy(exact, text, len);
	jsonr_init(&r, exact, len, buffer);
	jsonr_object(&r, fields, &s);
	*failed = r.failed;
	assert_true(r.at <= r.end);
	assert_true(r.buffer <= buffer + len);
	free(exact);
	return s;
}

static void write_story(struct buf *b)
{
	struct jsonw j;
	jsonw_init(&j, b);
	jsonw_object(&j);
	jsonw_kv_int(&j, "id", 9007199254740991 - 1);
	jsonw_kv_string(&j, "unknown", "}]\\\"");
	jsonw_kv_string(&j, "unknown too", "ends in one \\");
	jsonw_kv_string(&j, "name", "line\nta\tb \"quoted\" \\ \x01 gr\u00fc\u00df");
	jsonw_kv_null(&j, "nothing");
	jsonw_key(&j, "words");
	jsonw_array(&j);
	jsonw_string(&j, "tail");
	jsonw_int(&j, 3);
	jsonw_string(&j, "call");
	jsonw_array_end(&j);
	jsonw_kv_double(&j, "ratio", 0.1);
	jsonw_key(&j, "deeper");
	jsonw_object(&j);
	jsonw_kv_string(&j, "name", "another");
	jsonw_kv_figure(&j, "ms", -3.166493);
	jsonw_object_end(&j);
	jsonw_kv_int(&j, "count", -42);
	jsonw_kv_bool(&j, "yes", true);
	jsonw_kv_bool(&j, "no", false);
	jsonw_kv_string(&j, "called", "tail");
	jsonw_kv_int(&j, "uncalled", 1);
	jsonw_key(&j, "list");
	jsonw_array(&j);
	jsonw_string(&j, "]");
	jsonw_array(&j);
	jsonw_array_end(&j);
	jsonw_array_end(&j);
	jsonw_key(&j, "items");
	jsonw_array(&j);
	for (int i = 0; i < 5; i++) {
		jsonw_object(&j);
		jsonw_kv_int(&j, "i", i);
		jsonw_object_end(&j);
	}
	jsonw_array_end(&j);
	jsonw_object_end(&j);
	assert_false(b->failed);
}

static void test_reads_back(void **state)
{
	struct buf b;
	bool failed;
	(void)state;
	buf_init(&b, 1 << 16);
	write_story(&b);
	struct story s = read_story(b.data, b.len, &failed);
	assert_false(failed);
	assert_string_equal(s.name, "line\nta\tb \"quoted\" \\ \x01 gr\u00fc\u00df");
	assert_string_equal(s.missing, "unset");
	assert_string_equal(s.nothing, "unset");
	assert_string_equal(s.words, "tail call");
	assert_true(s.ratio == 0.1);
	assert_true(isnan(s.absent));
	assert_true(s.inner_ms == -3.166493);
	assert_int_equal(s.count, -42);
	assert_true(s.id == 9007199254740991 - 1);
	assert_true(s.yes && !s.no);
	assert_int_equal(s.called, TAIL);
	assert_int_equal(s.uncalled, UNTOLD);
	assert_int_equal(s.list.len, strlen("[\"]\",[]]"));
	assert_int_equal(s.items, 5);
	buf_fini(&b);
}

static void test_numbers(void **state)
{
	static const char *const texts[] = { "0", "-0.5", "3.166493", "2.199023e+12", "1e-7", "123456789012345",
		"1234567890123456789", "0.000123456789012345678", "0.1", "1.7976931348623157e308" };
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		char text[64];
		bool failed;
		int len = snprintf(text, sizeof text, "{\"ratio\": %s}", texts[i]);
		struct story s = read_story(text, (size_t)len, &failed);
		assert_false(failed);
		assert_true(s.ratio == strtod(texts[i], NULL));
	}
}

/* Truncated anywhere, and with any byte replaced by another: an answer, or `failed`, and never a read outside. */
static void test_broken(void **state)
{
	struct buf b;
	bool failed;
	(void)state;
	buf_init(&b, 1 << 16);
	write_story(&b);
	for (size_t len = 0; len < b.len; len++) {
		(void)read_story(b.data, len, &failed);
		assert_true(failed);
	}
	for (size_t i = 0; i < b.len; i++) {
		char kept = b.data[i];
		for (const char *c = "\"\\{}[],:u0 n"; *c; c++) {
			b.data[i] = *c;
			(void)read_story(b.data, b.len, &failed);
		}
		b.data[i] = kept;
	}
	char deep[200];
	memset(deep, '[', sizeof deep);
	(void)read_story(deep, sizeof deep, &failed);
	assert_true(failed);
	buf_fini(&b);
}

/* A skipped value ends at its end, wherever in memory its quotes and brackets are. */
static void test_steps_over(void **state)
{
	static const char *const values[] = { "\"}]\\\"[{\"", "{\"a\":\"}\",\"b\":[[],{\"c\":\"\\\\\"}]}", "[\"]\",-1.5e3,null]",
		"\"\\u00e9\\n\"", "true", "-12.5" };
	char text[256];
	bool failed;
	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		for (int before = 0; before < 40; before++) {
			int len = snprintf(text, sizeof text, "{\"unknown\":[%.*s%s,\"%.*s\"],\"count\":%d}", before,
				"                                        ", values[i], before,
				"........................................", before);
			struct story s = read_story(text, (size_t)len, &failed);
			assert_false(failed);
			assert_int_equal(s.count, before);
		}
}

/* The same result as jansson's; truncated or with a byte replaced, a tree or none, and never a read outside. */
static void test_tree(void **state)
{
	static const char *const none[] = { "", "{", "[1,", "{\"a\"}", "{\"a\":}", "{1:2}", "[nil]", "{} {}", "\"a", "[1]]" };
	struct buf b;
	(void)state;
	buf_init(&b, 1 << 16);
	buf_puts(&b, " [0,-7, 123456789012345678,1.5,-2e-3,true,false , null,{},[], {\"a\":{\"b\":\"\"},\"c\":[\"x\"]},");
	write_story(&b);
	buf_puts(&b, "]\n");
	json_t *mine = jsonr_tree(b.data, b.len), *theirs = json_loadb(b.data, b.len, 0, NULL);
	assert_non_null(theirs);
	assert_true(json_equal(mine, theirs));
	json_decref(mine);
	json_decref(theirs);
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		assert_null(jsonr_tree(none[i], strlen(none[i])));
	char deep[200];
	memset(deep, '[', 100);
	memset(deep + 100, ']', 100);
	assert_null(jsonr_tree(deep, sizeof deep));
	for (size_t i = 0; i < b.len; i++) {
		char kept = b.data[i], *exact = malloc(i + 1);
		memcpy(exact, b.data, i);
		json_decref(jsonr_tree(exact, i));
		free(exact);
		for (const char *c = "\"\\{}[],:u0 n"; *c; c++) {
			b.data[i] = *c;
			json_decref(jsonr_tree(b.data, b.len));
		}
		b.data[i] = kept;
	}
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_reads_back), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_broken), cmocka_unit_test(test_steps_over), cmocka_unit_test(test_tree) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
