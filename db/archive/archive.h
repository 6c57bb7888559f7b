/**
 * archive.h - monthly files of compressed frames, which only ever grow (zstd.h is included in archive.c alone).
 *
 * FOLDER/2026-10.zst begins with a skippable frame that says whose it is; each frame after it is one that archive_append wrote, with a
 * checksum, so that `zstd -t` reads the file, too. Where a frame lies is the caller's to remember: what a killed writer left
 * behind the last remembered one is kept where it is whole, for an older or newer database may know it, and is cut off where it is not.
 * Nothing here knows SQLite, or what is in a frame.
 */
#ifndef DB_ARCHIVE_ARCHIVE_H
#define DB_ARCHIVE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { ARCHIVE_MONTH_SIZE = 8, ARCHIVE_FRAME_MAX_BYTES = 272 << 20, ARCHIVE_HEAD_BYTES = 64 };

struct archive_place {
	char month[ARCHIVE_MONTH_SIZE]; /* "2026-10" */
	int64_t at, bytes;              /* of the frame in the month's file */
};

/** The month of a time of day, UTC. Units: ms as clock_utc_ms. Shape: month[ARCHIVE_MONTH_SIZE]. */
void archive_month(int64_t at_ms, char *month);
/** Whether that is the name of a month's file, and of which. Shape: month[ARCHIVE_MONTH_SIZE]. */
bool archive_month_of(const char *name, char *month);
/** FOLDER/MONTH.zst. Err: ERR_INVALID `month` is none, or the path is too long. */
int archive_path(const char *folder, const char *month, char *path, size_t size, struct fw_err *err);

/**
 * Compress `data` and append it to the file of place->month, of which `end` bytes are remembered (0: none); it is on the disk when this
 * returns, and place->at and ->bytes say where. Own: nothing; a failure leaves the file as long as it was, or with a piece that the next
 * call cuts off. Err: ERR_NOT_FOUND it is gone, ERR_INVALID it is shorter than `end`, ERR_FULL, ERR_IO.
 */
int archive_append(
	const char *folder, int64_t end, const void *data, size_t len, struct archive_place *place, struct fw_err *err);
/** Append what a frame holds to `out`. Err: ERR_NOT_FOUND the file is gone, ERR_INVALID it is damaged; either names it in one line. */
int archive_read(const char *folder, const struct archive_place *place, struct buf *out, struct fw_err *err);
/** How many frames this thread has read so far. */
int64_t archive_reads(void);
/** Whether the file is there and its last remembered frame whole. Err: as archive_read. */
int archive_look(const char *folder, const struct archive_place *last, struct fw_err *err);
/** What tells this file from one of the same month of another daemon. Shape: mark[17]. Err: as archive_read. */
int archive_mark(const char *folder, const char *month, char *mark, struct fw_err *err);

#endif
