/** internal.h - what the files of this folder share. */
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
 * The expected result of a kernel at chosen positions of one cell, computed in fp64 from the bf16 inputs.
 *
 * A plan lists the positions: every one of a small problem, else seeded samples that include sequence ends, block borders, first
 * and last rows. For each position three values are computed: the exact result, what a naive bf16 implementation gives (S, P, dP
 * and dS rounded to bf16, sums in fp32), and the expected size of one bf16 rounding of P or dS. reference_check.c compares.
 *
 * Backward takes O and LSE as given: P = exp(scale * s - LSE), delta = rowsum(dO * O). A kernel may compute both itself, from
 * Q, K, V and dO, which no rounding of O shifts: what that changes is known for each dQ, and part of the noise of dK.
 *
 * Use: reference_plan_make, reference_compute with the ops of the device (reference_cpu always works), accept_check on as many
 * results as wanted, reference_fini, reference_plan_fini.
 */

/**
 * Where one cell's tensors are. Layouts are those of fw_kernel.h, without gaps (Q (total_q, nhq, d), LSE (nhq, total_q), ...).
 * A tensor is taken from `host`, else, Q K V DO only, generated from the cell's seed, else read with `read`.
 * Own: borrows everything.
 */
struct reference_io {
	const struct cell *cell;
	const int32_t *cu;                         /* cu[n_seqs + 1], for queries and keys alike; NULL: one sequence */
	const uint32_t *block_bits;                /* FW_BLOCK_BITS; NULL unless FW_BLOCKS */
	const void *host[FW_ATTENTION_SLOTS];      /* whole tensor in host memory, or NULL */
	const void *on_device[FW_ATTENTION_SLOTS]; /* device addresses, for reference_cuda */
	/** Copy elements [first, first + n) of a slot to `out` (bf16 bits, LSE float). May be NULL when all is in `host`. */
	int (*read)(void *arg, int slot, int64_t first, size_t n, void *out, struct fw_err *err);
	void *arg;
};

/** Fetch elements from the sources above, in that order. */
int reference_read(const struct reference_io *io, int slot, int64_t first, size_t n, void *out, struct fw_err *err);

struct reference_position {
	int32_t head; /* query head for O LSE DQ, key head for DK DV */
	int32_t row;  /* token over all sequences */
};

/** Positions sorted by head, then row, without duplicates. */
struct reference_plan {
	bool complete; /* every position of the tensors */
	int n_rows, n_keys;
	struct reference_position *row; /* of O and LSE (forward), DQ (backward) */
	struct reference_position *key; /* of DK and DV (backward); none forward */
};

/**
 * Choose positions. `visits` bounds the query-key-element products to compute, 0 for the default (about a second on two cores at
 * 49152 tokens); at least 64 rows and 16 keys are taken for any value. Block bits are not needed.
 * Own: reference_plan_fini frees.
 */
int reference_plan_make(const struct cell *cell, uint64_t seed, double visits, struct reference_plan *out, struct fw_err *err);
void reference_plan_fini(struct reference_plan *p);

/** Values of one tensor at its positions. Shape: exact, naive, noise, shift [n][width]; LSE has width 1 and exact only. */
struct reference_tensor {
	int slot; /* enum fw_attention_slot */
	int n, width;
	const struct reference_position *at; /* at[n], the plan's */
	double *exact;
	float *naive; /* already rounded to bf16 */
	float *noise; /* standard deviation of what rounding each P (each dS) to bf16 does to this element */
	float *shift; /* of DQ: what a softmax and a delta of the kernel's own add to exact; NULL of others */
};

enum { REFERENCE_TENSORS_MAX = 3 };

struct reference {
	const struct cell *cell;
	int n_tensors;
	struct reference_tensor tensor[REFERENCE_TENSORS_MAX]; /* forward: O LSE; backward: DQ DK DV */
};

struct reference_ops {
	const char *name;
	/** Fill the values of `out`, whose memory reference_compute made. */
	int (*compute)(const struct reference_plan *, const struct reference_io *, struct reference *out, struct fw_err *err);
	/**
	 * Index of the first element of an output that is not finite, -1 if all are. -inf is finite enough for LSE.
	 * Reads the whole tensor.
	 */
	int (*find_nonfinite)(const struct reference_io *, int slot, int64_t *index, struct fw_err *err);
};

