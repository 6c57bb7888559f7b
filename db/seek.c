#include "db/db.h"

static const char *const newest_up_to[] = {
	[VIEW_LIST_COMPARISONS] = "SELECT id, finished_at FROM comparison WHERE id <= :id ORDER BY id DESC LIMIT 1",
	[VIEW_LIST_JOBS] = "SELECT id, queued_at FROM job WHERE id <= :id ORDER BY id DESC LIMIT 1",
	[VIEW_LIST_ALERTS] = "SELECT id, opened_at FROM alert WHERE id <= :id ORDER BY id DESC LIMIT 1",
	[VIEW_LIST_BISECTS] = "SELECT id, created_at FROM bisect WHERE id <= :id ORDER BY id DESC LIMIT 1",
	[VIEW_LIST_AUDIT] = "SELECT id, at FROM audit WHERE id <= :id ORDER BY id DESC LIMIT 1",
	[VIEW_LIST_NOTIFICATIONS] = "SELECT id, created_at FROM outbox WHERE id <= :id ORDER BY id DESC LIMIT 1",
};

/* The newest row up to `id`. 1, 0 none, -1. */
static int read_newest(struct db *db, enum view_list list, int64_t id, int64_t *found, int64_t *at, struct fw_err *err)
{
	return db_first(db, err, (*found, *at), newest_up_to[list], "id=%ld", id);
}

int view_seek(struct db *db, enum view_list list, int64_t at, int64_t *id, struct fw_err *err)
{
	int64_t older = 0, found = 0, when = 0; /* rows up to `older` are older, those from *id on are not */
	int result = read_newest(db, list, INT64_MAX, &found, &when, err);
	*id = found + 1;
	while (result >= 0 && *id - older > 1) {
		int64_t middle = older + (*id - older) / 2;
		result = read_newest(db, list, middle, &found, &when, err);
		if (result == 1 && when >= at)
			*id = found;
		else
			older = middle;
	}
	return result < 0 ? -1 : 0;
}
