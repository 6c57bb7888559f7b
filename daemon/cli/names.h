/** names.h - names that the daemon knows, a line each, for completions. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cli/verbs.h"

/** Whether there are names of this kind: "branches", "cells", "alerts" and others. */
bool names_is_kind(const char *kind);
/** Print those of o->repo, or of all repositories; nothing where the daemon does not answer at once. */
void names_print(struct client *c, const struct options *o, const char *kind);

#endif
