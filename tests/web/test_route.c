/* Addresses: which paths are matched, the pattern that they fit, and their query arguments. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "web/http/http.h"
#include "web/http/internal.h"

static void test_plain(void **state)
{
	(void)state;
	static const char *const plain[] = { "/", "/jobs", "/api/v1/jobs/17/log", "/static/style.css", "/a-b_c~d.e" };
	static const char *const odd[] = { "", "jobs", "*", "http://x/", "/..", "/a/../b", "/a//b", "//", "/a b", "/a%2fb",
		"/a\\b", "/a;b", "/a\xff", "/<b>", "/a\r\nb", "/a?b" };
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
		if (!route_is_plain(plain[i]))
			fail_msg("%s is refused", plain[i]);
	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
		if (route_is_plain(odd[i]))
			fail_msg("%s passes", odd[i]);
	char lengthy[ROUTE_PATH_MAX + 1] = "/";
	memset(lengthy + 1, 'a', ROUTE_PATH_MAX - 2);
	assert_true(route_is_plain(lengthy));
	lengthy[ROUTE_PATH_MAX - 1] = 'a';
	assert_false(route_is_plain(lengthy));
}

static void test_match(void **state)
{
	(void)state;
	static const struct {
		const char *pattern, *path, *parts; /* parts joined by '|'; NULL: no match */
	} cases[] = {
		{ "/", "/", "" },
		{ "/", "/a", NULL },
		{ "/jobs", "/jobs", "" },
		{ "/jobs", "/jobs/", NULL },
		{ "/jobs", "/job", NULL },
		{ "/jobs/{id}", "/jobs/17", "17" },
		{ "/jobs/{id}", "/jobs/", NULL },
		{ "/jobs/{id}", "/jobs", NULL },
		{ "/jobs/{id}", "/jobs/17/log", NULL },
		{ "/jobs/{id}", "/jobs/17/", NULL },
		{ "/jobs/{id}/log", "/jobs/17/log", "17" },
		{ "/jobs/{id}/log", "/jobs/17/lag", NULL },
		{ "/jobs/{id}/log", "/jobs/17", NULL },
		{ "/jobs/{id}/log", "/jobs//log", NULL },
		{ "/a/{x}/b/{y}", "/a/1/b/2", "1|2" },
		{ "/c/{id}.csv", "/c/17.csv", "17" },
		{ "/c/{id}.csv", "/c/17", NULL },
		{ "/c/{id}.csv", "/c/.csv", NULL },
		{ "/c/{id}.csv", "/c/17.csv.csv", "17.csv" },
		{ "/c/{id}.csv", "/c/17.csv/x", NULL },
		{ "/c/{id}.csv/{x}", "/c/17.csv/x", "17|x" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct route_parts parts;
		char joined[128] = "";
		bool fits = route_match(cases[i].pattern, cases[i].path, &parts);
		if (fits != !!cases[i].parts)
			fail_msg("%s %s %s", cases[i].path, fits ? "fits" : "does not fit", cases[i].pattern);
		for (int k = 0; fits && k < parts.n; k++)
			snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s", k ? "|" : "", parts.part[k]);
		if (fits)
			assert_string_equal(joined, cases[i].parts);
	}
}

static void test_pairs(void **state)
{
	(void)state;
	struct pairs p;
	char text[] = "a=1&b=x%20y+z&empty=&alone&%61%3d=%C3%BC&a=2&c==%3D";
	assert_int_equal(pairs_split(&p, text), 0);
	assert_string_equal(pairs_get(&p, "a"), "1");
	assert_string_equal(pairs_get(&p, "b"), "x y z");
	assert_string_equal(pairs_get(&p, "empty"), "");
	assert_string_equal(pairs_get(&p, "alone"), "");
	assert_string_equal(pairs_get(&p, "a="), "\u00fc");
	assert_string_equal(pairs_get(&p, "c"), "==");
	assert_string_equal(pairs_unknown(&p, "a b empty c"), "alone");
	assert_string_equal(pairs_unknown(&p, ""), "a");
	assert_null(pairs_unknown(&p, "c a= alone empty b a"));
	assert_string_equal(pairs_unknown(&p, "c a= alone emptyish b a"), "empty");
	assert_null(pairs_get(&p, "missing"));
	static const char *const bad[] = { "a=%", "a=%2", "a=%zz", "a=%2g", "%00=1", "a=%00" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char copy[32];
		snprintf(copy, sizeof copy, "%s", bad[i]);
		if (pairs_split(&p, copy) != -1)
			fail_msg("%s passes", bad[i]);
	}
	char many[3 * PAIRS_MAX + 3] = "";
	for (int i = 0; i < PAIRS_MAX; i++)
		strncat(many, "a&", sizeof many - strlen(many) - 1);
	assert_int_equal(pairs_split(&p, many), 0);
	assert_int_equal(p.n, PAIRS_MAX);
	many[0] = '\0';
	for (int i = 0; i <= PAIRS_MAX; i++)
		strncat(many, "a&", sizeof many - strlen(many) - 1);
	assert_int_equal(pairs_split(&p, many), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_pairs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
