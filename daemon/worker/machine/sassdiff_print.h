/** sassdiff_print.h - what two modules differ in: a table and hunks for people, one JSON object for programs. */
#ifndef WORKER_MACHINE_SASSDIFF_PRINT_H
#define WORKER_MACHINE_SASSDIFF_PRINT_H

#include "base/buf.h"
#include "worker/machine/sassdiff.h"

/** Of each function that changed, the hunks up to a few hundred lines. */
void sassdiff_print(const struct sassdiff *d, struct buf *out);
/** What else is known of the instruction of a side (0 base, 1 target) at that address. Shape: note[SASSDIFF_NOTE_SIZE]; stays "" for nothing. */
enum { SASSDIFF_NOTE_SIZE = 64 };
typedef void sassdiff_note_fn(void *arg, int side, uint32_t address, char *note);
/**
 * The hunks of one pair whose instructions were compared, up to `lines_max` lines of code, each with what `note` says of it (NULL: nothing), and of
 * the next few behind a hunk those of which it says something. Returns how many lines the hunks have.
 */
size_t sassdiff_print_hunks(
	const struct sassdiff_pair *p, size_t lines_max, sassdiff_note_fn *note, void *note_arg, struct buf *out);
/** Everything. */
void sassdiff_print_json(const struct sassdiff *d, struct buf *out);

/** Read both files, append the text or JSON. Returns whether the code is the same: 1 yes, 0 no, -1 with the reason. */
int sassdiff_show(const char *base, const char *target, bool as_json, struct buf *out, struct fw_err *err);

#endif
