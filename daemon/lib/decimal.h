/**
 * decimal.h - numbers as printf writes them, by whole-number arithmetic: pages and long lists are mostly figures, and printf
 * takes most of the time of answering them.
 */
#ifndef LIB_DECIMAL_H
#define LIB_DECIMAL_H

#include <stddef.h>

enum { DECIMAL_MAX = 32 };

/**
 * What "%.*f" writes, without a NUL. Returns the characters, 0 for a number that is left to printf: a huge one, or one that is
 * not finite. Shape: out[DECIMAL_MAX]; decimals 0 to 9.
 */
size_t decimal_fixed(char *out, double v, int decimals);
/** What "%.*g" writes, likewise, where that is no power of ten; digits 1 to 9. */
size_t decimal_general(char *out, double v, int digits);

#endif
