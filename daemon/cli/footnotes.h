/** footnotes.h - what is said below the tables of a comparison on a terminal: how kernels ran, warnings, and how to go on. */
#ifndef CLI_FOOTNOTES_H
#define CLI_FOOTNOTES_H

#include <jansson.h>
#include <stdio.h>

/** Print the remarks on a comparison (the API's body), a line each. */
void footnotes_print(const json_t *comparison, FILE *out);

#endif
