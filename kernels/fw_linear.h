/**
 * fw_linear.h - family "linear": problems Y = activation(prologue(X) W^T + BIAS) and their two gradients, in every precision.
 *
 * X, W and DY are always bf16 inputs. A recipe defines the types in which they are multiplied. The library quantises them itself:
 * W in a separate phase, which is `once` work (its result is stored in persist, in any layout), X and DY in every call. The
 * rounding of a value is part of the problem and is defined below; Y is checked against the product of the rounded operands. A
 * library that cannot multiply in the requested precision returns FW_UNSUPPORTED and never uses another one.
 *
 *     recipe            x                 w                              flags
 *     baseline          bf16              bf16
 *     int8wo            bf16              i8, row
 *     int4wo-G          bf16              i4, group G, asymmetric
 *     float8wo          bf16              e4m3, row
 *     float8dq-tensor   e4m3, tensor      e4m3, tensor                   FW_FAST_ACCUM
 *     float8dq-row      e4m3, row         e4m3, row                      FW_FAST_ACCUM
 *     float8dq-block    e4m3, block 128   e4m3, block 128
 *
 * Quantisation, in fp32 with IEEE rounding. Values that share a scale: BY_TENSOR all values; BY_ROW values that are summed
 * together (in forward a row of X or W; in dgrad a row of DY, a column of W; in wgrad a column of DY or X), so that the scale is
 * a factor of the sum; BY_GROUP `group` consecutive values of a row of W; BY_BLOCK, of X and DY, 128 consecutive values of those
 * that BY_ROW shares a scale among, and of W 128 x 128 values, 128 consecutive rows of 128 columns, the same blocks in every
 * direction. Blocks are counted from the first value; if 128 does not divide a size, its last block is shorter. amax is the
 * largest magnitude of such values, min and max their smallest and largest value.
 *     e4m3, e5m2   s = amax / 448 (e5m2: / 57344), q = x / s rounded to nearest even, clamped to the largest finite value.
 *                  FW_LINEAR_POWER_OF_TWO: s is the smallest power of two that is not below that
 *     i8           s = amax / 127.5, q = x / s rounded to nearest even, -128 to 127
 *     i4           asymmetric: s = max((max - min) / 15, 1e-6), q = (x - min) / s rounded to nearest even, 0 to 15; then s and
 *                  zero = min + 8 s are rounded to bf16; the multiplied value is (q - 8) s + zero, rounded to bf16
 *     amax 0       s = 1, q = 0
 * Each operand is rounded independently of the other. If one of the two is bf16, the other is multiplied as q, and s is a factor
 * of the sum; rounding q s to bf16 first is also allowed.
 * BY_BLOCK a scale is a factor of the sum over its block of the depth (k, in dgrad n, in wgrad m): the sum of q over each block,
 * which may stay in the tensor core's accumulator, is multiplied by the scales of its block in fp32, then these products are added
 * in fp32. FW_FAST_ACCUM is not set.
 * With FW_FAST_ACCUM, sums of fp8 products may stay in the tensor core's accumulator over all of k. Without it they are added up
 * in fp32 every 128 of k.
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
 * Phases of one call, in the order in which they run.
 *   QUANTISE_WEIGHT      `once`: convert W to the multiplied form, in persist. Runs again when W changes. In forward W is constant,
 *                        and the time of this phase is not part of a call's time; in training W changes in every step, and it is
 *   NORMALISE            prologue(X), and in gradients DY activation'(S), if they are separate passes
 *   QUANTISE_ACTIVATION  convert X or DY to the multiplied form, including a transposed copy
 *   RUN                  the product and everything that is fused with it
 *   REDUCE               add the partial sums of a split k
 *   ACTIVATE             bias and activation, in dgrad the gradient of the prologue, if they are a separate pass
 */
enum fw_linear_phase {
	FW_LINEAR_QUANTISE_WEIGHT = 1,
	FW_LINEAR_NORMALISE = 2,
	FW_LINEAR_QUANTISE_ACTIVATION = 4,
	FW_LINEAR_RUN = 8,
	FW_LINEAR_REDUCE = 16,
	FW_LINEAR_ACTIVATE = 32
};

/** Names of the phases, lowest bit first. */
#define FW_LINEAR_PHASE_NAMES                                                                                                    \
	{                                                                                                                        \
		"quantise_weight", "normalise", "quantise_activation", "run", "reduce", "activate"                               \
	}

/**
 * Buffers. Row-major unless strides are set (stride[0] between rows, stride[1] 1); all bf16.
 * Shape: X, DX (m, k); W, DW (n, k); Y, DY, S (m, n); BIAS (n), if the shape has one. For BLOCK see below.
 * Forward reads X W BIAS and writes Y. Dgrad reads DY W and writes DX = DY W. Wgrad reads DY X and writes DW = DY^T X. Bias is
 * not set in the shape of gradients.
 * With a prologue or an activation, gradients go through both. S contains the sums before the activation, as a forward of
 * training stores them; dgrad, wgrad and total read it, only if the shape has an activation. U = prologue(X), rounded to bf16.
 *     G   DY activation'(S), rounded to bf16: takes the place of DY, also as the quantised operand
 *     DW  G^T U
 *     DX  (D - mean(D) - V mean(D V)) / sqrt(variance + 1e-5) of each row, D = G W and V = U before its rounding; means are
 *         over k. D and V may be rounded to bf16. Dgrad reads X for it. Without prologue DX = D
 * Gradients of a BLOCK are described there.
 * Total computes all three from one X, W, DY and S in one call: it writes Y, DX and DW.
 */
