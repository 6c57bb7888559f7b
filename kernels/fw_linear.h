/**
 * fw_linear.h - family "linear": problems Y = activation(prologue(X) W^T + BIAS) and their two gradients, in every precision.
 *
 * The caller gives X, W, DY in bf16, always. A recipe says as what they are multiplied: the library quantises them itself, W in
 * a phase of its own that is `once` work (its result lies in persist, in whatever order the kernels like), X and DY in every call. So how
 * a value is rounded is part of the problem, and stands below; what is checked is Y, against the product of the operands as they
 * are after that rounding. A library that cannot multiply in the precision asked for answers FW_UNSUPPORTED, never in another one.
 *
 *     recipe            x                 w                              flags
 *     baseline          bf16              bf16
 *     int8wo            bf16              i8, row
 *     int4wo-G          bf16              i4, group G, asymmetric
 *     float8wo          bf16              e4m3, row
 *     float8dq-tensor   e4m3, tensor      e4m3, tensor                   FW_FAST_ACCUM
 *     float8dq-row      e4m3, row         e4m3, row                      FW_FAST_ACCUM
 *
 * Quantisation, in fp32 with IEEE rounding. These share a scale: BY_TENSOR all values; BY_ROW those that are summed up together (in
 * forward a row of X or W; in dgrad a row of DY, a column of W; in wgrad a column of DY or X), so that it is a factor of the
 * sum; BY_GROUP `group` neighbours of a row of W. amax is their largest magnitude, min and max are theirs alone.
 *     e4m3, e5m2   s = amax / 448 (e5m2: / 57344), q = x / s rounded to nearest even, never beyond the largest finite value.
 *                  FW_LINEAR_POWER_OF_TWO: s is the smallest power of two that is not below that
 *     i8           s = amax / 127.5, q = x / s rounded to nearest even, -128 to 127
 *     i4           asymmetric: s = max((max - min) / 15, 1e-6), q = (x - min) / s rounded to nearest even, 0 to 15; then s and
 *                  zero = min + 8 s are rounded to bf16, and multiplied is (q - 8) s + zero, rounded to bf16
 *     amax 0       s = 1, q = 0
 * Every operand is rounded as it says, whatever the others say. Where one of the two is bf16, the other is multiplied as q, and s is
 * a factor of the sum; rounding q s to bf16 first is as good.
 * FW_FAST_ACCUM: sums of fp8 products may stay in the tensor core's accumulator over all of k. Without it they are added up in fp32
 * every 128 of k.
 */
#ifndef FW_LINEAR_H
#define FW_LINEAR_H

#include "fw_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/** fw_problem.family; fw_problem.shape is a struct fw_linear_shape. Directions: FW_FORWARD, FW_DGRAD, FW_WGRAD, FW_TOTAL. */
#define FW_LINEAR 2

/**
 * Parts of one call, in the order they run.
 *   QUANTISE_WEIGHT      `once`: W as it is multiplied, into persist. Runs anew when W has changed. In forward W stays, and
 *                        the time of this is not that of a call; training changes W in every step, so there it is
 *   NORMALISE            prologue(X), where it is a pass of its own
 *   QUANTISE_ACTIVATION  X or DY as it is multiplied, its transposed copy included
 *   RUN                  the product; what is fused with it is part of it
 *   REDUCE               adds up the sums of a split k
 *   ACTIVATE             bias and activation, where they are a pass of their own
 */
enum fw_linear_phase {
	FW_LINEAR_QUANTISE_WEIGHT = 1,
	FW_LINEAR_NORMALISE = 2,
	FW_LINEAR_QUANTISE_ACTIVATION = 4,
	FW_LINEAR_RUN = 8,
	FW_LINEAR_REDUCE = 16,
	FW_LINEAR_ACTIVATE = 32
};

/** Their names, lowest bit first. */
#define FW_LINEAR_PHASE_NAMES                                                                                                    \
	{                                                                                                                        \
		"quantise_weight", "normalise", "quantise_activation", "run", "reduce", "activate"                               \
	}

/**
 * Buffers. Row-major unless strides say otherwise (stride[0] between rows, stride[1] 1); all bf16.
 * Shape: X, DX (m, k); W, DW (n, k); Y, DY (m, n); BIAS (n), where the shape has one. Of a BLOCK as it says below.
 * Forward reads X W BIAS and writes Y. Dgrad reads DY W and writes DX = DY W. Wgrad reads DY X and writes DW = DY^T X. Gradients
 * are those of the product alone: they come without prologue, activation and bias, which are then not set in the shape. Total is all
 * three on one X, W and DY in one call: it writes Y, DX and DW, without prologue, activation and bias too.
 */
