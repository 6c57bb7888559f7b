/* submit.c - see submit.h. */
#include "flopwatchd/dispatch/submit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "db/cached_build/cached_build.h"
#include "db/store/job.h"
#include "db/store/repo.h"
#include "flopwatchd/dispatch/build_claims.h"
#include "flopwatchd/runtime/config_worker.h"

/* Slots of one worker, which stand beside each other. */
struct run {
	const struct slot_host *host;
	const struct config_worker *worker;
	int first, last; /* behind its last */
};

/* The first jobs that its slots could wait for, and which of both have found each other. */
struct match {
	struct store_job_place job[CONFIG_JOBS_MAX];
	bool job_is_met[CONFIG_JOBS_MAX], slot_is_met[CONFIG_JOBS_MAX];
	int n;
	bool is_all; /* no job is left behind them, or none that may be asked for */
};

static struct slot *at(const struct run *r, int i)
{
	return r->host->nth_slot(r->host->arg, i);
}

static struct slot *one_that(const struct run *r, enum slot_wait waits)
{
	for (int i = r->first; i < r->last; i++)
		if (slot_waits(at(r, i)) == waits)
			return at(r, i);
	return NULL;
}

static int count(const struct run *r, enum slot_wait waits)
{
	int n = 0;
	for (int i = r->first; i < r->last; i++)
		n += slot_waits(at(r, i)) == waits;
	return n;
}

/* Any machine builds for a device of any other. */
static const char *node_of(const struct run *r, const struct store_job_place *job)
{
	return r->worker->builds ? "" : job->host;
}

static void request_for(const struct run *r, const struct store_job_place *job, struct slot_request *out)
{
	*out = (struct slot_request){ .job = job->id, .priority = job->priority };
	snprintf(out->node, sizeof out->node, "%s", node_of(r, job));
}

/* ---- jobs ------------------------------------------------------------------------------------------ */

/* One allocation for each job that waits and that its worker could run, but no more than it may ask for, nor than there is room for: the
 * rest of a long queue stays here, where it has its order. An allocation is for any job that asks for the same node. */
static int match(
	const struct run *r, const struct store_cached_build_request *request, int room, struct match *m, struct fw_err *err)
{
	int n_asking = count(r, SLOT_WAITS_JOB) + count(r, SLOT_WAITS_NOT) + count(r, SLOT_WAITS_HEALTH_CHECK);
	int most = n_asking ? n_asking : 1; /* whether there is any is to be known */
	memset(m, 0, sizeof *m);
	if (store_job_places(r->host->txn->db, request, room < most ? room : most, m->job, &m->n, err) != 0)
		return -1;
	m->is_all = m->n < n_asking;
	for (int k = 0; k < m->n; k++)
		for (int i = r->first; i < r->last && !m->job_is_met[k]; i++) {
			struct slot *s = at(r, i);
			if (slot_waits(s) != SLOT_WAITS_JOB || m->slot_is_met[i - r->first] ||
				strcmp(slot_request(s)->node, node_of(r, &m->job[k])) != 0)
				continue;
			request_for(r, &m->job[k], slot_request(s));
			m->job_is_met[k] = m->slot_is_met[i - r->first] = true;
		}
	return 0;
}

/* How important that is what a slot waits for: below everything where that waits no more. */
static int worth_of(const struct run *r, struct slot *s, int *worth, struct fw_err *err)
{
	struct store_job job;
	*worth = slot_request(s)->priority;
	if (slot_waits(s) == SLOT_WAITS_JOB && store_job_get(r->host->txn->db, slot_request(s)->job, &job, err) != 0)
		return -1;
	if (slot_waits(s) == SLOT_WAITS_HEALTH_CHECK || job.state != JOBSTATE_QUEUED)
		*worth = INT_MIN;
	return 0;
}

/* A job that is more important than what an allocation was asked for has its place: that is given up, and wakes the queue when it has
 * gone. Equal ones do not, or every turn of the order would cost all of them their place in the scheduler's queue. */
static int make_room(const struct run *r, const struct match *m, const struct store_job_place *job, struct fw_err *err)
{
	struct slot *least = NULL;
	int below = job->priority;
	for (int i = r->first; i < r->last; i++) {
		struct slot *s = at(r, i);
		enum slot_wait waits = slot_waits(s);
		int worth;
		if ((waits != SLOT_WAITS_JOB && waits != SLOT_WAITS_HEALTH_CHECK) || m->slot_is_met[i - r->first])
			continue;
		if (worth_of(r, s, &worth, err) != 0)
			return -1;
		if (worth < below) {
			least = s;
			below = worth;
		}
	}
	if (least)
		slot_give_up(least);
	return 0;
}

/* *is_wanted: there is a job to ask for. */
static int submit_jobs(
	const struct run *r, const struct store_cached_build_request *request, int room, bool *is_wanted, struct fw_err *err)
{
	struct match m;
	if (match(r, request, room, &m, err) != 0)
		return -1;
	*is_wanted = m.n > 0;
	for (int i = r->first; i < r->last && m.is_all; i++)
		if (slot_waits(at(r, i)) == SLOT_WAITS_JOB && !m.slot_is_met[i - r->first])
			slot_give_up(at(r, i));
	for (int k = 0; k < m.n; k++) {
		struct slot *s = one_that(r, SLOT_WAITS_NOT);
		struct slot_request of_slot;
		if (m.job_is_met[k])
			continue;
		request_for(r, &m.job[k], &of_slot);
		if (s ? slot_submit(s, &of_slot, err) != 0 : make_room(r, &m, &m.job[k], err) != 0)
			return -1;
	}
	return 0;
}

