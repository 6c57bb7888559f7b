/* markdown.c - documented in html.h. */
#include "web/html/html.h"

#include <math.h>
#include <strings.h>

/* Inside a code span a backslash is literal, but tables are split before spans are parsed: there it escapes the bar after it. */
static void code(struct buf *out, const char *text, size_t len)
{
	buf_putc(out, '`');
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '`' || (text[i] == '|' && i && text[i - 1] == '\\'))
			buf_printf(out, "\\x%02x", (unsigned)text[i]);
		else if (text[i] == '|')
			buf_puts(out, "\\|");
		else
			buf_putc(out, text[i]);
	}
	buf_putc(out, '`');
}

void markdown_code(struct buf *out, const char *text)
{
	struct buf shown;
	buf_init(&shown, 16 * strlen(text) + 1);
	utf8_show(&shown, text, strlen(text), "");
	code(out, shown.data, shown.len);
	buf_fini(&shown);
}

/* Forges find mentions and addresses in the rendered text, where no backslash protects them. */
static bool is_linked_by_forges(const char *word, size_t len)
{
	return memchr(word, '@', len) || memmem(word, len, "://", 3) || (len > 4 && strncasecmp(word, "www.", 4) == 0);
}

static void escape(struct buf *out, const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (strchr("\\`*_{}[]<>()#+-!|~&", word[i]))
			buf_putc(out, '\\');
		buf_putc(out, word[i]);
	}
}

void markdown_text(struct buf *out, const char *text)
{
	struct buf shown;
	buf_init(&shown, 16 * strlen(text) + 1);
	utf8_show(&shown, text, strlen(text), "\r\n\t");
	for (const char *at = shown.data; *at;) {
		size_t gap = strspn(at, " \r\n\t"), len = strcspn(at + gap, " \r\n\t");
		for (size_t i = 0; i < gap; i++)
			buf_putc(out, ' ');
		(is_linked_by_forges(at + gap, len) ? code : escape)(out, at + gap, len);
		at += gap + len;
	}
	buf_fini(&shown);
}

void markdown_change(struct buf *out, double pct)
{
	if (isfinite(pct))
		buf_printf(out, "%+.2f %%", pct);
	else
		buf_puts(out, "–");
}

void markdown_interval(struct buf *out, double low_pct, double high_pct)
{
	if (isfinite(low_pct) && isfinite(high_pct))
		buf_printf(out, "%+.2f … %+.2f %%", low_pct, high_pct);
	else
		buf_puts(out, "–");
}
