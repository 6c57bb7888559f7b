/**
 * keyring.h - what branch code keeps in the kernel instead of in a file.
 *
 * A user keyring outlives every process of its user: a build could leave there what the next one, of another branch, finds.
 */
#ifndef WORKER_KEYRING_H
#define WORKER_KEYRING_H

#include "worker/box/sandbox.h"

/** Empty the keyrings of the user that builds run as, where that is not ours and no user namespace of the sandbox had them to itself. */
void keyring_clear(const struct sandbox *s);

#endif
