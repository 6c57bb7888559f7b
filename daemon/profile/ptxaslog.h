/**
 * ptxaslog.h - diagnostics of NVIDIA's assembler in a build's log: products made serial (C7510 to C7519), ignored setmaxnreg,
 * and each function's registers, stack and spills if `-Xptxas -v` or `-warn-spills` printed them.
 *
 * The log may hold any other text, also in the same line. Lines of two concurrent compilations are separated only if they are
 * whole and in sequence.
 */
#ifndef PROFILE_PTXASLOG_H
#define PROFILE_PTXASLOG_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/buf.h"
#include "lib/err.h"

enum { PTXASLOG_FUNCTIONS_MAX = 2048, PTXASLOG_DIAGNOSTICS_MAX = 512, PTXASLOG_WHAT_SIZE = 160 };

enum ptxas_kind {
	PTXAS_SERIAL,     /* wgmma waits for each product by itself */
	PTXAS_SETMAXNREG, /* warps keep the registers that they began with */
	PTXAS_SPILLS,     /* of functions: ptxaslog_function */
	PTXAS_OTHER,
	PTXAS_KINDS
};

/** "serial" "setmaxnreg" "spills" "other". Shape: ends with NULL. */
extern const char *const ptxas_kind_names[PTXAS_KINDS + 1];

struct ptxaslog_diagnostic {
	enum ptxas_kind kind;
	char code[8];                  /* "C7512"; "" none */
	size_t symbol;                 /* ptxaslog_symbol; of "" if the line names no function */
	char what[PTXASLOG_WHAT_SIZE]; /* "wgmma is serialised for want of registers" */
	int times;
};

/** Compilation result of one function for one architecture. -1: not printed. */
struct ptxaslog_function {
	size_t symbol;
	int architecture; /* 90 for sm_90a; 0 not printed */
	int registers;
	long stack_bytes, store_bytes, load_bytes; /* of a thread; of spills */
};

struct ptxaslog {
	bool is_whole; /* the log is not truncated */
	size_t n_diagnostics, n_functions;
	struct ptxaslog_diagnostic *diagnostic;
	struct ptxaslog_function *function;
	struct buf symbols;
};

/** Parse a log. Own: ptxaslog_fini, also after -1. Err: out of memory only; a log without ptxas lines gives an empty result. */
int ptxaslog_read(struct ptxaslog *l, const char *text, size_t len, struct fw_err *err);
void ptxaslog_fini(struct ptxaslog *l);

/** Return the symbol without the numbers of its file: equal in another build. */
const char *ptxaslog_symbol(const struct ptxaslog *l, size_t symbol);
const char *ptxaslog_mangled(const struct ptxaslog *l, size_t symbol);

#endif
