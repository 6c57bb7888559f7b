/**
 * sass.h - machine code as printed by `nvdisasm -c` (or -c -hex): functions and their instructions.
 *
 * Each instruction is stored as printed and in a plain form without numbers of registers, predicates, barriers and labels, jump
 * targets and register cache hints: two builds that differ only in these have equal plain forms.
 */
#ifndef PROFILE_SASS_H
#define PROFILE_SASS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/err.h"

struct sass_instruction {
	uint32_t address;             /* bytes from the start of its section */
	uint32_t text, opcode, plain; /* NUL-terminated strings: offsets in `strings` */
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

/** Read all functions of `text`. Unknown lines are skipped. Own: sass_fini, also after -1. Err: ERR_FULL. */
int sass_parse(struct sass *s, const char *text, size_t len, struct fw_err *err);
void sass_fini(struct sass *s);
/** Find a function by symbol; NULL: none. */
const struct sass_function *sass_find(const struct sass *s, const char *symbol);
const char *sass_string(const struct sass *s, uint32_t at);

#endif
