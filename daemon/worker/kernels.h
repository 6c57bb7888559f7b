/** kernels.h - `flopwatch-worker kernels`: the GPU kernels in a module. */
#ifndef WORKER_KERNELS_H
#define WORKER_KERNELS_H

#include <stdbool.h>

#include "lib/buf.h"
#include "lib/err.h"

/** Append a line for each kernel of the module or cubin at `path`, or one JSON object. Err: unreadable file or content. */
int kernels_list(const char *path, bool as_json, struct buf *out, struct fw_err *err);

#endif
