/* oid.c - see oid.c. */
#include "lib/lib.h"

enum { SHA1_DIGITS = 40, SHA256_DIGITS = 64 };

/* 0: something else is in it. */
static size_t digits(const char *text)
{
	size_t n = text ? strspn(text, "0123456789abcdef") : 0;
	return n && !text[n] ? n : 0;
}

bool oid_is_whole(const char *text)
{
	size_t n = digits(text);
	return n == SHA1_DIGITS || n == SHA256_DIGITS;
}

bool oid_is_prefix(const char *text, size_t min)
{
	size_t n = digits(text);
	return n && n >= min && n <= SHA256_DIGITS;
}
