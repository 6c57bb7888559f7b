/* YAML: all mistakes of a file at once, with position, key and remedy; values to their last character. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/lib.h"

static struct yaml *doc(const char *text)
{
	struct yaml *y = yaml_new(text, strlen(text), "f.yml");

	assert_non_null(y);
	return y;
}

static void reads_a_tree(void **state)
{
	struct yaml *y = doc("name: kernels\nlist: [a, 'b c', \"\"]\nmap:\n  x: 1\n  y: 2\nempty: {}\n");
	struct yaml_node *root = yaml_root(y), *list, *map;
	const char *text = "unset", *key;
	int64_t v = 0;

	(void)state;
	assert_true(yaml_is_map(root));
	assert_int_equal(yaml_string(y, yaml_get(y, root, "name"), &text), 0);
	assert_string_equal(text, "kernels");
	list = yaml_get(y, root, "list");
	assert_true(yaml_is_list(list));
	assert_int_equal(yaml_count(list), 3);
	assert_int_equal(yaml_string(y, yaml_item(y, list, 1), &text), 0);
	assert_string_equal(text, "b c");
	assert_int_equal(yaml_string(y, yaml_item(y, list, 2), &text), 0);
	assert_string_equal(text, "");
	assert_null(yaml_item(y, list, 3));
	map = yaml_get(y, root, "map");
	assert_int_equal(yaml_count(map), 2);
	assert_int_equal(yaml_int(y, yaml_pair(y, map, 1, &key), 0, 10, &v), 0);
	assert_string_equal(key, "y");
	assert_int_equal(v, 2);
	yaml_pair(y, map, 0, &key);
	yaml_finish(y, map);
	assert_int_equal(yaml_count(yaml_get(y, root, "empty")), 0);
	assert_null(yaml_get(y, root, "absent"));
	text = "kept";
	assert_int_equal(yaml_string(y, yaml_get(y, root, "absent"), &text), 0);
	assert_string_equal(text, "kept");
	assert_null(yaml_get(y, NULL, "x"));
	yaml_finish(y, root);
	assert_int_equal(yaml_mistakes(y), 0);
	assert_string_equal(yaml_mistake_text(y), "");
	yaml_free(y);
	yaml_free(NULL);
}

static void all_mistakes_with_their_positions(void **state)
{
	struct yaml *y =
		doc("poll: 30\nportt: 8080\nflag: no\nsub:\n  - {size: 12x}\n  - {size: 99}\npoll: 30s\nzzzzzzzzzz: 1\n");
	struct yaml_node *root = yaml_root(y), *sub;
	int64_t v = 0;
	bool flag = false;
	int i;

	(void)state;
	assert_int_equal(yaml_duration_ms(y, yaml_get(y, root, "poll"), 0, 100000, &v), -1);
	assert_int_equal(yaml_int(y, yaml_get(y, root, "port"), 0, 65535, &v), 0);
	assert_int_equal(yaml_bool(y, yaml_get(y, root, "flag"), &flag), -1);
	sub = yaml_get(y, root, "sub");
	for (i = 0; i < 2; i++) {
		struct yaml_node *item = yaml_item(y, sub, i);

		assert_int_equal(yaml_int(y, yaml_get(y, item, "size"), 0, 50, &v), -1);
		yaml_finish(y, item);
	}
	yaml_finish(y, root);
	assert_int_equal(yaml_mistakes(y), 7);
	assert_string_equal(yaml_mistake_text(y),
		"f.yml:1:7: poll: `30` is not a duration; write a number with its unit (ms, s, min, h, d), such as 30s\n"
		"f.yml:3:7: flag: `no` is neither true nor false\n"
		"f.yml:5:12: sub[0].size: `12x` is not a whole number\n"
		"f.yml:6:12: sub[1].size: 99 is out of range; must be 0 to 50\n"
		"f.yml:2:1: portt: unknown key; did you mean `port`?\n"
		"f.yml:7:1: poll: already given in line 1; remove one\n"
		"f.yml:8:1: zzzzzzzzzz: unknown key; remove it\n");
	yaml_free(y);
}

static void wrong_kinds_are_mistakes(void **state)
{
	struct yaml *y = doc("a: [1]\nb: {x: 1}\nc:\nd: ~\ne: text\n");
	struct yaml_node *root = yaml_root(y);
	const char *text;
	int64_t v;

	(void)state;
	assert_int_equal(yaml_string(y, yaml_get(y, root, "a"), &text), -1);
	assert_int_equal(yaml_int(y, yaml_get(y, root, "b"), 0, 1, &v), -1);
	assert_int_equal(yaml_string(y, yaml_get(y, root, "c"), &text), -1);
	assert_int_equal(yaml_string(y, yaml_get(y, root, "d"), &text), -1);
	assert_null(yaml_item(y, yaml_get(y, root, "e"), 0));
	assert_null(yaml_get(y, yaml_get(y, root, "e"), "x"));
	assert_int_equal(yaml_mistakes(y), 5); /* e is reported once */
	yaml_mistake(y, yaml_get(y, root, "e"), "own words %d", 3);
	assert_non_null(strstr(yaml_mistake_text(y), "f.yml:5:4: e: own words 3\n"));
	yaml_free(y);
}

