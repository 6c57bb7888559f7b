/* idle.c - a periodic check of the queue, which adds a little work if it is empty. */
#include "flopwatchd/internal.h"

#include "flopwatchd/history/history.h"
#include "flopwatchd/record/record.h"

enum { CHECK_MIN_MS = 1000, CHECK_MAX_MS = 10000, PRIORITY_IDLE = -20 };

struct idle {
	struct loop *loop;
	const struct config *config;
	struct txn *txn;
	void (*wake)(void *arg);
	void *arg;
	struct loop_source *timer;
};

/** True if no job waits for the device and its last calibration is old enough. 1, 0, -1. */
static int is_due(const struct config *c, struct db *db, int64_t repo, const char *uuid, int64_t now_ms, struct fw_err *err)
{
	int64_t requested;
	int wanted = store_job_needs_device(db, uuid, err);
	if (wanted)
		return wanted < 0 ? -1 : 0;
	if (store_calibration_requested(db, repo, uuid, &requested, err))
		return -1;
	return !requested || now_ms - requested >= c->calibrate_every_ms;
}

/** Queue the reference commit of the device's class, to detect a device offset. Returns the number, -1. */
static int queue_reference(
	struct db *db, int64_t repo, const struct store_baseline_period_device *d, int64_t now_ms, struct fw_err *err)
{
	struct store_baseline_period e;
	struct store_job job = { .repo = repo, .kind = JOBKIND_REFERENCE, .origin = "idle", .priority = PRIORITY_IDLE };
	int found = store_baseline_period_of_class(db, repo, d->class, &e, err);
	if (found < 1)
		return found;
	snprintf(job.target_sha, sizeof job.target_sha, "%s", e.reference_sha);
	snprintf(job.base_sha, sizeof job.base_sha, "%s", e.reference_sha);
	snprintf(job.base_how, sizeof job.base_how, "given");
	snprintf(job.suite, sizeof job.suite, "%s", e.suite);
	snprintf(job.device_uuid, sizeof job.device_uuid, "%s", d->uuid);
	return store_job_insert(db, &job, now_ms, err) ||
			       store_job_log(db, job.id, now_ms,
				       "queued: the reference commit, to compare this device with its class", err)
		       ? -1
		       : 1;
}

/** Queue the due calibration and reference commit of one device. Returns the number, -1. */
static int calibrate_device(const struct config *c, const struct config_repo *repo, int64_t id,
	const struct store_baseline_period_device *d, struct db *db, int64_t now_ms, struct fw_err *err)
{
	struct store_job job = { .repo = id, .origin = "idle", .priority = PRIORITY_IDLE };
	if (!c->calibrate_idle && !d->is_outlier)
		return 0;
	int due = is_due(c, db, id, d->uuid, now_ms, err);
	if (due != 1)
		return due;
	bool is_recently_calibrated =
		d->is_alone || (d->last_reference_at && now_ms - d->last_reference_at < c->calibrate_every_ms);
	int queued = is_recently_calibrated ? 0 : queue_reference(db, id, d, now_ms, err);
	if (queued < 0)
		return -1;
	snprintf(job.device_uuid, sizeof job.device_uuid, "%s", d->uuid);
	if (calibrate_enqueue(db, repo->upstream, &job, now_ms, err) == 0)
		return queued + 1;
	if (err->code != ERR_NOT_FOUND)
		return -1;
	err_clear(err); /* the branch does not exist yet: nothing to measure */
	return queued;
}

/** Queue the due calibrations of one repository. Returns the number, -1. */
static int calibrate_repo(
	const struct config *c, const struct config_repo *repo, int64_t id, struct db *db, int64_t now_ms, struct fw_err *err)
{
	struct store_baseline_period_device *device;
	int queued = 0, devices = store_baseline_period_devices(db, id, &device, err);
	for (int i = 0; i < devices && queued >= 0; i++) {
		int n = calibrate_device(c, repo, id, &device[i], db, now_ms, err);
		queued = n < 0 ? -1 : queued + n;
	}
	free(device);
	return devices < 0 ? -1 : queued;
}

