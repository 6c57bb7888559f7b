/* Accept headers: exact ranges before wide ones, weights, and malformed values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "web/http/http.h"

static void test_quality(void **state)
{
	static const struct {
		const char *accept, *type;
		int percent;
	} cases[] = {
		{ NULL, "application/json", 100 },
		{ "", "application/json", 100 },
		{ "*/*", "application/json", 100 },
		{ "application/json", "application/json; charset=utf-8", 100 },
		{ "APPLICATION/JSON", "application/json", 100 },
		{ "application/*;q=0.5", "application/json", 50 },
		{ "text/html, application/xhtml+xml, */*;q=0.8", "text/csv; charset=utf-8; header=present", 80 },
		{ "text/*;q=0.3,text/csv;q=0.9", "text/csv", 90 },
		{ "text/csv;q=0.9,text/*;q=0.3", "text/csv", 90 },
		{ "text/csv;q=0, */*", "text/csv", 0 },
		{ "*/*, text/csv;q=0", "text/html", 100 },
		{ "image/png", "text/csv", 0 },
		{ "text/csvx", "text/csv", 0 },
		{ "text/cs", "text/csv", 0 },
		{ "text", "text/csv", 0 },
		{ "*", "text/csv", 0 },
		{ ",,;q=1, text/csv ;q=0.2", "text/csv", 20 },
		{ "text/csv;level=1;q=0.4", "text/csv", 40 },
		{ "text/csv;q=7", "text/csv", 0 },
		{ "text/csv;q=", "text/csv", 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int got = (int)(100 * media_quality(cases[i].accept, cases[i].type) + 0.5);
		if (got != cases[i].percent)
			fail_msg("%s of %s: %d", cases[i].accept, cases[i].type, got);
	}
}

static void test_gzip(void **state)
{
	static const struct {
		const char *accept;
		bool takes;
	} cases[] = { { NULL, false }, { "", false }, { "gzip", true }, { "GZIP", true }, { "x-gzip", true },
		{ "br, gzip;q=0.1", true }, { "br", false }, { "*", true }, { "*;q=0", false }, { "gzip;q=0, *", false },
		{ "*;q=0, gzip", true }, { "gzipped", false }, { "identity", false }, { "gzip; q=0", false },
		{ "deflate , gzip ; q=1", true } };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (media_accepts_gzip(cases[i].accept) != cases[i].takes)
			fail_msg("%s", cases[i].accept ? cases[i].accept : "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_quality), cmocka_unit_test(test_gzip) };
	return cmocka_run_group_tests_name("media", tests, NULL, NULL);
}
