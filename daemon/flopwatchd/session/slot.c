/* slot.c - the state machine of a slot, whose states are those of enum phase. */
#include "flopwatchd/session/internal.h"

#include <sys/random.h>

/* ---- concurrent ---- */

static bool shares_machine(const struct slot *s, const struct slot *other)
{
	return other->has_hello && !other->worker->builds && !config_worker_is_on_call(other->worker) &&
	       (other->worker == s->worker ||
		       (s->hello.location.host[0] && strcmp(s->hello.location.host, other->hello.location.host) == 0));
}

static void add_device(struct msg_job *request, const char *uuid)
{
	for (int i = 0; i < request->n_concurrent; i++)
		if (strcmp(request->concurrent[i], uuid) == 0)
			return;
	if (request->n_concurrent < PROTOCOL_DEVICES_MAX)
		snprintf(request->concurrent[request->n_concurrent++], sizeof request->concurrent[0], "%s", uuid);
}

/*
 * List in `request` the devices that may have jobs concurrent with that of `s`, including its own: those that workers of this
 * machine may use according to the configuration. None for a scheduler's allocation, whose devices are all its own.
 */
static void concurrent_find(const struct slot *s, struct msg_job *request)
{
	const struct slot *other;
	bool is_alone = s->worker->max_jobs == 1;
	request->n_concurrent = 0;
	if (config_worker_is_on_call(s->worker))
		return;
	for (int i = 0; (other = s->host->nth_slot(s->host->arg, i)); i++)
		is_alone = is_alone && (other->worker == s->worker || !shares_machine(s, other));
	add_device(request, s->device.uuid);
	for (int i = 0; !is_alone && (other = s->host->nth_slot(s->host->arg, i)); i++) {
		enum device_kind kind = claim_kind(other->worker, &other->hello);
		for (int k = 0; shares_machine(s, other) && k < other->hello.n_devices; k++)
			if (other->hello.device[k].kind == kind && claim_wants(other->worker, &other->hello.device[k]))
				add_device(request, other->hello.device[k].uuid);
	}
}

/*
 * ---- slot_health_check ----
 * The health check of a quarantined device; its result sets the device's state. A check that did not run changes nothing.
 */

enum { UNANSWERED_MAX = 3 };

/* Send the check; the worker is ready. */
static void slot_send_health_check(struct slot *s, const struct msg_hello *hello)
{
	struct fw_err err = { 0 };
	if (!slot_find_device(hello, s->device.uuid))
		err_set(&err, ERR_NOT_FOUND, "worker %s no longer has the device", s->worker->name);
	else if (session_health_check(s->session, s->device.uuid, &err) == 0)
		s->health_check = HEALTH_CHECK_SENT;
	if (s->health_check == HEALTH_CHECK_SENT)
		return;
	log_warning("device.health_check", "device=%s err=%s", log_quote(s->device.uuid), log_quote(err.text));
	session_cancel(s->session);
}

static void slot_receive_health_check(struct slot *s, const struct msg_state *state)
{
	s->health_check = HEALTH_CHECK_ANSWERED;
	s->health_check_ok = state->ok;
	snprintf(s->health_check_why, sizeof s->health_check_why, "%s", state->detail);
}

/* A cancelled or unanswered check is no evidence, but UNANSWERED_MAX unanswered ones in a row fail the device. */
static bool has_result(struct slot *s, enum session_end how, const char *why)
{
	if (s->health_check == HEALTH_CHECK_ANSWERED)
		return true;
	s->n_unanswered += s->health_check == HEALTH_CHECK_SENT && how == SESSION_LOST;
	if (s->n_unanswered < UNANSWERED_MAX)
		return false;
	snprintf(
		s->health_check_why, sizeof s->health_check_why, "%d times without an answer, last: %.300s", UNANSWERED_MAX, why);
	return true;
}

