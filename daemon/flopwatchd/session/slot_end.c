/* slot_end.c - the end of a slot's job, and the writes that follow. */
#include <stdio.h>

#include "flopwatchd/record/record.h"
#include "flopwatchd/session/session.h"

enum { STORE_AGAIN_MS = 5000 };

void slot_set_pending(struct slot *s, enum pending_write pending_write, enum jobstate state, const char *why)
{
	s->pending_write = pending_write;
	s->pending_write_state = state;
	snprintf(s->pending_write_why, sizeof s->pending_write_why, "%s", why);
}

static int write_pending(struct slot *s, struct fw_err *err)
{
	struct txn *txn = s->host->txn;
	struct judge_outcome outcome = { 0 };
	int64_t profile = 0, now = clock_utc_ms();
	int result = 0;
	if (s->pending_write == PENDING_WRITE_NONE)
		return 0;
	if (txn_begin(txn, err) != 0)
		return -1;
	bool is_profile = s->job.kind == JOBKIND_PROFILE;
	if (s->worker->builds && s->result)
		result = slot_write_cached(s, now, err);
	if (result != 0)
		log_debug("build.cached", "job=%lld err=%s", (long long)s->job.id, log_quote(err->text));
	else if (s->pending_write == PENDING_WRITE_RESULT && is_profile)
		result = profile_finish(txn->db, s->host->config, s->result, now, &profile, err);
	else if (s->pending_write == PENDING_WRITE_RESULT)
		result = judge_finish(txn->db, s->host->config, s->result, now, &outcome, err);
	else if (s->pending_write == PENDING_WRITE_RELEASE)
		result = job_release(txn, &s->job, s->pending_write_why, now, err);
	else
		result = job_move(txn, &s->job, s->pending_write_state, s->pending_write_why, now, err);
	if (txn_end(txn, result, err) != 0)
		return -1;
	if (s->pending_write == PENDING_WRITE_RESULT && is_profile)
		log_info("profile.done", "job=%lld repo=%s profile=%lld", (long long)s->job.id, log_quote(s->job.repo_name),
			(long long)profile);
	else if (s->pending_write == PENDING_WRITE_RESULT)
		log_info("job.done", "job=%lld repo=%s branch=%s comparison=%lld verdict=%s", (long long)s->job.id,
			log_quote(s->job.repo_name), log_quote(s->job.branch), (long long)outcome.comparison,
			verdict_name(outcome.verdict));
	return 0;
}

static void on_flush_retry(void *arg)
{
	struct slot *s = arg;
	s->timer = NULL;
	slot_flush(s);
}

void slot_flush(struct slot *s)
{
	struct fw_err err = { 0 };
	loop_remove(s->host->loop, s->job_timer); /* the time limit does not apply to a job whose result waits to be stored */
	s->job_timer = NULL;
	progress_flush(&s->progress);
	if (write_pending(s, &err) != 0 && txn_is_outage(&err)) {
		s->phase = PHASE_STORING;
		slot_set_timer(s, STORE_AGAIN_MS, on_flush_retry);
		return;
	}
	if (err.code != ERR_NONE && s->pending_write == PENDING_WRITE_RESULT) {
		/* not a disk failure: the same result would fail again */
		log_error("job.judge", "job=%lld err=%s", (long long)s->job.id, log_quote(err.text));
		result_free(s->result);
		s->result = NULL;
		slot_set_pending(s, PENDING_WRITE_MOVE, JOBSTATE_FAILED, err.text);
		slot_flush(s);
		return;
	}
	if (err.code != ERR_NONE) /* it has ended meanwhile, e.g. a user cancelled it */
		log_info("job.dropped", "job=%lld err=%s", (long long)s->job.id, log_quote(err.text));
	s->pending_write = PENDING_WRITE_NONE;
	result_free(s->result);
	s->result = NULL;
	if (s->session)
		s->phase = PHASE_LEAVING;
	else
		slot_go_free(s);
}

void slot_finish_job(struct slot *s, enum pending_write pending_write, enum jobstate_event on, const char *why)
{
	if (split_group_is_helper(s)) {
		slot_finish_job(split_group_leader(s), pending_write, on, why);
		return;
	}
	split_group_dismiss(s);
	slot_set_pending(s, pending_write, jobstate_next(s->state, on), why);
	resolve_cancel(s->resolve);
	s->resolve = NULL;
	if (s->session)
		session_cancel(s->session);
	slot_flush(s);
}

void slot_count_attempt(struct slot *s, const char *why)
{
	char text[sizeof s->pending_write_why];
	if (s->job.attempt >= JOBSTATE_ATTEMPTS_MAX) {
		snprintf(text, sizeof text, "interrupted: %.900s (attempt %d of %d; see doc/troubleshooting.md#interrupted)", why,
			s->job.attempt, JOBSTATE_ATTEMPTS_MAX);
		slot_finish_job(s, PENDING_WRITE_MOVE, JOBSTATE_ON_FAIL, text);
	} else {
		snprintf(text, sizeof text, "%.900s (attempt %d of %d)", why, s->job.attempt, JOBSTATE_ATTEMPTS_MAX);
		slot_finish_job(s, PENDING_WRITE_MOVE, JOBSTATE_ON_WORKER_LOST, text);
	}
}

