/**
 * job.c - the queue as rows: insert, order, states, logs, events.
 *
 * A job is open until its state is final, and a final state never changes: every update names the states that it may leave.
 */
#include "db/db.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TOOLS_COLUMNS "j.base_toolchain, j.target_toolchain, j.base_flags, j.target_flags, j.base_module, j.base_made_by"

#define JOB_COLUMNS                                                                                                              \
	"j.id, j.repo, j.device, (SELECT c.id FROM comparison c WHERE c.job = j.id), r.name, j.branch, j.target_sha, "           \
	"j.base_sha, j.base_how, j.kind, j.suite, j.device_kind, " STORE_JOB_CELLS ", j.origin, j.state, j.state_why, "          \
	"j.nonce, j.quick, j.priority, j.attempt, j.queued_at, j.started_at, j.ended_at, j.device_uuid, "                        \
	"coalesce(j.threshold_pct, 0.0), j.base_provider, j.target_provider, " STORE_JOB_PEERS ", j.base_name, j.target_name, "  \
	"j.plan, j.base_config, j.target_config, j.every_cell, " TOOLS_COLUMNS ", j.device_class, j.shard FROM job j "           \
	"JOIN repo r ON r.id = j.repo "

#define CLASS_OF_DEVICE "(SELECT class FROM device WHERE uuid = :device_uuid)"
/* It deviates from its class, and another device of the class can run the job. */
#define DEVIATES                                                                                                                 \
	"SELECT 1 FROM device AS odd JOIN device AS other ON other.class = odd.class AND other.state = 'ok' AND "                \
	"other.outlier = '' WHERE odd.uuid = :device_uuid AND odd.outlier <> ''"

/* Job j may run on device :device_uuid of kind :device_kind. */
#define MAY_HAVE_DEVICE                                                                                                          \
	"(j.device_kind = '' OR j.device_kind = :device_kind) AND (j.device_uuid = '' OR j.device_uuid = "                       \
	":device_uuid) AND " STORE_CLASS_FITS(CLASS_OF_DEVICE) "AND (j.device_uuid <> '' OR NOT EXISTS (" DEVIATES ")) "

/** Read the first row. 1, 0, -1. */
static int first_job(struct stmt *s, struct store_job *out, struct fw_err *err)
{
	int result = stmt_step(s, err);
	if (result != 1)
		return result;
	memset(out, 0, sizeof *out);
	row_read(s, out->id, out->repo, out->device, out->comparison, out->repo_name, out->branch, out->target_sha, out->base_sha,
		out->base_how, COLUMN_NAMED(out->kind, jobkind_from_name), out->suite,
		COLUMN_NAMED(out->device_kind, device_kind_from_name), out->cells_glob, out->origin,
		COLUMN_NAMED(out->state, jobstate_from_name), out->state_why, out->nonce, out->quick, out->priority, out->attempt,
		out->queued_at, out->started_at, out->ended_at, out->device_uuid, out->threshold_pct, out->base_provider,
		out->target_provider, out->peers, out->base_name, out->target_name, out->plan, out->base_config,
		out->target_config, out->every_cell, out->base_tools.dir, out->target_tools.dir, out->base_tools.flags,
		out->target_tools.flags, out->base_tools.module, out->base_tools.made_by, out->device_class, out->shard);
	stmt_reset(s);
	return 1;
}

/** Run an update of one row. Err: ERR_CONFLICT no row. */
static int change_one(struct db *db, struct stmt *s, int64_t id, const char *what, struct fw_err *err)
{
	if (stmt_run(s, err))
		return -1;
	return db_changes(db) == 1 ? 0 : err_set(err, ERR_CONFLICT, "J%lld %s", (long long)id, what);
}

static int put_cells(struct db *db, const struct store_job *j, struct fw_err *err)
{
	return list_put(
		db_stmt(db, "INSERT INTO job_cell (job, n, word) VALUES (:owner, :n, :word)", err), j->id, j->cells_glob, err);
}

