/**
 * room.h - free space on the disk of the cache, and the process that used it up.
 *
 * A reserve stays free, and a build starts only if a share for it is free beyond the reserve. A build that used more than its
 * share is at fault when the disk is full; any other build waits, because another process filled the disk. On small disks
 * reserve and share are fractions of the disk.
 */
#ifndef WORKER_SANDBOX_ROOM_H
#define WORKER_SANDBOX_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

struct room {
	int64_t size_bytes, free_bytes;
	int64_t files, free_files; /* inodes; 0: the file system has no such limit */
};

/** Read the free space of the file system of `fd`. Returns false if it is unknown. */
bool room_look(int fd, struct room *out);
bool room_is_low(const struct room *r);
struct room_usage {
	int64_t bytes, files;
};
/** Return whether this usage exceeds a build's share. */
bool room_was_taken(const struct room *r, struct room_usage by);
/** Check whether a build may start in folder `dir`, opened as `fd`. Err: ERR_FULL with the free space and the path. */
int room_for_build(int fd, const char *dir, struct fw_err *err);
/** Format "412 MiB and 7 files are free on the disk of /var/cache". Shape: text[size]. */
void room_text(const struct room *r, const char *dir, char *text, int size);

#endif
