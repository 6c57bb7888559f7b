/** profile_alone.h - `flopwatch-worker profile`: why two modules on the command line differ, without a daemon. */
#ifndef WORKER_PROFILE_ALONE_H
#define WORKER_PROFILE_ALONE_H

#include "core/protocol/protocol.h"
#include "worker/two_modules.h"

/** As for compare; `path`: the best way of counting that is tried. Returns the exit status: 0 printed, -1 with `err`. */
int profile_alone_run(const struct two_modules_options *o, enum evidence_path path, struct fw_err *err);

/** `flopwatch-worker probe --counters`: whether the device's counters can be read from inside the sandbox, as one `profile` line. As above. */
int profile_alone_probe(const struct two_modules_options *o, struct fw_err *err);

#endif
