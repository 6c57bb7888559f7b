/** files.h - files of figures on this machine. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/verbs.h"
#include "readers/reading.h"

/** Loss of throughput that `compare` of two files points out, unless it is told another. */
#define FILES_THRESHOLD_PCT 1.5

/** Whether both are files here, so that `compare` means them and no branches. */
bool files_are(const char *a, const char *b);
/**
 * Whether a name that `compare` is given can only mean a file: by how it begins (/, ./, ../), or by the end that outputs of benchmarks have.
 * A branch may hold a slash.
 */
bool files_looks_like_one(const char *name);
/** Err: ERR_NOT_FOUND there is nothing of that name, ERR_INVALID it is a folder, or no regular file. */
int files_check(const char *path, struct fw_err *err);
/** Append all of a file. */
int files_read_text(const char *path, struct buf *text, struct fw_err *err);
/** A benchmark's output, of the format that the options name, else of the one that it looks like. Own: reading_fini. */
int files_read(const char *path, const struct options *o, struct reading *out, struct fw_err *err);
/**
 * Two outputs that are to be compared, like for like (reading_pair): `path[0]` is the base. `warnings` gets what keeps them from being so, a sentence
 * a line; *unpaired how many names both have and neither can be compared by. Err: ERR_INVALID, also where the two are of different formats. Own:
 * reading_fini of both, reading[2], after 0.
 */
int files_read_pair(const char *const path[2], const struct options *o, struct reading reading[2], struct buf *warnings,
	int *unpaired, struct fw_err *err);
/** The row of `in` that is the same case as `row` of `of`; NULL none. */
const struct reading_row *files_counterpart(const struct reading *of, const struct reading_row *row, const struct reading *in);
/** Print the sentences of files_read_pair. */
void files_print_warnings(const struct buf *warnings, FILE *to);
/** Say what a file holds and no table shows: rows that failed and notes, to `to`, and rows that were left out, to stderr. `to` NULL: nothing. Returns how many failed. */
int files_warn_of_timeless(const struct reading *r, const char *file, FILE *to);
/**
 * The same of two files that are compared, base first: what both say alike of a row is printed once. Returns how many rows failed in the second file
 * and did not fail for the same reason in the first. Shapes: reading[2], path[2].
 */
int files_warn_of_both(const struct reading reading[2], const char *const path[2], FILE *to);
/** Write `text` beside `path`, then rename it over what was there. */
int files_write(const char *path, const struct buf *text, struct fw_err *err);

#endif
