/**
 * unpack.h - reads a ustar stream that somebody else wrote into a directory of ours.
 *
 * Only regular files, directories and symbolic links that stay inside are made; anything else is refused, never skipped, so
 * that a build sees all of its inputs or none. Every step below the root follows no link (beneath.h): no entry can be
 * written through a link that an earlier entry made. Files get one fixed time stamp, mode 0644 or 0755.
 */
#ifndef WORKER_BOX_UNPACK_H
#define WORKER_BOX_UNPACK_H

#include <stdint.h>

#include "base/err.h"

/** The time stamp of every file that was unpacked: 2000-01-01. What a build makes has another one. */
enum { UNPACK_TIME_S = 946684800 };

struct unpack_limits {
	int64_t file_bytes;  /* of one file */
	int64_t total_bytes; /* of all files together */
	int entries;
};

/**
 * Unpack `tar_fd`, from its current offset, at `path` (relative, no "..") below the directory `root_fd`; missing parents of `path` are made.
 * An archive that is nothing but one file named "blob" is the content of a single file: it becomes `path` itself.
 * Links may point anywhere inside root_fd. `limits` NULL: 512 MiB a file, 1 GiB in all, 100,000 entries.
 * Err: ERR_INVALID names the entry; what was made until then stays.
 */
int unpack_tar(int tar_fd, int root_fd, const char *path, const struct unpack_limits *limits, struct fw_err *err);

#endif
