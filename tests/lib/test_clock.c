/* Times as people write them: written times are parsed back, and nothing else is accepted. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <time.h>

#include "lib/lib.h"

static int64_t read_time(const char *text)
{
	struct fw_err err = { 0 };
	int64_t at = -1;
	if (clock_parse(text, &at, &err) != 0)
		fail_msg("%s: %s", text, err.text);
	return at;
}

static void every_day_is_read_as_it_is_written(void **state)
{
	(void)state;
	char text[32];
	for (int64_t day = -719468; day < 2932896; day += 13) { /* from the year 0 to 9999 */
		int64_t at = day * 86400000 + day % 86400000;
		clock_format(at, text);
		if (text[0] == 'i')
			continue;
		assert_int_equal(read_time(text), at);
		text[10] = '\0';
		assert_int_equal(read_time(text), (at - ((at % 86400000) + 86400000) % 86400000));
	}
}

static void forms_of_the_same_time(void **state)
{
	(void)state;
	const int64_t at = INT64_C(1795315560000);
	static const char *const same[] = { "2026-11-22T02:46:00Z", "2026-11-22t02:46:00z", "2026-11-22 02:46:00Z",
		"2026-11-22T02:46:00.000Z", "2026-11-22T03:46:00+01:00", "2026-11-22T03:46:00 01:00",
		"2026-11-21T21:16:00-05:30" };
	struct tm tm = { .tm_year = 126, .tm_mon = 10, .tm_mday = 22, .tm_hour = 2, .tm_min = 46 };
	assert_int_equal(timegm(&tm) * INT64_C(1000), at);
	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
		assert_int_equal(read_time(same[i]), at);
	assert_int_equal(read_time("2026-11-22T02:46:00.5Z"), at + 500);
	assert_int_equal(read_time("2026-11-22T02:46:00.123987654Z"), at + 123);
	assert_int_equal(read_time("2024-02-29"), INT64_C(1709164800000));
}

static void what_is_no_time(void **state)
{
	(void)state;
	static const char *const none[] = { "", "yesterday", "2026", "2026-11", "2026-11-31", "2026-02-29", "2026-00-01",
		"2026-13-01", "2026-11-22T", "2026-11-22T02", "2026-11-22T02:46", "2026-11-22T02:46:00", "2026-11-22T24:00:00Z",
		"2026-11-22T02:60:00Z", "2026-11-22T02:46:00.Z", "2026-11-22T02:46:00+0100", "2026-11-22T02:46:00+24:00",
		"2026-11-22T02:46:00Zx", "2026-11-22Z", " 2026-11-22", "2026-11-22 ", "26-11-22", "+2026-11-22", "2026-1-2",
		"99999-01-01" };
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		struct fw_err err = { 0 };
		int64_t at;
		if (clock_parse(none[i], &at, &err) == 0 || err.code != ERR_INVALID || !strstr(err.text, none[i]))
			fail_msg("'%s' is read", none[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_day_is_read_as_it_is_written),
		cmocka_unit_test(forms_of_the_same_time),
		cmocka_unit_test(what_is_no_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
