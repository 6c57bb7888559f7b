/* reference.c - documented in html.h. */
#include "web/html/html.h"

extern const char _binary_doc_reference_html_start[], _binary_doc_reference_html_end[];

static const char mark[] = "<!--page ";

static const char *find_text(const char *at, const char *text)
{
	const char *end = _binary_doc_reference_html_end;
	const char *found = memmem(at, (size_t)(end - at), text, strlen(text));
	return found ? found : end;
}

const char *reference_find(const char *name, char title[REFERENCE_NAME_MAX])
{
	char line[sizeof mark + REFERENCE_NAME_MAX + 2];
	size_t len = strlen(name);
	if (len >= REFERENCE_NAME_MAX || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") != len)
		return NULL;
	snprintf(line, sizeof line, "%s%s ", mark, name);
	const char *begin = find_text(_binary_doc_reference_html_start, line);
	if (begin == _binary_doc_reference_html_end)
		return NULL;
	begin += strlen(line);
	const char *end = find_text(begin, "-->\n");
	snprintf(title, REFERENCE_NAME_MAX, "%.*s", (int)(end - begin), begin);
	return end == _binary_doc_reference_html_end ? NULL : end + strlen("-->\n");
}

void reference_draw(struct buf *out, const char *page)
{
	buf_append(out, page, (size_t)(find_text(page, mark) - page));
}
