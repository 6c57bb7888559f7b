/** terminal.h - what the terminal can show: its width and whether colours are wanted. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/** --color: "auto", "always" or "never". Err: -1 another word. */
int terminal_choose(const char *when);
/** Columns of `out`; 0: it is no terminal, so nothing has to fit. COLUMNS counts where it is set. */
int terminal_width(FILE *out);
/** Whether to colour what goes to `out`: a terminal, TERM not dumb, NO_COLOR not set, unless --color says otherwise. */
bool terminal_colors(FILE *out);
/** The sequence that begins the colour of a verdict or state ("" none), which TERMINAL_PLAIN ends. Own: a constant. */
const char *terminal_tone(const char *word);
#define TERMINAL_BOLD  "\033[1m"
#define TERMINAL_PLAIN "\033[0m"

#endif
