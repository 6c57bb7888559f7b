/**
 * tar.h - writes ustar whose bytes depend on names, modes and contents only: equal trees give equal archives.
 *
 * Every path is relative and stays inside; links may only point to places inside. What ustar cannot hold (a name that does
 * not split into 155 + 100 bytes, a link text above 100, a file of 8 GiB) is refused, never shortened.
 */
#ifndef GIT_TAR_H
#define GIT_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

struct tar {
	int fd;
	int64_t written; /* bytes */
};

void tar_init(struct tar *t, int fd);
int tar_directory(struct tar *t, const char *path, struct fw_err *err);
int tar_file(struct tar *t, const char *path, const void *data, size_t len, bool executable, struct fw_err *err);
int tar_link(struct tar *t, const char *path, const char *target, struct fw_err *err);
/** Write the end marks. */
int tar_end(struct tar *t, struct fw_err *err);

/** Whether ustar can hold this path. Err: ERR_INVALID. */
int tar_check_path(const char *path, bool is_directory, struct fw_err *err);
/** Whether a link at `path` stays inside whatever other links do: "../" only in front, and no more of them than folders above. */
int tar_check_link(const char *path, const char *target, struct fw_err *err);

#endif
