/** plain.h - foreign text for a terminal: what a branch, a build or a module wrote cannot move the cursor or hide a word. */
#ifndef CLI_PLAIN_H
#define CLI_PLAIN_H

#include <stddef.h>
#include <stdio.h>

#include "lib/err.h"

/** Print one line's worth of text; line ends in it become visible too. */
void plain_print(FILE *out, const char *text);
/** Print a line that may hold foreign words. */
void plain_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Print a text of many lines: line ends and tabs stay. Err: ERR_FULL it is too large. */
int plain_print_lines(FILE *out, const char *text, size_t len, struct fw_err *err);

#endif
