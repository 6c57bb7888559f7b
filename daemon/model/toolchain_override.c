/* toolchain_override.c - checks of folders and flags. */
#include "model/model.h"

#include <ctype.h>

bool toolchain_override_is_none(const struct toolchain_override *w)
{
	return !w->dir[0] && !w->flags[0] && !w->module[0];
}

bool toolchain_override_is_same(const struct toolchain_override *a, const struct toolchain_override *b)
{
	return strcmp(a->dir, b->dir) == 0 && strcmp(a->flags, b->flags) == 0 && strcmp(a->module, b->module) == 0;
}

static bool is_made_of(const char *text, const char *more)
{
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(more, *c))
			return false;
	return true;
}

const char *toolchain_override_wrong_dir(const char *dir)
{
	if (!dir[0])
		return NULL;
	if (strlen(dir) >= TOOLCHAIN_OVERRIDE_DIR_SIZE)
		return "is too long";
	if (dir[0] != '/' || strstr(dir, "/../") || strstr(dir, "//") ||
		(strlen(dir) >= 3 && !strcmp(dir + strlen(dir) - 3, "/..")))
		return "is no absolute and plain path; e.g. /usr/local/cuda-12.9";
	if (!is_made_of(dir, "._-/+@,=%"))
		return "holds a letter that no folder of a toolchain has";
	return dir[1] ? NULL : "is the whole machine; name the folder of the toolchain in it";
}

const char *toolchain_override_wrong_flags(const char *flags)
{
	if (!flags[0])
		return NULL;
	if (strlen(flags) >= TOOLCHAIN_OVERRIDE_FLAGS_SIZE)
		return "are too long";
	if (flags[0] != '-')
		return "do not begin with -; e.g. -O2";
	return is_made_of(flags, "._-/+@,=:% ") ? NULL : "hold a letter that may not be there";
}
