/* janitor.c - old rows go first, then the room that they leave. */
#include "flopwatchd/janitor.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "db/store/event.h"
#include "db/store/job.h"
#include "db/store/outbox.h"
#include "db/store/result.h"
#include "db/store/sample.h"

enum { STEP_ROWS = 500, STEP_PAUSE_MS = 1000, ROUND_MS = 3600 * 1000 };
#define DAY_MS (INT64_C(24) * 3600 * 1000)

struct janitor {
	struct loop *loop;
	struct db *db;
	struct loop_source *timer;
};

int janitor_step(struct db *db, int64_t now_ms, struct fw_err *err)
{
	int64_t old_event = now_ms - JANITOR_EVENT_DAYS * DAY_MS;
	int samples, events, deliveries, sent;
	if (db_begin(db, err) != 0)
		return -1;
	if (store_samples_thin(db, now_ms - JANITOR_RAW_DAYS * DAY_MS, STEP_ROWS, &samples, err) != 0 ||
		store_event_prune(db, old_event, STEP_ROWS, &events, err) != 0 ||
		store_delivery_prune(
			db, now_ms - JANITOR_DELIVERY_DAYS * DAY_MS, JANITOR_DELIVERIES, STEP_ROWS, &deliveries, err) != 0 ||
		store_outbox_prune(db, now_ms - JANITOR_RAW_DAYS * DAY_MS, STEP_ROWS, &sent, err) != 0 ||
		db_commit(db, err) != 0) {
		db_rollback(db);
		return -1;
	}
	if (samples == STEP_ROWS || events == STEP_ROWS || deliveries == STEP_ROWS || sent == STEP_ROWS)
		return 1;
	return db_shrink(db, err);
}

static void on_timer(void *arg)
{
	struct janitor *j = arg;
	struct fw_err err = { 0 };
	j->timer = NULL;
	int more = janitor_step(j->db, clock_utc_ms(), &err);
	if (more < 0) {
		log_warning("janitor", "err=%s", log_quote(err.text));
		err_clear(&err);
	}
	if (loop_after(j->loop, more > 0 ? STEP_PAUSE_MS : ROUND_MS, on_timer, j, &j->timer, &err) != 0)
		log_error("janitor.timer", "err=%s", log_quote(err.text));
}

int janitor_start(struct loop *loop, struct db *db, struct janitor **out, struct fw_err *err)
{
	struct janitor *j = calloc(1, sizeof *j);
	if (!j)
		return err_set(err, ERR_INTERNAL, "out of memory");
	j->loop = loop;
	j->db = db;
	if (loop_after(loop, ROUND_MS, on_timer, j, &j->timer, err) != 0) {
		free(j);
		return -1;
	}
	*out = j;
	return 0;
}

void janitor_stop(struct janitor *j)
{
	if (!j)
		return;
	loop_remove(j->loop, j->timer);
	free(j);
}
