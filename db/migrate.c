/** migrate.c - the embedded scripts and the loop over those not applied yet. */
#include "db/migrate.h"

#include <stdlib.h>
#include <string.h>

#define EMBEDDED(symbol)                                                                                                         \
	extern const char _binary_db_migrations_##symbol##_sql_start[];                                                          \
	extern const char _binary_db_migrations_##symbol##_sql_end[]
#define ROW(number, symbol)                                                                                                      \
	{                                                                                                                        \
		number, #symbol, _binary_db_migrations_##symbol##_sql_start, _binary_db_migrations_##symbol##_sql_end            \
	}

/* To add one: db/migrations/NNNN_<what>.sql, a line here, a row below. */
EMBEDDED(0001_init);
EMBEDDED(0002_alerts);
EMBEDDED(0003_access);
EMBEDDED(0004_history);
EMBEDDED(0005_answer);
EMBEDDED(0006_flags);
EMBEDDED(0007_calibration);
EMBEDDED(0008_peer);
EMBEDDED(0009_fetches);
EMBEDDED(0010_deliveries);
EMBEDDED(0011_throttle);
EMBEDDED(0012_anchors);
EMBEDDED(0013_peer_jobs);
EMBEDDED(0014_cudnn);
EMBEDDED(0015_peer_verdicts);
EMBEDDED(0016_answered);
EMBEDDED(0017_state_at);
EMBEDDED(0018_decided);
EMBEDDED(0019_names);
EMBEDDED(0020_clock);
EMBEDDED(0021_plan);
EMBEDDED(0022_scatter);
EMBEDDED(0023_mean);
EMBEDDED(0024_again);
EMBEDDED(0025_vouched);

static const struct migration embedded[] = {
	ROW(1, 0001_init),
	ROW(2, 0002_alerts),
	ROW(3, 0003_access),
	ROW(4, 0004_history),
	ROW(5, 0005_answer),
	ROW(6, 0006_flags),
	ROW(7, 0007_calibration),
	ROW(8, 0008_peer),
	ROW(9, 0009_fetches),
	ROW(10, 0010_deliveries),
	ROW(11, 0011_throttle),
	ROW(12, 0012_anchors),
	ROW(13, 0013_peer_jobs),
	ROW(14, 0014_cudnn),
	ROW(15, 0015_peer_verdicts),
	ROW(16, 0016_answered),
	ROW(17, 0017_state_at),
	ROW(18, 0018_decided),
	ROW(19, 0019_names),
	ROW(20, 0020_clock),
	ROW(21, 0021_plan),
	ROW(22, 0022_scatter),
	ROW(23, 0023_mean),
	ROW(24, 0024_again),
	ROW(25, 0025_vouched),
};

static int apply(struct db *db, const struct migration *m, struct fw_err *err)
{
	size_t len = (size_t)(m->end - m->start);
	char *text = malloc(len + 1);
	if (!text)
		return err_set(err, ERR_INTERNAL, "out of memory");
	memcpy(text, m->start, len);
	text[len] = 0;
	int r = db_begin(db, err);
	if (r == 0) {
		r = db_script(db, text, err) || db_set_version(db, m->version, err) ? -1 : db_commit(db, err);
		if (r)
			db_rollback(db);
	}
	free(text);
	return r ? err_context(err, "migration %s", m->name) : 0;
}

int migrate_list(struct db *db, const struct migration *list, int n, struct fw_err *err)
{
	int version;
	if (db_version(db, &version, err))
		return -1;
	if (version > n)
		return err_set(err, ERR_UNSUPPORTED,
			"database is version %d, this flopwatchd knows %d: install the newer flopwatch or restore an older "
			"backup",
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
	return (int)(sizeof(embedded) / sizeof(embedded[0]));
}
