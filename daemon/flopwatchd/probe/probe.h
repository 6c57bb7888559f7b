/**
 * probe.h - whether what a configuration names is there: folders, suites, programs, repositories with their branches, workers with their
 * devices.
 *
 * It looks as whoever runs it, beside a daemon that may run, and changes nothing: no folder is made, nothing is fetched, no job is sent.
 */
#ifndef FLOPWATCHD_PROBE_PROBE_H
#define FLOPWATCHD_PROBE_PROBE_H

#include "flopwatchd/runtime/config.h"

/** Look at all of it, one after the other; what is found is written by probe_print. Units: minutes, where servers do not answer. */
void look_at_config(const struct config *c);

/** Whether each can be read, and has the branch that others are compared with. */
void look_at_repos(const struct config *c);
/** Whether each answers, as the daemon would start or reach it, and on what it measures. */
void look_at_workers(const struct config *c);

#endif