/* Set the device's state from the response; without a response the check is repeated. */
static void slot_end_health_check(struct slot *s, enum session_end how, const char *why)
{
	char text[700];
	if (!has_result(s, how, why)) {
		log_warning("device.health_check", "device=%s err=%s", log_quote(s->device.uuid), log_quote(why));
		s->is_suspect = how == SESSION_LOST; /* otherwise the check was cancelled, or the worker disconnected */
		slot_go_free(s);
		return;
	}
	s->n_unanswered = 0;
	if (s->health_check_ok)
		snprintf(text, sizeof text, "its health check passed");
	else
		snprintf(text, sizeof text, "its health check failed: %.600s", s->health_check_why);
	devicestate_report(s->host->txn, s->device.uuid, s->health_check_ok ? DEVICESTATE_OK : DEVICESTATE_QUARANTINED, text);
	slot_go_free(s);
}

/* Check s->device in the existing session or a new one. */
static void slot_begin_health_check(struct slot *s)
{
	struct fw_err err = { 0 };
	s->health_check = HEALTH_CHECK_NOT_SENT;
	s->health_check_ok = false;
	s->health_check_why[0] = 0;
	s->phase = PHASE_HEALTH_CHECK;
	if (s->session) {
		slot_send_health_check(s, &s->hello);
	} else if (slot_open_session(s, "", &err) != 0) {
		slot_end_health_check(s, SESSION_LOST, err.text);
	}
}

/* ---- slot_partition: A slot's partition of a split job, its own job or that of another slot. ---- */

int slot_open_helper(struct slot *s, struct fw_err *err)
{
	s->phase = PHASE_OPENING;
	if (slot_open_session(s, "", err) == 0)
		return 0;
	s->is_suspect = true;
	return -1;
}

void slot_cancel_partition(struct slot *s)
{
	loop_remove(s->host->loop, s->job_timer);
	s->job_timer = NULL;
	if (!s->session) {
		slot_go_free(s);
		return;
	}
	session_cancel(s->session);
	s->phase = PHASE_LEAVING;
}

/* Add a measured partition to the split job; the last partition stores the job. Own: takes `partition`. */
static void slot_take_partition(struct slot *s, struct result *partition)
{
	struct fw_err err = { 0 };
	struct slot *leader = split_group_leader(s);
	struct result *whole = NULL;
	int result = split_group_take(s, partition, &err);
	loop_remove(s->host->loop, s->job_timer);
	s->job_timer = NULL;
	s->n_full = 0;
	if (s == leader)
		s->phase = PHASE_JOINING;
	else
		slot_go_free(s);
	if (result != 0) {
		slot_finish_job(leader, PENDING_WRITE_MOVE, JOBSTATE_ON_FAIL, err.text);
	} else if (split_group_continue(leader, &whole, &err) != 0) {
		slot_finish_job(leader, PENDING_WRITE_RELEASE, JOBSTATE_ON_WORKER_LOST, err.text);
	} else if (whole) {
		split_group_dismiss(leader);
		leader->result = whole;
		slot_set_pending(leader, PENDING_WRITE_RESULT, JOBSTATE_DONE, "");
		slot_flush(leader);
	}
}

/* ---- slot ---- */

enum { DOWN_FIRST_MS = 2000, DOWN_MOST_MS = 300000, LOST_PAUSE_MS = 1000 };

static void query_devices(struct slot *s);
static const struct session_hooks hooks;

void slot_set_timer(struct slot *s, int64_t delay_ms, loop_timer_fn *fn)
{
	loop_remove(s->host->loop, s->timer);
	loop_after(s->host->loop, delay_ms, fn, s, &s->timer);
}

static void on_retry(void *arg)
{
	struct slot *s = arg;
	s->timer = NULL;
	s->n_backoff = 0;
	if (!config_worker_is_on_call(s->worker)) {
		query_devices(s);
		return;
	}
	s->phase = PHASE_FREE; /* no devices can be queried before there is an allocation */
	s->host->changed(s->host->arg);
}

static void mark_down(struct slot *s, const char *why)
{
	int64_t pause = (int64_t)DOWN_FIRST_MS << (s->failures < 8 ? s->failures : 8);
	s->phase = PHASE_DOWN;
	s->has_hello = false;
	snprintf(s->why, sizeof s->why, "%s", why);
	if (s->failures++ == 0)
		log_warning("worker.down", "worker=%s err=%s", s->worker->name, log_quote(why));
	slot_set_timer(s, pause < DOWN_MOST_MS ? pause : DOWN_MOST_MS, on_retry);
	s->host->changed(s->host->arg);
}

