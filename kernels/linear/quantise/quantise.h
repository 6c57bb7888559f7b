/**
 * quantise.h - conversion of bf16 matrices to fewer bits and back, as defined in fw_linear.h, and normalisation of rows, on the
 * device.
 *
 * Every function enqueues kernels on a stream and returns the result of cudaGetLastError, as int so that C can call it.
 */
#ifndef LINEAR_QUANTISE_H
#define LINEAR_QUANTISE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A bf16 matrix, rows contiguous and at multiples of 16 bytes. Units: stride in elements. */
struct quantise_source {
	const void *data;
	int64_t stride;
	int32_t rows, columns; /* columns: a multiple of 8 */
	int32_t processors;    /* multiprocessors of the device */
	int32_t power_of_two;  /* 1: scales are powers of two */
};

/** E4M3_IN_BF16: rounded as E4M3, stored in bf16, in which the values are exact. */
enum quantise_kind { QUANTISE_E4M3, QUANTISE_I8, QUANTISE_I4, QUANTISE_E4M3_IN_BF16, QUANTISE_E5M2 };

/** One scale per row, not I4. Shape: values (rows, columns) of 1 byte, or bf16, packed; scales [rows]. */
int quantise_rows(const struct quantise_source *, enum quantise_kind, void *values, float *scales, void *stream);

/** Size of `partial` for quantise_tensor. Units: bytes. */
int64_t quantise_tensor_bytes(const struct quantise_source *);

/** One scale for all, not I8 or I4. Shape: values as above; scales [1]. */
int quantise_tensor(const struct quantise_source *, enum quantise_kind, void *values, float *scales, void *partial, void *stream);

/**
 * Groups of a row in 4 bits; `group`: 32, 64, 128 or 256, divides the columns.
 * Shape: values (rows, columns / 2) bytes, the first of two in the lower half; scales (rows, columns / group): scale and zero in bf16.
 */
int quantise_groups(const struct quantise_source *, int32_t group, void *values, void *scales, void *stream);

/** Expand to the multiplied values in bf16, packed: q of E4M3 and I8, (q - 8) s + zero of I4. `scales`, `group`: for I4. */
int quantise_expand(
	enum quantise_kind, const void *values, const void *scales, int32_t group, int64_t count, void *out, void *stream);

/** Values that share a scale, of a matrix in 8 bits. A line is a row of the result. */
enum quantise_scope {
	QUANTISE_TENSOR,
	QUANTISE_LINE,
	QUANTISE_SPANS, /* 128 values of a line */
	QUANTISE_BLOCKS /* 128 values of 128 lines */
};

/**
 * A copy in E4M3 or E5M2, its lines contiguous. Shape: values (lines, pitch), pitch a multiple of 128, zeros past the end of a line;
 * scales [1], [lines], or for scale_pitch not below the number of lines or blocks of lines, rounded up, [depth / 128][scale_pitch].
 */
struct quantise_copy {
	enum quantise_kind kind;
	enum quantise_scope scope;
	int32_t is_across; /* 1: a line is a column of the source */
	int64_t pitch;
	int64_t scale_pitch;
	unsigned char *values;
	float *scales;
	float *partial;
};

/** Size of quantise_copy.partial. Units: bytes. */
int64_t quantise_copy_bytes(const struct quantise_source *, const struct quantise_copy *);

/** Make a copy by SPANS or BLOCKS, or any copy across. */
int quantise_lines(const struct quantise_source *, const struct quantise_copy *, void *stream);

/** (x - mean) / sqrt(variance + 1e-5) of every row. Shape: out (rows, columns) bf16, packed. */
int quantise_normalise(const struct quantise_source *, void *out, void *stream);

#ifdef __cplusplus
}
#endif
#endif
