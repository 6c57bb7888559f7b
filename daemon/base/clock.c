/* clock.c - the two clocks, each for its purpose: durations never come from the wall clock. */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t clock_mono_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_utc_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* `n` digits and what follows them. */
static void digits(char *to, int n, int value, char after)
{
	for (int i = n - 1; i >= 0; i--, value /= 10)
		to[i] = (char)('0' + value % 10);
	to[n] = after;
}

/* Days since 1970-01-01 as a date of the Gregorian calendar. Source: H. Hinnant, "chrono-compatible low-level date algorithms". */
static void civil_date(int64_t days, int64_t *year, int *month, int *day)
{
	int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
	int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * y + y / 4 - y / 100), from_march = (5 * of_year + 2) / 153;

	*day = (int)(of_year - (153 * from_march + 2) / 5 + 1);
	*month = (int)(from_march < 10 ? from_march + 3 : from_march - 9);
	*year = y + era * 400 + (*month <= 2);
}

void clock_format(int64_t utc_ms, char text[32])
{
	const int64_t day_ms = INT64_C(24) * 3600 * 1000;
	int64_t days = utc_ms / day_ms, rest = utc_ms % day_ms, year;
	int month, day, seconds;

	if (rest < 0) {
		rest += day_ms;
		days--;
	}
	civil_date(days, &year, &month, &day);
	/* Far outside of any real date: still a text, and one that cannot be taken for a date. */
	if (year < 0 || year > 9999) {
		memcpy(text, "invalid-time", sizeof "invalid-time");
		return;
	}
	seconds = (int)(rest / 1000);
	digits(text, 4, (int)year, '-');
	digits(text + 5, 2, month, '-');
	digits(text + 8, 2, day, 'T');
	digits(text + 11, 2, seconds / 3600, ':');
	digits(text + 14, 2, seconds / 60 % 60, ':');
	digits(text + 17, 2, seconds % 60, '.');
	digits(text + 20, 3, (int)(rest % 1000), 'Z');
	text[24] = '\0';
}
