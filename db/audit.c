#include "db/db.h"

enum { DELETED_AT_ONCE = 16 }; /* more than one row is added, so the table does not grow */

static const int64_t kept_ms = (int64_t)STORE_AUDIT_DAYS * 24 * 3600 * 1000;

int store_audit_add(struct db *db, const char *who, const char *path, int status, int64_t now_ms, struct fw_err *err)
{
	if (db_exec(db, err, "INSERT INTO audit (at, who, path, status) VALUES (:now, :who, :path, :status)",
		    "now=%ld who=%s path=%s status=%d", now_ms, who, path, status) != 0)
		return -1;
	return db_exec(db, err, "DELETE FROM audit WHERE at < :old AND id IN (SELECT id FROM audit ORDER BY id LIMIT :most)",
		"old=%ld most=%d", now_ms - kept_ms, (int)DELETED_AT_ONCE);
}

int view_audits(struct db *db, int64_t before, int limit, view_audit_fn *each, void *arg, struct fw_err *err)
{
	struct view_audit row;
	struct stmt *s =
		db_query(db, err, "SELECT id, at, who, path, status FROM audit WHERE id < :before ORDER BY id DESC LIMIT :n",
			"before=%ld n=%d", store_page_before(before), store_page_size(limit, VIEW_ROWS_MAX));
	return stmt_each(s, err, each(arg, &row), row.id, row.at, row.who, row.path, row.status);
}
