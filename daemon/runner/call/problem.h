/**
 * problem.h - one cell's tensors on a device: filled inputs with copies to restore them from, outputs, what its family lays out.
 *
 * All subjects of a run work on the same buffers. A subject may only write outputs: inputs are restored before each call
 * and their checksum tells afterwards whether the last call wrote into them.
 */
#ifndef RUNNER_CALL_PROBLEM_H
#define RUNNER_CALL_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "core/case/case.h"
#include "runner/call/input_variant.h"
#include "runner/device/device.h"
#include "runner/reference/family_check.h"

struct problem_slot {
	enum slot_use use;
	bool is_forwards; /* an input of the forward that a problem needs, which its direction does not read */
	void *data;       /* what subjects see */
	void *master;     /* inputs: the copy to restore from */
	void *second;     /* of SLOT_FORWARD, what a second forward left; NULL else */
	void *laid;       /* of SLOT_LAID, on the host */
	size_t bytes;
};

struct problem {
	const struct device_ops *ops;
	struct device *dev;
	const struct family *family;
	struct cell cell;
	union {
		unsigned char bytes[FAMILY_ABI_BYTES];
		max_align_t aligned;
	} sizes, forward_sizes;        /* the family's structs of the kernel ABI */
	struct fw_problem abi;         /* points at sizes */
	struct fw_problem forward_abi; /* of the same case forward */
	struct cell forward_cell;
	struct problem_slot slot[FAMILY_SLOTS_MAX];
	struct fw_tensor tensor[FAMILY_SLOTS_MAX];      /* what bind gets */
	struct fw_tensor host_tensor[FAMILY_SLOTS_MAX]; /* what count gets */
	struct input_variant named;                     /* inputs as the cell names them, with the sums of the masters */
	struct input_variant second; /* where a forward is needed: inputs of the second one, and what it left */
	struct input_variant now;    /* what the inputs should be since they were arranged */
	bool needs_forward;          /* some inputs are what the forward has left */
	bool varied;                 /* there is a second forward */
	char input_sha256[HASH_HEX];
};

/**
 * Allocate and fill. Inputs that are the forward's results the caller fills by running one and calling problem_copy_forward.
 * Err: no memory. Own: problem_close, also after an error.
 */
int problem_open(
	struct problem *p, const struct device_ops *ops, struct device *dev, const struct cell *cell, struct fw_err *err);
void problem_close(struct problem *p);

/** Lay out another problem of the same sizes, as the family has it: another mask. `cell` becomes that case. */
int problem_second(struct problem *p, struct fw_err *err);
/** Whether there is another problem of these sizes. */
bool problem_has_second(const struct problem *p);

/** What the laid slots keep as they are now, counted in them, and of how much; 0 where nothing is left out. */
int64_t problem_kept(const struct problem *p, int64_t *of);
/** Bytes of the tensors that a call reads and writes. */
int64_t problem_tensor_bytes(const struct problem *p);

/** Asynchronous: inputs as they were. */
int problem_restore(struct problem *p, struct fw_err *err);
/** Asynchronous: every byte of every output. 0xff makes NaN of bf16 and fp32. */
int problem_poison(struct problem *p, int value, struct fw_err *err);
/** Asynchronous: what a forward left becomes what its slots are restored from: that of p->second, or of the named inputs. */
int problem_copy_forward(struct problem *p, bool second, struct fw_err *err);
/** Wait, and note the sums of what a forward left, once it is accepted. */
int problem_sum_forward(struct problem *p, bool second, struct fw_err *err);
/** Wait; the first slot of which a copy that inputs are restored from is not what was filled in or accepted, -1 none. */
int problem_damaged(const struct problem *p, int *slot, struct fw_err *err);
/** Wait; NULL when all inputs are as they were arranged (restored, or by variant_sum), else the name of the first that was written. */
int problem_modified(struct problem *p, const char **name, struct fw_err *err);
/** Wait; one sum over the bytes of all outputs. */
int problem_outputs_sum(struct problem *p, uint64_t *sum, struct fw_err *err);
/** "O", "block bits", ... of a buffer's address; NULL: none of this problem's. */
const char *problem_name(const struct problem *p, const void *data);

/** "run", "prepare", ... of one bit of the phases. */
const char *problem_phase_name(const struct problem *p, uint32_t phase);

/** What its family needs to check results, of the problem itself or of its forward. Own: borrows the problem. */
void problem_check_io(const struct problem *p, enum direction direction, struct check_io *io);

#endif