int store_job_insert(struct db *db, struct store_job *j, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"INSERT INTO job (repo, branch, target_sha, base_sha, base_how, kind, suite, device_kind, some_cells, quick, "
		"origin, priority, device_uuid, threshold_pct, base_provider, target_provider, base_name, target_name, plan, "
		"base_config, target_config, every_cell, shard, base_toolchain, target_toolchain, base_flags, target_flags, "
		"base_module, base_made_by, device_class, queued_at) VALUES (:repo, :branch, :target, :base, :base_how, :kind, "
		":suite, :device_kind, :some_cells, :quick, :origin, :priority, :device_uuid, :threshold, :base_provider, "
		":target_provider, :base_name, :target_name, :plan, :base_config, :target_config, :every_cell, :shard, "
		":base_toolchain, :target_toolchain, :base_flags, :target_flags, :base_module, :base_made_by, :device_class, "
		":now)",
		err);
	s = stmt_bind(s, err,
		"repo=%ld branch=%s target=%s base=%s base_how=%s kind=%s suite=%s device_kind=%s some_cells=%d shard=%d quick=%d "
		"every_cell=%d origin=%s priority=%d device_uuid=%s device_class?=%ld threshold=%f base_provider=%s target_provider=%s "
		"base_config=%s target_config=%s base_toolchain=%s target_toolchain=%s base_flags=%s target_flags=%s base_module=%s "
		"base_made_by=%s base_name=%s target_name=%s plan=%ld now=%ld",
		j->repo, j->branch, j->target_sha, j->base_sha, j->base_how, jobkind_name(j->kind), j->suite,
		device_kind_name(j->device_kind), j->cells_glob[0] != 0 || j->shard > 0, j->shard, j->quick, j->every_cell,
		j->origin, j->priority, j->device_uuid, j->device_class, j->threshold_pct > 0 ? j->threshold_pct : NAN,
		j->base_provider, j->target_provider, j->base_config, j->target_config, j->base_tools.dir, j->target_tools.dir,
		j->base_tools.flags, j->target_tools.flags, j->base_tools.module, j->base_tools.made_by, j->base_name,
		j->target_name, j->suite[0] ? j->plan : 0, now_ms);
	if (stmt_insert(s, &j->id, err) || put_cells(db, j, err))
		return -1;
	if (!j->suite[0] && db_exec(db, err, "UPDATE job SET plan = :id WHERE id = :id", "id=%ld", j->id))
		return -1;
	return store_job_get(db, j->id, j, err);
}

int store_job_add_cell(struct db *db, struct store_job *j, const char *key, struct fw_err *err)
{
	int64_t id = 0;
	int found = db_first_int(db, &id, err,
		"SELECT j.id FROM job j WHERE j.repo = :repo AND j.target_sha = :target AND j.base_sha = :base AND j.kind = "
		":kind AND j.suite = :suite AND j.device_class IS nullif(:device_class, 0) AND j.state = 'queued' AND "
		"j.queued_at = :now AND (SELECT coalesce(sum(length(word) + 1), 0) FROM job_cell WHERE job = j.id) + "
		"length(:key) < :capacity ORDER BY j.id LIMIT 1",
		"repo=%ld target=%s base=%s kind=%s suite=%s device_class=%ld now=%ld key=%s capacity=%d", j->repo, j->target_sha,
		j->base_sha, jobkind_name(j->kind), j->suite, j->device_class, j->queued_at, key, STORE_JOB_CELLS_SIZE - 1);
	if (found < 1)
		return found;
	if (db_exec(db, err,
		    "INSERT INTO job_cell (job, n, word) VALUES (:id, (SELECT max(n) + 1 FROM job_cell WHERE job = :id), :key)",
		    "id=%ld key=%s", id, key))
		return -1;
	if (db_exec(db, err, "UPDATE job SET threshold_pct = min(threshold_pct, :threshold) WHERE id = :id",
		    "id=%ld threshold=%f", id, j->threshold_pct))
		return -1;
	j->id = id;
	return 1;
}

int store_job_get(struct db *db, int64_t id, struct store_job *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT " JOB_COLUMNS "WHERE j.id = :id", "id=%ld", id);
	return stmt_require(first_job(s, out, err), err, "there is no J%lld", (long long)id);
}

int store_job_report(struct db *db, const struct store_job *job, const char *kind, enum jobstate state, const char *why,
	int64_t now_ms, struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = store_event_begin(&event, kind);
	jsonw_format(j, "job=%ld repo=%s branch=%s commit=%s", job->id, job->repo_name, job->branch, job->target_sha);
	if (state != JOBSTATE_N)
		jsonw_kv_string(j, "state", jobstate_name(state));
	if (why)
		jsonw_kv_string(j, "why", why);
	return store_event_end(&event, db, now_ms, err);
}

