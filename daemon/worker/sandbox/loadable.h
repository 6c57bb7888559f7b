/**
 * loadable.h - hash of the parts of a file that can affect its execution.
 *
 * For a program or library (ELF, 64 bit, little-endian) the hash excludes the parts that only debuggers read and that change
 * with every added comment line: debug sections, the unloaded symbol table, compiler notes, the build id. Segments, all other
 * sections and appended data count. Any other file, and one with malformed tables, is hashed whole.
 */
#ifndef WORKER_SANDBOX_LOADABLE_H
#define WORKER_SANDBOX_LOADABLE_H

#include "lib/hash.h"

/** Hash the regular file `fd` from its start. Err: the file cannot be read. */
int loadable_hash(int fd, char hex[HASH_HEX], struct fw_err *err);

#endif
