/** port.h - the check that the daemon can listen on its configured port. */
#ifndef FLOPWATCHD_PROBE_PORT_H
#define FLOPWATCHD_PROBE_PORT_H

#include "flopwatchd/runtime/config.h"

/** Try to bind `listen`; names the process that uses it, which may be the daemon of the same state_dir. */
void check_port(const struct config *c);

#endif
