/** internal.h - build logs, hashes of built files, unpacking. */
#ifndef WORKER_SANDBOX_INTERNAL_H
#define WORKER_SANDBOX_INTERNAL_H

#include <stdint.h>

#include "lib/lib.h"
#include "worker/sandbox/sandbox.h"

/*
 * ---- buildlog ----
 * Beginning and end of a build's output, in bounded memory. Users read the first error or the last line of a log, so the middle
 * is dropped.
 */

struct buildlog {
	struct buf head; /* the first `half` bytes */
	char *tail;      /* ring of `half` bytes */
	size_t half, at; /* at: next position in the ring, modulo half */
	int64_t total;   /* bytes printed so far */
};

/** Initialise for at most `max` bytes, half of them from the end. Own: buildlog_fini. */
void buildlog_init(struct buildlog *l, size_t max);
void buildlog_fini(struct buildlog *l);
/** Append output. */
void buildlog_add(struct buildlog *l, const char *data, size_t len);
/** Append the beginning, a line with the number of dropped bytes (if any), and the end to `out`. */
void buildlog_text(const struct buildlog *l, struct buf *out);

/*
 * ---- loadable ----
 * Hash of the contents of a file that can affect execution.
 *
 * For a program, library or object file (ELF, 64 bit, little-endian) the hash excludes data that only debuggers read and that
 * changes with each added line of source: debug sections, compiler notes, the build id, and, except in object files, the symbol
 * table that is not loaded. It includes segments, all other sections and appended data. Other files, and files with malformed
 * tables, are hashed completely.
 */

/** Hash the regular file `fd` from its start. Err: the file cannot be read. */
int loadable_hash(int fd, char hex[HASH_HEX], struct fw_err *err);

/*
 * ---- unpack ----
 * Extraction of an untrusted ustar archive into a folder of the worker.
 *
 * It creates only regular files, folders, and symbolic links whose targets are inside. Any other entry is an error and is never
 * skipped, so a build sees all of its inputs or none. No path component below the root is resolved through a link (beneath.c), so
 * no entry can be written through a link of an earlier entry. Files get a fixed time stamp and mode 0644 or 0755.
 */

/** Time stamp of every unpacked file: 2000-01-01. Files that a build makes have a different one. */
enum { UNPACK_TIME_S = 946684800 };

struct unpack_limits {
	int64_t file_bytes;  /* of one file */
	int64_t total_bytes; /* of all files together */
	int entries;         /* number of files, folders and links */
};

/**
 * Unpack the archive `tar_fd`, from its current offset, at `path` (relative, without "..") below the folder `root_fd`; missing
 * parents of `path` are created. An archive of a single file named "blob" becomes the file `path` itself. Links may point
 * anywhere inside root_fd. `limits` NULL: 512 MiB for each file, 1 GiB in total, 100,000 entries. Err: ERR_INVALID names the
 * entry; earlier entries remain.
 */
int unpack_tar(int tar_fd, int root_fd, const char *path, const struct unpack_limits *limits, struct fw_err *err);

#endif