int store_job_report_state(
	struct db *db, const struct store_job *job, enum jobstate state, const char *why, int64_t now_ms, struct fw_err *err)
{
	char line[1200];
	snprintf(line, sizeof line, "%s: %s", jobstate_name(state), why);
	if (why[0] && store_job_log(db, job->id, now_ms, line, err) != 0)
		return -1;
	return store_job_report(db, job, "job.state", state, why[0] ? why : NULL, now_ms, err);
}

/** Write event and log line of a job's current state. */
static int report_state(struct db *db, int64_t id, int64_t now_ms, struct fw_err *err)
{
	struct store_job job = { 0 };
	return store_job_get(db, id, &job, err) != 0 ? -1
						     : store_job_report_state(db, &job, job.state, job.state_why, now_ms, err);
}

/** Run an UPDATE that returns ids of jobs, and write event and log line of each. *n counts them. */
static int change_states(struct db *db, struct stmt *s, int64_t now_ms, int *n, struct fw_err *err)
{
	int64_t *id = NULL;
	int capacity = 0, result;
	*n = 0;
	while ((result = stmt_step(s, err)) == 1) {
		if (*n == capacity) {
			capacity = capacity ? 2 * capacity : 16;
			id = mem_grow(id, (size_t)capacity, sizeof *id);
		}
		id[(*n)++] = row_int(s, 0);
	}
	for (int i = 0; i < *n && result == 0; i++)
		result = report_state(db, id[i], now_ms, err);
	free(id);
	return result;
}

int store_job_supersede(struct db *db, int64_t newer, int64_t now_ms, int *n, struct fw_err *err)
{
	/* From the oldest queued job on: the branch may have thousands of ended ones before. */
	struct stmt *s = db_query(db, err,
		"UPDATE job SET state = 'superseded', state_why = 'superseded by J' || :newer, ended_at = :now FROM (SELECT "
		"repo, branch, suite, target_sha FROM job WHERE id = :newer) AS n WHERE job.repo = n.repo AND job.branch = "
		"n.branch AND job.branch <> '' AND job.state = 'queued' AND job.id >= (SELECT min(id) FROM job WHERE state = "
		"'queued') AND job.id < :newer AND job.origin IN ('push', 'retry') "
		"AND job.target_sha <> n.target_sha AND (job.suite = n.suite OR job.suite = '' OR n.suite = '') RETURNING "
		"job.id",
		"newer=%ld now=%ld", newer, now_ms);
	return change_states(db, s, now_ms, n, err);
}

int store_job_drop(struct db *db, int64_t repo, const char *branch, enum jobstate state, const char *why, int64_t now_ms, int *n,
	struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"UPDATE job SET state = :state, state_why = :why, ended_at = :now WHERE repo = :repo AND branch = :branch AND "
		"state = 'queued' AND origin IN ('push', 'retry') RETURNING id",
		"repo=%ld branch=%s state=%s why=%s now=%ld", repo, branch, jobstate_name(state), why, now_ms);
	return change_states(db, s, now_ms, n, err);
}

int store_job_waiting(struct db *db, int64_t *n, struct fw_err *err)
{
	return stmt_first_int(db_stmt(db, "SELECT count(*) FROM job WHERE state = 'queued'", err), n, err) == 1 ? 0 : -1;
}

#define OPEN_OR_DONE_JOB "('queued', 'assigned', 'building', 'checking', 'measuring', 'done') "

int store_job_planned(struct db *db, int64_t repo, const char *target_sha, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 FROM job WHERE repo = :repo AND target_sha = :target AND branch <> '' AND plan > 0 AND " STORE_JOB_COUNTS
		"AND state IN " OPEN_OR_DONE_JOB
		"AND NOT EXISTS (SELECT 1 FROM job d WHERE d.repo = :repo AND d.target_sha = :target "
		"AND d.branch <> '' AND d.plan > 0 AND " STORE_JOB_COUNTS
		"AND d.state IN ('superseded', 'target_missing') AND NOT EXISTS (SELECT 1 FROM job o WHERE o.repo = :repo AND "
		"o.target_sha = :target AND o.branch <> '' AND o.suite = d.suite AND o.device_kind = d.device_kind AND " STORE_JOB_COUNTS
		"AND o.state IN " OPEN_OR_DONE_JOB ")) LIMIT 1",
		"repo=%ld target=%s", repo, target_sha);
}

