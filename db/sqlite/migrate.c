/** migrate.c - the embedded scripts and the loop over those not applied yet. */
#include "db/sqlite/migrate.h"

#include <stdlib.h>
#include <string.h>

extern const char _binary_db_schema_sql_start[];
extern const char _binary_db_schema_sql_end[];

/*
 * The tables as they were released first. To change them: db/migrations/NNNN_<what>.sql, numbered from 0002, whose symbols are
 * _binary_db_migrations_NNNN_<what>_sql_start and _end, and a row here.
 */
static const struct migration embedded[] = {
	{ 1, "schema", _binary_db_schema_sql_start, _binary_db_schema_sql_end },
};

static int apply(struct db *db, const struct migration *m, struct fw_err *err)
{
	size_t len = (size_t)(m->end - m->start);
	char *text = malloc(len + 1);
	if (!text)
		return err_set(err, ERR_INTERNAL, "out of memory");
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
			"database says it is version %d, which no flopwatchd ever wrote: restore a backup, or name another place",
			version);
	if (version > n)
		return err_set(err, ERR_UNSUPPORTED,
			"database is version %d, this flopwatchd knows %d: install the newer flopwatch or restore an older "
			"backup (see doc/troubleshooting.md#database-newer)",
			version, n);
	for (int i = version; i < n; i++)
		if (apply(db, &list[i], err))
			return -1;
	return 0;
}

int migrate(struct db *db, struct fw_err *err)
{
	return migrate_list(db, embedded, migrate_latest(), err);
}

int migrate_latest(void)
{
	return (int)(sizeof embedded / sizeof embedded[0]);
}
