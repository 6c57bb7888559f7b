/* queue.c - assignment of jobs. Jobs are resolved while others are measured, because identical commits need no worker. */
#include "flopwatchd/schedule/internal.h"

#include <sys/statvfs.h>

#include "flopwatchd/notify/notify.h"
#include "flopwatchd/record/record.h"

/* ---- unschedulable: A worker's devices are those of its last hello; a worker without a hello may have any. ---- */

enum { TEXT_BYTES = 1 << 20, WANT_SIZE = 512 };

struct headline {
	worker_unschedulable_fn *each;
	void *to;
};

static void write_devices(struct jsonw *j, const struct slot *s)
{
	enum device_kind kind = claim_kind(s->worker, &s->hello);
	for (int i = 0; i < s->hello.n_devices; i++)
		if (s->hello.device[i].kind == kind && claim_wants(s->worker, &s->hello.device[i]))
			jsonw_string(j, s->hello.device[i].uuid);
}

/* Describe why a slot's devices are unknown now; NULL if they are known. */
static const char *get_state(const struct slot *s)
{
	if (slot_is_down(s))
		return "down";
	if (config_worker_is_on_call(s->worker))
		return "on call";
	return s->has_hello ? NULL : "starting";
}

static void write_want(char want[WANT_SIZE], const struct find_unschedulable *row)
{
	if (*row->uuid)
		snprintf(want, WANT_SIZE, "device %s", row->uuid);
	else if (*row->model)
		snprintf(want, WANT_SIZE, "a device of the class %.150s%s%.100s%s%.150s", row->model,
			*row->driver ? ", driver " : "", row->driver, *row->toolkit ? ", " : "", row->toolkit);
	else if (*row->kind)
		snprintf(want, WANT_SIZE, "a device of kind %s", row->kind);
	else
		snprintf(want, WANT_SIZE, "a device");
}

static void report_job(void *arg, const struct find_unschedulable *row)
{
	struct headline *t = arg;
	char want[WANT_SIZE], why[2 * WANT_SIZE];
	write_want(want, row);
	if (*row->down)
		snprintf(why, sizeof why,
			"waits for %s, and worker %s, which may have it, is down: `flopwatch doctor` shows the cause (see "
			"doc/troubleshooting.md#no-device)",
			want, row->down);
	else
		snprintf(why, sizeof why,
			"waits for %s, which no worker has: add one that does to `workers`, or cancel the job (see "
			"doc/troubleshooting.md#no-device)",
			want);
	t->each(t->to, row->job, why);
}

/* Report each queued job (`job` 0: any) for which no slot of the host has a device, with the device it waits for and a remedy. */
static int unschedulable_each(
	const struct slot_host *host, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *err)
{
	struct headline t = { each, to };
	struct buf devices, workers;
	struct jsonw d, w;
	const struct slot *s;
	buf_init(&devices, TEXT_BYTES);
	buf_init(&workers, TEXT_BYTES);
	jsonw_init(&d, &devices);
	jsonw_init(&w, &workers);
	jsonw_array(&d);
	jsonw_array(&w);
	for (int i = 0; (s = host->nth_slot(host->arg, i)); i++) {
		if (s->worker->builds)
			continue;
		if (get_state(s))
			jsonw_format(&w, "{ name=%s kind=%s how=%s }", s->worker->name, device_kind_name(s->worker->device),
				get_state(s));
		else
			write_devices(&d, s);
	}
	jsonw_array_end(&d);
	jsonw_array_end(&w);
	int result = find_unschedulable(host->txn->db, devices.data, workers.data, job, report_job, &t, err);
	buf_fini(&devices);
	buf_fini(&workers);
	return result;
}

/* ---- queue ---- */

enum { RESOLVES_MAX = 4, PAUSE_FIRST_MS = 1000 /* doubled after each failure */, PAUSE_MAX_MS = 30000 };
static const unsigned long long disk_free_min_bytes = 64ULL << 20, disk_free_min_files = 500;

struct queue;