/** Queue a repository's share of the current off-peak period before any repository gets more. Returns the number, -1. */
static int queue_off_peak_share(
	const struct config *c, const struct config_repo *repo, struct db *db, int64_t now_ms, struct fw_err *err)
{
	int64_t id = 0;
	int found = store_repo_find(db, repo->name, &id, err);
	return found == 1 ? off_peak_enqueue_due(db, c, repo, id, true, now_ms, err) : found;
}

/** Queue peer comparisons before off-peak jobs and calibrations, which repeat. Returns the number, -1. */
static int queue_for_repo(
	const struct config *c, const struct config_repo *repo, struct db *db, int64_t now_ms, struct fw_err *err)
{
	int64_t id = 0;
	int found = store_repo_find(db, repo->name, &id, err);
	int queued = found == 1 ? peerjobs_enqueue_due(db, repo, id, now_ms, err) : found;
	if (queued == 0 && found == 1)
		queued = off_peak_enqueue_due(db, c, repo, id, false, now_ms, err);
	if (queued != 0)
		return queued;
	return calibrate_repo(c, repo, id, db, now_ms, err);
}

/** Called inside a transaction. Returns the number of jobs, -1. */
static int queue_all(const struct config *c, struct db *db, int64_t now_ms, struct fw_err *err)
{
	int queued = retry_queue_due(db, c, now_ms, err);
	if (queued < 0 || trend_resume(db, c, now_ms, err))
		return -1;
	for (int i = 0; i < c->n_repos; i++) {
		int n = queue_off_peak_share(c, &c->repo[i], db, now_ms, err);
		if (n < 0)
			return -1;
		queued += n;
	}
	for (int i = 0; i < c->n_repos; i++) {
		int n = queue_for_repo(c, &c->repo[i], db, now_ms, err);
		if (n < 0)
			return -1;
		queued += n;
	}
	return queued;
}

int idle_step(const struct config *c, struct txn *txn, int64_t now_ms, struct fw_err *err)
{
	if (txn_begin(txn, err) != 0)
		return -1;
	int queued = queue_all(c, txn->db, now_ms, err);
	return txn_end(txn, queued < 0 ? -1 : 0, err) != 0 ? -1 : queued;
}

static void schedule(struct idle *i);

static void on_timer(void *arg)
{
	struct idle *i = arg;
	struct fw_err err = { 0 };
	i->timer = NULL;
	if (idle_step(i->config, i->txn, clock_utc_ms(), &err) < 0 && !i->txn->is_broken)
		log_warning("idle", "err=%s", log_quote(err.text));
	i->wake(i->arg);
	schedule(i);
}

static void schedule(struct idle *i)
{
	int64_t wait_ms = i->config->calibrate_idle ? i->config->calibrate_every_ms / 4 : CHECK_MAX_MS;
	int64_t since_ms;
	if (off_peak_is_now(i->config, clock_utc_ms(), &since_ms)) /* shards follow one another */
		wait_ms = CHECK_MIN_MS;
	wait_ms = wait_ms < CHECK_MIN_MS ? CHECK_MIN_MS : wait_ms > CHECK_MAX_MS ? CHECK_MAX_MS : wait_ms;
	loop_after(i->loop, wait_ms, on_timer, i, &i->timer);
}

struct idle *idle_start(struct loop *l, const struct config *c, struct txn *txn, void (*wake)(void *arg), void *arg)
{
	struct idle *i = mem_alloc_zero(1, sizeof *i);
	*i = (struct idle){ .loop = l, .config = c, .txn = txn, .wake = wake, .arg = arg };
	schedule(i);
	return i;
}

void idle_stop(struct idle *i)
{
	if (!i)
		return;
	loop_remove(i->loop, i->timer);
	free(i);
}
