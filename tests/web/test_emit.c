/* Escaping, and the chart that uses it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "web/html/html.h"

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

static void test_format(void **state)
{
	(void)state;
	const char *odd = "a<b>&\"c'", *absent = NULL;
	buf_clear(&out);
	emit_format(&out, "<a href=\"/jobs?repo=%s&amp;n=%lld\" title=\"%s\">%s</a> 5 %%%c", odd, 7LL, odd, odd, '.');
	assert_string_equal(out.data, "<a href=\"/jobs?repo=a%3Cb%3E%26%22c%27&amp;n=7\" title=\"a&lt;b&gt;&amp;&quot;c&#39;\">"
				      "a&lt;b&gt;&amp;\"c'</a> 5 %.");
	buf_clear(&out);
	emit_format(&out, "x=%s %-s%s%.1f %.*f", "a b", "<b>c</b>", absent, 2.25, 2, 1.0);
	assert_string_equal(out.data, "x=a b <b>c</b>2.2 1.00");
	buf_clear(&out);
	emit_format(&out, "<b>%-.3s</b>%s{name}, %.2f{signed}, %f{change}", "<i>x", "health_check", -1.5, 2.25);
	assert_string_equal(out.data, "<b><i></b>health check, \u22121.50, +2.25\u00a0%");
	buf_clear(&out);
	emit_format(&out, "%s{sha} %f{ms} %lld{time} %f{decided %d} %s{case %s %lld} %d", "<0123456789abc", 3.18, 0LL, 2.0, 0,
		"a/b", "", 3LL, 4);
	assert_string_equal(
		out.data, "<code>&lt;012345678</code> 3.1800 \u2013 +2.00\u00a0% a/b<span class=\"dim w\">, 3</span> 4");
	buf_clear(&out);
	emit_format(&out,
		"a%s{? in <b title=\"*\">*</b>}%s{?x *}%d{?, run *}%lld{?, <a href=\"/*\">*</a>}%.1f{?, * s}%.1f{?, * s} %.1f{known} %.4g{known} %s",
		odd, "", 0, 7LL, 2.25, NAN, 1.0, NAN, odd);
	assert_string_equal(out.data,
		"a in <b title=\"a&lt;b&gt;&amp;&quot;c&#39;\">a&lt;b&gt;&amp;\"c'</b>, <a href=\"/7\">7</a>, 2.2 s 1.0 \u2013 "
		"a&lt;b&gt;&amp;\"c'");
	buf_clear(&out);
	emit_format(&out, "%lld{comparison} %lld{job} %lld{alert}", 32LL, 33LL, 3LL);
	assert_string_equal(
		out.data, "<a href=\"/comparisons/32\">C32</a> <a href=\"/jobs/33\">J33</a> <a href=\"/alerts/3\">A3</a>");
	/* an unknown conversion fails instead of writing text unescaped */
	buf_clear(&out);
	emit_format(&out, "%.3s", "<b>");
	assert_true(out.failed);
	buf_fini(&out);
	buf_init(&out, 1 << 20);
	emit_format(&out, "%5d", 3);
	assert_true(out.failed);
	buf_fini(&out);
	buf_init(&out, 1 << 20);
	emit_format(&out, "%f{verdict}", 3.0);
	assert_true(out.failed);
	buf_fini(&out);
	buf_init(&out, 1 << 20);
}

static int count(const char *needle)
{
	int n = 0;
	for (const char *s = out.data; (s = strstr(s, needle)); s += strlen(needle))
		n++;
	return n;
}

static struct chart_point points[5], others[2];

static struct chart a_chart(const char *summary, int n)
{
	for (int i = 0; i < 5; i++) {
		points[i] = (struct chart_point){
			.y = i == 2 ? NAN : 600 + i, .low = NAN, .high = NAN, .at = 1000 * i, .comparison = i
		};
		snprintf(points[i].label, sizeof points[i].label, "<p%d>", i);
	}
	struct chart c = { .n_lines = 1, .unit = "TFLOP/s", .summary = summary };
	c.line[0].point = points;
	c.line[0].n = n;
	return c;
}

