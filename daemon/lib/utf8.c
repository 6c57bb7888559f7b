/* utf8.c - the only decoder, which is strict, so that JSON, log lines and branch names agree on invalid bytes. */
#include "lib/lib.h"

size_t utf8_next(const char *text, size_t len, uint32_t *code)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char first = len ? (unsigned char)text[0] : 0;
	uint32_t value;
	size_t bytes, i;

	*code = UTF8_INVALID;
	if (first < 0x80) {
		*code = first;
		return 1;
	}
	if (first >= 0xc2 && first <= 0xdf) {
		bytes = 2;
		value = first & 0x1f;
	} else if (first >= 0xe0 && first <= 0xef) {
		bytes = 3;
		value = first & 0x0f;
	} else if (first >= 0xf0 && first <= 0xf4) {
		bytes = 4;
		value = first & 0x07;
	} else {
		return 1;
	}
	if (len < bytes)
		return 1;
	for (i = 1; i < bytes; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c & 0xc0) != 0x80)
			return 1;
		value = value << 6 | (c & 0x3f);
	}
	if (value < smallest[bytes] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 1;
	*code = value;
	return bytes;
}

size_t utf8_cut(const char *text, size_t len, size_t max)
{
	if (len <= max)
		return len;
	while (max > 0 && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return max;
}

/* Letters that are drawn as nothing: fillers of Hangul, vowels of Khmer, a joiner, and the pattern without dots of Braille. */
static bool is_blank(uint32_t code)
{
	return code == 0x34f || code == 0x115f || code == 0x1160 || code == 0x17b4 || code == 0x17b5 || code == 0x2800 ||
	       code == 0x3164 || code == 0xffa0;
}

bool utf8_is_hidden(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c || code == 0x180e ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
	       code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) || (code >= 0xe0000 && code <= 0xe007f) || is_blank(code);
}

void utf8_show(struct buf *out, const char *text, size_t len, const char *allowed)
{
	while (len) {
		uint32_t code;
		size_t n = utf8_next(text, len, &code);

		if (code == UTF8_INVALID)
			buf_puts(out, "\xef\xbf\xbd");
		else if (!utf8_is_hidden(code) || (code && code < 0x80 && strchr(allowed, (int)code)))
			buf_append(out, text, n);
		else
			buf_printf(out, code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
		text += n;
		len -= n;
	}
}
