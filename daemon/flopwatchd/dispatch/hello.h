/** hello.h - the check of a worker's hello message. */
#ifndef FLOPWATCHD_DISPATCH_HELLO_H
#define FLOPWATCHD_DISPATCH_HELLO_H

#include <stdbool.h>

#include "core/protocol/protocol.h"
#include "flopwatchd/runtime/config.h"

enum { HELLO_WHY_SIZE = 2 * READONLY_PATH_SIZE + 160 };

/** Check protocol, shown folders and `builds`. False: `why` says what to do. Shape: why[HELLO_WHY_SIZE]. */
bool hello_is_fine(const struct config *c, const struct config_worker *w, const struct msg_hello *h, char *why);

#endif
