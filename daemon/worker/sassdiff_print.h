/** sassdiff_print.h - differences of two modules: a table and hunks as text, or one JSON object. */
#ifndef WORKER_SASSDIFF_PRINT_H
#define WORKER_SASSDIFF_PRINT_H

#include "lib/buf.h"
#include "worker/sassdiff.h"

void sassdiff_print(const struct sassdiff *d, struct buf *out);
/**
 * Write a note on the instruction of a side (0 base, 1 target) at that address. Shape: note[SASSDIFF_NOTE_SIZE]; stays ""
 * without one.
 */
enum { SASSDIFF_NOTE_SIZE = 64 };
typedef void sassdiff_note_fn(void *arg, int side, uint32_t address, char *note);
/**
 * Print the hunks of one pair whose instructions were compared, up to `lines_max` lines of code, each with its `note` (NULL:
 * none), and after a hunk the next few instructions that have notes. Returns the number of lines in the hunks.
 */
size_t sassdiff_print_hunks(
	const struct sassdiff_pair *p, size_t lines_max, sassdiff_note_fn *note, void *note_arg, struct buf *out);
void sassdiff_print_json(const struct sassdiff *d, struct buf *out);

/** Read both files, append the text or JSON. Returns 1 if the code is the same, 0 if not, -1 with the reason. */
int sassdiff_show(const char *base, const char *target, bool as_json, struct buf *out, struct fw_err *err);

#endif