struct git_task {
	struct queue *queue;
	struct resolve *resolve;
	struct store_job job; /* id 0: free */
};

struct queue {
	bool device_waits; /* in this pass: the device waits for a profile that is being resolved */
	struct loop *loop;
	struct config *config;
	struct txn txn;
	struct slot_host host;
	struct executors *executors;
	int n_slots, slot_capacity;
	struct slot **slot; /* slots of one worker are adjacent */
	struct git_task git_task[RESOLVES_MAX];
	struct unresolved unresolved;
	struct loop_source *retry_timer, *turn_timer;
	int64_t pause_ms; /* delay before the next retry; 0: no recent failure */
	struct backoff backoff[CONFIG_WAYS_MAX];
	char held[512]; /* unreadable repositories, as a JSON array */
	bool is_draining, is_full;
	void (*drained)(void *arg);
	void *drained_arg;
};

static void resolve_more(struct queue *q);

static void on_retry(void *arg)
{
	struct queue *q = arg;
	q->retry_timer = NULL;
	unresolved_again(&q->unresolved);
	snprintf(q->held, sizeof q->held, "[]");
	queue_wake(q);
}

/* Process the whole queue again later, after a temporary failure. */
static void schedule_retry(struct queue *q)
{
	if (q->retry_timer)
		return;
	q->pause_ms = !q->pause_ms ? PAUSE_FIRST_MS : 2 * q->pause_ms < PAUSE_MAX_MS ? 2 * q->pause_ms : PAUSE_MAX_MS;
	loop_after(q->loop, q->pause_ms, on_retry, q, &q->retry_timer);
}

static void hold_repo(void *arg, int64_t repo)
{
	struct queue *q = arg;
	size_t n = strlen(q->held) - 1;
	char more[24];
	int len = snprintf(more, sizeof more, "%s%lld]", n > 1 ? "," : "", (long long)repo);
	if (n + (size_t)len < sizeof q->held) /* on overflow its jobs just fail again */
		memcpy(q->held + n, more, (size_t)len + 1);
	schedule_retry(q);
}

static const char *held(void *arg)
{
	return ((struct queue *)arg)->held;
}

static void log_failure(struct queue *q, const char *event, const struct fw_err *err)
{
	if (!q->txn.is_broken) /* already logged once */
		log_error(event, "err=%s", log_quote(err->text));
	schedule_retry(q);
}

static int store_commits(struct queue *q, const struct store_job *job, const struct resolve_answer *a, struct fw_err *err)
{
	if (a->target.sha[0] && store_commit_put(q->txn.db, job->repo, &a->target, err) != 0)
		return -1;
	if (a->n_upstream && store_upstream_put(q->txn.db, job->repo, (const char(*)[65])a->upstream, a->n_upstream,
				     a->n_upstream > GITREAD_PARENTS_MAX, err) != 0)
		return -1;
	if (a->n_range && store_range_put(q->txn.db, job->repo, a->plan.request.side[0].commit, a->plan.request.side[1].commit,
				  (const char(*)[65])a->range, a->n_range, err) != 0)
		return -1;
	if (a->files_json[0] && store_changed_files_put(q->txn.db, job->repo, a->plan.request.side[0].commit,
					a->plan.request.side[1].commit, a->files_json, a->n_files, err) != 0)
		return -1;
	return a->base.sha[0] ? store_commit_put(q->txn.db, job->repo, &a->base, err) : 0;
}

static int add_other_suites(
	struct queue *q, const struct store_job *job, const struct resolve_answer *a, int64_t now, struct fw_err *err)
{
	if (job->kind == JOBKIND_BISECT || job->kind == JOBKIND_PROFILE) /* these jobs are for one suite */
		return 0;
	for (int i = 1; i < a->n_suites; i++) {
		/* these are separate requests, perhaps about a commit measured long ago */
		bool own =
			job->kind == JOBKIND_CALIBRATE || jobkind_is_side_by_side(job->kind) || !strcmp(job->base_how, "given");
		int there = own ? 0 : store_job_covers(q->txn.db, job, a->suite[i], err);
		if (there < 0)
			return -1;
		struct store_job more = *job;
		snprintf(more.suite, sizeof more.suite, "%s", a->suite[i]);
		if (!there && store_job_insert(q->txn.db, &more, now, err) != 0)
			return -1;
	}
	return 0;
}