enum fw_linear_buffer {
	FW_LINEAR_X,
	FW_LINEAR_W,
	FW_LINEAR_BIAS,
	FW_LINEAR_Y,
	FW_LINEAR_DY,
	FW_LINEAR_DX,
	FW_LINEAR_DW,
	FW_LINEAR_S,
	FW_LINEAR_N_SLOTS
};

enum fw_linear_scaling {
	FW_LINEAR_UNSCALED = 0,
	FW_LINEAR_BY_TENSOR = 1,
	FW_LINEAR_BY_ROW = 2,
	FW_LINEAR_BY_GROUP = 3,
	FW_LINEAR_BY_BLOCK = 4
};
enum { FW_LINEAR_SCALE_BLOCK = 128 }; /* values of the depth that share a scale, of W also its rows of the product */
enum fw_linear_operand_flag { FW_LINEAR_ASYMMETRIC = 1, FW_LINEAR_POWER_OF_TWO = 2 };

/**
 * LAYERNORM: (x - mean) / sqrt(variance + 1e-5) over k, variance of k values, no affine transform; rounded to bf16.
 * BLOCK: the problem is a transformer block instead of a product of X, without activation and bias. m counts sequences of 16
 * tokens, n is k, a multiple of 8. X, Y and DY are (16 m, k), a token per row; W contains four matrices one after the other,
 * packed, 12 k k values: QKV (3 k, k), PROJECT (k, k), UP (4 k, k), DOWN (k, 4 k).
 *     H = X + attend(rms(X) QKV^T) PROJECT^T       Y = H + gelu(rms(H) UP^T) DOWN^T
 *     rms(v)       v / sqrt(mean of v^2 + 1e-5), of a row
 *     A W^T        times 2^-e, 4^e the smallest power of 4 not below the columns of W: gives weights the magnitude they have in models
 *     attend       rows of QKV are queries, keys, values, each of 8 heads of k / 8; softmax(q k^T / sqrt(k / 8)) v over the 16 tokens
 *                  of a sequence, without a mask
 *     gelu         with erf
 * Gradients read X, W, DY and S, whose rows have 8 k values that a forward of training stored for a token: 3 k of rms(X) QKV^T,
 * k of H, 4 k of rms(H) UP^T. Dgrad writes DX, (16 m, k); wgrad writes DW, as W: the gradients of the four matrices. With f' the
 * gradient of f at what it was applied to, Q K V, H and Z those of S, and each product times its 2^-e:
 *     DZ = (DY DOWN) gelu'(Z)      DH = DY + rms'(H, DZ UP)      DA = attend'(Q K V, DH PROJECT)      DX = DH + rms'(X, DA QKV)
 *     DOWN: DY^T gelu(Z)           UP: DZ^T rms(H)               PROJECT: DH^T attend(Q K V)          QKV: DA^T rms(X)
 *     rms'(v, d)   (d - u mean(d u)) / sqrt(mean of v^2 + 1e-5) with u = rms(v), of a row
 * Values between X and Y, or DY and a gradient, may be rounded to bf16 after each step, or stay in registers. A recipe applies
 * separately to each product: to its matrix as to W, to what is in the place of X as to X, to what is in the place of DY (DY, DZ,
 * DH, DA) as to DY; the latter two have no scale by tensor. Phases: QUANTISE_WEIGHT, and RUN for everything else.
 */
enum fw_linear_prologue { FW_LINEAR_NO_PROLOGUE = 0, FW_LINEAR_LAYERNORM = 1, FW_LINEAR_BLOCK = 2 };
enum fw_linear_block {
	FW_LINEAR_BLOCK_TOKENS = 16,
	FW_LINEAR_BLOCK_HEADS = 8,
	FW_LINEAR_BLOCK_WIDENS = 4,
	FW_LINEAR_BLOCK_STORES = 8 /* a row of S has so many times k values */
};

/**
 * Applied to the fp32 sum, rounded once. LEAKYRELU: slope 0.01. GELU: with erf. HARDSWISH: x clamp(x + 3, 0, 6) / 6.
 * Derivatives where the slope changes: RELU 0 and LEAKYRELU 0.01 at 0, RELU6 0 at 0 and 6, HARDSWISH 0 at -3 and 1 at 3.
 */
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

/** The type in which an operand is multiplied. All 0 is bf16. */
struct fw_linear_operand {
	int32_t dtype;   /* enum fw_dtype: FW_BF16 (also 0), FW_E4M3, FW_E5M2, FW_I8, FW_I4 */
	int32_t scaling; /* enum fw_linear_scaling */
	int32_t group;   /* BY_GROUP: values along k that share a scale; divides k. BY_BLOCK: FW_LINEAR_SCALE_BLOCK. Else 0 */
	int32_t flags;   /* enum fw_linear_operand_flag */
};

/** All zeros except m, n, k: the baseline. */
struct fw_linear_shape {
	uint32_t struct_size;
	int32_t m, n, k;               /* each tensor has at most 2^31 - 1 elements */
	int32_t prologue, activation;  /* enum fw_linear_prologue, fw_linear_activation */
	int32_t bias;                  /* 1: BIAS is added */
	struct fw_linear_operand x, w; /* operands that the direction reads */
	struct fw_linear_operand dy;
};

#ifdef __cplusplus
}
#endif
#endif
