/* yaml_value.c - the typed readers: a value has the requested type, to its last character, or is a mistake with a remedy. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/internal.h"

bool yaml_is_null(const struct yaml_node *n)
{
	return n && n->kind == YAML_TEXT && n->plain && (!n->text[0] || !strcmp(n->text, "~") || !strcmp(n->text, "null"));
}

/* Return the text of a non-empty scalar, else add a mistake and return NULL. */
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
	const char *text = n ? scalar(y, n, "text") : NULL;

	if (text)
		*out = text;
	return n && !text ? -1 : 0;
}

int yaml_int(struct yaml *y, struct yaml_node *n, int64_t min, int64_t max, int64_t *out)
{
	const char *text = n ? scalar(y, n, "a whole number") : NULL;
	char *end;
	long long v;

	if (!text)
		return n ? -1 : 0;
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

/* Parse a decimal number at the start of `text`; no hexadecimal, no "nan", no leading blanks. */
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

/* Syntax of a kind of number: its suffix, and the messages of its mistakes. */
struct number {
	const char *wanted, *wrong; /* `wrong` follows the text in quotes */
	double (*factor)(const char *rest);
	const char *wrong_rest; /* NULL: `wrong` */
	const char *unit;       /* of the range in messages */
	double scale;           /* units of the factor in one unit of the range */
};

static int read_number(struct yaml *y, struct yaml_node *n, const struct number *how, double min, double max, double *out)
{
	const char *text = n ? scalar(y, n, how->wanted) : NULL, *end;
	double v, factor;

	if (!text)
		return n ? -1 : 0;
	bool is_number = decimal(text, &v, &end);
	if (!is_number || (factor = how->factor(end)) == 0) {
		yaml_mistake(y, n, "`%.60s` %s", text, is_number && how->wrong_rest ? how->wrong_rest : how->wrong);
		return -1;
	}
	v = v * factor / how->scale;
	if (v >= min && v <= max) {
		*out = v;
		return 0;
	}
	yaml_mistake(y, n, "%.60s is out of range; must be %.15g%s to %.15g%s", n->text, min, how->unit, max, how->unit);
	return -1;
}

static double no_unit(const char *rest)
{
	return !*rest;
}

int yaml_double(struct yaml *y, struct yaml_node *n, double min, double max, double *out)
{
	static const struct number plain = { "a number", "is not a number", no_unit, NULL, "", 1 };

	return read_number(y, n, &plain, min, max, out);
}

int yaml_bool(struct yaml *y, struct yaml_node *n, bool *out)
{
	const char *text = n ? scalar(y, n, "true or false") : NULL;

	if (!text)
		return n ? -1 : 0;
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
		yaml_mistake(y, n, "`%.60s` is neither true nor false", text);
		return -1;
	}
	*out = text[0] == 't';
	return 0;
}

/* Return the milliseconds of one unit; 0 for an unknown one. */
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
	static const struct number duration = { "a duration such as 30s",
		"is not a duration; write a number with its unit (ms, s, min, h, d), such as 30s", yaml_unit_ms, NULL, " ms", 1 };
	double ms = 0;
	int result = read_number(y, n, &duration, (double)min_ms, (double)max_ms, &ms);

	if (n && result == 0)
		*out = (int64_t)llround(ms);
	return result;
}

static double ms_or_seconds(const char *rest)
{
	return *rest ? yaml_unit_ms(rest) : 1000;
}

int yaml_seconds(struct yaml *y, struct yaml_node *n, double min, double max, double *out)
{
	static const struct number seconds = { "seconds", "is not a number of seconds", ms_or_seconds,
		"has an unknown unit; use ms, s, min, h or d", " s", 1000 };

	return read_number(y, n, &seconds, min, max, out);
}

static double percent_sign(const char *rest)
{
	return strcmp(rest, "") == 0 || strcmp(rest, "%") == 0 || strcmp(rest, " %") == 0;
}

int yaml_percent(struct yaml *y, struct yaml_node *n, double min, double max, double *out)
{
	static const struct number percent = { "a percentage", "is not a percentage; write a number such as 1.5", percent_sign,
		NULL, "%", 1 };

	return read_number(y, n, &percent, min, max, out);
}
