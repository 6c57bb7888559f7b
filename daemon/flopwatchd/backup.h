/**
 * backup.h - a copy of the database for whoever asked; one at a time.
 *
 * A child makes it beside the loop: it reads the database as it was at one moment while the daemon goes on writing, and it is
 * there whole or not at all. It lies in state_dir until it is over; what a killed daemon left of one goes at the next start.
 */
#ifndef FLOPWATCHD_BACKUP_H
#define FLOPWATCHD_BACKUP_H

#include <stddef.h>

#include "base/err.h"
#include "flopwatchd/runtime/loop.h"

struct backup;

/** `fn` is called from the loop when a copy has ended, either way. Own: backup_free. */
int backup_new(struct loop *l, const char *state_dir, loop_timer_fn *fn, void *arg, struct backup **out, struct fw_err *err);
/** Begin. Err: ERR_CONFLICT one is being made, ERR_BUSY the daemon stops. */
int backup_begin(struct backup *b, struct fw_err *err);
/** 1 it is being made, 0 it is whole and lies at `path`, -1 it failed. Err: ERR_FULL no room for it, ERR_TIMEOUT, ERR_BUSY the daemon stops, ERR_IO. */
int backup_take(struct backup *b, char *path, size_t size, struct fw_err *err);
/** Nobody needs it any more, in whatever state it is. Another may begin. */
void backup_over(struct backup *b);
/** The daemon stops: what is being made has failed, and no other may begin. Accepts NULL. */
void backup_stop(struct backup *b);
/** Remove what is there. After loop_free, which waits for the child. Accepts NULL. */
void backup_free(struct backup *b);

/** What the child does: copy `database` to `path`. Exit status; a failure is one line on stderr and its kind on stdout. */
int backup_run(const char *database, const char *path);

#endif