static void numbers_to_their_last_character(void **state)
{
	static const char *const bad_int[] = { "1.5", "0x10", "1 ", "''", "ten", "1e3", "--1", "99999999999999999999" };
	static const char *const bad_double[] = { "nan", "inf", "1.5x", "0x1p3", "e5", ".", "1,5", "1e999" };
	static const char *const bad_duration[] = { "5", "5 sec", "s", "-1s", "1d", "5m", "1e3" };
	char line[80];
	size_t i;
	int64_t v;
	double d;

	(void)state;
	for (i = 0; i < sizeof bad_int / sizeof bad_int[0]; i++) {
		struct yaml *y;

		snprintf(line, sizeof line, "k: \"%s\"\n", bad_int[i]);
		y = doc(line);
		assert_int_equal(yaml_int(y, yaml_get(y, yaml_root(y), "k"), -1000, 1000, &v), -1);
		assert_int_equal(yaml_mistakes(y), 1);
		yaml_free(y);
	}
	for (i = 0; i < sizeof bad_double / sizeof bad_double[0]; i++) {
		struct yaml *y;

		snprintf(line, sizeof line, "k: \"%s\"\n", bad_double[i]);
		y = doc(line);
		assert_int_equal(yaml_double(y, yaml_get(y, yaml_root(y), "k"), -1e300, 1e300, &d), -1);
		yaml_free(y);
	}
	for (i = 0; i < sizeof bad_duration / sizeof bad_duration[0]; i++) {
		struct yaml *y;

		snprintf(line, sizeof line, "k: \"%s\"\n", bad_duration[i]);
		y = doc(line);
		assert_int_equal(yaml_duration_ms(y, yaml_get(y, yaml_root(y), "k"), 0, 1000000, &v), -1);
		yaml_free(y);
	}
}

static void good_values(void **state)
{
	struct yaml *y = doc("a: 1.5 min\nb: 250ms\nc: 600\nd: 2h\ne: 1.5%\nf: 2\ng: -1e3\nh: true\ni: 0.5h\n");
	struct yaml_node *root = yaml_root(y);
	int64_t v = 0;
	double d = 0;
	bool flag = false;

	(void)state;
	assert_int_equal(yaml_duration_ms(y, yaml_get(y, root, "a"), 0, INT64_MAX / 2, &v), 0);
	assert_int_equal(v, 90000);
	assert_int_equal(yaml_duration_ms(y, yaml_get(y, root, "b"), 0, INT64_MAX / 2, &v), 0);
	assert_int_equal(v, 250);
	assert_int_equal(yaml_seconds(y, yaml_get(y, root, "c"), 0, 1e9, &d), 0);
	assert_true(d == 600);
	assert_int_equal(yaml_seconds(y, yaml_get(y, root, "d"), 0, 1e9, &d), 0);
	assert_true(d == 7200);
	assert_int_equal(yaml_percent(y, yaml_get(y, root, "e"), 0, 100, &d), 0);
	assert_true(d == 1.5);
	assert_int_equal(yaml_percent(y, yaml_get(y, root, "f"), 0, 100, &d), 0);
	assert_true(d == 2);
	assert_int_equal(yaml_double(y, yaml_get(y, root, "g"), -1e4, 0, &d), 0);
	assert_true(d == -1000);
	assert_int_equal(yaml_bool(y, yaml_get(y, root, "h"), &flag), 0);
	assert_true(flag);
	assert_int_equal(yaml_duration_ms(y, yaml_get(y, root, "i"), 0, INT64_MAX / 2, &v), 0);
	assert_int_equal(v, 1800000);
	assert_int_equal(yaml_mistakes(y), 0);
	yaml_free(y);
}

