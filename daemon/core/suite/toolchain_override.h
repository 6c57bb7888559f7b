/**
 * toolchain_override.h - what a side is to be built with where that is not its worker's own toolchain: another folder of compilers, words for them,
 * or nothing at all, because its module was built before. Pure: whether the folder is there is seen by the worker.
 */
#ifndef CORE_SUITE_TOOLCHAIN_OVERRIDE_H
#define CORE_SUITE_TOOLCHAIN_OVERRIDE_H

#include <stdbool.h>

enum { TOOLCHAIN_OVERRIDE_DIR_SIZE = 200, TOOLCHAIN_OVERRIDE_FLAGS_SIZE = 120, TOOLCHAIN_TEXT_SIZE = 400 };

struct toolchain_override {
	char dir[TOOLCHAIN_OVERRIDE_DIR_SIZE];     /* whose compilers come first, in it or in its bin; "" the worker's own */
	char flags[TOOLCHAIN_OVERRIDE_FLAGS_SIZE]; /* words that every compiler gets last; "" none */
	char module[65]; /* SHA-256 of the module that the worker still keeps; nothing is built then. "" it is built */
	char made_by[TOOLCHAIN_TEXT_SIZE]; /* the toolchain that built that module, as the worker called it */
};

/** Whether nothing is wished: the worker's own toolchain builds. */
bool toolchain_override_is_none(const struct toolchain_override *w);
bool toolchain_override_is_same(const struct toolchain_override *a, const struct toolchain_override *b);
/** What is wrong with a folder, or with words for compilers, in words that follow them; NULL nothing. "" is fine. */
const char *toolchain_override_wrong_dir(const char *dir);
const char *toolchain_override_wrong_flags(const char *flags);

#endif
