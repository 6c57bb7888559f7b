/** sassdiff_print.h - what two modules differ in: a table and hunks for people, one JSON object for programs. */
#ifndef WORKER_MACHINE_SASSDIFF_PRINT_H
#define WORKER_MACHINE_SASSDIFF_PRINT_H

#include "base/buf.h"
#include "worker/machine/sassdiff.h"

/** Of each function that changed, the hunks up to a few hundred lines. */
void sassdiff_print(const struct sassdiff *d, struct buf *out);
/** The hunks of one pair whose instructions were compared, up to `lines_max` lines of code. Returns how many there are. */
size_t sassdiff_print_hunks(const struct sassdiff_pair *p, size_t lines_max, struct buf *out);
/** Everything. */
void sassdiff_print_json(const struct sassdiff *d, struct buf *out);

/** Read both files, append the text or JSON. Returns whether the code is the same: 1 yes, 0 no, -1 with the reason. */
int sassdiff_show(const char *base, const char *target, bool as_json, struct buf *out, struct fw_err *err);

#endif
