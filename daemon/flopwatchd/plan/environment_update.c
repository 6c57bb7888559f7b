#include "flopwatchd/plan/internal.h"

#include "flopwatchd/alert/alert.h"

/* ---- environment_retry ---- */

/* Queue another job like a failed one. Returns 1 and its id, 0 it did not fail or failed too often, -1. */
static int queue_again(
	struct db *db, const struct store_environment_change *change, int64_t of, int64_t now_ms, int64_t *id, struct fw_err *err)
{
	struct store_job job;
	char why[96];
	int tries;
	if (store_job_get(db, of, &job, err))
		return -1;
	if (job.state != JOBSTATE_FAILED)
		return 0;
	if (store_environment_change_tries(db, change, &job, &tries, err))
		return -1;
	if (tries >= ENVIRONMENT_TRIES)
		return 0;
	snprintf(why, sizeof why, "queued: J%lld for this environment change failed", (long long)of);
	job.plan = 0;
	if (store_job_insert(db, &job, now_ms, err) || store_job_log(db, job.id, now_ms, why, err) ||
		store_job_report(db, &job, "job.queued", JOBSTATE_QUEUED, NULL, now_ms, err))
		return -1;
	log_info("environment.again", "job=%lld after=%lld", (long long)job.id, (long long)of);
	*id = job.id;
	return 1;
}

/* Queue the change's failed jobs again, unless they failed ENVIRONMENT_TRIES times. *n counts the queued jobs. */
static int environment_retry(
	struct db *db, const struct store_environment_change *change, int64_t now_ms, int *n, struct fw_err *err)
{
	struct store_environment_change next = *change;
	int paired = change->paired || !change->paired_job
			     ? 0
			     : queue_again(db, change, change->paired_job, now_ms, &next.paired_job, err);
	int unpaired = paired < 0 || change->unpaired || !change->unpaired_job
			       ? 0
			       : queue_again(db, change, change->unpaired_job, now_ms, &next.unpaired_job, err);
	if (paired < 0 || unpaired < 0)
		return -1;
	*n += paired + unpaired;
	return paired + unpaired ? store_environment_change_request(db, &next, err) : 0;
}

static int end_queued(struct db *db, int64_t id, const char *why, int64_t now_ms, struct fw_err *err)
{
	struct store_job job;
	if (!id)
		return 0;
	if (store_job_get(db, id, &job, err))
		return -1;
	if (job.state != JOBSTATE_QUEUED)
		return 0;
	return store_job_state(db, id, JOBSTATE_CANCELLED, why, now_ms, err) ||
			       store_job_report_state(db, &job, JOBSTATE_CANCELLED, why, now_ms, err)
		       ? -1
		       : 0;
}

/* Cancel the queued jobs of a change that was undone before it was fully measured; a recurrence queues them again. */
static int environment_over(
	struct db *db, const struct store_environment_change *change, const char *why, int64_t now_ms, struct fw_err *err)
{
	return end_queued(db, change->paired_job, why, now_ms, err) || end_queued(db, change->unpaired_job, why, now_ms, err) ||
			       store_environment_change_missed(db, change->id, err)
		       ? -1
		       : 0;
}

int environment_cancel_jobs(struct db *db, const char *uuid, const char *why, int64_t now_ms, struct fw_err *err)
{
	struct store_environment_change change;
	int found;
	while ((found = store_environment_change_undone(db, uuid, &change, err)) == 1)
		if (environment_over(db, &change, why, now_ms, err))
			return -1;
	return found;
}

/* ---- environment_update ---- */

enum { PRIORITY_ENVIRONMENT = -1, VERSION_SIZE = 256 };

#define ORIGIN "environment"

/* Find the version of a compiler in a toolchain's text, "12.2.0" of "nvcc 13.0.88 gcc 12.2.0". Shape: out[VERSION_SIZE]. */
static void find_version(const char *toolkit, const char *compiler, char *out)
{
	size_t n = strlen(compiler);
	out[0] = 0;
	for (const char *word = toolkit; *word; word += strspn(word, " ")) {
		size_t len = strcspn(word, " ");
		if (len == n && strncmp(word, compiler, n) == 0 && word[len]) {
			snprintf(out, VERSION_SIZE, "%.*s", (int)strcspn(word + len + 1, " "), word + len + 1);
			return;
		}
		if (len == 2 && strncmp(word, "in", 2) == 0) /* a folder follows, not a version */
			return;
		word += len;
	}
}

static void find_folder(const char *toolkit, char *out)
{
	const char *in = strstr(toolkit, " in ");
	snprintf(out, VERSION_SIZE, "%s", in ? in + 4 : "");
}

struct difference {
	struct jsonw j;
	struct buf text; /* JSON */
	bool is_built, affects_runs;
};

static bool add_difference(struct difference *d, const char *what, const char *from, const char *to)
{
	if (strcmp(from, to) == 0)
		return false;
	jsonw_format(&d->j, "{ what=%s from?=%s to?=%s }", what, from, to);
	return true;
}

