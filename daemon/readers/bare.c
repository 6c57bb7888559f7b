/* bare.c - replacement by strings of a character that no program writes. */
#include "readers/internal.h"

#include <stdlib.h>
#include <strings.h>

enum { MARK = 0x7f };

static const char *const words[] = { "infinity", "nan", "inf" };

/* Length of a bare value that begins here, with its sign; 0: none. */
static size_t length_at(const char *at, const char *end)
{
	size_t sign = *at == '-';

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(end - at) < sign + n || strncasecmp(at + sign, words[i], n) != 0)
			continue;
		return at + sign + n == end || strchr(",]} \t\r\n", at[sign + n]) ? sign + n : 0;
	}
	return 0;
}

char *bare_replace(const char *text, size_t len)
{
	char *copy = malloc(len + 1), *end = copy + len, before = '\0';
	bool in_text = false;

	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	for (char *at = copy; at < end; at++) {
		size_t n = !in_text && before && strchr(":[,", before) ? length_at(at, end) : 0;

		if (n > 0) {
			memset(at, MARK, n);
			at[0] = at[n - 1] = '"';
			at += n - 1;
		} else if (*at == '"') {
			in_text = !in_text;
		} else if (in_text && *at == '\\') {
			at++;
		}
		if (at < end && !strchr(" \t\r\n", *at))
			before = *at;
	}
	return copy;
}

bool bare_is(const json_t *value)
{
	const char *text = json_string_value(value);

	return text && *text && text[strspn(text, (const char[]){ MARK, '\0' })] == '\0';
}
