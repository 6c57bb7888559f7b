/* value.c - documented in internal.h. */
#include "cli/internal.h"

#include <math.h>

const char *value_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

double value_number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	return json_is_number(v) ? json_number_value(v) : NAN;
}

long long value_integer(const json_t *o, const char *key)
{
	return (long long)json_integer_value(json_object_get(o, key));
}

enum verdict value_verdict(const json_t *o)
{
	return verdict_from_name(value_text(o, "verdict"));
}

const char *value_branch(const json_t *o)
{
	const char *shown = value_text(o, "branch_display");
	return *shown ? shown : value_text(o, "branch");
}

void value_behind(const json_t *job, char text[VALUE_BEHIND_SIZE])
{
	const json_t *behind = json_object_get(job, "behind");
	long long first = value_integer(behind, "job"), queued = value_integer(behind, "queued");
	char more[40] = "";
	if (queued)
		snprintf(more, sizeof more, "%lld queued job%s", queued, queued == 1 ? "" : "s");
	text[0] = '\0';
	if (first)
		snprintf(text, VALUE_BEHIND_SIZE, "behind J%lld (%.24s)%s%s", first, value_text(behind, "kind"),
			queued ? " and " : "", more);
	else if (queued)
		snprintf(text, VALUE_BEHIND_SIZE, "behind %s", more);
}

const char *value_rate(const json_t *cell)
{
	static const char *const rates[] = { "tflops", "gb_s" }, *const sides[] = { "base", "target" };
	for (int i = 0; i < 4; i++)
		if (!isnan(value_number(json_object_get(cell, sides[i % 2]), rates[i / 2])))
			return rates[i / 2];
	return NULL;
}

bool value_is_program(const json_t *cell)
{
	return !*value_text(cell, "title");
}

void value_age(const json_t *o, const char *key, char out[VALUE_AGE_SIZE])
{
	static const struct {
		const char *unit;
		int64_t ms;
	} units[] = { { "d", 86400000 }, { "h", 3600000 }, { "min", 60000 }, { "s", 1000 } };
	struct fw_err ignored = { 0 };
	int64_t at;
	out[0] = '\0';
	if (!*value_text(o, key) || clock_parse(value_text(o, key), &at, &ignored) != 0)
		return;
	int64_t past = clock_utc_ms() - at;
	snprintf(out, VALUE_AGE_SIZE, "now");
	for (size_t i = sizeof units / sizeof units[0]; i-- > 0;)
		if (past >= units[i].ms)
			snprintf(out, VALUE_AGE_SIZE, "%lld %s ago", (long long)(past / units[i].ms), units[i].unit);
}

void value_label(const json_t *o, const char *key, char out[VALUE_LABEL_SIZE])
{
	snprintf(out, VALUE_LABEL_SIZE, "%s", value_text(o, key));
	for (char *p = out; *p; p++)
		*p = *p == '_' ? ' ' : *p;
}
