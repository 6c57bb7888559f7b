/* submit.c - see submit.h. */
#include "flopwatchd/dispatch/submit.h"

#include <limits.h>

#include "db/kept/kept.h"
#include "db/store/repo.h"
#include "flopwatchd/dispatch/spoken.h"
#include "flopwatchd/runtime/config_worker.h"

enum { ASKED_BYTES = 1 << 19 };

/* Slots of one worker, which stand beside each other. */
struct run {
	const struct slot_host *host;
	const struct config_worker *worker;
	int first, last; /* behind its last */
};

static struct slot *at(const struct run *r, int i)
{
	return r->host->nth_slot(r->host->arg, i);
}

/* One for a device that is to be tried, as long as there is such a device. 0, -1. */
static int submit_canary(const struct run *r, struct fw_err *err)
{
	char host[64];
	struct slot *canary = NULL;
	for (int i = r->first; i < r->last; i++)
		canary = slot_waits(at(r, i)) == SLOT_WAITS_CANARY ? at(r, i) : canary;
	int to_try = r->worker->builds ? 0 : store_device_canary_host(r->host->txn->db, r->worker->name, host, err);
	for (int i = r->first; i < r->last && to_try == 1 && !canary; i++)
		if (slot_waits(at(r, i)) == SLOT_WAITS_NOT) {
			canary = at(r, i);
			if (slot_submit(canary, host, true, err) != 0)
				return -1;
		}
	if (to_try == 0 && canary)
		slot_give_up(canary);
	return to_try < 0 ? -1 : 0;
}

/* One allocation for each job that waits and that its worker could run, but no more than it may ask for, nor than there is room for: the
 * rest of a long queue stays here, where it has its order. */
static int submit_jobs(const struct run *r, const struct store_kept_wish *wish, int room, struct buf *asked, struct fw_err *err)
{
	struct db *db = r->host->txn->db;
	struct store_job_place next;
	int waits = 0, got = 1;
	struct slot *surplus = NULL;
	for (int i = r->first; i < r->last; i++)
		if (slot_waits(at(r, i)) == SLOT_WAITS_JOB) {
			waits++;
			surplus = at(r, i);
		}
	for (int i = r->first; i < r->last && got == 1 && waits < room; i++) {
		if (slot_waits(at(r, i)) != SLOT_WAITS_NOT)
			continue;
		got = store_job_nth(db, wish, waits, &next, err);
		/* any machine builds for a device of any other */
		if (got == 1 && slot_submit(at(r, i), r->worker->builds ? "" : next.host, false, err) != 0)
			return -1;
		waits += got == 1;
	}
	if (got >= 0 && surplus && waits > 0) {
		got = waits > room ? 0 : store_job_nth(db, wish, waits - 1, &next, err);
		if (got == 0)
			slot_give_up(surplus); /* it wakes the queue when it has gone */
	}
	got = got < 0 ? -1 : 1;
	for (int i = 0; i < waits && got == 1; i++) { /* what they are for is no other worker's to ask for */
		got = store_job_nth(db, wish, i, &next, err);
		if (got == 1)
			spoken_add(asked, next.id);
	}
	return got < 0 ? -1 : 0;
}

/* `asked`: what workers before it wait for. */
static int submit_run(const struct run *r, struct buf *asked, struct fw_err *err)
{
	const struct config_worker *w = r->worker;
	struct buf besides;
	int room = INT_MAX, result = 0;
	spoken_begin(&besides);
	buf_append(&besides, asked->data, asked->len);
	if (w->builds)
		result = spoken_for(r->host, w, &besides, err) != 0 || spoken_room(r->host, w, &room, err) != 0 ? -1 : 0;
	spoken_end(&besides);
	const struct store_kept_wish wish = { w->device, w->name, r->host->held(r->host->arg), besides.data,
		w->builds         ? STORE_KEPT_MISSING
		: w->builds_apart ? STORE_KEPT_THERE
				  : STORE_KEPT_ANY };
	if (result == 0)
		result = submit_canary(r, err) != 0 || submit_jobs(r, &wish, room, asked, err) != 0 ? -1 : 0;
	buf_fini(&besides);
	return result;
}

int submit_all(const struct slot_host *host, struct fw_err *err)
{
	struct buf asked[2]; /* to measure, to build */
	struct slot *s;
	int result = 0;
	buf_init(&asked[0], ASKED_BYTES);
	buf_init(&asked[1], ASKED_BYTES);
	for (struct run r = { .host = host }; result == 0 && (s = host->nth_slot(host->arg, r.first)); r.first = r.last) {
		r.worker = slot_worker(s);
		for (r.last = r.first + 1; (s = at(&r, r.last)) && slot_worker(s) == r.worker;)
			r.last++;
		if (config_worker_is_slurm(r.worker))
			result = submit_run(&r, &asked[r.worker->builds], err);
	}
	buf_fini(&asked[0]);
	buf_fini(&asked[1]);
	return result;
}
