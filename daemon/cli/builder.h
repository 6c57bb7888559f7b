/**
 * builder.h - how a program of a checkout is built: by the Makefile that knows it, by CMake, or by a compiler alone.
 */
#ifndef CLI_BUILDER_H
#define CLI_BUILDER_H

#include "cli/propose.h"

enum { BUILDER_STEPS_MAX = 2 };

struct builder_step {
	struct command command;
	char why[320];
};

/** Steps that build `program`, to be run at the root, and the file that it becomes. 0: none is known. Shape: step[BUILDER_STEPS_MAX]. */
int builder_find(
	const struct scan *l, const struct scan_program *program, struct builder_step *step, char file[COMMAND_WORD_SIZE]);
/** The step that builds extensions of the Python package at the root. False: there are none. */
bool builder_python(const struct scan *l, struct builder_step *step);

#endif
