/**
 * resources.h - what each function in a piece of device code takes of a multiprocessor, as the compiler wrote it into the file.
 *
 * Not in the file, and so not here: shared memory that a launch asks for, the size of its blocks where no bound was compiled in, and
 * which part of the stack is spills (the compiler's log says that).
 */
#ifndef CORE_MACHINE_RESOURCES_H
#define CORE_MACHINE_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/machine/elf.h"

/** -1 where the file does not say. */
struct resources {
	bool is_kernel; /* it can be launched; otherwise it is only called */
	bool is_block_fixed;
	int registers;                           /* of a thread */
	int barriers;                            /* of a block */
	int max_threads;                         /* of a block; all that a block may have where is_block_fixed */
	int64_t stack_bytes;                     /* of a thread, with what it calls: local arrays and spills */
	int64_t shared_bytes;                    /* of a block, static; without what the system takes */
	int64_t parameter_bytes, constant_bytes; /* all constant banks of its own, parameters among them */
	int64_t code_bytes;
};

/**
 * Of each text section of device code. Shape: the result has `elf->n_sections` entries; those of other sections mean nothing.
 * Own: free. NULL: out of memory.
 */
struct resources *resources_read(const struct elf *elf);

/** What device code was compiled for, as its header says: 10 x major + minor. 0: it is no device code. */
int resources_architecture(const struct elf *elf);

#endif