static void clear_job(struct slot *s)
{
	s->job.id = 0;
	s->device.uuid[0] = 0;
	plan_fini(&s->plan);
	plan_init(&s->plan);
	progress_end(&s->progress);
}

void slot_go_free(struct slot *s)
{
	int64_t pause_ms = LOST_PAUSE_MS << (s->n_full < 8 ? s->n_full : 8);
	clear_job(s);
	if (s->n_backoff) {
		pause_ms = slot_backoff_ms(s->n_backoff);
		s->is_suspect = true;
	}
	if (s->is_suspect) {
		s->is_suspect = false;
		s->phase = PHASE_DOWN;
		slot_set_timer(s, pause_ms, on_retry);
	} else {
		s->phase = PHASE_FREE;
	}
	s->host->changed(s->host->arg);
}

static void store_devices(struct slot *s, const struct msg_hello *hello)
{
	struct fw_err err = { 0 };
	int n_requested = 0;
	if (!s->has_hello || s->failures)
		log_info("worker.up", "worker=%s version=%s isolation=%s devices=%d", s->worker->name, log_quote(hello->version),
			hello->isolation, hello->n_devices);
	s->hello = *hello;
	s->has_hello = true;
	s->failures = 0;
	if (s->worker->builds)
		slot_clear_builds(s); /* a builder has no device */
	else if (devices_update(s->host->txn, s->worker, hello, clock_utc_ms(), &n_requested, &err) != 0)
		log_error("device.store", "worker=%s err=%s", s->worker->name, log_quote(err.text));
	if (n_requested)
		s->host->changed(s->host->arg);
}

const struct msg_device *slot_find_device(const struct msg_hello *hello, const char *uuid)
{
	for (int i = 0; i < hello->n_devices; i++)
		if (!strcmp(hello->device[i].uuid, uuid))
			return &hello->device[i];
	return NULL;
}

/* Seeds are random, except for device sim under FLOPWATCH_SIM_SEED: tests need the same times in every run. */
static uint64_t get_seed(const struct msg_device *d, int64_t job)
{
	uint64_t seed;
	const char *fixed = d->kind == DEVICE_SIM ? getenv("FLOPWATCH_SIM_SEED") : NULL;
	if (fixed)
		return strtoull(fixed, NULL, 10) + (uint64_t)job * UINT64_C(0x9e3779b97f4a7c15);
	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
		seed = (uint64_t)clock_mono_ns();
	return seed;
}

static struct claim make_claim(const struct slot *s)
{
	return (struct claim){ s->host->txn->db, s->worker, &s->hello, s->host->is_taken, s->host->arg,
		s->host->held(s->host->arg) };
}

/* Bind the job to its device, or to another suitable one: the current hello lists the worker's devices. */
static int bind_device(struct slot *s, const struct msg_hello *hello, struct fw_err *err)
{
	struct msg_device other;
	int64_t id;
	if (s->worker->builds)
		s->device = hello->device[0];
	const struct msg_device *d = slot_find_device(hello, s->device.uuid);
	if (d) {
		s->device = *d;
		return 0;
	}
	const struct claim claim = make_claim(s);
	int got = split_group_may_rebind(s) ? claim_other_device(&claim, s->job.id, &other, &id, err) : 0;
	if (got != 1)
		return got < 0 ? -1
			       : err_set(err, ERR_NOT_FOUND, "worker %s does not have device %s any more", s->worker->name,
					 s->device.uuid);
	if (claim_mark_bound(s->host->txn, s->worker->name, &other, id, &s->job, err) != 0)
		return -1;
	s->device = other;
	s->device_id = id;
	split_group_rebind(s);
	return 0;
}

