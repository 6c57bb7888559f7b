/**
 * compilers.h - how a side's own toolchain is put before the system's: a search path, and words that each compiler gets last.
 *
 * nvcc takes such words from its own variable. gcc knows none, so a folder of the cache holds a script under each of its names, which starts
 * the compiler that it stands for.
 */
#ifndef WORKER_BUILD_COMPILERS_H
#define WORKER_BUILD_COMPILERS_H

#include "core/protocol/protocol.h"
#include "worker/box/sandbox.h"
#include "worker/build/cache.h"
#include "worker/build/toolchain.h"

/** What a build's sandbox is told of it; it points into itself. */
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
/** Whether builds see `dir`: it lies below /usr, or in a folder that they are shown. Err: ERR_INVALID they do not, or it holds no compiler. */
int compilers_check(const struct sandbox *s, const char *dir, struct fw_err *err);

#endif
