/** audit.h - batches of calls for a clock outside this process. */
#ifndef RUNNER_AUDIT_H
#define RUNNER_AUDIT_H

#include "runner/runner.h"

/** Descriptor of the supervisor's go, one byte a batch. */
enum { MODE_AUDIT_GO_FD = 4, MODE_AUDIT_PAIRS = 5 };

/**
 * For every cell and subject make MODE_AUDIT_PAIRS times about K and about 3K calls back to back, subjects interleaved: a
 * record `ready`, a wait for the go, the calls, a record `done` with the device's own time. Checks the last result of every
 * batch. Returns an exit status.
 */
int mode_audit_run(struct runner *r);

#endif
