/**
 * toolchain_override.h - toolchain of a side if it is not its worker's own: another folder of compilers, flags, or an existing
 * module instead of a build. Pure: only the worker checks that the folder exists.
 */
#ifndef MODEL_TOOLCHAIN_OVERRIDE_H
#define MODEL_TOOLCHAIN_OVERRIDE_H

#include <stdbool.h>

enum { TOOLCHAIN_OVERRIDE_DIR_SIZE = 200, TOOLCHAIN_OVERRIDE_FLAGS_SIZE = 120, TOOLCHAIN_TEXT_SIZE = 400 };

struct toolchain_override {
	char dir[TOOLCHAIN_OVERRIDE_DIR_SIZE]; /* folder whose compilers, in it or in its bin, come first; "" the worker's own */
	char flags[TOOLCHAIN_OVERRIDE_FLAGS_SIZE]; /* flags appended to every compiler call; "" none */
	char module[65];                   /* SHA-256 of a module in the worker's cache, used instead of a build; "" build */
	char made_by[TOOLCHAIN_TEXT_SIZE]; /* the toolchain that built that module, in the worker's words */
};

/** Return whether it changes nothing: the worker's own toolchain builds. */
bool toolchain_override_is_none(const struct toolchain_override *w);
bool toolchain_override_is_same(const struct toolchain_override *a, const struct toolchain_override *b);
/** Return the fault of a folder, or of flags, as a predicate; NULL none. "" is valid. */
const char *toolchain_override_wrong_dir(const char *dir);
const char *toolchain_override_wrong_flags(const char *flags);

#endif
