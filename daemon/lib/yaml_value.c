/* yaml_value.c - the typed readers: a value is what its reader wants, to its last character, or a mistake with a remedy. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/internal.h"

bool yaml_is_null(const struct yaml_node *n)
{
	return n && n->kind == YAML_TEXT && n->plain && (!n->text[0] || !strcmp(n->text, "~") || !strcmp(n->text, "null"));
}

/* The text of a scalar that holds something, else a mistake and NULL. */
static const char *scalar(struct yaml *y, struct yaml_node *n, const char *wanted)
{
	if (n->kind != YAML_TEXT) {
		yaml_mistake(y, n, "is a %s; must be %s", n->kind == YAML_MAP ? "mapping" : "list", wanted);
		return NULL;
	}
	if (yaml_is_null(n)) {
		yaml_mistake(y, n, "has no value; must be %s", wanted);
		return NULL;
	}
	return n->text;
}

int yaml_string(struct yaml *y, struct yaml_node *n, const char **out)
{
	const char *text;

	if (!n)
		return 0;
	text = scalar(y, n, "text");
	if (!text)
		return -1;
	*out = text;
	return 0;
}

int yaml_int(struct yaml *y, struct yaml_node *n, int64_t min, int64_t max, int64_t *out)
{
	const char *text;
	char *end;
	long long v;

	if (!n)
		return 0;
	text = scalar(y, n, "a whole number");
	if (!text)
		return -1;
	errno = 0;
	v = strtoll(text, &end, 10);
	if (end == text || *end || text[0] == ' ' || text[0] == '\t') {
		yaml_mistake(y, n, "`%.60s` is not a whole number", text);
		return -1;
	}
	if (errno || v < min || v > max) {
		yaml_mistake(y, n, "%.60s is out of range; must be %lld to %lld", text, (long long)min, (long long)max);
		return -1;
	}
	*out = v;
	return 0;
}

/* A decimal number at the start of `text`; no hexadecimal, no "nan", no leading blanks. */
static bool decimal(const char *text, double *v, const char **end)
{
	size_t len = strspn(text, "+-.0123456789eE");
	char *stop;

	if (!len || !strpbrk(text, "0123456789") || text[0] == 'e' || text[0] == 'E')
		return false;
	errno = 0;
	*v = strtod(text, &stop);
	*end = stop;
	return stop != text && stop <= text + len && isfinite(*v);
}

static int check_range(struct yaml *y, struct yaml_node *n, double v, double min, double max, const char *unit)
{
	if (v >= min && v <= max)
		return 0;
	yaml_mistake(y, n, "%.60s is out of range; must be %.15g%s to %.15g%s", n->text, min, unit, max, unit);
	return -1;
}

int yaml_double(struct yaml *y, struct yaml_node *n, double min, double max, double *out)
{
	const char *text, *end;
	double v;

	if (!n)
		return 0;
	text = scalar(y, n, "a number");
	if (!text)
		return -1;
	if (!decimal(text, &v, &end) || *end) {
		yaml_mistake(y, n, "`%.60s` is not a number", text);
		return -1;
	}
	if (check_range(y, n, v, min, max, "") != 0)
		return -1;
	*out = v;
	return 0;
}

int yaml_bool(struct yaml *y, struct yaml_node *n, bool *out)
{
	const char *text;

	if (!n)
		return 0;
	text = scalar(y, n, "true or false");
	if (!text)
		return -1;
	if (strcmp(text, "true") && strcmp(text, "false")) {
		yaml_mistake(y, n, "`%.60s` is neither true nor false", text);
		return -1;
	}
	*out = text[0] == 't';
	return 0;
}

/* Milliseconds of one unit; 0 for an unknown one. */
static double yaml_unit_ms(const char *unit)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = { { "ms", 1 }, { "s", 1000 }, { "min", 60e3 }, { "h", 3600e3 }, { "d", 86400e3 } };
	size_t i;

	unit += strspn(unit, " ");
	for (i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ms;
	return 0;
}

int yaml_duration_ms(struct yaml *y, struct yaml_node *n, int64_t min_ms, int64_t max_ms, int64_t *out)
{
	const char *text, *end;
	double v, ms;

	if (!n)
		return 0;
	text = scalar(y, n, "a duration such as 30s");
	if (!text)
		return -1;
	ms = decimal(text, &v, &end) ? yaml_unit_ms(end) : 0;
	if (ms == 0) {
		yaml_mistake(
			y, n, "`%.60s` is not a duration; write a number with its unit (ms, s, min, h, d), such as 30s", text);
		return -1;
	}
	if (check_range(y, n, v * ms, (double)min_ms, (double)max_ms, " ms") != 0)
		return -1;
	*out = (int64_t)llround(v * ms);
	return 0;
}

int yaml_seconds(struct yaml *y, struct yaml_node *n, double min, double max, double *out)
{
	const char *text, *end;
	double v, ms;

	if (!n)
		return 0;
	text = scalar(y, n, "seconds");
	if (!text)
		return -1;
	if (!decimal(text, &v, &end)) {
		yaml_mistake(y, n, "`%.60s` is not a number of seconds", text);
		return -1;
	}
	ms = *end ? yaml_unit_ms(end) : 1000;
	if (ms == 0) {
		yaml_mistake(y, n, "`%.60s` has an unknown unit; use ms, s, min, h or d", text);
		return -1;
	}
	if (check_range(y, n, v * ms / 1000, min, max, " s") != 0)
		return -1;
	*out = v * ms / 1000;
	return 0;
}

int yaml_percent(struct yaml *y, struct yaml_node *n, double min, double max, double *out)
{
	const char *text, *end;
	double v;

	if (!n)
		return 0;
	text = scalar(y, n, "a percentage");
	if (!text)
		return -1;
	if (!decimal(text, &v, &end) || (strcmp(end, "") && strcmp(end, "%") && strcmp(end, " %"))) {
		yaml_mistake(y, n, "`%.60s` is not a percentage; write a number such as 1.5", text);
		return -1;
	}
	if (check_range(y, n, v, min, max, "%") != 0)
		return -1;
	*out = v;
	return 0;
}
