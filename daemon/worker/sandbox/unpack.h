/**
 * unpack.h - reader of an untrusted ustar stream into a folder of ours.
 *
 * It makes only regular files, folders and symbolic links that stay inside. Any other entry is refused, never skipped, so a
 * build sees all of its inputs or none. No step below the root follows a link (beneath.h), so no entry can be written through a
 * link of an earlier entry. Files get one fixed time stamp, mode 0644 or 0755.
 */
#ifndef WORKER_SANDBOX_UNPACK_H
#define WORKER_SANDBOX_UNPACK_H

#include <stdint.h>

#include "lib/err.h"

/** Time stamp of every unpacked file: 2000-01-01. Files that a build makes have another one. */
enum { UNPACK_TIME_S = 946684800 };

struct unpack_limits {
	int64_t file_bytes;  /* of one file */
	int64_t total_bytes; /* of all files together */
	int entries;
};

/**
 * Unpack `tar_fd`, from its current offset, at `path` (relative, no "..") below the folder `root_fd`; missing parents of `path`
 * are made. An archive of a single file named "blob" becomes the file `path` itself. Links may point anywhere inside root_fd.
 * `limits` NULL: 512 MiB a file, 1 GiB in all, 100,000 entries. Err: ERR_INVALID names the entry; earlier entries stay.
 */
int unpack_tar(int tar_fd, int root_fd, const char *path, const struct unpack_limits *limits, struct fw_err *err);

#endif
