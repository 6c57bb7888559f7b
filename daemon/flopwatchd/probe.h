/**
 * probe.h - checks of the objects that a configuration names: folders, suites, programs, repositories with their branches,
 * workers with their devices. They run as the calling user, next to a running daemon, and change nothing: they create no
 * folder, fetch nothing and send no job.
 */
#ifndef FLOPWATCHD_PROBE_H
#define FLOPWATCHD_PROBE_H

#include "flopwatchd/config/config.h"

/** Run all checks in order; probe_print writes the results. May take minutes if servers do not answer. */
void check_config_names(const struct config *c);

/** Check that each repository can be read and has its upstream branch. */
void check_repos(const struct config *c);
/** Check that each worker answers, as the daemon would start it or connect to it, and list its devices. */
void check_workers(const struct config *c);

#endif
