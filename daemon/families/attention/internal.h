/** internal.h - internal declarations of this folder. */
#ifndef FAMILIES_ATTENTION_INTERNAL_H
#define FAMILIES_ATTENTION_INTERNAL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "families/attention/attention.h"
#include "kernels/fw_attention.h"
#include "lib/lib.h"
#include "model/model.h"
#include "runner/runner.h"

/*
 * ---- reference ----
 * Expected result of a kernel at chosen positions of one cell, computed in fp64 from the inputs, bf16 or f16.
 *
 * A plan lists the positions: all of a small problem, else seeded samples that include sequence ends, block borders, first and
 * last rows. Three values are computed for each position: the exact result, the result of a naive implementation (S, P, dP and
 * dS rounded to the type of the tensors, sums in fp32), and the expected error of one such rounding of P or dS.
 * reference_check.c compares.
 *
 * Backward uses the given O and LSE: P = exp(scale * s - LSE), delta = rowsum(dO * O). A kernel may instead recompute both from
 * Q, K, V and dO, which the rounding of O does not affect. The resulting difference is computed for each dQ, and is included in
 * the noise of dK.
 *
 * Use: reference_plan_make, reference_compute with the ops of the device (reference_cpu always works), accept_check on any
 * number of results, reference_fini, reference_plan_fini.
 */

/**
 * Sources of one cell's tensors. Layouts are those of fw_kernel.h, without gaps (Q (total_q, nhq, d), LSE (nhq, total_q), ...).
 * A tensor is taken from `host`; else, Q K V DO only, it is generated from the cell's seed; else it is read with `read`.
 * Own: borrows everything.
 */
struct reference_io {
	const struct cell *cell;
	const int32_t *cu_q, *cu_k;                /* FW_CU_Q, FW_CU_K; NULL: one sequence */
	const uint32_t *block_bits;                /* FW_BLOCK_BITS; NULL unless FW_BLOCKS */
	const uint32_t *token_bits;                /* FW_TOKEN_BITS; NULL unless FW_TOKENS */
	const int32_t *pages;                      /* FW_PAGES; NULL without pages */
	const void *host[FW_ATTENTION_SLOTS];      /* whole tensor in host memory, or NULL */
	const void *on_device[FW_ATTENTION_SLOTS]; /* device addresses, for reference_cuda */
	/** Copy elements [first, first + n) of a slot to `out` (16 bits, LSE float). May be NULL if `host` has all tensors. */
	int (*read)(void *arg, int slot, int64_t first, size_t n, void *out, struct fw_err *err);
	void *arg;
};

/** Fetch elements from the sources above, in that order. */
int reference_read(const struct reference_io *io, int slot, int64_t first, size_t n, void *out, struct fw_err *err);

struct reference_position {
	int32_t head; /* query head for O LSE DQ, key head for DK DV */
	int32_t row;  /* query or key over all sequences; of K and V a row of the tensor (reference_key_row) */
};

/** Positions sorted by head, then row, without duplicates. */
struct reference_plan {
	bool complete; /* every position of the tensors */
	int n_rows, n_keys;
	struct reference_position *row; /* of O and LSE (forward), DQ (backward) */
	struct reference_position *key; /* of DK and DV (backward); none forward */
};

/**
 * Choose positions. `visits` limits the number of query-key-element products; 0: the default (about a second on two cores at
 * 49152 tokens). At least 64 rows and 16 keys are chosen for any value. Block bits are not needed.
 * Own: reference_plan_fini frees.
 */
int reference_plan_make(const struct cell *cell, uint64_t seed, double visits, struct reference_plan *out, struct fw_err *err);
void reference_plan_fini(struct reference_plan *p);

/** Values of one tensor at its positions. Shape: exact, naive, noise, shift [n][width]; LSE has width 1 and only `exact`. */
struct reference_tensor {
	int slot; /* enum fw_attention_slot */
	int n, width;
	const struct reference_position *at; /* at[n], the plan's */
	double *exact;
	float *naive; /* already rounded */
	float *noise; /* standard deviation of this element if each P (each dS) is rounded */
	float *shift; /* of DQ: change of `exact` if the kernel recomputes softmax and delta; NULL for others */
};