enum fw_linear_buffer {
	FW_LINEAR_X,
	FW_LINEAR_W,
	FW_LINEAR_BIAS,
	FW_LINEAR_Y,
	FW_LINEAR_DY,
	FW_LINEAR_DX,
	FW_LINEAR_DW,
	FW_LINEAR_N_SLOTS
};

enum fw_linear_scaling { FW_LINEAR_UNSCALED = 0, FW_LINEAR_BY_TENSOR = 1, FW_LINEAR_BY_ROW = 2, FW_LINEAR_BY_GROUP = 3 };
enum fw_linear_operand_flag { FW_LINEAR_ASYMMETRIC = 1, FW_LINEAR_POWER_OF_TWO = 2 };

/**
 * LAYERNORM: (x - mean) / sqrt(variance + 1e-5) over k, variance of k values, no affine part; rounded to bf16.
 * BLOCK: the problem is no product of X but a transformer block, in forward alone, without activation and bias. m counts sequences of
 * 16 tokens, n is k, a multiple of 8. X and Y are (16 m, k), a token a row; W holds four matrices one behind the other, packed, 12 k k
 * values: QKV (3 k, k), PROJECT (k, k), UP (4 k, k), DOWN (k, 4 k).
 *     H = X + attend(rms(X) QKV^T) PROJECT^T       Y = H + gelu(rms(H) UP^T) DOWN^T
 *     rms(v)       v / sqrt(mean of v^2 + 1e-5), of a row
 *     A W^T        times 2^-e, 4^e the smallest power of 4 not below the columns of W: weights of the size that models have
 *     attend       rows of QKV are queries, keys, values, each of 8 heads of k / 8; softmax(q k^T / sqrt(k / 8)) v over the 16 tokens
 *                  of a sequence, each of which sees all
 *     gelu         with erf
 * What lies between X and Y may be rounded to bf16 after each step, or stay in registers. A recipe holds for each of the four matrices by
 * itself, and for what is multiplied with it; X has no scale by tensor. Phases: QUANTISE_WEIGHT and RUN, which is all else.
 */
enum fw_linear_prologue { FW_LINEAR_NO_PROLOGUE = 0, FW_LINEAR_LAYERNORM = 1, FW_LINEAR_BLOCK = 2 };
enum fw_linear_block { FW_LINEAR_BLOCK_TOKENS = 16, FW_LINEAR_BLOCK_HEADS = 8, FW_LINEAR_BLOCK_WIDENS = 4 };

/** Of the sum in fp32, rounded once. LEAKYRELU: slope 0.01. GELU: with erf. HARDSWISH: x clamp(x + 3, 0, 6) / 6. */
enum fw_linear_activation {
	FW_LINEAR_NO_ACTIVATION = 0,
	FW_LINEAR_RELU = 1,
	FW_LINEAR_SIGMOID,
	FW_LINEAR_LEAKYRELU,
	FW_LINEAR_RELU6,
	FW_LINEAR_GELU,
	FW_LINEAR_SILU,
	FW_LINEAR_HARDSWISH,
	FW_LINEAR_N_ACTIVATIONS
};

/** As what an operand is multiplied. All 0 is bf16. */
struct fw_linear_operand {
	int32_t dtype;   /* enum fw_dtype: FW_BF16 (also 0), FW_E4M3, FW_E5M2, FW_I8, FW_I4 */
	int32_t scaling; /* enum fw_linear_scaling */
	int32_t group;   /* values along k that share a scale; divides k; 0 unless BY_GROUP */
	int32_t flags;   /* enum fw_linear_operand_flag */
};

/** Zeroed and with m, n, k set it is the baseline. */
struct fw_linear_shape {
	uint32_t struct_size;
	int32_t m, n, k;               /* each tensor has at most 2^31 - 1 elements */
	int32_t prologue, activation;  /* enum fw_linear_prologue, fw_linear_activation */
	int32_t bias;                  /* 1: BIAS is added */
	struct fw_linear_operand x, w; /* of the operands that the direction reads */
	struct fw_linear_operand dy;
};

#ifdef __cplusplus
}
#endif
#endif
