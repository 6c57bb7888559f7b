#include "flopwatchd/history/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PRIORITY_OFF_PEAK = -18, SUITES_MAX = 32, DAY_MINUTES = 1440, MINUTE_MS = 60000 }; /* below peers, above calibrations */

struct due {
	int64_t suite, device_class;
	char name[64], target[65];
	struct suite_size size;
};

struct dues {
	int n;
	struct due of[SUITES_MAX];
};

struct shards {
	int n;
	struct rotation_shard *shard; /* shard[n] */
	char (*target)[65];           /* targets of their last comparisons; "" none */
};

bool off_peak_is_now(const struct config *c, int64_t now_ms, int64_t *since_ms)
{
	time_t now = (time_t)(now_ms / 1000);
	struct tm at;
	*since_ms = now_ms - (int64_t)DAY_MINUTES * MINUTE_MS;
	if (c->off_peak.is_idle)
		return true;
	if (c->off_peak.from == c->off_peak.to || !localtime_r(&now, &at))
		return false;
	int minute = at.tm_hour * 60 + at.tm_min;
	int into = (minute - c->off_peak.from + DAY_MINUTES) % DAY_MINUTES;
	*since_ms = now_ms - (int64_t)into * MINUTE_MS - (int64_t)at.tm_sec * 1000 - now_ms % 1000;
	return into < (c->off_peak.to - c->off_peak.from + DAY_MINUTES) % DAY_MINUTES;
}

static void add_suite(void *arg, const struct find_off_peak_suite *row)
{
	struct dues *all = arg;
	if (all->n == SUITES_MAX)
		return;
	struct due *d = &all->of[all->n++];
	d->suite = row->suite;
	d->device_class = row->device_class;
	d->size = row->size;
	snprintf(d->name, sizeof d->name, "%s", row->name);
	snprintf(d->target, sizeof d->target, "%s", row->target_sha);
}

static void add_shard(void *arg, const struct find_off_peak_shard *row)
{
	struct shards *k = arg;
	if (row->shard > k->n)
		return;
	k->shard[row->shard - 1] = (struct rotation_shard){
		.measured_at = row->measured_at, .is_requested = row->is_requested, .has_change = row->has_change
	};
	snprintf(k->target[row->shard - 1], sizeof k->target[0], "%s", row->target_sha);
}

static int enqueue(struct db *db, int64_t repo_id, const char *branch, const struct due *d, int shard, const char *base,
	int64_t now_ms, struct fw_err *err)
{
	char line[160];
	struct store_job job = { .repo = repo_id,
		.kind = JOBKIND_COMPARE,
		.origin = "off_peak",
		.priority = PRIORITY_OFF_PEAK,
		.device_class = d->device_class,
		.shard = shard };
	snprintf(job.branch, sizeof job.branch, "%s", branch);
	snprintf(job.target_sha, sizeof job.target_sha, "%s", d->target);
	snprintf(job.base_sha, sizeof job.base_sha, "%s", base);
	snprintf(job.base_how, sizeof job.base_how, "%s", base[0] ? "last-off-peak" : "");
	snprintf(job.suite, sizeof job.suite, "%s", d->name);
	snprintf(line, sizeof line, "queued: shard %d of %d of suite %.63s, which no push measures", shard, d->size.shards - 1,
		d->name);
	return store_job_insert(db, &job, now_ms, err) || store_job_log(db, job.id, now_ms, line, err) ? -1 : 0;
}

struct period {
	int64_t began_at, now_ms;
	bool is_share; /* only the share of this period */
};

/* Queue the next shard of one suite on one device class. 1, 0 none is left, -1. */
static int queue_next_shard(
	struct db *db, int64_t repo_id, const char *branch, const struct due *d, const struct period *period, struct fw_err *err)
{
	struct find_off_peak_suite like = {
		.suite = d->suite, .name = d->name, .target_sha = d->target, .device_class = d->device_class, .size = d->size
	};
	struct shards k = { .n = d->size.shards - 1 };
	k.shard = mem_alloc_zero((size_t)k.n, sizeof *k.shard);
	k.target = mem_alloc_zero((size_t)k.n, sizeof *k.target);
	int result = find_off_peak_shards(db, repo_id, branch, &like, add_shard, &k, err);
	bool is_due = result == 0 && (!period->is_share || rotation_is_behind(k.shard, k.n, d->size.nights, period->began_at));
	int next = is_due ? rotation_next(k.shard, k.n, d->size.nights, period->began_at) : -1;
	if (next >= 0)
		result = enqueue(db, repo_id, branch, d, next + 1, k.target[next], period->now_ms, err) != 0 ? -1 : 1;
	free(k.shard);
	free(k.target);
	return result;
}

int off_peak_enqueue_due(struct db *db, const struct config *c, const struct config_repo *repo, int64_t repo_id, bool is_share,
	int64_t now_ms, struct fw_err *err)
{
	struct dues dues = { .n = 0 };
	struct period period = { .now_ms = now_ms, .is_share = is_share };
	char branch[1024];
	int queued = 0;
	if (!off_peak_is_now(c, now_ms, &period.began_at))
		return 0;
	if (gitread_encode(repo->upstream, branch, sizeof branch, err) ||
		find_off_peak_suites(db, repo_id, branch, add_suite, &dues, err))
		return -1;
	for (int i = 0; i < dues.n; i++) {
		int wanted = store_job_class_is_busy(db, dues.of[i].device_class, err);
		int n = wanted ? (wanted < 0 ? -1 : 0) : queue_next_shard(db, repo_id, branch, &dues.of[i], &period, err);
		if (n < 0)
			return -1;
		queued += n;
	}
	return queued;
}
