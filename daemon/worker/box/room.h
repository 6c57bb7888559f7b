/**
 * room.h - whether the disk of the cache has room, and whose doing it is when it has not.
 *
 * A reserve is never touched, and no build begins without a share for itself beyond it. One that took more than its share is to blame for a
 * disk that is full; any other is not, for somebody else filled it, and waits. On small disks reserve and share are parts of them.
 */
#ifndef WORKER_BOX_ROOM_H
#define WORKER_BOX_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct room {
	int64_t size_bytes, free_bytes;
	int64_t files, free_files; /* inodes; 0 of them: the file system has no such limit */
};

/** Of the file system that the descriptor is on. False: it does not say. */
bool room_look(int fd, struct room *out);
/** The reserve is touched. */
bool room_is_low(const struct room *r);
struct room_usage {
	int64_t bytes, files;
};
/** Whether who took this much took more than his share. */
bool room_was_taken(const struct room *r, struct room_usage by);
/** Whether a build may begin in folder `dir`, which `fd` is open on. Err: ERR_FULL, what is free where. */
int room_for_build(int fd, const char *dir, struct fw_err *err);
/** "412 MiB and 7 files are free on the disk of /var/cache". Shape: text[size]. */
void room_text(const struct room *r, const char *dir, char *text, int size);

#endif
