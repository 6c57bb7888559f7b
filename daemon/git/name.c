/* name.c - the stored and the displayed form of names; documented in internal.h. */
#include "git/internal.h"

#include <stdio.h>

void name_encode(struct buf *out, const char *bytes, size_t len)
{
	percent_encode(out, bytes, len, "-._~/");
}

int name_decode(struct buf *out, const char *encoded)
{
	while (*encoded) {
		int byte = percent_byte(encoded);

		if (*encoded != '%') {
			buf_putc(out, *encoded++);
			continue;
		}
		if (byte <= 0)
			return -1;
		buf_putc(out, (char)byte);
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