static void send_job(struct slot *s, const struct msg_hello *hello)
{
	struct fw_err err = { 0 };
	struct msg_job *request_for = &s->plan.request;
	const struct msg_device *d = &s->device;
	if (bind_device(s, hello, &err) != 0 || split_group_fits(s, &err) != 0) {
		s->is_suspect = true;
		slot_finish_job(s, PENDING_WRITE_RELEASE, JOBSTATE_ON_WORKER_LOST, err.text);
		return;
	}
	request_for->job = s->job.id;
	request_for->attempt = s->job.attempt;
	snprintf(request_for->nonce, sizeof request_for->nonce, "%s", s->job.nonce);
	snprintf(request_for->device, sizeof request_for->device, "%s", d->uuid);
	concurrent_find(s, request_for);
	request_for->seed = get_seed(d, s->job.id);
	/* A worker that never starts to measure may take as long as its builds may, and no longer. */
	int64_t limit_ms = s->host->config->job_timeout_ms + (int64_t)(s->host->config->build_s * 1e3) * request_for->n_sides;
	if (!split_group_is_helper(s))
		progress_begin(&s->progress, request_for);
	slot_note_sources(s);
	if (session_send(s->session, &s->plan, s->repo_path, d, &err) != 0) {
		bool is_wrong = err.code == ERR_INVALID; /* otherwise memory is short */
		slot_finish_job(s, is_wrong ? PENDING_WRITE_MOVE : PENDING_WRITE_RELEASE,
			is_wrong ? JOBSTATE_ON_FAIL : JOBSTATE_ON_WORKER_LOST, err.text);
		return;
	}
	s->phase = PHASE_RUNNING;
	slot_limit_job(s, limit_ms);
	s->host->changed(s->host->arg); /* from now on the job can be preempted */
}

/* The worker reports that the device does not recover. The job may be the cause, so the attempt counts. */
static void quarantine(struct slot *s, const char *why)
{
	devicestate_report(s->host->txn, s->device.uuid, DEVICESTATE_QUARANTINED, why);
	slot_lose_worker(s, why);
}

/* A job without disk space on the worker waits. Any other fault counts as an attempt, since the job may be the cause. */
static void return_job(struct slot *s, const struct msg_fault *why)
{
	if (strcmp(why->failure, "full") != 0) {
		slot_count_attempt(s, why->detail);
		return;
	}
	log_warning("worker.full", "worker=%s job=%lld err=%s", s->worker->name, (long long)s->job.id, log_quote(why->detail));
	s->is_suspect = true;
	s->n_full++;
	slot_finish_job(s, PENDING_WRITE_RELEASE, JOBSTATE_ON_WORKER_LOST, why->detail);
}

static void use_allocation(struct slot *s);

int slot_write_pending(struct slot *s, struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = store_event_begin(&event, "worker.pending");
	jsonw_format(j, "worker=%s slot=%d allocation=%s", s->worker->name, s->index, s->wait_id);
	if (slot_purpose(s)[0])
		jsonw_kv_string(j, "to", slot_purpose(s));
	jsonw_kv_string(j, "why", s->wait_why);
	return txn_begin(s->host->txn, err) != 0
		       ? -1
		       : txn_end(s->host->txn, store_event_end(&event, s->host->txn->db, clock_utc_ms(), err), err);
}

/* Log a changed reason, not a changed queue position: positions change all the time. */
static void on_pending(void *arg, const struct executor_wait *wait)
{
	struct slot *s = arg;
	struct fw_err err = { 0 };
	bool is_new = strcmp(s->wait_why, wait->reason) != 0 || strcmp(s->wait_id, wait->id) != 0;
	snprintf(s->wait_id, sizeof s->wait_id, "%s", wait->id);
	snprintf(s->wait_why, sizeof s->wait_why, "%s", wait->reason);
	s->wait_position = wait->position;
	if (is_new && slot_write_pending(s, &err) != 0 && !s->host->txn->is_broken)
		log_error("worker.pending", "worker=%s err=%s", s->worker->name, log_quote(err.text));
	if (is_new)
		s->host->changed(s->host->arg); /* another worker may request the same job */
}

static void on_hello(void *arg, const struct msg_hello *hello)
{
	struct slot *s = arg;
	store_devices(s, hello);
	if (s->phase == PHASE_WAITING || s->phase == PHASE_LEAVING) {
		use_allocation(s);
		return;
	}
	if (s->phase == PHASE_OPENING)
		send_job(s, hello);
	else if (s->phase == PHASE_HEALTH_CHECK)
		slot_send_health_check(s, hello);
	else
		session_cancel(s->session);
}

