/* plain.c - documented in internal.h. */
#include "cli/internal.h"

#include "lib/lib.h"

enum { LINE_MAX_BYTES = 1 << 20, LINES_MAX_BYTES = 512 << 20 };

static int print(FILE *out, const char *text, size_t len, const char *keep, size_t max, struct fw_err *err)
{
	struct buf shown;
	buf_init(&shown, max);
	utf8_show(&shown, text, len, keep);
	fwrite(shown.data, 1, shown.len, out);
	int result = shown.failed ? err_set(err, ERR_FULL, "the text is too large to print") : 0;
	buf_fini(&shown);
	return result;
}

void plain_print(FILE *out, const char *text)
{
	(void)print(out, text, strlen(text), "", LINE_MAX_BYTES, NULL);
}

void plain_line(FILE *out, const char *format, ...)
{
	va_list args;
	struct buf text;
	buf_init(&text, LINE_MAX_BYTES);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	plain_print(out, text.data);
	fputc('\n', out);
	buf_fini(&text);
}

int plain_print_lines(FILE *out, const char *text, size_t len, struct fw_err *err)
{
	return print(out, text, len, "\n\t", LINES_MAX_BYTES, err);
}
