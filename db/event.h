/**
 * event.h - events of /api/v1/events: their construction, and the rows that clients read later. All calls: loop only; writes inside the
 * caller's transaction.
 */
#ifndef DB_EVENT_H
#define DB_EVENT_H

#include "lib/buf.h"
#include "lib/jsonw.h"
#include "db/db.h"

struct store_event {
	const char *kind; /* "job.state" */
	struct buf text;
	struct jsonw json; /* writes into text */
};

/** Begin an event; the caller writes the members of the open object. Own: store_event_end or store_event_fini; borrows `kind`. */
struct jsonw *store_event_begin(struct store_event *e, const char *kind);
/** End the object and insert it into `event`; e->text still holds it. Err: ERR_FULL it does not fit. */
int store_event_write(struct store_event *e, struct db *db, int64_t now_ms, struct fw_err *err);
void store_event_fini(struct store_event *e);
/** store_event_write, then store_event_fini. */
int store_event_end(struct store_event *e, struct db *db, int64_t now_ms, struct fw_err *err);

/** Insert into `event`, and set *id. `payload` is JSON. */
int store_event(struct db *db, int64_t now_ms, const char *kind, const char *payload, int64_t *id, struct fw_err *err);
/**
 * Delete the events before `before`, and those after `after` (dated by a clock that ran ahead), among the oldest `limit`. *n
 * counts them.
 */
int store_event_prune(struct db *db, int64_t before, int64_t after, int limit, int *n, struct fw_err *err);

#endif
