#include "web/html/internal.h"

extern const char _binary_doc_troubleshooting_md_start[], _binary_doc_troubleshooting_md_end[];

enum { POSITION_BYTES = 64, NAMED_MAX = 16 };
#define BEGIN_POSITION "<a id=\""

static const char *end_of_line(const char *at, const char *end)
{
	const char *found = memchr(at, '\n', (size_t)(end - at));
	return found ? found : end;
}

/* ---- the page --------------------------------------------------------------------------------------------------------- */

/* Draw "### <a id="x"></a>`text`"; the title of the page is written by the caller. */
static void draw_headline(struct buf *out, const char *at, const char *end)
{
	char position[POSITION_BYTES] = "";
	int level = (int)strspn(at, "#");
	at += level + 1;
	if (end - at > (long)sizeof BEGIN_POSITION && strncmp(at, BEGIN_POSITION, sizeof BEGIN_POSITION - 1) == 0)
		at = prose_take(at, end, BEGIN_POSITION, "\"></a>", position, sizeof position);
	if (!at || level == 1)
		return;
	emit_rawf(out, "<h%d", level);
	if (*position)
		emit_rawf(out, " id=\"%s\"", position);
	emit_raw(out, ">");
	prose_draw(out, at, end, true);
	emit_rawf(out, "</h%d>\n", level);
}

static void draw_block(struct buf *out, const char *at, const char *end)
{
	static const char fence[] = "```\n";
	size_t len = sizeof fence - 1;
	if (*at == '#') {
		draw_headline(out, at, end);
	} else if (strncmp(at, fence, len) == 0) {
		const char *close = memmem(at + len, (size_t)(end - at) - len, "\n```", 4);
		emit_raw(out, "<pre class=log>");
		prose_text(out, at + len, close ? close : end);
		emit_raw(out, "</pre>\n");
	} else {
		emit_raw(out, "<p>");
		prose_draw(out, at, end, true);
		emit_raw(out, "</p>\n");
	}
}

void troubleshooting_draw(struct buf *out)
{
	const char *end = _binary_doc_troubleshooting_md_end;
	for (const char *at = _binary_doc_troubleshooting_md_start; at < end;) {
		const char *behind = memmem(at, (size_t)(end - at), "\n\n", 2);
		draw_block(out, at, behind ? behind : end);
		at = behind ? behind + 2 : end;
	}
}

/* ---- the foot --------------------------------------------------------------------------------------------------------- */

/* The headline of an entry, after its HTML anchor; NULL: no such entry. */
static const char *headline_of(const char *position)
{
	char reference[POSITION_BYTES + 16];
	const char *begin = _binary_doc_troubleshooting_md_start, *end = _binary_doc_troubleshooting_md_end;
	int len = snprintf(reference, sizeof reference, BEGIN_POSITION "%s\"></a>", position);
	const char *found = memmem(begin, (size_t)(end - begin), reference, (size_t)len);
	return found ? found + len : NULL;
}

/* Names of entries, each once, in the order of appearance. Shape: named[NAMED_MAX]. */
static int find_named(const char *at, char named[][POSITION_BYTES])
{
	static const char mark[] = "doc/troubleshooting.md#";
	int n = 0;
	while (n < NAMED_MAX && (at = strstr(at, mark))) { /* glibc's memmem takes three times as long */
		at += sizeof mark - 1;
		size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-");
		bool is_new = len > 0 && len < POSITION_BYTES;
		for (int i = 0; is_new && i < n; i++)
			is_new = strlen(named[i]) != len || memcmp(named[i], at, len) != 0;
		if (is_new)
			snprintf(named[n++], POSITION_BYTES, "%.*s", (int)len, at);
	}
	return n;
}

void troubleshooting_foot(struct buf *out, size_t begin)
{
	char named[NAMED_MAX][POSITION_BYTES];
	int n = find_named(out->data + begin, named);
	for (int i = 0; i < n; i++) {
		const char *headline = headline_of(named[i]);
		if (!headline)
			continue;
		emit_rawf(out, "<p>Fix: <a href=\"/troubleshooting#%s\">", named[i]);
		prose_draw(out, headline, end_of_line(headline, _binary_doc_troubleshooting_md_end), false);
		emit_raw(out, "</a></p>\n");
	}
}
