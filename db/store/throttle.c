/** throttle.c - one row a device and reason, which only ever grows. */
#include "db/store/throttle.h"

#include "core/protocol/guard.h"

int store_throttle_add(struct db *db, int64_t device, const char *reason, double seconds, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"INSERT INTO device_throttle (device, reason, seconds) VALUES (:device, :reason, :seconds) ON CONFLICT (device, reason) DO UPDATE SET seconds = seconds + excluded.seconds",
		err);
	if (!s)
		return -1;
	stmt_text(s, ":reason", reason);
	stmt_double(s, ":seconds", seconds);
	stmt_int(s, ":device", device);
	return stmt_run(s, err);
}

static int view_one(struct db *db, const char *reason, view_throttle_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT d.uuid, coalesce(t.seconds, 0) FROM device d LEFT JOIN device_throttle t ON t.device = d.id AND t.reason "
		"= "
		":reason WHERE d.kind <> 'cpu' ORDER BY d.uuid",
		err);
	int result;
	if (!s)
		return -1;
	stmt_text(s, ":reason", reason);
	while ((result = stmt_step(s, err)) == 1)
		each(arg, row_text(s, 0), reason, row_double(s, 1));
	return result;
}

int view_throttle(struct db *db, view_throttle_fn *each, void *arg, struct fw_err *err)
{
	for (int i = 0; i < GUARD_REASONS; i++)
		if (guard_reason[i].limits && view_one(db, guard_reason[i].name, each, arg, err) != 0)
			return -1;
	return 0;
}
