/** port.h - the check that the daemon can listen on its configured port. */
#ifndef FLOPWATCHD_PORT_H
#define FLOPWATCHD_PORT_H

#include "flopwatchd/config/config.h"

/** Try to bind `listen`; names the process that uses it, which may be the daemon of the same state_dir. */
void check_port(const struct config *c);

#endif
