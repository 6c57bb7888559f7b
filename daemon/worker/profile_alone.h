/** profile_alone.h - `flopwatch-worker profile`: why two modules of the command line differ, without a daemon. */
#ifndef WORKER_PROFILE_ALONE_H
#define WORKER_PROFILE_ALONE_H

#include "protocol/protocol.h"
#include "worker/two_modules.h"

/** Run as compare does; `path`: the best way of counting to try. Returns the exit status: 0 printed, -1 with `err`. */
int profile_alone_run(const struct two_modules_options *o, enum evidence_path path, struct fw_err *err);

/**
 * Run `flopwatch-worker probe --counters`: print whether the device's counters can be read inside the sandbox, as one `profile`
 * line. Returns as above.
 */
int profile_alone_probe(const struct two_modules_options *o, struct fw_err *err);

#endif