/* Mark this job pending on the forge and close the statuses of the jobs it supersedes. */
static int update_forge(struct queue *q, const struct store_job *job, const char *suite, int64_t now, struct fw_err *err)
{
	int at = config_repo_find(q->config, job->repo_name);
	if (at >= 0 && status_ended(q->txn.db, q->config, &q->config->repo[at], now, err) != 0)
		return -1;
	return status_job(q->txn.db, q->config, job, suite, JOBSTATE_QUEUED, "", now, err);
}

/* Store the peers to compare with when no job waits. */
static int store_peers(struct queue *q, const struct store_job *job, const struct peers *peers, struct fw_err *err)
{
	char text[PEERS_TEXT_SIZE];
	peers_write(peers, text);
	return text[0] ? store_peer_names(q->txn.db, job->id, text, err) : 0;
}

/* Store base, suite and plan. A job that named both, like those of a bisect, retains its kind. */
static int write_plan(struct queue *q, const struct store_job *job, bool is_named, struct resolve_answer *a, struct fw_err *err)
{
	const struct plan *p = &a->plan;
	enum jobkind kind = is_named ? job->kind : p->request.kind;
	if (store_job_resolve(q->txn.db, job->id, p->request.side[0].commit, p->base_how, kind, a->suite[0], err) != 0)
		return -1;
	if (!plan_needs_worker(p))
		return 0;
	return plan_store(q->txn.db, job->id, p, err) != 0 ? -1 : sources_put(q->txn.db, job->id, p, err);
}

static int write_resolved(struct queue *q, const struct store_job *job, struct resolve_answer *a, int64_t now, struct fw_err *err)
{
	struct plan *p = &a->plan;
	char line[512];
	int superseded;
	const char *base = p->request.side[0].commit;
	bool is_named = job->base_sha[0] && job->base_how[0] && job->suite[0];
	if (write_plan(q, job, is_named, a, err) != 0)
		return -1;
	if (is_named) /* nothing new to report */
		return 0;
	if (store_peers(q, job, &a->peers, err) != 0 || add_other_suites(q, job, a, now, err) != 0 ||
		(!strcmp(job->origin, "push") && store_job_supersede(q->txn.db, job->id, now, &superseded, err) != 0) ||
		update_forge(q, job, a->suite[0], now, err) != 0)
		return -1;
	const char *by = p->request.side[0].provider;
	snprintf(line, sizeof line, "base %.12s (%s)%s%s, suite %s from %.200s", base, p->base_how, by[0] ? " by " : "", by,
		a->suite[0], p->suite_origin);
	if (store_job_log(q->txn.db, job->id, now, line, err) != 0)
		return -1;
	return store_job_report(q->txn.db, job, "job.resolved", JOBSTATE_QUEUED, NULL, now, err);
}

static int write_answer(
	struct queue *q, const struct store_job *job, struct resolve_answer *a, struct judge_outcome *outcome, struct fw_err *err)
{
	int64_t profile, now = clock_utc_ms();
	bool is_ours = a->again && !(a->crashed && !strcmp(job->state_why, a->why));
	if (is_ours)
		return job_wait(&q->txn, job, a->why, now, err);
	if (store_commits(q, job, a, err) != 0)
		return -1;
	if (a->note[0] && store_job_log(q->txn.db, job->id, now, a->note, err) != 0)
		return -1;
	if (!a->again && plan_alerts(q->txn.db, q->config, job, a, now, err) != 0)
		return -1;
	if (a->state != JOBSTATE_N)
		return job_move(&q->txn, job, a->state, a->why, now, err);
	if (write_resolved(q, job, a, now, err) != 0)
		return -1;
	a->plan.request.job = job->id;
	if (plan_needs_worker(&a->plan))
		return 0;
	if (job->kind == JOBKIND_PROFILE)
		return profile_unrun(q->txn.db, q->config, &a->plan, now, &profile, err);
	return judge_unrun(q->txn.db, q->config, &a->plan, now, outcome, err);
}

