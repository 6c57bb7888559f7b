/** why.h - printing a profile: what explains each cell's difference, and its kernels beside each other. */
#ifndef CLI_WHY_H
#define CLI_WHY_H

#include <jansson.h>

#include "cli/verbs.h"

/** Print an answer of GET /api/v1/profiles/{id}; `cell` NULL: all of its cells. The exit status that it deserves. */
int why_print(const struct options *o, const json_t *profile, const char *cell);

#endif
