#include "flopwatchd/schedule/internal.h"

#include <limits.h>

/* The slots of one worker, which are adjacent. */
struct slot_range {
	const struct slot_host *host;
	const struct config_worker *worker;
	int first, last; /* index after its last */
};

struct match_jobs {
	struct store_job_position job[CONFIG_JOBS_MAX];
	bool job_is_met[CONFIG_JOBS_MAX], slot_is_met[CONFIG_JOBS_MAX];
	int n;
	bool is_all; /* there are no further jobs for which it may request an allocation */
};

static struct slot *get_slot(const struct slot_range *r, int i)
{
	return r->host->nth_slot(r->host->arg, i);
}

static struct slot *find_waiting(const struct slot_range *r, enum slot_wait waits)
{
	for (int i = r->first; i < r->last; i++)
		if (slot_waits(get_slot(r, i)) == waits)
			return get_slot(r, i);
	return NULL;
}

static int count_waiting(const struct slot_range *r, enum slot_wait waits)
{
	int n = 0;
	for (int i = r->first; i < r->last; i++)
		n += slot_waits(get_slot(r, i)) == waits;
	return n;
}

/* A build runs on any machine, independently of the device's machine. */
static const char *get_node(const struct slot_range *r, const struct store_job_position *job)
{
	return r->worker->builds ? "" : job->host;
}

static void make_request(const struct slot_range *r, const struct store_job_position *job, struct slot_request *out)
{
	*out = (struct slot_request){ .job = job->id, .priority = job->priority };
	snprintf(out->node, sizeof out->node, "%s", get_node(r, job));
}

/*
 * Assign one allocation to each waiting job that the worker could run, within its limit and the build limit: the rest of a long
 * queue stays in the daemon's order. An allocation serves any job for the same node.
 */
static int match_jobs(const struct slot_range *r, const struct store_cached_build_request *request, int capacity,
	struct match_jobs *m, struct fw_err *err)
{
	int n_asking =
		count_waiting(r, SLOT_WAITS_JOB) + count_waiting(r, SLOT_WAITS_NOT) + count_waiting(r, SLOT_WAITS_HEALTH_CHECK);
	int most = n_asking ? n_asking : 1; /* at least one: is there any job? */
	memset(m, 0, sizeof *m);
	if (store_job_positions(r->host->txn->db, request, capacity < most ? capacity : most, m->job, &m->n, err) != 0)
		return -1;
	m->is_all = m->n < n_asking;
	for (int k = 0; k < m->n; k++)
		for (int i = r->first; i < r->last && !m->job_is_met[k]; i++) {
			struct slot *s = get_slot(r, i);
			if (slot_waits(s) != SLOT_WAITS_JOB || m->slot_is_met[i - r->first] ||
				strcmp(slot_request(s)->node, get_node(r, &m->job[k])) != 0)
				continue;
			make_request(r, &m->job[k], slot_request(s));
			m->job_is_met[k] = m->slot_is_met[i - r->first] = true;
		}
	return 0;
}

/* Return the priority of a slot's job; below all others if the job no longer waits. */
static int get_priority(const struct slot_range *r, struct slot *s, int *worth, struct fw_err *err)
{
	struct store_job job;
	*worth = slot_request(s)->priority;
	if (slot_waits(s) == SLOT_WAITS_JOB) {
		if (store_job_get(r->host->txn->db, slot_request(s)->job, &job, err) != 0)
			return -1;
		if (job.state == JOBSTATE_QUEUED)
			return 0;
	}
	*worth = INT_MIN;
	return 0;
}

/*
 * Withdraw the request of lowest priority for a job of higher priority; the queue wakes when the slot is free. Equal priorities
 * do not replace each other: each change of the order would cost all of them their position in the scheduler's queue.
 */
