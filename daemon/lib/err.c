/* err.c - builds the one-line error that a failing function returns to its caller. */
#include "lib/lib.h"

#include <errno.h>
#include <stdio.h>

/* Foreign text (a file name, a peer's message) must not split or colour the line that quotes it. */
static void keep_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
}

static void put(struct fw_err *e, enum err_code code, const char *format, va_list args) __attribute__((format(printf, 3, 0)));
static void put(struct fw_err *e, enum err_code code, const char *format, va_list args)
{
	e->code = code;
	e->is_shortage = false;
	vsnprintf(e->text, sizeof e->text, format, args);
	keep_one_line(e->text);
}

int(err_set)(struct fw_err *e, enum err_code code, const char *format, ...)
{
	va_list args;

	if (!e || e->code != ERR_NONE)
		return -1;
	va_start(args, format);
	put(e, code, format, args);
	va_end(args);
	return -1;
}

int(err_sys)(struct fw_err *e, const char *format, ...)
{
	int number = errno;
	enum err_code code = ERR_IO;
	va_list args;
	size_t len;

	if (!e || e->code != ERR_NONE)
		return -1;
	if (number == ENOSPC || number == EDQUOT)
		code = ERR_FULL;
	else if (number == ENOENT)
		code = ERR_NOT_FOUND;
	va_start(args, format);
	put(e, code, format, args);
	va_end(args);
	len = strlen(e->text);
	snprintf(e->text + len, sizeof e->text - len, ": %s", strerror(number));
	e->is_shortage = err_is_shortage(number);
	return -1;
}

int(err_memory)(struct fw_err *e, const char *format, ...)
{
	static const char what[] = ": out of memory; free memory on this machine and try again";
	va_list args;
	size_t len;

	if (!e || e->code != ERR_NONE)
		return -1;
	va_start(args, format);
	put(e, ERR_FULL, format, args);
	va_end(args);
	len = strlen(e->text);
	if (len > sizeof e->text - sizeof what)
		len = sizeof e->text - sizeof what;
	memcpy(e->text + len, what, sizeof what);
	e->is_shortage = true;
	return -1;
}

bool err_is_shortage(int number)
{
	return number == ENOMEM || number == EMFILE || number == ENFILE || number == ENOBUFS;
}

int(err_context)(struct fw_err *e, const char *format, ...)
{
	char before[sizeof e->text / 2];
	size_t len, cause_len;
	va_list args;

	if (!e)
		return -1;
	va_start(args, format);
	vsnprintf(before, sizeof before - 2, format, args);
	va_end(args);
	keep_one_line(before);
	len = strlen(before);
	memcpy(before + len, ": ", 3);
	if (e->code == ERR_NONE)
		e->code = ERR_INTERNAL;
	/* The first cause is more useful for a reader: if both do not fit, the context is cut. */
	cause_len = strlen(e->text);
	len += 2;
	if (len + cause_len >= sizeof e->text)
		len = sizeof e->text - 1 - cause_len;
	memmove(e->text + len, e->text, cause_len + 1);
	memcpy(e->text, before, len);
	return -1;
}

void err_clear(struct fw_err *e)
{
	if (!e)
		return;
	e->code = ERR_NONE;
	e->is_shortage = false;
	e->text[0] = '\0';
}

const char *err_name(enum err_code code)
{
	static const char *const names[] = { [ERR_NONE] = "none",
		[ERR_INTERNAL] = "internal",
		[ERR_INVALID] = "invalid",
		[ERR_NOT_FOUND] = "not_found",
		[ERR_CONFLICT] = "conflict",
		[ERR_BUSY] = "busy",
		[ERR_TIMEOUT] = "timeout",
		[ERR_IO] = "io",
		[ERR_FULL] = "full",
		[ERR_PROTOCOL] = "protocol",
		[ERR_UNSUPPORTED] = "unsupported",
		[ERR_DAMAGED] = "damaged",
		[ERR_CANCELLED] = "cancelled",
		[ERR_CRASHED] = "crashed" };

	return code < sizeof names / sizeof names[0] ? names[code] : "unknown";
}
