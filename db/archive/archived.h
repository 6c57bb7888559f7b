/**
 * archived.h - single times that left the database: packed into the archive's monthly files beside it, and found there again.
 *
 * A comparison's times are in `sample`, or in one frame of samples/MONTH.zst, whose place is its row of `archived`, or gone. The month
 * is that in which it finished. What runs say of the times, in `sample`, stays in any case.
 */
#ifndef DB_ARCHIVE_ARCHIVED_H
#define DB_ARCHIVE_ARCHIVED_H

#include "db/archive/archive.h"
#include "db/sqlite/db.h"

/** Columns of `sample` that are moved, in this order. */
enum archived_times { ARCHIVED_MS, ARCHIVED_MHZ, ARCHIVED_HOST_US, ARCHIVED_TIMES };

/** The archive of this database: "samples" beside it. Err: ERR_INVALID its path is too long. */
int archived_folder(struct db *db, char *folder, size_t size, struct fw_err *err);
/**
 * Move the times of the oldest comparison finished before `before` that has its times in the database: the frame is on the disk before
 * the rows let go. *n: 1, or 0 where there is none. Inside the caller's transaction. Err: as archive_append; nothing has changed.
 */
int archived_move(struct db *db, int64_t before, int *n, struct fw_err *err);

/** What was moved of one comparison. */
struct archived {
	int n_rows;
	struct archived_row *row;
	struct buf rows, floats;
	bool is_kept; /* it is the reader's */
};

/**
 * From here to archived_read_end the last frame that was unpacked over this connection is kept, so that whoever reads cell after cell of a
 * comparison unpacks its frame once: at most one more frame in memory. They do not nest. Err: ERR_INTERNAL no memory.
 */
int archived_read_begin(struct db *db, struct fw_err *err);
void archived_read_end(struct db *db);

/**
 * Read what was moved of the comparison that `cell` belongs to: 1, 0 nothing was, -1. Own: archived_fini, whatever it returns, before
 * another is read. Err: as archive_read. */
int archived_read(struct db *db, int64_t cell, struct archived *out, struct fw_err *err);
void archived_fini(struct archived *a);
/** The values of one row of `sample`, *n of them; NULL: it had none. Own: `a`'s. */
const float *archived_values(
	const struct archived *a, int64_t cell, int64_t process_run, int64_t kind, enum archived_times which, int *n);

typedef void archived_fn(void *arg, const struct archive_place *last);
/** Each month, the oldest first, and where its last frame lies: its file is that long, or longer. */
int archived_each(struct db *db, archived_fn *each, void *arg, struct fw_err *err);
/**
 * Forget the oldest month of those before `before`, a month. *n: 1, with its name in `month`, or 0. Its file is the caller's to remove,
 * after the commit. Shape: month[ARCHIVE_MONTH_SIZE].
 */
int archived_forget(struct db *db, const char *before, char *month, int *n, struct fw_err *err);
/** Find the file of a month before `before` of which nothing is remembered: 1, with its name in `month`, 0 there is none, -1. */
int archived_stray(struct db *db, const char *before, char *month, struct fw_err *err);

#endif
