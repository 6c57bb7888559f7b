/** kernels.h - `flopwatch-worker kernels`: the GPU kernels in a module. */
#ifndef WORKER_MACHINE_KERNELS_H
#define WORKER_MACHINE_KERNELS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/** Append a line for each kernel of the module or cubin at `path`, or one JSON object. Err: unreadable file or content. */
int kernels_list(const char *path, bool as_json, struct buf *out, struct fw_err *err);

#endif
