/* clock.c - two clocks for different purposes: durations never come from the wall clock. */
#include "lib/lib.h"

#include <ctype.h>
#include <time.h>

int64_t clock_mono_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_boot_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_utc_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void two_digits(char *to, int value)
{
	to[0] = (char)('0' + value / 10);
	to[1] = (char)('0' + value % 10);
}

/*
 * Days since 1970-01-01 as a date of the Gregorian calendar. Source: H. Hinnant, "chrono-compatible low-level date algorithms".
 */
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
	/* Far outside of any real date: still a text, and one that cannot be confused with a date. */
	if (year < 0 || year > 9999) {
		memcpy(text, "invalid-time", sizeof "invalid-time");
		return;
	}
	seconds = (int)(rest / 1000);
	memcpy(text, "0000-00-00T00:00:00.000Z", 25);
	two_digits(text, (int)year / 100);
	two_digits(text + 2, (int)year % 100);
	two_digits(text + 5, month);
	two_digits(text + 8, day);
	two_digits(text + 11, seconds / 3600);
	two_digits(text + 14, seconds / 60 % 60);
	two_digits(text + 17, seconds % 60);
	text[20] = (char)('0' + rest % 1000 / 100);
	two_digits(text + 21, (int)(rest % 100));
}

/* The inverse; same source. */
static int64_t days_of(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year, era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
	int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Parse exactly `n` digits, at most `most`; *at moves behind them. */
static bool take_number(const char **at, int n, int least, int most, int *value)
{
	*value = 0;
	for (int i = 0; i < n; i++, (*at)++) {
		if (!isdigit((unsigned char)**at))
			return false;
		*value = *value * 10 + (**at - '0');
	}
	return *value >= least && *value <= most;
}

static bool take_one_of(const char **at, const char *any)
{
	if (!**at || !strchr(any, **at))
		return false;
	(*at)++;
	return true;
}

static bool take_date(const char **at, int64_t *days)
{
	int year, month, day, y, m, d;
	int64_t back;
	if (!take_number(at, 4, 0, 9999, &year) || !take_one_of(at, "-") || !take_number(at, 2, 1, 12, &month) ||
		!take_one_of(at, "-") || !take_number(at, 2, 1, 31, &day))
		return false;
	*days = days_of(year, month, day);
	civil_date(*days, &back, &m, &d);
	y = (int)back;
	return y == year && m == month && d == day; /* rejects e.g. the 30th of February */
}

/* Parse the time of day and its offset from UTC. */
static bool take_time(const char **at, int64_t *ms)
{
	int hour, minute, second, thousandth = 0, offset_hour = 0, offset_minute = 0, ahead = 1;
	if (!take_number(at, 2, 0, 23, &hour) || !take_one_of(at, ":") || !take_number(at, 2, 0, 59, &minute) ||
		!take_one_of(at, ":") || !take_number(at, 2, 0, 60, &second))
		return false;
	if (take_one_of(at, ".")) {
		if (!isdigit((unsigned char)**at))
			return false;
		for (int unit = 100; isdigit((unsigned char)**at); unit /= 10)
			thousandth += unit * (*(*at)++ - '0');
	}
	if (!take_one_of(at, "Zz")) {
		ahead = **at == '-' ? -1 : 1;
		if (!take_one_of(at, "+- ") || !take_number(at, 2, 0, 23, &offset_hour) || !take_one_of(at, ":") ||
			!take_number(at, 2, 0, 59, &offset_minute))
			return false;
	}
	*ms = ((hour * 60 + minute - ahead * (offset_hour * 60 + offset_minute)) * INT64_C(60) + second) * 1000 + thousandth;
	return true;
}

int clock_parse(const char *text, int64_t *utc_ms, struct fw_err *err)
{
	const char *at = text;
	int64_t days, ms = 0;
	if (take_date(&at, &days) && (!*at || (take_one_of(&at, "Tt ") && take_time(&at, &ms) && !*at))) {
		*utc_ms = days * 24 * 3600 * 1000 + ms;
		return 0;
	}
	return err_set(err, ERR_INVALID, "%.60s is no time such as 2026-11-21T02:46:00Z or 2026-11-21", text);
}
