/* name.c - the two forms of foreign names; see name.h. */
#include "git/name.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static int is_kept(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~/", c));
}

void name_encode(struct buf *out, const char *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (is_kept(c))
			buf_putc(out, (char)c);
		else
			buf_printf(out, "%%%02X", c);
	}
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int name_decode(struct buf *out, const char *encoded)
{
	while (*encoded) {
		int high, low;

		if (*encoded != '%') {
			buf_putc(out, *encoded++);
			continue;
		}
		high = hex_value(encoded[1]);
		low = high < 0 ? -1 : hex_value(encoded[2]);
		if (low < 0 || (high == 0 && low == 0))
			return -1;
		buf_putc(out, (char)(high << 4 | low));
		encoded += 3;
	}
	return out->failed ? -1 : 0;
}

void name_display(struct buf *out, const char *bytes, size_t len, size_t max)
{
	size_t start = out->len, i = 0;

	while (i < len) {
		uint32_t code;
		size_t n = utf8_next(bytes + i, len - i, &code);
		char piece[16];
		size_t piece_len = n;

		if (code == UTF8_INVALID) {
			memcpy(piece, "\xef\xbf\xbd", 3);
			piece_len = 3;
		} else if (utf8_is_hidden(code)) {
			piece_len = (size_t)snprintf(piece, sizeof piece, code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
		} else {
			memcpy(piece, bytes + i, n);
		}
		if (out->len - start + piece_len > max - 3) {
			buf_puts(out, "...");
			return;
		}
		buf_append(out, piece, piece_len);
		i += n;
	}
}
