/**
 * sass.h - machine code as `nvdisasm -c` (or -c -hex) prints it: functions and their instructions.
 *
 * Each instruction is kept as it was printed and in a plain form, in which numbers of registers, predicates, barriers and labels, targets
 * of jumps and hints for the register cache are left out: two builds that differ in these alone have equal plain forms.
 */
#ifndef CORE_MACHINE_SASS_H
#define CORE_MACHINE_SASS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct sass_instruction {
	uint32_t address;             /* bytes from the beginning of its section */
	uint32_t text, opcode, plain; /* NUL-ended strings: where they begin in `strings` */
};

struct sass_function {
	uint32_t symbol; /* as above */
	size_t first, n; /* of the instructions */
};

struct sass {
	size_t n_functions, n_instructions;
	struct sass_function *function;
	struct sass_instruction *instruction;
	struct buf strings;
};

/** Read all functions of `text`. Lines that are none of ours are passed over. Own: sass_fini, also after -1. Err: ERR_FULL. */
int sass_parse(struct sass *s, const char *text, size_t len, struct fw_err *err);
/** A zeroed one is fine. */
void sass_fini(struct sass *s);
/** The function of that symbol; NULL: there is none. */
const struct sass_function *sass_find(const struct sass *s, const char *symbol);
/** A string of `s`, borrowed. */
const char *sass_string(const struct sass *s, uint32_t at);

#endif
