/**
 * problem.h - one cell's tensors on a device: filled inputs with copies to restore them from, outputs, offsets, block bits.
 *
 * All subjects of a launch work on the same buffers. A subject may only write outputs: inputs are restored before each call
 * and their checksum tells afterwards whether the last call wrote into them.
 */
#ifndef RUNNER_CALL_PROBLEM_H
#define RUNNER_CALL_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "core/case/case.h"
#include "runner/call/arrange.h"
#include "runner/device/device.h"
#include "runner/reference/reference.h"

enum problem_use { PROBLEM_UNUSED = 0, PROBLEM_INPUT, PROBLEM_OUTPUT };

struct problem_slot {
	enum problem_use use;
	void *data;   /* what subjects see */
	void *master; /* inputs: the copy to restore from */
	void *second; /* O and LSE of a second forward, NULL else */
	size_t bytes;
};

struct problem {
	const struct device_ops *ops;
	struct device *dev;
	struct cell cell;
	struct fw_attention sizes;
	struct fw_problem abi; /* points at sizes */
	struct problem_slot slot[FW_ATTENTION_SLOTS];
	struct fw_tensor tensor[FW_ATTENTION_SLOTS];      /* what bind gets */
	struct fw_tensor host_tensor[FW_ATTENTION_SLOTS]; /* what count gets */
	struct fw_attention forward_sizes;                /* of the same case forward */
	struct fw_problem forward_abi;
	struct cell forward_cell;
	int32_t *cu;    /* cu[n_seqs + 1]; NULL: one sequence */
	uint32_t *bits; /* NULL unless FW_BLOCKS */
	size_t bits_bytes;
	struct arrangement named;  /* inputs as the cell names them, with the sums of the masters */
	struct arrangement second; /* backward: K, V, O and LSE of the second forward */
	struct arrangement now;    /* what the inputs should be since they were arranged */
	bool varied;               /* there is a second forward */
	char input_sha256[HASH_HEX];
};

/**
 * Allocate and fill. Backward: O and LSE are inputs that the caller fills by running a forward and calling problem_take_forward.
 * Err: no memory. Own: problem_close, also after an error.
 */
int problem_open(
	struct problem *p, const struct device_ops *ops, struct device *dev, const struct cell *cell, struct fw_err *err);
void problem_close(struct problem *p);

/** Offsets and bits of another mask of the same sizes: lengths in reverse order, other blocks. `cell` becomes that case. */
int problem_second_mask(struct problem *p, struct fw_err *err);
/** Whether there is another mask of these sizes. */
bool problem_has_second_mask(const struct problem *p);

/** Kept blocks of the mask as it is now, counted bit by bit, and how many there could be, over all key heads; 0 without a block mask. */
int64_t problem_kept_blocks(const struct problem *p, int64_t *blocks);
/** Bytes of the tensors that a call reads and writes. */
int64_t problem_tensor_bytes(const struct problem *p);

/** Asynchronous: inputs as they were. */
int problem_restore(struct problem *p, struct fw_err *err);
/** Asynchronous: every byte of every output. 0xff makes NaN of bf16 and fp32. */
int problem_poison(struct problem *p, int value, struct fw_err *err);
/** O and LSE, as a forward left them, become inputs: those of p->second, or the named ones. */
int problem_take_forward(struct problem *p, bool second, struct fw_err *err);
/** Wait; NULL when all inputs are as they were arranged (restored, or by arrange_sum), else the name of the first that was written. */
int problem_modified(struct problem *p, const char **name, struct fw_err *err);
/** Wait; one sum over the bytes of all outputs. */
int problem_outputs_sum(struct problem *p, uint64_t *sum, struct fw_err *err);
/** "O", "block bits", ... of a buffer's address; NULL: none of this problem's. */
const char *problem_name(const struct problem *p, const void *data);

/** The reference's view, forward or backward. Own: borrows the problem. */
void problem_reference_io(const struct problem *p, enum direction direction, struct reference_io *io);
/** The reference for this device. */
const struct reference_ops *problem_reference_ops(const struct problem *p);

#endif
