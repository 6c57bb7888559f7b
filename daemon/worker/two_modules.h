/** two_modules.h - what `compare` and `profile` are given on the command line: a suite's cells, and two shared objects. */
#ifndef WORKER_TWO_MODULES_H
#define WORKER_TWO_MODULES_H

#include "core/suite/suite.h"
#include "worker/bench/bench.h"

/** Read a suite's file; of its cells those that match `glob` (NULL: all). Err: ERR_INVALID none does. Own: suite_fini. */
int two_modules_suite(const char *path, const char *glob, struct suite *suite, struct fw_err *err);
/** Add the module at `path` to the bench; `config` is what its provider is handed for every cell, "" it chooses. */
int two_modules_add(
	struct bench *b, enum role role, const char *provider, const char *config, const char *path, struct fw_err *err);
/** What a provider chose where it was handed `config`. Err: ERR_INVALID another. */
int two_modules_chose(enum role role, const char *cell, const char *config, const char *chosen, struct fw_err *err);

#endif
