/**
 * lines.h - rows of values with the variance of what an honest kernel makes of them, and what a transformer block does to them between
 * its products. Every result may be rounded to bf16, and its variance says so.
 */
#ifndef FAMILIES_LINEAR_REFERENCE_LINES_H
#define FAMILIES_LINEAR_REFERENCE_LINES_H

#include <stdint.h>

#include "lib/err.h"

/** Half a unit in the last place of bf16 is at most this share of a value, at least half of it; errors spread evenly over it. */
#define LINES_ROUNDING 0.00390625
#define LINES_SPREAD   (LINES_ROUNDING * LINES_ROUNDING / 3 / 2)

/** Shape: value and variance [n][width]. */
struct lines {
	int n;
	int64_t width;
	double *value, *variance;
};

/** Zeros. Own: lines_free, also after an error. */
int lines_make(struct lines *l, int n, int64_t width, struct fw_err *err);
void lines_free(struct lines *l);
/** One of them, which stays theirs. */
struct lines lines_one(const struct lines *l, int i);

/** RMS normalisation of each. */
void lines_rms(const struct lines *x, struct lines *out);
/** Queries over the keys and values of their sequence. Shape: kv FW_LINEAR_BLOCK_TOKENS lines, twice as wide as q: keys, then values. */
void lines_attend(const struct lines *q, const struct lines *kv, struct lines *out);
/** to += from */
void lines_add(struct lines *to, const struct lines *from);
void lines_gelu(struct lines *x);

#endif
