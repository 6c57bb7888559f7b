/**
 * problem.h - one cell's tensors on a device: inputs with their masters, outputs, and data laid out by the family.
 *
 * All subjects of a run share the buffers. A subject may only write outputs: inputs are restored before each call, and their
 * checksums show afterwards whether the last call wrote to them.
 */
#ifndef RUNNER_PROBLEM_H
#define RUNNER_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/hash.h"
#include "model/case.h"
#include "runner/input_variant.h"
#include "runner/device.h"
#include "runner/family_check.h"

struct problem_slot {
	enum slot_use use;
	bool is_forwards; /* an input of the needed forward that the cell's direction does not read */
	void *data;       /* the subjects' copy */
	void *master;     /* inputs: restored from here */
	void *second;     /* SLOT_FORWARD: result of the second forward; else NULL */
	void *laid;       /* SLOT_LAID: host copy */
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
	struct fw_problem forward_abi; /* the same case forward */
	struct cell forward_cell;
	struct problem_slot slot[FAMILY_SLOTS_MAX];
	struct fw_tensor tensor[FAMILY_SLOTS_MAX];      /* arguments of bind */
	struct fw_tensor host_tensor[FAMILY_SLOTS_MAX]; /* arguments of count */
	struct input_variant named;                     /* named inputs of the cell, with checksums of the masters */
	struct input_variant second;                    /* inputs and results of the second forward, if a forward is needed */
	struct input_variant now;                       /* inputs as last set */
	bool needs_forward;                             /* some inputs are results of the forward */
	bool varied;                                    /* there is a second forward */
	char input_sha256[HASH_HEX];
};

/**
 * Allocate and fill. Inputs that are results of a forward are filled by problem_copy_forward after the caller has run one. Err:
 * out of memory. Own: problem_close, also after an error.
 */
int problem_open(
	struct problem *p, const struct device_ops *ops, struct device *dev, const struct cell *cell, struct fw_err *err);
void problem_close(struct problem *p);

/** Lay out another problem of the same sizes, such as another mask. `cell` becomes that case. */
int problem_second(struct problem *p, struct fw_err *err);
bool problem_has_second(const struct problem *p);

/** Return the amount of work that the laid slots keep, and the total in `*of`; 0 if none is left out. */
int64_t problem_kept(const struct problem *p, int64_t *of);
/** Return the bytes of the tensors that a call reads and writes. */
int64_t problem_tensor_bytes(const struct problem *p);

/** Restore the named inputs. Asynchronous. */
int problem_restore(struct problem *p, struct fw_err *err);
/** Fill every byte of every output; 0xff makes NaN of bf16 and fp32. Asynchronous. */
int problem_poison(struct problem *p, int value, struct fw_err *err);
/** Make a forward's results the masters of their slots: for p->second, or the named inputs. Asynchronous. */
int problem_copy_forward(struct problem *p, bool second, struct fw_err *err);
/** Wait, and store the checksums of an accepted forward's results. */
int problem_sum_forward(struct problem *p, bool second, struct fw_err *err);
/** Wait; return the first slot whose master has changed since it was filled or accepted, -1 none. */
int problem_damaged(const struct problem *p, int *slot, struct fw_err *err);
/** Wait; return NULL if all inputs are as set (restored, or by variant_sum), else the name of the first changed one. */
int problem_modified(struct problem *p, const char **name, struct fw_err *err);
/** Wait; return one checksum over all outputs. */
int problem_outputs_sum(struct problem *p, uint64_t *sum, struct fw_err *err);
/** Return "O", "block bits", ... for a buffer's address; NULL: not this problem's. */
const char *problem_name(const struct problem *p, const void *data);

/** Return "run", "prepare", ... for one bit of the phases. */
const char *problem_phase_name(const struct problem *p, uint32_t phase);

/** Fill the family's arguments to check results, of the problem or of its forward. Own: borrows the problem. */
void problem_check_io(const struct problem *p, enum direction direction, struct check_io *io);

#endif
