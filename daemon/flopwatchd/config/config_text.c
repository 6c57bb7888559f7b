#include "flopwatchd/config/internal.h"

#include <ctype.h>

static bool has_control_byte(const char *text)
{
	for (const char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			return true;
	return false;
}

bool config_text_node(struct yaml *y, struct yaml_node *n, char *out, size_t size)
{
	const char *text = NULL;
	if (!n || yaml_string(y, n, &text) != 0)
		return false;
	if (!*text)
		yaml_mistake(y, n, "is empty");
	else if (has_control_byte(text))
		yaml_mistake(y, n, "holds a control byte");
	else if (strlen(text) >= size)
		yaml_mistake(y, n, "is longer than %zu bytes", size - 1);
	else {
		memcpy(out, text, strlen(text) + 1);
		return true;
	}
	return false;
}

bool config_text(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size)
{
	return config_text_node(y, yaml_get(y, map, key), out, size);
}

void config_text_required(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size)
{
	struct yaml_node *n = yaml_get(y, map, key);
	if (!n)
		yaml_mistake(y, map, "needs `%s`", key);
	else
		config_text_node(y, n, out, size);
}

void config_text_folder(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size)
{
	if (config_text(y, map, key, out, size) && out[0] != '/')
		yaml_mistake(y, yaml_get(y, map, key), "is not an absolute path");
}

void config_text_choice(struct yaml *y, struct yaml_node *map, const char *key, const char *const *choices, const char *list,
	char *out, size_t size)
{
	char text[64] = "";
	if (!config_text(y, map, key, text, sizeof text))
		return;
	for (int i = 0; choices[i]; i++)
		if (!strcmp(choices[i], text)) {
			snprintf(out, size, "%s", text);
			return;
		}
	yaml_mistake(y, yaml_get(y, map, key), "is not one of %s", list);
}

void config_text_name(struct yaml *y, struct yaml_node *map, char *out, size_t size)
{
	config_text_required(y, map, "name", out, size);
	if (!out[0])
		return;
	bool fine = out[0] != '-' && out[0] != '.';
	for (const char *c = out; *c; c++)
		fine = fine && (isalnum((unsigned char)*c) || strchr("._-", *c));
	if (!fine)
		yaml_mistake(y, yaml_get(y, map, "name"), "may hold letters, digits and . _ - only, and begins with none of . -");
}

int config_text_list(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size, int max)
{
	struct yaml_node *n = yaml_get(y, map, key);
	if (!n)
		return 0;
	if (!yaml_is_list(n))
		return config_text_node(y, n, out, size) ? 1 : 0;
	if (yaml_count(n) > max)
		yaml_mistake(y, n, "has %d entries; at most %d", yaml_count(n), max);
	if (yaml_count(n) == 0)
		yaml_mistake(y, n, "is empty; name at least one, or leave `%s` out", key);
	if (yaml_count(n) > max)
		return 0;
	int count = 0;
	for (int i = 0; i < yaml_count(n); i++)
		if (config_text_node(y, yaml_item(y, n, i), out + (size_t)count * size, size))
			count++;
	return count;
}

/* Parse "02:30" at the start of `text` into minutes, -1 invalid; `*end` is set to the text after it. */
static int read_minute(const char *text, const char **end)
{
	bool is_time = strspn(text, "0123456789") == 2 && text[2] == ':' && strspn(text + 3, "0123456789") == 2;
	int hour = is_time ? (text[0] - '0') * 10 + text[1] - '0' : 99,
	    minute = is_time ? (text[3] - '0') * 10 + text[4] - '0' : 99;
	*end = is_time ? text + 5 : text;
	return hour < 24 && minute < 60 ? hour * 60 + minute : -1;
}

bool config_day_range(const char *text, int *from, int *to)
{
	const char *rest;
	int start = read_minute(text, &rest), end = *rest == '-' ? read_minute(rest + 1, &rest) : -1;
	if (start < 0 || end < 0 || start == end || *rest)
		return false;
	*from = start;
	*to = end;
	return true;
}
