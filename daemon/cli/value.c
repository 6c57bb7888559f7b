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

const char *value_rate(const json_t *cell)
{
	static const char *const rates[] = { "tflops", "gb_s" }, *const sides[] = { "base", "target" };
	for (int i = 0; i < 4; i++)
		if (!isnan(value_number(json_object_get(cell, sides[i % 2]), rates[i / 2])))
			return rates[i / 2];
	return NULL;
}
