#include "web/answer/answer.h"

enum { AGE_DIGITS = 6 };

int64_t period_age(const char *text)
{
	static const char units[] = "mhdw";
	static const int64_t minutes[] = { 1, 60, INT64_C(24) * 60, INT64_C(7) * 24 * 60 };
	size_t digits = strspn(text, "0123456789");
	const char *unit = digits >= 1 && digits <= AGE_DIGITS && text[digits] ? strchr(units, text[digits]) : NULL;
	return unit && !text[digits + 1] ? strtoll(text, NULL, 10) * minutes[unit - units] * 60 * 1000 : 0;
}

static int read_end(struct http_request *r, const char *name, int64_t now_ms, int64_t *at, struct fw_err *err)
{
	const char *text = http_query(r, name);
	struct fw_err malformed = { 0 };
	*at = 0;
	if (!text || !*text)
		return 0;
	int64_t age = period_age(text);
	if (age)
		*at = now_ms - age;
	else if (clock_parse(text, at, &malformed) != 0)
		*at = 0;
	if (*at > 0)
		return 0;
	return err_set(err, ERR_INVALID,
		"%s must be a time (2026-11-21T02:46:00Z), a day (2026-11-21) or how long ago (90m, 12h, 7d, 2w)", name);
}

int period_read(struct http_request *r, struct period *out, struct fw_err *err)
{
	int64_t now_ms = clock_utc_ms();
	if (read_end(r, "since", now_ms, &out->since, err) != 0 || read_end(r, "until", now_ms, &out->until, err) != 0)
		return -1;
	return !out->until || out->since < out->until ? 0 : err_set(err, ERR_INVALID, "until must come after since");
}

bool period_holds(const struct period *p, int64_t at)
{
	return at >= p->since && (!p->until || at < p->until);
}