static void on_answer(void *arg, struct resolve_answer *a)
{
	struct git_task *e = arg;
	struct queue *q = e->queue;
	struct store_job job = e->job;
	struct judge_outcome outcome = { 0 };
	struct fw_err err = { 0 };
	bool is_judged = a->state == JOBSTATE_N && !plan_needs_worker(&a->plan) && job.kind != JOBKIND_PROFILE;
	e->resolve = NULL;
	e->job.id = 0;
	if (a->again) {
		unresolved_pass(&q->unresolved, job.id);
		schedule_retry(q);
	} else {
		q->pause_ms = 0;
	}
	if (txn_begin(&q->txn, &err) != 0 || txn_end(&q->txn, write_answer(q, &job, a, &outcome, &err), &err) != 0) {
		if (err.code != ERR_CONFLICT) { /* otherwise superseded or cancelled meanwhile */
			unresolved_pass(&q->unresolved, job.id);
			log_failure(q, "job.resolve", &err);
		}
	} else if (is_judged) {
		log_info("job.done", "job=%lld repo=%s branch=%s comparison=%lld verdict=%s", (long long)job.id,
			log_quote(job.repo_name), log_quote(job.branch), (long long)outcome.comparison,
			verdict_name(outcome.verdict));
	}
	queue_wake(q);
}

static void begin_git_task(struct queue *q, struct git_task *e)
{
	struct fw_err err = { 0 }, failed = { 0 };
	e->queue = q;
	if (resolve_start(q->loop, q->txn.db, q->config, &e->job, on_answer, e, &e->resolve, &err) == 0)
		return;
	unresolved_pass(&q->unresolved, e->job.id);
	if (err.code != ERR_NOT_FOUND)
		log_failure(q, "job.resolve", &err);
	else if (job_move_now(&q->txn, &e->job, JOBSTATE_TARGET_MISSING, err.text, &failed) != 0)
		log_failure(q, "job.resolve", &failed);
	e->job.id = 0;
}

static void resolve_more(struct queue *q)
{
	struct fw_err err = { 0 };
	for (int i = 0; i < RESOLVES_MAX; i++) {
		struct git_task *e = &q->git_task[i];
		while (!e->job.id) {
			int64_t busy[RESOLVES_MAX];
			struct store_job job;
			for (int k = 0; k < RESOLVES_MAX; k++)
				busy[k] = q->git_task[k].job.id;
			int got = unresolved_next(&q->unresolved, q->txn.db, busy, RESOLVES_MAX, &job, &err);
			if (got < 0)
				log_failure(q, "queue.read", &err);
			if (got != 1)
				return;
			e->job = job;
			begin_git_task(q, e);
		}
	}
}

static bool is_disk_full(struct queue *q)
{
	struct statvfs fs;
	return statvfs(q->config->state_dir, &fs) == 0 && ((unsigned long long)fs.f_bavail * fs.f_frsize < disk_free_min_bytes ||
								  (fs.f_files && fs.f_favail < disk_free_min_files));
}

static bool has_space(void *arg)
{
	return !is_disk_full(arg);
}

static bool is_profile_resolved_now(void *arg, const char *uuid, int priority)
{
	struct queue *q = arg;
	for (int i = 0; i < RESOLVES_MAX; i++) {
		const struct store_job *job = &q->git_task[i].job;
		if (job->id && job->kind == JOBKIND_PROFILE && job->priority > priority &&
			(!job->device_uuid[0] || strcmp(job->device_uuid, uuid) == 0)) {
			q->device_waits = true;
			return true;
		}
	}
	return false;
}

