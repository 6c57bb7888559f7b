/**
 * lines.h - rows of values with the variance of what an honest kernel makes of them, and what a transformer block does to them between
 * its products. Every result may be rounded to bf16, and its variance says so.
 */
#ifndef FAMILIES_LINEAR_REFERENCE_LINES_H
#define FAMILIES_LINEAR_REFERENCE_LINES_H

#include <stdint.h>

#include "lib/err.h"

/** Half a unit in the last place of bf16 is at most this share of a value, at least half of it; errors spread evenly over it. */
#define LINE_SET_ROUNDING 0.00390625
#define LINE_SET_SPREAD   (LINE_SET_ROUNDING * LINE_SET_ROUNDING / 3 / 2)

/** Shape: value and variance [n][width]. */
struct line_set {
	int n;
	int64_t width;
	double *value, *variance;
};

/** Zeros. Own: lines_free, also after an error. */
int line_set_make(struct line_set *l, int n, int64_t width, struct fw_err *err);
void line_set_free(struct line_set *l);
/** One of them, which stays theirs. */
struct line_set line_set_one(const struct line_set *l, int i);

/** RMS normalisation of each. */
void line_set_rms(const struct line_set *x, struct line_set *out);
/** Queries over the keys and values of their sequence. Shape: kv FW_LINEAR_BLOCK_TOKENS lines, twice as wide as q: keys, then values. */
void line_set_attend(const struct line_set *q, const struct line_set *kv, struct line_set *out);
/** to += from */
void line_set_add(struct line_set *to, const struct line_set *from);
void line_set_gelu(struct line_set *x);

#endif
