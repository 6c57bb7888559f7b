/** recognise.h - whether a source file is a benchmark, and of which kind, by what it includes or imports. Pure. */
#ifndef CLI_RECOGNISE_H
#define CLI_RECOGNISE_H

#include "cli/scan.h"

/** Whether files that end so may be one: ".cu". */
bool recognise_suffix(const char *suffix);
/** By p->path and p->text; fills kind, why, output, uses_gpu. */
bool recognise(struct scan_program *p);
/** The word behind `option` in `text`, after a space or "=": the file of "--export-json FILE". False: it is not there, or is made by the shell. Shape: out[size]. */
bool recognise_option(const char *text, const char *option, char *out, size_t size);

#endif
