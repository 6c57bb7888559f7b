/* branch.c - git allows any byte in a branch's name, so names are keys to look up and texts to show; see branch.h. */
#include "core/text/branch.h"

#include <stdio.h>
#include <string.h>

#include "base/percent.h"
#include "base/utf8.h"

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

void branch_key(const char *given, char *key)
{
	struct buf text;
	buf_init(&text, BRANCH_KEY_MAX - 1);
	percent_encode(&text, given, strlen(given), "-._~/%");
	snprintf(key, BRANCH_KEY_MAX, "%s", text.failed ? "%" : text.data);
	buf_fini(&text);
}
