#include "db/db.h"

/* Kind of device that job `j` requests, by kind, device or class; '' any. */
#define WANTED_KIND "coalesce(nullif(j.device_kind, ''), (SELECT d.kind FROM device d WHERE d.uuid = j.device_uuid), c.kind, '')"

/* A worker `w` of :workers with devices of that kind. */
#define WORKER(how)                                                                                                              \
	"FROM json_each(:workers) w WHERE w.value ->> 'how' = '" how "' AND (w.value ->> 'kind' = '' OR " WANTED_KIND            \
	" IN ('', w.value ->> "                                                                                                  \
	"'kind')) "

/* Device `d` fits the request of job `j`. */
#define FITS "j.device_kind IN ('', d.kind) AND j.device_uuid IN ('', d.uuid) AND " STORE_CLASS_FITS("d.class")

int find_unschedulable(struct db *db, const char *devices, const char *workers, int64_t job, find_unschedulable_fn *each,
	void *arg, struct fw_err *err)
{
	/* many queued jobs have equal requests: check devices and workers once for all of them */
	struct stmt *s = db_query(db, err,
		"WITH want AS MATERIALIZED (SELECT j.*, c.model, c.driver, c.toolkit, (SELECT w.value ->> 'name' " WORKER(
			"down") "LIMIT 1) AS down "
				"FROM (SELECT json_group_array(id) AS ids, device_kind, device_uuid, device_class FROM job "
				"WHERE state = 'queued' AND id BETWEEN :first AND :last GROUP BY device_kind, device_uuid, device_class) j "
				"LEFT JOIN device_class c ON c.id = j.device_class "
				"WHERE NOT EXISTS (SELECT 1 FROM device d WHERE d.uuid IN (SELECT value FROM json_each(:devices)) AND " FITS
				") "
				"AND NOT EXISTS (SELECT 1 " WORKER("starting") ") AND NOT EXISTS (SELECT 1 " WORKER("on call")
		/* a device that no allocation had so far may exist */
		"AND ((j.device_uuid = '' AND j.device_class IS NULL) OR EXISTS (SELECT 1 FROM device d WHERE d.worker = w.value ->> 'name' "
		"AND " FITS
		")))) SELECT id.value, device_kind, device_uuid, model, driver, toolkit, down FROM want, json_each(ids) id "
		"ORDER BY id.value",
		"devices=%s workers=%s first=%ld last=%ld", devices, workers, job, job ? job : INT64_MAX);
	struct find_unschedulable row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.job, row.kind, row.uuid, row.model, row.driver, row.toolkit, row.down);
}
