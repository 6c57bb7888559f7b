/** files.h - outputs of foreign benchmarks as files on this machine. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "core/reading.h"

/**
 * Read a benchmark's output. `format` NULL: the one that it looks like. Err: ERR_INVALID with file and line, ERR_NOT_FOUND.
 * Own: reading_fini.
 */
int files_read(const char *path, const char *format, const char *unit, struct reading *out, struct fw_err *err);
/** Whether both are files here, so that `compare` means them and no branches. */
bool files_are(const char *a, const char *b);

#endif
