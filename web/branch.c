/* branch.c - git allows any byte in a branch's name, so names are keys to look up and texts to show; see branch.h. */
#include "web/branch.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void branch_text(struct buf *out, const char *key)
{
	struct buf bytes;
	buf_init(&bytes, strlen(key) + 1);
	while (*key) {
		int high = *key == '%' ? hex_value(key[1]) : -1;
		int low = high < 0 ? -1 : hex_value(key[2]);
		if (low < 0) {
			buf_putc(&bytes, *key++);
		} else {
			buf_putc(&bytes, (char)(high << 4 | low));
			key += 3;
		}
	}
	utf8_show(out, bytes.data, bytes.len, "");
	buf_fini(&bytes);
}

static bool is_kept(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~/%", c);
}

void branch_key(const char *given, char *key)
{
	size_t len = 0;
	key[0] = '\0';
	for (; *given; given++) {
		if (len + 4 > BRANCH_KEY_MAX) {
			snprintf(key, BRANCH_KEY_MAX, "%%");
			return;
		}
		len += (size_t)snprintf(key + len, 4, is_kept(*given) ? "%c" : "%%%02X", (unsigned char)*given);
	}
}
