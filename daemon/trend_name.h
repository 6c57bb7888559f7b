/** trend_name.h - which commits a change point of the history accuses. */
#ifndef DAEMON_TREND_NAME_H
#define DAEMON_TREND_NAME_H

#include "base/buf.h"
#include "trend_place.h"

/**
 * Append an alert's culprits: of a step the commits from the old level to the new one, of creep the shortest range of commits
 * that holds nearly all of the loss, the steps that were told already taken out.
 */
int trend_name(const struct trend *t, const struct store_change *c, struct buf *out, struct fw_err *err);

/** Creep of another cell that is open already on this repository: its commit, so that one alert holds all. 1, 0, -1. Shape: sha[65]. */
int trend_name_open_creep(const struct trend *t, int64_t repo, char *sha, struct fw_err *err);

#endif