/* Own: the queue takes `s`. */
static void insert_slot(struct queue *q, int at, struct slot *s)
{
	if (q->n_slots == q->slot_capacity) {
		q->slot_capacity = q->slot_capacity ? 2 * q->slot_capacity : 16;
		q->slot = mem_grow(q->slot, (size_t)q->slot_capacity, sizeof *q->slot);
	}
	memmove(q->slot + at + 1, q->slot + at, (size_t)(q->n_slots - at) * sizeof *q->slot);
	q->slot[at] = s;
	q->n_slots++;
}

/* Give a worker as many slots as it reported devices. A device that is gone leaves its slot idle. */
static void add_slots(struct queue *q)
{
	for (int first = 0, last; first < q->n_slots; first = last) {
		for (last = first + 1; last < q->n_slots && slot_worker(q->slot[last]) == slot_worker(q->slot[first]);)
			last++;
		for (; last - first < slot_devices(q->slot[first]); last++)
			insert_slot(q, last, slot_new_concurrent(q->slot[first], last - first));
	}
}

static void claim_all(struct queue *q)
{
	struct fw_err err = { 0 };
	bool was_full = q->is_full;
	q->is_full = is_disk_full(q);
	if (q->is_full && !was_full)
		log_error("disk.full", "dir=%s free_below_mib=%llu or_files=%llu err=\"no job begins before space is freed\"",
			log_quote(q->config->state_dir), disk_free_min_bytes >> 20, disk_free_min_files);
	if (q->is_full) {
		submit_none(&q->host);
		schedule_retry(q);
		return;
	}
	q->device_waits = false;
	for (int i = 0; i < q->n_slots; i++)
		if (slot_claim(q->slot[i], &err) != 0) {
			log_failure(q, "job.claim", &err);
			err_clear(&err);
		}
	if (submit_all(&q->host, &err) != 0)
		log_failure(q, "job.submit", &err);
}

/* Preempt one job at a time, and none while another slot is about to be free, which may be enough. */
static void preempt_job(struct queue *q)
{
	struct fw_err err = { 0 };
	int made = 0;
	if (q->device_waits) /* that device may take the job that waits here */
		return;
	for (int i = 0; i < q->n_slots; i++)
		if (slot_is_leaving(q->slot[i]))
			return;
	for (int i = 0; i < q->n_slots && made == 0; i++)
		made = slot_preempt(q->slot[i], &err);
	if (made < 0)
		log_failure(q, "queue.read", &err);
}

static void assign_jobs(void *arg)
{
	struct queue *q = arg;
	q->turn_timer = NULL;
	if (q->is_draining) {
		for (int i = 0; i < q->n_slots; i++)
			if (slot_is_busy(q->slot[i]))
				return;
		if (q->drained)
			q->drained(q->drained_arg);
		q->drained = NULL;
		return;
	}
	resolve_more(q);
	add_slots(q);
	claim_all(q);
	preempt_job(q);
}

/* Work starts only from the loop, never inside the caller. */
void queue_wake(struct queue *q)
{
	if (!q->turn_timer)
		loop_after(q->loop, 0, assign_jobs, q, &q->turn_timer);
}

static void slot_changed(void *arg)
{
	queue_wake(arg);
}

static bool device_is_taken(void *arg, const char *uuid)
{
	struct queue *q = arg;
	for (int i = 0; i < q->n_slots; i++)
		if (!strcmp(slot_device(q->slot[i]), uuid))
			return true;
	return false;
}

static struct slot *nth_slot(void *arg, int n)
{
	struct queue *q = arg;
	return n < q->n_slots ? q->slot[n] : NULL;
}

int queue_start(struct loop *l, struct config *c, struct db *db, void (*on_event)(void *arg), void *arg, struct queue **out,
	struct fw_err *err)
{
	struct queue *q = mem_alloc_zero(1, sizeof *q);
	q->loop = l;
	q->config = c;
	q->txn = (struct txn){ .db = db, .config = c, .on_event = on_event, .arg = arg };

