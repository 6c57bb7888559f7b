#include "base/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const double power[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12 };

/* v as a whole number of 10^-decimals, halves to even. -1: that takes more than a double holds. */
static int64_t scale(double v, int decimals)
{
	double scaled = v * power[decimals];
	if (!(scaled < 0x1p52))
		return -1;
	int64_t whole = (int64_t)scaled;
	double rest = scaled - (double)whole;
	if (rest == 0.5) { /* what the product lost decides */
		double lost = fma(v, power[decimals], -scaled);
		return whole + (lost > 0 || (lost == 0 && whole % 2));
	}
	return whole + (rest > 0.5);
}

/* From the right, with a point before the last `decimals` digits. */
static size_t write_digits(char *out, uint64_t scaled, int decimals, bool is_negative)
{
	char text[2 * DECIMAL_MAX], *end = text + DECIMAL_MAX, *s = end;
	memset(end, 0, DECIMAL_MAX);
	for (int i = 0; i < decimals; i++, scaled /= 10)
		*--s = (char)('0' + scaled % 10);
	if (decimals > 0)
		*--s = '.';
	do
		*--s = (char)('0' + scaled % 10);
	while (scaled /= 10);
	if (is_negative)
		*--s = '-';
	memcpy(out, s, DECIMAL_MAX); /* as much whatever there is, which takes two moves and no call */
	return (size_t)(end - s);
}

size_t decimal_fixed(char *out, double v, int decimals)
{
	if (!isfinite(v) || decimals < 0 || decimals > 9)
		return 0;
	int64_t scaled = scale(fabs(v), decimals);
	return scaled < 0 ? 0 : write_digits(out, (uint64_t)scaled, decimals, signbit(v));
}

size_t decimal_general(char *out, double v, int digits)
{
	double a = fabs(v);
	int exponent = 0;
	if (digits < 1 || digits > 9 || (a != 0 && !(a >= 1e-4 && a < power[digits])))
		return 0;
	if (a == 0)
		return write_digits(out, 0, 0, signbit(v));
	while (a >= power[exponent + 1])
		exponent++;
	while (exponent <= 0 && a * power[-exponent] < 1)
		exponent--;
	int decimals = digits - 1 - exponent;
	int64_t scaled = scale(a, decimals);
	if (scaled < 0 || (decimals == 0 && scaled >= (int64_t)power[digits]))
		return 0;
	uint64_t left = (uint64_t)scaled;
	for (; decimals > 0 && left % 10 == 0; decimals--)
		left /= 10;
	return write_digits(out, left, decimals, v < 0);
}
