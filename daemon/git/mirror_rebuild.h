/**
 * mirror_rebuild.h - a mirror in which something cannot be read asks for a new one.
 *
 * Whoever reads a mirror meets the damage, and whoever fetches can mend it: the first leaves a file in the mirror, the second finds it. What
 * is still wrong in the new mirror came so from the server, and is asked for no more.
 */
#ifndef GIT_MIRROR_REBUILD_H
#define GIT_MIRROR_REBUILD_H

#include <stdbool.h>

#include "lib/err.h"

/** `err` (ERR_DAMAGED) was met in the repository `dir`. Becomes ERR_BUSY where that is a mirror of ours that was not made anew for it yet. */
void mirror_rebuild_request(const char *dir, struct fw_err *err);
/** Whether the mirror asks; `why` gets what for. */
bool mirror_rebuild_is_requested(const char *dir, struct fw_err *why);
/** In the new one, `fresh`: what it was made for, beside what the one in `dir` was. */
int mirror_rebuild_note(const char *dir, const char *fresh, const char *why, struct fw_err *err);

#endif
