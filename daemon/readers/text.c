/* text.c - lines of a text. */
#include "readers/internal.h"

#include <stdio.h>

struct text_line text_begin(const char *text, size_t len)
{
	size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	return (struct text_line){ .next = text + mark, .end = text + len };
}

bool text_next(struct text_line *line)
{
	if (line->next >= line->end)
		return false;
	const char *stop = memchr(line->next, '\n', (size_t)(line->end - line->next));

	line->at = line->next;
	line->next = stop ? stop + 1 : line->end;
	line->n = (size_t)((stop ? stop : line->end) - line->at);
	while (line->n > 0 && strchr(" \t\r", line->at[line->n - 1]))
		line->n--;
	line->number++;
	return true;
}

bool text_is_open(const struct text_line *line)
{
	return line->next == line->end && line->next[-1] != '\n';
}

bool text_begins(const struct text_line *line, const char *with)
{
	return line->n >= strlen(with) && strncmp(line->at, with, strlen(with)) == 0;
}

void text_trim(const char *from, const char *to, char *out, size_t size)
{
	while (from < to && *from == ' ')
		from++;
	while (to > from && to[-1] == ' ')
		to--;
	snprintf(out, size, "%.*s", (int)((size_t)(to - from) < size ? (size_t)(to - from) : size - 1), from);
}
