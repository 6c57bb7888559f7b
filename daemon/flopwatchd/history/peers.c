/* peers.c - due peer comparisons, and the bodies that show their results. */
#include "flopwatchd/history/history.h"

#include <stdio.h>

/* above calibrations, which repeat; a peer comparison is due once for each module */
enum { PRIORITY_PEER = -15, TARGETS_MAX = 32 };

struct target {
	int64_t environment, class;
	char sha[65], module[65], suite[64], peers[PEERS_TEXT_SIZE];
	enum device_kind kind;
};

struct targets {
	int n;
	struct target of[TARGETS_MAX];
};

static void add_target(void *arg, const struct store_peer_target *row)
{
	struct targets *all = arg;
	if (all->n == TARGETS_MAX)
		return;
	struct target *t = &all->of[all->n++];
	t->environment = row->environment;
	snprintf(t->sha, sizeof t->sha, "%s", row->target_sha);
	snprintf(t->module, sizeof t->module, "%s", row->module_sha);
	snprintf(t->suite, sizeof t->suite, "%s", row->suite);
	t->class = row->device_class;
	t->kind = device_kind_from_name(row->device_kind);
	snprintf(t->peers, sizeof t->peers, "%s", row->peers);
}

static int enqueue(struct db *db, struct store_job *job, const char *provider, int64_t now_ms, struct fw_err *err)
{
	char line[160];
	job->kind = JOBKIND_PEER;
	snprintf(job->base_sha, sizeof job->base_sha, "%s", job->target_sha);
	snprintf(job->base_how, sizeof job->base_how, "given");
	snprintf(job->base_provider, sizeof job->base_provider, "%s", provider);
	snprintf(line, sizeof line, "queued: against its peer %.47s", provider);
	return store_job_insert(db, job, now_ms, err) || store_job_log(db, job->id, now_ms, line, err) ? -1 : 0;
}

/* Queue the missing peers of one target. Returns the number, -1. */
static int queue_missing(struct db *db, const struct config_repo *repo, int64_t repo_id, const struct target *t, int64_t now_ms,
	struct fw_err *err)
{
	struct peers peers = repo->peers;
	struct store_peer_target row = { .environment = t->environment,
		.target_sha = t->sha,
		.module_sha = t->module,
		.suite = t->suite,
		.device_class = t->class };
	int queued = 0;
	if (!repo->has_peers)
		peers_parse(t->peers, &peers);
	for (int i = peers_next(&peers, 0, t->kind); i < peers.n; i = peers_next(&peers, i + 1, t->kind)) {
		struct store_job job = { .repo = repo_id, .origin = "idle", .priority = PRIORITY_PEER };
		int known = store_peer_is_requested(db, repo_id, &row, peers.of[i].provider, err);
		snprintf(job.target_sha, sizeof job.target_sha, "%s", t->sha);
		snprintf(job.suite, sizeof job.suite, "%s", t->suite);
		job.device_class = t->class;
		if (known < 0 || (!known && enqueue(db, &job, peers.of[i].provider, now_ms, err)))
			return -1;
		queued += !known;
	}
	return queued;
}

int peerjobs_enqueue_due(struct db *db, const struct config_repo *repo, int64_t repo_id, int64_t now_ms, struct fw_err *err)
{
	struct targets targets = { .n = 0 };
	char branch[1024];
	int queued = 0;
	if (repo->has_peers && repo->peers.n == 0)
		return 0;
	if (gitread_encode(repo->upstream, branch, sizeof branch, err) ||
		store_peer_targets(db, repo_id, branch, add_target, &targets, err))
		return -1;
	for (int i = 0; i < targets.n; i++) {
		int wanted = store_job_class_is_busy(db, targets.of[i].class, err);
		int n = wanted ? (wanted < 0 ? -1 : 0) : queue_missing(db, repo, repo_id, &targets.of[i], now_ms, err);
		if (n < 0)
			return -1;
		queued += n;
	}
	return queued;
}

int peerjobs_request(
	struct db *db, const struct store_job *like, const struct peers *peers, int64_t now_ms, int64_t *jobs, struct fw_err *err)
{
	for (int i = 0; i < peers->n; i++) {
		struct store_job job = *like;
		if (!job.device_uuid[0] && job.device_kind == DEVICE_ANY)
			job.device_kind = peers->of[i].device;
		if (enqueue(db, &job, peers->of[i].provider, now_ms, err))
			return -1;
		jobs[i] = job.id;
	}
	return 0;
}

int peerjobs_report(struct db *db, int64_t comparison, struct fw_err *err)
{
	int64_t readers[STORE_PEER_READERS_MAX];
	int n = store_peer_readers(db, comparison, readers, err);
	for (int i = 0; i < n; i++)
		if (body_store(db, readers[i], err))
			return -1;
	return n < 0 ? -1 : 0;
}
