/** hint.h - what to do about what failed, as far as the words of compilers, programs and Python, and a look at the checkout, say. */
#ifndef CLI_HINT_H
#define CLI_HINT_H

#include "cli/outcome.h"
#include "cli/tree.h"

enum { HINTS_MAX = 8, HINT_SIZE = 480 };

struct hints {
	int n;
	char text[HINTS_MAX][HINT_SIZE];
};

/** `run`: the program that was measured; NULL a module. */
void hint_all(const struct tree *t, const struct outcome *o, const struct benchmark *run, struct hints *out);

#endif
