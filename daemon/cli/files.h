/** files.h - files of figures on this machine. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/** Loss of throughput that `compare` of two files points out, unless it is told another. */
#define FILES_THRESHOLD_PCT 1.5

/** Whether both are files here, so that `compare` means them and no branches. */
bool files_are(const char *a, const char *b);
/** Write `text` beside `path`, then rename it over what was there. */
int files_write(const char *path, const struct buf *text, struct fw_err *err);

#endif
