/**
 * loadable.h - the hash of a file by what running it can depend on.
 *
 * Of a program or library (ELF, 64 bit, little-endian) that leaves out what is there for debuggers alone and changes with every line that a
 * comment adds: debug sections, the symbol table that is not loaded, compiler notes, the build id. Segments, all other sections and what is
 * appended behind them count. Any other file, and one whose tables are odd in any way, is hashed whole.
 */
#ifndef WORKER_BOX_LOADABLE_H
#define WORKER_BOX_LOADABLE_H

#include "base/hash.h"

/** Hash the regular file `fd` from its start. Err: it cannot be read. */
int loadable_hash(int fd, char hex[HASH_HEX], struct fw_err *err);

#endif
