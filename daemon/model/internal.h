/** internal.h - declarations that the files of this folder share. */
#ifndef MODEL_INTERNAL_H
#define MODEL_INTERNAL_H

#include "lib/lib.h"
#include "model/model.h"

/* ---- mistakes: The mistakes of a YAML document as one error. ---- */

/** Return 0 if `y` has no mistake. Err: ERR_INVALID with all of them, separated by " | ", cut to fit. */
int mistakes_report(const struct yaml *y, struct fw_err *err);

/* ---- name_list: A closed list of names as a table, for rows, JSON and command lines. ---- */

/** Return the index of `name`; n: not in the list. Shape: names[n]. */
int name_find(const char *const *names, int n, const char *name);

#endif
