/**
 * keyring.h - removal of data that branch code stores in kernel keyrings.
 *
 * A user keyring outlives every process of its user, so a build could leave data there for the next one, of another branch.
 */
#ifndef WORKER_KEYRING_H
#define WORKER_KEYRING_H

#include "worker/sandbox/sandbox.h"

/** Clear the keyrings of the build user, unless it is the worker's own user or the sandbox had separate ones. */
void keyring_clear(const struct sandbox *s);

#endif
