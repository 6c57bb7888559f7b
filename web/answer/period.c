#include "web/answer/answer.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/lib.h"

enum { AGE_DIGITS = 6 };

/* "7d"; 0 where it is no such thing. Units: ms. */
static int64_t age_of(const char *text)
{
	static const char units[] = "mhdw";
	static const int64_t minutes[] = { 1, 60, 24 * 60, 7 * 24 * 60 };
	size_t digits = strspn(text, "0123456789");
	const char *unit = digits >= 1 && digits <= AGE_DIGITS && text[digits] ? strchr(units, text[digits]) : NULL;
	return unit && !text[digits + 1] ? strtoll(text, NULL, 10) * minutes[unit - units] * 60 * 1000 : 0;
}

static int read_end(struct http_request *r, struct http_response *response, const char *name, int64_t now_ms, int64_t *at)
{
	const char *text = http_query(r, name);
	struct fw_err err = { 0 };
	char detail[256];
	*at = 0;
	if (!text || !*text)
		return 0;
	int64_t age = age_of(text);
	if (age)
		*at = now_ms - age;
	else if (clock_parse(text, at, &err) != 0)
		*at = 0;
	if (*at > 0)
		return 0;
	snprintf(detail, sizeof detail,
		"%s must be a time (2026-11-21T02:46:00Z), a day (2026-11-21) or how long ago (90m, 12h, 7d, 2w)", name);
	answer_problem(r, response, 400, detail);
	return -1;
}

int period_read(struct http_request *r, struct http_response *response, struct period *out)
{
	int64_t now_ms = clock_utc_ms();
	if (read_end(r, response, "since", now_ms, &out->since) != 0 || read_end(r, response, "until", now_ms, &out->until) != 0)
		return -1;
	if (!out->until || out->since < out->until)
		return 0;
	answer_problem(r, response, 400, "until must come after since");
	return -1;
}

bool period_holds(const struct period *p, int64_t at)
{
	return at >= p->since && (!p->until || at < p->until);
}
