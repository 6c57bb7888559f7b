/**
 * reference.h - what a kernel's result should be, for chosen places of one cell, computed in fp64 from the bf16 inputs.
 *
 * A plan names the places: every one of a small problem, else seeded samples that include sequence ends, block borders, first
 * and last rows. For each place three values are computed: the exact result, what a naive bf16 implementation gives (S, P, dP
 * and dS rounded to bf16, sums in fp32), and the expected size of one bf16 rounding of P or dS. accept.h compares.
 *
 * Backward takes O and LSE as given: P = exp(scale * s - LSE), delta = rowsum(dO * O). A kernel may compute both itself, from
 * Q, K, V and dO, which no rounding of O shifts: what that changes is known for each dQ, and part of the noise of dK.
 *
 * Use: reference_plan_make, reference_compute with the ops of the device (reference_cpu always works), accept_check on as many
 * results as wanted, reference_fini, reference_plan_fini.
 */
#ifndef FAMILIES_ATTENTION_REFERENCE_H
#define FAMILIES_ATTENTION_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "families/attention/attention.h"
#include "kernels/fw_attention.h"

/**
 * Where one cell's tensors are. Layouts are those of fw_kernel.h, without gaps (Q (total_q, nhq, d), LSE (nhq, total_q), ...).
 * A tensor is looked for in `host`, then, Q K V DO only, generated from the cell's seed, then asked from `read`.
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

/** Fetch elements as the comment above says. */
int reference_read(const struct reference_io *io, int slot, int64_t first, size_t n, void *out, struct fw_err *err);

struct reference_position {
	int32_t head; /* query head for O LSE DQ, key head for DK DV */
	int32_t row;  /* token over all sequences */
};

/** Places sorted by head, then row, each once. */
struct reference_plan {
	bool complete; /* every place of the tensors */
	int n_rows, n_keys;
	struct reference_position *row; /* of O and LSE (forward), DQ (backward) */
	struct reference_position *key; /* of DK and DV (backward); none forward */
};

/**
 * Choose places. `visits` bounds the query-key-element products to compute, 0 for the default (about a second on two cores at
 * 49152 tokens); at least 64 rows and 16 keys are taken whatever it says. Block bits are not needed.
 * Own: reference_plan_fini frees.
 */
int reference_plan_make(const struct cell *cell, uint64_t seed, double visits, struct reference_plan *out, struct fw_err *err);
void reference_plan_fini(struct reference_plan *p);

/** Values of one tensor at its places. Shape: exact, naive, noise, shift [n][width]; LSE has width 1 and exact only. */
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

/** Own: `out` borrows the plan's places and the cell; reference_fini frees the values. */
int reference_compute(const struct reference_ops *ops, const struct reference_plan *plan, const struct reference_io *io,
	struct reference *out, struct fw_err *err);
void reference_fini(struct reference *r);

/** "O", "LSE", "dQ", "dK", "dV", ... */
const char *reference_slot_name(int slot);
/** Elements of a slot's tensor. */
int64_t reference_slot_elements(const struct cell *cell, int slot);
/** Index of the first element of a place. */
int64_t reference_slot_offset(const struct cell *cell, int slot, struct reference_position at);

#endif