/** On the host, all cores that OpenMP gives. Uses host, generated inputs and read. */
extern const struct reference_ops reference_cpu;
#ifdef FW_HAVE_CUDA
/**
 * On the GPU, headdim up to 256: reads Q K V, backward O LSE DO too, at their on_device addresses; masks from `cu` and
 * `block_bits`. Waits for the whole device first, since the tensors come from another stream.
 */
extern const struct reference_ops reference_cuda;
#endif

/** Own: `out` borrows the plan's positions and the cell; reference_fini frees the values. */
int reference_compute(const struct reference_ops *ops, const struct reference_plan *plan, const struct reference_io *io,
	struct reference *out, struct fw_err *err);
void reference_fini(struct reference *r);

/** "O", "LSE", "dQ", "dK", "dV", ... */
const char *reference_slot_name(int slot);
/** Elements of a slot's tensor. */
int64_t reference_slot_elements(const struct cell *cell, int slot);
/** Index of the first element of a position. */
int64_t reference_slot_offset(const struct cell *cell, int slot, struct reference_position at);

/*
 * ---- reference_accept ----
 * Compare a kernel's result with the reference at the planned positions.
 *
 * Every tensor must pass, with R the exact value, N the naive bf16 one and X the kernel's:
 *   every element finite (the caller poisons outputs with NaN before the call), in the whole tensor;
 *   |X - R| <= 2 max|N - R| + 2 max|bf16(bf16(R + 0.3) - 0.3) - R|, maxima over the planned positions;
 *   ||X - R|| <= 1.1 ||N - R||, with a margin for the noise of a norm over few rows;
 *   no more than twice as many elements off by rtol |R| + 1e-8 (rtol 0.05 for O and dV, 0.15 dK, 0.3 dQ) as N has or its noise
 *   makes one expect, with a margin for noise, and never three quarters of them;
 *   each position's own ||X - R|| against its own noise, so that a dropped block shows in rows of small values too; a row of dQ
 *   may in addition be off by as much as the kernel's own softmax and delta shift it;
 *   LSE within 1e-3 relative (of 1 + |LSE|); positions that see nothing exactly 0, their LSE -inf.
 */

/**
 * Compare the outputs that `out` leads to (forward: O LSE; backward: DQ DK DV). `ops` may be NULL to skip the search for
 * non-finite elements outside the planned positions.
 * Err: -1 only when a tensor cannot be read; a wrong result returns 0 with result->ok false.
 */
int accept_check(const struct reference *reference, const struct reference_ops *ops, const struct reference_io *out,
	struct accept_result *result, struct fw_err *err);

/* ---- reference_mask: Which keys a row sees and which rows see a key, as ranges of tokens. ---- */

/** Tokens [begin, end). */
struct reference_range {
	int32_t begin, end;
};

/** Most ranges that one row or key of this case can have. */
int reference_mask_room(const struct attention_case *a);

/** Keys that query token `row` sees under key head `kv_head`, rising. Shape: out[reference_mask_room]. Returns how many. */
int reference_mask_keys(const struct reference_io *io, int kv_head, int row, struct reference_range *out);

/** Query tokens that see key token `key`. */
int reference_mask_rows(const struct reference_io *io, int kv_head, int key, struct reference_range *out);

/* ---- reference_math: What one (query, key) pair contributes, exactly and as naive bf16 code sees it; for the CPU and the GPU. ---- */

/* Root mean square of the relative error of rounding to bf16 (half an ulp is at most 2^-9), and a generous one of fp32 sums. */
#define REFERENCE_BF16_NOISE 0.0009765625
#define REFERENCE_FP32_NOISE 9.5367431640625e-07

/*
 * Of delta where O was rounded to bf16: half as much again, since all pairs of a row have one error. A key that one row sees has no
 * other error to even that out, and acceptance's four deviations would be passed in one of 16,000 such keys.
 */
#define REFERENCE_DELTA_NOISE (1.5 * REFERENCE_BF16_NOISE)

INPUTS_FN float reference_from_bf16(uint16_t bits)
{
	union {
		uint32_t u;
		float f;
	} v;
	v.u = (uint32_t)bits << 16;
	return v.f;
}

