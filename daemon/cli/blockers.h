/** blockers.h - lines about what keeps jobs from coming or from going on, under the tables of status and jobs. */
#ifndef CLI_VERB_BLOCKERS_H
#define CLI_VERB_BLOCKERS_H

#include "cli/client.h"

/**
 * Print a line on standard output where the daemon begins no job, and for each repository that cannot be read and each worker that is
 * down; nothing where all is well, and of what the daemon does not answer. `repo` NULL: all repositories.
 */
void blockers_broken(struct client *c, const char *repo);
/** Print why the jobs of `open`, a list of the API, do not move: workers and devices as they are, what a job waits for. */
void blockers_waiting(struct client *c, const json_t *open);

#endif