/* ---- all ------------------------------------------------------------------------------------------- */

/* One for a device that is to be tried, as long as there is such a device, and no job needs the slot. */
static int submit_health_check(const struct run *r, bool *is_wanted, struct fw_err *err)
{
	struct slot_request request = { 0 };
	struct slot *waits = one_that(r, SLOT_WAITS_HEALTH_CHECK), *s = one_that(r, SLOT_WAITS_NOT);
	int to_try = r->worker->builds ? 0 : store_device_health_check_host(r->host->txn->db, r->worker->name, request.node, err);
	*is_wanted = *is_wanted || to_try == 1;
	if (to_try == 0 && waits)
		slot_give_up(waits);
	return to_try < 0 || (to_try == 1 && !waits && s && slot_submit(s, &request, err) != 0) ? -1 : 0;
}

/* Allocations that fit nothing are kept while another is asked for, so that the scheduler has to hand out another device. Where that is
 * too long in coming, or nothing is left to ask with, all go back; what is asked for then is what has come since, for a while. */
static int settle_idle_allocation(const struct run *r, bool is_wanted, struct fw_err *err)
{
	struct backoff *backoff = &r->host->backoff[r->worker - r->host->config->worker];
	int n_waiting = count(r, SLOT_WAITS_JOB) + count(r, SLOT_WAITS_HEALTH_CHECK);
	bool is_old = false;
	for (int i = r->first; i < r->last; i++)
		is_old = is_old || slot_idle_allocation_is_old(at(r, i));
	if (!one_that(r, SLOT_HAS_IDLE_ALLOCATION) || (is_wanted && n_waiting && !is_old))
		return 0;
	if (is_wanted && store_job_newest(r->host->txn->db, &backoff->newest, err) != 0)
		return -1;
	if (is_wanted)
		backoff->n++;
	if (is_wanted && !n_waiting)
		backoff->until_ns = clock_mono_ns() + slot_backoff_ms(backoff->n) * 1000000;
	for (struct slot *s; (s = one_that(r, SLOT_HAS_IDLE_ALLOCATION));)
		slot_give_back(s, is_wanted);
	return 0;
}

static bool waits_for(const struct run *r, int64_t job)
{
	bool waits = false;
	for (int i = r->first; i < r->last && !waits; i++)
		waits = slot_waits(at(r, i)) == SLOT_WAITS_JOB && slot_request(at(r, i))->job == job;
	return waits;
}

/* What another worker has asked for is not asked for once more, unless its scheduler lets it wait: then who is there first has the job, and
 * the other gives up. */
static void besides_others(const struct run *r, struct buf *ids)
{
	struct slot *s;
	for (int i = 0; (s = at(r, i)); i++)
		if (slot_worker(s) != r->worker && slot_worker(s)->builds == r->worker->builds &&
			slot_waits(s) == SLOT_WAITS_JOB && !slot_is_stuck(s) && !waits_for(r, slot_request(s)->job))
			build_claims_add(ids, slot_request(s)->job);
}

static int submit_run(const struct run *r, struct fw_err *err)
{
	const struct config_worker *w = r->worker;
	struct buf besides;
	const struct backoff *backoff = &r->host->backoff[w - r->host->config->worker];
	int room = INT_MAX, result = 0;
	bool rests = clock_mono_ns() < backoff->until_ns, is_wanted = false;
	build_claims_begin(&besides);
	besides_others(r, &besides);
	if (w->builds)
		result = build_claims_for(r->host, w, &besides, err) != 0 || build_claims_room(r->host, w, &room, err) != 0 ? -1
															    : 0;
	build_claims_end(&besides);
	const struct store_cached_build_request request = { w->device, w->name, r->host->held(r->host->arg), besides.data,
		w->builds            ? STORE_CACHED_BUILD_MISSING
		: w->builds_separate ? STORE_CACHED_BUILD_THERE
				     : STORE_CACHED_BUILD_ANY,
		rests ? backoff->newest : 0 };
	if (result == 0)
		result = submit_jobs(r, &request, room, &is_wanted, err) != 0 ||
					 (!rests && submit_health_check(r, &is_wanted, err) != 0) ||
					 settle_idle_allocation(r, is_wanted, err) != 0
				 ? -1
				 : 0;
	buf_fini(&besides);
	return result;
}

int submit_all(const struct slot_host *host, struct fw_err *err)
{
	struct slot *s;
	int result = 0;
	for (struct run r = { .host = host }; result == 0 && (s = host->nth_slot(host->arg, r.first)); r.first = r.last) {
		r.worker = slot_worker(s);
		for (r.last = r.first + 1; (s = at(&r, r.last)) && slot_worker(s) == r.worker;)
			r.last++;
		if (config_worker_is_slurm(r.worker))
			result = submit_run(&r, err);
	}
	return result;
}

void submit_none(const struct slot_host *host)
{
	struct slot *s;
	for (int i = 0; (s = host->nth_slot(host->arg, i)); i++) {
		slot_give_up(s);
		if (slot_waits(s) == SLOT_HAS_IDLE_ALLOCATION)
			slot_give_back(s, false);
	}
}