void slot_lose_worker(struct slot *s, const char *why)
{
	s->is_suspect = true;
	log_warning("worker.lost", "worker=%s job=%lld attempt=%d err=%s", s->worker->name, (long long)s->job.id, s->job.attempt,
		log_quote(why));
	slot_count_attempt(s, why);
}

/* The result is complete and gets stored when the worker has exited, in seconds. */
static bool has_result(const struct slot *s)
{
	return s->phase == PHASE_RUNNING && !s->split_group && s->session && session_is_done(s->session);
}

static void on_job_timeout(void *arg)
{
	struct slot *s = arg;
	char why[128];
	s->job_timer = NULL;
	if (has_result(s))
		return;
	snprintf(why, sizeof why, "timeout: the job ran past its limit of %lld s (see doc/troubleshooting.md#job-timeout)",
		(long long)(s->host->config->job_timeout_ms / 1000));
	slot_finish_job(s, PENDING_WRITE_MOVE, JOBSTATE_ON_FAIL, why);
}

void slot_limit_job(struct slot *s, int64_t limit_ms)
{
	loop_remove(s->host->loop, s->job_timer);
	loop_after(s->host->loop, limit_ms, on_job_timeout, s, &s->job_timer);
}

int slot_cancel(struct slot *s, const char *why, struct fw_err *err)
{
	s = split_group_leader(s);
	if (s->phase == PHASE_LEAVING || s->phase == PHASE_STORING)
		return err_set(err, ERR_CONFLICT, "J%lld has ended already", (long long)s->job.id);
	/* Write first: a cancellation that was confirmed to the user must survive a power failure. */
	if (job_move_now(s->host->txn, &s->job, jobstate_next(s->state, JOBSTATE_ON_CANCEL), why, err) != 0)
		return -1;
	slot_finish_job(s, PENDING_WRITE_NONE, JOBSTATE_ON_CANCEL, why);
	return 0;
}

void slot_release(struct slot *s, const char *why)
{
	if (has_result(s))
		return;
	if (s->phase == PHASE_PLANNING || s->phase == PHASE_OPENING || s->phase == PHASE_RUNNING || s->phase == PHASE_JOINING)
		slot_finish_job(s, PENDING_WRITE_RELEASE, JOBSTATE_ON_WORKER_LOST, why);
	else if (s->session)
		session_cancel(s->session);
}

/* True to pass the allocation to the preempting job; at least half of a limited time must remain. */
static bool is_allocation_reusable(const struct slot *s)
{
	int64_t had_ms = (clock_mono_ns() - s->allocated_ns) / 1000000, limit_ms = config_worker_time_ms(s->worker);
	return s->phase == PHASE_RUNNING && !s->split_group && (!limit_ms || had_ms <= limit_ms / 2);
}

static void pass_allocation_on(struct slot *s, const char *why)
{
	if (!is_allocation_reusable(s) || !session_stay(s->session)) {
		slot_release(s, why);
		return;
	}
	slot_set_pending(s, PENDING_WRITE_RELEASE, jobstate_next(s->state, JOBSTATE_ON_WORKER_LOST), why);
	slot_flush(s);
}

int slot_preempt(struct slot *s, struct fw_err *err)
{
	struct store_job next;
	char why[64];
	bool works = s->phase == PHASE_RUNNING ||
		     (!config_worker_is_on_call(s->worker) && (s->phase == PHASE_PLANNING || s->phase == PHASE_OPENING));
	enum devicestate state;
	int64_t id;
	if (!works || s->worker->builds || (s->job.kind != JOBKIND_PROFILE && !s->job.shard))
		return 0;
	if (s->session && session_is_ending(s->session)) /* its result is about to be stored */
		return 0;
	if (store_device_get(s->host->txn->db, s->device.uuid, &id, &state, err) != 0)
		return -1;
	if (state != DEVICESTATE_OK) /* no job may use the device */
		return 0;
	int got = store_job_next_cached(s->host->txn->db, s->device.kind, s->device.uuid, s->host->held(s->host->arg),
		claim_cache(s->worker), &next, err);
	if (got != 1 || next.priority < PROFILE_PRIORITY_YIELDS || next.priority <= s->job.priority)
		return got < 0 ? -1 : 0;
	snprintf(why, sizeof why, "preempted by J%lld", (long long)next.id);
	if (config_worker_is_on_call(s->worker))
		pass_allocation_on(s, why);
	else
		slot_release(s, why);
	return 1;
}

void slot_release_plan(struct slot *s, const char *why)
{
	if (s->phase == PHASE_PLANNING)
		slot_finish_job(s, PENDING_WRITE_RELEASE, JOBSTATE_ON_WORKER_LOST, why);
}
