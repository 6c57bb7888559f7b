/**
 * compilers.h - a side's own toolchain before the system's: a search path, and flags appended to each compiler call.
 *
 * nvcc reads such flags from its own variable. gcc has none, so a folder of the cache holds a script under each of its names,
 * which starts the real compiler.
 */
#ifndef WORKER_SANDBOX_COMPILERS_H
#define WORKER_SANDBOX_COMPILERS_H

#include "protocol/protocol.h"
#include "worker/sandbox/sandbox.h"
#include "worker/sandbox/cache.h"
#include "worker/sandbox/toolchain.h"

/** Toolchain settings of a build's sandbox; it points into itself, so do not move it. */
struct compilers {
	struct sandbox_more more;
	const char *list[6];
	char folder[PATH_MAX + 16];
	char path[PATH_MAX + TOOLCHAIN_PATH_SIZE + 32], behind[TOOLCHAIN_PATH_SIZE + 32],
		flags[TOOLCHAIN_OVERRIDE_FLAGS_SIZE + 32], home[TOOLCHAIN_OVERRIDE_DIR_SIZE + 16],
		cuda[TOOLCHAIN_OVERRIDE_DIR_SIZE + 16];
};

/** Fill `out` for compilers of `dir` ("" the system's) and `flags`. Err: a file of the cache. */
int compilers_prepare(const struct cache *cache, enum device_kind kind, const char *dir, const char *flags, struct compilers *out,
	struct fw_err *err);
/** Check that builds can see `dir`, below /usr or in a readable folder, and that it holds a compiler. Err: ERR_INVALID. */
int compilers_check(const struct sandbox *s, const char *dir, struct fw_err *err);

#endif
