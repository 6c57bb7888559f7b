/** trial_build.h - test whether builds work on this machine: a program of a few lines is built and run in the sandbox. */
#ifndef WORKER_TRIAL_BUILD_H
#define WORKER_TRIAL_BUILD_H

#include "worker/sandbox/sandbox.h"

/** Build a module, load it, and print one line of JSON. Leaves no files. Err: the failed step and its output. */
int trial_build(enum sandbox_want want, struct fw_err *err);

#endif
