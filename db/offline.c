#include "db/db.h"

#define HAS_JOB                                                                                                                  \
	"EXISTS (SELECT 1 FROM job j WHERE j.state IN ('assigned', 'building', 'checking', 'measuring') AND j.device "           \
	"= d.id) "

/* Job j may run on device `d`. */
#define MAY_HAVE(d)                                                                                                              \
	"j.device_kind IN ('', " d ".kind) AND coalesce(j.device_uuid, '') IN ('', " d ".uuid) AND " STORE_CLASS_FITS(d ".class")

/* Job j may run on device `o`, which is in state ok. */
#define OTHER_MAY_HAVE "SELECT 1 FROM device o WHERE o.state = 'ok' AND " MAY_HAVE("o")

/* Queued jobs `j` that device `d` could run. */
#define FITS "j.state = 'queued' AND " MAY_HAVE("d")

/* Those of them that no other device can run. */
#define NEEDS FITS "AND NOT EXISTS (" OTHER_MAY_HAVE ") "

static int each_waiting(struct stmt *s, struct find_waiting *out, int *n, struct fw_err *err)
{
	*n = 0;
	struct find_waiting w;
	return stmt_each(s, err, out[(*n)++] = w, w.device, w.uuid, w.why, w.seen_at, w.jobs);
}

int find_offline_devices(struct db *db, int64_t since, struct find_waiting *out, int max, int *n, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT * FROM (SELECT d.id, d.uuid, d.state_why, d.seen_at, iif(d.state = 'ok', (SELECT count(*) FROM job j "
		"WHERE " FITS "AND j.queued_at < :since), (SELECT count(*) FROM job j WHERE " NEEDS "AND j.queued_at < :since)) "
		"AS waiting FROM device d WHERE d.state IN ('ok', 'absent') AND d.on_call = 0 AND d.seen_at < :since AND NOT " HAS_JOB
		"AND NOT EXISTS (SELECT 1 FROM alert a WHERE a.device = d.id AND a.kind = 'device_offline' AND a.state "
		"IN ('open', 'acknowledged', 'accepted'))) WHERE waiting > 0 LIMIT :limit",
		"since=%ld limit=%d", since, max);
	return each_waiting(s, out, n, err);
}

int find_quarantined_devices(struct db *db, int64_t since, struct find_waiting *out, int max, int *n, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT * FROM (SELECT d.id, d.uuid, d.state_why, d.seen_at, (SELECT count(*) FROM job j WHERE " FITS
		"AND (j.queued_at < :since OR NOT EXISTS (" OTHER_MAY_HAVE " AND o.seen_at >= :since))) AS waiting FROM device d "
		"WHERE d.state = 'quarantined' AND NOT EXISTS (SELECT 1 FROM alert a WHERE a.device = d.id AND a.kind = "
		"'quarantined' AND (a.state IN ('open', 'acknowledged') OR (a.changed_at >= d.state_at AND (SELECT e.who FROM "
		"alert_event e WHERE e.alert = a.id ORDER BY e.id DESC LIMIT 1) <> 'flopwatch')))) WHERE waiting > 0 LIMIT "
		":limit",
		"since=%ld limit=%d", since, max);
	return each_waiting(s, out, n, err);
}

static int each_over(struct stmt *s, struct find_offline_alert *out, int *n, struct fw_err *err)
{
	*n = 0;
	struct find_offline_alert o;
	return stmt_each(s, err, out[(*n)++] = o, o.alert, COLUMN_NAMED(o.state, devicestate_from_name));
}

int find_offline_ended(struct db *db, struct find_offline_alert *out, int max, int *n, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT a.id, d.state FROM alert a JOIN device d ON d.id = a.device WHERE a.kind = 'device_offline' AND a.state "
		"IN ('open', 'acknowledged') AND (d.seen_at > a.opened_at OR d.state NOT IN ('ok', 'absent') OR " HAS_JOB
		"OR (d.state = 'absent' AND NOT EXISTS (SELECT 1 FROM job j WHERE " NEEDS "))) ORDER BY a.id LIMIT :limit",
		"limit=%d", max);
	return each_over(s, out, n, err);
}

int find_offline_quarantine_ended(struct db *db, struct find_offline_alert *out, int max, int *n, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT a.id, d.state FROM alert a JOIN device d ON d.id = a.device WHERE a.kind = 'quarantined' AND a.state IN "
		"('open', 'acknowledged') AND (d.state <> 'quarantined' OR NOT EXISTS (SELECT 1 FROM job j WHERE " FITS
		")) ORDER BY a.id LIMIT :limit",
		"limit=%d", max);
	return each_over(s, out, n, err);
}
