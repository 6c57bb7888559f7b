/** hyperfine.h - the JSON of hyperfine; called through reading_parse. */
#ifndef CORE_READING_HYPERFINE_H
#define CORE_READING_HYPERFINE_H

#include "core/reading/row.h"

/**
 * --export-json: all times of a command, where they were taken out its median and mean. The name is the command and all its parameters. Each
 * result is a row, also where two have one name. One that ended with a failure, or whose time was not distinguished from the shell's (0 s), or that has
 * no times, is left out.
 */
reading_fn read_hyperfine;

#endif