int store_job_covers(struct db *db, const struct store_job *like, const char *suite, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 FROM job WHERE repo = :repo AND target_sha = :target AND +branch = :branch AND device_kind = :device "
		"AND suite IN (:suite, '') AND " STORE_JOB_COUNTS "AND (state IN ('queued', 'assigned', 'building', 'checking', "
		"'measuring') OR (state = 'done' AND :origin = 'push')) AND id <> :id LIMIT 1",
		"repo=%ld target=%s branch=%s device=%s suite=%s origin=%s id=%ld", like->repo, like->target_sha, like->branch,
		device_kind_name(like->device_kind), suite, like->origin, like->id);
}

int store_job_fits(struct db *db, int64_t job, enum device_kind kind, const char *device_uuid, struct fw_err *err)
{
	return db_any(db, err, "SELECT 1 FROM job j WHERE j.id = :job AND " MAY_HAVE_DEVICE,
		"job=%ld device_kind=%s device_uuid=%s", job, device_kind_name(kind), device_uuid);
}

int store_job_needs_device(struct db *db, const char *device_uuid, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 FROM job j JOIN device d ON d.uuid = :device WHERE (j.state IN ('assigned', 'building', 'checking', "
		"'measuring') AND j.device = d.id) OR (j.state = 'queued' AND j.device_uuid IN ('', d.uuid) AND j.device_kind IN "
		"('', d.kind) AND " STORE_CLASS_FITS("d.class") ") LIMIT 1",
		"device=%s", device_uuid);
}

int store_job_class_is_busy(struct db *db, int64_t device_class, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 WHERE EXISTS (SELECT 1 FROM job j WHERE j.state = 'queued' AND j.device_kind IN ('', (SELECT kind FROM "
		"device_class WHERE id = :class)) AND (j.device_uuid = '' OR j.device_uuid IN (SELECT uuid FROM device WHERE "
		"class = :class)) AND " STORE_CLASS_FITS(
			":class") ") OR NOT EXISTS (SELECT 1 FROM device d WHERE d.class = "
				  ":class AND d.state = 'ok' AND NOT EXISTS (SELECT 1 FROM job j WHERE j.state IN ('assigned', 'building', "
				  "'checking', 'measuring') AND j.device = d.id))",
		"class=%ld", device_class);
}

int store_job_next(struct db *db, enum device_kind kind, const char *device_uuid, const char *held, struct store_job *out,
	struct fw_err *err)
{
	return store_job_next_cached(db, kind, device_uuid, held, "", out, err);
}

int store_job_next_cached(struct db *db, enum device_kind kind, const char *device_uuid, const char *held, const char *cache,
	struct store_job *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT " JOB_COLUMNS "WHERE j.state = 'queued' AND " STORE_JOB_RESOLVED "AND " MAY_HAVE_DEVICE
		"AND j.repo NOT IN (SELECT value FROM json_each(:held)) AND (:cache = '' OR " STORE_JOB_CACHED
		") " STORE_JOB_FIRST "LIMIT 1",
		"cache=%s device_kind=%s device_uuid=%s held=%s", cache, device_kind_name(kind), device_uuid, held);
	return first_job(s, out, err);
}

int store_job_next_unresolved(
	struct db *db, struct store_job_round_robin *turn, const char *besides, struct store_job *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT " JOB_COLUMNS
		"WHERE j.id = (SELECT j.id FROM job AS j WHERE j.state = 'queued' AND NOT (" STORE_JOB_RESOLVED
		") AND j.id NOT IN (SELECT value FROM json_each(:besides)) ORDER BY j.priority DESC, j.repo "
		"<= :repo, j.repo, iif(:newest = (j.repo > :repo), -j.id, j.id) LIMIT 1)",
		"besides=%s repo=%ld newest=%d", besides, turn->repo, turn->takes_newest);
	int result = first_job(s, out, err);
	if (result == 1) {
		turn->takes_newest = turn->takes_newest == (out->repo > turn->repo); /* after a round the order is reversed */
		turn->repo = out->repo;
	}
	return result;
}

int store_job_resolve(struct db *db, int64_t id, const char *base_sha, const char *how, enum jobkind kind, const char *suite,
	struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"UPDATE job SET base_sha = :base, base_how = :how, kind = :kind, suite = :suite, state_why = '' WHERE id = :id "
		"AND state = 'queued'",
		"id=%ld base=%s how=%s kind=%s suite=%s", id, base_sha, how, jobkind_name(kind), suite);
	return change_one(db, s, id, "is not queued any more", err);
}

