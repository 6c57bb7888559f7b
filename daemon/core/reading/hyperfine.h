/** hyperfine.h - the JSON of hyperfine; called through reading_parse. */
#ifndef CORE_READING_HYPERFINE_H
#define CORE_READING_HYPERFINE_H

#include "core/reading/row.h"

/**
 * --export-json: all times of a command. One that ended with a failure, or whose time was not told from the shell's (0 s), is left out.
 */
reading_fn read_hyperfine;

#endif