static void test_age(void **state)
{
	(void)state;
	enum { NOW_S = 1700000000 };
	static const struct {
		int before_s;
		const char *text;
	} cases[] = { { 0, "just now" }, { 59, "just now" }, { -59, "just now" }, { 60, "1 min ago" }, { 3599, "59 min ago" },
		{ 3600, "1 h ago" }, { 2 * 86400 - 1, "47 h ago" }, { 2 * 86400, "2 d ago" }, { 60 * 86400 - 1, "59 d ago" },
		{ 60 * 86400, "2023-09-15" }, { -300, "in 5 min" }, { -7200, "in 2 h" } };
	char age[LAYOUT_AGE_SIZE];
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		layout_age((NOW_S - cases[i].before_s) * INT64_C(1000), NOW_S * INT64_C(1000), age);
		assert_string_equal(age, cases[i].text);
	}
	buf_clear(&out);
	layout_time(&out, 1000);
	assert_string_equal(out.data, "<time datetime=1970-01-01T00:00:01Z title=1970-01-01T00:00:01Z>1970-01-01</time>");
}

static void test_chart(void **state)
{
	(void)state;
	struct chart chart = a_chart("a & b", 5);
	points[3].is_slower = true;
	buf_clear(&out);
	chart_draw(&out, &chart);
	assert_int_equal(count("<circle"), 3);
	assert_int_equal(count("class=\"loss\""), 1);
	assert_int_equal(count("class=tip>&lt;p") + count("<title>&lt;p"), 4);
	assert_int_equal(count("href=\"/comparisons/"), 3); /* the first belongs to none */
	assert_int_equal(count("<figcaption>a &amp; b</figcaption>"), 1);
	assert_int_equal(count("data-chart"), 0);
	const char *line = strstr(out.data, "class=\"line l0\" d=\"");
	assert_non_null(line);
	int moves = 0;
	for (const char *s = line + 19; *s != '"'; s++)
		moves += *s == 'M';
	assert_int_equal(moves, 2); /* the gap is not joined */
	chart = a_chart("none", 0);
	buf_clear(&out);
	chart_draw(&out, &chart);
	assert_int_equal(count("No timed points yet"), 1);
	chart = a_chart("one", 1);
	points[0].y = 5;
	buf_clear(&out);
	chart_draw(&out, &chart);
	assert_int_equal(count("<circle"), 1);
	assert_int_equal(count("nan"), 0);
	assert_int_equal(count("inf"), 0);
}

/* Points of two environments are not joined; the threshold is on the axis, also where no point is near it. */
static void test_chart_breaks(void **state)
{
	(void)state;
	struct chart chart = a_chart("moved", 5);
	for (int i = 0; i < 5; i++) {
		points[i].y = 600;
		points[i].is_slower = false;
		points[i].baseline_period = i < 3 ? 7 : 8;
	}
	chart.has_limit = true;
	chart.slower_y = 400;
	chart.faster_y = 800;
	buf_clear(&out);
	chart_draw(&out, &chart);
	const char *line = strstr(out.data, "class=\"line l0\" d=\""), *limit = strstr(out.data, "class=\"limit\" d=\"M84 ");
	assert_non_null(line);
	assert_non_null(limit);
	int moves = 0;
	for (const char *s = line + 19; *s != '"'; s++)
		moves += *s == 'M';
	assert_int_equal(moves, 2);
	double y = strtod(limit + strlen("class=\"limit\" d=\"M84 "), NULL);
	assert_true(y > 200 && y < 260); /* near the lower end of the plot */
}

/* A second line, intervals, and marks on both axes. */
static void test_chart_lines(void **state)
{
	(void)state;
	for (int by_date = 0; by_date < 2; by_date++) {
		struct chart chart = a_chart("two", 5);
		for (int i = 0; i < 5; i++) {
			points[i].low = points[i].y - 1;
			points[i].high = points[i].y + 1;
		}
		others[0] = points[0];
		others[1] = points[4];
		chart.line[1].point = others;
		chart.line[1].n = chart.n_lines = 2;
		snprintf(chart.line[1].name, sizeof chart.line[1].name, "a<b");
		chart.by_date = by_date;
		chart.mark[0] = (struct chart_mark){ .at = 2500, .tone = "bad", .label = "step" };
		chart.mark[1] = (struct chart_mark){ .at = 999999, .tone = "", .label = "later" };
		chart.n_marks = 2;
		buf_clear(&out);
		chart_draw(&out, &chart);
		assert_int_equal(count("<path class=\"line l"), 4); /* with the key's */
		assert_int_equal(count("class=\"band\""), 2);       /* on both sides of the gap */
		assert_int_equal(count("a&lt;b"), 1);
		assert_int_equal(count("class=\"mark bad\""), 1);
		assert_int_equal(count(">later<"), 0); /* beyond the newest push */
		assert_int_equal(count("nan"), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_argument),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_age),
		cmocka_unit_test(test_chart),
		cmocka_unit_test(test_chart_lines),
		cmocka_unit_test(test_chart_breaks),
	};
	buf_init(&out, 1 << 20);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_fini(&out);
	return failed;
}
