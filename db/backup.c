/* backup.c - a copy of the whole database during use. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "db/sqlite.h"

enum { BACKUP_PORTION_PAGES = 4096 /* 16 MiB */ };

static int copy_pages(struct db *db, sqlite3 *to, int to_fd, struct fw_err *err)
{
	sqlite3_backup *b = sqlite3_backup_init(to, "main", db->handle, "main");
	if (!b)
		return err_set(err, ERR_IO, "backup: %s", sqlite3_errmsg(to));
	int rc, patience = 200, flushed = 0; /* the source can be read, so busy means that another process reads the new file */
	do {
		errno = 0;
		rc = sqlite3_backup_step(b, BACKUP_PORTION_PAGES);
		if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
			sqlite3_sleep(5);
		/* in small steps, because the writer's next commit would wait for all pages that are not on the disk yet */
		else if (rc == SQLITE_OK)
			flushed = fdatasync(to_fd);
	} while (flushed == 0 && (rc == SQLITE_OK || ((rc == SQLITE_BUSY || rc == SQLITE_LOCKED) && --patience > 0)));
	enum err_code code = db_code_of(NULL, rc);
	int result = flushed == 0 ? 0 : err_sys(err, "backup: cannot write the copy to the disk");
	int done = sqlite3_backup_finish(b);
	if (result != 0 || (rc == SQLITE_DONE && done == SQLITE_OK))
		return result;
	return err_set(err, code, "backup: %s (%d)%s", sqlite3_errstr(rc), rc, db_advice(code));
}

/* One read transaction for all portions: without it every commit of another connection would restart the copy. */
static int copy_snapshot(struct db *db, sqlite3 *to, int to_fd, struct fw_err *err)
{
	/* the new file needs no rollback, and this function flushes it */
	if (sqlite3_exec(to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL) != SQLITE_OK)
		return err_set(err, ERR_IO, "backup: %s", sqlite3_errmsg(to));
	int rc = sqlite3_exec(db->handle, "BEGIN; SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
	int result = rc == SQLITE_OK ? copy_pages(db, to, to_fd, err) : db_fail(db, rc, __FILE__, __LINE__, err);
	db_rollback(db);
	if (result != 0)
		return result;
	/* A copy in WAL mode has a -wal file; a single file is easier to copy. flopwatchd turns WAL on again. */
	if (sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) != SQLITE_OK)
		return err_set(err, ERR_IO, "backup: %s", sqlite3_errmsg(to));
	return 0;
}

/* Locked, because another backup to the same path would take this file for the rest of a killed one. */
static int open_part(const char *path, const char *temp, struct fw_err *err)
{
	int fd = open(temp, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 && (errno == EACCES || errno == ELOOP) && unlink(temp) == 0) /* from a killed process of another user */
		fd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "backup: cannot create %s", temp);
	int claimed = filelock_claim(fd, temp, err);
	if (claimed == 1)
		return fd;
	if (claimed == 0)
		err_set(err, ERR_CONFLICT, "another backup is being written to %s; wait for it, or name another file", path);
	err_context(err, "backup");
	close(fd);
	return -1;
}

static int backup_into(struct db *db, const char *temp, int fd, struct fw_err *err)
{
	sqlite3 *to = NULL;
	int rc = sqlite3_open_v2(temp, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	int result = rc == SQLITE_OK ? copy_snapshot(db, to, fd, err)
				     : err_set(err, ERR_IO, "backup: cannot open %s: %s", temp, sqlite3_errstr(rc));
	sqlite3_close(to);
	if (result == 0 && fsync(fd) != 0)
		result = err_sys(err, "backup: cannot write %s to the disk", temp);
	return result;
}

static int sync_folder_of(const char *path, struct fw_err *err)
{
	char folder[PATH_MAX];
	snprintf(folder, sizeof folder, "%s", path);
	char *slash = strrchr(folder, '/');
	if (!slash)
		snprintf(folder, sizeof folder, ".");
	else if (slash == folder)
		slash[1] = 0;
	else
		*slash = 0;
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "backup: cannot open %s", folder);
	int result = fsync(fd) ? err_sys(err, "backup: cannot write %s to the disk", folder) : 0;
	close(fd);
	return result;
}

static const char part_suffix[] = ".part";

static void discard_journals(const char *path)
{
	static const char *const suffix[] = { "-journal", "-wal", "-shm" };
	char name[PATH_MAX];
	for (size_t i = 0; i < sizeof suffix / sizeof suffix[0]; i++)
		if (snprintf(name, sizeof name, "%s%s%s", path, part_suffix, suffix[i]) < (int)sizeof name)
			unlink(name);
}

void db_backup_discard(const char *path)
{
	char name[PATH_MAX];
	discard_journals(path);
	if (snprintf(name, sizeof name, "%s%s", path, part_suffix) < (int)sizeof name)
		unlink(name);
}

int db_backup(struct db *db, const char *path, struct fw_err *err)
{
	char temp[PATH_MAX];
	if (snprintf(temp, sizeof temp, "%s%s", path, part_suffix) >= (int)sizeof temp)
		return err_set(err, ERR_INVALID, "backup: the path is too long");
	int fd = open_part(path, temp, err);
	if (fd < 0)
		return -1;
	discard_journals(path);
	int result = backup_into(db, temp, fd, err);
	if (result == 0 && rename(temp, path) != 0)
		result = err_sys(err, "backup: cannot rename %s to %s", temp, path);
	if (result != 0)
		db_backup_discard(path);
	close(fd);
	return result == 0 ? sync_folder_of(path, err) : -1;
}
