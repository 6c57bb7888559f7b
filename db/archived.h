/**
 * archived.h - times of single calls that were moved from the database into monthly files of the archive, and reading them.
 *
 * A comparison's times are in `sample`, or in one frame of samples/MONTH.zst at the position in `archived`, or deleted. MONTH is
 * the month in which it finished. The estimates of runs stay in `sample`.
 */
#ifndef DB_ARCHIVED_H
#define DB_ARCHIVED_H

#include "db/archive.h"
#include "db/db.h"

/** Columns of `sample` in a frame, in this order. */
enum archived_times { ARCHIVED_MS, ARCHIVED_MHZ, ARCHIVED_HOST_US, ARCHIVED_TIMES };

/** The archive's folder: "samples" in the folder of the database. Err: ERR_INVALID its path is too long. */
int archived_folder(struct db *db, char *folder, size_t size, struct fw_err *err);
/**
 * Archive the times of the oldest comparison that finished before `before` and has its times in the database. The frame is flushed to the
 * disk before the rows change. *n: 1, or 0 where there is none. Inside the caller's transaction. Err: as archive_append; nothing changed.
 */
int archived_move(struct db *db, int64_t before, int *n, struct fw_err *err);

/** Archived times of one comparison. */
struct archived {
	int n_rows;
	struct archived_row *row;
	struct buf rows, floats;
	bool is_kept; /* owned by archived_read_begin's cache */
};

/**
 * Cache the last unpacked frame of this connection until archived_read_end, so that reading all cells of a comparison unpacks its
 * frame once. At most one frame more in memory. Calls do not nest. Err: ERR_INTERNAL no memory.
 */
int archived_read_begin(struct db *db, struct fw_err *err);
void archived_read_end(struct db *db);

/**
 * Read the archived times of the comparison of `cell`. 1, 0 none, -1. Own: archived_fini, after errors, too, before the next read. Err: as
 * archive_read.
 */
int archived_read(struct db *db, int64_t cell, struct archived *out, struct fw_err *err);
void archived_fini(struct archived *a);
/** The *n values of one row of `sample`; NULL: none. Own: `a`'s. */
const float *archived_values(
	const struct archived *a, int64_t cell, int64_t process_run, int64_t kind, enum archived_times which, int *n);

typedef void archived_fn(void *arg, const struct archive_position *last);
/** Each month, oldest first, with the position of its last frame, which is the minimum length of its file. */
int archived_each(struct db *db, archived_fn *each, void *arg, struct fw_err *err);
/**
 * Delete the rows of the oldest month before the month `before`. *n: 1, with its name in `month`, or 0. The caller removes its
 * file after the commit. Shape: month[ARCHIVE_MONTH_SIZE].
 */
int archived_forget(struct db *db, const char *before, char *month, int *n, struct fw_err *err);
/** Find the file of a month before `before` that has no rows. 1, with its name in `month`, 0 none, -1. */
int archived_stray(struct db *db, const char *before, char *month, struct fw_err *err);

#endif