enum { REFERENCE_TENSORS_MAX = 3 };

struct reference {
	const struct cell *cell;
	int n_tensors;
	struct reference_tensor tensor[REFERENCE_TENSORS_MAX]; /* forward: O LSE; backward: DQ DK DV */
};

struct reference_ops {
	const char *name;
	/** Fill the values of `out`, which reference_compute has allocated. */
	int (*compute)(const struct reference_plan *, const struct reference_io *, struct reference *out, struct fw_err *err);
	/**
	 * Find the first element of an output that is not finite: its index, or -1. -inf is accepted in LSE.
	 * Reads the whole tensor.
	 */
	int (*find_nonfinite)(const struct reference_io *, int slot, int64_t *index, struct fw_err *err);
};

/** On the host, with all cores of OpenMP. Uses `host`, generated inputs and `read`. */
extern const struct reference_ops reference_cpu;
#ifdef FW_HAVE_CUDA
/**
 * On the GPU, headdim up to 256. Reads Q K V, and O LSE DO for backward, at their on_device addresses; masks and pages from the
 * host. Synchronises the device first, because another stream writes the tensors.
 */
extern const struct reference_ops reference_cuda;
#endif

/** Allocate and compute the values. Own: `out` borrows the plan's positions and the cell; reference_fini frees the values. */
int reference_compute(const struct reference_ops *ops, const struct reference_plan *plan, const struct reference_io *io,
	struct reference *out, struct fw_err *err);
void reference_fini(struct reference *r);

/** Return "O", "LSE", "dQ", "dK", "dV", ... */
const char *reference_slot_name(int slot);
/** Return the number of elements of a slot's tensor. */
int64_t reference_slot_elements(const struct cell *cell, int slot);
/** Return the row of K and V that has key `key`, of all sequences: another one if they are in pages. */
int32_t reference_key_row(const struct reference_io *io, int32_t key);
/** Return the index of the first element of a position. */
int64_t reference_slot_offset(const struct cell *cell, int slot, struct reference_position at);

/*
 * ---- reference_accept ----
 * Compare a kernel's result with the reference at the planned positions.
 *
 * Every tensor must pass, with R the exact value, N the naive one and X the kernel's:
 *   all elements of the whole tensor are finite (the caller fills outputs with NaN before the call);
 *   |X - R| <= 2 max|N - R| + 2 max|round(round(R + 0.3) - 0.3) - R|, maxima over the planned positions;
 *   ||X - R|| <= 1.1 ||N - R||, with a margin for the noise of a norm over few rows;
 *   at most twice as many mismatches (errors above rtol |R| + 1e-8; rtol 0.05 for O and dV, 0.15 dK, 0.3 dQ) as N has or as
 *   its noise predicts, with a margin for noise, and at most three quarters of the elements;
 *   ||X - R|| of each position within that position's noise, to detect a dropped block in rows of small values too; a row of dQ
 *   may in addition differ by the shift of a recomputed softmax and delta;
 *   LSE within 1e-3 relative (of 1 + |LSE|); positions without keys are exactly 0, with LSE -inf.
 */

/**
 * Compare the outputs of `out` (forward: O LSE; backward: DQ DK DV). `ops` NULL skips the search for non-finite elements outside
 * the planned positions.
 * Err: -1 only if a tensor cannot be read; a wrong result returns 0 with result->ok false.
 */
int accept_check(const struct reference *reference, const struct reference_ops *ops, const struct reference_io *out,
	struct accept_result *result, struct fw_err *err);

/* ---- reference_mask: Visible keys of a row, and rows that see a key, as ranges of tokens. ---- */

/** Tokens [begin, end). */
struct reference_range {
	int32_t begin, end;
};