/** The nearest bf16 value. */
INPUTS_FN float reference_round(float x)
{
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
	double noise_p, noise_ds; /* standard deviation of p, ds when each is rounded to bf16 once */
};

/**
 * Backward: from q.k, dO.v, the row's LSE and delta = rowsum(dO * O). A row that sees nothing has LSE -inf and no pairs.
 * `delta_noise` is the standard deviation of delta where rows add up, whose errors differ. Within a row delta has one error, which
 * reference_own_shift knows: 0 there.
 */
INPUTS_FN struct reference_pair reference_backward_pair(
	double score, double dp, double scale, double lse, double delta, double delta_noise)
{
	struct reference_pair r;
	float naive_score = reference_round((float)(score * scale)), naive_dp = reference_round((float)dp);
	r.p = exp(score * scale - lse);
	r.ds = r.p * (dp - delta);
	r.naive_p = reference_round(expf(naive_score - (float)lse));
	r.naive_ds = reference_round(r.naive_p * (naive_dp - (float)delta));
	r.noise_p = REFERENCE_BF16_NOISE * r.p;
	double rounding = REFERENCE_BF16_NOISE * fabs(r.ds) + REFERENCE_FP32_NOISE * r.p * (fabs(dp) + fabs(delta));
	r.noise_ds = sqrt(rounding * rounding + r.p * r.p * delta_noise * delta_noise);
	return r;
}

/** A row's sums of p and p * dP over its pairs, and the delta that it was given: O was rounded to bf16, so the two deltas differ. */
struct reference_row {
	double p, p_dp, delta;
};

/**
 * By how much an element of dQ moves when a kernel takes the softmax and delta = sum(P * dP) that it computes itself, and neither
 * LSE nor O. `ds_k` and `p_k` are the element's sums of ds * K and p * K.
 */
INPUTS_FN double reference_own_shift(double ds_k, double p_k, struct reference_row row)
{
	if (!(row.p > 0))
		return 0;
	return (ds_k + (row.delta - row.p_dp / row.p) * p_k) / row.p - ds_k;
}

/* ---- reference_sums: The arithmetic and the reading of planned rows and keys. ---- */

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
	float *naive, *noise; /* noise holds variances until finished */
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

static inline void sums_finish(struct sums s, int n, double scale)
{
	for (int i = 0; i < n; i++) {
		s.exact[i] *= scale;
		s.naive[i] = reference_round(s.naive[i] * (float)scale);
		s.noise[i] = sqrtf(s.noise[i]) * (float)scale;
	}
}

/* Standard deviation of delta = rowsum(dO * O), each element of O rounded to bf16. */
static inline double delta_noise(const float *dout, const float *o, int n)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int i = 0; i < n; i++)
		sum += (double)dout[i] * (double)dout[i] * (double)o[i] * (double)o[i];
	return REFERENCE_DELTA_NOISE * sqrt(sum);
}

static inline struct sums sums_of(const struct reference_tensor *t, int64_t i)
{
	size_t at = (size_t)i * (size_t)t->width;
	return (struct sums){ t->exact + at, t->naive + at, t->noise + at };
}

/* One vector of Q, K, V or dO, which are in host memory or generated: cannot fail, and any thread may. */
static inline void load_row(const struct reference_io *io, int slot, struct reference_position at, float *out)
{
	uint16_t bits[REFERENCE_HEADDIM_MAX] = { 0 };
	int d = attention_in(io->cell)->headdim;
	(void)reference_read(io, slot, reference_slot_offset(io->cell, slot, at), (size_t)d, bits, NULL);
	for (int j = 0; j < d; j++)
		out[j] = reference_from_bf16(bits[j]);
}

static inline int read_row(const struct reference_io *io, int slot, struct reference_position at, float *out, struct fw_err *err)
{
	uint16_t bits[REFERENCE_HEADDIM_MAX];
	int d = attention_in(io->cell)->headdim;
	if (reference_read(io, slot, reference_slot_offset(io->cell, slot, at), (size_t)d, bits, err))
		return -1;
	for (int j = 0; j < d; j++)
		out[j] = reference_from_bf16(bits[j]);
	return 0;
}

#endif
