/**
 * toolwish.h - what a side is to be built with where that is not its worker's own toolchain: another folder of compilers, words for them,
 * or nothing at all, because its module was built before. Pure: whether the folder is there is seen by the worker.
 */
#ifndef CORE_SUITE_TOOLWISH_H
#define CORE_SUITE_TOOLWISH_H

#include <stdbool.h>

enum { TOOLWISH_DIR_SIZE = 200, TOOLWISH_FLAGS_SIZE = 120, TOOLCHAIN_TEXT_SIZE = 400 };

struct toolwish {
	char dir[TOOLWISH_DIR_SIZE];     /* whose compilers come first, in it or in its bin; "" the worker's own */
	char flags[TOOLWISH_FLAGS_SIZE]; /* words that every compiler gets last; "" none */
	char module[65]; /* SHA-256 of the module that the worker still keeps; nothing is built then. "" it is built */
	char made_by[TOOLCHAIN_TEXT_SIZE]; /* the toolchain that built that module, as the worker called it */
};

/** Whether nothing is wished: the worker's own toolchain builds. */
bool toolwish_is_none(const struct toolwish *w);
bool toolwish_is_same(const struct toolwish *a, const struct toolwish *b);
/** What is wrong with a folder, or with words for compilers, in words that follow them; NULL nothing. "" is fine. */
const char *toolwish_wrong_dir(const char *dir);
const char *toolwish_wrong_flags(const char *flags);

#endif
