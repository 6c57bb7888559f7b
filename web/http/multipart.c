/* multipart.c - documented in http.h. */
#include "web/http/http.h"

#include <strings.h>

enum { BOUNDARY_MAX = 70 /* RFC 2046 */, HEADERS_MAX = 4096 };

/* A token, or a quoted string whose quotes and backslashes may be escaped. Returns the first byte after it, NULL: it does not fit. */
static const char *take_value(const char *at, const char *end, char *out, size_t size)
{
	bool is_quoted = at < end && *at == '"';
	size_t n = 0;
	for (at += is_quoted; at < end; at++) {
		if (is_quoted ? *at == '"' : strchr("; \t\r", *at) != NULL)
			break;
		if (is_quoted && *at == '\\' && at + 1 < end && (at[1] == '"' || at[1] == '\\'))
			at++;
		if (n + 1 == size || *at == '\0')
			return NULL;
		out[n++] = *at;
	}
	out[n] = '\0';
	if (is_quoted && at == end)
		return NULL;
	return at + is_quoted;
}

/*
 * Read the value of a parameter, "; NAME=value", of a header's value. Returns 1, 0 absent, -1 malformed, or too long.
 * Shape: out[size].
 */
static int take_parameter(const char *at, const char *end, const char *name, char *out, size_t size)
{
	char ignored[1024];
	for (at += strcspn(at, ";\r"); at && at < end && *at == ';';) {
		at++;
		at += strspn(at, " \t");
		const char *equals = memchr(at, '=', (size_t)(end - at));
		if (!equals)
			return -1;
		bool is_wanted = strlen(name) == (size_t)(equals - at) && strncasecmp(at, name, strlen(name)) == 0;
		at = take_value(equals + 1, end, is_wanted ? out : ignored, is_wanted ? size : sizeof ignored);
		if (is_wanted)
			return at ? 1 : -1;
		if (at)
			at += strspn(at, " \t");
	}
	return at ? 0 : -1;
}

/* Write the line that separates parts, without its end. Shape: out[BOUNDARY_MAX + 3]. False: the type has no valid boundary. */
static bool take_delimiter(const char *type, char *out)
{
	memcpy(out, "--", 3);
	if (!multipart_is(type))
		return false;
	return take_parameter(type, type + strlen(type), "boundary", out + 2, BOUNDARY_MAX + 1) == 1 && out[2];
}

/* Read the names in the headers of a part. -1: malformed. */
static int take_headers(const char *at, const char *end, struct multipart_part *out)
{
	static const char field[] = "Content-Disposition:";
	while (at < end) {
		const char *line_end = memmem(at, (size_t)(end - at), "\r\n", 2);
		if (!line_end)
			line_end = end;
		if ((size_t)(line_end - at) > sizeof field && strncasecmp(at, field, sizeof field - 1) == 0) {
			if (take_parameter(at, line_end, "name", out->name, sizeof out->name) != 1)
				return -1;
			return take_parameter(at, line_end, "filename", out->file, sizeof out->file) < 0 ? -1 : 0;
		}
		at = line_end + 2;
	}
	return -1;
}

bool multipart_is(const char *type)
{
	static const char form[] = "multipart/form-data";
	return type && strncasecmp(type, form, sizeof form - 1) == 0;
}

int multipart_next(const char *type, const char *body, size_t len, size_t *at, struct multipart_part *out)
{
	char delimiter[BOUNDARY_MAX + 5] = "\r\n";
	*out = (struct multipart_part){ .data = NULL };
	if (!take_delimiter(type, delimiter + 2))
		return -1;
	const char *end = body + len, *part = body + *at;
	size_t line = strlen(delimiter + 2);
	if ((size_t)(end - part) < line + 2 || memcmp(part, delimiter + 2, line) != 0)
		return -1;
	part += line;
	if (memcmp(part, "--", 2) == 0)
		return 0;
	if (memcmp(part, "\r\n", 2) != 0)
		return -1;
	part += 2;
	size_t left = (size_t)(end - part);
	const char *blank = memmem(part, left < HEADERS_MAX ? left : HEADERS_MAX, "\r\n\r\n", 4);
	if (!blank || take_headers(part, blank, out) != 0)
		return -1;
	out->data = blank + 4;
	const char *next = memmem(out->data, (size_t)(end - out->data), delimiter, line + 2);
	if (!next)
		return -1;
	out->len = (size_t)(next - out->data);
	*at = (size_t)(next + 2 - body);
	return 1;
}