int store_plan_put(struct db *db, int64_t job, const struct store_plan *p, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT OR REPLACE INTO job_plan (job, format, sides, suite_origin, suite_text, provider_position) VALUES "
		"(:job, :format, :sides, :suite_origin, :suite_text, :provider_position)",
		"job=%ld format=%d sides=%s suite_origin=%s suite_text=%s provider_position=%s", job, STORE_PLAN_FORMAT,
		p->sides->data, p->suite_origin, p->suite_text->data, p->provider_position);
}

int store_plan_get(struct db *db, int64_t job, struct store_plan *p, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT sides, suite_origin, suite_text, provider_position FROM job_plan WHERE job = :job", "job=%ld", job);
	const char *sides, *suite_text;
	int result = stmt_next(s, err, sides, p->suite_origin, suite_text, p->provider_position);
	if (result == 1) {
		buf_puts(p->sides, sides);
		buf_puts(p->suite_text, suite_text);
		stmt_reset(s);
	}
	return stmt_require(result, err, "J%lld has no plan", (long long)job);
}

#define PLAIN_PUSH                                                                                                               \
	"FROM job WHERE repo = :repo AND target_sha = :target AND state = 'queued' AND kind = 'compare' AND priority = 0"

int store_job_is_plain(struct db *db, int64_t repo, const char *target_sha, bool *is_plain, struct fw_err *err)
{
	int found = db_any(db, err, "SELECT 1 " PLAIN_PUSH, "repo=%ld target=%s", repo, target_sha);
	*is_plain = found == 1;
	return found < 0 ? -1 : 0;
}

int store_job_raise(struct db *db, int64_t repo, const char *target_sha, int priority, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE job SET priority = :priority WHERE id IN (SELECT id " PLAIN_PUSH ")",
		"priority=%d repo=%ld target=%s", priority, repo, target_sha);
}

int store_job_assign(struct db *db, int64_t id, int64_t device, const char *nonce, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"UPDATE job SET state = 'assigned', state_why = '', progress = '', attempt = attempt + 1, nonce = :nonce, device "
		"= nullif(:device, 0), started_at = :now WHERE id = :id AND state = 'queued'",
		"id=%ld device=%ld nonce=%s now=%ld", id, device, nonce, now_ms);
	return change_one(db, s, id, "is not queued any more", err);
}

int store_job_send(struct db *db, int64_t id, int64_t device, const char *nonce, int64_t now_ms, struct fw_err *err)
{
	if (store_job_assign(db, id, device, nonce, now_ms, err) != 0)
		return -1;
	return db_exec(db, err,
		"UPDATE repo SET jobs_started = jobs_started + 1 WHERE id = (SELECT repo FROM job WHERE id = :job)", "job=%ld",
		id);
}

int store_job_bind(struct db *db, int64_t id, int64_t device, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "UPDATE job SET device = :device WHERE id = :id AND state = 'assigned'",
		"id=%ld device=%ld", id, device);
	return change_one(db, s, id, "does not wait for its worker any more", err);
}

int store_job_state(struct db *db, int64_t id, enum jobstate state, const char *why, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"UPDATE job SET state = :state, state_why = :why, ended_at = CASE WHEN :state IN ('queued', 'assigned', "
		"'building', 'checking', 'measuring') THEN NULL ELSE :now END WHERE id = :id AND state IN ('queued', 'assigned', "
		"'building', 'checking', 'measuring')",
		"id=%ld state=%s why=%s now=%ld", id, jobstate_name(state), why ? why : "", now_ms);
	return change_one(db, s, id, "has ended already", err);
}

int store_job_progress(struct db *db, int64_t id, const char *progress_json, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE job SET progress = :progress WHERE id = :id", "id=%ld progress=%s", id, progress_json);
}

int store_job_done(struct db *db, int64_t id, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"UPDATE job SET state = 'done', state_why = '', ended_at = :now WHERE id = :id AND state IN ('queued', "
		"'assigned', 'building', 'checking', 'measuring')",
		"id=%ld now=%ld", id, now_ms);
	return change_one(db, s, id, "has ended already", err);
}

