/** internal.h - declarations that the files of this folder share. */
#ifndef FAMILIES_LINEAR_INTERNAL_H
#define FAMILIES_LINEAR_INTERNAL_H

#include <stdint.h>

#include "families/linear/linear.h"
#include "families/linear/reference_quantise.h"
#include "kernels/fw_linear.h"
#include "lib/lib.h"
#include "runner/runner.h"

/*
 * ---- reference_block ---- A transformer block in fp64, at a few tokens of a large problem and at all tokens of a small one.
 *
 * Every value has the variance that a correct kernel's value may have: from roundings to bf16, and from fp8 values that are
 * therefore rounded to a neighbouring value. The allowed error of a result is six standard deviations plus the rounding of the
 * result. If values are rounded to neighbours, this is more than the effect of a recipe, so all results together must also be
 * closer to the reference of the recipe than to that of bf16.
 */

/** As values_fn, for cells of model transformer_block. */
int block_compute(const struct check_io *io, uint64_t seed, double visits, struct values *out, struct fw_err *err);

/*
 * ---- reference_lines ----
 * Lines of values with the variance of a correct kernel's values, and the operations of a transformer block between its matrix
 * products. Every result may be rounded to bf16, and its variance includes this rounding.
 */

/** Largest rounding error of bf16 as a share of the value (the smallest is half of it); errors are uniformly distributed. */
#define LINE_SET_ROUNDING 0.00390625
#define LINE_SET_SPREAD   (LINE_SET_ROUNDING * LINE_SET_ROUNDING / 3 / 2)

/** Shape: value and variance [n][width]. */
struct line_set {
	int n;
	int64_t width;
	double *value, *variance;
};

/** Make lines of zeros. Own: line_set_free, also after an error. */
int line_set_make(struct line_set *l, int n, int64_t width, struct fw_err *err);
void line_set_free(struct line_set *l);
/** Return line `i`. Own: borrowed from `l`. */
struct line_set line_set_one(const struct line_set *l, int i);

/** Apply RMS normalisation to each line. */
void line_set_rms(const struct line_set *x, struct line_set *out);
/**
 * Compute attention of queries over their sequence. Shape: kv FW_LINEAR_BLOCK_TOKENS lines, twice as wide as q: keys, then
 * values.
 */
void line_set_attend(const struct line_set *q, const struct line_set *kv, struct line_set *out);
/** to += from */
void line_set_add(struct line_set *to, const struct line_set *from);
void line_set_gelu(struct line_set *x);

/* ---- reference_block_product: Lines times a matrix of a transformer block, both quantised by the recipe. ---- */

/** One of the four matrices in W, which begins at value `first` of W. */
struct block_matrix {
	int64_t first, rows, depth;
};

struct block {
	const struct check_io *io;
	struct fw_linear_shape s;
	bool is_rounded; /* W is dequantised from 8 or 4 bits and multiplied by bf16 */
	struct block_matrix qkv, project, up, down;
};

/* ---- reference_block_gradient: Gradients of a transformer block, through the values that a forward stored in S. ---- */

/** Compute the reference of dX, of dW or of both. `visits`: as in values_fn, not 0. */
int block_gradient(
	const struct block *b, bool has_dx, bool has_dw, uint64_t seed, double visits, struct values *out, struct fw_err *err);

/* ---- reference_normalise: Prologue LAYERNORM of kernels/fw_linear.h, for one row. ---- */

/** Normalise in place, rounded to bf16. Shape: x[n]. */
void normalise(float *x, int64_t n);

/** Round a group of 4-bit values. Shape: x[n], out[n]. */
void quantise_group(const float *x, int n, double *out);

/*
 * ---- reference_cuda ----
 * Sums of products on a GPU, since B is too large to read over the bus for every check.
 */

/** Sums over `length` of n_rows lines of A and n_columns columns of the output. */
struct linear_sums {
	struct fw_linear_operand b;
	float b_scale;
	bool is_forward; /* sums run over B's rows; else over its columns */
	int64_t columns; /* of the output */
	int64_t first, n_columns, length;
	int64_t n_rows;
	const double *left;          /* A's quantised lines. Shape: [n_rows][length] */
	double *sum, *size, *square; /* of products, their magnitudes and squares. Shape: [n_rows][n_columns] */
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
