/** internal.h - what the files of this folder share. */
#ifndef FAMILIES_LINEAR_INTERNAL_H
#define FAMILIES_LINEAR_INTERNAL_H

#include <stdint.h>

#include "families/linear/linear.h"
#include "families/linear/reference_quantise.h"
#include "kernels/fw_linear.h"
#include "lib/lib.h"
#include "runner/runner.h"

/*
 * ---- reference_block ---- A transformer block in fp64, at a few tokens of a large one, at all of a small one.
 *
 * Every value has the variance of what an honest kernel makes of it: roundings to bf16 where it may round, and of fp8 values that
 * go to a neighbour because of them. What a result may be off by is six standard deviations, and its own rounding. That is more
 * than a recipe changes where values go to neighbours, so all results together must lie nearer to what the recipe gives than to
 * what bf16 does.
 */

/** As values_fn; of cells of model transformer_block. */
int block_compute(const struct check_io *io, uint64_t seed, double visits, struct values *out, struct fw_err *err);

/*
 * ---- reference_lines ----
 * Rows of values with the variance of what an honest kernel makes of them, and what a transformer block does to them between
 * its products. Every result may be rounded to bf16, and its variance includes that.
 */

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
/**
 * Queries over the keys and values of their sequence. Shape: kv FW_LINEAR_BLOCK_TOKENS lines, twice as wide as q: keys, then
 * values.
 */
void line_set_attend(const struct line_set *q, const struct line_set *kv, struct line_set *out);
/** to += from */
void line_set_add(struct line_set *to, const struct line_set *from);
void line_set_gelu(struct line_set *x);

/* ---- reference_block_product: Lines times a matrix of a transformer block, both as a recipe has them multiplied. ---- */

/** One of the four matrices of W. Units: `first` values behind W. */
struct block_matrix {
	int64_t first, rows, depth;
};

struct block {
	const struct check_io *io;
	struct fw_linear_shape s;
	bool is_rounded; /* W is multiplied as what 8 or 4 bits stand for, beside bf16 */
	struct block_matrix qkv, project, up, down;
};

/* ---- reference_normalise: Prologue LAYERNORM of kernels/fw_linear.h, of a row. ---- */

/** In place, rounded to bf16. Shape: x[n]. */
void normalise(float *x, int64_t n);

/** Round a group of 4-bit values. Shape: x[n], out[n]. */
void quantise_group(const float *x, int n, double *out);

/*
 * ---- reference_cuda ----
 * Sums of products on a GPU, where B is too large to read over the bus for every check.
 */

/** Sums over `length` of n_rows lines of A and n_columns columns of the output. */
struct linear_sums {
	struct fw_linear_operand b;
	float b_scale;
	bool is_forward; /* B's rows are summed over one by one; else they go along the output's columns */
	int64_t columns; /* of the output */
	int64_t first, n_columns, length;
	int64_t n_rows;
	const double *left;          /* A's lines as they are multiplied. Shape: [n_rows][length] */
	double *sum, *size, *square; /* products, their magnitudes and squares. Shape: [n_rows][n_columns] */
};

#ifdef FW_HAVE_CUDA
/**
 * Compute the sums from B at a device address, whole and in bf16. Waits for the whole device first. Err: ERR_FULL no device
 * memory, so that the host has to compute them; else the device failed.
 */
int linear_cuda_sum(const void *b, const struct linear_sums *s, struct fw_err *err);
#endif

/* ---- torchao_shapes: Conversion of matrix_shapes of torchao to our sets, without duplicates and impossible cases. ---- */

struct torchao_shape {
	int32_t m, k, n, model;
};

struct torchao_shapes {
	struct yaml *y;
	bool is_training, is_exact; /* as the whole configuration is */
	int32_t plain;
	int n, n_sets;
	struct torchao_shape *of; /* of[n]: all so far, each once */
	struct buf sets, notes;   /* lines of the suite, and comments of it */
};

/* ---- torchao_inside: A configuration of torchao while it is read: what its files share. ---- */

enum { IMPORT_NAME_SIZE = 64 };

struct import {
	struct yaml *y;
	struct buf notes; /* comment lines */
	bool is_training, is_exact, by_row;
	const char *granularity; /* NULL: not given */
	int32_t plain;           /* operands whose scaling is disabled */
	bool takes[LINEAR_RECIPES];
	char name[IMPORT_NAME_SIZE]; /* "" not known yet */
	struct torchao_shapes shapes;
};

#endif
