/** files.h - files of figures on this machine. */
#ifndef CLI_FILE_FILES_H
#define CLI_FILE_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/verbs.h"
#include "core/reading/reading.h"

/** Loss of throughput that `compare` of two files points out, unless it is told another. */
#define FILES_THRESHOLD_PCT 1.5

/** Whether both are files here, so that `compare` means them and no branches. */
bool files_are(const char *a, const char *b);
/** Append all of a file. */
int files_read_text(const char *path, struct buf *text, struct fw_err *err);
/** A benchmark's output. `format` NULL: the one that it looks like. Own: reading_fini. */
int files_read(const char *path, const char *format, const struct options *o, struct reading *out, struct fw_err *err);
/** The row of `in` that is the same case as `row` of `of`; NULL none. */
const struct reading_row *files_counterpart(const struct reading *of, const struct reading_row *row, const struct reading *in);
/** Tell what a file holds and no table shows: rows without a time, and rows that failed. `to` NULL: nowhere. Returns how many failed. */
int files_warn_of_timeless(const struct reading *r, const char *file, FILE *to);
/** Write `text` beside `path`, then rename it over what was there. */
int files_write(const char *path, const struct buf *text, struct fw_err *err);

#endif
