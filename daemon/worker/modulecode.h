/** modulecode.h - all compiled functions of a module, sorted for the comparison of two builds, with their instructions. */
#ifndef WORKER_MODULECODE_H
#define WORKER_MODULECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/cubin.h"
#include "profile/sass.h"

struct modulecode_function {
	int sm;
	char *symbol; /* as in the file */
	char *steady; /* without parts that change with the file: its name in the other module */
	char code_sha256[HASH_HEX];
	struct resources resources;
	size_t piece;
};

struct modulecode {
	size_t n, n_pieces;
	struct modulecode_function *function; /* by architecture and steady symbol */
	struct modulecode_piece *piece;
};

/** Read the module or cubin at `path`. Own: modulecode_free. Err: unreadable file or content. */
int modulecode_open(const char *path, struct modulecode **out, struct fw_err *err);
/** Accepts NULL. */
void modulecode_free(struct modulecode *m);

/** Compare architecture and steady symbol: below, equal, above 0. */
int modulecode_order(const struct modulecode_function *a, const struct modulecode_function *b);

/**
 * Return the instructions of a function; runs the disassembler `nvdisasm` once per piece. Own: borrowed from `m`. Err: -1 it
 * failed on that piece, or did not print this function.
 */
int modulecode_sass(struct modulecode *m, const struct modulecode_function *f, const char *nvdisasm, const struct sass **sass,
	const struct sass_function **function, struct fw_err *err);

#endif
