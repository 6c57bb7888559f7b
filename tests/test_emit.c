/* Escaping, and the chart that is drawn with it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "web/chart.h"
#include "web/emit.h"

static struct buf out;

static const char *text(void (*emit)(struct buf *, const char *), const char *value)
{
	buf_clear(&out);
	emit(&out, value);
	return out.data;
}

static void test_text(void **state)
{
	(void)state;
	assert_string_equal(text(emit_text, "a<b>&\"c'"), "a&lt;b&gt;&amp;\"c'");
	assert_string_equal(text(emit_attribute, "a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
	assert_string_equal(text(emit_text, "gr\u00fc\u00df"), "gr\u00fc\u00df");
	assert_string_equal(text(emit_text, "bad \xff\xc0\x80 end"), "bad \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd end");
	assert_string_equal(text(emit_text, "a\x1b[31m"), "a\\u{001b}[31m");
	assert_string_equal(text(emit_text, "main\u202egnp"), "main\\u{202e}gnp");
	assert_string_equal(text(emit_text, NULL), "");
}

static void test_argument(void **state)
{
	(void)state;
	assert_string_equal(text(emit_argument, "a/b c&d=\xff"), "a%2Fb%20c%26d%3D%FF");
}

static void test_csv(void **state)
{
	(void)state;
	assert_string_equal(text(emit_csv, "plain"), "plain");
	assert_string_equal(text(emit_csv, "a,\"b\""), "\"a,\"\"b\"\"\"");
	assert_string_equal(text(emit_csv, "=1+1"), "\"'=1+1\"");
	assert_string_equal(text(emit_csv, "@x"), "\"'@x\"");
	assert_string_equal(text(emit_csv, "-1.5"), "-1.5");
	assert_string_equal(text(emit_csv, "-x"), "\"'-x\"");
}

static int count(const char *needle)
{
	int n = 0;
	for (const char *s = out.data; (s = strstr(s, needle)); s += strlen(needle))
		n++;
	return n;
}

static void test_chart(void **state)
{
	(void)state;
	static struct chart_point points[5];
	for (int i = 0; i < 5; i++) {
		points[i].y = i == 2 ? NAN : 600 + i;
		snprintf(points[i].label, sizeof points[i].label, "<p%d>", i);
	}
	points[3].is_loss = true;
	buf_clear(&out);
	chart_line(&out, points, 5, "TFLOP/s", "a & b");
	assert_int_equal(count("<circle"), 3);
	assert_int_equal(count("class=loss"), 1);
	assert_int_equal(count("&lt;p"), 4);
	assert_int_equal(count("<figcaption>a &amp; b</figcaption>"), 1);
	const char *line = strstr(out.data, "class=line d=\"");
	assert_non_null(line);
	int moves = 0;
	for (const char *s = line + 14; *s != '"'; s++)
		moves += *s == 'M';
	assert_int_equal(moves, 2); /* the gap is not joined */
	buf_clear(&out);
	chart_line(&out, points, 0, "TFLOP/s", "none");
	assert_int_equal(count("No timed points yet"), 1);
	points[0].y = 5;
	buf_clear(&out);
	chart_line(&out, points, 1, "TFLOP/s", "one");
	assert_int_equal(count("<circle"), 1);
	assert_int_equal(count("nan"), 0);
	assert_int_equal(count("inf"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_argument),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_chart),
	};
	buf_init(&out, 1 << 20);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_fini(&out);
	return failed;
}
