/*
 * branch.c - encoding of branch names. git allows any byte in them, so names are keys for lookup and text for display; documented
 * in lib.h.
 */
#include "lib/lib.h"

#include <ctype.h>
#include <stdio.h>

void branch_text(struct buf *out, const char *key)
{
	struct buf bytes;
	buf_init(&bytes, strlen(key) + 1);
	while (*key) {
		int byte = percent_byte(key);
		buf_putc(&bytes, byte < 0 ? *key : (char)byte);
		key += byte < 0 ? 1 : 3;
	}
	utf8_show(out, bytes.data, bytes.len, "");
	buf_fini(&bytes);
}

static const char PLAIN[] = "-._~/"; /* plain characters of a key, in addition to letters and digits */

/* A key is canonical: encoding its name gives the key again. Other text is a name. */
static bool is_key(const char *given)
{
	for (const char *c = given; *c;) {
		int byte = percent_byte(c);

		if (*c == '%' ? byte < 0 : !isalnum((unsigned char)*c) && !strchr(PLAIN, *c))
			return false;
		if (*c == '%' && ((byte < 0x80 && isalnum(byte)) || (byte && strchr(PLAIN, byte)) ||
					 islower((unsigned char)c[1]) || islower((unsigned char)c[2])))
			return false;
		c += *c == '%' ? 3 : 1;
	}
	return true;
}

void branch_key(const char *given, char *key)
{
	struct buf text;
	buf_init(&text, BRANCH_KEY_MAX - 1);
	if (is_key(given))
		buf_puts(&text, given);
	else
		percent_encode(&text, given, strlen(given), PLAIN);
	snprintf(key, BRANCH_KEY_MAX, "%s", text.failed ? "%" : text.data);
	buf_fini(&text);
}
