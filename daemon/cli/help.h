/** help.h - what the program says about itself, from the catalog: --help, man pages, completions. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "cli/catalog.h"

/** All verbs in a line each, with examples first. */
void help_all(FILE *out);
/** One verb: examples, usage, what it does, its options. */
void help_verb(const struct catalog_verb *verb, FILE *out);
/** The same as the source of a man page, flopwatch-VERB(1), for scdoc. */
void help_man(const struct catalog_verb *verb, FILE *out);

#endif
