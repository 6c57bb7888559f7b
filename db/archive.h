/**
 * archive.h - append-only monthly files of compressed frames (zstd.h is included in archive.c alone).
 *
 * FOLDER/2026-10.zst begins with a skippable frame that identifies the file; archive_append writes the frames after it, with a checksum, so
 * that `zstd -t` reads the file, too. The caller stores the position of each frame. Whole frames after the last stored position stay, since
 * an older or newer database may refer to them; an incomplete frame of a killed writer is cut off. The code is independent of SQLite and of
 * the content of frames.
 */
#ifndef DB_ARCHIVE_H
#define DB_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/err.h"

enum { ARCHIVE_MONTH_SIZE = 8, ARCHIVE_FRAME_MAX_BYTES = 272 << 20, ARCHIVE_HEAD_BYTES = 64 };

struct archive_position {
	char month[ARCHIVE_MONTH_SIZE]; /* "2026-10" */
	int64_t at, bytes;              /* of the frame in the month's file */
};

/** The month of a time, UTC. Units: ms as clock_utc_ms. Shape: month[ARCHIVE_MONTH_SIZE]. */
void archive_month(int64_t at_ms, char *month);
/** Whether `name` is the name of a month's file; sets `month`. Shape: month[ARCHIVE_MONTH_SIZE]. */
bool archive_month_of(const char *name, char *month);
/** FOLDER/MONTH.zst. Err: ERR_INVALID `month` is not a month, or the path is too long. */
int archive_path(const char *folder, const char *month, char *path, size_t size, struct fw_err *err);

/**
 * Compress `data` and append it to the file of place->month, of which frames up to byte `end` are stored (0: none). Sets place->at and
 * ->bytes; the frame is flushed to the disk on return. After a failure the file has its former length, or an incomplete frame that the next
 * call cuts off. Err: ERR_NOT_FOUND the file is missing, ERR_INVALID it is shorter than `end`, ERR_FULL, ERR_IO.
 */
int archive_append(
	const char *folder, int64_t end, const void *data, size_t len, struct archive_position *position, struct fw_err *err);
/** Append the content of a frame to `out`. Err: ERR_NOT_FOUND the file is missing, ERR_INVALID it is damaged; both name the file. */
int archive_read(const char *folder, const struct archive_position *position, struct buf *out, struct fw_err *err);
/** Number of frames that this thread has read. */
int64_t archive_reads(void);
/** Check that the file exists and that its last stored frame is whole. Err: as archive_read. */
int archive_look(const char *folder, const struct archive_position *last, struct fw_err *err);
/** Mark that distinguishes this file from one of another daemon for the same month. Shape: mark[17]. Err: as archive_read. */
int archive_mark(const char *folder, const char *month, char *mark, struct fw_err *err);

#endif
