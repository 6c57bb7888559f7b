/**
 * ptxaslog.h - what NVIDIA's assembler complained of, read out of a build's log: products that it made serial (C7510 to C7519), setmaxnreg
 * that it ignored, and of each function its registers, stack and spills where `-Xptxas -v` or `-warn-spills` printed them.
 *
 * The log may hold anything else, before and behind in the same line, too. Lines of two compilations that were printed at once are told
 * apart only where they are whole and follow each other.
 */
#ifndef CORE_MACHINE_PTXASLOG_H
#define CORE_MACHINE_PTXASLOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

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

/** One diagnostic, however often it stands there. */
struct ptxaslog_diagnostic {
	enum ptxas_kind kind;
	char code[8];                  /* "C7512"; "" none */
	size_t symbol;                 /* ptxaslog_symbol; of "" where the line names no function */
	char what[PTXASLOG_WHAT_SIZE]; /* "wgmma is serialised for want of registers" */
	int times;
};

/** What one function was compiled to, for one architecture. -1: not printed. */
struct ptxaslog_function {
	size_t symbol;
	int architecture; /* 90 for sm_90a; 0 not printed */
	int registers;
	long stack_bytes, store_bytes, load_bytes; /* of a thread; of spills */
};

struct ptxaslog {
	bool is_whole; /* nothing is left out of it */
	size_t n_diagnostics, n_functions;
	struct ptxaslog_diagnostic *diagnostic;
	struct ptxaslog_function *function;
	struct buf symbols;
};

/** Own: ptxaslog_fini, also after -1. Err: memory alone; a log without a word of ptxas is empty. */
int ptxaslog_read(struct ptxaslog *l, const char *text, size_t len, struct fw_err *err);
/** Zeros are fine. */
void ptxaslog_fini(struct ptxaslog *l);

/** Without the numbers that come from its file: what is the same in another build. */
const char *ptxaslog_symbol(const struct ptxaslog *l, size_t symbol);
/** As the compiler mangled it. */
const char *ptxaslog_mangled(const struct ptxaslog *l, size_t symbol);

#endif
