/* janitor.c - archives and deletes old rows, then shrinks the file. */
#include "flopwatchd/internal.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

enum { STEP_ROWS = 500, STEP_PAUSE_MS = 250, FIRST_MS = 5000, ROUND_MS = 3600 * 1000 };
#define DAY_MS (INT64_C(24) * 3600 * 1000)

struct janitor {
	struct loop *loop;
	const struct config *config;
	struct db *db;
	struct loop_source *timer;
};

/* Archive one comparison at a time, so that no page waits for several. Returns 1 if there may be more, 0 done, -1. */
static int archive_one(struct db *db, int64_t before, struct fw_err *err)
{
	int n;
	if (db_begin(db, err) != 0)
		return -1;
	if (archived_move(db, before, &n, err) != 0 || db_commit(db, err) != 0) {
		db_rollback(db);
		return err_context(err, "single times stay in the database");
	}
	return n;
}

static int remove_month(struct db *db, const char *month, struct fw_err *err)
{
	char folder[PATH_MAX], path[PATH_MAX];
	if (archived_folder(db, folder, sizeof folder, err) != 0 || archive_path(folder, month, path, sizeof path, err) != 0)
		return -1;
	if (unlink(path) != 0 && errno != ENOENT)
		return err_sys(err, "cannot remove %s", path);
	log_info("janitor.forget", "month=%s", month);
	return 0;
}

/* Delete the rows first: rows must never refer to a missing file. Returns 1 if there may be more, 0 done, -1. */
static int expire_month(struct db *db, int64_t before_ms, struct fw_err *err)
{
	char before[ARCHIVE_MONTH_SIZE], month[ARCHIVE_MONTH_SIZE];
	int n;
	archive_month(before_ms, before);
	if (db_begin(db, err) != 0)
		return -1;
	if (archived_forget(db, before, month, &n, err) != 0 || db_commit(db, err) != 0) {
		db_rollback(db);
		return -1;
	}
	if (n == 0)
		return 0;
	return remove_month(db, month, err) == 0 ? 1 : -1;
}

/* A crash between commit and removal leaves a file without rows. */
static int remove_strays(struct db *db, int64_t before_ms, struct fw_err *err)
{
	char before[ARCHIVE_MONTH_SIZE], month[ARCHIVE_MONTH_SIZE];
	int found;
	archive_month(before_ms, before);
	while ((found = archived_stray(db, before, month, err)) == 1)
		if (remove_month(db, month, err) != 0)
			return -1;
	return found;
}

/* Returns 1 if there may be more, 0 done, -1. */
static int prune_rows(struct db *db, int64_t now_ms, struct fw_err *err)
{
	int64_t event_ms = JANITOR_EVENT_DAYS * DAY_MS;
	int events, notifications, sent;
	if (db_begin(db, err) != 0)
		return -1;
	if (store_event_prune(db, now_ms - event_ms, now_ms + event_ms, STEP_ROWS, &events, err) != 0 ||
		store_notification_prune(db, now_ms - JANITOR_NOTIFICATION_DAYS * DAY_MS, JANITOR_NOTIFICATIONS, STEP_ROWS,
			&notifications, err) != 0 ||
		store_outbox_prune(db, now_ms - JANITOR_SENT_DAYS * DAY_MS, STEP_ROWS, &sent, err) != 0 ||
		store_account_forget(db, now_ms, err) != 0 || db_commit(db, err) != 0) {
		db_rollback(db);
		return -1;
	}
	return events == STEP_ROWS || notifications == STEP_ROWS || sent == STEP_ROWS;
}

int janitor_step(struct db *db, const struct config *config, int64_t now_ms, struct fw_err *err)
{
	struct fw_err besides = { 0 };
	int64_t forget_before = now_ms - config->keep_archive_ms;
	int pruned = prune_rows(db, now_ms, err);
	if (pruned < 0)
		return -1;
	/* must be first: nothing can be written to a deleted month, which would block all later ones */
	int forgot = config->keep_archive_ms ? expire_month(db, forget_before, err) : 0;
	int archived = archive_one(db, now_ms - config->keep_samples_ms, forgot < 0 ? &besides : err);
	if (archived < 0 || forgot < 0)
		return -1;
	if (pruned || archived || forgot)
		return 1;
	int shrunk = db_shrink(db, err);
	return shrunk || !config->keep_archive_ms ? shrunk : remove_strays(db, forget_before, err);
}

static void on_timer(void *arg)
{
	struct janitor *j = arg;
	struct fw_err err = { 0 };
	j->timer = NULL;
	int more = janitor_step(j->db, j->config, clock_utc_ms(), &err);
	if (more < 0)
		log_warning("janitor", "err=%s", log_quote(err.text));
	loop_after(j->loop, more > 0 ? STEP_PAUSE_MS : ROUND_MS, on_timer, j, &j->timer);
}

struct janitor *janitor_start(struct loop *loop, const struct config *config, struct db *db)
{
	struct janitor *j = mem_alloc_zero(1, sizeof *j);
	j->loop = loop;
	j->config = config;
	j->db = db;
	loop_after(loop, FIRST_MS, on_timer, j, &j->timer);
	return j;
}

void janitor_wake(struct janitor *j)
{
	loop_remove(j->loop, j->timer);
	loop_after(j->loop, STEP_PAUSE_MS, on_timer, j, &j->timer);
}

void janitor_stop(struct janitor *j)
{
	if (!j)
		return;
	loop_remove(j->loop, j->timer);
	free(j);
}
