#include "lib/lib.h"

#include <endian.h>
#include <math.h>

static const double power[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12 };

/* Return v as a whole number of 10^-decimals, halves to even. -1: more digits than a double represents. */
static inline int64_t scale(double v, int decimals)
{
	double scaled = v * power[decimals];
	if (!(scaled < 0x1p52))
		return -1;
	int64_t whole = (int64_t)scaled;
	double rest = scaled - (double)whole;
	if (rest == 0.5) { /* the rounded-off rest of the product decides */
		double lost = fma(v, power[decimals], -scaled);
		return whole + (lost > 0 || (lost == 0 && whole % 2));
	}
	return whole + (rest > 0.5);
}

/* ---- up to eight digits: nearly all numbers ----------------------------------------------------------------------------- */

enum { EIGHT = 8 };
#define ASCII UINT64_C(0x3030303030303030)

/*
 * One byte per digit, the first digit in the lowest byte, with leading zeros: halves, pairs and digits are divided in parallel.
 */
static inline uint64_t eight_digits(uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32;
	uint64_t hundreds = x * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
	x = hundreds | (x - 100 * hundreds) << 16;
	uint64_t tens = x * 103 >> 10 & UINT64_C(0x000f000f000f000f);
	return tens | (x - 10 * tens) << 8;
}

static inline void put_eight(char *out, uint64_t digits)
{
	digits = htole64(digits | ASCII);
	memcpy(out, &digits, sizeof digits);
}

static inline int min(int a, int b)
{
	return a < b ? a : b;
}

/* Write a number below 10^8 with a point before the last `decimals` digits; `trims`: without trailing zeros. */
static inline __attribute__((always_inline)) size_t write_eight(
	char *out, uint32_t scaled, int decimals, bool is_negative, bool trims)
{
	uint64_t x = eight_digits(scaled);
	int first = x ? __builtin_ctzll(x) / EIGHT : EIGHT - 1;
	int zeros = trims ? min(x ? __builtin_clzll(x) / EIGHT : EIGHT, decimals) : 0, end = EIGHT - zeros;
	*out = '-';
	out += is_negative;
	if (decimals >= EIGHT) { /* no digit before the point */
		memcpy(out, "0.000000", EIGHT);
		put_eight(out + 2 + decimals - EIGHT, x);
		return (size_t)is_negative + 2 + (size_t)(decimals - zeros);
	}
	decimals -= zeros;
	first = min(first, end - decimals - 1);
	int whole = end - decimals - first;
	put_eight(out, x >> EIGHT * first);
	if (decimals == 0)
		return (size_t)is_negative + (size_t)whole;
	out[whole] = '.';
	put_eight(out + whole + 1, x >> EIGHT * (end - decimals));
	return (size_t)is_negative + (size_t)whole + 1 + (size_t)decimals;
}

/* ---- more digits -------------------------------------------------------------------------------------------------------- */

/* Write from the right, with a point before the last `decimals` digits. */
static size_t write_many(char *out, uint64_t scaled, int decimals, bool is_negative)
{
	char text[DECIMAL_MAX], *end = text + sizeof text, *s = end;
	for (int i = 0; i < decimals; i++, scaled /= 10)
		*--s = (char)('0' + scaled % 10);
	if (decimals > 0)
		*--s = '.';
	do
		*--s = (char)('0' + scaled % 10);
	while (scaled /= 10);
	if (is_negative)
		*--s = '-';
	memcpy(out, s, (size_t)(end - s));
	return (size_t)(end - s);
}

/* ---- as printf ---------------------------------------------------------------------------------------------------------- */

size_t decimal_fixed(char *out, double v, int decimals)
{
	if (!isfinite(v) || decimals < 0 || decimals > 9)
		return 0;
	int64_t scaled = scale(fabs(v), decimals);
	if (scaled < 0)
		return 0;
	return scaled < 100000000 ? write_eight(out, (uint32_t)scaled, decimals, signbit(v), false)
				  : write_many(out, (uint64_t)scaled, decimals, signbit(v));
}

void decimal_text(char *out, size_t size, double v, int decimals)
{
	char text[DECIMAL_MAX];
	size_t len = decimal_fixed(text, v, decimals);
	if (len && len < size) {
		memcpy(out, text, len);
		out[len] = '\0';
	} else {
		snprintf(out, size, "%.*f", decimals, v);
	}
}

/* Return the decimal exponent of a number from 10^-4 on and below 10^9: its binary exponent leaves two candidates. */
static inline int exponent_of(double a)
{
	static const double from[] = { 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };
	uint64_t bits;
	memcpy(&bits, &a, sizeof bits);
	int binary = (int)(bits >> 52) - 1023, lower = binary * 1233 >> 12; /* 1233 / 4096: log10(2) */
	return lower + (a >= from[lower + 1 + 5]);
}

size_t decimal_general(char *out, double v, int digits)
{
	double a = fabs(v);
	if (digits < 1 || digits > 9 || (a != 0 && !(a >= 1e-4 && a < power[digits])))
		return 0;
	if (a == 0)
		return write_eight(out, 0, 0, signbit(v), false);
	int decimals = digits - 1 - exponent_of(a);
	int64_t scaled = scale(a, decimals);
	if (scaled < 0 || (decimals == 0 && scaled >= (int64_t)power[digits]))
		return 0;
	if (scaled < 100000000)
		return write_eight(out, (uint32_t)scaled, decimals, v < 0, true);
	for (; decimals > 0 && scaled % 10 == 0; decimals--)
		scaled /= 10;
	return write_many(out, (uint64_t)scaled, decimals, v < 0);
}
