/* spoken.c - see spoken.h. */
#include "flopwatchd/dispatch/spoken.h"

#include <limits.h>
#include <string.h>

#include "db/kept/kept.h"
#include "flopwatchd/dispatch/slot_inside.h"

enum { BYTES_MAX = 1 << 20 };

/* 0 is nobody's id, and whatever follows has its comma. */
void spoken_begin(struct buf *ids)
{
	buf_init(ids, BYTES_MAX);
	buf_puts(ids, "[0");
}

void spoken_add(struct buf *ids, int64_t id)
{
	buf_printf(ids, ",%lld", (long long)id);
}

void spoken_end(struct buf *ids)
{
	buf_putc(ids, ']');
}

/* Whether slot `s` measures what was built before, for `w` or (`is_own` false) for another of its kind. One that is down does not. */
static bool measures(const struct slot *s, const struct config_worker *w, bool is_own)
{
	return s->worker->builds_apart && s->worker->device == w->device && !strcmp(s->worker->name, w->name) == is_own &&
	       !slot_is_down(s);
}

/* The `n`th job that a worker has built and that waits for its devices. 1, 0 there are not so many, -1. */
static int nth_built(
	const struct slot_host *host, const struct config_worker *w, int n, struct store_job_place *out, struct fw_err *err)
{
	const struct store_kept_wish wish = { w->device, w->name, host->held(host->arg), "[]", STORE_KEPT_THERE };
	return store_job_nth(host->txn->db, &wish, n, out, err);
}

int spoken_for(const struct slot_host *host, const struct config_worker *w, struct buf *ids, struct fw_err *err)
{
	const struct config_worker *of = NULL;
	const struct slot *s;
	int nth = 0, got = 0;
	for (int i = 0; got >= 0 && (s = host->nth_slot(host->arg, i)); i++) {
		struct store_job_place job;
		if (!measures(s, w, false))
			continue;
		nth = s->worker == of ? nth + 1 : 0; /* slots of a worker stand beside each other */
		of = s->worker;
		got = nth_built(host, of, nth, &job, err);
		if (got == 1)
			spoken_add(ids, job.id);
	}
	return got < 0 ? -1 : 0;
}

int spoken_room(const struct slot_host *host, const struct config_worker *w, int *room, struct fw_err *err)
{
	const struct slot *s;
	int n_slots = 0, n_busy = 0, n_built = 0, got = 1;
	bool is_alone = true;
	for (int i = 0; (s = host->nth_slot(host->arg, i)); i++) {
		is_alone = is_alone && !measures(s, w, false);
		n_slots += measures(s, w, true);
		n_busy += s->worker == w && s->job.id;
	}
	while (!is_alone && got == 1 && n_built < n_slots) {
		struct store_job_place job;
		got = nth_built(host, w, n_built, &job, err);
		n_built += got == 1;
	}
	*room = is_alone ? INT_MAX : n_slots > n_built + n_busy ? n_slots - n_built - n_busy : 0;
	return got < 0 ? -1 : 0;
}