	snprintf(q->held, sizeof q->held, "[]");
	unresolved_init(&q->unresolved);
	q->executors = executors_new(l, c);
	q->host = (struct slot_host){ q->executors, l, c, &q->txn, q, slot_changed, device_is_taken, nth_slot, hold_repo, held,
		has_space, is_profile_resolved_now, q->backoff };
	for (int i = 0; i < c->n_workers; i++) {
		/* other workers report their devices */
		int n = config_worker_is_on_call(&c->worker[i]) ? c->worker[i].max_jobs : 1;
		for (int k = 0; k < n; k++)
			insert_slot(q, q->n_slots, slot_new(&q->host, &c->worker[i], c->worker[i].builds ? n + k : k));
	}
	if (devices_mark_unconfigured(&q->txn, clock_utc_ms(), err) != 0) {
		queue_stop(q);
		return -1;
	}
	queue_wake(q);
	*out = q;
	return 0;
}

int queue_cancel(struct queue *q, int64_t job, const char *why, struct fw_err *err)
{
	struct store_job row;
	if (store_job_get(q->txn.db, job, &row, err) != 0)
		return -1;
	for (int i = 0; i < q->n_slots; i++)
		if (slot_job(q->slot[i]) == job &&
			!slot_is_leaving(q->slot[i])) /* a job that a slot is leaving may already run elsewhere */
			return slot_cancel(q->slot[i], why, err);
	if (jobstate_is_final(row.state))
		return err_set(err, ERR_CONFLICT, "J%lld has ended already: %s", (long long)job, jobstate_name(row.state));
	return job_move_now(&q->txn, &row, jobstate_next(row.state, JOBSTATE_ON_CANCEL), why, err);
}

static void cancel_resolves(struct queue *q)
{
	for (int i = 0; i < RESOLVES_MAX; i++) {
		resolve_cancel(q->git_task[i].resolve);
		q->git_task[i].resolve = NULL;
		q->git_task[i].job.id = 0;
	}
}

void queue_forget_plans(struct queue *q)
{
	cancel_resolves(q);
	for (int i = 0; i < q->n_slots; i++)
		slot_release_plan(q->slot[i], "the configuration was reloaded");
	unresolved_again(&q->unresolved);
}

void queue_drain(struct queue *q, void (*done)(void *arg), void *arg)
{
	q->is_draining = true;
	q->drained = done;
	q->drained_arg = arg;
	cancel_resolves(q);
	for (int i = 0; i < q->n_slots; i++)
		slot_release(q->slot[i], "the daemon was stopped");
	queue_wake(q);
}

void queue_stop(struct queue *q)
{
	if (!q)
		return;
	cancel_resolves(q);
	for (int i = 0; i < q->n_slots; i++)
		slot_free(q->slot[i]);
	executors_free(q->executors);
	unresolved_fini(&q->unresolved);
	free(q->slot);
	loop_remove(q->loop, q->retry_timer);
	loop_remove(q->loop, q->turn_timer);
	free(q);
}

int queue_health(struct queue *q, struct fw_err *err)
{
	if (!txn_is_well(&q->txn))
		return err_set(err, q->txn.why.code, "the database cannot be written: %s", q->txn.why.text);
	if (is_disk_full(q)) /* now, not at the last claim: nothing else may have happened since */
		return err_set(err, ERR_FULL,
			"less than %llu MiB or %llu files are free in %s (see doc/troubleshooting.md#disk-full)",
			disk_free_min_bytes >> 20, disk_free_min_files, q->config->state_dir);
	return 0;
}

void queue_workers(const struct queue *q, worker_status_fn *each, void *to)
{
	for (int i = 0; i < q->n_slots; i++) {
		struct worker_status w;
		slot_report(q->slot[i], &w);
		each(to, &w);
	}
}

int queue_unschedulable(const struct queue *q, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *err)
{
	return unschedulable_each(&q->host, job, each, to, err);
}

bool queue_measures(const struct queue *q, enum device_kind kind)
{
	for (int i = 0; i < q->n_slots; i++)
		if (slot_measures(q->slot[i], kind))
			return true;
	return q->n_slots == 0;
}

struct txn *queue_txn(struct queue *q)
{
	return &q->txn;
}
