#include "flopwatchd/internal.h"

#include <stdio.h>

#include "lib/lib.h"

enum { TEXT_BYTES = 2048, LINE_MAX_BYTES = 1 << 16 };

void probe_print(enum look_health health, const char *what, const char *advice, const char *format, ...)
{
	static const char *const names[] = { "ok", "warn", "fail" };
	char text[TEXT_BYTES];
	struct buf line;
	struct jsonw j;
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	buf_init(&line, LINE_MAX_BYTES);
	jsonw_init(&j, &line);
	jsonw_object(&j);
	jsonw_kv_string(&j, "what", what);
	jsonw_kv_string(&j, "health", names[health]);
	jsonw_kv_string(&j, "text", text);
	jsonw_kv_string(&j, "advice", *advice ? advice : NULL);
	jsonw_object_end(&j);
	puts(line.data);
	fflush(stdout);
	buf_fini(&line);
}