static int displace_request(
	const struct slot_range *r, const struct match_jobs *m, const struct store_job_position *job, struct fw_err *err)
{
	struct slot *least = NULL;
	int below = job->priority;
	for (int i = r->first; i < r->last; i++) {
		struct slot *s = get_slot(r, i);
		enum slot_wait waits = slot_waits(s);
		int worth;
		if ((waits != SLOT_WAITS_JOB && waits != SLOT_WAITS_HEALTH_CHECK) || m->slot_is_met[i - r->first])
			continue;
		if (get_priority(r, s, &worth, err) != 0)
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

/* *is_wanted: a job could be requested. */
static int submit_jobs(const struct slot_range *r, const struct store_cached_build_request *request, int capacity,
	bool *is_wanted, struct fw_err *err)
{
	struct match_jobs m;
	if (match_jobs(r, request, capacity, &m, err) != 0)
		return -1;
	*is_wanted = m.n > 0;
	for (int i = r->first; i < r->last && m.is_all; i++)
		if (slot_waits(get_slot(r, i)) == SLOT_WAITS_JOB && !m.slot_is_met[i - r->first])
			slot_give_up(get_slot(r, i));
	for (int k = 0; k < m.n; k++) {
		struct slot *s = find_waiting(r, SLOT_WAITS_NOT);
		struct slot_request of_slot;
		if (m.job_is_met[k])
			continue;
		make_request(r, &m.job[k], &of_slot);
		if (s ? slot_submit(s, &of_slot, err) != 0 : displace_request(r, &m, &m.job[k], err) != 0)
			return -1;
	}
	return 0;
}

static int submit_health_check(const struct slot_range *r, bool *is_wanted, struct fw_err *err)
{
	struct slot_request request = { 0 };
	struct slot *waits = find_waiting(r, SLOT_WAITS_HEALTH_CHECK), *s = find_waiting(r, SLOT_WAITS_NOT);
	int to_try = r->worker->builds ? 0 : store_device_health_check_host(r->host->txn->db, r->worker->name, request.node, err);
	*is_wanted = *is_wanted || to_try == 1;
	if (to_try == 0 && waits)
		slot_give_up(waits);
	return to_try < 0 || (to_try == 1 && !waits && s && slot_submit(s, &request, err) != 0) ? -1 : 0;
}

/*
 * An idle allocation stays allocated while another one is requested, so that the scheduler grants another device. If that takes
 * too long, or no slot is left for the request, release all; for a while, only newer jobs lead to requests.
 */
static int update_idle_allocations(const struct slot_range *r, bool is_wanted, struct fw_err *err)
{
	struct backoff *backoff = &r->host->backoff[r->worker - r->host->config->worker];
	int n_waiting = count_waiting(r, SLOT_WAITS_JOB) + count_waiting(r, SLOT_WAITS_HEALTH_CHECK);
	bool is_old = false;
	for (int i = r->first; i < r->last; i++)
		is_old = is_old || slot_idle_allocation_is_old(get_slot(r, i));
	if (!find_waiting(r, SLOT_HAS_IDLE_ALLOCATION) || (is_wanted && n_waiting && !is_old))
		return 0;
	if (is_wanted && store_job_newest(r->host->txn->db, &backoff->newest, err) != 0)
		return -1;
	if (is_wanted)
		backoff->n++;
	if (is_wanted && !n_waiting)
		backoff->until_ns = clock_mono_ns() + slot_backoff_ms(backoff->n) * 1000000;
	for (struct slot *s; (s = find_waiting(r, SLOT_HAS_IDLE_ALLOCATION));)
		slot_give_back(s, is_wanted);
	return 0;
}

static bool is_waiting_for(const struct slot_range *r, int64_t job)
{
	bool waits = false;
	for (int i = r->first; i < r->last && !waits; i++)
		waits = slot_waits(get_slot(r, i)) == SLOT_WAITS_JOB && slot_request(get_slot(r, i))->job == job;
	return waits;
}

/* A job requested by another worker is not requested again, unless that request waits: then the first allocation wins. */
static void exclude_others(const struct slot_range *r, struct buf *ids)
{
	struct slot *s;
	for (int i = 0; (s = get_slot(r, i)); i++)
		if (slot_worker(s) != r->worker && slot_worker(s)->builds == r->worker->builds &&
			slot_waits(s) == SLOT_WAITS_JOB && !slot_is_stuck(s) && !is_waiting_for(r, slot_request(s)->job))
			build_claims_add(ids, slot_request(s)->job);
}

static int submit_worker(const struct slot_range *r, struct fw_err *err)
{
	const struct config_worker *w = r->worker;
	struct buf besides;
	const struct backoff *backoff = &r->host->backoff[w - r->host->config->worker];
	int capacity = INT_MAX, result = 0;
	bool rests = clock_mono_ns() < backoff->until_ns, is_wanted = false;
	build_claims_begin(&besides);
	exclude_others(r, &besides);
	if (w->builds)
		result =
			build_claims_for(r->host, w, &besides, err) != 0 || build_claims_capacity(r->host, w, &capacity, err) != 0
				? -1
				: 0;
	build_claims_end(&besides);
	const struct store_cached_build_request request = { w->device, w->name, r->host->held(r->host->arg), besides.data,
		w->builds            ? STORE_CACHED_BUILD_MISSING
		: w->builds_separate ? STORE_CACHED_BUILD_THERE
				     : STORE_CACHED_BUILD_ANY,
		rests ? backoff->newest : 0 };
	if (result == 0)
		result = submit_jobs(r, &request, capacity, &is_wanted, err) != 0 ||
					 (!rests && submit_health_check(r, &is_wanted, err) != 0) ||
					 update_idle_allocations(r, is_wanted, err) != 0
				 ? -1
				 : 0;
	buf_fini(&besides);
	return result;
}

int submit_all(const struct slot_host *host, struct fw_err *err)
{
	struct slot *s;
	int result = 0;
	for (struct slot_range r = { .host = host }; result == 0 && (s = host->nth_slot(host->arg, r.first)); r.first = r.last) {
		r.worker = slot_worker(s);
		for (r.last = r.first + 1; (s = get_slot(&r, r.last)) && slot_worker(s) == r.worker;)
			r.last++;
		if (config_worker_is_on_call(r.worker))
			result = submit_worker(&r, err);
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
