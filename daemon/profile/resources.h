/**
 * resources.h - multiprocessor resources of each function in device code, as the compiler recorded them.
 *
 * The file does not contain dynamic shared memory, the block size if no bound was compiled in, and the spilled part of the
 * stack (the compiler's log has it).
 */
#ifndef PROFILE_RESOURCES_H
#define PROFILE_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/elf.h"

/** Resources of a function; -1 unknown. */
struct resources {
	bool is_kernel; /* can be launched; else it is only called */
	bool is_block_fixed;
	int registers;                           /* of a thread */
	int barriers;                            /* of a block */
	int max_threads;                         /* of a block; all threads of a block if is_block_fixed */
	int64_t stack_bytes;                     /* of a thread, with called functions: local arrays and spills */
	int64_t shared_bytes;                    /* of a block, static; without the system's part */
	int64_t parameter_bytes, constant_bytes; /* all of its constant banks, including parameters */
	int64_t code_bytes;
};

/**
 * Read the resources of each text section. Shape: the result has `elf->n_sections` entries; those of other sections are
 * meaningless. Own: free. NULL: out of memory.
 */
struct resources *resources_read(const struct elf *elf);

/** Return the architecture in the header: 10 x major + minor. 0: no device code. */
int resources_architecture(const struct elf *elf);

#endif