static void hostile_documents_are_mistakes(void **state)
{
	static const char *const bad[] = { "a: [1, 2\n", "a: &x 1\nb: *x\n", "a: *x\n", "--- 1\n--- 2\n", "a: !!str 1\n",
		"? [a]\n: b\n", "a: \"\\0\"\n", "\tx: 1\n", "a: \xff\xfe\n", "a: b: c\n", "{", "\"unclosed" };
	struct buf deep;
	struct yaml *y;
	size_t i;
	int k;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		y = doc(bad[i]);
		assert_null(yaml_root(y));
		assert_int_equal(yaml_mistakes(y), 1);
		assert_memory_equal(yaml_mistake_text(y), "f.yml:", 6);
		yaml_free(y);
	}
	buf_init(&deep, 10000);
	for (k = 0; k < 1000; k++)
		buf_puts(&deep, "[");
	y = doc(deep.data);
	assert_null(yaml_root(y));
	assert_non_null(strstr(yaml_mistake_text(y), "nested too deeply"));
	yaml_free(y);
	buf_fini(&deep);
	y = doc("");
	assert_null(yaml_root(y));
	assert_int_equal(yaml_mistakes(y), 0);
	yaml_free(y);
	y = doc("\xff\xfe"
		"a\0:\0");
	assert_string_equal(yaml_mistake_text(y), "f.yml:1:1: is UTF-16; save it as UTF-8\n");
	yaml_free(y);
	y = doc("\xef\xbb\xbf"
		"a: 1\nb\n"); /* a byte order mark is skipped, and positions are as in an editor */
	assert_memory_equal(yaml_mistake_text(y), "f.yml:3:1: ", 11);
	yaml_free(y);
	y = doc("\xef\xbb\xbf"
		"a: 1\nb: 2\n");
	assert_int_equal(yaml_mistakes(y), 0);
	assert_int_equal(yaml_count(yaml_root(y)), 2);
	yaml_free(y);
	y = doc("just text\n");
	assert_false(yaml_is_map(yaml_root(y)));
	yaml_free(y);
}

/* The thousandth mistake is of no use, and finding it would take quadratic time in the number of keys: minutes for a file of a
 * branch. */
static void a_long_file_of_unknown_keys_ends_soon(void **state)
{
	struct buf text;
	struct yaml *y;

	(void)state;
	buf_init(&text, 2 << 20);
	for (int i = 0; i < 90000; i++)
		buf_printf(&text, "k%x:\n", (unsigned)i);
	y = yaml_new(text.data, text.len, "f.yml");
	yaml_get(y, yaml_root(y), "known");
	yaml_finish(y, yaml_root(y));
	assert_in_range(yaml_mistakes(y), 50, 100);
	assert_non_null(strstr(yaml_mistake_text(y), "f.yml:50:1: k31: unknown key"));
	assert_null(strstr(yaml_mistake_text(y), "f.yml:51:"));
	yaml_free(y);
	buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reads_a_tree), cmocka_unit_test(all_mistakes_with_their_positions),
		cmocka_unit_test(wrong_kinds_are_mistakes), cmocka_unit_test(numbers_to_their_last_character),
		cmocka_unit_test(good_values), cmocka_unit_test(hostile_documents_are_mistakes),
		cmocka_unit_test(a_long_file_of_unknown_keys_ends_soon) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