/** Return the sequence of a token. Shape: cu[n_seqs + 1], the offsets of queries or keys; NULL: one sequence. */
int reference_sequence(const struct attention_case *a, const int32_t *cu, int token);

/** Return the maximum number of ranges of one row or key of this case. */
int reference_mask_capacity(const struct attention_case *a);

/**
 * List the keys that query token `row` sees in query head `head`, ascending. Shape: out[reference_mask_capacity]. Returns their
 * number.
 */
int reference_mask_keys(const struct reference_io *io, int head, int row, struct reference_range *out);

/** List the query tokens that see key token `key` in query head `head`. Shape and result as above. */
int reference_mask_rows(const struct reference_io *io, int head, int key, struct reference_range *out);

/* ---- reference_math: Contribution of one (query, key) pair, exact and naive; for the CPU and the GPU. ---- */

/* Root mean square of the relative error of rounding to bf16 (half an ulp is at most 2^-9); upper estimate for fp32 sums. */
#define REFERENCE_BF16_NOISE 0.0009765625
#define REFERENCE_FP32_NOISE 9.5367431640625e-07

/*
 * Noise of delta after O was rounded, times that of one rounding. The factor is a margin: all pairs of a row have the same
 * error, which does not average out for a key that only one row sees. Without it, one of 16,000 such keys would exceed the
 * check's four standard deviations.
 */
#define REFERENCE_DELTA_NOISE 1.5

/* The same of f16, with three more bits, and what rounding to its subnormals adds: units of 2^-24. */
#define REFERENCE_F16_NOISE     (REFERENCE_BF16_NOISE / 8)
#define REFERENCE_F16_SUBNORMAL 1.73e-8

/** A value of a tensor of `dtype`, FW_BF16 or FW_F16. */
INPUTS_FN float reference_value(int32_t dtype, uint16_t bits)
{
	return dtype == FW_F16 ? inputs_f16_to_float(bits) : inputs_bf16_to_float(bits);
}

/** Return the standard deviation of `x` if it is rounded to `dtype`. */
INPUTS_FN double reference_noise(int32_t dtype, double x)
{
	return dtype == FW_F16 ? REFERENCE_F16_NOISE * fabs(x) + REFERENCE_F16_SUBNORMAL : REFERENCE_BF16_NOISE * fabs(x);
}

/** Return the nearest value of `dtype`. */
INPUTS_FN float reference_round(int32_t dtype, float x)
{
	if (dtype == FW_F16)
		return inputs_f16_to_float(inputs_float_to_f16(x));
	union {
		float f;
		uint32_t u;
	} v;
	v.f = x;
	if (x != x)
		return x;
	v.u = (v.u + 0x7fffu + ((v.u >> 16) & 1u)) & 0xffff0000u;
	return v.f;
}

/** Factors of one pair: `p` on dO (or V), `ds` on K and Q, without the final `scale`. */
struct reference_pair {
	double p, ds;
	float naive_p, naive_ds;
	double noise_p, noise_ds; /* standard deviations of p and ds if each is rounded once */
};

/**
 * Compute a pair for backward from q.k, dO.v, the row's LSE and delta = rowsum(dO * O). A row without keys has LSE -inf and no
 * pairs. `delta_noise`: standard deviation of delta, for sums over rows, whose errors are independent. Pass 0 for sums within a
 * row: there delta has a single error, which reference_own_shift accounts for.
 */
INPUTS_FN struct reference_pair reference_backward_pair(
	int32_t dtype, double score, double dp, double scale, double lse, double delta, double delta_noise)
{
	struct reference_pair r;
	float naive_score = reference_round(dtype, (float)(score * scale)), naive_dp = reference_round(dtype, (float)dp);
	r.p = exp(score * scale - lse);
	r.ds = r.p * (dp - delta);
	r.naive_p = reference_round(dtype, expf(naive_score - (float)lse));
	r.naive_ds = reference_round(dtype, r.naive_p * (naive_dp - (float)delta));
	r.noise_p = reference_noise(dtype, r.p);
	double rounding = reference_noise(dtype, r.ds) + REFERENCE_FP32_NOISE * r.p * (fabs(dp) + fabs(delta));
	r.noise_ds = sqrt(rounding * rounding + r.p * r.p * delta_noise * delta_noise);
	return r;
}

