/** trial_build.h - whether what this worker does with a push works here: a program of a few lines is built and run in the sandbox. */
#ifndef WORKER_TRIAL_BUILD_H
#define WORKER_TRIAL_BUILD_H

#include "worker/box/sandbox.h"

/** Build a module, load it, and print one line of JSON. Nothing is left behind. Err: which step failed, and what it said. */
int trial_build(enum sandbox_want want, struct fw_err *err);

#endif
