/* plain.c - documented in internal.h. */
#include "cli/internal.h"

enum { ERROR_LINE_BYTES = 4096, LINE_MAX_BYTES = 1 << 20, LINES_MAX_BYTES = 512 << 20 };

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
	struct buf shown;
	buf_init(&shown, LINE_MAX_BYTES);
	shown.is_optional = true;
	utf8_show(&shown, text, strlen(text), "");
	if (!shown.failed)
		fwrite(shown.data, 1, shown.len, out);
	else /* without memory, and not blank: the text may be the reason of a failure */
		for (; *text; text++)
			fputc(*text >= 0x20 && *text < 0x7f ? *text : '?', out);
	buf_fini(&shown);
}

void plain_line(FILE *out, const char *format, ...)
{
	va_list args;
	struct buf text;
	char line[ERROR_LINE_BYTES]; /* most lines; the beginning of a longer one without memory for it */
	buf_init(&text, LINE_MAX_BYTES);
	text.is_optional = true;
	va_start(args, format);
	int len = vsnprintf(line, sizeof line, format, args);
	va_end(args);
	if (len >= (int)sizeof line) {
		va_start(args, format);
		buf_vprintf(&text, format, args);
		va_end(args);
	}
	plain_print(out, text.len ? text.data : line);
	fputc('\n', out);
	buf_fini(&text);
}

int plain_print_lines(FILE *out, const char *text, size_t len, struct fw_err *err)
{
	return print(out, text, len, "\n\t", LINES_MAX_BYTES, err);
}
