/** migrate.c - the embedded scripts, and running those that are not applied yet. */
#include "db/db.h"

#include <stdlib.h>

extern const char _binary_db_schema_sql_start[];
extern const char _binary_db_schema_sql_end[];
extern const char _binary_db_migrations_0002_notification_thread_sql_start[];
extern const char _binary_db_migrations_0002_notification_thread_sql_end[];
extern const char _binary_db_migrations_0003_changed_files_sql_start[];
extern const char _binary_db_migrations_0003_changed_files_sql_end[];
extern const char _binary_db_migrations_0004_account_sql_start[];
extern const char _binary_db_migrations_0004_account_sql_end[];
extern const char _binary_db_migrations_0005_session_log_out_sql_start[];
extern const char _binary_db_migrations_0005_session_log_out_sql_end[];
extern const char _binary_db_migrations_0006_bisect_who_sql_start[];
extern const char _binary_db_migrations_0006_bisect_who_sql_end[];
extern const char _binary_db_migrations_0007_environment_cache_sql_start[];
extern const char _binary_db_migrations_0007_environment_cache_sql_end[];

/*
 * The tables, and their changes. To change them, add db/migrations/NNNN_<what>.sql with the next number, whose symbols are
 * _binary_db_migrations_NNNN_<what>_sql_start and _end, and a row here.
 */
static const struct migration embedded[] = {
	{ 1, "schema", _binary_db_schema_sql_start, _binary_db_schema_sql_end },
	{ 2, "notification_thread", _binary_db_migrations_0002_notification_thread_sql_start,
		_binary_db_migrations_0002_notification_thread_sql_end },
	{ 3, "changed_files", _binary_db_migrations_0003_changed_files_sql_start,
		_binary_db_migrations_0003_changed_files_sql_end },
	{ 4, "account", _binary_db_migrations_0004_account_sql_start, _binary_db_migrations_0004_account_sql_end },
	{ 5, "session_log_out", _binary_db_migrations_0005_session_log_out_sql_start,
		_binary_db_migrations_0005_session_log_out_sql_end },
	{ 6, "bisect_who", _binary_db_migrations_0006_bisect_who_sql_start, _binary_db_migrations_0006_bisect_who_sql_end },
	{ 7, "environment_cache", _binary_db_migrations_0007_environment_cache_sql_start,
		_binary_db_migrations_0007_environment_cache_sql_end },
};

static int apply(struct db *db, const struct migration *m, struct fw_err *err)
{
	size_t len = (size_t)(m->end - m->start);
	char *text = mem_alloc(len + 1);
	memcpy(text, m->start, len);
	text[len] = 0;
	int result = db_begin(db, err);
	if (result == 0) {
		result = db_script(db, text, err) || db_set_version(db, m->version, err) ? -1 : db_commit(db, err);
		if (result)
			db_rollback(db);
	}
	free(text);
	return result ? err_context(err, "migration %s", m->name) : 0;
}

int migrate_list(struct db *db, const struct migration *list, int n, struct fw_err *err)
{
	int version;
	if (db_version(db, &version, err))
		return -1;
	if (version < 0)
		return err_set(err, ERR_DAMAGED,
			"database has version %d, which no flopwatchd has written: restore a backup, or configure another path",
			version);
	if (version > n)
		return err_set(err, ERR_UNSUPPORTED,
			"database is version %d, this flopwatchd supports %d: install the newer flopwatch or restore an older "
			"backup (see doc/troubleshooting.md#database-newer)",
			version, n);
	for (int i = version; i < n; i++)
		if (apply(db, &list[i], err))
			return -1;
	return 0;
}

/* Check that `db` has every column of `wanted`, which is of this version. */
static int compare_columns(struct db *db, struct db *wanted, int version, struct fw_err *err)
{
	struct stmt *want = db_stmt(wanted,
		"SELECT t.name, c.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c "
		"WHERE t.schema = 'main' AND t.type = 'table' ORDER BY 1, 2",
		err);
	struct stmt *have = db_stmt(db, "SELECT count(*) FROM pragma_table_info(:table) WHERE name = :column", err);
	int more = want && have ? 1 : -1;

	while (more == 1 && (more = stmt_step(want, err)) == 1) {
		stmt_text(have, ":table", row_text(want, 0));
		stmt_text(have, ":column", row_text(want, 1));
		if (stmt_step(have, err) != 1)
			return -1;
		if (row_int(have, 0) == 0)
			return err_set(err, ERR_UNSUPPORTED,
				"its tables are not those of version %d, as it was written between releases (no such column: %s.%s); move it "
				"away or restore a backup (see doc/troubleshooting.md#database-between)",
				version, row_text(want, 0), row_text(want, 1));
		if (stmt_step(have, err) != 0)
			return -1;
	}
	return more;
}

/* The version alone is not enough: before a release a script may change without a new number. */
static int check_tables(struct db *db, int version, struct fw_err *err)
{
	struct db *wanted;

	if (db_open_scratch(&wanted, err) != 0)
		return -1;
	int result = migrate_list(wanted, embedded, version, err) == 0 ? compare_columns(db, wanted, version, err) : -1;

	db_close(wanted);
	return result;
}

int migrate(struct db *db, struct fw_err *err)
{
	int version;

	if (db_version(db, &version, err) != 0)
		return -1;
	/* a script must not change tables that it was not written for */
	if (version > 0 && version < migrate_latest() && check_tables(db, version, err) != 0)
		return -1;
	return migrate_list(db, embedded, migrate_latest(), err) == 0 ? check_tables(db, migrate_latest(), err) : -1;
}

int migrate_check(struct db *db, struct fw_err *err)
{
	int version;

	if (db_version(db, &version, err) != 0)
		return -1;
	/* where scripts are missing, they are run once it is opened to be written */
	if (version >= 0 && version < migrate_latest())
		return version > 0 ? check_tables(db, version, err) : 0;
	return migrate(db, err);
}

int migrate_first(struct db *db, struct fw_err *err)
{
	return migrate_list(db, embedded, 1, err);
}

int migrate_latest(void)
{
	return (int)(sizeof embedded / sizeof embedded[0]);
}
