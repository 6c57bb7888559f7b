/** configurations.h - a profile of every cell of a suite: what each side ran, how fast, and what it moved. */
#ifndef CLI_CONFIGURATIONS_H
#define CLI_CONFIGURATIONS_H

#include <jansson.h>
#include <stdio.h>

/** Print an answer of GET /api/v1/profiles/{id} that is done as a table of configurations. */
void configurations_print(const json_t *profile, FILE *out);

#endif