int store_job_recover(struct db *db, int64_t now_ms, int *requeued, int *failed, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"UPDATE job SET state = 'failed', state_why = 'interrupted: flopwatchd was killed ' || (daemon_ends + 1) || ' "
		"times while the job ran', daemon_ends = daemon_ends + 1, progress = '', ended_at = :now WHERE state IN "
		"('assigned', 'building', 'checking', 'measuring') AND daemon_ends + 1 >= :max RETURNING id",
		"now=%ld max=%d", now_ms, STORE_JOB_DAEMON_ENDS_MAX);
	if (change_states(db, s, now_ms, failed, err))
		return -1;
	s = db_stmt(db,
		"UPDATE job SET state = 'queued', state_why = 'interrupted, queued again', progress = '', attempt = max(attempt "
		"- 1, 0), daemon_ends = daemon_ends + 1 WHERE state IN ('assigned', 'building', 'checking', 'measuring') "
		"RETURNING id",
		err);
	if (change_states(db, s, now_ms, requeued, err))
		return -1;
	return db_exec(db, err, "DELETE FROM job_plan WHERE format <> :format", "format=%d", STORE_PLAN_FORMAT);
}

int store_job_log(struct db *db, int64_t id, int64_t now_ms, const char *line, struct fw_err *err)
{
	return db_exec(db, err, "INSERT INTO job_log (job, at, line) VALUES (:job, :at, :line)", "job=%ld at=%ld line=%s", id,
		now_ms, line);
}

int store_job_alone(struct db *db, int64_t id, char *why, struct fw_err *err)
{
	why[0] = '\0';
	struct stmt *s = db_query(db, err,
		"SELECT substr(line, length(:begin) + 1) FROM job_log WHERE job = :job AND substr(line, 1, length(:begin)) = :begin "
		"ORDER BY id DESC LIMIT 1",
		"job=%ld begin=%s", id, STORE_JOB_ALONE);
	int got = stmt_step(s, err);
	if (got == 1)
		row_copy(s, 0, why, STORE_JOB_ALONE_SIZE);
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

int store_notification(struct db *db, const char *id, int64_t now_ms, struct fw_err *err)
{
	if (db_exec(db, err, "INSERT INTO webhook_seen (id, at) VALUES (:id, :at) ON CONFLICT (id) DO NOTHING", "id=%s at=%ld",
		    id, now_ms))
		return -1;
	return db_changes(db) > 0;
}

int store_notification_delete(struct db *db, const char *id, struct fw_err *err)
{
	return db_exec(db, err, "DELETE FROM webhook_seen WHERE id = :id", "id=%s", id);
}

int store_notification_prune(struct db *db, int64_t before, int newest, int limit, int *n, struct fw_err *err)
{
	return db_run_count(db, n, err,
		"DELETE FROM webhook_seen WHERE id IN (SELECT id FROM (SELECT id, at, row_number() OVER (ORDER BY at DESC, id) "
		"AS n FROM webhook_seen) WHERE at < :before OR n > :newest ORDER BY at LIMIT :limit)",
		"before=%ld newest=%d limit=%d", before, newest, limit);
}

int store_job_release(struct db *db, int64_t id, const char *why, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"UPDATE job SET state = 'queued', state_why = :why, progress = '', attempt = max(attempt - 1, 0), started_at = "
		"NULL WHERE id = :id AND state IN ('assigned', 'building', 'checking', 'measuring')",
		"id=%ld why=%s", id, why);
	return change_one(db, s, id, "has ended already", err);
}

int store_job_nonce(struct db *db, int64_t id, const char *nonce, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE job SET nonce = :nonce WHERE id = :id", "nonce=%s id=%ld", nonce, id);
}

int store_job_imported(
	struct db *db, int64_t repo, const char *target_sha, const char *nonce, int64_t *comparison, struct fw_err *err)
{
	return db_first_int(db, comparison, err,
		"SELECT c.id FROM job j JOIN comparison c ON c.job = j.id WHERE j.repo = :repo AND j.target_sha = :target AND "
		"j.kind = 'import' AND j.nonce = :nonce LIMIT 1",
		"repo=%ld target=%s nonce=%s", repo, target_sha, nonce);
}
