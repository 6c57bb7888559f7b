/**
 * backup.h - a copy of the database on request; one at a time. A child process makes it from a snapshot while the daemon
 * continues to write; the file appears complete or not at all. It stays in state_dir until backup_over; the next start removes
 * what a killed daemon left.
 */
#ifndef FLOPWATCHD_BACKUP_H
#define FLOPWATCHD_BACKUP_H

#include <stddef.h>

#include "lib/err.h"
#include "lib/loop.h"

struct backup;

/** `fn` is called from the loop when a copy has ended or failed. Own: backup_free. */
int backup_new(struct loop *l, const char *state_dir, loop_timer_fn *fn, void *arg, struct backup **out, struct fw_err *err);
/** Start a copy. Err: ERR_CONFLICT one is being made, ERR_BUSY the daemon stops. */
int backup_begin(struct backup *b, struct fw_err *err);
/** 1 in progress, 0 complete at `path`, -1 failed. Err: ERR_FULL no space, ERR_TIMEOUT, ERR_BUSY the daemon stops, ERR_IO. */
int backup_take(struct backup *b, char *path, size_t size, struct fw_err *err);
/** Discard the copy in any state; another may start. */
void backup_over(struct backup *b);
/** The daemon stops: a copy in progress fails, and no other may start. Accepts NULL. */
void backup_stop(struct backup *b);
/** Remove the files. After loop_free, which waits for the child. Accepts NULL. */
void backup_free(struct backup *b);

/** Main function of the child. Returns the exit status; a failure prints a line on stderr and its kind on stdout. */
int backup_run(const char *database, const char *path);

#endif
