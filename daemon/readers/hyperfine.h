/** hyperfine.h - JSON of hyperfine; called by reading_parse. */
#ifndef READERS_HYPERFINE_H
#define READERS_HYPERFINE_H

#include "readers/row.h"

/**
 * Read --export-json: all times of a command; if they were removed, its median and mean. The name is the command with all
 * parameters. Each result is a row, also with equal names. A result that ended with a failure, has a time not distinguished
 * from the shell's (0 s), or has no times, is left out.
 */
reading_fn read_hyperfine;

#endif
