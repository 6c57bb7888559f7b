/** failures.h - whether a repository's jobs all fail of late, and what of. */
#ifndef CLI_VERB_FAILURES_H
#define CLI_VERB_FAILURES_H

#include <stdbool.h>

#include "cli/client.h"

struct failures {
	int n;         /* newest jobs that ended, all of them failed */
	bool is_one;   /* of the same class, such as all in their build */
	long long job; /* the newest */
	char class[64];
	char text[256]; /* what the newest says of itself */
};

/**
 * Whether the newest jobs of `repo` that ended, two at least, all failed. False also where the daemon does not answer; `out` then holds
 * nothing.
 */
bool failures_find(struct client *c, const char *repo, struct failures *out);

#endif