static void write_power(double power_w, char *out)
{
	snprintf(out, VERSION_SIZE, power_w > 0 ? "%.0f W" : "", power_w);
}

static void write_cache(const struct msg_device *d, char *out)
{
	int64_t bytes = store_cache_bytes(d);
	snprintf(out, VERSION_SIZE, bytes ? "%.6g MiB" : "", (double)bytes / (1 << 20));
}

static void compare_compiler(struct difference *d, const char *name, const struct msg_device *was, const struct msg_device *is)
{
	char from[VERSION_SIZE], to[VERSION_SIZE];
	find_version(was->toolkit, name, from);
	find_version(is->toolkit, name, to);
	if (strcmp(name, "ptxas") == 0 && (from[0] || to[0])) { /* named only if it is not nvcc's */
		if (!from[0])
			find_version(was->toolkit, "nvcc", from);
		if (!to[0])
			find_version(is->toolkit, "nvcc", to);
	}
	add_difference(d, name, from, to);
}

/* A rebuild shows compiler changes; only later times show driver changes. A library may be linked in or loaded at run time. */
static void compare_environments(struct difference *d, const struct msg_device *was, const struct msg_device *is)
{
	char from[VERSION_SIZE], to[VERSION_SIZE];
	compare_compiler(d, "nvcc", was, is);
	compare_compiler(d, "ptxas", was, is);
	compare_compiler(d, "gcc", was, is);
	find_folder(was->toolkit, from);
	find_folder(is->toolkit, to);
	add_difference(d, "toolchain", from, to);
	d->is_built = strcmp(was->toolkit, is->toolkit) != 0;
	bool is_library = add_difference(d, "cuDNN", was->cudnn, is->cudnn);
	is_library = add_difference(d, "cuBLAS", was->cublas, is->cublas) || is_library;
	is_library = add_difference(d, "image", was->image, is->image) || is_library;
	d->is_built = d->is_built || is_library;
	bool is_machine = add_difference(d, "driver", was->driver, is->driver);
	is_machine = add_difference(d, "VBIOS", was->vbios, is->vbios) || is_machine;
	write_power(was->power_limit_w, from);
	write_power(is->power_limit_w, to);
	is_machine = add_difference(d, "power limit", from, to) || is_machine;
	write_cache(was, from);
	write_cache(is, to);
	is_machine = add_difference(d, "cache", from, to) || is_machine;
	is_machine = add_difference(d, "device", was->uuid, is->uuid) || is_machine;
	d->affects_runs = is_library || is_machine;
}

static int queue_job(struct db *db, struct store_job *job, const struct store_current_baseline *t, const char *uuid,
	const char *sha, const char *why, int64_t now_ms, struct fw_err *err)
{
	job->repo = t->repo;
	job->priority = PRIORITY_ENVIRONMENT;
	snprintf(job->origin, sizeof job->origin, ORIGIN);
	snprintf(job->base_how, sizeof job->base_how, "given");
	snprintf(job->base_sha, sizeof job->base_sha, "%s", sha);
	snprintf(job->target_sha, sizeof job->target_sha, "%s", sha);
	snprintf(job->suite, sizeof job->suite, "%s", t->suite);
	snprintf(job->device_uuid, sizeof job->device_uuid, "%s", uuid);
	return store_job_insert(db, job, now_ms, err) || store_job_log(db, job->id, now_ms, why, err) ||
			       store_job_report(db, job, "job.queued", JOBSTATE_QUEUED, NULL, now_ms, err)
		       ? -1
		       : 0;
}

/* Compare the newest judged commit with its old module. No effect if no module is cached: a benchmark has none. */
static int queue_paired(
	struct db *db, const struct store_current_baseline *t, const char *uuid, int64_t now_ms, int64_t *id, struct fw_err *err)
{
	struct store_job job = { .kind = JOBKIND_ENVIRONMENT };
	struct store_judged judged;
	int found = store_environment_judged(db, t->repo, t->environment, &judged, err);
	if (found < 1)
		return found;
	if (strlen(judged.module) != 64)
		return 0;
	snprintf(job.base_tools.module, sizeof job.base_tools.module, "%s", judged.module);
	snprintf(job.base_tools.made_by, sizeof job.base_tools.made_by, "%s", judged.toolchain);
	if (queue_job(db, &job, t, uuid, judged.sha,
		    "queued: its toolchain changed, so a rebuild is compared with its old module", now_ms, err))
		return -1;
	*id = job.id;
	return 0;
}

static const char as_before[] = "the environment is as it was before";

/* Resolve alerts of changes that were undone, including intermediate ones and one whose reference commit was not timed yet. */
static int resolve_undone(struct db *db, const struct config *config, const struct store_environment_change *change,
	int64_t now_ms, struct fw_err *err)
{
	int64_t alert;
	int found;
	while ((found = store_environment_change_reported(db, change, &alert, err)) == 1)
		if (alert_resolve(db, config, alert, 0, as_before, now_ms, err))
			return -1;
	return found;
}