/** Sums of p and p * dP over the pairs of a row, and its given delta, which differs because O was rounded. */
struct reference_row {
	double p, p_dp, delta;
};

/**
 * Return the change of an element of dQ if a kernel recomputes the softmax and delta = sum(P * dP) instead of using LSE and O.
 * `ds_k` and `p_k` are the element's sums of ds * K and p * K.
 */
INPUTS_FN double reference_own_shift(double ds_k, double p_k, struct reference_row row)
{
	if (!(row.p > 0))
		return 0;
	return (ds_k + (row.delta - row.p_dp / row.p) * p_k) / row.p - ds_k;
}

/* ---- reference_sums: Arithmetic and reading of planned rows and keys. ---- */

enum { REFERENCE_HEADDIM_MAX = 1024 };

static inline void *array(size_t n, size_t size)
{
	return calloc(n + 1, size);
}

static inline double sums_dot(const float *x, const float *y, int n)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int i = 0; i < n; i++)
		sum += (double)x[i] * (double)y[i];
	return sum;
}

/* Sums for one output row, finished by `finish`. */
struct sums {
	double *exact;
	float *naive, *noise; /* noise: variances until `finish` */
};

static inline void sums_add(struct sums s, const float *x, int n, double factor, float naive_factor, double noise_factor)
{
	float variance = (float)(noise_factor * noise_factor);
#pragma omp simd
	for (int i = 0; i < n; i++) {
		s.exact[i] += factor * (double)x[i];
		s.naive[i] += naive_factor * x[i];
		s.noise[i] += variance * x[i] * x[i];
	}
}

static inline void sums_finish(int32_t dtype, struct sums s, int n, double scale)
{
	for (int i = 0; i < n; i++) {
		s.exact[i] *= scale;
		s.naive[i] = reference_round(dtype, s.naive[i] * (float)scale);
		s.noise[i] = sqrtf(s.noise[i]) * (float)scale;
	}
}

/* Return the standard deviation of delta = rowsum(dO * O) if each element of O is rounded. */
static inline double delta_noise(int32_t dtype, const float *dout, const float *o, int n)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int i = 0; i < n; i++)
		sum += (double)dout[i] * (double)dout[i] * (double)o[i] * (double)o[i];
	return REFERENCE_DELTA_NOISE * reference_noise(dtype, sqrt(sum));
}

static inline struct sums sums_of(const struct reference_tensor *t, int64_t i)
{
	size_t at = (size_t)i * (size_t)t->width;
	return (struct sums){ t->exact + at, t->naive + at, t->noise + at };
}

/* Load one vector of Q, K, V or dO from host memory, or generate it. Cannot fail; thread-safe. */
static inline void load_row(const struct reference_io *io, int slot, struct reference_position at, float *out)
{
	uint16_t bits[REFERENCE_HEADDIM_MAX] = { 0 };
	int d = attention_in(io->cell)->headdim, dtype = attention_in(io->cell)->dtype;
	(void)reference_read(io, slot, reference_slot_offset(io->cell, slot, at), (size_t)d, bits, NULL);
	for (int j = 0; j < d; j++)
		out[j] = reference_value(dtype, bits[j]);
}

static inline int read_row(const struct reference_io *io, int slot, struct reference_position at, float *out, struct fw_err *err)
{
	uint16_t bits[REFERENCE_HEADDIM_MAX];
	int d = attention_in(io->cell)->headdim, dtype = attention_in(io->cell)->dtype;
	if (reference_read(io, slot, reference_slot_offset(io->cell, slot, at), (size_t)d, bits, err))
		return -1;
	for (int j = 0; j < d; j++)
		out[j] = reference_value(dtype, bits[j]);
	return 0;
}

#endif