static void on_message(void *arg, const struct msg *m)
{
	struct slot *s = arg;
	enum jobstate_event on = JOBSTATE_EVENTS;
	if (s->phase == PHASE_HEALTH_CHECK && m->t == MSG_STATE)
		slot_receive_health_check(s, &m->u.state);
	if (s->phase != PHASE_RUNNING)
		return;
	if (m->t == MSG_FAULT && m->u.fault.role == ROLE_DEVICE && strcmp(m->u.fault.failure, "lost") == 0) {
		progress_receive(&s->progress, m);
		quarantine(s, m->u.fault.detail);
		return;
	}
	if (m->t == MSG_FAULT && m->u.fault.role == ROLE_WORKER) {
		progress_receive(&s->progress, m);
		return_job(s, &m->u.fault);
		return;
	}
	if (m->t == MSG_BUILD)
		slot_receive_build(s, &m->u.build);
	if (m->t == MSG_BUILD)
		on = JOBSTATE_ON_BUILD;
	else if (m->t == MSG_CHECK)
		on = JOBSTATE_ON_CHECK;
	else if (m->t == MSG_RUN || m->t == MSG_KERNEL || m->t == MSG_CODE || m->t == MSG_PROFILE)
		on = JOBSTATE_ON_RUN;
	enum jobstate to = on == JOBSTATE_EVENTS ? s->state : jobstate_next(s->state, on);
	if (!s->measures && (on == JOBSTATE_ON_CHECK || on == JOBSTATE_ON_RUN)) {
		s->measures = true;
		slot_limit_job(s, s->host->config->job_timeout_ms);
	}
	if (to != s->state) {
		struct fw_err err = { 0 };
		s->state = to;
		if (!split_group_is_helper(s) && job_move_now(s->host->txn, &s->job, to, "", &err) != 0)
			log_debug("job.move", "job=%lld err=%s", (long long)s->job.id, log_quote(err.text));
	}
	if (!s->worker->builds || m->t != MSG_DONE) /* a build contains no measurement */
		progress_receive(&s->progress, m);
}

static void on_end(void *arg, enum session_end how, struct result *result, const char *why)
{
	struct slot *s = arg;
	enum phase phase = s->phase;
	char refusal[REFUSAL_SIZE];
	s->session = NULL;
	if (phase == PHASE_QUERYING && s->has_hello) {
		slot_go_free(s);
	} else if (phase == PHASE_WAITING && how == SESSION_CANCELLED) { /* the request was withdrawn */
		slot_go_free(s);
	} else if (phase == PHASE_QUERYING || phase == PHASE_WAITING) {
		mark_down(s, why);
	} else if (phase == PHASE_IDLE_ALLOCATION) { /* so was this idle allocation */
		slot_stop_idle_allocation(s);
		s->is_suspect = true;
		slot_go_free(s);
	} else if (phase == PHASE_PLANNING) { /* the scheduler revoked the allocation */
		s->is_suspect = true;
		slot_finish_job(s, PENDING_WRITE_RELEASE, JOBSTATE_ON_WORKER_LOST, why);
	} else if (phase == PHASE_HEALTH_CHECK) {
		slot_end_health_check(s, how, why);
	} else if (phase == PHASE_OPENING) { /* no hello: not the job's fault */
		s->is_suspect = true;
		slot_finish_job(s, PENDING_WRITE_RELEASE, JOBSTATE_ON_WORKER_LOST, why);
	} else if (phase == PHASE_RUNNING && how == SESSION_DONE && s->worker->builds) {
		slot_take_builds(s, result);
	} else if (phase == PHASE_RUNNING && how == SESSION_DONE && refusal_of_result(result, &s->job, refusal)) {
		struct slot *leader = split_group_leader(s);
		result_free(result);
		split_group_dismiss(leader);
		slot_set_pending(leader, PENDING_WRITE_MOVE, JOBSTATE_FAILED, refusal);
		if (leader->session)
			session_cancel(leader->session);
		slot_flush(leader);
	} else if (phase == PHASE_RUNNING && how == SESSION_DONE && s->split_group) {
		slot_take_partition(s, result);
	} else if (phase == PHASE_RUNNING && how == SESSION_DONE) {
		s->n_full = 0;
		s->result = result;
		snprintf(result->isolation, sizeof result->isolation, "%s", s->hello.isolation);
		snprintf(result->worker_version, sizeof result->worker_version, "%s", s->hello.version);
		result->device_id = s->device_id;
		slot_set_pending(s, PENDING_WRITE_RESULT, JOBSTATE_DONE, "");
		slot_flush(s);
	} else if (phase == PHASE_RUNNING && how == SESSION_STARVED) {
		s->host->hold(s->host->arg, s->job.repo);
		slot_finish_job(s, PENDING_WRITE_RELEASE, JOBSTATE_ON_WORKER_LOST, why);
	} else if (phase == PHASE_RUNNING && how == SESSION_REFUSED) {
		slot_finish_job(s, PENDING_WRITE_MOVE, JOBSTATE_ON_FAIL, why);
	} else if (phase == PHASE_RUNNING) {
		slot_lose_worker(s, why);
	} else if (phase == PHASE_LEAVING) {
		result_free(result);
		slot_go_free(s);
	} else { /* storing: slot_flush continues by its timer */
		result_free(result);
	}
}

