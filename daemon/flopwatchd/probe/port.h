/** port.h - whether the daemon could listen where its configuration says. */
#ifndef FLOPWATCHD_PROBE_PORT_H
#define FLOPWATCHD_PROBE_PORT_H

#include "flopwatchd/runtime/config.h"

/** Try the port of `listen`, and say who has it where it is taken; the daemon that runs on the same state_dir may have it. */
void look_at_port(const struct config *c);

#endif
