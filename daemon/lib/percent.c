#include "lib/lib.h"

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void percent_encode(struct buf *out, const char *bytes, size_t len, const char *unescaped)
{
	size_t begin = 0; /* of an unescaped character */
	for (size_t i = 0; i < len; i++) {
		char c = bytes[i];
		if (is_plain(c) || (c && strchr(unescaped, c)))
			continue;
		buf_append(out, bytes + begin, i - begin);
		buf_printf(out, "%%%02X", (unsigned char)c);
		begin = i + 1;
	}
	buf_append(out, bytes + begin, len - begin);
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int percent_byte(const char *at)
{
	int high = at[0] == '%' ? hex_value(at[1]) : -1;
	int low = high < 0 ? -1 : hex_value(at[2]);
	return low < 0 ? -1 : high << 4 | low;
}

void percent_decode(const char *text, char *out)
{
	while (*text) {
		int byte = percent_byte(text);

		*out++ = byte < 0 ? *text : (char)byte;
		text += byte < 0 ? 1 : 3;
	}
	*out = '\0';
}