static const struct session_hooks hooks = { on_pending, on_hello, on_message, on_end };

int slot_open_session(struct slot *s, const char *node, struct fw_err *err)
{
	const struct slot_host *h = s->host;
	return session_open(h->executors, h->loop, h->config, s->worker, node, &hooks, s, &s->session, err);
}

static void query_devices(struct slot *s)
{
	struct fw_err err = { 0 };
	s->phase = PHASE_QUERYING;
	s->has_hello = false;
	if (slot_open_session(s, "", &err) != 0)
		mark_down(s, err.text);
}

static void on_plan(void *arg, struct resolve_answer *a)
{
	struct slot *s = arg;
	struct fw_err err = { 0 };
	s->resolve = NULL;
	if (a->again) {
		s->host->hold(s->host->arg, s->job.repo);
		if (a->crashed)
			slot_count_attempt(s, a->why);
		else
			slot_finish_job(s, PENDING_WRITE_RELEASE, JOBSTATE_ON_WORKER_LOST, a->why);
		return;
	}
	if (a->state != JOBSTATE_N) {
		slot_finish_job(
			s, PENDING_WRITE_MOVE, a->state == JOBSTATE_CANCELLED ? JOBSTATE_ON_CANCEL : JOBSTATE_ON_FAIL, a->why);
		return;
	}
	s->plan = a->plan;
	plan_init(&a->plan);
	if (split_group_gather(s, &err) != 0) {
		slot_finish_job(s, PENDING_WRITE_RELEASE, JOBSTATE_ON_WORKER_LOST, err.text);
		return;
	}
	s->phase = PHASE_OPENING;
	if (s->session) {
		send_job(s, &s->hello);
	} else if (slot_open_session(s, "", &err) != 0) {
		s->is_suspect = true;
		slot_finish_job(s, PENDING_WRITE_RELEASE, JOBSTATE_ON_WORKER_LOST, err.text);
	}
}

static void begin_plan(struct slot *s)
{
	struct fw_err why = { 0 };
	s->state = jobstate_next(JOBSTATE_QUEUED, JOBSTATE_ON_ASSIGN);
	s->phase = PHASE_PLANNING;
	s->measures = false;
	progress_for(&s->progress, &s->job);
	int repo = config_repo_find(s->host->config, s->job.repo_name);
	if (resolve_for_device(s->host->loop, s->host->txn->db, s->host->config, &s->job, on_plan, s, &s->resolve, &why) != 0 ||
		config_repo_path(s->host->config, &s->host->config->repo[repo], s->repo_path, sizeof s->repo_path, &why) != 0)
		slot_finish_job(s, why.code == ERR_INTERNAL || why.code == ERR_IO ? PENDING_WRITE_RELEASE : PENDING_WRITE_MOVE,
			why.code == ERR_NOT_FOUND ? JOBSTATE_ON_TARGET_MISSING : JOBSTATE_ON_FAIL, why.text);
}

