/** hello.h - the check of a worker's hello message. */
#ifndef FLOPWATCHD_SESSION_HELLO_H
#define FLOPWATCHD_SESSION_HELLO_H

#include <stdbool.h>

#include "protocol/protocol.h"
#include "flopwatchd/config/config.h"

enum { HELLO_WHY_SIZE = 2 * READONLY_PATH_SIZE + 160 };

/** Check protocol, shown folders and `builds`. False: `why` says what to do. Shape: why[HELLO_WHY_SIZE]. */
bool hello_is_fine(const struct config *c, const struct config_worker *w, const struct msg_hello *h, char *why);

#endif