/* List the differences between the stored environment and the device. Returns false if there is no named difference. */
static bool list_differences(
	const struct msg_device *recorded, const struct msg_device *d, struct store_environment_change *change, bool *is_built)
{
	struct difference difference = { .is_built = false };
	buf_init(&difference.text, sizeof change->changed - 1);
	jsonw_init(&difference.j, &difference.text);
	jsonw_array(&difference.j);
	compare_environments(&difference, recorded, d);
	jsonw_array_end(&difference.j);
	buf_require_memory(&difference.text);
	snprintf(change->changed, sizeof change->changed, "%s", difference.text.failed ? "[]" : difference.text.data);
	buf_fini(&difference.text);
	change->affects_runs = difference.affects_runs;
	*is_built = difference.is_built;
	return difference.is_built || difference.affects_runs;
}

/* Take over measurements from devices that cannot run them now. */
static int take_over(struct db *db, const struct store_environment_change *change, int64_t now_ms, struct fw_err *err)
{
	char uuid[64], why[256];
	int stuck;
	while ((stuck = store_environment_change_stuck(db, change, uuid, err)) == 1) {
		snprintf(why, sizeof why, "device %s is not in state ok, and %s measures the change", uuid, change->uuid);
		if (environment_cancel_jobs(db, uuid, why, now_ms, err))
			return -1;
	}
	return stuck;
}

static bool is_unfinished(const struct store_environment_change *c)
{
	return c->new_hash[0] && (!c->unpaired || (c->paired_job && !c->paired));
}

static int check_device(struct db *db, const struct config *config, const struct store_current_baseline *t,
	const struct msg_device *d, int64_t now_ms, int *n, struct fw_err *err)
{
	struct store_environment_change last,
		change = { .repo = t->repo, .baseline_period = t->baseline_period, .seen_at = now_ms };
	struct store_job reference = { .kind = JOBKIND_REFERENCE };
	struct msg_device recorded = t->recorded;
	bool is_built;
	if (!recorded.l2_bytes || !d->l2_bytes) /* not known, so it is no change */
		recorded.l2_bytes = d->l2_bytes;
	store_device_fingerprint(&recorded, change.old_hash);
	store_device_fingerprint(d, change.new_hash);
	int known = store_environment_change_last(db, t->repo, t->suite, d->uuid, &last, err);
	if (known < 0)
		return -1;
	if (known && strcmp(last.new_hash, change.new_hash) == 0) /* it is or was being measured, or that failed */
		return environment_retry(db, &last, now_ms, n, err);
	snprintf(change.suite, sizeof change.suite, "%s", t->suite);
	snprintf(change.uuid, sizeof change.uuid, "%s", d->uuid);
	if (known && resolve_undone(db, config, &change, now_ms, err))
		return -1;
	if (strcmp(change.old_hash, change.new_hash) == 0)
		return known && is_unfinished(&last) && strcmp(last.old_hash, change.new_hash) == 0
			       ? environment_over(db, &last, as_before, now_ms, err)
			       : 0;
	if (!list_differences(&recorded, d, &change, &is_built))
		return 0;
	int elsewhere = store_environment_change_elsewhere(db, &change, err);
	if (elsewhere)
		return elsewhere < 0 ? -1 : 0;
	if (take_over(db, &change, now_ms, err))
		return -1;
	if ((is_built && queue_paired(db, t, d->uuid, now_ms, &change.paired_job, err)) ||
		queue_job(db, &reference, t, d->uuid, t->reference_sha,
			"queued: its environment changed, so the reference commit is measured again", now_ms, err))
		return -1;
	change.unpaired_job = reference.id;
	*n += change.paired_job ? 2 : 1;
	log_info("environment.changed", "device=%s suite=%s changed=%s", log_quote(d->uuid), log_quote(t->suite),
		log_quote(change.changed));
	return store_environment_change_insert(db, &change, err);
}

int environment_update(struct db *db, const struct config *config, const char *worker, const struct msg_device *d, bool is_new,
	int64_t now_ms, int *n, struct fw_err *err)
{
	char before[64] = "";
	if (is_new && store_device_replaced(db, worker, d->kind, now_ms, before, err) != 0)
		return -1;
	struct store_current_baseline *t = mem_alloc_zero(STORE_CURRENT_BASELINES_MAX, sizeof *t), last;
	int known, result = 0;
	bool is_first = true;
	do {
		known = store_current_baselines(db, before[0] ? before : d->uuid, is_first ? NULL : &last, t, err);
		result = known < 0 ? -1 : 0;
		for (int i = 0; i < known && result == 0; i++)
			result = check_device(db, config, &t[i], d, now_ms, n, err);
		if (known > 0)
			last = t[known - 1];
		is_first = false;
	} while (result == 0 && known == STORE_CURRENT_BASELINES_MAX);
	if (result == 0 && before[0])
		result = store_current_baselines_drop(db, before, err);
	free(t);
	return result;
}