/* Start a health check or a job, first a job for the device that was `freed` ("" none). Returns 1 started, 0 no work, -1. */
static int start_work(struct slot *s, const char *freed, struct fw_err *err)
{
	const struct claim claim = make_claim(s);
	int got;
	if (s->worker->builds) {
		got = slot_claim_build(s, err);
		if (got == 1)
			begin_plan(s);
		else
			s->job.id = 0;
		return got;
	}
	got = *freed ? claim_job_on(&claim, freed, &s->device, &s->device_id, &s->job, err) : 0;
	if (got == 0) {
		got = claim_health_check(&claim, &s->device, &s->device_id, err);
		if (got == 1)
			slot_begin_health_check(s);
		if (got != 0)
			return got;
		got = claim_job_on(&claim, "", &s->device, &s->device_id, &s->job, err);
		if (got == 1 && s->phase == PHASE_FREE &&
			s->host->is_profile_resolved_now(s->host->arg, s->device.uuid, s->job.priority))
			got = 0; /* the queue tries again when it is resolved */
	}
	if (got == 1 && claim_mark_sent(s->host->txn, s->worker->name, &s->device, s->device_id, &s->job, err) != 0)
		got = -1;
	if (got != 1) {
		s->job.id = 0;
		s->device.uuid[0] = 0;
		return got;
	}
	begin_plan(s);
	return 1;
}

int slot_claim(struct slot *s, struct fw_err *err)
{
	if (s->phase != PHASE_IDLE_ALLOCATION && (s->phase != PHASE_FREE || config_worker_is_on_call(s->worker)))
		return 0;
	bool is_idle_allocation = s->phase == PHASE_IDLE_ALLOCATION;
	if (is_idle_allocation)
		slot_stop_idle_allocation(s);
	int got = start_work(s, "", err);
	if (is_idle_allocation && got == 1)
		*slot_backoff(s) = (struct backoff){ 0 };
	else if (is_idle_allocation)
		slot_restart_idle_allocation(s);
	return got < 0 ? -1 : 0;
}

/* The allocation started, or its job ended. Its device is known now: choose the next job for it. */
static void use_allocation(struct slot *s)
{
	struct fw_err err = { 0 };
	char freed[sizeof s->device.uuid] = "";
	if (s->phase == PHASE_WAITING)
		s->allocated_ns = clock_mono_ns();
	else
		memcpy(freed, s->device.uuid, sizeof freed);
	clear_job(s);
	bool has_space = s->host->has_space(s->host->arg);
	int got = has_space ? start_work(s, freed, &err) : 0;
	if (got < 0)
		log_error("job.claim", "err=%s", log_quote(err.text));
	if (got == 1) {
		*slot_backoff(s) = (struct backoff){ 0 };
	} else if (got == 0 && has_space && !s->worker->builds) {
		slot_keep_idle_allocation(s);
	} else {
		s->n_backoff = 1;
		s->phase = PHASE_LEAVING;
		session_cancel(s->session);
	}
}

int slot_submit(struct slot *s, const struct slot_request *request, struct fw_err *err)
{
	s->phase = PHASE_WAITING;
	s->request = *request;
	s->wait_id[0] = s->wait_why[0] = 0;
	s->wait_position = 0;
	if (slot_open_session(s, s->request.node, err) == 0)
		return 0;
	mark_down(s, err->text);
	return -1;
}

struct slot *slot_new(const struct slot_host *host, const struct config_worker *w, int index)
{
	struct slot *s = mem_alloc_zero(1, sizeof *s);
	s->host = host;
	s->worker = w;
	s->index = index;
	plan_init(&s->plan);
	progress_init(&s->progress, host->loop, host->txn);
	slot_set_timer(s, 0, on_retry);
	return s;
}

struct slot *slot_new_concurrent(const struct slot *first, int index)
{
	struct slot *s = slot_new(first->host, first->worker, index);
	loop_remove(s->host->loop, s->timer);
	s->timer = NULL;
	s->hello = first->hello;
	s->has_hello = true;
	s->phase = PHASE_FREE;
	return s;
}

struct slot_request *slot_request(struct slot *s)
{
	return &s->request;
}

void slot_give_up(struct slot *s)
{
	if (s->phase != PHASE_WAITING)
		return;
	s->phase = PHASE_LEAVING; /* no longer counts as waiting */
	session_cancel(s->session);
}

void slot_free(struct slot *s)
{
	if (!s)
		return;
	split_group_forget(s);
	resolve_cancel(s->resolve);
	session_close(s->session);
	loop_remove(s->host->loop, s->timer);
	loop_remove(s->host->loop, s->job_timer);
	progress_end(&s->progress);
	plan_fini(&s->plan);
	result_free(s->result);
	free(s);
}
